import { type Static, type TObject, Type } from 'typebox';
import { namesOf } from '../objects.ts';
import { Digits, messageContent, Timestamp } from './fields.ts';
import { optInEvents } from './optIn.ts';
import {
  ChatId,
  FromHistory,
  GroupChange,
  MessageId,
  MessageStatusChange,
  messageParts,
  Participant,
  RemoteMedia,
  Replayed,
  ReplyTo,
  SenderIds,
  SentElsewhere,
  SessionId,
  Test,
  TypeOfMessage,
  Unidentified,
  WasAwaited,
} from './parts.ts';

/**
 * The event types of the contract: the meaning of each and the shape of its `data`. The contract fixes the types and
 * the fields of `message.incoming`, `message.sent` and `session.connected`; we define the rest.
 */
const contractEvents = {
  'message.incoming': {
    description: 'A message was received.',
    data: Type.Object({
      messageId: MessageId,
      from: Digits('Phone number digits of the sender, or a placeholder if `unidentified` is present.'),
      message: Type.String({
        description: 'Text of the message, caption of the file, or question of the poll.',
        ...messageContent,
      }),
      timestamp: Timestamp('When the sender sent the message.'),
      sessionId: Type.Optional(SessionId),
      chatId: Type.Optional(ChatId),
      to: Type.Optional(Digits('Phone number digits of the receiving session.')),
      type: Type.Optional(TypeOfMessage),
      groupId: Type.Optional(Type.String({ description: 'Id of the group (`grp_…`). Only for messages in groups.' })),
      replyTo: ReplyTo,
      unidentified: Unidentified,
      ...SenderIds,
      replayed: Replayed,
      wasAwaited: WasAwaited,
      history: FromHistory,
      remoteMedia: RemoteMedia,
      ...messageParts,
      ...Test,
    }),
  },
  'message.sent': {
    description: 'The network accepted a message, or a person sent one from the phone.',
    data: Type.Object({
      ...MessageStatusChange.properties,
      sentElsewhere: SentElsewhere,
      message: Type.Optional(
        Type.String({
          description:
            'Text of the message. This field and the following ones are present only together with `sentElsewhere`.',
          ...messageContent,
        }),
      ),
      replyTo: ReplyTo,
      replayed: Replayed,
      wasAwaited: WasAwaited,
      history: FromHistory,
      remoteMedia: RemoteMedia,
      ...messageParts,
    }),
  },
  'message.delivered': { description: "A message reached the recipient's device.", data: MessageStatusChange },
  'message.read': { description: 'The recipient read a message.', data: MessageStatusChange },
  'session.connected': {
    description: 'A session connected to its network.',
    data: Type.Object({
      sessionId: SessionId,
      phoneNumber: Digits('Phone number digits of the session.'),
      connectedAt: Timestamp('When the session connected.'),
      ...Test,
    }),
  },
  'session.disconnected': {
    description:
      'A session lost its network, was disconnected or was logged out. Sent once per outage, and again if a session that was expected to reconnect gives up.',
    data: Type.Object({
      sessionId: SessionId,
      phoneNumber: Digits('Phone number digits of the session.'),
      reason: Type.String({ description: 'Why the session disconnected, as a sentence.' }),
      willReconnect: Type.Boolean({ description: 'Whether the session reconnects automatically.' }),
      disconnectedAt: Timestamp('When the session disconnected.'),
      ...Test,
    }),
  },
  'group.created': {
    description: 'A group was created, or the session was added to one.',
    data: Type.Object({
      groupId: Type.String({ description: 'Id of the group (`grp_…`).' }),
      sessionId: SessionId,
      subject: Type.String({ description: 'Name of the group.' }),
      participants: Type.Array(Participant, { description: 'Members of the group, with their roles.' }),
      createdBy: Digits('Phone number digits of the person who created the group.'),
      timestamp: Timestamp('When the group was created.'),
      ...Test,
    }),
  },
  'group.updated': {
    description: 'The participants, subject, description, settings, picture or invite link of a group changed.',
    data: Type.Object({
      groupId: Type.String({ description: 'Id of the group (`grp_…`).' }),
      sessionId: SessionId,
      subject: Type.String({ description: 'Name of the group after the change.' }),
      change: GroupChange,
      timestamp: Timestamp('When the group changed.'),
      ...Test,
    }),
  },
} as const satisfies Record<string, { description: string; data: TObject }>;

/** All event types. Docs, OpenAPI, the SDK and the samples of webhook tests derive from this table. */
export const events = { ...contractEvents, ...optInEvents };

export type EventKind = keyof typeof events;
export type EventData<K extends EventKind> = Static<(typeof events)[K]['data']>;

/** The body of a delivery. Source: "Event envelope" of the contract. */
export interface Envelope<K extends EventKind = EventKind> {
  readonly event: K;
  readonly data: EventData<K>;
}

/** The event types of the contract, which readers of the log get unless they name others. */
export const contractKinds: readonly EventKind[] = namesOf(contractEvents);

export const eventKinds: readonly EventKind[] = namesOf(events);

export function isEventKind(value: string): value is EventKind {
  return Object.hasOwn(events, value);
}

/** Whether a pattern, `*` or the beginning of event types such as `message.*`, includes an event type. */
export function matchesPattern(pattern: string, kind: string): boolean {
  return pattern === '*' || (pattern.endsWith('.*') && kind.startsWith(pattern.slice(0, -1)));
}
