import { Type } from 'typebox';
import { callOutcomes } from '../../connectors/contract/calls.ts';
import type { MessageContent } from '../../connectors/contract/content.ts';
import { mediaTypes } from '../../connectors/contract/content.ts';
import type { MessageKey, NetworkChat } from '../../connectors/contract/messageKey.ts';
import type { NetworkMedia } from '../../connectors/contract/networkMedia.ts';
import { isPlaceholder } from '../../connectors/contract/people.ts';
import { presences } from '../../connectors/contract/presence.ts';
import { AppError, invalidField } from '../../errors.ts';
import type { MessageType } from '../../events/networkTypes.ts';
import {
  boolean,
  integer,
  list,
  number,
  object,
  oneOf,
  onlyTrue,
  optional,
  orNull,
  strictPart,
  string,
  time,
} from '../../invoke/input/fields.ts';
import { phoneNumber, SimulatedNumberInput, SimulatedNumberList } from '../../invoke/input/phoneNumbers.ts';
import { ref } from '../../invoke/input/references.ts';
import { parseTime } from '../../invoke/input/validate.ts';
import { type Context, defineOperation } from '../../invoke/operation.ts';
import { keyOf } from '../../messages/messages/outgoing.ts';
import { findMessage, findSession, networkIdOfGroup, type SessionRef } from '../../messages/store.ts';
import { SessionId } from '../../operations/shared/sessionFields.ts';
import type { NoticeSimulation, Simulation } from '../simulatedActions.ts';
import { businessActions, businessDescription, businessInput, toBusinessSimulation } from './businessSimulation.ts';
import {
  groupSimulationInput,
  groupSimulations,
  groupSimulationText,
  isGroupSimulation,
  toGroupSimulation,
} from './groupSimulations.ts';
import { historyInput, toHistorySimulation } from './historySimulation.ts';
import { isNotice, noticeActions, noticeInput, noticeText, toNoticeSimulation } from './noticeSimulation.ts';
import { type Change, isMessageChange, messageChanges, requireApplicable } from './simulatedChanges.ts';
import { chatActionNames, chatActionTexts, chatSimulationInput, toChatSimulation } from './simulatedChats.ts';
import { additions, contentInputs, LiveInput, simulatedFile, simulatedPart, toLocation } from './simulatedContent.ts';
import { networkIdOfStatus, toSocialSimulation } from './socialSimulation.ts';

const Action = oneOf(
  [
    'pair',
    'incoming',
    ...messageChanges,
    'disconnect',
    'logout',
    'group_create',
    'group_subject',
    'group_leave',
    'presence',
    'call',
    'call_end',
    'chat_update',
    'rename',
    'identify',
    'history',
    ...chatActionNames,
    ...groupSimulations,
    ...businessActions,
    'block_report',
    'standing',
    'status',
    'status_delete',
    'status_view',
    'status_react',
    'channel_create',
    'channel_post',
    ...noticeActions,
  ],
  'Event to simulate; see the description of the operation.',
);

