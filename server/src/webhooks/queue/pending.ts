import { type Kysely, type RawBuilder, sql } from 'kysely';
import { allEnded } from '../../async.ts';
import type { Queryable } from '../../db/dialect.ts';
import { webhookNumber } from '../../db/numbers.ts';
import { batch, query } from '../../db/query.ts';
import type { Schema } from '../../db/schema.ts';

/*
 * The pending deliveries, which are in one of two tables: `queue` has what is due now, `waiting` what is due later or
 * waits for an earlier delivery. Both are small, and empty in quiet times, so that a delivery writes to few pages.
 *
 * A transaction that moves a delivery between them, or removes it, has locked its row in `deliveries` before: by an
 * update, or by `lockPending`. So the next one sees the result, and never a delivery in both tables or in neither.
 */

/** Identifies a delivery: the position of its event, and the number of its webhook. */
export interface Key {
  readonly event: number;
  readonly webhook: number;
}

const KEY = { event: 'bigint', webhook: 'bigint' } as const;

/** The rows of `queue` of a webhook, as `q`. */
export const dueNowOf = (db: Kysely<Schema>, p: { webhookId: string }) =>
  db.selectFrom('queue as q').where('q.webhook', '=', webhookNumber(p.webhookId));

/** The rows of `waiting` of a webhook, as `q`. */
export const waitingOf = (db: Kysely<Schema>, p: { webhookId: string }) =>
  db.selectFrom('waiting as q').where('q.webhook', '=', webhookNumber(p.webhookId));

/** Returns those of the deliveries that are pending, and keeps other transactions from changing them. */
export const lockPending = (on: Queryable, keys: readonly Key[]): Promise<Key[]> => locked.all(on, keys);

/** Like `lockPending`, without those that other transactions are changing. */
export const lockFree = (on: Queryable, keys: readonly Key[]): Promise<Key[]> => lockedIfFree.all(on, keys);

/**
 * Removes deliveries that their transaction has settled. A delivery that has never waited may do so by now: it can be
 * cancelled and replayed during its first attempt.
 */
export async function removePending(on: Queryable, keys: readonly Key[]): Promise<void> {
  if (on.dialect.recordset !== undefined) {
    await allEnded(leaveQueue.run(on, keys), leaveWaiting.run(on, keys));
    return;
  }
  for (const [webhook, own] of Map.groupBy(keys, (key) => key.webhook)) {
    const events = JSON.stringify(own.map(({ event }) => event));
    for (const leave of leaveTogether) await leave.run(on, { webhook, events });
  }
}

/**
 * Makes waiting deliveries due now, in their place in the queue.
 * @returns the number of keys, because a step that repeats must go on if others have settled some of them
 */
export async function makeDue(on: Queryable, keys: readonly Key[]): Promise<number> {
  const pending = on.dialect.hasConcurrentWriters ? await lockPending(on, keys) : keys;
  await joinQueue.run(on, pending);
  await leaveWaiting.run(on, pending);
  return keys.length;
}

export interface Postponed extends Key {
  readonly conversation: string;
  readonly dueAt: number;
  /** Event of the delivery that it waits for. */
  readonly heldBehind: number | null;
}

/** Makes pending deliveries wait. Their transaction has locked them. */
export async function postpone(on: Queryable, deliveries: readonly Postponed[]): Promise<void> {
  const rows = deliveries.map(({ dueAt, heldBehind, ...row }) => ({ ...row, due_at: dueAt, held_behind: heldBehind }));
  await allEnded(joinWaiting.run(on, rows), leaveQueue.run(on, rows));
}

/** Puts deliveries into the queue that their transaction has stored as pending. */
export const enqueue = (on: Queryable, keys: readonly Key[]): Promise<void> => intoQueue.run(on, keys);

interface Ended {
  readonly state: 'cancelled' | 'expired';
  readonly reason: string;
  readonly now: number;
}

