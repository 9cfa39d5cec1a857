import { Condition, settledWithin } from '../../async.ts';
import { type Clock, systemClock } from '../../clock.ts';
import type { Database } from '../../db/database.ts';
import { isAway } from '../../errors.ts';
import type { AddFields } from '../../events/addedFields.ts';
import type { Log } from '../../log.ts';
import type { Metrics } from '../../metrics.ts';
import type { SteadyClock } from '../../steadyClock.ts';
import type { Deliver } from '../delivery/deliver.ts';
import { isSameReceiver } from '../delivery/destination.ts';
import type { BreakerPolicy } from '../queue/breaker.ts';
import { type Due, readNextDue } from '../queue/due.ts';
import { bringFailedForward } from '../queue/failedFirst.ts';
import type { Outcome } from '../queue/outcome.ts';
import { decide, type RetryPolicy, withOwnSteps } from '../queue/retry.ts';
import { minuteOf } from '../queue/stats.ts';
import { Backlog } from './backlog.ts';
import { CurrentWebhook } from './currentWebhook.ts';
import { FIRST_DUE, type LaneStart } from './laneReader.ts';
import { cancelLate, readDeliveries, readProbe } from './laneReads.ts';
import { QueueState } from './queueState.ts';
import { isFinalFor, requestOf, type ShowOccurrence, type WithFiles } from './requests.ts';
import { type Ended, Settlements } from './settlements.ts';
import type { createSettleLanes, LaneOutcomes } from './settling.ts';
import type { Webhook } from './webhook.ts';

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
  /** Adds links and contents of files to an attempt. */
  readonly withFiles: WithFiles;
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

const RETRY_MS = 250;
/** A delivery that failed for another reason than the database, such as a bug, fails again, most likely. */
const REFUSED_RETRY_MS = 30_000;

/**
 * Processes the deliveries of one webhook.
 *
 * read → start → attempt → settle, each step independent of the others: due deliveries are read in batches into the
 * backlog, whenever it is half empty (`QueueState` tracks which of them are in memory). The engine starts a ready one
 * when it is the lane's turn. When its attempt ends, the outcome moves the breaker (`CurrentWebhook`), and the next
 * delivery of its conversation is ready. Outcomes are settled in batches (`Settlements`). A retry goes back to the
 * database, and is read again when it is due.
 *
 * Nothing is written before an attempt. Whatever the lane forgets, by a stop or a crash, is still pending.
 *
 * A lane runs, then stops: nothing starts, and what has ended is settled. In the end, or as soon as another node owns
 * the webhook, it is abandoned: nothing is settled either.
 */
