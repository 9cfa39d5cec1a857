import type { Queryable } from '../db/dialect.ts';
import type { SessionRef } from '../messages/store.ts';
import { readHealth } from './healthStore.ts';
import type { LiveSession, LiveSessions } from './liveSessions.ts';

/** Numbers that a preflight has the network check, because frequent look-ups get numbers banned. */
export const MAX_LOOK_UPS = 20;
/** The same in 24 hours, together with the look-ups that somebody asked for. */
export const MAX_LOOK_UPS_PER_DAY = 200;

/** Counts numbers that the network is asked about. */
export function countLookUps(live: LiveSessions, session: SessionRef, count: number): void {
  live.stateOf(session)?.activity.onLookUps(count);
}

/** Counts and returns those of the numbers that a preflight may have the network check now. */
export async function admitLookUps(
  on: Queryable,
  live: LiveSession,
  numbers: readonly string[],
  now: number,
): Promise<readonly string[]> {
  const stored = (await readHealth(on, [live.sessionId], now)).get(live.sessionId);
  const used = (stored?.figures.lookUps ?? 0) + live.activity.lookUps;
  const admitted = numbers.slice(0, Math.max(0, Math.min(MAX_LOOK_UPS, MAX_LOOK_UPS_PER_DAY - used)));
  live.activity.onLookUps(admitted.length);
  return admitted;
}
