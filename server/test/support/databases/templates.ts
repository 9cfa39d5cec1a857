import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { migrate } from '../../../src/db/migrate.ts';
import { openPostgres } from '../../../src/db/postgres/postgres.ts';
import { openSqlite } from '../../../src/db/sqlite/sqlite.ts';
import { onServer, POSTGRES_TEMPLATE } from './databases.ts';
import { homesFolder } from './homes.ts';

/** Applies the migrations to the databases that `newHome` copies. @returns a function that removes them */
export async function createTemplates(server: string): Promise<() => void> {
  const folder = mkdtempSync(join(homesFolder(), 'switchboard-template-'));
  await onServer(server, `drop database if exists ${POSTGRES_TEMPLATE}`);
  await onServer(server, `create database ${POSTGRES_TEMPLATE}`);
  for (const store of [
    openSqlite(join(folder, 'switchboard.db')),
    openPostgres(`${server}/${POSTGRES_TEMPLATE}`, { poolSize: 1 }),
  ]) {
    await migrate(store, Date.now);
    await store.close();
  }
  process.env['TEST_TEMPLATE'] = folder;
  return () => rmSync(folder, { recursive: true });
}
