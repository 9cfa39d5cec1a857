import { createHmac } from 'node:crypto';
import type { WebhookTable } from '../../db/schema.ts';
import { version } from '../../version.ts';

/*
 * The subscription of an MCP client to events (`events/subscribe` of the extension `io.modelcontextprotocol/events`).
 * It is stored as a webhook, so it has a lane with the retries, the breaker and the log of one. Its deliveries have
 * another body and other headers, and its API key has to permit each of them.
 *
 * Source: https://modelcontextprotocol.io/seps/3415-events-extension
 */

export interface Subscription {
  /** `sub_…` */
  readonly id: string;
  readonly keyId: string;
  /** 0 while it is being removed. */
  readonly expiresAt: number;
}

/** The columns that only a subscription has. */
export interface NewSubscription extends Subscription {
  /** JSON of the arguments, as the client sent them. */
  readonly arguments: string;
}

/** Of the `webhookId` of a subscription, so that its deliveries are told apart from others after it has ended. */
export const SUBSCRIPTION_PREFIX = 'whs';

export const isOfSubscription = (webhookId: string): boolean => webhookId.startsWith(`${SUBSCRIPTION_PREFIX}_`);

/** A subscription that is not active after this long is one whose node has died. */
export const CREATION_MS = 60_000;

type Stored = Pick<WebhookTable, 'subscription_id' | 'key_id' | 'expires_at'>;

/** Returns undefined for a webhook that the account has set itself. */
export function subscriptionOf({ subscription_id: id, key_id: keyId, expires_at: expiresAt }: Stored) {
  return id === null || keyId === null ? undefined : { id, keyId, expiresAt: expiresAt ?? 0 };
}

/** The errors that the extension adds to JSON-RPC. */
export const eventErrors = {
  notFound: { code: -32_023, message: 'NotFound' },
  forbidden: { code: -32_024, message: 'Forbidden' },
  resourceExhausted: { code: -32_025, message: 'ResourceExhausted' },
  unsupported: { code: -32_026, message: 'Unsupported' },
  callbackEndpointError: { code: -32_027, message: 'CallbackEndpointError' },
} as const;

const USER_AGENT = `Switchboard/${version}`;
const SECRET = /^whsec_([A-Za-z0-9+/]+={0,2})$/;
const SECRET_BYTES = { least: 24, most: 64 } as const;

/**
 * Returns the key in a secret of Standard Webhooks, `whsec_` and base64; undefined if it is not one of 24 to 64 bytes.
 */
export function signingKey(secret: string): Buffer | undefined {
  const key = Buffer.from(SECRET.exec(secret)?.[1] ?? '', 'base64');
  return key.length >= SECRET_BYTES.least && key.length <= SECRET_BYTES.most ? key : undefined;
}

interface Message {
  /** Id of the event, or `msg_…` of a control message. */
  readonly id: string;
  readonly subscriptionId: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** The secrets of a subscription, each as `whsec_…`. */
interface Secrets {
  readonly secret: string | null;
  readonly previousSecret: string | null;
  readonly previousSecretUntil: number | null;
}

/** Returns the headers of a message to a subscriber, with one signature per secret during a rotation. */
export function signedHeaders({ id, subscriptionId, now }: Message, body: string, secrets: Secrets) {
  const timestamp = String(Math.floor(now / 1000));
  const hasPrevious = (secrets.previousSecretUntil ?? 0) > now;
  const keys = [secrets.secret, hasPrevious ? secrets.previousSecret : null]
    .map((secret) => (secret === null ? undefined : signingKey(secret)))
    .filter((key) => key !== undefined);
  return {
    ...unsignedHeadersOf({ id, subscriptionId, now }),
    'webhook-signature': keys
      .map((key) => `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`)
      .join(' '),
  };
}

/** Returns the headers without the signature, which is not stored. */
export function unsignedHeadersOf({
  id,
  subscriptionId,
  now,
}: Omit<Message, 'subscriptionId'> & { readonly subscriptionId: string | undefined }): Record<string, string> {
  return {
    'content-type': 'application/json',
    'user-agent': USER_AGENT,
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(now / 1000)),
    ...(subscriptionId !== undefined && { 'x-mcp-subscription-id': subscriptionId }),
  };
}
