import { sql } from 'kysely';
import { isoTime } from '../clock.ts';
import type { HistoryChat, HistoryMessage } from '../connectors/connector.ts';
import { isPlaceholder, type NetworkEvent } from '../connectors/connector.ts';
import type { Tx } from '../db/commit.ts';
import { batch, query } from '../db/query.ts';
import type { SessionTable } from '../db/schema.ts';
import { idAt, isGroupId } from '../ids.ts';
import { withoutCleared } from './clearedChats.ts';
import { contentColumn, contentOf, contentParts, type StoredContent, searchText, withinLimits } from './content.ts';
import { addImported } from './historyState.ts';
import type { InboxOptions } from './inboxOptions.ts';
import { statusOf } from './outgoingProgress.ts';
import { indexWords } from './search.ts';
import { insertMessages, type NewRow, newRow, type SessionRef } from './store.ts';

type History = Extract<NetworkEvent, { type: 'history' }>;

const NAME_CHARACTERS = 200;
const EMOJI_CHARACTERS = 32;
/** The latest time of a mute: a network can send any number. */
const LATEST = Date.UTC(9999, 11, 31);
/** Per message. Anybody can react to a message of a group. */
const REACTIONS = 1024;

/**
 * Stores a part of a session's history in one transaction. Stored entries do not change, so a part that is
 * reported again, such as after the session was linked again, stores nothing twice.
 */
export async function storeHistory(
  options: InboxOptions,
  tx: Tx,
  own: SessionTable,
  { contacts, isReported, ...given }: History,
): Promise<void> {
  const { clock } = options;
  const session = { accountId: own.account_id, sessionId: own.session_id };
  const idOf = await groupIds(options, tx, session, [...given.chats, ...given.messages]);
  const toChatId = ({ chat }: Pick<HistoryChat, 'chat'>) => (chat.type === 'direct' ? chat.id : idOf.get(chat.id));
  const { chats, messages } = await withoutCleared(tx, session, given, toChatId);
  const newContacts = await storeContacts(tx, session, contacts, messages);
  const newChats = await storeChats(tx, session, chats, toChatId);
  const allowance = await unreadAllowance(tx, session, chats, toChatId);
  const toRow = rowMaker(options, own, toChatId);
  // Oldest first, so that ids are in order. The network reports the newest first, so those of one second are reversed.
  const rows = messages
    .toReversed()
    .toSorted((one, other) => one.timestamp - other.timestamp)
    .flatMap((message) => toRow(message) ?? []);
  for (const { row, message } of rows.toReversed()) {
    const left = allowance.get(row.chat_id) ?? 0;
    if (row.direction !== 'incoming' || message.isUnread !== true || left === 0) continue;
    allowance.set(row.chat_id, left - 1);
    row.status = 'delivered';
    row.read_at = null;
  }
  const stored = await insertMessages.all(
    tx,
    rows.map(({ row }) => row),
  );
  const seqs = new Map(stored.map(({ message_id: messageId, seq }) => [messageId, seq]));
  const fresh = rows.filter(({ row }) => seqs.has(row.message_id));
  for (const { row } of fresh) {
    const text = searchText(row.body, { ...contentOf(row) });
    tx.writeLater(indexWords, { seq: seqs.get(row.message_id) ?? 0, accountId: row.account_id, text });
  }
  await storeAnswers(tx, fresh, clock.now());
  await linkReplies(tx, session, fresh);
  const begun = await touchChats(tx, fresh);
  await addImported(tx, own, { messages: fresh.length, chats: newChats + begun, contacts: newContacts }, clock.now());
  if (isReported === true) for (const each of fresh) emitMessage(options, tx, own, each);
}

interface Made {
  readonly row: NewRow;
  readonly message: HistoryMessage;
}

