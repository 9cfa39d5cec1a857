import assert from 'node:assert/strict';
import { it } from 'node:test';
import { AccountTime } from '../../../src/media/conversion/accountTime.ts';

it('drains used time steadily over ten minutes', () => {
  let now = 1000;
  const time = new AccountTime(60_000, () => now);
  assert.deepEqual([time.usedBy('a'), time.waitMs('a')], [0, 0]);
  time.add('a', 60_000);
  assert.deepEqual([time.usedBy('a'), time.waitMs('a'), time.waitMs('b')], [60_000, 1000, 0]);
  now += 300_000;
  assert.deepEqual([time.usedBy('a'), time.waitMs('a')], [30_000, 0]);
  time.add('a', 40_000);
  assert.equal(time.waitMs('a'), 101_000);
  now += 700_000;
  assert.equal(time.usedBy('a'), 0);
});

it('refuses no account without a budget, and still orders them', () => {
  const time = new AccountTime(Number.POSITIVE_INFINITY, () => 0);
  time.add('a', 1e9);
  assert.equal(time.waitMs('a'), 0);
  assert.ok(time.usedBy('a') > time.usedBy('b'));
});
