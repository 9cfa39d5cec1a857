import { sql } from 'kysely';
import type { JointWork, Tx } from '../db/commit.ts';
import type { Queryable } from '../db/dialect.ts';
import { batch, listed, query, unindexed } from '../db/query.ts';
import type { ChatTable, MessageRow, SessionTable, StatusTable } from '../db/schema.ts';
import { isGroupId } from '../ids.ts';
import { storeChatAds } from './chatAds.ts';

export interface SessionRef {
  readonly accountId: string;
  readonly sessionId: string;
}

/** The session of a row. */
export function sessionOf({ account_id, session_id }: Pick<MessageRow, 'account_id' | 'session_id'>): SessionRef {
  return { accountId: account_id, sessionId: session_id };
}

/** A message before the database has numbered it. */
export type NewRow = Omit<MessageRow, 'seq' | 'turn' | 'late_at'>;

const newRowDefaults = {
  error: null,
  error_code: null,
  ad_id: null,
  scheduled_at: null,
  sent_at: null,
  delivered_at: null,
  read_at: null,
  failed_at: null,
  edited_at: null,
  deleted_at: null,
  sent_elsewhere: null,
  approval: null,
  origin: null,
  reply_network_id: null,
  file_reference: null,
  expires_in: null,
  starred_at: null,
  pinned_until: null,
  pin_changed_at: null,
  pricing: null,
  key_id: null,
};

export function newRow(given: Omit<NewRow, keyof typeof newRowDefaults> & Partial<NewRow>): NewRow {
  return { ...newRowDefaults, ...given };
}

/**
 * Stores messages, and makes each the last one of its chat unless it is scheduled or
 * waits for approval.
 * @returns whether each is new: a message with the same id in the account, or the same network id in the session, is
 * stored once
 */
export const storeMessages: JointWork<NewRow, boolean> = async (tx, rows) => {
  const stored = await insertMessages.all(tx, rows);
  const seqs = new Map(stored.map(({ message_id: messageId, seq }) => [messageId, seq]));
  const touched = new Map<string, ChatTouch>();
  const areNew = rows.map((row) => {
    const seq = seqs.get(row.message_id);
    if (seq === undefined) return false;
    seqs.delete(row.message_id); // a second row with the same id is not new
    if (row.status === 'scheduled' || row.status === 'pending_approval') return true;
    const key = `${row.session_id}/${row.chat_id}`;
    const unread = row.direction === 'incoming' ? 1 : 0;
    touched.set(key, chatTouch(row, unread + (touched.get(key)?.unread ?? 0)));
    return true;
  });
  await expire(tx, await touchChats.all(tx, [...touched.values()]), rows);
  await storeChatAds(
    tx,
    rows.filter((_, index) => areNew[index]),
  );
  return areNew;
};

/** Makes an outgoing message the last one of its chat. */
export async function touchChat(tx: Tx, row: NewRow, at: number): Promise<void> {
  await expire(tx, await touchChats.all(tx, [chatTouch({ ...row, timestamp: at }, 0)]), [row]);
}

/** Gives outgoing messages the timer of their chat, and notes it in the rows, which are about to be sent. */
async function expire(tx: Tx, chats: readonly Timer[], rows: readonly NewRow[]): Promise<void> {
  const timers = new Map(
    chats.flatMap(({ session_id, chat_id, disappearing_seconds: seconds }) =>
      seconds === null ? [] : [[`${session_id}/${chat_id}`, seconds] as const],
    ),
  );
  if (timers.size === 0) return;
  const expiring = rows.filter((row) => {
    const seconds = timers.get(`${row.session_id}/${row.chat_id}`);
    if (seconds === undefined || row.direction !== 'outgoing' || row.sent_elsewhere === 1) return false;
    row.expires_in = seconds;
    return true;
  });
  await setExpiry.run(
    tx,
    expiring.map(({ account_id, message_id, expires_in }) => ({ account_id, message_id, expires_in })),
  );
}

function chatTouch({ account_id, session_id, chat_id, message_id, timestamp }: NewRow, unread: number) {
  const type = isGroupId(chat_id) ? 'group' : 'direct';
  return { account_id, session_id, chat_id, type, last_message_id: message_id, last_message_at: timestamp, unread };
}

type ChatTouch = ReturnType<typeof chatTouch>;
type Timer = Pick<ChatTable, 'session_id' | 'chat_id' | 'disappearing_seconds'>;

export function findMessage(on: Queryable, accountId: string, messageId: string): Promise<MessageRow | undefined> {
  return messageById.first(on, { accountId, messageId });
}

/** Finds messages by their ids, without the ones that do not exist. */
export async function findMessages(
  on: Queryable,
  accountId: string,
  messageIds: readonly string[],
): Promise<Map<string, MessageRow>> {
  const rows = await messagesById.all(on, { accountId, messageIds: JSON.stringify(messageIds) });
  return new Map(rows.map((row) => [row.message_id, row]));
}

export function findSession(on: Queryable, session: SessionRef): Promise<SessionTable | undefined> {
  return sessionById.first(on, session);
}

/** Finds a status that the session received or posted. */
export function findStatus(
  { kysely }: Queryable,
  { accountId, sessionId }: SessionRef,
  networkId: string,
  from: string,
): Promise<Pick<StatusTable, 'status_id'> | undefined> {
  return kysely
    .selectFrom('statuses')
    .select('status_id')
    .where('account_id', '=', accountId)
    .where('session_id', '=', sessionId)
    .where('network_id', '=', networkId)
    .where('from_number', '=', from)
    .executeTakeFirst();
}

