import { setImmediate } from 'node:timers/promises';
import { sql } from 'kysely';
import type { SessionStore } from '../connectors/contract/host.ts';
import type { Tx } from '../db/commit.ts';
import type { Database } from '../db/database.ts';
import { FencedError } from '../db/dialect.ts';
import { LISTED_ROWS, Pace } from '../db/pace.ts';
import { batch, query } from '../db/query.ts';
import { aboutStored } from '../db/sealing.ts';

/** More than any session has. */
const ALL_ROWS = 2 ** 31 - 1;

interface Entry {
  readonly key: string;
  readonly value: string;
}

/**
 * The database storage of a connector for its session, encrypted because it contains credentials.
 * @param mayWrite returns false once another node owns the session, whose keys have moved on: nothing is written then
 */
export function storeOf(
  { reader, commit, seal }: Database,
  sessionId: string,
  mayWrite: () => boolean = () => true,
): SessionStore {
  const opened = (rows: readonly Entry[]) =>
    new Map(rows.map(({ key, value }) => [key, seal.open(value, aboutStored(sessionId, key))]));

  function requireWritable(): void {
    if (!mayWrite()) throw new FencedError();
  }

  async function write(changes: ReadonlyMap<string, string | null>): Promise<void> {
    const gone = [...changes].flatMap(([key, text]) => (text === null ? [key] : []));
    const rows = [...changes].flatMap(([key, text]) =>
      text === null ? [] : [{ session_id: sessionId, key, value: seal.close(text, aboutStored(sessionId, key)) }],
    );
    requireWritable();
    // Keyed by the session, so that writes take effect in order.
    await commit(async (tx) => {
      if (gone.length > 0) await dropKeys.run(tx, { sessionId, keys: JSON.stringify(gone) });
      await putValues.run(tx, rows);
    }, sessionId);
  }

  /** Reads and decrypts in steps, because a session has a key for each contact with a hidden number. */
  async function list(prefix: string): Promise<ReadonlyMap<string, string>> {
    const found = new Map<string, string>();
    // PostgreSQL finds a prefix by reading all keys.
    const limit = reader.dialect.hasConcurrentWriters ? ALL_ROWS : LISTED_ROWS;
    for (let after: string | undefined; ; await setImmediate()) {
      const page: Entry[] =
        after === undefined
          ? await valuesFrom.all(reader, { sessionId, prefix, limit })
          : await valuesAfter.all(reader, { sessionId, prefix, after, limit });
      for (let at = 0; at < page.length; at += LISTED_ROWS) {
        if (at > 0) await setImmediate();
        for (const [key, value] of opened(page.slice(at, at + LISTED_ROWS))) found.set(key, value);
      }
      if (page.length < limit) return found;
      after = page.at(-1)?.key;
    }
  }

  return {
    async get(key) {
      const found = await valuesOf.all(reader, { sessionId, keys: JSON.stringify([key]) });
      return opened(found).get(key);
    },
    getMany: async (keys) => opened(await valuesOf.all(reader, { sessionId, keys: JSON.stringify(keys) })),
    list,
    set: (key, value) => write(new Map([[key, value]])),
    write,
    delete: (key) => write(new Map([[key, null]])),
    async clear() {
      // A session has keys for each person it writes with.
      const step = (tx: Tx, rows: number) => {
        requireWritable();
        return dropSome.run(tx, { sessionId, rows });
      };
      await new Pace().repeat(commit, step, { key: sessionId });
    },
  };
}

const putValues = batch(
  { session_id: 'text', key: 'text', value: 'text' },
  ({ row, from }) => sql`
    insert into session_store (session_id, key, value) select ${row.session_id}, ${row.key}, ${row.value} ${from}
    on conflict (session_id, key) do update set value = excluded.value`,
);

const valuesOf = query((db, p: { sessionId: string; keys: string }, dialect) =>
  db
    .selectFrom('session_store')
    .select(['key', 'value'])
    .where('session_id', '=', p.sessionId)
    .where('key', 'in', dialect.texts(p.keys)),
);

interface Listed {
  readonly sessionId: string;
  readonly prefix: string;
  readonly limit: number;
}

const valuesFrom = query((db, p: Listed, dialect) =>
  db
    .selectFrom('session_store')
    .select(['key', 'value'])
    .where('session_id', '=', p.sessionId)
    .where(dialect.startsWith('key', p.prefix))
    .orderBy('key')
    .limit(p.limit),
);

/** SQLite searches with the first of the two lower bounds. */
const valuesAfter = query((db, p: Listed & { after: string }, dialect) =>
  db
    .selectFrom('session_store')
    .select(['key', 'value'])
    .where('session_id', '=', p.sessionId)
    .where('key', '>', p.after)
    .where(dialect.startsWith('key', p.prefix))
    .orderBy('key')
    .limit(p.limit),
);

const dropSome = query((db, p: { sessionId: string; rows: number }) =>
  db
    .deleteFrom('session_store')
    .where('session_id', '=', p.sessionId)
    .where('key', 'in', (eb) =>
      eb.selectFrom('session_store').select('key').where('session_id', '=', p.sessionId).limit(p.rows),
    ),
);

const dropKeys = query((db, p: { sessionId: string; keys: string }, dialect) =>
  db.deleteFrom('session_store').where('session_id', '=', p.sessionId).where('key', 'in', dialect.texts(p.keys)),
);
