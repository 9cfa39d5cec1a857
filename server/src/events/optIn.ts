import { type TObject, Type } from 'typebox';
import { batchEvents } from './batchEvents.ts';
import { businessEvents } from './businessEvents.ts';
import { contentPartSchemas } from './contentParts/contentParts.ts';
import { customerEvents } from './customerEvents.ts';
import { Digits, Flag, messageContent, OptionalContent, Text, Timestamp } from './fields.ts';
import {
  ChatId,
  ErrorCode,
  EventMedia,
  LocationPart,
  MessageId,
  MessageStatusChange,
  SessionId,
  Test,
  TypeOfMessage,
  Unidentified,
} from './parts.ts';
import { socialEvents } from './social.ts';

const GroupId = Type.Optional(Type.String({ description: 'Id of the group (`grp_…`). Only in groups.' }));
const FromMe = Type.Boolean({ description: "Whether the session's own number did it, on any of its devices." });

/** Something that a person did to an existing message. */
const messageChange = (from: string, timestamp: string) => ({
  messageId: MessageId,
  type: TypeOfMessage,
  sessionId: SessionId,
  chatId: ChatId,
  groupId: GroupId,
  from: Digits(from),
  fromMe: FromMe,
  unidentified: Unidentified,
  timestamp: Timestamp(timestamp),
});

const LabelIds = Type.Array(Type.String(), { description: 'Ids of its labels (`lbl_…`).' });

/** A message that the owner of the session has marked or deleted. */
const marked = {
  messageId: MessageId,
  type: TypeOfMessage,
  sessionId: SessionId,
  chatId: ChatId,
  groupId: GroupId,
};

const call = {
  callId: Type.String({ description: 'Id of the call at the network; the same when it starts and ends.' }),
  sessionId: SessionId,
  chatId: ChatId,
  groupId: GroupId,
  from: Digits('Phone number digits of the caller.'),
  unidentified: Unidentified,
  video: Type.Boolean({ description: 'Whether it is a video call.' }),
};

const circuit = {
  webhookId: Type.String({ description: 'Id of the webhook (`whk_…`).' }),
  webhookOrigin: Type.String({ description: 'Scheme, host and port of the webhook.' }),
};

/**
 * The event types beyond those of the contract: a webhook receives one only if it subscribes to it, by its name or by a
 * pattern.
 */
