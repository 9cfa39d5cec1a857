import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { cpSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { startPostgres } from './postgres.ts';
import { familyCpuMs, newFolder, type Running, removeFolder, start } from './processes.ts';
import type { Tree } from './tree.ts';

type Env = Readonly<Record<string, string>>;

/** The data folder and the database of a server. */
export interface Home {
  readonly folder: string;
  /** Address of its PostgreSQL database; undefined on SQLite. */
  readonly databaseUrl: string | undefined;
  /** CPU time in ms that the processes of its PostgreSQL have used; 0 on SQLite. */
  databaseCpuMs(): number;
  /** Starts the server of its tree on it, with no rate limit and the default log level. */
  start(env?: Env): Promise<Running>;
  /** Copies it while no server runs on it. */
  copy(): Promise<Home>;
  remove(): Promise<void>;
}

/** A kind of database. */
export interface Storage {
  readonly name: string;
  /** Opens an empty home. Processes that it starts end with `scope`. */
  open(tree: Tree, scope: AsyncDisposableStack): Promise<Home>;
}

const launch = (tree: Tree, folder: string, env: Env): Promise<Running> =>
  start(entryOf(tree), {
    PORT: '0',
    DATA_DIR: folder,
    RATE_LIMIT: '0',
    REGISTRATION_RATE_LIMIT: '0',
    ...env,
  });

/** Older commits have no `start.js`. */
function entryOf({ folder }: Tree): string {
  const entry = join(folder, 'server/start.js');
  return existsSync(entry) ? entry : join(folder, 'server/src/main.ts');
}

/** SQLite with its defaults. */
export const onSqlite: Storage = {
  name: 'SQLite',
  open: async (tree) => sqliteHome(tree, newFolder()),
};

function sqliteHome(tree: Tree, folder: string): Home {
  return {
    folder,
    databaseUrl: undefined,
    databaseCpuMs: () => 0,
    start: (env = {}) => launch(tree, folder, env),
    copy: async () => sqliteHome(tree, copied(folder)),
    remove: async () => removeFolder(folder),
  };
}

/** A PostgreSQL of its own, with these settings besides the defaults. */
export const onPostgresWith = (settings: Env): Storage => ({
  name: 'PostgreSQL',
  async open(tree, scope) {
    const postgres = await startPostgres(settings);
    scope.defer(() => postgres.stop());
    const name = newName();
    await query(postgres.url, `create database ${name}`);
    return postgresHome(tree, newFolder(), postgres, name);
  },
});

export const onPostgres = onPostgresWith({});

const newName = () => `bench_${randomUUID().replaceAll('-', '')}`;

type Postgres = Awaited<ReturnType<typeof startPostgres>>;

function postgresHome(tree: Tree, folder: string, postgres: Postgres, name: string): Home {
  const { url, pid } = postgres;
  const databaseUrl = new URL(`/${name}`, url).href;
  return {
    folder,
    databaseUrl,
    databaseCpuMs: () => familyCpuMs(pid),
    start: (env = {}) => launch(tree, folder, { DATABASE_URL: databaseUrl, ...env }),
    async copy() {
      const other = newName();
      await query(url, `create database ${other} template ${name} strategy file_copy`);
      await query(new URL(`/${other}`, url).href, 'vacuum analyze');
      await query(url, 'checkpoint');
      return postgresHome(tree, copied(folder), postgres, other);
    },
    async remove() {
      await query(url, `drop database ${name} with (force)`);
      removeFolder(folder);
    },
  };
}

function copied(folder: string): string {
  const other = newFolder();
  cpSync(folder, other, { recursive: true });
  // A server that starts on it would wait with its commits until the system has written the copy to the disk.
  execFileSync('sync');
  return other;
}

async function query(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(statement);
  await client.end();
}
