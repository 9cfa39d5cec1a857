import { sql } from 'kysely';
import { type Clock, isoTime } from '../clock.ts';
import { isStandIn, type NetworkEvent } from '../connectors/connector.ts';
import type { Tx } from '../db/commit.ts';
import { batch, query } from '../db/query.ts';
import type { MessageRow } from '../db/schema.ts';
import type { NewId } from '../ids.ts';
import type { Media } from '../media/media.ts';
import type { Emit } from '../webhooks/emit.ts';
import {
  contentColumn,
  contentOf,
  contentParts,
  fromNetworkContent,
  type StoredMedia,
  searchText,
  withinLimits,
} from './content.ts';
import { groupIdOf } from './groupInbox.ts';
import { dropWords, indexWords } from './search.ts';
import { progressOf } from './status.ts';
import { findMessage, findSession, newRow, type SessionRef, storeMessage } from './store.ts';

/** An outgoing message, as its events tell of it. */
export interface SentMessage extends SessionRef {
  readonly messageId: string;
  readonly chatId: string;
  readonly from: string;
  readonly to: string;
  readonly type: string;
}

/** A message that its network has taken. */
interface Acknowledged {
  /** `traceparent` of the span that sent it. */
  readonly trace: string | null;
  readonly message: SentMessage;
  readonly taken: Taken;
}

/** A receipt of a session's network. */
interface Received {
  /** `traceparent` of the span that received it. */
  readonly trace: string | null;
  readonly session: SessionRef;
  readonly event: EventOf<'receipt'>;
}

/** What a network says when it takes a message. */
export interface Taken {
  readonly timestamp: number;
  /** Its own id of the message, where it does not keep the one it was given. */
  readonly networkId?: string;
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
  return { acknowledge, refuse, message, edited, deleted, reaction, vote, receipts };

  async function acknowledge(tx: Tx, items: readonly Acknowledged[]): Promise<boolean[]> {
    for (const { message, taken } of items) {
      const { accountId, messageId } = message;
      const { networkId } = taken;
      if (networkId !== undefined) await renameOnNetwork.run(tx, { accountId, messageId, networkId });
    }
    const rows = items.map(({ message, taken }) => ({
      account_id: message.accountId,
      message_id: message.messageId,
      sent_at: taken.timestamp,
    }));
    const sent = new Map((await markSent.all(tx, rows)).map((row) => [row.message_id, row]));
    return items.map(({ message, taken, trace }) => {
      const row = sent.get(message.messageId);
      // Nothing changes when a receipt was faster than the acknowledgement: it has done this step as well.
      if (row === undefined) return false;
      sent.delete(message.messageId);
      // Its recipient may be known by another number since it was handed over.
      emitStatus(tx, { ...message, chatId: row.chat_id, to: row.to_id }, 'sent', taken.timestamp, trace);
      return true;
    });
  }

  async function refuse(tx: Tx, { accountId, messageId }: SentMessage, error: string): Promise<void> {
    await markRefused.run(tx, { accountId, messageId, error, now: clock.now() });
  }

