import { type Kysely, sql } from 'kysely';
import { type Clock, isoTime } from '../../clock.ts';
import type { Tx } from '../../db/commit.ts';
import type { Database } from '../../db/database.ts';
import type { Queryable } from '../../db/dialect.ts';
import { query } from '../../db/query.ts';
import type { BatchTable, MessageRow, Schema } from '../../db/schema.ts';
import { AppError, noSuch } from '../../errors.ts';
import type { BatchStatus } from '../../events/batchEvents.ts';
import type { Services } from '../../invoke/services.ts';
import { CANCELLED } from '../../messages/status.ts';
import type { Emit } from '../../webhooks/log/emit.ts';

/*
 * A batch is the handle of a bulk send: its messages are ordinary scheduled messages, whose ids contain the batch's.
 *
 * running → paused → running, running or paused → cancelling → cancelled, running → completed. Pausing moves the time of
 * the waiting messages by centuries, so the schedule needs no rule for batches. Cancelling does the same first, in one
 * transaction, and then cancels each message: `BatchWatch` continues after a crash.
 */

export interface BatchContext {
  readonly database: Database;
  readonly clock: Clock;
  readonly emit: Emit;
  readonly sender: Pick<Services['sender'], 'cancel' | 'rescheduled'>;
}

type BatchRef = Pick<BatchTable, 'account_id' | 'batch_id'>;

/** Some 300 years in ms. Messages can be scheduled 366 days ahead. */
const PAUSE_MS = 10_000_000_000_000;
/** Cancellations at the same time, which share transactions. */
const CANCELLED_TOGETHER = 25;

const PREFIX = 'bat_';

export const batchIdOf = (id: string) => `${PREFIX}${id}`;
/** @param place position of the recipient in the request */
export const messageIdOf = (id: string, place: number) => `msg_${id}_${place}`;

/** @throws {AppError} `not_found` */
export async function findBatch(on: Queryable, accountId: string, batchId: string): Promise<BatchTable> {
  const row = await batchById.first(on, { account_id: accountId, batch_id: batchId });
  if (row === undefined) throw noSuch('batch', batchId);
  return row;
}

/** Whether a bulk send has a batch. One that was interrupted can have messages without it. */
export async function hasBatch(on: Queryable, accountId: string, batchId: string): Promise<boolean> {
  return (await batchById.first(on, { account_id: accountId, batch_id: batchId })) !== undefined;
}

