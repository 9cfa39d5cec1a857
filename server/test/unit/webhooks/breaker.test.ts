import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { OutcomeClass } from '../../../src/db/tables/webhooks.ts';
import {
  type Breaker,
  type BreakerPolicy,
  beginProbe,
  clampToClock,
  newBreaker,
  onOutcome,
  onTestSuccess,
  permit,
  reset,
  thresholds,
} from '../../../src/webhooks/queue/breaker.ts';
import { type Outcome, outcomeClasses } from '../../../src/webhooks/queue/outcome.ts';

const T0 = Date.UTC(2026, 0, 1);
const MAX_IN_FLIGHT = 8;
const policy: BreakerPolicy = { openMs: 30_000, random: () => 0.5 };
const MINUTE_MS = 60_000;

function outcome(kind: OutcomeClass, more: Partial<Outcome> = {}): Outcome {
  return { class: kind, status: null, durationMs: 1, message: kind, response: null, retryAfterMs: null, ...more };
}

/** Records outcomes of attempts that began in the current generation of the breaker. */
function feed(breaker: Breaker, kinds: readonly OutcomeClass[], now = T0, more: Partial<Outcome> = {}): Breaker {
  return kinds.reduce(
    (state, kind) => onOutcome(state, outcome(kind, more), state.generation, MAX_IN_FLIGHT, now, policy),
    breaker,
  );
}

const times = (n: number, kind: OutcomeClass): OutcomeClass[] => Array.from({ length: n }, () => kind);
const opened = () => feed(newBreaker(T0), times(5, 'server_error'));
const halfOpen = () => beginProbe(opened(), T0 + 30_000);

describe('a closed breaker', () => {
  it('allows the maximum in flight', () => {
    assert.deepEqual(permit(newBreaker(T0), MAX_IN_FLIGHT, T0), { kind: 'go', limit: 8 });
  });

  it('stays closed after four failures in a row and opens for 30 s after the fifth', () => {
    assert.equal(feed(newBreaker(T0), times(4, 'timeout')).state, 'closed');
    const breaker = feed(newBreaker(T0), times(5, 'timeout'));
    assert.equal(breaker.state, 'open');
    assert.equal(breaker.reason, 'failures_in_a_row');
    assert.equal(breaker.openUntil, T0 + 30_000);
  });

  it('resets its failure count after a success', () => {
    const breaker = feed(newBreaker(T0), [...times(4, 'reset'), 'ok', ...times(4, 'reset')]);
    assert.equal(breaker.state, 'closed');
    assert.equal(breaker.failures, 4);
  });

  it('opens if half of at least 20 attempts within 60 s failed, though never five in a row', () => {
    const nineteen = Array.from({ length: 19 }, (_, n): OutcomeClass => (n % 2 === 0 ? 'dns' : 'ok'));
    const before = feed(newBreaker(T0), nineteen);
    assert.equal(before.state, 'closed');
    const breaker = feed(before, ['dns']);
    assert.equal(breaker.state, 'open');
    assert.equal(breaker.reason, 'failure_rate');
  });

  it('counts on in the present if the clock was ahead before', () => {
    const window = [
      { at: T0, attempts: 19, failures: 9 },
      { at: T0 + MINUTE_MS, attempts: 1, failures: 0 },
    ];
    const breaker = feed({ ...newBreaker(T0), window }, ['dns']);
    assert.equal(breaker.reason, 'failure_rate');
  });

  it('ignores attempts older than 60 s', () => {
    const nineteen = Array.from({ length: 19 }, (_, n): OutcomeClass => (n % 2 === 0 ? 'dns' : 'ok'));
    const breaker = feed(feed(newBreaker(T0), nineteen), ['dns'], T0 + 71_000);
    assert.equal(breaker.state, 'closed');
  });

  it('opens immediately on 410 and on a forbidden address', () => {
    assert.equal(feed(newBreaker(T0), ['gone']).reason, 'gone');
    assert.equal(feed(newBreaker(T0), ['blocked_address']).reason, 'invalid_target');
    assert.equal(feed(newBreaker(T0), ['gone']).state, 'open');
  });

  it('does not count 429 and unknown outcomes as failures, but pauses as long as Retry-After says', () => {
    const breaker = feed(newBreaker(T0), times(50, 'throttled'), T0, { retryAfterMs: 4000 });
    assert.equal(breaker.state, 'closed');
    assert.deepEqual(permit(breaker, MAX_IN_FLIGHT, T0), { kind: 'wait', until: T0 + 4000 });
    assert.deepEqual(permit(breaker, MAX_IN_FLIGHT, T0 + 4000), { kind: 'go', limit: 8 });
    assert.equal(feed(newBreaker(T0), times(50, 'unknown_outcome')).state, 'closed');
  });

  it('opens on every outcome class marked as a failure', () => {
    for (const [kind, { breaker }] of Object.entries(outcomeClasses)) {
      const after = feed(newBreaker(T0), times(5, kind as OutcomeClass));
      assert.equal(after.state === 'open', breaker === 'failure' || breaker === 'opens', kind);
    }
  });
});

