import { type Outcome, outcomeClasses } from './outcome.ts';

/** The schedule of retries: `stepsMs[n]` is the wait after the attempt that used up `n` steps before. */
export interface RetryPolicy {
  readonly stepsMs: readonly number[];
  /** 0 to 1, evenly. */
  readonly random: () => number;
}

/** What becomes of a delivery after an attempt. */
export type Verdict =
  | { readonly state: 'delivered' }
  | { readonly state: 'failed' }
  /** Try again: `dueAt` in the time that `now` was given in, `steps` of the schedule used up by then. */
  | { readonly state: 'pending'; readonly dueAt: number; readonly steps: number };

/**
 * Decides from the outcome alone.
 * @param steps steps of the schedule used up before this attempt
 * @param isProbe whether it was the single attempt through an open breaker: waiting behind it must not use up
 *   the schedule of the oldest event
 */
export function decide(outcome: Outcome, steps: number, isProbe: boolean, now: number, policy: RetryPolicy): Verdict {
  const { retry } = outcomeClasses[outcome.class];
  if (retry === 'none') return { state: 'delivered' };
  // 429 says nothing against the delivery: it uses up no step, and goes out when the lane's pause is over.
  if (outcome.class === 'throttled')
    return { state: 'pending', dueAt: now + (outcome.retryAfterMs ?? DEFAULT_PAUSE_MS), steps };
  // Ours alone: it is tried again soon and uses up no step.
  if (outcome.class === 'no_socket')
    return { state: 'pending', dueAt: now + jitter(NO_SOCKET_MS, policy.random), steps };
  if (retry === 'held' || isProbe) return { state: 'pending', dueAt: now, steps };
  const step = policy.stepsMs[steps];
  if (step === undefined) return { state: 'failed' };
  // A receiver that says when it will be ready again is taken at its word.
  if (outcome.class === 'server_error' && outcome.retryAfterMs !== null) {
    return { state: 'pending', dueAt: now + outcome.retryAfterMs, steps: steps + 1 };
  }
  return { state: 'pending', dueAt: now + jitter(step, policy.random), steps: steps + 1 };
}

/** The duration ±20 %, so that what failed together does not come back together. */
export function jitter(durationMs: number, random: () => number): number {
  return Math.round(durationMs * (0.8 + 0.4 * random()));
}

/** How long a delivery waits for a free socket of this server. */
const NO_SOCKET_MS = 5000;
/** How long a lane pauses after a 429 that does not say. */
export const DEFAULT_PAUSE_MS = 30_000;
const LEAST_RETRY_AFTER_MS = 1000;
const MOST_RETRY_AFTER_MS = 60 * 60 * 1000;

/** Reads `Retry-After`: seconds or an HTTP date (RFC 9110, 10.2.3). Null when there is none or it makes no sense. */
export function parseRetryAfter(value: string | undefined, now: number): number | null {
  if (value === undefined) return null;
  const text = value.trim();
  // Date.parse takes almost anything for a date, "-5" among it; an HTTP date starts with a weekday.
  const date = /^[a-z]{3,9},? /i.test(text) ? Date.parse(text) : Number.NaN;
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : date - now;
  if (Number.isNaN(ms)) return null;
  return Math.min(Math.max(ms, LEAST_RETRY_AFTER_MS), MOST_RETRY_AFTER_MS);
}
