import type { ApiKeyTable } from '../db/schema.ts';

/** The limits of an API key besides its permissions. A missing part is no limit. */
export interface KeyScope {
  readonly sessionIds?: readonly string[];
  /** The limits as they are stored: two scopes with the same text are the same. */
  readonly text: string;
}

type Columns = Pick<ApiKeyTable, 'session_ids'>;

/** Returns undefined for a key without limits. */
export function readScope(row: Columns): KeyScope | undefined {
  if (row.session_ids === null) return undefined;
  return {
    text: JSON.stringify([row.session_ids]),
    ...(row.session_ids !== null && { sessionIds: JSON.parse(row.session_ids) }),
  };
}

/** A caller, whose credential has limits only if it is an API key. */
export interface Limited {
  readonly accountId: string;
  readonly credential: { readonly type: string; readonly scope?: KeyScope | undefined };
}

/** Returns the limits of the caller's key; undefined if there are none, as for a login token. */
export function scopeOf({ credential }: Limited): KeyScope | undefined {
  return credential.scope;
}
