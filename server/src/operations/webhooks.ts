import { Type } from 'typebox';
import { isoTime } from '../clock.ts';
import type { Tx } from '../db/commit.ts';
import type { WebhookTable } from '../db/schema.ts';
import { AppError, type FieldError, invalidField } from '../errors.ts';
import { eventKinds, isEventKind, sampleEvent } from '../events.ts';
import { type Breaker, newBreaker, onTestSuccess, reset, thresholds, windowTotals } from '../webhooks/breaker.ts';
import { type OutcomeClass, outcomeClasses } from '../webhooks/outcome.ts';
import { readFigures, readHeld, storeBreaker, toWebhook, type Webhook } from '../webhooks/queue.ts';
import { deliveryHeaders } from '../webhooks/sign.ts';
import { add, type Figures, minuteOf, noFigures, percentile } from '../webhooks/stats.ts';
import { checkTarget } from '../webhooks/target.ts';
import { type Context, defineOperation } from './operation.ts';

const NullableTime = Type.Union([Type.String({ format: 'date-time' }), Type.Null()]);
const NullableText = Type.Union([Type.String(), Type.Null()]);
const Count = Type.Integer({ minimum: 0 });
const Kind = Type.Enum([...eventKinds]);
const Class = Type.Enum(Object.keys(outcomeClasses) as OutcomeClass[]);
const State = Type.Enum(['closed', 'open', 'half_open']);
const none = Type.Object({}, { additionalProperties: false });

const WebhookConfiguration = Type.Object({
  webhookUrl: Type.Union([Type.String(), Type.Null()], { description: 'Null while no webhook is set.' }),
  events: Type.Array(Kind),
  hasSecret: Type.Boolean({ description: 'Whether a secret is set. The secret itself is never shown.' }),
  enabled: Type.Boolean(),
  createdAt: NullableTime,
  updatedAt: NullableTime,
});

/** Source: `POST /webhooks/set` of the contract. */
export const setWebhook = defineOperation({
  id: 'webhooks.set',
  method: 'POST',
  path: '/webhooks/set',
  credential: 'any',
  permission: 'webhooks:write',
  effect: 'destructive',
  tool: true,
  summary: 'Set the webhook',
  description:
    'Replaces URL and kinds. A `secret` that is left out stays as it is, `null` removes it. A new URL closes the circuit breaker; deliveries of kinds that are no longer wanted are cancelled.',
  input: Type.Object(
    {
      webhookUrl: Type.String({ minLength: 1, maxLength: 2048, description: 'Absolute http or https URL.' }),
      events: Type.Array(Type.String(), {
        minItems: 1,
        maxItems: 50,
        description: `Kinds to receive: ${eventKinds.join(', ')}.`,
      }),
      secret: Type.Optional(
        Type.Union([Type.String({ minLength: 1, maxLength: 512 }), Type.Null()], {
          description: 'Signs deliveries. Stored, never returned.',
        }),
      ),
    },
    { additionalProperties: false },
  ),
  output: WebhookConfiguration,
  errors: [],
  example: {
    webhookUrl: 'https://example.com/hooks',
    events: ['message.incoming', 'message.sent'],
    secret: 'a long random text',
  },
  async run(ctx, input) {
    const events = wantedKinds(input.events);
    const verdict = await checkTarget(input.webhookUrl, ctx.webhooks.targets);
    if (!verdict.ok) throw invalidField('webhookUrl', verdict.message, verdict.rule);
    const url = verdict.url.href;
    const row = await ctx.database.commit(async (tx) => {
      const present = await findDefault(tx, ctx.accountId);
      return present === undefined
        ? insertDefault(ctx, tx, url, events, input.secret ?? null)
        : changeDefault(ctx, tx, present, url, events, input.secret);
    }, ctx.accountId);
    ctx.webhooks.engine.reload(row.webhook_id);
    return toConfiguration(row);
  },
});

/** Source: `GET /webhooks` of the contract. */
export const getWebhook = defineOperation({
  id: 'webhooks.get',
  method: 'GET',
  path: '/webhooks',
  credential: 'any',
  permission: 'webhooks:read',
  effect: 'read',
  tool: true,
  summary: 'Show the webhook',
  input: none,
  output: WebhookConfiguration,
  errors: [],
  run: async (ctx) => toConfiguration(await findDefault(ctx.database.reader, ctx.accountId)),
});

