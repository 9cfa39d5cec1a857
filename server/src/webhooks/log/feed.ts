import { EventEmitter, once } from 'node:events';
import type { Clock } from '../../clock.ts';

/** Announces that an account has new events, which readers then read from the log. */
export class Feed {
  readonly #clock: Clock;
  readonly #announcements = new EventEmitter().setMaxListeners(0);

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  announce(accountId: string): void {
    this.#announcements.emit(accountId);
  }

  /** Resolves at the next announcement, after `timeoutMs`, or when the signal is aborted. */
  async next(accountId: string, timeoutMs: number, signal: AbortSignal): Promise<void> {
    const late = new AbortController();
    const cancel = this.#clock.after(timeoutMs, () => late.abort());
    const announced = once(this.#announcements, accountId, { signal: AbortSignal.any([signal, late.signal]) });
    await announced.catch(() => {}); // aborted
    cancel();
  }
}
