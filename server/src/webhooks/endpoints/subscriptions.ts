import { allEnded } from '../../async.ts';
import type { Tx } from '../../db/commit.ts';
import type { Queryable } from '../../db/dialect.ts';
import { query } from '../../db/query.ts';
import type { WebhookTable } from '../../db/schema.ts';
import { aboutWebhook } from '../../db/sealing.ts';
import { AppError } from '../../errors.ts';
import { includes } from '../../events/addedFields.ts';
import { chatOf } from '../../events/conversation.ts';
import type { EventKind } from '../../events/events.ts';
import type { NewSubscription } from '../lanes/subscription.ts';
import { insertDeliveries, numbersOf } from '../log/emit.ts';
import { type EventLog, earlierOf, type LoggedEvent } from '../log/eventLog.ts';
import { filteredBy, passesFilters, type WebhookFilters } from '../log/filters.ts';
import { firstPendingEvent, pendingEventsOf } from '../queue/queue.ts';
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

/** Starts delivering the given events of the log and those that were queued meanwhile, in order, each once. */
export async function activate(
  ctx: ChangeContext & Pick<WebhookContext, 'newId'>,
  tx: Tx,
  row: WebhookTable,
  replayed: readonly LoggedEvent[],
): Promise<void> {
  const numbers = await numbersOf.first(tx, { accountId: row.account_id, webhookId: row.webhook_id });
  if (numbers === undefined) throw new AppError('not_found'); // it has ended meanwhile
  const queued = new Set((await queuedEvents.all(tx, { webhookId: row.webhook_id })).map(({ event }) => event));
  const missing = replayed.filter(({ sequence }) => !queued.has(sequence));
  const deliveries = missing.map(({ sequence, kind }) => ({
    ...{ ...numbers, event: sequence, kind },
    delivery_id: ctx.newId('dlv'),
  }));
  await allEnded(...insertDeliveries(tx, deliveries));
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

const queuedEvents = query((db, p: { webhookId: string }) => pendingEventsOf(db, p));
