import { setImmediate } from 'node:timers/promises';
import type { Commit, Tx } from './commit.ts';

/** Duration of a transaction that the number of rows aims at, in ms. */
const TARGET_MS = 8;
/** Rows of the first transaction. */
export const FIRST_ROWS = 100;
const ROWS: PaceLimits = { first: FIRST_ROWS, fewest: 20, most: 500 };
/** Rows that one read lists, such as accounts, webhooks or deliveries. */
export const LISTED_ROWS = 500;
/** Rows that one read passes in the order of a key, outside the main thread. */
export const PASSED_ROWS = 5000;
/** Bounds of the change from one transaction to the next. */
const LEAST_FACTOR = 0.5;
const MOST_FACTOR = 1.25;

/** Numbers of rows, or of other units, per transaction. */
export interface PaceLimits {
  readonly first: number;
  readonly fewest: number;
  readonly most: number;
}

/** Rows per transaction that deletes messages, which are in many indexes. */
export const MESSAGES: PaceLimits = { ...ROWS, most: 250 };

/** Rows per transaction that deletes a range of a table by its integer key. */
export const RANGES: PaceLimits = { first: 500, fewest: 50, most: 5000 };

interface SliceOptions {
  /** Key of the transactions. */
  readonly key?: string | undefined;
  /** Ends the work early. */
  readonly isStopped?: () => boolean;
}

/**
 * Paces long work on SQLite, where a transaction blocks the process: the number of rows per transaction follows from
 * the duration of the earlier ones. It depends on the disk, on how far apart the rows are, and on other work that
 * shares the transaction.
 */
export class Pace {
  readonly #limits: PaceLimits;
  #rows: number;

  constructor(limits = ROWS) {
    this.#limits = limits;
    this.#rows = limits.first;
  }

  /** Runs a transaction. Its work must change no more than the given number of rows. */
  async run<T>(commit: Commit, work: (tx: Tx, rows: number) => Promise<T>, key?: string): Promise<T> {
    let ms = 0;
    const result = await commit(async (tx) => {
      const startedAt = performance.now();
      const done = await work(tx, tx.dialect.hasConcurrentWriters ? this.#limits.most : this.#rows);
      // On SQLite, it runs when the commit has written everything and waits for the disk, which blocks nothing.
      process.nextTick(() => {
        ms = performance.now() - startedAt;
      });
      return done;
    }, key);
    await setImmediate(); // requests that have arrived go first
    this.#adapt(ms);
    return result;
  }

  /** Repeats a step until it changes fewer rows than it may. Returns the number of changed rows. */
  async repeat(
    commit: Commit,
    step: (tx: Tx, rows: number) => Promise<number>,
    { key, isStopped = () => false }: SliceOptions = {},
  ): Promise<number> {
    for (let total = 0; ; ) {
      const { changed, rows } = await this.run(
        commit,
        async (tx, limit) => ({ changed: await step(tx, limit), rows: limit }),
        key,
      );
      total += changed;
      if (changed < rows || isStopped()) return total;
    }
  }

  /** Runs work for all items, in transactions with some of them. Returns the sum of the results. */
  async inSlices<T>(
    commit: Commit,
    items: readonly T[],
    work: (tx: Tx, slice: readonly T[], start: number) => Promise<number>,
    { key, isStopped = () => false }: SliceOptions = {},
  ): Promise<number> {
    let total = 0;
    for (let start = 0, end = 0; start < items.length && !isStopped(); start = end) {
      const runSlice = (tx: Tx, rows: number) => {
        end = start + rows;
        return work(tx, items.slice(start, end), start);
      };
      total += await this.run(commit, runSlice, key);
    }
    return total;
  }

  #adapt(ms: number): void {
    const factor = Math.min(MOST_FACTOR, Math.max(LEAST_FACTOR, TARGET_MS / Math.max(ms, 1)));
    const { fewest, most } = this.#limits;
    const rows = this.#rows * factor;
    this.#rows = Math.min(most, Math.max(fewest, factor > 1 ? Math.ceil(rows) : Math.floor(rows)));
  }
}
