/* A module of a user in strict TypeScript, without any framework. */

import { type Client, createClient, type StreamedEvent } from '@switchboard/sdk';
import type { Message, Operations } from '@switchboard/sdk/api';
import { ApiError, type FieldError } from '@switchboard/sdk/errors';
import { type EventData, type EventOf, eventKinds, type KnownEvent } from '@switchboard/sdk/events';
import { webhookHandler as expressHandler } from '@switchboard/sdk/express';
import { type WebhookPluginOptions, webhookPlugin } from '@switchboard/sdk/fastify';
import { webhookHandler as honoHandler } from '@switchboard/sdk/hono';
import { type HandlerOptions, webhookHandler as nextHandler } from '@switchboard/sdk/next';
import { verifyAndParse, type WebhookEvent } from '@switchboard/sdk/webhooks';

const sb: Client = createClient({ baseUrl: 'http://127.0.0.1:8080' });

/** Every event type has a branch, so nothing is left for `never`. */
export function describeEvent(event: WebhookEvent): string {
  switch (event.event) {
    case 'message.incoming':
      return `${event.data.from}: ${event.data.message} ${event.data.media?.mimeType ?? ''}`;
    case 'message.sent':
    case 'message.delivered':
    case 'message.read':
    case 'message.queued':
      return `${event.data.messageId} ${event.data.status}`;
    case 'message.failed':
      return event.data.error;
    case 'message.reaction':
      return event.data.emoji ?? 'no reaction';
    case 'message.edited':
      return event.data.message;
    case 'message.deleted':
      return event.data.messageId;
    case 'message.location':
      return String(event.data.location?.latitude);
    case 'message.media':
      return event.data.media?.mediaId ?? event.data.livePhoto?.mediaId ?? '';
    case 'event.answer':
      return event.data.answer ?? '';
    case 'poll.vote':
      return event.data.options.join();
    case 'session.connected':
      return event.data.phoneNumber;
    case 'session.disconnected':
      return `${event.data.reason} ${event.data.willReconnect}`;
    case 'session.status':
      return event.data.status;
    case 'group.created':
      return event.data.participants.map(({ role }) => role).join();
    case 'group.updated':
      return event.data.change.type;
    case 'session.updated':
      return event.data.network.quality ?? event.data.changed.join();
    case 'template.updated':
      return event.data.reason ?? event.data.name;
    case 'group.participants':
      return event.data.action;
    case 'group.join_request':
      return event.data.change;
    case 'chat.updated':
      return String(event.data.unreadCount);
    case 'contact.updated':
      return event.data.name ?? event.data.phoneNumber;
    case 'presence.updated':
      return event.data.presence;
    case 'call.incoming':
      return event.data.callId;
    case 'call.ended':
      return event.data.outcome;
    case 'chat.opened':
      return event.data.referral?.adId ?? event.data.from;
    case 'call.permission':
      return event.data.expiresAt ?? `${event.data.granted}`;
    case 'contact.marketing':
      return `${event.data.stopped}`;
    case 'status.received':
    case 'channel.message':
      return event.data.message;
    case 'status.deleted':
    case 'status.viewed':
      return event.data.statusId;
    case 'status.mentioned':
    case 'contact.number_request':
      return event.data.chatId;
    case 'webhook.circuit_opened':
      return event.data.error ?? event.data.reason;
    case 'webhook.circuit_closed':
      return event.data.webhookId;
    case 'message.approval':
      return event.data.reason ?? event.data.approval;
    case 'batch.updated':
      return `${event.data.status} ${event.data.counts.sent}`;
    case 'session.history':
      return event.data.error ?? event.data.state;
    case 'chat.removed':
      return event.data.action;
    case 'message.removed':
      return event.data.messageId;
    case 'message.marked':
      return event.data.labelIds.join();
    case 'message.pinned':
      return event.data.pinnedUntil ?? event.data.from;
    case 'label.updated':
      return event.data.name;
    case 'unknown':
      return `${event.kind} ${Object.keys(event.data).join()}`;
    default:
      return event satisfies never;
  }
}

export async function main(): Promise<void> {
  const { messageId } = await sb.messages.send({ to: '491707654321', message: 'Hello' });
  const message: Message = await sb.messages.get({ messageId });
  for await (const each of sb.messages.list.all({ chatId: message.chatId })) each.message satisfies string;
  const session = await sb.sessions.get({ sessionId: message.sessionId });
  session.history.state satisfies string;
  (await sb.sessions.getQr({ sessionId: session.sessionId })).expiresInSeconds satisfies number;
  for await (const group of sb.groups.list.all()) group.networkGroupId satisfies string;
  const upload: Operations['media.upload']['output'] = await sb.media.upload(new Blob(['x']), { fileName: 'x.txt' });
  await sb.messages.sendMedia({ to: '491707654321', type: 'document', mediaId: upload.mediaId });
  for await (const event of sb.events.stream({ events: ['message.incoming', 'call.*'] })) await handle(event);
  for await (const event of sb.events.stream({}, { signal: AbortSignal.timeout(1000) })) await handle(event);
  // @ts-expect-error `to` is missing
  await sb.messages.send({ message: 'Hello' });
  // @ts-expect-error no such event type
  eventKinds.includes('message.gone');
}

async function handle(event: StreamedEvent): Promise<void> {
  const known: KnownEvent = event;
  if (known.event === 'message.incoming')
    (known satisfies EventOf<'message.incoming'>).data satisfies EventData['message.incoming'];
}

export function fieldsOf(error: unknown): readonly FieldError[] {
  return error instanceof ApiError && error.code === 'validation_failed' ? error.fields : [];
}

const options: HandlerOptions = {
  secret: () => 'between us',
  seen: new Set(),
  onEvent: (event, { id }) => `${id} ${describeEvent(event)}`,
};
export const POST: (request: Request) => Promise<Response> = nextHandler(options);
export const handlers = [expressHandler(options), honoHandler(options)] as const;
export const plugin: [typeof webhookPlugin, WebhookPluginOptions] = [webhookPlugin, { ...options, path: '/hook' }];
export const verified = verifyAndParse({ body: '', headers: new Headers(), secret: ['new', 'old'] });
