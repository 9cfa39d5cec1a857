import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IWebhookFunctions } from 'n8n-workflow';

/*
 * Verification of webhook deliveries. The server sends two signatures with each, and both have to match: a sender who
 * has seen a delivery could otherwise drop the one that covers the time.
 */

const TOLERANCE_SECONDS = 300;

export interface Delivery {
  /** The body exactly as received. */
  readonly body: Buffer;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
}

export interface DeliveredEvent {
  readonly eventId: string;
  readonly event: string;
  readonly sequence: number;
  readonly attempt: number;
  readonly isTest: boolean;
  readonly data: Record<string, unknown>;
}

/** Returns the event of a delivery, or the reason to reject it. */
export function readDelivery(
  { body, headers }: Delivery,
  secrets: readonly string[],
  now = Date.now(),
): DeliveredEvent | string {
  const header = (name: string) => String(headers[name] ?? '');
  const [id, timestamp] = [header('webhook-id'), header('webhook-timestamp')];
  if (secrets.length === 0) return 'no_secret';
  if (header('webhook-signature') === '' || header('x-webhook-signature') === '') return 'missing_signature';
  // Standard Webhooks forbids dots in an id: they separate what is signed.
  if (id === '' || id.includes('.')) return 'invalid_id';
  if (!/^\d{1,15}$/.test(timestamp)) return 'invalid_timestamp';
  if (Math.abs(now / 1000 - Number(timestamp)) > TOLERANCE_SECONDS) return 'timestamp_out_of_tolerance';
  const standard = secrets.map((secret) => `v1,${hmac(secret, `${id}.${timestamp}.`, body).toString('base64')}`);
  const bodyOnly = secrets.map((secret) => `sha256=${hmac(secret, '', body).toString('hex')}`);
  // A rotation adds the signature of the old secret, separated by a space.
  if (
    !header('webhook-signature')
      .split(' ')
      .some((given) => isAny(given, standard))
  )
    return 'bad_signature';
  if (!isAny(header('x-webhook-signature'), bodyOnly)) return 'bad_signature';
  return eventOf(body, headers, id) ?? 'invalid_body';
}

function eventOf(body: Buffer, headers: Delivery['headers'], eventId: string): DeliveredEvent | undefined {
  try {
    const { event, data } = JSON.parse(body.toString()) as { event?: unknown; data?: unknown };
    if (typeof event !== 'string' || typeof data !== 'object' || data === null) return undefined;
    return {
      eventId,
      event,
      sequence: Number(headers['x-webhook-sequence'] ?? 0),
      attempt: Number(headers['x-webhook-attempt'] ?? 1),
      isTest: headers['x-webhook-test'] === 'true',
      data: data as Record<string, unknown>,
    };
  } catch {
    return undefined;
  }
}

function hmac(secret: string, head: string, body: Buffer): Buffer {
  return createHmac('sha256', secret).update(head).update(body).digest();
}

function isAny(given: string, expected: readonly string[]): boolean {
  const bytes = Buffer.from(given);
  return expected
    .map((one) => Buffer.from(one))
    .some((one) => one.length === bytes.length && timingSafeEqual(one, bytes));
}

/** Reads the request of a webhook. Responds with 401 and the reason if it rejects it. */
export function receive(context: IWebhookFunctions, secrets: readonly string[]): DeliveredEvent | undefined {
  const { rawBody, headers } = context.getRequestObject();
  const result = readDelivery({ body: Buffer.from(rawBody ?? ''), headers }, secrets);
  if (typeof result !== 'string') return result;
  context
    .getResponseObject()
    .status(401)
    .json({ message: 'The signature of the delivery is not valid', reason: result });
  return undefined;
}
