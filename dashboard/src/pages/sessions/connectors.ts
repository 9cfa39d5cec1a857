import { queryOptions, useQuery } from '@tanstack/react-query';
import { api } from '../../api.ts';
import { sessionWords } from '../../strings/sessions.ts';

/** The networks of the server. They change only with the server itself. */
const connectorsQuery = queryOptions({
  queryKey: ['connectors'],
  queryFn: async () => (await api.connectors.list()).data,
  staleTime: Number.POSITIVE_INFINITY,
});

export function useConnectors() {
  return useQuery(connectorsQuery);
}

/** What people call a network; that of a package has only its own name. */
export function networkName(connector: string): string {
  return sessionWords.networks[connector] ?? connector;
}
