import { type QueryClient, useQueryClient } from '@tanstack/react-query';
import { createContext, useContext, useEffect, useEffectEvent, useState, useSyncExternalStore } from 'react';
import type { LiveConnection } from './connection.ts';
import type { LiveEvent, LiveState } from './protocol.ts';

type Listener = (event: LiveEvent) => void;

/** The live events of the account, over one connection for all pages. */
export const LiveContext = createContext<LiveConnection | undefined>(undefined);

/** The state of the connection for events. */
export function useLiveState(): LiveState {
  const live = useLive();
  return useSyncExternalStore(live.onState, live.state);
}

/** Calls `listener` for each event while the component is mounted. */
export function useLiveEvents(listener: Listener): void {
  const live = useLive();
  const onEvent = useEffectEvent(listener);
  useEffect(() => live.onEvent((event) => onEvent(event)), [live]);
}

function useLive(): LiveConnection {
  const live = useContext(LiveContext);
  if (live === undefined) throw new Error('useLive belongs inside the shell');
  return live;
}

/**
 * The resources that an event changes, by the first part of their query keys: by its type, or the first part of it.
 * Every event creates deliveries.
 */
const affected: Readonly<Record<string, readonly string[]>> = {
  'message.approval': ['approvals', 'messages', 'chats', 'deliveries'],
  message: ['messages', 'chats', 'contacts', 'deliveries'],
  batch: ['messages', 'deliveries'],
  poll: ['messages', 'deliveries'],
  event: ['messages', 'deliveries'],
  chat: ['messages', 'chats', 'approvals', 'deliveries'],
  label: ['labels', 'chats', 'messages', 'deliveries'],
  contact: ['contacts', 'names', 'chats', 'deliveries'],
  'session.history': ['sessions', 'messages', 'chats', 'deliveries'],
  session: ['sessions', 'deliveries'],
  group: ['groups', 'names', 'chats', 'deliveries'],
  webhook: ['webhooks', 'deliveries'],
};
const OTHERS = ['deliveries'];
/** Limits how often events refetch a list. */
const REFRESH_EVERY_MS = 1000;

/** Refetches what events have changed. */
export function useRefreshOnEvents(): void {
  const queries = useQueryClient();
  const [refresh] = useState(() => createRefresh(queries));
  useEffect(() => refresh.stop, [refresh]);
  useLiveEvents(({ event }) => refresh.add(affected[event] ?? affected[event.split('.')[0] ?? ''] ?? OTHERS));
  const live = useLive();
  useEffect(() => live.onMissed(() => void queries.invalidateQueries()), [live, queries]);
}

function createRefresh(queries: QueryClient) {
  const waiting = new Set<string>();
  let timer: ReturnType<typeof setTimeout> | undefined;

  function run() {
    timer = undefined;
    for (const key of waiting) {
      // A running fetch may finish, however slow it is. Events that it may have missed are fetched afterwards.
      if (queries.isFetching({ queryKey: [key] }) === 0) waiting.delete(key);
      void queries.invalidateQueries({ queryKey: [key], fetchStatus: 'idle' });
    }
    if (waiting.size > 0) timer = setTimeout(run, REFRESH_EVERY_MS);
  }

  return {
    add(keys: readonly string[]) {
      for (const key of keys) waiting.add(key);
      timer ??= setTimeout(run, REFRESH_EVERY_MS);
    },
    stop() {
      clearTimeout(timer);
      timer = undefined;
    },
  };
}
