import { sql } from 'kysely';
import type { Tx } from '../db/commit.ts';
import { unindexed } from '../db/query.ts';
import type { MessageRow } from '../db/schema.ts';
import { renameChat } from '../webhooks/log/renamedChats.ts';
import { renameInStatuses } from './broadcasts/statuses.ts';
import { countAgain, removeRows, unreadAmong } from './chats/chatRemoval.ts';
import { moveCleared } from './chats/clearedChats.ts';
import type { InboxOptions } from './inboxOptions.ts';
import { emitContact } from './people/contactChanges.ts';
import { moveStartedChat } from './standing/sessionRisk.ts';
import type { SessionRef } from './store.ts';

interface Person extends SessionRef {
  readonly placeholder: string;
  readonly phoneNumber: string;
}

/**
 * Moves everything from the placeholder to the number, and merges it with what the number already has. Events with
 * the placeholder are not sent again.
 */
export async function identify(
  options: InboxOptions,
  tx: Tx,
  { accountId, sessionId }: SessionRef,
  { standIn: placeholder, phoneNumber }: { standIn: string; phoneNumber: string },
): Promise<void> {
  const person = { accountId, sessionId, placeholder, phoneNumber };
  const hadChat = await mergeChats(tx, person);
  const hadContact = await mergeContacts(tx, person);
  await moveStartedChat(tx, person);
  await mergeParticipants(tx, person);
  await mergeReactionsAndVotes(tx, person);
  await moveLabels(tx, person);
  await moveCleared(tx, person, placeholder, phoneNumber);
  await renameInStatuses(tx, person, placeholder, phoneNumber);
  const shortened = await deleteDuplicates(tx, person);
  // Only by indexed columns: messages to somebody are found by their chat.
  await rename(tx, person, 'from_number', 'from_number');
  await rename(tx, person, 'to_id', 'chat_id');
  await rename(tx, person, 'chat_id', 'chat_id');
  await renameInKeys(tx, person);
  await renameChat(tx, { accountId, sessionId, from: placeholder, to: phoneNumber });
  for (const [chatId, removed] of shortened)
    await countAgain(tx, { accountId, sessionId }, chatId, unreadAmong(removed));
  // Networks repeat the report.
  if (!hadChat && !hadContact) return;
  const contact = {
    account_id: accountId,
    session_id: sessionId,
    phone_number: phoneNumber,
    name: null,
    saved_name: null,
    blocked: 0,
  };
  emitContact(options, tx, (await findContact(tx, person)) ?? contact, placeholder);
}

function findContact({ kysely }: Tx, { accountId, sessionId, phoneNumber }: Person) {
  return kysely
    .selectFrom('contacts')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('session_id', '=', sessionId)
    .where('phone_number', '=', phoneNumber)
    .executeTakeFirst();
}

async function rename(
  { kysely }: Tx,
  { accountId, sessionId, placeholder, phoneNumber }: Person,
  column: 'from_number' | 'to_id' | 'chat_id',
  foundBy: 'from_number' | 'chat_id',
): Promise<void> {
  await kysely
    .updateTable('messages')
    .set({ [column]: phoneNumber })
    .where('account_id', '=', accountId)
    .where(unindexed('session_id'), '=', sessionId)
    .where(foundBy, '=', placeholder)
    .where(column, '=', placeholder)
    .execute();
}

/**
 * Deletes messages that the network has already repeated under the number, which keep what was done with the deleted
 * ones. Returns the deleted messages of each chat that has fewer now.
 */
async function deleteDuplicates(
  tx: Tx,
  { accountId, sessionId, placeholder, phoneNumber }: Person,
): Promise<ReadonlyMap<string, readonly Duplicate[]>> {
  const shown = (column: 'chat_id' | 'from_number') =>
    sql`case when old.${sql.ref(column)} = ${placeholder} then ${phoneNumber} else old.${sql.ref(column)} end`;
  const duplicates = await sql<Duplicate>`
    select old.seq, old.message_id, old.direction, old.status, old.starred_at, old.pinned_until,
      twin.message_id as twin_id, twin.chat_id as twin_chat
    from messages as old join messages as twin
      on twin.session_id = old.session_id and twin.network_id = old.network_id and twin.seq <> old.seq
        and twin.chat_id = ${shown('chat_id')} and twin.from_number = ${shown('from_number')}
    where old.seq in (
        select seq from messages where account_id = ${accountId} and chat_id = ${placeholder}
        union select seq from messages where account_id = ${accountId} and from_number = ${placeholder})
      and ${unindexed('old.session_id')} = ${sessionId}`.execute(tx.kysely);
  for (const duplicate of duplicates.rows) await moveMarks(tx, accountId, duplicate);
  await removeRows(tx, accountId, duplicates.rows);
  return Map.groupBy(duplicates.rows, ({ twin_chat }) => twin_chat);
}

