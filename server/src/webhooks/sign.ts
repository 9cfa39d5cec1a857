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
  /** The secret before a rotation, while its grace period lasts. */
  readonly previousSecret: string | null;
  readonly isTest: boolean;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/**
 * The headers of one attempt. The `X-` signature is the contract's ("Webhook delivery signing"): over the body alone.
 * The `webhook-` ones follow Standard Webhooks and cover id and timestamp too; during a rotation that signature is
 * there once for each secret. Without a secret nothing is signed.
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

/** What is sent beside the signatures, which are not kept. */
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