export const simulateSession = defineOperation({
  id: 'sessions.simulate',
  route: 'POST /sessions/{sessionId}/simulate',
  owner: { field: 'sessionId' },
  permission: 'sessions:write',
  scope: 'sessionId',
  effect: 'write',
  uses: ['media'],
  summary: 'Play the other side of a sandbox session',
  description: [
    'Make something happen to a sandbox session, as if another person or the network did it. Use it to test an integration without a real phone. `action` determines which fields are used:',
    '`pair` scans the QR code.',
    '`incoming` sends a message to the session: `from`, and `message`, or the first of `mediaId` (with `type`), `location`, `contact` and `poll` that you pass; `message` is then its text. With `groupId` it is sent in a group, and with `messageId` it is a reply, or with `quoted` to a message that the session does not have.',
    '`edit` (`messageId`, `message`), `delete` (`messageId`), `react` (`messageId`, `from`, `emoji`) and `vote` (`messageId`, `from`, `options`) change an existing message.',
    '`incoming` also sends the kinds `event`, `product`, `order`, `groupInvite` and, with `rawType`, one that the server does not know. `viewOnce`, `gif`, `videoNote`, `animated`, `mentionAll`, `albumId`, `choice` and `referral` are added to any message.',
    '`event_answer` (`messageId`, `from`, `answer`) answers an event. `move` (`messageId`, `location`) moves a live location.',
    '`better_media` (`messageId`, `mediaId`) replaces the image or video of a message by a better version. `live_photo` (`messageId`, `mediaId`) adds the video of a live photo to its image.',
    '`receipt` (`messageId`, `status`; `from` for a member of a group) confirms a message that the session sent.',
    '`disconnect` (`reason`, `reconnectAfterMs`) cuts the connection. `logout` unlinks the phone.',
    '`group_create` (`from`, `subject`, `phoneNumbers`), `group_subject` (`groupId`, `subject`) and `group_leave` (`groupId`, `from`) act as another member of a group.',
    '`presence` (`from`, `presence`, and `groupId` in a group) shows what a person is doing. `rename` (`from`, `senderName`) changes the name that a person shows. `identify` (`from`, `phoneNumber`) reports the number of a person who had hidden it: `from` is the placeholder, `000` and more digits, with which the person wrote before.',
    '`call` (`from`, `callId`, `video`) calls the session; `call_end` (the same, and `outcome`) ends the call.',
    '`history` (`history`) passes on chats, contacts and messages from before the session was linked, as far as the option `history` of the session asks for them.',
    '`chat_update` (`from` or `groupId`, and `archived`, `pinned`, `mutedUntil`, `markedUnread` or `read`) changes a chat on another device of the account.',
    ...chatActionTexts,
    ...groupSimulationText,
    ...businessDescription,
    '`block_report` makes somebody block or report the number. `standing` (`noNewChatsUntil`, `newChats`) changes the limits that the network sets for it.',
    '`status` (`from`, and `message`, or `mediaId` with `type`) posts a status, which a session with the option `statuses` gets. `status_delete` (`from`, `statusId`) deletes it as its author. `status_view` and `status_react` (`from`, `statusId`, `emoji`) act on a status of the session as somebody who sees it.',
    '`channel_create` (`from`, `subject`) creates a channel, which the session follows. `channel_post` (`channelId`, and `message`, or `mediaId` with `type`) posts in it, which a session with the option `channels` gets.',
    noticeText,
    'Direct messages and actions of a blocked contact do not reach the session.',
  ].join('\n'),
  input: {
    sessionId: SessionId,
    action: Action,
    from: optional(SimulatedNumberInput('Number of the person who acts.')),
    phoneNumber: optional(SimulatedNumberInput('Number that becomes known.')),
    senderName: optional(string('Name that the sender shows.', { minLength: 1, maxLength: 100 })),
    message: optional(
      string('Text, caption of the file, or question of the poll.', { minLength: 1, maxLength: 65_536 }),
    ),
    type: optional(oneOf(mediaTypes, 'Type in which the file is sent; `document` by default.')),
    mediaId: optional(string('Id of an uploaded file (`med_…`).', { ...ref('file'), maxLength: 100 })),
    location: optional(
      strictPart('Location to send.', {
        latitude: number('Degrees north (WGS 84).', { minimum: -90, maximum: 90 }),
        longitude: number('Degrees east (WGS 84).', { minimum: -180, maximum: 180 }),
        name: optional(string('Name of the place.', { maxLength: 200 })),
        address: optional(string('Postal address of the place.', { maxLength: 500 })),
        live: LiveInput,
      }),
    ),
    contact: optional(
      strictPart('Contact card to send.', {
        name: string('Name on the card.', { minLength: 1, maxLength: 200 }),
        phoneNumbers: SimulatedNumberList('Up to ten numbers on the card.', { minItems: 1, maxItems: 10 }),
      }),
    ),
    poll: optional(
      strictPart('Poll to send; the question is in `message`.', {
        options: list(Type.String({ minLength: 1, maxLength: 100 }), 'Answers to choose from.', {
          minItems: 2,
          maxItems: 12,
        }),
        maxSelections: optional(
          integer('Number of options that one person can choose; 1 by default.', {
            minimum: 1,
            maximum: 12,
            default: 1,
          }),
        ),
      }),
    ),
    options: optional(
      list(Type.String({ maxLength: 100 }), 'Options of the poll that the person chooses; empty withdraws the vote.', {
        maxItems: 12,
      }),
    ),
    emoji: optional(string('A single emoji; empty removes the reaction.', { maxLength: 32 })),
    groupId: optional(string('Id of the group (`grp_…`).', { ...ref('group'), maxLength: 100 })),
    messageId: optional(
      string('Id of the message (`msg_…`) that changes, or is replied to.', { ...ref('message'), maxLength: 100 }),
    ),
    status: optional(oneOf(['delivered', 'read', 'failed'], 'Status that the receipt reports.')),
    reason: optional(string('Reason that the network gives, as a sentence.', { minLength: 1, maxLength: 200 })),
    reconnectAfterMs: optional(
      orNull(
        Type.Integer({ minimum: 0, maximum: 3_600_000 }),
        'Milliseconds until the session reconnects; 1000 by default, null for never.',
      ),
    ),
    presence: optional(oneOf(presences, 'Presence of the person.')),
    callId: optional(string('Id of the call, of your choice.', { ...ref('other'), minLength: 1, maxLength: 100 })),
    video: optional(boolean('Whether it is a video call; false by default.')),
    outcome: optional(oneOf(callOutcomes, 'How the call ended; `missed` by default.')),
    archived: optional(boolean('Whether the chat is archived.')),
    pinned: optional(boolean('Whether the chat is pinned.')),
    mutedUntil: optional(orNull(time(), 'Until when the chat is muted; null unmutes it.')),
    read: optional(onlyTrue('Marks the chat as read.')),
    ...chatSimulationInput,
    noNewChatsUntil: optional(orNull(time(), 'Until when the network allows no new chats; null if it does.')),
    newChats: optional(
      orNull(
        strictPart("The network's quota of new chats.", {
          used: integer('Chats started.', { minimum: 0, maximum: 1_000_000 }),
          total: integer('Chats allowed.', { minimum: 0, maximum: 1_000_000 }),
        }),
        "The network's quota of new chats; null for none.",
      ),
    ),
    ...businessInput,
    statusId: optional(string('Id of the status (`sts_…`).', { ...ref('status'), maxLength: 100 })),
    channelId: optional(string('Id of the channel (`chn_…`).', { ...ref('channel'), maxLength: 100 })),
    subject: optional(string('Name of the group or channel.', { minLength: 1, maxLength: 100 })),
    phoneNumbers: optional(SimulatedNumberList('Other members of the new group.', { maxItems: 1024 })),
    ...historyInput,
    ...groupSimulationInput,
    ...noticeInput,
    ...contentInputs,
  },
  output: object({ simulated: Action }),
  errors: ['not_found', 'session_not_connected', 'session_state', 'message_state', 'not_supported', 'network_denied'],
  example: { sessionId: 'ses_01JZ0000000000000000000000', action: 'incoming', from: '491707654321', message: 'Hello' },
  async run(ctx, input) {
    const { session } = ctx;
    const simulate = await ctx.liveSessions.part(session, 'simulate');
    await simulate(await toSimulation(ctx, session, input));
    return { simulated: input.action };
  },
});

