import type { OutcomeClass } from '../../db/tables/webhooks.ts';
import { type Outcome, outcomeClasses } from './outcome.ts';
import { DEFAULT_PAUSE_MS, jitter, MAX_RETRY_AFTER_MS } from './retry.ts';

/*
 * The circuit breaker of a webhook, as decisions without storage.
 *
 * closed: deliveries go out. Five failures in a row, or half of at least 20 attempts within 60 s failing, open it; so
 * do 410 and a forbidden address, immediately. A breaker that was just closed starts slowly: 1, 2, 4, 8 … in flight.
 *
 * open: nothing is attempted, and events are held. When the open period is over and something is held, it becomes
 *
 * half_open: exactly one attempt at a time, the oldest held event first. Two successes in a row close it; a failure
 * opens it again. Most outages are short, so the open periods of the first five minutes are all as long as the first
 * one. From then on each failure doubles the period, up to 15 minutes. After 410 and a forbidden address, which rarely
 * pass by themselves, it doubles from the beginning.
 *
 * The state is stored with the webhook in the transaction that settles the outcome, so a restart changes nothing. Every
 * change of state increments `generation`; the result of an attempt that began under an older generation is ignored.
 *
 * All times are of the steady clock, so setting the machine's clock neither extends nor ends an open period.
 */

export type BreakerState = 'closed' | 'open' | 'half_open';

export type BreakerReason =
  | 'failures_in_a_row'
  | 'failure_rate'
  | 'gone'
  | 'invalid_target'
  | 'probe_failed'
  | 'probe_due'
  | 'probes_succeeded'
  | 'test_succeeded'
  | 'reset'
  | 'new_url';

export interface Breaker {
  readonly state: BreakerState;
  readonly generation: number;
  readonly since: number;
  readonly reason: BreakerReason | null;
  /** Failures in a row. */
  readonly failures: number;
  /** Successes in a row while half open. */
  readonly successes: number;
  readonly openUntil: number | null;
  /** Length of the last open period without its jitter; null since the breaker last closed. */
  readonly openForMs: number | null;
  /**
   * When the breaker last opened after being closed; undefined if an earlier release opened it, null if it never did.
   */
  readonly outageSince: number | null | undefined;
  /** Deliveries in flight that a slow start allows, and how many of them have succeeded; null once it is over. */
  readonly slowStart: { readonly limit: number; readonly successes: number } | null;
  /** Until when the receiver asked the lane to pause (429). */
  readonly pausedUntil: number | null;
  /** Attempts of the last minute, in buckets of ten seconds, oldest first. */
  readonly window: readonly { readonly at: number; readonly attempts: number; readonly failures: number }[];
  readonly lastError: {
    readonly class: OutcomeClass;
    readonly status: number | null;
    readonly message: string;
    readonly at: number;
  } | null;
  /**
   * Conversation of the latest attempt, if that was a probe that failed. The failure may concern this conversation
   * alone. Undefined if an earlier release stored the breaker.
   */
  readonly failedProbe: string | null | undefined;
  /** The latest changes of state, newest first. Of several failed probes in a row only the last one is kept. */
  readonly transitions: readonly {
    readonly at: number;
    readonly from: BreakerState;
    readonly to: BreakerState;
    readonly reason: BreakerReason;
  }[];
}

export interface BreakerPolicy {
  /** First open period, and every other one in the first minutes of an outage. */
  readonly openMs: number;
  readonly random: () => number;
}

export const thresholds = {
  failuresInARow: 5,
  windowMs: 60_000,
  windowAttempts: 20,
  windowFailureRate: 0.5,
  successesToClose: 2,
  steadyMs: 5 * 60_000,
  longestOpenMs: 15 * 60_000,
} as const;

const BUCKET_MS = 10_000;
const TRANSITIONS_KEPT = 20;

export function newBreaker(now: number): Breaker {
  return {
    state: 'closed',
    generation: 0,
    since: now,
    reason: null,
    failures: 0,
    successes: 0,
    openUntil: null,
    openForMs: null,
    outageSince: null,
    slowStart: null,
    pausedUntil: null,
    window: [],
    lastError: null,
    failedProbe: null,
    transitions: [],
  };
}

/** The permission of a lane to start deliveries. */
export type Permit =
  /** Up to `limit` deliveries in flight. */
  | { readonly kind: 'go'; readonly limit: number }
  /** Nothing before this time. */
  | { readonly kind: 'wait'; readonly until: number }
  /** The open period is over: `beginProbe`, if something is held. */
  | { readonly kind: 'probe_due' };