  /** Somebody has written, or the session's own number has from another device. */
  async function message(
    tx: Tx,
    session: SessionRef,
    event: EventOf<'message'>,
    file: StoredMedia | undefined,
  ): Promise<void> {
    const { accountId, sessionId } = session;
    const own = await findSession(tx, session);
    if (own === undefined) return;
    const ownNumber = own.phone_number ?? '';
    const isOwn = event.isOwn === true;
    const chatId = event.chat.type === 'direct' ? event.chat.id : await groupIdOf(tx, session, event.chat.id);
    if (chatId === undefined) return;
    const replied =
      event.replyTo === null ? undefined : await known(tx, session, event.replyTo, ({ chat_id }) => chat_id === chatId);
    const messageId = newId('msg');
    const reported = withinLimits(event.content);
    const { type, text: body } = reported;
    const content = fromNetworkContent(reported, file);
    const now = clock.now();
    const row = newRow({
      account_id: accountId,
      message_id: messageId,
      session_id: sessionId,
      chat_id: chatId,
      network_id: event.networkId,
      direction: isOwn ? 'outgoing' : 'incoming',
      type,
      from_number: event.from,
      to_id: isOwn || event.chat.type === 'group' ? chatId : ownNumber,
      body,
      content: contentColumn(content),
      reply_to: replied?.message_id ?? null,
      ...(isOwn
        ? { status: 'sent', sent_at: event.timestamp, sent_elsewhere: 1 }
        : { status: 'delivered', delivered_at: now }),
      timestamp: event.timestamp,
      created_at: now,
    });
    if (!(await storeMessage(tx, row, { type: event.chat.type, unread: isOwn ? 0 : 1 }))) return;
    const conversation = `${sessionId}/${chatId}`;
    const parts = {
      ...contentParts(content, media),
      ...(replied !== undefined && { replyTo: replied.message_id }),
      ...(event.isReplayed === true && { replayed: true as const }),
    };
    if (isOwn) {
      const status = statusOf(toSent(row), 'sent', event.timestamp);
      const data = { ...status, sentElsewhere: true as const, message: body, ...parts };
      return emit(tx, { accountId, kind: 'message.sent', data, conversation, messageId });
    }
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
      to: ownNumber,
      type,
      ...parts,
      ...(event.chat.type === 'group' && { groupId: chatId }),
      ...(isStandIn(event.from) && { unidentified: true as const }),
    };
    emit(tx, { accountId, kind: 'message.incoming', data, conversation, messageId });
  }

  /** Only who sent a message can edit it: of anybody else it is not believed. */
  async function edited(tx: Tx, session: SessionRef, { networkId, from, text, timestamp }: EventOf<'edited'>) {
    const row = await known(tx, session, networkId, ({ from_number }) => from_number === from);
    if (row?.deleted_at === null) await storeEdit(tx, row, text, timestamp);
  }

  async function deleted(tx: Tx, session: SessionRef, { networkId, from, timestamp }: EventOf<'deleted'>) {
    const row = await deletableBy(tx, session, networkId, from);
    if (row?.deleted_at === null) await storeDeletion(tx, row, timestamp);
  }

  async function reaction(tx: Tx, session: SessionRef, event: EventOf<'reaction'>): Promise<void> {
    const row = await knownTo(tx, session, event);
    if (row !== undefined) await storeReaction(tx, row, event.from, event.emoji, event.timestamp);
  }

  async function vote(tx: Tx, session: SessionRef, event: EventOf<'vote'>): Promise<void> {
    const row = await knownTo(tx, session, event);
    if (row === undefined) return;
    const { from, options, timestamp } = event;
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

  async function receipts(tx: Tx, items: readonly Received[]): Promise<undefined[]> {
    const told = items.flatMap(({ session, event, trace }) =>
      event.networkIds.map((networkId) => ({ session, networkId, receipt: event, trace })),
    );
    const rows = await sentAs(tx, told);
    const changed = new Set<MessageRow>();
    told.forEach(({ receipt, trace }, index) => {
      const row = rows[index];
      const progress = row && progressOf(row, receipt);
      if (row === undefined || progress === undefined) return;
      // The next receipt of the same message goes on from here.
      changed.add(Object.assign(row, progress.after));
      for (const step of progress.steps) emitStatus(tx, toSent(row), step, receipt.timestamp, trace);
    });
    await advance.run(tx, [...changed]);
    return items.map(() => undefined);
  }

  function emitStatus(tx: Tx, message: SentMessage, status: Step, timestamp: number, trace: string | null): void {
    const { accountId, sessionId, messageId, chatId } = message;
    const data = statusOf(message, status, timestamp);
    emit(tx, { accountId, kind: `message.${status}`, data, conversation: `${sessionId}/${chatId}`, messageId, trace });
  }
}

type Step = 'sent' | 'delivered' | 'read';

/** What an event tells of a message that has come so far. */
function statusOf({ sessionId, messageId, chatId, from, to, type }: SentMessage, status: Step, timestamp: number) {
  const group = chatId.startsWith('grp_') && { groupId: chatId };
  return { messageId, to, status, timestamp: isoTime(timestamp), sessionId, chatId, from, type, ...group };
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

interface MessageId {
  accountId: string;
  messageId: string;
}

// By nothing but the columns of its index: with the account beside them, a planner that has no statistics yet goes
// through all messages of the account.
const byNetworkId = query((db, p: SessionRef & { networkId: string }) =>
  db
    .selectFrom('messages')
    .selectAll()
    .where('session_id', '=', p.sessionId)
    .where('network_id', '=', p.networkId)
    .orderBy('message_id'),
);

/** A message by the network's id of it. Several senders may have chosen the same: then the oldest that is meant. */
async function known(
  tx: Tx,
  session: SessionRef,
  networkId: string,
  isMeant: (row: MessageRow) => boolean = () => true,
): Promise<MessageRow | undefined> {
  return (await byNetworkId.all(tx, { ...session, networkId })).find(isMeant);
}

/**
 * Finds the message that an event refers to, if the sender of the event is in its chat. Message ids are not secret on
 * the network: a person who knows one can refer to it from another chat.
 */
async function knownTo(
  tx: Tx,
  session: SessionRef,
  { networkId, from, chat }: EventOf<'reaction' | 'vote'>,
): Promise<MessageRow | undefined> {
  const groupId = chat?.type === 'group' ? await groupIdOf(tx, session, chat.id) : undefined;
  return known(tx, session, networkId, (row) =>
    row.chat_id.startsWith('grp_')
      ? chat === undefined || row.chat_id === groupId
      : [row.chat_id, row.from_number, row.to_id].includes(from),
  );
}

/** A message that this number may delete: its own, or in a group that it is an admin of anybody's. */
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
    const { accountId } = session;
    if (await adminOf.first(tx, { accountId, groupId: row.chat_id, phoneNumber })) return row;
  }
  return undefined;
}