interface Duplicate
  extends Pick<MessageRow, 'seq' | 'message_id' | 'direction' | 'status' | 'starred_at' | 'pinned_until'> {
  /** The message that stays. */
  readonly twin_id: string;
  readonly twin_chat: string;
}

/** Moves reactions, votes, labels, star and pin, unless the message that stays has its own. */
async function moveMarks({ kysely }: Tx, accountId: string, { message_id, twin_id, ...old }: Duplicate): Promise<void> {
  const keys = { reactions: 'from_number', poll_votes: 'from_number', message_labels: 'label_id' };
  for (const [name, key] of Object.entries(keys)) {
    const [table, column] = [sql.table(name), sql.ref(key)];
    await sql`
      update ${table} set message_id = ${twin_id}
      where account_id = ${accountId} and message_id = ${message_id} and ${column} not in (
        select ${column} from ${table} where account_id = ${accountId} and message_id = ${twin_id})`.execute(kysely);
  }
  await kysely
    .updateTable('messages')
    .set(({ fn, val }) => ({
      starred_at: fn.coalesce('starred_at', val(old.starred_at)),
      pinned_until: fn.coalesce('pinned_until', val(old.pinned_until)),
    }))
    .where('account_id', '=', accountId)
    .where('message_id', '=', twin_id)
    .execute();
}

/** Returns whether there was a chat under the placeholder. */
async function mergeChats(
  { kysely }: Tx,
  { accountId, sessionId, placeholder, phoneNumber }: Person,
): Promise<boolean> {
  const chats = await kysely
    .selectFrom('chats')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('session_id', '=', sessionId)
    .where('chat_id', 'in', [placeholder, phoneNumber])
    .execute();
  const old = chats.find(({ chat_id }) => chat_id === placeholder);
  const present = chats.find(({ chat_id }) => chat_id === phoneNumber);
  if (old === undefined) return false;
  await kysely
    .deleteFrom('chats')
    .where('account_id', '=', accountId)
    .where('session_id', '=', sessionId)
    .where('chat_id', 'in', [placeholder, phoneNumber])
    .execute();
  const isNewer = (present?.last_message_at ?? 0) > (old.last_message_at ?? 0);
  const { last_message_id, last_message_at } = isNewer && present !== undefined ? present : old;
  const unread_count = old.unread_count + (present?.unread_count ?? 0);
  const merged = {
    ...old,
    ...present,
    chat_id: phoneNumber,
    last_message_id,
    last_message_at,
    unread_count,
    marked_unread: Math.max(old.marked_unread, present?.marked_unread ?? 0),
    disappearing_seconds: present?.disappearing_seconds ?? old.disappearing_seconds,
  };
  await kysely.insertInto('chats').values(merged).execute();
  return true;
}

/** Returns whether there was a contact under the placeholder. */
async function mergeContacts(
  { kysely }: Tx,
  { accountId, sessionId, placeholder, phoneNumber }: Person,
): Promise<boolean> {
  const contacts = await kysely
    .selectFrom('contacts')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('session_id', '=', sessionId)
    .where('phone_number', 'in', [placeholder, phoneNumber])
    .execute();
  const old = contacts.find(({ phone_number }) => phone_number === placeholder);
  const present = contacts.find(({ phone_number }) => phone_number === phoneNumber);
  if (old === undefined) return false;
  await kysely
    .deleteFrom('contacts')
    .where('account_id', '=', accountId)
    .where('session_id', '=', sessionId)
    .where('phone_number', 'in', [placeholder, phoneNumber])
    .execute();
  const name = old.name ?? present?.name ?? null;
  const blocked = Math.max(old.blocked, present?.blocked ?? 0);
  const saved_name = present?.saved_name ?? old.saved_name;
  const merged = { ...old, ...present, phone_number: phoneNumber, name, saved_name, blocked };
  await kysely.insertInto('contacts').values(merged).execute();
  return true;
}

