import type { Clock } from '../../clock.ts';
import type { Database } from '../../db/database.ts';
import { Pace } from '../../db/pace.ts';
import { type Cleaning, Steps } from '../../jobs/cleaning.ts';
import type { Log } from '../../log.ts';
import type { Metrics } from '../../metrics.ts';
import type { SteadyClock } from '../../steadyClock.ts';
import { prunesIdempotencyKeys, prunesKeySends, prunesMinutes } from './counterPruning.ts';
import { expiresHeld } from './heldExpiry.ts';
import { prunesLog } from './logPruning.ts';

interface Options {
  readonly database: Database;
  readonly clock: Clock;
  /** Measures ages, so that setting the clock of the machine deletes nothing early. */
  readonly steady: SteadyClock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly eventDays: number;
  readonly heldDays: number;
  /** Deletes tool calls from before a time. */
  readonly prunesToolCalls?: (before: () => number) => Cleaning;
  /** Cleanings of other modules. */
  readonly others?: readonly Cleaning[];
}

const DAY_MS = 24 * 60 * 60 * 1000;
const EVERY_MS = 10 * 60 * 1000;
/** Steps of merging the search index in one round, some milliseconds each. */
const MAX_STEPS = 20_000;

/** Steps of returning pages to the file system in one round. */
const RECLAIM_STEPS = 10;

/** A cleaning with its schedule: the next round comes some time after the last one has ended. */
interface Scheduled {
  readonly cleaning: Cleaning;
  cancel: () => void;
  running: Promise<unknown>;
}

/**
 * Limits the growth of the database. Deliveries that waited longer than `heldDays` expire and stay listed; events,
 * deliveries and attempts older than `eventDays` are deleted, except pending ones.
 *
 * Each kind of rows has a cleaning with its own schedule, so one that fails or takes hours keeps none of the others
 * from running.
 */
export class Retention {
  readonly #options: Options;
  readonly #steps: Steps;
  readonly #expiry: Cleaning;
  readonly #log: Cleaning;
  readonly #others: readonly Cleaning[];
  #scheduled: readonly Scheduled[] = [];

  constructor(options: Options) {
    const { database, clock, steady, eventDays, heldDays, prunesToolCalls, others = [] } = options;
    this.#options = options;
    this.#steps = new Steps(database);
    const beforeEvents = () => steady.now() - eventDays * DAY_MS;
    this.#expiry = expiresHeld({ ...options, before: () => steady.now() - heldDays * DAY_MS });
    this.#log = prunesLog(beforeEvents);
    this.#others = [
      ...(prunesToolCalls === undefined ? [] : [prunesToolCalls(beforeEvents)]),
      prunesIdempotencyKeys(steady.now.bind(steady)),
      prunesMinutes(clock),
      prunesKeySends(clock),
      ...others,
    ];
  }

  start(): void {
    if (this.#scheduled.length > 0 || this.#steps.isStopped) return;
    const all = [this.#expiry, this.#log, ...this.#others, { name: 'deleted pages', run: () => this.#reclaim() }];
    this.#scheduled = all.map((cleaning) => ({ cleaning, cancel: () => {}, running: Promise.resolve() }));
    for (const scheduled of this.#scheduled) this.#schedule(scheduled);
  }

  async stop(): Promise<void> {
    this.#steps.stop();
    for (const { cancel } of this.#scheduled) cancel();
    await Promise.all(this.#scheduled.map(({ running }) => running));
  }

  /**
   * Runs every cleaning once. Returns the number of expired deliveries, and of deleted events and deliveries.
   * @throws {AggregateError} after all have ended, if some failed
   */
  async run(): Promise<{ expired: number; pruned: number }> {
    const run = (cleaning: Cleaning) => cleaning.run(this.#steps);
    const settled = await Promise.allSettled([this.#expiry, this.#log, ...this.#others].map(run));
    await this.#reclaim();
    const errors = settled.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
    if (errors.length > 0) throw new AggregateError(errors, `${errors.length} cleanings failed`);
    const [expired = 0, pruned = 0] = settled.map((result) => (result.status === 'fulfilled' ? result.value : 0));
    return { expired, pruned };
  }

  #schedule(scheduled: Scheduled): void {
    scheduled.cancel = this.#options.clock.after(EVERY_MS, () => {
      scheduled.running = this.#runLogged(scheduled.cleaning).finally(() => {
        if (!this.#steps.isStopped) this.#schedule(scheduled);
      });
    });
  }

  async #runLogged(cleaning: Cleaning): Promise<void> {
    const { log } = this.#options;
    try {
      const rows = await cleaning.run(this.#steps);
      if (rows > 0) log.info({ cleaning: cleaning.name, rows }, 'removed or expired old rows');
    } catch (error) {
      log.error({ err: error, cleaning: cleaning.name }, 'failed to remove old rows; retrying in 10 minutes');
    }
  }

  /** Removes the words of deleted messages, and returns deleted pages to the file system. */
  async #reclaim(): Promise<number> {
    await this.#purgeWords();
    const { reader, trimLog } = this.#options.database;
    const { reclaim } = reader.dialect;
    for (let count = 0; count < RECLAIM_STEPS && reclaim !== undefined && !this.#steps.isStopped; count++)
      await this.#steps.run(({ connection }) => connection.query(reclaim, []));
    await trimLog();
    return 0;
  }

  async #purgeWords(): Promise<void> {
    const { reader } = this.#options.database;
    const { purge } = reader.dialect.search;
    if (purge === undefined) return;
    const pace = new Pace({ first: 1, fewest: 1, most: 4 });
    for (let count = 0; count < MAX_STEPS && !this.#steps.isStopped; count++) {
      if ((await reader.connection.query(purge.isDue, [])).rows.length === 0) return;
      await pace.run(this.#steps.run, ({ connection }, pages) => connection.query(purge.step, [pages]));
    }
  }
}
