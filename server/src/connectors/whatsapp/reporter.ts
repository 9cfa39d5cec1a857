import { KeyedQueue, sleep } from '../../async.ts';
import type { NetworkEvent, SessionHost } from '../connector.ts';

const RETRY_MS = 500;

/** Reports events to the host until they are stored: the network does not say anything twice. */
export class Reporter {
  readonly #host: SessionHost;
  readonly #queue = new KeyedQueue();
  #isStopped = false;

  constructor(host: SessionHost) {
    this.#host = host;
  }

  /** Resolves when the event is stored, or when the reporter has stopped. */
  report(event: NetworkEvent): Promise<void> {
    return this.keep(event.type, () => this.#host.onEvent(event));
  }

  /** As `report`, after the events that were reported in this way before. */
  reportInOrder(event: NetworkEvent): void {
    void this.#queue.run('', () => this.report(event));
  }

  /** Resolves when the events that were reported in order are stored, or when the reporter has stopped. */
  reported(): Promise<void> {
    return this.#queue.idle();
  }

  /** Stores something, and tries again when that fails. Resolves as `report`. */
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
