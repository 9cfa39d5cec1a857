import type { Clock } from './clock.ts';

/**
 * Time for order and for waiting. It begins at a stored moment, advances with the monotonic clock and never goes back,
 * so setting the machine's clock neither reorders ids nor strands or bursts what waits. On PostgreSQL the nodes keep
 * it in common (see `db/steadyTime.ts`), whatever their own clocks say.
 *
 * It may differ from the time of day. What people or other systems see (timestamps, signatures, expiry) is the time of
 * day of a `Clock`; `toWall` gives that of a moment of this one.
 */
export class SteadyClock implements Clock {
  readonly #clock: Clock;
  #ahead: number;

  /** @param startsAt where it begins */
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

  /** Goes to a later moment; an earlier one changes nothing. */
  advanceTo(ms: number): void {
    this.#ahead = Math.max(this.#ahead, ms - this.#clock.elapsed());
  }

  /** The time of day at a moment of this clock, by what both say now. */
  toWall(ms: number): number {
    return ms - this.now() + this.#clock.now();
  }

  /** The moment of this clock at a time of day. */
  fromWall(ms: number): number {
    return ms - this.#clock.now() + this.now();
  }
}
