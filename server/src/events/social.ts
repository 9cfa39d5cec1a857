import { type TObject, Type } from 'typebox';
import { Digits, messageContent, OptionalContent, Timestamp } from './fields.ts';
import { ChatId, EventMedia, SessionId, Test, Unidentified } from './parts.ts';

/* Event types of statuses and channels. Part of `optInEvents`. */

const status = {
  statusId: Type.String({ description: 'Id of the status (`sts_…`).' }),
  sessionId: SessionId,
};
const FromMe = Type.Boolean({ description: "Whether the session's own number posted it, on any of its devices." });
const content = {
  message: Type.String({ description: 'Text, or caption of the file.', ...messageContent }),
  media: OptionalContent(EventMedia),
};

export const socialEvents = {
  'status.received': {
    description:
      "A person posted a status (story), or the session's own number did on another device. Only for sessions with the option `statuses`.",
    data: Type.Object({
      ...status,
      from: Digits('Phone number digits of the person who posted it.'),
      fromMe: FromMe,
      unidentified: Unidentified,
      type: Type.Enum(['text', 'image', 'video', 'voice'], { description: 'Type of the status.' }),
      ...content,
      backgroundColor: Type.Optional(Type.String({ description: 'Color behind a text, such as `#1F6F5C`.' })),
      font: Type.Optional(Type.Integer({ description: "The network's number of the font of a text." })),
      timestamp: Timestamp('When the status was posted.'),
      expiresAt: Timestamp('When the status disappears.'),
      ...Test,
    }),
  },
  'status.deleted': {
    description: 'The author of a status deleted it before it expired.',
    data: Type.Object({
      ...status,
      from: Digits('Phone number digits of the author.'),
      fromMe: FromMe,
      unidentified: Unidentified,
      timestamp: Timestamp('When the status was deleted.'),
      ...Test,
    }),
  },
  'status.viewed': {
    description: 'Somebody viewed a status of the session for the first time, or reacted to it.',
    data: Type.Object({
      ...status,
      from: Digits('Phone number digits of the person who viewed it.'),
      unidentified: Unidentified,
      emoji: Type.Union([Type.String(), Type.Null()], {
        description: 'Emoji of the reaction; null if there is none.',
        ...messageContent,
      }),
      timestamp: Timestamp('When the person viewed it or reacted.'),
      ...Test,
    }),
  },
  'status.mentioned': {
    description: "A person mentioned a group of the session, or the session's number, in a status.",
    data: Type.Object({
      sessionId: SessionId,
      chatId: ChatId,
      groupId: Type.Optional(Type.String({ description: 'Id of the mentioned group (`grp_…`).' })),
      from: Digits('Phone number digits of the person who posted the status.'),
      fromMe: FromMe,
      unidentified: Unidentified,
      statusId: Type.Optional(
        Type.String({ description: 'Id of the status (`sts_…`), if the session has received it.' }),
      ),
      timestamp: Timestamp('When the person mentioned it.'),
      ...Test,
    }),
  },
  'channel.message': {
    description:
      'A channel that the session follows or owns has a new post. Only for sessions with the option `channels`.',
    data: Type.Object({
      postId: Type.String({ description: 'Id of the post (`pst_…`).' }),
      channelId: Type.String({ description: 'Id of the channel (`chn_…`).' }),
      sessionId: SessionId,
      channelName: Type.Union([Type.String(), Type.Null()], {
        description: 'Name of the channel; null if it is not known yet.',
        ...messageContent,
      }),
      type: Type.Enum(['text', 'image', 'video'], { description: 'Type of the post.' }),
      ...content,
      timestamp: Timestamp('When it was posted.'),
      ...Test,
    }),
  },
} as const satisfies Record<string, { description: string; data: TObject }>;

export function socialSamples(sessionId: string, from: string, timestamp: string) {
  const statusId = 'sts_00000000000000000000000000';
  const of = { statusId, sessionId, from, timestamp, test: true } as const;
  const text = { type: 'text', message: 'This is a test event.' } as const;
  return {
    'status.received': { ...of, ...text, fromMe: false, expiresAt: timestamp },
    'status.deleted': { ...of, fromMe: false },
    'status.viewed': { ...of, emoji: null },
    'status.mentioned': { ...of, chatId: from, fromMe: false },
    'channel.message': {
      postId: 'pst_00000000000000000000000000',
      channelId: 'chn_00000000000000000000000000',
      sessionId,
      channelName: 'Switchboard test',
      ...text,
      timestamp,
      test: true,
    },
  } as const;
}
