import type { DatabaseSync } from 'node:sqlite';
import { settledWithin } from '../../async.ts';
import { systemClock } from '../../clock.ts';

/** Numbers of pages in the write-ahead log. */
interface Limits {
  /** From here on, the log is written back in the thread. */
  readonly due: number;
  /**
   * From here on, it is written back on the spot, because the thread does not keep up. If that is impossible because
   * the thread is writing it back, transactions wait.
   */
  readonly most: number;
  /** As few as these are left for the next commit. */
  readonly few: number;
}

/**
 * 4 MiB, 64 MiB, and what takes about 2 ms. A commit waits while the disk writes what the thread has written back: for
 * up to 270 ms after 16 MiB.
 */
const LIMITS: Limits = { due: 2000, most: 32_000, few: 400 };

/** Times that the thread writes back what was added to the log meanwhile. */
const ROUNDS = 4;
/** How long a transaction waits for the thread. A thread without a share of the processor must not stop the server. */
const WAIT_MS = 5000;
/** Commits that may find a reader in the way of restarting the log, before it is left to grow. */
const FINISHES = 10;

/**
 * Writes the write-ahead log of a SQLite database back to the database, so that it restarts instead of growing. A
 * thread does most of it, because writing back 16 MiB takes 50 to 500 ms. Only what is added in the meantime is written
 * back between two commits.
 */
export class Checkpoints {
  readonly #inThread: () => Promise<unknown>;
  /** Returns whether another connection was writing the log back. */
  readonly #here: () => boolean;
  readonly #state: () => { readonly log: number; readonly left: number };
  readonly #limits: Limits;
  #lastLog = 0;
  /** The log is left alone until it has so many pages. */
  #dueAt: number;
  #inProgress: Promise<void> | undefined;
  #isFull = false;
  #finishesLeft = 0;

  /**
   * @param writing the connection that commits; `wal_autocheckpoint` is off
   * @param inThread runs `pragma wal_checkpoint(passive)` on another connection
   */
  constructor(writing: DatabaseSync, inThread: () => Promise<unknown>, limits = LIMITS) {
    const passive = writing.prepare('pragma wal_checkpoint(passive)');
    const noop = writing.prepare('pragma wal_checkpoint(noop)');
    this.#inThread = inThread;
    this.#here = () => passive.get()?.['busy'] === 1;
    this.#state = () => {
      const { log, checkpointed } = noop.get() as { log: number; checkpointed: number };
      return { log, left: log - checkpointed };
    };
    this.#limits = limits;
    this.#dueAt = limits.due;
  }

  /** Call it after each commit. Never throws: what fails is tried again after a later commit. */
  committed(): void {
    try {
      const { log, left } = this.#state();
      if (log < this.#lastLog) this.#restarted();
      this.#lastLog = log;
      if (this.#finishesLeft > 0) this.#finish(log);
      else if (log < this.#dueAt) return;
      else if (left >= this.#limits.most || (log >= this.#limits.most && this.#inProgress !== undefined))
        this.#isFull = this.#finish(log);
      else this.#startInThread();
    } catch {
      // SQLite has kept the log.
    }
  }

  /** Call it before each transaction. Resolves when the log has room, which is usual and then undefined. */
  room(): Promise<void> | undefined {
    if (!this.#isFull) return undefined;
    this.#isFull = false;
    return this.#inProgress && settledWithin(systemClock, WAIT_MS, this.#inProgress);
  }

  #startInThread(): void {
    this.#inProgress ??= this.#writeBackInThread().finally(() => {
      this.#inProgress = undefined;
    });
  }

  #restarted(): void {
    this.#dueAt = this.#limits.due;
    this.#finishesLeft = 0;
  }

  /**
   * The next commit restarts the log, unless a reader still needs it.
   * @returns whether it failed because the thread is writing the log back
   */
  #finish(log: number): boolean {
    this.#finishesLeft = Math.max(0, this.#finishesLeft - 1);
    if (this.#finishesLeft === 0) this.#dueAt = log + this.#limits.due;
    return this.#here();
  }

  async #writeBackInThread(): Promise<void> {
    try {
      for (let round = 0; round < ROUNDS && this.#state().left > this.#limits.few; round++) await this.#inThread();
      const { log, left } = this.#state();
      // Another process that reads an old state keeps the log from being written back.
      if (left < this.#limits.due) this.#finishesLeft = FINISHES;
      else this.#dueAt = log + this.#limits.due;
    } catch {
      // The thread is too busy or the database is closed.
    }
  }
}
