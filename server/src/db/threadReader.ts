import { Worker } from 'node:worker_threads';
import { AppError } from '../errors.ts';
import type { Connection, Result } from './dialect.ts';

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
  readonly resolve: (rows: readonly unknown[]) => void;
  readonly reject: (error: Error) => void;
}

/** Queries that may wait, the one that is running included. */
const MAX_WAITING = 200;

/** SQLITE_INTERRUPT: the thread ended before it had an answer. */
const INTERRUPTED = 9;

/**
 * Reads a SQLite database in a thread, one query after the other, so that a long query does not block the process. Checkpoints
 * run here too. The thread starts with the first query, and again with the next one if it has ended.
 */
export class ThreadReader implements Connection {
  readonly #file: string;
  readonly #waiting = new Map<number, Waiting>();
  #thread: Worker | undefined;
  #isStopped = false;
  #lastId = 0;

  /** @param file of a database whose files exist */
  constructor(file: string) {
    this.#file = file;
  }

  /** @throws {AppError} `too_busy` if too many queries wait */
  async query<R>(text: string, parameters: readonly unknown[]): Promise<Result<R>> {
    if (this.#isStopped) throw sqliteError('the database is closed', INTERRUPTED);
    if (this.#waiting.size >= MAX_WAITING)
      throw new AppError('too_busy', 'Too many lists, searches and counts are in progress; try again');
    const { promise, resolve, reject } = Promise.withResolvers<readonly unknown[]>();
    this.#thread ??= this.#start();
    const id = ++this.#lastId;
    this.#waiting.set(id, { resolve, reject });
    this.#thread.postMessage({ id, text, parameters } satisfies ThreadQuery);
    return { rows: (await promise) as R[], changed: 0 };
  }

  /**
   * Queries that wait for an answer fail, and so does every later one. Resolves once the running query has ended, because
   * `node:sqlite` cannot interrupt it.
   */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#thread?.terminate();
  }

  #start(): Worker {
    const thread = new Worker(new URL('./readingThread.ts', import.meta.url), { workerData: this.#file });
    thread.unref();
    thread.on('message', (answer: ThreadAnswer) => this.#settle(answer));
    thread.on('error', (error) => this.#end(thread, String(error)));
    thread.on('exit', () => this.#end(thread, 'it was stopped'));
    return thread;
  }

  #settle(answer: ThreadAnswer): void {
    const waiting = this.#waiting.get(answer.id);
    this.#waiting.delete(answer.id);
    if ('rows' in answer) waiting?.resolve(answer.rows);
    else waiting?.reject(sqliteError(answer.message, answer.errcode));
  }

  #end(thread: Worker, reason: string): void {
    if (this.#thread !== thread) return;
    this.#thread = undefined;
    for (const { reject } of this.#waiting.values())
      reject(sqliteError(`the thread that reads the database ended: ${reason}`, INTERRUPTED));
    this.#waiting.clear();
  }
}

/** An error as `node:sqlite` throws it. */
const sqliteError = (message: string, errcode: unknown) => Object.assign(new Error(message), { errcode });
