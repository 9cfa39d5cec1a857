import { Worker } from 'node:worker_threads';
import { ChildHealth } from '../../childHealth.ts';
import { AppError } from '../../errors.ts';
import { READY } from '../../threadPool.ts';
import type { Connection, Result } from '../dialect.ts';

export interface ThreadQuery {
  readonly id: number;
  readonly text: string;
  readonly parameters: readonly unknown[];
}

export type ThreadAnswer = { readonly id: number } & (
  | { readonly rows: readonly unknown[] }
  | { readonly message: string; readonly errcode: unknown }
);

interface Waiting {
  readonly query: ThreadQuery;
  readonly timer: NodeJS.Timeout;
  readonly resolve: (rows: readonly unknown[]) => void;
  readonly reject: (error: Error) => void;
}

interface Options {
  readonly health?: ChildHealth;
  readonly script?: URL;
  /** Deadline of a query, including the time that it waits, in ms. */
  readonly timeoutMs?: number;
}

/** Queries that may wait, the one that is running included. */
const MAX_WAITING = 200;
const TIMEOUT_MS = 60_000;
/** Threads that run an expired query and end with it, because `node:sqlite` cannot interrupt it. */
const MAX_ENDING = 2;

/** SQLITE_INTERRUPT: the thread ended before it had an answer. */
const INTERRUPTED = 9;

/**
 * Reads a SQLite database in a thread, one query after the other, so that a long query does not block the process.
 * Checkpoints run here too. The thread starts with the first query. If it ends, the next query starts it again; if it
 * does not start, the waiting queries try several times before they fail. If a query runs beyond its deadline, another
 * thread continues with those behind it.
 */
export class ThreadReader implements Connection {
  readonly #file: string;
  readonly #health: ChildHealth;
  readonly #script: URL;
  readonly #timeoutMs: number;
  readonly #waiting = new Map<number, Waiting>();
  /** The query in the thread, which is also a waiting one. */
  #running: Waiting | undefined;
  readonly #ending = new Set<Worker>();
  #thread: Worker | undefined;
  #isReady = false;
  #retry: NodeJS.Timeout | undefined;
  #isStopped = false;
  #lastId = 0;

  /** @param file of a database whose files exist */
  constructor(
    file: string,
    {
      health = new ChildHealth('long_reads'),
      script = new URL('./readingThread.ts', import.meta.url),
      timeoutMs = TIMEOUT_MS,
    }: Options = {},
  ) {
    this.#file = file;
    this.#health = health;
    this.#script = script;
    this.#timeoutMs = timeoutMs;
  }

  /** @throws {AppError} `too_busy` if too many queries wait */
  async query<R>(text: string, parameters: readonly unknown[]): Promise<Result<R>> {
    if (this.#isStopped) throw sqliteError('the database is closed', INTERRUPTED);
    if (this.#waiting.size >= MAX_WAITING)
      throw new AppError('too_busy', 'Too many lists, searches and counts are in progress; try again');
    const { promise, resolve, reject } = Promise.withResolvers<readonly unknown[]>();
    const query: ThreadQuery = { id: ++this.#lastId, text, parameters };
    const timer = setTimeout(() => this.#expire(query), this.#timeoutMs);
    this.#waiting.set(query.id, { query, timer, resolve, reject });
    if (this.#thread !== undefined) this.#runNext();
    else if (this.#retry === undefined || this.#health.isDown) this.#start();
    return { rows: (await promise) as R[], changed: 0 };
  }

  /**
   * Waiting queries fail, and so does every later one. Resolves once the running query has ended, because `node:sqlite`
   * cannot interrupt it.
   */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#retry);
    const thread = this.#thread;
    if (thread === undefined) this.#rejectAll('it was stopped');
    await Promise.all([...this.#ending, ...(thread === undefined ? [] : [thread])].map((one) => one.terminate()));
  }

  /** Starts the thread, unless too many others have to end before. */
  #start(): void {
    clearTimeout(this.#retry);
    this.#retry = undefined;
    if (this.#isStopped || this.#ending.size >= MAX_ENDING) return;
    let thread: Worker;
    try {
      thread = new Worker(this.#script, { workerData: this.#file });
    } catch (error) {
      this.#startFailed(error);
      return;
    }
    this.#thread = thread;
    this.#isReady = false;
    thread.unref();
    thread.on('message', (answer: ThreadAnswer | typeof READY) => {
      if (this.#thread !== thread) return;
      this.#isReady = true;
      this.#health.works();
      if (answer !== READY) this.#settle(answer);
    });
    thread.on('error', (error) => this.#end(thread, String(error)));
    thread.on('exit', () => this.#end(thread, 'it was stopped'));
    this.#runNext();
  }

  #runNext(): void {
    if (this.#running !== undefined) return;
    [this.#running] = this.#waiting.values();
    if (this.#running !== undefined) this.#thread?.postMessage(this.#running.query);
  }

  #settle(answer: ThreadAnswer): void {
    const running = this.#running;
    if (running?.query.id !== answer.id) return;
    this.#running = undefined;
    this.#waiting.delete(answer.id);
    clearTimeout(running.timer);
    if ('rows' in answer) running.resolve(answer.rows);
    else running.reject(sqliteError(answer.message, answer.errcode));
    this.#runNext();
  }

  #end(thread: Worker, reason: string): void {
    if (this.#ending.delete(thread) && this.#thread === undefined) this.#start();
    if (this.#thread !== thread) return;
    this.#thread = undefined;
    this.#running = undefined;
    if (this.#isReady || this.#isStopped) this.#rejectAll(reason);
    else this.#startFailed(new Error(`the thread that reads the database ended: ${reason}`));
  }

  #startFailed(error: unknown): void {
    this.#health.failed(error);
    if (this.#health.isDown) this.#rejectAll(String(error));
    clearTimeout(this.#retry);
    this.#retry = setTimeout(() => this.#start(), this.#health.retryMs);
    this.#retry.unref();
  }

  /** Leaves the thread of an expired query to its end. */
  #expire({ id }: ThreadQuery): void {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    waiting?.reject(sqliteError('the thread that reads the database did not respond in time', INTERRUPTED));
    const thread = this.#thread;
    if (thread === undefined || this.#running !== waiting) return;
    this.#health.failed(new Error(`a query has no result after ${this.#timeoutMs} ms`));
    this.#thread = undefined;
    this.#running = undefined;
    this.#ending.add(thread);
    void thread.terminate();
    this.#start();
  }

  #rejectAll(reason: string): void {
    for (const { timer, reject } of this.#waiting.values()) {
      clearTimeout(timer);
      reject(sqliteError(`the thread that reads the database ended: ${reason}`, INTERRUPTED));
    }
    this.#waiting.clear();
  }
}

/** An error as `node:sqlite` throws it. */
const sqliteError = (message: string, errcode: unknown) => Object.assign(new Error(message), { errcode });
