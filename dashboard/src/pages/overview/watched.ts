import type { CircuitBreaker, WebhookEndpoint, WebhookStats } from '@switchboard/sdk/api';
import { useQueries, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api.ts';
import { breakerQuery } from '../../components/breakerLamp.tsx';
import { statsQuery } from '../../model/stats.ts';

/** Each is asked twice every five seconds: a page that watched all of a thousand would do nothing else. */
export const MAX_WATCHED = 20;

/** One may be set elsewhere, of which no event tells. */
const REFRESH_MS = 5000;

/** A webhook with how it does. */
export interface WatchedWebhook {
  readonly webhook: WebhookEndpoint;
  readonly stats: WebhookStats;
  readonly breaker: CircuitBreaker;
}

/** An account has 100 at most: one request tells of the breakers of all. */
const ALL = 200;

/** Webhooks with how they do, those in trouble before others and the newest first; `hasMore` when there are others. */
export function useWatchedWebhooks() {
  const list = useQuery({
    queryKey: ['webhooks', 'watched'],
    queryFn: () => api.webhooks.endpoints.list({ limit: ALL }),
    refetchInterval: REFRESH_MS,
  });
  // The account's default is listed from the beginning, when nothing is set yet.
  const all = list.data?.data.filter(({ webhookUrl }) => webhookUrl !== null) ?? [];
  const webhooks = all.toSorted((one, other) => trouble(other) - trouble(one)).slice(0, MAX_WATCHED);
  const stats = useQueries({ queries: webhooks.map(({ webhookId }) => statsQuery(webhookId)) });
  const breakers = useQueries({ queries: webhooks.map(({ webhookId }) => breakerQuery(webhookId)) });
  const parts = [...stats, ...breakers];

  const watched = webhooks.flatMap((webhook, index): readonly WatchedWebhook[] => {
    const [its, breaker] = [stats[index]?.data, breakers[index]?.data];
    return its === undefined || breaker === undefined ? [] : [{ webhook, stats: its, breaker }];
  });
  // At first all are waited for: what is not there yet is not to pass for well. Later ones join as they come.
  const [isOpened, setOpened] = useState(false);
  if (!isOpened && list.data !== undefined && watched.length === webhooks.length) setOpened(true);
  return {
    data: isOpened ? { watched, hasMore: all.length > webhooks.length } : undefined,
    error: list.error ?? parts.find(({ error }) => error !== null)?.error ?? null,
    refetch: () => {
      void list.refetch();
      for (const part of parts) void part.refetch();
    },
  };
}

function trouble({ enabled, breakerState }: WebhookEndpoint): number {
  if (!enabled) return 1;
  return breakerState === 'closed' ? 0 : 2;
}
