import type { WebhookEndpoint } from '@switchboard/sdk/api';
import { useQuery } from '@tanstack/react-query';
import { api } from '../../api.ts';

/** All webhooks of the account, of which there are 100 at most. */
export function useWebhooks(): readonly WebhookEndpoint[] {
  const { data } = useQuery({
    queryKey: ['webhooks', 'all'],
    queryFn: async () => {
      const webhooks: WebhookEndpoint[] = [];
      for await (const webhook of api.webhooks.endpoints.list.all({ limit: 200 })) webhooks.push(webhook);
      return webhooks;
    },
  });
  return data ?? [];
}

/** Where a webhook points, without what all of them have. */
export function shortUrl(url: string | null): string {
  return (url ?? '').replace(/^https?:\/\//, '');
}
