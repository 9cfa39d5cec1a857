import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { Queryable } from '../../db/dialect.ts';
import { batch, query } from '../../db/query.ts';
import type { Schema } from '../../db/schema.ts';
import { SESSION_ID_LENGTH } from '../../events/conversation.ts';
import type { Outcome } from './outcome.ts';
import type { Verdict } from './retry.ts';

/*
 * The queue of deliveries: the pending rows of `deliveries`. Reading a row writes nothing, so a crash leaves nothing to
 * undo. A row leaves the queue when its outcome is settled, unless its state has changed since the attempt began.
 */

export interface Settlement {
  readonly due: {
    readonly accountId: string;
    readonly deliveryId: string;
    readonly conversation: string;
    /** Attempts before this one. */
    readonly attempts: number;
  };
  readonly outcome: Outcome;
  readonly startedAt: number;
  readonly state: Verdict['state'];
  readonly dueAt: number;
  readonly steps: number;
}

/** Returns the account that has pending deliveries for a webhook; undefined if there are none. */
export async function ownerOfPending(on: Queryable, webhookId: string): Promise<string | undefined> {
  return (await oldestPending.first(on, { webhookId }))?.account_id;
}

/** Returns the webhooks that have pending deliveries, each with the id and the due time of the first one. */
export function readLanes(on: Queryable): Promise<FirstOfLane[]> {
  return lanes.all(on, {});
}

interface LogPlace {
  readonly event_id: string;
  readonly position: number;
}

/**
 * Returns the first event, in the order of the log, of which a webhook has a pending delivery. Deliveries are almost in
 * that order: only those of transactions that ran at the same time can be the other way round.
 */
export function firstPendingEvent(on: Queryable, webhookId: string): Promise<LogPlace | undefined> {
  return firstEvent.first(on, { webhookId });
}

/** Counting stops here. */
const MAX_PENDING = 100_000;

export async function countPending(on: Queryable): Promise<number> {
  return (await pendingInAll.first(on, {}))?.count ?? 0;
}

export async function readHeld(on: Queryable, webhookId: string): Promise<{ count: number; oldestAt: number | null }> {
  const pending = await pendingCount.first(on, { webhookId });
  const oldest = await oldestPending.first(on, { webhookId });
  return { count: pending?.count ?? 0, oldestAt: oldest?.created_at ?? null };
}

/**
 * Settles attempts: stores them and the new state of their deliveries. A delivery that was cancelled or has expired
 * meanwhile stays so, unless the attempt delivered it. An attempt whose delivery was settled by another node changes
 * nothing and is not stored.
 */
export async function settle(on: Queryable, settlements: readonly Settlement[]): Promise<void> {
  const rows = settlements.map(({ due, outcome, startedAt, state, dueAt, steps }) => ({
    account_id: due.accountId,
    delivery_id: due.deliveryId,
    number: due.attempts + 1,
    class: outcome.class,
    status: outcome.status,
    duration_ms: outcome.durationMs,
    message: outcome.message,
    response: outcome.response,
    started_at: startedAt,
    state,
    due_at: dueAt,
    steps,
    settled_at: state === 'pending' ? null : startedAt + outcome.durationMs,
  }));
  const repeated = rows.filter(({ number }) => number > 1);
  await keepAttempts.run(
    on,
    repeated.map(({ account_id, delivery_id, number }) => ({ account_id, delivery_id, number })),
  );
  await moveDeliveries.run(on, rows);
}

export interface WebhookRef {
  readonly accountId: string;
  readonly webhookId: string;
}

/** Makes some pending retries due in their place in the queue. Returns their number: large queues change in batches. */
export async function dueNow(on: Queryable, webhook: WebhookRef, limit: number): Promise<number> {
  return makeDue.run(on, { ...webhook, limit });
}

/** Puts settled deliveries back into the queue, each with its own due time and an unused retry schedule. */
export async function redeliver(
  on: Queryable,
  accountId: string,
  deliveries: readonly { id: string; dueAt: number }[],
): Promise<void> {
  const rows = deliveries.map(({ id, dueAt }) => ({ account_id: accountId, delivery_id: id, due_at: dueAt }));
  await requeue.run(on, rows);
}

/** Cancels some of the pending deliveries. Returns their number: large queues change in batches. */
export async function cancelPending(
  on: Queryable,
  webhook: WebhookRef,
  reason: string,
  now: number,
  limit: number,
): Promise<number> {
  return cancelSome.run(on, { ...webhook, reason, now, limit });
}

