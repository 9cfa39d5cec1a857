import type { NetworkEvent } from '../connectors/connector.ts';
import type { Tx } from '../db/commit.ts';
import { query } from '../db/query.ts';
import type { MessageRow } from '../db/schema.ts';
import { contentOf, searchText } from './content.ts';
import { groupIdOf } from './groupInbox.ts';
import { dropWords, indexWords } from './search.ts';
import type { SessionRef } from './store.ts';

type EventOf<T extends NetworkEvent['type']> = Extract<NetworkEvent, { type: T }>;

/** Stores an edit if it comes from the sender of the message. */
export async function storeNetworkEdit(
  tx: Tx,
  session: SessionRef,
  { networkId, from, text, timestamp }: EventOf<'edited'>,
) {
  const row = await findByNetworkId(tx, session, networkId, ({ from_number }) => from_number === from);
  if (row?.deleted_at === null) await storeEdit(tx, row, text, timestamp);
}

/** Stores a deletion by the sender, or by an admin of the group. */
export async function storeNetworkDeletion(
  tx: Tx,
  session: SessionRef,
  { networkId, from, timestamp }: EventOf<'deleted'>,
) {
  const row = await deletableBy(tx, session, networkId, from);
  if (row?.deleted_at === null) await storeDeletion(tx, row, timestamp);
}

export async function storeNetworkReaction(tx: Tx, session: SessionRef, event: EventOf<'reaction'>): Promise<void> {
  const row = await findReferredTo(tx, session, event);
  if (row !== undefined) await storeReaction(tx, row, event.from, event.emoji, event.timestamp);
}

export async function storeVote(tx: Tx, session: SessionRef, event: EventOf<'vote'>): Promise<void> {
  const row = await findReferredTo(tx, session, event);
  if (row === undefined) return;
  const { from, timestamp: at } = event;
  const { poll } = contentOf(row);
  const chosen = [...new Set(event.options)].filter((option) => poll?.options.includes(option));
  const options = JSON.stringify(chosen.slice(0, poll?.maxSelections));
  await tx.kysely
    .insertInto('poll_votes')
    .values({ account_id: row.account_id, message_id: row.message_id, from_number: from, options, at })
    .onConflict((conflict) =>
      conflict.columns(['account_id', 'message_id', 'from_number']).doUpdateSet({ options, at }),
    )
    .execute();
}

export async function storeEdit(tx: Tx, row: MessageRow, text: string, at: number): Promise<void> {
  const { account_id: accountId, message_id: messageId, seq } = row;
  await tx.kysely
    .updateTable('messages')
    .set({ body: text, edited_at: at })
    .where('account_id', '=', accountId)
    .where('message_id', '=', messageId)
    .execute();
  await dropWords.run(tx, [{ rowid: seq }]);
  tx.writeLater(indexWords, { seq, accountId, text: searchText(text, contentOf(row)) });
}

/** Deletes the content of a message for everyone. The message itself stays listed. */
export async function storeDeletion(tx: Tx, row: MessageRow, at: number): Promise<void> {
  const { account_id: accountId, message_id: messageId, seq } = row;
  await tx.kysely
    .updateTable('messages')
    .set({ body: '', content: null, deleted_at: at })
    .where('account_id', '=', accountId)
    .where('message_id', '=', messageId)
    .execute();
  await tx.kysely
    .deleteFrom('reactions')
    .where('account_id', '=', accountId)
    .where('message_id', '=', messageId)
    .execute();
  await dropWords.run(tx, [{ rowid: seq }]);
}

/** @param emoji null removes the reaction */
export async function storeReaction(
  { kysely }: Tx,
  { account_id, message_id }: MessageRow,
  from_number: string,
  emoji: string | null,
  at: number,
): Promise<void> {
  if (emoji === null) {
    await kysely
      .deleteFrom('reactions')
      .where('account_id', '=', account_id)
      .where('message_id', '=', message_id)
      .where('from_number', '=', from_number)
      .execute();
    return;
  }
  await kysely
    .insertInto('reactions')
    .values({ account_id, message_id, from_number, emoji, at })
    .onConflict((conflict) => conflict.columns(['account_id', 'message_id', 'from_number']).doUpdateSet({ emoji, at }))
    .execute();
}

// Only by the columns of its index: with the account, a planner without statistics reads all messages of it.
const byNetworkId = query((db, p: SessionRef & { networkId: string }) =>
  db
    .selectFrom('messages')
    .selectAll()
    .where('session_id', '=', p.sessionId)
    .where('network_id', '=', p.networkId)
    .orderBy('message_id'),
);

/** Finds a message by the network's id. Several senders may use the same id: returns the oldest that matches. */
export async function findByNetworkId(
  tx: Tx,
  session: SessionRef,
  networkId: string,
  matches: (row: MessageRow) => boolean = () => true,
): Promise<MessageRow | undefined> {
  return (await byNetworkId.all(tx, { ...session, networkId })).find(matches);
}

/** Message ids are not secret on the network, so the sender of the event must be in the chat of the message. */
async function findReferredTo(
  tx: Tx,
  session: SessionRef,
  { networkId, from, chat }: EventOf<'reaction' | 'vote'>,
): Promise<MessageRow | undefined> {
  const groupId = chat?.type === 'group' ? await groupIdOf(tx, session, chat.id) : undefined;
  return findByNetworkId(tx, session, networkId, (row) =>
    row.chat_id.startsWith('grp_')
      ? chat === undefined || row.chat_id === groupId
      : [row.chat_id, row.from_number, row.to_id].includes(from),
  );
}

/** Finds a message that this number may delete: its own, or any in a group that it is an admin of. */
async function deletableBy(
  tx: Tx,
  session: SessionRef,
  networkId: string,
  phoneNumber: string,
): Promise<MessageRow | undefined> {
  const rows = await byNetworkId.all(tx, { ...session, networkId });
  const own = rows.find(({ from_number }) => from_number === phoneNumber);
  if (own !== undefined) return own;
  for (const row of rows) {
    const admin = await tx.kysely
      .selectFrom('group_participants')
      .select('role')
      .where('account_id', '=', session.accountId)
      .where('group_id', '=', row.chat_id)
      .where('phone_number', '=', phoneNumber)
      .where('role', 'in', ['admin', 'owner'])
      .executeTakeFirst();
    if (admin !== undefined) return row;
  }
  return undefined;
}
