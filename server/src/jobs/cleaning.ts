import { setImmediate } from 'node:timers/promises';
import { Slots } from '../async.ts';
import type { Commit, Tx } from '../db/commit.ts';
import type { Database } from '../db/database.ts';
import { LISTED_ROWS, Pace, type PaceLimits } from '../db/pace.ts';
import { query } from '../db/query.ts';

/** Deletes or settles the rows of one kind that have become old. */
export interface Cleaning {
  /** Noun phrase for the log. */
  readonly name: string;
  /** Returns the number of rows. */
  run(steps: Steps): Promise<number>;
}

/**
 * Runs the steps of all cleanings, one at a time and in turn, so that a long cleaning delays neither the others nor the
 * writes of callers.
 */
export class Steps {
  readonly database: Database;
  readonly #turn = new Slots(1);
  #isStopped = false;

  constructor(database: Database) {
    this.database = database;
  }

  get isStopped(): boolean {
    return this.#isStopped;
  }

  stop(): void {
    this.#isStopped = true;
  }

  /** Runs a step in a transaction. */
  readonly run: Commit = (step, key) =>
    this.#turn.run(async () => {
      await setImmediate(); // requests that have arrived go first
      return this.database.commit(step, key);
    });

  /** Repeats a step until it changes fewer rows than it may. Returns the number of rows. */
  repeat(step: (tx: Tx, limit: number) => Promise<number>): Promise<number> {
    return new Pace().repeat(this.run, step, { isStopped: () => this.isStopped });
  }

  /** Runs a step for each chunk of a list. Returns the number of rows that the steps changed. */
  inChunks<T>(
    items: readonly T[],
    step: (tx: Tx, chunk: readonly T[]) => Promise<number>,
    limits?: PaceLimits,
  ): Promise<number> {
    return new Pace(limits).inSlices(this.run, items, step, { isStopped: () => this.isStopped });
  }
}

/**
 * Runs work for every account, even if it fails for some of them. Returns the sum of the results.
 * @throws {AggregateError} after the last account, if it failed for some
 */
export async function forEachAccount(steps: Steps, work: (accountId: string) => Promise<number>): Promise<number> {
  const errors: unknown[] = [];
  let total = 0;
  for (let after = ''; ; ) {
    const page = await accountsAfter.all(steps.database.longReader, { after, limit: LISTED_ROWS });
    for (const { account_id: accountId } of page) {
      if (steps.isStopped) return total;
      try {
        total += await work(accountId);
      } catch (error) {
        errors.push(error);
      }
    }
    const last = page.at(-1);
    if (last === undefined || steps.isStopped) break;
    after = last.account_id;
  }
  if (errors.length > 0) throw new AggregateError(errors, `failed for ${errors.length} accounts`);
  return total;
}

const accountsAfter = query((db, p: { after: string; limit: number }) =>
  db.selectFrom('accounts').select('account_id').where('account_id', '>', p.after).orderBy('account_id').limit(p.limit),
);
