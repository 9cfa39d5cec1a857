import type { Clock } from '../../server/src/clock.ts';

interface Timer {
  readonly at: number;
  readonly action: () => void;
}

/** A clock that advances only on command. Starts at the real time. */
export class FakeClock implements Clock {
  readonly #start = Date.now();
  #elapsed = 0;
  readonly #timers = new Set<Timer>();

  now(): number {
    return this.#start + this.#elapsed;
  }

  elapsed(): number {
    return this.#elapsed;
  }

  after(delayMs: number, action: () => void): () => void {
    const timer = { at: this.#elapsed + Math.max(0, delayMs), action };
    this.#timers.add(timer);
    return () => void this.#timers.delete(timer);
  }

  /** Runs the timers that become due, in order, and lets promises settle after each. */
  async advance(ms: number): Promise<void> {
    const end = this.#elapsed + ms;
    for (let next = this.#nextUntil(end); next !== undefined; next = this.#nextUntil(end)) {
      this.#timers.delete(next);
      this.#elapsed = Math.max(this.#elapsed, next.at);
      next.action();
      await new Promise((resolve) => setImmediate(resolve));
    }
    this.#elapsed = Math.max(this.#elapsed, end);
    await new Promise((resolve) => setImmediate(resolve));
  }

  #nextUntil(end: number): Timer | undefined {
    return [...this.#timers].filter(({ at }) => at <= end).sort((one, other) => one.at - other.at)[0];
  }
}
