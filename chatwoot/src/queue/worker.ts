import type { Statement } from '../database/database.ts';
import { type Log, messageOf } from '../log.ts';
import type { Job, Queue } from './queue.ts';

/** Called after the transaction with the number of rows that each statement changed. */
type After = (changes: readonly number[]) => void;

/** The result of an attempt. */
export type Outcome =
  | { readonly kind: 'done'; readonly statements?: readonly Statement[]; readonly after?: After }
  | Retry
  /** Never tried again. */
  | {
      readonly kind: 'failed';
      readonly reason: string;
      readonly statements?: readonly Statement[];
      readonly after?: After;
    };

/** Tried again later. With a lane, the jobs behind it do not wait for it. */
export interface Retry {
  readonly kind: 'retry';
  readonly reason: string;
  /** An outage shows in the health; a rejection counts; the others wait for something that happens soon. */
  readonly cause: 'outage' | 'rejection' | 'order';
  readonly afterMs?: number;
  readonly lane?: string;
  readonly isWithoutEffect?: boolean;
  /** Description of an outage that everyone can read. */
  readonly outage?: string;
}

/** Jobs that wait for the end of an outage. */
export interface Delays {
  readonly jobs: number;
  /** Time of the first failure that has not passed. */
  readonly since: string;
  readonly reason: string;
}

export const done = (statements: readonly Statement[] = [], after?: After): Outcome => ({
  kind: 'done',
  statements,
  ...(after && { after }),
});

export interface WorkerOptions {
  readonly queue: Queue;
  readonly handle: (job: Job) => Promise<Outcome>;
  readonly log: Log;
  /** Number of lanes that run at the same time. */
  readonly concurrency?: number;
  /** Delay before the second attempt in milliseconds. It doubles with each attempt, up to five minutes. */
  readonly firstRetryMs?: number;
}

const MAX_RETRY_MS = 300_000;

/** Runs the jobs of a queue. Jobs of one lane run in order. */
export class Worker {
  readonly #options: WorkerOptions;
  readonly #busy = new Map<string, Promise<void>>();
  /** Jobs whose last attempt failed because of an outage, the longest first. One of each lane. */
  readonly #delayed = new Map<number, { readonly since: number; readonly reason: string }>();
  #timer: NodeJS.Timeout | undefined;
  #isStopped = true;
  #looking: Promise<void> | undefined;
  #lookAgain = false;

  constructor(options: WorkerOptions) {
    this.#options = options;
  }

  start(): void {
    this.#isStopped = false;
    this.wake();
  }

  /** Begins no more jobs, and resolves once those that run have ended. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    await this.#looking;
    await Promise.all(this.#busy.values());
  }

  /** Returns the jobs that an outage delays, or undefined without an outage. */
  get delays(): Delays | undefined {
    const [first] = this.#delayed.values();
    if (first === undefined) return undefined;
    return { jobs: this.#delayed.size, since: new Date(first.since).toISOString(), reason: first.reason };
  }

  /** Looks for jobs that are due. */
  wake(): void {
    if (this.#isStopped) return;
    if (this.#looking !== undefined) {
      this.#lookAgain = true;
      return;
    }
    this.#looking = this.#look()
      .catch((error) => {
        this.#options.log('error', 'failed to read the queue; retrying', { error: messageOf(error) });
        this.#wakeIn(5000);
      })
      .finally(() => {
        this.#looking = undefined;
        if (this.#lookAgain) {
          this.#lookAgain = false;
          this.wake();
        }
      });
  }

  async #look(): Promise<void> {
    const { queue, concurrency = 4 } = this.#options;
    const busy = new Set(this.#busy.keys());
    const room = concurrency - busy.size;
    // The end of a job looks again.
    if (room <= 0) return;
    for (const job of await queue.due(busy, room)) {
      if (this.#isStopped) return;
      const running = this.#run(job).finally(() => {
        this.#busy.delete(job.lane);
        this.wake();
      });
      this.#busy.set(job.lane, running);
    }
    const dueAt = await queue.nextDueAt(new Set(this.#busy.keys()));
    if (dueAt !== undefined) this.#wakeIn(Math.max(0, dueAt - Date.now()));
  }

  #wakeIn(ms: number): void {
    clearTimeout(this.#timer);
    if (!this.#isStopped) this.#timer = setTimeout(() => this.wake(), ms);
  }

  async #run(job: Job): Promise<void> {
    const { queue, log, handle } = this.#options;
    try {
      await queue.begin(job.seq);
      const outcome = await handle(job).catch(
        (error): Outcome => ({ kind: 'retry', cause: 'outage', reason: messageOf(error) }),
      );
      await this.#settle(job, outcome);
    } catch (error) {
      // The database failed. Without an outcome, the job is tried again.
      log('error', 'failed to settle a job; retrying', { queue: queue.table, job: job.seq, error: messageOf(error) });
      await new Promise((resolve) => setTimeout(resolve, this.#isStopped ? 0 : 1000));
    }
  }

  async #settle(job: Job, outcome: Outcome): Promise<void> {
    const { queue, log } = this.#options;
    this.#noteDelay(job, outcome);
    if (outcome.kind === 'retry') {
      const { reason, cause, lane, afterMs = this.#backOffMs(job.attempt), isWithoutEffect = false } = outcome;
      log('warn', 'job postponed', { queue: queue.table, job: job.seq, attempt: job.attempt, cause, reason });
      const dueAt = Date.now() + afterMs;
      await queue.postpone(job, { dueAt, error: reason, lane, isRejected: cause === 'rejection', isWithoutEffect });
      return;
    }
    const reason = outcome.kind === 'failed' ? outcome.reason : undefined;
    if (reason !== undefined) log('error', 'job failed', { queue: queue.table, job: job.seq, reason });
    const changes = await queue.finish(job, outcome.kind, outcome.statements ?? [], reason);
    outcome.after?.(changes);
  }

  /** Logs the beginning and the end of an outage. */
  #noteDelay({ seq }: Job, outcome: Outcome): void {
    const { queue, log } = this.#options;
    if (outcome.kind === 'retry' && outcome.cause === 'outage') {
      const { since = Date.now() } = this.#delayed.get(seq) ?? {};
      if (this.#delayed.size === 0) log('error', 'jobs are delayed', { queue: queue.table, reason: outcome.reason });
      this.#delayed.set(seq, { since, reason: outcome.outage ?? 'The bridge failed; see its log' });
    } else if (this.#delayed.delete(seq) && this.#delayed.size === 0)
      log('info', 'delayed jobs have been processed', { queue: queue.table });
  }

  #backOffMs(attempt: number): number {
    const { firstRetryMs = 1000 } = this.#options;
    return Math.min(MAX_RETRY_MS, firstRetryMs * 2 ** Math.min(attempt - 1, 20));
  }
}
