import { isoTime } from '../../clock.ts';
import { listed, query, unindexed } from '../../db/query.ts';
import type { MessageRow } from '../../db/schema.ts';
import { aboutFile } from '../../db/sealing.ts';
import { AppError } from '../../errors.ts';
import { integer, object, optional, string, time } from '../../invoke/input/fields.ts';
import { typed } from '../../invoke/input/phoneNumbers.ts';
import { ref } from '../../invoke/input/references.ts';
import { type Context, defineOperation } from '../../invoke/operation.ts';
import { requireMessage } from '../../invoke/resources.ts';
import { contentColumn, contentOf, storedMedia } from '../../messages/content.ts';
import { keyOf } from '../../messages/messages/outgoing.ts';
import { findMessage, type SessionRef } from '../../messages/store.ts';
import { thrownMessage } from '../../thrown.ts';
import { OptionalSessionId, SessionId } from '../shared/sessionFields.ts';
import { Message, MessageId, readMessage } from './messages.ts';

const MAX_REQUESTED = 500;

export const requestChatHistory = defineOperation({
  id: 'chats.request_history',
  route: 'POST /chats/{chatId}/history',
  approval: 'free',
  owner: { field: 'sessionId' },
  permission: 'chats:write',
  scope: 'sessionId',
  effect: 'write',
  isRepeatable: true,
  status: 202,
  summary: 'Request older messages of a chat',
  description:
    'Ask the network for messages that are older than the oldest known one of a chat. They arrive within seconds to minutes, if the phone of the session is online and has some, and are listed with `origin` history. Each session has a limit of such requests.',
  input: {
    chatId: string('Phone number digits of the other person, or the id of the group (`grp_…`).', {
      ...ref('chat'),
      ...typed,
      maxLength: 200,
    }),
    sessionId: OptionalSessionId,
    count: optional(integer('How many messages; 50 by default.', { minimum: 1, maximum: MAX_REQUESTED, default: 50 })),
  },
  output: object({
    chatId: string('Id of the chat.'),
    sessionId: SessionId,
    count: integer('Number of messages that were asked for.'),
    before: time('Time of the oldest known message: older ones were asked for.'),
    beforeMessageId: string('Id of that message (`msg_…`).'),
  }),
  errors: ['not_found', 'session_required', 'session_not_connected', 'not_supported', 'rate_limited', 'send_failed'],
  example: { chatId: '491707654321', count: 100 },
  async run(ctx, { chatId, count = 50 }) {
    const { session } = ctx;
    const request = await ctx.liveSessions.part(session, 'requestHistory');
    const oldest = await oldestOnNetwork.first(ctx.database.longReader, { ...session, chatId });
    if (oldest === undefined)
      throw new AppError('not_found', `The session has no message in the chat ${chatId} before which to look`);
    const key = await keyOf(ctx.database.reader, oldest);
    await request({ ...key, timestamp: oldest.timestamp, count });
    return {
      chatId,
      sessionId: session.sessionId,
      count,
      before: isoTime(oldest.timestamp),
      beforeMessageId: oldest.message_id,
    };
  },
});

export const fetchMessageMedia = defineOperation({
  id: 'messages.fetch_media',
  route: 'POST /messages/{messageId}/media',
  approval: 'free',
  owner: { field: 'messageId' },
  permission: 'messages:read',
  scope: 'messageId',
  messageContent: 'messages',
  effect: 'write',
  isRepeatable: true,
  thirdPartyText: true,
  deadlineMs: 6 * 60_000,
  uses: ['media'],
  summary: 'Fetch the file of a message',
  description:
    'Fetch and store the file of a message from the history, which has `remoteMedia`. Returns the message with `media`. Networks delete files after some weeks; WhatsApp then asks the phone for it, which must be online.',
  input: { messageId: MessageId },
  output: Message,
  errors: [
    'not_found',
    'session_not_connected',
    'not_supported',
    'message_state',
    'rate_limited',
    'send_failed',
    'payload_too_large',
  ],
  async run(ctx, { messageId }) {
    const row = await requireMessage(ctx, messageId);
    const { remoteMedia, media } = contentOf(row);
    if (media !== undefined) return readMessage(ctx, row);
    if (remoteMedia === undefined || row.file_reference === null)
      throw new AppError('message_state', 'The message has no file at the network');
    const session = { accountId: row.account_id, sessionId: row.session_id };
    const openRemoteFile = await ctx.liveSessions.part(session, 'openRemoteFile');
    const { seal } = ctx.database;
    const file = await openRemoteFile(seal.open(row.file_reference, aboutFile(row.session_id, row.network_id)));
    const { mimeType, fileName } = file;
    const content = { stream: await file.open(), mimeType, fileName: fileName ?? remoteMedia.fileName };
    const stored = await keepFile(() => ctx.media.keep(ctx.accountId, content));
    await storeFile(ctx, session, row, storedMedia(stored));
    return readMessage(ctx, await requireMessage(ctx, messageId));
  },
});

/** Only errors that say what the caller can do are passed on; all others come from the network. */
async function keepFile<T>(keep: () => Promise<T>): Promise<T> {
  try {
    return await keep();
  } catch (cause) {
    if (cause instanceof AppError) throw cause;
    const reason = thrownMessage(cause);
    throw new AppError('send_failed', `The file could not be fetched from the network: ${reason}`, { cause });
  }
}

async function storeFile(
  ctx: Context,
  { accountId, sessionId }: SessionRef,
  { message_id: messageId }: MessageRow,
  media: ReturnType<typeof storedMedia>,
): Promise<void> {
  await ctx.database.commit(async (tx) => {
    const present = await findMessage(tx, accountId, messageId);
    // The message was deleted for everyone meanwhile.
    if (present === undefined || present.deleted_at !== null) return;
    const { remoteMedia: _, ...content } = contentOf(present);
    await tx.kysely
      .updateTable('messages')
      .set({ content: contentColumn({ ...content, media }), file_reference: null })
      .where('account_id', '=', accountId)
      .where('message_id', '=', messageId)
      .execute();
  }, sessionId);
}

/** The oldest message of a chat that the network knows. It passes those that failed or wait, which may be many. */
const oldestOnNetwork = query((db, p: SessionRef & { chatId: string }) =>
  db
    .selectFrom('messages')
    .selectAll()
    .where(unindexed('account_id'), '=', p.accountId) // SQLite would pass the messages of other sessions in the chat
    .where(listed('session_id'), '=', p.sessionId)
    .where('chat_id', '=', p.chatId)
    .where('status', 'in', ['sent', 'delivered', 'read'])
    .orderBy('message_id')
    .limit(1),
);
