import { sql } from 'kysely';
import type { Queryable, Store } from './dialect.ts';

/**
 * Moves the origin of the log's positions, if the database has come into another cluster of PostgreSQL.
 *
 * The log's order there is that of transaction ids, and those belong to a cluster. A database that was dumped and
 * restored elsewhere has positions that the ids of its new home may not reach for years: what is in the log would not
 * show, and what is new would stand before it. So whoever opens it there first lets new positions begin behind the old
 * ones; the cursors that readers hold keep their meaning.
 */
export async function moveLogOrigin(store: Store): Promise<void> {
  const { oneAtATime, log } = store.dialect;
  if (oneAtATime === undefined || !log.order.includes('position')) return;
  const cluster = await clusterOf(store.reader);
  const { rows: known } = await sql<{ cluster: string }>`select cluster from log_origin`.execute(store.reader.kysely);
  if (cluster !== UNKNOWN && known[0]?.cluster === cluster) return;

  const tx = await store.begin();
  try {
    await tx.connection.query(oneAtATime('migrate'), []);
    const { rows } = await sql<{ shift: number; wanted: number }>`
      select shift, coalesce((select max(position) from events), 0) + 1 - pg_current_xact_id()::text::bigint as wanted
      from log_origin`.execute(tx.kysely);
    const { shift = 0, wanted = 0 } = rows[0] ?? {};
    if (wanted > shift) {
      await tx.connection.query(`alter table events alter position set default (${log.position(wanted)})`, []);
    }
    await sql`update log_origin set cluster = ${cluster}, shift = ${Math.max(shift, wanted)}`.execute(tx.kysely);
    await tx.commit();
  } catch (error) {
    await tx.rollback().catch(() => {});
    throw error;
  }
}

/** Where a provider does not tell which cluster it is, every start looks at the positions. */
const UNKNOWN = '';

async function clusterOf({ connection }: Queryable): Promise<string> {
  try {
    const { rows } = await connection.query<{ id: string }>(
      'select system_identifier::text as id from pg_control_system()',
      [],
    );
    return rows[0]?.id ?? UNKNOWN;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === '42501') return UNKNOWN; // insufficient_privilege
    throw error;
  }
}
