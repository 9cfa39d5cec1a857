import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Clock } from '../clock.ts';
import { type Commit, createCommit } from './commit.ts';
import { openPostgres, openSqlite, type Queryable, type Store } from './dialect.ts';
import { migrate } from './migrate.ts';

/** The open database: `reader` for queries, `commit` for changes. */
export interface Database {
  readonly reader: Queryable;
  readonly commit: Commit;
  close(): Promise<void>;
}

/** Another process works on the same data: two would deliver every event twice. */
export class DataInUseError extends Error {
  constructor(where: string, setting: string) {
    super(`Another Switchboard is running on ${where}. Stop it, or set ${setting} to something else.`);
    this.name = 'DataInUseError';
  }
}

/** How long a predecessor that was killed may take to let go. */
const CLAIM_PATIENCE_MS = 5000;

/**
 * Opens the database that the settings name and brings its schema up to date.
 * @param onLost another process has got it meanwhile: this one must stop
 * @throws {DataInUseError} when another process has it
 * @throws {NewerSchemaError} when a newer Switchboard wrote it
 */
export async function openDatabase(
  { databaseUrl, dataDir }: { databaseUrl: string; dataDir: string },
  clock: Clock,
  onLost: () => void = () => {},
): Promise<Database> {
  const unlock = databaseUrl === '' ? lockFolder(dataDir) : () => {};
  let store: Store | undefined;
  try {
    store = databaseUrl === '' ? openSqlite(join(dataDir, 'switchboard.db')) : openPostgres(databaseUrl);
    await claim(store, onLost);
    await migrate(store, clock.now);
  } catch (error) {
    await store?.close();
    unlock();
    throw error;
  }
  const opened = store;
  const { commit, stop } = createCommit(opened);
  return {
    reader: opened.reader,
    commit,
    async close() {
      await stop();
      await opened.close();
      unlock();
    },
  };
}

async function claim(store: Store, onLost: () => void): Promise<void> {
  const givesUpAt = performance.now() + CLAIM_PATIENCE_MS;
  while (!(await store.claim(onLost))) {
    if (performance.now() > givesUpAt) throw new DataInUseError('this PostgreSQL database', 'DATABASE_URL');
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** Holds an exclusive lock on the folder. The operating system lets go of it when the process ends, however it ends. */
function lockFolder(dataDir: string): () => void {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const lock = new DatabaseSync(join(dataDir, 'switchboard.lock'), { timeout: 0 });
  try {
    lock.exec('pragma journal_mode = delete; begin exclusive');
  } catch (error) {
    lock.close();
    // SQLITE_BUSY; anything else is the folder's own trouble.
    if (error instanceof Error && 'errcode' in error && error.errcode === 5)
      throw new DataInUseError(dataDir, 'DATA_DIR');
    throw error;
  }
  return () => lock.close();
}
