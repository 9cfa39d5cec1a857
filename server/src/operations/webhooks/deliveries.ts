import { sql } from 'kysely';
import { Type } from 'typebox';
import { isoTime } from '../../clock.ts';
import type { Queryable } from '../../db/dialect.ts';
import { Pace } from '../../db/pace.ts';
import { type DeliveryRow, deliveryStates, type WebhookTable } from '../../db/schema.ts';
import { AppError, invalidField, noSuch } from '../../errors.ts';
import { includes } from '../../events/addedFields.ts';
import { messageContent } from '../../events/fields.ts';
import {
  boolean,
  entries,
  integer,
  list,
  named,
  object,
  oneOf,
  optional,
  orNull,
  record,
  string,
  time,
  token,
  unnumbered,
} from '../../invoke/input/fields.ts';
import { ref } from '../../invoke/input/references.ts';
import { parseTime } from '../../invoke/input/validate.ts';
import { type Context, defineOperation, sessionsOf } from '../../invoke/operation.ts';
import { keysOf, pageInput, pageOf, readPage } from '../../invoke/pages.ts';
import { timeRange } from '../../invoke/timeRange.ts';
import type { SteadyClock } from '../../steadyClock.ts';
import { cancelDelivery } from '../../webhooks/endpoints/destinations.ts';
import { unsignedHeaders } from '../../webhooks/lanes/sign.ts';
import { isOfSubscription, subscriptionOf, unsignedHeadersOf } from '../../webhooks/lanes/subscription.ts';
import { includeOf } from '../../webhooks/lanes/webhook.ts';
import { deliveriesThrough, fewPending, idsWithin, pathOf } from '../../webhooks/log/deliveryFilters.ts';
import { findReplayable } from '../../webhooks/log/replay.ts';
import type { Breaker } from '../../webhooks/queue/breaker.ts';
import { firstWaitingBefore } from '../../webhooks/queue/due.ts';
import { isOfChat, redeliver, sessionColumn } from '../../webhooks/queue/queue.ts';
import { visibleBody } from './events.ts';
import { acceptedKinds, Kind } from './eventTypes.ts';
import { Class } from './webhookRecord.ts';

const DeliveryId = string('Id of the delivery (`dlv_…`).', { ...ref('delivery'), maxLength: 100 });
const State = oneOf(
  deliveryStates,
  '`pending`: not settled yet. `failed`: all attempts failed. `expired`: it was held for too long.',
);
const settledStates = ['delivered', 'failed', 'expired', 'cancelled'] as const;
const SettledState = oneOf(settledStates);
const EventTypes = list(
  Type.String({ ...token('lowercase'), maxLength: 50 }),
  'Only these event types, such as `message.*`.',
  { maxItems: 50, ...unnumbered },
);

