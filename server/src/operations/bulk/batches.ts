import { type Clock, isoTime } from '../../clock.ts';
import type { Tx } from '../../db/commit.ts';
import type { Database } from '../../db/database.ts';
import type { Queryable } from '../../db/dialect.ts';
import { query } from '../../db/query.ts';
import type { BatchTable } from '../../db/schema.ts';
import { AppError, noSuch } from '../../errors.ts';
import { type BatchStatus, PREPARING } from '../../events/batchEvents.ts';
import type { Services } from '../../invoke/services.ts';
import type { Emit } from '../../webhooks/log/emit.ts';
import {
  type BatchRef,
  countStored,
  countsOf,
  firstHeldAt,
  holdWaiting,
  lastWaitingAt,
  releaseHeld,
  waitingMessages,
} from './batchMessages.ts';

/*
 * A batch is the handle of a bulk send: its messages are ordinary scheduled messages, whose ids contain the batch's.
 *
 * preparing → running → paused → running, running or paused → cancelling → cancelled, running → completed. A batch is
 * `preparing` until all of its messages are stored; `BatchWatch` finds out how many there are if the request dies. If
 * it is repeated, the batch is `preparing` again until the rest is stored, so that nobody can pause it in between.
 * Pausing moves the time of the waiting messages by centuries, so the schedule needs no rule for batches. Cancelling
 * does the same first, in one transaction, and then cancels each message: `BatchWatch` continues after a crash.
 */

export interface BatchContext {
  readonly database: Database;
  readonly clock: Clock;
  readonly emit: Emit;
  readonly sender: Pick<Services['sender'], 'cancel' | 'rescheduled'>;
}

/** Days after which a paused batch is cancelled. Its messages count against the limit of scheduled ones until then. */
export const PAUSE_DAYS = 30;
const PAUSE_LIMIT_MS = PAUSE_DAYS * 24 * 3_600_000;
/** Time that the watch leaves to a request that stores or cancels a batch. */
const CLAIM_MS = 60_000;
/** Cancellations at the same time, which share transactions. */
const CANCELLED_TOGETHER = 25;

/** @throws {AppError} `not_found` */
export async function findBatch(on: Queryable, accountId: string, batchId: string): Promise<BatchTable> {
  const row = await batchById.first(on, { account_id: accountId, batch_id: batchId });
  if (row === undefined) throw noSuch('batch', batchId);
  return row;
}

/** A batch before its messages are stored. */
export type NewBatch = Omit<BatchTable, 'status' | 'check_at' | 'created_at' | 'updated_at'>;

/**
 * Stores a batch around the work that stores its messages, so that a crash leaves neither messages without a batch nor
 * a batch that counts messages which do not exist. An earlier run of the request may have stored some of both.
 * @returns undefined if the batch has been paused or cancelled since an earlier run: it gets no further messages
 * @throws {AppError} the errors of `work`; a batch without messages is removed
 */
export async function storeBatch<T>(
  { database, clock }: Pick<BatchContext, 'database' | 'clock'>,
  batch: NewBatch,
  work: () => Promise<T>,
): Promise<T | undefined> {
  const now = clock.now();
  const row: BatchTable = {
    ...batch,
    status: PREPARING,
    check_at: now + CLAIM_MS,
    created_at: now,
    updated_at: now,
  };
  if (!(await database.commit((tx) => beginStoring(tx, row), batch.session_id))) return undefined;
  try {
    const result = await work();
    await database.commit((tx) => completeBatch(tx, { ...row, updated_at: clock.now() }), batch.session_id);
    return result;
  } catch (error) {
    // If this fails too, the watch decides.
    await settleStored({ database, clock }, batch, { isEnded: false }).catch(() => {});
    throw error;
  }
}

