import { sql } from 'kysely';
import { type Clock, isoTime } from '../../clock.ts';
import type { Tx } from '../../db/commit.ts';
import type { Database } from '../../db/database.ts';
import type { Queryable } from '../../db/dialect.ts';
import { batch, query } from '../../db/query.ts';
import type { WebhookTable } from '../../db/schema.ts';
import { aboutWebhook } from '../../db/sealing.ts';
import { originOf } from '../../egress/target.ts';
import { defaultIncludeOf, groupsIn, type Include, type WebhookInclude } from '../../events/addedFields.ts';
import type { Seal } from '../../seal.ts';
import type { BrokerRequest } from '../delivery/attempt.ts';
import { type Credentials, credentialsOf, type Destination, destinationOf } from '../delivery/destination.ts';
import type { Emit } from '../log/emit.ts';
import type { Breaker, BreakerState } from '../queue/breaker.ts';
import { type Subscription, subscriptionOf } from './subscription.ts';

/** A webhook as the engine uses it, with its secrets decrypted. */
export interface Webhook {
  readonly accountId: string;
  readonly webhookId: string;
  readonly url: string;
  readonly destination: Destination;
  /** For its broker. */
  readonly credentials: Credentials;
  readonly events: readonly string[];
  readonly secret: string | null;
  readonly previousSecret: string | null;
  readonly previousSecretUntil: number | null;
  /** Whether deliveries go out: it is enabled and not paused. */
  readonly isActive: boolean;
  /** Headers of every delivery besides its own. */
  readonly headers: Readonly<Record<string, string>>;
  /** Null for those of the server. */
  readonly timeoutMs: number | null;
  /** Whether a redirect to the result of the request (302, 303) counts as delivered. */
  readonly acceptRedirects: boolean;
  readonly retrySeconds: readonly number[] | null;
  readonly maxInFlight: number;
  /** Whether a retry holds back the later deliveries of its conversation. */
  readonly isStrict: boolean;
  /** Groups of fields that its events have in addition. */
  readonly include: readonly Include[];
  /** Whether the files in its events get links. */
  readonly links: boolean;
  /** Maximum size of files in its deliveries, in bytes; 0 for none. */
  readonly inlineBytes: number;
  /** API key that set it, if any. */
  readonly setByKey: string | null;
  /** Set if an MCP client subscribed, which gets events in another form. */
  readonly subscription: Subscription | undefined;
  readonly breaker: Breaker;
}

/** @throws {SealError} if its secrets cannot be decrypted */
export function toWebhook(row: WebhookTable, seal: Seal): Webhook {
  const opened = (secret: string | null) => secret && seal.open(secret, aboutWebhook(row.webhook_id));
  return {
    accountId: row.account_id,
    webhookId: row.webhook_id,
    url: row.url,
    destination: destinationOf(row),
    credentials: credentialsOf(row, seal),
    events: JSON.parse(row.events),
    secret: opened(row.secret),
    previousSecret: opened(row.previous_secret),
    previousSecretUntil: row.previous_secret_until,
    isActive: row.enabled === 1 && row.paused === 0,
    headers: headersOf(row, seal),
    timeoutMs: row.timeout_ms,
    acceptRedirects: row.accept_redirects === 1,
    retrySeconds: row.retry_seconds && JSON.parse(row.retry_seconds),
    maxInFlight: row.max_in_flight,
    isStrict: row.ordering === 'strict',
    include: groupsIn(includeOf(row)),
    links: includeOf(row).includes('mediaLink'),
    inlineBytes: Number(row.inline_media_bytes),
    setByKey: row.set_by_key,
    subscription: subscriptionOf(row),
    breaker: JSON.parse(row.breaker),
  };
}

/** Returns what an attempt at the broker of the webhook needs; undefined over HTTP. */
export function brokerRequest(
  { accountId, webhookId, destination, credentials }: Webhook,
  conversation: string,
): BrokerRequest | undefined {
  return destination.type === 'http' ? undefined : { accountId, webhookId, destination, credentials, conversation };
}

/** Returns what is added to the events of a webhook. */
export function includeOf({ include, events }: Pick<WebhookTable, 'include' | 'events'>): readonly WebhookInclude[] {
  return include === null ? defaultIncludeOf(JSON.parse(events)) : JSON.parse(include);
}

/**
 * Returns the headers that the account has added, by lower-case name.
 * @throws {SealError} if they cannot be decrypted
 */
export function headersOf(
  { webhook_id, headers }: Pick<WebhookTable, 'webhook_id' | 'headers'>,
  seal: Seal,
): Readonly<Record<string, string>> {
  return headers === null ? {} : JSON.parse(seal.open(headers, aboutWebhook(webhook_id)));
}

