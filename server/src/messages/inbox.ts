import { sql } from 'kysely';
import { type Clock, isoTime } from '../clock.ts';
import type { NetworkEvent } from '../connectors/connector.ts';
import type { Tx } from '../db/commit.ts';
import type { Database } from '../db/database.ts';
import { query } from '../db/query.ts';
import type { SessionStatus, SessionTable } from '../db/schema.ts';
import type { NewId } from '../ids.ts';
import type { Media } from '../media/media.ts';
import type { Emit } from '../webhooks/emit.ts';
import type { StoredMedia } from './content.ts';
import { createGroupInbox } from './groupInbox.ts';
import { identify } from './identities.ts';
import { createMessageInbox, type SentMessage, type Taken } from './messageInbox.ts';
import { findSession, type SessionRef } from './store.ts';

export interface Inbox {
  /**
   * Stores what a network told, with the events that follow from it. What was told before changes nothing.
   * @param file where the file that came with it has been stored
   */
  take(session: SessionRef, event: NetworkEvent, file?: StoredMedia): Promise<void>;
  /** The network has taken an outgoing message: it is `sent`. */
  acknowledge(message: SentMessage, taken: Taken): Promise<void>;
  /** The network did not take it: it has `failed`. */
  refuse(message: SentMessage, error: string): Promise<void>;
  /** The account ends the session's connection, if there is one: it does not come back by itself, wherever it is. */
  end(session: SessionRef, status: 'disconnected' | 'logged_out', reason: string): Promise<void>;
  /** A change of status that is no event: the start of a connection, or of the server. */
  note(session: SessionRef, status: SessionStatus, reason: string | null): Promise<void>;
}

/**
 * What networks tell becomes rows and events here, each in one transaction. Everything of one session goes through
 * the commit queue under its id, so it takes effect in the order in which it was told.
 */