/** Source: `GET /webhooks/test` of the contract: it needs no session. */
export const testWebhook = defineOperation({
  id: 'webhooks.test',
  method: 'GET',
  path: '/webhooks/test',
  credential: 'any',
  permission: 'webhooks:write',
  effect: 'write',
  tool: true,
  summary: 'Send a test event now',
  description:
    'One real, signed request, whatever the state of the breaker and outside the queue, with a sample in the shape of the kind, `data.test` true and the header `X-Webhook-Test: true`. Kept in the delivery log, out of the statistics.',
  input: Type.Object(
    {
      event: Type.Optional(
        Type.String({ maxLength: 50, description: 'Kind of the sample; the first subscribed one unless given.' }),
      ),
    },
    { additionalProperties: false },
  ),
  output: Type.Object({
    delivered: Type.Boolean(),
    class: Class,
    status: Type.Union([Type.Integer(), Type.Null()], { description: 'HTTP status of the answer.' }),
    message: Type.String({ description: 'What happened, in one sentence.' }),
    latencyMs: Type.Integer(),
    deliveryId: Type.String({ description: 'Its entry in the delivery log.' }),
    request: Type.Object({
      url: Type.String(),
      headers: Type.Record(Type.String(), Type.String(), { description: 'As sent, signature included.' }),
      body: Type.String({ description: 'As sent.' }),
    }),
    response: Type.Union([Type.String(), Type.Null()], { description: 'Up to 1 KiB of the answer.' }),
  }),
  errors: ['webhook_not_set'],
  noStore: true,
  async run(ctx, input) {
    const row = await findDefault(ctx.database.reader, ctx.accountId);
    if (row === undefined) throw new AppError('webhook_not_set');
    return sendTest(ctx, toWebhook(row), input.event);
  },
});

/** Source: `GET /webhooks/stats` of the contract. */
export const webhookStats = defineOperation({
  id: 'webhooks.stats',
  method: 'GET',
  path: '/webhooks/stats',
  credential: 'any',
  permission: 'webhooks:read',
  effect: 'read',
  tool: true,
  summary: 'Show the statistics of the webhook',
  description: 'Over 1 h, 24 h and 7 d, and minute by minute over the last hour. Tests are not counted.',
  input: none,
  output: Type.Object({
    pending: Count,
    held: Type.Integer({ minimum: 0, description: 'Of the pending ones, those that wait behind an open breaker.' }),
    oldestPendingAgeMs: Type.Union([Type.Integer(), Type.Null()]),
    windows: Type.Object({ '1h': Window(), '24h': Window(), '7d': Window() }),
    series: Type.Array(
      Type.Object({
        minute: Type.String({ format: 'date-time' }),
        attempts: Count,
        delivered: Count,
        failedAttempts: Count,
        p95Ms: Type.Union([Type.Integer(), Type.Null()]),
      }),
      { description: 'Minutes of the last hour in which something happened, oldest first.' },
    ),
  }),
  errors: [],
  run: async (ctx) => statsOf(ctx, await findDefault(ctx.database.reader, ctx.accountId)),
});

function Window() {
  return Type.Object({
    attempts: Count,
    successRate: Type.Union([Type.Number({ minimum: 0, maximum: 1 }), Type.Null()], {
      description: 'Null without attempts.',
    }),
    latencyMs: Type.Object({
      p50: Type.Union([Type.Integer(), Type.Null()]),
      p95: Type.Union([Type.Integer(), Type.Null()]),
      p99: Type.Union([Type.Integer(), Type.Null()]),
    }),
    byClass: Type.Record(Type.String(), Count, { description: 'Attempts by outcome class.' }),
    byState: Type.Record(Type.String(), Count, { description: 'Deliveries by the final state they reached.' }),
  });
}