async function mergeParticipants({ kysely }: Tx, { accountId, sessionId, placeholder, phoneNumber }: Person) {
  const groups = sql`select group_id from groups where account_id = ${accountId} and session_id = ${sessionId}`;
  await sql`
    delete from group_participants
    where account_id = ${accountId} and phone_number = ${phoneNumber} and group_id in (${groups}) and group_id in (
      select group_id from group_participants where account_id = ${accountId} and phone_number = ${placeholder})`.execute(
    kysely,
  );
  await sql`
    update group_participants set phone_number = ${phoneNumber}
    where account_id = ${accountId} and phone_number = ${placeholder} and group_id in (${groups})`.execute(kysely);
  await sql`
    delete from group_join_requests
    where account_id = ${accountId} and phone_number = ${phoneNumber} and group_id in (${groups}) and group_id in (
      select group_id from group_join_requests where account_id = ${accountId} and phone_number = ${placeholder})`.execute(
    kysely,
  );
  await sql`
    update group_join_requests set phone_number = ${phoneNumber}
    where account_id = ${accountId} and phone_number = ${placeholder} and group_id in (${groups})`.execute(kysely);
  await kysely
    .updateTable('groups')
    .set({ created_by: phoneNumber })
    .where('account_id', '=', accountId)
    .where('session_id', '=', sessionId)
    .where('created_by', '=', placeholder)
    .execute();
}

/** Keys that may write to the person still may, as soon as they are read again. */
async function renameInKeys({ kysely }: Tx, { accountId, placeholder, phoneNumber }: Person) {
  const [former, present] = [JSON.stringify(placeholder), JSON.stringify(phoneNumber)];
  await sql`
    update api_keys set allowed_recipients = replace(allowed_recipients, ${former}, ${present})
    where account_id = ${accountId} and allowed_recipients like ${`%${former}%`}`.execute(kysely);
}

/** Labels of the chat under the placeholder are those of the number. */
async function moveLabels({ kysely }: Tx, { sessionId, placeholder, phoneNumber }: Person) {
  await sql`
    insert into chat_labels (account_id, session_id, chat_id, label_id)
    select account_id, session_id, ${phoneNumber}, label_id from chat_labels
    where session_id = ${sessionId} and chat_id = ${placeholder}
    on conflict do nothing`.execute(kysely);
  await sql`delete from chat_labels where session_id = ${sessionId} and chat_id = ${placeholder}`.execute(kysely);
}

/** Merges reactions and votes. If there are some under both names, the later one counts. */
async function mergeReactionsAndVotes({ kysely }: Tx, { accountId, sessionId, placeholder, phoneNumber }: Person) {
  // From the few rows of the person to their messages. A list of the messages would be one of the whole session.
  const isOfSession = (row: string) => sql`exists (
    select 1 from messages where messages.account_id = ${sql.ref(`${row}.account_id`)}
      and messages.message_id = ${sql.ref(`${row}.message_id`)} and messages.session_id = ${sessionId})`;
  for (const name of ['reactions', 'poll_votes'] as const) {
    const table = sql.table(name);
    await sql`
      delete from ${table} as earlier
      where account_id = ${accountId} and from_number in (${placeholder}, ${phoneNumber}) and ${isOfSession('earlier')}
        and exists (
          select 1 from ${table} as later
          where later.account_id = earlier.account_id and later.message_id = earlier.message_id
            and later.from_number in (${placeholder}, ${phoneNumber}) and later.from_number <> earlier.from_number
            and (later.at > earlier.at or (later.at = earlier.at and later.from_number = ${phoneNumber})))`.execute(
      kysely,
    );
    await sql`
      update ${table} set from_number = ${phoneNumber}
      where account_id = ${accountId} and from_number = ${placeholder} and ${isOfSession(name)}`.execute(kysely);
  }
}