/** Returns a function that makes the row of a message, to be called in the order of time; undefined without a chat. */
function rowMaker(
  { clock, steady }: InboxOptions,
  own: SessionTable,
  toChatId: (message: HistoryMessage) => string | undefined,
): (message: HistoryMessage) => Made | undefined {
  const now = clock.now();
  const ownNumber = own.phone_number ?? '';
  let lastMs = -1;
  let place = 0;
  return (message) => {
    const chatId = toChatId(message);
    if (chatId === undefined) return undefined;
    // A time in the future would keep the message the newest of all.
    const timestamp = inPast(message.timestamp, now);
    place = timestamp === lastMs ? place + 1 : 0;
    lastMs = timestamp;
    const { isOwn = false, file } = message;
    const isDeleted = message.deletedAt !== undefined;
    const { type, text, media: _, ...parts } = withinLimits(message.content);
    const content: StoredContent = isDeleted
      ? {}
      : {
          ...parts,
          ...(file && { remoteMedia: { mimeType: file.mimeType, size: file.size, fileName: file.fileName } }),
        };
    const row = newRow({
      account_id: own.account_id,
      message_id: idAt('msg', Math.floor(steady.fromWall(timestamp)), place),
      session_id: own.session_id,
      chat_id: chatId,
      network_id: message.networkId,
      direction: isOwn ? 'outgoing' : 'incoming',
      type,
      from_number: message.from,
      to_id: isOwn || isGroupId(chatId) ? chatId : ownNumber,
      body: isDeleted ? '' : text,
      content: contentColumn(content),
      reply_to: null,
      reply_network_id: message.replyTo,
      ...(isOwn ? progressOf(message, timestamp) : { status: 'read', delivered_at: timestamp, read_at: timestamp }),
      timestamp,
      created_at: now,
      edited_at: message.editedAt === undefined ? null : inPast(message.editedAt, now),
      deleted_at: message.deletedAt === undefined ? null : inPast(message.deletedAt, now),
      origin: 'history',
      file_reference: isDeleted ? null : (file?.reference ?? null),
    });
    return { row, message };
  };
}

/** A network can send any number as a time. */
const inPast = (time: number, now: number) =>
  Number.isFinite(time) ? Math.min(Math.max(0, Math.floor(time)), now) : 0;

/** The columns of an own message. The history says how far it has got, but not when. */
function progressOf({ status = 'sent' }: HistoryMessage, at: number): Partial<NewRow> & Pick<NewRow, 'status'> {
  const isDelivered = status === 'delivered' || status === 'read';
  return {
    status,
    sent_elsewhere: 1,
    sent_at: status === 'failed' ? null : at,
    delivered_at: isDelivered ? at : null,
    read_at: status === 'read' ? at : null,
    failed_at: status === 'failed' ? at : null,
    error: status === 'failed' ? 'The phone could not send the message' : null,
  };
}

/** Finds the ids of groups. A group that the session is no longer in is stored as one that it has left. */
async function groupIds(
  { newId, clock }: InboxOptions,
  tx: Tx,
  session: SessionRef,
  entries: readonly Pick<HistoryChat, 'chat' | 'name'>[],
): Promise<ReadonlyMap<string, string>> {
  const names = new Map<string, string>();
  for (const { chat, name } of entries)
    if (chat.type === 'group' && (name !== undefined || !names.has(chat.id))) names.set(chat.id, cut(name) ?? '');
  if (names.size === 0) return new Map();
  const found = await groupsByNetworkId.all(tx, { ...session, ids: JSON.stringify([...names.keys()]) });
  const ids = new Map(found.map(({ network_id, group_id }) => [network_id, group_id]));
  const now = clock.now();
  for (const [networkId, subject] of names) {
    if (ids.has(networkId)) continue;
    const groupId = newId('grp');
    ids.set(networkId, groupId);
    await tx.kysely
      .insertInto('groups')
      .values({
        account_id: session.accountId,
        session_id: session.sessionId,
        group_id: groupId,
        network_id: networkId,
        subject,
        created_by: '',
        announce: 0,
        locked: 0,
        join_approval: 0,
        created_at: now,
        left_at: now,
      })
      .execute();
  }
  return ids;
}

