import {
  closeSync,
  existsSync,
  fdatasync,
  fdatasyncSync,
  openSync,
  readFileSync,
  readSync,
  type Stats,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Worker } from 'node:worker_threads';
import { ChildHealth } from '../../childHealth.ts';
import { AppError, OperatorError } from '../../errors.ts';
import { thrownMessage } from '../../thrown.ts';
import { UnknownCommitError } from '../dialect.ts';

/** The database lacks acknowledged transactions or is unreadable. */
export class DatabaseDamagedError extends OperatorError {}

/** Called when the files are found deleted, replaced or destroyed, and again with what was saved. */
export type DamageListener = (reason: string) => void;

interface Mark {
  /** Acknowledged transactions, as a counter that wraps at 32 bits. */
  readonly commits: number;
  /** Whether the process that wrote it did not close the database. */
  readonly isOpen: boolean;
  /** Whether the database is a backup or an older copy, and that has not been noted in it. */
  readonly isReplaced?: boolean;
}

const MARK_BYTES = 64;
const SQLITE_HEADER = Buffer.from('SQLite format 3\0');
const SYNC_MS = 1000;

/**
 * Detects that the files of a SQLite database are not the ones that the server writes to, or lack acknowledged
 * transactions.
 *
 * SQLite itself reports neither. It keeps writing to a deleted file, and after a crash it drops everything after the
 * first damaged frame of its write-ahead log. So every transaction increments `user_version`, and the file
 * `switchboard.commits` keeps the count outside the database. The file is written after every commit, which survives a
 * crash of the process, and flushed once a second, which survives a power cut. A database with a lower count has lost
 * commits.
 */
export class SqliteFiles {
  readonly #paths: readonly string[];
  readonly #held: readonly Pick<Stats, 'dev' | 'ino'>[];
  readonly #onDamage: DamageListener;
  readonly #save: () => Promise<string>;
  readonly #mark: number;
  readonly #flushing: NodeJS.Timeout;
  /** Counter of the last transaction. */
  #commits: number;
  /** Counter of the last one that survives a power cut. */
  #synced: number;
  #isReplaced: boolean;
  #isFlushed = true;
  /** The database to check, if the last process did not close it. */
  #unclean: string | undefined;
  readonly #checkHealth: ChildHealth;
  #check: Worker | undefined;
  #checkAgain: NodeJS.Timeout | undefined;
  #damage: string | undefined;
  #saving: Promise<void> | undefined;

  /**
   * Compares the database with the count, before anything writes to it.
   * @throws {DatabaseDamagedError} if acknowledged transactions are missing, or the file is not a database
   */
  static requireComplete(file: string): void {
    const exists = existsSync(file);
    if (exists) requireSqlite(file);
    const mark = readMark(markOf(file));
    if (mark === undefined) return;
    const commits = exists ? readCommits(file) : undefined;
    if (commits === undefined && mark.commits === 0) return;
    // The counter wraps, so only the difference shows which one is ahead.
    const missing = (mark.commits - (commits ?? 0)) | 0;
    if (commits !== undefined && missing <= 0) return;
    const what =
      commits === undefined
        ? `${file} is missing, but it contained acknowledged transactions.`
        : `${file} lacks the last ${missing} acknowledged transactions: its write-ahead log (${file}-wal) was deleted or damaged, or an older copy was put in its place.`;
    const rescued = existsSync(rescuedFile(file))
      ? ` The data that the server saved when it noticed is in ${rescuedFile(file)}. Rename that file to ${file}, and delete ${file}-wal and ${file}-shm.`
      : '';
    throw new DatabaseDamagedError(
      `${what} Nothing was changed.${rescued} Put the original files back or restore a backup. To continue without the missing transactions, delete ${markOf(file)}.`,
    );
  }

