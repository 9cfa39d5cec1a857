import { type ChildProcess, fork } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { withTimeout } from '../../async.ts';
import { systemClock } from '../../clock.ts';
import { AppError } from '../../errors.ts';
import { thrownError } from '../../thrown.ts';
import { ConversionError, type Order, type Prepared, type Report } from './task.ts';

/** Time in which a process has to load its code. */
const START_MS = 30_000;
/** Time in which a killed process has to exit before its place is given to another one. */
const EXIT_MS = 5000;

export interface Job {
  readonly accountId: string;
  readonly order: Order;
  /** Reads the file, once its turn has come: those that wait are not in memory. */
  readonly read: () => Promise<Uint8Array>;
  readonly resolve: (prepared: Prepared) => void;
  readonly reject: (error: Error) => void;
}

export interface ProcessLimits {
  /** Deadline for reading a file, and again for its conversion, in ms. */
  readonly timeoutMs: number;
  /** Milliseconds after which a process without work is ended. */
  readonly idleMs: number;
  /** Memory with which a process ends itself, in bytes. */
  readonly maxBytes: number;
  /** Memory with which a process takes no further file, in bytes. */
  readonly keptBytes: number;
  /** The Node binary. */
  readonly program: string;
}

interface Listener {
  /** The process has loaded its code. */
  readonly onReady: () => void;
  /** The process has turned to a job. */
  readonly onBegun: () => void;
  /** The process has settled a job and can take another one, or has ended. */
  readonly onFree: (hasEnded: boolean) => void;
  /** The process did not start, or ended before it received the job. */
  readonly onFailed: (error: Error, job: Job | undefined) => void;
  /** A job has ended or was taken away, after this time. */
  readonly onUsed: (accountId: string, ms: number) => void;
}

/** One child process, which converts one file after the other. Every job settles, however the process ends. */
export class ConverterProcess {
  readonly #child: ChildProcess;
  readonly #limits: ProcessLimits;
  readonly #listener: Listener;
  readonly #isReady = Promise.withResolvers<void>();
  #phase: 'starting' | 'ready' | 'ending' | 'ended' = 'starting';
  #job: Job | undefined;
  /** Time at which the process turned to the job; undefined while the process starts. */
  #jobSince: number | undefined;
  /** Whether the process has the job's content, so that the content may be the reason for its end. */
  #isSent = false;
  #timer: NodeJS.Timeout | undefined;

