import type { Tx } from '../../db/commit.ts';
import type { Queryable } from '../../db/dialect.ts';
import { query } from '../../db/query.ts';
import type { WebhookTable } from '../../db/schema.ts';
import { aboutWebhook } from '../../db/sealing.ts';
import { includes } from '../../events/addedFields.ts';
import { chatOf } from '../../events/conversation.ts';
import type { EventKind } from '../../events/events.ts';
import type { NewSubscription } from '../lanes/subscription.ts';
import { insertDeliveries } from '../log/emit.ts';
import { type EventLog, earlierOf, type LoggedEvent } from '../log/eventLog.ts';
import { filteredBy, passesFilters, type WebhookFilters } from '../log/filters.ts';
import { firstPendingEvent, pendingOf } from '../queue/queue.ts';
import { type ChangeContext, insertWebhook, resetBreaker, updateRow, type WebhookContext } from './destinations.ts';

/* Creates, refreshes and reads the subscriptions of MCP clients. `SubscriptionKeeper` ends them. */

/** The events that a subscription selects. */
export interface Selected {
  readonly kind: EventKind;
  /** Undefined for all. */
  readonly sessionIds: readonly string[] | undefined;
  readonly filters: WebhookFilters;
}

/** Whether an event of the log, which is of the type and the sessions, is selected. */
export function isSelected({ kind, filters }: Selected, { conversation, body }: LoggedEvent): boolean {
  const { data } = JSON.parse(body) as { data: object };
  return passesFilters(filters, { kind, chatId: chatOf(conversation), ...filteredBy(data) });
}

/** Deliveries of a subscription at the same time. */
const MAX_IN_FLIGHT = 4;

/**
 * Stores a subscription that queues events from now on and delivers none before `activate`. Its chats stay in order
 * across retries.
 */
export function insertSubscription(
  ctx: Omit<WebhookContext, 'emit' | 'log'>,
  tx: Tx,
  { kind, sessionIds, filters }: Selected,
  { url, secret, ...subscription }: NewSubscription & { readonly url: string; readonly secret: string },
): Promise<WebhookTable> {
  const isFiltered = Object.values(filters).some((value) => value !== undefined);
  const webhook = {
    url,
    secret,
    events: [kind],
    sessionIds: sessionIds ?? null,
    filters: isFiltered ? filters : null,
    include: includes,
    ordering: 'strict' as const,
    maxInFlight: MAX_IN_FLIGHT,
    paused: true,
  };
  return insertWebhook(ctx, tx, false, webhook, subscription);
}

/** Starts delivering: first the given events of the log, then those that were queued meanwhile, each once. */
export async function activate(
  ctx: ChangeContext & Pick<WebhookContext, 'newId'>,
  tx: Tx,
  row: WebhookTable,
  replayed: readonly LoggedEvent[],
): Promise<void> {
  const { account_id, webhook_id } = row;
  const known = new Set(replayed.map(({ eventId }) => eventId));
  const queued = await queuedEvents.all(tx, { webhookId: webhook_id });
  const ids = JSON.stringify(queued.map(({ delivery_id }) => delivery_id));
  await tx.kysely
    .deleteFrom('deliveries')
    .where('account_id', '=', account_id)
    .where('delivery_id', 'in', tx.dialect.texts(ids))
    .execute();
  const all = [
    ...replayed.map(({ eventId: event_id, kind, conversation, createdAt: created_at }) => ({
      ...{ event_id, kind, conversation, created_at },
    })),
    ...queued.filter(({ event_id }) => !known.has(event_id)),
  ];
  const deliveries = all.map(({ event_id, kind, conversation, created_at }) => ({
    ...{ account_id, webhook_id, event_id, kind, conversation, created_at },
    delivery_id: ctx.newId('dlv'),
  }));
  await insertDeliveries.run(tx, deliveries);
  await updateRow(ctx, tx, row, { paused: 0 });
}

/** How long deliveries have the signature of the former secret too. */
const FORMER_SECRET_MS = 3_600_000;

