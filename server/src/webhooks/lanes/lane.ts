import { Condition, settledWithin, sleep } from '../../async.ts';
import { type Clock, systemClock } from '../../clock.ts';
import type { Database } from '../../db/database.ts';
import { Pace } from '../../db/pace.ts';
import { isAway } from '../../errors.ts';
import type { AddFields } from '../../events/addedFields.ts';
import { isRecorded } from '../../jobs/deletions.ts';
import type { Log } from '../../log.ts';
import type { Metrics } from '../../metrics.ts';
import type { SteadyClock } from '../../steadyClock.ts';
import type { AttemptRequest } from '../delivery/attempt.ts';
import type { Deliver } from '../delivery/deliver.ts';
import { isSameReceiver } from '../delivery/destination.ts';
import {
  type Breaker,
  type BreakerPolicy,
  beginProbe,
  clampToClock,
  onOutcome,
  type Permit,
  permit,
} from '../queue/breaker.ts';
import { type Due, readDue, readDueInOrder, readNextDue } from '../queue/due.ts';
import { bringFailedForward } from '../queue/failedFirst.ts';
import type { Outcome } from '../queue/outcome.ts';
import { cancelPending, ownerOfPending, type Settlement } from '../queue/queue.ts';
import { decide, type RetryPolicy, withOwnSteps } from '../queue/retry.ts';
import { minuteOf } from '../queue/stats.ts';
import { hold } from '../queue/strictOrder.ts';
import { Backlog } from './backlog.ts';
import { FIRST_DUE, type LaneStart } from './laneReader.ts';
import type { createSettleLanes, LaneOutcomes } from './settling.ts';
import { deliveryHeaders } from './sign.ts';
import { type Subscription, signedHeaders } from './subscription.ts';
import { brokerRequest, type Webhook } from './webhook.ts';

/**
 * Returns the body of an event for its subscriber, or the reason why it may not see the event, if its API key has been
 * revoked or limited meanwhile.
 */
export type ShowOccurrence = (delivery: {
  readonly webhook: Webhook;
  readonly subscription: Subscription;
  readonly due: Due;
}) => Promise<Shown>;

type Shown =
  | { readonly body: string; readonly refusal?: undefined }
  /** A sentence, for the delivery log. */
  | { readonly refusal: string };

export interface LaneOptions {
  readonly database: Database;
  readonly addFields: AddFields;
  /** The time of day, for receivers and the log. */
  readonly clock: Clock;
  /** The time for retries and the breaker. */
  readonly steady: SteadyClock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly deliver: Deliver;
  readonly retry: RetryPolicy;
  readonly breaker: BreakerPolicy;
  /** Turns an event into what its subscriber gets. */
  readonly showOccurrence: ShowOccurrence;
}

export interface LaneDeps extends LaneOptions {
  /** The same function for all lanes, because the commit queue joins work by identity. */
  readonly settleLanes: ReturnType<typeof createSettleLanes>;
  /** Reads the webhook and the first due deliveries. */
  readonly readStart: (webhookId: string) => Promise<LaneStart>;
  /** The lane has something to start; the engine calls `startOne` when it is its turn. */
  offer(lane: Lane): void;
  /** Returns the number of deliveries that a lane may keep in memory, which depends on the number of lanes. */
  room(): number;
  /** An attempt has ended: its connection is free. */
  release(accountId: string): void;
  /** The lane has nothing to do and no timer running. */
  idle(lane: Lane): void;
}

/** An attempt that has ended. */
interface Ended extends Settlement {
  readonly due: Due;
  /** The moment of steady time at which the attempt ended. */
  readonly endedAt: number;
  /** Its retry goes out before the later deliveries of its conversation. */
  readonly holdsBack: boolean;
  /** It was the last one of its conversation in memory, so the next ones may be held. */
  readonly releases: boolean;
}

const RETRY_MS = 250;
/** A delivery that failed for another reason than the database, such as a bug, fails again, most likely. */
const REFUSED_RETRY_MS = 30_000;
/**
 * Time limit for storing an outcome that the database does not take although it works, for example because a lock is
 * held on its row. The delivery is then read and sent again.
 */
