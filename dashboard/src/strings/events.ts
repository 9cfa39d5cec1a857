import type { EventData } from '@switchboard/sdk/api';

export type EventType = keyof EventData;

/** What each kind of event tells, in a few words. */
export const eventDescriptions: Readonly<Record<EventType, string>> = {
  'message.incoming': 'A message came in',
  'message.sent': 'A message was sent',
  'message.delivered': 'A message reached its recipient',
  'message.read': 'The recipient has read a message',
  'session.connected': 'A session is connected',
  'session.disconnected': 'A session lost its connection',
  'group.created': 'A group was created, or a session was added to one',
  'group.updated': 'A group changed: subject, settings, members',
};

/** Every kind, in the order in which they are listed everywhere. */
export const eventTypes = Object.keys(eventDescriptions) as EventType[]; // its keys are the kinds

export const eventWords = {
  title: 'Events',
  lead: 'What happens in your sessions, whether or not a webhook is told of it.',
  live: 'Live',
  log: 'Log',
  views: 'Live stream or log',
  kinds: 'Kinds',
  allKinds: 'All kinds',
  kind: 'Kind',
  about: 'About',
  time: 'Time',
  pause: 'Pause',
  resume: 'Go on',
  paused: (count: number) => (count === 0 ? 'Paused' : `Paused, ${count.toLocaleString('en')} waiting`),
  clear: 'Clear',
  liveEmpty: 'Waiting for events',
  liveEmptyHint: 'Everything that happens from now on appears here at once. Write a message, or connect a session.',
  openSimulator: 'Open the phone simulator',
  logEmpty: 'Nothing has happened yet',
  logEmptyHint: 'The log begins with the first event of the account, and keeps each for 30 days unless set otherwise.',
  logEmptyKinds: 'No event of this kind',
  logHint: 'Oldest first, as GET /events gives it to a program that pulls.',
  logEnd: 'This is the end of the log. New events appear by themselves.',
  liveList: 'Events as they happen',
  logList: 'Log of events',
  payload: 'Payload',
  payloadOf: (kind: string) => `Payload of ${kind}`,
  choose: 'Choose an event to look into it.',
  eventId: 'Event',
  deliveries: 'Its deliveries',
  dropped: (count: number) => `The ${count.toLocaleString('en')} latest are kept here. The log has all of them.`,
  onNumber: (number: string) => `+${number}`,
} as const;
