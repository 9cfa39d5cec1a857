import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { pino } from 'pino';
import type { NetworkEvent } from '../../../src/connectors/contract/events.ts';
import { RingingCalls } from '../../../src/connectors/ringingCalls.ts';
import { createFakeClock } from '../../support/fakeClock.ts';
import { createTestStore } from '../../whatsapp/host.ts';

const MINUTE_MS = 60_000;

function begin() {
  const clock = createFakeClock();
  const store = createTestStore();
  const ended: string[] = [];
  const database = { isAway: false };
  const host = {
    clock,
    store,
    log: pino({ level: 'silent' }),
    async onEvent(event: NetworkEvent) {
      if (database.isAway) throw new Error('not stored');
      if (event.type === 'call_ended') ended.push(`${event.callId} ${event.outcome}`);
    },
  };
  const open = async () => {
    const calls = new RingingCalls(host);
    await calls.start();
    return calls;
  };
  const ring = (calls: RingingCalls, callId: string) => {
    const chat = { type: 'direct', id: '491701111111' } as const;
    const event = { type: 'call', callId, chat, from: chat.id, isVideo: false, timestamp: clock.now() } as const;
    return calls.add({ event, jid: `${callId}@lid` });
  };
  return { clock, ended, open, ring, database };
}

describe('calls that ring', () => {
  it('end once', async () => {
    const { open, ring, ended } = begin();
    const calls = await open();
    await ring(calls, 'A');
    assert.deepEqual([await calls.end('A', 'missed'), await calls.end('A', 'answered')], [true, false]);
    assert.equal(await calls.end('unknown', 'missed'), false);
    assert.deepEqual([ended, calls.hasEnded('A')], [['A missed'], true]);
  });

  it('still ring after a restart', async () => {
    const { open, ring, ended } = begin();
    const killed = await open();
    for (const id of ['A', 'B']) await ring(killed, id);
    await killed.end('B', 'missed');
    const calls = await open();
    assert.deepEqual([calls.get('A')?.jid, calls.get('B'), calls.hasEnded('B')], ['A@lid', undefined, true]);
    assert.equal(await calls.end('A', 'rejected'), true);
    assert.deepEqual(ended, ['B missed', 'A rejected']);
  });

  it('end after two minutes if the network does not report it, also after a restart', async () => {
    const { open, ring, ended, clock } = begin();
    const killed = await open();
    await ring(killed, 'A');
    await clock.advance(MINUTE_MS);
    killed.stop();
    const calls = await open();
    await ring(calls, 'B');
    await clock.advance(MINUTE_MS);
    assert.deepEqual(ended, ['A ended']);
    await clock.advance(MINUTE_MS);
    assert.deepEqual(ended, ['A ended', 'B ended']);
    assert.equal(await calls.end('A', 'missed'), false);
  });

  it('end later if the end cannot be stored', async () => {
    const { open, ring, ended, clock, database } = begin();
    const calls = await open();
    await ring(calls, 'A');
    database.isAway = true;
    await assert.rejects(calls.end('A', 'missed'));
    await clock.advance(3 * MINUTE_MS);
    database.isAway = false;
    await clock.advance(MINUTE_MS);
    assert.deepEqual(ended, ['A ended']);
  });

  it('are at most 100', async () => {
    const { open, ring, ended } = begin();
    const calls = await open();
    for (let n = 0; n <= 100; n++) await ring(calls, String(n));
    assert.deepEqual([ended, calls.get('0')], [['0 ended'], undefined]);
  });

  it('end when the session is unlinked', async () => {
    const { open, ring, ended, clock } = begin();
    const calls = await open();
    await ring(calls, 'A');
    await calls.endAll();
    await clock.advance(3 * MINUTE_MS);
    assert.deepEqual(ended, ['A ended']);
  });
});
