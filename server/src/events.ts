import { type Static, type TObject, type TSchema, Type } from 'typebox';

/** Type of a message's content. `messageTypes` of the connector interface lists the values. */
export type MessageType =
  | 'text'
  | 'image'
  | 'video'
  | 'audio'
  | 'voice'
  | 'document'
  | 'sticker'
  | 'location'
  | 'contact'
  | 'poll'
  | 'template'
  | 'interactive';

const Timestamp = (description: string) => Type.String({ format: 'date-time', description });
const Digits = (description: string) => Type.String({ pattern: '^[0-9]+$', description });
const Test = {
  test: Type.Optional(Type.Literal(true, { description: 'Present on the sample event that a webhook test sends.' })),
};

/** Marks a field with message content: callers who may see only metadata get it empty, or not at all if optional. */
export const messageContent = { 'x-message-content': true } as const;

const MessageId = Type.String({ description: 'Id of the message (`msg_…`).' });
const SessionId = Type.String({ description: 'Id of the session (`ses_…`).' });
const ChatId = Type.String({
  description:
    'Phone number digits of a direct chat, the id of the group (`grp_…`), or the placeholder (`000…`) of a person who hides the phone number.',
});
const TypeOfMessage = Type.String({
  description: 'Type of the message: `text`, `image`, `video`, `audio`, `document`, …',
});

/** A file that was sent or is shown. */
export const MediaPart = Type.Object({
  mediaId: Type.String({ description: 'Id of the media (`med_…`).' }),
  mimeType: Type.String({ description: 'Media type of the file, such as `image/jpeg`.' }),
  size: Type.Integer({ description: 'Size of the file in bytes.' }),
  fileName: Type.Union([Type.String(), Type.Null()], {
    description: 'Name that the sender gave the file; null if there is none.',
  }),
  url: Type.String({ description: 'Download the file here, with an API key that has `media:read`.' }),
});

/** An optional field with message content. */
export const OptionalContent = <T extends TSchema>(schema: T) => Type.Optional({ ...schema, ...messageContent });

/** The optional parts of a message besides its text, in events and in the API. */
export const messageParts = {
  media: OptionalContent(MediaPart),
  location: OptionalContent(
    Type.Object({
      latitude: Type.Number({ minimum: -90, maximum: 90, description: 'Degrees north (WGS 84).' }),
      longitude: Type.Number({ minimum: -180, maximum: 180, description: 'Degrees east (WGS 84).' }),
      name: Type.Optional(Type.String({ maxLength: 200, description: 'Name of the place.' })),
      address: Type.Optional(Type.String({ maxLength: 500, description: 'Postal address of the place.' })),
    }),
  ),
  contact: OptionalContent(
    Type.Object({
      name: Type.String({ description: 'Name on the contact card.' }),
      phoneNumbers: Type.Array(Digits('Phone number digits of the contact.')),
    }),
  ),
  poll: OptionalContent(
    Type.Object({
      options: Type.Array(Type.String(), { description: 'Answers to choose from. The question is in `message`.' }),
      maxSelections: Type.Integer({ minimum: 1, description: 'Number of options that one person can choose.' }),
    }),
  ),
  template: OptionalContent(
    Type.Object({
      name: Type.String({ description: 'Name of the template at the network.' }),
      language: Type.String({ description: 'Language of the template, such as `en_US`.' }),
      components: Type.Array(Type.Unknown(), { description: "Values of the template, in the network's format." }),
    }),
  ),
  interactive: OptionalContent(
    Type.Record(Type.String(), Type.Unknown(), {
      description: 'Buttons, list or link of the message, as they were sent.',
    }),
  ),
  mentions: OptionalContent(Type.Array(Digits('Phone number digits of a mentioned person.'))),
  forwarded: Type.Optional(Type.Literal(true, { description: 'Present if the message was forwarded.' })),
  payload: OptionalContent(Type.String({ description: 'Id of the button or list row that the sender chose.' })),
};

/** Part of a message or event whose content the caller may not see. Webhooks never get it. */
export const ContentHidden = Type.Optional(
  Type.Literal(true, {
    description: 'Present if the content is left out because the API key has the permission `metadata` but not `read`.',
  }),
);

/** Part of a message whose sender hides the phone number. */
export const Unidentified = Type.Optional(
  Type.Literal(true, {
    description:
      'Present if the sender hides the phone number: `from` is then a placeholder, which you can use as `to`.',
  }),
);

