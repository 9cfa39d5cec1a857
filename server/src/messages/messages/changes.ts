import { isDeepStrictEqual } from 'node:util';
import { isoTime } from '../../clock.ts';
import { MAX_MENTIONS, mediaTypes } from '../../connectors/contract/content.ts';
import type { EventDetails } from '../../connectors/contract/contentParts.ts';
import type { NetworkEvent } from '../../connectors/contract/events.ts';
import { isPlaceholder } from '../../connectors/contract/people.ts';
import type { Tx } from '../../db/commit.ts';
import type { Queryable } from '../../db/dialect.ts';
import { query } from '../../db/query.ts';
import type { MessageRow } from '../../db/schema.ts';
import { partsWithinLimits, shownParts } from '../../events/contentParts/contentParts.ts';
import type { EventData } from '../../events/events.ts';
import { isGroupId } from '../../ids.ts';
import type { Emit } from '../../webhooks/log/emit.ts';
import { contentColumn, contentOf } from '../content.ts';
import { groupIdOf } from '../groupStore.ts';
import { changeWords, dropWords } from '../search.ts';
import { findMessage, findSession, type SessionRef } from '../store.ts';
import { emissionOf } from './outgoingProgress.ts';
import { type Author, isReplaced, latestReplaced, replacedUntil } from './replacement.ts';

type EventOf<T extends NetworkEvent['type']> = Extract<NetworkEvent, { type: T }>;

export interface Events {
  readonly emit: Emit;
}

/** Whether the content of a message is missing. A change of the content waits for it. */
export const isAwaited = (row: Pick<MessageRow, 'type' | 'content'>): boolean =>
  row.type === 'unsupported' && contentOf(row).isAwaited === true;

/**
 * Stores a change that a network reports. Returns whether the session has a message that the person may change: a
 * change that finds none may have arrived before its message.
 */
export type StoreChange<T extends NetworkEvent['type']> = (
  events: Events,
  tx: Tx,
  session: SessionRef,
  event: EventOf<T>,
) => Promise<boolean>;

/** Stores an edit if it comes from the sender of the message. */
export const storeNetworkEdit: StoreChange<'edited'> = async (events, tx, session, event) => {
  const { networkId, from, text, mentions } = event;
  const row = await findByNetworkId(tx, session, networkId, ({ from_number }) => from_number === from);
  if (row !== undefined && isAwaited(row)) return false;
  if (row?.deleted_at === null && (text !== '' || isMedia(row.type))) {
    const details = row.type === 'event' ? event.event : undefined;
    await storeEdit(events, tx, row, text, await authorOf(tx, session, event), { details, mentions });
  }
  return row !== undefined;
};

/** Stores a deletion by the sender, or by an admin of the group. */
export const storeNetworkDeletion: StoreChange<'deleted'> = async (events, tx, session, event) => {
  const row = await deletableBy(tx, session, event);
  if (row?.deleted_at === null) await storeDeletion(events, tx, row, await authorOf(tx, session, event));
  return row !== undefined;
};

export const storeNetworkReaction: StoreChange<'reaction'> = async (events, tx, session, event) => {
  const row = await findReferredTo(tx, session, event);
  if (row !== undefined) await storeReaction(events, tx, row, event.emoji, await authorOf(tx, session, event));
  return row !== undefined;
};

export const storeVote: StoreChange<'vote'> = async (events, tx, session, event) => {
  const row = await findReferredTo(tx, session, event);
  if (row === undefined || isAwaited(row)) return false;
  const author = await authorOf(tx, session, event);
  const { poll } = contentOf(row);
  const chosen = [...new Set(event.options)].filter((option) => poll?.options.includes(option));
  const counted = chosen.slice(0, poll?.maxSelections);
  if (await putVote(tx, row, counted, author))
    emitChange(events, tx, row, 'poll.vote', { ...changeOf(row, author), options: counted });
  return true;
};

/** Stores whether somebody comes to an event, as a vote for one of the answers. */
export const storeEventAnswer: StoreChange<'event_answer'> = async (events, tx, session, event) => {
  const row = await findReferredTo(tx, session, event);
  if (row?.type !== 'event') return row !== undefined && !isAwaited(row);
  const author = await authorOf(tx, session, event);
  const { answer } = event;
  if (await putVote(tx, row, [answer], author))
    emitChange(events, tx, row, 'event.answer', { ...changeOf(row, author), answer });
  return true;
};

/** Returns whether it is another one than before. */
async function putVote(tx: Tx, { account_id, message_id }: MessageRow, chosen: readonly string[], author: Author) {
  const { from: from_number, at } = author;
  const options = JSON.stringify(chosen);
  const { numInsertedOrUpdatedRows } = await tx.kysely
    .insertInto('poll_votes')
    .values({ account_id, message_id, from_number, options, at })
    .onConflict((conflict) =>
      conflict
        .columns(['account_id', 'message_id', 'from_number'])
        .doUpdateSet({ options, at })
        .where('poll_votes.options', '<>', options)
        .where('poll_votes.at', '<=', latestReplaced(author)),
    )
    .executeTakeFirst();
  if (numInsertedOrUpdatedRows) return true;
  await tx.kysely
    .updateTable('poll_votes')
    .set({ at })
    .where((eb) => eb.and({ account_id, message_id, from_number, options }))
    .where('at', '<', at)
    .execute();
  return false;
}

