import { ChildHealth } from '../../childHealth.ts';
import { AppError } from '../../errors.ts';
import { AccountTime } from './accountTime.ts';
import { ConverterProcess, type Job, type ProcessLimits } from './converterProcess.ts';
import type { Order, Prepared } from './task.ts';

/** Files in conversion at one time, without long ones. */
const PROCESSES = 2;
/** Including long ones, so that two of them leave room for everything else. */
const MAX_PROCESSES = 3;
/** Time after which a conversion counts as long. Most take less than a second. */
const LONG_MS = 10_000;
const MAX_WAITING = 32;
/** Each account can always queue one file. */
const MAX_WAITING_ACCOUNTS = 1000;
const WAITING_PER_ACCOUNT = 8;
const WAIT_MS = 120_000;
const IDLE_MS = 30_000;
const TIMEOUT_MS = 120_000;
const BUDGET_MS = 300_000;
/** For decoded images; the memory of ffmpeg has its own limit, in `ffmpeg.ts`. */
const MAX_BYTES = 1024 * 1024 * 1024;
const KEPT_BYTES = MAX_BYTES / 2;

interface Options extends Partial<ProcessLimits> {
  readonly health?: ChildHealth;
  /** Processing time per account in ten minutes, in ms. */
  readonly budgetMs?: number;
  readonly longMs?: number;
  /** Deadline for a file that waits for its turn, in ms. */
  readonly waitMs?: number;
}

interface Waiting {
  readonly job: Job;
  readonly timer: NodeJS.Timeout;
}

/**
 * Converts files in child processes, which are started when there is work, and ended soon after it. A file that takes
 * too long, or too much memory, costs its process and nothing else.
 *
 * Accounts take turns: the next file belongs to the account with the least processing time so far, and an account has
 * one file in conversion. Long conversions do not keep others waiting: they leave a process free, and if they do
 * occupy all of them, the account that has used the most time loses its process.
 *
 * Timers are real: they guard processes.
 */
export class Converter {
  readonly #limits: ProcessLimits;
  readonly #health: ChildHealth;
  readonly #time: AccountTime;
  readonly #longMs: number;
  readonly #waitMs: number;
  readonly #queue: Waiting[] = [];
  readonly #workers = new Set<ConverterProcess>();
  #retry: NodeJS.Timeout | undefined;
  #isStopped = false;

  constructor({
    timeoutMs = TIMEOUT_MS,
    idleMs = IDLE_MS,
    maxBytes = MAX_BYTES,
    keptBytes = KEPT_BYTES,
    program = process.execPath,
    health = new ChildHealth('media_conversion'),
    budgetMs = BUDGET_MS,
    longMs = LONG_MS,
    waitMs = WAIT_MS,
  }: Options = {}) {
    this.#limits = { timeoutMs, idleMs, maxBytes, keptBytes, program };
    this.#health = health;
    this.#time = new AccountTime(budgetMs);
    this.#longMs = longMs;
    this.#waitMs = waitMs;
  }

