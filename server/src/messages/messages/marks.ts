import { type Clock, isoTime } from '../../clock.ts';
import { isPlaceholder } from '../../connectors/contract/people.ts';
import type { Tx } from '../../db/commit.ts';
import type { MessageRow } from '../../db/schema.ts';
import { isGroupId } from '../../ids.ts';
import type { Emit } from '../../webhooks/log/emit.ts';
import { authorOf, findReferredTo, type StoreChange } from './changes.ts';
import { emissionOf } from './outgoingProgress.ts';
import { type Author, latestReplaced } from './replacement.ts';

interface Parts {
  readonly emit: Emit;
  readonly clock: Clock;
}

/** Stars a message, or removes the star. Emits nothing if that changes nothing. */
export async function setStarred(parts: Parts, tx: Tx, row: MessageRow, isStarred: boolean): Promise<void> {
  const starred_at = isStarred ? parts.clock.now() : null;
  const { numUpdatedRows } = await tx.kysely
    .updateTable('messages')
    .set({ starred_at })
    .where('account_id', '=', row.account_id)
    .where('message_id', '=', row.message_id)
    .where('starred_at', isStarred ? 'is' : 'is not', null)
    .executeTakeFirst();
  if (numUpdatedRows > 0n) await emitMarks(parts, tx, { ...row, starred_at });
}

/** Emits how a message is marked: whether it is starred, and its labels. */
export async function emitMarks({ emit, clock }: Parts, tx: Tx, row: MessageRow): Promise<void> {
  const { account_id: accountId, message_id: messageId } = row;
  const labels = await tx.kysely
    .selectFrom('message_labels')
    .select('label_id')
    .where('account_id', '=', accountId)
    .where('message_id', '=', messageId)
    .orderBy('label_id')
    .execute();
  const data = {
    ...aboutMessage(row),
    starred: row.starred_at !== null,
    labelIds: labels.map(({ label_id }) => label_id),
    timestamp: isoTime(clock.now()),
  };
  emit(tx, { ...emissionOf(row), kind: 'message.marked', data });
}

/** Stores that a person in the chat pinned a message, or removed the pin. */
export const storeNetworkPin: StoreChange<'message_pinned'> = async (events, tx, session, event) => {
  const row = await findReferredTo(tx, session, event);
  if (row !== undefined) await setPinned(events, tx, row, event.until, await authorOf(tx, session, event));
  return row !== undefined;
};

/** @param until null removes the pin */
export async function setPinned(
  { emit }: Pick<Parts, 'emit'>,
  tx: Tx,
  row: MessageRow,
  until: number | null,
  author: Author,
): Promise<void> {
  const { from, fromMe, at, replacesUntil } = author;
  const change = tx.kysely
    .updateTable('messages')
    .set({ pinned_until: until, pin_changed_at: replacesUntil === undefined ? null : at })
    .where('account_id', '=', row.account_id)
    .where('message_id', '=', row.message_id)
    .where('deleted_at', 'is', null)
    .where(({ or, eb }) => or([eb('pin_changed_at', 'is', null), eb('pin_changed_at', '<=', latestReplaced(author))]));
  const { numUpdatedRows } = await change.where('pinned_until', 'is distinct from', until).executeTakeFirst();
  if (numUpdatedRows === 0n) return void (await change.execute());
  const data = {
    ...aboutMessage(row),
    from,
    fromMe,
    ...(isPlaceholder(from) && { unidentified: true as const }),
    pinnedUntil: isoTime(until),
    timestamp: isoTime(at),
  };
  emit(tx, { ...emissionOf(row), kind: 'message.pinned', data });
}

function aboutMessage({ message_id: messageId, session_id: sessionId, chat_id: chatId, type }: MessageRow) {
  return { messageId, type, sessionId, chatId, ...(isGroupId(chatId) && { groupId: chatId }) };
}
