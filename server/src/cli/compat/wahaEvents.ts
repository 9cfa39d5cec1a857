import type { Client } from '../../../../sdk/src/client.ts';
import type { EventData } from '../../../../sdk/src/events.ts';
import type { WebhookEvent } from '../../../../sdk/src/webhooks.ts';
import { unlessGone } from './wahaErrors.ts';
import { bareId, wahaChat, wahaMessageId } from './wahaIds.ts';
import { type Ack, ackNames, ackOf, secondsOf, wahaMessage } from './wahaMessages.ts';
import { wahaStatus } from './wahaSessions.ts';

/*
 * Events in the shape of WAHA's webhooks (`src/structures/webhooks.dto.ts` of devlikeapro/waha). The six are what the
 * trigger of its n8n node and most receivers use; the events that no receiver asks for are not translated.
 */

/** The events of Switchboard behind each event of WAHA. */
const SOURCES = {
  message: ['message.incoming'],
  'message.any': ['message.incoming', 'message.sent'],
  'message.ack': ['message.sent', 'message.delivered', 'message.read', 'message.failed'],
  'message.reaction': ['message.reaction'],
  'message.revoked': ['message.deleted'],
  'session.status': ['session.status'],
} as const;

export type WahaEvent = keyof typeof SOURCES;
// The keys of the table are exactly the events, which the type of Object.keys loses.
export const wahaEvents = Object.keys(SOURCES) as readonly WahaEvent[];

export const isWahaEvent = (name: string): name is WahaEvent => Object.hasOwn(SOURCES, name);

export const sourcesOf = (names: readonly WahaEvent[]) => [...new Set(names.flatMap((name) => SOURCES[name]))];

/** The groups of fields that a translation reads. */
export const INCLUDED = ['network', 'session'] as const;

export interface Translated {
  readonly id: string;
  readonly timestamp: number;
  readonly session: string;
  readonly event: WahaEvent;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly me?: { readonly id: string; readonly pushName: string };
  readonly payload: object;
  readonly engine: string;
  readonly environment: { readonly version: string; readonly engine: string; readonly tier: string };
}

interface Options {
  readonly client: Client;
  readonly publicUrl: string;
  readonly version: string;
}

interface Delivery {
  /** Id of the event, the same on every attempt. */
  readonly id: string;
  readonly wanted: readonly WahaEvent[];
}

type Payloads = Partial<Record<WahaEvent, object>>;

/** Returns the wanted events of WAHA for one event. A repetition has the same ids. */
export async function translate(
  event: WebhookEvent,
  { id, wanted }: Delivery,
  options: Options,
): Promise<Translated[]> {
  if (event.event === 'unknown' || 'test' in event.data) return [];
  const payloads = await payloadsOf(event, { id, wanted }, options);
  const { session, sessionId = '', to, from } = event.data as Partial<EventData['message.incoming']>;
  const own = event.event === 'message.incoming' ? to : 'status' in event.data ? from : undefined;
  const engine = 'SWITCHBOARD';
  return wanted.flatMap((name) => {
    const payload = payloads[name];
    if (payload === undefined) return [];
    return {
      id: name === 'message.any' ? `${id}_any` : name === 'message.ack' ? `${id}_ack` : id,
      timestamp: Date.now(),
      session: session?.name ?? sessionId,
      event: name,
      ...(session && { metadata: session.metadata }),
      ...(own !== undefined && { me: { id: wahaChat(own), pushName: '' } }),
      payload,
      engine,
      environment: { version: options.version, engine, tier: 'CORE' },
    };
  });
}

