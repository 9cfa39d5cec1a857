import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe } from 'node:test';
import pg from 'pg';

/** Where a test's data lives, as the server's settings name it. */
export interface Home {
  readonly databaseUrl: string;
  readonly dataDir: string;
  /** Removes it. */
  remove(): Promise<void>;
}

export type DatabaseName = 'sqlite' | 'postgres';
export const databaseNames: readonly DatabaseName[] = ['sqlite', 'postgres'];

/** Runs a suite once on each database. */
export function describeOnEachDatabase(
  title: string,
  suite: (newHome: () => Promise<Home>, name: DatabaseName) => void,
): void {
  for (const name of databaseNames) describe(`${title} (${name})`, () => suite(() => newHome(name), name));
}

/** A fresh, empty home: a folder, and on PostgreSQL a database. */
export async function newHome(name: DatabaseName): Promise<Home> {
  const dataDir = mkdtempSync(join(tmpdir(), 'switchboard-test-'));
  const removeFolder = () => rmSync(dataDir, { recursive: true, force: true });
  if (name === 'sqlite') return { databaseUrl: '', dataDir, remove: async () => removeFolder() };

  const server = process.env['TEST_POSTGRES_URL'];
  if (server === undefined) throw new Error('run the tests by `npm test`: its global setup starts PostgreSQL');
  const database = `test_${randomUUID().replaceAll('-', '')}`;
  await onServer(server, `create database ${database}`);
  return {
    databaseUrl: `${server}/${database}`,
    dataDir,
    async remove() {
      await onServer(server, `drop database ${database} with (force)`);
      removeFolder();
    },
  };
}

async function onServer(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: `${url}/postgres` });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
