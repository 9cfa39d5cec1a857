import { type Clock, isoTime } from '../clock.ts';
import type { NetworkEvent } from '../connectors/connector.ts';
import type { Tx } from '../db/commit.ts';
import type { Database } from '../db/database.ts';
import type { SessionTable } from '../db/schema.ts';
import type { NewId } from '../ids.ts';
import type { Media } from '../media/media.ts';
import type { Emit } from '../webhooks/emit.ts';
import { createGroupInbox } from './groupInbox.ts';
import type { StoredMedia } from './messageContent.ts';
import { createMessageInbox, type SentMessage } from './messageInbox.ts';
import { findSession, type SessionRef } from './messageStore.ts';

export interface Inbox {
  /**
   * Stores what a network told, with the events that follow from it. What was told before changes nothing.
   * @param media where the file that came with it has been put
   */
  take(session: SessionRef, event: NetworkEvent, media?: StoredMedia): Promise<void>;
  /** The network has taken an outgoing message: it is `sent`. */
  acknowledge(message: SentMessage, timestamp: number): Promise<void>;
  /** The network did not take it: it has `failed`. */
  refuse(message: SentMessage, error: string): Promise<void>;
  /** The account ended the connection itself. */
  end(session: SessionRef, status: 'disconnected' | 'logged_out', reason: string): Promise<void>;
  /** A change of status that is no event: the start of a connection, or of the server. */
  note(session: SessionRef, status: string, reason: string | null): Promise<void>;
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
}: {
  database: Database;
  media: Media;
  clock: Clock;
  newId: NewId;
  emit: Emit;
}): Inbox {
  const messages = createMessageInbox({ media, clock, newId, emit });
  const groups = createGroupInbox({ clock, newId, emit });
  const inOrder = (session: SessionRef, work: (tx: Tx) => Promise<void>) => database.commit(work, session.sessionId);

  return {
    take: (session, event, file) => inOrder(session, (tx) => take(tx, session, event, file)),
    acknowledge: (message, timestamp) => inOrder(message, (tx) => messages.acknowledge(tx, message, timestamp)),
    refuse: (message, error) => inOrder(message, (tx) => messages.refuse(tx, message, error)),
    end: (session, status, reason) => inOrder(session, (tx) => disconnected(tx, session, status, reason, false)),
    note: (session, status, reason) =>
      inOrder(session, async (tx) => {
        await setStatus(tx, session, { status, error: null });
        await addHistory(tx, session, status, reason);
      }),
  };

  async function take(tx: Tx, session: SessionRef, event: NetworkEvent, file: StoredMedia | undefined): Promise<void> {
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
        return messages.incoming(tx, session, event, file);
      case 'edited':
        return messages.edited(tx, session, event);
      case 'deleted':
        return messages.deleted(tx, session, event);
      case 'reaction':
        return messages.reaction(tx, session, event);
      case 'vote':
        return messages.vote(tx, session, event);
      case 'receipt':
        for (const networkId of event.networkIds) await messages.receipt(tx, session, networkId, event);
        return;
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
    const row = await findSession(tx, session);
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
