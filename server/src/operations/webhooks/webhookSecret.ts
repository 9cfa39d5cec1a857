import { isoTime } from '../../clock.ts';
import type { WebhookTable } from '../../db/schema.ts';
import { AppError } from '../../errors.ts';
import { boolean, integer, named, optional, orNull, string, time } from '../../invoke/input/fields.ts';
import type { Context } from '../../invoke/operation.ts';
import { rotateSecret } from '../../webhooks/endpoints/destinations.ts';
import { makeSecret, readableSecret } from '../../webhooks/endpoints/madeSecret.ts';
import { onAnyWebhook, requireWebhook } from './anyWebhook.ts';
import { givenSecret, SecretUrl, secretUrlOf } from './webhookRecord.ts';

const SecretRotation = named('SecretRotation', {
  hasSecret: boolean('Whether a secret is set.'),
  previousSecretValidUntil: orNull(time(), 'Until when `webhook-signature` has both signatures; null if it has one.'),
  secretUrl: SecretUrl,
});

export const [rotateWebhookSecret, rotateEndpointSecret] = onAnyWebhook(
  {
    name: 'rotate_secret',
    permission: 'webhooks:write',
    effect: 'write',
    uses: ['engine'],
    fields: {
      // `/webhooks/set` accepts any length, as the contract requires. A rotation must not weaken the secret.
      secret: optional(
        givenSecret(
          string('New secret, with at least 16 characters. Never returned. Left out: the server makes one.', {
            minLength: 16,
            maxLength: 512,
          }),
        ),
      ),
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
    async run(ctx, find, { secret, graceSeconds }) {
      return ctx.database.commit(async (tx) => {
        const webhook = requireWebhook(await find(tx));
        const rotated = await rotateSecret(ctx, tx, webhook, secret ?? makeSecret(ctx.clock.now()), graceSeconds);
        return { ...rotated, ...(secret === undefined && { secretUrl: secretUrlOf(ctx, webhook) }) };
      }, ctx.accountId);
    },
  },
  {
    route: 'POST /webhooks/secret/rotate',
    summary: 'Rotate the secret of the webhook',
    description:
      'Replace the secret without losing deliveries. For `graceSeconds`, `webhook-signature` has the signatures of both secrets, so that receivers can switch. `X-Webhook-Signature` uses the new secret at once. Without `secret`, the server makes one, which `webhooks.reveal_secret` returns.',
  },
  {
    route: 'POST /webhooks/endpoints/{webhookId}/secret/rotate',
    summary: 'Rotate the secret of a webhook',
    description:
      'Replace the secret of a webhook without losing deliveries. For `graceSeconds`, `webhook-signature` has the signatures of both secrets. `X-Webhook-Signature` uses the new secret at once. Without `secret`, the server makes one, which `webhooks.endpoints.reveal_secret` returns.',
  },
);

const RevealedSecret = named('RevealedSecret', {
  secret: string('The secret. Set it in the receiver.'),
  readableUntil: time('Until when it can be read.'),
});

export const [revealWebhookSecret, revealEndpointSecret] = onAnyWebhook(
  {
    name: 'reveal_secret',
    credential: 'jwt',
    permission: 'webhooks:write',
    effect: 'read',
    fields: {},
    output: RevealedSecret,
    needsWebhook: true,
    run: async (ctx, find) => revealed(ctx, requireWebhook(await find(ctx.database.reader))),
  },
  {
    route: 'POST /webhooks/secret/reveal',
    summary: 'Show the secret that the server made',
    description:
      'Return the secret of the default webhook, if the server made it in the last seven days. Use it after an agent has rotated the secret, which never sees it. A secret that was passed to the server is never returned.',
  },
  {
    route: 'POST /webhooks/endpoints/{webhookId}/secret/reveal',
    summary: 'Show the secret that the server made for a webhook',
    description:
      'Return the secret of a webhook, if the server made it in the last seven days. A secret that was passed to the server is never returned.',
  },
);

/** @throws {AppError} `not_found` */
function revealed({ database, clock }: Context, webhook: WebhookTable) {
  const made = readableSecret(webhook, database.seal, clock.now());
  if (made === undefined)
    throw new AppError(
      'not_found',
      'Only a secret that the server made can be read, for seven days; rotate the secret to get a new one',
    );
  return { secret: made.secret, readableUntil: isoTime(made.readableUntil) };
}