/** Returns whether the batch accepts messages: the first ones, or the rest of an interrupted request. */
async function beginStoring(tx: Tx, row: BatchTable): Promise<boolean> {
  const present = await batchById.first(tx, row);
  if (present === undefined) {
    await insertBatch(tx, row);
    return true;
  }
  // The watch counts the messages of an interrupted request. Until then, `accepted` includes those that are missing.
  if (present.status !== PREPARING && present.accepted >= row.accepted) return true;
  if (present.status !== PREPARING && present.status !== 'running' && present.status !== 'completed') return false;
  const columns = { status: PREPARING, check_at: row.check_at, updated_at: row.updated_at } as const;
  const changes = await updateBatch.run(tx, { ...present, ...columns, from: present.status });
  // On PostgreSQL, another node can have changed it since it was read.
  return changes > 0 || beginStoring(tx, row);
}

/**
 * All messages are stored. If that took longer than `CLAIM_MS`, the watch has settled the batch before, and it may have
 * been paused or cancelled without the last messages.
 */
async function completeBatch(tx: Tx, row: BatchTable): Promise<void> {
  const running = { ...row, status: 'running' as const, check_at: row.ends_at };
  const accepted = (await batchById.first(tx, row))?.accepted ?? 0;
  // It locks the batch on PostgreSQL.
  if ((await setAccepted.run(tx, row)) === 0) return insertBatch(tx, running);
  const { status } = await findBatch(tx, row.account_id, row.batch_id);
  if (status === PREPARING) return void (await updateBatch.run(tx, { ...running, from: status }));
  if (accepted === row.accepted || status === 'running') return;
  if (status === 'completed') return void (await updateBatch.run(tx, { ...running, from: status }));
  await holdWaiting(tx, row);
  if (status !== 'cancelled') return;
  await updateBatch.run(tx, { ...row, status: 'cancelling', check_at: row.updated_at, from: status });
}

/**
 * Makes a batch true whose request did not store all of its messages: it counts those that are stored. A batch
 * without messages is removed.
 * @param given.isEnded whether the request has ended; otherwise a batch with messages stays `preparing`
 */
export async function settleStored(
  { database, clock }: Pick<BatchContext, 'database' | 'clock'>,
  batch: BatchRef & Pick<BatchTable, 'session_id'>,
  { isEnded }: { readonly isEnded: boolean },
): Promise<void> {
  await database.commit(async (tx) => {
    const present = await batchById.first(tx, batch);
    if (present?.status !== PREPARING) return;
    const accepted = await countStored(tx, batch);
    if (accepted === 0) return void (await deleteBatch.run(tx, batch));
    if (!isEnded) return;
    const now = clock.now();
    const columns = { status: 'running', check_at: now, updated_at: now } as const;
    if ((await updateBatch.run(tx, { ...present, ...columns, from: PREPARING })) > 0)
      await setAccepted.run(tx, { ...present, accepted });
  }, batch.session_id);
}

/** Stops the messages whose time has not come. @throws {AppError} `batch_state` */
export async function pauseBatch(ctx: BatchContext, batch: BatchTable): Promise<BatchTable> {
  const columns = { status: 'paused', check_at: ctx.clock.now() + PAUSE_LIMIT_MS } as const;
  return change(ctx, batch, { from: ['running'], columns, work: (tx) => holdWaiting(tx, batch) });
}

/** Sends the rest with the same gaps, beginning now if its time has passed. @throws {AppError} `batch_state` */
export async function resumeBatch(ctx: BatchContext, batch: BatchTable): Promise<BatchTable> {
  const now = ctx.clock.now();
  const due = await firstHeldAt(ctx.database.reader, batch);
  const delay = due === undefined ? 0 : Math.max(0, now - due);
  // The first check finds out when the last message is due: some may have been cancelled.
  const columns = { status: 'running', ends_at: Number(batch.ends_at) + delay, check_at: now } as const;
  const work = (tx: Tx) => releaseHeld(tx, batch, delay);
  const resumed = await change(ctx, batch, { from: ['paused'], columns, work });
  ctx.sender.rescheduled({ accountId: batch.account_id, sessionId: batch.session_id });
  return resumed;
}

