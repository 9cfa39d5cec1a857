import { sql } from 'kysely';
import type { Store } from './dialect.ts';
import { migrations as released } from './migrations/index.ts';

/** The database was written by a newer Switchboard: an older one must not touch it. */
export class NewerSchemaError extends Error {
  constructor(found: number, known: number) {
    super(
      `The database has schema version ${found}, this Switchboard knows up to ${known}. Start a newer Switchboard.`,
    );
    this.name = 'NewerSchemaError';
  }
}

/**
 * Brings the database up to the newest version. Each migration is one transaction that also records its version, so
 * a crash leaves the version before or the version after. Nodes that start together take turns.
 *
 * @returns the versions that were applied
 * @throws {NewerSchemaError}
 */
export async function migrate(store: Store, now: () => number, migrations = released): Promise<number[]> {
  const applied: number[] = [];
  const newest = Math.max(0, ...migrations.map(({ version }) => version));
  for (;;) {
    const tx = await store.begin();
    try {
      const lock = store.dialect.oneAtATime?.('migrate');
      if (lock !== undefined) await tx.connection.query(lock, []);
      await sql`create table if not exists schema_versions (
        version integer primary key, name text not null, applied_at bigint not null)`.execute(tx.kysely);
      const { rows } = await sql<{
        version: number | null;
      }>`select max(version) as version from schema_versions`.execute(tx.kysely);
      const current = rows[0]?.version ?? 0;
      if (current > newest) throw new NewerSchemaError(current, newest);
      const next = migrations.find(({ version }) => version > current);
      if (next !== undefined) {
        for (const statement of next.statements(store.dialect)) await tx.connection.query(statement, []);
        await sql`insert into schema_versions (version, name, applied_at)
          values (${next.version}, ${next.name}, ${now()})`.execute(tx.kysely);
      }
      await tx.commit();
      if (next === undefined) return applied;
      applied.push(next.version);
    } catch (error) {
      await tx.rollback().catch(() => {});
      throw error;
    }
  }
}
