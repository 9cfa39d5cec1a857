/**
 * Where time comes from. Everything that reads the time or waits takes a `Clock`, so that a test can
 * stand at any moment and let minutes pass at once.
 */
export interface Clock {
  /** Milliseconds since the Unix epoch. May go backwards when somebody sets the machine's clock. */
  now(): number;
  /** Milliseconds since some moment, for measuring spans: no one can set it, and it never goes back. */
  elapsed(): number;
  /** Runs `action` once after `delayMs`. The returned function cancels it; calling it twice is harmless. */
  after(delayMs: number, action: () => void): () => void;
}

// setTimeout silently turns a longer delay into 1 ms.
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  after(delayMs, action) {
    const timer = setTimeout(action, Math.min(Math.max(delayMs, 0), LONGEST_TIMER_MS));
    return () => clearTimeout(timer);
  },
};

/** A moment as the API shows it: ISO 8601, UTC, milliseconds. */
export function isoTime(ms: number): string;
export function isoTime(ms: number | null | undefined): string | null;
export function isoTime(ms: number | null | undefined): string | null {
  return ms === null || ms === undefined ? null : new Date(ms).toISOString();
}
