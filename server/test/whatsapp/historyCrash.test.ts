import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { it } from 'node:test';
import { newHome } from '../support/databases/databases.ts';
import { eventually } from '../support/eventually.ts';
import { startFakeWhatsapp } from '../support/fakeWhatsapp/index.ts';
import { spawnServer } from '../support/processes/process.ts';
import { bearer, callerOf } from '../support/server.ts';
import { linkSession } from './support.ts';

const MESSAGES = 6000;

it('imports the whole history once over kills in the middle', { timeout: 300_000 }, async (test) => {
  const whatsapp = await startFakeWhatsapp();
  const home = await newHome('sqlite');
  const certificate = join(home.dataDir, 'media.pem');
  await writeFile(certificate, whatsapp.ca);
  const env = {
    ...whatsapp.env,
    NODE_EXTRA_CA_CERTS: certificate,
    ENCRYPTION_KEY: 'a key that is long enough for anybody',
  };
  let server = await spawnServer(home, env);
  test.after(async () => {
    await server.kill();
    await whatsapp.close();
    await home.remove();
  });
  const me = whatsapp.phone('15550001000', 'Me');
  const bob = whatsapp.phone('15550002000', 'Bob');
  const nowS = Math.floor(Date.now() / 1000);
  me.history.fill(
    bob.number,
    Array.from({ length: MESSAGES }, (_, n) => ({
      text: `number ${n}`,
      fromMe: n % 2 === 0,
      atS: nowS - 60 * (n + 1),
    })),
  );
  me.history.setPartSize(2000);
  const { body } = await callerOf(server.url, {})('POST', '/auth/register', {
    email: 'crash@example.com',
    password: 'correct horse battery',
  });
  let call = bearer(server.url, body.token);
  const sessionId = await linkSession(call, me);
  const historyOf = async () => (await call('GET', `/sessions/${sessionId}`)).body.history;
  // In the first, the second and the third part.
  for (const least of [600, 2600, 4600]) {
    await eventually(historyOf, ({ messages }) => messages >= least);
    await server.kill();
    server = await spawnServer(home, env);
    call = bearer(server.url, body.token);
  }
  const done = await eventually(historyOf, ({ state }) => state === 'complete');
  assert.deepEqual([done.messages, done.chats, done.error], [MESSAGES, 1, null]);
  const texts: string[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const { body: page } = await call('GET', `/messages?limit=200${cursor && `&cursor=${cursor}`}`);
    texts.push(...page.data.map(({ message }: { message: string }) => message));
    cursor = page.nextCursor;
  }
  assert.deepEqual(
    texts,
    Array.from({ length: MESSAGES }, (_, n) => `number ${n}`),
  );
});
