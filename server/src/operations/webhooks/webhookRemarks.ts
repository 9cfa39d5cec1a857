import { Type } from 'typebox';
import type { Tx } from '../../db/commit.ts';
import type { WebhookTable } from '../../db/schema.ts';
import type { EventKind } from '../../events/events.ts';
import { integer, list } from '../../invoke/input/fields.ts';
import type { Context } from '../../invoke/operation.ts';
import type { WebhookChange } from '../../webhooks/endpoints/destinations.ts';
import { referredKinds, type WebhookFilters } from '../../webhooks/log/filters.ts';
import { countUnwanted } from '../../webhooks/queue/queue.ts';
import { subscribedKinds } from './eventTypes.ts';

/* The effects of a change of a webhook, which its response names. */

export const remarks = {
  cancelled: integer('Number of pending deliveries that the change cancelled, up to 100,000.', { minimum: 0 }),
  warnings: list(Type.String(), 'Remarks on the new configuration, as sentences.'),
};

/** Returns the number of pending deliveries of event types and sessions that a change drops. */
export async function countDropped(
  { database }: Context,
  { webhook_id: webhookId, events: stored }: WebhookTable,
  { events, sessionIds }: WebhookChange,
): Promise<number> {
  const before: string[] = JSON.parse(stored);
  const kinds = events !== undefined && before.some((kind) => !events.includes(kind)) ? events : null;
  if (kinds === null && !sessionIds) return 0;
  return countUnwanted(database.longReader, webhookId, kinds, sessionIds ?? null);
}

/** Says what a change removed besides what it named. */
export function lossesOf(
  input: { readonly headers?: unknown; readonly credentials?: unknown },
  before: WebhookTable,
  after: WebhookTable,
): string[] {
  return (['headers', 'credentials'] as const)
    .filter((name) => input[name] === undefined && before[name] !== null && after[name] === null)
    .map((name) => `The ${name} were removed because the receiver is another one`);
}

/** Remarks on a new or changed webhook. */
export async function warningsOf({ kysely }: Tx, row: WebhookTable): Promise<string[]> {
  const others = await kysely
    .selectFrom('webhooks')
    .select(['webhook_id', 'events', 'destination'])
    .where('account_id', '=', row.account_id)
    .where('url', '=', row.url)
    .where('subscription_id', 'is', null)
    .where('webhook_id', '<>', row.webhook_id)
    .execute();
  const kinds = subscribedKinds(JSON.parse(row.events));
  const repeated = others.flatMap(({ webhook_id, events, destination }) => {
    if (destination !== row.destination) return [];
    const shared = subscribedKinds(JSON.parse(events)).filter((kind) => kinds.includes(kind));
    if (shared.length === 0) return [];
    return `The webhook ${webhook_id} has the same URL and also receives ${shared.join(', ')}: the receiver gets these events twice, unless sessions or filters tell them apart`;
  });
  return [...repeated, ...uselessFilters(row, kinds)];
}

function uselessFilters({ filters }: WebhookTable, kinds: readonly EventKind[]): string[] {
  const { hasReferral, adIds }: WebhookFilters = JSON.parse(filters ?? '{}');
  if ((hasReferral ?? adIds) === undefined || referredKinds.some((kind) => kinds.includes(kind))) return [];
  return [
    `The filters hasReferral and adIds have no effect: they apply to ${referredKinds.join(' and ')}, which the webhook does not receive`,
  ];
}
