import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { Queryable } from '../../db/dialect.ts';
import { accountNumber } from '../../db/numbers.ts';
import { batch, query } from '../../db/query.ts';
import type { Schema } from '../../db/schema.ts';
import { SESSION_ID_LENGTH } from '../../events/conversation.ts';
import type { Due } from './due.ts';
import type { Outcome } from './outcome.ts';
import {
  dueNowOf,
  endPending,
  firstPending,
  firstWaiting,
  type Key,
  makeDue,
  type Postponed,
  postpone,
  removePending,
  waitingOf,
} from './pending.ts';
import type { Verdict } from './retry.ts';

/*
 * The queue of deliveries. Reading a row writes nothing, so a crash leaves nothing to undo. A delivery leaves the queue
 * when its outcome is settled, unless its state has changed since the attempt began.
 */

export interface Settlement {
  /** As it was before the attempt. */
  readonly due: Pick<Due, 'webhook' | 'sequence' | 'conversation' | 'attempts'>;
  readonly outcome: Outcome;
  readonly startedAt: number;
  readonly state: Verdict['state'];
  readonly dueAt: number;
  readonly steps: number;
}

/** Returns the account that has pending deliveries for a webhook; undefined if there are none. */
export async function ownerOfPending(on: Queryable, webhookId: string): Promise<string | undefined> {
  const [first] = await firstPending(on, webhookId, 1);
  return first && (await accountOf.first(on, first))?.account_id;
}

/** Returns the webhooks that have pending deliveries, each with the id and the due time of the first one. */
export function readLanes(on: Queryable): Promise<FirstOfLane[]> {
  return lanes.all(on, {});
}

interface LogPlace {
  readonly event_id: string;
  readonly position: number;
}

/** Returns the first event, in the order of the log, of which a webhook has a pending delivery. */
export function firstPendingEvent(on: Queryable, webhookId: string): Promise<LogPlace | undefined> {
  return firstEvent.first(on, { webhookId });
}

/** Counting stops here. */
const MAX_PENDING = 100_000;

export async function countPending(on: Queryable): Promise<number> {
  return Math.min(MAX_PENDING, (await pendingInAll.first(on, {}))?.count ?? 0);
}

export async function readHeld(on: Queryable, webhookId: string): Promise<{ count: number; oldestAt: number | null }> {
  const pending = await pendingCount.first(on, { webhookId });
  const [oldest] = await firstPending(on, webhookId, 1);
  const event = oldest && (await eventTime.first(on, oldest));
  return { count: Number(pending?.count ?? 0), oldestAt: event?.created_at ?? null };
}

/**
 * Settles attempts: stores them and the new state of their deliveries. A delivery that was cancelled or has expired
 * meanwhile stays so, unless the attempt delivered it. An attempt whose delivery was settled by another node changes
 * nothing and is not stored.
 */
export async function settle(on: Queryable, settlements: readonly Settlement[]): Promise<void> {
  const rows = settlements.map(({ due, outcome, startedAt, state, dueAt, steps }) => ({
    event: due.sequence,
    webhook: due.webhook,
    number: due.attempts + 1,
    class: outcome.class,
    status: outcome.status,
    duration_ms: outcome.durationMs,
    message: outcome.message,
    response: outcome.response,
    started_at: startedAt,
    state,
    steps,
    settled_at: state === 'pending' ? null : startedAt + outcome.durationMs,
    conversation: due.conversation,
    dueAt,
  }));
  await keepAttempts.run(
    on,
    rows.filter(({ number }) => number > 1),
  );
  const moved = new Map((await moveDeliveries.all(on, rows)).map((row) => [nameOf(row), row.state]));
  const changed = rows.filter((row) => moved.has(nameOf(row)));
  const [pending, final] = partition(changed, (row) => moved.get(nameOf(row)) === 'pending');
  if (final.length > 0) await removePending(on, final);
  if (pending.length > 0) await keepPending(on, pending);
}

/** Puts deliveries that are still pending where their next attempt is due. */
async function keepPending(on: Queryable, rows: readonly Omit<Postponed, 'heldBehind'>[]): Promise<void> {
  const [now, later] = partition(rows, ({ dueAt }) => dueAt === 0);
  if (now.length > 0) await makeDue(on, now);
  if (later.length > 0)
    await postpone(
      on,
      later.map((row) => ({ ...row, heldBehind: null })),
    );
}

const nameOf = ({ event, webhook }: Key) => `${event} ${webhook}`;

function partition<T>(items: readonly T[], isFirst: (item: T) => boolean): [T[], T[]] {
  return [items.filter(isFirst), items.filter((item) => !isFirst(item))];
}

