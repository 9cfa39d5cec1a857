import { sleep } from '../async.ts';
import { systemClock } from '../clock.ts';
import { AppError } from '../errors.ts';
import {
  type Dialect,
  FencedError,
  type Membership,
  type OpenTransaction,
  type Queryable,
  type Store,
} from './dialect.ts';

/** What a piece of work gets to do its changes with. */
export interface Tx extends Queryable {
  /**
   * Hands in something to write at the end of the transaction, together with what its other works hand in for the
   * same writer: many rows in a few statements, which spares PostgreSQL a round trip for each.
   */
  writeLater<T>(writer: LateWriter<T>, item: T): void;
  /** Runs `action` once the transaction is committed, and not at all when it is undone. */
  afterCommit(action: () => void): void;
}

/** Writes what was handed in, in that order. */
export type LateWriter<T> = (tx: LateTx, items: readonly T[]) => Promise<void>;

/** What is written at the end hands in no more. */
export type LateTx = Omit<Tx, 'writeLater'>;

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

/**
 * A kind of work that is done for many at once, as if each had its turn: a few statements instead of a few for each.
 * Gives a result for each item, in their order.
 */
export type JointWork<T, R> = (tx: Tx, items: readonly T[]) => Promise<readonly R[]>;

/** As `Commit`, for a work that is done together with those of its kind that were handed in right before and behind. */
export type CommitJointly = <T, R>(work: JointWork<T, R>, item: T, key?: string) => Promise<R>;

export interface GroupCommit {
  readonly commit: Commit;
  readonly commitJointly: CommitJointly;
  /** Becomes a member by `work`, in a transaction that no membership guards, and writes as that from then on. */
  join(work: (tx: Tx) => Promise<Membership>): Promise<Membership>;
  /**
   * Refuses everything until it joins again, what was handed in and is not written yet as well: it may belong to what
   * others have taken over.
   */
  shutOut(): void;
  /** Waits for the work that was handed in; what comes later is refused. */
  stop(): Promise<void>;
}

interface Waiting {
  // Only `commitJointly` pairs a work with its item and with who waits for the result, and it pairs them by type.
  readonly work: JointWork<never, unknown>;
  readonly item: unknown;
  readonly key: string | undefined;
  readonly settle: (outcome: Outcome) => void;
}

