import { type Clock, isoTime } from '../clock.ts';
import type { NetworkEvent, NetworkGroup } from '../connectors/connector.ts';
import type { Tx } from '../db/commit.ts';
import type { Database } from '../db/database.ts';
import { query } from '../db/query.ts';
import type { MessageTable, SessionTable } from '../db/schema.ts';
import type { NewId } from '../ids.ts';
import type { Emit } from '../webhooks/emit.ts';
import { stepsBetween } from './messageStatus.ts';

/** Which session something happened to. */
export interface SessionRef {
  readonly accountId: string;
  readonly sessionId: string;
}

export interface Inbox {
  /** Stores what a network told, with the events that follow from it. What was told before changes nothing. */
  take(session: SessionRef, event: NetworkEvent): Promise<void>;
  /** The network has taken an outgoing message: it is `sent`. */
  acknowledge(message: SentMessage, timestamp: number): Promise<void>;
  /** The network did not take it: it has `failed`. */
  refuse(message: SentMessage, error: string): Promise<void>;
  /** The account ended the connection itself. */
  end(session: SessionRef, status: 'disconnected' | 'logged_out', reason: string): Promise<void>;
  /** A change of status that is no event: the start of a connection, or of the server. */
  note(session: SessionRef, status: string, reason: string | null): Promise<void>;
}

export interface SentMessage {
  readonly accountId: string;
  readonly sessionId: string;
  readonly messageId: string;
  readonly chatId: string;
  readonly from: string;
  readonly to: string;
  readonly type: string;
}

/**
 * What networks tell becomes rows and events here, each in one transaction. Everything of one session goes through
 * the commit queue under its id, so it takes effect in the order in which it was told.
 */
