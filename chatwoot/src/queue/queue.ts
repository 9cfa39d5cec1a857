import type { Database, Row, Statement } from '../database/database.ts';

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
}

export type Added = 'added' | 'known' | 'full';
export type QueueTable = 'to_chatwoot' | 'to_whatsapp';

/** A durable queue of one direction: `waiting` jobs, and finished ones that recognize repetitions. */
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
      `INSERT INTO ${this.table} (dedup, lane, payload, state, attempts, due_at, created_at)
        VALUES (?, ?, ?, 'waiting', 0, ?, ?) ON CONFLICT (dedup) DO NOTHING`,
      dedup,
      lane,
      JSON.stringify(payload),
      now,
      now,
    ];
  }

  added(count = 1): void {
    this.#waiting += count;
    this.#onAdded();
  }

  /** Returns the first jobs of their lanes that are due, except in busy lanes. */
  async due(busy: ReadonlySet<string>, count: number): Promise<Job[]> {
    const rows = await this.#database.all(
      `SELECT seq, lane, payload, attempts, created_at FROM ${this.table}
        WHERE seq IN (SELECT min(seq) FROM ${this.table} WHERE state = 'waiting' GROUP BY lane) AND due_at <= ?
        ORDER BY seq LIMIT ?`,
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
    const lanes = [...busy];
    const [row] = await this.#database.all(
      `SELECT min(due_at) AS due FROM ${this.table}
        WHERE seq IN (SELECT min(seq) FROM ${this.table} WHERE state = 'waiting' GROUP BY lane)
        ${lanes.length === 0 ? '' : `AND lane NOT IN (${lanes.map(() => '?').join(', ')})`}`,
      ...lanes,
    );
    return row?.['due'] === null || row === undefined ? undefined : Number(row['due']);
  }

  /** Counts an attempt before it begins, so that the next process knows that it may have had an effect. */
  async begin(seq: number): Promise<void> {
    await this.#database.batch([[`UPDATE ${this.table} SET attempts = attempts + 1 WHERE seq = ?`, seq]]);
  }

  /** Ends a job, together with its effects on other tables. @returns the number of rows that each statement changed */
  async finish(seq: number, state: 'done' | 'failed', statements: readonly Statement[], error = ''): Promise<number[]> {
    const changes = await this.#database.batch([
      ...statements,
      [
        `UPDATE ${this.table} SET state = ?, payload = '{}', finished_at = ?, error = ? WHERE seq = ?`,
        state,
        Date.now(),
        error.slice(0, 500),
        seq,
      ],
    ]);
    this.#waiting--;
    return changes.slice(0, statements.length);
  }

  /** Postpones a job. With a lane, it no longer holds back the jobs behind it. */
  async postpone(seq: number, dueAt: number, error: string, lane?: string): Promise<void> {
    await this.#database.batch([
      [`UPDATE ${this.table} SET due_at = ?, error = ? WHERE seq = ?`, dueAt, error.slice(0, 500), seq],
      ...(lane === undefined ? [] : [[`UPDATE ${this.table} SET lane = ? WHERE seq = ?`, lane, seq] as const]),
    ]);
  }

  /** Whether an attempt of a job of these lanes began and has no outcome yet. */
  async hasBegun(lanePrefix: string): Promise<boolean> {
    const rows = await this.#database.all(
      `SELECT 1 AS one FROM ${this.table} WHERE state = 'waiting' AND attempts > 0 AND lane LIKE ? LIMIT 1`,
      `${lanePrefix}%`,
    );
    return rows.length > 0;
  }

  async forget(finishedBefore: number): Promise<void> {
    await this.#database.batch([[`DELETE FROM ${this.table} WHERE finished_at < ?`, finishedBefore]]);
  }
}

function jobOf(row: Row): Job {
  return {
    seq: Number(row['seq']),
    lane: String(row['lane']),
    payload: JSON.parse(String(row['payload'])),
    attempt: Number(row['attempts']) + 1,
    createdAt: Number(row['created_at']),
  };
}
