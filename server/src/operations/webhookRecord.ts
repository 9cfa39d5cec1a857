import { type TSchema, Type } from 'typebox';
import { isoTime } from '../clock.ts';
import type { Tx } from '../db/commit.ts';
import type { Queryable } from '../db/dialect.ts';
import type { WebhookTable } from '../db/schema.ts';
import { AppError, type FieldError, invalidField } from '../errors.ts';
import { eventKinds, isEventKind, sampleEvent } from '../events.ts';
import { checkTarget } from '../target.ts';
import { type Breaker, newBreaker, onTestSuccess, reset, thresholds, windowTotals } from '../webhooks/breaker.ts';
import { type OutcomeClass, outcomeClasses } from '../webhooks/outcome.ts';
import {
  cancelPending,
  dueNow,
  readFigures,
  readHeld,
  storeBreaker,
  toWebhook,
  type Webhook,
  type WebhookRef,
} from '../webhooks/queue.ts';
import { deliveryHeaders } from '../webhooks/sign.ts';
import { add, type Figures, minuteOf, noFigures, percentile } from '../webhooks/stats.ts';
import type { Context } from './operation.ts';

/*
 * What can be done with a webhook, whichever it is: the account's default one, which `operations/webhooks.ts` manages,
 * or one of several, which `operations/endpoints.ts` does.
 */

const Time = Type.String({ format: 'date-time' });
const orNull = <T extends TSchema>(schema: T, description?: string) =>
  Type.Union([schema, Type.Null()], description === undefined ? {} : { description });
const Count = Type.Integer({ minimum: 0 });
const State = Type.Enum(['closed', 'open', 'half_open']);

export const Kind = Type.Enum([...eventKinds]);
export const Class = Type.Enum(Object.keys(outcomeClasses) as OutcomeClass[]);

/** The fields by which a webhook is set or changed. */
export const webhookFields = {
  webhookUrl: Type.String({ minLength: 1, maxLength: 2048, description: 'Absolute http or https URL.' }),
  events: Type.Array(Type.String(), {
    minItems: 1,
    maxItems: 50,
    description: `Kinds to receive: ${eventKinds.join(', ')}.`,
  }),
  secret: Type.Optional(
    Type.Union([Type.String({ minLength: 1, maxLength: 512 }), Type.Null()], {
      description: 'Signs deliveries. Stored, never returned. `null` removes it.',
    }),
  ),
};

export const WebhookConfiguration = Type.Object(
  {
    webhookUrl: orNull(Type.String(), 'Null while no webhook is set.'),
    events: Type.Array(Kind),
    hasSecret: Type.Boolean({ description: 'Whether a secret is set. The secret itself is never shown.' }),
    enabled: Type.Boolean(),
    createdAt: orNull(Time),
    updatedAt: orNull(Time),
  },
  { title: 'WebhookConfiguration' },
);

const Stage = Type.Object({
  stage: Type.Enum(['url', 'dns', 'connect', 'tls', 'http']),
  result: Type.Enum(['ok', 'failed', 'skipped']),
  ms: orNull(Type.Integer(), 'How long it took; null where it was not reached.'),
});

export const WebhookTest = Type.Object(
  {
    delivered: Type.Boolean(),
    class: Class,
    status: orNull(Type.Integer(), 'HTTP status of the answer.'),
    message: Type.String({ description: 'What happened, in one sentence.' }),
    latencyMs: Type.Integer(),
    stages: Type.Array(Stage, { description: 'How far it came: URL, name lookup, connection, TLS, HTTP.' }),
    deliveryId: Type.String({ description: 'Its entry in the delivery log.' }),
    request: Type.Object({
      url: Type.String(),
      headers: Type.Record(Type.String(), Type.String(), { description: 'As sent, signature included.' }),
      body: Type.String({ description: 'As sent.' }),
    }),
    response: orNull(Type.String(), 'Up to 1 KiB of the answer.'),
  },
  { title: 'WebhookTest' },
);

export const testInput = {
  event: Type.Optional(
    Type.String({ maxLength: 50, description: 'Kind of the sample; the first subscribed one unless given.' }),
  ),
};

