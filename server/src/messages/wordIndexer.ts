import type { Clock } from '../clock.ts';
import type { Commit, Tx } from '../db/commit.ts';
import type { Database } from '../db/database.ts';
import type { IndexTurn, OpenWriter, Queryable, SearchConcurrency } from '../db/dialect.ts';
import { Pace } from '../db/pace.ts';
import { query } from '../db/query.ts';
import { isAway } from '../errors.ts';
import type { Log } from '../log.ts';
import { indexNext, readCursor, skipNext } from './search.ts';

interface Options {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Log;
}

/** Interval in ms. Each batch writes several pages, however few messages it has. */
const EVERY_MS = 1000;
/** Time in ms until transactions are looked at again that were open. */
const WRITERS_MS = 100;
const RETRY_MS = 5000;
/** Messages per transaction. At least as many as arrive with a transaction, so that the index keeps up with them. */
const MESSAGES = { first: 100, fewest: 100, most: 250 };

/**
 * Adds new messages to the search index, in batches. The messages after the cursor are the work that is left, so it
 * continues after a crash, and any node can do it: one at a time.
 */
export class WordIndexer {
  readonly #options: Options;
  readonly #pace = new Pace(MESSAGES);
  readonly #settled = new SettledMessages();
  #isStopped = false;
  #cancel = () => {};
  #running: Promise<void> = Promise.resolve();

  constructor(options: Options) {
    this.#options = options;
  }

  start(): void {
    if (this.#isStopped) return;
    this.#cancel();
    this.#running = this.#run();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancel();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { clock, log } = this.#options;
    let nextMs = EVERY_MS;
    try {
      await this.#indexSettled();
      if (this.#settled.isAwaited) nextMs = WRITERS_MS;
    } catch (error) {
      if (this.#isStopped) return;
      log[isAway(error) ? 'warn' : 'error']({ err: error }, 'failed to add messages to the search index; retrying');
      nextMs = RETRY_MS;
    }
    if (!this.#isStopped) this.#cancel = clock.after(nextMs, () => this.start());
  }

  async #indexSettled(): Promise<void> {
    const { reader, commit } = this.#options.database;
    const settled = await this.#settled.read(reader, await readCursor(reader));
    if (settled === undefined) return;
    const step = async (tx: Tx, limit: number) => ((await claim(tx, settled)) ? indexNext(tx, settled.seq, limit) : 0);
    try {
      while (!this.#isStopped && (await this.#pace.run(commit, step)) > 0);
    } catch (error) {
      if (isAway(error) || this.#isStopped) throw error;
      await this.#indexEach(settled, commit);
    }
  }

  /** Indexes the messages of a failed batch on their own. One that fails again is left out. */
  async #indexEach(settled: Settled, commit: Commit): Promise<void> {
    const { log } = this.#options;
    for (let n = 0; n < MESSAGES.most && !this.#isStopped; n++) {
      try {
        const index = async (tx: Tx) => ((await claim(tx, settled)) ? indexNext(tx, settled.seq, 1) : 0);
        if ((await commit(index)) === 0) return;
      } catch (error) {
        if (isAway(error)) throw error;
        const skip = async (tx: Tx) => ((await claim(tx, settled)) ? skipNext(tx, settled.seq) : undefined);
        log.error(
          { err: error, seq: await commit(skip) },
          'failed to add a message to the search index; leaving it out',
        );
      }
    }
  }
}

interface Settled {
  /** Every message up to this `seq` is committed or rolled back. */
  readonly seq: number;
  /** As in `OpenWriter`; undefined if one process has the database to itself. */
  readonly since: string | undefined;
}

/** Begins a batch, unless another node works, a message is being changed, or another server has taken over. */
async function claim({ dialect, connection }: Queryable, { since }: Settled): Promise<boolean> {
  const { concurrency } = dialect.search;
  if (concurrency === undefined) return true;
  const [turn] = (await connection.query<IndexTurn>(concurrency.claim, [])).rows;
  return turn?.isClaimed === true && turn.since === since;
}

interface Candidate extends Settled {
  readonly writers: ReadonlySet<string>;
}

/**
 * Finds the number up to which all messages are settled. Transactions of PostgreSQL commit in another order than they
 * draw numbers: once those have ended that were open when the newest message was read, no message can appear below it.
 */
class SettledMessages {
  #candidate: Candidate | undefined;

  /** Whether messages wait only for transactions to end. */
  get isAwaited(): boolean {
    return this.#candidate !== undefined;
  }

  /** Returns undefined if no message after the cursor is settled. */
  async read(on: Queryable, cursor: number): Promise<Settled | undefined> {
    const { concurrency } = on.dialect.search;
    if (concurrency === undefined) {
      const newest = await newestMessage.first(on, {});
      return newest === undefined || newest.seq <= cursor ? undefined : { seq: newest.seq, since: undefined };
    }
    if (this.#candidate === undefined) {
      const newest = await newestMessage.first(on, {});
      if (newest === undefined || newest.seq <= cursor) return undefined;
      this.#candidate = { seq: newest.seq, ...(await writersOf(on, concurrency)) };
      if (this.#candidate.writers.size > 0) return undefined;
    }
    const candidate = this.#candidate;
    const now = await writersOf(on, concurrency);
    const isSame = now.since === candidate.since;
    if (isSame && [...candidate.writers].some((writer) => now.writers.has(writer))) return undefined;
    this.#candidate = undefined;
    return isSame ? candidate : undefined;
  }
}

async function writersOf({ connection }: Queryable, { writers }: SearchConcurrency) {
  const { rows } = await connection.query<OpenWriter>(writers, []);
  const open = rows.flatMap(({ writer }) => writer ?? []);
  return { writers: new Set(open), since: rows[0]?.since ?? '' };
}

const newestMessage = query((db) => db.selectFrom('messages').select('seq').orderBy('seq', 'desc').limit(1));