export const optInEvents = {
  'message.reaction': {
    description: 'Somebody reacted to a message, or removed the reaction.',
    data: Type.Object({
      ...messageChange('Phone number digits of the person who reacted.', 'When the person reacted.'),
      emoji: Type.Union([Type.String(), Type.Null()], {
        description: 'The emoji; null if the reaction was removed.',
        ...messageContent,
      }),
      ...Test,
    }),
  },
  'message.edited': {
    description: 'A message was edited: its text, its caption or its event.',
    data: Type.Object({
      ...messageChange('Phone number digits of the sender.', 'When the message was changed.'),
      message: Type.String({
        description: 'The new text, caption or event name. Empty if a caption was removed.',
        ...messageContent,
      }),
      mentions: OptionalContent(
        Type.Array(Digits('Phone number digits of a mentioned person.'), {
          description: 'People whom the new text mentions. Absent if it mentions no one.',
        }),
      ),
      event: contentPartSchemas.event,
      ...Test,
    }),
  },
  'message.deleted': {
    description: 'A message was deleted for everyone.',
    data: Type.Object({
      ...messageChange(
        'Phone number digits of the person who deleted it: the sender or an admin of the group.',
        'When the message was deleted.',
      ),
      ...Test,
    }),
  },
  'message.failed': {
    description: 'A message could not be sent, or was cancelled.',
    data: Type.Object({
      ...MessageStatusChange.properties,
      error: Type.String({ description: 'Why the message failed, as a sentence.' }),
      errorCode: ErrorCode,
    }),
  },
  'message.queued': {
    description: 'A message that was scheduled, sent in bulk or approved became due and waits to be sent.',
    data: MessageStatusChange,
  },
  'message.approval': {
    description: 'A message of an API key waits for approval, or was approved, rejected or withdrawn, or expired.',
    data: Type.Object({
      ...MessageStatusChange.properties,
      status: Type.String({ description: 'Status of the message after that, such as `pending_approval`.' }),
      approval: Type.Enum(['pending', 'approved', 'rejected', 'expired', 'withdrawn'], {
        description: '`pending`: the message waits. `withdrawn`: it was cancelled before anybody decided.',
      }),
      keyId: Type.String({ description: 'Id of the API key that asked for the message (`key_…`).' }),
      reason: OptionalContent(Type.String({ description: 'Why it was rejected, if a reason was given.' })),
    }),
  },
  'poll.vote': {
    description: 'Somebody voted in a poll, or withdrew the vote.',
    data: Type.Object({
      ...messageChange('Phone number digits of the person who voted.', 'When the person voted.'),
      options: Type.Array(Type.String(), {
        description: 'The chosen options; none if the vote was withdrawn.',
        ...messageContent,
      }),
      ...Test,
    }),
  },
  'message.location': {
    description: 'The live location in a message has moved.',
    data: Type.Object({
      ...messageChange('Phone number digits of the person who moves.', 'When the position was reported.'),
      location: OptionalContent({ ...LocationPart, description: 'The new position.' }),
      ...Test,
    }),
  },
  'message.media': {
    description:
      "The sender's app has added a file to a message: a better version of its image or video, or the video of a live photo.",
    data: Type.Object({
      ...messageChange('Phone number digits of the sender.', 'When the file was sent.'),
      media: OptionalContent({ ...EventMedia, description: 'The better version, which replaces the first file.' }),
      livePhoto: OptionalContent({ ...EventMedia, description: 'Video of a live photo.' }),
      ...Test,
    }),
  },
  'event.answer': {
    description: 'Somebody answered an event.',
    data: Type.Object({
      ...messageChange('Phone number digits of the person who answered.', 'When the person answered.'),
      answer: OptionalContent(Type.Enum(['going', 'not_going', 'maybe'], { description: 'Whether the person comes.' })),
      ...Test,
    }),
  },
  'chat.updated': {
    description:
      'A chat was archived, pinned, muted, read, marked as unread or labeled, or its timer for messages changed, here or on another device.',
    data: Type.Object({
      chatId: ChatId,
      sessionId: SessionId,
      groupId: GroupId,
      archived: Type.Boolean({ description: 'Whether the chat is archived.' }),
      pinned: Type.Boolean({ description: 'Whether the chat is pinned.' }),
      mutedUntil: Type.Union([Type.String({ format: 'date-time' }), Type.Null()], {
        description: 'Until when the chat is muted; null if it is not.',
      }),
      unreadCount: Type.Integer({ description: 'Number of incoming messages that are not marked as read.' }),
      markedUnread: Type.Boolean({ description: 'Whether the chat is marked as unread, whatever its messages are.' }),
      disappearingSeconds: Type.Union([Type.Integer(), Type.Null()], {
        description: 'After how many seconds new messages disappear; null if they stay.',
      }),
      labelIds: LabelIds,
      timestamp: Timestamp('When the chat changed.'),
      ...Test,
    }),
  },
  'chat.removed': {
    description: 'A chat, or all of its messages, were deleted for the session, here or on another device.',
    data: Type.Object({
      chatId: ChatId,
      sessionId: SessionId,
      groupId: GroupId,
      action: Type.Enum(['deleted', 'cleared'], { description: '`cleared`: the chat stays, without its messages.' }),
      timestamp: Timestamp('When the chat was deleted or cleared.'),
      ...Test,
    }),
  },
  'message.removed': {
    description: 'A message was deleted for the session only, here or on another device. Others still have it.',
    data: Type.Object({ ...marked, timestamp: Timestamp('When the message was deleted.'), ...Test }),
  },
  'message.marked': {
    description: 'A message was starred or labeled, or no longer is, here or on another device.',
    data: Type.Object({
      ...marked,
      starred: Type.Boolean({ description: 'Whether the message is starred.' }),
      labelIds: LabelIds,
      timestamp: Timestamp('When the message was marked.'),
      ...Test,
    }),
  },
  'message.pinned': {
    description: 'Somebody pinned a message for everyone in the chat, or removed the pin.',
    data: Type.Object({
      ...messageChange('Phone number digits of the person who did it.', 'When the person did it.'),
      pinnedUntil: Type.Union([Type.String({ format: 'date-time' }), Type.Null()], {
        description: 'When the pin ends; null if it was removed.',
      }),
      ...Test,
    }),
  },
  'label.updated': {
    description: 'A label was created, changed or deleted, here or on another device.',
    data: Type.Object({
      labelId: Type.String({ description: 'Id of the label (`lbl_…`).' }),
      sessionId: SessionId,
      name: Type.String({ description: 'Name of the label.' }),
      color: Type.Integer({ description: 'Index into the palette of the network.' }),
      deleted: Type.Optional(Type.Literal(true, { description: 'Present if the label was deleted.' })),
      timestamp: Timestamp('When the label changed.'),
      ...Test,
    }),
  },
  'contact.updated': {
    description:
      'A contact is new, has another name, was blocked or unblocked, has another number or id, or its hidden number became known.',
    data: Type.Object({
      sessionId: SessionId,
      phoneNumber: Digits('Phone number digits of the contact, or a placeholder if `unidentified` is present.'),
      name: Type.Union([Type.String(), Type.Null()], {
        description: 'Name that the contact shows; null if there is none.',
      }),
      blocked: Type.Boolean({ description: 'Whether the session has blocked the contact.' }),
      previousPhoneNumber: Type.Optional(
        Digits(
          'The placeholder, or other number, under which everything of the contact was stored until now. It is stored under `phoneNumber` from now on.',
        ),
      ),
      numberChanged: Flag(
        'Present if the contact has changed their phone number. `previousPhoneNumber` can later belong to someone else.',
      ),
      userId: Text('User id of the contact on the WhatsApp Cloud API, such as `US.13491208655302741918`.'),
      previousUserId: Text('User id of the contact until now. Only if it changed.'),
      userName: Text("The contact's user name on the WhatsApp Cloud API, if there is one."),
      unidentified: Unidentified,
      timestamp: Timestamp('When the contact changed.'),
      ...Test,
    }),
  },
  'contact.number_request': {
    description: "A person who does not see the session's phone number asked for it.",
    data: Type.Object({
      sessionId: SessionId,
      chatId: ChatId,
      groupId: GroupId,
      from: Digits('Phone number digits of the person.'),
      unidentified: Unidentified,
      timestamp: Timestamp('When the person asked.'),
      ...Test,
    }),
  },
  'presence.updated': {
    description: 'A person came online or went offline, or is typing or recording.',
    data: Type.Object({
      sessionId: SessionId,
      chatId: ChatId,
      groupId: GroupId,
      from: Digits('Phone number digits of the person.'),
      unidentified: Unidentified,
      presence: Type.Enum(['online', 'offline', 'typing', 'recording', 'paused'], {
        description: '`paused` means that the person stopped typing or recording.',
      }),
      lastSeen: Type.Optional(Timestamp('When the person was last online, if the network shows it.')),
      timestamp: Timestamp('When the network reported it.'),
      ...Test,
    }),
  },
  'session.status': {
    description:
      'The status of a session or its risk of being banned changed, or a session that waits to be linked got a new code.',
    data: Type.Object({
      sessionId: SessionId,
      status: Type.String({ description: 'New status, such as `connecting`, `awaiting_pairing` or `connected`.' }),
      previousStatus: Type.String({ description: 'Status before; the same if only the code or the risk is new.' }),
      reason: Type.Union([Type.String(), Type.Null()], {
        description: 'Why the status changed, as a sentence; null if there is nothing to explain.',
      }),
      qr: OptionalContent(
        Type.String({
          description:
            'Text of the QR code to scan, with the status `awaiting_pairing`. In the log and stream only with `sessions:write`.',
        }),
      ),
      pairingCode: OptionalContent(
        Type.String({ description: 'Code to enter on the phone. Only if one was requested.' }),
      ),
      expiresAt: Type.Optional(Timestamp('When `qr` or `pairingCode` stops working.')),
      health: Type.Optional(
        Type.Object(
          {
            risk: Type.Enum(['low', 'elevated', 'high'], {
              description: 'How likely the network is to ban the number.',
            }),
            previousRisk: Type.Enum(['low', 'elevated', 'high'], { description: 'The risk before.' }),
            reasons: Type.Array(
              Type.Object({
                code: Type.String({ description: 'Reason, such as `new_chats`.' }),
                risk: Type.Enum(['low', 'elevated', 'high'], {
                  description: 'How grave the reason is. One with `low` does not raise the risk.',
                }),
                message: Type.String({ description: 'The reason in words, with its figures.' }),
              }),
              { description: 'Why the risk is not low, the gravest first.' },
            ),
          },
          { description: 'Only if the risk changed. The status is then the same as before.' },
        ),
      ),
      timestamp: Timestamp('When the status changed.'),
      ...Test,
    }),
  },
  'session.history': {
    description: 'The import of the history of a phone began, made progress, ended or failed in part.',
    data: Type.Object({
      sessionId: SessionId,
      state: Type.Enum(['none', 'waiting', 'importing', 'complete', 'failed'], {
        description: '`waiting`: the phone has sent nothing yet. `failed`: a part is missing; `error` says why.',
      }),
      progress: Type.Integer({ minimum: 0, maximum: 100, description: 'Percent, as the phone reports it.' }),
      messages: Type.Integer({ description: 'Number of messages imported so far.' }),
      chats: Type.Integer({ description: 'Number of chats that are new.' }),
      contacts: Type.Integer({ description: 'Number of contacts that are new.' }),
      error: Type.Union([Type.String(), Type.Null()], {
        description: 'Why a part of the history is missing, as a sentence; null if nothing failed.',
      }),
      timestamp: Timestamp('When that happened.'),
      ...Test,
    }),
  },
  ...businessEvents,
  ...batchEvents,
  'group.participants': {
    description: 'People joined or left a group, or their roles changed.',
    data: Type.Object({
      groupId: Type.String({ description: 'Id of the group (`grp_…`).' }),
      sessionId: SessionId,
      subject: Type.String({ description: 'Name of the group.' }),
      action: Type.Enum(['add', 'remove', 'promote', 'demote'], { description: 'Change of the participants.' }),
      phoneNumbers: Type.Array(Digits('Phone number digits of a participant.')),
      timestamp: Timestamp('When the group changed.'),
      ...Test,
    }),
  },
  'group.join_request': {
    description: 'Somebody asked to join a group of the session, or the request ended.',
    data: Type.Object({
      groupId: Type.String({ description: 'Id of the group (`grp_…`).' }),
      sessionId: SessionId,
      subject: Type.String({ description: 'Name of the group.' }),
      phoneNumber: Digits('Phone number digits of the person.'),
      unidentified: Unidentified,
      change: Type.Enum(['created', 'withdrawn', 'approved', 'rejected'], {
        description: '`withdrawn` by the person; `approved` and `rejected` by an admin, here or on a phone.',
      }),
      method: Type.Optional(
        Type.Enum(['invite_link', 'member', 'community'], {
          description: 'How the person asked, if the network reports it. `member`: a member proposed the person.',
        }),
      ),
      timestamp: Timestamp('When the person asked, or the request ended.'),
      ...Test,
    }),
  },
  'call.incoming': {
    description: 'Somebody calls the session.',
    data: Type.Object({ ...call, timestamp: Timestamp('When the call began.'), ...Test }),
  },
  'call.ended': {
    description: 'A call to the session stopped ringing: it was answered elsewhere, rejected or given up.',
    data: Type.Object({
      ...call,
      outcome: Type.Enum(['answered', 'rejected', 'missed', 'ended'], {
        description:
          '`answered` and `rejected`: on another device of the account, such as the phone, or rejected with this API. `ended`: the network does not report why.',
      }),
      timestamp: Timestamp('When the call stopped ringing.'),
      ...Test,
    }),
  },
  ...customerEvents,
  ...socialEvents,
  'webhook.circuit_opened': {
    description: 'The circuit breaker of another webhook opened: its deliveries are held.',
    data: Type.Object({
      ...circuit,
      reason: Type.String({ description: 'Why it opened, such as `failures_in_a_row` or `gone`.' }),
      error: Type.Union([Type.String(), Type.Null()], {
        description: 'Result of the last failed attempt, as a sentence; null if there is none.',
      }),
      timestamp: Timestamp('When it opened.'),
      ...Test,
    }),
  },
  'webhook.circuit_closed': {
    description: 'The circuit breaker of another webhook closed: its held deliveries go out.',
    data: Type.Object({
      ...circuit,
      reason: Type.String({ description: 'Why it closed, such as `probes_succeeded`, `reset` or `new_url`.' }),
      timestamp: Timestamp('When it closed.'),
      ...Test,
    }),
  },
} as const satisfies Record<string, { description: string; data: TObject }>;
