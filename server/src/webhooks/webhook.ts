import type { Database } from '../db/database.ts';
import type { Queryable } from '../db/dialect.ts';
import { query } from '../db/query.ts';
import type { WebhookTable } from '../db/schema.ts';
import { aboutWebhook } from '../db/sealing.ts';
import type { Seal } from '../seal.ts';
import type { Breaker, BreakerState } from './breaker.ts';

/** A webhook as the engine uses it, with its secrets decrypted. */
export interface Webhook {
  readonly accountId: string;
  readonly webhookId: string;
  readonly url: string;
  readonly events: readonly string[];
  readonly secret: string | null;
  readonly previousSecret: string | null;
  readonly previousSecretUntil: number | null;
  readonly isEnabled: boolean;
  readonly maxInFlight: number;
  readonly breaker: Breaker;
}

/** @throws {SealError} if its secrets cannot be decrypted */
export function toWebhook(row: WebhookTable, seal: Seal): Webhook {
  const opened = (secret: string | null) => secret && seal.open(secret, aboutWebhook(row.webhook_id));
  return {
    accountId: row.account_id,
    webhookId: row.webhook_id,
    url: row.url,
    events: JSON.parse(row.events),
    secret: opened(row.secret),
    previousSecret: opened(row.previous_secret),
    previousSecretUntil: row.previous_secret_until,
    isEnabled: row.enabled === 1,
    maxInFlight: row.max_in_flight,
    breaker: JSON.parse(row.breaker),
  };
}

export async function findWebhook({ reader, seal }: Database, webhookId: string): Promise<Webhook | undefined> {
  const row = await webhookById.first(reader, { webhookId });
  return row && toWebhook(row, seal);
}

/** Stores a breaker, unless the stored one has changed since `generation`. Returns whether it did. */
export async function storeBreaker(
  on: Queryable,
  webhookId: string,
  breaker: Breaker,
  generation: number,
): Promise<boolean> {
  const { state, generation: next } = breaker;
  const changed = await updateBreaker.run(on, { webhookId, state, next, breaker: JSON.stringify(breaker), generation });
  return changed === 1;
}

/** Reads the ids of webhooks that hold their deliveries: the breaker is not closed, or the webhook is disabled. */
export async function readHalted(on: Queryable): Promise<Set<string>> {
  return new Set((await halted.all(on, {})).map(({ webhook_id }) => webhook_id));
}

export function countBreakers(on: Queryable): Promise<{ state: string; count: number }[]> {
  return breakerStates.all(on, {});
}

const webhookById = query((db, p: { webhookId: string }) =>
  db.selectFrom('webhooks').selectAll().where('webhook_id', '=', p.webhookId),
);

const updateBreaker = query(
  (db, p: { webhookId: string; state: BreakerState; next: number; breaker: string; generation: number }) =>
    db
      .updateTable('webhooks')
      .set({ breaker_state: p.state, breaker_generation: p.next, breaker: p.breaker })
      .where('webhook_id', '=', p.webhookId)
      .where('breaker_generation', '=', p.generation),
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
    .where((eb) => eb.or([eb('breaker_state', '!=', 'closed'), eb('enabled', '=', 0)])),
);
