import { cacheOf } from '../cache.ts';
import type { Clock } from '../clock.ts';
import type { Queryable } from '../db/dialect.ts';
import { query } from '../db/query.ts';

type Sole = { readonly sessionId: string } | 'none' | 'several';

const KEPT = 10_000;
/** How long another node may still use a stale value. */
const KEPT_MS = 1000;

/** Caches the only session of each account, for requests without a `sessionId`. */
export class SoleSessions {
  readonly #reader: Queryable;
  readonly #clock: Clock;
  readonly #found = cacheOf<{ sole: Sole; until: number }>(KEPT);

  constructor(reader: Queryable, clock: Clock) {
    this.#reader = reader;
    this.#clock = clock;
  }

  async of(accountId: string): Promise<Sole> {
    const now = this.#clock.elapsed();
    const known = this.#found.get(accountId);
    if (known !== undefined && known.until > now) return known.sole;
    const [first, second] = await firstSessions.all(this.#reader, { accountId });
    const sole = first === undefined ? 'none' : second === undefined ? { sessionId: first.session_id } : 'several';
    this.#found.set(accountId, { sole, until: now + KEPT_MS });
    return sole;
  }

  /** Forgets the cached value, because a session was added or removed. */
  forget(accountId: string): void {
    this.#found.delete(accountId);
  }
}

const firstSessions = query((db, p: { accountId: string }) =>
  db
    .selectFrom('sessions')
    .select('session_id')
    .where('account_id', '=', p.accountId)
    .where('deleting_at', 'is', null)
    .limit(2),
);
