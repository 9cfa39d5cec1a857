import { sql } from 'kysely';
import { isoTime } from '../../clock.ts';
import type { NetworkEvent } from '../../connectors/contract/events.ts';
import type { HistoryChat, HistoryMessage } from '../../connectors/contract/history.ts';
import { isPlaceholder } from '../../connectors/contract/people.ts';
import type { Tx } from '../../db/commit.ts';
import { batch, query, unindexed } from '../../db/query.ts';
import type { SessionTable } from '../../db/schema.ts';
import { idAt, isGroupId } from '../../ids.ts';
import { storeChatAds } from '../chatAds.ts';
import { withoutCleared } from '../chats/clearedChats.ts';
import {
  adColumn,
  addressPart,
  contentColumn,
  contentOf,
  contentParts,
  ownWithinLimits,
  type StoredContent,
  withinLimits,
} from '../content.ts';
import type { InboxOptions } from '../inboxOptions.ts';
import { noteFile } from '../messages/addedMedia.ts';
import { replaceAwaited } from '../messages/awaitedMessages.ts';
import { applyEarlyChanges } from '../messages/earlyChanges.ts';
import { statusOf } from '../messages/outgoingProgress.ts';
import type { ReportHandlers } from '../reports.ts';
import { findSession, insertMessages, type NewRow, newRow, type SessionRef } from '../store.ts';
import { cut, storeChats, storeContacts, touchChats, unreadAllowance } from './historyChats.ts';
import { addImported, noteProgress } from './historyState.ts';

type History = Extract<NetworkEvent, { type: 'history' }>;

const EMOJI_CHARACTERS = 32;
/** Per message. Anybody can react to a message of a group. */
const REACTIONS = 1024;

export const historyReports: ReportHandlers<'history' | 'history_progress'> = {
  history: async (options, tx, session, event) => {
    const own = await findSession(tx, session);
    if (own !== undefined) await storeHistory(options, tx, own, event);
  },
  history_progress: noteProgress,
};

/**
 * Stores a part of a session's history in one transaction. Stored entries do not change, so a part that is
 * reported again, such as after the session was linked again, stores nothing twice. Only messages whose content was
 * missing get it.
 */
async function storeHistory(
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
  const isStored = new Set(stored.map(({ message_id: messageId }) => messageId));
  const fresh = rows.filter(({ row }) => isStored.has(row.message_id));
  const replaced = await replaceAwaitedAmong(
    tx,
    session,
    rows.filter(({ row }) => !isStored.has(row.message_id)),
  );
  const changed = [...fresh, ...replaced];
  await storeChatAds(
    tx,
    fresh.map(({ row }) => row),
  );
  await storeAnswers(tx, changed, clock.now());
  for (const { row, message } of changed)
    if (message.fileId !== undefined) await noteFile(tx, row, message.fileId, null);
  await linkReplies(tx, session, changed);
  const begun = await touchChats(tx, fresh);
  await addImported(tx, own, { messages: fresh.length, chats: newChats + begun, contacts: newContacts }, clock.now());
  if (isReported === true) for (const each of fresh) emitMessage(options, tx, own, each);
  // Each has had an event without the content.
  for (const each of replaced) emitMessage(options, tx, own, each, { wasAwaited: true });
  await applyEarlyChanges(
    options,
    tx,
    changed.map(({ row: { session_id, network_id } }) => ({ session_id, network_id })),
  );
}

/** Replaces those stored messages whose content is missing. Returns them, with the ids that they have. */
async function replaceAwaitedAmong(tx: Tx, session: SessionRef, stored: readonly Made[]): Promise<Made[]> {
  const complete = stored.filter(({ row }) => row.deleted_at === null);
  if (complete.length === 0) return [];
  const ids = JSON.stringify(complete.map(({ row }) => row.network_id));
  const found = new Set((await unsupportedAmong.all(tx, { ...session, ids })).map(({ network_id }) => network_id));
  const replaced: Made[] = [];
  for (const { row, message } of complete) {
    const before = found.has(row.network_id) ? await replaceAwaited(tx, session, row) : undefined;
    if (before !== undefined) replaced.push({ row: { ...row, message_id: before.message_id }, message });
  }
  return replaced;
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
    const { type, text, media: _, ...parts } = (isOwn ? ownWithinLimits : withinLimits)(message.content);
    const content: StoredContent = isDeleted
      ? {}
      : {
          ...parts,
          ...addressPart(message),
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
      ad_id: adColumn(content),
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

function emitMessage(
  { emit, media }: InboxOptions,
  tx: Tx,
  own: SessionTable,
  { row }: Made,
  more: { readonly wasAwaited?: true } = {},
): void {
  const { account_id: accountId, session_id: sessionId, chat_id: chatId, message_id: messageId } = row;
  const conversation = `${sessionId}/${chatId}`;
  const content = contentOf(row);
  const shown = {
    ...contentParts(content, media),
    ...(content.remoteMedia !== undefined && { remoteMedia: { ...content.remoteMedia } }),
    history: true as const,
    ...more,
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
    .where(unindexed('account_id'), '=', p.accountId) // SQLite would read all groups of the account
    .where('session_id', '=', p.sessionId)
    .where('network_id', 'in', dialect.texts(p.ids)),
);

// Only by the columns of its index: with the account, a planner without statistics reads all messages of it.
const unsupportedAmong = query((db, p: Listed, dialect) =>
  db
    .selectFrom('messages')
    .select('network_id')
    .where('session_id', '=', p.sessionId)
    .where('network_id', 'in', dialect.texts(p.ids))
    .where('type', '=', sql.lit('unsupported' as const)),
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
