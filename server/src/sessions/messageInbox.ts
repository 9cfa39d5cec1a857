import { type Clock, isoTime } from '../clock.ts';
import type { NetworkEvent } from '../connectors/connector.ts';
import type { Tx } from '../db/commit.ts';
import { query } from '../db/query.ts';
import type { MessageRow } from '../db/schema.ts';
import type { NewId } from '../ids.ts';
import type { Media } from '../media/media.ts';
import type { Emit } from '../webhooks/emit.ts';
import { groupIdOf } from './groupInbox.ts';
import {
  contentColumn,
  contentOf,
  contentParts,
  fromNetworkContent,
  type StoredMedia,
  searchText,
} from './messageContent.ts';
import { stepsBetween } from './messageStatus.ts';
import { findSession, newRow, type SessionRef, storeMessage, touchChat } from './messageStore.ts';
import { dropWords, indexWords } from './search.ts';

/** An outgoing message, as its events tell of it. */
export interface SentMessage extends SessionRef {
  readonly messageId: string;
  readonly chatId: string;
  readonly from: string;
  readonly to: string;
  readonly type: string;
}

export function toSent(row: Omit<MessageRow, 'seq'>): SentMessage {
  return {
    accountId: row.account_id,
    sessionId: row.session_id,
    messageId: row.message_id,
    chatId: row.chat_id,
    from: row.from_number,
    to: row.to_id,
    type: row.type,
  };
}

type EventOf<T extends NetworkEvent['type']> = Extract<NetworkEvent, { type: T }>;

