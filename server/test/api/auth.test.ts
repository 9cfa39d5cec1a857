import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, it } from 'node:test';
import { SignJWT, UnsecuredJWT } from 'jose';
import { describeOnEachDatabase } from '../support/databases.ts';
import { createFakeClock } from '../support/fakeClock.ts';
import { callerOf, startServer, type TestServer, type TestServerOptions } from '../support/server.ts';

const PASSWORD = 'correct horse battery';

describeOnEachDatabase('accounts, logins and keys', (newHome, database) => {
  const open: TestServer[] = [];
  afterEach(async () => {
    for (const server of open.splice(0)) await server.stop();
  });
  async function start(options: TestServerOptions = {}): Promise<TestServer> {
    const server = await startServer({ database, ...options });
    open.push(server);
    return server;
  }

  it('an email registers once, however it is written, and logs in with its password alone', async () => {
    const { call } = await start();
    const first = await call('POST', '/auth/register', { email: 'Me@Example.com', password: PASSWORD, name: 'Me' });
    assert.equal(first.status, 201);
    assert.equal(first.body.account.email, 'me@example.com');
    assert.equal(first.body.tokenType, 'Bearer');
    assert.equal(
      (await call('POST', '/auth/register', { email: 'me@example.com', password: PASSWORD })).body.code,
      'email_taken',
    );
    assert.equal((await call('POST', '/auth/login', { email: 'ME@example.com', password: PASSWORD })).status, 200);
    const wrong = await call('POST', '/auth/login', { email: 'me@example.com', password: 'wrong' });
    const unknown = await call('POST', '/auth/login', { email: 'you@example.com', password: 'wrong' });
    assert.equal(wrong.status, 401);
    const { requestId: _, ...problem } = wrong.body;
    const { requestId: __, ...same } = unknown.body;
    assert.deepEqual(problem, same);
  });

  it('failed logins are limited per account; another account of the same address still gets in', async () => {
    const clock = createFakeClock();
    const server = await start({ clock, env: { LOGIN_RATE_LIMIT: '3' } });
    const [victim, other] = [await server.account(), await server.account()];
    const login = (email: string, password: string) => server.call('POST', '/auth/login', { email, password });
    for (let n = 0; n < 3; n++) assert.equal((await login(victim.email, 'wrong')).status, 401);
    const limited = await login(victim.email, PASSWORD);
    assert.equal(limited.status, 429);
    assert.ok(Number(limited.headers.get('retry-after')) >= 1);
    assert.equal((await login(other.email, PASSWORD)).status, 200);
    await clock.advance(60_000);
    assert.equal((await login(victim.email, PASSWORD)).status, 200);
  });

  it('registration can be closed after the first account', async () => {
    const { call } = await start({ env: { REGISTRATION: 'closed' } });
    assert.equal(
      (await call('POST', '/auth/register', { email: 'first@example.com', password: PASSWORD })).status,
      201,
    );
    const second = await call('POST', '/auth/register', { email: 'second@example.com', password: PASSWORD });
    assert.equal(second.body.code, 'registration_closed');
  });

  it('a login token ends after 12 hours, with a logout, and with a new password', async () => {
    const clock = createFakeClock(Date.now());
    const server = await start({ clock });
    const { call, email } = await server.account();
    assert.equal((await call('GET', '/auth/me')).body.credential.type, 'jwt');
    const login = async (password: string) => {
      const { body } = await server.call('POST', '/auth/login', { email, password });
      return callerOf(server.url, { authorization: `Bearer ${body.token}` });
    };
    const second = await login(PASSWORD);
    await second('POST', '/auth/logout', {});
    assert.equal((await call('GET', '/auth/me')).status, 401);
    assert.equal((await second('GET', '/auth/me')).status, 401);

    const third = await login(PASSWORD);
    const wrong = await third('POST', '/auth/password', {
      currentPassword: 'wrong',
      newPassword: 'a new long password',
    });
    assert.equal(wrong.body.errors[0].field, 'currentPassword');
    const changed = await third('POST', '/auth/password', {
      currentPassword: PASSWORD,
      newPassword: 'a new long password',
    });
    assert.equal((await third('GET', '/auth/me')).status, 401);
    const fourth = callerOf(server.url, { authorization: `Bearer ${changed.body.token}` });
    assert.equal((await fourth('GET', '/auth/me')).status, 200);
    clock.set(clock.now() + 12 * 3_600_000 + 1000);
    assert.equal((await fourth('GET', '/auth/me')).status, 401);
  });

  it('a token that is forged, unsigned or damaged is none', async () => {
    const server = await start();
    const { accountId, token } = await server.account();
    const claims = { ver: 1 };
    const forged = await new SignJWT(claims)
      .setProtectedHeader({ alg: 'HS256' })
      .setIssuer('switchboard')
      .setSubject(accountId)
      .setExpirationTime('1h')
      .sign(new TextEncoder().encode('another secret that is long enough'));
    const unsigned = new UnsecuredJWT(claims)
      .setIssuer('switchboard')
      .setSubject(accountId)
      .setExpirationTime('1h')
      .encode();
    for (const bad of [forged, unsigned, `${token.slice(0, -3)}abc`, 'sb_nonsense', 'Bearer', '']) {
      const answer = await callerOf(server.url, { authorization: `Bearer ${bad}` })('GET', '/auth/me');
      assert.equal(answer.status, 401, bad);
    }
  });

  it('a key is shown once, works at once, and is nowhere in the database', async () => {
    const home = await newHome();
    const server = await startServer({ home, database });
    const { call } = await server.account();
    const created = await call('POST', '/api-keys/create', { name: 'mine' });
    assert.equal(created.status, 201);
    const { key, keyId, permissions, expiresAt } = created.body;
    assert.match(key, /^sb_[0-9A-Z]{26}_[0-9A-Za-z]{38}$/);
    assert.deepEqual(permissions, ['*']);
    assert.equal(expiresAt, null);
    const list = await call('GET', '/api-keys');
    assert.equal(list.body.data[0].keyId, keyId);
    assert.ok(key.startsWith(list.body.data[0].prefix));
    assert.ok(!JSON.stringify(list.body).includes(key));
    const byKey = callerOf(server.url, { authorization: `Bearer ${key}` });
    const me = await byKey('GET', '/auth/me');
    assert.deepEqual(me.body.credential, { type: 'api_key', keyId, permissions: ['*'] });
    assert.equal((await byKey('POST', '/api-keys/create', { name: 'no' })).body.code, 'jwt_required');
    await server.stop();
    if (database === 'sqlite') {
      for (const file of readdirSync(home.dataDir)) {
        assert.ok(!readFileSync(join(home.dataDir, file)).includes(key), file);
      }
    }
    const again = await startServer({ home, database });
    const { body } = await callerOf(again.url, { authorization: `Bearer ${key}` })('GET', '/api-keys');
    assert.ok(body.data[0].lastUsedAt !== null, 'its last use was recorded');
    await again.stop();
    await home.remove();
  });

  it('a key does what it may, and stops when it is rotated, revoked or over', async () => {
    const clock = createFakeClock(Date.now());
    const server = await start({ clock });
    const { call } = await server.account();
    const create = async (body: object) => (await call('POST', '/api-keys/create', { name: 'k', ...body })).body;
    const as = (key: string) => callerOf(server.url, { authorization: `Bearer ${key}` });
    const reader = await create({ permissions: ['sessions:*', 'messages:read'] });
    assert.equal((await as(reader.key)('POST', '/sessions', {})).status, 201);
    assert.equal((await as(reader.key)('GET', '/messages')).status, 200);
    assert.equal((await as(reader.key)('POST', '/messages/send', { to: '491701234567', message: 'x' })).status, 403);

    const unknown = await call('POST', '/api-keys/create', {
      name: 'k',
      permissions: ['messages:read', 'messages:eat'],
    });
    assert.equal(unknown.body.errors[0].field, 'permissions.1');
    assert.equal(
      (await call('POST', '/api-keys/create', { name: 'k', expiresAt: '2020-01-01T00:00:00Z' })).body.errors[0].field,
      'expiresAt',
    );

    const rotated = await call('POST', `/api-keys/${reader.keyId}/rotate`, {});
    assert.equal((await as(reader.key)('GET', '/messages')).status, 401);
    assert.equal((await as(rotated.body.key)('GET', '/messages')).status, 200);
    assert.equal((await call('DELETE', `/api-keys/${reader.keyId}`)).body.revoked, true);
    assert.equal((await as(rotated.body.key)('GET', '/messages')).status, 401);

    const short = await create({ expiresAt: new Date(clock.now() + 60_000).toISOString() });
    assert.equal((await as(short.key)('GET', '/messages')).status, 200);
    clock.set(clock.now() + 61_000);
    assert.equal((await as(short.key)('GET', '/messages')).status, 401);
  });

  it('the legacy forms of a credential work, say that they are deprecated, and can be switched off', async () => {
    const server = await start();
    const { call } = await server.account();
    const { key } = (await call('POST', '/api-keys/create', { name: 'legacy' })).body;
    const byHeader = await server.call('GET', '/sessions', undefined, { 'x-api-key': key });
    const byQuery = await server.call('GET', `/sessions?key=${key}`);
    for (const answer of [byHeader, byQuery]) {
      assert.equal(answer.status, 200);
      assert.match(answer.headers.get('deprecation') ?? '', /^@\d+$/);
      assert.match(answer.headers.get('link') ?? '', /rel="deprecation"/);
    }
    assert.equal((await call('GET', '/sessions')).headers.get('deprecation'), null);
    const strict = await start({ env: { QUERY_KEY_AUTH: 'off' } });
    const own = await strict.account();
    const { key: other } = (await own.call('POST', '/api-keys/create', { name: 'x' })).body;
    assert.equal((await strict.call('GET', '/sessions', undefined, { 'x-api-key': other })).status, 401);
    assert.equal((await strict.call('GET', `/sessions?key=${other}`)).status, 401);
  });
});