  /**
   * @param file of a database that is already open, so that the files beside it exist
   * @param save copies the data of the open database and returns instructions for the operator
   */
  constructor(
    file: string,
    {
      commits,
      save,
      onDamage,
      checkHealth = new ChildHealth('database_check'),
    }: { commits: number; save: () => Promise<string>; onDamage: DamageListener; checkHealth?: ChildHealth },
  ) {
    this.#checkHealth = checkHealth;
    this.#paths = [file, `${file}-wal`, `${file}-shm`];
    this.#held = this.#paths.map((path) => statSync(path));
    this.#commits = commits;
    this.#synced = commits;
    this.#onDamage = onDamage;
    this.#save = save;
    const mark = readMark(markOf(file));
    const wasOpen = mark?.isOpen === true;
    // A backup does not contain the mark.
    this.#isReplaced = mark === undefined ? commits !== 0 : mark.isReplaced === true;
    this.#mark = openSync(markOf(file), existsSync(markOf(file)) ? 'r+' : 'w+', 0o600);
    this.#write({ commits, isOpen: true });
    fdatasyncSync(this.#mark);
    this.#flushing = setInterval(() => this.#flush(), SYNC_MS).unref();
    this.#unclean = wasOpen ? file : undefined;
  }

  /** Whether the last process did not close the database. */
  get wasUnclean(): boolean {
    return this.#unclean !== undefined;
  }

  get wasReplaced(): boolean {
    return this.#isReplaced;
  }

  keptEpoch(): void {
    if (!this.#isReplaced) return;
    this.#isReplaced = false;
    this.#note();
  }

  /** Returns the counter that the next transaction with changes stores, with `committed` after its commit. */
  get nextCommits(): number {
    return (this.#commits + 1) | 0;
  }

  /** Whether the files are those that the server opened, and undamaged as far as is known. */
  areInPlace(): boolean {
    this.#findReplaced();
    return this.#damage === undefined;
  }

  /** @throws {AppError} `storage_unavailable` if the files are damaged */
  requireWhole(): void {
    if (this.areInPlace()) return;
    throw new AppError('storage_unavailable', 'The database files are damaged; the server log says how');
  }

  /**
   * Call it after the commit of a transaction with changes.
   * @param sync makes it survive a power cut
   * @throws {UnknownCommitError} if the disk refuses it: a restart may find the transaction
   * @throws {AppError} `storage_unavailable` if the files are not in place: the transaction is not acknowledged
   */
  async committed(sync: Promise<void>): Promise<void> {
    const commits = this.nextCommits;
    this.#commits = commits;
    try {
      await sync;
    } catch (error) {
      const reason = thrownMessage(error);
      this.#noteDamage(`The disk refused to store a transaction (${reason}). Check the disk, and restart the server.`);
      throw new UnknownCommitError(error);
    }
    this.#synced = commits;
    this.#note();
    this.requireWhole();
  }

  /** Refuses all later writes, because a page is damaged. */
  noteDestroyed(how: string): void {
    this.#noteDamage(`${how} Stop the server and restore a backup.`);
  }

  /** Call it before SQLite closes the database. */
  async stop(): Promise<void> {
    clearInterval(this.#flushing);
    this.#check?.removeAllListeners();
    this.#check?.on('error', () => {}); // without a listener, it would end the process
    await this.#check?.terminate();
    clearTimeout(this.#checkAgain);
    await this.#saving;
  }

  /** Call it after SQLite has closed the database. */
  close(): void {
    this.#write({ commits: this.#synced, isOpen: this.#damage !== undefined });
    fdatasyncSync(this.#mark);
    closeSync(this.#mark);
  }

  #noteDamage(reason: string): void {
    if (this.#damage !== undefined) return;
    this.#damage = reason;
    this.#onDamage(reason);
  }

  #findReplaced(): void {
    if (this.#damage !== undefined) return;
    for (const [index, path] of this.#paths.entries()) {
      const now = statSync(path, { throwIfNoEntry: false });
      const held = this.#held[index];
      if (now !== undefined && now.ino === held?.ino && now.dev === held.dev) continue;
      this.#noteDamage(`${path} was ${now === undefined ? 'deleted' : 'replaced'} while the server was running.`);
      this.#saving = this.#save().then(this.#onDamage);
      return;
    }
  }

  /**
   * Starts looking for damaged pages if the last process did not close the database, in a thread, because 1 GB takes
   * seconds. Call it once the server has started: on damage the server becomes unready and continues to serve reads.
   */
  startCheck(): void {
    const file = this.#unclean;
    if (file === undefined) return;
    this.#unclean = undefined;
    this.#startChecking(file);
  }

  /** A thread that does not start, or ends before it has a result, is started again later. */
  #startChecking(file: string): void {
    let isDone = false;
    const failed = (error: unknown) => {
      if (isDone) return;
      isDone = true;
      this.#checkHealth.failed(error);
      this.#checkAgain = setTimeout(() => this.#startChecking(file), this.#checkHealth.retryMs);
      this.#checkAgain.unref();
    };
    try {
      this.#check = new Worker(new URL('./quickCheck.ts', import.meta.url), { workerData: file });
    } catch (error) {
      failed(error);
      return;
    }
    this.#check.unref();
    this.#check.on('message', (found: string) => {
      isDone = true;
      this.#checkHealth.works();
      if (found !== 'ok') this.noteDestroyed(`The check after an unclean end found damage in ${file}: ${found}.`);
    });
    this.#check.on('error', failed);
    this.#check.on('exit', () => failed(new Error('the thread ended without a result')));
  }

  /** A failed write of the count does not undo the commit: a count that lags only detects less. */
  #note(): boolean {
    this.#isFlushed = false;
    try {
      this.#write({ commits: this.#synced, isOpen: true });
      return true;
    } catch {
      return false;
    }
  }

  #write(mark: Mark): void {
    const whole = { ...mark, ...(this.#isReplaced && { isReplaced: true }) };
    const bytes = Buffer.from(`${JSON.stringify(whole).padEnd(MARK_BYTES - 1)}\n`);
    for (let written = 0; written < bytes.length; )
      written += writeSync(this.#mark, bytes, written, bytes.length - written, written);
  }

  #flush(): void {
    if (this.#isFlushed || !this.#note()) return;
    this.#isFlushed = true;
    fdatasync(this.#mark, (error) => {
      if (error !== null) this.#isFlushed = false;
    });
  }
}

/** The file to which a server saves its data when the files are gone. */
export const rescuedFile = (file: string) => `${file}.rescued`;
const markOf = (file: string) => join(dirname(file), 'switchboard.commits');

function readMark(path: string): Mark | undefined {
  if (!existsSync(path)) return undefined;
  try {
    const { commits, isOpen, isReplaced } = JSON.parse(readFileSync(path, 'utf8'));
    if (typeof commits !== 'number') return undefined;
    return { commits, isOpen: isOpen === true, isReplaced: isReplaced === true };
  } catch (error) {
    if (error instanceof SyntaxError) return undefined; // cut off by a crash
    throw error;
  }
}

/**
 * Opening an empty database makes SQLite delete its write-ahead log, so this reads the file itself.
 * @throws {DatabaseDamagedError} if the file was emptied or overwritten
 */
function requireSqlite(file: string): void {
  const header = readHeader(file);
  if (header.equals(SQLITE_HEADER)) return;
  const logBytes = statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0;
  if (header.length === 0 && logBytes === 0) return;
  const what = header.length === 0 ? 'is empty, but its write-ahead log is not' : 'is not a SQLite database';
  throw new DatabaseDamagedError(
    `${file} ${what}. Nothing was changed. Put the original file back next to ${file}-wal, or restore a backup.`,
  );
}

function readHeader(file: string): Buffer {
  const descriptor = openSync(file, 'r');
  try {
    const header = Buffer.alloc(SQLITE_HEADER.length);
    return header.subarray(0, readSync(descriptor, header));
  } finally {
    closeSync(descriptor);
  }
}

/** Does not write: a damaged log stays as it is, for later inspection. */
function readCommits(file: string): number {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    return commitsOf(database);
  } finally {
    database.close();
  }
}

export function commitsOf(database: DatabaseSync): number {
  return Number(database.prepare('pragma user_version').get()?.['user_version']);
}
