import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { OutcomeClass } from '../../../src/db/tables/webhooks.ts';
import { add, count, type Figures, minuteOf, noFigures, percentile } from '../../../src/webhooks/queue/stats.ts';

const outcome = (durationMs: number, kind: OutcomeClass = 'ok') => ({ class: kind, durationMs });
const figuresOf = (durations: readonly number[]): Figures =>
  count(durations.map((ms) => ({ outcome: outcome(ms), state: 'delivered' })));

const durations = fc.array(fc.integer({ min: 0, max: 60_000 }), { maxLength: 60 });

describe('a latency percentile', () => {
  it('is null without attempts', () => {
    assert.equal(percentile(noFigures, 0.5), null);
    assert.equal(percentile({ ...noFigures, latencies: [0, 0, 0] }, 0.5), null);
  });

  it('exceeds the duration at its rank by at most a fifth', () => {
    const hundred = figuresOf(Array.from({ length: 100 }, (_, n) => (n + 1) * 10));
    const cases: [figures: Figures, q: number, ms: number][] = [
      [figuresOf([0]), 0.5, 1],
      [figuresOf([1000]), 0.5, 1024],
      [figuresOf([1000]), 0.99, 1024],
      [figuresOf([1, 1, 1, 8000]), 0.5, 1],
      [figuresOf([1, 1, 1, 8000]), 0.75, 1],
      [figuresOf([1, 1, 1, 8000]), 0.76, 8192],
      [hundred, 0.5, 512],
      [hundred, 0.95, 1024],
      [hundred, 1, 1024],
    ];
    for (const [figures, q, ms] of cases) assert.equal(percentile(figures, q), ms, `${q} of ${figures.latencies}`);
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 60_000 }), { minLength: 1, maxLength: 60 }),
        fc.constantFrom(0.5, 0.95, 0.99),
        (all, q) => {
          const exact = all.toSorted((a, b) => a - b)[Math.ceil(q * all.length) - 1] ?? 0;
          const found = percentile(figuresOf(all), q) ?? 0;
          assert.ok(found >= exact && found <= Math.ceil(exact * 2 ** 0.25), `${found} for ${exact}`);
        },
      ),
    );
  });

  it('grows with the rank', () => {
    fc.assert(
      fc.property(durations, (all) => {
        const found = [0.1, 0.5, 0.95, 0.99, 1].map((q) => percentile(figuresOf(all), q) ?? 0);
        assert.deepEqual(
          found,
          found.toSorted((a, b) => a - b),
        );
      }),
    );
  });
});

describe('delivery statistics', () => {
  it('count an attempt by class, and a delivery only by its final state', () => {
    const first = { outcome: outcome(1, 'timeout'), state: 'pending' } as const;
    assert.deepEqual(count([first]), { classes: { timeout: 1 }, states: {}, latencies: [1] });
    const second = { outcome: outcome(1, 'timeout'), state: 'failed' } as const;
    assert.deepEqual(count([first, second]), { classes: { timeout: 2 }, states: { failed: 1 }, latencies: [2] });
    assert.deepEqual(count([]), noFigures);
  });

  it('of two minutes add up', () => {
    fc.assert(
      fc.property(durations, durations, (one, other) => {
        assert.deepEqual(add(figuresOf(one), figuresOf(other)), figuresOf([...one, ...other]));
      }),
    );
  });

  it('assign an attempt to the minute in which it began', () => {
    assert.deepEqual([0, 59_999, 60_000, 119_999].map(minuteOf), [0, 0, 60_000, 60_000]);
  });
});
