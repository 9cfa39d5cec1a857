import assert from 'node:assert/strict';
import { it } from 'node:test';
import { recordIdOf } from '../../src/auth/appTokens.ts';
import { OAuthRecords, TokensEndedError } from '../../src/oauth/records.ts';
import { describeOnEachDatabase } from '../support/databases/databases.ts';
import { createFakeClock } from '../support/fakeClock.ts';
import { serversFor } from '../support/server.ts';

const MINUTE_MS = 60_000;

describeOnEachDatabase('the records of OAuth', (_, databaseName) => {
  const start = serversFor(databaseName);

  async function open() {
    const { app } = await start();
    const { database } = app.services;
    const { retention } = app;
    await database.commit(({ kysely }) => kysely.deleteFrom('oauth_records').execute());
    const clock = createFakeClock();
    const count = async () => {
      const { rows } = await database.reader.kysely
        .selectFrom('oauth_records')
        .select(({ fn }) => fn.countAll().as('rows'))
        .executeTakeFirstOrThrow();
      return Number(rows);
    };
    /** A new instance cleans up with its first write. */
    const records = () => new OAuthRecords(database, clock);
    return { database, clock, count, records, retention };
  }

  it('are found until they expire, and then removed', async () => {
    const { clock, count, records } = await open();
    await records().put('RefreshToken', 'secret', { jti: 'secret', grantId: 'key_1', scope: 'chats:read' }, MINUTE_MS);
    assert.deepEqual(await records().find('RefreshToken', 'secret'), {
      jti: 'secret',
      grantId: 'key_1',
      scope: 'chats:read',
    });
    assert.equal(await records().find('AccessToken', 'secret'), undefined);
    clock.skip(MINUTE_MS);
    assert.equal(await records().find('RefreshToken', 'secret'), undefined);
    await records().put('Session', 'other', {}, MINUTE_MS);
    assert.equal(await count(), 1);
  });

  it('are removed by the retention of a server that does not connect apps, once they have expired', async () => {
    const { clock, count, records, retention } = await open();
    await records().put('RefreshToken', 'old', {}, MINUTE_MS);
    clock.skip(Date.now() - clock.now());
    await records().put('RefreshToken', 'new', {}, 60 * MINUTE_MS);
    await records().put('Client', 'unused', {}, 0);
    await retention.run();
    assert.equal(await count(), 2);
    assert.ok(await records().find('RefreshToken', 'new'));
  });

  it('are used up by exactly one of several calls at the same time', async () => {
    const { records } = await open();
    await records().put('AuthorizationCode', 'code', { jti: 'code' }, MINUTE_MS);
    const used = await Promise.all(Array.from({ length: 10 }, () => records().consume('AuthorizationCode', 'code')));
    assert.equal(used.filter(Boolean).length, 1);
  });

  it('stores no token if its code is reused during the exchange', async () => {
    const { records } = await open();
    const own = records();
    const issue = (id: string) => own.issue('AccessToken', id, { jti: id, grantId: 'key_1' }, MINUTE_MS);
    await own.put('AuthorizationCode', 'code', { jti: 'code', grantId: 'key_1' }, MINUTE_MS);
    await own.consume('AuthorizationCode', 'code');
    await issue('first');
    await own.removeTokens('key_1');
    await assert.rejects(issue('second'), TokensEndedError);
    assert.equal(await own.find('AccessToken', 'first'), undefined);
  });

  it('recognize a code that is used again for as long as its access tokens live', async () => {
    const { clock, records } = await open();
    await records().put('AuthorizationCode', 'code', { jti: 'code', grantId: 'key_1' }, MINUTE_MS);
    await records().consume('AuthorizationCode', 'code');
    clock.skip(59 * MINUTE_MS);
    const found = await records().find('AuthorizationCode', 'code');
    assert.ok(found?.['consumed']);
  });

  it('keep the tokens of an app that can still be used, of more than 500', async () => {
    const { database, clock, count, records } = await open();
    const own = records();
    const put = (id: string) => own.put('RefreshToken', id, { jti: id, grantId: 'key_1' }, 1000 * MINUTE_MS);
    await put('the first');
    const used = Array.from({ length: 510 }, (_entry, index) => ({
      model: 'RefreshToken' as const,
      record_id: recordIdOf(`token ${index}`),
      key_id: 'key_1',
      payload: '{}',
      created_at: clock.now() + index + 1,
      expires_at: clock.now() + 1000 * MINUTE_MS,
      consumed_at: clock.now(),
    }));
    await database.commit(({ kysely }) => kysely.insertInto('oauth_records').values(used).execute());
    clock.skip(1000);
    await put('the last');
    assert.equal(await count(), 500);
    for (const id of ['the first', 'the last']) assert.ok(await own.find('RefreshToken', id), id);
    assert.equal(await own.find('RefreshToken', 'token 0'), undefined);
    assert.ok(await own.find('RefreshToken', 'token 509'));
  });

  it('forget the oldest of more than 5,000 clients and requests that nobody has answered', async () => {
    const { database, clock, count, records } = await open();
    const added = Array.from({ length: 5100 }, (_entry, index) => ({
      model: 'Client' as const,
      record_id: `client ${index}`,
      key_id: null,
      payload: '{}',
      created_at: clock.now() + index,
      expires_at: clock.now() + 10 * MINUTE_MS,
      consumed_at: null,
    }));
    for (let from = 0; from < added.length; from += 1000)
      await database.commit(({ kysely }) =>
        kysely
          .insertInto('oauth_records')
          .values(added.slice(from, from + 1000))
          .execute(),
      );
    await records().put('Session', 'any', {}, MINUTE_MS);
    assert.equal(await count(), 5001);
    assert.equal(await records().find('Client', 'client 99'), undefined);
    assert.ok(await records().find('Client', 'client 5099'));
  });
});
