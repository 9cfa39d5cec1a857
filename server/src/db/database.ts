import { chmodSync, closeSync, mkdirSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Children } from '../childHealth.ts';
import type { Clock } from '../clock.ts';
import { OperatorError } from '../errors.ts';
import type { Seal } from '../seal.ts';
import type { Store } from './dialect.ts';
import { GroupCommit } from './groupCommit.ts';
import { migrate } from './migrate.ts';
import { foundation } from './migrations/0050-foundation.ts';
import { type EncryptionKeys, openSeal, requireKey } from './sealing.ts';
import { openSqlite } from './sqlite/sqlite.ts';
import type { DamageListener } from './sqlite/sqliteFiles.ts';

export interface DatabaseSettings extends Partial<EncryptionKeys> {
  /** Empty for SQLite in `dataDir`. */
  readonly databaseUrl: string;
  /** Bypasses a connection pooler for statements that it does not support; empty if there is no pooler. */
  readonly databaseDirectUrl?: string;
  readonly databasePoolSize?: number;
  /** The client name that PostgreSQL shows in `pg_stat_activity`. */
  readonly clientName?: string;
  readonly dataDir: string;
}

/** An upgrade of the schema, by version. */
export interface SchemaUpgrade {
  readonly from: number;
  readonly to: number;
  readonly ms: number;
}

export interface Database
  extends Pick<Store, 'reader' | 'longReader' | 'shared' | 'poolUse' | 'trimLog' | 'startCheck' | 'close'>,
    Pick<GroupCommit, 'commit' | 'commitJointly' | 'commitNow' | 'hurry' | 'join' | 'shutOut'> {
  /** Whether a backup or an older copy was put in place of the files; see `webhooks/log/logEpochs.ts`. */
  wasReplaced(): boolean;
  keptEpoch(): void;
  on(event: 'fenced' | 'full' | 'unanswered', listener: () => void): void;
  readonly seal: Seal;
}

export class DataInUseError extends OperatorError {
  constructor(dataDir: string) {
    super(`Another Switchboard is running on ${dataDir}. Stop it, or set DATA_DIR to another folder.`);
  }
}

interface OpenOptions {
  /** Called when the files of the embedded database are found damaged. Every later write is refused. */
  readonly onDamage?: DamageListener;
  /** Called after the schema of an existing database was upgraded. */
  readonly onUpgrade?: (upgrade: SchemaUpgrade) => void;
  /** Called when other connections have locked tables, with their descriptions, and again after each minute. */
  readonly onWait?: (holders: readonly string[]) => void;
  /** Reports threads of the database that fail. */
  readonly children?: Children;
  /** Longest time that work waits for other work to join, in milliseconds; defaults to a second. */
  readonly patienceMs?: number | undefined;
  /** For tests with faults. */
  readonly wrapStore?: ((store: Store) => Store) | undefined;
}

/**
 * Opens the configured database and brings its schema up to date. The data folder belongs to this process alone,
 * whichever database it uses: two processes on one PostgreSQL need one folder each.
 * @throws {DatabaseDamagedError} if acknowledged transactions are missing
 * @throws {DataInUseError} if another process uses the folder
 * @throws {SchemaMismatchError} if the tables differ from the recorded schema version
 * @throws {NewerSchemaError} if a newer version has upgraded the database beyond what this one supports
 * @throws {OlderNodesError} if running older nodes do not support a required migration
 * @throws {WrongKeyError} if the secrets are encrypted with another key
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
  {
    onDamage = () => {},
    onUpgrade = () => {},
    onWait = () => {},
    children = new Children(),
    patienceMs,
    wrapStore = (store) => store,
  }: OpenOptions = {},
): Promise<Database> {
  await using opening = new AsyncDisposableStack(); // closes everything again if a step fails
  opening.defer(lockFolder(dataDir));
  const inner =
    databaseUrl === ''
      ? openSqlite(join(dataDir, 'switchboard.db'), onDamage, children)
      : (await import('./postgres/postgres.ts')).openPostgres(databaseUrl, {
          directUrl: databaseDirectUrl || databaseUrl,
          poolSize: databasePoolSize,
          clientName,
        });
  const store = wrapStore(inner);
  opening.defer(() => store.close());
  const startedAt = performance.now();
  const keys = { encryptionKey, encryptionKeyPrevious };
  const applied = await migrate(store, clock.now, undefined, {
    beforeUpgrade: (on) => requireKey(on, keys),
    onWait,
  });
  const [first, last] = [applied[0], applied.at(-1)];
  if (first !== undefined && last !== undefined && first !== foundation.version)
    onUpgrade({ from: first - 1, to: last, ms: Math.round(performance.now() - startedAt) }); // versions have no gaps
  const group = new GroupCommit(store, { patienceMs });
  opening.defer(() => group.stop());
  const seal = await openSeal(group.commit, keys, store.rewrite);
  const opened = opening.move();
  return {
    reader: store.reader,
    longReader: store.longReader,
    commit: group.commit,
    commitJointly: group.commitJointly,
    commitNow: group.commitNow,
    shared: store.shared,
    poolUse: store.poolUse,
    hurry: () => group.hurry(),
    join: (work) => group.join(work),
    shutOut: () => group.shutOut(),
    on: (event, listener) => void group.on(event, listener),
    wasReplaced: () => store.wasReplaced?.() ?? false,
    keptEpoch: () => store.keptEpoch(),
    trimLog: store.trimLog,
    startCheck: store.startCheck,
    seal,
    close: () => opened.disposeAsync(),
  };
}

/**
 * Holds an exclusive lock, which the operating system releases when the process ends, even after a crash.
 * @returns a function that releases it
 * @throws {DataInUseError}
 */
export function lockFolder(dataDir: string): () => void {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const file = join(dataDir, 'switchboard.lock');
  closeSync(openSync(file, 'a', 0o600)); // SQLite gives the files beside it the same mode
  chmodSync(file, 0o600);
  const lock = new DatabaseSync(file, { timeout: 0 });
  try {
    lock.exec('pragma journal_mode = delete; begin exclusive');
  } catch (error) {
    lock.close();
    // SQLITE_BUSY. Any other error is a problem with the folder itself.
    if (error instanceof Error && 'errcode' in error && error.errcode === 5) throw new DataInUseError(dataDir);
    throw error;
  }
  return () => lock.close();
}
