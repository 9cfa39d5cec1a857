import { createHmac } from 'node:crypto';
import { version } from '../../version.ts';
import type { Webhook } from './webhook.ts';

const USER_AGENT = `Switchboard/${version}`;

interface Attempt {
  readonly kind: string;
  readonly eventId: string;
  /** 1, 2, … */
  readonly attempt: number;
  readonly isTest: boolean;
  /** Place of the event in its conversation; 0 for none. */
  readonly sequence: number;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

type Secrets = Pick<Webhook, 'secret' | 'previousSecret' | 'previousSecretUntil' | 'headers'>;

/**
 * Returns the headers of one attempt, with those that the account has added. The `X-` signature is that of the contract
 * ("Webhook delivery signing") and covers the body alone. The `webhook-` headers follow Standard Webhooks and cover the
 * id and the timestamp too, with one signature per secret during a rotation. Without a secret, nothing is signed.
 *
 * Source: https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 */
export function deliveryHeaders(attempt: Attempt, body: string, webhook: Secrets): Record<string, string> {
  const { secret, previousSecret, previousSecretUntil } = webhook;
  const { 'user-agent': ownAgent } = webhook.headers;
  const headers: Record<string, string> = {
    ...webhook.headers,
    ...unsignedHeaders(attempt, secret !== null),
    ...(ownAgent !== undefined && { 'user-agent': ownAgent }),
  };
  if (secret !== null) {
    headers['x-webhook-signature'] = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
    const signed = `${attempt.eventId}.${headers['webhook-timestamp']}.${body}`;
    const hasPrevious = previousSecret !== null && (previousSecretUntil ?? 0) > attempt.now;
    const secrets = hasPrevious ? [secret, previousSecret] : [secret];
    headers['webhook-signature'] = secrets
      .map((key) => `v1,${createHmac('sha256', key).update(signed).digest('base64')}`)
      .join(' ');
  }
  return headers;
}

/** Returns the headers without the signatures, which are not stored. */
export function unsignedHeaders(
  { kind, eventId, attempt, isTest, sequence, now }: Attempt,
  isSigned: boolean,
): Record<string, string> {
  const timestamp = String(Math.floor(now / 1000));
  return {
    'content-type': 'application/json',
    'user-agent': USER_AGENT,
    'x-webhook-event': kind,
    'x-webhook-id': eventId,
    'x-webhook-attempt': String(attempt),
    'x-webhook-timestamp': timestamp,
    ...(sequence > 0 && { 'x-webhook-sequence': String(sequence) }),
    ...(isTest && { 'x-webhook-test': 'true' }),
    ...(isSigned && { 'webhook-id': eventId, 'webhook-timestamp': timestamp }),
  };
}
