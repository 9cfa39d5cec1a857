import { sql } from 'kysely';
import { Type } from 'typebox';
import { isoTime } from '../../clock.ts';
import type { Queryable } from '../../db/dialect.ts';
import type { DeliveryRow, EventRow } from '../../db/schema.ts';
import { deliveryStates } from '../../db/tables/webhooks.ts';
import {
  boolean,
  integer,
  list,
  named,
  oneOf,
  orNull,
  string,
  time,
  token,
  unnumbered,
} from '../../invoke/input/fields.ts';
import { ref } from '../../invoke/input/references.ts';
import type { SteadyClock } from '../../steadyClock.ts';
import { deliveriesThrough, type pathOf } from '../../webhooks/log/deliveryFilters.ts';
import { firstWaitingBefore } from '../../webhooks/queue/due.ts';
import { Kind } from './eventTypes.ts';
import { Class } from './webhookRecord.ts';

export const DeliveryId = string('Id of the delivery (`dlv_…`).', { ...ref('delivery'), maxLength: 100 });
export const State = oneOf(
  deliveryStates,
  '`pending`: not settled yet. `failed`: all attempts failed. `expired`: it was held for too long.',
);
/** A filter by event type. */
export const EventTypes = list(
  Type.String({ ...token('lowercase'), maxLength: 50 }),
  'Only these event types, such as `message.*`.',
  { maxItems: 50, ...unnumbered },
);

export const Delivery = named('Delivery', {
  deliveryId: DeliveryId,
  webhookId: string('Id of the webhook (`whk_…`) or of the event subscription (`whs_…`).'),
  eventId: string('Id of the event (`evt_…`), which receivers get as `X-Webhook-Id`.'),
  event: Kind,
  state: State,
  attempts: integer('Number of attempts so far.'),
  lastClass: orNull(Class, 'Outcome class of the last attempt; null before the first one.'),
  lastMessage: orNull(Type.String(), 'Outcome of the last attempt as a sentence; null before the first one.'),
  dueAt: orNull(
    time(),
    'When the next attempt is due, unless the circuit breaker holds it; null once settled, and while `heldBehind` is set.',
  ),
  heldBehind: orNull(
    Type.String(),
    'Earlier delivery of the chat (`dlv_…`) for which it waits, at a webhook with `ordering: "strict"`; otherwise null.',
  ),
  messageId: orNull(Type.String(), 'Id of the message that the event is about; null if it is not about one.'),
  isTest: boolean('Whether it is the sample event of a test.'),
  createdAt: time('When the event happened.'),
  settledAt: orNull(time(), 'When the delivery reached its final state; null while it is pending.'),
});

/** A delivery with its event, and the earlier delivery for which it waits. */
export type ShownRow = Omit<DeliveryRow, 'kind'> &
  Pick<EventRow, 'event_id' | 'kind' | 'conversation' | 'message_id' | 'is_test' | 'created_at'> & {
    readonly webhook_id: string;
    /** When the next attempt is due, in steady time; 0 if it is due now or settled. */
    readonly due_at: number;
    /** Event of the delivery that held it. */
    readonly held_behind: number | null;
    readonly held_now: string | null;
  };

export function toDelivery(row: ShownRow, steady: SteadyClock) {
  return {
    deliveryId: row.delivery_id,
    webhookId: row.webhook_id,
    eventId: row.event_id,
    event: row.kind,
    state: row.state,
    attempts: row.attempts,
    lastClass: row.last_class,
    lastMessage: row.reason ?? row.last_message,
    dueAt: row.state === 'pending' && row.held_now === null ? isoTime(dueAt(row, steady)) : null,
    heldBehind: row.held_now,
    messageId: row.message_id,
    isTest: row.is_test === 1,
    createdAt: isoTime(row.created_at),
    settledAt: isoTime(row.settled_at),
  };
}

/**
 * Returns when the next attempt is due, as a time of day. A delivery is due from its storage on if it never waited, or
 * if the earlier ones that held it are settled: it goes out after the few that were released before it.
 */
const dueAt = (row: ShownRow, steady: SteadyClock) =>
  row.due_at === 0 || row.held_behind !== null ? row.created_at : steady.toWall(row.due_at);

/**
 * The earlier delivery that a held one waits for: the one that held it, which may be due by now, or another one if that
 * is settled.
 */
const heldNow = sql<string | null>`case when q.held_behind is not null then (
  select h.delivery_id from deliveries h where h.webhook = d.webhook and h.event = coalesce(
    (select p.event from deliveries p where p.event = q.held_behind and p.webhook = d.webhook and p.state = 'pending'),
    ${firstWaitingBefore(sql`q.conversation`)}
  )
) end`;

export function deliveriesOf(
  on: Pick<Queryable, 'kysely' | 'dialect'>,
  accountId: string,
  path?: ReturnType<typeof pathOf>,
) {
  return deliveriesThrough(on, accountId, path)
    .innerJoin('events as e', 'e.position', 'd.event')
    .innerJoin('receivers as r', 'r.seq', 'd.webhook')
    .leftJoin('waiting as q', (join) => join.onRef('q.webhook', '=', 'd.webhook').onRef('q.event', '=', 'd.event'))
    .select(['d.event', 'd.webhook', 'd.account', 'd.delivery_id', 'd.state', 'd.undelivered', 'd.attempts', 'd.steps'])
    .select(['d.last_class', 'd.last_message', 'd.last_status', 'd.last_duration_ms', 'd.last_response'])
    .select(['d.last_started_at', 'd.reason', 'd.settled_at', 'r.webhook_id', 'q.held_behind'])
    .select(['e.event_id', 'e.kind', 'e.conversation', 'e.message_id', 'e.is_test', 'e.created_at'])
    .select([sql<number>`coalesce(q.due_at, 0)`.as('due_at'), heldNow.as('held_now')]);
}