const isMedia = (type: string): boolean => mediaTypes.some((one) => one === type);

/**
 * @param details the new details of an event; if undefined, they stay
 * @param mentions the people in the new text; if undefined, the present ones that the text still has
 */
export async function storeEdit(
  events: Events,
  tx: Tx,
  row: MessageRow,
  text: string,
  author: Author,
  { details, mentions }: { details?: EventDetails | undefined; mentions?: readonly string[] | undefined } = {},
): Promise<void> {
  const { account_id: accountId, message_id: messageId, seq } = row;
  // The row may be older than another edit, or a deletion, that the network has reported meanwhile.
  const present = await findMessage(tx, accountId, messageId);
  if (present === undefined || present.deleted_at !== null || isReplaced(author, present.edited_at)) return;
  const before = contentOf(present);
  const { mentions: _, ...rest } = before;
  const content = {
    ...rest,
    ...mentionsPart(mentions ?? mentionedIn(text, before.mentions)),
    ...(details && partsWithinLimits({ event: details })),
  };
  const isSameContent = isDeepStrictEqual(content, before);
  await tx.kysely
    .updateTable('messages')
    // Another node may have changed the content since it was read.
    .set({ body: text, edited_at: author.at, ...(!isSameContent && { content: contentColumn(content) }) })
    .where('account_id', '=', accountId)
    .where('message_id', '=', messageId)
    .execute();
  await changeWords(tx, { seq, account_id: accountId, body: text, content: contentColumn(content) });
  const isSame = text === present.body && isSameContent;
  const { event } = details === undefined ? {} : shownParts(content);
  const shown = { message: text, ...mentionsPart(content.mentions), ...(event && { event }) };
  if (!isSame) emitChange(events, tx, row, 'message.edited', { ...changeOf(row, author), ...shown });
}

function mentionedIn(text: string, mentions: readonly string[] = []): string[] {
  const found = new Set([...text.matchAll(/@(\d+)/g)].map(([, digits]) => digits));
  return mentions.filter((digits) => found.has(digits));
}

const mentionsPart = (mentions: readonly string[] = []) =>
  mentions.length === 0 ? {} : { mentions: mentions.slice(0, MAX_MENTIONS) };

/** Deletes the content of a message for everyone. The message itself stays listed, and is found by its ad. */
export async function storeDeletion(events: Events, tx: Tx, row: MessageRow, author: Author): Promise<void> {
  const { account_id: accountId, message_id: messageId, seq } = row;
  const { numUpdatedRows } = await tx.kysely
    .updateTable('messages')
    .set({ body: '', content: null, file_reference: null, deleted_at: author.at })
    .where('account_id', '=', accountId)
    .where('message_id', '=', messageId)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
  if (numUpdatedRows === 0n) return;
  await tx.kysely
    .deleteFrom('reactions')
    .where('account_id', '=', accountId)
    .where('message_id', '=', messageId)
    .execute();
  await dropWords(tx, [seq]);
  emitChange(events, tx, row, 'message.deleted', changeOf(row, author));
}

/** Emoji of a removed reaction. */
export const NO_REACTION = '';

/** @param emoji null removes the reaction */
export async function storeReaction(
  events: Events,
  tx: Tx,
  row: MessageRow,
  emoji: string | null,
  author: Author,
): Promise<void> {
  const isChanged = emoji === null ? await removeReaction(tx, row, author) : await putReaction(tx, row, emoji, author);
  if (isChanged) emitChange(events, tx, row, 'message.reaction', { ...changeOf(row, author), emoji });
}

/** Returns whether there was one. The time of its removal remains, because an older reaction may arrive later. */
async function removeReaction({ kysely }: Tx, row: MessageRow, author: Author): Promise<boolean> {
  const { account_id, message_id } = row;
  const { from: from_number, at } = author;
  const { numUpdatedRows } = await kysely
    .updateTable('reactions')
    .set({ emoji: NO_REACTION, at })
    .where('account_id', '=', account_id)
    .where('message_id', '=', message_id)
    .where('from_number', '=', from_number)
    .where('emoji', '<>', NO_REACTION)
    .where('at', '<=', latestReplaced(author))
    .executeTakeFirst();
  if (numUpdatedRows > 0n) return true;
  await kysely
    .insertInto('reactions')
    .values({ account_id, message_id, from_number, emoji: NO_REACTION, at })
    .onConflict((conflict) =>
      conflict
        .columns(['account_id', 'message_id', 'from_number'])
        .doUpdateSet({ at })
        .where('reactions.emoji', '=', NO_REACTION)
        .where('reactions.at', '<', at),
    )
    .execute();
  return false;
}

