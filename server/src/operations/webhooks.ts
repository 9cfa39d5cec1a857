import { Type } from 'typebox';
import { AppError } from '../errors.ts';
import { type Context, defineOperation } from '../invoke/operation.ts';
import { BreakerReset, breakerOf, CircuitBreaker, resetBreaker, statsOf, WebhookStats } from './webhookHealth.ts';
import {
  acceptedKinds,
  acceptedUrl,
  changeWebhook,
  findDefault,
  insertWebhook,
  removeWebhook,
  rotateSecret,
  rotationInput,
  SecretRotation,
  toConfiguration,
  WebhookConfiguration,
  webhookFields,
} from './webhookRecord.ts';
import { sendTest, testInput, WebhookTest } from './webhookTest.ts';

/* The account's default webhook, as the contract has it. */

const none = Type.Object({}, { additionalProperties: false });

/** Source: `POST /webhooks/set` of the contract. */
export const setWebhook = defineOperation({
  id: 'webhooks.set',
  method: 'POST',
  path: '/webhooks/set',
  credential: 'any',
  permission: 'webhooks:write',
  effect: 'destructive',
  tool: true,
  summary: 'Set the webhook',
  description:
    'Set the URL and the event types of the default webhook, replacing the previous ones. Call `webhooks.test` to verify it. A new URL closes the circuit breaker. Pending deliveries of event types that you drop are cancelled.',
  input: Type.Object(webhookFields, { additionalProperties: false }),
  output: WebhookConfiguration,
  errors: [],
  example: {
    webhookUrl: 'https://example.com/hooks',
    events: ['message.incoming', 'message.sent'],
    secret: 'a long random text',
  },
  async run(ctx, { webhookUrl, events, secret }) {
    const change = { events: acceptedKinds(events), url: acceptedUrl(ctx, webhookUrl), secret, enabled: true };
    const row = await ctx.database.commit(async (tx) => {
      const present = await findDefault(tx, ctx.accountId);
      return present === undefined ? insertWebhook(ctx, tx, true, change) : changeWebhook(ctx, tx, present, change);
    }, ctx.accountId);
    return toConfiguration(row);
  },
});

/** Source: `GET /webhooks` of the contract. */
export const getWebhook = defineOperation({
  id: 'webhooks.get',
  method: 'GET',
  path: '/webhooks',
  credential: 'any',
  permission: 'webhooks:metadata',
  effect: 'read',
  tool: true,
  summary: 'Get the webhook',
  description:
    'Get the URL and the event types of the default webhook, and whether it has a secret. Use it before `webhooks.set`, which replaces them.',
  input: none,
  output: WebhookConfiguration,
  errors: [],
  run: async (ctx) => toConfiguration(await findDefault(ctx.database.reader, ctx.accountId)),
});

export const deleteWebhook = defineOperation({
  id: 'webhooks.delete',
  method: 'DELETE',
  path: '/webhooks',
  owner: { of: 'webhookId' },
  credential: 'any',
  permission: 'webhooks:write',
  effect: 'destructive',
  tool: false,
  summary: 'Remove the webhook',
  description:
    'Remove the default webhook. Pending deliveries are cancelled and stay in the delivery log. Once the request returns, nothing more is sent to the URL.',
  input: none,
  output: Type.Object({
    deleted: Type.Boolean({ description: 'Whether a webhook was removed; false if none was set.' }),
  }),
  errors: [],
  run: async (ctx) => ({ deleted: await removeWebhook(ctx, (on) => findDefault(on, ctx.accountId)) }),
});

export const rotateWebhookSecret = defineOperation({
  id: 'webhooks.rotate_secret',
  method: 'POST',
  path: '/webhooks/secret/rotate',
  credential: 'any',
  permission: 'webhooks:write',
  effect: 'write',
  tool: false,
  summary: 'Rotate the secret of the webhook',
  description:
    'Replace the secret without losing deliveries. For `graceSeconds`, `webhook-signature` has the signatures of both secrets, so that receivers can switch. `X-Webhook-Signature` uses the new secret at once.',
  input: Type.Object(rotationInput, { additionalProperties: false }),
  output: SecretRotation,
  errors: ['webhook_not_set'],
  run: (ctx, { secret, graceSeconds }) =>
    ctx.database.commit(async (tx) => {
      const row = await findDefault(tx, ctx.accountId);
      if (row === undefined) throw new AppError('webhook_not_set');
      return rotateSecret(ctx, tx, row, secret, graceSeconds);
    }, ctx.accountId),
});

/** Source: `GET /webhooks/test` of the contract: it needs no session. */
export const testWebhook = defineOperation({
  id: 'webhooks.test',
  method: 'GET',
  path: '/webhooks/test',
  credential: 'any',
  permission: 'webhooks:operate',
  effect: 'write',
  tool: true,
  thirdPartyText: true,
  summary: 'Test the webhook',
  description:
    'Send one signed sample event to the webhook now, even if its circuit breaker is open. Use it to verify a URL, or to find the stage that fails. Returns the request, the answer and every stage. The event has `data.test: true` and is not counted in the statistics.',
  input: Type.Object(testInput, { additionalProperties: false }),
  output: WebhookTest,
  errors: ['webhook_not_set'],
  async run(ctx, { event }) {
    const row = await findDefault(ctx.database.reader, ctx.accountId);
    if (row === undefined) throw new AppError('webhook_not_set');
    return sendTest(ctx, row, event);
  },
});

/** Source: `GET /webhooks/stats` of the contract. */
export const webhookStats = defineOperation({
  id: 'webhooks.stats',
  method: 'GET',
  path: '/webhooks/stats',
  credential: 'any',
  permission: 'webhooks:metadata',
  effect: 'read',
  tool: true,
  summary: 'Get webhook statistics',
  description:
    'Get attempts, success rate and latency of the default webhook over 1 h, 24 h and 7 d, and its pending deliveries. Tests are not counted.',
  input: none,
  output: WebhookStats,
  errors: [],
  run: async (ctx) => statsOf(ctx, await findDefault(ctx.database.reader, ctx.accountId)),
});

/** Source: `GET /webhooks/circuit-breaker` of the contract. */
export const getCircuitBreaker = defineOperation({
  id: 'webhooks.get_circuit_breaker',
  method: 'GET',
  path: '/webhooks/circuit-breaker',
  credential: 'any',
  permission: 'webhooks:metadata',
  effect: 'read',
  tool: true,
  thirdPartyText: true,
  summary: 'Get the circuit breaker',
  description:
    "Get the state of the default webhook's circuit breaker, the last error, the held deliveries and the next probe. `open` means that deliveries are held because the receiver fails.",
  input: none,
  output: CircuitBreaker,
  errors: [],
  run: async (ctx: Context) => breakerOf(ctx, await findDefault(ctx.database.reader, ctx.accountId)),
});

/** Source: `POST /webhooks/circuit-breaker/reset` of the contract. */
export const resetCircuitBreaker = defineOperation({
  id: 'webhooks.reset_circuit_breaker',
  method: 'POST',
  path: '/webhooks/circuit-breaker/reset',
  credential: 'any',
  permission: 'webhooks:operate',
  effect: 'write',
  isRepeatable: true,
  tool: true,
  summary: 'Reset the circuit breaker',
  description:
    'Close the circuit breaker of the default webhook, so that held deliveries go out in order, slowly at first. Use it once the receiver works again.',
  input: none,
  output: BreakerReset,
  errors: [],
  run: (ctx) =>
    ctx.database.commit(async (tx) => resetBreaker(ctx, tx, await findDefault(tx, ctx.accountId)), ctx.accountId),
});
