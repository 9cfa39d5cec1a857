import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { systemClock } from '../../src/clock.ts';
import { openDatabase } from '../../src/db/database.ts';
import { openSeal } from '../../src/db/sealing.ts';
import { type Home, newHome } from '../support/databases/databases.ts';
import { createFakeClock } from '../support/fakeClock.ts';
import { connectSession, startServer, type TestServer, type TestServerOptions } from '../support/server.ts';

const ENCRYPTION_KEY = 'a key that has more than thirty-two characters';
const SECRET = 'qzplaintextsecret-1234567890';
const DAY_MS = 24 * 60 * 60 * 1000;

/** A home, and a function that starts servers on it, which stop before it is removed. */
async function homeFor(test: TestContext) {
  const home = await newHome('sqlite');
  const started: TestServer[] = [];
  test.after(async () => {
    for (const server of started) await server.stop();
    await home.remove();
  });
  const start = async (options: Omit<TestServerOptions, 'home'> = {}) => {
    const server = await startServer({ ...options, home });
    started.push(server);
    return server;
  };
  return { home, start };
}

/** Whether a text appears anywhere in the database files, in used or free pages. */
const isReadable = ({ dataDir }: Home, text: string) =>
  ['switchboard.db', 'switchboard.db-wal']
    .map((name) => join(dataDir, name))
    .some((path) => existsSync(path) && readFileSync(path).includes(text));

/** A home whose database contains secrets in plain text. */
async function plainHome(test: TestContext) {
  const { home, start } = await homeFor(test);
  const server = await start();
  const { call } = await server.account();
  const webhook = { webhookUrl: 'http://127.0.0.1:9/hook', events: ['message.sent'], secret: SECRET };
  assert.equal((await call('POST', '/webhooks/set', webhook)).status, 200);
  for (let n = 0; n < 30; n++) await call('POST', '/webhooks/secret/rotate', { secret: `${SECRET}-${n}` });
  await server.stop();
  assert.ok(isReadable(home, SECRET));
  return { home, start };
}

describe('setting ENCRYPTION_KEY', () => {
  it('leaves no secret readable in the database, its free pages or its write-ahead log', async (test) => {
    const { home, start } = await plainHome(test);
    const server = await start({ env: { ENCRYPTION_KEY } });
    assert.equal(isReadable(home, SECRET), false, 'while the server runs');
    await server.stop();
    assert.equal(isReadable(home, SECRET), false);
  });

  it('rewrites the files at the next start after a crash between sealing and rewriting', async (test) => {
    const { home, start } = await plainHome(test);
    const database = await openDatabase(home, systemClock);
    const crash = async () => {
      throw new Error('crash');
    };
    const keys = { encryptionKey: ENCRYPTION_KEY, encryptionKeyPrevious: '' };
    const sealing = openSeal(database.commit, keys, crash);
    await assert.rejects(sealing, /crash/).finally(() => database.close());
    await start({ env: { ENCRYPTION_KEY } });
    assert.equal(isReadable(home, SECRET), false);
  });
});

describe('deletion on SQLite', () => {
  it('leaves nothing readable in free pages, the search index or the write-ahead log after the next retention run', async (test) => {
    const { home, start } = await homeFor(test);
    const clock = createFakeClock(Date.now());
    const server = await start({ clock, env: { EVENT_RETENTION_DAYS: '1' } });
    const { call } = await server.account();
    await connectSession(call);
    const send = async (message: string) =>
      (await call('POST', '/messages/send', { to: '491702222222', message })).body.messageId;
    for (let n = 0; n < 20; n++) await send(`ordinary text ${n}`);
    const messageId = await send('qzsecrettext of a message');
    assert.equal((await call('DELETE', `/messages/${messageId}`)).status, 200);
    const before = clock.now();
    clock.set(before + 3 * DAY_MS); // its event is old
    await server.app.retention.run();
    clock.set(before);
    assert.equal(isReadable(home, 'qzsecrettext'), false);
    assert.equal((await call('GET', '/messages?q=ordinary')).body.data.length, 20);
  });
});
