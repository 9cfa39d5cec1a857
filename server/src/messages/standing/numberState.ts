import { isDeepStrictEqual } from 'node:util';
import { type Clock, isoTime } from '../../clock.ts';
import type { AccountNotice, NumberState } from '../../connectors/contract/business.ts';
import type { NetworkEvent } from '../../connectors/contract/events.ts';
import type { Tx } from '../../db/commit.ts';
import type { SessionTable } from '../../db/schema.ts';
import { namesOf } from '../../objects.ts';
import type { Emit } from '../../webhooks/log/emit.ts';
import { findSession, type SessionRef } from '../store.ts';

interface StoredNotice extends AccountNotice {
  /** When it happened, by the network's clock. */
  readonly at: number;
  /** When it was stored: the network may report it days later. */
  readonly notedAt: number;
}

/** The network's judgment of a session's number, with its latest notices. Other parts read it with `numberStateOf`. */
export interface StoredNumberState extends NumberState {
  /** Newest first. */
  readonly notices: readonly StoredNotice[];
  readonly updatedAt: number;
}

type Report = Extract<NetworkEvent, { type: 'number_updated' }>;

const UNKNOWN: NumberState = {
  displayName: null,
  nameStatus: null,
  quality: null,
  messagingTier: null,
  messagingLimit: null,
  throughput: null,
  accountMode: null,
  canSend: null,
  problems: [],
};
const MAX_NOTICES = 10;
const MAX_PROBLEMS = 10;
const NAME_CHARACTERS = 200;
const MESSAGE_CHARACTERS = 500;

/** Returns null until the network has reported something. */
export function numberStateOf({ number_state: state }: Pick<SessionTable, 'number_state'>): StoredNumberState | null {
  return state === null ? null : JSON.parse(state);
}

/** Whether the network has restricted the number or its account since that time, and has not lifted it. */
export function isRestricted({ notices }: StoredNumberState, since: number): boolean {
  const [latest] = notices.filter(({ restricts }) => restricts !== undefined);
  return latest?.restricts === true && latest.notedAt >= since;
}

/** Stores a report about the number, and emits what it changes. */
export async function storeNumberState(
  { emit, clock }: { readonly emit: Emit; readonly clock: Clock },
  tx: Tx,
  session: SessionRef,
  { state, notice, timestamp }: Report,
): Promise<void> {
  const row = await findSession(tx, session);
  if (row === undefined) return;
  const stored = numberStateOf(row);
  const { notices = [], updatedAt = 0, ...before } = stored ?? (UNKNOWN as Partial<StoredNumberState> & NumberState);
  const after: NumberState = { ...before, ...withinLimits(state) };
  const changed = namesOf(after).filter((name) => !isDeepStrictEqual(after[name], before[name]));
  const notedAt = clock.now();
  const added = notice && { ...noticeWithinLimits(notice), at: timestamp, notedAt };
  const isNew = added !== undefined && !notices.some((known) => isDeepStrictEqual({ ...known, notedAt }, added));
  if (changed.length === 0 && !isNew) return;
  const kept = isNew ? [added, ...notices].toSorted((one, other) => other.at - one.at).slice(0, MAX_NOTICES) : notices;
  const next: StoredNumberState = { ...after, notices: kept, updatedAt: Math.max(updatedAt, timestamp) };
  const { accountId, sessionId } = session;
  await tx.kysely
    .updateTable('sessions')
    .set({ number_state: JSON.stringify(next) })
    .where('account_id', '=', accountId)
    .where('session_id', '=', sessionId)
    .execute();
  const data = {
    sessionId,
    changed,
    network: shownNumberState(next),
    ...(isNew && { notice: shownNotice(added) }),
    timestamp: isoTime(timestamp),
  };
  emit(tx, { accountId, kind: 'session.updated', data, conversation: sessionId });
}

/** The state in the form of the API and of events. */
export function shownNumberState({ notices, updatedAt, problems, ...state }: StoredNumberState) {
  return {
    ...state,
    problems: problems.map((problem) => ({ ...problem })),
    notices: notices.map(shownNotice),
    updatedAt: isoTime(updatedAt),
  };
}

const shownNotice = ({ at, notedAt: _, restricts: __, ...notice }: StoredNotice) => ({
  ...notice,
  at: isoTime(at),
});

const cut = (text: string, characters: number) => text.slice(0, characters).toWellFormed();

/** Keeps the known fields of a report, because a connector passes on what its network sends. */
function withinLimits(state: Partial<NumberState>): Partial<NumberState> {
  const known = namesOf(UNKNOWN).filter((name) => state[name] !== undefined);
  return Object.fromEntries(
    known.map((name) => {
      const value = state[name];
      if (typeof value === 'string') return [name, cut(value, NAME_CHARACTERS)];
      if (name !== 'problems') return [name, value];
      const problems = (state.problems ?? []).slice(0, MAX_PROBLEMS);
      return [
        name,
        problems.map(({ concerns, message }) => ({
          concerns: cut(concerns, NAME_CHARACTERS),
          message: cut(message, MESSAGE_CHARACTERS),
        })),
      ];
    }),
  );
}

function noticeWithinLimits({ type, severity, message, restricts }: AccountNotice): AccountNotice {
  return {
    type: cut(type, NAME_CHARACTERS),
    severity,
    message: cut(message, MESSAGE_CHARACTERS),
    ...(restricts !== undefined && { restricts }),
  };
}
