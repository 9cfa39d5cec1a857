import assert from 'node:assert/strict';
import { it } from 'node:test';
import { IdleLanes } from '../../../src/webhooks/lanes/idleLanes.ts';
import { createFakeClock } from '../../support/fakeClock.ts';

it('drops a lane 15 s after it became idle last', async () => {
  const clock = createFakeClock();
  const dropped: string[] = [];
  const lanes = new IdleLanes<string>(clock, (lane) => dropped.push(lane));
  lanes.add('a');
  await clock.advance(10_000);
  lanes.add('b');
  lanes.add('c');
  lanes.add('a');
  await clock.advance(14_000);
  lanes.expire();
  assert.deepEqual(dropped, []);
  lanes.add('b');
  await clock.advance(1001);
  lanes.expire();
  assert.deepEqual(dropped, ['c', 'a']);
  await clock.advance(15_000);
  lanes.expire();
  lanes.expire();
  assert.deepEqual(dropped, ['c', 'a', 'b']);
});

it('drops the lane that is idle for the longest time beyond 128', () => {
  const clock = createFakeClock();
  const dropped: number[] = [];
  const lanes = new IdleLanes<number>(clock, (lane) => dropped.push(lane));
  for (let n = 0; n < 128; n++) lanes.add(n);
  lanes.add(0);
  assert.deepEqual(dropped, []);
  lanes.add(128);
  lanes.add(129);
  assert.deepEqual(dropped, [1, 2]);
});

it('forgets lanes without dropping them when the leases are lost', async () => {
  const clock = createFakeClock();
  const dropped: string[] = [];
  const lanes = new IdleLanes<string>(clock, (lane) => dropped.push(lane));
  lanes.add('a');
  lanes.clear();
  await clock.advance(20_000);
  lanes.expire();
  assert.deepEqual(dropped, []);
});