export function createInbox({
  database,
  media,
  clock,
  newId,
  emit,
  trace = () => null,
}: {
  database: Database;
  media: Media;
  clock: Clock;
  newId: NewId;
  emit: Emit;
  /** Returns the `traceparent` of the running span. Work that is done jointly has spans of its own for each item. */
  trace?: (() => string | null) | undefined;
}): Inbox {
  const messages = createMessageInbox({ media, clock, newId, emit });
  const groups = createGroupInbox({ clock, newId, emit });
  const inOrder = (session: SessionRef, work: (tx: Tx) => Promise<void>) => database.commit(work, session.sessionId);

  return {
    take(session, event, file) {
      if (event.type === 'receipt')
        return database.commitJointly(messages.receipts, { session, event, trace: trace() }, session.sessionId);
      return inOrder(session, (tx) => take(tx, session, event, file));
    },
    async acknowledge(message, taken) {
      await database.commitJointly(messages.acknowledge, { message, taken, trace: trace() }, message.sessionId);
    },
    refuse: (message, error) => inOrder(message, (tx) => messages.refuse(tx, message, error)),
    end: (session, status, reason) => inOrder(session, (tx) => end(tx, session, status, reason)),
    note: (session, status, reason) =>
      inOrder(session, async (tx) => {
        await setStatus(tx, session, { status, error: null });
        await addHistory(tx, session, status, reason);
      }),
  };

  async function take(
    tx: Tx,
    session: SessionRef,
    event: Exclude<NetworkEvent, { type: 'receipt' }>,
    file: StoredMedia | undefined,
  ): Promise<void> {
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
        return messages.message(tx, session, event, file);
      case 'identified':
        return identify(tx, session, event);
      case 'edited':
        return messages.edited(tx, session, event);
      case 'deleted':
        return messages.deleted(tx, session, event);
      case 'reaction':
        return messages.reaction(tx, session, event);
      case 'vote':
        return messages.vote(tx, session, event);
      case 'group_created':
        return groups.created(tx, session, event.group);
      case 'group_updated':
        return groups.updated(tx, session, event, file);
      case 'group_invite':
        return groups.invited(tx, session, event.group);
    }
  }

  async function awaitingPairing(tx: Tx, session: SessionRef): Promise<void> {
    const row = await findSession(tx, session);
    if (row === undefined || row.status === 'awaiting_pairing') return;
    await setStatus(tx, session, { status: 'awaiting_pairing', error: null });
    await addHistory(tx, session, 'awaiting_pairing', null);
  }

  async function connected(tx: Tx, session: SessionRef, phoneNumber: string): Promise<void> {
    const row = await findSession(tx, session);
    if (row === undefined || row.status === 'connected') return;
    const now = clock.now();
    // It was connected when the server stopped and nobody was told otherwise: for the account nothing has changed.
    const resumes = row.connected_at !== null && row.disconnected_at === null;
    await setStatus(tx, session, {
      status: 'connected',
      phone_number: phoneNumber,
      connected_at: now,
      disconnected_at: null,
      will_reconnect: 0,
      error: null,
    });
    await addHistory(tx, session, 'connected', null);
    if (resumes) return;
    const { accountId, sessionId } = session;
    const data = { sessionId, phoneNumber, connectedAt: isoTime(now) };
    emit(tx, { accountId, kind: 'session.connected', data, conversation: sessionId });
  }

  async function end(
    tx: Tx,
    session: SessionRef,
    status: 'disconnected' | 'logged_out',
    reason: string,
  ): Promise<void> {
    const row = await findSession(tx, session);
    if (row === undefined) return;
    await setStatus(tx, session, { wanted: 0 });
    if (status === 'logged_out' || UNDER_WAY.has(row.status)) await disconnected(tx, session, status, reason, false);
  }

  /**
   * One outage is one event, however often the connection flaps: it is emitted when the outage begins. Only when the
   * session does not come back, though that event said so, another one takes that back.
   */
  async function disconnected(
    tx: Tx,
    session: SessionRef,
    status: 'disconnected' | 'logged_out',
    reason: string,
    willReconnect: boolean,
  ): Promise<void> {
    const row = await findSession(tx, session);
    if (row === undefined) return;
    const now = clock.now();
    const begins = row.connected_at !== null && row.disconnected_at === null;
    const gaveHope = row.will_reconnect === 1;
    const next = willReconnect ? 'connecting' : status;
    await setStatus(tx, session, {
      status: next,
      connected_at: null,
      disconnected_at: begins ? now : row.disconnected_at,
      will_reconnect: willReconnect && (begins || gaveHope) ? 1 : 0,
      error: reason,
      ...(status === 'logged_out' && { wanted: 0 }),
    });
    await addHistory(tx, session, next, reason);
    // Whoever links it again may be somebody else.
    if (status === 'logged_out') await failQueued.run(tx, { ...session, now });
    if (!begins && (willReconnect || !gaveHope)) return;
    const { accountId, sessionId } = session;
    const phoneNumber = row.phone_number ?? '';
    const disconnectedAt = isoTime(begins ? now : (row.disconnected_at ?? now));
    const data = { sessionId, phoneNumber, reason, willReconnect, disconnectedAt };
    emit(tx, { accountId, kind: 'session.disconnected', data, conversation: sessionId });
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
    status: SessionStatus,
    reason: string | null,
  ): Promise<void> {
    await tx.kysely
      .insertInto('session_history')
      .values({ account_id: accountId, session_id: sessionId, entry_id: newId('evt'), status, reason, at: clock.now() })
      .execute();
  }
}

/** What a session is in that has a connection, or is getting one. */
const UNDER_WAY: ReadonlySet<string> = new Set(['connecting', 'awaiting_pairing', 'connected']);

const failQueued = query((db, p: SessionRef & { now: number }) =>
  db
    .updateTable('messages')
    .set({ status: 'failed', error: 'The session was logged out before the message was sent', failed_at: p.now })
    .where('session_id', '=', p.sessionId)
    .where('status', '=', sql.lit('queued' as const)),
);
