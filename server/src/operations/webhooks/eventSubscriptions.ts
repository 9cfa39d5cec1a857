import { hash } from 'node:crypto';
import { sql } from 'kysely';
import { Type } from 'typebox';
import { isoTime } from '../../clock.ts';
import type { Tx } from '../../db/commit.ts';
import type { WebhookTable } from '../../db/schema.ts';
import { checkUrl, isLoopback } from '../../egress/target.ts';
import { AppError, invalidField, noSuch } from '../../errors.ts';
import { requireBelowLimit } from '../../invoke/accountLimit.ts';
import {
  named,
  object,
  oneOf,
  onlyTrue,
  openObject,
  optional,
  orNull,
  string,
  time,
} from '../../invoke/input/fields.ts';
import { type Context, defineOperation } from '../../invoke/operation.ts';
import { pageInput, pageOf, readPage } from '../../invoke/pages.ts';
import { type CallbackProblem, problemOf } from '../../webhooks/endpoints/callbackVerifier.ts';
import { findLaneRow } from '../../webhooks/endpoints/destinations.ts';
import {
  activate,
  countOfKey,
  findSubscription,
  insertSubscription,
  isVerified,
  refreshSubscription,
  type Selected,
  watermark,
} from '../../webhooks/endpoints/subscriptions.ts';
import { CREATION_MS, signingKey } from '../../webhooks/lanes/subscription.ts';
import type { LoggedEvent } from '../../webhooks/log/eventLog.ts';
import type { Breaker } from '../../webhooks/queue/breaker.ts';
import { readSelected, type Start, startOf } from './eventPositions.ts';
import { positionInput } from './eventReads.ts';
import { selectionInput, selectionOf } from './eventSelection.ts';
import { WebhookId } from './webhookRecord.ts';

/* Subscriptions of MCP clients: `events/subscribe` and `events/unsubscribe`, and the account's view of them. */

const TTL_MS = { least: 60_000, usual: 24 * 3_600_000, most: 7 * 24 * 3_600_000 } as const;
export const MAX_SUBSCRIPTIONS = 100;
/** So that one agent does not use up what the others of its account need. */
export const MAX_SUBSCRIPTIONS_PER_KEY = 25;
/** A new subscription that would get more of the past starts now. */
const MAX_REPLAYED = 1000;
/** Reads of the log for that, of up to 1000 events each. */
const MAX_ROUNDS = 10;

const ofClient = {
  route: 'POST /mcp',
  permission: 'events:read',
  scope: 'filtered',
  messageContent: 'events',
} as const;

const keyInput = {
  ...selectionInput,
  /** Canonical JSON of the arguments, as the client sent them. */
  arguments: Type.String({ maxLength: 4096 }),
  url: string('Callback.', { minLength: 1, maxLength: 2048 }),
};

/** The answer to a client, or why its callback was not accepted. */
export type Subscribed =
  | { readonly problem: CallbackProblem | 'too_many' | 'key_full' }
  | {
      readonly problem?: undefined;
      readonly id: string;
      readonly refreshBefore: string;
      readonly cursor: string;
      readonly truncated: boolean;
      readonly deliveryStatus?: object;
    };

interface Wanted {
  readonly id: string;
  readonly keyId: string;
  readonly url: string;
  readonly secret: string;
  readonly arguments: string;
  readonly expiresAt: number;
}

