import { sql } from 'kysely';
import { sleep } from '../async.ts';
import { systemClock } from '../clock.ts';
import { OperatorError } from '../errors.ts';
import { thrownMessage } from '../thrown.ts';
import { inTransaction, serialize } from './commit.ts';
import type { ChangedTable, Limits, OpenTransaction, Queryable, Store } from './dialect.ts';
import { newestShape, migrations as released } from './migrations/index.ts';
import type { Migration } from './migrations/migration.ts';
import { differences, fingerprintOf, readShape } from './shape.ts';

const ADVICE =
  'Grant the database user what it lacks, undo the manual changes, restore a backup, or start with an empty database (DATA_DIR or DATABASE_URL).';
const DIFFERENCES_SHOWN = 10;
/** How long an upgrade tries to lock its tables. */
const LOCKS_FOR_MS = 5 * 60_000;
const LOCK_RETRY_MS = 200;
const MAX_LOCK_RETRY_MS = 5000;
const REPORT_EVERY_MS = 60_000;

export class NewerSchemaError extends OperatorError {
  constructor(found: number, known: number) {
    super(
      `The database has schema version ${found}, but this version of Switchboard supports at most ${known}. Start a newer version.`,
    );
  }
}

export class EarlierSchemaError extends OperatorError {
  constructor(found: number) {
    super(
      `The database has schema version ${found}, from before the first release. Stop all nodes, make a backup, and convert it with \`switchboard upgrade\`. The server changed nothing.`,
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
    const why = thrownMessage(cause);
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

export class TablesInUseError extends OperatorError {
  constructor(work: string, holders: readonly string[], cause: unknown) {
    const list = holders.length > 0 ? holders.join(', ') : 'they have ended since';
    super(
      [
        `${work} could not lock its tables within ${LOCKS_FOR_MS / 60_000} minutes, because other connections use them: ${list}.`,
        'Nothing was changed, and running nodes are not affected. Wait until those connections are done, for example a pg_dump or an open transaction, or end them with pg_terminate_backend(pid). Then start again.',
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

interface MigrationOptions {
  readonly beforeUpgrade?: (on: Queryable) => Promise<void>;
  readonly locksForMs?: number;
  readonly onWait?: (holders: readonly string[]) => void;
}

/**
 * Brings the database up to the newest version. Each migration is one transaction that also records its version, so a
 * crash leaves either version intact. Nodes that start together take turns. An upgrade that cannot lock its tables soon
 * gives up its place, because everyone else waits behind it, and tries again. While it has them, running nodes wait,
 * but they can read tables that only get indexes. An older release keeps working on a newer schema unless one of the
 * newer migrations breaks it.
 *
 * Before it changes anything, it compares the tables with those that the same migrations make in an empty database. A
 * schema newer than this release is not compared: only `works_from` says whether the older release can use it.
 *
 * @param options.beforeUpgrade throws if the database cannot be used for another reason, before it is upgraded for
 * nothing
 * @param options.locksForMs how long it tries to lock tables
 * @param options.onWait called when tables are locked, with the connections that hold them, and again after each minute
 * @returns the versions that were applied
 * @throws {SchemaMismatchError}
 * @throws {MigrationError}
 * @throws {NewerSchemaError}
 * @throws {EarlierSchemaError}
 * @throws {OlderNodesError}
 * @throws {TablesInUseError}
 */
export async function migrate(
  store: Store,
  now: () => number,
  migrations = released,
  { beforeUpgrade = async () => {}, locksForMs = LOCKS_FOR_MS, onWait = () => {} }: MigrationOptions = {},
): Promise<number[]> {
  const applied: number[] = [];
  const oldest = migrations[0]?.version ?? 0;
  const newest = Math.max(0, ...migrations.map(({ version }) => version));
  const applyNext = async (tx: OpenTransaction): Promise<number | undefined> => {
    await serialize(tx, 'migrate');
    await tx.dialect.tableLocks?.limit(tx.connection);
    const { version, worksFrom } = await readVersion(tx);
    if (worksFrom > newest) throw new NewerSchemaError(version, newest);
    if (version > 0 && version < oldest) throw new EarlierSchemaError(version);
    if (applied.length === 0 && version > 0 && version <= newest) await checkShape(tx, version, migrations);
    const next = migrations.find((migration) => migration.version > version);
    if (next === undefined) return undefined;
    if (version > 0) await beforeUpgrade(tx);
    if (version > 0 && next.breaksOlder !== undefined) await requireNoNodes(tx, next);
    await upgrade(tx, next, version);
    const works = next.breaksOlder === undefined ? worksFrom : next.version;
    await sql`insert into schema_versions (version, name, works_from, applied_at)
      values (${next.version}, ${next.name}, ${works}, ${now()})`.execute(tx.kysely);
    return next.version;
  };
  for (;;) {
    const version = await untilLocked(store, { locksForMs, onWait }, () =>
      inTransaction(store, undefined, (tx) => applyNext(tx).catch((error) => throwBrokenOff(tx, error)), UNLIMITED),
    );
    if (version === undefined) return applied;
    applied.push(version);
  }
}

/** Nodes that start together wait for the one that migrates. `tableLocks` limits the other waits. */
const UNLIMITED: Limits = { lockMs: 0, statementMs: 0 };

/** @throws {BrokenOffError} for an error of tables that others have locked; otherwise the error itself */
function throwBrokenOff({ dialect }: OpenTransaction, error: unknown, work = 'The start'): never {
  throw dialect.faultOf(error) === 'conflict' ? new BrokenOffError(work, error) : error;
}

/** Work on the schema was broken off, and nothing was changed. */
class BrokenOffError extends Error {
  readonly work: string;

  constructor(work: string, cause: unknown) {
    super('Work on the schema was broken off', { cause });
    this.work = work;
  }
}

/**
 * Repeats work that was broken off, because its tables are locked or it met a running node in a deadlock.
 * @throws {TablesInUseError}
 */
async function untilLocked<T>(
  { dialect, reader }: Store,
  { locksForMs, onWait }: Required<Pick<MigrationOptions, 'locksForMs' | 'onWait'>>,
  work: () => Promise<T>,
): Promise<T> {
  const startedAt = performance.now();
  let reportedAt = Number.NEGATIVE_INFINITY;
  for (let waitMs = LOCK_RETRY_MS; ; waitMs = Math.min(waitMs * 2, MAX_LOCK_RETRY_MS)) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof BrokenOffError)) throw error;
      const now = performance.now();
      const isLast = now + waitMs > startedAt + locksForMs;
      if (isLast || now > reportedAt + REPORT_EVERY_MS) {
        const holders = (await dialect.tableLocks?.holders(reader.connection)) ?? [];
        if (isLast) throw new TablesInUseError(error.work, holders, error.cause);
        onWait(holders);
        reportedAt = now;
      }
      await sleep(systemClock, waitMs);
    }
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
 * Describing a table makes PostgreSQL lock it, so that somebody else's lock would stop the start.
 * @throws {SchemaMismatchError}
 * @throws {BrokenOffError}
 */
async function checkShape(tx: OpenTransaction, version: number, migrations: readonly Migration[]): Promise<void> {
  await requireShape(tx, version, migrations).catch((error) => throwBrokenOff(tx, error, 'The check of the schema'));
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

/**
 * @throws {MigrationError}
 * @throws {BrokenOffError}
 */
async function upgrade(tx: OpenTransaction, migration: Migration, recorded: number): Promise<void> {
  try {
    await tx.dialect.tableLocks?.take(tx.connection, changedTables(migration.statements(tx.dialect)));
    await apply(tx, migration);
  } catch (error) {
    const fault = tx.dialect.faultOf(error);
    if (fault === 'conflict')
      throw new BrokenOffError(`The upgrade to schema version ${migration.version} (${migration.name})`, error);
    // A full or unreachable database has an error of its own.
    if (fault === 'away') throw error;
    throw new MigrationError(migration, recorded, error);
  }
}

/**
 * Returns the existing tables that statements change, in the order of their names. Locking them in this order before
 * anything else keeps two upgrades, or an upgrade and an operator, from waiting for each other.
 */
function changedTables(statements: readonly string[]): ChangedTable[] {
  const find = (pattern: RegExp) => statements.flatMap((text) => text.match(pattern)?.[1] ?? []);
  const created = new Set(find(/^\s*create (?:virtual )?table (?:if not exists )?(\w+)/i));
  const rewritten = new Set([
    ...find(/\balter table (\w+)/i),
    ...find(/^\s*(?:update|insert into|delete from|drop table) (\w+)/i),
  ]);
  const indexed = find(/^\s*create (?:unique )?index \w+ on (\w+)/i);
  return [...new Set([...rewritten, ...indexed])]
    .filter((table) => !created.has(table))
    .toSorted()
    .map((name) => ({ name, isReadable: !rewritten.has(name) }));
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
