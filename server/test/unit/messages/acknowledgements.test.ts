import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { AppError } from '../../../src/errors.ts';
import type { Inbox } from '../../../src/messages/inbox.ts';
import type { Acknowledged, SentMessage } from '../../../src/messages/messages/outgoingProgress.ts';
import { Acknowledgements } from '../../../src/sending/acknowledgements.ts';
import type { SenderOptions } from '../../../src/sending/senderOptions.ts';
import type { LiveSession } from '../../../src/sessions/liveSessions.ts';
import { createFakeClock } from '../../support/fakeClock.ts';

const NOW = 1_000_000;
const session = { isLost: false } as LiveSession;
const message = (id: string, chat = 'ann') => ({ message_id: id, session_id: 'ses', chat_id: chat }) as SentMessage;
const accepted = (networkId: string) => ({ networkId, timestamp: NOW });
const isAway = new AppError('storage_unavailable');

/** @param store what happens to each transaction, instead of being stored */
function setUp(store: (items: readonly Acknowledged[]) => Promise<void> | void) {
  const stored: string[][] = [];
  const time = createFakeClock(NOW);
  const inbox: Pick<Inbox, 'acknowledged' | 'acknowledge'> = {
    acknowledged: (one, answer) => ({ message: one, accepted: answer, trace: null }),
    async acknowledge(items) {
      await store(items);
      stored.push(items.map(({ message: { message_id: id }, accepted: { networkId } }) => `${id}:${networkId}`));
    },
  };
  const log = { error: () => {} };
  const acknowledgements = new Acknowledgements({ inbox, clock: time, log } as unknown as SenderOptions);
  acknowledgements.start();
  return { acknowledgements, stored, time };
}

describe('acknowledgements', () => {
  it('store those that come during a transaction together, in their order', async () => {
    const begun = Promise.withResolvers<void>();
    let isFirst = true;
    const { acknowledgements, stored } = setUp(() => {
      if (!isFirst) return;
      isFirst = false;
      return begun.promise;
    });
    const add = (id: string) => acknowledgements.add(session, message(id), accepted(id));
    const all = [add('1')];
    await setImmediate(); // its transaction has begun
    all.push(add('2'), add('3'));
    const other = acknowledgements.add(session, message('4', 'ben'), accepted('4'));
    await other;
    begun.resolve();
    await Promise.all(all);
    assert.deepEqual(stored, [['4:4'], ['1:1'], ['2:2', '3:3']]);
    assert.equal(acknowledgements.isWaiting('1'), false);
  });

  it('repeat what an unavailable database has not stored, before later ones of the chat', async () => {
    let isDown = true;
    const { acknowledgements, stored, time } = setUp(() => {
      if (isDown) throw isAway;
    });
    await assert.rejects(acknowledgements.add(session, message('1'), accepted('1')), isAway);
    await assert.rejects(acknowledgements.add(session, message('2'), accepted('2')), isAway);
    assert.equal(acknowledgements.isWaiting('1'), true);
    isDown = false;
    await acknowledgements.add(session, message('3'), accepted('3'));
    assert.deepEqual(stored, [['1:1', '2:2', '3:3']]);
    await time.advance(2000);
    assert.equal(acknowledgements.isWaiting('1'), false);
    assert.equal(stored.length, 1);
  });

  it('repeat after a second without a later one', async () => {
    let isDown = true;
    const { acknowledgements, stored, time } = setUp(() => {
      if (isDown) throw isAway;
    });
    await assert.rejects(acknowledgements.add(session, message('1'), accepted('1')), isAway);
    isDown = false;
    await time.advance(1000);
    await setImmediate();
    assert.deepEqual(stored, [['1:1']]);
  });

  it('store a message as sent whose network id the database refuses, and the others with theirs', async () => {
    const { acknowledgements, stored } = setUp((items) => {
      if (items.some((item) => item.accepted.networkId === 'bad')) throw new Error('invalid value');
    });
    await Promise.all([
      acknowledgements.add(session, message('1'), accepted('1')),
      acknowledgements.add(session, message('2'), accepted('bad')),
      acknowledgements.add(session, message('3'), accepted('3')),
    ]);
    assert.deepEqual(stored, [['1:1'], ['2:undefined'], ['3:3']]);
    assert.equal(acknowledgements.isWaiting('2'), false);
  });

  it('remember a message that cannot be stored at all, so that it is not sent again', async () => {
    const { acknowledgements, stored } = setUp((items) => {
      if (items.some((item) => item.message.message_id === '1')) throw new Error('a bug');
    });
    await acknowledgements.add(session, message('1'), accepted('1'));
    await acknowledgements.add(session, message('2'), accepted('2'));
    assert.equal(acknowledgements.isWaiting('1'), true);
    assert.deepEqual(stored, [['2:2']]);
  });

  it('leave a lost session to its next owner', async () => {
    const lost = { isLost: false };
    const { acknowledgements, time, stored } = setUp(() => {
      throw isAway;
    });
    await assert.rejects(acknowledgements.add(lost as LiveSession, message('1'), accepted('1')), isAway);
    lost.isLost = true;
    await time.advance(1000);
    await setImmediate();
    assert.equal(acknowledgements.isWaiting('1'), false);
    assert.deepEqual(stored, []);
  });
});
