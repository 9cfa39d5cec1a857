import { type RawBuilder, sql } from 'kysely';
import type { Dialect, Queryable } from '../../db/dialect.ts';
import { webhookNumber } from '../../db/numbers.ts';
import { batch, query } from '../../db/query.ts';
import { timeOfId } from '../../ids.ts';

/* Reads what is due of the queue. */

export interface Due {
  /** `receivers.seq` of its webhook. */
  readonly webhook: number;
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
  /** Position of the event in the log, greater than that of all earlier events of the conversation. */
  readonly sequence: number;
  /** When the event happened. */
  readonly createdAt: number;
}

export interface DueInOrder extends Due {
  /** Event of an earlier delivery of the conversation that waits; null if there is none. */
  readonly heldBehind: number | null;
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

/** New deliveries and due retries. */
const dueDeliveries = query<DueRange, Due>((_, p, dialect) => union(p, dialect, sql``));

/** The event of the first waiting delivery before an event `q.event` of a conversation; null if there is none. */
export const firstWaitingBefore = (conversation: RawBuilder<unknown>): RawBuilder<number | null> => sql`(
  select min(w.event) from waiting w
  where w.webhook = q.webhook and w.conversation = ${conversation} and w.event < q.event)`;

const dueInOrder = query<DueRange, DueInOrder>((_, p, dialect) =>
  union(p, dialect, sql`, ${firstWaitingBefore(CONVERSATION)} as "heldBehind"`),
);

/** A delivery that has waited keeps the conversation under which it did. */
const CONVERSATION = sql`coalesce(q.conversation, e.conversation)`;

interface DueTable {
  readonly name: RawBuilder<unknown>;
  readonly dueAt: RawBuilder<unknown>;
  readonly isDue: (now: unknown) => RawBuilder<unknown>;
  readonly order: RawBuilder<unknown>;
}

const NEW: DueTable = { name: sql`queue`, dueAt: sql`0`, isDue: () => sql`true`, order: sql`q.event` };
const LATER: DueTable = {
  name: sql`waiting`,
  dueAt: sql`q.due_at`,
  isDue: (now) => sql`q.due_at <= ${now}`,
  order: sql`q.due_at, q.event`,
};

/** Selects the first due deliveries of one of the tables. */
const dueOf = (
  { name, dueAt, isDue, order }: DueTable,
  p: { readonly webhook: unknown; readonly now: unknown; readonly limit: unknown },
  more: { readonly columns: RawBuilder<unknown>; readonly where: RawBuilder<unknown> },
) => sql`
  select * from (
    select q.webhook, d.delivery_id as "deliveryId", e.event_id as "eventId", e.kind, ${CONVERSATION} as conversation,
      d.attempts, d.steps, ${dueAt} as "dueAt", e.body, e.trace, e.position as sequence, e.created_at as "createdAt"
      ${more.columns}
    from ${name} q join deliveries d on d.event = q.event and d.webhook = q.webhook
      join events e on e.position = q.event
    where q.webhook = ${p.webhook} and ${isDue(p.now)} ${more.where}
    order by ${order} limit ${p.limit}
  ) as ranged`;

function union<D extends Due>(p: DueRange, dialect: Dialect, columns: RawBuilder<unknown>): RawBuilder<D> {
  const where = sql`
    and d.delivery_id not in ${dialect.texts(p.deliveryIds)}
    and ${CONVERSATION} not in ${dialect.texts(p.conversations)}`;
  const range = (table: DueTable) =>
    dueOf(table, { webhook: webhookNumber(p.webhookId), now: p.now, limit: p.limit }, { columns, where });
  return sql<D>`${range(NEW)} union all ${range(LATER)}`;
}

/** Like `dueDeliveries`, for many lanes. */
const firstDueDeliveries = batch({ webhook_id: 'text', now: 'bigint', limit: 'bigint' }, ({ row, from, dialect }) => {
  const range = (table: DueTable) =>
    dueOf(
      table,
      { webhook: webhookNumber(row.webhook_id), now: row.now, limit: row.limit },
      { columns: sql``, where: sql`` },
    );
  const ranges = sql`(${range(NEW)} union all ${range(LATER)}) as due`;
  const lanes = dialect.recordset === undefined ? sql`from` : sql`${from} cross join lateral`;
  return sql<Due & { readonly webhookId: string }>`select due.*, ${row.webhook_id} as "webhookId" ${lanes} ${ranges}`;
});

/**
 * Puts a retry before the deliveries that were stored after it was due, so that neither starves the other. Fresh
 * deliveries keep their order, and so do retries.
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
      select min(w.due_at) from waiting w
      where w.webhook = ${webhookNumber(row.webhook_id)} and w.due_at > ${row.now}
    ) as due_at ${from}`,
);
