import { type Database, deleteInSlices, type Row, type Statement } from '../database/database.ts';

export interface NewJob {
  /** A job with a key that was added before is ignored. */
  readonly dedup: string;
  /** Jobs of one lane run one after the other, in the order of their addition. */
  readonly lane: string;
  readonly payload: object;
}

export interface Job {
  readonly seq: number;
  readonly lane: string;
  readonly payload: unknown;
  /** Number of this attempt, from 1 on. Above 1, an earlier one may have had an effect. */
  readonly attempt: number;
  readonly createdAt: number;
  /** Whether an earlier attempt may have written to the chat, because `workOn` has no outcome. */
  readonly isUnclear: boolean;
  /** Attempts that the other side has rejected. Outages do not count. */
  readonly rejections: number;
}

export interface Postponement {
  readonly dueAt: number;
  readonly error: string;
  /** Moves the job to another lane, where it no longer holds back the jobs behind it. */
  readonly lane?: string | undefined;
  /** Counts the attempt as rejected. */
  readonly isRejected?: boolean;
  /** Whether the attempt had no effect, so that nothing can come from it. */
  readonly isWithoutEffect?: boolean;
}

export type Added = 'added' | 'known' | 'full';
export type QueueTable = 'to_chatwoot' | 'to_whatsapp';

/**
 * A durable queue of one direction: `waiting` jobs, and finished ones that recognize repetitions. The first waiting job
 * of each lane is marked (`is_first`), so that the next jobs are found without reading the rest of the lane.
 */
export class Queue {
  readonly table: QueueTable;
  readonly #database: Database;
  readonly #limit: number;
  readonly #onAdded: () => void;
  #waiting = 0;

  constructor(database: Database, table: QueueTable, limit: number, onAdded: () => void) {
    this.#database = database;
    this.table = table;
    this.#limit = limit;
    this.#onAdded = onAdded;
  }

  get waiting(): number {
    return this.#waiting;
  }

  async open(): Promise<void> {
    const [row] = await this.#database.all(`SELECT count(*) AS n FROM ${this.table} WHERE state = 'waiting'`);
    this.#waiting = Number(row?.['n'] ?? 0);
  }

  /** Stores a job. It survives the process once this resolves with `added`. */
  async add(job: NewJob): Promise<Added> {
    if (this.#waiting >= this.#limit) return (await this.has(job.dedup)) ? 'known' : 'full';
    const [added] = await this.#database.batch([this.insertion(job)]);
    if (added !== 1) return 'known';
    this.added();
    return 'added';
  }

  /** Whether a job with this key was added. */
  async has(dedup: string): Promise<boolean> {
    return (await this.#database.all(`SELECT 1 AS one FROM ${this.table} WHERE dedup = ?`, dedup)).length > 0;
  }

  /** The statement that adds a job, for a transaction of another queue. Call `added` if it changed a row. */
  insertion({ dedup, lane, payload }: NewJob): Statement {
    const now = Date.now();
    return [
      `INSERT INTO ${this.table} (dedup, lane, payload, state, attempts, due_at, created_at, is_first)
        VALUES (?, ?, ?, 'waiting', 0, ?, ?, ${this.#ifLaneIsEmpty}) ON CONFLICT (dedup) DO NOTHING`,
      dedup,
      lane,
      JSON.stringify(payload),
      now,
      now,
      lane,
    ];
  }

  added(count = 1): void {
    this.#waiting += count;
    this.#onAdded();
  }

  /** Returns the first jobs of their lanes that are due, except in busy lanes. */
  async due(busy: ReadonlySet<string>, count: number): Promise<Job[]> {
    const rows = await this.#database.all(
      `SELECT seq, lane, payload, attempts, created_at, rejections, chat FROM ${this.table}
        WHERE is_first = 1 AND due_at <= ? ORDER BY due_at, seq LIMIT ?`,
      Date.now(),
      count + busy.size,
    );
    return rows
      .map(jobOf)
      .filter(({ lane }) => !busy.has(lane))
      .slice(0, count);
  }

  /** Due time of the next job in a free lane, or undefined without a job. */
  async nextDueAt(busy: ReadonlySet<string>): Promise<number | undefined> {
    const rows = await this.#database.all(
      `SELECT lane, due_at FROM ${this.table} WHERE is_first = 1 ORDER BY due_at, seq LIMIT ?`,
      busy.size + 1,
    );
    const next = rows.find(({ lane }) => !busy.has(String(lane)));
    return next && Number(next['due_at']);
  }

