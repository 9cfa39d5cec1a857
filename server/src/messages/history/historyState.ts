import { isoTime } from '../../clock.ts';
import type { NetworkEvent } from '../../connectors/contract/events.ts';
import type { Tx } from '../../db/commit.ts';
import { query } from '../../db/query.ts';
import type { SessionTable } from '../../db/schema.ts';
import type { InboxOptions } from '../inboxOptions.ts';
import { findSession, type SessionRef } from '../store.ts';

/** How far the import of a session's history is, as stored in `sessions.history`. */
export interface HistoryState {
  readonly state: 'none' | 'waiting' | 'importing' | 'complete' | 'failed';
  /** Percent. */
  readonly progress: number;
  /** Imported so far, without what was stored already. */
  readonly messages: number;
  readonly chats: number;
  readonly contacts: number;
  readonly error: string | null;
  readonly updatedAt: number | null;
}

const NONE: HistoryState = {
  state: 'none',
  progress: 0,
  messages: 0,
  chats: 0,
  contacts: 0,
  error: null,
  updatedAt: null,
};

export function historyStateOf({ history }: Pick<SessionTable, 'history'>): HistoryState {
  return history === null ? NONE : { ...NONE, ...JSON.parse(history) };
}

/** The state in the form of the API and of `session.history`. */
export function shownHistory({ updatedAt, error, ...state }: HistoryState) {
  return { ...state, error, updatedAt: isoTime(updatedAt) };
}

/** Stores how far the import is, with its event if that changed. */
export async function noteProgress(
  { emit, clock }: Pick<InboxOptions, 'emit' | 'clock'>,
  tx: Tx,
  session: SessionRef,
  { state, progress, error: given }: Extract<NetworkEvent, { type: 'history_progress' }>,
): Promise<void> {
  const row = await findSession(tx, session);
  if (row === undefined) return;
  const before = historyStateOf(row);
  const error = given ?? null;
  if (before.state === state && before.progress === progress && before.error === error) return;
  const counts = state === 'waiting' ? NONE : before;
  const now = clock.now();
  const after = { ...counts, state, progress, error, updatedAt: now };
  await storeState(tx, session, after);
  const { accountId, sessionId } = session;
  const { updatedAt: _, ...shown } = shownHistory(after);
  const data = { sessionId, ...shown, timestamp: isoTime(now) };
  emit(tx, { accountId, kind: 'session.history', data, conversation: sessionId });
}

const REASONS = {
  disconnected: 'The session was disconnected before all of its history was imported; connect it to continue',
  logged_out: 'The session was logged out before all of its history was imported',
} as const;

/** Ends an import that is not complete, because the connection of its session has ended for good. */
export async function endImport(
  options: Pick<InboxOptions, 'emit' | 'clock'>,
  tx: Tx,
  session: SessionRef,
  status: keyof typeof REASONS,
): Promise<void> {
  const row = await findSession(tx, session);
  if (row === undefined) return;
  const { state, progress } = historyStateOf(row);
  if (state !== 'waiting' && state !== 'importing') return;
  await noteProgress(options, tx, session, {
    type: 'history_progress',
    state: 'failed',
    progress,
    error: REASONS[status],
  });
}

/** Adds what was imported to the counts. */
export async function addImported(
  tx: Tx,
  row: SessionTable,
  added: Pick<HistoryState, 'messages' | 'chats' | 'contacts'>,
  now: number,
): Promise<void> {
  const before = historyStateOf(row);
  const after = {
    ...before,
    messages: before.messages + added.messages,
    chats: before.chats + added.chats,
    contacts: before.contacts + added.contacts,
    updatedAt: now,
  };
  await storeState(tx, { accountId: row.account_id, sessionId: row.session_id }, after);
}

async function storeState(tx: Tx, session: SessionRef, state: HistoryState): Promise<void> {
  await updateHistory.run(tx, { ...session, history: JSON.stringify(state) });
}

const updateHistory = query((db, p: SessionRef & { history: string }) =>
  db
    .updateTable('sessions')
    .set({ history: p.history })
    .where('account_id', '=', p.accountId)
    .where('session_id', '=', p.sessionId),
);
