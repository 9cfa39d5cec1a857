import { queryOptions, useSuspenseQuery } from '@tanstack/react-query';
import { api } from '../api.ts';

/** The account that is logged in. The shell loads it before any page renders. */
export const accountQuery = queryOptions({
  queryKey: ['account'],
  queryFn: async () => (await api.auth.me()).account,
  staleTime: 60_000,
});

export function useAccount() {
  return useSuspenseQuery(accountQuery).data;
}