/** Cancels the messages that wait for their time or for approval. @throws {AppError} `batch_state` */
export async function cancelBatch(ctx: BatchContext, batch: BatchTable): Promise<BatchTable> {
  const cancelling = await beginCancelling(ctx, batch, ['running', 'paused']);
  return cancelling.status === 'cancelling' ? finishCancelling(ctx, cancelling) : cancelling;
}

function beginCancelling(
  ctx: BatchContext,
  batch: BatchTable,
  from: readonly BatchStatus[],
  isMeant?: (present: BatchTable) => boolean,
): Promise<BatchTable> {
  const columns = { status: 'cancelling', check_at: ctx.clock.now() + CLAIM_MS } as const;
  return change(ctx, batch, { from, columns, isMeant, work: (tx) => holdWaiting(tx, batch) });
}

/**
 * Cancels what is left of a batch. Running it again continues.
 * @param signal ends it between two groups of messages; the batch stays `cancelling`
 */
async function finishCancelling(ctx: BatchContext, batch: BatchTable, signal?: AbortSignal): Promise<BatchTable> {
  for (;;) {
    if (signal?.aborted) return batch;
    // Read again: a message can be approved meanwhile, and its earlier row cannot be cancelled.
    const waiting = await waitingMessages(ctx.database.reader, batch, CANCELLED_TOGETHER);
    if (waiting.length === 0) break;
    await Promise.all(waiting.map((row) => ctx.sender.cancel(row)));
  }
  return change(ctx, batch, { from: ['cancelling'], columns: { status: 'cancelled', check_at: null } });
}

/** Does what is due for a batch. @param signal ends long work, which the next check continues */
export async function checkBatch(ctx: BatchContext, batch: BatchTable, signal: AbortSignal): Promise<void> {
  if (batch.status === PREPARING) return settleStored(ctx, batch, { isEnded: true });
  if (batch.status === 'cancelling') return void (await finishCancelling(ctx, batch, signal));
  if (batch.status === 'paused') return expirePause(ctx, batch, signal);
  const last = await lastWaitingAt(ctx.database.reader, batch);
  if (last === undefined) {
    const completed = { from: ['running'], columns: { status: 'completed', check_at: null } } as const;
    return void (await change(ctx, batch, completed).catch(ifState));
  }
  const now = ctx.clock.now();
  const at = last > now ? Math.min(last, now + CHECK_AHEAD_MS) : now + recheckAfter(now - last);
  await checkLater(ctx, batch, at, last > now ? last : Number(batch.ends_at));
}

async function expirePause(ctx: BatchContext, batch: BatchTable, signal: AbortSignal): Promise<void> {
  // It may have been resumed, or paused again, since it was read.
  const isMeant = (present: BatchTable) => (present.check_at ?? Number.POSITIVE_INFINITY) <= ctx.clock.now();
  const present = await beginCancelling(ctx, batch, ['paused'], isMeant).catch(ifState);
  if (present?.status === 'cancelling') await finishCancelling(ctx, present, signal);
}

function ifState(error: unknown): undefined {
  if (!(error instanceof AppError) || error.code !== 'batch_state') throw error;
}

/** Postpones the next check of a batch that failed, so that the others are checked before. */
export async function checkAgain(ctx: BatchContext, batch: BatchTable): Promise<void> {
  await checkLater(ctx, batch, ctx.clock.now() + LONGEST_RECHECK_MS, Number(batch.ends_at));
}

/** Longest time until the next check: what ends the last message early does not always hasten the check. */
const CHECK_AHEAD_MS = 10 * 60_000;
/** Interval of the checks of a batch whose session is not connected, or whose messages wait for approval. */
const LONGEST_RECHECK_MS = 30_000;
const SHORTEST_RECHECK_MS = 2000;

/** The longer a batch is late, the rarer are its checks. */
function recheckAfter(lateMs: number): number {
  return Math.min(LONGEST_RECHECK_MS, Math.max(SHORTEST_RECHECK_MS, lateMs / 2));
}

