import { setImmediate } from 'node:timers/promises';
import { Condition, settledWithin, sleep } from '../async.ts';
import { type Clock, systemClock } from '../clock.ts';
import type { Database } from '../db/database.ts';
import { storeSteadyTime } from '../db/steadyTime.ts';
import { isAway } from '../errors.ts';
import type { Log } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import type { SteadyClock } from '../steadyClock.ts';
import {
  type Breaker,
  type BreakerPolicy,
  beginProbe,
  clampToClock,
  onOutcome,
  type Permit,
  permit,
} from './breaker.ts';
import type { Deliver } from './deliver.ts';
import { addFigures } from './minutes.ts';
import type { Outcome } from './outcome.ts';
import { cancelPending, type Due, ownerOfPending, readDue, readNextDue, type Settlement, settle } from './queue.ts';
import { decide, type RetryPolicy } from './retry.ts';
import { deliveryHeaders } from './sign.ts';
import { count, minuteOf, noFigures } from './stats.ts';
import { findWebhook, storeBreaker, type Webhook } from './webhook.ts';

/*
 * A lane processes the deliveries of one webhook. It reads due ones in batches and keeps them in memory: `held` until
 * they are settled, and of these `ready` may start at once. The first attempts of one conversation start one at a time,
 * in order; the next ones wait in `conversations` behind the one in flight. A delivery that waits for its retry is back
 * in the database and does not block others.
 *
 * Outcomes are settled in batches: attempts that finish while a transaction is being written share the next one.
 */

export interface LaneOptions {
  readonly database: Database;
  /** The time of day, for receivers and the log. */
  readonly clock: Clock;
  /** The time for retries and the breaker. */
  readonly steady: SteadyClock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly deliver: Deliver;
  readonly retry: RetryPolicy;
  readonly breaker: BreakerPolicy;
}

export interface LaneDeps extends LaneOptions {
  /** The lane has something to start; the engine calls `startOne` when it is its turn. */
  offer(lane: Lane): void;
  /** An attempt has ended: its connection is free. */
  release(accountId: string): void;
  /** The lane has nothing to do and no timer running. */
  idle(lane: Lane): void;
}

/** Deliveries kept in memory: those in flight, those that wait to be settled, and the next ones. */
const BATCH = 1024;
/** Deliveries of one conversation kept in memory. They go out one at a time, so more would not help. */
const CROWD = 16;
const SETTLE_RETRY_MS = 250;
/** An outcome waits this long for others to share its transaction. The next attempts do not wait. */
const GATHER_MS = 20;
const GATHER_ENOUGH = 256;

export class Lane {
  readonly webhookId: string;
  readonly #deps: LaneDeps;
  #webhook: Webhook | undefined;
  #storedGeneration = 0;
  #held = new Set<string>();
  #ready: Due[] = [];
  #conversations = new Map<string, Due[]>();
  /** Settled during a read, which may still return them as pending. */
  #settledMeanwhile = new Set<string>();
  #finished: Settlement[] = [];
  #inFlight = 0;
  #isReading = false;
  #isSettling = false;
  /** Notified when a read, a settlement or an attempt has ended. */
  readonly #changed = new Condition();
  #isStopped = false;
  #isAbandoned = false;
  /** Whether something was emitted, or became due, since the last read began. */
  #mayHaveMore = true;
  #mustReload = true;
  #cancelTimer = () => {};
  #hasTimer = false;
  #hasGathered = () => {};
  readonly #cut = new AbortController();

  constructor(webhookId: string, deps: LaneDeps) {
    this.webhookId = webhookId;
    this.#deps = deps;
  }

  /** Looks for due deliveries. */
  wake(): void {
    this.#mayHaveMore = true;
    this.#advance();
  }

  /** Reads the webhook again, because its row was changed or removed. */
  reload(): void {
    this.#mustReload = true;
    this.wake();
  }

  /** Undefined until the webhook was read. */
  get accountId(): string | undefined {
    return this.#webhook?.accountId;
  }

  get canStart(): boolean {
    return this.#ready.length > 0 && this.#inFlight < this.#limit();
  }

