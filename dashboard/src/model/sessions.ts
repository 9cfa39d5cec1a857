import type { Session } from '@switchboard/sdk/api';
import { ApiError } from '@switchboard/sdk/errors';
import { queryOptions, useQuery } from '@tanstack/react-query';
import { api } from '../api.ts';

/** More than this are not offered to choose from, and not counted one by one. */
const MAX_SESSIONS = 1000;

/**
 * The sessions of the account.
 * @param everyMs for what shows more of them than events tell: how often they are read
 */
export function useSessions(everyMs?: number) {
  return useQuery({
    ...(everyMs !== undefined && { refetchInterval: everyMs }),
    // No event tells of one that is new and not connected yet.
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

/** Not every step of connecting is an event: while one is under way the session is read again and again. */
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

/**
 * The session that an address asks for, and none in place of one that is not there. Where none is asked for, one that
 * is connected, or the first.
 */
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

/** What a session is called: its name, its number, or at least its id. */
export function sessionName({ name, phoneNumber, sessionId }: Session): string {
  const number = phoneNumber === null ? undefined : `+${phoneNumber}`;
  return [name, number].filter(Boolean).join(', ') || sessionId;
}
