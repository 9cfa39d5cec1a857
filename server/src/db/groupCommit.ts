import { EventEmitter } from 'node:events';
import { Condition, sleep } from '../async.ts';
import { systemClock } from '../clock.ts';
import { AppError } from '../errors.ts';
import {
  type Commit,
  type CommitJointly,
  type CommitOptions,
  type Done,
  inTransaction,
  type Job,
  type JointWork,
  type Outcome,
  openTx,
  type Tx,
  writeBatch,
} from './commit.ts';
import {
  asUnavailable,
  type Dialect,
  FencedError,
  type Limits,
  type Membership,
  type Store,
  UnknownCommitError,
} from './dialect.ts';

/** Work without a key of its own gets a symbol. */
type Key = string | symbol;

interface Waiting extends Job {
  readonly key: Key;
  readonly canWait: boolean;
  readonly settle: (outcome: Outcome) => void;
}

// Large enough to spread one fsync over many requests, small enough that the first one does not wait long.
const MAX_BATCH = 128;
/** Longest time in milliseconds that work waits for other work to join. */
const PATIENCE_MS = 1000;
const URGENT: Limits = { isUrgent: true };
const RETRY_WAIT_MS = 25;
const RETRY_FOR_MS = 2000;

/**
 * Group commit: work that arrives while a transaction is being written shares the next one, so that one fsync serves
 * many requests. Small changes that can wait join such a transaction. SQLite has one writer. On PostgreSQL several
 * transactions run concurrently, but never two with work of the same key.
 *
 * Emits `fenced` when a write is refused because the other nodes evicted this one, `full` when one is refused because
 * the disk is full, and `unanswered` when a transaction may be committed whose `afterCommit` actions do not run.
 */
export class GroupCommit extends EventEmitter<{ fenced: []; full: []; unanswered: [] }> {
  readonly #store: Store;
  #waiting: Waiting[] = [];
  /** Undefined if no other process writes; null while this one is shut out. */
  #membership: Membership | null | undefined;
  #running = 0;
  #isScheduled = false;
  #isStopped = false;
  /** Whether work that can wait starts a transaction now: the longest wait has ended, or the server stops. */
  #isOverdue = false;
  #isHurried = false;
  #cancelPatience: (() => void) | undefined;
  readonly #patienceMs: number;
  readonly #busyKeys = new Set<Key>();
  readonly #settled = new Condition();

  constructor(store: Store, { patienceMs = PATIENCE_MS }: { readonly patienceMs?: number | undefined } = {}) {
    super();
    this.#store = store;
    this.#patienceMs = patienceMs;
  }

  // `commitJointly` joins calls that pass the same function. This one is new each time.
  readonly commit: Commit = (work, key) => this.commitJointly(async (tx) => [await work(tx)], undefined, key);