  /** Starts the next delivery. The engine calls it when `canStart`. */
  startOne(): void {
    const due = this.#ready.shift();
    const webhook = this.#webhook;
    if (due === undefined || webhook === undefined) throw new Error('nothing to start');
    this.#inFlight++;
    this.#attempt(webhook, due).catch((error) => {
      // A bug. The delivery stays pending, and is held here so that it is not sent again and again.
      this.#deps.log.error(
        { err: error, webhook: this.webhookId, delivery: due.deliveryId },
        'delivery attempt failed unexpectedly',
      );
    });
    if (this.#ready.length < BATCH / 2) this.#advance();
  }

  /** Starts nothing more and settles the finished attempts. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancelTimer();
    this.#hasGathered();
    this.#drop();
    await this.#changed.until(() => !this.#isSettling && !this.#isReading);
  }

  /** Starts nothing more. Resolves once the deliveries in flight are settled, or abandons them after `graceMs`. */
  async drain(graceMs: number): Promise<void> {
    await this.stop();
    const isBusy = () => this.#inFlight > 0 || this.#isSettling || this.#finished.length > 0;
    await settledWithin(
      systemClock,
      graceMs,
      this.#changed.until(() => !isBusy()),
    );
    this.abandon();
  }

  /** Starts nothing more and settles nothing, because another node owns the lane. */
  abandon(): void {
    this.#isAbandoned = true;
    void this.stop();
  }

  /** Abandons the lane and aborts the requests in flight. Once this resolves, no request to the webhook is open. */
  async cut(): Promise<void> {
    this.abandon();
    this.#cut.abort();
    await this.#changed.until(() => this.#inFlight === 0);
  }

  /** Offers deliveries that may start, reads more if there is room, and waits for those that are due later. */
  #advance(): void {
    if (this.#isStopped) return;
    if (this.canStart) this.#deps.offer(this);
    if (this.#isReading) return;
    if (this.#mustReload) {
      // Outcomes are settled first, because they apply to the breaker state that reloading replaces.
      if (!this.#isSettling && this.#finished.length === 0) void this.#read();
      return;
    }
    const allowed = this.#permit();
    if (allowed.kind === 'wait') {
      if (this.#ready.length > 0 || this.#mayHaveMore) this.#wakeAt(allowed.until);
    } else if (this.#mayHaveMore && this.#held.size <= this.#capacity(allowed) / 2) {
      void this.#read();
    }
  }

  #permit(): Permit {
    // Removed or disabled: deliveries stay pending.
    if (this.#webhook === undefined || !this.#webhook.isEnabled) return { kind: 'go', limit: 0 };
    return permit(this.#webhook.breaker, this.#webhook.maxInFlight, this.#deps.steady.now());
  }

  #limit(): number {
    if (this.#isStopped || this.#mustReload) return 0;
    const allowed = this.#permit();
    return allowed.kind === 'go' ? allowed.limit : 0;
  }

  /** Number of deliveries to keep in memory: just the probe unless the breaker is closed. */
  #capacity(allowed: Permit): number {
    return allowed.kind === 'go' && this.#webhook?.breaker.state === 'closed' ? BATCH : 1;
  }

  /** Logs an error. If the database is unreachable, the engine warns once for all lanes. */
  #report(error: unknown, message: string): void {
    this.#deps.log[isAway(error) ? 'debug' : 'error']({ err: error, webhook: this.webhookId }, message);
  }

  async #read(): Promise<void> {
    this.#isReading = true;
    this.#settledMeanwhile.clear();
    try {
      if (this.#mustReload) await this.#load();
      else await this.#fill();
    } catch (error) {
      this.#report(error, 'failed to read the queue; retrying');
      this.#mayHaveMore = true;
      this.#wakeAt(this.#deps.steady.now() + SETTLE_RETRY_MS);
      return;
    } finally {
      this.#isReading = false;
      this.#changed.notify();
    }
    this.#advance();
    this.#checkIdle();
  }

  async #load(): Promise<void> {
    const { database, steady } = this.#deps;
    this.#mustReload = false;
    const found = await findWebhook(database, this.webhookId).catch((error) => {
      this.#mustReload = true;
      throw error;
    });
    if (found === undefined) await this.#cancelAll();
    this.#drop();
    this.#webhook = found && { ...found, breaker: clampToClock(found.breaker, steady.now()) };
    this.#storedGeneration = found?.breaker.generation ?? 0;
    this.#mayHaveMore = found?.isEnabled ?? false;
  }

  /** Cancels the pending deliveries of a removed webhook. They remain if the server died during the removal. */
  async #cancelAll(): Promise<void> {
    const { database, clock } = this.#deps;
    const webhookId = this.webhookId;
    const accountId = await ownerOfPending(database.reader, webhookId);
    if (accountId === undefined) return;
    const piece = () =>
      database.commit((tx) => cancelPending(tx, { accountId, webhookId }, [], 'The webhook was removed', clock.now()));
    while (!this.#isStopped && !(await piece())) await setImmediate();
  }

  async #fill(): Promise<void> {
    const webhook = this.#webhook;
    if (webhook === undefined || !webhook.isEnabled) {
      this.#mayHaveMore = false;
      return;
    }
    const { database, steady } = this.#deps;
    const allowed = this.#permit();
    this.#mayHaveMore = false;
    const wanted = this.#capacity(allowed) + this.#held.size;
    // Leaves out conversations with enough deliveries in memory, so that they do not crowd out the others.
    const crowded = [...this.#conversations].filter(([, behind]) => behind.length >= CROWD).map(([name]) => name);
    const due = await readDue(database.reader, this.webhookId, steady.now(), wanted, crowded);
    if (this.#mustReload || this.#isStopped) return;
    const isKnown = (id: string) => this.#held.has(id) || this.#settledMeanwhile.has(id);
    const fresh = due.filter(({ deliveryId }) => !isKnown(deliveryId));
    // The read may have missed deliveries that were settled as due again.
    if (this.#settledMeanwhile.size > 0) this.#mayHaveMore = true;
    if (due.length === wanted) this.#mayHaveMore = true;
    if (allowed.kind === 'probe_due' && fresh.length > 0)
      await this.#changeBreaker(beginProbe(webhook.breaker, steady.now()));
    for (const delivery of fresh) this.#hold(delivery);
    if (fresh.length === 0 && !this.#mayHaveMore) {
      const next = await readNextDue(database.reader, this.webhookId, steady.now());
      if (next !== undefined) this.#wakeAt(next);
    }
  }

  #hold(due: Due): void {
    this.#held.add(due.deliveryId);
    if (due.attempts > 0) {
      this.#ready.push(due);
      return;
    }
    const behind = this.#conversations.get(due.conversation);
    if (behind !== undefined && behind.length >= CROWD) {
      this.#held.delete(due.deliveryId);
      this.#mayHaveMore = true;
    } else if (behind !== undefined) behind.push(due);
    else {
      this.#conversations.set(due.conversation, []);
      this.#ready.push(due);
    }
  }

  async #attempt(webhook: Webhook, due: Due): Promise<void> {
    const { clock, steady, deliver, retry, breaker: policy } = this.#deps;
    const startedAt = clock.now();
    const { generation, state } = webhook.breaker;
    const outcome = await deliver.attempt({
      url: webhook.url,
      headers: deliveryHeaders({
        kind: due.kind,
        eventId: due.eventId,
        attempt: due.attempts + 1,
        body: due.body,
        secret: webhook.secret,
        previousSecret: (webhook.previousSecretUntil ?? 0) > startedAt ? webhook.previousSecret : null,
        isTest: false,
        now: startedAt,
      }),
      body: due.body,
      trace: due.trace,
      signal: this.#cut.signal,
    });
    this.#inFlight--;
    this.#changed.notify();
    this.#deps.release(webhook.accountId);
    this.#deps.metrics.countAttempt(outcome.class, outcome.durationMs / 1000);
    // Aborted by a stop: it stays pending and is sent again.
    if (outcome.class === 'unknown_outcome' || this.#isAbandoned) return;

    const now = steady.now();
    // A failure at a URL that was replaced meanwhile says nothing about the new one, so the delivery goes there now.
    const isMoved = outcome.class !== 'ok' && this.#webhook !== undefined && this.#webhook.url !== webhook.url;
    const verdict = isMoved
      ? ({ state: 'pending', dueAt: now, steps: due.steps } as const)
      : decide(outcome, due.steps, state === 'half_open', now, retry);
    const { dueAt, steps } = verdict.state === 'pending' ? verdict : { dueAt: now, steps: due.steps };
    this.#finished.push({ due, outcome, startedAt, state: verdict.state, dueAt, steps });
    this.#countOutcome(outcome, generation, policy);
    this.#nextOfConversation(due);
    if (this.#finished.length >= GATHER_ENOUGH) this.#hasGathered();
    void this.#settle();
    this.#advance();
  }

  #countOutcome(outcome: Outcome, generation: number, policy: BreakerPolicy): void {
    const webhook = this.#webhook;
    if (webhook === undefined) return;
    const now = this.#deps.steady.now();
    const breaker = onOutcome(webhook.breaker, outcome, generation, webhook.maxInFlight, now, policy);
    this.#webhook = { ...webhook, breaker };
    if (breaker.state === 'open' && webhook.breaker.state !== 'open') {
      this.#deps.metrics.countBreakerOpened();
      this.#deps.log.warn(
        { webhook: this.webhookId, reason: breaker.reason, error: outcome.message },
        'circuit breaker opened',
      );
      this.#drop();
      this.#mayHaveMore = true;
    }
  }

  #nextOfConversation(done: Due): void {
    if (done.attempts > 0) return;
    const behind = this.#conversations.get(done.conversation);
    const next = behind?.shift();
    if (next !== undefined) this.#ready.push(next);
    else this.#conversations.delete(done.conversation);
    // A read may have left the conversation out.
    if (behind?.length === CROWD / 2) this.#mayHaveMore = true;
  }

  /** Settles everything that has finished in one transaction, and retries if that fails. */
  async #settle(): Promise<void> {
    if (this.#isSettling) return;
    this.#isSettling = true;
    while (this.#finished.length > 0) {
      await this.#gather();
      const batch = this.#finished;
      this.#finished = [];
      if (this.#isAbandoned) break;
      try {
        await this.#writeSettlements(batch);
      } catch (error) {
        this.#report(error, 'failed to settle deliveries; retrying');
        this.#finished = [...batch, ...this.#finished];
        // Unsettled outcomes stay pending after a stop and are delivered again.
        if (this.#isStopped) break;
        await sleep(this.#deps.clock, SETTLE_RETRY_MS);
        continue;
      }
      for (const { due, state } of batch) {
        if (state === 'delivered' || state === 'failed') this.#deps.metrics.countSettled(state, 1);
        this.#held.delete(due.deliveryId);
        if (this.#isReading) this.#settledMeanwhile.add(due.deliveryId);
        if (state === 'pending') this.#mayHaveMore = true;
      }
    }
    this.#isSettling = false;
    this.#changed.notify();
    this.#advance();
    this.#checkIdle();
  }

  /** Waits for more outcomes: under load the next ones are some milliseconds away. */
  async #gather(): Promise<void> {
    if (this.#isStopped || this.#finished.length >= GATHER_ENOUGH) return;
    await new Promise<void>((resolve) => {
      this.#hasGathered = resolve;
      setTimeout(resolve, GATHER_MS);
    });
  }

  async #writeSettlements(batch: readonly Settlement[]): Promise<void> {
    const { database, clock, steady } = this.#deps;
    const breaker = this.#webhook?.breaker;
    const generation = this.#storedGeneration;
    let figures = noFigures;
    for (const { outcome, state } of batch) {
      figures = count(figures, outcome, state === 'delivered' || state === 'failed' ? state : 'pending');
    }
    const stored = await database.commit(async (tx) => {
      await settle(tx, this.webhookId, batch);
      if (database.shared === undefined) await storeSteadyTime(tx, steady.now());
      await addFigures(tx, this.webhookId, minuteOf(clock.now()), figures);
      return breaker === undefined || (await storeBreaker(tx, this.webhookId, breaker, generation));
    });
    this.#noteStored(breaker, stored);
  }

  async #changeBreaker(breaker: Breaker): Promise<void> {
    const webhook = this.#webhook;
    if (webhook === undefined) return;
    this.#webhook = { ...webhook, breaker };
    const generation = this.#storedGeneration;
    this.#noteStored(
      breaker,
      await this.#deps.database.commit((tx) => storeBreaker(tx, this.webhookId, breaker, generation)),
    );
  }

  #noteStored(breaker: Breaker | undefined, stored: boolean): void {
    if (stored && breaker !== undefined) this.#storedGeneration = breaker.generation;
    // If the breaker was reset or the URL changed meanwhile, that takes precedence.
    else if (!stored) this.#mustReload = true;
  }

  /** Forgets deliveries that have not started. They are still pending in the database. */
  #drop(): void {
    for (const { deliveryId } of this.#ready) this.#held.delete(deliveryId);
    for (const [conversation, behind] of this.#conversations) {
      for (const { deliveryId } of behind) this.#held.delete(deliveryId);
      this.#conversations.set(conversation, []);
    }
    for (const { conversation, attempts } of this.#ready) if (attempts === 0) this.#conversations.delete(conversation);
    this.#ready = [];
  }

  #wakeAt(at: number): void {
    this.#cancelTimer();
    this.#hasTimer = true;
    this.#cancelTimer = this.#deps.clock.after(Math.max(1, at - this.#deps.steady.now()), () => {
      this.#hasTimer = false;
      this.wake();
    });
  }

  #checkIdle(): void {
    const isBusy = this.#held.size > 0 || this.#isReading || this.#isSettling || this.#mayHaveMore || this.#hasTimer;
    if (!isBusy && this.#inFlight === 0) this.#deps.idle(this);
  }
}
