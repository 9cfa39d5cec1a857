import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as baileys from 'baileys';
import { pino } from 'pino';
import { Credentials } from '../../../src/connectors/whatsapp/link/credentials.ts';
import { createFakeClock } from '../../support/fakeClock.ts';
import { createTestStore } from '../../whatsapp/host.ts';

/** More keys than the cache holds. */
const MANY = Array.from({ length: 1000 }, (_, n) => `other ${n}`);
const session = (text: string) => new Uint8Array(Buffer.from(text));

/** The keys of a session whose store answers reads when the test says so. */
async function slowKeys() {
  const store = createTestStore();
  const opened = Promise.withResolvers<void>();
  const read = store.getMany;
  let isSlow = false;
  store.getMany = async (names) => {
    const values = await read(names);
    if (isSlow) await opened.promise;
    return values;
  };
  const host = { clock: createFakeClock(), log: pino({ level: 'silent' }) };
  const { keys } = await Credentials.open(store, baileys, host);
  const sessionOf = async (id: string) => Buffer.from((await keys.get('session', [id]))[id] ?? []).toString();
  return {
    keys,
    sessionOf,
    slowDown: () => {
      isSlow = true;
    },
    answer: () => {
      isSlow = false;
      opened.resolve();
    },
  };
}

describe('a key that is written and evicted during a read', () => {
  for (const isCached of [true, false])
    it(`keeps its new value, ${isCached ? 'with' : 'without'} its old one in the cache`, async () => {
      const { keys, sessionOf, slowDown, answer } = await slowKeys();
      await keys.set({ session: { alice: session('old') } });
      if (!isCached) await keys.set({ session: Object.fromEntries(MANY.map((id) => [id, session('')])) });
      slowDown();
      const reading = keys.get('session', ['alice', 'bob']);
      await keys.set({ session: { alice: session('new') } });
      await keys.set({ session: Object.fromEntries(MANY.map((id) => [id, session('')])) });
      answer();
      await reading;
      assert.equal(await sessionOf('alice'), 'new');
    });
});

it('a key that was read is cached', async () => {
  const { keys, sessionOf, slowDown } = await slowKeys();
  await keys.set({ session: { alice: session('old') } });
  await keys.set({ session: Object.fromEntries(MANY.map((id) => [id, session('')])) });
  assert.equal(await sessionOf('alice'), 'old');
  slowDown();
  assert.equal(await sessionOf('alice'), 'old');
});

it('a caller that changes a value in place changes no later read', async () => {
  const { keys } = await slowKeys();
  const group = '1@g.us';
  await keys.set({ 'sender-key-memory': { [group]: { 'a@lid': true } } });
  const { [group]: memory = {} } = await keys.get('sender-key-memory', [group]);
  memory['b@lid'] = true;
  assert.deepEqual(await keys.get('sender-key-memory', [group]), { [group]: { 'a@lid': true } });
});
