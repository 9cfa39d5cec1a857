import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { EventLog } from '../../../src/webhooks/log/eventLog.ts';
import { EventTail } from '../../../src/webhooks/log/eventTail.ts';
import { Feed } from '../../../src/webhooks/log/feed.ts';
import { BEGINNING } from '../../../src/webhooks/log/logEpochs.ts';
import { createFakeClock } from '../../support/fakeClock.ts';

it('the tail of an empty log wakes its readers once it is known, even if the first reads fail', async () => {
  const clock = createFakeClock();
  let reads = 0;
  const eventLog = {
    latest: async () => BEGINNING,
    read: async () => {
      if (reads++ < 2) throw new Error('the database is away');
      return [];
    },
  } as unknown as EventLog; // the parts that a tail uses
  const tail = new EventTail('acc_1', {
    eventLog,
    feed: new Feed(clock),
    clock,
    addFields: async (_, events) => [...events],
  });
  let isAwake = false;
  const next = tail.next(3_600_000, new AbortController().signal).then(() => {
    isAwake = true;
  });
  tail.start();
  await clock.advance(1000);
  assert.deepEqual([isAwake, tail.floor], [false, undefined]);
  await clock.advance(1000);
  await next;
  assert.equal(tail.floor, BEGINNING);
  tail.stop();
});
