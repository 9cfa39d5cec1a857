import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { storeOf } from '../../src/sessions/store.ts';
import { describeOnEachDatabase } from '../support/databases/databases.ts';
import { startServer, type TestServer } from '../support/server.ts';

describeOnEachDatabase('the store of a connector', (_, database) => {
  let server: TestServer;
  let sessionId: string;

  before(async () => {
    server = await startServer({ database, env: { ENCRYPTION_KEY: 'a key for the tests, long enough' } });
    const { call } = await server.account();
    sessionId = (await call('POST', '/sessions', {})).body.sessionId;
  });
  after(() => server.stop());

  const store = () => storeOf(server.app.services.database, sessionId);

  it('sets, deletes and reads several keys in one batch', async () => {
    await store().set('key/old', 'old');
    const many = Array.from({ length: 900 }, (_, i) => [`key/${i}`, `value ${i}`] as const);
    await store().write(new Map<string, string | null>([...many, ['key/old', null]]));
    assert.deepEqual(
      await store().getMany(['key/7', 'key/old', 'key/899']),
      new Map([
        ['key/7', 'value 7'],
        ['key/899', 'value 899'],
      ]),
    );
    await store().write(new Map([['key/7', 'another']]));
    assert.equal(await store().get('key/7'), 'another');
  });

  it('lists exactly the keys with a prefix, whatever characters they contain', async () => {
    await store().write(
      new Map([
        ['inbox/b', '2'],
        ['inbox/a%', '1'],
        ['inbox', 'no'],
        ['inboy/a', 'no'],
      ]),
    );
    assert.deepEqual(
      [...(await store().list('inbox/'))],
      [
        ['inbox/a%', '1'],
        ['inbox/b', '2'],
      ],
    );
  });
});