export function permit(breaker: Breaker, maxInFlight: number, now: number): Permit {
  const { pausedUntil } = breaker;
  if (breaker.state === 'open') {
    const until = breaker.openUntil ?? now;
    return until > now ? { kind: 'wait', until } : { kind: 'probe_due' };
  }
  if (pausedUntil !== null && pausedUntil > now) return { kind: 'wait', until: pausedUntil };
  if (breaker.state === 'half_open') return { kind: 'go', limit: 1 };
  return { kind: 'go', limit: Math.min(maxInFlight, breaker.slowStart?.limit ?? maxInFlight) };
}

/** Limits an open period or pause to its full length: after a restored backup, the steady clock may be behind. */
export function clampToClock(breaker: Breaker, now: number): Breaker {
  const { openUntil, openForMs, outageSince, pausedUntil } = breaker;
  const longestOpenMs = Math.min((openForMs ?? Number.POSITIVE_INFINITY) * 1.2, thresholds.longestOpenMs);
  return {
    ...breaker,
    openUntil: openUntil && Math.min(openUntil, now + longestOpenMs),
    outageSince: outageSince && Math.min(outageSince, now),
    pausedUntil: pausedUntil && Math.min(pausedUntil, now + MAX_RETRY_AFTER_MS),
  };
}

/** open → half_open: the open period is over and something is held. */
export function beginProbe(breaker: Breaker, now: number): Breaker {
  return breaker.state === 'open' ? enter(breaker, 'half_open', 'probe_due', now) : breaker;
}

/**
 * any → closed, with a slow start, by a reset or a new URL. Resetting a closed breaker clears its failures. A new URL
 * closes it again, so that attempts in flight to the old URL do not count.
 */
export function reset(breaker: Breaker, reason: 'reset' | 'new_url', now: number): Breaker {
  if (breaker.state !== 'closed' || reason === 'new_url') return close(breaker, reason, now);
  const isClean = breaker.failures === 0 && breaker.window.length === 0 && breaker.pausedUntil === null;
  if (isClean) return breaker;
  return { ...breaker, generation: breaker.generation + 1, failures: 0, window: [], pausedUntil: null };
}

/** open → half_open: a test delivery succeeded. */
export function onTestSuccess(breaker: Breaker, now: number): Breaker {
  return breaker.state === 'open' ? enter(breaker, 'half_open', 'test_succeeded', now) : breaker;
}

/** Applies the outcome of an attempt that began under `generation`. */
export function onOutcome(
  breaker: Breaker,
  outcome: Outcome,
  generation: number,
  maxInFlight: number,
  now: number,
  policy: BreakerPolicy,
): Breaker {
  if (generation !== breaker.generation) return breaker;
  switch (outcomeClasses[outcome.class].breaker) {
    case 'none':
      return outcome.class === 'throttled'
        ? { ...breaker, pausedUntil: now + (outcome.retryAfterMs ?? DEFAULT_PAUSE_MS) }
        : breaker;
    case 'success':
      return onSuccess(breaker, maxInFlight, now);
    case 'failure':
      return onFailure(breaker, outcome, now, policy);
    case 'opens':
      return open(withError(breaker, outcome, now), outcome.class === 'gone' ? 'gone' : 'invalid_target', now, policy);
  }
}

function onSuccess(breaker: Breaker, maxInFlight: number, now: number): Breaker {
  const window = counted(breaker, now, false);
  if (breaker.state !== 'half_open')
    return { ...breaker, failures: 0, window, slowStart: nextSlowStart(breaker.slowStart, maxInFlight) };
  const successes = breaker.successes + 1;
  const next = { ...breaker, failures: 0, window, successes };
  return successes >= thresholds.successesToClose ? close(next, 'probes_succeeded', now) : next;
}

/** Doubles the limit of the slow start after as many successes. */
function nextSlowStart(slowStart: Breaker['slowStart'], maxInFlight: number): Breaker['slowStart'] {
  if (slowStart === null) return null;
  const successes = slowStart.successes + 1;
  if (successes < slowStart.limit) return { ...slowStart, successes };
  const limit = slowStart.limit * 2;
  return limit >= maxInFlight ? null : { limit, successes: 0 };
}

