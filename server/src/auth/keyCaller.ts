import type { Queryable } from '../db/dialect.ts';
import { query } from '../db/query.ts';
import type { Caller } from './authenticate.ts';
import { limitNames, readScope } from './keyScope.ts';

/**
 * Returns the caller that an API key stands for, for work that a key has started and that goes on without it.
 * @returns undefined if the key was revoked or has expired
 */
export async function findKeyCaller(on: Queryable, keyId: string, now: number): Promise<Caller | undefined> {
  const row = await keyById.first(on, { keyId });
  if (row === undefined || (row.expires_at ?? Number.POSITIVE_INFINITY) <= now) return undefined;
  const permissions: string[] = JSON.parse(row.permissions);
  return { accountId: row.account_id, credential: { type: 'api_key', keyId, permissions, scope: readScope(row) } };
}

const keyById = query((db, p: { keyId: string }) =>
  db
    .selectFrom('api_keys')
    .select(['account_id', 'permissions', 'expires_at', ...limitNames])
    .where('key_id', '=', p.keyId),
);