describe('an open breaker', () => {
  it('allows nothing before its period ends, then requests a probe', () => {
    assert.deepEqual(permit(opened(), MAX_IN_FLIGHT, T0 + 29_999), { kind: 'wait', until: T0 + 30_000 });
    assert.deepEqual(permit(opened(), MAX_IN_FLIGHT, T0 + 30_000), { kind: 'probe_due' });
  });

  it('becomes half-open when the probe begins', () => {
    assert.equal(halfOpen().state, 'half_open');
    assert.equal(halfOpen().generation, opened().generation + 1);
  });

  it('becomes half-open after a successful test delivery', () => {
    const breaker = onTestSuccess(opened(), T0 + 1000);
    assert.equal(breaker.state, 'half_open');
    assert.equal(breaker.reason, 'test_succeeded');
    assert.equal(onTestSuccess(newBreaker(T0), T0).state, 'closed');
  });

  it('ignores outcomes of attempts that began before it opened', () => {
    const breaker = opened();
    const late = onOutcome(breaker, outcome('ok'), breaker.generation - 1, MAX_IN_FLIGHT, T0, policy);
    assert.equal(late, breaker);
  });

  it('waits no longer than its full period when the clock moves back', () => {
    const tenHoursBack = T0 - 36_000_000;
    const breaker = clampToClock(opened(), tenHoursBack);
    assert.ok((breaker.openUntil ?? 0) - tenHoursBack <= 36_000);
    assert.deepEqual(clampToClock(opened(), T0 + 1), opened());
  });
});