const ReplyTo = Type.Optional(Type.String({ description: 'Id of the message that this message replies to.' }));
const Replayed = Type.Optional(
  Type.Literal(true, {
    description: 'Present if the message arrived late because the session was not connected when it was sent.',
  }),
);

/** Part of a message that was sent by the session's own number, but not through the API. */
export const SentElsewhere = Type.Optional(
  Type.Literal(true, {
    description: 'Present if the message was sent from the phone or another linked device, not through the API.',
  }),
);

/** The status change of an outgoing message: `message.sent`, `message.delivered`, `message.read`. */
const MessageStatusChange = Type.Object({
  messageId: MessageId,
  to: Type.String({
    description: 'Phone number digits of the recipient, or the group id.',
  }),
  status: Type.String({ description: 'New status: `sent`, `delivered` or `read`.' }),
  timestamp: Timestamp('When the message reached the status.'),
  sessionId: Type.Optional(SessionId),
  chatId: Type.Optional(ChatId),
  from: Type.Optional(Digits('Phone number digits of the sending session.')),
  groupId: Type.Optional(Type.String({ description: 'Id of the group (`grp_…`). Only for messages in groups.' })),
  type: Type.Optional(TypeOfMessage),
  ...Test,
});

export const Participant = Type.Object({
  phoneNumber: Digits('Phone number digits of the participant.'),
  role: Type.Enum(['member', 'admin', 'owner'], {
    description: '`admin` and `owner` can change the group and its participants.',
  }),
});

/** A change of a group; `type` determines the other fields. */
export const GroupChange = Type.Object({
  type: Type.Enum(['subject', 'description', 'settings', 'participants', 'picture', 'invite_link'], {
    description: 'Type of the change. It determines which of the other fields are present.',
  }),
  subject: Type.Optional(Type.String({ description: 'New name of the group.' })),
  description: Type.Optional(
    Type.Union([Type.String(), Type.Null()], { description: 'New description; null if it was removed.' }),
  ),
  settings: Type.Optional(
    Type.Object({
      announce: Type.Optional(Type.Boolean({ description: 'Only admins can send messages.' })),
      locked: Type.Optional(Type.Boolean({ description: 'Only admins can change subject, description and picture.' })),
      joinApproval: Type.Optional(
        Type.Boolean({ description: 'An admin must approve people who join with the invite link.' }),
      ),
    }),
  ),
  action: Type.Optional(
    Type.Enum(['add', 'remove', 'promote', 'demote'], {
      description: 'Type of the change to the participants in `phoneNumbers`.',
    }),
  ),
  phoneNumbers: Type.Optional(Type.Array(Digits('Phone number digits of a participant.'))),
});
export type GroupChange = Static<typeof GroupChange>;

/**
 * The eight event types: the meaning of each and the shape of its `data`. The contract fixes the types and the fields
 * of `message.incoming`, `message.sent` and `session.connected`; we define the rest. Docs, OpenAPI and the samples of
 * webhook tests derive from this table.
 */
export const events = {
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
      replayed: Replayed,
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

export type EventKind = keyof typeof events;
export type EventData<K extends EventKind> = Static<(typeof events)[K]['data']>;

/** The body of a delivery. Source: "Event envelope" of the contract. */
export interface Envelope<K extends EventKind = EventKind> {
  readonly event: K;
  readonly data: EventData<K>;
}

// The keys of the table are exactly the event types, which the type of Object.keys loses.
export const eventKinds = Object.keys(events) as readonly EventKind[];

export function isEventKind(value: string): value is EventKind {
  return Object.hasOwn(events, value);
}

/** Makes a sample event of a type, in its exact shape, marked `test: true`. */
export function sampleEvent(kind: EventKind, timestamp: string): Envelope {
  const message = { messageId: 'msg_00000000000000000000000000', to: '491701234567', timestamp, test: true as const };
  const session = { sessionId: 'ses_00000000000000000000000000', phoneNumber: '491701234567', test: true as const };
  const group = {
    groupId: 'grp_00000000000000000000000000',
    sessionId: session.sessionId,
    subject: 'Switchboard test',
    timestamp,
    test: true as const,
  };
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
  };
  return { event: kind, data: samples[kind] };
}