export interface WebhookRef {
  readonly accountId: string;
  readonly webhookId: string;
}

/** Makes some pending retries due in their place in the queue. Returns their number: large queues change in batches. */
export async function dueNow(on: Queryable, { webhookId }: WebhookRef, limit: number): Promise<number> {
  return makeDue(on, await firstWaiting.all(on, { webhookId, limit }));
}

/** Puts settled deliveries back into the queue, each with its own due time and an unused retry schedule. */
export async function redeliver(
  on: Queryable,
  accountId: string,
  deliveries: readonly { id: string; dueAt: number }[],
): Promise<void> {
  const rows = deliveries.map(({ id, dueAt }) => ({ account_id: accountId, delivery_id: id, due_at: dueAt }));
  const requeued = await requeue.all(on, rows);
  const conversations = await conversationsOf.all(on, requeued);
  const postponed = conversations.map(({ due_at: dueAt, ...row }) => ({ ...row, dueAt: Number(dueAt) }));
  await postpone(
    on,
    postponed.map((row) => ({ ...row, heldBehind: null })),
  );
}

/**
 * Cancels some of the pending deliveries.
 * @returns the number that was read: a step that repeats must go on if others have settled some of them meanwhile
 */
export async function cancelPending(
  on: Queryable,
  { webhookId }: WebhookRef,
  reason: string,
  now: number,
  limit: number,
): Promise<number> {
  const keys = await firstPending(on, webhookId, limit);
  await endPending(on, keys, { state: 'cancelled', reason, now });
  return keys.length;
}

