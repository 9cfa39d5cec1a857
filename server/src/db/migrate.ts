import { sql } from 'kysely';
import type { OpenTransaction, Store } from './dialect.ts';
import { migrations as released } from './migrations/index.ts';
import type { Migration } from './migrations/migration.ts';

/** The database was brought up to date by a newer Switchboard, in a way that an older one cannot work with. */
export class NewerSchemaError extends Error {
  constructor(found: number, known: number) {
    super(
      `The database has schema version ${found}, this Switchboard knows up to ${known}. Start a newer Switchboard.`,
    );
    this.name = 'NewerSchemaError';
  }
}

/** An upgrade cannot run beside the nodes that are still running. */
export class OlderNodesError extends Error {
  constructor({ name, breaksOlder }: Migration, nodes: readonly { nodeId: string; version: string }[]) {
    const list = nodes.map(({ nodeId, version }) => `${nodeId} (${version})`).join(', ');
    super(
      `This upgrade ("${name}") breaks older nodes: ${breaksOlder}. Stop those that run first, and then start this one: ${list}.`,
    );
    this.name = 'OlderNodesError';
  }
}

/**
 * Brings the database up to the newest version. Each migration is one transaction that also records its version, so
 * a crash leaves the version before or the version after. Nodes that start together take turns. Where a newer release
 * has been before, an older one goes on beside it unless one of the steps it does not know breaks it.
 *
 * @returns the versions that were applied
 * @throws {NewerSchemaError}
 * @throws {OlderNodesError}
 */
export async function migrate(store: Store, now: () => number, migrations = released): Promise<number[]> {
  const applied: number[] = [];
  const newest = Math.max(0, ...migrations.map(({ version }) => version));
  for (;;) {
    const tx = await store.begin();
    try {
      const lock = store.dialect.oneAtATime?.('migrate');
      if (lock !== undefined) await tx.connection.query(lock, []);
      const { version, worksFrom } = await readVersion(tx);
      if (worksFrom > newest) throw new NewerSchemaError(version, newest);
      const next = migrations.find((migration) => migration.version > version);
      if (next !== undefined) {
        if (next.breaksOlder !== undefined && version > 0) await requireNoNodes(tx, next);
        for (const statement of next.statements(store.dialect)) await tx.connection.query(statement, []);
        await sql`insert into schema_versions (version, name, works_from, applied_at) values
          (${next.version}, ${next.name}, ${next.breaksOlder === undefined ? worksFrom : next.version}, ${now()})`.execute(
          tx.kysely,
        );
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

interface SchemaVersion {
  readonly version: number;
  /** What a Switchboard must know at least to work with this schema. */
  readonly worksFrom: number;
}

async function readVersion({ kysely }: OpenTransaction): Promise<SchemaVersion> {
  await sql`create table if not exists schema_versions (
    version integer primary key, name text not null, works_from integer not null, applied_at bigint not null)`.execute(
    kysely,
  );
  const { rows } = await sql<SchemaVersion>`
    select version, works_from as "worksFrom" from schema_versions order by version desc limit 1`.execute(kysely);
  return rows[0] ?? { version: 0, worksFrom: 0 };
}

/** @throws {OlderNodesError} */
async function requireNoNodes({ kysely, dialect }: OpenTransaction, migration: Migration): Promise<void> {
  const { rows } = await sql<{ nodeId: string; version: string }>`
    select node_id as "nodeId", version from nodes where expires_at > ${dialect.now} order by node_id`.execute(kysely);
  if (rows.length > 0) throw new OlderNodesError(migration, rows);
}
