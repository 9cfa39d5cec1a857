import { isoTime } from '../clock.ts';
import type { Tx } from '../db/commit.ts';
import type { SessionTable } from '../db/schema.ts';
import type { SessionStatus } from '../db/tables/sessions.ts';
import { endImport } from './history/historyState.ts';
import type { InboxOptions } from './inboxOptions.ts';
import { failQueue } from './messages/queueFailure.ts';
import type { ReportHandlers } from './reports.ts';
import { noteNumber } from './standing/sessionRisk.ts';
import { findSession, type SessionRef } from './store.ts';

type ConnectionReport = 'pairing' | 'connected' | 'disconnected' | 'logged_out';

/** Stores what networks report about the connection of a session. Each method runs in the given transaction. */
export class SessionInbox {
  readonly #options: InboxOptions;

  constructor(options: InboxOptions) {
    this.#options = options;
  }

  readonly reports: ReportHandlers<ConnectionReport> = {
    pairing: (_, tx, session, code) => this.#awaitPairing(tx, session, code),
    connected: (_, tx, session, { phoneNumber }) => this.#connected(tx, session, phoneNumber),
    disconnected: (_, tx, session, { reason, willReconnect }) =>
      this.#disconnected(tx, session, 'disconnected', reason, willReconnect),
    logged_out: (_, tx, session, { reason }) => this.#disconnected(tx, session, 'logged_out', reason, false),
  };

  async #awaitPairing(tx: Tx, session: SessionRef, code: { qr: string; expiresAt: number }): Promise<void> {
    const row = await findSession(tx, session);
    if (row === undefined) return;
    const shown = { qr: code.qr, expiresAt: isoTime(code.expiresAt) };
    if (row.status === 'awaiting_pairing') return this.#emitStatus(tx, row, 'awaiting_pairing', null, shown);
    await setStatus(tx, session, { status: 'awaiting_pairing', error: null });
    await this.#changed(tx, row, 'awaiting_pairing', null, shown);
  }

  /** The account requested a code to enter on the phone. */
  async pairingCode(tx: Tx, session: SessionRef, { code, expiresAt }: PairingCode): Promise<void> {
    const row = await findSession(tx, session);
    if (row === undefined) return;
    this.#emitStatus(tx, row, row.status, null, { pairingCode: code, expiresAt: isoTime(expiresAt) });
  }

  async #connected(tx: Tx, session: SessionRef, phoneNumber: string): Promise<void> {
    const row = await findSession(tx, session);
    if (row === undefined || row.status === 'connected') return;
    const now = this.#options.clock.now();
    await noteNumber(tx, session, phoneNumber, now);
    // The server stopped while the session was connected, without an event: nothing has changed for the account.
    const resumes = row.connected_at !== null && row.disconnected_at === null;
    await setStatus(tx, session, {
      status: 'connected',
      phone_number: phoneNumber,
      connected_at: now,
      disconnected_at: null,
      will_reconnect: 0,
      error: null,
    });
    await this.#changed(tx, { ...row, phone_number: phoneNumber }, 'connected', null);
    if (resumes) return;
    const { accountId, sessionId } = session;
    const data = { sessionId, phoneNumber, connectedAt: isoTime(now) };
    this.#options.emit(tx, { accountId, kind: 'session.connected', data, conversation: sessionId });
  }

  async end(tx: Tx, session: SessionRef, status: 'disconnected' | 'logged_out', reason: string): Promise<void> {
    const row = await findSession(tx, session);
    if (row === undefined) return;
    await setStatus(tx, session, { wanted: 0 });
    if (status === 'logged_out' || ACTIVE_STATUSES.has(row.status))
      await this.#disconnected(tx, session, status, reason, false);
    else await endImport(this.#options, tx, session, status);
  }

  /** Stores a status change, such as the start of a connection. */
  async note(tx: Tx, session: SessionRef, status: SessionStatus, reason: string | null): Promise<void> {
    const row = await findSession(tx, session);
    if (row === undefined) return;
    await setStatus(tx, session, { status, error: null });
    await this.#changed(tx, row, status, reason);
  }

  /**
   * Emits one event per outage, when it begins, however often the connection flaps. If that event announced a reconnect
   * and the session gives up, a second one reports that.
   */
  async #disconnected(
    tx: Tx,
    session: SessionRef,
    status: 'disconnected' | 'logged_out',
    reason: string,
    willReconnect: boolean,
  ): Promise<void> {
    const row = await findSession(tx, session);
    if (row === undefined) return;
    const now = this.#options.clock.now();
    const begins = row.connected_at !== null && row.disconnected_at === null;
    const wasReconnecting = row.will_reconnect === 1;
    const next = willReconnect ? 'connecting' : status;
    await setStatus(tx, session, {
      status: next,
      connected_at: null,
      disconnected_at: begins ? now : row.disconnected_at,
      will_reconnect: willReconnect && (begins || wasReconnecting) ? 1 : 0,
      error: reason,
      ...(status === 'logged_out' && { wanted: 0 }),
    });
    await this.#changed(tx, row, next, reason);
    if (!willReconnect) await endImport(this.#options, tx, session, status);
    if (status === 'logged_out') await failQueue(this.#options, tx, session);
    if (!begins && (willReconnect || !wasReconnecting)) return;
    const { accountId, sessionId } = session;
    const phoneNumber = row.phone_number ?? '';
    const disconnectedAt = isoTime(begins ? now : (row.disconnected_at ?? now));
    const data = { sessionId, phoneNumber, reason, willReconnect, disconnectedAt };
    this.#options.emit(tx, { accountId, kind: 'session.disconnected', data, conversation: sessionId });
  }

  /** Keeps a change of status in the history, and emits it. */
  async #changed(
    tx: Tx,
    row: SessionTable,
    status: SessionStatus,
    reason: string | null,
    code: ShownCode = {},
  ): Promise<void> {
    await tx.kysely
      .insertInto('session_history')
      .values({
        account_id: row.account_id,
        session_id: row.session_id,
        entry_id: this.#options.newId('evt'),
        status,
        reason,
        at: this.#options.clock.now(),
      })
      .execute();
    this.#emitStatus(tx, row, status, reason, code);
  }

  #emitStatus(tx: Tx, row: SessionTable, status: SessionStatus, reason: string | null, code: ShownCode): void {
    const { account_id: accountId, session_id: sessionId, status: previousStatus } = row;
    const timestamp = isoTime(this.#options.clock.now());
    const data = { sessionId, status, previousStatus, reason, ...code, timestamp };
    this.#options.emit(tx, { accountId, kind: 'session.status', data, conversation: sessionId });
  }
}

/** The code that links a phone, in the form of `session.status`. */
interface ShownCode {
  readonly qr?: string;
  readonly pairingCode?: string;
  readonly expiresAt?: string;
}

export interface PairingCode {
  readonly code: string;
  readonly expiresAt: number;
}

async function setStatus(tx: Tx, { accountId, sessionId }: SessionRef, change: Partial<SessionTable>): Promise<void> {
  await tx.kysely
    .updateTable('sessions')
    .set(change)
    .where('account_id', '=', accountId)
    .where('session_id', '=', sessionId)
    .execute();
}

/** Statuses of a session that has a connection or is getting one. */
const ACTIVE_STATUSES: ReadonlySet<string> = new Set(['connecting', 'awaiting_pairing', 'connected']);
