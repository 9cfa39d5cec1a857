import type { Clock } from '../clock.ts';
import type { Tx } from '../db/commit.ts';
import type { Database } from '../db/database.ts';
import type { WordBuckets } from '../db/dialect.ts';
import { Pace } from '../db/pace.ts';
import { query } from '../db/query.ts';
import { isAway } from '../errors.ts';
import type { Log } from '../log.ts';
import { contentOf, searchText } from './content.ts';
import { dropWords, indexWords } from './search.ts';

interface Options {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Log;
}

const RETRY_MS = 60_000;
/** Messages per transaction. */
const MESSAGES = { first: 20, fewest: 5, most: 200 };

/**
 * Moves messages from the search index of an earlier release to the one with buckets, newest first, in transactions
 * with few of them. The rows of the former index are what is left to do, so it continues after a crash, and after an
 * earlier release has added rows. Searches read both indexes until then.
 */
export class WordMove {
  readonly #options: Options;
  #isStopped = false;
  #cancel = () => {};
  #running: Promise<void> = Promise.resolve();

  constructor(options: Options) {
    this.#options = options;
  }

  start(): void {
    const { buckets } = this.#options.database.reader.dialect.search;
    if (buckets !== undefined && !this.#isStopped) this.#running = this.#runLogged(buckets);
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancel();
    await this.#running;
  }

  async #runLogged(buckets: WordBuckets): Promise<void> {
    const { clock, log } = this.#options;
    try {
      const messages = await this.#run(buckets);
      if (messages > 0 && !this.#isStopped) log.info({ messages }, 'moved messages to the new search index');
    } catch (error) {
      if (this.#isStopped) return;
      const level = isAway(error) ? 'warn' : 'error';
      log[level]({ err: error }, 'failed to move messages to the new search index; retrying in a minute');
      this.#cancel = clock.after(RETRY_MS, () => this.start());
    }
  }

  /** Returns the number of messages that were moved. */
  async #run({ former }: WordBuckets): Promise<number> {
    const { reader, commit } = this.#options.database;
    const has = async (text: string) => (await reader.connection.query(text, [])).rows.length > 0;
    if (!(await has(former.hasPages))) return 0;
    const moved = await new Pace(MESSAGES).repeat(commit, move, { isStopped: () => this.#isStopped });
    await commit(async (tx) => {
      if ((await unmoved.all(tx, { limit: 1 })).length === 0) await tx.connection.query(former.clear, []);
    });
    return moved;
  }
}

async function move(tx: Tx, limit: number): Promise<number> {
  const rows = await unmoved.all(tx, { limit });
  const seqs = rows.map(({ rowid }) => rowid);
  if (seqs.length === 0) return 0;
  const messages = await messagesBySeq.all(tx, { seqs: JSON.stringify(seqs) });
  await dropWords(tx, seqs);
  for (const row of messages) {
    const text = searchText(row.body, contentOf(row));
    tx.writeLater(indexWords, { seq: row.seq, accountId: row.account_id, text });
  }
  return seqs.length;
}

const unmoved = query((db, p: { limit: number }) =>
  db.selectFrom('message_words').select('rowid').orderBy('rowid', 'desc').limit(p.limit),
);

const messagesBySeq = query((db, p: { seqs: string }, dialect) =>
  db.selectFrom('messages').selectAll().where('seq', 'in', dialect.integers(p.seqs)),
);
