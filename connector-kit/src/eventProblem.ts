import { inspect } from 'node:util';
import { callOutcomes } from '../../server/src/connectors/contract/calls.ts';
import { allMessageTypes } from '../../server/src/connectors/contract/content.ts';
import { eventAnswers } from '../../server/src/connectors/contract/contentParts.ts';
import type { NetworkEvent } from '../../server/src/connectors/contract/events.ts';
import { presences } from '../../server/src/connectors/contract/presence.ts';
import { networkWarnings } from '../../server/src/connectors/contract/standing.ts';
import { unreadableReasons } from '../../server/src/events/networkTypes.ts';

/* Checks the shape of reports, for connectors in plain JavaScript and data that comes from a network. */

/** Whether a value is what a field must be. */
type Check = (value: unknown) => boolean;

const text: Check = (value) => typeof value === 'string';
const id: Check = (value) => typeof value === 'string' && value !== '';
const digits: Check = (value) => typeof value === 'string' && /^\d{5,30}$/.test(value);
const flag: Check = (value) => typeof value === 'boolean';
/** In milliseconds: seconds since the epoch would be a date in January 1970. */
const time: Check = (value) => Number.isFinite(value) && Number(value) > 10_000_000_000;
const percent: Check = (value) => Number.isInteger(value) && Number(value) >= 0 && Number(value) <= 100;
const count: Check = (value) => Number.isSafeInteger(value) && Number(value) >= 0;
const listOf =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check);
const oneOf =
  (...values: readonly unknown[]): Check =>
  (value) =>
    values.includes(value);
const optional =
  (check: Check): Check =>
  (value) =>
    value === undefined || check(value);
const nullable =
  (check: Check): Check =>
  (value) =>
    value === null || check(value);
const shape =
  (fields: Readonly<Record<string, Check>>): Check =>
  (value) =>
    typeof value === 'object' &&
    value !== null &&
    Object.entries(fields).every(([name, check]) => check((value as Record<string, unknown>)[name]));

const chat = shape({ type: oneOf('direct', 'group'), id });
const label = shape({ networkId: id, name: text, color: Number.isSafeInteger });
const content = shape({ type: oneOf(...allMessageTypes), text });
const group = shape({ networkId: id, subject: text, participants: listOf(shape({ phoneNumber: digits })) });
const file = shape({ mimeType: text, size: count, open: (value) => typeof value === 'function' });
const change = { networkId: id, from: digits, timestamp: time };
const statusContent = shape({ type: oneOf('text', 'image', 'video', 'voice'), text });
const channel = shape({ networkId: id, name: text, role: nullable(oneOf('follower', 'admin', 'owner')), muted: flag });
const post = shape({ type: oneOf('text', 'image', 'video'), text });
const approach = { networkId: text, chat, from: digits, timestamp: time };
const call = { callId: id, chat, from: digits, isVideo: flag, timestamp: time };

