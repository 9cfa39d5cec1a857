import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { AppError } from '../errors.ts';
import type { Connection, Result } from './dialect.ts';

export interface ProcessQuery {
  readonly id: number;
  readonly text: string;
  readonly parameters: readonly unknown[];
}

export type ProcessAnswer = { readonly id: number } & (
  | { readonly rows: readonly unknown[] }
  | { readonly message: string; readonly errcode: unknown }
);

interface Waiting {
  readonly resolve: (rows: readonly unknown[]) => void;
  readonly reject: (error: Error) => void;
}

interface Child {
  readonly process: ChildProcess;
  readonly ended: PromiseWithResolvers<void>;
}

/** Queries that may wait, the one that is running included. */
const MAX_WAITING = 200;

/** SQLITE_INTERRUPT: the process ended before it had an answer. */
const INTERRUPTED = 9;

const PROGRAM = fileURLToPath(new URL('./readingProcess.ts', import.meta.url));

/**
 * Reads a SQLite database in a child process, one query after the other, so that a long query does not block this
 * process. The child starts with the first query, and again with the next one if it has ended.
 *
 * `node:sqlite` cannot interrupt a query, and a process waits for its threads when it exits. A child can be killed: a
 * stop never waits for a query. A child whose parent was killed ends after the query that it is running.
 */
export class ProcessReader implements Connection {
  readonly #file: string;
  readonly #waiting = new Map<number, Waiting>();
  #child: Child | undefined;
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
    this.#child ??= this.#start();
    const id = ++this.#lastId;
    this.#waiting.set(id, { resolve, reject });
    // A child that cannot receive it has ended, which rejects all queries.
    this.#child.process.send({ id, text, parameters } satisfies ProcessQuery, () => {});
    return { rows: (await promise) as R[], changed: 0 };
  }

  /** Kills the process. Queries that wait for an answer fail, and so does every later one. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    if (this.#child === undefined) return;
    const { process, ended } = this.#child;
    process.ref();
    process.kill('SIGKILL');
    await ended.promise;
  }

  #start(): Child {
    const process = fork(PROGRAM, [this.#file], {
      execArgv: [],
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    const child = { process, ended: Promise.withResolvers<void>() };
    process.unref();
    process.channel?.unref();
    process.on('message', (answer: ProcessAnswer) => this.#settle(answer));
    process.on('error', (error) => this.#end(child, error.message));
    process.on('exit', (code, signal) => this.#end(child, `exit ${signal ?? code}`));
    return child;
  }

  #settle(answer: ProcessAnswer): void {
    const waiting = this.#waiting.get(answer.id);
    this.#waiting.delete(answer.id);
    if ('rows' in answer) waiting?.resolve(answer.rows);
    else waiting?.reject(sqliteError(answer.message, answer.errcode));
  }

  #end(child: Child, reason: string): void {
    child.ended.resolve();
    if (this.#child !== child) return;
    this.#child = undefined;
    for (const { reject } of this.#waiting.values())
      reject(sqliteError(`the process that reads the database ended: ${reason}`, INTERRUPTED));
    this.#waiting.clear();
  }
}

/** An error as `node:sqlite` throws it. */
const sqliteError = (message: string, errcode: unknown) => Object.assign(new Error(message), { errcode });
