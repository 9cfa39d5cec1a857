import { type Static, type TObject, type TSchema, Type } from 'typebox';

const Timestamp = (description: string) => Type.String({ format: 'date-time', description });
const Digits = (description: string) => Type.String({ pattern: '^[0-9]+$', description });
const Test = { test: Type.Optional(Type.Literal(true, { description: 'There on the sample that a test sends.' })) };

/**
 * Marks a field with content of a message. Who may see only metadata gets it empty or, where it may be missing, not at
 * all.
 */
export const messageContent = { 'x-message-content': true } as const;

const MessageId = Type.String({ description: 'Id of the message (`msg_…`).' });
const SessionId = Type.String({ description: 'Id of the session (`ses_…`).' });
const ChatId = Type.String({
  description: 'Phone number digits of a direct chat, the group id, or the id of who keeps its phone number secret.',
});
const MessageType = Type.String({ description: '`text`, `image`, `video`, `audio`, `document`, …' });

/** A file that somebody has sent or shows. */
export const MediaPart = Type.Object({
  mediaId: Type.String({ description: 'Id of the media (`med_…`).' }),
  mimeType: Type.String(),
  size: Type.Integer({ description: 'Bytes.' }),
  fileName: Type.Union([Type.String(), Type.Null()]),
  url: Type.String({ description: 'Where the content is; it takes an API key with `media:read`.' }),
});

const Part = <T extends TSchema>(schema: T) => Type.Optional({ ...schema, ...messageContent });

/** What a message may have beside its text, in events and in the API. */
export const messageParts = {
  media: Part(MediaPart),
  location: Part(
    Type.Object({
      latitude: Type.Number({ minimum: -90, maximum: 90 }),
      longitude: Type.Number({ minimum: -180, maximum: 180 }),
      name: Type.Optional(Type.String({ maxLength: 200 })),
      address: Type.Optional(Type.String({ maxLength: 500 })),
    }),
  ),
  contact: Part(Type.Object({ name: Type.String(), phoneNumbers: Type.Array(Digits('A number.')) })),
  poll: Part(
    Type.Object({
      options: Type.Array(Type.String()),
      maxSelections: Type.Integer({ minimum: 1, description: 'How many options one person may choose.' }),
    }),
  ),
  template: Part(Type.Object({ name: Type.String(), language: Type.String(), components: Type.Array(Type.Unknown()) })),
  interactive: Part(
    Type.Record(Type.String(), Type.Unknown(), { description: 'What there is to choose from, as it was sent.' }),
  ),
  mentions: Part(Type.Array(Digits('Somebody it mentions.'))),
  forwarded: Type.Optional(Type.Literal(true)),
  payload: Part(Type.String({ description: 'What the button or list entry carries that was chosen.' })),
};

/** Of a message or an event that somebody sees without its content; no webhook gets it. */
export const ContentHidden = Type.Optional(
  Type.Literal(true, {
    description: 'Text and parts are left out, because the API key has the permission `metadata` in place of `read`.',
  }),
);

/** Of a message whose sender hides the number. */
export const Unidentified = Type.Optional(
  Type.Literal(true, {
    description: 'The sender hides the number: `from` stands in for it, and can be written to.',
  }),
);

const ReplyTo = Type.Optional(Type.String({ description: 'Id of the message it answers.' }));
const Replayed = Type.Optional(
  Type.Literal(true, { description: 'It came while the session was away and waited at the network.' }),
);

/** Of a message that the session's own number has sent, and nobody by the API. */
export const SentElsewhere = Type.Optional(
  Type.Literal(true, { description: 'Written on the phone itself, or a device linked to it.' }),
);

/** What a status change of an outgoing message tells: `message.sent`, `message.delivered`, `message.read`. */
const MessageStatusChange = Type.Object({
  messageId: MessageId,
  to: Type.String({
    description: 'Phone number digits of the recipient, or the group id.',
  }),
  status: Type.String({ description: '`sent`, `delivered` or `read`.' }),
  timestamp: Timestamp('When the status was reached.'),
  sessionId: Type.Optional(SessionId),
  chatId: Type.Optional(ChatId),
  from: Type.Optional(Digits('Phone number of the sending session.')),
  groupId: Type.Optional(Type.String({ description: 'The group it was written in.' })),
  type: Type.Optional(MessageType),
  ...Test,
});

export const Participant = Type.Object({
  phoneNumber: Digits('Phone number digits.'),
  role: Type.Enum(['member', 'admin', 'owner']),
});