/** @returns how many contacts are new */
async function storeContacts(
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

const cut = (name: string | undefined) => name?.slice(0, NAME_CHARACTERS).toWellFormed() || null;

/** @returns how many chats are new */
async function storeChats(
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
async function unreadAllowance(
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

/** Stores the reactions to messages, and the votes in polls. */
async function storeAnswers(tx: Tx, fresh: readonly Made[], now: number): Promise<void> {
  const reactions = fresh.flatMap(({ row, message: { reactions = [] } }) =>
    reactions.slice(0, REACTIONS).map(({ from, emoji, timestamp }) => ({
      account_id: row.account_id,
      message_id: row.message_id,
      from_number: from,
      emoji: emoji.slice(0, EMOJI_CHARACTERS),
      at: inPast(timestamp, now),
    })),
  );
  const votes = fresh.flatMap(({ row, message: { votes = [] } }) => {
    const { poll } = contentOf(row);
    return votes.slice(0, REACTIONS).map(({ from, options, timestamp }) => ({
      account_id: row.account_id,
      message_id: row.message_id,
      from_number: from,
      options: JSON.stringify(options.filter((option) => poll?.options.includes(option)).slice(0, poll?.maxSelections)),
      at: inPast(timestamp, now),
    }));
  });
  await insertReactions.run(tx, reactions);
  await insertVotes.run(tx, votes);
}

/** Links replies to their originals, in whichever order the two are imported. */
async function linkReplies(tx: Tx, session: SessionRef, fresh: readonly Made[]): Promise<void> {
  const ids = JSON.stringify(fresh.map(({ row }) => row.network_id));
  const originals = fresh.flatMap(({ row }) => row.reply_network_id ?? []);
  if (originals.length > 0) await linkOriginals.run(tx, { ...session, ids: JSON.stringify([...new Set(originals)]) });
  if (fresh.length > 0) await linkOriginals.run(tx, { ...session, ids });
}

/** Makes the newest message of each chat its last one, unless the chat has a newer one. @returns the new chats */
async function touchChats(tx: Tx, fresh: readonly Made[]): Promise<number> {
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

function emitMessage({ emit, media }: InboxOptions, tx: Tx, own: SessionTable, { row }: Made): void {
  const { account_id: accountId, session_id: sessionId, chat_id: chatId, message_id: messageId } = row;
  const conversation = `${sessionId}/${chatId}`;
  const content = contentOf(row);
  const shown = {
    ...contentParts(content, media),
    ...(content.remoteMedia !== undefined && { remoteMedia: { ...content.remoteMedia } }),
    history: true as const,
  };
  if (row.direction === 'outgoing') {
    if (row.status === 'failed') return;
    const status = statusOf(row, 'sent', row.timestamp);
    const data = { ...status, sentElsewhere: true as const, message: row.body, ...shown };
    emit(tx, { accountId, kind: 'message.sent', data, conversation, messageId });
    return;
  }
  const data = {
    messageId,
    from: row.from_number,
    message: row.body,
    timestamp: isoTime(row.timestamp),
    sessionId,
    chatId,
    to: own.phone_number ?? '',
    type: row.type,
    ...shown,
    ...(isGroupId(chatId) && { groupId: chatId }),
    ...(isPlaceholder(row.from_number) && { unidentified: true as const }),
  };
  emit(tx, { accountId, kind: 'message.incoming', data, conversation, messageId });
}

interface Listed extends SessionRef {
  /** A JSON list. */
  ids: string;
}

const groupsByNetworkId = query((db, p: Listed, dialect) =>
  db
    .selectFrom('groups')
    .select(['group_id', 'network_id'])
    .where('account_id', '=', p.accountId)
    .where('session_id', '=', p.sessionId)
    .where('network_id', 'in', dialect.texts(p.ids)),
);

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
    insert into chats (account_id, session_id, chat_id, type, unread_count, archived, pinned, muted_until)
    select ${row.account_id}, ${row.session_id}, ${row.chat_id}, ${row.type}, 0, coalesce(${row.archived}, 0),
      coalesce(${row.pinned}, 0), nullif(${row.muted_until}, 0) ${from}
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
      (account_id, session_id, chat_id, type, last_message_id, last_message_at, unread_count, archived, pinned)
    select ${row.account_id}, ${row.session_id}, ${row.chat_id}, ${row.type}, ${row.last_message_id},
      ${row.last_message_at}, ${row.unread}, 0, 0 ${from}
    where true
    on conflict (session_id, chat_id) do update set
      last_message_id = case when chats.last_message_id is null or excluded.last_message_id > chats.last_message_id
        then excluded.last_message_id else chats.last_message_id end,
      last_message_at = case when chats.last_message_id is null or excluded.last_message_id > chats.last_message_id
        then excluded.last_message_at else chats.last_message_at end,
      unread_count = chats.unread_count + excluded.unread_count`,
);

const insertReactions = batch(
  { account_id: 'text', message_id: 'text', from_number: 'text', emoji: 'text', at: 'bigint' },
  ({ row, from }) => sql`
    insert into reactions (account_id, message_id, from_number, emoji, at)
    select ${row.account_id}, ${row.message_id}, ${row.from_number}, ${row.emoji}, ${row.at} ${from}
    where true on conflict do nothing`,
);

const insertVotes = batch(
  { account_id: 'text', message_id: 'text', from_number: 'text', options: 'text', at: 'bigint' },
  ({ row, from }) => sql`
    insert into poll_votes (account_id, message_id, from_number, options, at)
    select ${row.account_id}, ${row.message_id}, ${row.from_number}, ${row.options}, ${row.at} ${from}
    where true on conflict do nothing`,
);

/** Links the replies that wait for one of these messages. */
const linkOriginals = query((db, p: Listed, dialect) =>
  db
    .updateTable('messages')
    .set({
      reply_to: sql<string | null>`(select original.message_id from messages as original
        where original.account_id = messages.account_id and original.session_id = messages.session_id
          and original.network_id = messages.reply_network_id
          and original.chat_id = messages.chat_id order by original.message_id limit 1)`,
    })
    .where('account_id', '=', p.accountId)
    .where('session_id', '=', p.sessionId)
    .where('reply_to', 'is', null)
    .where('reply_network_id', 'is not', null)
    .where('reply_network_id', 'in', dialect.texts(p.ids)),
);
