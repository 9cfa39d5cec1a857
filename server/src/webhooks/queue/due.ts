import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { Dialect, Queryable } from '../../db/dialect.ts';
import { batch, query } from '../../db/query.ts';
import type { Schema } from '../../db/schema.ts';
import { timeOfId } from '../../ids.ts';
import { pendingOf } from './queue.ts';

/* Reads what is due of the queue. */

export interface Due {
  readonly accountId: string;
  readonly deliveryId: string;
  readonly eventId: string;
  readonly kind: string;
  readonly conversation: string;
  readonly attempts: number;
  readonly steps: number;
  /** 0 at once, otherwise in steady time. */
  readonly dueAt: number;
  readonly body: string;
  /** `traceparent` of the event, if tracing is on. */
  readonly trace: string | null;
  /** Greater than that of all earlier events of the conversation; 0 for an event stored before sequences existed. */
  readonly sequence: number;
  /** When the event happened. */
  readonly createdAt: number;
}

export interface DueInOrder extends Due {
  /** An earlier delivery of the conversation that waits; null if there is none. */
  readonly heldBehind: string | null;
}

/** Deliveries that are not read, by their ids and by their conversations. */
export interface Known {
  readonly deliveryIds: readonly string[];
  readonly conversations: readonly string[];
}

/** Reads the due deliveries of a lane in the order of their start, without the known ones. */
export async function readDue(
  on: Queryable,
  webhookId: string,
  now: number,
  limit: number,
  known: Known,
): Promise<Due[]> {
  const rows = await dueDeliveries.all(on, { webhookId, now, limit, ...asLists(known) });
  return interleave(rows).slice(0, limit);
}

/** Like `readDue`, with the earlier delivery of its conversation that each one waits for. */
export async function readDueInOrder(
  on: Queryable,
  webhookId: string,
  now: number,
  limit: number,
  known: Known,
): Promise<DueInOrder[]> {
  const rows = await dueInOrder.all(on, { webhookId, now, limit, ...asLists(known) });
  return interleave(rows).slice(0, limit);
}

const asLists = ({ deliveryIds, conversations }: Known) => ({
  deliveryIds: JSON.stringify(deliveryIds),
  conversations: JSON.stringify(conversations),
});

/** Reads the first due deliveries of many lanes, at most `limit` of each. */
export async function readFirstDue(
  on: Queryable,
  webhookIds: readonly string[],
  now: number,
  limit: number,
): Promise<Map<string, readonly Due[]>> {
  const lanes = webhookIds.map((webhookId) => ({ webhook_id: webhookId, now, limit }));
  const byLane = Map.groupBy(await firstDueDeliveries.all(on, lanes), ({ webhookId }) => webhookId);
  return new Map([...byLane].map(([webhookId, rows]) => [webhookId, interleave(rows).slice(0, limit)]));
}

/** Returns when the next delivery of each lane after `now` is due. Lanes without one are left out. */
export async function readNextDue(
  on: Queryable,
  webhookIds: readonly string[],
  now: number,
): Promise<Map<string, number>> {
  const lanes = webhookIds.map((webhookId) => ({ webhook_id: webhookId, now }));
  const rows = await nextDue.all(on, lanes);
  return new Map(rows.flatMap(({ webhook_id, due_at }) => (due_at === null ? [] : [[webhook_id, due_at]])));
}

interface DueRange {
  webhookId: string;
  now: number;
  limit: number;
  /** Deliveries to leave out, as a JSON list. */
  deliveryIds: string;
  /** Conversations to leave out, as a JSON list. */
  conversations: string;
}

/** New deliveries and due retries: each is one range of the index. */
const dueDeliveries = query<DueRange, Due>((db, p, dialect) => {
  const range = (isDue: RawBuilder<boolean>) => db.selectFrom(dueRange(db, p, dialect, isDue).as('due')).selectAll();
  return range(IS_NEW).unionAll(range(isDueBy(p.now)));
});

/**
 * The first waiting delivery before `d` in its conversation; null if there is none. Two ranges of the index, because
 * SQLite has no ranges of pairs: all its new deliveries have the same position.
 */
export const firstWaitingBefore = sql<string | null>`coalesce(
  ${waitingWhere(sql`w.position < d.position`)},
  ${waitingWhere(sql`w.position = d.position and w.delivery_id < d.delivery_id`)}
)`;

