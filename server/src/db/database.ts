import { chmodSync, closeSync, mkdirSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Clock } from '../clock.ts';
import type { Seal } from '../seal.ts';
import type { Commit, CommitJointly, Tx } from './commit.ts';
import type { Membership, PoolUse, Queryable, Shared, Store } from './dialect.ts';
import { GroupCommit } from './groupCommit.ts';
import { migrate } from './migrate.ts';
import { openPostgres } from './postgres.ts';
import { type EncryptionKeys, openSeal } from './sealing.ts';
import { openSqlite } from './sqlite.ts';
import type { DamageListener } from './sqliteFiles.ts';

export interface DatabaseSettings extends Partial<EncryptionKeys> {
  /** Empty for SQLite in `dataDir`. */
  readonly databaseUrl: string;
  /** For what a pooler between cannot carry; empty when there is none. */
  readonly databaseDirectUrl?: string;
  readonly databasePoolSize?: number;
  /** As which PostgreSQL shows this process to whoever watches it. */
  readonly clientName?: string;
  readonly dataDir: string;
}

/** The open database: `reader` for queries, `commit` for changes. */
export interface Database {
  readonly reader: Queryable;
  readonly commit: Commit;
  readonly commitJointly: CommitJointly;
  /** Undefined where this process has the database to itself. */
  readonly shared: Shared | undefined;
  /** Undefined where there is no pool of connections. */
  readonly poolUse: (() => PoolUse) | undefined;
  /** As `GroupCommit.join`. */
  join(work: (tx: Tx) => Promise<Membership>): Promise<Membership>;
  /** As `GroupCommit.shutOut`. */
  shutOut(): void;
  /** Listens to the events of `GroupCommit`. */
  on(event: 'fenced' | 'full', listener: () => void): void;
  /** As `Store.trimLog`. */
  readonly trimLog: () => void;
  /** As `Store.startCheck`. */
  readonly startCheck: () => void;
  /** Through which secrets go in and out of rows. */
  readonly seal: Seal;
  close(): Promise<void>;
}

/** Another process works on the same data. */
export class DataInUseError extends Error {
  constructor(dataDir: string) {
    super(`Another Switchboard is running on ${dataDir}. Stop it, or set DATA_DIR to another folder.`);
    this.name = 'DataInUseError';
  }
}

/**
 * Opens the database that the settings name and brings its schema up to date. The data folder is this process's alone,
 * whichever database it is: two processes on one PostgreSQL have a folder each.
 * @param onDamage is told when the files of the embedded database are damaged; from then on every write is refused
 * @throws {DatabaseDamagedError} when it lacks what was acknowledged
 * @throws {DataInUseError} when another process has the folder
 * @throws {SchemaMismatchError} when its tables are not those of the schema version it records
 * @throws {NewerSchemaError} when a newer Switchboard has changed the database beyond what this one can work with
 * @throws {OlderNodesError} when older nodes run that cannot work with what this one has to change
 * @throws {WrongKeyError} when its secrets are sealed with another key
 */
export async function openDatabase(
  {
    databaseUrl,
    databaseDirectUrl = '',
    databasePoolSize = 10,
    clientName = 'switchboard',
    dataDir,
    encryptionKey = '',
    encryptionKeyPrevious = '',
  }: DatabaseSettings,
  clock: Clock,
  onDamage: DamageListener = () => {},
): Promise<Database> {
  const unlock = lockFolder(dataDir);
  let store: Store | undefined;
  try {
    store =
      databaseUrl === ''
        ? openSqlite(join(dataDir, 'switchboard.db'), onDamage)
        : openPostgres(databaseUrl, {
            directUrl: databaseDirectUrl || databaseUrl,
            poolSize: databasePoolSize,
            clientName,
          });
    await migrate(store, clock.now);
  } catch (error) {
    await store?.close();
    unlock();
    throw error;
  }
  const opened = store;
  const group = new GroupCommit(opened);
  const close = async () => {
    await group.stop();
    await opened.close();
    unlock();
  };
  try {
    return {
      reader: opened.reader,
      commit: group.commit,
      commitJointly: group.commitJointly,
      shared: opened.shared,
      poolUse: opened.poolUse,
      join: (work) => group.join(work),
      shutOut: () => group.shutOut(),
      on: (event, listener) => void group.on(event, listener),
      trimLog: opened.trimLog,
      startCheck: opened.startCheck,
      seal: await openSeal(group.commit, { encryptionKey, encryptionKeyPrevious }, opened.rewrite),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Holds an exclusive lock on the folder. The operating system lets go of it when the process ends, however it ends. */
function lockFolder(dataDir: string): () => void {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const file = join(dataDir, 'switchboard.lock');
  closeSync(openSync(file, 'a', 0o600)); // what SQLite puts beside it gets the same mode
  chmodSync(file, 0o600);
  const lock = new DatabaseSync(file, { timeout: 0 });
  try {
    lock.exec('pragma journal_mode = delete; begin exclusive');
  } catch (error) {
    lock.close();
    // SQLITE_BUSY; anything else is the folder's own trouble.
    if (error instanceof Error && 'errcode' in error && error.errcode === 5) throw new DataInUseError(dataDir);
    throw error;
  }
  return () => lock.close();
}
