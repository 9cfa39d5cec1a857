import { isoTime } from '../clock.ts';
import type { AddedFields } from './addedFields.ts';
import { batchSamples } from './batchEvents.ts';
import { businessSamples } from './businessSamples.ts';
import { chatSamples } from './chatSamples.ts';
import { customerSamples } from './customerEvents.ts';
import { DELIVERED_LINK_MS, fileFields } from './deliveredFiles.ts';
import type { Envelope, EventData, EventKind } from './events.ts';
import { socialSamples } from './social.ts';

const historySample = {
  state: 'importing',
  progress: 50,
  messages: 1200,
  chats: 40,
  contacts: 35,
  error: null,
} as const;

const mediaSample = {
  mediaId: 'med_00000000000000000000000000',
  mimeType: 'image/jpeg',
  size: 200_000,
  fileName: null,
  url: 'https://example.com/api/v1/media/med_00000000000000000000000000/content',
};

/** Makes a sample event of a type, in its exact shape, marked `test: true`. */
export function sampleEvent(kind: EventKind, timestamp: string): Envelope {
  const sessionId = 'ses_00000000000000000000000000';
  const groupId = 'grp_00000000000000000000000000';
  const test = { timestamp, test: true } as const;
  const person = '491701234567';
  const message = { messageId: 'msg_00000000000000000000000000', to: person, ...test };
  const change = {
    messageId: message.messageId,
    type: 'text',
    sessionId,
    chatId: person,
    from: person,
    fromMe: false,
    ...test,
  };
  const session = { sessionId, phoneNumber: person, test: true } as const;
  const group = { groupId, sessionId, subject: 'Switchboard test', ...test };
  const call = { callId: '00000000000000000000', sessionId, chatId: person, from: person, video: false, ...test };
  const webhook = { webhookId: 'whk_00000000000000000000000000', webhookOrigin: 'https://example.com', ...test };
  const samples: { [K in EventKind]: EventData<K> } = {
    'message.incoming': {
      messageId: message.messageId,
      from: '491707654321',
      message: 'This is a test event from Switchboard.',
      timestamp,
      test: true,
    },
    'message.sent': { ...message, status: 'sent' },
    'message.delivered': { ...message, status: 'delivered' },
    'message.read': { ...message, status: 'read' },
    'session.connected': { ...session, connectedAt: timestamp },
    'session.disconnected': {
      ...session,
      reason: 'This is a test event.',
      willReconnect: true,
      disconnectedAt: timestamp,
    },
    'group.created': {
      ...group,
      participants: [{ phoneNumber: '491701234567', role: 'owner' }],
      createdBy: '491701234567',
    },
    'group.updated': { ...group, change: { type: 'subject', subject: 'Switchboard test' } },
    'message.reaction': { ...change, emoji: '👍' },
    'message.edited': { ...change, message: 'This is a test event.' },
    'message.deleted': change,
    'message.failed': { ...message, status: 'failed', error: 'This is a test event.' },
    'message.queued': { ...message, status: 'queued' },
    'message.approval': {
      ...message,
      status: 'pending_approval',
      approval: 'pending',
      keyId: 'key_00000000000000000000000000',
    },
    'poll.vote': { ...change, options: ['Yes'] },
    'message.location': { ...change, type: 'location', location: { latitude: 52.5163, longitude: 13.3777 } },
    'message.media': { ...change, type: 'image', media: mediaSample },
    'event.answer': { ...change, type: 'event', answer: 'going' },
    ...chatSamples({ chatId: person, sessionId, ...test }, change),
    'contact.updated': { sessionId, phoneNumber: person, name: 'Test', blocked: false, ...test },
    'contact.number_request': { sessionId, chatId: person, from: person, ...test },
    'presence.updated': { sessionId, chatId: person, from: person, presence: 'typing', ...test },
    'session.status': {
      sessionId,
      status: 'awaiting_pairing',
      previousStatus: 'connecting',
      reason: null,
      qr: 'This is a test event.',
      expiresAt: timestamp,
      ...test,
    },
    ...businessSamples(sessionId, timestamp),
    ...batchSamples(sessionId, timestamp),
    'session.history': { sessionId, ...historySample, ...test },
    'group.participants': { ...group, action: 'add', phoneNumbers: [person] },
    'group.join_request': { ...group, phoneNumber: person, change: 'created', method: 'invite_link' },
    'call.incoming': call,
    'call.ended': { ...call, outcome: 'missed' },
    ...customerSamples(sessionId, person, timestamp),
    ...socialSamples(sessionId, person, timestamp),
    'webhook.circuit_opened': { ...webhook, reason: 'failures_in_a_row', error: 'This is a test event.' },
    'webhook.circuit_closed': { ...webhook, reason: 'probes_succeeded' },
  };
  return { event: kind, data: samples[kind] };
}

/** An event as webhooks get it. Unlike the sample of a webhook test, it is not marked as a test. */
export function exampleEvent(kind: EventKind) {
  const { event, data } = sampleEvent(kind, '2026-01-01T12:00:00.000Z');
  const { test: _, ...fields } = data;
  return { event, data: fields };
}

/** Adds the links of a webhook with `mediaLink` to the files of a sample event. They lead nowhere. */
export function withSampleLinks(data: object, now: number): object {
  const link = {
    url: 'https://example.com/api/v1/media/med_00000000000000000000000000/file?token=test',
    expiresAt: isoTime(now + DELIVERED_LINK_MS),
  };
  const files = Object.entries(data).filter(([name]) => fileFields.some((field) => field === name));
  return { ...data, ...Object.fromEntries(files.map(([name, file]) => [name, { ...file, link }])) };
}

/** Makes all fields that `include` can add to a sample event. */
export function sampleFields({ data }: Envelope): AddedFields {
  const { messageId, from, to }: { messageId?: string; from?: string; to?: string; test?: true } = data;
  const person = from ?? to;
  const address = person && `${person}@s.whatsapp.net`;
  return {
    ...(messageId && { networkId: '3EB00000000000000000' }),
    ...(address && { networkChatId: address, isGroup: false }),
    ...(from && { networkFrom: `${from}@s.whatsapp.net`, senderName: 'Test' }),
    ...(to && { toNumber: to }),
    session: { name: 'Test', metadata: {} },
  };
}
