import { type TSchema, Type } from 'typebox';
import { isoTime } from '../../clock.ts';
import type { WebhookTable } from '../../db/schema.ts';
import { checkUrl } from '../../egress/target.ts';
import { invalidField } from '../../errors.ts';
import {
  boolean,
  list,
  named,
  notForAgents,
  oneOf,
  optional,
  orNull,
  string,
  time,
  token,
  unnumbered,
} from '../../invoke/input/fields.ts';
import { MADE_SECRET } from '../../invoke/input/patterns.ts';
import { ref } from '../../invoke/input/references.ts';
import type { Context } from '../../invoke/operation.ts';
import { namesOf } from '../../objects.ts';
import { hasMadeForm } from '../../webhooks/endpoints/madeSecret.ts';
import { outcomeClasses } from '../../webhooks/queue/outcome.ts';
import { shownSubscription } from './eventTypes.ts';

export const Class = oneOf(
  namesOf(outcomeClasses),
  'Outcome class; `ok` means that the receiver responded with 2xx, or that the broker confirmed the message.',
);

/** The schema of a secret that a caller passes, which must not pass for one that the server made. */
export const givenSecret = <T extends TSchema>(schema: T) =>
  Type.Refine(
    schema,
    (secret) => typeof secret !== 'string' || !hasMadeForm(secret),
    () => MADE_SECRET,
  );

/** @param more keywords of the schema */
export const secretField = (rule: string, more: object = {}) => {
  const schema = orNull(Type.String({ minLength: 1, maxLength: 512 }), `Signs deliveries. Never returned. ${rule}`);
  return optional(givenSecret({ ...schema, ...more }));
};

const KEPT = 'Left out: no change; `null`: removed.';

export const webhookFields = {
  webhookUrl: string('http or https URL, such as https://example.com/hooks. Private addresses are refused.', {
    minLength: 1,
    maxLength: 2048,
  }),
  events: list(
    Type.String({ ...token('lowercase'), maxLength: 50 }),
    'Event types, such as `message.incoming`, or patterns, such as `message.*`. `GET /events/types` and `switchboard://event-kinds` list them.',
    { minItems: 1, maxItems: 50, ...unnumbered },
  ),
  secret: secretField(KEPT),
};

/** The same for a tool. */
export const hiddenSecret = secretField(KEPT, notForAgents);

export const WebhookConfiguration = named('WebhookConfiguration', {
  webhookUrl: orNull(Type.String(), 'URL that receives events; null if no webhook is set.'),
  events: list(Type.String(), 'Event types that the webhook receives, and patterns.'),
  hasSecret: boolean('Whether a secret is set. The secret itself is never returned.'),
  enabled: boolean('Whether events are sent.'),
  createdAt: orNull(time(), 'When the webhook was first set; null if none is set.'),
  updatedAt: orNull(time(), 'When the webhook was last changed; null if none is set.'),
});

/** Present if the server has made a new secret, which only people can read. */
export const SecretUrl = optional(
  string(
    'Page of the dashboard on which a person with a login reads the new secret, for seven days. Only its path if `PUBLIC_URL` is not set.',
  ),
);

export function secretUrlOf({ settings }: Context, { webhook_id: webhookId }: WebhookTable): string {
  const path = `/webhooks/${webhookId}`;
  return settings.publicUrl === undefined ? path : new URL(path, settings.publicUrl).href;
}

export const WebhookId = string('Id of the webhook (`whk_…`).', { ...ref('webhook'), maxLength: 100 });

export function toConfiguration(row: WebhookTable | undefined) {
  if (row === undefined) {
    return { webhookUrl: null, events: [], hasSecret: false, enabled: false, createdAt: null, updatedAt: null };
  }
  return {
    webhookUrl: row.url,
    events: shownSubscription(JSON.parse(row.events)),
    hasSecret: row.secret !== null,
    enabled: row.enabled === 1,
    createdAt: isoTime(row.created_at),
    updatedAt: isoTime(row.updated_at),
  };
}

/**
 * Checks a URL without resolving its host name, which would reveal names of the server's network to an account. Every
 * attempt vets the address.
 * @throws {AppError} `validation_failed` naming `webhookUrl` and the rule that it breaks
 */
export function acceptedUrl(ctx: Context<'targets'>, webhookUrl: string): string {
  const verdict = checkUrl(webhookUrl, ctx.targets);
  if (!verdict.ok) throw invalidField('webhookUrl', verdict.message, verdict.rule);
  return verdict.url.href;
}
