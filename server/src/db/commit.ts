import { allEnded } from '../async.ts';
import {
  FencedError,
  type Limits,
  type Membership,
  type OpenTransaction,
  type Queryable,
  type SerializedWork,
  type Store,
  UnknownCommitError,
} from './dialect.ts';

export interface Tx extends Queryable {
  /** Queues a row for the end of the transaction, where a few statements write all rows of a writer. */
  writeLater<T>(writer: LateWriter<T>, item: T): void;
  afterCommit(action: () => void): void;
}

/** Writes the collected items in the order in which they were added. Other writers may write theirs meanwhile. */
export type LateWriter<T> = (tx: LateTx, items: readonly T[]) => Promise<void>;

export interface LateTx extends Omit<Tx, 'writeLater'> {
  /**
   * Ends the work of the writer with a statement that has been sent. On PostgreSQL, the commit does not wait for its
   * answer.
   */
  endWith(statement: Promise<unknown>): Promise<void>;
}

/** Handles many items in a few statements, as if one after the other. Returns one result per item, in order. */
export type JointWork<T, R> = (tx: Tx, items: readonly T[]) => Promise<readonly R[]>;

/**
 * Runs `work` in a transaction that it may share with other work, and resolves with its result once the transaction is
 * committed. If `work` throws, its own changes are rolled back and the error is passed on; other work is not affected.
 *
 * `work` must await nothing but queries, and must tolerate being run again: a transaction that conflicts with another
 * one is repeated. Works with the same `key` take effect in the order of the calls.
 *
 * @throws {AppError} `storage_unavailable` if the database is full, locked or unreachable. Nothing was changed, unless
 * the error is an `UnknownCommitError`.
 */
export type Commit = <T>(work: (tx: Tx) => Promise<T>, key?: string) => Promise<T>;

/** Like `Commit`, for work that runs together with adjacent work of the same kind. */
export type CommitJointly = <T, R>(work: JointWork<T, R>, item: T, key?: string, options?: CommitOptions) => Promise<R>;

export interface CommitOptions {
  /**
   * Joins the next transaction of other work, or starts one after at most a second. For frequent small changes that
   * no caller waits for: alone, each would cost a sync of the disk.
   */
  readonly canWait?: boolean;
}

/** Work with its item. `GroupCommit.commitJointly` pairs the two by type. */
export interface Job {
  readonly work: JointWork<never, unknown>;
  readonly item: unknown;
}

export type Outcome = { ok: true; value: unknown } | { ok: false; error: unknown };

export interface Done {
  readonly outcomes: readonly Outcome[];
  readonly later: readonly Later[];
  readonly actions: readonly (() => void)[];
}

/** `Tx.writeLater` pairs the two by type. */
interface Later {
  readonly writer: LateWriter<never>;
  readonly item: unknown;
}

/** Waits until no other transaction does this work, and excludes others until this one ends. */
export async function serialize({ dialect, connection }: Queryable, work: SerializedWork): Promise<void> {
  const lock = dialect.lockStatement(work);
  if (lock !== undefined) await connection.query(lock, []);
}

export async function inTransaction<T>(
  store: Store,
  as: Membership | undefined,
  work: (transaction: OpenTransaction, unanswered: Promise<unknown>[]) => Promise<T>,
  limits?: Limits,
): Promise<T> {
  const transaction = await store.begin(as, limits);
  try {
    const unanswered: Promise<unknown>[] = [];
    const result = await work(transaction, unanswered);
    await transaction.commit(unanswered);
    return result;
  } catch (error) {
    // The first error is the cause. On a broken connection the rollback fails as well.
    await transaction.rollback().catch(() => {});
    throw error;
  }
}

/** On the last attempt, a job that is locked out fails alone, and the others do not wait long for it. */
const LAST_LIMITS: Limits = { lockMs: 250 };

/**
 * Runs jobs in one transaction. A savepoint costs as much as a small query and most batches have no failing job, so the
 * first run has none. Only if a job fails do all run again, each with a savepoint.
 * @param isLast whether a conflict fails its job instead of the whole batch, which would otherwise be repeated
 */
