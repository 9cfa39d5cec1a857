import { Type } from 'typebox';
import { allows, type ContentResource } from '../../auth/permissions.ts';
import { isoTime } from '../../clock.ts';
import { allMessageTypes } from '../../connectors/contract/content.ts';
import { type EventAnswer, eventAnswers } from '../../connectors/contract/contentParts.ts';
import { isPlaceholder } from '../../connectors/contract/people.ts';
import { query } from '../../db/query.ts';
import type { MessageRow } from '../../db/schema.ts';
import { messageStatuses } from '../../db/tables/messages.ts';
import { AppError } from '../../errors.ts';
import { quotedFields } from '../../events/contentParts/quoted.ts';
import { messageContent, OptionalContent } from '../../events/fields.ts';
import {
  ContentHidden,
  ErrorCode,
  MediaPart,
  messageParts,
  RemoteMedia,
  SentElsewhere,
  Unidentified,
  userIdFields,
} from '../../events/parts.ts';
import { isGroupId } from '../../ids.ts';
import {
  entries,
  list,
  named,
  notForAgents,
  object,
  oneOf,
  onlyTrue,
  optional,
  orNull,
  string,
  time,
} from '../../invoke/input/fields.ts';
import { ref } from '../../invoke/input/references.ts';
import { type Context, defineOperation, isContentHidden, requireContent } from '../../invoke/operation.ts';
import { requireMessage } from '../../invoke/resources.ts';
import { labelsOfMessages } from '../../messages/chats/labels.ts';
import { contentOf, contentParts } from '../../messages/content.ts';
import { approvalOutcomes, approvedAs, shownApproval, shownError } from '../../messages/messages/approval.ts';
import { readReactions } from '../../messages/messages/reactionRows.ts';
import { networkIdOf } from '../../messages/networkNames.ts';
import { hasReached, STEPS } from '../../messages/status.ts';
import type { NewRow } from '../../messages/store.ts';
import { readUserIds } from '../../messages/userIds.ts';
import { SessionId } from '../shared/sessionFields.ts';
import { readUntil, waitInput } from '../shared/waiting.ts';
import { inlineContent, MessageMedia, MessageMediaFacts, mediaReader } from './mediaFields.ts';
import { MessagePricing, pricingField } from './messagePricing.ts';

export const MessageId = string('Id of the message (`msg_…`).', { ...ref('message'), maxLength: 100 });
export const Direction = oneOf(['incoming', 'outgoing'], '`incoming`: the session received the message.');
export const Status = oneOf(
  messageStatuses,
  '`pending_approval`: waits for a person. `queued`: stored and about to be sent. `scheduled`: waits for its time. `sent`: the network accepted it.',
);
export const MessageType = oneOf(allMessageTypes, 'Type of the content.');

export const Origin = oneOf(['history'], '`history`: the message is from before the session was linked.');

const Approval = object('Approval of the message; only if its API key needs one.', {
  status: oneOf(['pending', ...approvalOutcomes], '`withdrawn`: it was cancelled before anybody decided.'),
  keyId: string('Id of the API key that asked for the message (`key_…`).'),
  requestedAt: time('When the key asked.'),
  expiresAt: optional(time('When a message that waits is given up.')),
  decidedAt: optional(time('When it was decided.')),
  decidedBy: optional(string('Id of the API key that approved or rejected it, or `login`.')),
  reason: OptionalContent(string('Why it was rejected, if a reason was given.')),
  edited: optional(onlyTrue('Present if the text was edited when it was approved.')),
});