function onFailure(breaker: Breaker, outcome: Outcome, now: number, policy: BreakerPolicy): Breaker {
  const failures = breaker.failures + 1;
  const next = { ...withError(breaker, outcome, now), failures, window: counted(breaker, now, true) };
  if (breaker.state === 'half_open') return open(next, 'probe_failed', now, policy);
  if (failures >= thresholds.failuresInARow) return open(next, 'failures_in_a_row', now, policy);
  const { attempts, failures: failed } = windowTotals(next, now);
  if (attempts >= thresholds.windowAttempts && failed >= attempts * thresholds.windowFailureRate) {
    return open(next, 'failure_rate', now, policy);
  }
  return next;
}

export function windowTotals(breaker: Breaker, now: number): { attempts: number; failures: number } {
  const recent = breaker.window.filter(({ at }) => isRecent(at, now));
  return {
    attempts: recent.reduce((sum, bucket) => sum + bucket.attempts, 0),
    failures: recent.reduce((sum, bucket) => sum + bucket.failures, 0),
  };
}

function counted({ window }: Breaker, now: number, failed: boolean): Breaker['window'] {
  const at = now - (now % BUCKET_MS);
  const bucket = window.find((other) => other.at === at) ?? { at, attempts: 0, failures: 0 };
  const grown = { at, attempts: bucket.attempts + 1, failures: bucket.failures + (failed ? 1 : 0) };
  const others = window.filter((other) => other.at !== at && isRecent(other.at, now));
  others.push(grown);
  return others;
}

function isRecent(at: number, now: number): boolean {
  // A bucket in the future dates from before a backup was restored.
  return at > now - thresholds.windowMs && at <= now;
}

function open(breaker: Breaker, reason: BreakerReason, now: number, policy: BreakerPolicy): Breaker {
  const outageSince = breaker.openForMs === null ? now : breaker.outageSince;
  const { openForMs, periodMs } = nextPeriod({ ...breaker, outageSince }, reason, now, policy);
  return { ...enter(breaker, 'open', reason, now), outageSince, openForMs, openUntil: now + periodMs };
}

/** Returns the length of the next open period, without and with its jitter. */
function nextPeriod(
  { openForMs: last, outageSince }: Breaker,
  reason: BreakerReason,
  now: number,
  { openMs, random }: BreakerPolicy,
): { openForMs: number; periodMs: number } {
  if (last === null) return { openForMs: openMs, periodMs: openMs };
  const isLasting = reason === 'gone' || reason === 'invalid_target';
  // Breakers that opened under an earlier release have no `outageSince`, and keep doubling.
  const isSteady = !isLasting && outageSince != null && now - outageSince < thresholds.steadyMs;
  const openForMs = isSteady ? openMs : Math.min(last * 2, thresholds.longestOpenMs);
  // A steady period is never shorter than configured, because that limits how often the receiver is probed.
  const periodMs = isSteady ? Math.round(openMs * (1 + 0.2 * random())) : jitter(openForMs, random);
  return { openForMs, periodMs: Math.min(periodMs, thresholds.longestOpenMs) };
}

function close(breaker: Breaker, reason: BreakerReason, now: number): Breaker {
  return {
    ...enter(breaker, 'closed', reason, now),
    failures: 0,
    openForMs: null,
    pausedUntil: null,
    slowStart: { limit: 1, successes: 0 },
    window: [],
  };
}

function enter(breaker: Breaker, state: BreakerState, reason: BreakerReason, now: number): Breaker {
  return {
    ...breaker,
    state,
    generation: breaker.generation + 1,
    since: now,
    reason,
    successes: 0,
    openUntil: null,
    slowStart: null,
    transitions: remember(breaker.transitions, { at: now, from: breaker.state, to: state, reason }),
  };
}

/**
 * Adds a transition. Of several failed probes in a row only the last one stays, so that the cause of an outage does.
 */
function remember(transitions: Breaker['transitions'], next: Breaker['transitions'][number]): Breaker['transitions'] {
  const [began, before] = transitions;
  const repeats = next.reason === 'probe_failed' && before?.reason === 'probe_failed' && began !== undefined;
  return (repeats ? [next, began, ...transitions.slice(3)] : [next, ...transitions]).slice(0, TRANSITIONS_KEPT);
}

function withError(breaker: Breaker, { class: kind, status, message }: Outcome, now: number): Breaker {
  return { ...breaker, lastError: { class: kind, status, message, at: now } };
}
