import type { Clock } from '../../src/clock.ts';

export interface FakeClock extends Clock {
  /** Advances the time: runs due timers in order, and lets promises settle after each. */
  advance(ms: number): Promise<void>;
  /** Advances the time without running timers, as if the process were paused. */
  skip(ms: number): void;
  /** Sets the wall clock without advancing the time, as an administrator would. */
  set(now: number): void;
}

/** A clock that advances only on command. */
export function createFakeClock(start = Date.UTC(2026, 0, 1)): FakeClock {
  let now = start;
  let elapsed = 0;
  let timers: { at: number; action: () => void }[] = [];

  const passTo = (moment: number) => {
    if (moment <= elapsed) return;
    now += moment - elapsed;
    elapsed = moment;
  };

  return {
    now: () => now,
    elapsed: () => elapsed,
    set: (value) => {
      now = value;
    },
    skip: (ms) => passTo(elapsed + ms),
    after(delayMs, action) {
      const timer = { at: elapsed + Math.max(0, delayMs), action };
      timers.push(timer);
      return () => {
        timers = timers.filter((other) => other !== timer);
      };
    },
    async advance(ms) {
      const end = elapsed + ms;
      for (;;) {
        const next = timers.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0];
        if (next === undefined) break;
        timers = timers.filter((timer) => timer !== next);
        passTo(next.at);
        next.action();
        await new Promise((resolve) => setImmediate(resolve));
      }
      passTo(end);
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}
