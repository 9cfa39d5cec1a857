import assert from 'node:assert/strict';
import { it } from 'node:test';
import { newHome } from '../../support/databases/databases.ts';
import { eventually } from '../../support/eventually.ts';
import { startFakeWhatsapp } from '../../support/fakeWhatsapp/index.ts';
import { spawnServer } from '../../support/processes/process.ts';
import { type Answer, bearer, callerOf } from '../../support/server.ts';
import { inStatus, linkSession } from '../support.ts';

const MESSAGES = 120;
const KILLS = 4;

it(`loses and duplicates no message over ${KILLS} kills of the server`, { timeout: 300_000 }, async (test) => {
  const whatsapp = await startFakeWhatsapp();
  const home = await newHome('sqlite');
  const env = { ...whatsapp.env, ENCRYPTION_KEY: 'a key that is long enough for anybody' };
  let server = await spawnServer(home, env);
  test.after(async () => {
    await server.kill();
    await whatsapp.close();
    await home.remove();
  });
  const me = whatsapp.phone('15550001000', 'Me');
  const bob = whatsapp.phone('15550002000', 'Bob');
  const { body } = await callerOf(server.url, {})('POST', '/auth/register', {
    email: 'crash@example.com',
    password: 'correct horse battery',
  });
  let call = bearer(server.url, body.token);
  const sessionId = await linkSession(call, me);

  const received = async (): Promise<string[]> => {
    const { body: page } = await call('GET', '/events?events=message.incoming&limit=200');
    return page.data.map(({ data }: Answer['body']) => data.message);
  };
  const expected = Array.from({ length: MESSAGES }, (_, i) => `number ${i}`);
  const perRound = MESSAGES / KILLS;
  for (let round = 0; round < KILLS; round++) {
    const texts = expected.slice(round * perRound, (round + 1) * perRound);
    for (const text of texts) await bob.sendText(me.number, text);
    // Midway: some are stored, some are only decrypted, some have not arrived.
    await eventually(received, (some) => some.length >= round * perRound + perRound / 3);
    await server.kill();
    server = await spawnServer(home, env);
    call = bearer(server.url, body.token);
  }
  const all = await eventually(received, (some) => some.length >= MESSAGES);
  assert.deepEqual(all.toSorted(), expected.toSorted());
  // Written messages are reported before the session reconnects.
  await inStatus(call, sessionId, 'connected');
});
