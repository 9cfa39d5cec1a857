import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { sql } from 'kysely';
import pg from 'pg';
import type { Store } from '../../../src/db/dialect.ts';
import { openPostgres } from '../../../src/db/postgres/postgres.ts';
import { openSqlite } from '../../../src/db/sqlite/sqlite.ts';
import { type DatabaseName, emptyHome, type Home } from './databases.ts';

/** The data of a fixture that tests use. */
export interface Credentials {
  readonly encryptionKey: string;
  /** When it was written, in ms since the epoch. */
  readonly writtenAt: number;
  readonly email: string;
  readonly password: string;
  readonly apiKey: string;
  readonly sessionId: string;
  /** A webhook with pending deliveries. */
  readonly webhookId: string;
  /** A text with the words "The quick brown fox". */
  readonly messageId: string;
  /** An account with a disconnected sandbox session that has pending events. Schema 1 has none. */
  readonly away?: { readonly email: string; readonly sessionId: string };
}

export interface RestoredFixture {
  readonly home: Home;
  readonly credentials: Credentials;
}

export const fixturePath = (version: number, file: string) =>
  fileURLToPath(new URL(`../../fixtures/${String(version).padStart(4, '0')}/${file}`, import.meta.url));

/** A home with a database written by a server with this schema version; see `writeFixture.ts`. */
export async function restoreFixture(version: number, database: DatabaseName): Promise<RestoredFixture> {
  const home = await emptyHome(database);
  const unpack = (file: string) => gunzipSync(readFileSync(fixturePath(version, file)));
  if (database === 'sqlite') writeFileSync(`${home.dataDir}/switchboard.db`, unpack('sqlite.db.gz'));
  else await runDump(home.databaseUrl, unpack('postgres.sql.gz').toString());
  return { home, credentials: JSON.parse(readFileSync(fixturePath(version, `${database}.json`), 'utf8')) };
}

async function runDump(url: string, dump: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(dump.replaceAll(/^\\.*$/gm, '')); // psql commands
  } finally {
    await client.end();
  }
}

export const openHome = ({ databaseUrl, dataDir }: Home): Store =>
  databaseUrl === '' ? openSqlite(`${dataDir}/switchboard.db`) : openPostgres(databaseUrl);

export type Row = Readonly<Record<string, unknown>>;
/** Every row of every table. */
export type Contents = ReadonlyMap<string, readonly Row[]>;

/** Reads the whole database, except the search index, which stores no text. */
export async function readContents({ reader }: Pick<Store, 'reader'>): Promise<Contents> {
  const contents = new Map<string, readonly Row[]>();
  for (const { name, schema = 'public' } of await reader.kysely.introspection.getTables()) {
    if (schema !== 'public') continue; // kept by an upgrade
    if (/^(?:message|bucketed)_words/.test(name)) continue;
    contents.set(name, (await sql<Row>`select * from ${sql.table(name)}`.execute(reader.kysely)).rows);
  }
  return contents;
}

/**
 * The result of an upgrade for the rows of a table that it changes: the new row, possibly of another table, or
 * undefined if it is dropped.
 */
export type Changes = Readonly<Record<string, (row: Row) => { table: string; row: Row } | undefined>>;

/** Fails unless every row still exists with the value of every column. New columns, rows and tables are allowed. */
export function assertKept(before: Contents, after: Contents, changes: Changes = {}): void {
  for (const [name, rows] of before) {
    for (const row of rows) {
      const expected = name in changes ? changes[name]?.(row) : { table: name, row };
      if (expected === undefined) continue;
      const found = after.get(expected.table)?.some((candidate) => holds(candidate, expected.row));
      assert.ok(found, `a row of ${name} is missing in ${expected.table}: ${JSON.stringify(expected.row)}`);
    }
  }
}

const holds = (candidate: Row, row: Row) =>
  Object.entries(row).every(([column, value]) => column in candidate && candidate[column] === value);
