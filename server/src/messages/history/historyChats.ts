import { sql } from 'kysely';
import type { NetworkEvent } from '../../connectors/contract/events.ts';
import type { HistoryChat, HistoryMessage } from '../../connectors/contract/history.ts';
import type { Tx } from '../../db/commit.ts';
import { batch, query } from '../../db/query.ts';
import { isGroupId } from '../../ids.ts';
import { type NewRow, type SessionRef, timerOfGroup } from '../store.ts';

/* The contacts and chats of a session's history. Names and chats that are known already are newer. */

type History = Extract<NetworkEvent, { type: 'history' }>;

const NAME_CHARACTERS = 200;
/** The latest time of a mute: a network can send any number. */
const LATEST = Date.UTC(9999, 11, 31);

interface Listed extends SessionRef {
  /** A JSON list. */
  ids: string;
}

/** @returns how many contacts are new */
export async function storeContacts(
  tx: Tx,
  session: SessionRef,
  contacts: History['contacts'],
  messages: readonly HistoryMessage[],
): Promise<number> {
  const people = new Map<string, { name: string | null; saved: string | null }>();
  const note = (phoneNumber: string, name: string | undefined, saved?: string) => {
    const known = people.get(phoneNumber);
    people.set(phoneNumber, { name: known?.name ?? cut(name), saved: known?.saved ?? cut(saved) });
  };
  for (const { phoneNumber, pushName, savedName } of contacts) note(phoneNumber, pushName, savedName);
  for (const { isOwn, from, senderName, chat } of messages)
    if (isOwn !== true && (chat.type === 'direct' || senderName !== undefined)) note(from, senderName);
  const numbers = [...people.keys()];
  const known = await knownContacts.all(tx, { ...session, numbers: JSON.stringify(numbers) });
  await upsertContacts.run(
    tx,
    [...people].map(([phoneNumber, { name, saved }]) => ({
      account_id: session.accountId,
      session_id: session.sessionId,
      phone_number: phoneNumber,
      name,
      saved_name: saved,
    })),
  );
  return numbers.length - known.length;
}

export const cut = (name: string | undefined) => name?.slice(0, NAME_CHARACTERS).toWellFormed() || null;

/** @returns how many chats are new */
export async function storeChats(
  tx: Tx,
  session: SessionRef,
  chats: readonly HistoryChat[],
  toChatId: (chat: HistoryChat) => string | undefined,
): Promise<number> {
  const rows = new Map(
    chats.flatMap((chat) => {
      const chatId = toChatId(chat);
      return chatId === undefined ? [] : [[chatId, chat] as const];
    }),
  );
  const known = await knownChats.all(tx, { ...session, ids: JSON.stringify([...rows.keys()]) });
  await upsertChats.run(
    tx,
    [...rows].map(([chatId, { chat, archived, pinned, mutedUntil }]) => ({
      account_id: session.accountId,
      session_id: session.sessionId,
      chat_id: chatId,
      type: chat.type,
      archived: archived === undefined ? null : Number(archived),
      pinned: pinned === undefined ? null : Number(pinned),
      // 0 for a chat that is known not to be muted.
      muted_until: mutedUntil === undefined ? null : Math.min(mutedUntil ?? 0, LATEST),
    })),
  );
  return rows.size - known.length;
}

/** How many messages of each chat may become unread: those that the phone has not read, without the ones here. */
export async function unreadAllowance(
  tx: Tx,
  session: SessionRef,
  chats: readonly HistoryChat[],
  toChatId: (chat: HistoryChat) => string | undefined,
): Promise<Map<string, number>> {
  const wanted = new Map<string, number>();
  for (const chat of chats) {
    const chatId = toChatId(chat);
    if (chatId !== undefined && (chat.unreadCount ?? 0) > 0) wanted.set(chatId, chat.unreadCount ?? 0);
  }
  if (wanted.size === 0) return wanted;
  const known = await knownChats.all(tx, { ...session, ids: JSON.stringify([...wanted.keys()]) });
  for (const { chat_id, unread_count } of known)
    wanted.set(chat_id, Math.max(0, (wanted.get(chat_id) ?? 0) - unread_count));
  return wanted;
}

