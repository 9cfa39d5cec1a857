import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { callbackDirectoryOf } from '../../src/sessions/callbackDirectory.ts';
import { describeOnEachDatabase } from '../support/databases/databases.ts';
import { startServer, type TestServer } from '../support/server.ts';

describeOnEachDatabase('the directory of callbacks', (_, database) => {
  let server: TestServer;
  before(async () => {
    server = await startServer({ database, env: { ENCRYPTION_KEY: 'a key for the tests, long enough' } });
  });
  after(() => server.stop());

  const register = async (appSecret: string) => {
    const { call, accountId } = await server.account();
    const options = { phoneNumberId: '4711', token: 'a-token', appSecret, verifyToken: 'long enough' };
    const { sessionId } = (await call('POST', '/sessions', { connector: 'whatsapp-cloud', options })).body;
    const session = { accountId, sessionId };
    const { database: db } = server.app.services;
    const directory = callbackDirectoryOf(db, session, 'whatsapp-cloud', options, () => true);
    await directory.register(['account:100']);
    return { sessionId, directory };
  };

  it('returns only ids, of the sessions whose option has the same value', async () => {
    const first = await register('of the app');
    const second = await register('of the app');
    await register('of another app');
    assert.deepEqual(await first.directory.peers('account:100', 'appSecret'), [second.sessionId]);
    assert.deepEqual(await first.directory.peers('account:999', 'appSecret'), []);
    assert.deepEqual(await first.directory.peers('account:100', 'unset'), [], 'not set in both');
  });
});
