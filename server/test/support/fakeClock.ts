import type { Clock } from '../../src/clock.ts';

export interface FakeClock extends Clock {
  /** Lets time pass: runs what falls due, in order, and lets promises settle after each. */
  advance(ms: number): Promise<void>;
  /** Sets the clock without letting time pass, as an administrator would. */
  set(now: number): void;
}

/** A clock that stands still until it is told otherwise. */
export function createFakeClock(start = Date.UTC(2026, 0, 1)): FakeClock {
  let now = start;
  let timers: { at: number; action: () => void }[] = [];

  return {
    now: () => now,
    set: (value) => {
      now = value;
    },
    after(delayMs, action) {
      const timer = { at: now + Math.max(0, delayMs), action };
      timers.push(timer);
      return () => {
        timers = timers.filter((other) => other !== timer);
      };
    },
    async advance(ms) {
      const end = now + ms;
      for (;;) {
        const next = timers.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0];
        if (next === undefined) break;
        timers = timers.filter((timer) => timer !== next);
        now = Math.max(now, next.at);
        next.action();
        await new Promise((resolve) => setImmediate(resolve));
      }
      now = end;
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}