/** Makes the newest message of each chat its last one, unless the chat has a newer one. @returns the new chats */
export async function touchChats(tx: Tx, fresh: readonly { readonly row: NewRow }[]): Promise<number> {
  const touched = new Map<string, { row: NewRow; unread: number }>();
  for (const { row } of fresh) {
    const unread = row.direction === 'incoming' && row.status === 'delivered' ? 1 : 0;
    // In the order of time, so the last one is the newest.
    touched.set(row.chat_id, { row, unread: unread + (touched.get(row.chat_id)?.unread ?? 0) });
  }
  const [first] = fresh;
  if (first === undefined) return 0;
  const { account_id: accountId, session_id: sessionId } = first.row;
  const known = await knownChats.all(tx, { accountId, sessionId, ids: JSON.stringify([...touched.keys()]) });
  await touchOlder.run(
    tx,
    [...touched].map(([chatId, { row, unread }]) => ({
      account_id: accountId,
      session_id: sessionId,
      chat_id: chatId,
      type: isGroupId(chatId) ? 'group' : 'direct',
      last_message_id: row.message_id,
      last_message_at: row.timestamp,
      unread,
    })),
  );
  return touched.size - known.length;
}

const knownContacts = query((db, p: SessionRef & { numbers: string }, dialect) =>
  db
    .selectFrom('contacts')
    .select('phone_number')
    .where('account_id', '=', p.accountId)
    .where('session_id', '=', p.sessionId)
    .where('phone_number', 'in', dialect.texts(p.numbers)),
);

const knownChats = query((db, p: Listed, dialect) =>
  db
    .selectFrom('chats')
    .select(['chat_id', 'unread_count'])
    .where('account_id', '=', p.accountId)
    .where('session_id', '=', p.sessionId)
    .where('chat_id', 'in', dialect.texts(p.ids)),
);

/** A name that is known already is newer than that of the history. */
const upsertContacts = batch(
  { account_id: 'text', session_id: 'text', phone_number: 'text', name: 'text', saved_name: 'text' },
  ({ row, from }) => sql`
    insert into contacts (account_id, session_id, phone_number, name, saved_name, blocked)
    select ${row.account_id}, ${row.session_id}, ${row.phone_number}, ${row.name}, ${row.saved_name}, 0 ${from}
    where true
    on conflict (session_id, phone_number) do update set
      name = coalesce(contacts.name, excluded.name), saved_name = coalesce(excluded.saved_name, contacts.saved_name)`,
);

const upsertChats = batch(
  {
    account_id: 'text',
    session_id: 'text',
    chat_id: 'text',
    type: 'text',
    archived: 'bigint',
    pinned: 'bigint',
    muted_until: 'bigint',
  },
  ({ row, from }) => sql`
    insert into chats (account_id, session_id, chat_id, type, unread_count, archived, pinned, muted_until,
      disappearing_seconds)
    select ${row.account_id}, ${row.session_id}, ${row.chat_id}, ${row.type}, 0, coalesce(${row.archived}, 0),
      coalesce(${row.pinned}, 0), nullif(${row.muted_until}, 0), ${timerOfGroup(row)} ${from}
    where true
    on conflict (session_id, chat_id) do nothing`,
);

const touchOlder = batch(
  {
    account_id: 'text',
    session_id: 'text',
    chat_id: 'text',
    type: 'text',
    last_message_id: 'text',
    last_message_at: 'bigint',
    unread: 'bigint',
  },
  ({ row, from }) => sql`
    insert into chats
      (account_id, session_id, chat_id, type, last_message_id, last_message_at, unread_count, archived, pinned,
      disappearing_seconds)
    select ${row.account_id}, ${row.session_id}, ${row.chat_id}, ${row.type}, ${row.last_message_id},
      ${row.last_message_at}, ${row.unread}, 0, 0, ${timerOfGroup(row)} ${from}
    where true
    on conflict (session_id, chat_id) do update set
      last_message_id = case when chats.last_message_id is null or excluded.last_message_id > chats.last_message_id
        then excluded.last_message_id else chats.last_message_id end,
      last_message_at = case when chats.last_message_id is null or excluded.last_message_id > chats.last_message_id
        then excluded.last_message_at else chats.last_message_at end,
      unread_count = chats.unread_count + excluded.unread_count`,
);