/** What changed about a group; which of the other fields are there depends on `type`. */
export const GroupChange = Type.Object({
  type: Type.Enum(['subject', 'description', 'settings', 'participants', 'picture', 'invite_link']),
  subject: Type.Optional(Type.String()),
  description: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  settings: Type.Optional(
    Type.Object({
      announce: Type.Optional(Type.Boolean()),
      locked: Type.Optional(Type.Boolean()),
      joinApproval: Type.Optional(Type.Boolean()),
    }),
  ),
  action: Type.Optional(
    Type.Enum(['add', 'remove', 'promote', 'demote'], { description: 'What happened to the participants.' }),
  ),
  phoneNumbers: Type.Optional(Type.Array(Digits('A participant it happened to.'))),
});
export type GroupChange = Static<typeof GroupChange>;

/**
 * The eight kinds of events: what each means and the shape of its `data`. The contract fixes the kinds and the
 * fields of `message.incoming`, `message.sent` and `session.connected`; the rest is ours. Docs, OpenAPI and the
 * samples that a test sends are made from this table.
 */
export const events = {
  'message.incoming': {
    description: 'A message was received.',
    data: Type.Object({
      messageId: MessageId,
      from: Digits('Phone number of the sender, or what stands in for it: see `unidentified`.'),
      message: Type.String({ description: 'Text of the message, or the caption of its media.', ...messageContent }),
      timestamp: Timestamp('When the sender sent it.'),
      sessionId: Type.Optional(SessionId),
      chatId: Type.Optional(ChatId),
      to: Type.Optional(Digits('Phone number of the receiving session.')),
      type: Type.Optional(MessageType),
      groupId: Type.Optional(Type.String({ description: 'The group it was written in.' })),
      replyTo: ReplyTo,
      unidentified: Unidentified,
      replayed: Replayed,
      ...messageParts,
      ...Test,
    }),
  },
  'message.sent': {
    description: 'A message was accepted by the network, or written on the phone itself.',
    data: Type.Object({
      ...MessageStatusChange.properties,
      sentElsewhere: SentElsewhere,
      message: Type.Optional(
        Type.String({
          description: 'Only of one that was sent elsewhere, as all that follows: what it says.',
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
    description: 'A session is connected to its network.',
    data: Type.Object({
      sessionId: SessionId,
      phoneNumber: Digits('Phone number of the session.'),
      connectedAt: Timestamp('Since when it is connected.'),
      ...Test,
    }),
  },
  'session.disconnected': {
    description:
      'A session lost its network, was disconnected or was logged out. Once per outage; again only when it was to come back by itself and does not.',
    data: Type.Object({
      sessionId: SessionId,
      phoneNumber: Digits('Phone number of the session.'),
      reason: Type.String({ description: 'Why, in words.' }),
      willReconnect: Type.Boolean({ description: 'Whether the session comes back by itself.' }),
      disconnectedAt: Timestamp('Since when it is disconnected.'),
      ...Test,
    }),
  },
  'group.created': {
    description: 'A group was created, or the session was added to one.',
    data: Type.Object({
      groupId: Type.String(),
      sessionId: SessionId,
      subject: Type.String({ description: 'Name of the group.' }),
      participants: Type.Array(Participant),
      createdBy: Digits('Phone number of the member who created it.'),
      timestamp: Timestamp('When it was created.'),
      ...Test,
    }),
  },
  'group.updated': {
    description: 'Members, subject, description or settings of a group changed.',
    data: Type.Object({
      groupId: Type.String(),
      sessionId: SessionId,
      subject: Type.String({ description: 'Name of the group after the change.' }),
      change: GroupChange,
      timestamp: Timestamp('When it changed.'),
      ...Test,
    }),
  },
} as const satisfies Record<string, { description: string; data: TObject }>;

export type EventKind = keyof typeof events;
export type EventData<K extends EventKind> = Static<(typeof events)[K]['data']>;

/** What a delivery's body holds. Source: "Event envelope" of the contract. */
export interface Envelope<K extends EventKind = EventKind> {
  readonly event: K;
  readonly data: EventData<K>;
}

// The keys of the table are exactly the kinds; Object.keys forgets that.
export const eventKinds = Object.keys(events) as readonly EventKind[];

export function isEventKind(value: string): value is EventKind {
  return Object.hasOwn(events, value);
}

/** A made-up event of the given kind, in that kind's exact shape, marked `test: true`. */
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