/** Reads webhooks by id. Each is decrypted by its own call, see `toWebhook`. */
export async function findWebhooks(
  { reader, seal }: Database,
  webhookIds: readonly string[],
): Promise<Map<string, () => Webhook>> {
  const rows = await webhooksById.all(reader, { webhookIds: JSON.stringify(webhookIds) });
  return new Map(rows.map((row) => [row.webhook_id, () => toWebhook(row, seal)]));
}

interface CircuitEvents {
  readonly emit: Emit;
  readonly clock: Clock;
}

export interface BreakerChange {
  readonly webhookId: string;
  readonly breaker: Breaker;
  /** State and generation of the breaker that it replaces. */
  readonly from: BreakerState;
  readonly generation: number;
}

/**
 * Stores breakers, except where the stored one has another generation, and emits that they opened or closed. Returns
 * the webhooks whose breaker it stored.
 */
export async function storeBreakers(
  { emit, clock }: CircuitEvents,
  tx: Tx,
  changes: readonly BreakerChange[],
): Promise<Set<string>> {
  const rows = changes.map(({ webhookId, breaker, generation }) => ({
    webhook_id: webhookId,
    state: breaker.state,
    next: breaker.generation,
    breaker: JSON.stringify(breaker),
    generation,
  }));
  const stored = new Map((await updateBreakers.all(tx, rows)).map((row) => [row.webhook_id, row]));
  for (const change of changes) {
    const row = stored.get(change.webhookId);
    if (row !== undefined) emitCircuit({ emit, clock }, tx, row, change);
  }
  return new Set(stored.keys());
}

/** Emits once when an outage begins and once when it is over, but not for each failed probe. */
function emitCircuit({ emit, clock }: CircuitEvents, tx: Tx, row: Updated, { breaker, from }: BreakerChange): void {
  const { account_id: accountId, webhook_id: webhookId, url } = row;
  const wasClosed = from === 'closed';
  if (wasClosed === (breaker.state === 'closed')) return;
  // Other receivers get it, and the rest of a URL often contains a secret.
  const webhookOrigin = originOf(url);
  const data = { webhookId, webhookOrigin, reason: breaker.reason ?? '', timestamp: isoTime(clock.now()) };
  const emission = { accountId, conversation: webhookId, except: webhookId, trace: null };
  const error = shownError(breaker);
  if (wasClosed) emit(tx, { ...emission, kind: 'webhook.circuit_opened', data: { ...data, error } });
  else emit(tx, { ...emission, kind: 'webhook.circuit_closed', data });
}

/** Without the target of a redirect, which may contain the same secret. */
function shownError({ lastError }: Breaker): string | null {
  if (lastError?.class === 'redirect') return `Answered ${lastError.status} with a redirect, which is not followed`;
  return lastError?.message ?? null;
}

type Updated = Pick<WebhookTable, 'account_id' | 'webhook_id' | 'url'>;

/**
 * Reads the ids of webhooks that hold their deliveries: the breaker is not closed, or the webhook is disabled or
 * paused.
 */
export async function readHalted(on: Queryable): Promise<Set<string>> {
  return new Set((await halted.all(on, {})).map(({ webhook_id }) => webhook_id));
}

export function countBreakers(on: Queryable): Promise<{ state: string; count: number }[]> {
  return breakerStates.all(on, {});
}

const webhooksById = query((db, p: { webhookIds: string }, dialect) =>
  db.selectFrom('webhooks').selectAll().where('webhook_id', 'in', dialect.texts(p.webhookIds)),
);

const updateBreakers = batch(
  { webhook_id: 'text', state: 'text', next: 'bigint', breaker: 'text', generation: 'bigint' },
  ({ row, from }) => sql<Updated>`
    update webhooks set breaker_state = ${row.state}, breaker_generation = ${row.next}, breaker = ${row.breaker}
    ${from}
    where webhooks.webhook_id = ${row.webhook_id} and webhooks.breaker_generation = ${row.generation}
    returning webhooks.account_id, webhooks.webhook_id, webhooks.url`,
);

const breakerStates = query((db, _: object) =>
  db
    .selectFrom('webhooks')
    .select(({ fn }) => ['breaker_state as state', fn.countAll<number>().as('count')])
    .groupBy('breaker_state'),
);

const halted = query((db, _: object) =>
  db
    .selectFrom('webhooks')
    .select('webhook_id')
    .where((eb) => eb.or([eb('breaker_state', '!=', 'closed'), eb('enabled', '=', 0), eb('paused', '=', 1)])),
);