export function createInbox({
  database,
  clock,
  newId,
  emit,
}: {
  database: Database;
  clock: Clock;
  newId: NewId;
  emit: Emit;
}): Inbox {
  const inOrder = (session: SessionRef, work: (tx: Tx) => Promise<void>) => database.commit(work, session.sessionId);

  return {
    take: (session, event) => inOrder(session, (tx) => take(tx, session, event)),

    acknowledge: (message, timestamp) =>
      inOrder(message, async (tx) => {
        const { accountId, messageId } = message;
        // Nothing changes when a receipt was faster than the acknowledgement: it has done this step as well.
        if ((await markSent.run(tx, { accountId, messageId, timestamp })) === 1) {
          emitStatus(tx, message, 'sent', timestamp);
        }
      }),

    refuse: (message, error) =>
      inOrder(message, async (tx) => {
        await markFailed.run(tx, {
          accountId: message.accountId,
          messageId: message.messageId,
          error,
          now: clock.now(),
        });
      }),

    end: (session, status, reason) => inOrder(session, (tx) => disconnected(tx, session, status, reason, false)),

    note: (session, status, reason) =>
      inOrder(session, async (tx) => {
        await tx.kysely
          .updateTable('sessions')
          .set({ status, error: null })
          .where('account_id', '=', session.accountId)
          .where('session_id', '=', session.sessionId)
          .execute();
        await addHistory(tx, session, status, reason);
      }),
  };

  async function take(tx: Tx, session: SessionRef, event: NetworkEvent): Promise<void> {
    switch (event.type) {
      case 'pairing':
        return awaitingPairing(tx, session);
      case 'connected':
        return connected(tx, session, event.phoneNumber);
      case 'disconnected':
        return disconnected(tx, session, 'disconnected', event.reason, event.willReconnect);
      case 'logged_out':
        return disconnected(tx, session, 'logged_out', event.reason, false);
      case 'message':
        return incoming(tx, session, event);
      case 'receipt':
        for (const networkId of event.networkIds) await receipt(tx, session, networkId, event);
        return;
      case 'group_created':
        return groupCreated(tx, session, event.group);
      case 'group_updated':
        return groupUpdated(tx, session, event);
    }
  }

  async function awaitingPairing(tx: Tx, session: SessionRef): Promise<void> {
    const row = await findSession.first(tx, session);
    if (row === undefined || row.status === 'awaiting_pairing') return;
    await setStatus(tx, session, { status: 'awaiting_pairing', error: null });
    await addHistory(tx, session, 'awaiting_pairing', null);
  }

  async function connected(tx: Tx, session: SessionRef, phoneNumber: string): Promise<void> {
    const row = await findSession.first(tx, session);
    if (row === undefined || row.status === 'connected') return;
    const now = clock.now();
    // It was connected when the server stopped and nobody was told otherwise: for the account nothing has changed.
    const resumes = row.connected_at !== null && row.disconnected_at === null;
    await setStatus(tx, session, {
      status: 'connected',
      phone_number: phoneNumber,
      connected_at: now,
      disconnected_at: null,
      error: null,
    });
    await addHistory(tx, session, 'connected', null);
    if (resumes) return;
    const { accountId, sessionId } = session;
    const data = { sessionId, phoneNumber, connectedAt: isoTime(now) };
    emit(tx, { accountId, kind: 'session.connected', data, conversation: sessionId });
  }

  /** One outage is one event, however often the connection flaps: it is emitted when the outage begins. */
  async function disconnected(
    tx: Tx,
    session: SessionRef,
    status: 'disconnected' | 'logged_out',
    reason: string,
    willReconnect: boolean,
  ): Promise<void> {
    const row = await findSession.first(tx, session);
    if (row === undefined) return;
    const now = clock.now();
    const begins = row.connected_at !== null && row.disconnected_at === null;
    const next = willReconnect ? 'connecting' : status;
    await setStatus(tx, session, {
      status: next,
      connected_at: null,
      disconnected_at: begins ? now : row.disconnected_at,
      error: reason,
      ...(status === 'logged_out' && { wanted: 0 }),
    });
    await addHistory(tx, session, next, reason);
    if (!begins) return;
    const { accountId, sessionId } = session;
    const phoneNumber = row.phone_number ?? '';
    const data = { sessionId, phoneNumber, reason, willReconnect, disconnectedAt: isoTime(now) };
    emit(tx, { accountId, kind: 'session.disconnected', data, conversation: sessionId });
  }

  async function incoming(
    tx: Tx,
    session: SessionRef,
    event: Extract<NetworkEvent, { type: 'message' }>,
  ): Promise<void> {
    const { accountId, sessionId } = session;
    const own = await findSession.first(tx, session);
    if (own === undefined) return;
    const chatId = event.chat.type === 'direct' ? event.chat.id : await groupIdOf(tx, session, event.chat.id);
    if (chatId === undefined) return;
    const replied =
      event.replyTo === null ? undefined : await messageByNetworkId.first(tx, { sessionId, networkId: event.replyTo });
    const messageId = newId('msg');
    const body = event.text.replaceAll('\0', '\ufffd'); // PostgreSQL's text has no NUL
    const to = own.phone_number ?? '';
    const isNew = await insertIncoming.run(tx, {
      ...session,
      messageId,
      chatId,
      networkId: event.networkId,
      from: event.from,
      to: event.chat.type === 'direct' ? to : chatId,
      body,
      replyTo: replied?.message_id ?? null,
      timestamp: event.timestamp,
      now: clock.now(),
    });
    if (isNew === 0) return;
    await touchChat.run(tx, { ...session, chatId, type: event.chat.type, messageId, at: event.timestamp, unread: 1 });
    const data = {
      messageId,
      from: event.from,
      message: body,
      timestamp: isoTime(event.timestamp),
      sessionId,
      chatId,
      to,
      type: 'text',
      ...(event.chat.type === 'group' && { groupId: chatId }),
      ...(replied !== undefined && { replyTo: replied.message_id }),
    };
    emit(tx, { accountId, kind: 'message.incoming', data, conversation: `${sessionId}/${chatId}`, messageId });
  }

  async function receipt(
    tx: Tx,
    { sessionId }: SessionRef,
    networkId: string,
    { status, timestamp, error }: Extract<NetworkEvent, { type: 'receipt' }>,
  ): Promise<void> {
    const row = await messageByNetworkId.first(tx, { sessionId, networkId });
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

  async function groupCreated(tx: Tx, session: SessionRef, group: NetworkGroup): Promise<void> {
    const { accountId, sessionId } = session;
    if ((await groupIdOf(tx, session, group.networkId)) !== undefined) return;
    const groupId = newId('grp');
    await tx.kysely
      .insertInto('groups')
      .values({
        account_id: accountId,
        session_id: sessionId,
        group_id: groupId,
        network_id: group.networkId,
        subject: group.subject,
        description: group.description,
        created_by: group.createdBy,
        announce: 0,
        locked: 0,
        join_approval: 0,
        invite_code: null,
        created_at: group.createdAt,
        left_at: null,
      })
      .execute();
    await putParticipants(tx, accountId, groupId, group);
    await tx.kysely
      .insertInto('chats')
      .values({
        account_id: accountId,
        session_id: sessionId,
        chat_id: groupId,
        type: 'group',
        last_message_id: null,
        last_message_at: null,
        unread_count: 0,
        archived: 0,
        pinned: 0,
        muted_until: null,
      })
      .execute();
    const { subject, participants, createdBy, createdAt } = group;
    const data = {
      groupId,
      sessionId,
      subject,
      participants: [...participants],
      createdBy,
      timestamp: isoTime(createdAt),
    };
    emit(tx, { accountId, kind: 'group.created', data, conversation: `${sessionId}/${groupId}` });
  }

  async function groupUpdated(
    tx: Tx,
    session: SessionRef,
    { group, change, timestamp }: Extract<NetworkEvent, { type: 'group_updated' }>,
  ): Promise<void> {
    const { accountId, sessionId } = session;
    const groupId = await groupIdOf(tx, session, group.networkId);
    // Added to a group that it did not know: for this session the group begins now.
    if (groupId === undefined) return groupCreated(tx, session, group);
    const own = await findSession.first(tx, session);
    const isMember = group.participants.some(({ phoneNumber }) => phoneNumber === own?.phone_number);
    await tx.kysely
      .updateTable('groups')
      .set({ subject: group.subject, description: group.description, left_at: isMember ? null : timestamp })
      .where('account_id', '=', accountId)
      .where('group_id', '=', groupId)
      .execute();
    if (change.type === 'participants') await putParticipants(tx, accountId, groupId, group);
    const data = { groupId, sessionId, subject: group.subject, change, timestamp: isoTime(timestamp) };
    emit(tx, { accountId, kind: 'group.updated', data, conversation: `${sessionId}/${groupId}` });
  }

  async function putParticipants(tx: Tx, accountId: string, groupId: string, group: NetworkGroup): Promise<void> {
    const { kysely } = tx;
    const now = clock.now();
    const present = await kysely
      .selectFrom('group_participants')
      .select(['phone_number', 'joined_at'])
      .where('account_id', '=', accountId)
      .where('group_id', '=', groupId)
      .execute();
    const joinedAt = new Map(present.map((row) => [row.phone_number, row.joined_at]));
    await kysely
      .deleteFrom('group_participants')
      .where('account_id', '=', accountId)
      .where('group_id', '=', groupId)
      .execute();
    const rows = group.participants.map(({ phoneNumber, role }) => ({
      account_id: accountId,
      group_id: groupId,
      phone_number: phoneNumber,
      role,
      joined_at: joinedAt.get(phoneNumber) ?? now,
    }));
    if (rows.length > 0) await kysely.insertInto('group_participants').values(rows).execute();
  }

  async function setStatus(tx: Tx, { accountId, sessionId }: SessionRef, change: Partial<SessionTable>): Promise<void> {
    await tx.kysely
      .updateTable('sessions')
      .set(change)
      .where('account_id', '=', accountId)
      .where('session_id', '=', sessionId)
      .execute();
  }

  async function addHistory(
    tx: Tx,
    { accountId, sessionId }: SessionRef,
    status: string,
    reason: string | null,
  ): Promise<void> {
    await tx.kysely
      .insertInto('session_history')
      .values({ account_id: accountId, session_id: sessionId, entry_id: newId('evt'), status, reason, at: clock.now() })
      .execute();
  }
}

/** The row of an outgoing message as its events tell of it. */
export function toSent(row: MessageTable): SentMessage {
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

async function groupIdOf(tx: Tx, { sessionId }: SessionRef, networkId: string): Promise<string | undefined> {
  return (await groupByNetworkId.first(tx, { sessionId, networkId }))?.group_id;
}

const findSession = query((db, p: SessionRef) =>
  db.selectFrom('sessions').selectAll().where('account_id', '=', p.accountId).where('session_id', '=', p.sessionId),
);

const groupByNetworkId = query((db, p: { sessionId: string; networkId: string }) =>
  db
    .selectFrom('groups')
    .select('group_id')
    .where('session_id', '=', p.sessionId)
    .where('network_id', '=', p.networkId),
);

const messageByNetworkId = query((db, p: { sessionId: string; networkId: string }) =>
  db.selectFrom('messages').selectAll().where('session_id', '=', p.sessionId).where('network_id', '=', p.networkId),
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

interface IncomingRow {
  accountId: string;
  sessionId: string;
  messageId: string;
  chatId: string;
  networkId: string;
  from: string;
  to: string;
  body: string;
  replyTo: string | null;
  timestamp: number;
  now: number;
}

const insertIncoming = query((db, p: IncomingRow) =>
  db
    .insertInto('messages')
    .values({
      account_id: p.accountId,
      message_id: p.messageId,
      session_id: p.sessionId,
      chat_id: p.chatId,
      network_id: p.networkId,
      direction: 'incoming',
      type: 'text',
      from_number: p.from,
      to_id: p.to,
      body: p.body,
      content: null,
      reply_to: p.replyTo,
      status: 'delivered',
      error: null,
      timestamp: p.timestamp,
      created_at: p.now,
      scheduled_at: null,
      sent_at: null,
      delivered_at: p.now,
      read_at: null,
      failed_at: null,
      edited_at: null,
      deleted_at: null,
    })
    .onConflict((conflict) => conflict.columns(['session_id', 'network_id']).doNothing()),
);

interface ChatTouch {
  accountId: string;
  sessionId: string;
  chatId: string;
  type: 'direct' | 'group';
  messageId: string;
  at: number;
  unread: number;
}

/** A chat gets a new last message, and comes into being with its first. */
export const touchChat = query((db, p: ChatTouch) =>
  db
    .insertInto('chats')
    .values({
      account_id: p.accountId,
      session_id: p.sessionId,
      chat_id: p.chatId,
      type: p.type,
      last_message_id: p.messageId,
      last_message_at: p.at,
      unread_count: p.unread,
      archived: 0,
      pinned: 0,
      muted_until: null,
    })
    .onConflict((conflict) =>
      conflict.columns(['session_id', 'chat_id']).doUpdateSet((eb) => ({
        last_message_id: eb.ref('excluded.last_message_id'),
        last_message_at: eb.ref('excluded.last_message_at'),
        unread_count: eb('chats.unread_count', '+', eb.ref('excluded.unread_count')),
      })),
    ),
);