async function payloadsOf(event: WebhookEvent, { id, wanted }: Delivery, options: Options): Promise<Payloads> {
  switch (event.event) {
    case 'message.incoming': {
      // WAHA reports only what arrives live.
      if (event.data.history === true) return {};
      const payload = incoming(event.data, options);
      return { message: payload, 'message.any': payload };
    }
    case 'message.sent':
      if (event.data.history === true) return {};
      return {
        'message.ack': acknowledged(event.data, 1),
        ...(wanted.includes('message.any') && { 'message.any': await sent(event.data, options) }),
      };
    case 'message.delivered':
    case 'message.read':
    case 'message.failed':
      return { 'message.ack': acknowledged(event.data, ackOf(event.data.status)) };
    case 'message.reaction':
      return { 'message.reaction': await reaction(event.data, id, options) };
    case 'message.deleted':
      return { 'message.revoked': revoked(event.data, options) };
    case 'session.status':
      return changedStatus(event.data);
    default:
      return {};
  }
}

const chatOf = ({ networkChatId, chatId }: { networkChatId?: string; chatId?: string }) =>
  wahaChat(networkChatId ?? chatId ?? '');

/** The author of something in a group. */
function participantOf({ groupId, networkFrom, from }: { groupId?: string; networkFrom?: string; from?: string }) {
  return groupId === undefined ? undefined : wahaChat(networkFrom ?? from ?? '');
}

function incoming(data: EventData['message.incoming'], { publicUrl }: Options) {
  const place = { chat: chatOf(data), fromMe: false, me: data.to, participant: participantOf(data) };
  return wahaMessage(data, { ...place, ack: 2, publicUrl });
}

/** The event has the content only of messages from the phone. */
async function sent(data: EventData['message.sent'], { client, publicUrl }: Options) {
  const { messageId } = data;
  const isWhole = data.message !== undefined;
  const stored = isWhole ? undefined : await unlessGone(client.messages.get({ messageId }));
  const place = { chat: chatOf(data), fromMe: true, me: data.from, participant: participantOf(data) };
  return wahaMessage(stored ?? data, { ...place, ack: 1, publicUrl });
}

type Status = EventData['message.sent'] | EventData['message.delivered'] | EventData['message.failed'];

function acknowledged(data: Status, ack: Ack) {
  const chat = chatOf(data);
  return {
    id: wahaMessageId(true, chat, data.messageId),
    from: data.from === undefined ? chat : wahaChat(data.from),
    to: chat,
    participant: data.by === undefined ? null : wahaChat(data.by),
    fromMe: true,
    ack,
    ackName: ackNames[ack],
  };
}

async function reaction(data: EventData['message.reaction'], eventId: string, { client }: Options) {
  const { messageId, fromMe, timestamp, emoji } = data;
  const chat = chatOf(data);
  const message = await unlessGone(client.messages.get({ messageId }));
  return {
    // A reaction has no id here, and several can come in a second. WAHA's id is like a message id.
    id: wahaMessageId(fromMe, chat, eventId.replace('_', '-')),
    timestamp: secondsOf(timestamp),
    from: fromMe ? wahaChat(data.from) : chat,
    fromMe,
    to: fromMe ? chat : null,
    participant: participantOf(data) ?? null,
    reaction: { text: emoji ?? '', messageId: wahaMessageId(message?.direction === 'outgoing', chat, messageId) },
  };
}

/** The content is gone, so `before` is null, as with WAHA's engine GOWS. */
function revoked(data: EventData['message.deleted'], { publicUrl }: Options) {
  const { fromMe, messageId, timestamp } = data;
  const place = { chat: chatOf(data), fromMe, me: fromMe ? data.from : undefined, participant: participantOf(data) };
  return {
    after: wahaMessage({ messageId, timestamp }, { ...place, ack: 1, publicUrl }),
    before: null,
    revokedMessageId: bareId(messageId),
  };
}

/** Nothing if WAHA has one name for both states. */
function changedStatus({ status, previousStatus, reason, session, sessionId }: EventData['session.status']): Payloads {
  if (status === previousStatus) return {};
  return { 'session.status': { name: session?.name ?? sessionId, status: wahaStatus(status, reason) } };
}