  /** @throws {Error} if the operating system refuses to start a process */
  constructor(limits: ProcessLimits, listener: Listener) {
    this.#limits = limits;
    this.#listener = listener;
    this.#child = forked(limits);
    this.#child.unref();
    this.#child.channel?.unref();
    this.#child.on('message', (message: Report | 'ready') => {
      if (message === 'ready') this.#becameReady();
      else this.#report(message);
    });
    // A process that could not be started has no id, and emits no `exit`.
    this.#child.on('error', (error) => (this.#child.pid === undefined ? this.#ended(error) : this.#kill(error)));
    this.#child.on('exit', (code, signal) => this.#ended(new Error(`it ended with ${signal ?? code}`)));
    this.#child.on('disconnect', () => this.#kill(new Error('its channel was closed')));
    this.#timer = setTimeout(() => this.#kill(new Error(`it did not start within ${START_MS / 1000} s`)), START_MS);
    this.#timer.unref();
  }

  get job(): Job | undefined {
    return this.#job;
  }

  /** Milliseconds that the job has run. */
  get runMs(): number {
    return this.#jobSince === undefined ? 0 : performance.now() - this.#jobSince;
  }

  /** Whether it can get a job. A process that was killed, or has taken its last job, takes a moment to exit. */
  get isIdle(): boolean {
    return this.#job === undefined && (this.#phase === 'ready' || this.#phase === 'starting');
  }

  async run(job: Job): Promise<void> {
    this.#job = job;
    if (this.#phase === 'starting') this.#timer?.ref(); // a caller waits
    await this.#isReady.promise;
    if (this.#job !== job) return;
    clearTimeout(this.#timer);
    this.#jobSince = performance.now();
    this.#listener.onBegun();
    const { timeoutMs } = this.#limits;
    let content: Uint8Array;
    try {
      content = await withTimeout(systemClock, Math.max(1000, timeoutMs), job.read(), tooSlow);
    } catch (error) {
      if (this.#job === job) this.#settle(({ reject }) => reject(thrownError(error)));
      return;
    }
    if (this.#job !== job) return;
    const late = new ConversionError('failed', `its conversion takes longer than ${timeoutMs / 1000} s`);
    this.#timer = setTimeout(() => this.end(late), timeoutMs);
    this.#isSent = true;
    this.#child.send({ ...job.order, content }, (error) => {
      if (error === null || this.#job !== job) return;
      this.#isSent = false;
      this.#kill(error);
    });
  }

  /** Rejects the job and kills the process. */
  end(error: Error): void {
    this.#take()?.reject(error);
    this.#kill(error);
  }

  #becameReady(): void {
    if (this.#phase !== 'starting') return;
    this.#phase = 'ready';
    clearTimeout(this.#timer);
    this.#listener.onReady();
    this.#isReady.resolve();
    if (this.#job === undefined) this.#rest();
  }

  #report(outcome: Report): void {
    if (outcome.isLast) this.#phase = 'ending';
    this.#settle(({ resolve, reject }) => {
      if ('prepared' in outcome) resolve(outcome.prepared);
      else reject(new ConversionError(outcome.failure.reason, outcome.failure.message));
    });
  }

  #settle(settle: (job: Job) => void): void {
    this.#rest();
    const job = this.#take();
    if (job !== undefined) settle(job);
    this.#listener.onFree(false);
  }

  #rest(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#kill(new Error('it has no work')), this.#limits.idleMs);
    this.#timer.unref();
  }

  #kill(error: Error): void {
    if (this.#phase === 'ended') return;
    const wasStarting = this.#phase === 'starting';
    const isFirst = this.#phase !== 'ending';
    this.#phase = 'ending';
    if (!isFirst) return;
    this.#child.ref(); // waiting jobs depend on its exit
    this.#child.kill('SIGKILL');
    clearTimeout(this.#timer);
    // A process that waits for a disk cannot be killed. It must not keep its place forever.
    this.#timer = setTimeout(() => this.#ended(error), EXIT_MS);
    this.#timer.unref();
    if (wasStarting) this.#listener.onFailed(error, this.#take());
  }

  #ended(error: Error): void {
    if (this.#phase === 'ended') return;
    const wasStarting = this.#phase === 'starting';
    this.#phase = 'ended';
    clearTimeout(this.#timer);
    this.#isReady.resolve();
    const isSent = this.#isSent;
    const job = this.#take();
    if (wasStarting || (job !== undefined && !isSent)) this.#listener.onFailed(error, job);
    else job?.reject(new ConversionError('failed', 'it needs too much memory, or is damaged'));
    this.#listener.onFree(true);
  }

  #take(): Job | undefined {
    const job = this.#job;
    if (job !== undefined && this.#jobSince !== undefined) this.#listener.onUsed(job.accountId, this.runMs);
    this.#job = undefined;
    this.#jobSince = undefined;
    this.#isSent = false;
    return job;
  }
}

const tooSlow = () => new AppError('storage_unavailable', 'The file could not be read in time; try again');

function forked({ maxBytes, keptBytes, program }: ProcessLimits): ChildProcess {
  return fork(fileURLToPath(new URL('./process.ts', import.meta.url)), [maxBytes, keptBytes, process.pid].map(String), {
    execPath: program,
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
  });
}

/**
 * Node's permissions: the process reads installed packages and this code. sharp is an addon, which it may load, and the
 * watchdog is a thread, which has the same permissions.
 */
function confined(): string[] {
  const here = dirname(fileURLToPath(import.meta.url));
  const source = join(here, '..', '..');
  const folders = new Set([source, ...packageFolders()]);
  const allowed = ['--allow-addons', '--allow-worker'];
  return ['--permission', ...allowed, ...[...folders].map((folder) => `--allow-fs-read=${folder}`)];
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
