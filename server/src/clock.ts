/** The source of time. Everything that reads the time or waits takes one, so that tests can set it and skip waits. */
export interface Clock {
  /** Milliseconds since the Unix epoch. May go backwards when the machine's clock is set. */
  now(): number;
  /** Milliseconds since an arbitrary moment, for measuring durations: setting the clock does not affect it. */
  elapsed(): number;
  /** Runs `action` once after `delayMs`. The returned function cancels it; calling it twice is harmless. */
  after(delayMs: number, action: () => void): () => void;
}

// setTimeout silently turns a longer delay into 1 ms.
const MAX_TIMER_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  after(delayMs, action) {
    const timer = setTimeout(action, Math.min(Math.max(delayMs, 0), MAX_TIMER_MS));
    return () => clearTimeout(timer);
  },
};

/** Formats a moment as the API does: ISO 8601, UTC, milliseconds. */
export function isoTime(ms: number): string;
export function isoTime(ms: number | null | undefined): string | null;
export function isoTime(ms: number | null | undefined): string | null {
  return ms === null || ms === undefined ? null : new Date(ms).toISOString();
}
