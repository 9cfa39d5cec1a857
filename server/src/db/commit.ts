import { AppError } from '../errors.ts';
import type { Dialect, OpenTransaction, Queryable, Store } from './dialect.ts';

/** What a piece of work gets to do its changes with. */
export interface Tx extends Queryable {
  /** Runs `action` once the transaction is committed, and not at all when it is undone. */
  afterCommit(action: () => void): void;
}

/**
 * Runs `work` in a transaction that it may share with other work, and resolves with its result when that is
 * committed. When `work` throws, its own changes are undone and the error is passed on; its neighbours stay.
 *
 * `work` must await nothing but queries, and must bear being run again: a transaction that lost a race with another
 * one is run a second time. Works with the same `key` take effect in the order in which they were handed in.
 *
 * @throws {AppError} `storage_unavailable` when the database is full, locked or away: nothing was changed
 */
export type Commit = <T>(work: (tx: Tx) => Promise<T>, key?: string) => Promise<T>;

export interface GroupCommit {
  readonly commit: Commit;
  /** Waits for the work that was handed in; what comes later is refused. */
  stop(): Promise<void>;
}

interface Waiting {
  readonly work: (tx: Tx) => Promise<unknown>;
  readonly key: string | undefined;
  readonly settle: (outcome: Outcome) => void;
}

type Outcome = { ok: true; value: unknown } | { ok: false; error: unknown };
interface Done {
  readonly outcome: Outcome;
  readonly actions: (() => void)[];
}

// Large enough to spread one fsync over many requests, small enough that the first one does not wait long.
const LARGEST_BATCH = 128;
const RETRY_WAIT_MS = 25;
const PATIENCE_MS = 2000;

/**
 * Group commit: work that arrives while a transaction is being written waits and then shares the next one, so that
 * one fsync carries many requests. On SQLite there is one writer; on PostgreSQL several transactions run side by
 * side, and works of one key never in two of them at a time.
 */
export function createCommit(store: Store): GroupCommit {
  let waiting: Waiting[] = [];
  let running = 0;
  let scheduled = false;
  let stopped = false;
  const busyKeys = new Set<string>();
  let onIdle: (() => void) | undefined;

  const commit: Commit = <T>(work: (tx: Tx) => Promise<T>, key?: string) =>
    new Promise<T>((resolve, reject) => {
      if (stopped) {
        reject(new AppError('shutting_down'));
        return;
      }
      waiting.push({
        work,
        key,
        // The value is what this very work returned.
        settle: (outcome) => (outcome.ok ? resolve(outcome.value as T) : reject(outcome.error)),
      });
      schedule();
    });

  /**
   * Starts at the end of this turn of the event loop, so that everything that arrives in it goes together. Waiting
   * longer makes larger batches and no more throughput: a commit costs by the pages it writes.
   */
  function schedule(): void {
    if (scheduled || running >= store.writers) return;
    scheduled = true;
    setImmediate(() => {
      scheduled = false;
      while (running < store.writers) {
        const batch = takeBatch();
        if (batch.length === 0) break;
        running++;
        void writeBatch(batch).finally(() => {
          running--;
          for (const { key } of batch) if (key !== undefined) busyKeys.delete(key);
          if (waiting.length > 0) schedule();
          else if (running === 0) onIdle?.();
        });
      }
    });
  }

  function takeBatch(): Waiting[] {
    if (store.writers === 1) return waiting.splice(0, LARGEST_BATCH);
    const share = Math.min(LARGEST_BATCH, Math.ceil(waiting.length / (store.writers - running)));
    const batch: Waiting[] = [];
    const held: Waiting[] = [];
    const ownKeys = new Set<string>();
    for (const item of waiting) {
      // A key that is being written elsewhere keeps its later works here, in their order.
      if (batch.length >= share || (item.key !== undefined && busyKeys.has(item.key))) held.push(item);
      else {
        batch.push(item);
        if (item.key !== undefined) ownKeys.add(item.key);
      }
    }
    waiting = held;
    for (const key of ownKeys) busyKeys.add(key);
    return batch;
  }

  async function writeBatch(batch: readonly Waiting[]): Promise<void> {
    let done: Done[];
    try {
      done = await withPatience(store.dialect, () => writeOnce(store, batch));
    } catch (error) {
      const outcome = { ok: false, error: asUnavailable(store.dialect, error) } as const;
      for (const { settle } of batch) settle(outcome);
      return;
    }
    // Wake-ups first: whoever gets its answer below finds everything already on its way.
    for (const { actions } of done) for (const action of actions) attempt(action);
    batch.forEach(({ settle }, index) => {
      const { outcome } = done[index] as Done;
      settle(outcome.ok ? outcome : { ok: false, error: asUnavailable(store.dialect, outcome.error) });
    });
  }

  async function stop(): Promise<void> {
    if (stopped) return;
    stopped = true;
    if (running > 0 || waiting.length > 0) await new Promise<void>((resolve) => (onIdle = resolve));
  }

  return { commit, stop };
}

/** What is to be done after a commit must not keep those who wait for it from their answer. */
function attempt(action: () => void): void {
  try {
    action();
  } catch (error) {
    queueMicrotask(() => {
      throw error; // a bug: it is to be seen, on its own
    });
  }
}

async function writeOnce(store: Store, batch: readonly Waiting[]): Promise<Done[]> {
  const transaction = await store.begin();
  try {
    const done: Done[] = [];
    for (const { work } of batch) done.push(await runWork(store.dialect, transaction, work, batch.length > 1));
    await transaction.commit();
    return done;
  } catch (error) {
    // The first error tells why; that the rollback of a broken connection fails too adds nothing.
    await transaction.rollback().catch(() => {});
    throw error;
  }
}

/** Runs one work. Alone in its transaction it needs no savepoint: its failure fails the transaction. */
async function runWork(
  dialect: Dialect,
  transaction: OpenTransaction,
  work: Waiting['work'],
  shared: boolean,
): Promise<Done> {
  const actions: (() => void)[] = [];
  const tx: Tx = { ...transaction, afterCommit: (action) => actions.push(action) };
  if (shared) await transaction.connection.query('savepoint work', []);
  try {
    const value = await work(tx);
    if (shared) await transaction.connection.query('release savepoint work', []);
    return { outcome: { ok: true, value }, actions };
  } catch (error) {
    if (!shared || dialect.isUnavailable(error) || dialect.isConflict(error)) throw error;
    await transaction.connection.query('rollback to savepoint work', []);
    await transaction.connection.query('release savepoint work', []);
    return { outcome: { ok: false, error }, actions: [] };
  }
}

/** Tries again while the database is busy with somebody else, up to two seconds. */
async function withPatience<T>(dialect: Dialect, action: () => Promise<T>): Promise<T> {
  const givesUpAt = performance.now() + PATIENCE_MS;
  for (;;) {
    try {
      return await action();
    } catch (error) {
      const worthIt = dialect.isUnavailable(error) || dialect.isConflict(error);
      if (!worthIt || performance.now() > givesUpAt) throw error;
      await new Promise((resolve) => setTimeout(resolve, RETRY_WAIT_MS));
    }
  }
}

function asUnavailable(dialect: Dialect, error: unknown): unknown {
  if (!dialect.isUnavailable(error) && !dialect.isConflict(error)) return error;
  return new AppError('storage_unavailable', undefined, { retryAfterSeconds: 2, cause: error });
}