export async function writeBatch(
  store: Store,
  batch: readonly Job[],
  as: Membership | undefined,
  { isLast, limits }: { readonly isLast: boolean; readonly limits?: Limits | undefined },
): Promise<Done[]> {
  const { dialect } = store;
  const mustRepeat = (error: unknown) => {
    const fault = dialect.faultOf(error);
    return fault === 'away' || (fault === 'conflict' && !isLast);
  };
  if (batch.length === 1 || !isLast) {
    try {
      return await writeOnce(store, turnsOf(batch), as, runTurn, limits);
    } catch (error) {
      if (batch.length === 1 || mustRepeat(error) || isFinal(error)) throw error;
    }
  }
  const alone = batch.map((job) => [job]);
  const apart = (transaction: OpenTransaction, turn: Turn) => runApart(transaction, turn, mustRepeat);
  return writeOnce(store, alone, as, apart, isLast ? LAST_LIMITS : limits);
}

/** Whether work must not run again after this error of its transaction. */
const isFinal = (error: unknown) => error instanceof FencedError || error instanceof UnknownCommitError;

/** Adjacent jobs of the same work, which run together. */
type Turn = readonly Job[];

function turnsOf(batch: readonly Job[]): Turn[] {
  const turns: Job[][] = [];
  for (const job of batch) {
    const last = turns.at(-1);
    if (last?.[0]?.work === job.work) last.push(job);
    else turns.push([job]);
  }
  return turns;
}

async function writeOnce(
  store: Store,
  turns: readonly Turn[],
  as: Membership | undefined,
  run: (transaction: OpenTransaction, turn: Turn) => Promise<Done>,
  limits?: Limits,
): Promise<Done[]> {
  const work = async (transaction: OpenTransaction, unanswered: Promise<unknown>[]) => {
    const done: Done[] = [];
    for (const turn of turns) done.push(await run(transaction, turn));
    const defer = async (statement: Promise<unknown>) => {
      statement.catch(() => {}); // thrown by `commit`
      unanswered.push(statement);
    };
    // SQLite ends a transaction by itself after some errors, and would run the next statement outside of it.
    const endWith = transaction.dialect.hasConcurrentWriters ? defer : waitFor;
    return [...done, await writeLate(transaction, done, endWith)];
  };
  return inTransaction(store, as, work, limits);
}

const waitFor = async (statement: Promise<unknown>) => void (await statement);

async function writeLate(
  transaction: OpenTransaction,
  done: readonly Done[],
  endWith: LateTx['endWith'],
): Promise<Done> {
  const byWriter = Map.groupBy(
    done.flatMap(({ later }) => later),
    ({ writer }) => writer,
  );
  const { tx, ...added } = openTx(transaction);
  const write = async ([writer, entries]: [LateWriter<never>, Later[]]) =>
    writer({ ...tx, endWith }, entries.map(({ item }) => item) as never[]);
  // Where each statement is a round trip, writers do not wait for each other.
  if (transaction.dialect.hasConcurrentWriters) await allEnded(...[...byWriter].map(write));
  else for (const entry of byWriter) await write(entry);
  return { outcomes: [], ...added };
}

export function openTx({ dialect, kysely, connection }: OpenTransaction) {
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
  const { tx, ...added } = openTx(transaction);
  const [{ work }] = turn as [Job];
  const values = await work(tx, turn.map(({ item }) => item) as never[]);
  return { outcomes: values.map((value) => ({ ok: true, value })), ...added };
}

/** Runs jobs in a savepoint, so that a failure rolls back their own changes and late items and no others. */
async function runApart(
  transaction: OpenTransaction,
  turn: Turn,
  mustRepeat: (error: unknown) => boolean,
): Promise<Done> {
  const { connection } = transaction;
  await connection.query('savepoint work', []);
  try {
    const done = await runTurn(transaction, turn);
    const last = await writeLate(transaction, [done], waitFor);
    await connection.query('release savepoint work', []);
    return { ...done, later: [], actions: [...done.actions, ...last.actions] };
  } catch (error) {
    if (mustRepeat(error)) throw error;
    await connection.query('rollback to savepoint work', []);
    await connection.query('release savepoint work', []);
    return { outcomes: [{ ok: false, error }], later: [], actions: [] };
  }
}
