import { sql } from 'kysely';
import { type Clock, isoTime } from '../../clock.ts';
import type { Commit, Tx } from '../../db/commit.ts';
import type { Database } from '../../db/database.ts';
import { MESSAGES, Pace } from '../../db/pace.ts';
import { listed, unindexed } from '../../db/query.ts';
import type { MessageRow } from '../../db/schema.ts';
import { AppError } from '../../errors.ts';
import { isGroupId } from '../../ids.ts';
import type { DeletionHandler, Deletions } from '../../jobs/deletions.ts';
import type { Emit } from '../../webhooks/log/emit.ts';
import { removeReceiptsOfChat } from '../messages/groupReceipts.ts';
import { emissionOf } from '../messages/outgoingProgress.ts';
import { noteRemovedPlaceholders } from '../messages/removedPlaceholders.ts';
import { dropWords } from '../search.ts';
import type { SessionRef } from '../store.ts';
import { remainingUnread } from './chatChanges.ts';
import { noteCleared } from './clearedChats.ts';

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

interface Run {
  /** Whether an earlier run may have removed some. */
  readonly isResumed: boolean;
  /** Ends the record of the deletion. */
  complete(tx: Tx): Promise<void>;
  isStopped(): boolean;
}

/** Messages with these statuses are still to be sent, so they are no part of what is removed. */
const WAITING = ['queued', 'scheduled', 'pending_approval'] as const;

/** Removes the messages of a chat as a recorded deletion, which continues after a crash. Returns their number. */
export async function deleteChat(
  { database, deletions }: { readonly database: Pick<Database, 'commit'>; readonly deletions: Deletions },
  session: SessionRef,
  chatId: string,
  removal: Removal,
): Promise<number> {
  const { accountId, sessionId } = session;
  const resourceId = `${sessionId}/${chatId}`;
  const deletion = { resourceId, accountId, kind: 'chat' as const, details: JSON.stringify(removal) };
  await database.commit((tx) => deletions.record(tx, deletion), sessionId);
  return Number(await deletions.run(deletion));
}

/** Returns the handler of recorded deletions of chats. */
export function chatDeletion(parts: Parts, commit: Commit, isStopped: () => boolean): DeletionHandler {
  return ({ resourceId, accountId, details }, isResumed, complete) => {
    const [sessionId = '', chatId = ''] = resourceId.split('/');
    const run = { isResumed, complete, isStopped };
    return removeChat(parts, commit, { accountId, sessionId }, chatId, JSON.parse(details), run);
  };
}

/**
 * Removes the messages of a chat, in batches that keep the database available. A chat that is deleted stays if it has
 * messages that came later, or that wait to be sent. Running it again continues after a crash, and changes nothing if
 * it was complete.
 * @returns the number of removed messages
 */
