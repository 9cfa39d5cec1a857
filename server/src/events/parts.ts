import { Type } from 'typebox';
import { contentPartSchemas } from './contentParts/contentParts.ts';
import { LivePart } from './contentParts/live.ts';
import { Digits, OptionalContent, Text, Timestamp } from './fields.ts';

/* The parts that events and the API share. */

export const Test = {
  test: Type.Optional(Type.Literal(true, { description: 'Present on the sample event that a webhook test sends.' })),
};

export const MessageId = Type.String({ description: 'Id of the message (`msg_…`).' });
export const ErrorCode = Type.Optional(
  Type.String({
    description:
      'Code of that error, as a direct send returns it, such as `template_required`. Left out if the message was cancelled or rejected.',
  }),
);
export const SessionId = Type.String({ description: 'Id of the session (`ses_…`).' });
export const ChatId = Type.String({
  description:
    'Phone number digits of a direct chat, the id of the group (`grp_…`), or the placeholder (`000…`) of a person who hides the phone number.',
});
export const TypeOfMessage = Type.String({
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

/** A file in an event, with what a webhook adds to it. */
export const EventMedia = Type.Object({
  ...MediaPart.properties,
  link: Type.Optional(
    Type.Object(
      {
        url: Type.String({ description: 'Downloads the file without a credential.' }),
        expiresAt: Type.String({ format: 'date-time', description: 'When the link expires.' }),
      },
      { description: 'Signed link. Only at webhooks with `mediaLink` in `include`; made for each attempt.' },
    ),
  ),
  content: Type.Optional(
    Type.String({
      contentEncoding: 'base64',
      description: 'Content in base64. Only at webhooks with `inlineMediaBytes`, and not of larger files.',
    }),
  ),
  contentOmitted: Type.Optional(
    Type.Enum(['tooLarge'], {
      description: 'Present if `content` is missing because the endpoint or the broker refused its size.',
    }),
  ),
});

export const LocationPart = Type.Object({
  latitude: Type.Number({ minimum: -90, maximum: 90, description: 'Degrees north (WGS 84).' }),
  longitude: Type.Number({ minimum: -180, maximum: 180, description: 'Degrees east (WGS 84).' }),
  name: Type.Optional(Type.String({ maxLength: 200, description: 'Name of the place.' })),
  address: Type.Optional(Type.String({ maxLength: 500, description: 'Postal address of the place.' })),
  live: LivePart,
});

/** The optional parts of a message besides its text, in events and in the API. */
export const messageParts = {
  media: OptionalContent(EventMedia),
  livePhoto: OptionalContent({ ...EventMedia, description: 'Video of a live photo, whose image is `media`.' }),
  location: OptionalContent(LocationPart),
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
      header: Type.Optional(
        Type.Union([Type.Literal('image'), Type.Literal('video'), Type.Literal('document')], {
          description: 'Type of the file in the header, which is the `media` of the message.',
        }),
      ),
      components: Type.Array(Type.Unknown(), { description: "Values of the template, in the network's format." }),
    }),
  ),
  interactive: OptionalContent(
    Type.Record(Type.String(), Type.Unknown(), {
      description: 'Buttons, list, link, request or products of the message, as they were sent.',
    }),
  ),
  mentions: OptionalContent(Type.Array(Digits('Phone number digits of a mentioned person.'))),
  forwarded: Type.Optional(Type.Literal(true, { description: 'Present if the message was forwarded.' })),
  payload: OptionalContent(Type.String({ description: 'Id of the button or list row that the sender chose.' })),
  ...contentPartSchemas,
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

export const userNameOf = (whose: string) => `User name of ${whose} on the WhatsApp Cloud API, if there is one.`;

/** Ids of a person, on a network that has them besides the phone number. */
export const userIdFields = (whose: string) => ({
  userId: Text(
    `User id of ${whose} on the WhatsApp Cloud API, such as \`DE.13491208655302741918\`, accepted as \`to\`.`,
  ),
  userName: OptionalContent(Type.String({ description: userNameOf(whose) })),
});

export const SenderIds = userIdFields('the sender');

export const ReplyTo = Type.Optional(Type.String({ description: 'Id of the message that this message replies to.' }));
export const Replayed = Type.Optional(
  Type.Literal(true, {
    description: 'Present if the message arrived late because the session was not connected when it was sent.',
  }),
);

export const WasAwaited = Type.Optional(
  Type.Literal(true, {
    description:
      'Present if the message replaces an awaited one, which had an event with the same `messageId`, `awaited` and the type `unsupported`.',
  }),
);

/** Part of a message that was sent by the session's own number, but not through the API. */
export const SentElsewhere = Type.Optional(
  Type.Literal(true, {
    description: 'Present if the message was sent from the phone or another linked device, not through the API.',
  }),
);

/** The file of a message from the history, until it is fetched. */
export const RemoteMedia = OptionalContent(
  Type.Object(
    {
      mimeType: Type.String({ description: 'Media type of the file, as the sender stated it.' }),
      size: Type.Integer({ description: 'Size of the file in bytes, as the sender stated it.' }),
      fileName: Type.Union([Type.String(), Type.Null()], { description: 'Name of the file; null if there is none.' }),
    },
    {
      description:
        'File that is still at the network. `POST /messages/{messageId}/media` fetches it, and `media` replaces this field.',
    },
  ),
);

/** Part of a message from before the session was linked. */
export const FromHistory = Type.Optional(
  Type.Literal(true, {
    description:
      'Present if the message is from the history of the phone. Only sessions with the option `historyEvents` report these.',
  }),
);

/** The status change of an outgoing message: `message.sent`, `message.delivered`, `message.read`. */
export const MessageStatusChange = Type.Object({
  messageId: MessageId,
  to: Type.String({
    description:
      'Phone number digits of the recipient. In a group it is the id of the group (`grp_…`), which is not digits.',
  }),
  status: Type.String({ description: 'New status, as in the name of the event, such as `sent`.' }),
  timestamp: Timestamp('When the message reached the status.'),
  sessionId: Type.Optional(SessionId),
  chatId: Type.Optional(ChatId),
  from: Type.Optional(Digits('Phone number digits of the sending session.')),
  groupId: Type.Optional(Type.String({ description: 'Id of the group (`grp_…`). Only for messages in groups.' })),
  type: Type.Optional(TypeOfMessage),
  by: Type.Optional(
    Digits(
      'Phone number digits of the member who received or read the message first, or a placeholder if the member hides the number. Only in groups, with the status `delivered` or `read`.',
    ),
  ),
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
      memberAdd: Type.Optional(Type.Enum(['admins', 'all'], { description: 'People who can add members.' })),
      disappearingSeconds: Type.Optional(
        Type.Integer({ minimum: 0, description: 'Seconds until messages disappear; 0 if they stay.' }),
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
