import { KeyedQueue, sleep } from '../../async.ts';
import type { NetworkEvent } from '../contract/events.ts';
import type { SessionHost } from '../contract/host.ts';

const RETRY_MS = 500;

/** Reports events to the host until they are stored, because the network never repeats them. */
export class Reporter {
  readonly #host: SessionHost;
  readonly #queue = new KeyedQueue();
  #isStopped = false;

  constructor(host: SessionHost) {
    this.#host = host;
  }

  /** Resolves once the event is stored, or the reporter has stopped. */
  report(event: NetworkEvent): Promise<void> {
    return this.keep(event.type, () => this.#host.onEvent(event));
  }

  /**
   * Like `report`.
   * @throws {Error} the reporter stopped before the event was stored
   */
  async require(event: NetworkEvent): Promise<void> {
    let isStored = false;
    await this.keep(event.type, async () => {
      await this.#host.onEvent(event);
      isStored = true;
    });
    if (!isStored) throw new Error('the session ended before the event was stored');
  }

  /** Like `report`, but after the events that were reported in order before. */
  reportInOrder(event: NetworkEvent): void {
    void this.#queue.run('', () => this.report(event));
  }

  /** Resolves once the events that were reported in order are stored, or the reporter has stopped. */
  reported(): Promise<void> {
    return this.#queue.idle();
  }

  /** Stores something, and retries if that fails. Resolves like `report`. */
  async keep(what: string, store: () => Promise<void>): Promise<void> {
    while (!this.#isStopped) {
      try {
        return await store();
      } catch (error) {
        this.#host.log.warn({ err: error, what }, 'failed to store an event of the network; trying again');
        await sleep(this.#host.clock, RETRY_MS);
      }
    }
  }

  stop(): void {
    this.#isStopped = true;
  }
}
