import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Settings } from '../config.ts';
import { type Queryable, queryable } from '../db/dialect.ts';
import { requireKnownSchema } from '../db/migrate.ts';
import { query } from '../db/query.ts';
import { sqlite } from '../db/sqlite/sqlite.ts';
import { connectionOn } from '../db/sqlite/sqliteConnection.ts';
import { SqliteFiles } from '../db/sqlite/sqliteFiles.ts';
import { OperatorError } from '../errors.ts';
import { MAX_PASSWORD_LENGTH, MIN_PASSWORD_LENGTH, PasswordRules } from './passwordRules.ts';
import { PasswordHasher } from './passwords.ts';

const BUSY_MS = 10_000;

export class WeakPasswordError extends OperatorError {}

/**
 * Sets the password of an account and revokes its login tokens, like a change of the password. Works beside a running
 * server, which notices within seconds: it keeps credentials for 5 s, and checks open streams every 15 s.
 * @returns the id of the account; undefined if there is none
 * @throws {WeakPasswordError}
 */
export async function resetPassword(settings: Settings, email: string, password: string): Promise<string | undefined> {
  const account = email.toLowerCase();
  await requireStrong(password, account);
  const hasher = new PasswordHasher();
  try {
    const hash = await hasher.hash(password, '127.0.0.1');
    const row = await inDatabase(settings, async (on) => {
      await requireKnownSchema(on);
      return updatePassword.first(on, { email: account, hash });
    });
    return row?.account_id;
  } finally {
    await hasher.stop();
  }
}

async function requireStrong(password: string, email: string): Promise<void> {
  const length = [...password].length;
  if (length < MIN_PASSWORD_LENGTH || length > MAX_PASSWORD_LENGTH)
    throw new WeakPasswordError(`A password has ${MIN_PASSWORD_LENGTH} to ${MAX_PASSWORD_LENGTH} characters.`);
  const weakness = await new PasswordRules().weaknessOf(password, email);
  if (weakness !== undefined) throw new WeakPasswordError(`The password ${weakness.message}.`);
}

const inDatabase = <T>(settings: Settings, work: (on: Queryable) => Promise<T>): Promise<T> =>
  settings.databaseUrl === '' ? inSqlite(settings.dataDir, work) : inPostgres(settings.databaseUrl, work);

/** The server, too, waits for a lock, so both can write. Its count of transactions is of those that it makes. */
async function inSqlite<T>(dataDir: string, work: (on: Queryable) => Promise<T>): Promise<T> {
  const file = join(dataDir, 'switchboard.db');
  if (!existsSync(file))
    throw new OperatorError(`There is no database in ${dataDir}. Set DATA_DIR to the folder of the server.`);
  SqliteFiles.requireComplete(file); // opening a damaged log would drop its rest
  const database = new DatabaseSync(file, { timeout: BUSY_MS });
  try {
    database.exec('pragma synchronous = full; pragma secure_delete = on');
    return await work(queryable(sqlite, connectionOn(database)));
  } finally {
    database.close();
  }
}

async function inPostgres<T>(databaseUrl: string, work: (on: Queryable) => Promise<T>): Promise<T> {
  const { openPostgres } = await import('../db/postgres/postgres.ts');
  const store = openPostgres(databaseUrl, { poolSize: 1 });
  try {
    return await work(store.reader);
  } finally {
    await store.close();
  }
}

const updatePassword = query((db, p: { email: string; hash: string }) =>
  db
    .updateTable('accounts')
    .set((eb) => ({ password_hash: p.hash, token_version: eb('token_version', '+', 1) }))
    .where('email', '=', p.email)
    .returning('account_id'),
);