type SimulateInput = Parameters<typeof simulateSession.run>[1];

async function toSimulation(ctx: Context<'media'>, session: SessionRef, input: SimulateInput): Promise<Simulation> {
  const needed = <T>(field: keyof SimulateInput, value: T | undefined): T => {
    if (value === undefined) throw invalidField(field, `is required for the action ${input.action}`, 'required');
    return value;
  };
  const from = () => phoneNumber('from', needed('from', input.from));
  const group = () => requireGroupOfSession(ctx, session, needed('groupId', input.groupId));
  const message = () => requireMessageOfSession(ctx, session, needed('messageId', input.messageId));
  const chat = async (): Promise<NetworkChat> =>
    input.groupId === undefined ? { type: 'direct', id: from() } : { type: 'group', id: await group() };
  const call = () => ({ callId: needed('callId', input.callId), from: from(), isVideo: input.video === true });
  const subject = () => needed('subject', input.subject);
  const key = async () => keyOf(ctx.database.reader, await message());
  const phoneNumbers = () =>
    (input.phoneNumbers ?? []).map((text, index) => phoneNumber(`phoneNumbers.${index}`, text));
  if (isGroupSimulation(input.action))
    return toGroupSimulation(ctx, input.action, input, { from, group, phoneNumbers });
  if (isNotice(input.action)) return toNotice(ctx, session, input.action, input, await chat(), from());
  if (isMessageChange(input.action)) {
    const row = await message();
    requireApplicable(input.action, row, input.from === undefined ? undefined : from());
    const file = () => simulatedFile(ctx, needed('mediaId', input.mediaId));
    return toMessageChange(input.action, input, { type: row.type, key: await key(), needed, from, file });
  }
  switch (input.action) {
    case 'pair':
    case 'logout':
    case 'block_report':
      return { action: input.action };
    case 'incoming':
      return toIncoming(ctx, input, {
        from: from(),
        group: input.groupId === undefined ? null : await group(),
        replyTo: quotedId(input) ?? (input.messageId === undefined ? null : (await message()).network_id),
      });
    case 'disconnect':
      return {
        action: 'disconnect',
        reason: input.reason ?? 'The network closed the connection',
        reconnectAfterMs: input.reconnectAfterMs === undefined ? 1000 : input.reconnectAfterMs,
      };
    case 'group_create':
      return { action: 'group_create', from: from(), subject: subject(), phoneNumbers: phoneNumbers() };
    case 'group_subject':
      return { action: 'group_subject', group: await group(), subject: subject() };
    case 'group_leave':
      return { action: 'group_leave', group: await group(), from: from() };
    case 'presence':
      return { action: 'presence', chat: await chat(), from: from(), presence: needed('presence', input.presence) };
    case 'rename':
      return { action: 'rename', from: from(), name: needed('senderName', input.senderName) };
    case 'identify':
      return toIdentification(from(), phoneNumber('phoneNumber', needed('phoneNumber', input.phoneNumber)));
    case 'call':
      return { action: 'call', ...call() };
    case 'call_end':
      return { action: 'call_end', ...call(), outcome: input.outcome ?? 'missed' };
    case 'history':
      return toHistorySimulation(ctx, await ownNumber(ctx, session), needed('history', input.history));
    case 'template_review':
    case 'number_update':
    case 'own_message':
      return toBusinessSimulation(input.action, input, needed, chat);
    case 'standing':
      return toStanding(input);
    case 'status':
    case 'status_delete':
    case 'status_view':
    case 'status_react':
    case 'channel_create':
    case 'channel_post': {
      const { action, ...fields } = input;
      return toSocialSimulation(ctx, session, action, {
        ...fields,
        needed,
        from,
        content: () => toContent(ctx, input),
      });
    }
    case 'chat_update':
      return toChatUpdate(input, await chat());
    default:
      return toChatSimulation(ctx, session, input.action, input, { needed, from, chat, key });
  }
}

