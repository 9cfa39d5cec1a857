import { Worker } from 'node:worker_threads';
import { AppError } from '../errors.ts';
import { networkOf } from './network.ts';
import type { PasswordResult, PasswordTask } from './passwordThread.ts';

/** A hash takes 19 MiB and about 40 ms of a core. */
const THREADS = 2;
/** A full queue is processed in less than a second. */
const MAX_QUEUE = 32;
/** Keeps one network from filling the queue. */
const QUEUED_PER_NETWORK = 16;

interface Job {
  readonly task: PasswordTask;
  readonly network: string;
  readonly resolve: (value: string | boolean) => void;
  readonly reject: (error: Error) => void;
}

/**
 * Hashes and verifies passwords with Argon2id, two at a time, in its own threads: the library's asynchronous functions
 * would occupy libuv's pool, which file access shares. A thread starts when it is first needed.
 */
export class PasswordHasher {
  /** Each with the job that it runs. */
  readonly #threads = new Map<Worker, Job | undefined>();
  readonly #queue: Job[] = [];
  #isStopped = false;

  /** @throws {AppError} `too_busy` if the queue is full */
  async hash(password: string, address: string): Promise<string> {
    return String(await this.#do({ password }, address));
  }

  /**
   * Takes as long without a stored hash, so that an unknown email cannot be told from a wrong password.
   * @throws {AppError} `too_busy` if the queue is full
   */
  async verify(password: string, stored: string | undefined, address: string): Promise<boolean> {
    if (stored !== undefined) return (await this.#do({ password, stored }, address)) === true;
    await this.#do({ password }, address);
    return false;
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    for (const job of [...this.#queue.splice(0), ...this.#threads.values()]) job?.reject(new AppError('shutting_down'));
    await Promise.all([...this.#threads.keys()].map((thread) => thread.terminate()));
  }

  #do(task: PasswordTask, address: string): Promise<string | boolean> {
    const network = networkOf(address);
    return new Promise((resolve, reject) => {
      if (this.#isStopped) reject(new AppError('shutting_down'));
      else if (!this.#hasRoomFor(network))
        reject(new AppError('too_busy', 'Too many logins are in progress; try again'));
      else {
        this.#queue.push({ task, network, resolve, reject });
        this.#dispatch();
      }
    });
  }

  #hasRoomFor(network: string): boolean {
    const queued = this.#queue.filter((job) => job.network === network).length;
    return this.#queue.length < MAX_QUEUE && queued < QUEUED_PER_NETWORK;
  }

  #dispatch(): void {
    while (this.#queue.length > 0) {
      const [idle] = [...this.#threads].find(([, job]) => job === undefined) ?? [];
      const thread = idle ?? (this.#threads.size < THREADS ? this.#startThread() : undefined);
      if (thread === undefined) return;
      const job = this.#queue.shift();
      this.#threads.set(thread, job);
      thread.postMessage(job?.task);
    }
  }

  #startThread(): Worker {
    const thread = new Worker(new URL('./passwordThread.ts', import.meta.url));
    thread.unref();
    this.#threads.set(thread, undefined);
    thread.on('message', (result: PasswordResult) => {
      const job = this.#threads.get(thread);
      this.#threads.set(thread, undefined);
      if ('error' in result) job?.reject(new Error(`hashing a password failed: ${result.error}`));
      else job?.resolve(result.value);
      this.#dispatch();
    });
    // A thread can end without an error event, for example when memory runs out. The next job starts a new thread.
    const end = (cause?: unknown) =>
      this.#threads.get(thread)?.reject(new Error('the thread that hashes passwords ended', { cause }));
    thread.on('error', end);
    thread.on('exit', () => {
      end();
      this.#threads.delete(thread);
      if (!this.#isStopped) this.#dispatch();
    });
    return thread;
  }
}