/** Cancels one delivery. Returns false if it is settled. */
export async function cancelOne(
  on: Queryable,
  accountId: string,
  deliveryId: string,
  reason: string,
  now: number,
): Promise<boolean> {
  return (await cancelById.run(on, { accountId, deliveryId, reason, now })) === 1;
}

/** Counts those of the first 100,000 pending deliveries that are of other event types or sessions. Null for any. */
export async function countUnwanted(
  on: Queryable,
  webhookId: string,
  kinds: readonly string[] | null,
  sessionIds: readonly string[] | null,
): Promise<number> {
  const wanted = { kinds: JSON.stringify(kinds ?? []), sessionIds: JSON.stringify(sessionIds ?? []) };
  const which = { webhookId, anyKind: Number(kinds === null), anySession: Number(sessionIds === null) };
  return (await unwanted.first(on, { ...wanted, ...which }))?.count ?? 0;
}

/** Whether a delivery `d` is of a chat, in any session. */
export const isOfChat = (chatId: string) => sql<boolean>`d.conversation like ${`%/${chatId}`}`;

/** The session of a column with conversations. */
export function sessionColumn(column: string): RawBuilder<string> {
  return sql`substr(${sql.ref(column)}, 1, ${sql.lit(SESSION_ID_LENGTH)})`;
}

/** Selects the pending deliveries of a webhook. A literal, so that the planner can use the partial index. */
export const pendingOf = (db: Kysely<Schema>, p: { webhookId: string }) =>
  db
    .selectFrom('deliveries as d')
    .where('d.webhook_id', '=', p.webhookId)
    .where('d.state', '=', sql.lit('pending' as const));

const makeDue = query((db, p: WebhookRef & { limit: number }) =>
  db
    .updateTable('deliveries')
    .set({ due_at: 0, held_behind: null })
    .where('account_id', '=', p.accountId)
    .where(
      'delivery_id',
      'in',
      pendingOf(db, p).select('d.delivery_id').where('d.due_at', '>', 0).orderBy('d.due_at').limit(p.limit),
    ),
);

const cancelById = query((db, p: { accountId: string; deliveryId: string; reason: string; now: number }) =>
  db
    .updateTable('deliveries')
    .set({ state: 'cancelled', settled_at: p.now, reason: p.reason, held_behind: null })
    .where('account_id', '=', p.accountId)
    .where('delivery_id', '=', p.deliveryId)
    .where('state', '=', 'pending'),
);

const cancelSome = query((db, p: WebhookRef & { reason: string; now: number; limit: number }) =>
  db
    .updateTable('deliveries')
    .set({ state: 'cancelled', settled_at: p.now, reason: p.reason, held_behind: null })
    .where('account_id', '=', p.accountId)
    .where('delivery_id', 'in', pendingOf(db, p).select('d.delivery_id').limit(p.limit)),
);

interface UnwantedCount {
  webhookId: string;
  kinds: string;
  anyKind: number;
  sessionIds: string;
  anySession: number;
}

const unwanted = query((db, p: UnwantedCount, dialect) =>
  db
    .selectFrom(pendingOf(db, p).select(['d.kind', 'd.conversation']).limit(MAX_PENDING).as('d'))
    .where((eb) =>
      eb.or([
        eb.and([sql<boolean>`${p.anyKind} = 0`, sql<boolean>`d.kind not in ${dialect.texts(p.kinds)}`]),
        eb.and([
          sql<boolean>`${p.anySession} = 0`,
          sql<boolean>`${sessionColumn('d.conversation')} not in ${dialect.texts(p.sessionIds)}`,
        ]),
      ]),
    )
    .select(({ fn }) => fn.countAll<number>().as('count')),
);

interface FirstOfLane {
  readonly webhook_id: string;
  readonly delivery_id: string;
  readonly due_at: number;
}

/**
 * Jumps from lane to lane through the index of pending rows, so that a million rows in one lane cost as much as one. A
 * plain `group by` would read all of them; neither planner finds this plan by itself.
 */
const lanes = query<object, FirstOfLane>(
  () => sql<FirstOfLane>`
    with recursive lane (webhook_id) as (
      select min(webhook_id) from deliveries where state = 'pending'
      union all
      select (select min(d.webhook_id) from deliveries d where d.state = 'pending' and d.webhook_id > lane.webhook_id)
      from lane where lane.webhook_id is not null
    )
    select webhook_id, (
      select min(d.due_at) from deliveries d where d.state = 'pending' and d.webhook_id = lane.webhook_id
    ) as due_at, (
      select d.delivery_id from deliveries d where d.state = 'pending' and d.webhook_id = lane.webhook_id
      order by d.due_at, d.position, d.delivery_id limit 1
    ) as delivery_id
    from lane where webhook_id is not null`,
);

