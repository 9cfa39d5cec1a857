import { type Fields, isFields } from '../../objects.ts';
import { badRequest, unprocessable } from './wahaErrors.ts';
import { isWahaEvent, type WahaEvent, wahaEvents } from './wahaEvents.ts';
import { object, optional, required, texts } from './wahaInput.ts';

/* The configuration of a session in `POST /api/sessions` (`src/structures/sessions.dto.ts` of devlikeapro/waha). */

export interface SessionConfig {
  readonly metadata: Readonly<Record<string, string>>;
  /** One URL, as the networks of Switchboard take it. */
  readonly proxy: string | undefined;
  readonly webhooks: readonly ({ readonly url: string } & Subscribed)[];
}

export interface Subscribed {
  readonly events: readonly WahaEvent[];
  /** Events of WAHA that were asked for and that this command does not send. */
  readonly unsent: readonly string[];
}

const MAX_WEBHOOKS = 10;
/** A webhook's metadata at Switchboard has the URL. */
const MAX_URL = 500;

/** @throws {WahaError} */
export function configOf(fields: Fields): SessionConfig {
  const config = object(fields, 'config') ?? {};
  const webhooks = config['webhooks'] ?? [];
  if (!Array.isArray(webhooks) || webhooks.length > MAX_WEBHOOKS || !webhooks.every(isFields))
    throw badRequest(`config.webhooks must be an array of up to ${MAX_WEBHOOKS} objects`);
  return { metadata: metadataOf(config), proxy: proxyOf(config), webhooks: webhooks.map(webhookOf) };
}

function metadataOf(config: Fields): Record<string, string> {
  const metadata = object(config, 'metadata') ?? {};
  return Object.fromEntries(
    Object.entries(metadata).map(([key, value]) => [key, typeof value === 'string' ? value : JSON.stringify(value)]),
  );
}

function proxyOf(config: Fields): string | undefined {
  const proxy = object(config, 'proxy');
  if (proxy === undefined) return undefined;
  const server = required(proxy, 'server');
  const url = URL.parse(server.includes('://') ? server : `http://${server}`);
  if (url === null) throw badRequest('config.proxy.server must be a host with a port');
  url.username = optional(proxy, 'username') ?? '';
  url.password = optional(proxy, 'password') ?? '';
  return url.href;
}

function webhookOf(webhook: Fields) {
  // Silently sending unsigned events, or without a header that the receiver checks, would be worse than an error.
  if (optional(object(webhook, 'hmac') ?? {}, 'key') !== undefined)
    throw unprocessable('webhooks.hmac is not supported. Start switchboard compat with WHATSAPP_HOOK_HMAC_KEY');
  const { customHeaders } = webhook;
  if (Array.isArray(customHeaders) && customHeaders.length > 0)
    throw unprocessable('webhooks.customHeaders are not supported by switchboard compat');
  return { url: receiverUrl(required(webhook, 'url')), ...eventsOf(texts(webhook, 'events') ?? []) };
}

/** @throws {WahaError} 400 */
export function receiverUrl(text: string): string {
  const url = URL.parse(text);
  if (url === null || !['http:', 'https:'].includes(url.protocol) || url.href.length > MAX_URL)
    throw badRequest(`webhooks.url must be an http or https URL of up to ${MAX_URL} characters`);
  return url.href;
}

/** The other events of `WAHAEvents` (`src/structures/enums.dto.ts` of devlikeapro/waha, 2025). */
const UNSENT: readonly string[] = [
  'message.ack.group',
  'message.waiting',
  'message.edited',
  'state.change',
  'group.join',
  'group.leave',
  'group.v2.join',
  'group.v2.leave',
  'group.v2.update',
  'group.v2.participants',
  'presence.update',
  'poll.vote',
  'poll.vote.failed',
  'chat.archive',
  'call.received',
  'call.accepted',
  'call.rejected',
  'label.upsert',
  'label.deleted',
  'label.chat.added',
  'label.chat.deleted',
  'event.response',
  'event.response.failed',
  'engine.event',
];

/**
 * WAHA rejects names that it does not know (`@IsEnum` in `src/structures/webhooks.config.dto.ts`).
 * @throws {WahaError} 400 for such a name, 422 if no event is left
 */
export function eventsOf(names: readonly string[]): Subscribed {
  if (names.includes('*')) return { events: wahaEvents, unsent: [] };
  const unsent = names.filter((name) => !isWahaEvent(name));
  const unknown = unsent.filter((name) => !UNSENT.includes(name));
  if (unknown.length > 0)
    throw badRequest(
      `each value in events must be one of the following values: ${[...wahaEvents, ...UNSENT].join(', ')}; not ${unknown.join(', ')}`,
    );
  const events = wahaEvents.filter((name) => names.includes(name));
  if (events.length === 0) throw unprocessable(`Supported webhook events are ${wahaEvents.join(', ')}`);
  return { events, unsent };
}

/** The warning about events that a receiver does not get; undefined if it gets all. The URL can have a secret. */
export function unsentWarning({ url, unsent }: { readonly url: string } & Pick<Subscribed, 'unsent'>) {
  if (unsent.length === 0) return undefined;
  return `Warning: ${new URL(url).host} does not get ${unsent.join(', ')}, which this command cannot send.`;
}