const SETTLE_MS = 60_000;
/** Outcomes of one round that the database may refuse before the others wait for the next round. */
const FAILURES_AT_ONCE = 2;
/** An outcome waits this long for others to share its transaction. The next attempts do not wait. */
const GATHER_MS = 20;
const GATHERED_ENOUGH = 256;

/**
 * Processes the deliveries of one webhook.
 *
 * read → start → attempt → settle, each step independent of the others: due deliveries are read in batches into the
 * backlog, whenever it is half empty. If it contains all of them, new ones are added without being read. The engine
 * starts a ready one when it is the lane's turn. When its attempt ends, the outcome moves the breaker, and the next
 * delivery of its conversation is ready. Outcomes are settled in batches: those that arrive while a transaction is being
 * written share the next one. A delivery that has to be retried is back in the database then, and is read again when it
 * is due.
 *
 * Nothing is written before an attempt. Whatever the lane forgets, by a stop or a crash, is still pending.
 */
export class Lane {
  readonly webhookId: string;
  readonly #deps: LaneDeps;
  readonly #backlog = new Backlog();
  /** Undefined until it was read, and after it was removed. Its breaker may be ahead of the stored one. */
  #webhook: Webhook | undefined;
  /** The stored breaker. */
  #stored: Pick<Breaker, 'state' | 'generation'> = { state: 'closed', generation: 0 };
  #mustReload = true;
  /** Whether a delivery may be due that is not in the backlog. */
  #mayHaveMore = true;
  /** Whether a delivery may become due before the timer looks for it. */
  #mayHaveNewRetry = true;
  #isReading = false;
  /** Whether the read in progress is that of the webhook: nothing starts with the old one. */
  #isLoading = false;
  /** Settled while a read is in progress, which may still return them as pending. */
  readonly #settledMeanwhile = new Set<string>();
  /** Conversations whose retry was stored while a read is in progress, which may still return what it holds back. */
  readonly #retriedMeanwhile = new Set<string>();
  #inFlight = 0;
  /** Whether deliveries may wait for retries that an outage has made meaningless. */
  #mayHaveFailed = false;
  /** Attempts that have ended and are not being settled yet. */
  #ended: Ended[] = [];
  #isSettling = false;
  #isStopped = false;
  #isAbandoned = false;
  readonly #requests = new AbortController();
  /** Notified when a read, a settlement or an attempt has ended, and by a stop. */
  readonly #changed = new Condition();
  /** Undefined while no timer is running. */
  #cancelTimer: (() => void) | undefined;
  /** Cancel the timers of deliveries that wait to be put back. */
  readonly #putBacks = new Set<() => void>();

  constructor(webhookId: string, deps: LaneDeps) {
    this.webhookId = webhookId;
    this.#deps = deps;
  }

  get accountId(): string | undefined {
    return this.#webhook?.accountId;
  }

