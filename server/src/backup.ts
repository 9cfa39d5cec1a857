import { constants, existsSync } from 'node:fs';
import { chmod, copyFile, mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { contentDir, type Settings } from './config.ts';
import { OperatorError } from './errors.ts';

/** The backup failed; the message says what to do. */
export class BackupError extends OperatorError {}

const BUSY_MS = 5000;

/** The parts of a copy besides the database. */
export interface Copied {
  readonly files: number;
  /** Whether the secret that signs login tokens is there: there is none if `JWT_SECRET` is set. */
  readonly hasLoginSecret: boolean;
}

/**
 * Copies the database as of one moment, the secret that signs login tokens, and the files. The folder appears under its
 * name once everything in it is synced; a failed backup leaves nothing.
 * @returns the parts that were copied besides the database
 * @throws {BackupError}
 */
export async function backUp(settings: Settings, target: string): Promise<Copied> {
  const { dataDir, databaseUrl } = settings;
  if (databaseUrl !== '') {
    throw new BackupError('DATABASE_URL is set. Back up PostgreSQL with pg_dump, as docs/backup.md describes.');
  }
  const database = join(dataDir, 'switchboard.db');
  if (!existsSync(database)) {
    throw new BackupError(`There is no database in ${dataDir}. Set DATA_DIR to the folder of the server.`);
  }
  if (existsSync(target)) throw new BackupError(`${target} exists already. Name a folder that does not exist.`);
  const partial = `${target}.partial`;
  await rm(partial, { recursive: true, force: true }); // of an interrupted backup
  await mkdir(partial, { recursive: true, mode: 0o700 });
  try {
    copyDatabase(database, join(partial, 'switchboard.db'));
    await seal(join(partial, 'switchboard.db'));
    const hasLoginSecret = await copyIfThere(join(dataDir, 'jwt-secret'), join(partial, 'jwt-secret'));
    // After the database, because a file is stored before the row that refers to it.
    const isHere = settings.mediaS3Url === undefined;
    const files = isHere ? await copyFolder(contentDir(settings), join(partial, 'media', 'content')) : 0;
    for (const folder of [join(partial, 'media'), partial]) if (existsSync(folder)) await flush(folder);
    await rename(partial, target);
    await flush(dirname(target));
    return { files, hasLoginSecret };
  } catch (error) {
    await rm(partial, { recursive: true, force: true });
    throw error;
  }
}

/**
 * `VACUUM INTO` reads one snapshot, however much is written meanwhile. The backup API of SQLite starts again whenever
 * another process writes: with 23 sends per second it never finished at 1 GB. The copy has no free pages.
 */
function copyDatabase(from: string, to: string): void {
  const database = new DatabaseSync(from, { readOnly: true, timeout: BUSY_MS });
  try {
    database.prepare('vacuum into ?').run(to);
  } finally {
    database.close();
  }
}

/** @returns the number of files; 0 if there is no such folder */
export async function copyFolder(from: string, to: string): Promise<number> {
  if (!existsSync(from)) return 0;
  await mkdir(to, { recursive: true, mode: 0o700 });
  let copied = 0;
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const [source, place] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) copied += await copyFolder(source, place);
    else if (await copyIfThere(source, place)) copied++;
  }
  await flush(to);
  return copied;
}

/** Copies a file that may be removed between the listing and the copy. Returns whether it existed. */
export async function copyIfThere(from: string, to: string): Promise<boolean> {
  try {
    await copyFile(from, to, constants.COPYFILE_FICLONE);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return false;
    throw error;
  }
  await seal(to);
  return true;
}

/** Makes a finished file readable by its owner only, and syncs it. */
async function seal(file: string): Promise<void> {
  await chmod(file, 0o600);
  await flush(file);
}

/** Syncs a file or a folder. */
export async function flush(path: string): Promise<void> {
  const handle = await open(path);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
