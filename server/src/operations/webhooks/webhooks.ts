import { isDeepStrictEqual } from 'node:util';
import { callerKeyId } from '../../auth/authenticate.ts';
import type { Queryable } from '../../db/dialect.ts';
import type { WebhookTable } from '../../db/schema.ts';
import { invalidField } from '../../errors.ts';
import { boolean, entries, IdempotencyKey, object, optional, string } from '../../invoke/input/fields.ts';
import { defineOperation } from '../../invoke/operation.ts';
import {
  changeWebhook,
  findDefault,
  findWebhookRow,
  insertWebhook,
  rotateSecret,
} from '../../webhooks/endpoints/destinations.ts';
import { makeSecret } from '../../webhooks/endpoints/madeSecret.ts';
import { removeWebhook } from '../../webhooks/endpoints/removal.ts';
import { findChosen, otherWebhook } from './anyWebhook.ts';
import { acceptedSubscription } from './eventTypes.ts';
import { acceptedReceiver } from './webhookDestination.ts';
import {
  hiddenSecret,
  SecretUrl,
  secretUrlOf,
  toConfiguration,
  WebhookConfiguration,
  WebhookId,
  webhookFields,
} from './webhookRecord.ts';
import { countDropped, lossesOf, remarks, warningsOf } from './webhookRemarks.ts';

/* The account's default webhook, which the contract requires. */

/** Source: `POST /webhooks/set` of the contract. */
export const setWebhook = defineOperation({
  id: 'webhooks.set',
  route: 'POST /webhooks/set',
  permission: 'webhooks:write',
  scope: 'account',
  effect: 'destructive',
  isRepeatable: false, // each rotation makes another secret
  idempotent: true,
  tool: true,
  uses: ['emit', 'engine', 'targets'],
  summary: 'Set the webhook',
  description:
    'Replace the URL and event types of the default webhook, or of another one. Call `webhooks.test` to verify it. A new URL closes the circuit breaker. Cancels pending deliveries of event types that you drop.',
  input: {
    ...otherWebhook,
    ...webhookFields,
    secret: hiddenSecret,
    rotateSecret: optional(
      boolean(
        'Signs with a new secret, which is not returned. A person reads it at `secretUrl`. Repeat URL and events to only rotate.',
      ),
    ),
    idempotencyKey: IdempotencyKey,
  },
  output: object({
    ...WebhookConfiguration.properties,
    secretUrl: SecretUrl,
    cancelled: optional(remarks.cancelled),
    warnings: optional(remarks.warnings),
  }),
  errors: ['not_found'],
  example: {
    webhookUrl: 'https://example.com/hooks',
    events: ['message.incoming', 'message.sent'],
    secret: 'a long random text',
  },
  async run(ctx, { webhookId, webhookUrl, events, secret, rotateSecret: isRotating = false }) {
    if (isRotating && secret !== undefined)
      throw invalidField('rotateSecret', 'makes a new secret; leave out `secret`, or set only that');
    const change = { events: acceptedSubscription(events), secret, keyId: callerKeyId(ctx) };
    const known = await findChosen(ctx.database.reader, ctx.accountId, webhookId);
    const cancelled = known === undefined ? 0 : await countDropped(ctx, known, change);
    const { row, warnings } = await ctx.database.commit(async (tx) => {
      const present = await findChosen(tx, ctx.accountId, webhookId);
      const receiver = acceptedReceiver(ctx, { webhookUrl }, present);
      // A webhook that somebody has stopped stays so if only its secret changes.
      const isKept = isRotating && present !== undefined && isUnchanged(present, { ...change, ...receiver });
      const all = { ...change, ...receiver, ...(!isKept && { enabled: true, paused: false }) };
      const changed = await (present === undefined
        ? insertWebhook(ctx, tx, true, all)
        : changeWebhook(ctx, tx, present, all));
      const lost = present === undefined ? [] : lossesOf({}, present, changed);
      const warnings = [...lost, ...(await warningsOf(tx, changed))];
      if (!isRotating) return { row: changed, warnings };
      await rotateSecret(ctx, tx, changed, makeSecret(ctx.clock.now()));
      return { row: await findWebhookRow(tx, ctx.accountId, changed.webhook_id), warnings };
    }, ctx.accountId);
    return {
      ...toConfiguration(row),
      ...(isRotating && { secretUrl: secretUrlOf(ctx, row) }),
      ...(cancelled > 0 && { cancelled }),
      ...(warnings.length > 0 && { warnings }),
    };
  },
});

function isUnchanged(
  present: WebhookTable,
  { url = present.url, events }: { url?: string; events: readonly string[] },
) {
  const before: string[] = JSON.parse(present.events);
  return url === present.url && isDeepStrictEqual(new Set(before), new Set(events));
}

/** Source: `GET /webhooks` of the contract. */
export const getWebhook = defineOperation({
  id: 'webhooks.get',
  route: 'GET /webhooks',
  permission: 'webhooks:metadata',
  scope: 'account',
  effect: 'read',
  tool: true,
  summary: 'Get the webhook',
  description:
    'Get the URL and the event types of the default webhook, whether it has a secret, and the ids of `others`. Use it before `webhooks.set`, which replaces them.',
  input: otherWebhook,
  output: object({
    ...WebhookConfiguration.properties,
    others: optional(
      entries('Webhooks besides the default one; left out if there is none, and with `webhookId`.', {
        webhookId: WebhookId,
        webhookUrl: string('URL that receives events.'),
      }),
    ),
  }),
  errors: ['not_found'],
  async run(ctx, { webhookId }) {
    const { reader } = ctx.database;
    const configuration = toConfiguration(await findChosen(reader, ctx.accountId, webhookId));
    const others = webhookId === undefined ? await othersOf(reader, ctx.accountId) : [];
    return { ...configuration, ...(others.length > 0 && { others }) };
  },
});

/** The webhooks that the account has set besides the default one, of which there are at most 100. */
async function othersOf({ kysely }: Queryable, accountId: string) {
  const rows = await kysely
    .selectFrom('webhooks')
    .select(['webhook_id', 'url'])
    .where('account_id', '=', accountId)
    .where('is_default', '=', 0)
    .where('subscription_id', 'is', null)
    .orderBy('webhook_id')
    .execute();
  return rows.map((row) => ({ webhookId: row.webhook_id, webhookUrl: row.url }));
}

export const deleteWebhook = defineOperation({
  id: 'webhooks.delete',
  route: 'DELETE /webhooks',
  owner: { field: 'webhookId' },
  permission: 'webhooks:write',
  scope: 'account',
  effect: 'destructive',
  uses: ['deletions', 'engine'],
  summary: 'Remove the webhook',
  description:
    'Remove the default webhook. Pending deliveries are cancelled and stay in the delivery log. Once the request returns, nothing more is sent to the URL.',
  input: {},
  output: object({
    deleted: boolean('Whether a webhook was removed; false if none was set.'),
  }),
  run: async (ctx) => ({ deleted: await removeWebhook(ctx, (on) => findDefault(on, ctx.accountId)) }),
});
