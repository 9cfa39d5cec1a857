import { createHmac } from 'node:crypto';
import { version } from '../version.ts';

const USER_AGENT = `Switchboard/${version}`;

export interface SignInput {
  readonly kind: string;
  readonly eventId: string;
  /** 1, 2, … */
  readonly attempt: number;
  readonly body: string;
  readonly secret: string | null;
  /** The previous secret during the grace period of a rotation. */
  readonly previousSecret: string | null;
  readonly isTest: boolean;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/**
 * Returns the headers of one attempt. The `X-` signature is that of the contract ("Webhook delivery signing") and covers
 * the body alone. The `webhook-` headers follow Standard Webhooks and cover the id and the timestamp too, with one
 * signature per secret during a rotation. Without a secret, nothing is signed.
 *
 * Source: https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 */
export function deliveryHeaders(input: SignInput): Record<string, string> {
  const { eventId, body, secret, previousSecret } = input;
  const headers = unsignedHeaders({ ...input, isSigned: secret !== null });
  if (secret !== null) {
    headers['x-webhook-signature'] = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
    const signed = `${eventId}.${headers['webhook-timestamp']}.${body}`;
    const secrets = previousSecret === null ? [secret] : [secret, previousSecret];
    headers['webhook-signature'] = secrets
      .map((key) => `v1,${createHmac('sha256', key).update(signed).digest('base64')}`)
      .join(' ');
  }
  return headers;
}

/** Returns the headers without the signatures, which are not stored. */
export function unsignedHeaders({
  kind,
  eventId,
  attempt,
  isTest,
  isSigned,
  now,
}: Pick<SignInput, 'kind' | 'eventId' | 'attempt' | 'isTest' | 'now'> & { readonly isSigned: boolean }) {
  const timestamp = String(Math.floor(now / 1000));
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    'user-agent': USER_AGENT,
    'x-webhook-event': kind,
    'x-webhook-id': eventId,
    'x-webhook-attempt': String(attempt),
    'x-webhook-timestamp': timestamp,
    ...(isTest && { 'x-webhook-test': 'true' }),
    ...(isSigned && { 'webhook-id': eventId, 'webhook-timestamp': timestamp }),
  };
  return headers;
}
