import { sql } from 'kysely';
import { type Clock, isoTime } from '../clock.ts';
import type { Commit, Tx } from '../db/commit.ts';
import type { MessageRow } from '../db/schema.ts';
import { isGroupId } from '../ids.ts';
import type { Emit } from '../webhooks/emit.ts';
import { isUnread } from './chatChanges.ts';
import { noteCleared } from './clearedChats.ts';
import { emissionOf } from './outgoingProgress.ts';
import { dropWords } from './search.ts';
import type { SessionRef } from './store.ts';

/* Messages and chats that their owner deletes for the session only. Unlike a deletion for everyone, no row stays. */

interface Parts {
  readonly emit: Emit;
  readonly clock: Clock;
}

export interface Removal {
  /** Whether the chat itself is deleted, and not only cleared. */
  readonly isWhole: boolean;
  /** The last message that is removed. */
  readonly upToId?: string;
  /** When the last message that is removed was sent. */
  readonly upTo?: number;
  readonly keepsStarred?: boolean;
}

const REMOVED_AT_ONCE = 500;

/** Messages with these statuses are still to be sent, so they are no part of what is removed. */
const WAITING = ['queued', 'scheduled', 'pending_approval'] as const;

/**
 * Removes the messages of a chat, in batches that keep the database available. A chat that is deleted stays if it has
 * messages that came later, or that wait to be sent. Running it again continues after a crash, and changes nothing if
 * it was complete.
 * @returns the number of removed messages
 */
export async function removeChat(
  parts: Parts,
  commit: Commit,
  session: SessionRef,
  chatId: string,
  removal: Removal,
): Promise<number> {
  let removed = 0;
  for (let after = ''; ; ) {
    const batch = await commit((tx) => removeBatch(tx, session, chatId, removal, after), session.sessionId);
    removed += batch.length;
    if (batch.length < REMOVED_AT_ONCE) break;
    after = batch.at(-1)?.message_id ?? '';
  }
  await commit(async (tx) => {
    const isGone = await settle(parts, tx, session, chatId, removal, removed);
    if (isGone === undefined) return;
    const { sessionId, accountId } = session;
    const data = {
      chatId,
      sessionId,
      ...(isGroupId(chatId) && { groupId: chatId }),
      action: isGone ? ('deleted' as const) : ('cleared' as const),
      timestamp: isoTime(parts.clock.now()),
    };
    parts.emit(tx, { accountId, kind: 'chat.removed', data, conversation: `${sessionId}/${chatId}` });
  }, session.sessionId);
  return removed;
}

/** Removes a message for the session only. Changes nothing if it is gone. */
export async function removeMessage({ emit, clock }: Parts, tx: Tx, row: MessageRow): Promise<void> {
  const { account_id: accountId, session_id: sessionId, chat_id: chatId, message_id: messageId, type } = row;
  if (!(await removeRows(tx, accountId, [row]))) return;
  await countAgain(tx, { accountId, sessionId }, chatId);
  const group = isGroupId(chatId) && { groupId: chatId };
  const data = { messageId, type, sessionId, chatId, ...group, timestamp: isoTime(clock.now()) };
  emit(tx, { ...emissionOf(row), kind: 'message.removed', data });
}

async function removeBatch(
  tx: Tx,
  { accountId, sessionId }: SessionRef,
  chatId: string,
  { upToId, upTo, keepsStarred }: Removal,
  after: string,
) {
  let select = tx.kysely
    .selectFrom('messages')
    .select(['message_id', 'seq'])
    .where('account_id', '=', accountId)
    .where('chat_id', '=', chatId)
    .where('session_id', '=', sessionId)
    .where('message_id', '>', after)
    .where('status', 'not in', WAITING);
  if (upToId !== undefined) select = select.where('message_id', '<=', upToId);
  if (upTo !== undefined) select = select.where('timestamp', '<=', upTo);
  if (keepsStarred === true) select = select.where('starred_at', 'is', null);
  const batch = await select.orderBy('message_id').limit(REMOVED_AT_ONCE).execute();
  await removeRows(tx, accountId, batch);
  return batch;
}

/** Deletes messages with everything that belongs to them. Returns whether any of them was there. */
export async function removeRows(
  tx: Tx,
  accountId: string,
  rows: readonly Pick<MessageRow, 'message_id' | 'seq'>[],
): Promise<boolean> {
  if (rows.length === 0) return false;
  await dropWords(
    tx,
    rows.map(({ seq }) => seq),
  );
  const ids = rows.map(({ message_id }) => message_id);
  for (const table of ['reactions', 'poll_votes', 'message_labels'] as const)
    await tx.kysely.deleteFrom(table).where('account_id', '=', accountId).where('message_id', 'in', ids).execute();
  const { numDeletedRows } = await tx.kysely
    .deleteFrom('messages')
    .where('account_id', '=', accountId)
    .where('message_id', 'in', ids)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

/** Returns whether the chat is gone; undefined if nothing has changed. */
async function settle(
  { clock }: Parts,
  tx: Tx,
  session: SessionRef,
  chatId: string,
  { isWhole, upTo = clock.now() }: Removal,
  removed: number,
): Promise<boolean | undefined> {
  const { accountId, sessionId } = session;
  const ofChat = { account_id: accountId, session_id: sessionId, chat_id: chatId };
  // Also of a chat that is not known yet, because its history is still to be imported.
  await noteCleared(tx, session, chatId, upTo);
  const remaining = await countAgain(tx, session, chatId);
  if (remaining === undefined) return undefined;
  if (isWhole && !remaining.hasMessages) {
    for (const table of ['chat_labels', 'chats'] as const)
      await tx.kysely
        .deleteFrom(table)
        .where((eb) => eb.and(ofChat))
        .execute();
    return true;
  }
  return removed > 0 ? false : undefined;
}

/** Finds the last message of a chat and its unread messages again. Returns undefined if there is no such chat. */
export async function countAgain(
  { kysely }: Tx,
  { accountId, sessionId }: SessionRef,
  chatId: string,
): Promise<{ hasMessages: boolean } | undefined> {
  const ofChat = { account_id: accountId, session_id: sessionId, chat_id: chatId };
  const left = kysely
    .selectFrom('messages')
    .where((eb) => eb.and(ofChat))
    .orderBy('message_id', 'desc')
    .limit(1);
  const last = await left
    .select(['message_id', 'timestamp'])
    .where('status', 'not in', ['scheduled', 'pending_approval'])
    .executeTakeFirst();
  const any = last ?? (await left.select('message_id').executeTakeFirst());
  const { numUpdatedRows } = await kysely
    .updateTable('chats')
    .set((eb) => ({
      last_message_id: last?.message_id ?? null,
      last_message_at: last?.timestamp ?? null,
      unread_count: eb
        .selectFrom('messages')
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .where((unread) => unread.and(ofChat))
        .where(isUnread),
      marked_unread: last === undefined ? 0 : sql<number>`marked_unread`,
    }))
    .where((eb) => eb.and(ofChat))
    .executeTakeFirst();
  return numUpdatedRows === 0n ? undefined : { hasMessages: any !== undefined };
}
