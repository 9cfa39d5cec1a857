import { Type } from 'typebox';
import { isoTime } from '../../clock.ts';
import { deliveryStates } from '../../db/tables/webhooks.ts';
import { AppError, noSuch } from '../../errors.ts';
import { groupsIn, includes } from '../../events/addedFields.ts';
import { messageContent } from '../../events/fields.ts';
import {
  entries,
  integer,
  list,
  named,
  optional,
  orNull,
  record,
  string,
  time,
  unnumbered,
} from '../../invoke/input/fields.ts';
import { ref } from '../../invoke/input/references.ts';
import { parseTime } from '../../invoke/input/validate.ts';
import { type Context, defineOperation, sessionsOf } from '../../invoke/operation.ts';
import { keysOf, pageInput, pageOf, readPage } from '../../invoke/pages.ts';
import { timeRange } from '../../invoke/timeRange.ts';
import { cancelDelivery } from '../../webhooks/endpoints/destinations.ts';
import { unsignedHeaders } from '../../webhooks/lanes/sign.ts';
import { isOfSubscription, subscriptionOf, unsignedHeadersOf } from '../../webhooks/lanes/subscription.ts';
import { includeOf } from '../../webhooks/lanes/webhook.ts';
import { deliveriesThrough, fewPending, idsWithin, pathOf } from '../../webhooks/log/deliveryFilters.ts';
import { eventsAbout } from '../../webhooks/log/places.ts';
import { isOfChat, sessionColumn } from '../../webhooks/queue/queue.ts';
import { explain } from './deliveryExplanation.ts';
import { Delivery, DeliveryId, deliveriesOf, EventTypes, type ShownRow, State, toDelivery } from './deliveryRecord.ts';
import { visibleBody } from './events.ts';
import { acceptedKinds } from './eventTypes.ts';
import { Class } from './webhookRecord.ts';

const DeliveryWithAttempts = named('DeliveryWithAttempts', {
  ...Delivery.properties,
  why: string('Why the delivery has or has not arrived, as a sentence.'),
  body: string(
    'Body as the next attempt would send it. With only `webhooks:metadata`, the content of the message is left out.',
  ),
  attemptLog: entries('Every attempt, oldest first.', {
    number: integer('Number of the attempt, from 1.'),
    headers: record(
      Type.String(),
      'Headers of the request, without the signatures, which are not stored. `webhook-id` and `webhook-timestamp` are present if the webhook has a secret now.',
    ),
    class: Class,
    status: orNull(Type.Integer(), 'HTTP status of the response; null if there was none.'),
    durationMs: integer('Duration of the attempt in milliseconds.'),
    message: string('Outcome as a sentence.'),
    response: {
      ...orNull(Type.String(), 'First 1 KiB of the response, which can repeat what was sent; null if there was none.'),
      ...messageContent,
    },
    at: time('When the attempt started.'),
  }),
});