async function toNotice(
  ctx: Context,
  session: SessionRef,
  action: NoticeSimulation['action'],
  input: SimulateInput,
  chat: NetworkChat,
  from: string,
): Promise<Simulation> {
  const status = input.statusId === undefined ? null : await networkIdOfStatus(ctx, session, input.statusId);
  return toNoticeSimulation(action, { chat, from }, { ...input, ...additions(input), status });
}

/** @throws {AppError} `validation_failed` */
function toIdentification(placeholder: string, number: string): Simulation {
  if (!isPlaceholder(placeholder))
    throw invalidField('from', 'must be the placeholder of a hidden number: 000 and more digits', 'placeholder');
  if (isPlaceholder(number)) throw invalidField('phoneNumber', 'must be a phone number', 'phone_number');
  return { action: 'identify', placeholder, phoneNumber: number };
}

async function ownNumber(ctx: Context, session: SessionRef): Promise<string> {
  return (await findSession(ctx.database.reader, session))?.phone_number ?? '';
}

function quotedId({ messageId, quoted }: SimulateInput): string | undefined {
  if (messageId !== undefined && quoted !== undefined)
    throw invalidField('quoted', 'must be omitted if `messageId` is the quoted message');
  return quoted?.networkId;
}

async function toIncoming(
  ctx: Context<'media'>,
  input: SimulateInput,
  envelope: { readonly from: string; readonly group: string | null; readonly replyTo: string | null },
): Promise<Simulation> {
  return {
    action: 'incoming',
    senderName: input.senderName ?? null,
    content: await toContent(ctx, input),
    ...envelope,
    ...(input.disappearingSeconds && { expiresInSeconds: input.disappearingSeconds }),
  };
}