/** Source: `GET /webhooks/circuit-breaker` of the contract. */
export const getCircuitBreaker = defineOperation({
  id: 'webhooks.get_circuit_breaker',
  method: 'GET',
  path: '/webhooks/circuit-breaker',
  credential: 'any',
  permission: 'webhooks:read',
  effect: 'read',
  tool: true,
  summary: 'Show the circuit breaker of the webhook',
  input: none,
  output: Type.Object({
    state: State,
    since: NullableTime,
    reason: NullableText,
    lastError: Type.Union([
      Type.Object({
        class: Class,
        status: Type.Union([Type.Integer(), Type.Null()]),
        message: Type.String(),
        at: Type.String({ format: 'date-time' }),
      }),
      Type.Null(),
    ]),
    failuresInARow: Count,
    window: Type.Object({ seconds: Count, attempts: Count, failures: Count }),
    openUntil: NullableTime,
    nextProbeAt: Type.Union([Type.String({ format: 'date-time' }), Type.Null()], {
      description: 'When the next attempt may go through an open breaker; null when nothing is held.',
    }),
    held: Type.Object({ count: Count, oldestAt: NullableTime }),
    thresholds: Type.Object({
      failuresInARow: Count,
      windowSeconds: Count,
      windowAttempts: Count,
      windowFailureRate: Type.Number(),
      successesToClose: Count,
      openSeconds: Count,
      longestOpenSeconds: Count,
    }),
    transitions: Type.Array(
      Type.Object({ at: Type.String({ format: 'date-time' }), from: State, to: State, reason: Type.String() }),
      { description: 'The last changes of state, newest first.' },
    ),
  }),
  errors: [],
  run: async (ctx) => breakerOf(ctx, await findDefault(ctx.database.reader, ctx.accountId)),
});

/** Source: `POST /webhooks/circuit-breaker/reset` of the contract. */
export const resetCircuitBreaker = defineOperation({
  id: 'webhooks.reset_circuit_breaker',
  method: 'POST',
  path: '/webhooks/circuit-breaker/reset',
  credential: 'any',
  permission: 'webhooks:write',
  effect: 'write',
  tool: true,
  summary: 'Close the circuit breaker',
  description: 'What is held goes out in order, slowly at first. Doing it again changes nothing.',
  input: none,
  output: Type.Object({
    previousState: State,
    state: State,
    released: Type.Integer({ minimum: 0, description: 'Deliveries that were held and go out now.' }),
  }),
  errors: [],
  async run(ctx) {
    const outcome = await ctx.database.commit(async (tx) => {
      const row = await findDefault(tx, ctx.accountId);
      if (row === undefined) return undefined;
      const webhook = toWebhook(row);
      const { breaker } = webhook;
      const { count } = await readHeld(tx, webhook.webhookId);
      await storeBreaker(tx, webhook.webhookId, reset(breaker, 'reset', ctx.clock.now()), breaker.generation);
      if (breaker.state !== 'closed') await dueNow(ctx, tx, webhook.webhookId);
      return {
        webhookId: webhook.webhookId,
        previousState: breaker.state,
        released: breaker.state === 'closed' ? 0 : count,
      };
    }, ctx.accountId);
    if (outcome === undefined) return { previousState: 'closed' as const, state: 'closed' as const, released: 0 };
    ctx.webhooks.engine.reload(outcome.webhookId);
    return { previousState: outcome.previousState, state: 'closed' as const, released: outcome.released };
  },
});

function wantedKinds(events: readonly string[]): string[] {
  const unknown = events.flatMap((kind, index): FieldError[] =>
    isEventKind(kind)
      ? []
      : [
          {
            field: `events.${index}`,
            code: 'unknown_kind',
            message: `"${kind}" is not a kind of event; the kinds are ${eventKinds.join(', ')}`,
          },
        ],
  );
  if (unknown.length > 0) throw new AppError('validation_failed', unknown[0]?.message, { fields: unknown });
  // In the table's order, each once.
  return eventKinds.filter((kind) => events.includes(kind));
}

async function findDefault({ kysely }: Pick<Tx, 'kysely'>, accountId: string): Promise<WebhookTable | undefined> {
  return kysely
    .selectFrom('webhooks')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('is_default', '=', 1)
    .executeTakeFirst();
}

const DEFAULT_MAX_IN_FLIGHT = 8;

