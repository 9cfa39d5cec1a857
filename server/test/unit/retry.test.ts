import assert from 'node:assert/strict';
import { it } from 'node:test';
import { decide, parseRetryAfter } from '../../src/webhooks/retry.ts';

it('an attempt for which there was no socket uses up no retry and soon goes out again', () => {
  const outcome = {
    class: 'no_socket',
    status: null,
    durationMs: 0,
    message: '',
    response: null,
    retryAfterMs: null,
  } as const;
  const policy = { stepsMs: [60_000], random: () => 0.5 };
  assert.deepEqual(decide(outcome, 0, false, 1000, policy), { state: 'pending', dueAt: 6000, steps: 0 });
  // Also when its schedule is used up.
  assert.deepEqual(decide(outcome, 1, false, 1000, policy), { state: 'pending', dueAt: 6000, steps: 1 });
});

it('Retry-After is held between one second and one hour, and nonsense is ignored', () => {
  const now = Date.UTC(2026, 0, 1);
  assert.equal(parseRetryAfter('0', now), 1000);
  assert.equal(parseRetryAfter('120', now), 120_000);
  assert.equal(parseRetryAfter('999999', now), 3_600_000);
  assert.equal(parseRetryAfter('Thu, 01 Jan 2026 00:00:30 GMT', now), 30_000);
  assert.equal(parseRetryAfter('Wed, 31 Dec 2025 00:00:00 GMT', now), 1000);
  assert.equal(parseRetryAfter('soon', now), null);
  assert.equal(parseRetryAfter('-5', now), null);
  assert.equal(parseRetryAfter(undefined, now), null);
});
