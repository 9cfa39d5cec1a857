import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Pacing } from '../../../src/connectors/whatsapp-cloud/outbound/pacing.ts';
import { createFakeClock } from '../../support/fakeClock.ts';

const FRIEND = '491701111111';
const OTHER = '491702222222';

function setting(perSecond: number) {
  const clock = createFakeClock();
  const pacing = new Pacing(perSecond, clock, new AbortController().signal);
  const begun = clock.elapsed();
  /** When each message was sent, in ms from the start, or its error. */
  const sent: (number | string)[] = [];
  const send = (recipient: string, withinMs = 10_000) =>
    void pacing.turn(recipient, clock.elapsed() + withinMs).then(
      () => sent.push(clock.elapsed() - begun),
      ({ code, retryAfterSeconds }) => sent.push(`${code} ${retryAfterSeconds}`),
    );
  return { clock, pacing, sent, send };
}

describe('the pacing of a Cloud API number', () => {
  it('lets a burst out immediately and the rest at its rate', async () => {
    const { clock, sent, send } = setting(2);
    for (const n of ['1', '2', '3', '4']) send(n);
    await clock.advance(0);
    await clock.advance(5000);
    assert.deepEqual(sent, [0, 0, 500, 1000]);
  });

  it('lets 45 messages to one recipient out immediately, then one every 6 s', async () => {
    const { clock, sent, send } = setting(1000);
    for (let n = 0; n < 47; n++) send(FRIEND);
    send(OTHER);
    await clock.advance(0);
    assert.equal(sent.filter((at) => at === 0).length, 46);
    assert.ok(sent.includes('rate_limited 12'));
    await clock.advance(6000);
    assert.equal(sent.at(-1), 6000);
  });

  it('rejects a message that would be late, without using its slot', async () => {
    const { clock, sent, send } = setting(1);
    send('1');
    send('2', 999);
    send('3', 1000);
    await clock.advance(0);
    await clock.advance(5000);
    assert.deepEqual(sent, [0, 'rate_limited 1', 1000]);
  });

  it('pauses one recipient or all at the request of the network', async () => {
    const { clock, pacing, sent, send } = setting(10);
    pacing.hold(FRIEND, 3000);
    send(FRIEND);
    send(OTHER);
    await clock.advance(0);
    await clock.advance(3000);
    assert.deepEqual(sent, [0, 3000]);
    pacing.hold(null, 2000);
    send(OTHER);
    await clock.advance(0);
    await clock.advance(2000);
    assert.deepEqual(sent, [0, 3000, 5000]);
  });

  it('ignores clock changes', async () => {
    const { clock, sent, send } = setting(1);
    send('1');
    await clock.advance(0);
    clock.set(clock.now() - 3_600_000);
    send('2');
    await clock.advance(0);
    clock.set(clock.now() + 7_200_000);
    send('3');
    await clock.advance(0);
    await clock.advance(5000);
    assert.deepEqual(sent, [0, 1000, 2000]);
  });
});