async function insertDefault(ctx: Context, { kysely }: Tx, url: string, events: string[], secret: string | null) {
  const now = ctx.clock.now();
  const breaker = newBreaker(now);
  return kysely
    .insertInto('webhooks')
    .values({
      account_id: ctx.accountId,
      webhook_id: ctx.newId('whk'),
      is_default: 1,
      url,
      events: JSON.stringify(events),
      secret,
      previous_secret: null,
      previous_secret_until: null,
      enabled: 1,
      max_in_flight: DEFAULT_MAX_IN_FLIGHT,
      breaker_state: breaker.state,
      breaker_generation: breaker.generation,
      breaker: JSON.stringify(breaker),
      created_at: now,
      updated_at: now,
      lease_owner: null,
      lease_expires_at: null,
      lease_generation: 0,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
}

async function changeDefault(
  ctx: Context,
  tx: Tx,
  present: WebhookTable,
  url: string,
  events: string[],
  secret: string | null | undefined,
): Promise<WebhookTable> {
  const { webhook_id: webhookId } = present;
  const now = ctx.clock.now();
  const changed = await tx.kysely
    .updateTable('webhooks')
    .set({
      url,
      events: JSON.stringify(events),
      enabled: 1,
      updated_at: now,
      ...(secret !== undefined && { secret, previous_secret: null, previous_secret_until: null }),
    })
    .where('account_id', '=', ctx.accountId)
    .where('webhook_id', '=', webhookId)
    .returningAll()
    .executeTakeFirstOrThrow();
  if (url !== present.url) {
    const breaker: Breaker = JSON.parse(present.breaker);
    await storeBreaker(tx, webhookId, reset(breaker, 'new_url', now), breaker.generation);
    await dueNow(ctx, tx, webhookId);
  }
  await tx.kysely
    .updateTable('deliveries')
    .set({ state: 'cancelled', settled_at: now, last_message: 'The webhook no longer wants events of this kind' })
    .where('webhook_id', '=', webhookId)
    .where('state', '=', 'pending')
    .where('kind', 'not in', events)
    .execute();
  return changed;
}

/** What waits for a retry goes out with the rest, in the order in which it happened. */
async function dueNow({ clock }: Context, { kysely }: Tx, webhookId: string): Promise<void> {
  await kysely
    .updateTable('deliveries')
    .set((eb) => ({ due_at: eb.ref('created_at') }))
    .where('webhook_id', '=', webhookId)
    .where('state', '=', 'pending')
    .where('due_at', '>', clock.now())
    .execute();
}

function toConfiguration(row: WebhookTable | undefined) {
  if (row === undefined) {
    return { webhookUrl: null, events: [], hasSecret: false, enabled: false, createdAt: null, updatedAt: null };
  }
  return {
    webhookUrl: row.url,
    events: (JSON.parse(row.events) as string[]).filter(isEventKind),
    hasSecret: row.secret !== null,
    enabled: row.enabled === 1,
    createdAt: isoTime(row.created_at),
    updatedAt: isoTime(row.updated_at),
  };
}

async function sendTest(ctx: Context, webhook: Webhook, wanted: string | undefined) {
  const kind = wanted ?? webhook.events[0] ?? '';
  if (!isEventKind(kind))
    throw invalidField('event', `"${kind}" is not a kind of event; the kinds are ${eventKinds.join(', ')}`);
  const now = ctx.clock.now();
  const eventId = ctx.newId('evt');
  const deliveryId = ctx.newId('dlv');
  const body = JSON.stringify(sampleEvent(kind, isoTime(now)));
  const { url, secret, webhookId, accountId } = webhook;
  const previousSecret = (webhook.previousSecretUntil ?? 0) > now ? webhook.previousSecret : null;
  const headers = deliveryHeaders({ kind, eventId, attempt: 1, body, secret, previousSecret, isTest: true, now });
  const outcome = await ctx.webhooks.deliver.attempt({ url, headers, body });
  const delivered = outcome.class === 'ok';

  await ctx.database.commit(async ({ kysely, ...tx }) => {
    const shared = {
      account_id: accountId,
      event_id: eventId,
      kind,
      conversation: 'test',
      is_test: 1,
      created_at: now,
    };
    await kysely
      .insertInto('events')
      .values({ ...shared, message_id: null, body })
      .execute();
    await kysely
      .insertInto('deliveries')
      .values({
        ...shared,
        delivery_id: deliveryId,
        webhook_id: webhookId,
        state: delivered ? 'delivered' : 'failed',
        due_at: now,
        attempts: 1,
        steps: 0,
        last_class: outcome.class,
        last_message: outcome.message,
        settled_at: ctx.clock.now(),
      })
      .execute();
    await kysely
      .insertInto('attempts')
      .values({
        account_id: accountId,
        delivery_id: deliveryId,
        number: 1,
        webhook_id: webhookId,
        class: outcome.class,
        status: outcome.status,
        duration_ms: outcome.durationMs,
        message: outcome.message,
        response: outcome.response,
        started_at: now,
      })
      .execute();
    const row = await findDefault({ kysely }, accountId);
    if (!delivered || row === undefined || row.url !== url) return;
    const breaker: Breaker = JSON.parse(row.breaker);
    const next = onTestSuccess(breaker, ctx.clock.now());
    if (next !== breaker) await storeBreaker({ kysely, ...tx }, webhookId, next, breaker.generation);
  }, accountId);
  if (delivered && webhook.breaker.state === 'open') ctx.webhooks.engine.reload(webhookId);

  return {
    delivered,
    class: outcome.class,
    status: outcome.status,
    message: outcome.message,
    latencyMs: outcome.durationMs,
    deliveryId,
    request: { url, headers, body },
    response: outcome.response,
  };
}

async function breakerOf({ clock, database, settings }: Context, row: WebhookTable | undefined) {
  const now = clock.now();
  const breaker: Breaker = row === undefined ? newBreaker(now) : JSON.parse(row.breaker);
  const pending = row === undefined ? undefined : await readHeld(database.reader, row.webhook_id);
  const isHolding = breaker.state !== 'closed';
  const held = isHolding && pending !== undefined ? pending : { count: 0, oldestAt: null };
  return {
    state: breaker.state,
    since: row === undefined ? null : isoTime(breaker.since),
    reason: breaker.reason,
    lastError: breaker.lastError && { ...breaker.lastError, at: isoTime(breaker.lastError.at) },
    failuresInARow: breaker.failures,
    window: { seconds: thresholds.windowMs / 1000, ...windowTotals(breaker, now) },
    openUntil: isoTime(breaker.openUntil),
    nextProbeAt: breaker.state === 'open' && held.count > 0 ? isoTime(Math.max(breaker.openUntil ?? now, now)) : null,
    held: { count: held.count, oldestAt: isoTime(held.oldestAt) },
    thresholds: {
      failuresInARow: thresholds.failuresInARow,
      windowSeconds: thresholds.windowMs / 1000,
      windowAttempts: thresholds.windowAttempts,
      windowFailureRate: thresholds.windowFailureRate,
      successesToClose: thresholds.successesToClose,
      openSeconds: settings.breakerOpenSeconds,
      longestOpenSeconds: thresholds.longestOpenMs / 1000,
    },
    transitions: breaker.transitions.map((transition) => ({ ...transition, at: isoTime(transition.at) })),
  };
}

const HOUR_MS = 3_600_000;
const windowLengths = { '1h': HOUR_MS, '24h': 24 * HOUR_MS, '7d': 7 * 24 * HOUR_MS } as const;

async function statsOf({ clock, database }: Context, row: WebhookTable | undefined) {
  const now = clock.now();
  const minutes =
    row === undefined ? [] : await readFigures(database.reader, row.webhook_id, minuteOf(now - windowLengths['7d']));
  const pending = row === undefined ? { count: 0, oldestAt: null } : await readHeld(database.reader, row.webhook_id);
  const since = (lengthMs: number) => minutes.filter(({ minute }) => minute > now - lengthMs);
  const window = (lengthMs: number) =>
    summarise(since(lengthMs).reduce((sum, { figures }) => add(sum, figures), noFigures));
  return {
    pending: pending.count,
    held: row === undefined || row.breaker_state === 'closed' ? 0 : pending.count,
    oldestPendingAgeMs: pending.oldestAt === null ? null : Math.max(0, now - pending.oldestAt),
    windows: {
      '1h': window(windowLengths['1h']),
      '24h': window(windowLengths['24h']),
      '7d': window(windowLengths['7d']),
    },
    series: since(HOUR_MS).map(({ minute, figures }) => {
      const { attempts, byClass, byState, latencyMs } = summarise(figures);
      return {
        minute: isoTime(minute),
        attempts,
        delivered: byState['delivered'] ?? 0,
        failedAttempts: attempts - (byClass['ok'] ?? 0),
        p95Ms: latencyMs.p95,
      };
    }),
  };
}

function summarise(figures: Figures) {
  const byClass: Record<string, number> = { ...figures.classes };
  const attempts = Object.values(byClass).reduce((sum, n) => sum + n, 0);
  return {
    attempts,
    successRate: attempts === 0 ? null : (byClass['ok'] ?? 0) / attempts,
    latencyMs: { p50: percentile(figures, 0.5), p95: percentile(figures, 0.95), p99: percentile(figures, 0.99) },
    byClass,
    byState: { ...figures.states } as Record<string, number>,
  };
}
