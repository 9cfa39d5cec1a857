import { cacheOf } from '../cache.ts';
import type { Connector } from '../connectors/contract/connector.ts';
import type { Queryable } from '../db/dialect.ts';
import { query } from '../db/query.ts';

const KEPT = 10_000;

/** Finds the connectors of sessions. A session never changes its connector, so they are cached. */
export class SessionConnectors {
  readonly #reader: Queryable;
  readonly #connectors: ReadonlyMap<string, Connector>;
  readonly #names = cacheOf<string>(KEPT);

  constructor(reader: Queryable, connectors: ReadonlyMap<string, Connector>) {
    this.#reader = reader;
    this.#connectors = connectors;
  }

  /**
   * Returns a function that returns the connector of one of the sessions; undefined if this server does not have it.
   */
  async of(sessionIds: readonly string[], on = this.#reader): Promise<(sessionId: string) => Connector | undefined> {
    const names = new Map<string, string>();
    const unknown = new Set<string>();
    for (const sessionId of sessionIds) {
      const name = this.#names.get(sessionId);
      if (name === undefined) unknown.add(sessionId);
      else names.set(sessionId, name);
    }
    if (unknown.size > 0) {
      const found = await namesOf.all(on, { sessionIds: JSON.stringify([...unknown]) });
      for (const { session_id: sessionId, connector } of found) {
        names.set(sessionId, connector);
        this.#names.set(sessionId, connector);
      }
    }
    return (sessionId) => this.#connectors.get(names.get(sessionId) ?? '');
  }
}

const namesOf = query((db, p: { sessionIds: string }, dialect) =>
  db.selectFrom('sessions').select(['session_id', 'connector']).where('session_id', 'in', dialect.texts(p.sessionIds)),
);
