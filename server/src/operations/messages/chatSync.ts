import type { ChatActions, LastMessage } from '../../connectors/contract/chatActions.ts';
import type { NetworkChat } from '../../connectors/contract/messageKey.ts';
import { listed, unindexed } from '../../db/query.ts';
import { AppError } from '../../errors.ts';
import { boolean } from '../../invoke/input/fields.ts';
import type { Context } from '../../invoke/operation.ts';
import { chatOf, keyOf } from '../../messages/messages/outgoing.ts';
import type { SessionRef } from '../../messages/store.ts';

export const Synchronized = boolean(
  'Whether the change was made on the phone as well. `false` if the network does not support it or the session is not connected: then it holds only in Switchboard.',
);

/** A chat, as a change of it needs to know it. */
interface Target {
  readonly chat: NetworkChat;
  readonly last: LastMessage | null;
}

/** Errors with which a change stays in Switchboard. */
const NOT_REACHED: readonly string[] = ['session_not_connected', 'session_unavailable', 'not_supported'];

/**
 * Makes a change of a chat on the network of the session, if it is connected and supports that.
 * @returns whether it was made
 * @throws {AppError} the network refuses it
 */
export async function passOn(
  ctx: Context,
  session: SessionRef,
  chatId: string,
  change: (chats: ChatActions, target: Target) => Promise<void>,
): Promise<boolean> {
  try {
    const chats = await ctx.liveSessions.part(session, 'chats');
    await change(chats, await targetOf(ctx, session, chatId));
    return true;
  } catch (error) {
    // Also from the change itself: the connection can end meanwhile.
    if (error instanceof AppError && NOT_REACHED.includes(error.code)) return false;
    throw error;
  }
}

async function targetOf(
  { database: { reader, longReader } }: Context,
  session: SessionRef,
  chatId: string,
): Promise<Target> {
  // It passes the messages that failed or wait, which may be many.
  const row = await longReader.kysely
    .selectFrom('messages')
    .selectAll()
    .where(unindexed('account_id'), '=', session.accountId) // SQLite would pass the messages of other sessions
    .where(listed('session_id'), '=', session.sessionId)
    .where('chat_id', '=', chatId)
    // The network does not have the others.
    .where('status', 'in', ['sent', 'delivered', 'read'])
    .orderBy('message_id', 'desc')
    .limit(1)
    .executeTakeFirst();
  const last = row === undefined ? null : { ...(await keyOf(reader, row)), timestamp: row.timestamp };
  return { chat: await chatOf(reader, session, chatId), last };
}
