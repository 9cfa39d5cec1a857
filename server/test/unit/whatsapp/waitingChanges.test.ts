import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import * as baileys from 'baileys';
import type { NetworkEvent } from '../../../src/connectors/contract/events.ts';
import type { HeldReceipts } from '../../../src/connectors/whatsapp/inbound/heldReceipts.ts';
import { Incoming } from '../../../src/connectors/whatsapp/inbound/incoming.ts';
import type { Journal, Received } from '../../../src/connectors/whatsapp/inbound/journal.ts';
import type { MessageReader } from '../../../src/connectors/whatsapp/inbound/messageReader.ts';
import type { Undecrypted } from '../../../src/connectors/whatsapp/inbound/undecrypted.ts';
import type { Session } from '../../../src/connectors/whatsapp/session.ts';
import { createFakeClock } from '../../support/fakeClock.ts';

const GROUP = '100@g.us';

/** Passes on sealed changes whose message never arrives. */
function begin() {
  const clock = createFakeClock();
  const givenUp: string[] = [];
  const logged: object[] = [];
  const log = { debug: (fields: object) => void logged.push(fields) };
  const counted: NetworkEvent[] = [];
  const onEvent = async (event: NetworkEvent) => void counted.push(event);
  const incoming = new Incoming({
    session: { baileys, host: { clock, log, onEvent } } as unknown as Session,
    journal: { acknowledge: ({ key }: Received) => void givenUp.push(key) } as unknown as Journal,
    reader: { read: async () => ({ waitsFor: 'a message' }) } as unknown as MessageReader,
    heldReceipts: { settle() {} } as unknown as HeldReceipts,
    undecrypted: { settle() {} } as unknown as Undecrypted,
  });
  const add = async (sender: string, count: number, from = GROUP) => {
    const t = `${Math.floor(clock.now() / 1000)}`;
    for (let n = 0; n < count; n++) {
      const key = `${sender} ${n}`;
      const attrs = { id: key, from, t, ...(from === GROUP && { participant: `${sender}@lid` }) };
      incoming.add({ key, attrs, place: n, message: new Uint8Array(), isReplayed: false });
    }
    await setImmediate(); // the stubs answer without a delay
  };
  return { add, givenUp, logged, counted };
}

describe('sealed changes that wait for their message', () => {
  it('are displaced by no other sender', async () => {
    const { add, givenUp, logged, counted } = begin();
    await add('1', 1);
    await add('2', 300);
    assert.deepEqual(
      givenUp,
      Array.from({ length: 280 }, (_, n) => `2 ${n}`),
    );
    assert.equal(logged.length, 280);
    assert.equal(counted.length, 280);
    assert.deepEqual(counted[0], { type: 'unreadable', reason: 'no_message_secret', isMessage: false });
  });

  it('count by person, from each device and in each chat', async () => {
    const { add, givenUp } = begin();
    await add('3', 15);
    await add('3:7', 10);
    await add('3 directly', 10, '3@lid');
    assert.deepEqual(
      givenUp,
      Array.from({ length: 15 }, (_, n) => `3 ${n}`),
    );
  });

  it('have a limit for all senders together', async () => {
    const { add, givenUp } = begin();
    for (let sender = 1; sender <= 11; sender++) await add(`${sender}`, 20);
    assert.deepEqual(
      givenUp,
      Array.from({ length: 20 }, (_, n) => `1 ${n}`),
    );
  });
});