  get canStart(): boolean {
    if (this.#backlog.readyCount === 0 || this.#isStopped || this.#mustReload || this.#isLoading) return false;
    const allowed = this.#permit();
    return allowed.kind === 'go' && this.#inFlight < allowed.limit;
  }

  /**
   * Looks for due deliveries.
   * @param stored new deliveries, in order. Without any, there may be new retries, and the lane also looks for the next.
   * @param mayAppend whether no transaction may still add earlier ones. Then they are not read if the backlog contains
   * all earlier ones.
   */
  wake(stored: readonly Due[] = [], mayAppend = true): void {
    if (stored.length === 0) this.#mayHaveNewRetry = true;
    const isAppended = stored.length > 0 && mayAppend && this.#isCompleteWithRoomFor(stored.length);
    if (isAppended) for (const due of stored) this.#backlog.append(due);
    else this.#mayHaveMore = true;
    this.#advance();
  }

  /** Repeats an offer that may have been lost, or looks for due deliveries whose wake-up was lost. */
  check(): void {
    if (this.#backlog.readyCount > 0) this.#advance();
    else if (!this.#isReading) this.wake();
  }

  /** Reads the webhook again, because its row was changed or removed. */
  reload(): void {
    this.#mustReload = true;
    this.wake();
  }

  /** Starts the next delivery. The engine calls it when `canStart`. */
  startOne(): void {
    const due = this.#backlog.takeReady();
    const webhook = this.#webhook;
    if (due === undefined || webhook === undefined) throw new Error('nothing to start');
    this.#inFlight++;
    this.#attempt(webhook, due).catch((error) => {
      // A bug. Nothing was stored, so the delivery is still pending.
      const about = { err: error, webhook: this.webhookId, delivery: due.deliveryId };
      this.#deps.log.error(about, 'delivery attempt failed unexpectedly; trying again');
      this.#putBackAfter(REFUSED_RETRY_MS, due);
    });
    if (this.#backlog.readyCount < this.#capacity / 2) this.#advance();
  }

  /** Starts nothing more and settles the attempts that have ended. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancelTimer?.();
    for (const cancel of this.#putBacks) cancel();
    this.#backlog.forgetWaiting();
    this.#changed.notify();
    await this.#changed.until(() => !this.#isSettling && !this.#isReading);
  }

  /** Starts nothing more. Resolves once the deliveries in flight are settled, or abandons them after `graceMs`. */
  async drain(graceMs: number): Promise<void> {
    await this.stop();
    const settled = this.#changed.until(() => this.#inFlight === 0 && !this.#isSettling);
    await settledWithin(systemClock, graceMs, settled);
    this.#isAbandoned = true;
    await this.stop();
  }

  /** Starts nothing more and settles nothing, because another node owns the lane. */
  abandon(): void {
    this.#isAbandoned = true;
    void this.stop();
  }

  /** Abandons the lane and aborts the requests in flight. Once this resolves, no request to the webhook is open. */
  async abort(): Promise<void> {
    this.abandon();
    this.#requests.abort();
    await this.#changed.until(() => this.#inFlight === 0);
  }

  /** Offers deliveries that may start, reads more if there is room, and waits for those that are due later. */
  #advance(): void {
    if (this.#isStopped) return;
    if (this.canStart) this.#deps.offer(this);
    if (this.#isReading) return;
    if (this.#mustReload) {
      // Outcomes are settled first, because they apply to the breaker that reloading replaces.
      if (!this.#isSettling) void this.#read();
      return;
    }
    const allowed = this.#permit();
    if (allowed.kind === 'wait') {
      if (this.#backlog.readyCount > 0 || this.#mayHaveMore) this.#lookAgainAt(allowed.until);
    } else if (this.#mayHaveMore && this.#backlog.size <= this.#capacity / 2) void this.#read();
  }

  #permit(): Permit {
    // Removed, disabled or paused: deliveries stay pending.
    if (!this.#webhook?.isActive) return { kind: 'go', limit: 0 };
    return permit(this.#webhook.breaker, this.#webhook.maxInFlight, this.#deps.steady.now());
  }

  /** Number of deliveries to keep in memory: just the probe unless the breaker is closed. */
  get #capacity(): number {
    return this.#webhook?.breaker.state === 'closed' ? this.#deps.room() : 1;
  }

  /** Whether the backlog contains what is due and has room for new deliveries. */
  #isCompleteWithRoomFor(count: number): boolean {
    if (this.#isReading || this.#mustReload || this.#mayHaveMore) return false;
    // Disabled, paused, or the next probe is read when it is due.
    if (!this.#webhook?.isActive || this.#webhook.breaker.state !== 'closed') return false;
    if (isPrepared(this.#webhook)) return false;
    return this.#backlog.size + count <= this.#capacity;
  }

  /** Reads the webhook if it has changed, otherwise more deliveries. */
  async #read(): Promise<void> {
    const isReload = this.#mustReload;
    this.#mustReload = false;
    this.#isReading = true;
    this.#isLoading = isReload;
    this.#settledMeanwhile.clear();
    this.#retriedMeanwhile.clear();
    try {
      await (isReload ? this.#load() : this.#fill());
    } catch (error) {
      this.#report(error, 'failed to read the queue; retrying');
      this.#mustReload ||= isReload;
      this.#mayHaveMore = true;
      this.#lookAgainAt(this.#deps.steady.now() + RETRY_MS);
      return;
    } finally {
      this.#isReading = false;
      this.#isLoading = false;
      this.#changed.notify();
    }
    this.#advance();
    this.#checkIdle();
  }

  /** Reads the webhook, and the first due deliveries if they may go out. */
  async #load(): Promise<void> {
    this.#mayHaveMore = false;
    this.#mayHaveNewRetry = false;
    const { webhook: found, due, nextDueAt } = await this.#deps.readStart(this.webhookId);
    if (found === undefined) await this.#cancelAll();
    this.#replaceWebhook(found);
    this.#backlog.forgetWaiting();
    this.#backlog.beginRead();
    this.#backlog.isStrict = this.#webhook?.isStrict === true;
    const isOpen = this.#webhook?.isActive === true && this.#webhook.breaker.state === 'closed';
    const mayGoOut = isOpen && !this.#mayHaveFailed && this.#webhook !== undefined && !isPrepared(this.#webhook);
    const fresh = mayGoOut ? this.#withoutKnown(due, FIRST_DUE) : [];
    this.#add(fresh);
    if (fresh.length === 0) {
      this.#mayHaveMore = true;
      this.#mayHaveNewRetry = true;
    } else if (nextDueAt !== undefined) this.#wakeAt(nextDueAt);
  }

  /** Attempts that ended during the read have moved the breaker in memory. It stays unless others changed theirs. */
  #replaceWebhook(found: Webhook | undefined): void {
    const breaker = this.#webhook?.breaker;
    if (found !== undefined && breaker !== undefined && found.breaker.generation <= this.#stored.generation) {
      this.#webhook = { ...found, breaker };
      return;
    }
    this.#webhook = found && { ...found, breaker: clampToClock(found.breaker, this.#deps.steady.now()) };
    this.#stored = found?.breaker ?? { state: 'closed', generation: 0 };
    // Open, or closed so recently that the server may have stopped before it brought them forward.
    this.#mayHaveFailed = found !== undefined && (found.breaker.state !== 'closed' || found.breaker.slowStart !== null);
  }

  /** Returns the deliveries of a read, of at most `limit`, that are neither in the backlog nor settled meanwhile. */
  #withoutKnown(due: readonly Due[], limit: number): Due[] {
    if (due.length === limit) this.#mayHaveMore = true;
    const isRetried = ({ conversation }: Due) => this.#retriedMeanwhile.has(conversation);
    if (due.some(isRetried)) this.#mayHaveMore = true;
    return due.filter((one) => {
      const { deliveryId: id } = one;
      return !this.#backlog.has(id) && !this.#settledMeanwhile.has(id) && !isRetried(one);
    });
  }

  /** Those whose conversation has no room stay in the database until `moveUp` reports room. */
  #add(fresh: readonly Due[]): void {
    for (const delivery of fresh) this.#backlog.add(delivery);
  }

  /** Cancels the pending deliveries that other transactions added during the removal of the webhook; see `removal.ts`. */
  async #cancelAll(): Promise<void> {
    const { database, clock } = this.#deps;
    const webhookId = this.webhookId;
    const accountId = await ownerOfPending(database.reader, webhookId);
    if (accountId === undefined || (await isRecorded(database.reader, webhookId))) return;
    const webhook = { accountId, webhookId };
    if (this.#isStopped) return;
    await new Pace().repeat(
      database.commit,
      (tx, limit) => cancelPending(tx, webhook, 'The webhook was removed', clock.now(), limit),
      { isStopped: () => this.#isStopped },
    );
  }

  async #fill(): Promise<void> {
    const { database, steady } = this.#deps;
    const webhook = this.#webhook;
    this.#mayHaveMore = false;
    if (!webhook?.isActive) return;
    const isProbeDue = this.#permit().kind === 'probe_due';
    if (this.#mayHaveFailed) await this.#bringFailedForward();
    const limit = Math.max(1, this.#capacity - this.#backlog.size);
    const now = steady.now(); // one for both reads, so that no retry is due between them
    const due = await (isProbeDue ? this.#readProbe(webhook, now) : this.#readDue(webhook, limit, now));
    if (this.#mustReload || this.#isStopped) return;
    const { generation, pausedUntil } = this.#webhook?.breaker ?? {};
    if (generation !== webhook.breaker.generation || pausedUntil !== webhook.breaker.pausedUntil) {
      // The breaker has changed in the meantime: another number of deliveries may go out, or a failed one goes first.
      this.#mayHaveMore = true;
      return;
    }
    const fresh = this.#withoutKnown(due, limit);
    if (isProbeDue && fresh.length > 0) {
      this.#webhook = { ...webhook, breaker: beginProbe(webhook.breaker, steady.now()) };
      await this.#commit([]);
    }
    this.#add(fresh);
    if (this.#mayHaveMore || !this.#mayHaveNewRetry) return;
    this.#mayHaveNewRetry = false;
    const nextDueAt = (await readNextDue(database.reader, [this.webhookId], now)).get(this.webhookId);
    if (nextDueAt !== undefined) this.#wakeAt(nextDueAt);
  }

  async #bringFailedForward(): Promise<void> {
    this.#mayHaveFailed = false;
    try {
      await bringFailedForward(this.#deps.database, this.webhookId, () => this.#isStopped);
    } catch (error) {
      this.#mayHaveFailed = true;
      throw error;
    }
  }

  /** Reads the next probe: the first due delivery, or after a failed probe the first of another conversation. */
  async #readProbe(webhook: Webhook, now: number): Promise<readonly Due[]> {
    const { failedProbe } = webhook.breaker;
    const others = failedProbe == null ? [] : [failedProbe];
    const [other] = await this.#readStored(webhook, 1, now, others);
    const probe = other ?? (others.length > 0 ? (await this.#readStored(webhook, 1, now))[0] : undefined);
    return this.#deps.addFields(webhook.accountId, probe === undefined ? [] : [probe], webhook.include);
  }

  /** Reads due deliveries, with the fields that the webhook adds. */
  async #readDue(webhook: Webhook, limit: number, now: number): Promise<readonly Due[]> {
    const due = await this.#readStored(webhook, limit, now);
    return this.#deps.addFields(webhook.accountId, due, webhook.include);
  }

  /**
   * Reads due deliveries, except in conversations that are left out. Deliveries that have to wait for an earlier one of
   * their conversation are held back instead.
   */
  async #readStored(
    { accountId, isStrict }: Webhook,
    limit: number,
    now: number,
    without: readonly string[] = [],
  ): Promise<readonly Due[]> {
    const { database, steady, room } = this.#deps;
    const { deliveryIds, conversations } = this.#backlog.beginRead();
    const known = { deliveryIds, conversations: [...conversations, ...without] };
    if (!isStrict) return readDue(database.reader, this.webhookId, now, limit, known);
    const rows = await readDueInOrder(database.reader, this.webhookId, now, Math.max(limit, room()), known);
    const held = rows.flatMap(({ deliveryId, heldBehind }) => (heldBehind === null ? [] : { deliveryId, heldBehind }));
    if (held.length > 0) {
      await database.commit((tx) => hold(tx, accountId, held, steady.now()));
      this.#mayHaveMore = true;
      this.#mayHaveNewRetry = true;
    }
    return rows.filter(({ heldBehind }) => heldBehind === null).slice(0, limit);
  }

  async #attempt(webhook: Webhook, due: Due): Promise<void> {
    const { clock, metrics } = this.#deps;
    const startedAt = clock.now();
    const outcome = await this.#outcomeOf(webhook, due, startedAt).finally(() => {
      this.#inFlight--;
      this.#changed.notify();
      this.#deps.release(webhook.accountId);
    });
    if (outcome === undefined) return;
    metrics.attemptSeconds.observe({ class: outcome.class }, outcome.durationMs / 1000);
    // Aborted by a stop: it stays pending and is sent again.
    if (outcome.class !== 'unknown_outcome' && !this.#isAbandoned) this.#onEnded(webhook, due, startedAt, outcome);
  }

  /** Returns undefined if the request could not be prepared. Nothing was sent then, and the delivery is put back. */
  async #outcomeOf(webhook: Webhook, due: Due, startedAt: number): Promise<Outcome | undefined> {
    let request: AttemptRequest | Outcome;
    try {
      request = await this.#requestOf(webhook, due, startedAt);
    } catch (error) {
      this.#report(error, 'failed to prepare a delivery; trying again');
      this.#putBackAfter(isAway(error) ? RETRY_MS : REFUSED_RETRY_MS, due);
      return undefined;
    }
    return 'class' in request ? request : this.#deps.deliver.attempt({ ...request, signal: this.#requests.signal });
  }

  /**
   * Until then the delivery stays in the backlog, so that it is not read and started again immediately.
   * @param hasTurn whether the conversation still waits for this delivery
   */
  #putBackAfter(delayMs: number, due: Due, hasTurn = true): void {
    if (this.#isStopped) return;
    const cancel = this.#deps.clock.after(delayMs, () => {
      this.#putBacks.delete(cancel);
      if (hasTurn) this.#backlog.forgetBehind(due);
      this.#backlog.remove(due);
      this.#mayHaveMore = true;
      this.#advance();
    });
    this.#putBacks.add(cancel);
  }

  /** Returns the request of an attempt, or its outcome if the subscriber may not see the event. */
  async #requestOf(webhook: Webhook, due: Due, now: number): Promise<AttemptRequest | Outcome> {
    const { url, timeoutMs, acceptRedirects, subscription } = webhook;
    const { kind, eventId, body, trace, sequence } = due;
    if (subscription === undefined) {
      const attempt = { kind, eventId, attempt: due.attempts + 1, isTest: false, sequence, now };
      const headers = deliveryHeaders(attempt, body, webhook);
      const broker = brokerRequest(webhook, due.conversation);
      return { url, headers, body, trace, timeoutMs, acceptRedirects, broker };
    }
    const shown = await this.#deps.showOccurrence({ webhook, subscription, due });
    if (shown.refusal !== undefined) return refused(shown.refusal);
    const headers = signedHeaders({ id: eventId, subscriptionId: subscription.id, now }, shown.body, webhook);
    return { url, headers, body: shown.body, trace, timeoutMs };
  }

  /** @param webhook as it was when the attempt started */
  #onEnded(webhook: Webhook, due: Due, startedAt: number, outcome: Outcome): void {
    const { steady } = this.#deps;
    const now = steady.now();
    const isProbe = webhook.breaker.state === 'half_open';
    const retry = withOwnSteps(this.#deps.retry, webhook);
    // A failure at a URL that was replaced meanwhile says nothing about the new one, so the delivery goes there now.
    const hasNewUrl = outcome.class !== 'ok' && this.#webhook !== undefined && !isSameReceiver(this.#webhook, webhook);
    const isFinal = webhook.subscription !== undefined && isFinalFor(outcome);
    const verdict = hasNewUrl
      ? ({ state: 'pending' } as const)
      : isFinal
        ? ({ state: 'failed' } as const)
        : decide(outcome, due.steps, isProbe, now, retry);
    if (!isFinal) this.#moveBreaker(outcome, webhook.breaker.generation);
    this.#noteProbe(isProbe && outcome.class !== 'ok' ? due.conversation : null);
    // The breaker decides when the lane goes on. Then this delivery goes before the later ones, which are read again.
    const goesFirst = verdict.state === 'pending' && this.#isHalted(now);
    if (goesFirst) this.#forgetWaiting();
    const settled = goesFirst ? { ...verdict, dueAt: 0 } : verdict;
    const { isStrict } = this.#backlog;
    const holdsBack = isStrict && verdict.state === 'pending';
    const releases = isStrict && !holdsBack && this.#backlog.isLast(due);
    const ended = { due, outcome, startedAt, endedAt: now, dueAt: now, steps: due.steps, ...settled };
    this.#ended.push({ ...ended, holdsBack, releases });
    this.#changed.notify();
    // A read may have left the conversation out while it had no room.
    if (!holdsBack && this.#backlog.moveUp(due)) this.#mayHaveMore = true;
    void this.#settle();
    this.#advance();
  }

  /** Whether nothing new starts before the breaker allows it. */
  #isHalted(now: number): boolean {
    const breaker = this.#webhook?.breaker;
    return breaker !== undefined && (breaker.state !== 'closed' || (breaker.pausedUntil ?? 0) > now);
  }

  /** @param generation of the breaker when the attempt started */
  #moveBreaker(outcome: Outcome, generation: number): void {
    const webhook = this.#webhook;
    if (webhook === undefined) return;
    const { steady, breaker: policy, metrics, log } = this.#deps;
    const breaker = onOutcome(webhook.breaker, outcome, generation, webhook.maxInFlight, steady.now(), policy);
    this.#webhook = { ...webhook, breaker };
    if (breaker.state !== webhook.breaker.state) {
      this.#mayHaveFailed = true;
      this.#mayHaveMore = true;
    }
    if (breaker.state !== 'open' || webhook.breaker.state === 'open') return;
    const fields = { webhook: this.webhookId, reason: breaker.reason, error: outcome.message };
    if (webhook.breaker.state === 'half_open') log.debug(fields, 'probe failed');
    else {
      metrics.breakersOpened.inc();
      log.warn(fields, 'circuit breaker opened');
    }
    this.#forgetWaiting();
  }

  /** Stored with the breaker, because the lane may move to another node before the next probe. */
  #noteProbe(failedProbe: string | null): void {
    if (this.#webhook === undefined) return;
    const { breaker } = this.#webhook;
    if ((breaker.failedProbe ?? null) !== failedProbe)
      this.#webhook = { ...this.#webhook, breaker: { ...breaker, failedProbe } };
  }

  #forgetWaiting(): void {
    this.#backlog.forgetWaiting();
    this.#mayHaveMore = true;
  }

  /** Settles all attempts that have ended, and those that end meanwhile. Retries while the database is away. */
  async #settle(): Promise<void> {
    if (this.#isSettling) return;
    this.#isSettling = true;
    while (this.#ended.length > 0) {
      const isEnough = () => this.#isStopped || this.#ended.length >= GATHERED_ENOUGH;
      await this.#changed.untilOrAfter(systemClock, GATHER_MS, isEnough);
      if (this.#isAbandoned) break;
      const batch = this.#ended;
      this.#ended = [];
      try {
        await this.#store(batch);
      } catch (error) {
        this.#report(error, 'failed to settle deliveries; retrying');
        const unstored = this.#isDown(error) ? batch : await this.#storeApart(batch);
        if (unstored.length === 0) continue;
        this.#ended = [...unstored, ...this.#ended];
        // After a stop they stay pending, and are delivered again.
        if (this.#isStopped) break;
        await sleep(this.#deps.clock, RETRY_MS);
      }
    }
    this.#isSettling = false;
    this.#changed.notify();
    this.#advance();
    this.#checkIdle();
  }

  /** Whether the database does not work at all, so that its error does not concern the outcome. */
  #isDown(error: unknown): boolean {
    if (!isAway(error)) return false;
    const fault = this.#deps.database.reader.dialect.faultOf(error.cause);
    return fault === undefined || fault === 'away';
  }

  /**
   * Stores outcomes one by one, because one of them may keep the others. Returns those to try again, first those that
   * had no turn yet: each failure may have waited for a lock.
   */
  async #storeApart(batch: readonly Ended[]): Promise<Ended[]> {
    const untried = [...batch];
    const failed: Ended[] = [];
    while (failed.length < FAILURES_AT_ONCE && !this.#isAbandoned) {
      const ended = untried.shift();
      if (ended === undefined) break;
      try {
        await this.#store([ended]);
      } catch (error) {
        if (!isAway(error)) await this.#storeWithoutDetails(ended);
        else if (this.#isDown(error) || this.#deps.steady.now() - ended.endedAt < SETTLE_MS) failed.push(ended);
        else this.#giveUp(ended, error);
      }
    }
    return [...untried, ...failed];
  }

  /** The database refuses values of the outcome. Only those that the receiver has sent can differ from all others. */
  async #storeWithoutDetails(ended: Ended): Promise<void> {
    const outcome = { ...ended.outcome, message: 'The details of the attempt could not be stored', response: null };
    try {
      await this.#store([{ ...ended, outcome }]);
    } catch (error) {
      this.#giveUp(ended, error);
    }
  }

  /** The delivery is still pending, and is sent again. */
  #giveUp({ due, holdsBack }: Ended, error: unknown): void {
    this.#report(error, 'failed to settle a delivery; sending it again');
    this.#putBackAfter(REFUSED_RETRY_MS, due, holdsBack);
  }

  async #store(batch: readonly Ended[]): Promise<void> {
    const { metrics } = this.#deps;
    await this.#commit(batch);
    for (const { due, state, holdsBack } of batch) {
      if (holdsBack) {
        this.#backlog.forgetBehind(due);
        if (this.#isReading) this.#retriedMeanwhile.add(due.conversation);
      }
      this.#backlog.remove(due);
      if (this.#isReading) this.#settledMeanwhile.add(due.deliveryId);
      if (state === 'pending') {
        this.#mayHaveMore = true;
        this.#mayHaveNewRetry = true;
      } else metrics.settled.inc({ state });
    }
  }

  /** Commits settlements together with the breaker. If it was reset or the URL changed meanwhile, that wins. */
  async #commit(settlements: readonly Ended[]): Promise<void> {
    const { database, clock, steady, settleLanes } = this.#deps;
    const breaker = this.#webhook?.breaker;
    const outcomes: LaneOutcomes = {
      webhookId: this.webhookId,
      settlements,
      released: settlements.filter(({ releases }) => releases).map(({ due }) => due.conversation),
      minute: minuteOf(clock.now()),
      breaker,
      from: this.#stored.state,
      generation: this.#stored.generation,
      steadyMs: steady.now(),
    };
    // A probe may begin while outcomes are being stored, and a lane has at most one entry in a joint settlement.
    const settled =
      settlements.length > 0
        ? await database.commitJointly(settleLanes, outcomes)
        : await database.commit(async (tx) => (await settleLanes(tx, [outcomes]))[0]);
    const { isStored, hasReleased } = settled ?? { isStored: false, hasReleased: false };
    if (hasReleased) this.#mayHaveMore = true;
    if (!isStored) this.#mustReload = true;
    else if (breaker !== undefined) this.#stored = breaker;
  }

  /** Sets the timer for another reason than the next retry. */
  #lookAgainAt(at: number): void {
    this.#mayHaveNewRetry = true;
    this.#wakeAt(at);
  }

