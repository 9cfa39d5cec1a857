import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { MIN_PASSWORD_LENGTH, PasswordRules } from '../auth/passwordRules.ts';
import { PasswordHasher } from '../auth/passwords.ts';
import type { Settings } from '../config.ts';
import { requireKnownSchema } from '../db/migrate.ts';
import { SqliteFiles } from '../db/sqliteFiles.ts';
import { OperatorError } from '../errors.ts';
import { CliError } from './failure.ts';

const BUSY_MS = 10_000;
const MAX_PASSWORD_LENGTH = 256;
const NEWEST_SCHEMA = 'select version, works_from from schema_versions order by version desc limit 1';

/**
 * Sets the password of an account and revokes its login tokens, like a change of the password. Works beside a running
 * server, which notices within seconds: it keeps credentials for 5 s, and checks open streams every 15 s.
 * @returns the id of the account
 * @throws {CliError} `notFound`, or `usage` for a weak password
 */
export async function resetPassword(settings: Settings, email: string, password: string): Promise<string> {
  const account = email.toLowerCase();
  await requireStrong(password, account);
  const hasher = new PasswordHasher();
  try {
    const hash = await hasher.hash(password, '127.0.0.1');
    const accountId =
      settings.databaseUrl === ''
        ? updateSqlite(settings.dataDir, account, hash)
        : await updatePostgres(settings.databaseUrl, account, hash);
    if (accountId === undefined) throw new CliError('notFound', `No account has the email address ${email}.`);
    return accountId;
  } finally {
    await hasher.stop();
  }
}

async function requireStrong(password: string, email: string): Promise<void> {
  const length = [...password].length;
  if (length < MIN_PASSWORD_LENGTH || length > MAX_PASSWORD_LENGTH)
    throw new CliError('usage', `A password has ${MIN_PASSWORD_LENGTH} to ${MAX_PASSWORD_LENGTH} characters.`);
  const weakness = await new PasswordRules().weaknessOf(password, email);
  if (weakness !== undefined) throw new CliError('usage', `The password ${weakness.message}.`);
}

/** The server, too, waits for a lock, so both can write. Its count of transactions is of those that it makes. */
function updateSqlite(dataDir: string, email: string, hash: string): string | undefined {
  const file = join(dataDir, 'switchboard.db');
  if (!existsSync(file))
    throw new OperatorError(`There is no database in ${dataDir}. Set DATA_DIR to the folder of the server.`);
  SqliteFiles.requireComplete(file); // opening a damaged log would drop its rest
  const database = new DatabaseSync(file, { timeout: BUSY_MS });
  try {
    const schema = database.prepare(NEWEST_SCHEMA).get();
    requireKnownSchema(Number(schema?.['version']), Number(schema?.['works_from']));
    database.exec('pragma synchronous = full; pragma secure_delete = on');
    const row = database
      .prepare(
        'update accounts set password_hash = ?, token_version = token_version + 1 where email = ? returning account_id',
      )
      .get(hash, email);
    return row === undefined ? undefined : String(row['account_id']);
  } finally {
    database.close();
  }
}

async function updatePostgres(databaseUrl: string, email: string, hash: string): Promise<string | undefined> {
  const { default: pg } = await import('pg');
  const client = new pg.Client({ connectionString: databaseUrl, connectionTimeoutMillis: BUSY_MS });
  await client.connect();
  try {
    const { rows: schemas } = await client.query(NEWEST_SCHEMA);
    requireKnownSchema(Number(schemas[0]?.version), Number(schemas[0]?.works_from));
    const { rows } = await client.query<{ account_id: string }>(
      'update accounts set password_hash = $1, token_version = token_version + 1 where email = $2 returning account_id',
      [hash, email],
    );
    return rows[0]?.account_id;
  } finally {
    await client.end();
  }
}