const adminOf = query((db, p: { accountId: string; groupId: string; phoneNumber: string }) =>
  db
    .selectFrom('group_participants')
    .select('role')
    .where('account_id', '=', p.accountId)
    .where('group_id', '=', p.groupId)
    .where('phone_number', '=', p.phoneNumber)
    .where('role', 'in', ['admin', 'owner']),
);

/**
 * Messages of ours, by the network's id of them or by ours, which is what they were given to the network with. One that
 * is named twice is one object.
 */
async function sentAs(
  tx: Tx,
  told: readonly { readonly session: SessionRef; readonly networkId: string }[],
): Promise<(MessageRow | undefined)[]> {
  const named = told.map(({ session, networkId }) => ({ session_id: session.sessionId, network_id: networkId }));
  const found = await sentByNetworkId.all(tx, named);
  const byNetwork = Map.groupBy(found, ({ session_id: sessionId, network_id: id }) => `${sessionId} ${id}`);
  const byId = new Map(found.map((row) => [row.message_id, row]));
  const rows: (MessageRow | undefined)[] = [];
  for (const { session, networkId } of told) {
    const given = byNetwork.get(`${session.sessionId} ${networkId}`)?.[0] ?? byId.get(networkId);
    const row = given ?? (await findMessage(tx, session.accountId, networkId));
    const isOurs = row?.direction === 'outgoing' && row.session_id === session.sessionId;
    if (isOurs) byId.set(row.message_id, row);
    rows.push(isOurs ? row : undefined);
  }
  return rows;
}

const sentByNetworkId = batch<{ session_id: 'text'; network_id: 'text' }, MessageRow>(
  { session_id: 'text', network_id: 'text' },
  (rows) => sql`
    select m.* from ${rows} as r
    join messages m on m.session_id = r.session_id and m.network_id = r.network_id
    where m.direction = 'outgoing' order by m.message_id`,
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

// One that was given up before the answer came has failed without having been sent.
const sentColumns = { account_id: 'text', message_id: 'text', sent_at: 'bigint' } as const;

const markSent = batch<typeof sentColumns, Pick<MessageRow, 'message_id' | 'chat_id' | 'to_id'>>(
  sentColumns,
  (rows) => sql`
    update messages set status = 'sent', timestamp = r.sent_at, sent_at = r.sent_at, error = null, failed_at = null
    from ${rows} as r
    where messages.account_id = r.account_id and messages.message_id = r.message_id
      and messages.status in ('queued', 'failed') and messages.sent_at is null
    returning messages.message_id, messages.chat_id, messages.to_id`,
);

const renameOnNetwork = query((db, p: { accountId: string; messageId: string; networkId: string }) =>
  db
    .updateTable('messages')
    .set({ network_id: p.networkId })
    .where('account_id', '=', p.accountId)
    .where('message_id', '=', p.messageId),
);

const markRefused = query((db, p: { accountId: string; messageId: string; error: string; now: number }) =>
  db
    .updateTable('messages')
    .set({ status: 'failed', error: p.error, failed_at: p.now })
    .where('account_id', '=', p.accountId)
    .where('message_id', '=', p.messageId)
    // One that the network took at another try was not refused.
    .where('status', 'in', ['queued', 'scheduled']),
);

const advance = batch(
  {
    account_id: 'text',
    message_id: 'text',
    status: 'text',
    error: 'text',
    sent_at: 'bigint',
    delivered_at: 'bigint',
    read_at: 'bigint',
    failed_at: 'bigint',
  },
  (rows) => sql`
    update messages set status = r.status, error = r.error, sent_at = r.sent_at, delivered_at = r.delivered_at,
      read_at = r.read_at, failed_at = r.failed_at
    from ${rows} as r
    where messages.account_id = r.account_id and messages.message_id = r.message_id`,
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
