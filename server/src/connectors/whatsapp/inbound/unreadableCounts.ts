import type { UnreadableReason } from '../../../events/networkTypes.ts';
import type { SessionHost } from '../../contract/host.ts';

/** Shortest time between two reports, because each of them is a transaction. */
const PAUSE_MS = 1000;

interface Count {
  readonly reason: UnreadableReason;
  readonly isMessage: boolean;
  count: number;
  readonly onStored: PromiseWithResolvers<boolean>;
}

/**
 * Counts what could not be decrypted and has no placeholder, of one session. A stranger can send any number of such
 * messages, so they are gathered by reason, and reported one reason after the other. A report that fails is gathered
 * again with those that came meanwhile.
 */
export class UnreadableCounts {
  readonly #host: Pick<SessionHost, 'onEvent' | 'clock' | 'log'>;
  /** Counts that are not reported yet. There are few reasons. */
  readonly #waiting = new Map<string, Count>();
  #running: Promise<void> | undefined;
  #isStopped = false;
  #cancelPause: (() => void) | undefined;

  constructor(host: Pick<SessionHost, 'onEvent' | 'clock' | 'log'>) {
    this.#host = host;
  }

  /** Resolves with whether it is stored; false if the session ended before that. */
  add(reason: UnreadableReason, isMessage: boolean): Promise<boolean> {
    if (this.#isStopped) return Promise.resolve(false);
    const waiting = this.#gather({ reason, isMessage, count: 1, onStored: Promise.withResolvers() });
    this.#start();
    return waiting.onStored.promise;
  }

  /** Reports what is left, without a retry. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancelPause?.();
    await this.#running;
    await this.#report();
    for (const { onStored } of this.#waiting.values()) onStored.resolve(false);
    this.#waiting.clear();
  }

  /** Adds to the waiting count of the same reason. */
  #gather(added: Count): Count {
    const key = `${added.reason} ${added.isMessage}`;
    const known = this.#waiting.get(key);
    if (known === undefined) this.#waiting.set(key, added);
    else {
      known.count += added.count;
      if (added.onStored !== known.onStored) added.onStored.resolve(known.onStored.promise);
    }
    return known ?? added;
  }

  #start(): void {
    if (this.#isStopped || this.#running !== undefined || this.#cancelPause !== undefined) return;
    this.#running = this.#report().then(() => {
      this.#running = undefined;
      if (this.#isStopped) return;
      this.#cancelPause = this.#host.clock.after(PAUSE_MS, () => {
        this.#cancelPause = undefined;
        if (this.#waiting.size > 0) this.#start();
      });
    });
  }

  /** Reports every count that waits now, each once. */
  async #report(): Promise<void> {
    const { onEvent, log } = this.#host;
    const counts = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const one of counts) {
      const { reason, isMessage, count, onStored } = one;
      try {
        await onEvent({ type: 'unreadable', reason, isMessage, count });
        onStored.resolve(true);
        log.warn({ reason, messages: count }, 'failed to decrypt messages; giving up');
      } catch (error) {
        log.warn({ err: error, reason, messages: count }, 'failed to count unreadable messages; trying again');
        this.#gather(one);
      }
    }
  }
}
