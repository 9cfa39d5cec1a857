import { LRUCache } from 'lru-cache';
import type { Clock } from '../clock.ts';
import type { Queryable } from '../db/dialect.ts';
import { query } from '../db/query.ts';

export type Sole = { readonly sessionId: string } | 'none' | 'several';

/** Caches the only session of an account, for requests without a `sessionId`. */
export interface SoleSessions {
  sole(accountId: string): Promise<Sole>;
  /** Forgets the cached value, because a session was added or removed. */
  recount(accountId: string): void;
}

const KEPT = 10_000;
/** How long another node may still use a stale value. */
const KEPT_MS = 1000;

export function createSoleSessions(reader: Queryable, clock: Clock): SoleSessions {
  const found = new LRUCache<string, { sole: Sole; until: number }>({ max: KEPT });
  return {
    async sole(accountId) {
      const now = clock.elapsed();
      const known = found.get(accountId);
      if (known !== undefined && known.until > now) return known.sole;
      const [first, second] = await firstSessions.all(reader, { accountId });
      const sole = first === undefined ? 'none' : second === undefined ? { sessionId: first.session_id } : 'several';
      found.set(accountId, { sole, until: now + KEPT_MS });
      return sole;
    },
    recount: (accountId) => void found.delete(accountId),
  };
}

const firstSessions = query((db, p: { accountId: string }) =>
  db.selectFrom('sessions').select('session_id').where('account_id', '=', p.accountId).limit(2),
);