export const subscribeToEvents = defineOperation({
  ...ofClient,
  id: 'events.subscribe',
  effect: 'write',
  isRepeatable: true,
  uses: ['emit', 'eventLog', 'filteredEventLog', 'engine', 'targets', 'callbackVerifier', 'subscriptionKeeper'],
  summary: 'Subscribe to events',
  input: {
    ...keyInput,
    ...positionInput,
    secret: string('Secret of the client.', { maxLength: 200 }),
    ttlMs: optional(orNull(Type.Integer(), 'Suggested lifetime.')),
  },
  output: openObject('`Subscribed`.'),
  async run(ctx, { cursor, maxAgeMs, secret, ttlMs, arguments: args, url: rawUrl, ...selection }): Promise<Subscribed> {
    const keyId = keyOf(ctx);
    const url = acceptedCallback(ctx, rawUrl);
    if (signingKey(secret) === undefined)
      throw invalidField('delivery.secret', 'must be whsec_ followed by the base64 of 24 to 64 bytes', 'secret');
    const selected = await selectionOf(ctx, selection);
    const id = subscriptionId(ctx.accountId, keyId, url, selection.event, args);
    const expiresAt = await expiryOf(ctx, keyId, ttlMs);
    const wanted = { id, keyId, url, secret, arguments: args, expiresAt };
    const present = await findSubscription(ctx.database.reader, ctx.accountId, id);
    const isPresent = present !== undefined && isLive(ctx, present);
    const refreshed = isPresent ? await refresh(ctx, selected, present, wanted) : undefined;
    if (refreshed !== undefined) return refreshed;
    if (isPresent) await ctx.subscriptionKeeper.end(present);
    else if (present !== undefined) await removeLapsed(ctx, present);
    return create(ctx, selected, wanted, await startOf(ctx, cursor, maxAgeMs));
  },
});

export const unsubscribeFromEvents = defineOperation({
  ...ofClient,
  id: 'events.unsubscribe',
  approval: 'free',
  effect: 'write', // it ends only what its own key has made
  isRepeatable: true,
  uses: ['targets', 'subscriptionKeeper'],
  summary: 'Unsubscribe from events',
  input: keyInput,
  output: object({ found: Type.Boolean() }),
  async run(ctx, { event, url: rawUrl, arguments: args }) {
    const url = acceptedCallback(ctx, rawUrl);
    const id = subscriptionId(ctx.accountId, keyOf(ctx), url, event, args);
    const row = await findSubscription(ctx.database.reader, ctx.accountId, id);
    if (row === undefined) return { found: false };
    await ctx.subscriptionKeeper.end(row);
    return { found: row.expires_at !== null && row.expires_at > ctx.clock.now() };
  },
});

/** @throws {AppError} `permission_denied` for a login token, which may end at any time without being revoked */
function keyOf({ caller: { credential } }: Context): string {
  if (credential.type === 'api_key') return credential.keyId;
  throw new AppError('permission_denied', 'Only an API key can subscribe; use events/poll or events/stream instead');
}

/**
 * Accepts https, and http only for a loopback address that webhooks may reach.
 * @throws {AppError} `validation_failed`
 */
function acceptedCallback({ targets }: Context<'targets'>, raw: string): string {
  const verdict = checkUrl(raw, targets);
  if (!verdict.ok) throw invalidField('delivery.url', verdict.message, verdict.rule);
  const { url } = verdict;
  if (url.protocol !== 'https:' && !isLoopback(url.hostname))
    throw invalidField('delivery.url', 'must use https', 'scheme');
  url.hash = '';
  return url.href;
}

/** The same for the same subscription, on every node and after a restart. It is a name, not a secret. */
function subscriptionId(...key: readonly [accountId: string, keyId: string, url: string, event: string, args: string]) {
  return `sub_${hash('sha256', JSON.stringify(key)).slice(0, 32)}`;
}

/** The subscription ends with its key at the latest. */
async function expiryOf({ clock, database }: Context, keyId: string, ttlMs: number | null | undefined) {
  const wantedMs = ttlMs === null ? TTL_MS.most : (ttlMs ?? TTL_MS.usual);
  const at = clock.now() + Math.min(Math.max(wantedMs, TTL_MS.least), TTL_MS.most);
  const key = await database.reader.kysely
    .selectFrom('api_keys')
    .select('expires_at')
    .where('key_id', '=', keyId)
    .executeTakeFirst();
  return Math.min(at, key?.expires_at ?? Number.POSITIVE_INFINITY);
}

function isLive({ clock }: Context, { expires_at: expiresAt, paused }: WebhookTable): boolean {
  return (expiresAt ?? 0) > clock.now() && paused === 0;
}

