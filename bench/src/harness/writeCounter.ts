import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { type Home, onPostgresWith } from './home.ts';
import { newFolder } from './processes.ts';

export interface Writes {
  readonly statements: number;
  /** Bytes written to the write-ahead log. */
  readonly bytes: number;
}

export interface WriteCounter {
  /** Variables of a server that is counted. */
  readonly env: Readonly<Record<string, string>>;
  /** Counts the writes of all servers on this home so far. */
  read(home: Home): Promise<Writes>;
}

export const perItem = (before: Writes, after: Writes, items: number): Writes => ({
  statements: (after.statements - before.statements) / items,
  bytes: (after.bytes - before.bytes) / items,
});

/** `countWrites.ts` counts in the server, and keeps the log from being written back. */
export function createSqliteCounter(): WriteCounter {
  const folder = newFolder();
  const preload = fileURLToPath(new URL('../processes/countWrites.ts', import.meta.url));
  const read = (name: string) => Number(readFileSync(join(folder, name), 'utf8'));
  return {
    env: { NODE_OPTIONS: `--import=${preload}`, COUNTS_DIR: folder },
    read: async (home) => ({
      statements: readdirSync(folder).reduce((sum, name) => sum + read(name), 0),
      bytes: statSync(join(home.folder, 'switchboard.db-wal')).size,
    }),
  };
}

/** Without whole pages in the log: their number depends on when PostgreSQL makes checkpoints. */
export const countedPostgres = onPostgresWith({
  shared_preload_libraries: 'pg_stat_statements',
  full_page_writes: 'off',
});

export function createPostgresCounter(): WriteCounter {
  return {
    env: {},
    async read({ databaseUrl }) {
      const client = new pg.Client({ connectionString: databaseUrl });
      await client.connect();
      await client.query('create extension if not exists pg_stat_statements');
      const { rows } = await client.query<{ statements: string; bytes: string }>(
        `select sum(calls) as statements, pg_current_wal_lsn() - '0/0' as bytes from pg_stat_statements
         where dbid = (select oid from pg_database where datname = current_database())`,
      );
      await client.end();
      return { statements: Number(rows[0]?.statements), bytes: Number(rows[0]?.bytes) };
    },
  };
}
