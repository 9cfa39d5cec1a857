import { allows } from '../../auth/permissions.ts';
import { listed, unindexed } from '../../db/query.ts';
import { AppError } from '../../errors.ts';
import { integer, object, onlyTrue } from '../../invoke/input/fields.ts';
import { type Context, defineOperation, type SessionContext } from '../../invoke/operation.ts';
import { requireMessage } from '../../invoke/resources.ts';
import { changeChat } from '../../messages/chats/chatChanges.ts';
import { deleteChat as deleteWithMessages, removeMessage } from '../../messages/chats/chatRemoval.ts';
import { finishIdentities } from '../../messages/identities/identities.ts';
import { keyOf } from '../../messages/messages/outgoing.ts';
import { type SessionRef, sessionOf } from '../../messages/store.ts';
import { OptionalSessionId } from '../shared/sessionFields.ts';
import { passOn, Synchronized } from './chatSync.ts';
import { ChatId } from './chats.ts';
import { readMessage } from './messages.ts';

/* The network comes first: if it refuses a change, nothing has changed here and the call can be repeated. */

const removal = {
  owner: { field: 'sessionId' },
  permission: 'chats:delete',
  scope: 'sessionId',
  effect: 'destructive',
  input: { chatId: ChatId, sessionId: OptionalSessionId },
  output: object({
    chatId: ChatId,
    removed: integer('Number of messages that were deleted.', { minimum: 0 }),
    synchronized: Synchronized,
  }),
  errors: ['not_found', 'session_required', 'session_state', 'send_failed'],
} as const;

export const deleteChat = defineOperation({
  id: 'chats.delete',
  route: 'DELETE /chats/{chatId}',
  ...removal,
  approval: 'free',
  uses: ['deletions'],
  summary: 'Delete a chat',
  description:
    'Delete a chat with all of its messages from Switchboard, and from the phone where the network supports that. The other people keep their messages, and the session stays in a group. Messages that wait to be sent stay, and the chat with them. A new message begins the chat again.',
  run: async (ctx, input) => remove(ctx, input, true),
});

export const clearChat = defineOperation({
  id: 'chats.clear',
  route: 'POST /chats/{chatId}/clear',
  ...removal,
  approval: 'free',
  uses: ['deletions'],
  summary: 'Delete the messages of a chat',
  description:
    'Delete all messages of a chat from Switchboard, and from the phone where the network supports that. The chat stays in the list, and the other people keep their messages. Messages that wait to be sent stay.',
  run: async (ctx, input) => remove(ctx, input, false),
});

export const markChatUnread = defineOperation({
  id: 'chats.mark_unread',
  route: 'POST /chats/{chatId}/unread',
  approval: 'free',
  owner: { field: 'sessionId' },
  permission: 'chats:write',
  scope: 'sessionId',
  effect: 'write',
  isRepeatable: true,
  uses: ['emit'],
  summary: 'Mark a chat as unread',
  description:
    'Mark a chat as unread in Switchboard, and on the phone where the network supports that. Its messages and `unreadCount` do not change, and nobody else sees it. Marking the chat as read ends it.',
  input: { chatId: ChatId, sessionId: OptionalSessionId },
  output: object({ chatId: ChatId, markedUnread: onlyTrue(), synchronized: Synchronized }),
  errors: ['not_found', 'session_required', 'session_state', 'send_failed'],
  async run(ctx, { chatId }) {
    const { session } = ctx;
    await requireChat(ctx, session, chatId);
    const synchronized = await passOn(ctx, session, chatId, (chats, { chat, last }) =>
      chats.update(chat, { markedUnread: true }, last),
    );
    await ctx.database.commit((tx) => changeChat(ctx, tx, session, chatId, { markedUnread: true }), session.sessionId);
    return { chatId, markedUnread: true as const, synchronized };
  },
});

async function remove(ctx: SessionContext<'deletions'>, { chatId }: { readonly chatId: string }, isWhole: boolean) {
  const { session } = ctx;
  await finishIdentities(ctx.deletions, session);
  await requireChat(ctx, session, chatId);
  // A message that arrives from now on is new, and stays.
  const upToId = await newestOf(ctx, session, chatId);
  const synchronized = await passOn(ctx, session, chatId, (chats, { chat, last }) =>
    isWhole ? chats.remove(chat, last) : chats.clear(chat, last),
  );
  const removed = await deleteWithMessages(ctx, session, chatId, { isWhole, upToId });
  return { chatId, removed, synchronized };
}

/**
 * Deletes a message for the session only, and returns what it was, without its content.
 * @throws {AppError} `permission_denied`; `message_state` if the message waits to be sent; `not_supported`
 */
export async function deleteForMe(ctx: Context<'media' | 'emit'>, messageId: string) {
  // It leaves no trace, also of messages that others wrote.
  if (!allows(ctx.caller.credential.permissions, 'chats:delete'))
    throw new AppError('permission_denied', 'This requires the permission chats:delete');
  const row = await requireMessage(ctx, messageId);
  if (['queued', 'scheduled', 'pending_approval'].includes(row.status))
    throw new AppError('message_state', `The message waits to be sent (${row.status}); cancel it first`);
  const removeForMe = await ctx.liveSessions.part(sessionOf(row), 'removeForMe');
  const { timestamp, status, session_id: sessionId } = row;
  // The network never had a message that failed.
  if (status !== 'failed') await removeForMe({ ...(await keyOf(ctx.database.reader, row)), timestamp });
  const shown = await readMessage(ctx, { ...row, body: '', content: null, deleted_at: ctx.clock.now() });
  await ctx.database.commit((tx) => removeMessage(ctx, tx, row), sessionId);
  return shown;
}

/** @throws {AppError} `not_found` */
export async function requireChat(ctx: Context, { accountId, sessionId }: SessionRef, chatId: string): Promise<void> {
  const row = await ctx.database.reader.kysely
    .selectFrom('chats')
    .select('chat_id')
    .where('account_id', '=', accountId)
    .where('session_id', '=', sessionId)
    .where('chat_id', '=', chatId)
    .executeTakeFirst();
  if (row === undefined) throw new AppError('not_found', `The session has no chat ${chatId}`);
}

/** The id of the newest message of a chat; empty if it has none. */
async function newestOf(ctx: Context, { accountId, sessionId }: SessionRef, chatId: string): Promise<string> {
  const row = await ctx.database.reader.kysely
    .selectFrom('messages')
    .select('message_id')
    .where(unindexed('account_id'), '=', accountId) // SQLite would pass the messages of other sessions in the chat
    .where(listed('session_id'), '=', sessionId)
    .where('chat_id', '=', chatId)
    .orderBy('message_id', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row?.message_id ?? '';
}
