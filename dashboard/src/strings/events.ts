import type { EventData } from '@switchboard/sdk/api';

export type EventType = keyof EventData;

export const eventDescriptions: Readonly<Record<EventType, string>> = {
  'message.incoming': 'A message was received',
  'message.sent': 'A message was sent',
  'message.delivered': 'A message was delivered to its recipient',
  'message.read': 'The recipient read a message',
  'session.connected': 'A session connected',
  'session.disconnected': 'A session lost its connection',
  'group.created': 'A group was created, or a session was added to one',
  'group.updated': 'A group changed its subject, settings or members',
  'message.reaction': 'Somebody reacted to a message',
  'message.edited': 'A message was edited',
  'message.deleted': 'A message was deleted for everyone',
  'message.failed': 'A message could not be sent, or was cancelled',
  'message.queued': 'A scheduled, bulk or approved message became due',
  'message.approval': 'A message waits for approval, or was decided on',
  'poll.vote': 'Somebody voted in a poll',
  'chat.updated': 'A chat was archived, pinned, muted or read',
  'contact.updated': 'A contact changed its name, was blocked, or became known',
  'presence.updated': 'A person came online, went offline or is typing',
  'session.status': 'A session changed its status or has a new code',
  'session.history': 'The import of the history of a phone made progress',
  'group.participants': 'People joined or left a group, or changed roles',
  'group.join_request': 'Somebody asked to join a group, or the request ended',
  'call.incoming': 'Somebody calls a session',
  'call.ended': 'A call ended',
  'webhook.circuit_opened': 'The circuit breaker of another webhook opened',
  'webhook.circuit_closed': 'The circuit breaker of another webhook closed',
};

/** All event types, in the order of every list. */
export const eventTypes = Object.keys(eventDescriptions) as EventType[]; // its keys are the types

/** Selected for a new webhook: what nearly every receiver handles. */
export const usualTypes: readonly EventType[] = [
  'message.incoming',
  'message.sent',
  'message.delivered',
  'message.read',
  'session.connected',
  'session.disconnected',
  'group.created',
  'group.updated',
];

export const eventStrings = {
  title: 'Events',
  lead: 'Everything that happens in your sessions, with or without a webhook.',
  live: 'Live',
  log: 'Log',
  views: 'View',
  types: 'Event type',
  allTypes: 'All event types',
  everyType: 'All event types',
  everyTypeHint: 'Also those that later versions add.',
  patternHint: 'All types that begin like this, also those that later versions add.',
  type: 'Event',
  about: 'Summary',
  time: 'Time',
  pause: 'Pause',
  resume: 'Resume',
  paused: (count: number) => (count === 0 ? 'Paused' : `Paused, ${count.toLocaleString('en')} waiting`),
  clear: 'Clear',
  liveEmpty: 'Waiting for events',
  liveEmptyHint: 'New events appear here. Write a message in the phone simulator, or connect a session.',
  openSimulator: 'Open phone simulator',
  logEmpty: 'No events yet',
  logEmptyHint: 'Connect a session to see its first event. Events are kept for 30 days by default.',
  logEmptyType: 'No events of this type',
  logHint: 'Oldest first, as GET /events returns it.',
  logEnd: 'This is the end of the log. New events appear automatically.',
  liveList: 'Live events',
  logList: 'Event log',
  payload: 'Payload',
  payloadOf: (type: string) => `Payload of ${type}`,
  choose: 'Select an event to see its payload.',
  eventId: 'Event ID',
  deliveries: 'View deliveries',
  dropped: (count: number) =>
    `Only the ${count.toLocaleString('en')} latest events are shown. The log has all of them.`,
  onNumber: (number: string) => `+${number}`,
} as const;