/** Stores a batch, unless an earlier run of the request has stored it. */
export async function storeBatch(tx: Tx, row: BatchTable): Promise<void> {
  await tx.kysely
    .insertInto('batches')
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

const NO_COUNTS = {
  pendingApproval: 0,
  scheduled: 0,
  queued: 0,
  sent: 0,
  delivered: 0,
  read: 0,
  failed: 0,
  cancelled: 0,
};
const COUNTED: Readonly<Record<MessageRow['status'], keyof typeof NO_COUNTS>> = {
  pending_approval: 'pendingApproval',
  scheduled: 'scheduled',
  queued: 'queued',
  sent: 'sent',
  delivered: 'delivered',
  read: 'read',
  failed: 'failed',
};

/** Counts a batch's messages, at most 1,000. */
export async function countsOf(on: Queryable, batch: BatchRef) {
  const counts = { ...NO_COUNTS };
  for (const { status, cancelled, count } of await messageCounts.all(on, rangeOf(batch))) {
    counts[Number(cancelled) === 1 ? 'cancelled' : COUNTED[status]] += Number(count);
  }
  return counts;
}

/** Stops the messages whose time has not come. @throws {AppError} `batch_state` */
export async function pauseBatch(ctx: BatchContext, batch: BatchTable): Promise<BatchTable> {
  return change(ctx, batch, ['running'], { status: 'paused', check_at: null }, (tx) =>
    holdWaiting.run(tx, rangeOf(batch)),
  );
}

/** Sends the rest with the same gaps, beginning now if its time has passed. @throws {AppError} `batch_state` */
export async function resumeBatch(ctx: BatchContext, batch: BatchTable): Promise<BatchTable> {
  const first = await firstHeld.first(ctx.database.reader, rangeOf(batch));
  const due = first === undefined ? undefined : Number(first.scheduled_at) - PAUSE_MS;
  const delay = due === undefined ? 0 : Math.max(0, ctx.clock.now() - due);
  const ends_at = Number(batch.ends_at) + delay;
  const resumed = await change(ctx, batch, ['paused'], { status: 'running', ends_at, check_at: ends_at }, (tx) =>
    releaseHeld.run(tx, { ...rangeOf(batch), delay }),
  );
  ctx.sender.rescheduled({ accountId: batch.account_id, sessionId: batch.session_id });
  return resumed;
}

/** Cancels the messages that wait for their time or for approval. @throws {AppError} `batch_state` */
export async function cancelBatch(ctx: BatchContext, batch: BatchTable): Promise<BatchTable> {
  const columns = { status: 'cancelling', check_at: ctx.clock.now() + CLAIM_MS } as const;
  const cancelling = await change(ctx, batch, ['running', 'paused'], columns, (tx) =>
    holdWaiting.run(tx, rangeOf(batch)),
  );
  return cancelling.status === 'cancelling' ? finishCancelling(ctx, cancelling) : cancelling;
}

/** Time that the watch leaves to the request that cancels a batch. */
const CLAIM_MS = 30_000;

/** Cancels what is left of a batch. Running it again continues. */
export async function finishCancelling(ctx: BatchContext, batch: BatchTable): Promise<BatchTable> {
  for (;;) {
    // Read again: a message can be approved meanwhile, and its earlier row cannot be cancelled.
    const waiting = await heldMessages.all(ctx.database.reader, { ...rangeOf(batch), limit: CANCELLED_TOGETHER });
    if (waiting.length === 0) break;
    await Promise.all(waiting.map((row) => ctx.sender.cancel(row)));
  }
  return change(ctx, batch, ['cancelling'], { status: 'cancelled', check_at: null });
}

/** Completes a batch if none of its messages waits any longer; otherwise checks it again later. */
export async function checkBatch(ctx: BatchContext, batch: BatchTable): Promise<void> {
  if (batch.status === 'cancelling') return void (await finishCancelling(ctx, batch));
  if ((await anyWaiting.first(ctx.database.reader, rangeOf(batch))) === undefined)
    return void (await change(ctx, batch, ['running'], { status: 'completed', check_at: null }));
  await checkAgain(ctx, batch);
}

/** Postpones the next check of a batch, so that the others are checked before. */
export async function checkAgain({ database, clock }: BatchContext, batch: BatchTable): Promise<void> {
  await database.commit((tx) => checkLater.run(tx, { ...batch, at: clock.now() + RECHECK_MS }), batch.session_id);
}

/** Interval of the checks of a batch that fail, whose session is not connected, or whose messages wait for approval. */
const RECHECK_MS = 30_000;

/** Reads the batches whose check is due. */
export const dueChecks = query((db, p: { now: number; limit: number }) =>
  db.selectFrom('batches').selectAll().where('check_at', '<=', p.now).orderBy('check_at').limit(p.limit),
);

/**
 * Changes the status of a batch, and emits the change.
 * @param from statuses that allow it. A batch that has the wanted status is returned as it is.
 * @throws {AppError} `batch_state`
 */
async function change(
  { database, clock, emit }: BatchContext,
  batch: BatchTable,
  from: readonly BatchStatus[],
  columns: { readonly status: BatchStatus; readonly check_at: number | null; readonly ends_at?: number },
  work: (tx: Tx) => Promise<unknown> = async () => {},
): Promise<BatchTable> {
  const changed = await database.commit(async (tx) => {
    const now = clock.now();
    const present = await findBatch(tx, batch.account_id, batch.batch_id);
    if (!from.includes(present.status)) return present;
    const row = { ...present, ...columns, updated_at: now };
    // On PostgreSQL, another node can have changed it since the line above. Only the first one emits.
    const changes = await updateBatch.run(tx, { ...row, from: present.status });
    if (changes === 0) return findBatch(tx, batch.account_id, batch.batch_id);
    await work(tx);
    const data = {
      batchId: row.batch_id,
      sessionId: row.session_id,
      status: row.status,
      previousStatus: present.status,
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

const updateBatch = query((db, p: BatchTable & { from: BatchStatus }) =>
  db
    .updateTable('batches')
    .set({ status: p.status, check_at: p.check_at, ends_at: p.ends_at, updated_at: p.updated_at })
    .where('account_id', '=', p.account_id)
    .where('batch_id', '=', p.batch_id)
    .where('status', '=', p.from),
);

const checkLater = query((db, p: BatchRef & { at: number }) =>
  db
    .updateTable('batches')
    .set({ check_at: p.at })
    .where('account_id', '=', p.account_id)
    .where('batch_id', '=', p.batch_id)
    .where('check_at', 'is not', null),
);

/** The ids of a batch's messages. Digits follow the prefix, so the bounds hold in every collation. */
interface Range {
  readonly account_id: string;
  readonly first: string;
  readonly last: string;
}

function rangeOf({ account_id, batch_id }: BatchRef): Range {
  const prefix = `msg_${batch_id.slice(PREFIX.length)}_`;
  return { account_id, first: `${prefix}0`, last: `${prefix}9999` };
}

const messagesIn = (db: Kysely<Schema>, p: Range) =>
  db
    .selectFrom('messages')
    .where('account_id', '=', p.account_id)
    .where('message_id', '>=', p.first)
    .where('message_id', '<=', p.last);

const changedIn = (db: Kysely<Schema>, p: Range) =>
  db
    .updateTable('messages')
    .where('account_id', '=', p.account_id)
    .where('message_id', '>=', p.first)
    .where('message_id', '<=', p.last)
    .where('status', 'in', ['pending_approval', 'scheduled']);

const messageCounts = query((db, p: Range) => {
  const cancelled = sql<number>`case when status = 'failed' and error = ${sql.lit(CANCELLED)} then 1 else 0 end`;
  return messagesIn(db, p)
    .select(({ fn }) => ['status', cancelled.as('cancelled'), fn.countAll<number>().as('count')])
    .groupBy(['status', cancelled]);
});

const anyWaiting = query((db, p: Range) =>
  messagesIn(db, p).select('message_id').where('status', 'in', ['pending_approval', 'scheduled', 'queued']).limit(1),
);

const firstHeld = query((db, p: Range) =>
  messagesIn(db, p)
    .select('scheduled_at')
    .where('status', 'in', ['pending_approval', 'scheduled'])
    .where('scheduled_at', '>=', sql.lit(PAUSE_MS))
    .orderBy('scheduled_at')
    .limit(1),
);

const heldMessages = query((db, p: Range & { limit: number }) =>
  messagesIn(db, p)
    .selectAll()
    .where('status', 'in', ['pending_approval', 'scheduled'])
    .orderBy('scheduled_at')
    .limit(p.limit),
);

const holdWaiting = query((db, p: Range) =>
  changedIn(db, p)
    .set({ scheduled_at: sql`scheduled_at + ${sql.lit(PAUSE_MS)}` })
    .where('scheduled_at', '<', sql.lit(PAUSE_MS)),
);

const releaseHeld = query((db, p: Range & { delay: number }) => {
  const at = sql<number>`scheduled_at - ${sql.lit(PAUSE_MS)} + ${p.delay}`;
  return changedIn(db, p).set({ scheduled_at: at, timestamp: at }).where('scheduled_at', '>=', sql.lit(PAUSE_MS));
});
