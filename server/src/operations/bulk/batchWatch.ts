import type { Log } from '../../log.ts';
import { type BatchContext, checkAgain, checkBatch, dueChecks } from './batches.ts';

interface Options extends BatchContext {
  readonly log: Log;
}

const EVERY_MS = 2000;
const CHECKED = 50;

/**
 * Completes batches whose last message has left the queue, cancels those that were paused for too long, and continues
 * what was interrupted. Every node watches all batches: the first one to change a status emits the event.
 */
export class BatchWatch {
  readonly #options: Options;
  readonly #stopping = new AbortController();
  #cancelTimer = () => {};
  #running: Promise<void> = Promise.resolve();

  constructor(options: Options) {
    this.#options = options;
  }

  start(): void {
    this.#plan();
  }

  /** Waits for the steps that are running. Another start continues a cancellation. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#cancelTimer();
    await this.#running;
  }

  #plan(): void {
    if (this.#stopping.signal.aborted) return;
    this.#cancelTimer = this.#options.clock.after(EVERY_MS, () => {
      this.#running = this.#check().finally(() => this.#plan());
    });
  }

  async #check(): Promise<void> {
    const { database, clock, log } = this.#options;
    const { signal } = this.#stopping;
    try {
      const due = await dueChecks.all(database.reader, { now: clock.now(), limit: CHECKED });
      for (const batch of due) {
        if (signal.aborted) return;
        await checkBatch(this.#options, batch, signal).catch((error) => {
          log.warn({ err: error, batch: batch.batch_id }, 'failed to check a batch; trying again');
          return checkAgain(this.#options, batch);
        });
      }
    } catch (error) {
      log.warn({ err: error }, 'failed to read batches; trying again');
    }
  }
}
