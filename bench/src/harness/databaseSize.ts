import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import type { Home } from './home.ts';

/**
 * Returns the bytes that the rows and indexes of a home take while no server runs on it, without free pages. PostgreSQL
 * rewrites its tables for that, because it keeps the space of deleted rows in the middle of its files.
 */
export async function databaseBytes({ folder, databaseUrl }: Home): Promise<number> {
  if (databaseUrl === undefined) return sqliteBytes(join(folder, 'switchboard.db'));
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query('vacuum full');
  const { rows } = await client.query<{ bytes: string }>('select pg_database_size(current_database()) as bytes');
  await client.end();
  return Number(rows[0]?.bytes);
}

function sqliteBytes(file: string): number {
  const database = new DatabaseSync(file);
  try {
    database.exec('pragma wal_checkpoint(truncate)');
    const read = (name: string) => Number(database.prepare(`pragma ${name}`).get()?.[name]);
    return (read('page_count') - read('freelist_count')) * read('page_size');
  } finally {
    database.close();
  }
}