/** Ends pending deliveries without an attempt. Returns those that were pending. */
export async function endPending(on: Queryable, keys: readonly Key[], ended: Ended): Promise<readonly Key[]> {
  const { state, reason, now } = ended;
  const rows = keys.map(({ event, webhook }) => ({ event, webhook, state, reason, now }));
  const pending = await end.all(on, rows);
  await removePending(on, pending);
  return pending;
}

/** Returns the first pending deliveries of a webhook, those that are due now before those that wait. */
export async function firstPending(on: Queryable, webhookId: string, limit: number): Promise<readonly Key[]> {
  const due = await firstDue.all(on, { webhookId, limit });
  if (due.length === limit) return due;
  return [...due, ...(await firstWaiting.all(on, { webhookId, limit: limit - due.length }))];
}

const firstDue = query((db, p: { webhookId: string; limit: number }) =>
  dueNowOf(db, p).select(['q.event', 'q.webhook']).orderBy('q.event').limit(p.limit),
);

export const firstWaiting = query((db, p: { webhookId: string; limit: number }) =>
  waitingOf(db, p).select(['q.event', 'q.webhook']).orderBy('q.due_at').orderBy('q.event').limit(p.limit),
);

const lockRows = (end: RawBuilder<unknown>) =>
  batch(
    KEY,
    ({ row, join, dialect }) => sql<Key>`
      select d.event, d.webhook from deliveries d ${join}
      where d.event = ${row.event} and d.webhook = ${row.webhook} and d.state = 'pending'
      ${dialect.hasConcurrentWriters ? end : sql``}`,
  );

const locked = lockRows(sql`for no key update of d`);
const lockedIfFree = lockRows(sql`for no key update of d skip locked`);

const leaveQueue = batch(KEY, ({ row, using }) => {
  const isIt = sql`queue.webhook = ${row.webhook} and queue.event = ${row.event}`;
  return sql`delete from queue ${using} where ${isIt}`;
});

/** A statement for all deliveries of a lane, which costs SQLite less than one for each. */
const leaveTogether = (['queue', 'waiting'] as const).map((table) =>
  query((db, p: { webhook: number; events: string }, dialect) =>
    db.deleteFrom(table).where('webhook', '=', p.webhook).where('event', 'in', dialect.integers(p.events)),
  ),
);

const leaveWaiting = batch(KEY, ({ row, using }) => {
  const isIt = sql`waiting.webhook = ${row.webhook} and waiting.event = ${row.event}`;
  return sql`delete from waiting ${using} where ${isIt}`;
});

const intoQueue = batch(
  KEY,
  ({ row, from }) => sql`
    insert into queue (webhook, event) select ${row.webhook}, ${row.event} ${from} where true on conflict do nothing`,
);

const joinQueue = batch(
  KEY,
  ({ row, join }) => sql`
    insert into queue (webhook, event, conversation) select w.webhook, w.event, w.conversation from waiting w ${join}
    where w.webhook = ${row.webhook} and w.event = ${row.event} on conflict do nothing`,
);

const joinWaiting = batch(
  { ...KEY, conversation: 'text', due_at: 'bigint', held_behind: 'bigint' },
  ({ row, from }) => sql`
    insert into waiting (webhook, event, due_at, conversation, held_behind)
    select ${row.webhook}, ${row.event}, ${row.due_at}, ${row.conversation}, ${row.held_behind} ${from} where true
    on conflict (webhook, event) do update set due_at = excluded.due_at, held_behind = excluded.held_behind`,
);

const end = batch(
  { ...KEY, state: 'text', reason: 'text', now: 'bigint' },
  ({ row, from }) => sql<Key>`
    update deliveries set state = ${row.state}, undelivered = ${row.state}, settled_at = ${row.now},
      reason = ${row.reason}
    ${from} where deliveries.event = ${row.event} and deliveries.webhook = ${row.webhook}
      and deliveries.state = 'pending'
    returning deliveries.event, deliveries.webhook`,
);
