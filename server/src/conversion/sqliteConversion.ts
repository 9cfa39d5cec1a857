import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { type Queryable, queryable } from '../db/dialect.ts';
import { sqlite } from '../db/sqlite/sqlite.ts';
import { connectionOn, NEW_FILE } from '../db/sqlite/sqliteConnection.ts';
import { SqliteFiles } from '../db/sqlite/sqliteFiles.ts';
import { OperatorError } from '../errors.ts';
import { thrownMessage } from '../thrown.ts';
import type { ConversionDatabase } from './conversionDatabase.ts';
import { readEarlierVersion } from './earlierVersion.ts';
import type { Tables } from './plan.ts';
import { type Digest, RowSum } from './rowSum.ts';

/** The database on disk cannot be converted; the message explains what to do. */
export class ConversionFileError extends OperatorError {}

/** Free space that a conversion needs, in sizes of the source. Its tables and indexes take about as much again. */
const SPACE_FACTOR = 1.5;
const MIN_SPACE_BYTES = 64 * 1024 ** 2;

const TABLES = (schema: string) => `
  select t.name as "table", c.name as "column", c."notnull" as required
  from pragma_table_list t join pragma_table_info(t.name, t.schema) c
  where t.schema = '${schema}' and t.type = 'table' and t.name not like 'sqlite%' and t.name <> 'schema_versions'
    and t.name not like 'conversion%'
  order by t.name, c.cid`;

/**
 * Opens the database of a data folder, which the caller has locked, and creates its copy or continues one.
 * @param check throws if the source cannot be used
 * @returns undefined if it has no earlier schema
 * @throws {ConversionFileError}
 */
export async function openSqliteConversion(
  dataDir: string,
  check: (source: Queryable) => Promise<void>,
): Promise<ConversionDatabase | undefined> {
  const file = join(dataDir, 'switchboard.db');
  const copy = `${file}.upgrading`;
  putBack(dataDir, file, copy);
  if (!existsSync(file))
    throw new ConversionFileError(`There is no database in ${dataDir}. Set DATA_DIR to the folder of the server.`);
  SqliteFiles.requireComplete(file);
  const source = await readSource(file, check);
  if (source === undefined) return undefined;
  const kept = join(dataDir, `switchboard.schema-${source.version}.db`);
  requireUnused(file, kept);
  await requireSpace(file, copy);
  closeSync(openSync(copy, 'a', 0o600));
  chmodSync(copy, 0o600);
  const database = new DatabaseSync(copy);
  database.exec(`${NEW_FILE}; pragma foreign_keys = off; pragma cache_size = -32768`);
  // A power cut loses the last batches, and never damages the copy.
  database.exec('pragma journal_mode = wal; pragma synchronous = normal');
  database.prepare('attach ? as earlier').run(`${pathToFileURL(file).href}?mode=ro`);
  const on = queryable(sqlite, connectionOn(database));
  const tables = async (schema: string) => tablesOf((await on.connection.query<ColumnRow>(TABLES(schema), [])).rows);
  return {
    on,
    version: source.version,
    names: {
      source: (table) => `earlier.${table}`,
      target: (table) => `main.${table}`,
      version: source.version,
      database: 'sqlite',
    },
    copyName: copy,
    discardAdvice: 'run switchboard upgrade --restart',
    sourceTables: () => tables('earlier'),
    targetTables: () => tables('main'),
    async transaction(work) {
      database.exec('begin immediate');
      try {
        const result = await work();
        database.exec('commit');
        return result;
      } catch (error) {
        if (database.isTransaction) database.exec('rollback');
        throw error;
      }
    },
    digest: async (query) => digestOf(database, query),
    rowText: (values) => `json_array(${values.join(', ')})`,
    async finish() {
      // The count of transactions goes on, so that the copy is complete by `switchboard.commits`.
      database.exec(`pragma user_version = ${source.commits}`);
    },
    async discard() {
      database.close();
      removeWithLog(copy);
    },
    async swap() {
      database.exec('detach earlier; pragma wal_checkpoint(truncate); pragma journal_mode = delete');
      database.close();
      swapFiles({ file, copy, kept });
      return kept;
    },
    close: async () => database.close(),
  };
}

export interface ColumnRow {
  readonly table: string;
  readonly column: string;
  readonly required: number | boolean;
}

export function tablesOf(rows: readonly ColumnRow[]): Tables {
  const byTable = Map.groupBy(rows, ({ table }) => table);
  return new Map(
    [...byTable].map(([table, found]) => [
      table,
      {
        columns: found.map(({ column }) => column),
        required: new Set(found.filter(({ required }) => required).map(({ column }) => column)),
      },
    ]),
  );
}