export class Lane {
  readonly webhookId: string;
  readonly #deps: LaneDeps;
  readonly #backlog = new Backlog();
  readonly #webhook: CurrentWebhook;
  readonly #queue = new QueueState();
  readonly #settlements: Settlements;
  #life: 'running' | 'stopped' | 'abandoned' = 'running';
  #inFlight = 0;
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
    this.#webhook = new CurrentWebhook(webhookId, deps);
    this.#settlements = new Settlements({
      database: deps.database,
      clock: deps.clock,
      steady: deps.steady,
      changed: this.#changed,
      isStopped: () => this.#isStopped,
      isAbandoned: () => this.#life === 'abandoned',
      isUrgent: () => this.#queue.isStale,
      canWait: (batch) => this.#canWait(batch),
      store: (batch, canWait) => this.#store(batch, canWait),
      onGivenUp: ({ due, holdsBack }) => this.#putBackAfter(REFUSED_RETRY_MS, due, holdsBack),
      report: (error, message) => this.#report(error, message),
      onIdle: () => {
        this.#advance();
        this.#checkIdle();
      },
    });
  }

  get accountId(): string | undefined {
    return this.#webhook.value?.accountId;
  }

  /**
   * Whether the lane has nothing to do and no timer running. A stopped lane is not idle: the engine may have another
   * one for the webhook by now.
   */
  get isIdle(): boolean {
    if (this.#isStopped || this.#inFlight > 0 || this.#cancelTimer !== undefined) return false;
    const { isReading, isComplete } = this.#queue;
    return this.#backlog.size === 0 && !isReading && !this.#settlements.isSettling && isComplete;
  }

  get canStart(): boolean {
    if (this.#backlog.readyCount === 0 || this.#isStopped || this.#queue.isLoading) return false;
    const allowed = this.#webhook.permit();
    return allowed.kind === 'go' && this.#inFlight < allowed.limit;
  }

  /**
   * Looks for due deliveries.
   * @param stored new deliveries, in order. Without any, there may be new retries, and the lane also looks for the
   * next.
   * @param mayAppend whether no transaction may still add earlier ones. Then they are not read if the backlog contains
   * all earlier ones.
   */
  wake(stored: readonly Due[] = [], mayAppend = true): void {
    if (stored.length === 0) this.#queue.knowsNextRetry = false;
    const isAppended = stored.length > 0 && mayAppend && this.#isCompleteWithRoomFor(stored.length);
    if (isAppended) for (const due of stored) this.#backlog.append(due);
    else this.#queue.fallBehind();
    this.#advance();
  }

  /** Repeats an offer that may have been lost, or looks for due deliveries whose wake-up was lost. */
  check(): void {
    if (this.#backlog.readyCount > 0) this.#advance();
    else if (!this.#queue.isReading) this.wake();
  }

  /** Reads the webhook again, because its row was changed or removed. */
  reload(): void {
    this.#queue.becomeStale();
    this.#changed.notify();
    this.wake();
  }

  /** Stores the outcomes of the attempts that have ended. */
  flush(): Promise<void> {
    return this.#settlements.flush();
  }

  /** Starts the next delivery. The engine calls it when `canStart`. */
  startOne(): void {
    const due = this.#backlog.takeReady();
    const webhook = this.#webhook.value;
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
    if (this.#life === 'running') this.#life = 'stopped';
    this.#cancelTimer?.();
    for (const cancel of this.#putBacks) cancel();
    this.#backlog.forgetWaiting();
    this.#changed.notify();
    await this.#changed.until(() => !this.#settlements.isSettling && !this.#queue.isReading);
  }

  /**
   * Starts nothing more. Resolves once the deliveries in flight are settled, or abandons them after `graceMs`, and
   * reads and settlements in progress after as long again.
   */
  async drain(graceMs: number): Promise<void> {
    const settled = this.stop().then(() =>
      this.#changed.until(() => this.#inFlight === 0 && !this.#settlements.isSettling),
    );
    await settledWithin(systemClock, graceMs, settled);
    this.#life = 'abandoned';
    await settledWithin(systemClock, graceMs, this.stop());
  }

  /** Starts nothing more and settles nothing, because another node owns the lane. */
  abandon(): void {
    this.#life = 'abandoned';
    void this.stop();
  }

  /** Abandons the lane and aborts the requests in flight. Once this resolves, no request to the webhook is open. */
  async abort(): Promise<void> {
    this.abandon();
    this.#requests.abort();
    await this.#changed.until(() => this.#inFlight === 0);
  }

  get #isStopped(): boolean {
    return this.#life !== 'running';
  }

  /** Offers deliveries that may start, reads more if there is room, and waits for those that are due later. */
  #advance(): void {
    if (this.#isStopped) return;
    if (this.canStart) this.#deps.offer(this);
    if (this.#queue.isReading) return;
    if (this.#queue.isStale) {
      // Outcomes are settled first, because they apply to the breaker that a load replaces.
      if (!this.#settlements.isSettling) void this.#read();
      return;
    }
    const allowed = this.#webhook.permit();
    if (allowed.kind === 'wait') {
      if (this.#backlog.readyCount > 0 || !this.#queue.isComplete) this.#lookAgainAt(allowed.until);
    } else if (!this.#queue.isComplete && this.#backlog.size <= this.#capacity / 2) void this.#read();
  }

  /** Number of deliveries to keep in memory: just the probe unless the breaker is closed. */
  get #capacity(): number {
    return this.#webhook.value?.breaker.state === 'closed' ? this.#deps.room() : 1;
  }

  /** Whether the backlog contains what is due and has room for new deliveries. */
  #isCompleteWithRoomFor(count: number): boolean {
    if (this.#queue.isReading || !this.#queue.isComplete) return false;
    // Disabled, paused, or the next probe is read when it is due.
    if (!this.#webhook.isOpenForAll || this.#webhook.isPrepared) return false;
    return this.#backlog.size + count <= this.#capacity;
  }

  /** Reads the webhook if it has changed, otherwise more deliveries. */
  async #read(): Promise<void> {
    const missing = this.#queue.beginRead();
    let hasFailed = false;
    try {
      await (missing === 'webhook' ? this.#load() : this.#fill());
    } catch (error) {
      hasFailed = true;
      this.#report(error, 'failed to read the queue; retrying');
    }
    this.#queue.endRead(hasFailed);
    this.#changed.notify();
    if (hasFailed) return this.#lookAgainAt(this.#deps.steady.now() + RETRY_MS);
    this.#advance();
    this.#checkIdle();
  }

  /** Reads the webhook, and the first due deliveries if they may go out. */
  async #load(): Promise<void> {
    this.#queue.knowsNextRetry = true;
    const { webhook: found, due, nextDueAt } = await this.#deps.readStart(this.webhookId);
    if (found === undefined) await cancelLate(this.#deps, this.webhookId, () => this.#isStopped);
    this.#webhook.replace(found);
    this.#backlog.forgetWaiting();
    this.#backlog.beginRead();
    this.#backlog.isStrict = found?.isStrict === true;
    const mayGoOut = this.#webhook.isOpenForAll && !this.#webhook.mayHaveFailed && !this.#webhook.isPrepared;
    const fresh = mayGoOut ? this.#withoutKnown(due, FIRST_DUE) : [];
    this.#add(fresh);
    if (fresh.length === 0) {
      this.#queue.fallBehindWithRetries();
    } else if (nextDueAt !== undefined) this.#wakeAt(nextDueAt);
  }

  /** Reads due deliveries, or the next probe, as far as there is room. */
  async #fill(): Promise<void> {
    const { database, steady } = this.#deps;
    const webhook = this.#webhook.value;
    if (!webhook?.isActive) return;
    const isProbeDue = this.#webhook.permit().kind === 'probe_due';
    if (this.#webhook.mayHaveFailed) await this.#bringFailedForward();
    const limit = Math.max(1, this.#capacity - this.#backlog.size);
    const now = steady.now(); // one for both reads, so that no retry is due between them
    const wanted = { now, limit, known: () => this.#backlog.beginRead() };
    // After a reload the probe that has begun is read again.
    const mayProbe = webhook.breaker.state !== 'closed';
    const { due, hasHeld } = await (mayProbe ? readProbe : readDeliveries)(this.#deps, webhook, wanted);
    if (hasHeld) {
      this.#queue.fallBehindWithRetries();
    }
    if (this.#queue.isStale || this.#isStopped) return;
    // Another number of deliveries may go out, or a failed one goes first.
    if (this.#webhook.hasMovedSince(webhook)) return this.#queue.fallBehind();
    const fresh = this.#withoutKnown(due, limit);
    if (isProbeDue && fresh.length > 0) {
      this.#webhook.beginProbe();
      await this.#commit([]);
    }
    this.#add(fresh);
    if (!this.#queue.isComplete || this.#queue.knowsNextRetry) return;
    this.#queue.knowsNextRetry = true;
    const nextDueAt = (await readNextDue(database.reader, [this.webhookId], now)).get(this.webhookId);
    if (nextDueAt !== undefined) this.#wakeAt(nextDueAt);
  }

  async #bringFailedForward(): Promise<void> {
    this.#webhook.mayHaveFailed = false;
    try {
      await bringFailedForward(this.#deps.database, this.webhookId, () => this.#isStopped);
    } catch (error) {
      this.#webhook.mayHaveFailed = true;
      throw error;
    }
  }

  /**
   * Returns the deliveries of a read, of at most `limit`, that are neither in the backlog nor settled since it began.
   */
  #withoutKnown(due: readonly Due[], limit: number): Due[] {
    if (due.length === limit) this.#queue.fallBehind();
    return this.#queue.withoutSettled(due).filter(({ deliveryId }) => !this.#backlog.has(deliveryId));
  }

  /** Those whose conversation has no room stay in the database until `moveUp` reports room. */
  #add(fresh: readonly Due[]): void {
    for (const delivery of fresh) this.#backlog.add(delivery);
  }

  async #attempt(webhook: Webhook, due: Due): Promise<void> {
    const { clock, release } = this.#deps;
    const startedAt = clock.now();
    let outcome: Outcome | undefined;
    try {
      try {
        outcome = await this.#outcomeOf(webhook, due, startedAt);
      } finally {
        this.#inFlight--;
      }
      // Without a wait in between: the outcome is either in flight or waits to be settled.
      if (outcome !== undefined) this.#onOutcome(webhook, due, startedAt, outcome);
    } finally {
      this.#changed.notify();
      release(webhook.accountId);
    }
  }

  #onOutcome(webhook: Webhook, due: Due, startedAt: number, outcome: Outcome): void {
    this.#deps.metrics.attemptSeconds.observe({ class: outcome.class }, outcome.durationMs / 1000);
    // Aborted by a stop: it stays pending and is sent again.
    if (outcome.class !== 'unknown_outcome' && this.#life !== 'abandoned')
      this.#onEnded(webhook, due, startedAt, outcome);
  }

  /** Returns undefined if the request could not be prepared. Nothing was sent then, and the delivery is put back. */
  async #outcomeOf(webhook: Webhook, due: Due, startedAt: number): Promise<Outcome | undefined> {
    const { showOccurrence, withFiles, deliver } = this.#deps;
    try {
      return await withFiles(webhook, due.body, async (body) => {
        const request = await requestOf(webhook, { ...due, body }, startedAt, showOccurrence);
        // An attempt never rejects.
        return 'class' in request ? request : deliver.attempt({ ...request, signal: this.#requests.signal });
      });
    } catch (error) {
      this.#report(error, 'failed to prepare a delivery; trying again');
      this.#putBackAfter(isAway(error) ? RETRY_MS : REFUSED_RETRY_MS, due);
      return undefined;
    }
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
      this.#queue.fallBehind();
      this.#advance();
    });
    this.#putBacks.add(cancel);
  }

  /** @param webhook as it was when the attempt started */
  #onEnded(webhook: Webhook, due: Due, startedAt: number, outcome: Outcome): void {
    const now = this.#deps.steady.now();
    const isProbe = webhook.breaker.state === 'half_open';
    const verdict = this.#verdictOf(webhook, due, outcome, now);
    if (!isFinalFor(webhook, outcome)) this.#moveBreaker(outcome, webhook.breaker.generation);
    this.#webhook.noteProbe(isProbe && outcome.class !== 'ok' ? due.conversation : null);
    // The breaker decides when the lane goes on. Then this delivery goes before the later ones, which are read again.
    const goesFirst = verdict.state === 'pending' && this.#webhook.isHalted(now);
    if (goesFirst) this.#forgetWaiting();
    const settled = goesFirst ? { ...verdict, dueAt: 0 } : verdict;
    const { isStrict } = this.#backlog;
    const holdsBack = isStrict && verdict.state === 'pending';
    const releases = isStrict && !holdsBack && this.#backlog.isLast(due);
    // A read may have left the conversation out while it had no room.
    if (!holdsBack && this.#backlog.moveUp(due)) this.#queue.fallBehind();
    const ended = { due, outcome, startedAt, endedAt: now, dueAt: now, steps: due.steps, ...settled };
    this.#settlements.add({ ...ended, holdsBack, releases });
    this.#advance();
  }

  /** Decides what follows an attempt, before the breaker moves. */
  #verdictOf(webhook: Webhook, due: Due, outcome: Outcome, now: number) {
    const current = this.#webhook.value;
    // A failure at a URL that was replaced since then is not one of the new URL, so the delivery goes there now.
    const hasNewUrl = outcome.class !== 'ok' && current !== undefined && !isSameReceiver(current, webhook);
    if (hasNewUrl) return { state: 'pending' } as const;
    if (isFinalFor(webhook, outcome)) return { state: 'failed' } as const;
    const isProbe = webhook.breaker.state === 'half_open';
    return decide(outcome, due.steps, isProbe, now, withOwnSteps(this.#deps.retry, webhook));
  }

  /** @param generation of the breaker when the attempt started */
  #moveBreaker(outcome: Outcome, generation: number): void {
    const change = this.#webhook.onOutcome(outcome, generation);
    if (change === 'opened') this.#backlog.forgetWaiting();
    if (change !== 'same state') this.#queue.fallBehind();
  }

  #forgetWaiting(): void {
    this.#backlog.forgetWaiting();
    this.#queue.fallBehind();
  }

  /** The order of a strict webhook and the state of the breaker follow from what is stored. */
  #canWait(batch: readonly Ended[]): boolean {
    const { isOpenForAll, stored, value } = this.#webhook;
    const isUnchanged = isOpenForAll && value?.breaker.generation === stored.generation;
    return isUnchanged && !this.#backlog.isStrict && batch.every(({ state }) => state === 'delivered');
  }

  async #store(batch: readonly Ended[], canWait = false): Promise<void> {
    const { metrics } = this.#deps;
    await this.#commit(batch, canWait);
    for (const { due, state, holdsBack } of batch) {
      if (holdsBack) this.#backlog.forgetBehind(due);
      this.#backlog.remove(due);
      this.#queue.onSettled(due, holdsBack);
      if (state === 'pending') {
        this.#queue.fallBehindWithRetries();
      } else metrics.settled.inc({ state });
    }
  }

  /** Commits settlements together with the breaker. A reset or a new URL since the last read wins. */
  async #commit(settlements: readonly Ended[], canWait = false): Promise<void> {
    const { database, clock, steady, settleLanes } = this.#deps;
    const breaker = this.#webhook.value?.breaker;
    const { state: from, generation } = this.#webhook.stored;
    const outcomes: LaneOutcomes = {
      webhookId: this.webhookId,
      settlements,
      released: settlements.filter(({ releases }) => releases).map(({ due }) => due.conversation),
      minute: minuteOf(clock.now()),
      breaker,
      from,
      generation,
      steadyMs: steady.now(),
    };
    // A probe may begin while outcomes are being stored, and a lane has at most one entry in a joint settlement.
    const settled =
      settlements.length > 0
        ? await database.commitJointly(settleLanes, outcomes, undefined, { canWait })
        : await database.commit(async (tx) => (await settleLanes(tx, [outcomes]))[0]);
    const { isStored, hasReleased } = settled ?? { isStored: false, hasReleased: false };
    if (hasReleased) this.#queue.fallBehind();
    if (!isStored) this.#queue.becomeStale();
    else if (breaker !== undefined) this.#webhook.onStored(breaker);
  }

  /** Sets the timer for another reason than the next retry. */
  #lookAgainAt(at: number): void {
    this.#queue.knowsNextRetry = false;
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

  #checkIdle(): void {
    if (this.isIdle) this.#deps.idle(this);
  }

  /** Logs an error. If the database is unreachable, the engine warns once for all lanes. */
  #report(error: unknown, message: string): void {
    this.#deps.log[isAway(error) ? 'debug' : 'error']({ err: error, webhook: this.webhookId }, message);
  }
}