/** What networks tell of messages. Each function works in the transaction it is given. */
export function createMessageInbox({
  media,
  clock,
  newId,
  emit,
}: {
  media: Media;
  clock: Clock;
  newId: NewId;
  emit: Emit;
}) {
  return { acknowledge, refuse, incoming, edited, deleted, reaction, vote, receipt };

  async function acknowledge(tx: Tx, message: SentMessage, timestamp: number): Promise<void> {
    const { accountId, messageId } = message;
    // Nothing changes when a receipt was faster than the acknowledgement: it has done this step as well.
    if ((await markSent.run(tx, { accountId, messageId, timestamp })) === 1) emitStatus(tx, message, 'sent', timestamp);
  }

  async function refuse(tx: Tx, { accountId, messageId }: SentMessage, error: string): Promise<void> {
    await markFailed.run(tx, { accountId, messageId, error, now: clock.now() });
  }

  async function incoming(
    tx: Tx,
    session: SessionRef,
    event: EventOf<'message'>,
    file: StoredMedia | undefined,
  ): Promise<void> {
    const { accountId, sessionId } = session;
    const own = await findSession(tx, session);
    if (own === undefined) return;
    const chatId = event.chat.type === 'direct' ? event.chat.id : await groupIdOf(tx, session, event.chat.id);
    if (chatId === undefined) return;
    const replied =
      event.replyTo === null ? undefined : await byNetworkId.first(tx, { ...session, networkId: event.replyTo });
    const messageId = newId('msg');
    const body = withoutNul(event.content.text);
    const content = fromNetworkContent(event.content, file);
    const now = clock.now();
    const row = newRow({
      account_id: accountId,
      message_id: messageId,
      session_id: sessionId,
      chat_id: chatId,
      network_id: event.networkId,
      direction: 'incoming',
      type: event.content.type,
      from_number: event.from,
      to_id: event.chat.type === 'direct' ? (own.phone_number ?? '') : chatId,
      body,
      content: contentColumn(content),
      reply_to: replied?.message_id ?? null,
      status: 'delivered',
      timestamp: event.timestamp,
      created_at: now,
      delivered_at: now,
    });
    if (!(await storeMessage(tx, row))) return;
    await touchChat.run(tx, { ...session, chatId, type: event.chat.type, messageId, at: event.timestamp, unread: 1 });
    if (event.chat.type === 'direct' || event.senderName !== undefined) {
      await meetContact.run(tx, { ...session, phoneNumber: event.from, name: event.senderName ?? null, now });
    }
    const data = {
      messageId,
      from: event.from,
      message: body,
      timestamp: isoTime(event.timestamp),
      sessionId,
      chatId,
      to: own.phone_number ?? '',
      type: event.content.type,
      ...contentParts(content, media),
      ...(event.chat.type === 'group' && { groupId: chatId }),
      ...(replied !== undefined && { replyTo: replied.message_id }),
    };
    emit(tx, { accountId, kind: 'message.incoming', data, conversation: `${sessionId}/${chatId}`, messageId });
  }

  /** Only who sent a message can edit it: of anybody else it is not believed. */
  async function edited(tx: Tx, session: SessionRef, { networkId, from, text, timestamp }: EventOf<'edited'>) {
    const row = await byNetworkId.first(tx, { ...session, networkId });
    if (row?.from_number === from && row.deleted_at === null) await storeEdit(tx, row, withoutNul(text), timestamp);
  }

  async function deleted(tx: Tx, session: SessionRef, { networkId, from, timestamp }: EventOf<'deleted'>) {
    const row = await byNetworkId.first(tx, { ...session, networkId });
    if (row?.from_number === from && row.deleted_at === null) await storeDeletion(tx, row, timestamp);
  }

  async function reaction(tx: Tx, session: SessionRef, { networkId, from, emoji, timestamp }: EventOf<'reaction'>) {
    const row = await byNetworkId.first(tx, { ...session, networkId });
    if (row !== undefined) await storeReaction(tx, row, from, emoji, timestamp);
  }

  async function vote(tx: Tx, session: SessionRef, { networkId, from, options, timestamp }: EventOf<'vote'>) {
    const row = await byNetworkId.first(tx, { ...session, networkId });
    if (row === undefined) return;
    const { poll } = contentOf(row);
    const chosen = [...new Set(options)].filter((option) => poll?.options.includes(option));
    await putVote.run(tx, {
      accountId: session.accountId,
      messageId: row.message_id,
      from,
      options: JSON.stringify(chosen.slice(0, poll?.maxSelections)),
      at: timestamp,
    });
  }

  async function receipt(
    tx: Tx,
    session: SessionRef,
    networkId: string,
    { status, timestamp, error }: EventOf<'receipt'>,
  ): Promise<void> {
    const row = await byNetworkId.first(tx, { ...session, networkId });
    if (row === undefined || row.direction !== 'outgoing') return;
    const { account_id: accountId, message_id: messageId } = row;
    if (status === 'failed') {
      await markFailed.run(tx, { accountId, messageId, error: error ?? 'failed', now: timestamp });
      return;
    }
    const steps = stepsBetween(row.status, status);
    if (steps.length === 0) return;
    await advance.run(tx, {
      accountId,
      messageId,
      status,
      sentAt: row.sent_at ?? timestamp,
      deliveredAt: row.delivered_at ?? timestamp,
      readAt: status === 'read' ? timestamp : null,
    });
    for (const step of steps) emitStatus(tx, toSent(row), step, timestamp);
  }

  function emitStatus(
    tx: Tx,
    { accountId, sessionId, messageId, chatId, from, to, type }: SentMessage,
    status: 'sent' | 'delivered' | 'read',
    timestamp: number,
  ): void {
    const group = chatId.startsWith('grp_') && { groupId: chatId };
    const data = { messageId, to, status, timestamp: isoTime(timestamp), sessionId, chatId, from, type, ...group };
    emit(tx, { accountId, kind: `message.${status}`, data, conversation: `${sessionId}/${chatId}`, messageId });
  }
}

/** A message has another text now. What search finds it by changes with it. */
export async function storeEdit(tx: Tx, row: MessageRow, text: string, at: number): Promise<void> {
  const { account_id: accountId, message_id: messageId, seq } = row;
  await markEdited.run(tx, { accountId, messageId, body: text, at });
  await dropWords.run(tx, [{ rowid: seq }]);
  tx.writeLater(indexWords, { seq, accountId, text: searchText(text, contentOf(row)) });
}

/** A message is gone for everyone: that it was there stays, what it said does not. */
export async function storeDeletion(
  tx: Tx,
  { account_id: accountId, message_id: messageId, seq }: MessageRow,
  at: number,
) {
  await markDeleted.run(tx, { accountId, messageId, at });
  await dropReactions.run(tx, { accountId, messageId });
  await dropWords.run(tx, [{ rowid: seq }]);
}

/** @param emoji null takes the reaction back */
export async function storeReaction(tx: Tx, row: MessageRow, from: string, emoji: string | null, at: number) {
  const key = { accountId: row.account_id, messageId: row.message_id, from };
  if (emoji === null) await dropReaction.run(tx, key);
  else await putReaction.run(tx, { ...key, emoji, at });
}

