import { sql } from 'kysely';
import type { SessionStore } from '../connectors/contract/host.ts';
import type { Tx } from '../db/commit.ts';
import type { Database } from '../db/database.ts';
import { FencedError } from '../db/dialect.ts';
import { Pace } from '../db/pace.ts';
import { batch, query } from '../db/query.ts';
import { aboutStored } from '../db/sealing.ts';

/**
 * The database storage of a connector for its session, encrypted because it contains credentials.
 * @param mayWrite returns false once another node owns the session, whose keys have moved on: nothing is written then
 */
export function storeOf(
  { reader, commit, seal }: Database,
  sessionId: string,
  mayWrite: () => boolean = () => true,
): SessionStore {
  const opened = (rows: readonly { key: string; value: string }[]) =>
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

  return {
    async get(key) {
      const found = await valuesOf.all(reader, { sessionId, keys: JSON.stringify([key]) });
      return opened(found).get(key);
    },
    getMany: async (keys) => opened(await valuesOf.all(reader, { sessionId, keys: JSON.stringify(keys) })),
    list: async (prefix) => opened(await valuesFrom.all(reader, { sessionId, prefix })),
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

const valuesFrom = query((db, p: { sessionId: string; prefix: string }, dialect) =>
  db
    .selectFrom('session_store')
    .select(['key', 'value'])
    .where('session_id', '=', p.sessionId)
    .where(dialect.startsWith('key', p.prefix))
    .orderBy('key'),
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
