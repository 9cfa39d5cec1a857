import { createHash, randomUUID } from 'node:crypto';
import { type FileHandle, mkdir, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import type { Settings } from '../../config.ts';
import { inTransaction, serialize } from '../../db/commit.ts';
import type { OpenTransaction, Queryable } from '../../db/dialect.ts';
import { migrations } from '../../db/migrations/index.ts';
import type { ContentStore } from '../../media/store.ts';
import type { Seal } from '../../seal.ts';
import type { Reporter } from '../report.ts';
import { AccountFileError, readLines } from './accountFile.ts';
import { asLine, type EndLine, type Header, type Line } from './accountLines.ts';
import { AccountMoveError, openOffline, requireNoNodes, UNLIMITED } from './offlineDatabase.ts';
import { RowImport } from './rowImport.ts';

export interface ImportOptions {
  readonly file: string;
  readonly passphrase: string;
  /** Leaves out events and deliveries, for a database with events of other accounts. */
  readonly withoutEvents?: boolean;
}

export interface Imported {
  readonly accountId: string;
  readonly email: string;
  readonly rows: number;
  readonly files: number;
  /** Whether the file leaves out the contents of the account's files. */
  readonly lacksFiles: boolean;
}

/**
 * Adds an exported account to a database that no server uses, in one transaction, and compares what it reads back
 * with the file. Files come first: a content without a row does no harm.
 * @throws {AccountMoveError} if the account or its email address exists already
 * @throws {AccountFileError}
 */
export async function importAccount(
  settings: Settings,
  store: ContentStore,
  { file, passphrase, withoutEvents = false }: ImportOptions,
  reporter: Reporter,
): Promise<Imported> {
  const lines = linesOf(file, passphrase);
  const offline = await openOffline(settings);
  try {
    const header = await headerOf(lines, file);
    const { seal, reader } = offline.database;
    await requireAbsent(reader, header);
    const contents = new ContentImport(store, importingDir(settings));
    try {
      const work = (tx: OpenTransaction) =>
        addAll(tx, { lines, header, seal, contents, file, reporter, withoutEvents });
      const rows = await inTransaction(offline.store, undefined, work, UNLIMITED).catch((error) => {
        throw offline.store.dialect.isUniqueViolation(error) ? clash(error) : error;
      });
      const { accountId, email } = header;
      return { accountId, email, rows, files: contents.stored.size, lacksFiles: !header.hasFiles };
    } catch (error) {
      await contents.undo(reader);
      throw error;
    } finally {
      await rm(importingDir(settings), { recursive: true, force: true });
    }
  } finally {
    await lines.return();
    await offline.database.close();
  }
}

/** On the same file system as the contents. */
const importingDir = ({ mediaDir, dataDir }: Settings) => join(mediaDir ?? join(dataDir, 'media'), 'importing');

const clash = (cause: unknown) =>
  new AccountMoveError('The database has another row with one of the ids in the file. Nothing was imported.', {
    cause,
  });

async function* linesOf(file: string, passphrase: string): AsyncGenerator<Line, void, undefined> {
  for await (const value of readLines(file, passphrase)) {
    const line = asLine(value);
    if (line === undefined)
      throw new AccountFileError(`${file} has a line of an unknown form. Export the account again.`);
    yield line;
  }
}

async function headerOf(lines: AsyncGenerator<Line>, file: string): Promise<Header> {
  const { value: header } = await lines.next();
  const version = migrations.at(-1)?.version;
  if (header === undefined || !('kind' in header) || header.kind !== 'account')
    throw new AccountFileError(`${file} does not begin with an account.`);
  if (header.schema !== version)
    throw new AccountFileError(
      `${file} has schema version ${header.schema}, and this database has ${version}. Use the same version of Switchboard on both sides.`,
    );
  return header;
}

/** @throws {AccountMoveError} */
async function requireAbsent({ kysely }: Queryable, { accountId, email }: Header): Promise<void> {
  const found = await kysely
    .selectFrom('accounts')
    .select('account_id')
    .where((eb) => eb.or([eb('account_id', '=', accountId), eb('email', '=', email)]))
    .executeTakeFirst();
  if (found !== undefined)
    throw new AccountMoveError(
      found.account_id === accountId
        ? `The account ${accountId} exists already. Nothing was imported.`
        : `Another account has the email address ${email}. Nothing was imported.`,
    );
}

interface Parts {
  readonly lines: AsyncGenerator<Line>;
  readonly header: Header;
  readonly seal: Seal;
  readonly contents: ContentImport;
  readonly file: string;
  readonly reporter: Reporter;
  readonly withoutEvents: boolean;
}

/** Reads the rest of the file. @returns the number of rows */
async function addAll(tx: OpenTransaction, { lines, contents, ...parts }: Parts): Promise<number> {
  // Nodes that start wait for this lock.
  await serialize(tx, 'migrate');
  if (tx.dialect.hasConcurrentWriters) await requireNoNodes(tx);
  const { header, file, reporter } = parts;
  const rows = new RowImport(tx, parts);
  let end: EndLine | undefined;
  for await (const line of lines) {
    if (end !== undefined) throw new AccountFileError(`${file} goes on after its end.`);
    if (!('kind' in line)) await rows.add(line);
    else if (line.kind === 'table') await rows.begin(line);
    else if (line.kind === 'file') await contents.begin(line);
    else if (line.kind === 'part') await contents.add(line);
    else if (line.kind === 'end') end = line;
    else throw new AccountFileError(`${file} has two accounts.`);
  }
  if (end === undefined) throw new AccountFileError(`${file} has no end. Export the account again.`);
  await contents.finish();
  await rows.finish();
  if (header.hasFiles) await requireContents(tx, header, contents.stored);
  const total = await rows.check(end.digests);
  reporter.line(`${total.toLocaleString('en-US')} rows checked`);
  return total;
}

/** @throws {AccountFileError} if the file lacks a content of its rows */
async function requireContents(
  { kysely }: Queryable,
  { accountId }: Header,
  stored: ReadonlySet<string>,
): Promise<void> {
  for (let after = ''; ; ) {
    const rows = await kysely
      .selectFrom('media')
      .select('hash')
      .distinct()
      .where('account_id', '=', accountId)
      .where('hash', '>', after)
      .orderBy('hash')
      .limit(500)
      .execute();
    for (const { hash } of rows)
      if (!stored.has(hash)) throw new AccountFileError(`The file lacks the content ${hash}.`);
    // A content that was about to be removed has rows again.
    for (const { hash } of rows) await kysely.deleteFrom('unused_contents').where('hash', '=', hash).execute();
    const last = rows.at(-1);
    if (last === undefined) return;
    after = last.hash;
  }
}

/** Stores the contents of a file, each after its hash was checked. */
class ContentImport {
  readonly #store: ContentStore;
  readonly #folder: string;
  readonly stored = new Set<string>();
  #current: { hash: string; size: number; written: number; path: string; handle: FileHandle } | undefined;
  #digest = createHash('sha256');

  constructor(store: ContentStore, folder: string) {
    this.#store = store;
    this.#folder = folder;
  }

  async begin({ hash, size }: { hash: string; size: number }): Promise<void> {
    await this.finish();
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const path = join(this.#folder, randomUUID());
    this.#digest = createHash('sha256');
    this.#current = { hash, size, written: 0, path, handle: await open(path, 'wx', 0o600) };
  }

  async add({ base64 }: { base64: string }): Promise<void> {
    const current = this.#current;
    if (current === undefined) throw new AccountFileError('A part of a file belongs to none.');
    const bytes = Buffer.from(base64, 'base64');
    current.written += bytes.length;
    if (current.written > current.size) throw new AccountFileError(`The content ${current.hash} is too long.`);
    this.#digest.update(bytes);
    await current.handle.writeFile(bytes);
  }

  async finish(): Promise<void> {
    const current = this.#current;
    if (current === undefined) return;
    const { hash, size, written, path, handle } = current;
    if (written !== size || this.#digest.digest('hex') !== hash)
      throw new AccountFileError(`The content ${hash} is damaged. Export the account again.`);
    await handle.sync();
    await handle.close();
    await this.#store.put(hash, path, size);
    this.#current = undefined;
    this.stored.add(hash);
  }

  /** Removes what no row refers to. */
  async undo({ kysely }: Queryable): Promise<void> {
    const current = this.#current;
    if (current !== undefined) {
      await current.handle.close();
    }
    for (const hash of this.stored) {
      const row = await sql`select 1 from media where hash = ${hash} limit 1`.execute(kysely);
      if (row.rows.length === 0) await this.#store.remove(hash);
    }
  }
}
