import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import * as baileys from 'baileys';
import type { NetworkEvent } from '../../../src/connectors/contract/events.ts';
import type { HeldReceipts } from '../../../src/connectors/whatsapp/inbound/heldReceipts.ts';
import { Incoming } from '../../../src/connectors/whatsapp/inbound/incoming.ts';
import type { Attributes, Journal, Received } from '../../../src/connectors/whatsapp/inbound/journal.ts';
import type { MessageReader } from '../../../src/connectors/whatsapp/inbound/messageReader.ts';
import type { Undecrypted } from '../../../src/connectors/whatsapp/inbound/undecrypted.ts';
import { nameOf } from '../../../src/connectors/whatsapp/link/credentials.ts';
import { MAPPING } from '../../../src/connectors/whatsapp/people/addresses.ts';
import type { Session } from '../../../src/connectors/whatsapp/session.ts';
import { createFakeClock } from '../../support/fakeClock.ts';
import { createTestStore } from '../../whatsapp/host.ts';

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
    undecrypted: { settle() {}, firstReceivedAt: () => undefined } as unknown as Undecrypted,
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

const NUMBER = '15551111111@s.whatsapp.net';

/** Reads the message `slow` only once it is released. */
function beginSlowly() {
  const store = createTestStore();
  const read: string[] = [];
  const slow = Promise.withResolvers<void>();
  const incoming = new Incoming({
    session: { baileys, store, host: { clock: createFakeClock(), log: { warn() {} } } } as unknown as Session,
    journal: { acknowledge() {} } as unknown as Journal,
    reader: {
      async read({ key }: Received) {
        if (key === 'slow') await slow.promise;
        read.push(key);
        return {};
      },
    } as unknown as MessageReader,
    heldReceipts: { settle() {} } as unknown as HeldReceipts,
    undecrypted: { settle() {}, firstReceivedAt: () => undefined } as unknown as Undecrypted,
  });
  const add = (key: string, attrs: Attributes) =>
    incoming.add({ key, attrs: { id: key, t: '1', ...attrs }, place: 0, message: new Uint8Array(), isReplayed: false });
  return { store, read, slow, add };
}

describe('messages of one person', () => {
  it('stay in order when they come from the LID and the number', async () => {
    const { read, slow, add } = beginSlowly();
    add('slow', { from: '77:3@lid', sender_pn: NUMBER });
    add('by number', { from: NUMBER, sender_lid: '77@lid' });
    add('to the number', { from: '1@s.whatsapp.net', recipient: NUMBER, peer_recipient_lid: '77@lid' });
    add('to a list', { from: '5@broadcast', participant: NUMBER, participant_lid: '77@lid' });
    add('of another person', { from: '88@lid' });
    await setImmediate();
    assert.deepEqual(read, ['of another person']);
    slow.resolve();
    await setImmediate();
    assert.deepEqual(read, ['of another person', 'slow', 'by number', 'to the number', 'to a list']);
  });

  it('stay in order when only the store has the LID of the number', async () => {
    const { store, read, slow, add } = beginSlowly();
    await store.set(nameOf(MAPPING, '15551111111'), JSON.stringify('77'));
    add('slow', { from: NUMBER });
    add('by LID', { from: '77@lid' });
    await setImmediate();
    assert.deepEqual(read, []);
    slow.resolve();
    await setImmediate();
    assert.deepEqual(read, ['slow', 'by LID']);
  });

  it('are read even if the LID cannot be looked up', async () => {
    const { store, read, add } = beginSlowly();
    store.get = () => Promise.reject(new Error('the disk is full'));
    add('by number', { from: NUMBER });
    await setImmediate();
    assert.deepEqual(read, ['by number']);
  });
});
