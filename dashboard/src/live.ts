import { createClient, type StreamedEvent } from '@switchboard/sdk';
import { type QueryClient, useQueryClient } from '@tanstack/react-query';
import { createContext, useContext, useEffect, useEffectEvent, useState, useSyncExternalStore } from 'react';
import { DASHBOARD_HEADER } from './api.ts';

export type LiveState = 'connecting' | 'live' | 'lost';
type Listener = (event: StreamedEvent) => void;

/** The live events of the account, over one connection for all pages. */
export interface Live {
  readonly state: () => LiveState;
  readonly onState: (changed: () => void) => () => void;
  readonly onEvent: (listener: Listener) => () => void;
  start(): void;
  stop(): void;
}

export const LiveContext = createContext<Live | undefined>(undefined);

export function createLive(): Live {
  const listeners = new Set<Listener>();
  const watchers = new Set<() => void>();
  let state: LiveState = 'connecting';
  let connection: AbortController | undefined;

  function setState(next: LiveState) {
    if (state === next) return;
    state = next;
    for (const changed of watchers) changed();
  }

  // The stream reconnects without reporting it, so its requests tell the state of the connection.
  const client = createClient({
    baseUrl: location.origin,
    headers: DASHBOARD_HEADER,
    fetch: async (input, init) => {
      try {
        const response = await fetch(input, init);
        setState(response.ok ? 'live' : 'lost');
        return response;
      } catch (error) {
        if (connection?.signal.aborted === false) setState('lost');
        throw error;
      }
    },
  });

  async function listen(signal: AbortSignal) {
    try {
      for await (const event of client.events.stream({ events: ['*'], signal })) {
        setState('live');
        for (const listener of listeners) listener(event);
      }
    } catch {
      // Stopped, or rejected because the login has ended: the next request of the page then leads to the login.
      if (!signal.aborted) setState('lost');
    }
  }

  return {
    state: () => state,
    onState(changed) {
      watchers.add(changed);
      return () => watchers.delete(changed);
    },
    onEvent(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    start() {
      if (connection !== undefined) return;
      connection = new AbortController();
      setState('connecting');
      void listen(connection.signal);
    },
    stop() {
      connection?.abort();
      connection = undefined;
    },
  };
}

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

function useLive(): Live {
  const live = useContext(LiveContext);
  if (live === undefined) throw new Error('useLive belongs inside the shell');
  return live;
}

/**
 * The resources that an event changes, by the first part of their query keys: by its type, or the first part of it. Every
 * event creates deliveries.
 */
const affected: Readonly<Record<string, readonly string[]>> = {
  'message.approval': ['approvals', 'messages', 'chats', 'deliveries'],
  message: ['messages', 'chats', 'contacts', 'deliveries'],
  session: ['sessions', 'deliveries'],
  group: ['groups', 'names', 'chats', 'deliveries'],
};
/** Limits how often events refetch a list. */
const REFRESH_EVERY_MS = 1000;

/** Refetches what events have changed. */
export function useRefreshOnEvents(): void {
  const queries = useQueryClient();
  const [refresh] = useState(() => createRefresh(queries));
  useEffect(() => refresh.stop, [refresh]);
  useLiveEvents(({ event }) => refresh.add(affected[event] ?? affected[event.split('.')[0] ?? ''] ?? []));
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
