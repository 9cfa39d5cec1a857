import { Type } from 'typebox';
import type { ApiKeyTable } from '../db/schema.ts';
import { list, optional, orNull } from '../invoke/fields.ts';

/* The limits of an API key besides its permissions; `auth/keyScope.ts` reads them. */

export const limitInput = {
  sessionIds: optional(
    orNull(
      Type.Array(Type.String({ maxLength: 100 }), { minItems: 1, maxItems: 100 }),
      'Only these sessions and what belongs to them; `null` for all, which is the default.',
    ),
  ),
};

export const limitOutput = {
  sessionIds: orNull(list(Type.String(), 'Ids of sessions.'), 'Sessions that the key may use; null for all.'),
};

interface Limits {
  readonly sessionIds?: readonly string[] | null | undefined;
}

export const noLimits = { session_ids: null, allowed_ips: null, allowed_recipients: null, send_quota: null } as const;

/** Returns the columns of the limits that are given. */
export function limitColumns({ sessionIds }: Limits): Partial<ApiKeyTable> {
  return { ...(sessionIds !== undefined && { session_ids: listColumn(sessionIds) }) };
}

export function toLimits(row: ApiKeyTable) {
  return { sessionIds: listOf(row.session_ids) };
}

function listColumn(values: readonly string[] | null): string | null {
  return values && JSON.stringify([...new Set(values)]);
}

function listOf(column: string | null): string[] | null {
  return column === null ? null : JSON.parse(column);
}