function waitingWhere(isEarlier: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`(
    select w.delivery_id from deliveries w
    where w.webhook_id = d.webhook_id and w.conversation = d.conversation and w.state = 'pending' and w.due_at <> 0
      and ${isEarlier}
    order by w.position, w.delivery_id limit 1
  )`;
}

const dueInOrder = query<DueRange, DueInOrder>((db, p, dialect) => {
  const range = (isDue: RawBuilder<boolean>) =>
    db.selectFrom(dueRange(db, p, dialect, isDue).select(firstWaitingBefore.as('heldBehind')).as('due')).selectAll();
  return range(IS_NEW).unionAll(range(isDueBy(p.now)));
});

const IS_NEW = sql<boolean>`d.due_at = 0`;

const isDueBy = (now: unknown) => sql<boolean>`d.due_at > 0 and d.due_at <= ${now}`;

const dueRange = (db: Kysely<Schema>, p: DueRange, dialect: Dialect, isDue: RawBuilder<boolean>) =>
  pendingOf(db, p)
    .innerJoin('events as e', (join) =>
      join.onRef('e.account_id', '=', 'd.account_id').onRef('e.event_id', '=', 'd.event_id'),
    )
    .select(['d.account_id as accountId', 'd.delivery_id as deliveryId', 'd.event_id as eventId', 'd.kind'])
    .select([
      'd.conversation',
      'd.attempts',
      'd.steps',
      'd.due_at as dueAt',
      'e.body',
      'e.trace',
      'e.position as sequence',
      'e.created_at as createdAt',
    ])
    .where(isDue)
    .where('d.delivery_id', 'not in', dialect.texts(p.deliveryIds))
    .where('d.conversation', 'not in', dialect.texts(p.conversations))
    .orderBy('d.due_at')
    .orderBy('d.position')
    .orderBy('d.delivery_id')
    .limit(p.limit);

/** Like `dueDeliveries`, for many lanes. */
const firstDueDeliveries = batch({ webhook_id: 'text', now: 'bigint', limit: 'bigint' }, ({ row, from, dialect }) => {
  const range = (isDue: RawBuilder<unknown>) => sql`
      select * from (
        select d.webhook_id as "webhookId", d.account_id as "accountId", d.delivery_id as "deliveryId",
          d.event_id as "eventId", d.kind, d.conversation, d.attempts, d.steps, d.due_at as "dueAt", e.body, e.trace,
          e.position as sequence, e.created_at as "createdAt"
        from deliveries d join events e on e.account_id = d.account_id and e.event_id = d.event_id
        where d.webhook_id = ${row.webhook_id} and d.state = 'pending' and ${isDue}
        order by d.due_at, d.position, d.delivery_id limit ${row.limit}
      ) as ranged`;
  const ranges = sql`(${range(IS_NEW)} union all ${range(isDueBy(row.now))}) as due`;
  const lanes = dialect.recordset === undefined ? sql`from` : sql`${from} cross join lateral`;
  return sql<Due & { readonly webhookId: string }>`select due.* ${lanes} ${ranges}`;
});

/**
 * Puts a retry before the deliveries that were stored after it was due, so that neither starves the other. Fresh
 * deliveries keep their order, and so do retries. (A node of the previous release stores a new delivery as due at the
 * time of its clock. It counts as a retry here.)
 */
function interleave<D extends Due>(rows: readonly D[]): readonly D[] {
  const fresh = rows.filter(({ dueAt }) => dueAt === 0);
  const retries = rows.filter(({ dueAt }) => dueAt > 0);
  if (retries.length === 0) return fresh;
  const merged: D[] = [];
  for (const due of fresh) {
    const storedAt = timeOfId(due.deliveryId);
    while (retries[0] !== undefined && retries[0].dueAt <= storedAt) merged.push(...retries.splice(0, 1));
    merged.push(due);
  }
  return [...merged, ...retries];
}

const nextDue = batch(
  { webhook_id: 'text', now: 'bigint' },
  ({ row, from }) => sql<{ webhook_id: string; due_at: number | null }>`
    select ${row.webhook_id} as webhook_id, (
      select min(d.due_at) from deliveries d
      where d.webhook_id = ${row.webhook_id} and d.state = 'pending' and d.due_at > ${row.now}
    ) as due_at ${from}`,
);
