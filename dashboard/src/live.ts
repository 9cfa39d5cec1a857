import { createClient, type StreamedEvent } from '@switchboard/sdk';
import { type QueryClient, useQueryClient } from '@tanstack/react-query';
import { createContext, useContext, useEffect, useEffectEvent, useState, useSyncExternalStore } from 'react';
import { DASHBOARD_HEADER } from './api.ts';

export type LiveState = 'connecting' | 'live' | 'lost';
type Listener = (event: StreamedEvent) => void;

/** The account's events as they happen, over one connection for the whole page. */
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

  function become(next: LiveState) {
    if (state === next) return;
    state = next;
    for (const changed of watchers) changed();
  }

  // The stream comes back by itself and says nothing of it: what its requests meet tells how it is.
  const client = createClient({
    baseUrl: location.origin,
    headers: DASHBOARD_HEADER,
    fetch: async (input, init) => {
      try {
        const response = await fetch(input, init);
        become(response.ok ? 'live' : 'lost');
        return response;
      } catch (error) {
        if (connection?.signal.aborted === false) become('lost');
        throw error;
      }
    },
  });

  async function listen(signal: AbortSignal) {
    try {
      for await (const event of client.events.stream({ signal })) {
        become('live');
        for (const listener of listeners) listener(event);
      }
    } catch {
      // Stopped, or refused because the login is over: then the next request of the page leads to the login.
      if (!signal.aborted) become('lost');
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
      become('connecting');
      void listen(connection.signal);
    },
    stop() {
      connection?.abort();
      connection = undefined;
    },
  };
}

/** Whether events come in. */
export function useLiveState(): LiveState {
  const live = useLive();
  return useSyncExternalStore(live.onState, live.state);
}

/** Calls `listener` for each event while the component is shown. */
export function useLiveEvents(listener: Listener): void {
  const live = useLive();
  const hear = useEffectEvent(listener);
  useEffect(() => live.onEvent((event) => hear(event)), [live]);
}

function useLive(): Live {
  const live = useContext(LiveContext);
  if (live === undefined) throw new Error('useLive belongs inside the shell');
  return live;
}

/** What an event changes, by the first part of a query's key. A delivery is made for every event. */
const touched: Readonly<Record<string, readonly string[]>> = {
  message: ['messages', 'chats', 'contacts', 'deliveries'],
  session: ['sessions', 'deliveries'],
  group: ['groups', 'names', 'chats', 'deliveries'],
};
/** However many events come, a list is read again this often at most. */
const REFRESH_EVERY_MS = 1000;

/** Reads again what events have changed. */
export function useRefreshOnEvents(): void {
  const queries = useQueryClient();
  const [refresh] = useState(() => createRefresh(queries));
  useEffect(() => refresh.stop, [refresh]);
  useLiveEvents(({ event }) => refresh.add(touched[event.split('.')[0] ?? ''] ?? []));
}

function createRefresh(queries: QueryClient) {
  const waiting = new Set<string>();
  let timer: ReturnType<typeof setTimeout> | undefined;

  function run() {
    timer = undefined;
    for (const key of waiting) {
      // A read under way is let finish, however slow it is; what it may have missed is read afterwards.
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
