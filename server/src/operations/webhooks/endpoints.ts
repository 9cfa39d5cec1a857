import { sql } from 'kysely';
import { Type } from 'typebox';
import { callerKeyId } from '../../auth/authenticate.ts';
import { isoTime } from '../../clock.ts';
import type { Queryable } from '../../db/dialect.ts';
import type { WebhookTable } from '../../db/schema.ts';
import { invalidField } from '../../errors.ts';
import { requireBelowLimit } from '../../invoke/accountLimit.ts';
import {
  boolean,
  integer,
  list,
  named,
  object,
  oneOf,
  onlyTrue,
  optional,
  orNull,
  record,
  time,
} from '../../invoke/input/fields.ts';
import { ref } from '../../invoke/input/references.ts';
import { type Context, defineOperation } from '../../invoke/operation.ts';
import { pageInput, pageOf, readPage } from '../../invoke/pages.ts';
import {
  changeWebhook,
  findWebhookRow,
  insertWebhook,
  type WebhookChange,
} from '../../webhooks/endpoints/destinations.ts';
import { readableSecret } from '../../webhooks/endpoints/madeSecret.ts';
import { removeWebhook } from '../../webhooks/endpoints/removal.ts';
import { headersOf, includeOf } from '../../webhooks/lanes/webhook.ts';
import type { WebhookFilters } from '../../webhooks/log/filters.ts';
import { futureTime } from '../shared/futureTime.ts';
import { acceptedMetadata, Metadata } from '../shared/metadata.ts';
import { requireSessions } from '../shared/sessionFields.ts';
import { acceptedSubscription } from './eventTypes.ts';
import { acceptedReceiver, destinationInput, shownDestination, toDestination } from './webhookDestination.ts';
import { acceptedFilters, acceptedHeaders, optionFields, requireFileAccess, shownOptions } from './webhookOptions.ts';
import { secretField, toConfiguration, WebhookConfiguration, WebhookId, webhookFields } from './webhookRecord.ts';
import { countDropped, lossesOf, remarks, warningsOf } from './webhookRemarks.ts';

/* Webhooks by id, the default one included. */

const MaxInFlight = integer('Number of deliveries in flight at the same time; 8 by default.', {
  minimum: 1,
  maximum: 256,
});
const Enabled = boolean('Whether events are queued and sent; true by default.');
const scopeFields = {
  sessionIds: optional(
    orNull(
      Type.Array(Type.String({ ...ref('session'), maxLength: 100 }), { minItems: 1, maxItems: 100 }),
      'Only events of these sessions; `null` for all, which is the default. Not for the default webhook.',
    ),
  ),
  description: optional(orNull(Type.String({ maxLength: 500 }), 'Note for people, such as `orders of the shop`.')),
  metadata: optional(Metadata),
};
const byId = { webhookId: WebhookId };

const Endpoint = named('WebhookEndpoint', {
  webhookId: WebhookId,
  isDefault: boolean('Whether it is the default webhook, which `POST /webhooks/set` manages.'),
  ...WebhookConfiguration.properties,
  sessionIds: orNull(list(Type.String(), 'Ids of sessions.'), 'Sessions whose events it receives; null for all.'),
  description: orNull(Type.String(), 'Note for people; null if there is none.'),
  metadata: record(Type.String(), 'Your own data, as you set it.'),
  ...shownDestination,
  ...shownOptions,
  maxInFlight: integer('Number of deliveries in flight at the same time.'),
  setByKeyId: orNull(
    Type.String(),
    'API key that created the webhook, or the last one that changed where it sends; null for a login, and once a key that could read files is deleted. A caller that adds files takes the place of a key.',
  ),
  secretReadableUntil: orNull(
    time(),
    'Until when a login can read the secret that the server made; null if it cannot.',
  ),
  breakerState: oneOf(
    ['closed', 'open', 'half_open'],
    'State of the circuit breaker; `open` means that deliveries are held.',
  ),
});

const ChangedEndpoint = named('ChangedWebhookEndpoint', {
  ...Endpoint.properties,
  ...remarks,
});

const reading = { permission: 'webhooks:metadata', scope: 'account', effect: 'read' } as const;
const writing = { permission: 'webhooks:write', scope: 'account', effect: 'write' } as const;

export const listEndpoints = defineOperation({
  ...reading,
  id: 'webhooks.endpoints.list',
  route: 'GET /webhooks/endpoints',
  summary: 'List webhooks',
  description:
    'List all webhooks of the account, newest first, each with its URL, event types and breaker state. The default one, which `webhooks.set` sets, is included. Use it to find a `webhookId`.',
  input: pageInput,
  output: pageOf(Endpoint),
  run(ctx, input) {
    const own = ctx.database.reader.kysely
      .selectFrom('webhooks')
      .selectAll()
      .where('account_id', '=', ctx.accountId)
      .where('subscription_id', 'is', null);
    return readPage('endpoints', own, 'webhook_id', input, (rows) => rows.map((row) => toEndpoint(ctx, row)));
  },
});