async function removeChat(
  parts: Parts,
  commit: Commit,
  session: SessionRef,
  chatId: string,
  removal: Removal,
  run: Run,
): Promise<number> {
  let removed = 0;
  const { upToId, keepsStarred } = removal;
  if (isGroupId(chatId) && upToId !== undefined && keepsStarred !== true)
    await removeReceiptsOfChat(commit, session, chatId, upToId);
  const pace = new Pace(MESSAGES);
  for (let after = '', isLast = false; !isLast; ) {
    const remove = async (tx: Tx, limit: number) => {
      const batch = await removeBatch(tx, session, chatId, removal, { after, limit, now: parts.clock.now() });
      return { count: batch.length, last: batch.at(-1)?.message_id ?? '', isLast: batch.length < limit };
    };
    if (run.isStopped()) throw new AppError('shutting_down');
    const done = await pace.run(commit, remove, session.sessionId);
    removed += done.count;
    ({ last: after, isLast } = done);
  }
  const hasRemoved = removed > 0 || run.isResumed;
  await commit(async (tx) => {
    await run.complete(tx);
    const isGone = await settle(parts, tx, session, chatId, removal, hasRemoved);
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

/**
 * Removes a message for the session only. Changes nothing if it is gone.
 * @param isMessage false for a placeholder that turned out not to be a message
 */
export async function removeMessage({ emit, clock }: Parts, tx: Tx, row: MessageRow, isMessage = true): Promise<void> {
  const { account_id: accountId, session_id: sessionId, chat_id: chatId, message_id: messageId, type } = row;
  if (isMessage) await noteRemovedPlaceholders(tx, accountId, [row], clock.now());
  if (!(await removeRows(tx, accountId, [row]))) return;
  await countAgain(tx, { accountId, sessionId }, chatId, unreadAmong([row]));
  const group = isGroupId(chatId) && { groupId: chatId };
  const data = { messageId, type, sessionId, chatId, ...group, timestamp: isoTime(clock.now()) };
  emit(tx, { ...emissionOf(row), kind: 'message.removed', data });
}

async function removeBatch(
  tx: Tx,
  { accountId, sessionId }: SessionRef,
  chatId: string,
  { upToId, upTo, keepsStarred }: Removal,
  { after, limit, now }: { readonly after: string; readonly limit: number; readonly now: number },
) {
  let select = tx.kysely
    .selectFrom('messages')
    .select(['message_id', 'seq', 'direction', 'status', 'type'])
    .where(unindexed('account_id'), '=', accountId) // SQLite would pass the messages of other sessions in the chat
    .where(listed('session_id'), '=', sessionId)
    .where('chat_id', '=', chatId)
    .where('message_id', '>', after)
    .where('status', 'not in', WAITING);
  // With two bounds, SQLite would pass the messages of all chats between them.
  if (upToId !== undefined) select = select.where(unindexed('message_id'), '<=', upToId);
  if (upTo !== undefined) select = select.where('timestamp', '<=', upTo);
  if (keepsStarred === true) select = select.where('starred_at', 'is', null);
  const batch = await select.orderBy('message_id').limit(limit).execute();
  await noteRemovedPlaceholders(tx, accountId, batch, now);
  await removeRows(tx, accountId, batch);
  const fewer = unreadAmong(batch);
  if (fewer === 0) return batch;
  const session = { accountId, sessionId };
  await tx.kysely
    .updateTable('chats')
    .set({ unread_count: await remainingUnread(tx, session, chatId, fewer) })
    .where('account_id', '=', accountId)
    .where('session_id', '=', sessionId)
    .where('chat_id', '=', chatId)
    .execute();
  return batch;
}

/** Returns how many of the messages are unread. */
export const unreadAmong = (rows: readonly Pick<MessageRow, 'direction' | 'status'>[]): number =>
  rows.filter(({ direction, status }) => direction === 'incoming' && status === 'delivered').length;

/** Deletes messages with everything that belongs to them. Returns whether any of them was there. */
export async function removeRows(
  tx: Tx,
  accountId: string,
  rows: readonly Pick<MessageRow, 'message_id' | 'seq'>[],
): Promise<boolean> {
  if (rows.length === 0) return false;
  // One parameter, because the number of rows varies: each list of another length is another statement.
  const ids = tx.dialect.texts(JSON.stringify(rows.map(({ message_id }) => message_id)));
  for (const table of ['reactions', 'poll_votes', 'message_labels', 'added_files'] as const)
    await tx.kysely.deleteFrom(table).where('account_id', '=', accountId).where('message_id', 'in', ids).execute();
  await tx.kysely
    .deleteFrom('message_receipts')
    .where(unindexed('account_id'), '=', accountId) // its index is the one of a person
    .where('message_id', 'in', ids)
    .execute();
  const { numDeletedRows } = await tx.kysely
    .deleteFrom('messages')
    .where('account_id', '=', accountId)
    .where('message_id', 'in', ids)
    .executeTakeFirst();
  await dropWords(
    tx,
    rows.map(({ seq }) => seq),
  );
  return numDeletedRows > 0n;
}

/** Returns whether the chat is gone; undefined if nothing has changed. */
async function settle(
  { clock }: Parts,
  tx: Tx,
  session: SessionRef,
  chatId: string,
  { isWhole, upTo = clock.now() }: Removal,
  hasRemoved: boolean,
): Promise<boolean | undefined> {
  const { accountId, sessionId } = session;
  // Also of a chat that is not known yet, because its history is still to be imported.
  await noteCleared(tx, session, chatId, upTo);
  const remaining = await countAgain(tx, session, chatId, 0);
  if (remaining === undefined) return undefined;
  if (isWhole && !remaining.hasMessages) {
    for (const table of ['chat_labels', 'chat_ads', 'chats'] as const)
      await tx.kysely
        .deleteFrom(table)
        .where(unindexed('account_id'), '=', accountId) // SQLite would read all labels on chats of the account
        .where('session_id', '=', sessionId)
        .where('chat_id', '=', chatId)
        .execute();
    return true;
  }
  return hasRemoved ? false : undefined;
}

/**
 * Finds the last message of a chat and its unread messages again. Returns undefined if there is no such chat.
 * @param fewer unread messages that the chat had when they were counted, and no longer has
 */
export async function countAgain(
  tx: Tx,
  session: SessionRef,
  chatId: string,
  fewer: number,
): Promise<{ hasMessages: boolean } | undefined> {
  const { kysely } = tx;
  const { accountId, sessionId } = session;
  const ofChat = { account_id: accountId, session_id: sessionId, chat_id: chatId };
  const left = kysely
    .selectFrom('messages')
    .where(unindexed('account_id'), '=', accountId)
    .where(listed('session_id'), '=', sessionId)
    .where('chat_id', '=', chatId)
    .orderBy('message_id', 'desc')
    .limit(1);
  const last = await left
    .select(['message_id', 'timestamp'])
    .where('status', 'not in', ['scheduled', 'pending_approval'])
    .executeTakeFirst();
  const any = last ?? (await left.select('message_id').executeTakeFirst());
  const { numUpdatedRows } = await kysely
    .updateTable('chats')
    .set({
      last_message_id: last?.message_id ?? null,
      last_message_at: last?.timestamp ?? null,
      unread_count: await remainingUnread(tx, session, chatId, fewer),
      marked_unread: last === undefined ? 0 : sql<number>`marked_unread`,
    })
    .where((eb) => eb.and(ofChat))
    .executeTakeFirst();
  return numUpdatedRows === 0n ? undefined : { hasMessages: any !== undefined };
}
