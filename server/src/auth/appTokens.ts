import { hash } from 'node:crypto';
import type { Database } from '../db/database.ts';
import { query } from '../db/query.ts';
import { type KeyScope, limitNames, readScope } from './keyScope.ts';
import { allows, permissions } from './permissions.ts';

/** How the database names a code, a token or an id of OAuth: what it stores cannot be used. */
export const recordIdOf = (value: string): string => hash('sha256', value, 'base64url');

interface AppToken {
  readonly caller: {
    readonly accountId: string;
    readonly credential: {
      readonly type: 'api_key';
      readonly keyId: string;
      readonly permissions: readonly string[];
      readonly scope: KeyScope | undefined;
      readonly isAppToken: true;
    };
  };
  readonly expiresAt: number;
}

/**
 * Finds the API key for which an access token of a connected app stands. The caller gets the limits of the key as they
 * are now, and of its permissions those that the token names. A revoked or expired key ends its tokens.
 */
export class AppTokens {
  readonly #database: Database;
  readonly #resource: string;

  /** @param resource the only URL for which tokens are valid (RFC 8707) */
  constructor(database: Database, resource: string) {
    this.#database = database;
    this.#resource = resource;
  }

  async find(token: string, now: number): Promise<AppToken | undefined> {
    const row = await findToken.first(this.#database.reader, { recordId: recordIdOf(token), now });
    if (row === undefined) return undefined;
    const expiresAt = Math.min(row.token_expires_at, row.expires_at ?? Number.POSITIVE_INFINITY);
    const { aud, scope = '' }: { aud?: string; scope?: string } = JSON.parse(row.payload);
    if (expiresAt <= now || aud !== this.#resource) return undefined;
    const scopes = new Set(scope.split(' '));
    const grants: string[] = JSON.parse(row.permissions);
    return {
      caller: {
        accountId: row.account_id,
        credential: {
          type: 'api_key',
          keyId: row.key_id,
          permissions: permissions.filter((one) => scopes.has(one) && allows(grants, one)),
          scope: readScope(row),
          isAppToken: true,
        },
      },
      expiresAt,
    };
  }
}

const findToken = query((db, p: { recordId: string; now: number }) =>
  db
    .selectFrom('oauth_records')
    .innerJoin('api_keys', 'api_keys.key_id', 'oauth_records.key_id')
    .select([
      'api_keys.account_id',
      'api_keys.key_id',
      'api_keys.permissions',
      'api_keys.expires_at',
      ...limitNames.map((name) => `api_keys.${name}` as const),
      'oauth_records.payload',
      'oauth_records.expires_at as token_expires_at',
    ])
    .where('oauth_records.model', '=', 'AccessToken')
    .where('oauth_records.record_id', '=', p.recordId)
    .where('oauth_records.expires_at', '>', p.now),
);
