import { fileURLToPath } from 'node:url';
import { type Postgres, startPostgres } from './postgres.ts';

/*
 * One real PostgreSQL for the whole run, with a database per test. The processes of the run share a cache of compiled
 * modules, which halves their startup time.
 */
let postgres: Postgres | undefined;

export async function globalSetup(): Promise<void> {
  process.env['NODE_COMPILE_CACHE'] ??= fileURLToPath(
    new URL('../../../node_modules/.cache/compiled', import.meta.url),
  );
  if (process.env['TEST_POSTGRES_URL'] !== undefined) return;
  // The embedded PostgreSQL ends a process that has nothing left to do with code 0, also if tests have failed.
  process.prependListener('beforeExit', () => process.exit());
  postgres = await startPostgres();
  process.env['TEST_POSTGRES_URL'] = postgres.url;
}

export async function globalTeardown(): Promise<void> {
  await postgres?.remove();
}