export const listDeliveries = defineOperation({
  id: 'webhooks.list_deliveries',
  route: 'GET /webhooks/deliveries',
  permission: 'webhooks:metadata',
  scope: 'filtered',
  effect: 'read',
  tool: true,
  thirdPartyText: true,
  uses: ['engine'],
  summary: 'List deliveries',
  description:
    'List webhook deliveries with their state, newest first. Use it to find events that did not arrive: filter by `states`, `messageId` or `chatId`. `webhooks.get_delivery` then says why.',
  input: {
    webhookId: optional(string('Only deliveries of this webhook (`whk_…`).', { ...ref('webhook'), maxLength: 100 })),
    states: optional(
      list(State, 'Only deliveries in these states.', { maxItems: deliveryStates.length, ...unnumbered }),
    ),
    events: optional(EventTypes),
    messageId: optional(string('Only events about this message (`msg_…`).', { ...ref('message'), maxLength: 100 })),
    chatId: optional(
      string('Only events of this chat: phone number or group id (`grp_…`).', { ...ref('chat'), maxLength: 200 }),
    ),
    ...timeRange,
    ...pageInput,
  },
  output: pageOf(Delivery),
  errors: ['not_found'],
  async run(ctx, input) {
    const { longReader } = ctx.database;
    await ctx.engine.flush(ctx.accountId);
    const { messageId, states, afterTime, beforeTime } = input;
    const kinds = input.events?.length ? acceptedKinds(input.events) : undefined;
    const path = pathOf({ webhookId: input.webhookId, states, kinds });
    let select = deliveriesOf(longReader, ctx.accountId, messageId === undefined ? path : undefined);
    const sessionIds = sessionsOf(ctx);
    if (sessionIds !== undefined) select = select.where(sessionColumn('e.conversation'), 'in', sessionIds);
    if (input.webhookId !== undefined) select = select.where('r.webhook_id', '=', input.webhookId);
    if (states?.length) select = select.where('d.state', 'in', states);
    if (kinds !== undefined) select = select.where('e.kind', 'in', kinds);
    if (messageId !== undefined) {
      const ids = JSON.stringify(await aboutMessage(ctx, messageId)); // it may have no deliveries
      select = select.where('d.delivery_id', 'in', longReader.dialect.texts(ids));
    }
    if (input.chatId !== undefined) select = select.where(isOfChat(input.chatId));
    const from = afterTime === undefined ? undefined : parseTime('afterTime', afterTime);
    const to = beforeTime === undefined ? undefined : parseTime('beforeTime', beforeTime);
    if (from !== undefined) select = select.where('e.created_at', '>=', from);
    if (to !== undefined) select = select.where('e.created_at', '<', to);
    const isPending = states?.length === 1 && states[0] === 'pending';
    const few = isPending ? await fewPending(longReader, ctx.accountId) : undefined;
    if (few !== undefined) select = select.where('d.delivery_id', 'in', longReader.dialect.texts(JSON.stringify(few)));
    const filters = [sessionIds, input.webhookId, states, kinds, input.chatId, afterTime, beforeTime];
    const passed = deliveriesThrough(longReader, ctx.accountId, path);
    const isScan = few === undefined && messageId === undefined && filters.some((filter) => filter !== undefined);

    const show = (rows: readonly ShownRow[]) => rows.map((row) => toDelivery(row, ctx.steady));
    return readPage(
      'deliveries',
      select,
      'delivery_id',
      input,
      show,
      'desc',
      isScan ? keysOf(passed, 'd.delivery_id') : undefined,
      idsWithin(ctx.steady, { from, to }),
    );
  },
});

export const getDelivery = defineOperation({
  id: 'webhooks.get_delivery',
  route: 'GET /webhooks/deliveries/{deliveryId}',
  permission: 'webhooks:read',
  scope: 'deliveryId',
  messageContent: 'webhooks',
  effect: 'read',
  tool: true,
  thirdPartyText: true,
  longField: 'body',
  uses: ['addFields', 'engine'],
  summary: 'Get a delivery',
  description:
    'Get one delivery with its body, every attempt, and `why`: a sentence that says why it has or has not arrived.',
  input: { deliveryId: DeliveryId },
  output: DeliveryWithAttempts,
  errors: ['not_found'],
  async run(ctx, { deliveryId }) {
    const { kysely } = ctx.database.reader;
    await ctx.engine.flush(ctx.accountId);
    const row = await deliveries(ctx)
      .select(['e.body', 'e.position as sequence'])
      .where('d.delivery_id', '=', deliveryId)
      .executeTakeFirst();
    if (row === undefined) throw noSuch('delivery', deliveryId);
    const attempts = await attemptsOf(kysely, row);
    const webhook = await kysely
      .selectFrom('webhooks')
      .selectAll()
      .where('account_id', '=', ctx.accountId)
      .where('webhook_id', '=', row.webhook_id)
      .executeTakeFirst();
    const isOccurrence = isOfSubscription(row.webhook_id);
    const own = isOccurrence ? includes : webhook === undefined ? [] : groupsIn(includeOf(webhook));
    const include = row.is_test === 1 ? [] : own;
    const [{ body } = row] = await ctx.addFields(ctx.accountId, [row], include);
    const subscription = webhook && subscriptionOf(webhook);
    const shown = visibleBody(ctx, 'webhooks', row.kind, body);
    return {
      ...toDelivery(row, ctx.steady),
      why: [explain(row, webhook, ctx.steady), isOccurrence && subscription === undefined && SUBSCRIPTION_ENDED]
        .filter(Boolean)
        .join(' '),
      body: isOccurrence ? occurrenceIn(row, shown) : shown,
      attemptLog: attempts.map((attempt) => ({
        number: attempt.number,
        headers: !isOccurrence
          ? unsignedHeaders(
              {
                kind: row.kind,
                eventId: row.event_id,
                attempt: attempt.number,
                isTest: row.is_test === 1,
                sequence: row.is_test === 1 ? 0 : row.sequence,
                now: attempt.started_at,
              },
              typeof webhook?.secret === 'string',
            )
          : unsignedHeadersOf({ id: row.event_id, subscriptionId: subscription?.id, now: attempt.started_at }),
        class: attempt.class,
        status: attempt.status,
        durationMs: attempt.duration_ms,
        message: attempt.message,
        response: attempt.response,
        at: isoTime(attempt.started_at),
      })),
    };
  },
});