/** @throws {AppError} `too_busy` while another request creates the subscription */
async function removeLapsed(ctx: Context<'subscriptionKeeper'>, row: WebhookTable): Promise<void> {
  if (row.paused === 1 && ctx.clock.now() - row.created_at < CREATION_MS && row.expires_at !== 0)
    throw new AppError('too_busy', 'Another request creates this subscription; try again');
  await ctx.subscriptionKeeper.end(row);
}

/** Returns undefined if the subscription has ended meanwhile. */
async function refresh(
  ctx: Context<'emit' | 'eventLog' | 'engine' | 'subscriptionKeeper'>,
  { sessionIds }: Selected,
  row: WebhookTable,
  { id, secret, expiresAt }: Wanted,
): Promise<Subscribed | undefined> {
  const deliveryStatus = statusOf(ctx, row);
  const change = { secret, expiresAt, sessionIds };
  const isExtended = await ctx.database.commit((tx) => refreshSubscription(ctx, tx, row, change), ctx.accountId);
  if (!isExtended) return undefined;
  // The key may see fewer sessions than before.
  await ctx.subscriptionKeeper.review(ctx.accountId, row.key_id ?? '');
  const cursor = await currentWatermark(ctx, row.webhook_id);
  return { id, refreshBefore: isoTime(expiresAt), cursor, truncated: false, deliveryStatus };
}

async function create(
  ctx: Context<'emit' | 'eventLog' | 'filteredEventLog' | 'engine' | 'callbackVerifier' | 'subscriptionKeeper'>,
  selected: Selected,
  wanted: Wanted,
  start: Start,
): Promise<Subscribed> {
  const { accountId, database } = ctx;
  const { id, keyId, url, secret, expiresAt } = wanted;
  if (!(await database.commit((tx) => hasRoom(tx, accountId, keyId), accountId))) return { problem: 'key_full' };
  if (!(await isVerified(database.reader, accountId, keyId, url, ctx.clock.now()))) {
    const problem = await ctx.callbackVerifier.verify({ accountId, subscriptionId: id, url, secret });
    if (problem !== undefined) return { problem };
  }
  const row = await database.commit(async (tx) => {
    if (!(await hasRoom(tx, accountId, keyId))) return undefined;
    if ((await findSubscription(tx, accountId, id)) !== undefined)
      throw new AppError('too_busy', 'Another request creates this subscription; try again');
    return insertSubscription(ctx, tx, selected, wanted);
  }, accountId);
  if (row === undefined) return { problem: 'key_full' };
  try {
    // From here on, every event that was not queued is in the log.
    await ctx.eventLog.complete();
    const { events, truncated } = await readReplayed(ctx, selected, start);
    await database.commit((tx) => activate(ctx, tx, row, events), accountId);
    const cursor = await currentWatermark(ctx, row.webhook_id);
    return { id, refreshBefore: isoTime(expiresAt), cursor, truncated };
  } catch (error) {
    await ctx.subscriptionKeeper.end(row);
    throw error;
  }
}

/**
 * Whether the key may have one more subscription.
 * @throws {AppError} `too_many` if the account may not
 */
async function hasRoom(tx: Tx, accountId: string, keyId: string): Promise<boolean> {
  const advice = 'event subscriptions; end one first';
  const areSubscriptions = sql`subscription_id is not null`;
  await requireBelowLimit(tx, accountId, 'webhooks', MAX_SUBSCRIPTIONS, advice, areSubscriptions);
  return (await countOfKey(tx, accountId, keyId)) < MAX_SUBSCRIPTIONS_PER_KEY;
}

/** Reads what a new subscription gets of the log. If it is too much, the subscription starts now. */
async function readReplayed(
  ctx: Context<'eventLog' | 'filteredEventLog'>,
  selected: Selected,
  { from, truncated }: Start,
): Promise<Pick<Start, 'truncated'> & { readonly events: readonly LoggedEvent[] }> {
  const events: LoggedEvent[] = [];
  let cursor = from;
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const read = await readSelected(ctx, selected, cursor, MAX_REPLAYED);
    events.push(...read.events);
    if (events.length > MAX_REPLAYED) break;
    if (!read.hasMore) return { events, truncated };
    cursor = read.cursor;
  }
  return { events: [], truncated: true };
}

