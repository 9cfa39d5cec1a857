import { sql } from 'kysely';
import type { Tx } from '../db/commit.ts';
import { dropWords } from './search.ts';
import type { SessionRef } from './store.ts';

/**
 * A number has become known: everything stored under its placeholder is stored under the number from now on. If the
 * person is already known by number, the two are merged. Webhooks that were sent with the placeholder are not sent
 * again.
 */
export async function identify(
  tx: Tx,
  session: SessionRef,
  { standIn, phoneNumber }: { readonly standIn: string; readonly phoneNumber: string },
): Promise<void> {
  await mergeChats(tx, session, standIn, phoneNumber);
  await mergeContacts(tx, session, standIn, phoneNumber);
  await mergeParticipants(tx, session, standIn, phoneNumber);
  await mergeReactionsAndVotes(tx, session, standIn, phoneNumber);
  await deleteDuplicates(tx, session, standIn, phoneNumber);
  // Only by indexed columns: messages to somebody are found by their chat.
  await rename(tx, session, 'from_number', 'from_number', standIn, phoneNumber);
  await rename(tx, session, 'to_id', 'chat_id', standIn, phoneNumber);
  await rename(tx, session, 'chat_id', 'chat_id', standIn, phoneNumber);
}

async function rename(
  { kysely }: Tx,
  { accountId, sessionId }: SessionRef,
  column: 'from_number' | 'to_id' | 'chat_id',
  foundBy: 'from_number' | 'chat_id',
  standIn: string,
  number: string,
): Promise<void> {
  await kysely
    .updateTable('messages')
    .set({ [column]: number })
    .where('account_id', '=', accountId)
    .where('session_id', '=', sessionId)
    .where(foundBy, '=', standIn)
    .where(column, '=', standIn)
    .execute();
}

/** Deletes messages that the network has already repeated under the number. */
async function deleteDuplicates(tx: Tx, { accountId, sessionId }: SessionRef, standIn: string, number: string) {
  const shown = (column: 'chat_id' | 'from_number') =>
    sql`case when old.${sql.ref(column)} = ${standIn} then ${number} else old.${sql.ref(column)} end`;
  const twins = await sql<{ seq: number }>`
    select old.seq from messages as old join messages as twin
      on twin.session_id = old.session_id and twin.network_id = old.network_id and twin.seq <> old.seq
        and twin.chat_id = ${shown('chat_id')} and twin.from_number = ${shown('from_number')}
    where old.account_id = ${accountId} and old.session_id = ${sessionId} and (old.chat_id = ${standIn} or old.from_number = ${standIn})`.execute(
    tx.kysely,
  );
  if (twins.rows.length === 0) return;
  const all = twins.rows.map(({ seq }) => seq);
  await tx.kysely.deleteFrom('messages').where('seq', 'in', all).execute();
  await dropWords.run(
    tx,
    all.map((rowid) => ({ rowid })),
  );
}

async function mergeChats({ kysely }: Tx, { accountId, sessionId }: SessionRef, standIn: string, number: string) {
  const chats = await kysely
    .selectFrom('chats')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('session_id', '=', sessionId)
    .where('chat_id', 'in', [standIn, number])
    .execute();
  const old = chats.find(({ chat_id }) => chat_id === standIn);
  if (old === undefined) return;
  const present = chats.find(({ chat_id }) => chat_id === number);
  if (present !== undefined) {
    await kysely
      .deleteFrom('chats')
      .where('account_id', '=', accountId)
      .where('session_id', '=', sessionId)
      .where('chat_id', '=', number)
      .execute();
  }
  const isNewer = (present?.last_message_at ?? 0) > (old.last_message_at ?? 0);
  await kysely
    .updateTable('chats')
    .set({
      chat_id: number,
      ...(present !== undefined && {
        archived: present.archived,
        pinned: present.pinned,
        muted_until: present.muted_until,
        unread_count: old.unread_count + present.unread_count,
      }),
      ...(isNewer && { last_message_id: present?.last_message_id, last_message_at: present?.last_message_at }),
    })
    .where('account_id', '=', accountId)
    .where('session_id', '=', sessionId)
    .where('chat_id', '=', standIn)
    .execute();
}

async function mergeContacts({ kysely }: Tx, { accountId, sessionId }: SessionRef, standIn: string, number: string) {
  const contacts = await kysely
    .selectFrom('contacts')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('session_id', '=', sessionId)
    .where('phone_number', 'in', [standIn, number])
    .execute();
  const old = contacts.find(({ phone_number }) => phone_number === standIn);
  if (old === undefined) return;
  const present = contacts.find(({ phone_number }) => phone_number === number);
  await kysely
    .deleteFrom('contacts')
    .where('account_id', '=', accountId)
    .where('session_id', '=', sessionId)
    .where('phone_number', 'in', [standIn, number])
    .execute();
  await kysely
    .insertInto('contacts')
    .values({
      ...old,
      ...present,
      phone_number: number,
      name: old.name ?? present?.name ?? null,
      blocked: Math.max(old.blocked, present?.blocked ?? 0),
    })
    .execute();
}

async function mergeParticipants(
  { kysely }: Tx,
  { accountId, sessionId }: SessionRef,
  standIn: string,
  number: string,
) {
  const groups = kysely
    .selectFrom('groups')
    .select('group_id')
    .where('account_id', '=', accountId)
    .where('session_id', '=', sessionId);
  await kysely
    .deleteFrom('group_participants')
    .where('account_id', '=', accountId)
    .where('phone_number', '=', number)
    .where('group_id', 'in', groups)
    .where('group_id', 'in', (eb) =>
      eb
        .selectFrom('group_participants as other')
        .select('other.group_id')
        .where('other.account_id', '=', accountId)
        .where('other.phone_number', '=', standIn),
    )
    .execute();
  await kysely
    .updateTable('group_participants')
    .set({ phone_number: number })
    .where('account_id', '=', accountId)
    .where('phone_number', '=', standIn)
    .where('group_id', 'in', groups)
    .execute();
  await kysely
    .updateTable('groups')
    .set({ created_by: number })
    .where('account_id', '=', accountId)
    .where('session_id', '=', sessionId)
    .where('created_by', '=', standIn)
    .execute();
}

/** Merges reactions and votes. If there are some under both names, the later one counts. */
async function mergeReactionsAndVotes(
  { kysely }: Tx,
  { accountId, sessionId }: SessionRef,
  standIn: string,
  phoneNumber: string,
) {
  const messages = sql`select message_id from messages where account_id = ${accountId} and session_id = ${sessionId}`;
  for (const name of ['reactions', 'poll_votes'] as const) {
    const table = sql.table(name);
    await sql`
      delete from ${table} as earlier
      where account_id = ${accountId} and from_number in (${standIn}, ${phoneNumber}) and message_id in (${messages})
        and exists (
          select 1 from ${table} as later
          where later.account_id = earlier.account_id and later.message_id = earlier.message_id
            and later.from_number in (${standIn}, ${phoneNumber}) and later.from_number <> earlier.from_number
            and (later.at > earlier.at or (later.at = earlier.at and later.from_number = ${phoneNumber})))`.execute(
      kysely,
    );
    await sql`
      update ${table} set from_number = ${phoneNumber}
      where account_id = ${accountId} and from_number = ${standIn} and message_id in (${messages})`.execute(kysely);
  }
}