/** PostgreSQL's text has no NUL. */
function withoutNul(text: string): string {
  return text.replaceAll('\0', '\ufffd');
}

interface MessageId {
  accountId: string;
  messageId: string;
}

const byNetworkId = query((db, p: SessionRef & { networkId: string }) =>
  db
    .selectFrom('messages')
    .selectAll()
    .where('account_id', '=', p.accountId)
    .where('session_id', '=', p.sessionId)
    .where('network_id', '=', p.networkId),
);

/** Somebody wrote: the contact is known now, under the name it last gave. */
const meetContact = query((db, p: SessionRef & { phoneNumber: string; name: string | null; now: number }) =>
  db
    .insertInto('contacts')
    .values({
      account_id: p.accountId,
      session_id: p.sessionId,
      phone_number: p.phoneNumber,
      name: p.name,
      blocked: 0,
      on_network: 1,
      checked_at: p.now,
    })
    .onConflict((conflict) =>
      conflict
        .columns(['session_id', 'phone_number'])
        .doUpdateSet((eb) => ({ name: eb.fn.coalesce('excluded.name', 'contacts.name') }))
        .where((eb) => eb('excluded.name', 'is not', null)),
    ),
);

const markSent = query((db, p: { accountId: string; messageId: string; timestamp: number }) =>
  db
    .updateTable('messages')
    .set({ status: 'sent', timestamp: p.timestamp, sent_at: p.timestamp })
    .where('account_id', '=', p.accountId)
    .where('message_id', '=', p.messageId)
    .where('status', '=', 'queued'),
);

const markFailed = query((db, p: { accountId: string; messageId: string; error: string; now: number }) =>
  db
    .updateTable('messages')
    .set({ status: 'failed', error: p.error, failed_at: p.now })
    .where('account_id', '=', p.accountId)
    .where('message_id', '=', p.messageId)
    // A status only moves forward: what has been delivered meanwhile did not fail.
    .where('status', 'in', ['queued', 'scheduled', 'sent']),
);

interface Advance {
  accountId: string;
  messageId: string;
  status: string;
  sentAt: number;
  deliveredAt: number;
  readAt: number | null;
}

const advance = query((db, p: Advance) =>
  db
    .updateTable('messages')
    .set({ status: p.status, sent_at: p.sentAt, delivered_at: p.deliveredAt, read_at: p.readAt })
    .where('account_id', '=', p.accountId)
    .where('message_id', '=', p.messageId),
);

const markEdited = query((db, p: MessageId & { body: string; at: number }) =>
  db
    .updateTable('messages')
    .set({ body: p.body, edited_at: p.at })
    .where('account_id', '=', p.accountId)
    .where('message_id', '=', p.messageId),
);

const markDeleted = query((db, p: MessageId & { at: number }) =>
  db
    .updateTable('messages')
    .set({ body: '', content: null, deleted_at: p.at })
    .where('account_id', '=', p.accountId)
    .where('message_id', '=', p.messageId),
);

const putReaction = query((db, p: MessageId & { from: string; emoji: string; at: number }) =>
  db
    .insertInto('reactions')
    .values({ account_id: p.accountId, message_id: p.messageId, from_number: p.from, emoji: p.emoji, at: p.at })
    .onConflict((conflict) =>
      conflict.columns(['account_id', 'message_id', 'from_number']).doUpdateSet({ emoji: p.emoji, at: p.at }),
    ),
);

const dropReaction = query((db, p: MessageId & { from: string }) =>
  db
    .deleteFrom('reactions')
    .where('account_id', '=', p.accountId)
    .where('message_id', '=', p.messageId)
    .where('from_number', '=', p.from),
);

const dropReactions = query((db, p: MessageId) =>
  db.deleteFrom('reactions').where('account_id', '=', p.accountId).where('message_id', '=', p.messageId),
);

const putVote = query((db, p: MessageId & { from: string; options: string; at: number }) =>
  db
    .insertInto('poll_votes')
    .values({ account_id: p.accountId, message_id: p.messageId, from_number: p.from, options: p.options, at: p.at })
    .onConflict((conflict) =>
      conflict.columns(['account_id', 'message_id', 'from_number']).doUpdateSet({ options: p.options, at: p.at }),
    ),
);
