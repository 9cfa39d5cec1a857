import { createHash } from 'node:crypto';
import { createReadStream, existsSync } from 'node:fs';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pipeline } from 'node:stream/promises';
import { copyFolder, copyIfThere, flush } from './backup.ts';
import { contentDir, type Settings } from './config.ts';
import { lockFolder } from './db/database.ts';
import { queryable } from './db/dialect.ts';
import { requireKnownSchema } from './db/migrate.ts';
import { sqlite } from './db/sqlite/sqlite.ts';
import { connectionOn } from './db/sqlite/sqliteConnection.ts';
import { OperatorError } from './errors.ts';
import { contentPath } from './media/store.ts';
import { thrownMessage } from './thrown.ts';

/** The restore was refused or failed; the message says what to do. */
export class RestoreError extends OperatorError {}

export interface Restored {
  /** Number of files that messages refer to. */
  readonly files: number;
  /** The folder with the previous data; undefined if there was none. */
  readonly previous: string | undefined;
  readonly hasLoginSecret: boolean;
}

interface RestoreOptions {
  /** Moves existing data into a folder of its own. Without it, existing data is a reason to refuse. */
  readonly replace: boolean;
  /** Names that folder. */
  readonly now: Date;
}

/** Entries of a data folder that are no data. */
const NO_DATA = /^(switchboard\.lock(-journal)?|compiled|before-restore-.*|restoring)$/;
/** Moved last: without its database, it keeps a server from starting on an empty one after a crash. */
const COMMITS = 'switchboard.commits';

/**
 * Puts a backup in place of `DATA_DIR`, after it was checked and copied. The folder itself stays, because it may be a
 * mount. Nothing is deleted: previous data moves into `before-restore-…` there. The folder is locked meanwhile, so no
 * server can run or start on it.
 * @throws {RestoreError} if the backup is incomplete or damaged, or there is data already
 * @throws {DataInUseError} if a server runs
 */
export async function restore(settings: Settings, source: string, options: RestoreOptions): Promise<Restored> {
  const { dataDir, databaseUrl, mediaDir } = settings;
  if (databaseUrl !== '')
    throw new RestoreError('DATABASE_URL is set. Restore PostgreSQL with pg_restore, as docs/backup.md describes.');
  const files = await checkBackup(settings, source);
  const unlock = lockFolder(dataDir);
  try {
    const present = (await readdir(dataDir)).filter((name) => !NO_DATA.test(name));
    if (present.length > 0 && !options.replace)
      throw new RestoreError(
        `${dataDir} has data already. Set DATA_DIR to another folder, or pass --replace: the data then moves into a folder of its own.`,
      );
    const staged = join(dataDir, 'restoring');
    await rm(staged, { recursive: true, force: true }); // of an interrupted restore
    const hasLoginSecret = await copyBackup(source, staged, mediaDir === undefined ? undefined : contentDir(settings));
    const previous = await moveAside(dataDir, present, options.now).catch(async (error) => {
      await rm(staged, { recursive: true });
      throw error;
    });
    for (const name of await readdir(staged)) await rename(join(staged, name), join(dataDir, name));
    await rm(staged, { recursive: true });
    if (previous !== undefined && present.includes(COMMITS))
      await rename(join(dataDir, COMMITS), join(previous, COMMITS));
    await flush(dataDir);
    return { files, previous, hasLoginSecret };
  } finally {
    unlock();
  }
}

/** Reads everything that will be copied. @returns the number of files that its messages refer to */
async function checkBackup(settings: Settings, source: string): Promise<number> {
  const database = join(source, 'switchboard.db');
  if (!existsSync(database)) throw new RestoreError(`${source} is not a backup: it has no switchboard.db.`);
  if (existsSync(join(source, COMMITS)) || existsSync(join(source, 'switchboard.lock')))
    throw new RestoreError(`${source} is the data folder of a server. Restore a folder that switchboard backup wrote.`);
  const hashes = await readBackup(database);
  const content = join(source, 'media', 'content');
  if (settings.mediaS3Url !== undefined) return hashes.length;
  const missing = hashes.filter((hash) => !existsSync(contentPath(content, hash)));
  if (missing.length > 0)
    throw new RestoreError(
      `${source} lacks ${missing.length} of the ${hashes.length} files that its messages refer to, such as ${missing[0]}. Use another backup, or set MEDIA_S3_URL if the files are in an S3 store.`,
    );
  for (const hash of hashes) {
    const file = contentPath(content, hash);
    if ((await hashOf(file)) !== hash) throw new RestoreError(`${file} is damaged. Use another backup.`);
  }
  return hashes.length;
}

async function hashOf(file: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  return hash.digest('hex');
}

/** Reads every page of the database. @returns the hashes of its files */
async function readBackup(file: string): Promise<string[]> {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    const [problem] = database.prepare('pragma integrity_check(1)').all();
    if (problem?.['integrity_check'] !== 'ok')
      throw new RestoreError(`${file} is damaged: ${problem?.['integrity_check']}. Use another backup.`);
    await requireKnownSchema(queryable(sqlite, connectionOn(database)));
    const rows = database.prepare('select distinct hash from media').all();
    return rows.map(({ hash }) => String(hash));
  } catch (error) {
    if (error instanceof OperatorError) throw error;
    const why = thrownMessage(error);
    throw new RestoreError(`${file} is not a database of Switchboard: ${why}. Use another backup.`, { cause: error });
  } finally {
    database.close();
  }
}

/**
 * @param content the folder of files, if it is not below the data folder
 * @returns whether there is a login secret
 */
async function copyBackup(source: string, staged: string, content: string | undefined): Promise<boolean> {
  await mkdir(staged, { mode: 0o700 });
  await copyIfThere(join(source, 'switchboard.db'), join(staged, 'switchboard.db'));
  const hasLoginSecret = await copyIfThere(join(source, 'jwt-secret'), join(staged, 'jwt-secret'));
  // The name of a file is its hash, so an existing one is the same.
  await copyFolder(join(source, 'media', 'content'), content ?? join(staged, 'media', 'content'));
  for (const folder of [join(staged, 'media'), staged]) if (existsSync(folder)) await flush(folder);
  return hasLoginSecret;
}

/** @throws {RestoreError} if a part of the data cannot be moved; the others are then where they were */
async function moveAside(dataDir: string, names: readonly string[], now: Date): Promise<string | undefined> {
  if (names.length === 0) return undefined;
  const folder = join(dataDir, `before-restore-${now.toISOString().replace(/[:.]/g, '-')}`);
  await mkdir(folder, { mode: 0o700 });
  const moved: string[] = [];
  for (const name of names) {
    if (name === COMMITS) continue;
    try {
      await rename(join(dataDir, name), join(folder, name));
      moved.push(name);
    } catch (cause) {
      for (const each of moved) await rename(join(folder, each), join(dataDir, each));
      await rm(folder, { recursive: true });
      throw unmovable(join(dataDir, name), cause);
    }
  }
  await flush(folder);
  return folder;
}

function unmovable(path: string, cause: unknown): RestoreError {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause);
  const isMount = ['EBUSY', 'EXDEV'].includes(code);
  const [why, remedy] = isMount ? [' because it is a mount', 'Unmount it'] : [` (${code})`, 'Move it yourself'];
  return new RestoreError(`${path} cannot be moved aside${why}. Nothing was changed. ${remedy}, and restore again.`, {
    cause,
  });
}
