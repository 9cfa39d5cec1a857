import { boolean, integer, named, optional, orNull, string, time } from '../invoke/fields.ts';
import { rotateSecret } from '../webhooks/destinations.ts';
import { onAnyWebhook, requireWebhook } from './anyWebhook.ts';

const SecretRotation = named('SecretRotation', {
  hasSecret: boolean('Whether a secret is set.'),
  previousSecretValidUntil: orNull(time(), 'Until when `webhook-signature` has both signatures; null if it has one.'),
});

export const [rotateWebhookSecret, rotateEndpointSecret] = onAnyWebhook(
  {
    name: 'rotate_secret',
    permission: 'webhooks:write',
    effect: 'write',
    fields: {
      // `/webhooks/set` accepts any length, as the contract requires. A rotation must not weaken the secret.
      secret: string('New secret, with at least 16 characters. Never returned.', { minLength: 16, maxLength: 512 }),
      graceSeconds: optional(
        integer('Seconds for which `webhook-signature` also has the signature of the old secret; one day by default.', {
          minimum: 0,
          maximum: 2_592_000,
          default: 86_400,
        }),
      ),
    },
    output: SecretRotation,
    needsWebhook: true,
    run: (ctx, find, { secret, graceSeconds }) =>
      ctx.database.commit(
        async (tx) => rotateSecret(ctx, tx, requireWebhook(await find(tx)), secret, graceSeconds),
        ctx.accountId,
      ),
  },
  {
    route: 'POST /webhooks/secret/rotate',
    summary: 'Rotate the secret of the webhook',
    description:
      'Replace the secret without losing deliveries. For `graceSeconds`, `webhook-signature` has the signatures of both secrets, so that receivers can switch. `X-Webhook-Signature` uses the new secret at once.',
  },
  {
    route: 'POST /webhooks/endpoints/{webhookId}/secret/rotate',
    summary: 'Rotate the secret of a webhook',
    description:
      'Replace the secret of a webhook without losing deliveries. For `graceSeconds`, `webhook-signature` has the signatures of both secrets. `X-Webhook-Signature` uses the new secret at once.',
  },
);