/** The network's id of the last incoming message of a chat; null if there is none. */
export async function lastIncoming(
  { kysely }: Queryable,
  { accountId, sessionId }: SessionRef,
  chatId: string,
): Promise<string | null> {
  const last = await kysely
    .selectFrom('messages')
    .select('network_id')
    .where(unindexed('account_id'), '=', accountId) // SQLite would pass the messages of other sessions in the chat
    .where(listed('session_id'), '=', sessionId)
    .where('chat_id', '=', chatId)
    .where('direction', '=', 'incoming')
    .orderBy('message_id', 'desc')
    .limit(1)
    .executeTakeFirst();
  return last?.network_id ?? null;
}

export async function networkIdOfGroup(
  { kysely }: Queryable,
  { accountId, sessionId }: SessionRef,
  groupId: string,
): Promise<string | undefined> {
  const group = await kysely
    .selectFrom('groups')
    .select('network_id')
    .where('account_id', '=', accountId)
    .where('session_id', '=', sessionId)
    .where('group_id', '=', groupId)
    .executeTakeFirst();
  return group?.network_id;
}

const messageColumns = {
  account_id: 'text',
  message_id: 'text',
  session_id: 'text',
  chat_id: 'text',
  network_id: 'text',
  direction: 'text',
  type: 'text',
  from_number: 'text',
  to_id: 'text',
  body: 'text',
  content: 'text',
  reply_to: 'text',
  status: 'text',
  error: 'text',
  error_code: 'text',
  ad_id: 'text',
  timestamp: 'bigint',
  created_at: 'bigint',
  scheduled_at: 'bigint',
  sent_at: 'bigint',
  delivered_at: 'bigint',
  read_at: 'bigint',
  failed_at: 'bigint',
  edited_at: 'bigint',
  deleted_at: 'bigint',
  sent_elsewhere: 'bigint',
  approval: 'text',
  origin: 'text',
  reply_network_id: 'text',
  file_reference: 'text',
  expires_in: 'bigint',
  starred_at: 'bigint',
  pinned_until: 'bigint',
  pin_changed_at: 'bigint',
  pricing: 'text',
  key_id: 'text',
} as const satisfies Record<keyof NewRow, 'text' | 'bigint'>;

const sessionById = query((db, p: SessionRef) =>
  db.selectFrom('sessions').selectAll().where('account_id', '=', p.accountId).where('session_id', '=', p.sessionId),
);

const messageById = query((db, p: { accountId: string; messageId: string }) =>
  db.selectFrom('messages').selectAll().where('account_id', '=', p.accountId).where('message_id', '=', p.messageId),
);

const messagesById = query((db, p: { accountId: string; messageIds: string }, dialect) =>
  db
    .selectFrom('messages')
    .selectAll()
    .where('account_id', '=', p.accountId)
    .where('message_id', 'in', dialect.texts(p.messageIds))
    .orderBy('message_id'),
);

/** Leaves out messages that are stored already, and those whose placeholder was deleted for the session. */
export const insertMessages = batch(messageColumns, ({ row, from }) => {
  const names = sql.join(Object.keys(row).map((name) => sql.ref(name)));
  return sql<Pick<MessageRow, 'message_id' | 'seq'>>`
    insert into messages (${names}) select ${sql.join(Object.values(row))} ${from}
    where not exists (
      select 1 from removed_placeholders as p
      where p.session_id = ${row.session_id} and p.network_id = ${row.network_id}
        and ${unindexed('p.from_number')} = ${row.from_number})
    on conflict do nothing returning message_id, seq`;
});

/** The timer with which the chat of a group begins; null for a direct chat. */
export const timerOfGroup = (row: { type: unknown; account_id: unknown; chat_id: unknown }) => sql`
  case when ${row.type} = 'group' then (
    select nullif(g.disappearing_seconds, 0) from groups as g
    where g.account_id = ${row.account_id} and g.group_id = ${row.chat_id}) end`;

/** Updates the last message of chats, and creates chats with their first one. Each chat occurs once. */
const touchChats = batch(
  {
    account_id: 'text',
    session_id: 'text',
    chat_id: 'text',
    type: 'text',
    last_message_id: 'text',
    last_message_at: 'bigint',
    unread: 'bigint',
  },
  ({ row, from }) => sql<Timer>`
    insert into chats
      (account_id, session_id, chat_id, type, last_message_id, last_message_at, unread_count, archived, pinned,
      disappearing_seconds)
    select ${row.account_id}, ${row.session_id}, ${row.chat_id}, ${row.type}, ${row.last_message_id},
      ${row.last_message_at}, ${row.unread}, 0, 0, ${timerOfGroup(row)} ${from}
    on conflict (session_id, chat_id) do update set
      last_message_id = excluded.last_message_id,
      last_message_at = excluded.last_message_at,
      unread_count = chats.unread_count + excluded.unread_count
    returning session_id, chat_id, disappearing_seconds`,
);

const setExpiry = batch(
  { account_id: 'text', message_id: 'text', expires_in: 'bigint' },
  ({ row, from }) => sql`
    update messages set expires_in = ${row.expires_in} ${from}
    where messages.account_id = ${row.account_id} and messages.message_id = ${row.message_id}`,
);
