import { type Condition, sleep } from '../../async.ts';
import { type Clock, systemClock } from '../../clock.ts';
import type { Database } from '../../db/database.ts';
import { isAway } from '../../errors.ts';
import type { SteadyClock } from '../../steadyClock.ts';
import type { Due } from '../queue/due.ts';
import type { Settlement } from '../queue/queue.ts';

/** An attempt that has ended. */
export interface Ended extends Settlement {
  readonly due: Due;
  /** The moment of steady time at which the attempt ended. */
  readonly endedAt: number;
  /** Its retry goes out before the later deliveries of its conversation. */
  readonly holdsBack: boolean;
  /** It was the last one of its conversation in memory, so the next ones may be held. */
  readonly releases: boolean;
}

interface Options {
  readonly database: Database;
  readonly clock: Clock;
  readonly steady: SteadyClock;
  /** Notified when an attempt has ended, and by a stop. */
  readonly changed: Condition;
  /** After a stop, what cannot be stored stays pending. */
  isStopped(): boolean;
  /** Another node owns the lane: nothing is stored. */
  isAbandoned(): boolean;
  /** Whether nothing in the lane depends on when these outcomes are stored. */
  canWait(batch: readonly Ended[]): boolean;
  /** Whether something waits for the outcomes to be stored. */
  isUrgent(): boolean;
  /**
   * Stores outcomes in one transaction.
   * @param canWait whether it joins the next transaction of other work, within a second
   */
  store(batch: readonly Ended[], canWait?: boolean): Promise<void>;
  /** An outcome that cannot be stored is given up. The delivery is still pending. */
  onGivenUp(ended: Ended): void;
  report(error: unknown, message: string): void;
  /** All outcomes are stored, or given up. */
  onIdle(): void;
}

const RETRY_MS = 250;
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
 * Delivered outcomes of a lane that wait for the next transaction of other work. A crash repeats as many deliveries, in
 * addition to those in flight.
 */
const MOST_WAITING = 64;

/**
 * The attempts of a lane that have ended, until they are stored. Those that end in between share the next transaction.
 */
export class Settlements {
  readonly #options: Options;
  #waiting: Ended[] = [];
  #isSettling = false;
  /** Numbers of outcomes so far: those that were added, those that are settled, and those that callers wait for. */
  #added = 0;
  #settled = 0;
  #wanted = 0;

  constructor(options: Options) {
    this.#options = options;
  }

  get isSettling(): boolean {
    return this.#isSettling;
  }

  /** Stores what waits, without waiting for others. */
  async flush(): Promise<void> {
    const { changed } = this.#options;
    const wanted = this.#added;
    this.#wanted = wanted;
    changed.notify();
    await changed.until(() => !this.#isSettling || this.#settled >= wanted);
  }

  add(ended: Ended): void {
    this.#waiting.push(ended);
    this.#added++;
    this.#options.changed.notify();
    if (!this.#isSettling) void this.#settle();
  }

  /** Stores all that wait, and those that are added in between. Retries while the database is away. */
  async #settle(): Promise<void> {
    const { changed, isStopped, isAbandoned, report, clock, onIdle } = this.#options;
    this.#isSettling = true;
    while (this.#waiting.length > 0) {
      const isEnough = () => this.#isHurried || this.#waiting.length >= GATHERED_ENOUGH;
      await changed.untilOrAfter(systemClock, GATHER_MS, isEnough);
      if (isAbandoned()) break;
      const batch = this.#waiting;
      this.#waiting = [];
      try {
        await this.#store(batch);
        this.#settled += batch.length;
      } catch (error) {
        report(error, 'failed to settle deliveries; retrying');
        const unstored = this.#isDown(error) ? batch : await this.#storeApart(batch);
        this.#settled += batch.length - unstored.length;
        if (unstored.length === 0) continue;
        this.#waiting = [...unstored, ...this.#waiting];
        if (isStopped()) break;
        await sleep(clock, RETRY_MS);
      }
    }
    this.#isSettling = false;
    changed.notify();
    onIdle();
  }

  get #isHurried(): boolean {
    const { isStopped, isUrgent } = this.#options;
    return this.#wanted > this.#settled || isStopped() || isUrgent();
  }

  /** Stores a batch. If it may wait, only until something depends on it or enough others wait behind it. */
  async #store(batch: readonly Ended[]): Promise<void> {
    const { database, changed, canWait, store } = this.#options;
    const isEnough = () => batch.length + this.#waiting.length >= MOST_WAITING;
    if (isEnough() || this.#isHurried || !canWait(batch)) return store(batch);
    let isStored = false;
    const storing = store(batch, true).finally(() => {
      isStored = true;
      changed.notify();
    });
    storing.catch(() => {}); // thrown below
    await changed.until(() => isStored || isEnough() || this.#isHurried || !canWait(this.#waiting));
    // It joins this transaction. If the database is away, storing fails too.
    if (!isStored) await database.commit(async () => {}).catch(() => {});
    return storing;
  }

  /** Whether the database does not work at all, so that its error does not concern the outcome. */
  #isDown(error: unknown): boolean {
    if (!isAway(error)) return false;
    const fault = this.#options.database.reader.dialect.faultOf(error.cause);
    return fault === undefined || fault === 'away';
  }

  /**
   * Stores outcomes one by one, because one of them may keep the others. Returns those to try again, first those that
   * had no turn yet: each failure may have waited for a lock.
   */
  async #storeApart(batch: readonly Ended[]): Promise<Ended[]> {
    const { store, steady, isAbandoned } = this.#options;
    const untried = [...batch];
    const failed: Ended[] = [];
    while (failed.length < FAILURES_AT_ONCE && !isAbandoned()) {
      const ended = untried.shift();
      if (ended === undefined) break;
      try {
        await store([ended]);
      } catch (error) {
        const last = isAway(error) ? error : await this.#storeWithoutDetails(ended);
        if (last === undefined) continue;
        if (this.#isDown(last) || (isAway(last) && steady.now() - ended.endedAt < SETTLE_MS)) failed.push(ended);
        else this.#giveUp(ended, last);
      }
    }
    return [...untried, ...failed];
  }

  /**
   * The database refuses values of the outcome. Only those that the receiver has sent can differ from all others.
   * @returns the error of storing the rest
   */
  async #storeWithoutDetails(ended: Ended): Promise<unknown> {
    const outcome = { ...ended.outcome, message: 'The details of the attempt could not be stored', response: null };
    try {
      await this.#options.store([{ ...ended, outcome }]);
      return undefined;
    } catch (error) {
      return error;
    }
  }

  #giveUp(ended: Ended, error: unknown): void {
    this.#options.report(error, 'failed to settle a delivery; sending it again');
    this.#options.onGivenUp(ended);
  }
}
