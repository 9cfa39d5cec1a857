import type { Clock } from './clock.ts';

/**
 * The clock for order and waiting. It starts at a stored moment, advances with the monotonic clock and never goes back,
 * so setting the machine's clock neither reorders ids nor delays or releases whatever waits. On PostgreSQL the nodes
 * keep it in sync (see `db/steadyTime.ts`), independently of their own clocks.
 *
 * It may differ from the time of day. Times that people or other systems see (timestamps, signatures, expiry) are times
 * of day of a `Clock`; `toWall` converts a moment of this clock.
 */
export class SteadyClock implements Clock {
  readonly #clock: Clock;
  #ahead: number;

  constructor(clock: Clock, startsAt: number) {
    this.#clock = clock;
    this.#ahead = startsAt - clock.elapsed();
  }

  now(): number {
    return Math.floor(this.#clock.elapsed() + this.#ahead);
  }

  elapsed(): number {
    return this.#clock.elapsed();
  }

  after(delayMs: number, action: () => void): () => void {
    return this.#clock.after(delayMs, action);
  }

  /** Advances to a later moment; ignores an earlier one. */
  advanceTo(ms: number): void {
    this.#ahead = Math.max(this.#ahead, ms - this.#clock.elapsed());
  }

  /** Converts a moment of this clock to a time of day, by the current difference. */
  toWall(ms: number): number {
    return ms - this.now() + this.#clock.now();
  }

  /** Converts a time of day to a moment of this clock. */
  fromWall(ms: number): number {
    return ms - this.#clock.now() + this.now();
  }
}
