import { useQuery } from '@tanstack/react-query';
import { api } from '../api.ts';

/** Limits the requests for an account whose server allows very many keys. */
const MAX_NAMES = 2000;

/** Returns a function that names a key of the account. A key that was revoked is named by its id. */
export function useKeyNames(): (keyId: string) => string {
  const { data } = useQuery({
    queryKey: ['api_keys', 'names'],
    queryFn: async () => {
      const names = new Map<string, string>();
      for await (const { keyId, name } of api.apiKeys.list.all({ limit: 200 })) {
        names.set(keyId, name);
        if (names.size === MAX_NAMES) break;
      }
      return names;
    },
  });
  return (keyId) => data?.get(keyId) ?? keyId;
}