  readonly commitJointly: CommitJointly = <T, R>(
    work: JointWork<T, R>,
    item: T,
    key?: string,
    { canWait = false }: CommitOptions = {},
  ) =>
    this.#accept<R>({ work, item, key: key ?? Symbol(), canWait }, (waiting) => {
      this.#waiting.push(waiting);
      if (canWait) this.#cancelPatience ??= systemClock.after(this.#patienceMs, () => this.#endPatience());
      this.#schedule();
    });

  /** Like `commit`, for work of the cluster: it waits neither for queued work nor for a connection of the pool. */
  readonly commitNow: Commit = <T>(work: (tx: Tx) => Promise<T>) => {
    const alone: JointWork<undefined, T> = async (tx) => [await work(tx)];
    return this.#accept<T>({ work: alone, item: undefined, key: Symbol(), canWait: false }, (waiting) => {
      void this.#write([waiting], URGENT);
    });
  };

  /** Runs `work` without a membership, and from then on writes with the one that it returns. */
  async join(work: (tx: Tx) => Promise<Membership>): Promise<Membership> {
    const begin = () => inTransaction(this.#store, undefined, (transaction) => work(openTx(transaction).tx), URGENT);
    this.#membership = await retryWhileBusy(this.#store.dialect, begin);
    return this.#membership;
  }

  /** Refuses all work until the next `join`, including queued work: other nodes may own its resources by now. */
  shutOut(): void {
    this.#membership = null;
    for (const { settle } of this.#takeAll()) settle({ ok: false, error: new FencedError() });
    this.#settled.notify();
  }

  /** From now on no work waits for other work: the parts of a server that stops wait for their own. */
  hurry(): void {
    this.#isHurried = true;
    this.#schedule();
  }

  /** Waits for queued work and refuses more. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.hurry();
    await this.#settled.until(() => this.#running === 0 && this.#waiting.length === 0);
  }

  #accept<R>(job: Omit<Waiting, 'settle'>, start: (waiting: Waiting) => void): Promise<R> {
    return new Promise<R>((resolve, reject) => {
      if (this.#isStopped || this.#membership === null) {
        reject(this.#isStopped ? new AppError('shutting_down') : new FencedError());
        return;
      }
      // The cast is safe: the value is what this work returned.
      start({ ...job, settle: (outcome) => (outcome.ok ? resolve(outcome.value as R) : reject(outcome.error)) });
    });
  }

  /**
   * Starts at the end of this turn of the event loop, so that everything that arrives in it shares a transaction.
   * Waiting longer makes larger batches but no more throughput, because the cost of a commit is the pages that it
   * writes.
   */
  #schedule(): void {
    if (this.#isScheduled || this.#running >= this.#store.writers) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      while (this.#running < this.#store.writers) {
        const batch = this.#nextBatch();
        if (batch.length === 0) break;
        void this.#write(batch);
      }
    });
  }

  #endPatience(): void {
    this.#isOverdue = true;
    this.#schedule();
  }

  /**
   * Removes the work of the next transaction from the queue: a fair share of it for each writer that is free, and all
   * work that waited to join. Work waits for a running transaction with its key. Work with a key that is in this batch
   * already goes with it beyond the share, because it would wait for this batch.
   */
  #nextBatch(): Waiting[] {
    const urgent = this.#waiting.filter(({ canWait }) => !canWait).length;
    const share = Math.ceil(urgent / (this.#store.writers - this.#running));
    const keys = new Set<Key>();
    const heldKeys = new Set(this.#busyKeys);
    const batch: Waiting[] = [];
    const held: Waiting[] = [];
    let shared = 0;
    for (const waiting of this.#waiting) {
      const { key, canWait } = waiting;
      const exceedsShare = !canWait && shared >= share && !keys.has(key);
      if (batch.length >= MAX_BATCH || exceedsShare || heldKeys.has(key)) {
        held.push(waiting);
        heldKeys.add(key); // later work with this key stays behind it
      } else {
        batch.push(waiting);
        keys.add(key);
        if (!canWait) shared++;
      }
    }
    const isDue = this.#isHurried || this.#isOverdue || batch.length >= MAX_BATCH;
    if (shared === 0 && !isDue) return [];
    this.#waiting = held;
    if (!held.some(({ canWait }) => canWait)) this.#restartPatience();
    for (const key of keys) this.#busyKeys.add(key);
    return batch;
  }

  /** No work waits to join. */
  #restartPatience(): void {
    this.#isOverdue = false;
    this.#cancelPatience?.();
    this.#cancelPatience = undefined;
  }

  #takeAll(): Waiting[] {
    this.#restartPatience();
    return this.#waiting.splice(0);
  }

  async #write(batch: readonly Waiting[], limits?: Limits): Promise<void> {
    this.#running++;
    const as = this.#membership ?? undefined;
    try {
      const write = (isLast: boolean) => writeBatch(this.#store, batch, as, { isLast, limits });
      this.#succeed(batch, await retryWhileBusy(this.#store.dialect, write));
    } catch (error) {
      this.#fail(batch, error, as);
    } finally {
      this.#running--;
      for (const { key } of batch) this.#busyKeys.delete(key);
      if (this.#waiting.length > 0) this.#schedule();
      this.#settled.notify();
    }
  }

  #succeed(batch: readonly Waiting[], done: readonly Done[]): void {
    const { dialect } = this.#store;
    // `afterCommit` actions run before callers get their results, because callers may rely on them.
    for (const { actions } of done) for (const action of actions) attempt(action);
    const outcomes = done.flatMap((one) => one.outcomes);
    batch.forEach(({ settle }, index) => {
      const outcome = outcomes[index] as Outcome;
      settle(outcome.ok ? outcome : { ok: false, error: asUnavailable(dialect, outcome.error) });
    });
  }

  #fail(batch: readonly Waiting[], error: unknown, as: Membership | undefined): void {
    const { dialect } = this.#store;
    // If this process has joined again since the transaction began, the error says nothing about its membership.
    if (error instanceof FencedError && as === (this.#membership ?? undefined)) this.emit('fenced');
    if (dialect.isFull(error)) this.emit('full');
    if (error instanceof UnknownCommitError) this.emit('unanswered');
    const outcome = { ok: false, error: asUnavailable(dialect, error) } as const;
    // While the database is unavailable, queued work would only wait longer for the same error.
    const isAway = dialect.faultOf(error) === 'away';
    const refused = isAway ? [...batch, ...this.#takeAll()] : batch;
    for (const { settle } of refused) settle(outcome);
  }
}

/** A failing action must not keep callers from their results. */
function attempt(action: () => void): void {
  try {
    action();
  } catch (error) {
    queueMicrotask(() => {
      throw error; // a bug: crash
    });
  }
}

/**
 * Retries for up to two seconds while the database is busy. A conflict that lasts longer gets a last attempt.
 * @param action is told whether this attempt is the last one
 */
async function retryWhileBusy<T>(dialect: Dialect, action: (isLast: boolean) => Promise<T>): Promise<T> {
  const givesUpAt = performance.now() + RETRY_FOR_MS;
  for (let isLast = false; ; ) {
    try {
      return await action(isLast);
    } catch (error) {
      const fault = dialect.faultOf(error);
      const isLate = performance.now() > givesUpAt;
      if (isLast || (fault !== 'conflict' && (fault !== 'away' || isLate))) throw error;
      isLast = isLate;
      await sleep(systemClock, RETRY_WAIT_MS);
    }
  }
}
