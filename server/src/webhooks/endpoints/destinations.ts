import { type Clock, isoTime } from '../../clock.ts';
import type { Tx } from '../../db/commit.ts';
import type { Database } from '../../db/database.ts';
import type { Queryable } from '../../db/dialect.ts';
import { FIRST_ROWS, Pace } from '../../db/pace.ts';
import type { WebhookTable } from '../../db/schema.ts';
import { aboutWebhook } from '../../db/sealing.ts';
import { originOf } from '../../egress/target.ts';
import { AppError } from '../../errors.ts';
import type { WebhookInclude } from '../../events/addedFields.ts';
import type { NewId } from '../../ids.ts';
import type { Log } from '../../log.ts';
import type { SteadyClock } from '../../steadyClock.ts';
import {
  type Credentials,
  type Destination,
  destinationOf,
  isSameReceiver,
  SUBSCRIPTION,
  storedDestination,
} from '../delivery/destination.ts';
import type { Engine } from '../lanes/engine.ts';
import { type NewSubscription, SUBSCRIPTION_PREFIX } from '../lanes/subscription.ts';
import { storeBreakers } from '../lanes/webhook.ts';
import type { Emit } from '../log/emit.ts';
import type { WebhookFilters } from '../log/filters.ts';
import { type Breaker, newBreaker, reset } from '../queue/breaker.ts';
import type { Key } from '../queue/pending.ts';
import { cancelOne, dueNow, readHeld } from '../queue/queue.ts';
import { release, releaseSome } from '../queue/strictOrder.ts';
import { UnwantedDeliveries } from '../queue/unwanted.ts';

/* Finds and changes the webhooks of an account, and notifies the engine. */

export interface WebhookContext {
  readonly accountId: string;
  /** Id for a new webhook, if the call can be repeated. */
  readonly resourceId: string | undefined;
  readonly database: Database;
  readonly clock: Clock;
  readonly steady: SteadyClock;
  readonly newId: NewId;
  readonly emit: Emit;
  readonly log: Log;
  readonly engine: Engine;
}

/** The context of changes to a webhook's row. */
export type ChangeContext = Pick<WebhookContext, 'accountId' | 'clock' | 'engine'>;

/** The new configuration of a webhook. A field that is left out does not change. */
export interface WebhookChange {
  readonly url?: string;
  readonly destination?: Destination;
  /** Null for none. */
  readonly credentials?: Credentials | null | undefined;
  readonly events?: readonly string[];
  /** Null for all sessions. */
  readonly sessionIds?: readonly string[] | null | undefined;
  readonly description?: string | null | undefined;
  /** JSON of the account's own data. */
  readonly metadata?: string | undefined;
  /**
   * API key of the caller, which is stored if the webhook is new, its receiver changes or a key's webhook gets files;
   * null for a login.
   */
  readonly keyId?: string | null | undefined;
  readonly secret?: string | null | undefined;
  readonly enabled?: boolean | undefined;
  readonly maxInFlight?: number | undefined;
  readonly filters?: WebhookFilters | null | undefined;
  readonly headers?: Readonly<Record<string, string>> | null | undefined;
  readonly timeoutMs?: number | null | undefined;
  readonly acceptRedirects?: boolean | undefined;
  readonly retrySeconds?: readonly number[] | null | undefined;
  readonly paused?: boolean | undefined;
  readonly ordering?: WebhookTable['ordering'] | undefined;
  /** Null for those that its event types imply. */
  readonly include?: readonly WebhookInclude[] | null | undefined;
  /** Maximum size of files in deliveries, in bytes; 0 for none. */
  readonly inlineMediaBytes?: number | undefined;
  /** Removal time in milliseconds; null for never. */
  readonly removeAt?: number | null | undefined;
}

const DEFAULT_MAX_IN_FLIGHT = 8;

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

/** @throws {AppError} `not_found`, also for a subscription, which only its client can change */
export async function findWebhookRow(
  on: Pick<Queryable, 'kysely'>,
  accountId: string,
  webhookId: string,
): Promise<WebhookTable> {
  const row = await findLaneRow(on, accountId, webhookId);
  if (row.subscription_id !== null) throw noWebhook(webhookId);
  return row;
}

/**
 * Returns a webhook, or a subscription.
 * @throws {AppError} `not_found`
 */
export async function findLaneRow(
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
  if (row === undefined) throw noWebhook(webhookId);
  return row;
}

const noWebhook = (webhookId: string) => new AppError('not_found', `The webhook ${webhookId} does not exist`);

