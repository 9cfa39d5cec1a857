import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { SessionStore } from '../../../src/connectors/contract/host.ts';
import { Pacing, type PacingOptions } from '../../../src/connectors/whatsapp/outbound/pacing.ts';
import { createFakeClock } from '../../support/fakeClock.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** The part of a session's store that pacing uses. */
function memoryStore(): SessionStore {
  const values = new Map<string, string>();
  const unused = () => assert.fail('pacing does not use it');
  return {
    get: async (key) => values.get(key),
    set: async (key, value) => void values.set(key, value),
    getMany: unused,
    list: unused,
    write: unused,
    delete: unused,
    clear: unused,
  };
}

function setting(
  { pauseMs = 1000, newChatsPerDay = 2, warmUp = false }: Partial<PacingOptions> = {},
  random = () => 0.5,
) {
  const clock = createFakeClock();
  const store = memoryStore();
  const pacing = new Pacing({ pauseMs, newChatsPerDay, warmUp }, { clock, random, store });
  const begun = clock.elapsed();
  /** When each message was sent, in ms from the start, or its error. */
  const sent: (number | string)[] = [];
  const send = () =>
    void pacing.wait().then(
      () => sent.push(clock.elapsed() - begun),
      ({ code, retryAfterSeconds }) => sent.push(`${code} ${retryAfterSeconds}`),
    );
  return { clock, store, pacing, sent, send };
}

describe('the pause between messages', () => {
  it('lets the first message out immediately and spaces the others', async () => {
    const { clock, sent, send } = setting();
    for (let n = 0; n < 4; n++) send();
    await clock.advance(0);
    assert.deepEqual(sent, [0]);
    await clock.advance(999);
    assert.deepEqual(sent, [0]);
    await clock.advance(10_000);
    assert.deepEqual(sent, [0, 1000, 2000, 3000]);
  });

  it('does not accumulate while nothing is sent', async () => {
    const { clock, sent, send } = setting();
    await clock.advance(60_000);
    for (let n = 0; n < 3; n++) send();
    await clock.advance(0);
    await clock.advance(10_000);
    assert.deepEqual(sent, [60_000, 61_000, 62_000]);
  });

  it('varies between half and one and a half times the average', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.double({ min: 0, max: 0.999, noNaN: true }), { minLength: 8 }), async (numbers) => {
        let next = 0;
        const { clock, sent, send } = setting({}, () => numbers[next++ % numbers.length] ?? 0);
        for (let n = 0; n < 6; n++) send();
        await clock.advance(0);
        await clock.advance(10_000);
        const times = sent.map(Number);
        for (const [index, at] of times.entries()) {
          const pause = at - (times[index - 1] ?? at - 1000);
          assert.ok(pause > 499.999 && pause < 1500.001, `${pause}`);
        }
        assert.equal(times.length, 6);
      }),
      { numRuns: 20 },
    );
  });

  it('can be disabled', async () => {
    const { clock, sent, send } = setting({ pauseMs: 0 });
    for (let n = 0; n < 50; n++) send();
    await clock.advance(0);
    assert.deepEqual(sent, Array(50).fill(0));
  });

  it('rejects a message that would wait longer than 15 s, without delaying others', async () => {
    const { clock, sent, send } = setting({ pauseMs: 10_000 });
    for (let n = 0; n < 4; n++) send();
    await clock.advance(0);
    assert.deepEqual(sent, [0, 'rate_limited 5', 'rate_limited 5']);
    await clock.advance(5000);
    send();
    await clock.advance(15_000);
    assert.deepEqual(sent.slice(3), [10_000, 20_000]);
  });

  it('is not used up by messages that the warm-up refuses', async () => {
    const { clock, pacing, sent, send } = setting({ warmUp: true });
    await pacing.budget.start();
    for (let n = 0; n < 50; n++) {
      send();
      await clock.advance(1000);
    }
    assert.equal(sent.length, 50);
    for (let n = 0; n < 20; n++) send();
    await clock.advance(0);
    assert.deepEqual(sent.slice(50), Array(20).fill(`rate_limited ${24 * 3600 - 50}`));
    assert.equal(pacing.excessMs(), 0);
  });

  it('ignores clock changes', async () => {
    const { clock, sent, send } = setting();
    send();
    await clock.advance(0);
    clock.set(clock.now() - HOUR_MS);
    send();
    await clock.advance(1000);
    clock.set(clock.now() + 2 * HOUR_MS);
    send();
    await clock.advance(999);
    assert.deepEqual(sent, [0, 1000]);
    await clock.advance(1);
    assert.deepEqual(sent, [0, 1000, 2000]);
  });
});

describe('the limit of new chats', () => {
  it('counts chats of the last 24 hours', async () => {
    const { clock, pacing } = setting();
    await pacing.beginChat();
    await clock.advance(HOUR_MS);
    await pacing.beginChat();
    await assert.rejects(pacing.beginChat(), { code: 'rate_limited', retryAfterSeconds: 23 * 3600 });
    await clock.advance(23 * HOUR_MS - 1);
    await assert.rejects(pacing.beginChat(), { code: 'rate_limited', retryAfterSeconds: 1 });
    await clock.advance(1);
    await pacing.beginChat();
    await assert.rejects(pacing.beginChat(), { retryAfterSeconds: 3600 });
  });

  it('applies to chats that begin concurrently', async () => {
    const { pacing } = setting();
    const results = await Promise.allSettled(Array.from({ length: 5 }, () => pacing.beginChat()));
    assert.deepEqual(
      results.map(({ status }) => status),
      ['fulfilled', 'fulfilled', 'rejected', 'rejected', 'rejected'],
    );
  });

  it('applies after a restart', async () => {
    const { clock, store, pacing } = setting();
    await Promise.all([pacing.beginChat(), pacing.beginChat()]);
    const random = () => 0.5;
    const again = new Pacing({ pauseMs: 0, newChatsPerDay: 2 }, { clock, random, store });
    await assert.rejects(again.beginChat(), { code: 'rate_limited' });
    await clock.advance(DAY_MS);
    await again.beginChat();
  });

  it('allows no new chats if it is 0', async () => {
    const { pacing } = setting({ newChatsPerDay: 0 });
    await assert.rejects(pacing.beginChat(), { code: 'rate_limited', retryAfterSeconds: 24 * 3600 });
  });

  it('does not count a chat that could not be stored', async () => {
    const { store, pacing } = setting({ newChatsPerDay: 1 });
    const { set } = store;
    store.set = () => Promise.reject(new Error('disk full'));
    await assert.rejects(pacing.beginChat(), /disk full/);
    store.set = set;
    await pacing.beginChat();
    await assert.rejects(pacing.beginChat(), { code: 'rate_limited' });
  });
});
