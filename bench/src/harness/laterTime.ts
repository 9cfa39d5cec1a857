import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import type { Home } from './home.ts';

const DAY_MS = 86_400_000;

/** Advances the stored time of a home by some days while no server runs on it, so that its rows are old. */
export async function advanceTime({ folder, databaseUrl }: Home, days: number): Promise<void> {
  const statement = `update steady_time set ms = ${Date.now() + days * DAY_MS}`;
  if (databaseUrl === undefined) {
    const database = new DatabaseSync(join(folder, 'switchboard.db'));
    database.exec(statement);
    database.close();
    return;
  }
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query(statement);
  await client.end();
}