export const Message = named('Message', {
  messageId: MessageId,
  sessionId: SessionId,
  chatId: string('Phone number digits of the other person, or the id of the group (`grp_…`).'),
  direction: Direction,
  type: MessageType,
  from: string('Phone number digits of the sender.'),
  to: string('Phone number digits of the recipient, or the id of the group (`grp_…`).'),
  toNumber: { ...orNull(Type.String(), 'Phone number digits of the recipient; null in a group.'), ...notForAgents },
  groupId: optional(string('Id of the group (`grp_…`); only in a group.')),
  message: {
    ...string('Text of the message, caption of the file, or question of the poll.'),
    ...messageContent,
  },
  status: Status,
  timestamp: time('When the message was sent, or will be sent if it is scheduled.'),
  replyTo: optional(string('Id of the message that this message replies to.')),
  networkId: optional({
    ...string('Id of the message on the network; left out until the network has accepted it.'),
    ...notForAgents,
  }),
  ...messageParts,
  media: OptionalContent(MessageMedia),
  livePhoto: OptionalContent({ ...MediaPart, description: messageParts.livePhoto.description }),
  mediaFacts: optional({ ...MessageMediaFacts, ...messageContent, ...notForAgents }),
  contentHidden: ContentHidden,
  unidentified: Unidentified,
  ...userIdFields('the sender, or of the recipient if the message is outgoing,'),
  sentElsewhere: SentElsewhere,
  origin: optional({ ...Origin, ...notForAgents }),
  remoteMedia: optional({ ...RemoteMedia, ...notForAgents }),
  votes: OptionalContent(
    entries('Votes on the poll, one entry per voter.', {
      from: string('Phone number digits of the voter.'),
      options: list(Type.String(), 'Options that the voter chose.'),
    }),
  ),
  answers: OptionalContent(
    entries('Answers to the event, one per person.', {
      from: string('Phone number digits of the person who answered.'),
      answer: oneOf(eventAnswers, 'Whether the person comes.'),
    }),
  ),
  reactions: OptionalContent(
    entries('Reactions to the message, one per person.', {
      from: string('Phone number digits of the person who reacted.'),
      emoji: string('The emoji.'),
      at: time('When the person reacted.'),
    }),
  ),
  starred: optional({ ...onlyTrue('Present if the owner of the session starred the message.'), ...notForAgents }),
  pinnedUntil: optional({ ...time('Until when the message is pinned in its chat.'), ...notForAgents }),
  expiresAt: optional({
    ...time('When the message disappears from phones. Switchboard keeps it.'),
    ...notForAgents,
  }),
  labelIds: optional({ ...list(Type.String(), 'Ids of its labels (`lbl_…`).'), ...notForAgents }),
  edited: optional(onlyTrue('Present if the text was edited after sending.')),
  deleted: optional(onlyTrue('Present if the message was deleted for everyone; its text is then empty.')),
  error: optional(string('Why the message failed, as a sentence.')),
  errorCode: ErrorCode,
  approval: optional(Approval),
  quoted: OptionalContent(
    object(
      'The message that this message replies to, as a received reply describes it, even if the session does not have it; or as the recipient will see it, while a reply waits for approval.',
      {
        ...quotedFields,
        chatId: optional(string('Chat of the quoted message; only while the reply waits for approval.')),
        message: optional(string('Its whole text, caption or question; only while the reply waits for approval.')),
      },
    ),
  ),
  previewImage: optional({
    ...string('Image of the link preview, a JPEG in base64; only while the message waits for approval.', {
      contentEncoding: 'base64',
    }),
    ...messageContent,
    ...notForAgents,
  }),
  createdByKeyId: optional({
    ...string('API key that sent or scheduled the message (`key_…`); left out for a login.'),
    ...notForAgents,
  }),
  toFetch: OptionalContent(
    object('URLs that the server fetches once the message is approved; only while it waits.', {
      fileUrl: optional(string('URL of the file.')),
      fileName: optional(string('Name of the file that the recipient sees.')),
      preview: optional(onlyTrue('Present if the first link of the text gets a preview.')),
      previewImageUrl: optional(string('URL of the image of `linkPreview`.')),
    }),
  ),
  pricing: optional({ ...MessagePricing, ...notForAgents }),
});

/**
 * Fields that the tools return which send or change a message: enough to refer to it and to see whether it was sent.
 */
export const receipt = [
  'messageId',
  'sessionId',
  'chatId',
  'status',
  'timestamp',
  'edited',
  'deleted',
  'error',
  'errorCode',
  'approval',
] as const;

const MessageWithHistory = named('MessageWithHistory', {
  ...Message.properties,
  statusHistory: entries('Every status that the message has had, oldest first.', {
    status: Status,
    at: time('When the message reached the status.'),
  }),
});

export const getMessage = defineOperation({
  id: 'messages.get',
  route: 'GET /messages/{messageId}',
  permission: 'messages:read',
  scope: 'messageId',
  messageContent: 'messages',
  effect: 'read',
  tool: true,
  thirdPartyText: true,
  longField: 'message',
  uses: ['waitingCalls', 'media', 'feed'],
  summary: 'Get a message',
  description:
    'Get one message with its status history, reactions and poll votes. Use it to see whether it was delivered or read, or why it failed, and with `wait` to wait for that.',
  input: {
    messageId: MessageId,
    wait: waitInput('Seconds to wait until the message reaches `until` or fails; up to 30.'),
    until: optional(oneOf(STEPS, 'The status to wait for; `delivered` by default.')),
    include: optional({
      ...oneOf(['content'], '`content` returns the file of the message in base64, of up to 1 MiB. Needs `media:read`.'),
      ...notForAgents,
    }),
  },
  output: MessageWithHistory,
  errors: ['not_found', 'too_many', 'payload_too_large'],
  async run(ctx, { messageId, wait = 0, until = 'delivered', include }) {
    const row = await readUntil(ctx, wait, () => requireMessage(ctx, messageId), {
      isEnough: ({ status }) => status === 'failed' || hasReached(status, until),
    });
    const shown = { ...(await readMessage(ctx, row)), statusHistory: historyOf(row) };
    const stored = contentOf(row).media;
    if (include === undefined || stored === undefined || shown.media === undefined || shown.media.available === false)
      return shown;
    requireContent(ctx, 'messages');
    if (!allows(ctx.caller.credential.permissions, 'media:read'))
      throw new AppError('permission_denied', '`include` requires the permission media:read');
    return { ...shown, media: { ...shown.media, content: await inlineContent(ctx, stored) } };
  },
});