interface Refreshed {
  readonly secret: string;
  readonly expiresAt: number;
}

/**
 * Extends a subscription, replaces its secret, and resumes deliveries that its breaker holds.
 * @returns false if it has ended meanwhile
 */
export async function refreshSubscription(
  ctx: WebhookContext,
  tx: Tx,
  row: WebhookTable,
  { secret, expiresAt, sessionIds }: Pick<Selected, 'sessionIds'> & Refreshed,
): Promise<boolean> {
  const now = ctx.clock.now();
  const { accountId } = ctx;
  if ((await extend.run(tx, { accountId, webhookId: row.webhook_id, expiresAt, now })) === 0) return false;
  const about = aboutWebhook(row.webhook_id);
  const { seal } = ctx.database;
  const isNew = row.secret === null || seal.open(row.secret, about) !== secret;
  await updateRow(ctx, tx, row, {
    session_ids: sessionIds === undefined ? null : JSON.stringify(sessionIds),
    ...(isNew && {
      secret: seal.close(secret, about),
      previous_secret: row.secret,
      previous_secret_until: now + FORMER_SECRET_MS,
    }),
  });
  if (row.breaker_state !== 'closed') await resetBreaker(ctx, tx, row);
  return true;
}

export async function findSubscription(
  { kysely }: Pick<Queryable, 'kysely'>,
  accountId: string,
  subscriptionId: string,
): Promise<WebhookTable | undefined> {
  return kysely
    .selectFrom('webhooks')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('subscription_id', '=', subscriptionId)
    .executeTakeFirst();
}

/** Returns how many subscriptions a key has. */
export async function countOfKey(
  { kysely }: Pick<Queryable, 'kysely'>,
  accountId: string,
  keyId: string,
): Promise<number> {
  const { count } = await kysely
    .selectFrom('webhooks')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('account_id', '=', accountId)
    .where('key_id', '=', keyId)
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** Whether a key has a live subscription with this URL, so that the URL is verified. */
export async function isVerified(
  { kysely }: Pick<Queryable, 'kysely'>,
  accountId: string,
  keyId: string,
  url: string,
  now: number,
): Promise<boolean> {
  const row = await kysely
    .selectFrom('webhooks')
    .select('webhook_id')
    .where('account_id', '=', accountId)
    .where('key_id', '=', keyId)
    .where('url', '=', url)
    .where('expires_at', '>', now)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/**
 * Returns a cursor up to which the subscriber has every event, or never gets it.
 * @param upTo the cursor after the event that is being delivered, or of this moment
 */
export async function watermark(on: Queryable, eventLog: EventLog, webhookId: string, upTo: string): Promise<string> {
  // In this order: an event that becomes visible in between is beyond the cursor.
  const visible = await eventLog.visible(upTo);
  const waiting = await firstPendingEvent(on, webhookId);
  return waiting === undefined ? visible : earlierOf(visible, waterlineOf(eventLog, waiting, upTo));
}

/** The delivery in progress does not hold back its own cursor. */
function waterlineOf(
  eventLog: EventLog,
  waiting: { readonly event_id: string; readonly position: number },
  upTo: string,
): string {
  return eventLog.after(waiting) === upTo ? upTo : eventLog.before(waiting);
}

/** The end of a subscription begins with an expiry in the past. */
const extend = query((db, p: { accountId: string; webhookId: string; expiresAt: number; now: number }) =>
  db
    .updateTable('webhooks')
    .set({ expires_at: p.expiresAt })
    .where('account_id', '=', p.accountId)
    .where('webhook_id', '=', p.webhookId)
    .where('expires_at', '>', p.now),
);

const queuedEvents = query((db, p: { webhookId: string }) =>
  pendingOf(db, p)
    .select(['d.delivery_id', 'd.event_id', 'd.kind', 'd.conversation', 'd.created_at'])
    .orderBy('d.position')
    .orderBy('d.delivery_id'),
);
