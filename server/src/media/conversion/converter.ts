import { type ChildProcess, fork } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { AppError } from '../../errors.ts';
import { ConversionError, type Order, type Prepared, type Report } from './task.ts';

/** Files in conversion at one time. */
const PROCESSES = 2;
const MAX_WAITING = 32;
const WAITING_PER_ACCOUNT = 8;
const IDLE_MS = 30_000;
const TIMEOUT_MS = 120_000;
/** For decoded images; the memory of ffmpeg has a limit of its own, in `ffmpeg.ts`. */
const MAX_BYTES = 1024 * 1024 * 1024;
const KEPT_BYTES = MAX_BYTES / 2;

interface Job {
  readonly accountId: string;
  readonly order: Order;
  /** Reads the file, once its turn has come: those that wait are not in memory. */
  readonly read: () => Promise<Uint8Array>;
  readonly resolve: (prepared: Prepared) => void;
  readonly reject: (error: Error) => void;
}

interface Options {
  /** How long one file may take, in ms. */
  readonly timeoutMs?: number;
  /** How long a process without work is kept, in ms. */
  readonly idleMs?: number;
  /** Memory with which a process ends itself, in bytes. */
  readonly maxBytes?: number;
  /** Memory with which a process takes no further file, in bytes. */
  readonly keptBytes?: number;
}

/**
 * Converts files in processes of their own, which are started when there is work, and ended soon after it. A file that
 * takes too long, or too much memory, costs its process and nothing else. Timers are real: they guard processes.
 */
export class Converter {
  readonly #limits: Required<Options>;
  readonly #queue: Job[] = [];
  readonly #workers = new Set<ConverterProcess>();
  #isStopped = false;

  constructor({
    timeoutMs = TIMEOUT_MS,
    idleMs = IDLE_MS,
    maxBytes = MAX_BYTES,
    keptBytes = KEPT_BYTES,
  }: Options = {}) {
    this.#limits = { timeoutMs, idleMs, maxBytes, keptBytes };
  }

  /** Number of running processes. */
  get processes(): number {
    return this.#workers.size;
  }

