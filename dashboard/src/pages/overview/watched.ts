import type { CircuitBreaker, WebhookEndpoint, WebhookStats } from '@switchboard/sdk/api';
import { useQueries, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api.ts';
import { breakerQuery } from '../../components/webhook/breakerLamp.tsx';
import { statsQuery } from '../../model/stats.ts';

/** Limits the webhooks that are polled, which takes two requests each every five seconds. */
export const MAX_WATCHED = 20;

/** Statistics and settings change without an event. */
const REFRESH_MS = 5000;

/** A webhook with its statistics and its breaker. */
export interface WatchedWebhook {
  readonly webhook: WebhookEndpoint;
  readonly stats: WebhookStats;
  readonly breaker: CircuitBreaker;
}

/** More than an account can have (100), so that one request returns all breaker states. */
const ALL = 200;

/** The webhooks to watch, those in trouble first, then the newest. `hasMore` says that there are others. */
export function useWatchedWebhooks() {
  const list = useQuery({
    queryKey: ['webhooks', 'watched'],
    queryFn: () => api.webhooks.endpoints.list({ limit: ALL }),
    refetchInterval: REFRESH_MS,
  });
  // The default webhook is listed even before it is set.
  const all = list.data?.data.filter(({ webhookUrl }) => webhookUrl !== null) ?? [];
  const webhooks = all.toSorted((one, other) => severity(other) - severity(one)).slice(0, MAX_WATCHED);
  const stats = useQueries({ queries: webhooks.map(({ webhookId }) => statsQuery(webhookId)) });
  const breakers = useQueries({ queries: webhooks.map(({ webhookId }) => breakerQuery(webhookId)) });
  const parts = [...stats, ...breakers];

  const watched = webhooks.flatMap((webhook, index): readonly WatchedWebhook[] => {
    const [its, breaker] = [stats[index]?.data, breakers[index]?.data];
    return its === undefined || breaker === undefined ? [] : [{ webhook, stats: its, breaker }];
  });
  // Waits for all at first, so that missing data does not pass for a healthy state. Webhooks that are added later join
  // as they load.
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

function severity({ enabled, breakerState }: WebhookEndpoint): number {
  if (!enabled) return 1;
  return breakerState === 'closed' ? 0 : 2;
}