const Delivery = named('Delivery', {
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
    const { messageId, states, afterTime, beforeTime } = input;
    const kinds = input.events?.length ? acceptedKinds(input.events) : undefined;
    const path = messageId === undefined ? pathOf({ webhookId: input.webhookId, states, kinds }) : undefined;
    let select = deliveriesOf(longReader, ctx.accountId, path);
    const sessionIds = sessionsOf(ctx);
    if (sessionIds !== undefined) select = select.where(sessionColumn('d.conversation'), 'in', sessionIds);
    if (input.webhookId !== undefined) select = select.where('d.webhook_id', '=', input.webhookId);
    if (states?.length) select = select.where('d.state', 'in', states);
    if (kinds !== undefined) select = select.where('d.kind', 'in', kinds);
    if (messageId !== undefined) {
      const ids = JSON.stringify(await aboutMessage(ctx, messageId)); // it may have no deliveries
      select = select.where('d.delivery_id', 'in', longReader.dialect.texts(ids));
    }
    if (input.chatId !== undefined) select = select.where(isOfChat(input.chatId));
    const from = afterTime === undefined ? undefined : parseTime('afterTime', afterTime);
    const to = beforeTime === undefined ? undefined : parseTime('beforeTime', beforeTime);
    if (from !== undefined) select = select.where('d.created_at', '>=', from);
    if (to !== undefined) select = select.where('d.created_at', '<', to);
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
  uses: ['addFields'],
  summary: 'Get a delivery',
  description:
    'Get one delivery with its body, every attempt, and `why`: a sentence that says why it has or has not arrived.',
  input: { deliveryId: DeliveryId },
  output: DeliveryWithAttempts,
  errors: ['not_found'],
  async run(ctx, { deliveryId }) {
    const { kysely } = ctx.database.reader;
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
    const own = isOccurrence ? includes : webhook === undefined ? [] : includeOf(webhook);
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

const MAX_REPLAYED = 100_000;

export const replayDeliveries = defineOperation({
  id: 'webhooks.replay',
  route: 'POST /webhooks/replay',
  permission: 'webhooks:operate',
  scope: 'account',
  effect: 'write',
  tool: true,
  uses: ['engine'],
  summary: 'Replay deliveries',
  description:
    'Send settled deliveries again, with the same `X-Webhook-Id`. Select them by `deliveryIds`, or by `afterTime` and `beforeTime`: failed and expired ones unless you pass `states`. Count them first with `dryRun`. At most 100,000 per call.',
  example: { afterTime: '2026-07-01T12:00:00Z', beforeTime: '2026-07-01T13:00:00Z', dryRun: true },
  input: {
    deliveryIds: optional(list(DeliveryId, 'Ids of deliveries, up to 1,000.', { minItems: 1, maxItems: 1000 })),
    ...timeRange,
    events: optional({ ...EventTypes, minItems: 1 }),
    states: optional(
      list(SettledState, 'Only deliveries in these states.', { minItems: 1, maxItems: 4, ...unnumbered }),
    ),
    webhookId: optional(string('Only deliveries of this webhook (`whk_…`).', { ...ref('webhook'), maxLength: 100 })),
    dryRun: optional(boolean('Only counts; sends nothing.', { default: false })),
    perSecond: optional(
      integer('Deliveries per second; 100 by default.', { minimum: 1, maximum: 10_000, default: 100 }),
    ),
  },
  output: object({
    matched: integer('Number of settled deliveries that match.'),
    replayed: integer('Number of deliveries that are sent again; 0 on a dry run.'),
    lastDueAt: orNull(time(), 'When the last of them is due; null if none is sent.'),
    notFound: optional(
      list(
        Type.String(),
        'Only with `deliveryIds`: those not selected because they are unknown, still pending, tests, of a deleted webhook, or excluded by another filter.',
      ),
    ),
  }),
  errors: ['not_found'],
  async run(ctx, input) {
    if (input.deliveryIds === undefined && (input.afterTime === undefined || input.beforeTime === undefined)) {
      throw invalidField('deliveryIds', 'is required unless both `afterTime` and `beforeTime` are given', 'required');
    }
    // Deliveries of a removed webhook cannot be replayed.
    if (input.webhookId !== undefined && !(await webhookIds(ctx)).includes(input.webhookId))
      throw noSuch('webhook', input.webhookId, 'webhookId');
    const ids = await findReplayable(ctx.database.longReader, ctx.steady, replayable(ctx, input), MAX_REPLAYED);
    const start = ctx.steady.now();
    const stepMs = 1000 / (input.perSecond ?? 100);
    const dueAt = (index: number) => Math.round(start + index * stepMs);
    await new Pace().inSlices(ctx.database.commit, input.dryRun ? [] : ids, async (tx, slice, from) => {
      const some = slice.map((id, index) => ({ id, dueAt: dueAt(from + index) }));
      await redeliver(tx, ctx.accountId, some);
      return some.length;
    });
    // Not of a time range: a set of its 100,000 ids would take 50 ms.
    const found = new Set(input.deliveryIds && ids);
    const replayed = input.dryRun ? 0 : ids.length;
    for (const webhookId of replayed > 0 ? await webhookIds(ctx) : []) ctx.engine.wake(webhookId);
    return {
      matched: ids.length,
      replayed,
      lastDueAt: replayed === 0 ? null : isoTime(ctx.steady.toWall(dueAt(replayed - 1))),
      ...(input.deliveryIds && { notFound: [...new Set(input.deliveryIds)].filter((id) => !found.has(id)) }),
    };
  },
});

type ReplayInput = Parameters<typeof replayDeliveries.run>[1];

function replayable(ctx: Context, { deliveryIds, states, events, webhookId, afterTime, beforeTime }: ReplayInput) {
  return {
    accountId: ctx.accountId,
    states: states ?? (deliveryIds === undefined ? (['failed', 'expired'] as const) : settledStates),
    deliveryIds,
    kinds: events && acceptedKinds(events),
    webhookId,
    from: afterTime === undefined ? undefined : parseTime('afterTime', afterTime),
    to: beforeTime === undefined ? undefined : parseTime('beforeTime', beforeTime),
  };
}

async function webhookIds(ctx: Context): Promise<string[]> {
  const rows = await ctx.database.reader.kysely
    .selectFrom('webhooks')
    .select('webhook_id')
    .where('account_id', '=', ctx.accountId)
    .execute();
  return rows.map(({ webhook_id }) => webhook_id);
}

/** The body for a subscriber, without its cursor and with nothing cut. */
function occurrenceIn(row: Pick<DeliveryRow, 'event_id' | 'kind' | 'created_at'>, body: string): string {
  const { data } = JSON.parse(body) as { data: object };
  return JSON.stringify({ eventId: row.event_id, name: row.kind, timestamp: isoTime(row.created_at), data });
}

/**
 * The earlier delivery that a held one waits for: the one that held it, which may be due by now, or another one if that is
 * settled.
 */
const heldNow = sql<string | null>`case when d.held_behind is not null then coalesce(
  (select h.delivery_id from deliveries h
    where h.account_id = d.account_id and h.delivery_id = d.held_behind and h.state = 'pending'),
  ${firstWaitingBefore}
) end`;

const deliveries = (ctx: Context) => deliveriesOf(ctx.database.longReader, ctx.accountId);

function deliveriesOf(on: Pick<Queryable, 'kysely' | 'dialect'>, accountId: string, path?: ReturnType<typeof pathOf>) {
  return deliveriesThrough(on, accountId, path)
    .innerJoin('events as e', (join) =>
      join.onRef('e.account_id', '=', 'd.account_id').onRef('e.event_id', '=', 'd.event_id'),
    )
    .selectAll('d')
    .select('e.message_id')
    .select(heldNow.as('held_now'));
}

/** Returns the ids of the deliveries of a message's events. */
async function aboutMessage({ database, accountId }: Context, messageId: string): Promise<string[]> {
  const { kysely } = database.longReader;
  const events = await kysely
    .selectFrom('events')
    .select('event_id')
    .where('account_id', '=', accountId)
    .where('message_id', '=', messageId)
    .execute();
  const path = {
    index: 'deliveries_event',
    where: sql<boolean>`d.event_id in ${database.longReader.dialect.texts(JSON.stringify(events.map(({ event_id }) => event_id)))}`,
  };
  const rows = await deliveriesThrough(database.longReader, accountId, path).select('d.delivery_id').execute();
  return rows.map(({ delivery_id }) => delivery_id);
}

/** Returns the attempts in order. The last one is in the row itself, unless an earlier version stored it. */
async function attemptsOf(kysely: Context['database']['reader']['kysely'], row: DeliveryRow) {
  const stored = await kysely
    .selectFrom('attempts')
    .select(['number', 'class', 'status', 'duration_ms', 'message', 'response', 'started_at'])
    .where('account_id', '=', row.account_id)
    .where('delivery_id', '=', row.delivery_id)
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

/** A delivery with the message that its event is about, and the earlier delivery for which it waits. */
type ShownRow = DeliveryRow & { readonly message_id: string | null; readonly held_now: string | null };

function toDelivery(row: ShownRow, steady: SteadyClock) {
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
 * Returns when the next attempt is due, as a time of day. A delivery is due from its storage on if it never waited, or if
 * the earlier ones that held it are settled: it goes out after the few that were released before it.
 */
const dueAt = (row: DeliveryRow, steady: SteadyClock) =>
  row.due_at === 0 || row.held_behind !== null ? row.created_at : steady.toWall(row.due_at);

/** Explains in one sentence why a delivery has or has not arrived. */
function explain(row: ShownRow, webhook: WebhookTable | undefined, steady: SteadyClock): string {
  const settledAt = isoTime(row.settled_at);
  const last = row.reason ?? row.last_message ?? 'no attempt has been made';
  switch (row.state) {
    case 'delivered':
      return `It was delivered at ${settledAt}, on attempt ${row.attempts}.`;
    case 'failed':
      return row.attempts === 1
        ? `Its only attempt failed: ${last}.`
        : `All ${row.attempts} attempts failed; the last one: ${last}.`;
    case 'expired':
      return `It expired at ${settledAt}: ${last}.`;
    case 'cancelled':
      return `It was cancelled at ${settledAt}: ${last}.`;
    case 'pending':
      return explainPending(row, webhook, steady);
  }
}

function explainPending(row: ShownRow, webhook: WebhookTable | undefined, steady: SteadyClock): string {
  const now = steady.now();
  const shown = (at: number) => isoTime(steady.toWall(at));
  if (webhook === undefined) return 'The webhook was removed.';
  if (webhook.enabled === 0) return 'The webhook is disabled; the delivery goes out once you enable it.';
  if (webhook.paused === 1 && webhook.paused_reason !== null) return `The webhook is paused. ${webhook.paused_reason}`;
  if (webhook.paused === 1) return 'The webhook is paused; the delivery goes out once you resume it.';
  const { state, since, outageSince, lastError, openUntil, pausedUntil }: Breaker = JSON.parse(webhook.breaker);
  const error = lastError === null ? '' : `: ${lastError.message}`;
  if (state === 'open') {
    const next =
      openUntil !== null && openUntil > now ? `the next probe goes out at ${shown(openUntil)}` : 'a probe goes out now';
    return `The circuit breaker holds this delivery and has been open since ${shown(outageSince ?? since)}${error}; ${next}.`;
  }
  if (state === 'half_open') return `The circuit breaker is half open, and this delivery waits for its probes${error}.`;
  if (pausedUntil !== null && pausedUntil > now)
    return `The receiver throttled deliveries, so they are paused until ${shown(pausedUntil)}.`;
  if (row.held_now !== null)
    return `It waits for the earlier delivery ${row.held_now} of its chat, because the webhook has \`ordering: "strict"\`.`;
  if (row.held_behind !== null) return 'The earlier deliveries of its chat are settled; it is about to be sent.';
  if (row.due_at > now && (row.attempts === 0 || row.last_class === 'ok'))
    return `It is being replayed, and is due at ${shown(row.due_at)}.`;
  if (row.due_at > now)
    return `Attempt ${row.attempts} failed: ${row.last_message}; the next one is due at ${shown(row.due_at)}.`;
  return row.attempts === 0 ? 'It is about to be sent for the first time.' : 'Its next attempt is about to be made.';
}