const pendingInAll = query((db, _: object) =>
  db
    .selectFrom((eb) =>
      eb
        .selectFrom('deliveries')
        .select('webhook_id')
        .where('state', '=', sql.lit('pending' as const))
        .limit(MAX_PENDING)
        .as('some'),
    )
    .select(({ fn }) => fn.countAll<number>().as('count')),
);

// Reads only the index of pending rows.
const pendingCount = query((db, p: { webhookId: string }) =>
  pendingOf(db, p).select(({ fn }) => fn.countAll<number>().as('count')),
);

const oldestPending = query((db, p: { webhookId: string }) =>
  pendingOf(db, p)
    .select(['d.account_id', 'd.created_at'])
    .orderBy('d.due_at')
    .orderBy('d.position')
    .orderBy('d.delivery_id')
    .limit(1),
);

/** More than transactions can have in flight for one webhook. */
const OVERLAPPING = 256;

const firstEvent = query((db, p: { webhookId: string }) => {
  const range = (isOfRange: RawBuilder<boolean>) =>
    db
      .selectFrom(
        pendingOf(db, p)
          .select(['d.account_id', 'd.event_id'])
          .where(isOfRange)
          .orderBy('d.position')
          .orderBy('d.delivery_id')
          .limit(OVERLAPPING)
          .as('first'),
      )
      .selectAll();
  return db
    .selectFrom(range(sql`d.due_at = 0`).unionAll(range(sql`d.due_at > 0`)).as('d'))
    .innerJoin('events as e', (join) =>
      join.onRef('e.account_id', '=', 'd.account_id').onRef('e.event_id', '=', 'd.event_id'),
    )
    .select(['e.event_id', 'e.position'])
    .orderBy('e.position')
    .orderBy('e.event_id')
    .limit(1);
});

const settled = {
  account_id: 'text',
  delivery_id: 'text',
  number: 'bigint',
  class: 'text',
  status: 'bigint',
  duration_ms: 'bigint',
  message: 'text',
  response: 'text',
  started_at: 'bigint',
  state: 'text',
  due_at: 'bigint',
  steps: 'bigint',
  settled_at: 'bigint',
} as const;

/*
 * The two statements below name the states that a settlement leaves alone, because there are only two of them: for a
 * longer list SQLite builds a table each time.
 */

/** Keeps the last attempts of deliveries that the next ones are about to replace. */
const keepAttempts = batch(
  { account_id: 'text', delivery_id: 'text', number: 'bigint' },
  ({ row, join }) => sql`
    insert into attempts (account_id, delivery_id, number, webhook_id, class, status, duration_ms, message, response, started_at)
    select d.account_id, d.delivery_id, d.attempts, d.webhook_id, d.last_class, d.last_status, d.last_duration_ms,
      d.last_message, d.last_response, d.last_started_at
    from deliveries d ${join}
    where d.account_id = ${row.account_id} and d.delivery_id = ${row.delivery_id}
      and d.state not in ('delivered', 'failed') and d.attempts = ${row.number} - 1
      and d.last_started_at is not null
    on conflict do nothing`,
);

const moveDeliveries = batch(
  settled,
  ({ row, from }) => sql`
    update deliveries set
      state = case when ${row.state} = 'delivered' or deliveries.state = 'pending' then ${row.state} else deliveries.state end,
      settled_at = case when ${row.state} = 'delivered' or deliveries.state = 'pending' then ${row.settled_at}
        else deliveries.settled_at end,
      reason = case when ${row.state} = 'delivered' then null else deliveries.reason end,
      due_at = ${row.due_at}, held_behind = null, attempts = ${row.number}, steps = ${row.steps}, last_class = ${row.class},
      last_message = ${row.message}, last_status = ${row.status}, last_duration_ms = ${row.duration_ms},
      last_response = ${row.response}, last_started_at = ${row.started_at}
    ${from}
    where deliveries.account_id = ${row.account_id} and deliveries.delivery_id = ${row.delivery_id}
      and deliveries.state not in ('delivered', 'failed') and deliveries.attempts = ${row.number} - 1`,
);

const requeue = batch(
  { account_id: 'text', delivery_id: 'text', due_at: 'bigint' },
  ({ row, from }) => sql`
    update deliveries set state = 'pending', due_at = ${row.due_at}, steps = 0, settled_at = null,
      reason = null, held_behind = null
    ${from}
    where deliveries.account_id = ${row.account_id} and deliveries.delivery_id = ${row.delivery_id}
      and deliveries.state <> 'pending'`,
);
