import { queryOptions, useSuspenseQuery } from '@tanstack/react-query';
import { api } from '../api.ts';

/** Who is logged in. The shell waits for it, so that every page below has it. */
export const accountQuery = queryOptions({
  queryKey: ['account'],
  queryFn: async () => (await api.auth.me()).account,
  staleTime: 60_000,
});

export function useAccount() {
  return useSuspenseQuery(accountQuery).data;
}