const MAX_ENDPOINTS = 100;
const ADVICE = 'webhooks; remove one first';

export const createEndpoint = defineOperation({
  ...writing,
  id: 'webhooks.endpoints.create',
  route: 'POST /webhooks/endpoints',
  uses: ['engine', 'targets'],
  summary: 'Add a webhook',
  description:
    'Add another webhook with its own URL, event types, sessions, secret, circuit breaker and statistics. An account can have up to 100 webhooks.',
  status: 201,
  idempotent: true,
  input: {
    ...webhookFields,
    secret: secretField('Without one, deliveries are not signed.'),
    enabled: optional(Enabled),
    maxInFlight: optional(MaxInFlight),
    ...destinationInput,
    ...scopeFields,
    ...optionFields,
  },
  output: ChangedEndpoint,
  errors: ['too_many'],
  example: { webhookUrl: 'https://example.com/audit', events: ['session.disconnected'], maxInFlight: 16 },
  async run(ctx, input) {
    requireFileAccess(ctx, input);
    const {
      webhookUrl,
      destination,
      credentials,
      events,
      metadata = {},
      sessionIds,
      filters,
      headers,
      expiresAt,
      ...fields
    } = input;
    const change = {
      ...fields,
      ...acceptedReceiver(ctx, { webhookUrl, destination, credentials, headers }),
      ...scopeOf(sessionIds),
      ...optionsOf(ctx, { filters, headers, expiresAt }),
      metadata: acceptedMetadata(metadata),
      events: acceptedSubscription(events),
      keyId: callerKeyId(ctx),
    };
    const { row, warnings } = await ctx.database.commit(async (tx) => {
      // A repeated request gets the webhook that it created.
      const earlier = await storedWebhook(ctx, tx);
      if (earlier !== undefined) return { row: earlier, warnings: await warningsOf(tx, earlier) };
      await requireSessions(tx, ctx.accountId, change.sessionIds);
      await requireBelowLimit(tx, ctx.accountId, 'webhooks', MAX_ENDPOINTS, ADVICE, sql`subscription_id is null`);
      const inserted = await insertWebhook(ctx, tx, false, change);
      return { row: inserted, warnings: await warningsOf(tx, inserted) };
    }, ctx.accountId);
    return { ...toEndpoint(ctx, row), cancelled: 0, warnings };
  },
  async readStored(ctx) {
    const row = await storedWebhook(ctx, ctx.database.reader);
    return row && { ...toEndpoint(ctx, row), cancelled: 0, warnings: [] };
  },
});

/** Returns the webhook that an earlier run of the request has created. */
async function storedWebhook({ accountId, resourceId }: Context, on: Queryable): Promise<WebhookTable | undefined> {
  if (resourceId === undefined) return undefined;
  return on.kysely
    .selectFrom('webhooks')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('webhook_id', '=', `whk_${resourceId}`)
    .executeTakeFirst();
}

export const getEndpoint = defineOperation({
  ...reading,
  id: 'webhooks.endpoints.get',
  route: 'GET /webhooks/endpoints/{webhookId}',
  summary: 'Get a webhook',
  description:
    'Get the URL and the event types of one webhook, whether it is enabled and has a secret, and the state of its circuit breaker. The secret is never included.',
  input: byId,
  output: Endpoint,
  errors: ['not_found'],
  run: async (ctx, { webhookId }) =>
    toEndpoint(ctx, await findWebhookRow(ctx.database.reader, ctx.accountId, webhookId)),
});

export const updateEndpoint = defineOperation({
  ...writing,
  id: 'webhooks.endpoints.update',
  route: 'PATCH /webhooks/endpoints/{webhookId}',
  uses: ['emit', 'engine', 'targets'],
  summary: 'Update a webhook',
  description:
    'Change a webhook. Fields that you leave out do not change. While `enabled` is false, nothing is sent and new events are not queued. A new URL closes the circuit breaker, and pending deliveries of event types and sessions that you drop are cancelled. `metadata` replaces what was set before.',
  input: {
    webhookId: WebhookId,
    webhookUrl: optional(webhookFields.webhookUrl),
    events: optional(webhookFields.events),
    secret: webhookFields.secret,
    enabled: optional(Enabled),
    maxInFlight: optional(MaxInFlight),
    ...destinationInput,
    ...scopeFields,
    ...optionFields,
  },
  output: ChangedEndpoint,
  errors: ['not_found'],
  async run(ctx, input) {
    requireFileAccess(ctx, input);
    const { webhookId, webhookUrl, destination, credentials, ...others } = input;
    const { events, metadata, sessionIds, filters, headers, expiresAt, ...fields } = others;
    const receiver = { webhookUrl, destination, credentials, headers };
    const change = {
      ...fields,
      ...scopeOf(sessionIds),
      ...optionsOf(ctx, { filters, headers, expiresAt }),
      ...(metadata !== undefined && { metadata: acceptedMetadata(metadata) }),
      ...(events !== undefined && { events: acceptedSubscription(events) }),
      keyId: callerKeyId(ctx),
    };
    const known = await findWebhookRow(ctx.database.reader, ctx.accountId, webhookId);
    const cancelled = await countDropped(ctx, known, change);
    const { row, warnings } = await ctx.database.commit(async (tx) => {
      const present = await findWebhookRow(tx, ctx.accountId, webhookId);
      if (present.is_default === 1) refuseSelection({ ...change, destination });
      await requireSessions(tx, ctx.accountId, change.sessionIds, sessionsOf(present));
      const changed = await changeWebhook(ctx, tx, present, { ...change, ...acceptedReceiver(ctx, receiver, present) });
      return { row: changed, warnings: [...lossesOf(input, present, changed), ...(await warningsOf(tx, changed))] };
    }, ctx.accountId);
    return { ...toEndpoint(ctx, row), cancelled, warnings };
  },
});