export async function insertWebhook(
  ctx: Omit<WebhookContext, 'emit' | 'log'>,
  tx: Tx,
  isDefault: boolean,
  {
    url = '',
    destination = { type: 'http' },
    credentials = null,
    events = [],
    sessionIds = null,
    description = null,
    metadata = '{}',
    secret = null,
    enabled = true,
    maxInFlight = DEFAULT_MAX_IN_FLIGHT,
    filters = null,
    headers = null,
    timeoutMs = null,
    acceptRedirects = false,
    retrySeconds = null,
    paused = false,
    ordering = 'best_effort',
    include = null,
    inlineMediaBytes = 0,
    removeAt = null,
    keyId = null,
  }: WebhookChange,
  subscription?: NewSubscription,
): Promise<WebhookTable> {
  const now = ctx.clock.now();
  const breaker = newBreaker(ctx.steady.now());
  const prefix = subscription === undefined ? 'whk' : SUBSCRIPTION_PREFIX;
  const webhookId = ctx.resourceId === undefined ? ctx.newId(prefix) : `${prefix}_${ctx.resourceId}`;
  tx.afterCommit(() => ctx.engine.reload(webhookId));
  await tx.kysely
    .insertInto('receivers')
    .values({ webhook_id: webhookId })
    .onConflict((one) => one.doNothing())
    .execute();
  return tx.kysely
    .insertInto('webhooks')
    .values({
      account_id: ctx.accountId,
      webhook_id: webhookId,
      is_default: isDefault ? 1 : 0,
      url,
      destination: subscription === undefined ? storedDestination(destination) : SUBSCRIPTION,
      credentials: sealed(ctx, webhookId, credentials && JSON.stringify(credentials)),
      events: JSON.stringify(events),
      session_ids: sessionIds && JSON.stringify(sessionIds),
      description,
      metadata,
      filters: filters && JSON.stringify(filters),
      headers: sealed(ctx, webhookId, headers && JSON.stringify(headers)),
      timeout_ms: timeoutMs,
      accept_redirects: acceptRedirects ? 1 : 0,
      retry_seconds: retrySeconds && JSON.stringify(retrySeconds),
      paused: paused ? 1 : 0,
      paused_reason: null,
      in_flight_by: null,
      deaths: 0,
      ordering,
      include: include && JSON.stringify(include),
      secret: sealed(ctx, webhookId, secret),
      previous_secret: null,
      previous_secret_until: null,
      enabled: enabled ? 1 : 0,
      max_in_flight: maxInFlight,
      breaker_state: breaker.state,
      breaker_generation: breaker.generation,
      breaker: JSON.stringify(breaker),
      subscription_id: subscription?.id ?? null,
      key_id: subscription?.keyId ?? null,
      arguments: subscription?.arguments ?? null,
      expires_at: subscription?.expiresAt ?? null,
      created_at: now,
      updated_at: now,
      lease_owner: null,
      lease_generation: 0,
      set_by_key: subscription === undefined ? keyId : null,
      inline_media_bytes: inlineMediaBytes,
      remove_at: removeAt,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Cancels a pending delivery. Returns false if it is settled. */
export async function cancelDelivery(
  ctx: ChangeContext,
  tx: Tx,
  row: Key & { readonly webhook_id: string; readonly conversation: string },
): Promise<boolean> {
  const { webhook_id: webhookId, conversation } = row;
  if (!(await cancelOne(tx, row, 'It was cancelled by request', ctx.clock.now()))) return false;
  await release(tx, [{ webhookId, conversation }]);
  tx.afterCommit(() => ctx.engine.reload(webhookId));
  return true;
}

/** Whether a change requests files. Its caller may read them, and vouches for the receiver. */
function addsFiles({ include, inlineMediaBytes = 0 }: WebhookChange): boolean {
  return inlineMediaBytes > 0 || include?.includes('mediaLink') === true;
}

/**
 * A new URL closes the breaker and makes retries due at once. Deliveries of event types and sessions that were dropped
 * are cancelled.
 */
export async function changeWebhook(
  ctx: WebhookContext,
  tx: Tx,
  present: WebhookTable,
  change: WebhookChange,
): Promise<WebhookTable> {
  const { url = present.url, destination = destinationOf(present) } = change;
  const before = { url: present.url, destination: destinationOf(present) };
  // They may contain a password, which is for the old receiver only.
  const isElsewhere = originOf(url) !== originOf(before.url) || destination.type !== before.destination.type;
  const removed = isElsewhere && { headers: null, credentials: null };
  const isMoved = !isSameReceiver({ url, destination }, before);
  // A login's webhook stays its own, because the webhooks of a key end with the key on request.
  const isVouched = present.set_by_key !== null && addsFiles(change);
  const columns = {
    ...columnsOf(ctx, present.webhook_id, { ...removed, ...change }),
    ...((isMoved || isVouched) && change.keyId !== undefined && { set_by_key: change.keyId }),
  };
  const changed = await updateRow(ctx, tx, present, columns);
  if (isMoved) await closeBreaker(ctx, tx, present, 'new_url');
  await inPieces(ctx, tx, present, queueChanges(ctx, present, change));
  return changed;
}

/** Returns the steps by which a change of a webhook changes its queue. */
function queueChanges(
  { clock }: WebhookContext,
  present: WebhookTable,
  { events, sessionIds, ordering = present.ordering }: WebhookChange,
): QueueChange[] {
  const steps: QueueChange[] = [];
  const now = clock.now();
  const webhook = { accountId: present.account_id, webhookId: present.webhook_id };
  const kinds: string[] = JSON.parse(present.events);
  if (events !== undefined && kinds.some((kind) => !events.includes(kind))) {
    const reason = 'The webhook no longer subscribes to this event type';
    steps.push(dropping(new UnwantedDeliveries(webhook, { kinds: events, sessionIds: null }, reason, now)));
  }
  if (sessionIds) {
    const reason = 'The webhook no longer receives the events of this session';
    steps.push(dropping(new UnwantedDeliveries(webhook, { kinds: null, sessionIds }, reason, now)));
  }
  // The cancelled deliveries may have held others back. Those that still have to wait are held again when they are
  // read.
  const mayRelease = steps.length > 0 || ordering !== 'strict';
  if (present.ordering === 'strict' && mayRelease)
    steps.push(repeating((on, limit) => releaseSome(on, webhook, limit)));
  return steps;
}

/** The columns that a change sets. */
function columnsOf(
  ctx: Pick<WebhookContext, 'database'>,
  webhookId: string,
  change: WebhookChange,
): Partial<WebhookTable> {
  const { url, events, sessionIds, description, metadata, secret, enabled, maxInFlight, acceptRedirects } = change;
  const { destination, credentials, filters, headers, timeoutMs, retrySeconds, paused, ordering, include } = change;
  const { inlineMediaBytes, removeAt } = change;
  return {
    ...(url !== undefined && { url }),
    ...(destination !== undefined && { destination: storedDestination(destination) }),
    ...(credentials !== undefined && {
      credentials: sealed(ctx, webhookId, credentials && JSON.stringify(credentials)),
    }),
    ...(events !== undefined && { events: JSON.stringify(events) }),
    ...(sessionIds !== undefined && { session_ids: sessionIds && JSON.stringify(sessionIds) }),
    ...(description !== undefined && { description }),
    ...(metadata !== undefined && { metadata }),
    ...(enabled !== undefined && { enabled: enabled ? 1 : 0 }),
    ...(maxInFlight !== undefined && { max_in_flight: maxInFlight }),
    ...(filters !== undefined && { filters: filters && JSON.stringify(filters) }),
    ...(headers !== undefined && { headers: sealed(ctx, webhookId, headers && JSON.stringify(headers)) }),
    ...(timeoutMs !== undefined && { timeout_ms: timeoutMs }),
    ...(acceptRedirects !== undefined && { accept_redirects: acceptRedirects ? 1 : 0 }),
    ...(retrySeconds !== undefined && { retry_seconds: retrySeconds && JSON.stringify(retrySeconds) }),
    ...(paused !== undefined && { paused: paused ? 1 : 0, paused_reason: null, deaths: 0 }),
    ...(ordering !== undefined && { ordering }),
    ...(include !== undefined && { include: include && JSON.stringify(include) }),
    ...(inlineMediaBytes !== undefined && { inline_media_bytes: inlineMediaBytes }),
    ...(removeAt !== undefined && { remove_at: removeAt }),
    ...(secret !== undefined && {
      secret: sealed(ctx, webhookId, secret),
      previous_secret: null,
      previous_secret_until: null,
    }),
  };
}

export async function rotateSecret(
  ctx: ChangeContext & Pick<WebhookContext, 'database'>,
  tx: Tx,
  present: WebhookTable,
  secret: string,
  graceSeconds = 86_400,
) {
  const until = present.secret === null || graceSeconds === 0 ? null : ctx.clock.now() + graceSeconds * 1000;
  await updateRow(ctx, tx, present, {
    secret: sealed(ctx, present.webhook_id, secret),
    previous_secret: until === null ? null : present.secret,
    previous_secret_until: until,
  });
  return { hasSecret: true, previousSecretValidUntil: isoTime(until) };
}

/** Counts the deliveries that a reset of the breaker releases. Call it before the transaction: a queue can be long. */
export async function countReleased({ database }: WebhookContext, row: WebhookTable | undefined): Promise<number> {
  if (row === undefined || row.breaker_state === 'closed') return 0;
  return (await readHeld(database.longReader, row.webhook_id)).count;
}

/**
 * Closes the breaker and makes held deliveries due.
 * @param held the number that `countReleased` returned
 */
export async function resetBreaker(ctx: WebhookContext, tx: Tx, row: WebhookTable | undefined, held = 0) {
  if (row === undefined) return { previousState: 'closed' as const, state: 'closed' as const, released: 0 };
  const { webhook_id: webhookId, breaker_state: previousState } = row;
  const released = previousState === 'closed' ? 0 : held;
  await closeBreaker(ctx, tx, row, 'reset');
  tx.afterCommit(() => ctx.engine.reload(webhookId));
  return { previousState, state: 'closed' as const, released };
}

export async function updateRow(
  ctx: ChangeContext,
  tx: Tx,
  { webhook_id: webhookId }: WebhookTable,
  values: Partial<WebhookTable>,
): Promise<WebhookTable> {
  tx.afterCommit(() => ctx.engine.reload(webhookId));
  return tx.kysely
    .updateTable('webhooks')
    .set({ ...values, updated_at: ctx.clock.now() })
    .where('account_id', '=', ctx.accountId)
    .where('webhook_id', '=', webhookId)
    .returningAll()
    .executeTakeFirstOrThrow(() => new AppError('not_found')); // another node has removed it meanwhile
}

async function closeBreaker(ctx: WebhookContext, tx: Tx, row: WebhookTable, reason: 'reset' | 'new_url') {
  const breaker: Breaker = JSON.parse(row.breaker);
  const { state: from, generation } = breaker;
  const next = reset(breaker, reason, ctx.steady.now());
  await storeBreakers(ctx, tx, [{ webhookId: row.webhook_id, breaker: next, from, generation }]);
  if (reason === 'reset' && breaker.state === 'closed') return;
  const webhook = { accountId: row.account_id, webhookId: row.webhook_id };
  await inPieces(ctx, tx, row, [repeating((on, limit) => dueNow(on, webhook, limit))]);
}

/** A change of a queue, which may have a million rows. */
interface QueueChange {
  /** Changes some rows. Returns whether none is left to change. */
  begin(on: Queryable): Promise<boolean>;
  /** Changes the rest, in transactions with few rows. */
  finish(database: Database): Promise<void>;
}

/** @param change changes some rows, and returns their number */
const repeating = (change: (on: Queryable, limit: number) => Promise<number>): QueueChange => ({
  begin: async (on) => (await change(on, FIRST_ROWS)) < FIRST_ROWS,
  finish: async ({ commit }) => void (await new Pace().repeat(commit, change)),
});

const dropping = (deliveries: UnwantedDeliveries): QueueChange => ({
  begin: (on) => deliveries.cancelFirst(on),
  finish: (database) => deliveries.cancelRest(database),
});

/**
 * Changes a queue in steps, one after the other. The rows beyond the first batch of a step follow after the
 * transaction, batch by batch, so that no other write waits long. If the server dies in between, deliveries of dropped
 * event types still go out, and held ones are read again within an hour.
 */
async function inPieces(
  ctx: Pick<WebhookContext, 'database' | 'log' | 'engine'>,
  tx: Tx,
  { webhook_id: webhookId }: WebhookTable,
  steps: readonly QueueChange[],
): Promise<void> {
  const left = [...steps];
  while (left[0] !== undefined && (await left[0].begin(tx))) left.shift();
  if (left.length === 0) return;
  const { database, log, engine } = ctx;
  const goOn = async () => {
    for (const change of left) await change.finish(database);
    engine.reload(webhookId);
  };
  tx.afterCommit(() => {
    goOn().catch((error) => log.error({ err: error, webhook: webhookId }, 'failed to update the queue of a webhook'));
  });
}

function sealed(
  { database }: Pick<WebhookContext, 'database'>,
  webhookId: string,
  secret: string | null,
): string | null {
  return secret && database.seal.close(secret, aboutWebhook(webhookId));
}
