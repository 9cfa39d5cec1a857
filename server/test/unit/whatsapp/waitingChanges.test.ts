import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Received } from '../../../src/connectors/whatsapp/inbound/journal.ts';
import { WaitingChanges } from '../../../src/connectors/whatsapp/inbound/waitingChanges.ts';

// The room uses the key alone.
const change = (key: string, waitsFor: string, sender: string) => ({ received: { key } as Received, waitsFor, sender });

describe('changes that wait for their message', () => {
  it('displaces the oldest one of the message with the most', () => {
    const room = new WaitingChanges();
    assert.equal(room.add(change('edit', 'message', 'bob')), undefined);
    for (let n = 0; n < 300; n++) {
      const displaced = room.add(change(`${n}`, 'poll', `voter ${n}`));
      assert.equal(displaced?.received.key, n < 199 ? undefined : `${n - 199}`);
      if (displaced !== undefined) room.delete(displaced.received);
    }
    assert.equal(room.take((waitsFor) => waitsFor === 'message').length, 1);
  });

  it('displaces the oldest one of a sender with too many', () => {
    const room = new WaitingChanges();
    room.add(change('edit', 'message', 'bob'));
    for (let n = 0; n < 20; n++) assert.equal(room.add(change(`${n}`, `none ${n}`, 'mallory')), undefined);
    assert.equal(room.add(change('20', 'none 20', 'mallory'))?.received.key, '0');
  });

  it('returns each change once', () => {
    const room = new WaitingChanges();
    room.add(change('vote', 'poll', 'bob'));
    assert.deepEqual(
      room.take(() => false),
      [],
    );
    assert.deepEqual(
      room.take(() => true),
      [{ key: 'vote' }],
    );
    assert.deepEqual(
      room.take(() => true),
      [],
    );
  });
});
