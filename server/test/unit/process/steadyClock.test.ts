import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createIds, timeOfId } from '../../../src/ids.ts';
import { SteadyClock } from '../../../src/steadyClock.ts';
import { createFakeClock } from '../../support/fakeClock.ts';

const HOUR_MS = 3_600_000;
const NOW = Date.UTC(2026, 5, 1);

describe('steady time', () => {
  it('passes like the clock, and ignores clock changes', () => {
    const clock = createFakeClock(NOW);
    const steady = new SteadyClock(clock, NOW);
    clock.set(NOW - HOUR_MS);
    assert.equal(steady.now(), NOW);
    clock.skip(5);
    clock.set(NOW + HOUR_MS);
    assert.equal(steady.now(), NOW + 5);
    assert.equal(steady.toWall(NOW + 1005), NOW + HOUR_MS + 1000);
    assert.equal(steady.fromWall(NOW + HOUR_MS + 1000), NOW + 1005);
  });

  it('advances to a later time of others, but not to an earlier one', () => {
    const steady = new SteadyClock(createFakeClock(NOW), NOW);
    steady.advanceTo(NOW + 10);
    steady.advanceTo(NOW - 10);
    assert.equal(steady.now(), NOW + 10);
  });

  it('is the time in ids', () => {
    const newId = createIds(new SteadyClock(createFakeClock(0), NOW));
    assert.equal(timeOfId(newId('evt')), NOW);
    assert.deepEqual(['', 'evt_', 'evt_x', 'evt_01JD3V0Z5w8'].map(timeOfId), [0, 0, 0, 0]);
  });
});