  /** Counts an attempt before it begins, so that the next process knows that it may have had an effect. */
  async begin(seq: number): Promise<void> {
    await this.#database.batch([[`UPDATE ${this.table} SET attempts = attempts + 1 WHERE seq = ?`, seq]]);
  }

  /** Remembers the chat that an attempt is about to write to, until the job ends. */
  async workOn(seq: number, chat: string): Promise<void> {
    await this.#database.batch([[`UPDATE ${this.table} SET chat = ? WHERE seq = ?`, chat, seq]]);
  }

  /** Whether an attempt may have written to a chat, and has no outcome yet. */
  async isWorkingOn(chat: string): Promise<boolean> {
    return (await this.#database.all(`SELECT 1 AS one FROM ${this.table} WHERE chat = ? LIMIT 1`, chat)).length > 0;
  }

  /** Ends a job, together with its effects on other tables. @returns the number of rows that each statement changed */
  async finish(
    { seq, lane }: Pick<Job, 'seq' | 'lane'>,
    state: 'done' | 'failed',
    statements: readonly Statement[],
    error = '',
  ): Promise<number[]> {
    const changes = await this.#database.batch([
      ...statements,
      [
        `UPDATE ${this.table} SET state = ?, payload = '{}', finished_at = ?, error = ?, is_first = 0, chat = NULL
          WHERE seq = ?`,
        state,
        Date.now(),
        error.slice(0, 500),
        seq,
      ],
      this.#markFirst(lane),
    ]);
    this.#waiting--;
    return changes.slice(0, statements.length);
  }

  async postpone(
    { seq, lane }: Pick<Job, 'seq' | 'lane'>,
    { dueAt, error, lane: newLane = lane, isRejected = false, isWithoutEffect = false }: Postponement,
  ): Promise<void> {
    await this.#database.batch([
      [
        `UPDATE ${this.table} SET due_at = ?, error = ?, rejections = rejections + ?
          ${isWithoutEffect ? ', chat = NULL' : ''} WHERE seq = ?`,
        dueAt,
        error.slice(0, 500),
        Number(isRejected),
        seq,
      ],
      ...(newLane === lane ? [] : this.#move(seq, lane, newLane)),
    ]);
  }

  /** Deletes old finished jobs, a limited number in each transaction. */
  async forget(finishedBefore: number): Promise<void> {
    await deleteInSlices(
      this.#database,
      `DELETE FROM ${this.table} WHERE seq IN (SELECT seq FROM ${this.table} WHERE finished_at < ? LIMIT ?)`,
      finishedBefore,
    );
  }

  get #ifLaneIsEmpty(): string {
    return `CASE WHEN EXISTS (SELECT 1 FROM ${this.table} WHERE lane = ? AND state = 'waiting') THEN 0 ELSE 1 END`;
  }

  #move(seq: number, from: string, to: string): Statement[] {
    const { table } = this;
    return [
      [`UPDATE ${table} SET is_first = ${this.#ifLaneIsEmpty}, lane = ? WHERE seq = ?`, to, to, seq],
      this.#markFirst(from),
    ];
  }

  #markFirst(lane: string): Statement {
    const { table } = this;
    return [
      `UPDATE ${table} SET is_first = 1
        WHERE seq = (SELECT seq FROM ${table} WHERE lane = ? AND state = 'waiting' ORDER BY seq LIMIT 1)`,
      lane,
    ];
  }
}

function jobOf(row: Row): Job {
  return {
    seq: Number(row['seq']),
    lane: String(row['lane']),
    payload: JSON.parse(String(row['payload'])),
    attempt: Number(row['attempts']) + 1,
    createdAt: Number(row['created_at']),
    isUnclear: row['chat'] !== null,
    rejections: Number(row['rejections']),
  };
}
