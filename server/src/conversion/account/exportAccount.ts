import { sql } from 'kysely';
import type { Settings } from '../../config.ts';
import { inTransaction } from '../../db/commit.ts';
import type { Queryable } from '../../db/dialect.ts';
import { migrations } from '../../db/migrations/index.ts';
import type { ContentStore } from '../../media/store.ts';
import type { Seal } from '../../seal.ts';
import { type Reporter, RowReport } from '../report.ts';
import { type Digest, RowSum } from '../rowSum.ts';
import { AccountFileWriter } from './accountFile.ts';
import type { Header } from './accountLines.ts';
import { readRows, valuesOf } from './accountRows.ts';
import { accountTables } from './accountTables.ts';
import { AccountMoveError, openOffline, UNLIMITED } from './offlineDatabase.ts';

/** Bytes of a file per line. */
const PART_BYTES = 192 * 1024;

export interface ExportOptions {
  /** Email address or id. */
  readonly account: string;
  /** File that does not exist yet. */
  readonly file: string;
  readonly passphrase: string;
  /** Leaves out the files, for a target that uses the same store. */
  readonly withoutFiles?: boolean;
  /** Leaves sessions and webhooks of the account as they are, for a copy that no server will run. */
  readonly keepRunning?: boolean;
}

export interface Exported {
  readonly accountId: string;
  readonly rows: number;
  readonly files: number;
}

/**
 * Writes an account to an encrypted file, from a database that no server uses. Then it stops the account's sessions and
 * pauses its webhooks, because two servers must not use one number.
 * @throws {AccountMoveError} if there is no such account
 * @throws {AccountFileError}
 */
export async function exportAccount(
  settings: Settings,
  store: ContentStore,
  options: ExportOptions,
  reporter: Reporter,
): Promise<Exported> {
  const offline = await openOffline(settings);
  try {
    const { reader, seal } = offline.database;
    const owner = await findAccount(reader, options.account);
    const writer = await AccountFileWriter.create(options.file, options.passphrase);
    const written = await write(writer, { reader, seal, owner, store, options, reporter }).catch(async (error) => {
      await writer.discard();
      throw error;
    });
    if (!options.keepRunning) await inTransaction(offline.store, undefined, (tx) => stopAll(tx, owner.id), UNLIMITED);
    await writer.finish();
    return { accountId: owner.id, ...written };
  } finally {
    await offline.database.close();
  }
}

interface Owner {
  readonly id: string;
  readonly email: string;
}

/** @throws {AccountMoveError} */
async function findAccount({ kysely }: Queryable, account: string): Promise<Owner> {
  const found = await kysely
    .selectFrom('accounts')
    .select(['account_id', 'email'])
    .where((eb) => eb.or([eb('account_id', '=', account), eb('email', '=', account.toLowerCase())]))
    .executeTakeFirst();
  if (found === undefined) throw new AccountMoveError(`No account has the email address or id ${account}.`);
  return { id: found.account_id, email: found.email };
}

interface Source {
  readonly reader: Queryable;
  readonly seal: Seal;
  readonly owner: Owner;
  readonly store: ContentStore;
  readonly options: ExportOptions;
  readonly reporter: Reporter;
}

async function write(
  writer: AccountFileWriter,
  { reader, seal, owner, store, options, reporter }: Source,
): Promise<{ rows: number; files: number }> {
  const hasFiles = !options.withoutFiles;
  const header: Header = {
    kind: 'account',
    accountId: owner.id,
    email: owner.email,
    schema: migrations.at(-1)?.version ?? 0,
    drawsPositions: reader.dialect.log.drawsPositions,
    hasFiles,
  };
  await writer.line(header);
  const files = hasFiles ? await writeFiles(writer, reader, owner, store) : 0;
  const digests: Record<string, Digest> = {};
  let written = 0;
  for (const table of accountTables) {
    await writer.line({ kind: 'table', table: table.table, columns: table.columns });
    const sum = new RowSum();
    const report = new RowReport(reporter, table.table, undefined);
    for await (const rows of readRows(reader, seal, table, owner.id)) {
      for (const row of rows) {
        const values = valuesOf(table, row);
        sum.add(JSON.stringify(values));
        await writer.line(values);
      }
      report.at(sum.digest().rows);
    }
    const digest = sum.digest();
    digests[table.table] = digest;
    written += digest.rows;
    report.done(digest.rows);
  }
  await writer.line({ kind: 'end', digests });
  return { rows: written, files };
}

async function writeFiles(
  writer: AccountFileWriter,
  { kysely }: Queryable,
  owner: Owner,
  store: ContentStore,
): Promise<number> {
  let files = 0;
  for (let after = ''; ; ) {
    const contents = await kysely
      .selectFrom('media')
      .select(['hash', 'size'])
      .distinct()
      .where('account_id', '=', owner.id)
      .where('hash', '>', after)
      .orderBy('hash')
      .limit(500)
      .execute();
    for (const { hash, size } of contents) {
      await writer.line({ kind: 'file', hash, size });
      let parts: Buffer[] = [];
      let bytes = 0;
      const flush = async () => {
        if (bytes > 0) await writer.line({ kind: 'part', base64: Buffer.concat(parts).toString('base64') });
        parts = [];
        bytes = 0;
      };
      for await (const chunk of await store.open(hash)) {
        parts.push(chunk);
        bytes += chunk.length;
        if (bytes >= PART_BYTES) await flush();
      }
      await flush();
      files++;
    }
    const last = contents.at(-1);
    if (last === undefined) return files;
    after = last.hash;
  }
}

async function stopAll({ kysely }: Queryable, accountId: string): Promise<void> {
  await sql`update sessions set wanted = 0, will_reconnect = 0,
      status = case when status in ('connecting', 'connected', 'awaiting_pairing') then 'disconnected' else status end
    where account_id = ${accountId}`.execute(kysely);
  await sql`update webhooks set paused = 1, paused_reason = 'The account was exported to another server'
    where account_id = ${accountId} and paused = 0`.execute(kysely);
}
