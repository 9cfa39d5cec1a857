import { rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { createHomes } from '../databases/homes.ts';
import { type Postgres, startPostgres } from '../databases/postgres.ts';
import { createTemplates } from '../databases/templates.ts';

/*
 * One real PostgreSQL for the whole run, with a database per test, which is copied from one that has the schema. The
 * processes of the run share a cache of compiled modules, which halves their startup time.
 */
let postgres: Postgres | undefined;
let removeTemplates: (() => void) | undefined;
let homes: string | undefined;

export async function globalSetup(): Promise<void> {
  process.env['NODE_COMPILE_CACHE'] ??= fileURLToPath(
    new URL('../../../../node_modules/.cache/compiled', import.meta.url),
  );
  if (process.env['TEST_HOMES'] === undefined) {
    homes = createHomes();
    process.env['TEST_HOMES'] = homes;
  }
  if (process.env['TEST_POSTGRES_URL'] === undefined) {
    // The embedded PostgreSQL ends a process that has nothing left to do with code 0, also if tests have failed.
    process.prependListener('beforeExit', () => process.exit());
    postgres = await startPostgres();
    process.env['TEST_POSTGRES_URL'] = postgres.url;
  }
  if (process.env['TEST_TEMPLATE'] === undefined)
    removeTemplates = await createTemplates(process.env['TEST_POSTGRES_URL']);
}

export async function globalTeardown(): Promise<void> {
  removeTemplates?.();
  await postgres?.remove();
  if (homes !== undefined) rmSync(homes, { recursive: true, force: true });
}
