import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { describe, it } from 'node:test';
import { queryable } from '../../../src/db/dialect.ts';
import { sqlite } from '../../../src/db/sqlite/sqlite.ts';
import type { Dispatcher } from '../../../src/sending/dispatcher.ts';
import { SendQueue } from '../../../src/sending/queue.ts';
import type { SenderOptions } from '../../../src/sending/senderOptions.ts';
import { createFakeClock } from '../../support/fakeClock.ts';

const session = { accountId: 'acc', sessionId: 'ses' };

describe('the queue of a session', () => {
  it('looks again when it is woken after its last check, before it has ended', async () => {
    let looks = 0;
    const reader = queryable(sqlite, {
      query: async (text) => {
        if (text.includes('group by')) looks++;
        return { rows: [], changed: 0 };
      },
    });
    const clock = createFakeClock();
    let isChecked = () => {};
    const isOpen = () => {
      isChecked();
      return true;
    };
    const live = { find: () => ({ ...session, isOpen }) };
    const cluster = { signals: new EventEmitter() };
    const options = { clock, live, cluster, database: { reader, longReader: reader } };
    const queue = new SendQueue(options as unknown as SenderOptions, {} as Dispatcher);
    queue.start();
    queue.wake(session);
    // The next check is the last step of the run before it ends. The wake-up comes as soon as that has passed.
    isChecked = () => {
      isChecked = () => {};
      queueMicrotask(() => queue.wake(session));
    };
    await clock.advance(0);
    await clock.advance(0);
    assert.equal(looks, 2);
    queue.stop();
  });
});
