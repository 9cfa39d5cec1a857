import { createHmac, timingSafeEqual } from 'node:crypto';

/** Maximum difference between the time of a request and ours in seconds, as Chatwoot advises (PR 13573). */
const TOLERANCE_SECONDS = 300;

export interface SignedRequest {
  readonly body: Uint8Array;
  readonly signature: string | undefined;
  /** Unix time in seconds. */
  readonly timestamp: string | undefined;
}

/** `sha256=` and the HMAC of `<timestamp>.<body>`, as `request_headers` in lib/webhooks/trigger.rb builds it. */
export function signatureOf(secret: string, timestamp: string, body: Uint8Array): string {
  return `sha256=${createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest('hex')}`;
}

/** Whether Chatwoot signed the request with the secret of the inbox, within the last five minutes. */
export function isSignedBy(
  secret: string,
  { body, signature = '', timestamp = '' }: SignedRequest,
  now = Date.now(),
): boolean {
  if (!/^\d{1,12}$/.test(timestamp)) return false;
  if (Math.abs(now / 1000 - Number(timestamp)) > TOLERANCE_SECONDS) return false;
  return isSame(signature, signatureOf(secret, timestamp, body));
}

/** Compares in constant time for a given length. */
export function isSame(given: string, expected: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
}
