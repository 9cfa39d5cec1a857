import { useQuery } from '@tanstack/react-query';
import { connectorsQuery } from '../../model/connectors.ts';
import { sessionWords } from '../../strings/sessions.ts';

export function useConnectors() {
  return useQuery({ ...connectorsQuery, select: ({ data }) => data });
}

/** What people call a network; that of a package has only its own name. */
export function networkName(connector: string): string {
  return sessionWords.networks[connector] ?? connector;
}