/** Returns whether it is another one than before. */
async function putReaction(
  { kysely }: Tx,
  { account_id, message_id }: MessageRow,
  emoji: string,
  author: Author,
): Promise<boolean> {
  const { from: from_number, at } = author;
  const { numInsertedOrUpdatedRows } = await kysely
    .insertInto('reactions')
    .values({ account_id, message_id, from_number, emoji, at })
    .onConflict((conflict) =>
      conflict
        .columns(['account_id', 'message_id', 'from_number'])
        .doUpdateSet({ emoji, at })
        .where('reactions.emoji', '<>', emoji)
        .where('reactions.at', '<=', latestReplaced(author)),
    )
    .executeTakeFirst();
  if (numInsertedOrUpdatedRows !== 0n) return true;
  await kysely
    .updateTable('reactions')
    .set({ at })
    .where((eb) => eb.and({ account_id, message_id, from_number, emoji }))
    .where('at', '<', at)
    .execute();
  return false;
}

type Change =
  | 'message.reaction'
  | 'message.edited'
  | 'message.deleted'
  | 'message.location'
  | 'message.media'
  | 'poll.vote'
  | 'event.answer';

export function emitChange<K extends Change>(
  { emit }: Events,
  tx: Tx,
  row: MessageRow,
  kind: K,
  data: EventData<K>,
): void {
  emit(tx, { ...emissionOf(row), kind, data });
}

/** The fields that the events of all changes share. */
export function changeOf(row: MessageRow, { from, fromMe, at }: Author) {
  const { message_id: messageId, session_id: sessionId, chat_id: chatId, type } = row;
  return {
    messageId,
    type,
    sessionId,
    chatId,
    ...(isGroupId(chatId) && { groupId: chatId }),
    from,
    fromMe,
    ...(isPlaceholder(from) && { unidentified: true as const }),
    timestamp: isoTime(at),
  };
}

export async function authorOf(
  tx: Tx,
  session: SessionRef,
  { from, timestamp: at }: { readonly from: string; readonly timestamp: number },
): Promise<Author> {
  const own = await findSession(tx, session);
  const fromMe = own?.phone_number === from;
  return { from, fromMe, at, replacesUntil: replacedUntil({ fromMe, at }) };
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

/** Finds messages by the id of a file that was added to them. */
const byFileId = query((db, p: SessionRef & { networkId: string }) =>
  db
    .selectFrom('added_files as f')
    .innerJoin('messages as m', (join) =>
      join.onRef('m.account_id', '=', 'f.account_id').onRef('m.message_id', '=', 'f.message_id'),
    )
    .selectAll('m')
    .where('f.session_id', '=', p.sessionId)
    .where('f.network_id', '=', p.networkId)
    .orderBy('f.message_id'),
);

/**
 * Finds a message by the network's id, or else by the id of a file that was added to it. Several senders may use the
 * same id: returns the oldest that matches.
 * @param ownsFile an additional condition for the message that a file was added to
 */
export async function findByNetworkId(
  on: Queryable,
  session: SessionRef,
  networkId: string,
  matches: (row: MessageRow) => boolean = () => true,
  ownsFile: (row: MessageRow) => boolean = () => true,
): Promise<MessageRow | undefined> {
  const named = { ...session, networkId };
  const ofFile = (row: MessageRow) => matches(row) && ownsFile(row);
  return (await byNetworkId.all(on, named)).find(matches) ?? (await byFileId.all(on, named)).find(ofFile);
}

/**
 * Whether a file can be meant. In a group, a member can send a file with the id of another member's message, which the
 * session may not have. In a direct chat, the ids of both sides differ.
 */
export const isFileOf =
  (author: string | undefined) =>
  ({ chat_id, from_number }: MessageRow): boolean =>
    !isGroupId(chat_id) || from_number === author;

/** Message ids are not secret on the network, so the sender of the event must be in the chat of the message. */
export async function findReferredTo(
  tx: Tx,
  session: SessionRef,
  {
    networkId,
    from,
    chat,
    author,
  }: EventOf<'reaction' | 'vote' | 'event_answer' | 'message_pinned'> & { readonly author?: string },
): Promise<MessageRow | undefined> {
  const groupId = chat?.type === 'group' ? await groupIdOf(tx, session, chat.id) : undefined;
  const matches = (row: MessageRow) =>
    isGroupId(row.chat_id)
      ? chat === undefined || row.chat_id === groupId
      : [row.chat_id, row.from_number, row.to_id].includes(from);
  return findByNetworkId(tx, session, networkId, matches, isFileOf(author));
}

/** Finds a message that this number may delete: its own, or any in a group that it is an admin of. */
async function deletableBy(
  tx: Tx,
  session: SessionRef,
  { networkId, from: phoneNumber, author = phoneNumber }: EventOf<'deleted'>,
): Promise<MessageRow | undefined> {
  const named = { ...session, networkId };
  const ofFile = (await byFileId.all(tx, named)).filter(isFileOf(author));
  const rows = [...(await byNetworkId.all(tx, named)), ...ofFile];
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