const Window = Type.Object({
  attempts: Count,
  successRate: orNull(Type.Number({ minimum: 0, maximum: 1 }), 'Null without attempts.'),
  latencyMs: Type.Object({ p50: orNull(Type.Integer()), p95: orNull(Type.Integer()), p99: orNull(Type.Integer()) }),
  byClass: Type.Record(Type.String(), Count, { description: 'Attempts by outcome class.' }),
  byState: Type.Record(Type.String(), Count, { description: 'Deliveries by the final state they reached.' }),
});

export const WebhookStats = Type.Object(
  {
    pending: Count,
    held: Type.Integer({ minimum: 0, description: 'Of the pending ones, those that wait behind an open breaker.' }),
    oldestPendingAgeMs: orNull(Type.Integer()),
    windows: Type.Object({ '1h': Window, '24h': Window, '7d': Window }),
    series: Type.Array(
      Type.Object({
        minute: Time,
        attempts: Count,
        delivered: Count,
        failedAttempts: Count,
        p95Ms: orNull(Type.Integer()),
      }),
      { description: 'Minutes of the last hour in which something happened, oldest first.' },
    ),
  },
  { title: 'WebhookStats' },
);

export const CircuitBreaker = Type.Object(
  {
    state: State,
    since: orNull(Time),
    reason: orNull(Type.String()),
    lastError: orNull(Type.Object({ class: Class, status: orNull(Type.Integer()), message: Type.String(), at: Time })),
    failuresInARow: Count,
    window: Type.Object({ seconds: Count, attempts: Count, failures: Count }),
    openUntil: orNull(Time),
    nextProbeAt: orNull(Time, 'When the next attempt may go through an open breaker; null when nothing is held.'),
    held: Type.Object({ count: Count, oldestAt: orNull(Time) }),
    thresholds: Type.Object({
      failuresInARow: Count,
      windowSeconds: Count,
      windowAttempts: Count,
      windowFailureRate: Type.Number(),
      successesToClose: Count,
      openSeconds: Count,
      longestOpenSeconds: Count,
    }),
    transitions: Type.Array(Type.Object({ at: Time, from: State, to: State, reason: Type.String() }), {
      description: 'The last changes of state, newest first.',
    }),
  },
  { title: 'CircuitBreaker' },
);

export const BreakerReset = Type.Object(
  {
    previousState: State,
    state: State,
    released: Type.Integer({ minimum: 0, description: 'Deliveries that were held and go out now.' }),
  },
  { title: 'BreakerReset' },
);

export const SecretRotation = Type.Object(
  {
    hasSecret: Type.Boolean(),
    previousSecretValidUntil: orNull(Time, 'Until when deliveries carry both signatures.'),
  },
  { title: 'SecretRotation' },
);

export const rotationInput = {
  secret: Type.String({ minLength: 1, maxLength: 512, description: 'The new secret. It is never returned.' }),
  graceSeconds: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 2_592_000,
      default: 86_400,
      description: 'How long `webhook-signature` carries the old signature as well.',
    }),
  ),
};

/** What a webhook is to be. A field that is left out stays as it is. */
export interface WebhookChange {
  readonly url?: string;
  readonly events?: readonly string[];
  readonly secret?: string | null | undefined;
  readonly enabled?: boolean | undefined;
  readonly maxInFlight?: number | undefined;
}

const DEFAULT_MAX_IN_FLIGHT = 8;

/** @throws {AppError} `validation_failed` naming `webhookUrl` and the rule it breaks */
export async function acceptedUrl(ctx: Context, webhookUrl: string): Promise<string> {
  const verdict = await checkTarget(webhookUrl, ctx.webhooks.targets);
  if (!verdict.ok) throw invalidField('webhookUrl', verdict.message, verdict.rule);
  return verdict.url.href;
}