async function checkLater({ database }: BatchContext, batch: BatchTable, at: number, endsAt: number): Promise<void> {
  await database.commit((tx) => setCheck.run(tx, { ...batch, at: Math.round(at), endsAt }), batch.session_id);
}

/** Reads the batches whose check is due. */
export const dueChecks = query((db, p: { now: number; limit: number }) =>
  db.selectFrom('batches').selectAll().where('check_at', '<=', p.now).orderBy('check_at').limit(p.limit),
);

interface Change {
  /** Statuses that allow it. A batch that has the wanted status is returned as it is. */
  readonly from: readonly BatchStatus[];
  readonly columns: { readonly status: BatchStatus; readonly check_at: number | null; readonly ends_at?: number };
  readonly isMeant?: ((present: BatchTable) => boolean) | undefined;
  /** Runs in the transaction, after the batch has changed. */
  readonly work?: (tx: Tx) => Promise<unknown>;
}

/**
 * Changes the status of a batch, and emits the change.
 * @throws {AppError} `batch_state`
 */
async function change(
  { database, clock, emit }: BatchContext,
  batch: BatchTable,
  { from, columns, isMeant = () => true, work }: Change,
): Promise<BatchTable> {
  const changed = await database.commit(async (tx) => {
    const now = clock.now();
    const present = await findBatch(tx, batch.account_id, batch.batch_id);
    const previousStatus = from.find((status) => status === present.status);
    if (previousStatus === undefined || !isMeant(present)) return present;
    const row = { ...present, ...columns, updated_at: now };
    // On PostgreSQL, another node can have changed it since the line above. Only the first one emits.
    const changes = await updateBatch.run(tx, { ...row, from: previousStatus });
    if (changes === 0) return findBatch(tx, batch.account_id, batch.batch_id);
    await work?.(tx);
    const data = {
      batchId: row.batch_id,
      sessionId: row.session_id,
      status: columns.status,
      previousStatus,
      accepted: row.accepted,
      counts: await countsOf(tx, row),
      timestamp: isoTime(now),
    };
    emit(tx, { accountId: row.account_id, kind: 'batch.updated', data, conversation: row.session_id });
    return row;
  }, batch.session_id);
  const isDone =
    changed.status === columns.status || (columns.status === 'cancelling' && changed.status === 'cancelled');
  if (!isDone) throw new AppError('batch_state', `The batch is ${changed.status}, which does not allow this`);
  return changed;
}

const batchById = query((db, p: BatchRef) =>
  db.selectFrom('batches').selectAll().where('account_id', '=', p.account_id).where('batch_id', '=', p.batch_id),
);

/** Unless an earlier run of the request has stored it. */
async function insertBatch({ kysely }: Tx, row: BatchTable): Promise<void> {
  await kysely
    .insertInto('batches')
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

const updateBatch = query((db, p: BatchTable & { from: BatchTable['status'] }) =>
  db
    .updateTable('batches')
    .set({ status: p.status, check_at: p.check_at, ends_at: p.ends_at, updated_at: p.updated_at })
    .where('account_id', '=', p.account_id)
    .where('batch_id', '=', p.batch_id)
    .where('status', '=', p.from),
);

const setAccepted = query((db, p: BatchRef & Pick<BatchTable, 'accepted'>) =>
  db
    .updateTable('batches')
    .set({ accepted: p.accepted })
    .where('account_id', '=', p.account_id)
    .where('batch_id', '=', p.batch_id),
);

const deleteBatch = query((db, p: BatchRef) =>
  db
    .deleteFrom('batches')
    .where('account_id', '=', p.account_id)
    .where('batch_id', '=', p.batch_id)
    .where('status', '=', PREPARING),
);

const setCheck = query((db, p: BatchRef & Pick<BatchTable, 'status'> & { at: number; endsAt: number }) =>
  db
    .updateTable('batches')
    .set({ check_at: p.at, ends_at: p.endsAt })
    .where('account_id', '=', p.account_id)
    .where('batch_id', '=', p.batch_id)
    .where('status', '=', p.status)
    .where('check_at', 'is not', null),
);
