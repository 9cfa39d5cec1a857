import { queryOptions } from '@tanstack/react-query';
import { api } from '../api.ts';

/** The networks of the server and its limit for files, which change only when the server restarts. */
export const connectorsQuery = queryOptions({
  queryKey: ['connectors'],
  queryFn: () => api.connectors.list(),
  staleTime: Number.POSITIVE_INFINITY,
});
