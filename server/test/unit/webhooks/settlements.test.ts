import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Condition } from '../../../src/async.ts';
import { systemClock } from '../../../src/clock.ts';
import type { Database } from '../../../src/db/database.ts';
import { type Ended, Settlements } from '../../../src/webhooks/lanes/settlements.ts';

/** Settlements whose database stores what can wait only with other work. */
function setUp() {
  const changed = new Condition();
  const stored: { count: number; canWait: boolean }[] = [];
  const joining: (() => void)[] = [];
  const lane = { isStopped: false, isUrgent: false };
  let commits = 0;
  const database = {
    commit: async () => {
      commits++;
      for (const join of joining.splice(0)) join();
    },
  } as unknown as Database;
  const settlements = new Settlements({
    database,
    clock: systemClock,
    steady: { now: () => 0 } as never,
    changed,
    isStopped: () => lane.isStopped,
    isAbandoned: () => false,
    canWait: (batch) => batch.every(({ state }) => state === 'delivered'),
    isUrgent: () => lane.isUrgent,
    store: async (batch, canWait = false) => {
      if (canWait) {
        const joined = new Promise<void>((resolve) => joining.push(resolve));
        changed.notify();
        await joined;
      }
      stored.push({ count: batch.length, canWait });
      changed.notify();
    },
    onGivenUp: () => {},
    report: (error) => assert.fail(String(error)),
    onIdle: () => {},
  });
  const end = (state: Ended['state'] = 'delivered') => settlements.add({ state } as Ended);
  const isJoining = () => changed.until(() => joining.length > 0);
  const areStored = (count: number) =>
    changed.until(() => stored.reduce((sum, batch) => sum + batch.count, 0) === count);
  return { settlements, lane, changed, stored, end, isJoining, areStored, commits: () => commits };
}

describe('settlements', () => {
  it('wait for the next transaction, and start none for one delivery', async () => {
    const { end, isJoining, stored, commits } = setUp();
    end();
    await isJoining();
    assert.deepEqual([stored, commits()], [[], 0]);
  });

  it('start a transaction when a reader waits for them', async () => {
    const { settlements, end, isJoining, stored, commits } = setUp();
    end();
    await isJoining();
    await settlements.flush();
    assert.deepEqual([stored, commits()], [[{ count: 1, canWait: true }], 1]);
  });

  it('start a transaction when 64 wait', async () => {
    const { end, isJoining, areStored, commits } = setUp();
    end();
    await isJoining();
    for (let n = 0; n < 62; n++) end();
    assert.equal(commits(), 0);
    end();
    await areStored(1);
    assert.equal(commits(), 1);
  });

  it('start a transaction when one of them must not wait', async () => {
    const { end, isJoining, areStored, stored } = setUp();
    end();
    await isJoining();
    end('pending');
    await areStored(2);
    assert.deepEqual(stored.at(-1), { count: 1, canWait: false });
  });

  for (const reason of ['isStopped', 'isUrgent'] as const)
    it(`start a transaction when the lane ${reason === 'isStopped' ? 'stops' : 'reads its webhook again'}`, async () => {
      const { end, isJoining, areStored, lane, changed } = setUp();
      end();
      await isJoining();
      lane[reason] = true;
      changed.notify();
      await areStored(1);
    });
});
