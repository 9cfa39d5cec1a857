import { createHmac, randomBytes } from 'node:crypto';
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Database } from '../db/database.ts';
import { aboutSecret } from '../db/sealing.ts';
import { OperatorError } from '../errors.ts';

/**
 * Returns the secret that signs login tokens. Unless it is configured, it is generated on the first start and stored:
 * in the data directory, readable by its owner only, or in PostgreSQL, where all nodes share it.
 */
export async function serverSecret(
  settings: { jwtSecret: string; dataDir: string; databaseUrl: string },
  database: Database,
): Promise<string> {
  if (settings.jwtSecret !== '') return settings.jwtSecret;
  return settings.databaseUrl === '' ? secretInFile(join(settings.dataDir, 'jwt-secret')) : secretInDatabase(database);
}

/** A fingerprint by which nodes compare their secrets. It does not reveal the secret and is not a signature. */
export function fingerprintOf(secret: string): string {
  return createHmac('sha256', secret).update('switchboard: which secret signs login tokens').digest('base64url');
}

function secretInFile(file: string): string {
  // `wx` and the lock on the folder guarantee that it is created once and never overwritten.
  if (!existsSync(file)) writeFileSync(file, makeSecret(), { mode: 0o600, flag: 'wx', flush: true });
  chmodSync(file, 0o600);
  const secret = readFileSync(file, 'utf8').trim();
  if (secret.length < 32)
    throw new OperatorError(
      `${file} is damaged: it has fewer than 32 characters. Restore it from a backup, or delete it: the server then generates a new one, and everybody has to log in again.`,
    );
  return secret;
}

async function secretInDatabase(database: Database): Promise<string> {
  const { commit, seal } = database;
  return commit(async ({ kysely }) => {
    await kysely
      .insertInto('secrets')
      .values({ name: 'jwt', value: seal.close(makeSecret(), aboutSecret('jwt')) })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
    const { value } = await kysely
      .selectFrom('secrets')
      .select('value')
      .where('name', '=', 'jwt')
      .executeTakeFirstOrThrow();
    return seal.open(value, aboutSecret('jwt'));
  });
}

function makeSecret(): string {
  return randomBytes(48).toString('base64url');
}