async function currentWatermark(ctx: Context<'eventLog'>, webhookId: string): Promise<string> {
  const { from } = await startOf(ctx, null, undefined);
  return watermark(ctx.database.reader, ctx.eventLog, webhookId, from);
}

/** How the deliveries of a subscription went, without what its callback answered. */
function statusOf(ctx: Context, { breaker: stored }: WebhookTable): object {
  const { state, failures, lastError, outageSince, pausedUntil }: Breaker = JSON.parse(stored);
  const now = ctx.steady.now();
  const isFailing = state !== 'closed' || failures > 0;
  const isPaused = pausedUntil !== null && pausedUntil > now;
  return {
    active: state === 'closed',
    lastError: isFailing && lastError !== null ? problemOf(lastError.class) : null,
    ...(state !== 'closed' && outageSince && { failedSince: isoTime(ctx.steady.toWall(outageSince)) }),
    ...(isPaused && { throttled: true, retryAfterMs: pausedUntil - now }),
  };
}

const EventSubscription = named('EventSubscription', {
  webhookId: WebhookId,
  subscriptionId: string('Id that the client knows (`sub_…`), which deliveries have as `X-MCP-Subscription-Id`.'),
  keyId: string('API key that subscribed (`key_…`).'),
  webhookUrl: string('URL that receives the events.'),
  event: string('Event type.'),
  arguments: openObject('Arguments that select events, as the client sent them.'),
  expiresAt: time('When it ends unless the client refreshes it.'),
  createdAt: time('When the client subscribed.'),
  breakerState: oneOf(['closed', 'open', 'half_open'], 'State of the circuit breaker.'),
});

export const listSubscriptions = defineOperation({
  id: 'webhooks.subscriptions.list',
  route: 'GET /webhooks/subscriptions',
  permission: 'webhooks:metadata',
  scope: 'account',
  effect: 'read',
  summary: 'List event subscriptions',
  description:
    'List what MCP clients have subscribed to with `events/subscribe`, newest first. Only the client can change a subscription. Its deliveries are in the delivery log under `webhookId`, by which you also get its statistics and reset its circuit breaker.',
  input: pageInput,
  output: pageOf(EventSubscription),
  run(ctx, input) {
    const own = ctx.database.reader.kysely
      .selectFrom('webhooks')
      .selectAll()
      .where('account_id', '=', ctx.accountId)
      .where('subscription_id', 'is not', null)
      .where('expires_at', '>', 0);
    return readPage('subscriptions', own, 'webhook_id', input, (rows) => rows.map(toSubscription));
  },
});

export const deleteSubscription = defineOperation({
  id: 'webhooks.subscriptions.delete',
  route: 'DELETE /webhooks/subscriptions/{webhookId}',
  permission: 'webhooks:write',
  scope: 'account',
  effect: 'destructive',
  uses: ['subscriptionKeeper'],
  summary: 'End an event subscription',
  description:
    'End a subscription of an MCP client. Pending deliveries are cancelled, and the client is told. It can subscribe again until you revoke its API key.',
  input: { webhookId: WebhookId },
  output: object({ webhookId: WebhookId, deleted: onlyTrue() }),
  errors: ['not_found'],
  async run(ctx, { webhookId }) {
    const row = await findLaneRow(ctx.database.reader, ctx.accountId, webhookId);
    if (row.subscription_id === null) throw noSuch('subscription', webhookId);
    await ctx.subscriptionKeeper.end(row, 'The account has ended the subscription');
    return { webhookId, deleted: true as const };
  },
});

function toSubscription(row: WebhookTable) {
  return {
    webhookId: row.webhook_id,
    subscriptionId: row.subscription_id ?? '',
    keyId: row.key_id ?? '',
    webhookUrl: row.url,
    event: (JSON.parse(row.events) as string[])[0] ?? '',
    arguments: JSON.parse(row.arguments ?? '{}') as Record<string, unknown>,
    expiresAt: isoTime(row.expires_at ?? 0),
    createdAt: isoTime(row.created_at),
    breakerState: row.breaker_state,
  };
}