/** The kinds in the table's order, each once. @throws {AppError} naming those that are none */
export function acceptedKinds(events: readonly string[]): string[] {
  const unknown = events.flatMap((kind, index): FieldError[] =>
    isEventKind(kind) ? [] : [{ field: `events.${index}`, code: 'unknown_kind', message: noSuchKind(kind) }],
  );
  if (unknown.length > 0) throw new AppError('validation_failed', unknown[0]?.message, { fields: unknown });
  return eventKinds.filter((kind) => events.includes(kind));
}

export async function insertWebhook(
  ctx: Context,
  { kysely }: Tx,
  isDefault: boolean,
  { url = '', events = [], secret = null, enabled = true, maxInFlight = DEFAULT_MAX_IN_FLIGHT }: WebhookChange,
): Promise<WebhookTable> {
  const now = ctx.clock.now();
  const breaker = newBreaker(now);
  return kysely
    .insertInto('webhooks')
    .values({
      account_id: ctx.accountId,
      webhook_id: ctx.resourceId === undefined ? ctx.newId('whk') : `whk_${ctx.resourceId}`,
      is_default: isDefault ? 1 : 0,
      url,
      events: JSON.stringify(events),
      secret,
      previous_secret: null,
      previous_secret_until: null,
      enabled: enabled ? 1 : 0,
      max_in_flight: maxInFlight,
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

/**
 * Changes a webhook. A new URL closes the breaker and sends what waits for a retry with the rest; deliveries of kinds
 * that are no longer wanted are cancelled.
 */
export async function changeWebhook(
  ctx: Context,
  tx: Tx,
  present: WebhookTable,
  { url = present.url, events, secret, enabled, maxInFlight }: WebhookChange,
): Promise<WebhookTable> {
  const { webhook_id: webhookId } = present;
  const now = ctx.clock.now();
  const changed = await tx.kysely
    .updateTable('webhooks')
    .set({
      url,
      updated_at: now,
      ...(events !== undefined && { events: JSON.stringify(events) }),
      ...(enabled !== undefined && { enabled: enabled ? 1 : 0 }),
      ...(maxInFlight !== undefined && { max_in_flight: maxInFlight }),
      ...(secret !== undefined && { secret, previous_secret: null, previous_secret_until: null }),
    })
    .where('account_id', '=', ctx.accountId)
    .where('webhook_id', '=', webhookId)
    .returningAll()
    .executeTakeFirstOrThrow();
  if (url !== present.url) {
    const breaker: Breaker = JSON.parse(present.breaker);
    await storeBreaker(tx, webhookId, reset(breaker, 'new_url', now), breaker.generation);
    await inPieces(ctx, tx, present, (on, webhook) => dueNow(on, webhook, now));
  }
  const removed = (JSON.parse(present.events) as string[]).filter(
    (kind) => events !== undefined && !events.includes(kind),
  );
  if (events !== undefined && removed.length > 0) {
    const reason = 'The webhook no longer wants events of this kind';
    await inPieces(ctx, tx, present, (on, webhook) => cancelPending(on, webhook, events, reason, now));
  }
  tx.afterCommit(() => ctx.webhooks.engine.reload(webhookId));
  return changed;
}

export async function rotateSecret(ctx: Context, tx: Tx, present: WebhookTable, secret: string, graceSeconds = 86_400) {
  const until = present.secret === null || graceSeconds === 0 ? null : ctx.clock.now() + graceSeconds * 1000;
  await tx.kysely
    .updateTable('webhooks')
    .set({
      secret,
      previous_secret: until === null ? null : present.secret,
      previous_secret_until: until,
      updated_at: ctx.clock.now(),
    })
    .where('account_id', '=', ctx.accountId)
    .where('webhook_id', '=', present.webhook_id)
    .execute();
  tx.afterCommit(() => ctx.webhooks.engine.reload(present.webhook_id));
  return { hasSecret: true, previousSecretValidUntil: isoTime(until) };
}

/** Removes a webhook. What was pending is listed as cancelled. */
export async function deleteWebhookRow(ctx: Context, tx: Tx, present: WebhookTable): Promise<void> {
  const { webhook_id: webhookId } = present;
  const now = ctx.clock.now();
  await inPieces(ctx, tx, present, (on, webhook) => cancelPending(on, webhook, [], 'The webhook was removed', now));
  await tx.kysely
    .deleteFrom('webhooks')
    .where('account_id', '=', ctx.accountId)
    .where('webhook_id', '=', webhookId)
    .execute();
  tx.afterCommit(() => ctx.webhooks.engine.reload(webhookId));
}

/**
 * Changes a queue, which may be a million long: a first piece with the transaction, the others after it, one by one, so
 * that nobody else has to wait. A server that dies in between has cancelled less than it should have: what the lane of
 * a removed webhook finds it cancels itself, and kinds that are no longer wanted go out once more.
 */
async function inPieces(
  ctx: Context,
  tx: Tx,
  { account_id: accountId, webhook_id: webhookId }: WebhookTable,
  change: (on: Queryable, webhook: WebhookRef) => Promise<boolean>,
): Promise<void> {
  const webhook = { accountId, webhookId };
  if (await change(tx, webhook)) return;
  const { database, log, webhooks } = ctx;
  const goOn = async () => {
    while (!(await database.commit((next) => change(next, webhook))))
      await new Promise((resolve) => setImmediate(resolve));
    webhooks.engine.reload(webhookId);
  };
  tx.afterCommit(() => {
    goOn().catch((error) => log.error({ err: error, webhook: webhookId }, 'changing the queue of a webhook broke off'));
  });
}

export async function findDefault(
  { kysely }: Pick<Queryable, 'kysely'>,
  accountId: string,
): Promise<WebhookTable | undefined> {
  return kysely
    .selectFrom('webhooks')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('is_default', '=', 1)
    .executeTakeFirst();
}

/** @throws {AppError} `not_found` */
export async function findWebhookRow(
  { kysely }: Pick<Queryable, 'kysely'>,
  accountId: string,
  webhookId: string,
): Promise<WebhookTable> {
  const row = await kysely
    .selectFrom('webhooks')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('webhook_id', '=', webhookId)
    .executeTakeFirst();
  if (row === undefined) throw new AppError('not_found', `There is no webhook ${webhookId}`);
  return row;
}

export function toConfiguration(row: WebhookTable | undefined) {
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

/** Sends a sample now, outside the queue and whatever the breaker's state, and keeps it in the log as a test. */
export async function sendTest(ctx: Context, row: WebhookTable, wanted: string | undefined) {
  const webhook = toWebhook(row);
  const { url, secret, accountId } = webhook;
  const kind = wanted ?? webhook.events[0] ?? '';
  if (!isEventKind(kind)) throw invalidField('event', noSuchKind(kind));
  const now = ctx.clock.now();
  const eventId = ctx.newId('evt');
  const deliveryId = ctx.newId('dlv');
  const body = JSON.stringify(sampleEvent(kind, isoTime(now)));
  const previousSecret = (webhook.previousSecretUntil ?? 0) > now ? webhook.previousSecret : null;
  const headers = deliveryHeaders({ kind, eventId, attempt: 1, body, secret, previousSecret, isTest: true, now });
  const { outcome, stages } = await ctx.webhooks.deliver.probe({ url, headers, body });
  const delivered = outcome.class === 'ok';
  await ctx.database.commit(async (tx) => {
    await logTest(tx, webhook, { kind, eventId, deliveryId, body, outcome, now });
    if (delivered) await noteSuccess(ctx, tx, webhook);
  }, accountId);
  return {
    delivered,
    class: outcome.class,
    status: outcome.status,
    message: outcome.message,
    latencyMs: outcome.durationMs,
    stages: [...stages],
    deliveryId,
    request: { url, headers, body },
    response: outcome.response,
  };
}

interface SentTest {
  readonly kind: string;
  readonly eventId: string;
  readonly deliveryId: string;
  readonly body: string;
  readonly outcome: Awaited<ReturnType<Context['webhooks']['deliver']['attempt']>>;
  readonly now: number;
}

async function logTest({ kysely }: Tx, webhook: Webhook, test: SentTest): Promise<void> {
  const { outcome, now } = test;
  const shared = {
    account_id: webhook.accountId,
    event_id: test.eventId,
    kind: test.kind,
    conversation: 'test',
    is_test: 1,
    created_at: now,
  };
  await kysely
    .insertInto('events')
    .values({ ...shared, message_id: null, body: test.body })
    .execute();
  await kysely
    .insertInto('deliveries')
    .values({
      ...shared,
      delivery_id: test.deliveryId,
      webhook_id: webhook.webhookId,
      state: outcome.class === 'ok' ? 'delivered' : 'failed',
      due_at: now,
      attempts: 1,
      steps: 0,
      last_class: outcome.class,
      last_message: outcome.message,
      settled_at: now + outcome.durationMs,
    })
    .execute();
  await kysely
    .insertInto('attempts')
    .values({
      account_id: webhook.accountId,
      delivery_id: test.deliveryId,
      number: 1,
      webhook_id: webhook.webhookId,
      class: outcome.class,
      status: outcome.status,
      duration_ms: outcome.durationMs,
      message: outcome.message,
      response: outcome.response,
      started_at: now,
    })
    .execute();
}

/** A test that got through lets an open breaker try. */
async function noteSuccess(ctx: Context, tx: Tx, { accountId, webhookId, url }: Webhook): Promise<void> {
  const row = await findWebhookRow(tx, accountId, webhookId);
  if (row.url !== url) return; // it proved something about another URL
  const breaker: Breaker = JSON.parse(row.breaker);
  const next = onTestSuccess(breaker, ctx.clock.now());
  if (next === breaker) return;
  await storeBreaker(tx, webhookId, next, breaker.generation);
  tx.afterCommit(() => ctx.webhooks.engine.reload(webhookId));
}

/** With no webhook set: closed and zeros. */
export async function breakerOf({ clock, database, settings }: Context, row: WebhookTable | undefined) {
  const now = clock.now();
  const breaker: Breaker = row === undefined ? newBreaker(now) : JSON.parse(row.breaker);
  const isHolding = row !== undefined && breaker.state !== 'closed';
  const held = isHolding ? await readHeld(database.reader, row.webhook_id) : { count: 0, oldestAt: null };
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

/** Closes the breaker. Doing it again changes nothing. */
export async function resetBreaker(ctx: Context, tx: Tx, row: WebhookTable | undefined) {
  if (row === undefined) return { previousState: 'closed' as const, state: 'closed' as const, released: 0 };
  const { webhookId, breaker } = toWebhook(row);
  const wasClosed = breaker.state === 'closed';
  const released = wasClosed ? 0 : (await readHeld(tx, webhookId)).count;
  await storeBreaker(tx, webhookId, reset(breaker, 'reset', ctx.clock.now()), breaker.generation);
  const now = ctx.clock.now();
  if (!wasClosed) await inPieces(ctx, tx, row, (on, webhook) => dueNow(on, webhook, now));
  tx.afterCommit(() => ctx.webhooks.engine.reload(webhookId));
  return { previousState: breaker.state, state: 'closed' as const, released };
}

const HOUR_MS = 3_600_000;
const windowLengths = { '1h': HOUR_MS, '24h': 24 * HOUR_MS, '7d': 7 * 24 * HOUR_MS } as const;

/** Read from the minutes' figures; the log is not touched. */
export async function statsOf({ clock, database }: Context, row: WebhookTable | undefined) {
  const now = clock.now();
  const from = minuteOf(now - windowLengths['7d']);
  const minutes = row === undefined ? [] : await readFigures(database.reader, row.webhook_id, from);
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
  const byState: Record<string, number> = { ...figures.states };
  const attempts = Object.values(byClass).reduce((sum, n) => sum + n, 0);
  return {
    attempts,
    successRate: attempts === 0 ? null : (byClass['ok'] ?? 0) / attempts,
    latencyMs: { p50: percentile(figures, 0.5), p95: percentile(figures, 0.95), p99: percentile(figures, 0.99) },
    byClass,
    byState,
  };
}

function noSuchKind(kind: string): string {
  return `"${kind}" is not a kind of event; the kinds are ${eventKinds.join(', ')}`;
}
