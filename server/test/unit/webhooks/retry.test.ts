import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { OutcomeClass } from '../../../src/db/tables/webhooks.ts';
import { type Outcome, outcomeClasses } from '../../../src/webhooks/queue/outcome.ts';
import { decide, jitter, parseRetryAfter, type RetryPolicy, type Verdict } from '../../../src/webhooks/queue/retry.ts';

const NOW = Date.UTC(2026, 0, 1);
const policy: RetryPolicy = { stepsMs: [5000, 60_000], random: () => 0.5 };

function outcome(kind: OutcomeClass, retryAfterMs: number | null = null): Outcome {
  return { class: kind, status: null, durationMs: 1, message: kind, response: null, retryAfterMs };
}
const pending = (inMs: number, steps: number): Verdict => ({ state: 'pending', dueAt: NOW + inMs, steps });

describe('the verdict on an attempt', () => {
  it('follows from its outcome and the number of retries used', () => {
    const failed: Verdict = { state: 'failed' };
    const cases: [outcome: Outcome, steps: number, verdict: Verdict][] = [
      [outcome('ok'), 0, { state: 'delivered' }],
      [outcome('ok'), 2, { state: 'delivered' }],
      // Each failure uses one retry until none is left.
      [outcome('timeout'), 0, pending(5000, 1)],
      [outcome('timeout'), 1, pending(60_000, 2)],
      [outcome('timeout'), 2, failed],
      [outcome('client_error'), 2, failed],
      [outcome('unknown_outcome'), 0, pending(5000, 1)],
      // A 5xx may have Retry-After, and still uses a retry.
      [outcome('server_error', 7000), 0, pending(7000, 1)],
      [outcome('server_error', 7000), 2, failed],
      [outcome('client_error', 7000), 0, pending(5000, 1)],
      // 429 uses none.
      [outcome('throttled', 7000), 1, pending(7000, 1)],
      [outcome('throttled'), 0, pending(30_000, 0)],
      [outcome('throttled'), 2, pending(30_000, 2)],
      // The server had no free socket, which says nothing about the receiver.
      [outcome('no_socket'), 0, pending(5000, 0)],
      [outcome('no_socket'), 2, pending(5000, 2)],
      // Waits behind the breaker.
      [outcome('gone'), 2, pending(0, 2)],
      [outcome('blocked_address'), 2, pending(0, 2)],
    ];
    for (const [attempt, steps, verdict] of cases)
      assert.deepEqual(decide(attempt, steps, false, NOW, policy), verdict, `${attempt.class} after ${steps} steps`);
  });

  it('leaves the retry schedule unchanged after a probe', () => {
    for (const kind of ['timeout', 'server_error', 'gone'] as const)
      assert.deepEqual(decide(outcome(kind), 2, true, NOW, policy), pending(0, 2), kind);
    assert.deepEqual(decide(outcome('ok'), 2, true, NOW, policy), { state: 'delivered' });
    assert.deepEqual(decide(outcome('throttled', 4000), 1, true, NOW, policy), pending(4000, 1));
    assert.deepEqual(decide(outcome('no_socket'), 1, true, NOW, policy), pending(5000, 1));
  });

  it('is failed immediately without a schedule', () => {
    assert.deepEqual(decide(outcome('reset'), 0, false, NOW, { ...policy, stepsMs: [] }), { state: 'failed' });
  });

  it('is never due in the past, and uses at most one retry', () => {
    const kinds = fc.constantFrom(...(Object.keys(outcomeClasses) as OutcomeClass[]));
    const retryAfter = fc.option(fc.integer({ min: 1000, max: 3_600_000 }));
    const random = fc.double({ min: 0, max: 1, noNaN: true });
    fc.assert(
      fc.property(kinds, retryAfter, fc.nat(4), fc.boolean(), random, (kind, afterMs, steps, isProbe, number) => {
        const verdict = decide(outcome(kind, afterMs), steps, isProbe, NOW, { ...policy, random: () => number });
        assert.equal(verdict.state === 'delivered', kind === 'ok');
        if (verdict.state === 'failed') assert.ok(steps >= policy.stepsMs.length && !isProbe);
        if (verdict.state !== 'pending') return;
        assert.ok(verdict.dueAt >= NOW);
        assert.ok(verdict.steps === steps || verdict.steps === steps + 1);
      }),
    );
  });
});

describe('jitter', () => {
  it('varies a duration by 20 % in either direction', () => {
    assert.deepEqual(
      [0, 0.5, 1].map((random) => jitter(1000, () => random)),
      [800, 1000, 1200],
    );
  });
});

describe('Retry-After', () => {
  it('is clamped between one second and one hour, and ignored if invalid', () => {
    const cases: [value: string | undefined, ms: number | null][] = [
      ['0', 1000],
      [' 120 ', 120_000],
      ['3600', 3_600_000],
      ['999999', 3_600_000],
      ['9'.repeat(400), 3_600_000],
      ['Thu, 01 Jan 2026 00:00:30 GMT', 30_000],
      ['Thursday, 01-Jan-26 00:00:30 GMT', 30_000],
      ['Wed, 31 Dec 2025 00:00:00 GMT', 1000],
      ['', null],
      ['soon', null],
      ['-5', null],
      ['1.5', null],
      ['2026-01-01T00:00:30Z', null],
      [undefined, null],
    ];
    for (const [value, ms] of cases) assert.equal(parseRetryAfter(value, NOW), ms, `${value}`);
  });
});