interface Source {
  readonly version: number;
  /** Counter of transactions; see `SqliteFiles`. */
  readonly commits: number;
}

/** Reads the version, checks every page, and moves the write-ahead log into the file. Changes no row. */
async function readSource(file: string, check: (source: Queryable) => Promise<void>): Promise<Source | undefined> {
  try {
    const database = new DatabaseSync(file);
    try {
      const isOurs = database.prepare(`select 1 from sqlite_schema where name = 'schema_versions'`).all().length > 0;
      if (!isOurs) return undefined;
      const on = queryable(sqlite, connectionOn(database));
      const version = await readEarlierVersion(on);
      if (version === undefined) return undefined;
      await check(on);
      const [problem] = database.prepare('pragma integrity_check(1)').all();
      if (problem?.['integrity_check'] !== 'ok') throw damaged(file, String(problem?.['integrity_check']));
      database.exec('pragma wal_checkpoint(truncate)');
      return { version, commits: Number(database.prepare('pragma user_version').get()?.['user_version']) };
    } finally {
      database.close();
    }
  } catch (error) {
    throw error instanceof OperatorError ? error : damaged(file, thrownMessage(error));
  }
}

const damaged = (file: string, why: string) =>
  new ConversionFileError(`${file} is damaged: ${why}. Nothing was changed. Restore a backup, then upgrade.`);

function requireUnused(file: string, kept: string): void {
  const [present, inPlace] = [statSync(kept, { throwIfNoEntry: false }), statSync(file)];
  // The same file after a crash between the steps of the swap.
  if (present === undefined || present.ino === inPlace.ino) return;
  throw new ConversionFileError(`${kept} exists already, from an earlier upgrade. Move or delete it, and try again.`);
}

async function requireSpace(file: string, copy: string): Promise<void> {
  const needed = Math.max(MIN_SPACE_BYTES, statSync(file).size * SPACE_FACTOR);
  const present = statSync(copy, { throwIfNoEntry: false })?.size ?? 0;
  const { bavail, bsize } = await statfs(dirname(file));
  if (bavail * bsize + present >= needed) return;
  const megabytes = (bytes: number) => `${Math.ceil(bytes / 1024 ** 2)} MB`;
  throw new ConversionFileError(
    `The upgrade needs ${megabytes(needed)} of free space in ${dirname(file)}, which has ${megabytes(bavail * bsize)}. Nothing was changed. Free some space, and try again.`,
  );
}

function digestOf(database: DatabaseSync, query: string): Digest {
  const statement = database.prepare(query);
  statement.setReturnArrays(true);
  const sum = new RowSum();
  for (const row of statement.iterate()) sum.add(String(Object.values(row)[0]));
  return sum.digest();
}

/** Each step leaves a complete database in place. */
function swapFiles({ file, copy, kept }: { file: string; copy: string; kept: string }): void {
  // A log that is left would be applied to another file.
  for (const path of [`${file}-wal`, `${copy}-wal`])
    if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) > 0)
      throw new ConversionFileError(`${path} is in use by another program. End it, and try again.`);
  for (const path of [file, copy]) for (const end of ['-wal', '-shm']) rmSync(`${path}${end}`, { force: true });
  syncPath(copy);
  keepFile(file, kept);
  chmodSync(kept, 0o600);
  syncPath(dirname(file));
  renameSync(copy, file);
  syncPath(dirname(file));
  // Later than the swap, because an interrupted one continues by them. A server ignores them.
  const database = new DatabaseSync(file);
  for (const table of ['conversion_progress', 'conversion_positions']) database.exec(`drop table if exists ${table}`);
  database.close();
}

/** Gives the file a second name. Without hard links, it loses the first one until the copy has it. */
function keepFile(file: string, kept: string): void {
  if (existsSync(kept)) return; // of an interrupted swap
  try {
    linkSync(file, kept);
  } catch {
    renameSync(file, kept);
  }
}

/** Undoes the first step of a swap without hard links that was interrupted. */
function putBack(dataDir: string, file: string, copy: string): void {
  if (existsSync(file) || !existsSync(copy)) return;
  const [kept, ...others] = readdirSync(dataDir).filter((name) => /^switchboard\.schema-\d+\.db$/.test(name));
  if (kept !== undefined && others.length === 0) renameSync(join(dataDir, kept), file);
}

function syncPath(path: string): void {
  const handle = openSync(path, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

function removeWithLog(file: string): void {
  for (const end of ['', '-wal', '-shm']) rmSync(`${file}${end}`, { force: true });
}
