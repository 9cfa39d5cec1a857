import { useQuery } from '@tanstack/react-query';
import { connectorsQuery } from '../../model/connectors.ts';
import { sessionQuery } from '../../model/sessions.ts';

/** Returns whether the network of a session can do something with groups; true until that is known. */
export function useAbilities(sessionId: string): (capability: string) => boolean {
  const connector = useQuery(sessionQuery(sessionId)).data?.connector;
  const capabilities = useQuery(connectorsQuery).data?.data.find(({ name }) => name === connector)?.capabilities;
  return (capability) => capabilities?.some((name) => name === capability) ?? true;
}
