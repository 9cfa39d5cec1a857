import assert from 'node:assert/strict';
import { it } from 'node:test';
import { HeldReceipts } from '../../../src/connectors/whatsapp/inbound/heldReceipts.ts';
import { createFakeClock } from '../../support/fakeClock.ts';

function setting() {
  const clock = createFakeClock(0);
  const held = new HeldReceipts(clock);
  /** The results that waiting callers have received so far. */
  const reported: boolean[] = [];
  const wait = (id: string) => void held.whenSettled(id).then((isSettled) => reported.push(isSettled));
  return { clock, held, reported, wait };
}

it('holds receipts of a received message only until it is stored', async () => {
  const { clock, held, reported, wait } = setting();
  held.expect('A');
  assert.deepEqual([held.isHeld('A'), held.isHeld('B')], [true, false]);
  wait('A');
  wait('B');
  await clock.advance(1000);
  assert.deepEqual(reported, [true], 'only B');
  held.settle('A');
  await clock.advance(0);
  assert.deepEqual(reported, [true, true]);
  assert.equal(held.isHeld('A'), false);
});

it('stops waiting for an unreadable message after 30 s, but waits for the file of a readable one', async () => {
  const { clock, held, reported, wait } = setting();
  held.expect('unread');
  held.expect('read');
  held.keep('read');
  wait('unread');
  wait('read');
  await clock.advance(29_000);
  assert.deepEqual(reported, []);
  await clock.advance(2000);
  assert.deepEqual(reported, [true]);
  // Sent again, it is still pending.
  held.expect('read');
  await clock.advance(3600_000);
  assert.deepEqual(reported, [true]);
  held.settle('read');
  await clock.advance(0);
  assert.deepEqual(reported, [true, true]);
});

it('reports at the end that the message was not stored, so that the network resends the receipt', async () => {
  const { clock, held, reported, wait } = setting();
  held.expect('A');
  wait('A');
  held.stop();
  await clock.advance(0);
  assert.deepEqual(reported, [false]);
});
