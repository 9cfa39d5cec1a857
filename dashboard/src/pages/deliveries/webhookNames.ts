import type { WebhookEndpoint } from '@switchboard/sdk/api';
import { useQuery } from '@tanstack/react-query';
import { api } from '../../api.ts';

/** Settings change without an event. */
const REFRESH_MS = 30_000;

/** All webhooks of the account, of which there are at most 100. */
export function useWebhooks(): readonly WebhookEndpoint[] {
  const { data } = useQuery({
    queryKey: ['webhooks', 'all'],
    queryFn: async () => {
      const webhooks: WebhookEndpoint[] = [];
      for await (const webhook of api.webhooks.endpoints.list.all({ limit: 200 })) webhooks.push(webhook);
      return webhooks;
    },
    refetchInterval: REFRESH_MS,
  });
  return data ?? [];
}

/** A URL without its scheme. */
export function shortUrl(url: string | null): string {
  return (url ?? '').replace(/^https?:\/\//, '');
}