describe('a half-open breaker', () => {
  it('allows exactly one delivery at a time', () => {
    assert.deepEqual(permit(halfOpen(), MAX_IN_FLIGHT, T0 + 30_000), { kind: 'go', limit: 1 });
  });

  it('closes after two successes in a row', () => {
    const once = feed(halfOpen(), ['ok'], T0 + 30_000);
    assert.equal(once.state, 'half_open');
    const twice = feed(once, ['ok'], T0 + 30_000);
    assert.equal(twice.state, 'closed');
    assert.equal(twice.reason, 'probes_succeeded');
  });

  /** Lengths of the open periods after failed probes, each sent when it is due. */
  function periodsOf(first: Breaker, count: number, kind: OutcomeClass = 'connect'): number[] {
    const periods: number[] = [];
    let breaker = first;
    for (let round = 0; round < count; round++) {
      const now = breaker.openUntil ?? 0;
      breaker = feed(beginProbe(breaker, now), [kind], now);
      periods.push((breaker.openUntil ?? 0) - now);
    }
    return periods;
  }

  it('opens again on a failure: for as long as before within five minutes, then doubling up to 15 minutes', () => {
    const periods = periodsOf(opened(), 16);
    // Nine probes within five minutes, 33 s apart.
    assert.deepEqual(periods.slice(0, 9), Array(9).fill(33_000));
    assert.deepEqual(periods.slice(9), [60_000, 120_000, 240_000, 480_000, 900_000, 900_000, 900_000]);
  });

  it('doubles the period from the beginning after 410 and a forbidden address', () => {
    for (const kind of ['gone', 'blocked_address'] as const)
      assert.deepEqual(periodsOf(feed(newBreaker(T0), [kind]), 3, kind), [60_000, 120_000, 240_000]);
  });

  it('doubles the period of a breaker that an earlier release opened', () => {
    const { outageSince, ...earlier } = opened();
    assert.equal(outageSince, T0);
    assert.deepEqual(periodsOf(earlier as Breaker, 2), [60_000, 120_000]);
  });

  it('varies the period by up to 20 %, within five minutes only upwards', () => {
    const at = (random: number, now: number) => {
      const drawn = { ...policy, random: () => random };
      const next = onOutcome(halfOpen(), outcome('connect'), halfOpen().generation, MAX_IN_FLIGHT, now, drawn);
      return (next.openUntil ?? 0) - now;
    };
    assert.deepEqual([at(0, T0 + 30_000), at(1, T0 + 30_000)], [30_000, 36_000]);
    assert.deepEqual([at(0, T0 + 5 * MINUTE_MS), at(1, T0 + 5 * MINUTE_MS)], [48_000, 72_000]);
  });

  it('restarts the five minutes once it was closed', () => {
    const closed = feed(halfOpen(), ['ok', 'ok'], T0 + 30_000);
    const reopened = feed(closed, times(5, 'timeout'), T0 + 6 * MINUTE_MS);
    assert.deepEqual(periodsOf(reopened, 2), [33_000, 33_000]);
  });

  it('keeps only the last of several failed probes among the transitions', () => {
    let breaker = opened();
    for (let round = 0; round < 30; round++) {
      const now = breaker.openUntil ?? 0;
      breaker = feed(beginProbe(breaker, now), ['connect'], now);
    }
    assert.deepEqual(
      breaker.transitions.map(({ from, to, reason }) => [from, to, reason]),
      [
        ['half_open', 'open', 'probe_failed'],
        ['open', 'half_open', 'probe_due'],
        ['closed', 'open', 'failures_in_a_row'],
      ],
    );
    assert.equal(breaker.transitions[0]?.at, breaker.since);
  });

  it('restarts from 30 s once it was closed', () => {
    const closed = feed(halfOpen(), ['ok', 'ok'], T0 + 30_000);
    const reopened = feed(closed, times(5, 'timeout'), T0 + 31_000);
    assert.equal(reopened.openUntil, T0 + 61_000);
  });
});

describe('a slow start', () => {
  it('allows 1, 2, 4 in flight after as many successes each, and then the maximum', () => {
    let breaker = feed(halfOpen(), ['ok', 'ok'], T0 + 30_000);
    const limits: number[] = [];
    for (let n = 0; n < 8; n++) {
      const allowed = permit(breaker, MAX_IN_FLIGHT, T0 + 30_000);
      limits.push(allowed.kind === 'go' ? allowed.limit : 0);
      breaker = feed(breaker, ['ok'], T0 + 30_000);
    }
    assert.deepEqual(limits, [1, 2, 2, 4, 4, 4, 4, 8]);
  });

  it('never exceeds the maximum of the webhook', () => {
    const breaker = feed(halfOpen(), ['ok', 'ok', 'ok', 'ok', 'ok'], T0 + 30_000);
    assert.deepEqual(permit(breaker, 3, T0 + 30_000), { kind: 'go', limit: 3 });
  });
});

describe('a reset', () => {
  it('closes from any state with a slow start, and is idempotent', () => {
    for (const breaker of [opened(), halfOpen()]) {
      const closed = reset(breaker, 'reset', T0 + 5000);
      assert.equal(closed.state, 'closed');
      assert.deepEqual(closed.slowStart, { limit: 1, successes: 0 });
      assert.deepEqual(reset(closed, 'reset', T0 + 6000), closed);
    }
  });

  it('ignores late outcomes of earlier attempts', () => {
    const before = opened();
    const closed = reset(before, 'new_url', T0);
    assert.equal(onOutcome(closed, outcome('timeout'), before.generation, MAX_IN_FLIGHT, T0, policy), closed);
  });
});

