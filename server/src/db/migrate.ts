import { sql } from 'kysely';
import { OperatorError } from '../errors.ts';
import { inTransaction, serialize } from './commit.ts';
import type { OpenTransaction, Queryable, Store } from './dialect.ts';
import { newestShape, migrations as released } from './migrations/index.ts';
import type { Migration } from './migrations/migration.ts';
import { differences, fingerprintOf, readShape } from './shape.ts';

const ADVICE = 'Undo the manual changes, restore a backup, or start with an empty database (DATA_DIR or DATABASE_URL).';
const DIFFERENCES_SHOWN = 10;

export class NewerSchemaError extends OperatorError {
  constructor(found: number, known: number) {
    super(
      `The database has schema version ${found}, but this version of Switchboard supports at most ${known}. Start a newer version.`,
    );
  }
}

export class SchemaMismatchError extends OperatorError {
  constructor(version: number, found: readonly string[]) {
    const shown = found.slice(0, DIFFERENCES_SHOWN).map((difference) => `  ${difference}`);
    if (found.length > shown.length) shown.push(`  and ${found.length - shown.length} more`);
    super(
      [
        `The database records schema version ${version}, but its tables differ from that version:`,
        ...shown,
        'It was written by a version from before the first release, or its tables were changed by hand. The server changed nothing.',
        ADVICE,
      ].join('\n'),
    );
  }
}

export class MigrationError extends OperatorError {
  constructor({ version, name }: Migration, recorded: number, cause: unknown) {
    const why = cause instanceof Error ? cause.message : String(cause);
    super(
      [
        `The upgrade to schema version ${version} (${name}) failed: ${why}`,
        `The database records version ${recorded}, but its tables may be those of another version. Nothing was changed.`,
        ADVICE,
      ].join('\n'),
      { cause },
    );
  }
}

export class OlderNodesError extends OperatorError {
  constructor({ name, breaksOlder }: Migration, nodes: readonly { nodeId: string; version: string }[]) {
    const list = nodes.map(({ nodeId, version }) => `${nodeId} (${version})`).join(', ');
    super(
      `The upgrade "${name}" breaks older nodes: ${breaksOlder}. First stop the older nodes that are running (${list}), then start this one.`,
    );
  }
}

/**
 * Brings the database up to the newest version. Each migration is one transaction that also records its version, so a
 * crash leaves either version intact. Nodes that start together take turns. An older release keeps working on a newer
 * schema unless one of the newer migrations breaks it.
 *
 * Before it changes anything, it compares the tables with those that the same migrations make in an empty database. A
 * schema newer than this release is not compared: only `works_from` says whether the older release can use it.
 *
 * @param beforeUpgrade throws if the database cannot be used for another reason, before it is upgraded for nothing
 * @returns the versions that were applied
 * @throws {SchemaMismatchError}
 * @throws {MigrationError}
 * @throws {NewerSchemaError}
 * @throws {OlderNodesError}
 */
export async function migrate(
  store: Store,
  now: () => number,
  migrations = released,
  beforeUpgrade: (on: Queryable) => Promise<void> = async () => {},
): Promise<number[]> {
  const applied: number[] = [];
  const newest = Math.max(0, ...migrations.map(({ version }) => version));
  const applyNext = async (tx: OpenTransaction): Promise<number | undefined> => {
    await serialize(tx, 'migrate');
    const { version, worksFrom } = await readVersion(tx);
    if (worksFrom > newest) throw new NewerSchemaError(version, newest);
    if (applied.length === 0 && version > 0 && version <= newest) await requireShape(tx, version, migrations);
    const next = migrations.find((migration) => migration.version > version);
    if (next === undefined) return undefined;
    if (version > 0) await beforeUpgrade(tx);
    if (next.breaksOlder !== undefined && version > 0) await requireNoNodes(tx, next);
    await upgrade(tx, next, version);
    const works = next.breaksOlder === undefined ? worksFrom : next.version;
    await sql`insert into schema_versions (version, name, works_from, applied_at)
      values (${next.version}, ${next.name}, ${works}, ${now()})`.execute(tx.kysely);
    return next.version;
  };
  for (;;) {
    const version = await inTransaction(store, undefined, applyNext);
    if (version === undefined) return applied;
    applied.push(version);
  }
}

/**
 * Refuses a database that only a newer release can use. Changes nothing.
 * @throws {NewerSchemaError}
 */
export async function requireKnownSchema(on: Queryable): Promise<void> {
  const { version, worksFrom } = await readSchemaVersion(on);
  const newest = Math.max(...released.map((migration) => migration.version));
  if (worksFrom > newest) throw new NewerSchemaError(version, newest);
}

interface SchemaVersion {
  readonly version: number;
  /** The oldest version that can use this schema. */
  readonly worksFrom: number;
}

async function readVersion(tx: OpenTransaction): Promise<SchemaVersion> {
  await createVersions(tx);
  return readSchemaVersion(tx);
}

async function readSchemaVersion({ kysely }: Queryable): Promise<SchemaVersion> {
  // All columns, because tables from before the first release have no `works_from`.
  const { rows } = await sql<{ version: number; works_from?: number }>`
    select * from schema_versions order by version desc limit 1`.execute(kysely);
  return { version: rows[0]?.version ?? 0, worksFrom: rows[0]?.works_from ?? 0 };
}

async function createVersions({ connection }: Queryable): Promise<void> {
  await connection.query(
    `create table if not exists schema_versions (
      version integer primary key, name text not null, works_from integer not null, applied_at bigint not null)`,
    [],
  );
}

/**
 * Making the expected tables takes PostgreSQL some 140 ms, so the fingerprint of the newest ones is recorded. Tables
 * that differ from it may still be usable.
 * @throws {SchemaMismatchError}
 */
async function requireShape(tx: OpenTransaction, version: number, migrations: readonly Migration[]): Promise<void> {
  const actual = await readShape(tx);
  const isNewest = migrations === released && version === released.at(-1)?.version;
  if (isNewest && fingerprintOf(actual) === newestShape[tx.dialect.name]) return;
  const expected = await tx.dialect.shape.inScratch(tx, async (scratch) => {
    await createVersions(scratch);
    for (const migration of migrations) if (migration.version <= version) await apply(scratch, migration);
    return readShape(scratch);
  });
  const found = differences(expected, actual);
  if (found.length > 0) throw new SchemaMismatchError(version, found);
}

/** @throws {MigrationError} */
async function upgrade(tx: OpenTransaction, migration: Migration, recorded: number): Promise<void> {
  try {
    await apply(tx, migration);
  } catch (error) {
    // A full or unreachable database has an error of its own.
    if (tx.dialect.isUnavailable(error)) throw error;
    throw new MigrationError(migration, recorded, error);
  }
}

async function apply({ connection, dialect }: Queryable, { statements }: Migration): Promise<void> {
  for (const statement of statements(dialect)) await connection.query(statement, []);
}

/** @throws {OlderNodesError} */
async function requireNoNodes({ kysely, dialect }: OpenTransaction, migration: Migration): Promise<void> {
  const { rows } = await sql<{ nodeId: string; version: string }>`
    select node_id as "nodeId", version from nodes where expires_at > ${dialect.now} order by node_id`.execute(kysely);
  if (rows.length > 0) throw new OlderNodesError(migration, rows);
}
