import { type Outcome, outcomeClasses } from './outcome.ts';

/** The retry schedule: `stepsMs[n]` is the delay after an attempt that had used `n` steps. */
export interface RetryPolicy {
  readonly stepsMs: readonly number[];
  /** Uniform between 0 and 1. */
  readonly random: () => number;
}

/** Returns the policy with the retry schedule of a webhook, if it has its own. */
export function withOwnSteps(
  policy: RetryPolicy,
  { retrySeconds }: { readonly retrySeconds: readonly number[] | null },
): RetryPolicy {
  return retrySeconds === null ? policy : { ...policy, stepsMs: retrySeconds.map((seconds) => seconds * 1000) };
}

export type Verdict =
  | { readonly state: 'delivered' }
  | { readonly state: 'failed' }
  /** Retries at `dueAt`, by the clock of `now`, with `steps` of the schedule used up. */
  | { readonly state: 'pending'; readonly dueAt: number; readonly steps: number };

/**
 * @param steps used steps of the schedule before this attempt
 * @param isProbe whether it probed an open breaker, which must not use up the schedule of the oldest event
 */
export function decide(outcome: Outcome, steps: number, isProbe: boolean, now: number, policy: RetryPolicy): Verdict {
  const { retry } = outcomeClasses[outcome.class];
  if (retry === 'none') return { state: 'delivered' };
  // 429 is not a failure of this delivery: it uses up no step, and goes out after the lane's pause.
  if (outcome.class === 'throttled')
    return { state: 'pending', dueAt: now + (outcome.retryAfterMs ?? DEFAULT_PAUSE_MS), steps };
  // A shortage of this server: it is retried soon and uses up no step.
  if (outcome.class === 'no_socket')
    return { state: 'pending', dueAt: now + jitter(NO_SOCKET_MS, policy.random), steps };
  if (retry === 'held' || isProbe) return { state: 'pending', dueAt: now, steps };
  const step = policy.stepsMs[steps];
  if (step === undefined) return { state: 'failed' };
  // `Retry-After` overrides the schedule.
  if (outcome.class === 'server_error' && outcome.retryAfterMs !== null) {
    return { state: 'pending', dueAt: now + outcome.retryAfterMs, steps: steps + 1 };
  }
  return { state: 'pending', dueAt: now + jitter(step, policy.random), steps: steps + 1 };
}

/** Varies a duration by ±20 %, so that deliveries that failed together are not retried together. */
export function jitter(durationMs: number, random: () => number): number {
  return Math.round(durationMs * (0.8 + 0.4 * random()));
}

/** Delay until a delivery tries again to get a socket. */
const NO_SOCKET_MS = 5000;
/** Pause of a lane after a 429 without `Retry-After`. */
export const DEFAULT_PAUSE_MS = 30_000;
const LEAST_RETRY_AFTER_MS = 1000;
export const MAX_RETRY_AFTER_MS = 60 * 60 * 1000;

/** Reads `Retry-After`: seconds or an HTTP date (RFC 9110, 10.2.3). Null if it is missing or invalid. */
export function parseRetryAfter(value: string | undefined, now: number): number | null {
  if (value === undefined) return null;
  const text = value.trim();
  // Date.parse accepts almost anything, even "-5". An HTTP date starts with a weekday.
  const date = /^[a-z]{3,9},? /i.test(text) ? Date.parse(text) : Number.NaN;
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : date - now;
  if (Number.isNaN(ms)) return null;
  return Math.min(Math.max(ms, LEAST_RETRY_AFTER_MS), MAX_RETRY_AFTER_MS);
}