  stop(): void {
    this.#isStopped = true;
    for (const { reject } of this.#queue.splice(0)) reject(new AppError('shutting_down'));
    for (const worker of this.#workers) worker.end(new AppError('shutting_down'));
  }

  /**
   * @throws {ConversionError}
   * @throws {AppError} `too_busy`, `shutting_down`
   */
  prepare(accountId: string, order: Order, read: () => Promise<Uint8Array>): Promise<Prepared> {
    return new Promise((resolve, reject) => {
      const own = this.#queue.filter((job) => job.accountId === accountId).length;
      if (this.#isStopped) reject(new AppError('shutting_down'));
      else if (this.#queue.length >= MAX_WAITING || own >= WAITING_PER_ACCOUNT)
        reject(new AppError('too_busy', 'Too many files are being converted; try again'));
      else {
        this.#queue.push({ accountId, order, read, resolve, reject });
        this.#dispatch();
      }
    });
  }

  #dispatch(): void {
    for (;;) {
      const running = [...this.#workers].flatMap(({ job }) => (job === undefined ? [] : [job.accountId]));
      // The other process stays free for other accounts.
      const index = this.#queue.findIndex(({ accountId }) => !running.includes(accountId));
      const [job] = index < 0 ? [] : this.#queue.slice(index, index + 1);
      if (job === undefined) return;
      const idle = [...this.#workers].find((worker) => worker.isIdle);
      const worker = idle ?? (this.#workers.size < PROCESSES ? this.#startWorker() : undefined);
      if (worker === undefined) return;
      this.#queue.splice(index, 1);
      void worker.run(job);
    }
  }

  #startWorker(): ConverterProcess {
    const worker: ConverterProcess = new ConverterProcess(this.#limits, (hasEnded) => {
      if (hasEnded) this.#workers.delete(worker);
      if (!this.#isStopped) this.#dispatch();
    });
    this.#workers.add(worker);
    return worker;
  }
}

class ConverterProcess {
  job: Job | undefined;
  readonly #child: ChildProcess;
  readonly #limits: Required<Options>;
  readonly #onFree: (hasEnded: boolean) => void;
  #timer: NodeJS.Timeout | undefined;
  #isEnding = false;
  #error: Error = new ConversionError('failed', 'it needs too much memory, or is damaged');

  constructor(limits: Required<Options>, onFree: (hasEnded: boolean) => void) {
    this.#limits = limits;
    this.#onFree = onFree;
    this.#child = fork(
      fileURLToPath(new URL('./process.ts', import.meta.url)),
      [limits.maxBytes, limits.keptBytes].map(String),
      {
        execArgv: [
          '--max-old-space-size=256',
          '--expose-gc',
          '--disable-warning=MODULE_TYPELESS_PACKAGE_JSON',
          ...confined(),
        ],
        // Nothing of the server's environment, which has secrets.
        env: {},
        serialization: 'advanced',
        stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      },
    );
    this.#child.unref();
    this.#child.channel?.unref();
    this.#child.on('message', (outcome: Report | 'ready') => {
      if (outcome === 'ready') return;
      if (outcome.isLast) this.#isEnding = true;
      this.#settle(({ resolve, reject }) => {
        if ('prepared' in outcome) resolve(outcome.prepared);
        else reject(new ConversionError(outcome.failure.reason, outcome.failure.message));
      });
    });
    this.#child.on('error', () => this.end());
    this.#child.on('exit', () => {
      clearTimeout(this.#timer);
      this.#finish()?.reject(this.#error);
      this.#onFree(true);
    });
  }

  /** Whether it can get a job. A process that was killed, or has taken its last job, takes a moment to exit. */
  get isIdle(): boolean {
    return this.job === undefined && !this.#isEnding;
  }

  async run(job: Job): Promise<void> {
    const { timeoutMs } = this.#limits;
    this.job = job;
    clearTimeout(this.#timer);
    let content: Uint8Array;
    try {
      content = await job.read();
    } catch (error) {
      if (this.job === job)
        this.#settle(({ reject }) => reject(error instanceof Error ? error : new Error(String(error))));
      return;
    }
    if (this.job !== job) return;
    const late = new ConversionError('failed', `its conversion takes longer than ${timeoutMs / 1000} s`);
    this.#timer = setTimeout(() => this.end(late), timeoutMs);
    this.#child.send({ ...job.order, content }, (error) => {
      if (error !== null) this.end();
    });
  }

  /** @param error for the job that it has */
  end(error: Error = this.#error): void {
    this.#isEnding = true;
    this.#error = error;
    this.#child.ref(); // waiting jobs depend on its exit
    this.#child.kill('SIGKILL');
  }

  #settle(settle: (job: Job) => void): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.end(), this.#limits.idleMs);
    this.#timer.unref();
    const job = this.#finish();
    if (job !== undefined) settle(job);
    this.#onFree(false);
  }

  #finish(): Job | undefined {
    const { job } = this;
    this.job = undefined;
    return job;
  }
}

/** Node's permissions: the process reads installed packages and this code. sharp is an addon, which it may load. */
function confined(): string[] {
  const here = dirname(fileURLToPath(import.meta.url));
  const source = join(here, '..', '..');
  const folders = new Set([source, ...packageFolders()]);
  return ['--permission', '--allow-addons', ...[...folders].map((folder) => `--allow-fs-read=${folder}`)];
}

/** The folders `node_modules` in which the libraries are. */
function packageFolders(): string[] {
  return ['sharp', '@ffmpeg/core', 'mediabunny'].flatMap((name) => {
    try {
      const path = fileURLToPath(import.meta.resolve(name));
      const end = path.lastIndexOf('node_modules');
      return end < 0 ? [] : [path.slice(0, end + 'node_modules'.length)];
    } catch {
      return [];
    }
  });
}