  #wakeAt(at: number): void {
    this.#cancelTimer?.();
    if (this.#isStopped) return;
    this.#cancelTimer = this.#deps.clock.after(Math.max(1, at - this.#deps.steady.now()), () => {
      this.#cancelTimer = undefined;
      this.wake();
    });
  }

  /** A stopped lane is not idle: the engine may have another one for the webhook by now. */
  #checkIdle(): void {
    if (this.#isStopped) return;
    const isBusy = this.#backlog.size > 0 || this.#isReading || this.#isSettling || this.#mayHaveMore;
    if (!isBusy && this.#cancelTimer === undefined && this.#inFlight === 0) this.#deps.idle(this);
  }

  /** Logs an error. If the database is unreachable, the engine warns once for all lanes. */
  #report(error: unknown, message: string): void {
    this.#deps.log[isAway(error) ? 'debug' : 'error']({ err: error, webhook: this.webhookId }, message);
  }
}

/** The outcome of an attempt that was not made. */
function refused(reason: string): Outcome {
  return { class: 'client_error', status: null, durationMs: 0, message: reason, response: null, retryAfterMs: null };
}

/**
 * Whether a subscriber does not want a delivery again, or may not have it. Unlike at a webhook, 410 concerns only this
 * delivery, and says nothing about the receiver.
 */
function isFinalFor({ class: kind, status }: Outcome): boolean {
  return status === 410 || status === 413 || (kind === 'client_error' && status === null);
}

/** Whether something is done about its deliveries when they are read, so that none is added without being read. */
const isPrepared = ({ isStrict, include }: Webhook) => isStrict || include.length > 0;
