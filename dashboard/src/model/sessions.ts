import type { Session } from '@switchboard/sdk/api';
import { ApiError } from '@switchboard/sdk/errors';
import { queryOptions, useQuery } from '@tanstack/react-query';
import { api } from '../api.ts';
import { displayName } from './displayName.ts';

/** The connector of sessions that the simulator can play with. */
export const SANDBOX = 'sandbox';

/** Limits the sessions to choose from, and those that are counted one by one. */
const MAX_SESSIONS = 1000;

/**
 * All sessions of the account.
 * @param everyMs how often to refetch, for pages that show more than events tell
 */
export function useSessions(everyMs?: number) {
  return useQuery({
    ...(everyMs !== undefined && { refetchInterval: everyMs }),
    // No event announces a new session that is not connected yet.
    refetchOnMount: 'always',
    queryKey: ['sessions', 'all'],
    queryFn: async () => {
      const sessions: Session[] = [];
      for await (const session of api.sessions.list.all({ limit: 200 })) {
        sessions.push(session);
        if (sessions.length === MAX_SESSIONS) break;
      }
      return sessions;
    },
  });
}

/** Not every step of connecting causes an event. */
const REFRESH_MS = { settling: 1000, settled: 10_000 };

export const sessionQuery = (sessionId: string) =>
  queryOptions({
    queryKey: ['sessions', sessionId],
    queryFn: () => api.sessions.get({ sessionId }),
    refetchInterval: ({ state }) => {
      const status = state.data?.status;
      return status === 'connecting' || status === 'awaiting_pairing' ? REFRESH_MS.settling : REFRESH_MS.settled;
    },
  });

/** The session with the id in the address. Without an id, a connected session, or else the first. */
export function useChosenSession(
  wanted: string | undefined,
  isOffered: (session: Session) => boolean = () => true,
): ChosenSession {
  const all = useSessions();
  const sessions = all.data?.filter(isOffered) ?? [];
  const listed =
    wanted === undefined
      ? (sessions.find(({ status }) => status === 'connected') ?? sessions[0])
      : sessions.find(({ sessionId }) => sessionId === wanted);
  const isUnlisted = all.data !== undefined && wanted !== undefined && listed === undefined;
  const asked = useQuery({ ...sessionQuery(wanted ?? ''), enabled: isUnlisted });
  if (!isUnlisted) return { sessions, query: { ...all, data: all.data && { chosen: listed } } };
  const isNotFound = asked.error instanceof ApiError && asked.error.status === 404;
  const chosen = !isNotFound && asked.data !== undefined && isOffered(asked.data) ? asked.data : undefined;
  return { sessions, query: { ...asked, data: isNotFound || asked.data !== undefined ? { chosen } : undefined } };
}

interface ChosenSession {
  readonly sessions: readonly Session[];
  readonly query: {
    readonly data: { readonly chosen: Session | undefined } | undefined;
    readonly error: unknown;
    readonly refetch: () => unknown;
  };
}

/** The name of a session with its number, or else its id. */
export function sessionName({ name, phoneNumber, sessionId }: Session): string {
  const number = phoneNumber === null ? undefined : `+${phoneNumber}`;
  return [name && displayName(name), number].filter(Boolean).join(', ') || sessionId;
}
