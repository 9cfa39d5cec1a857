import { type Kysely, sql } from 'kysely';
import type { Queryable } from '../../db/dialect.ts';
import { query } from '../../db/query.ts';
import type { BatchTable, MessageRow, Schema } from '../../db/schema.ts';
import { BATCH_PREFIX, batchMessageId } from '../../messages/messages/batchChecks.ts';
import { CANCELLED } from '../../messages/status.ts';

/* The messages of a batch, by their ids. */

export type BatchRef = Pick<BatchTable, 'account_id' | 'batch_id'>;

/** Some 300 years in ms. Messages can be scheduled 366 days ahead. */
const PAUSE_MS = 10_000_000_000_000;

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

/** Counts the stored messages of a batch. */
export async function countStored(on: Queryable, batch: BatchRef): Promise<number> {
  return Object.values(await countsOf(on, batch)).reduce((sum, count) => sum + count, 0);
}

/** Returns the time of the last message that has not left; undefined if all have. */
export async function lastWaitingAt(on: Queryable, batch: BatchRef): Promise<number | undefined> {
  const last = (await lastWaiting.first(on, rangeOf(batch)))?.last;
  return last === undefined || last === null ? undefined : Number(last);
}

/** Returns the time that the first message of a paused batch had; undefined if none waits. */
export async function firstHeldAt(on: Queryable, batch: BatchRef): Promise<number | undefined> {
  const first = await firstHeld.first(on, rangeOf(batch));
  return first === undefined ? undefined : Number(first.scheduled_at) - PAUSE_MS;
}

/** Returns some messages that wait for their time or for approval. */
export const waitingMessages = (on: Queryable, batch: BatchRef, limit: number) =>
  someWaiting.all(on, { ...rangeOf(batch), limit });

/** Moves the time of the waiting messages beyond every other. */
export const holdWaiting = (on: Queryable, batch: BatchRef) => hold.run(on, rangeOf(batch));

/** Gives held messages back their time, or a later one. */
export const releaseHeld = (on: Queryable, batch: BatchRef, delay: number) =>
  release.run(on, { ...rangeOf(batch), delay });

/** The ids of a batch's messages. Digits follow the prefix, so the bounds hold in every collation. */
interface Range {
  readonly account_id: string;
  readonly first: string;
  readonly last: string;
}

/** Numbers end at 29,999: 1,000 recipients of an album of 30 files. All of them sort before 9999. */
function rangeOf({ account_id, batch_id }: BatchRef): Range {
  const id = batch_id.slice(BATCH_PREFIX.length);
  return { account_id, first: batchMessageId(id, 0), last: batchMessageId(id, 9999) };
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

const lastWaiting = query((db, p: Range) =>
  messagesIn(db, p)
    .select(({ fn }) => fn.max('scheduled_at').as('last'))
    .where('status', 'in', ['pending_approval', 'scheduled', 'queued']),
);

const firstHeld = query((db, p: Range) =>
  messagesIn(db, p)
    .select('scheduled_at')
    .where('status', 'in', ['pending_approval', 'scheduled'])
    .where('scheduled_at', '>=', sql.lit(PAUSE_MS))
    .orderBy('scheduled_at')
    .limit(1),
);

const someWaiting = query((db, p: Range & { limit: number }) =>
  messagesIn(db, p)
    .selectAll()
    .where('status', 'in', ['pending_approval', 'scheduled'])
    .orderBy('scheduled_at')
    .limit(p.limit),
);

const hold = query((db, p: Range) =>
  changedIn(db, p)
    .set({ scheduled_at: sql`scheduled_at + ${sql.lit(PAUSE_MS)}` })
    .where('scheduled_at', '<', sql.lit(PAUSE_MS)),
);

const release = query((db, p: Range & { delay: number }) => {
  const at = sql<number>`scheduled_at - ${sql.lit(PAUSE_MS)} + ${p.delay}`;
  return changedIn(db, p).set({ scheduled_at: at, timestamp: at }).where('scheduled_at', '>=', sql.lit(PAUSE_MS));
});