/** The current message, with reactions and votes. */
export async function readMessage(ctx: Context<'media'>, row: MessageRow) {
  return (await messageReader(ctx, [row])).show(row);
}

/**
 * Reads reactions and votes, and returns a function that shows a message. `complete` is the number of messages that it
 * can show, from the first: a page ends before it has too many reactions.
 * @param resource whose permission decides whether message content is shown
 */
export async function messageReader(
  ctx: Context<'media'>,
  rows: readonly MessageRow[],
  resource: ContentResource = 'messages',
) {
  const { reader } = ctx.database;
  const ids = { accountId: ctx.accountId, ids: JSON.stringify(rows.map(({ message_id }) => message_id)) };
  const { reactions, votes, complete } = await readReactions(ctx.database, ctx.accountId, rows);
  const labelled = rows.length === 0 ? [] : await labelsOfMessages.all(reader, ids);
  const labels = Map.groupBy(labelled, ({ message_id }) => message_id);
  const showPlain = await plainReader(ctx, rows, resource);
  const show = (row: MessageRow) => {
    const reacted = reactions.get(row.message_id)?.map((one) => ({
      from: one.from_number,
      emoji: one.emoji,
      at: isoTime(one.at),
    }));
    const chosen = votes.get(row.message_id)?.map((one) => ({
      from: one.from_number,
      options: JSON.parse(one.options) as string[],
    }));
    const labelIds = labels.get(row.message_id)?.map(({ label_id }) => label_id);
    return {
      ...showPlain(row),
      ...(labelIds !== undefined && { labelIds }),
      ...(reacted !== undefined && { reactions: reacted }),
      ...(chosen !== undefined && (row.type === 'event' ? { answers: chosen.map(answerOf) } : { votes: chosen })),
    };
  };
  return { show, complete };
}

/** An answer to an event is stored like a vote for it. */
const answerOf = ({ from, options }: { readonly from: string; readonly options: readonly string[] }) => ({
  from,
  answer: options[0] as EventAnswer,
});

/** A message without reactions and votes, such as one that was just sent. */
export async function toMessage(ctx: Context<'media'>, row: NewRow) {
  return (await plainReader(ctx, [row], 'messages'))(row);
}

/** Returns a function that shows a message without reactions and votes. */
async function plainReader(ctx: Context<'media'>, rows: readonly NewRow[], resource: ContentResource) {
  const { media, sessions, clock } = ctx;
  const hidesContent = isContentHidden(ctx, resource);
  const connectorOf = await sessions.connectorsOf.of(rows.map(({ session_id }) => session_id));
  const userIdsOf = await readUserIds(ctx.database.reader, ctx.accountId, connectorOf, rows.flatMap(otherPersonOf));
  const quotedOf = await quotedReader(ctx, rows);
  const mediaOf = await mediaReader(ctx, rows.map(contentOf));
  const partsOf = (row: NewRow) => {
    const content = contentOf(row);
    const { media: _, ...parts } = contentParts(content, media);
    return { ...parts, ...mediaOf(content), ...quotedField(row, parts.quoted) };
  };
  return (row: NewRow) => ({
    messageId: row.message_id,
    sessionId: row.session_id,
    chatId: row.chat_id,
    direction: row.direction,
    type: row.type,
    status: row.status,
    from: row.from_number,
    to: row.to_id,
    ...recipientOf(row),
    message: row.body,
    timestamp: isoTime(row.timestamp),
    ...(row.reply_to !== null && { replyTo: row.reply_to }),
    ...networkIdField(networkIdOf(row, connectorOf(row.session_id))),
    ...partsOf(row),
    ...(row.direction === 'incoming' && isPlaceholder(row.from_number) && { unidentified: true as const }),
    ...otherPersonOf(row).map(userIdsOf)[0],
    ...originFields(row),
    ...(row.sent_elsewhere === 1 && { sentElsewhere: true as const }),
    ...markFields(row, clock.now()),
    ...(row.edited_at !== null && row.deleted_at === null && { edited: true as const }),
    ...(row.deleted_at !== null && { deleted: true as const }),
    ...errorField(row, hidesContent),
    ...approvalField(row),
    ...(row.key_id !== null && { createdByKeyId: row.key_id }),
    ...pendingFields(row, quotedOf(row)),
    ...pricingField(row),
  });
}

