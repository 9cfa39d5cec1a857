import { setTimeout } from 'node:timers/promises';
import type { Clock } from '../../src/clock.ts';

export interface FakeClock extends Clock {
  /** Advances the time: runs due timers in order, and lets promises settle after each. */
  advance(ms: number): Promise<void>;
  /**
   * Advances the time in steps of `stepMs` until a promise settles. For work whose timers may start after a single
   * `advance`, because the machine is busy.
   */
  settle<T>(promise: Promise<T>, stepMs: number): Promise<T>;
  /** Counts the timers that are due in exactly this time. */
  timersDueIn(ms: number): number;
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

  const clock: FakeClock = {
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
    timersDueIn: (ms) => timers.filter(({ at }) => at === elapsed + ms).length,
    async settle(promise, stepMs) {
      let isSettled = false;
      const settled = promise.finally(() => (isSettled = true));
      for (;;) {
        await Promise.race([settled, setTimeout(20)]);
        if (isSettled) return settled;
        await clock.advance(stepMs);
      }
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
  return clock;
}
