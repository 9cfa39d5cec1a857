import { closeSync, fdatasyncSync, openSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { ChildHealth } from '../../childHealth.ts';
import { AppError } from '../../errors.ts';
import { READY } from '../../threadPool.ts';

/** The result of a sync in the thread: undefined, or the error of the disk. A copy of it has only its message. */
export type SyncResult = { readonly message: string; readonly code: unknown } | undefined;

interface Options {
  readonly health?: ChildHealth;
  readonly script?: URL;
  readonly slowMs?: number;
  readonly stuckMs?: number;
}

/** The thread takes over after a sync that took longer, in ms. A trip to the thread takes about 0.1 ms. */
const SLOW_MS = 1;
/** Time in ms that the thread has to start. */
const START_MS = 5000;
/** A disk that has not finished a sync after this time, in ms, counts as stuck. */
const STUCK_MS = 5000;

/**
 * Makes the commits of a SQLite database survive a power cut by syncing its write-ahead log. It starts on the main
 * thread. After the first slow sync, a worker thread takes over, so that the disk does not block the event loop. While
 * that thread fails, the main thread does it again. After an error of the disk, every later sync fails: the disk may
 * have lost what it refused, even if a later sync succeeds.
 */
export class LogSync {
  readonly #file: number;
  /** Linux reports an error once to each open file, so the thread has a separate one. */
  readonly #threadFile: number;
  readonly #health: ChildHealth;
  readonly #script: URL;
  readonly #slowMs: number;
  readonly #stuckMs: number;
  #thread: Worker | undefined;
  #isReady = false;
  #starting: NodeJS.Timeout | undefined;
  #retry: NodeJS.Timeout | undefined;
  #isStopped = false;
  /** The sync that the thread is running. */
  #running: PromiseWithResolvers<void> | undefined;
  /** The sync that starts next. It covers every commit made in the meantime. */
  #next: PromiseWithResolvers<void> | undefined;
  #runningSince = 0;
  #refusal: Promise<never> | undefined;

  /** @param log path of the write-ahead log, which must not be replaced while the database is open */
  constructor(
    log: string,
    {
      health = new ChildHealth('log_sync'),
      script = new URL('./syncingThread.ts', import.meta.url),
      slowMs = SLOW_MS,
      stuckMs = STUCK_MS,
    }: Options = {},
  ) {
    this.#file = openSync(log, 'r+');
    this.#threadFile = openSync(log, 'r+');
    this.#health = health;
    this.#script = script;
    this.#slowMs = slowMs;
    this.#stuckMs = stuckMs;
  }

  /** Settles with the last sync that has begun; undefined if everything is on the disk. */
  get pending(): Promise<void> | undefined {
    return this.#refusal ?? (this.#next ?? this.#running)?.promise;
  }

  /** @throws {AppError} `storage_unavailable` if the disk has not answered for some seconds */
  requireResponsive(): void {
    if (this.#running === undefined || performance.now() - this.#runningSince < this.#stuckMs) return;
    throw new AppError('storage_unavailable', 'The disk of the server does not respond', { retryAfterSeconds: 5 });
  }

  /**
   * Resolves when everything that was written to the log before the call is on the disk.
   * @throws the error of the disk
   */
  async sync(): Promise<void> {
    if (this.#refusal !== undefined) return this.#refusal;
    // A thread that failed before may fail to start again.
    if (this.#thread === undefined || (!this.#isReady && this.#health.isFailing)) return this.#syncHere();
    if (this.#running !== undefined) this.#next ??= Promise.withResolvers();
    else this.#send(Promise.withResolvers());
    return this.pending;
  }

  /** Call it after the last sync. */
  async stop(): Promise<void> {
    if (this.#isStopped) return;
    this.#isStopped = true;
    clearTimeout(this.#retry);
    clearTimeout(this.#starting);
    await this.#thread?.terminate();
    closeSync(this.#threadFile);
    closeSync(this.#file);
  }

  #syncHere(): void {
    const startedAt = performance.now();
    try {
      fdatasyncSync(this.#file);
    } catch (error) {
      this.#refuse(error);
      throw error;
    }
    if (performance.now() - startedAt > this.#slowMs) this.#start();
  }

  #refuse(error: unknown): void {
    this.#refusal ??= Promise.reject(error);
    this.#refusal.catch(() => {});
  }

  #send(sync: PromiseWithResolvers<void>): void {
    this.#running = sync;
    this.#runningSince = performance.now();
    this.#thread?.ref();
    this.#thread?.postMessage(null);
  }

  #start(): void {
    if (this.#isStopped || this.#thread !== undefined || this.#retry !== undefined) return;
    let thread: Worker;
    try {
      thread = new Worker(this.#script, { workerData: this.#threadFile });
    } catch (error) {
      this.#failed(error);
      return;
    }
    this.#thread = thread;
    // Syncs wait for its start, which takes some 50 ms: one on the main thread can take longer.
    this.#starting = setTimeout(() => void thread.terminate(), START_MS);
    this.#starting.unref();
    thread.on('message', (message: typeof READY | SyncResult) => {
      if (this.#thread === thread) this.#received(thread, message);
    });
    thread.on('error', (error) => this.#ended(thread, error));
    thread.on('exit', () => this.#ended(thread, new Error('the thread ended')));
    thread.unref(); // after the listeners, which keep the process running
  }

  #received(thread: Worker, message: typeof READY | SyncResult): void {
    if (message === READY) {
      clearTimeout(this.#starting);
      this.#isReady = true;
      this.#health.works();
      return;
    }
    const [synced, next] = this.#takeOpen();
    if (message === undefined) {
      synced?.resolve();
      if (next === undefined) thread.unref();
      else this.#send(next);
      return;
    }
    thread.unref();
    const error = Object.assign(new Error(message.message), { code: message.code });
    this.#refuse(error);
    for (const sync of [synced, next]) sync?.reject(error);
  }

  /** Syncs the rest on the main thread. */
  #ended(thread: Worker, error: unknown): void {
    if (this.#thread !== thread) return;
    this.#thread = undefined;
    this.#isReady = false;
    clearTimeout(this.#starting);
    const open = this.#takeOpen();
    if (this.#isStopped) return;
    try {
      if (open[0] !== undefined) fdatasyncSync(this.#file);
      for (const sync of open) sync?.resolve();
    } catch (refused) {
      this.#refuse(refused);
      for (const sync of open) sync?.reject(refused);
    }
    this.#failed(error);
  }

  #takeOpen() {
    const open = [this.#running, this.#next] as const;
    this.#running = this.#next = undefined;
    return open;
  }

  #failed(error: unknown): void {
    this.#health.failed(error);
    this.#retry = setTimeout(() => {
      this.#retry = undefined;
      this.#start();
    }, this.#health.retryMs);
    this.#retry.unref();
  }
}