const SUBSCRIPTION_ENDED =
  'Its event subscription has ended, so the `x-mcp-subscription-id` of its requests is no longer known.';

export const cancelPendingDelivery = defineOperation({
  id: 'webhooks.cancel_delivery',
  route: 'POST /webhooks/deliveries/{deliveryId}/cancel',
  permission: 'webhooks:operate',
  scope: 'deliveryId',
  effect: 'destructive',
  uses: ['engine'],
  summary: 'Cancel a delivery',
  description:
    'Cancel a pending delivery: it is not attempted again, and stays in the log. Use it to skip an event that the receiver cannot process, which at a webhook with `ordering: "strict"` holds back the later events of its chat. An attempt in flight may still deliver it. `webhooks.replay` sends it again.',
  input: { deliveryId: DeliveryId },
  output: Delivery,
  errors: ['not_found', 'delivery_settled'],
  async run(ctx, { deliveryId }) {
    return ctx.database.commit(async (tx) => {
      const find = () => deliveriesOf(tx, ctx.accountId).where('d.delivery_id', '=', deliveryId).executeTakeFirst();
      const row = await find();
      if (row === undefined) throw noSuch('delivery', deliveryId);
      if (!(await cancelDelivery(ctx, tx, row)))
        throw new AppError('delivery_settled', `The delivery ${deliveryId} is ${row.state}`);
      return toDelivery((await find()) ?? row, ctx.steady);
    }, ctx.accountId);
  },
});

/** The body for a subscriber, without its cursor and with nothing cut. */
function occurrenceIn(row: Pick<ShownRow, 'event_id' | 'kind' | 'created_at'>, body: string): string {
  const { data } = JSON.parse(body) as { data: object };
  return JSON.stringify({ eventId: row.event_id, name: row.kind, timestamp: isoTime(row.created_at), data });
}

const deliveries = (ctx: Context) => deliveriesOf(ctx.database.longReader, ctx.accountId);

/** Returns the ids of the deliveries of a message's events. */
async function aboutMessage({ database, accountId }: Context, messageId: string): Promise<string[]> {
  const { longReader } = database;
  const events = await eventsAbout(longReader, accountId, messageId);
  const rows = await deliveriesThrough(longReader, accountId)
    .select('d.delivery_id')
    .where('d.event', 'in', longReader.dialect.integers(JSON.stringify(events)))
    .execute();
  return rows.map(({ delivery_id }) => delivery_id);
}

/** Returns the attempts in order. The last one is in the row itself, unless an earlier version stored it. */
async function attemptsOf(kysely: Context['database']['reader']['kysely'], row: ShownRow) {
  const stored = await kysely
    .selectFrom('attempts')
    .select(['number', 'class', 'status', 'duration_ms', 'message', 'response', 'started_at'])
    .where('event', '=', row.event)
    .where('webhook', '=', row.webhook)
    .orderBy('number')
    .execute();
  if (row.last_started_at === null) return stored;
  const last = {
    number: row.attempts,
    class: row.last_class ?? 'unknown_outcome',
    status: row.last_status,
    duration_ms: row.last_duration_ms ?? 0,
    message: row.last_message ?? '',
    response: row.last_response,
    started_at: row.last_started_at,
  };
  // A later attempt may have replaced it since the row was read.
  return [...stored.filter(({ number }) => number < row.attempts), last];
}