export const deleteEndpoint = defineOperation({
  ...writing,
  id: 'webhooks.endpoints.delete',
  route: 'DELETE /webhooks/endpoints/{webhookId}',
  owner: { field: 'webhookId' },
  effect: 'destructive',
  uses: ['deletions', 'engine'],
  summary: 'Remove a webhook',
  description:
    'Remove a webhook. Pending deliveries are cancelled and stay in the delivery log. Once the request returns, nothing more is sent to the URL.',
  input: byId,
  output: object({ webhookId: WebhookId, deleted: onlyTrue() }),
  errors: ['not_found'],
  async run(ctx, { webhookId }) {
    await removeWebhook(ctx, (on) => findWebhookRow(on, ctx.accountId, webhookId));
    return { webhookId, deleted: true as const };
  },
});

interface OptionInput {
  readonly filters: WebhookFilters | null | undefined;
  readonly headers: Record<string, string> | null | undefined;
  readonly expiresAt: string | null | undefined;
}

function optionsOf(ctx: Context, { filters, headers, expiresAt }: OptionInput) {
  return {
    ...(filters !== undefined && { filters: filters && acceptedFilters(filters) }),
    ...(headers !== undefined && { headers: headers && acceptedHeaders(headers) }),
    ...(expiresAt !== undefined && { removeAt: expiresAt === null ? null : futureTime(ctx, 'expiresAt', expiresAt) }),
  };
}

interface Selection extends Pick<WebhookChange, 'sessionIds' | 'filters' | 'removeAt'> {
  readonly destination: { readonly type: string } | undefined;
}

/** @throws {AppError} `validation_failed`, because the default webhook receives what `webhooks.set` says */
function refuseSelection({ sessionIds, filters, removeAt, destination = { type: 'http' } }: Selection): void {
  if (destination.type !== 'http')
    throw invalidField('destination', 'The default webhook is HTTP only; add another webhook', 'default_webhook');
  if (typeof removeAt === 'number')
    throw invalidField('expiresAt', 'The default webhook cannot expire; add another webhook', 'default_webhook');
  if (!sessionIds && !filters) return;
  throw invalidField(
    sessionIds ? 'sessionIds' : 'filters',
    'The default webhook receives the events of all sessions and chats; add another webhook for some of them',
    'default_webhook',
  );
}

function scopeOf(sessionIds: readonly string[] | null | undefined) {
  return sessionIds === undefined ? {} : { sessionIds: sessionIds && [...new Set(sessionIds)] };
}

function sessionsOf({ session_ids: sessionIds }: WebhookTable): string[] | null {
  return sessionIds === null ? null : JSON.parse(sessionIds);
}

function toEndpoint(ctx: Context, row: WebhookTable) {
  return {
    webhookId: row.webhook_id,
    isDefault: row.is_default === 1,
    ...toConfiguration(row),
    sessionIds: sessionsOf(row),
    description: row.description,
    metadata: JSON.parse(row.metadata) as Record<string, string>,
    filters: row.filters === null ? null : JSON.parse(row.filters),
    ...toDestination(ctx, row),
    headerNames: Object.keys(headersOf(row, ctx.database.seal)),
    timeoutMs: row.timeout_ms,
    acceptRedirects: row.accept_redirects === 1,
    retrySeconds: row.retry_seconds === null ? null : (JSON.parse(row.retry_seconds) as number[]),
    paused: row.paused === 1,
    pausedReason: row.paused_reason,
    ordering: row.ordering,
    include: [...includeOf(row)],
    inlineMediaBytes: Number(row.inline_media_bytes),
    expiresAt: isoTime(row.remove_at),
    maxInFlight: row.max_in_flight,
    setByKeyId: row.set_by_key,
    secretReadableUntil: isoTime(readableSecret(row, ctx.database.seal, ctx.clock.now())?.readableUntil ?? null),
    breakerState: row.breaker_state,
  };
}