/** A change of an existing message. */
async function toMessageChange(
  action: Change,
  input: SimulateInput,
  {
    type,
    key,
    needed,
    from,
    file,
  }: {
    readonly type: MessageType;
    readonly key: MessageKey;
    readonly needed: <T>(field: keyof SimulateInput, value: T | undefined) => T;
    readonly from: () => string;
    readonly file: () => Promise<NetworkMedia>;
  },
): Promise<Simulation> {
  switch (action) {
    case 'edit':
      return { action: 'edit', ...key, message: needed('message', input.message) };
    case 'delete':
      return { action: 'delete', ...key };
    case 'react':
      return { action: 'react', ...key, from: from(), emoji: needed('emoji', input.emoji) || null };
    case 'vote':
      return { action: 'vote', ...key, from: from(), options: needed('options', input.options) };
    case 'event_answer':
      return { action: 'event_answer', ...key, from: from(), answer: needed('answer', input.answer) };
    case 'move':
      return { action: 'move', ...key, location: toLocation(needed('location', input.location)) };
    case 'better_media':
      return { action, ...key, kind: type === 'video' ? 'video' : 'image', media: await file() };
    case 'live_photo':
      return { action, ...key, media: await file() };
    case 'receipt':
      return {
        action: 'receipt',
        networkId: key.networkId,
        status: needed('status', input.status),
        ...(input.from !== undefined && { by: from() }),
      };
  }
}

function toStanding({ noNewChatsUntil: until, newChats }: SimulateInput): Simulation {
  const noNewChatsUntil = typeof until === 'string' ? parseTime('noNewChatsUntil', until) : until;
  return {
    action: 'standing',
    ...(noNewChatsUntil !== undefined && { noNewChatsUntil }),
    ...(newChats !== undefined && { newChats }),
  };
}

function toChatUpdate(input: SimulateInput, chat: NetworkChat): Simulation {
  const { archived, pinned, mutedUntil, markedUnread, read } = input;
  const until = typeof mutedUntil === 'string' ? parseTime('mutedUntil', mutedUntil) : mutedUntil;
  return {
    action: 'chat_update',
    chat,
    ...(archived !== undefined && { archived }),
    ...(pinned !== undefined && { pinned }),
    ...(until !== undefined && { mutedUntil: until }),
    ...(markedUnread !== undefined && { markedUnread }),
    ...(read === true && { isRead: true }),
  };
}

async function toContent(ctx: Context<'media'>, input: SimulateInput): Promise<MessageContent> {
  return { ...(await kindOf(ctx, input)), ...additions(input) };
}

/** The content of the simulated message: the first kind that was passed, with its text. */
async function kindOf(ctx: Context<'media'>, input: SimulateInput): Promise<MessageContent> {
  const { message, mediaId, location, contact, poll } = input;
  const text = message ?? '';
  const part = simulatedPart(input);
  const media = mediaId === undefined ? undefined : await simulatedFile(ctx, mediaId);
  if (part !== undefined) return { text, ...part, ...(media && { media }) };
  if (media !== undefined) return { type: input.type ?? 'document', text, media };
  if (location !== undefined) return { type: 'location', text, location: toLocation(location) };
  if (contact !== undefined) {
    const phoneNumbers = contact.phoneNumbers.map((one, index) => phoneNumber(`contact.phoneNumbers.${index}`, one));
    return { type: 'contact', text, contact: { name: contact.name, phoneNumbers } };
  }
  if (poll !== undefined) return { type: 'poll', text, poll: { ...poll, maxSelections: poll.maxSelections ?? 1 } };
  if (message === undefined) throw invalidField('message', 'is required for the action incoming', 'required');
  return { type: 'text', text };
}

async function requireGroupOfSession(ctx: Context, session: SessionRef, groupId: string): Promise<string> {
  const networkId = await networkIdOfGroup(ctx.database.reader, session, groupId);
  if (networkId === undefined) throw new AppError('not_found', `The session has no group ${groupId}`);
  return networkId;
}

async function requireMessageOfSession(ctx: Context, { accountId, sessionId }: SessionRef, messageId: string) {
  const row = await findMessage(ctx.database.reader, accountId, messageId);
  if (row?.session_id !== sessionId) throw new AppError('not_found', `The session has no message ${messageId}`);
  return row;
}
