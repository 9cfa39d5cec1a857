import { type Postgres, startPostgres } from './postgres.ts';

/*
 * One real PostgreSQL for the whole run. Every test makes a database of its own in it.
 */
let postgres: Postgres | undefined;

export async function globalSetup(): Promise<void> {
  postgres = await startPostgres();
  process.env['TEST_POSTGRES_URL'] = postgres.url;
}

export async function globalTeardown(): Promise<void> {
  await postgres?.remove();
}