const fields: Readonly<Record<NetworkEvent['type'], Readonly<Record<string, Check>>>> = {
  standing: {
    noNewChatsUntil: optional(nullable(time)),
    newChats: optional(nullable(shape({ used: count, total: count }))),
  },
  warned: { warning: oneOf(...networkWarnings), timestamp: time },
  unreadable: { reason: oneOf(...unreadableReasons), isMessage: flag },
  pairing: { qr: id, expiresAt: time },
  connected: { phoneNumber: digits },
  disconnected: { reason: id, willReconnect: flag },
  logged_out: { reason: id },
  message: {
    networkId: id,
    chat,
    from: digits,
    isOwn: optional(flag),
    senderName: optional(text),
    userId: optional(id),
    username: optional(text),
    isReplayed: optional(flag),
    content,
    timestamp: time,
    replyTo: nullable(id),
    unreadable: optional(oneOf(...unreadableReasons)),
    expiresInSeconds: optional(Number.isSafeInteger),
    address: optional(id),
  },
  identified: { standIn: digits, phoneNumber: digits },
  edited: { ...change, text, mentions: optional(listOf(digits)) },
  better_media: { ...change, chat, kind: oneOf('image', 'video'), media: file, fileId: optional(id) },
  live_photo: { ...change, chat, media: file, fileId: optional(id) },
  deleted: { ...change, author: optional(digits) },
  reaction: { ...change, author: optional(digits), chat: optional(chat), emoji: nullable(id) },
  vote: { ...change, chat: optional(chat), options: listOf(text) },
  event_answer: { ...change, chat: optional(chat), answer: oneOf(...eventAnswers) },
  receipt: {
    networkIds: listOf(id),
    status: oneOf('sent', 'delivered', 'read', 'failed'),
    timestamp: time,
    chat: optional(chat),
    error: optional(text),
    errorCode: optional(id),
  },
  chat_updated: { chat },
  chat_removed: { chat, isWhole: flag, upTo: time, keepsStarred: optional(flag) },
  message_removed: { networkId: id, chat, onlyAwaited: optional(oneOf(true)) },
  message_starred: { networkId: id, chat, isStarred: flag },
  message_pinned: {
    networkId: id,
    author: optional(digits),
    chat,
    from: digits,
    until: nullable(time),
    timestamp: time,
  },
  disappearing: { chat, seconds: nullable(Number.isSafeInteger) },
  label_updated: { label },
  label_removed: { networkId: id },
  label_assigned: { labelId: id, chat, message: optional(id), isSet: flag },
  contact_named: { phoneNumber: digits, name: text },
  contact_ids: { phoneNumber: digits, userId: id, username: optional(text), name: optional(text) },
  presence: { chat, from: digits, presence: oneOf(...presences), lastSeen: optional(time), timestamp: time },
  status_mentioned: { chat, from: digits, status: nullable(id), timestamp: time },
  number_requested: { chat, from: digits, timestamp: time },
  call,
  call_ended: { ...call, outcome: oneOf(...callOutcomes) },
  chat_opened: approach,
  call_permission: { ...approach, isGranted: flag, expiresAt: optional(time) },
  marketing_choice: { ...approach, isStopped: flag },
  status: { ...change, isOwn: optional(flag), senderName: optional(text), content: statusContent },
  status_deleted: change,
  status_viewed: change,
  status_reaction: { ...change, emoji: nullable(id) },
  channel: { channel },
  channel_post: { networkId: id, channel: id, serverId: nullable(id), content: post, timestamp: time },
  channel_figures: { channel: id, serverId: id },
  group_created: { group },
  group_invite: { group },
  group_noted: { group },
  join_request: {
    group: id,
    phoneNumber: digits,
    change: oneOf('created', 'withdrawn', 'rejected'),
    method: optional(oneOf('invite_link', 'member', 'community')),
    timestamp: time,
  },
  number_updated: { state: shape({}), timestamp: time },
  template_updated: {
    templateId: id,
    name: id,
    language: id,
    status: optional(id),
    category: optional(id),
    reason: optional(text),
    timestamp: time,
  },
  group_updated: { change: shape({ type: id }), changeId: optional(id), timestamp: time, group },
  history: {
    chats: listOf(shape({ chat })),
    contacts: listOf(shape({ phoneNumber: digits, pushName: optional(text), savedName: optional(text) })),
    messages: listOf(shape({ networkId: id, chat, from: digits, content, timestamp: time, replyTo: nullable(id) })),
  },
  history_progress: {
    state: oneOf('waiting', 'importing', 'complete', 'failed'),
    progress: percent,
    error: optional(text),
  },
  contact_saved: { phoneNumber: digits, name: nullable(text) },
};

/** Returns why the server would not understand an event. */
export function eventProblem(event: NetworkEvent): string | undefined {
  const known: Readonly<Record<string, Readonly<Record<string, Check>>>> = fields;
  const checks = Object.hasOwn(known, event?.type) ? known[event.type] : undefined;
  if (checks === undefined) return `There is no event of the type ${inspect(event?.type)}`;
  const given: Readonly<Record<string, unknown>> = { ...event };
  const wrong = Object.keys(checks).find((name) => checks[name]?.(given[name]) !== true);
  return wrong === undefined ? undefined : `\`${wrong}\` of a \`${event.type}\` cannot be ${inspect(given[wrong])}`;
}