  /** Number of running processes. */
  get processes(): number {
    return this.#workers.size;
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#retry);
    this.#refuseWaiting(new AppError('shutting_down'));
    for (const worker of this.#workers) worker.end(new AppError('shutting_down'));
  }

  /**
   * @throws {ConversionError}
   * @throws {AppError} `too_busy`, `rate_limited`, `shutting_down`
   */
  prepare(accountId: string, order: Order, read: () => Promise<Uint8Array>): Promise<Prepared> {
    const refusal = this.#refusalFor(accountId);
    if (refusal !== undefined) return Promise.reject(refusal);
    return new Promise((resolve, reject) => {
      this.#queue.push(this.#waiting({ accountId, order, read, resolve, reject }));
      this.#dispatch();
    });
  }

  #refusalFor(accountId: string): AppError | undefined {
    if (this.#isStopped) return new AppError('shutting_down');
    if (this.#health.isDown && this.#retry !== undefined) return unavailable();
    const own = this.#queue.filter(({ job }) => job.accountId === accountId).length;
    const limit = own === 0 ? MAX_WAITING_ACCOUNTS : MAX_WAITING;
    if (this.#queue.length >= limit || own >= WAITING_PER_ACCOUNT) return tooMany();
    const waitMs = this.#time.waitMs(accountId);
    if (waitMs === 0) return undefined;
    return new AppError('rate_limited', 'The account has used up its time for converting files; try again later', {
      retryAfterSeconds: Math.ceil(waitMs / 1000),
    });
  }

  #waiting(job: Job): Waiting {
    const timer = setTimeout(() => {
      const index = this.#queue.findIndex((waiting) => waiting.job === job);
      if (index >= 0) this.#queue.splice(index, 1);
      job.reject(tooMany());
    }, this.#waitMs);
    return { job, timer };
  }

  #dispatch(): void {
    for (;;) {
      const next = this.#nextJob();
      if (next === undefined) return;
      const worker = this.#findWorker();
      if (worker === undefined) {
        this.#takeBackProcess(next.job);
        return;
      }
      this.#queue.splice(this.#queue.indexOf(next), 1);
      clearTimeout(next.timer);
      void worker.run(next.job);
    }
  }

  /** Returns the first file of the account that has used the least time and has no file in conversion. */
  #nextJob(): Waiting | undefined {
    const running = new Set([...this.#workers].map(({ job }) => job?.accountId));
    const waiting = this.#queue.filter(({ job }) => !running.has(job.accountId));
    const usedBy = new Map(waiting.map(({ job }) => [job.accountId, this.#time.usedBy(job.accountId)]));
    const least = Math.min(...usedBy.values());
    return waiting.find(({ job }) => usedBy.get(job.accountId) === least);
  }

  /** Returns a process for another file; undefined if too many are in use, or none can be started. */
  #findWorker(): ConverterProcess | undefined {
    const short = [...this.#workers].filter(({ job, runMs }) => job !== undefined && runMs < this.#longMs).length;
    if (short >= PROCESSES) return undefined;
    const idle = [...this.#workers].find(({ isIdle }) => isIdle);
    if (idle !== undefined || this.#workers.size >= MAX_PROCESSES) return idle;
    return this.#retry === undefined ? this.#startWorker() : undefined;
  }

  /** Ends a long conversion for a file that waits, if its account has used more time than the waiting one. */
  #takeBackProcess(waiting: Job): void {
    const running = [...this.#workers].filter(({ job }) => job !== undefined);
    if (running.length < MAX_PROCESSES || running.some(({ runMs }) => runMs < this.#longMs)) return;
    const usedBy = ({ job, runMs }: ConverterProcess) => runMs + (job ? this.#time.usedBy(job.accountId) : 0);
    const [most] = running.sort((a, b) => usedBy(b) - usedBy(a));
    if (most === undefined || usedBy(most) <= this.#time.usedBy(waiting.accountId)) return;
    most.end(
      new AppError('too_busy', `The conversion took longer than ${this.#longMs / 1000} s while other files waited`),
    );
  }

  #startWorker(): ConverterProcess | undefined {
    try {
      const worker: ConverterProcess = new ConverterProcess(this.#limits, {
        onReady: () => this.#health.works(),
        // A conversion that has become long makes room for others.
        onBegun: () => void setTimeout(() => this.#dispatch(), this.#longMs + 10).unref(),
        onUsed: (accountId, ms) => this.#time.add(accountId, ms),
        onFailed: (error, job) => this.#failed(error, job),
        onFree: (hasEnded) => {
          if (hasEnded) this.#workers.delete(worker);
          if (!this.#isStopped) this.#dispatch();
        },
      });
      this.#workers.add(worker);
      return worker;
    } catch (error) {
      this.#failed(error, undefined);
      return undefined;
    }
  }

  /**
   * Tries again after a pause, with the same job first. Once several attempts have failed, files are refused, and the
   * attempts go on without them.
   */
  #failed(error: unknown, job: Job | undefined): void {
    if (this.#isStopped) {
      job?.reject(new AppError('shutting_down'));
      return;
    }
    this.#health.failed(error);
    if (job !== undefined) this.#queue.unshift(this.#waiting(job));
    if (this.#health.isDown) this.#refuseWaiting(unavailable());
    clearTimeout(this.#retry);
    this.#retry = setTimeout(() => {
      this.#retry = undefined;
      if (this.#queue.length > 0) this.#dispatch();
      else if (this.#workers.size === 0) this.#startWorker();
    }, this.#health.retryMs);
    this.#retry.unref();
  }

  #refuseWaiting(error: AppError): void {
    for (const { job, timer } of this.#queue.splice(0)) {
      clearTimeout(timer);
      job.reject(error);
    }
  }
}

const tooMany = () => new AppError('too_busy', 'Too many files are being converted; try again');

const unavailable = () =>
  new AppError('too_busy', 'The server cannot start a process to convert files at the moment; try again', {
    retryAfterSeconds: 5,
  });
