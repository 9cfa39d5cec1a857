import type { CircuitBreaker } from '@switchboard/sdk/api';
import { queryOptions, useQuery } from '@tanstack/react-query';
import { api } from '../../api.ts';
import { breakerStrings } from '../../strings/breaker.ts';
import { Lamp, type LampTone } from '../lamp.tsx';

/** Its counts change without an event, by the second unless it is closed. */
const REFRESH_MS = { closed: 5000, troubled: 1500 };

export const breakerQuery = (webhookId: string) =>
  queryOptions({
    queryKey: ['webhooks', webhookId, 'breaker'],
    queryFn: () => api.webhooks.endpoints.getCircuitBreaker({ webhookId }),
    refetchInterval: ({ state }) => (state.data?.state === 'closed' ? REFRESH_MS.closed : REFRESH_MS.troubled),
  });

export const breakerTones: Readonly<Record<CircuitBreaker['state'], LampTone>> = {
  closed: 'good',
  half_open: 'warn',
  open: 'bad',
};

/** The state of the breaker of a webhook. */
export function BreakerLamp({ webhookId }: { readonly webhookId: string }) {
  const { data } = useQuery(breakerQuery(webhookId));
  if (data === undefined) return null;
  return <Lamp tone={breakerTones[data.state]}>{breakerStrings.states[data.state]}</Lamp>;
}
