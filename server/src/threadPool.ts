import { Worker } from 'node:worker_threads';
import type { ChildHealth } from './childHealth.ts';
import { AppError } from './errors.ts';

/** The first message of every thread, sent once its code is loaded. */
export const READY = 'ready';

interface Options {
  /** Posts `READY`, and then one result for each task. */
  readonly script: URL;
  readonly size: number;
  /** Deadline of a task, including the time that it waits. */
  readonly timeoutMs: number;
  /** Milliseconds after which a thread without work ends; never if omitted. */
  readonly idleMs?: number;
  readonly health: ChildHealth;
  /** Part of the error message: "cannot … at the moment". */
  readonly purpose: string;
}

interface Job<Task, Result> {
  readonly task: Task;
  /** Counted by `waiting`. */
  readonly key: string;
  readonly timer: NodeJS.Timeout;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: Error) => void;
}

interface Thread<Task, Result> {
  job: Job<Task, Result> | undefined;
  isReady: boolean;
  isEnding: boolean;
  idle?: NodeJS.Timeout;
}

/**
 * Runs tasks in threads that start when they are needed. A thread that does not start is started again, a task that
 * takes too long ends its thread, and no caller waits longer than the deadline. Timers are real: they guard threads.
 */
export class ThreadPool<Task, Result> {
  readonly #options: Options;
  readonly #threads = new Map<Worker, Thread<Task, Result>>();
  readonly #queue: Job<Task, Result>[] = [];
  #retry: NodeJS.Timeout | undefined;
  #isStopped = false;

  constructor(options: Options) {
    this.#options = options;
  }

  /** Returns the number of waiting tasks, or of those with this key. */
  waiting(key?: string): number {
    return key === undefined ? this.#queue.length : this.#queue.filter((job) => job.key === key).length;
  }

  /** @throws {AppError} `too_busy` if the threads do not start or the task takes too long; `shutting_down` */
  run(task: Task, key = ''): Promise<Result> {
    const { timeoutMs, health } = this.#options;
    if (this.#isStopped) return Promise.reject(new AppError('shutting_down'));
    if (health.isDown) this.#clearRetry(); // a single failure refuses it
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => this.#expire(job), timeoutMs);
      const job: Job<Task, Result> = { task, key, timer, resolve, reject };
      this.#queue.push(job);
      this.#dispatch();
    });
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#retry);
    const running = [...this.#threads.values()].flatMap(({ job }) => job ?? []);
    for (const job of [...this.#queue.splice(0), ...running]) fail(job, new AppError('shutting_down'));
    await Promise.all([...this.#threads.keys()].map((thread) => thread.terminate()));
  }

  #dispatch(): void {
    while (this.#queue.length > 0 && !this.#isStopped) {
      const [idle] = [...this.#threads].find(([, { job, isEnding }]) => job === undefined && !isEnding) ?? [];
      const thread = idle ?? (this.#retry === undefined ? this.#startThread() : undefined);
      const state = thread && this.#threads.get(thread);
      if (thread === undefined || state === undefined) return;
      clearTimeout(state.idle);
      state.job = this.#queue.shift();
      thread.postMessage(state.job?.task);
    }
  }

  /** Returns undefined if all threads are in use or the thread cannot be started. */
  #startThread(): Worker | undefined {
    if (this.#threads.size >= this.#options.size) return undefined;
    let thread: Worker;
    try {
      thread = new Worker(this.#options.script);
    } catch (error) {
      this.#startFailed(error);
      return undefined;
    }
    thread.unref();
    this.#threads.set(thread, { job: undefined, isReady: false, isEnding: false });
    thread.on('message', (message: Result | typeof READY) => {
      if (message === READY) this.#started(thread);
      else this.#settle(thread, message);
    });
    // A thread can end without an error event, for example when memory runs out.
    thread.on('error', (error) => this.#ended(thread, error));
    thread.on('exit', () => this.#ended(thread, new Error('the thread ended')));
    return thread;
  }

  #started(thread: Worker): void {
    const state = this.#threads.get(thread);
    if (state === undefined) return;
    state.isReady = true;
    this.#options.health.works();
    if (state.job === undefined) this.#rest(thread, state);
    this.#dispatch();
  }

  #settle(thread: Worker, result: Result): void {
    const state = this.#threads.get(thread);
    const job = state?.job;
    if (state === undefined || job === undefined) return;
    state.job = undefined;
    clearTimeout(job.timer);
    job.resolve(result);
    this.#options.health.works();
    this.#dispatch();
    if (state.job === undefined) this.#rest(thread, state);
  }

  #rest(thread: Worker, state: Thread<Task, Result>): void {
    if (this.#options.idleMs === undefined) return;
    state.idle = setTimeout(() => this.#end(thread, state), this.#options.idleMs);
    state.idle.unref();
  }

  #end(thread: Worker, state: Thread<Task, Result>): void {
    state.isEnding = true;
    state.job = undefined;
    void thread.terminate();
  }

  #ended(thread: Worker, error: unknown): void {
    const state = this.#threads.get(thread);
    if (state === undefined) return;
    this.#threads.delete(thread);
    clearTimeout(state.idle);
    const { job } = state;
    if (this.#isStopped) return;
    if (!state.isReady) {
      if (job !== undefined) this.#queue.unshift(job);
      this.#startFailed(error);
    } else if (job !== undefined) fail(job, new Error('the thread ended before its task', { cause: error }));
    this.#dispatch();
  }

  /** Tries again after a pause. The last attempts are made without a task, so that the part is known to work again. */
  #startFailed(error: unknown): void {
    const { health } = this.#options;
    health.failed(error);
    if (health.isDown) for (const job of this.#queue.splice(0)) fail(job, this.#unavailable());
    this.#clearRetry();
    this.#retry = setTimeout(() => {
      this.#retry = undefined;
      if (this.#queue.length > 0) this.#dispatch();
      else this.#startThread();
    }, health.retryMs);
    this.#retry.unref();
  }

  #clearRetry(): void {
    clearTimeout(this.#retry);
    this.#retry = undefined;
  }

  #expire(job: Job<Task, Result>): void {
    const index = this.#queue.indexOf(job);
    if (index >= 0) this.#queue.splice(index, 1);
    for (const [thread, state] of this.#threads) {
      if (state.job !== job) continue;
      this.#options.health.failed(new Error(`no result within ${this.#options.timeoutMs} ms`));
      this.#end(thread, state);
    }
    job.reject(this.#unavailable());
  }

  #unavailable(): AppError {
    return new AppError('too_busy', `The server cannot ${this.#options.purpose} at the moment; try again`, {
      retryAfterSeconds: 5,
    });
  }
}

function fail({ timer, reject }: { timer: NodeJS.Timeout; reject: (error: Error) => void }, error: Error): void {
  clearTimeout(timer);
  reject(error);
}
