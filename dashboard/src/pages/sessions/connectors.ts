import { useQuery } from '@tanstack/react-query';
import { connectorsQuery } from '../../model/connectors.ts';
import { sessionStrings } from '../../strings/sessions.ts';

export function useConnectors() {
  return useQuery({ ...connectorsQuery, select: ({ data }) => data });
}

/** The display name of a network. Networks of packages only have an id. */
export function networkName(connector: string): string {
  return sessionStrings.networks[connector] ?? connector;
}