function originFields({ origin, ...row }: NewRow) {
  const { remoteMedia } = contentOf(row);
  return {
    ...(origin !== null && { origin }),
    ...(remoteMedia !== undefined && { remoteMedia: { ...remoteMedia } }),
  };
}
/** @param now a pin that has ended is not shown */
function markFields({ starred_at, pinned_until, expires_in, timestamp }: NewRow, now: number) {
  return {
    ...(starred_at !== null && { starred: true as const }),
    ...(pinned_until !== null && pinned_until > now && { pinnedUntil: isoTime(pinned_until) }),
    ...(expires_in !== null && { expiresAt: isoTime(timestamp + expires_in * 1000) }),
  };
}

/** The quoted message with our id, which the history reports after the reply. */
function quotedField({ reply_to: messageId }: NewRow, quoted: object | undefined) {
  return quoted !== undefined && messageId !== null && { quoted: { ...quoted, messageId } };
}

function errorField(row: NewRow, hidesContent: boolean) {
  const error = shownError(row, hidesContent);
  return { ...(error !== null && { error }), ...(row.error_code !== null && { errorCode: row.error_code }) };
}

function approvalField(row: NewRow) {
  const approval = shownApproval(row);
  return approval !== undefined && { approval };
}

/** Returns the parts that only the approver of a waiting message needs: its quote, preview image and URLs. */
function pendingFields(row: NewRow, quoted: MessageRow | undefined) {
  if (row.status !== 'pending_approval') return {};
  const { toFetch, linkPreview } = contentOf(row);
  return {
    ...(toFetch !== undefined && { toFetch: { ...toFetch } }),
    ...(linkPreview?.thumbnail !== undefined && { previewImage: linkPreview.thumbnail }),
    ...(quoted !== undefined && {
      quoted: {
        messageId: quoted.message_id,
        chatId: quoted.chat_id,
        from: quoted.from_number,
        type: quoted.type,
        text: quoted.body,
        message: quoted.body,
      },
    }),
  };
}

/** Returns a function that finds the message that a message quotes while it waits for approval. */
async function quotedReader({ accountId, database }: Context, rows: readonly NewRow[]) {
  const ids = rows.flatMap(({ status, reply_to: quoted }) =>
    status === 'pending_approval' && quoted !== null ? [quoted] : [],
  );
  const found =
    ids.length === 0 ? [] : await messagesById.all(database.reader, { accountId, ids: JSON.stringify(ids) });
  const byId = new Map(found.map((row) => [row.message_id, row]));
  return ({ reply_to: quoted }: NewRow) => (quoted === null ? undefined : byId.get(quoted));
}

const networkIdField = (networkId: string | undefined) => networkId !== undefined && { networkId };

/** Returns the sender of an incoming message, or the recipient of another one in a direct chat. */
function otherPersonOf({ session_id, direction, from_number, chat_id }: NewRow) {
  if (direction === 'incoming') return [{ session_id, phone_number: from_number }];
  return isGroupId(chat_id) ? [] : [{ session_id, phone_number: chat_id }];
}

/** The recipient in fields of one meaning each, unlike `to`. */
function recipientOf({ chat_id: chatId, to_id: to }: NewRow) {
  return isGroupId(chatId) ? { toNumber: null, groupId: chatId } : { toNumber: to };
}

function historyOf(row: MessageRow) {
  const moments = [
    ['pending_approval', row.approval === null ? null : row.created_at],
    ['scheduled', wasScheduledAt(row)],
    ['queued', wasQueuedAt(row)],
    ['sent', row.sent_at],
    ['delivered', row.delivered_at],
    ['read', row.read_at],
    ['failed', row.failed_at],
  ] as const;
  return moments.flatMap(([status, at]) => (at === null ? [] : [{ status, at: isoTime(at) }]));
}

function wasScheduledAt(row: MessageRow): number | null {
  if (row.approval !== null) return approvedAt(row, 'scheduled');
  return row.scheduled_at === null ? null : row.created_at;
}

/** Null for a message that was scheduled first. */
function wasQueuedAt(row: MessageRow): number | null {
  if (row.approval !== null) return approvedAt(row, 'queued');
  return row.direction === 'outgoing' && row.scheduled_at === null && row.sent_elsewhere === null
    ? row.created_at
    : null;
}

function approvedAt(row: MessageRow, as: 'scheduled' | 'queued'): number | null {
  const approved = approvedAs(row);
  return approved?.status === as ? approved.at : null;
}

interface Ids {
  accountId: string;
  ids: string;
}

const messagesById = query((db, p: Ids, dialect) =>
  db
    .selectFrom('messages')
    .selectAll()
    .where('account_id', '=', p.accountId)
    .where('message_id', 'in', dialect.texts(p.ids)),
);