/** Cancels one delivery. Returns false if it is settled. */
export async function cancelOne(on: Queryable, key: Key, reason: string, now: number): Promise<boolean> {
  return (await endPending(on, [key], { state: 'cancelled', reason, now })).length === 1;
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

/** Whether an event `e` is of a chat, in any session. */
export const isOfChat = (chatId: string) => sql<boolean>`e.conversation like ${`%/${chatId}`}`;

/** The session of a column with conversations. */
export function sessionColumn(column: string): RawBuilder<string> {
  return sql`substr(${sql.ref(column)}, 1, ${sql.lit(SESSION_ID_LENGTH)})`;
}

/** The events of the pending deliveries of a webhook. */
export const pendingEventsOf = (db: Kysely<Schema>, p: { webhookId: string }) =>
  dueNowOf(db, p).select('q.event').unionAll(waitingOf(db, p).select('q.event'));

const accountOf = query((db, p: Key) =>
  db
    .selectFrom('deliveries as d')
    .innerJoin('accounts as a', 'a.seq', 'd.account')
    .select('a.account_id')
    .where('d.event', '=', p.event)
    .where('d.webhook', '=', p.webhook),
);

const eventTime = query((db, p: Key) => db.selectFrom('events').select('created_at').where('position', '=', p.event));

interface UnwantedCount {
  webhookId: string;
  kinds: string;
  anyKind: number;
  sessionIds: string;
  anySession: number;
}

const unwanted = query((db, p: UnwantedCount, dialect) =>
  db
    .selectFrom(db.selectFrom(pendingEventsOf(db, p).as('one')).select('event').limit(MAX_PENDING).as('q'))
    .innerJoin('events as e', 'e.position', 'q.event')
    .where((eb) =>
      eb.or([
        eb.and([sql<boolean>`${p.anyKind} = 0`, sql<boolean>`e.kind not in ${dialect.texts(p.kinds)}`]),
        eb.and([
          sql<boolean>`${p.anySession} = 0`,
          sql<boolean>`${sessionColumn('e.conversation')} not in ${dialect.texts(p.sessionIds)}`,
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
 * Jumps from lane to lane through the primary keys, so that a million rows in one lane cost as much as one. A plain
 * `group by` would read all of them; neither planner finds this plan by itself.
 */
const lanes = query<object, FirstOfLane>(() => {
  const next = (isNext: RawBuilder<boolean>) => sql`
    select min(webhook) from (
      select (select min(webhook) from queue where ${isNext}) as webhook
      union all select (select min(webhook) from waiting where ${isNext})
    ) as found`;
  return sql<FirstOfLane>`
    with recursive lane (webhook) as (
      ${next(sql`true`)}
      union all
      select (${next(sql`webhook > lane.webhook`)}) from lane where lane.webhook is not null
    ), first (webhook, due, waiting_at) as (
      select webhook, (select min(q.event) from queue q where q.webhook = lane.webhook),
        (select min(w.due_at) from waiting w where w.webhook = lane.webhook)
      from lane where webhook is not null
    )
    select r.webhook_id, case when first.due is null then first.waiting_at else 0 end as due_at, (
      select d.delivery_id from deliveries d where d.webhook = first.webhook and d.event = coalesce(first.due, (
        select w.event from waiting w where w.webhook = first.webhook order by w.due_at, w.event limit 1
      ))
    ) as delivery_id
    from first join receivers r on r.seq = first.webhook
    order by r.webhook_id`;
});

const countOf = (table: RawBuilder<unknown>) =>
  sql`(select count(*) from (select 1 from ${table} limit ${sql.lit(MAX_PENDING)}) as rows_of)`;

const pendingInAll = query<object, { count: number }>(
  () => sql<{ count: number }>`select ${countOf(sql`queue`)} + ${countOf(sql`waiting`)} as count`,
);

// Reads only the primary keys.
const pendingCount = query((db, p: { webhookId: string }) =>
  db.selectFrom(pendingEventsOf(db, p).as('one')).select(({ fn }) => fn.countAll<number>().as('count')),
);

const firstEvent = query((db, p: { webhookId: string }) => {
  const first = sql<number>`(select min(event) from (
    select (${dueNowOf(db, p).select(({ fn }) => fn.min('q.event').as('event'))}) as event
    union all select (${waitingOf(db, p).select(({ fn }) => fn.min('q.event').as('event'))})
  ) as one)`;
  return db.selectFrom('events').select(['event_id', 'position']).where('position', '=', first);
});

const settled = {
  event: 'bigint',
  webhook: 'bigint',
  number: 'bigint',
  class: 'text',
  status: 'bigint',
  duration_ms: 'bigint',
  message: 'text',
  response: 'text',
  started_at: 'bigint',
  state: 'text',
  steps: 'bigint',
  settled_at: 'bigint',
} as const;

/*
 * The two statements below name the states that a settlement leaves alone, because there are only two of them: for a
 * longer list SQLite builds a table each time.
 */

/** Keeps the last attempts of deliveries that the next ones are about to replace. */
const keepAttempts = batch(
  { event: 'bigint', webhook: 'bigint', number: 'bigint' },
  ({ row, join }) => sql`
    insert into attempts (event, webhook, number, class, status, duration_ms, message, response, started_at)
    select d.event, d.webhook, d.attempts, d.last_class, d.last_status, d.last_duration_ms, d.last_message,
      d.last_response, d.last_started_at
    from deliveries d ${join}
    where d.event = ${row.event} and d.webhook = ${row.webhook}
      and d.state not in ('delivered', 'failed') and d.attempts = ${row.number} - 1
      and d.last_started_at is not null
    on conflict do nothing`,
);

const moveDeliveries = batch(
  settled,
  ({ row, from }) => sql<Key & { readonly state: string }>`
    update deliveries set
      state = case when ${row.state} = 'delivered' or deliveries.state = 'pending' then ${row.state} else deliveries.state end,
      undelivered = case when ${row.state} = 'delivered' then null
        when deliveries.state = 'pending' and ${row.state} = 'failed' then 'failed' else deliveries.undelivered end,
      settled_at = case when ${row.state} = 'delivered' or deliveries.state = 'pending' then ${row.settled_at}
        else deliveries.settled_at end,
      reason = case when ${row.state} = 'delivered' then null else deliveries.reason end,
      attempts = ${row.number}, steps = ${row.steps}, last_class = ${row.class}, last_message = ${row.message},
      last_status = ${row.status}, last_duration_ms = ${row.duration_ms}, last_response = ${row.response},
      last_started_at = ${row.started_at}
    ${from}
    where deliveries.event = ${row.event} and deliveries.webhook = ${row.webhook}
      and deliveries.state not in ('delivered', 'failed') and deliveries.attempts = ${row.number} - 1
    returning deliveries.event, deliveries.webhook, deliveries.state`,
);

const requeue = batch(
  { account_id: 'text', delivery_id: 'text', due_at: 'bigint' },
  ({ row, from }) => sql<Key & { readonly due_at: number }>`
    update deliveries set state = 'pending', undelivered = null, steps = 0, settled_at = null, reason = null
    ${from}
    where deliveries.account = ${accountNumber(row.account_id)} and deliveries.delivery_id = ${row.delivery_id}
      and deliveries.state <> 'pending'
    returning deliveries.event, deliveries.webhook, ${row.due_at} as due_at`,
);

const conversationsOf = batch(
  { event: 'bigint', webhook: 'bigint', due_at: 'bigint' },
  ({ row, join }) => sql<Key & { readonly conversation: string; readonly due_at: number }>`
    select e.position as event, ${row.webhook} as webhook, ${row.due_at} as due_at, e.conversation
    from events e ${join} where e.position = ${row.event}`,
);
