import { queryOptions } from '@tanstack/react-query';
import { api } from '../api.ts';

/** The networks of the server, and its limit to files. They change only with the server itself. */
export const connectorsQuery = queryOptions({
  queryKey: ['connectors'],
  queryFn: () => api.connectors.list(),
  staleTime: Number.POSITIVE_INFINITY,
});