type Outcome = { ok: true; value: unknown } | { ok: false; error: unknown };
/** What came of works that were done together. */
interface Done {
  readonly outcomes: readonly Outcome[];
  readonly later: readonly Later[];
  readonly actions: readonly (() => void)[];
}
interface Later {
  // Only `writeLater` pairs the two, and it pairs them by type.
  readonly writer: LateWriter<never>;
  readonly item: unknown;
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
export function createCommit(
  store: Store,
  onFenced: () => void = () => {},
  /** A transaction was refused for want of room. */
  onFull: () => void = () => {},
): GroupCommit {
  let waiting: Waiting[] = [];
  /** Undefined where nobody else writes. */
  let membership: Membership | null | undefined;
  let running = 0;
  let scheduled = false;
  let stopped = false;
  const busyKeys = new Set<string>();
  let onIdle: (() => void) | undefined;

  // A function of its own is no other's kind.
  const commit: Commit = (work, key) => commitJointly(async (tx) => [await work(tx)], undefined, key);

  const commitJointly: CommitJointly = <T, R>(work: JointWork<T, R>, item: T, key?: string) =>
    new Promise<R>((resolve, reject) => {
      if (stopped || membership === null) {
        reject(stopped ? new AppError('shutting_down') : new FencedError());
        return;
      }
      waiting.push({
        work,
        item,
        key,
        // The value is what this very work returned for it.
        settle: (outcome) => (outcome.ok ? resolve(outcome.value as R) : reject(outcome.error)),
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
      const { key } = item;
      // A key that is being written elsewhere keeps its later works here, in their order. What has a key of this
      // batch could go nowhere else meanwhile, so it comes along.
      const isOwn = key !== undefined && ownKeys.has(key);
      const isFull = batch.length >= (isOwn ? LARGEST_BATCH : share);
      if (isFull || (key !== undefined && busyKeys.has(key))) held.push(item);
      else {
        batch.push(item);
        if (key !== undefined) ownKeys.add(key);
      }
    }
    waiting = held;
    for (const key of ownKeys) busyKeys.add(key);
    return batch;
  }

  async function writeBatch(batch: readonly Waiting[]): Promise<void> {
    const as = membership ?? undefined;
    let done: Done[];
    try {
      done = await withPatience(store.dialect, () => write(store, batch, as));
    } catch (error) {
      // What was begun before this process joined anew says nothing about what it is now.
      if (error instanceof FencedError && as === (membership ?? undefined)) onFenced();
      if (store.dialect.isFull(error)) onFull();
      const outcome = { ok: false, error: asUnavailable(store.dialect, error) } as const;
      // While the database is away, what waits behind would only wait longer for the same answer.
      const refused = isAway(store.dialect, error) ? [...batch, ...waiting.splice(0)] : batch;
      for (const { settle } of refused) settle(outcome);
      return;
    }
    // Wake-ups first: whoever gets its answer below finds everything already on its way.
    for (const { actions } of done) for (const action of actions) attempt(action);
    const outcomes = done.flatMap((one) => one.outcomes);
    batch.forEach(({ settle }, index) => {
      const outcome = outcomes[index] as Outcome;
      settle(outcome.ok ? outcome : { ok: false, error: asUnavailable(store.dialect, outcome.error) });
    });
  }

  async function join(work: (tx: Tx) => Promise<Membership>): Promise<Membership> {
    const transaction = await store.begin();
    try {
      const joined = await work(openTx(transaction).tx);
      await transaction.commit();
      membership = joined;
      return membership;
    } catch (error) {
      await transaction.rollback().catch(() => {});
      throw error;
    }
  }

  function shutOut(): void {
    membership = null;
    for (const { settle } of waiting.splice(0)) settle({ ok: false, error: new FencedError() });
  }

  async function stop(): Promise<void> {
    if (stopped) return;
    stopped = true;
    if (running > 0 || waiting.length > 0) await new Promise<void>((resolve) => (onIdle = resolve));
  }

  return { commit, commitJointly, join, shutOut, stop };
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

/**
 * Runs the works in one transaction. Most batches have no failing work, and a savepoint costs as much as a small query:
 * so the first run has none, and only when a work fails are all of them run again, each behind a savepoint of its own.
 */
async function write(store: Store, batch: readonly Waiting[], as: Membership | undefined): Promise<Done[]> {
  try {
    return await writeOnce(store, turnsOf(batch), as, runTurn);
  } catch (error) {
    if (batch.length === 1 || isAway(store.dialect, error) || error instanceof FencedError) throw error;
    return writeOnce(
      store,
      batch.map((one) => [one]),
      as,
      runApart,
    );
  }
}

/** What is done together: works of one kind that stand next to one another. */
type Turn = readonly Waiting[];

function turnsOf(batch: readonly Waiting[]): Turn[] {
  const turns: Waiting[][] = [];
  for (const one of batch) {
    const last = turns.at(-1);
    if (last?.[0]?.work === one.work) last.push(one);
    else turns.push([one]);
  }
  return turns;
}

async function writeOnce(
  store: Store,
  turns: readonly Turn[],
  as: Membership | undefined,
  run: (transaction: OpenTransaction, turn: Turn) => Promise<Done>,
): Promise<Done[]> {
  const transaction = await store.begin(as);
  try {
    const done: Done[] = [];
    for (const turn of turns) done.push(await run(transaction, turn));
    const last = await writeLate(transaction, done);
    await transaction.commit();
    return [...done, last];
  } catch (error) {
    // The first error tells why; that the rollback of a broken connection fails too adds nothing.
    await transaction.rollback().catch(() => {});
    throw error;
  }
}

async function writeLate(transaction: OpenTransaction, done: readonly Done[]): Promise<Done> {
  const byWriter = Map.groupBy(
    done.flatMap(({ later }) => later),
    ({ writer }) => writer,
  );
  const { tx, ...handedIn } = openTx(transaction);
  for (const [writer, entries] of byWriter) await writer(tx, entries.map(({ item }) => item) as never[]);
  return { outcomes: [], ...handedIn };
}

/** What works do their changes with, and what they hand in by it. */
function openTx({ dialect, kysely, connection }: OpenTransaction) {
  const later: Later[] = [];
  const actions: (() => void)[] = [];
  const tx: Tx = {
    dialect,
    kysely,
    connection,
    writeLater: (writer, item) => later.push({ writer, item }),
    afterCommit: (action) => actions.push(action),
  };
  return { tx, later, actions };
}

async function runTurn(transaction: OpenTransaction, turn: Turn): Promise<Done> {
  const { tx, ...handedIn } = openTx(transaction);
  const [{ work }] = turn as [Waiting];
  const values = await work(tx, turn.map(({ item }) => item) as never[]);
  return { outcomes: values.map((value) => ({ ok: true, value })), ...handedIn };
}

/** Runs a work, with what it handed in for later, so that its failure undoes its own changes and no others. */
async function runApart(transaction: OpenTransaction, turn: Turn): Promise<Done> {
  const { dialect, connection } = transaction;
  await connection.query('savepoint work', []);
  try {
    const done = await runTurn(transaction, turn);
    const last = await writeLate(transaction, [done]);
    await connection.query('release savepoint work', []);
    return { ...done, later: [], actions: [...done.actions, ...last.actions] };
  } catch (error) {
    if (isAway(dialect, error)) throw error;
    await connection.query('rollback to savepoint work', []);
    await connection.query('release savepoint work', []);
    return { outcomes: [{ ok: false, error }], later: [], actions: [] };
  }
}

/** Tries again while the database is busy with somebody else, up to two seconds. */
async function withPatience<T>(dialect: Dialect, action: () => Promise<T>): Promise<T> {
  const givesUpAt = performance.now() + PATIENCE_MS;
  for (;;) {
    try {
      return await action();
    } catch (error) {
      if (!isAway(dialect, error) || performance.now() > givesUpAt) throw error;
      await sleep(systemClock, RETRY_WAIT_MS);
    }
  }
}

function isAway(dialect: Dialect, error: unknown): boolean {
  return dialect.isUnavailable(error) || dialect.isConflict(error);
}

function asUnavailable(dialect: Dialect, error: unknown): unknown {
  if (!isAway(dialect, error)) return error;
  return new AppError('storage_unavailable', undefined, { cause: error });
}