it('keeps the last 20 transitions, newest first, when stored', () => {
  let breaker = newBreaker(T0);
  for (let n = 0; n < 15; n++) breaker = reset(feed(breaker, ['gone'], T0 + n), 'reset', T0 + n);
  assert.equal(breaker.transitions.length, 20);
  assert.deepEqual(breaker.transitions[0], { at: T0 + 14, from: 'open', to: 'closed', reason: 'reset' });
  assert.deepEqual(JSON.parse(JSON.stringify(breaker)), breaker);
});

it('has the documented thresholds', () => {
  assert.deepEqual(thresholds, {
    failuresInARow: 5,
    windowMs: 60_000,
    windowAttempts: 20,
    windowFailureRate: 0.5,
    successesToClose: 2,
    steadyMs: 300_000,
    longestOpenMs: 900_000,
  });
});

describe('any series of outcomes, probes and resets', () => {
  const change = fc.oneof(
    {
      weight: 6,
      arbitrary: fc
        .record({
          kind: fc.constantFrom(...(Object.keys(outcomeClasses) as OutcomeClass[])),
          isLate: fc.boolean(),
          retryAfterMs: fc.option(fc.integer({ min: 1000, max: 3_600_000 })),
          random: fc.double({ min: 0, max: 1, noNaN: true }),
        })
        .map(({ kind, isLate, retryAfterMs, random }) => (before: Breaker, now: number) => {
          const generation = before.generation - (isLate ? 1 : 0);
          const drawn = { openMs: 30_000, random: () => random };
          const after = onOutcome(before, outcome(kind, { retryAfterMs }), generation, MAX_IN_FLIGHT, now, drawn);
          if (isLate) assert.equal(after, before, 'an attempt of an older generation changes nothing');
          return after;
        }),
    },
    fc.constantFrom(beginProbe, onTestSuccess),
    fc
      .constantFrom<'reset' | 'new_url'>('reset', 'new_url')
      .map((reason) => (before: Breaker, now: number) => reset(before, reason, now)),
  );
  const series = fc.array(fc.record({ change, passesMs: fc.constantFrom(0, 1, 999, 30_000, 900_000) }), {
    maxLength: 40,
  });

  /** Calls `check` after every change. */
  function follow(check: (before: Breaker, after: Breaker, now: number) => void): void {
    fc.assert(
      fc.property(series, (steps) => {
        let breaker = newBreaker(T0);
        let now = T0;
        for (const { change, passesMs } of steps) {
          now += passesMs;
          const before = breaker;
          breaker = change(before, now);
          check(before, breaker, now);
        }
      }),
    );
  }

  it('raises the generation with every state change, and never lowers it', () => {
    follow((before, after) => {
      assert.ok(after.generation >= before.generation);
      if (after.state !== before.state) assert.equal(after.generation, before.generation + 1);
    });
  });

  it('keeps the breaker open for at most 15 minutes', () => {
    follow((_, { state, openUntil }, now) => {
      assert.equal(openUntil !== null, state === 'open');
      assert.ok((openUntil ?? now) <= now + thresholds.longestOpenMs);
    });
  });

  it('allows at least one delivery in flight and never more than the maximum of the webhook', () => {
    follow((_, after, now) => {
      const allowed = permit(after, MAX_IN_FLIGHT, now);
      if (allowed.kind === 'wait') assert.ok(allowed.until > now);
      if (allowed.kind === 'go') assert.ok(allowed.limit >= 1 && allowed.limit <= MAX_IN_FLIGHT);
    });
  });

  it('opens for at least the first period, so that probes of a receiver that is down are as far apart', () => {
    follow((before, { state, openUntil }, now) => {
      if (state === 'open' && before.state === 'half_open') assert.ok((openUntil ?? 0) >= now + policy.openMs);
    });
  });

  it('survives storing and reading unchanged', () => {
    follow((_, after) => assert.deepEqual(JSON.parse(JSON.stringify(after)), after));
  });
});
