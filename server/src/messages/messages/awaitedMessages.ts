import type { Tx } from '../../db/commit.ts';
import type { MessageRow } from '../../db/schema.ts';
import { storeChatAds } from '../chatAds.ts';
import { changeWords } from '../search.ts';
import type { NewRow, SessionRef } from '../store.ts';
import { findByNetworkId, isAwaited } from './changes.ts';

/**
 * Gives a message whose content was missing the content that has arrived. Returns the message as it was; undefined if
 * none is awaited, or if it was deleted.
 */
export async function replaceAwaited(tx: Tx, session: SessionRef, given: NewRow): Promise<MessageRow | undefined> {
  if (isAwaited(given) || given.network_id === null) return undefined;
  const { from_number, chat_id, ...columns } = given;
  const { type, body, content, reply_to, reply_network_id, expires_in, edited_at, file_reference, ad_id } = columns;
  const row = await findByNetworkId(
    tx,
    session,
    given.network_id,
    (one) => one.from_number === from_number && one.chat_id === chat_id,
  );
  if (row === undefined || row.deleted_at !== null || !isAwaited(row)) return undefined;
  const { account_id: accountId, message_id, seq } = row;
  await tx.kysely
    .updateTable('messages')
    .set({ type, body, content, reply_to, reply_network_id, expires_in, edited_at, file_reference, ad_id })
    .where('account_id', '=', accountId)
    .where('message_id', '=', message_id)
    .execute();
  await storeChatAds(tx, [given]);
  await changeWords(tx, { seq, account_id: accountId, body, content });
  return row;
}
