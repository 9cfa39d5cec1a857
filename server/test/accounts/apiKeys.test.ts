import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, it } from 'node:test';
import pg from 'pg';
import { type Deployment, describeOnEachDatabase, type Home } from '../support/databases/databases.ts';
import { eventually } from '../support/eventually.ts';
import { createFakeClock } from '../support/fakeClock.ts';
import {
  type Answer,
  bearer,
  type Call,
  pagesOf,
  startAgain,
  startServer,
  type TestServer,
} from '../support/server.ts';

const PASSWORD = 'correct horse battery';

describeOnEachDatabase('API keys', (newHome, database) => {
  const clock = createFakeClock();
  let server: TestServer;
  before(async () => {
    server = await startServer({ database, clock });
  });
  after(() => server.stop());

  const as = (key: string): Call => bearer(server.url, key);
  const statusBy = async (key: string) => (await as(key)('GET', '/messages')).status;
  const create = (call: Call, fields: object = {}) => call('POST', '/api-keys/create', { name: 'a key', ...fields });
  async function created(call: Call, fields: object = {}): Promise<Answer['body']> {
    const answer = await create(call, fields);
    assert.equal(answer.status, 201, JSON.stringify(answer.body));
    return answer.body;
  }

  it('a new key has all permissions and no expiry by default', async () => {
    const { call } = await server.account();
    const { keyId, key, ...rest } = await created(call, { name: 'mine' });
    assert.match(keyId, /^key_[0-9A-Z]{26}$/);
    assert.match(key, /^sb_[0-9A-Z]{26}_[0-9A-Za-z]{38}$/);
    assert.deepEqual(rest, {
      name: 'mine',
      permissions: ['*'],
      createdAt: new Date(clock.now()).toISOString(),
      expiresAt: null,
      sessionIds: null,
      allowedIps: null,
      allowedRecipients: null,
      sendQuota: null,
      confirm: null,
      requiresApproval: false,
    });
    const { body } = await as(key)('GET', '/auth/me');
    const lists = { sessionIds: null, allowedIps: null, allowedRecipients: null, confirm: null };
    const noLimits = { ...lists, sendQuota: null, requiresApproval: false };
    assert.deepEqual(body.credential, { type: 'api_key', keyId, permissions: ['*'], ...noLimits });
    const { body: login } = await call('GET', '/auth/me');
    assert.deepEqual(login.credential, { type: 'jwt', permissions: ['*'] });
    assert.equal(await statusBy(key), 200);
  });

  it('a key can read its own limits', async () => {
    const { call } = await server.account();
    const { sessionId } = (await call('POST', '/sessions', {})).body;
    const others = { allowedIps: ['127.0.0.0/8', '::1'], sendQuota: 5, requiresApproval: true };
    const given = { sessionIds: [sessionId], ...others, confirm: ['destructive', 'new_recipients'] };
    const { key, keyId } = await created(call, { ...given, allowedRecipients: ['+49 170 7654321', '4930*'] });
    const limits = { ...given, allowedRecipients: ['491707654321', '4930*'] };
    const { body } = await as(key)('GET', '/auth/me');
    assert.deepEqual(body.credential, { type: 'api_key', keyId, permissions: ['*'], ...limits });
    await call('PATCH', `/api-keys/${keyId}`, {
      sendQuota: 6,
      allowedIps: null,
      confirm: ['destructive'],
      requiresApproval: false,
    });
    const { credential } = (await as(key)('GET', '/auth/me')).body;
    const { sendQuota, allowedIps, confirm: confirmed, requiresApproval } = credential;
    assert.deepEqual([sendQuota, allowedIps, confirmed, requiresApproval], [6, null, ['destructive'], false]);
    assert.equal((await call('PATCH', `/api-keys/${keyId}`, { confirm: null })).body.confirm, null);
    for (const confirm of [[], ['everything'], ['destructive', 'destructive'], 'destructive', true])
      assert.equal((await call('PATCH', `/api-keys/${keyId}`, { confirm })).status, 400, JSON.stringify(confirm));
  });

  it('a key is shown only when it is created', async () => {
    const { call } = await server.account();
    const { keyId, key } = await created(call);
    const list = await call('GET', '/api-keys');
    const changed = await call('PATCH', `/api-keys/${keyId}`, { name: 'another name' });
    const me = await as(key)('GET', '/auth/me');
    const { prefix } = list.body.data[0];
    assert.ok(key.startsWith(prefix) && prefix.length < key.length - 38);
    const secret = key.slice(prefix.length + 1);
    for (const { body } of [list, changed, me]) assert.ok(!JSON.stringify(body).includes(secret));
    assert.ok(!('key' in changed.body) && !('key' in list.body.data[0]));
  });

  it('lists the keys of the account, newest first, page by page', async () => {
    const [mine, other] = [await server.account(), await server.account()];
    await created(other.call, { name: 'theirs' });
    for (const name of ['1', '2', '3', '4', '5']) await created(mine.call, { name });
    const pages = await pagesOf(mine.call, '/api-keys', 2);
    assert.deepEqual(
      pages.map((page) => page.map(({ name }) => name)),
      [['5', '4'], ['3', '2'], ['1']],
    );
    assert.deepEqual(Object.keys(pages[0]?.[0]).sort(), [
      'allowedIps',
      'allowedRecipients',
      'app',
      'confirm',
      'createdAt',
      'expiresAt',
      'keyId',
      'lastUsedAt',
      'name',
      'permissions',
      'prefix',
      'requiresApproval',
      'sendQuota',
      'sessionIds',
    ]);
  });

  it('names the position of an unknown permission', async () => {
    const { call } = await server.account();
    const unknown = [
      'messages:eat',
      'messages',
      'nothing:*',
      'messages:read:all',
      '*:*',
      '',
      'constructor:*',
      'MESSAGES:READ',
    ];
    for (const permission of unknown) {
      const { status, body } = await create(call, { permissions: [permission] });
      assert.deepEqual([status, body.errors?.[0]?.field], [400, 'permissions.0'], permission);
    }
    const second = await create(call, { permissions: ['messages:read', 'messages:eat'] });
    assert.equal(second.body.errors[0].field, 'permissions.1');
    const { keyId } = await created(call);
    const update = await call('PATCH', `/api-keys/${keyId}`, { permissions: ['*', 'x'] });
    assert.deepEqual([update.status, update.body.errors[0].field], [400, 'permissions.1']);
  });

  it('names missing and invalid fields', async () => {
    const { call } = await server.account();
    const bad: [field: string, fields: object][] = [
      ['name', { name: undefined }],
      ['name', { name: '' }],
      ['name', { name: 'x'.repeat(101) }],
      ['name', { name: 'with a \0' }],
      ['permissions', { permissions: [] }],
      ['permissions', { permissions: '*' }],
      ['permissions.0', { permissions: [1] }],
      ['expiresAt', { expiresAt: 'tomorrow' }],
      ['expiresAt', { expiresAt: '2030-01-01' }],
      ['expiresAt', { expiresAt: '2020-01-01T00:00:00Z' }],
      ['expiresAt', { expiresAt: new Date(clock.now()).toISOString() }],
      ['key', { key: 'sb_of_my_own' }],
    ];
    for (const [field, fields] of bad) {
      const { status, body } = await create(call, fields);
      assert.deepEqual([status, body.errors?.[0]?.field], [400, field], JSON.stringify(fields));
    }
    assert.deepEqual((await call('GET', '/api-keys')).body.data, []);
  });

  it('a key is limited to its permissions, and a change applies immediately', async () => {
    const { call } = await server.account();
    const { keyId, key } = await created(call, { permissions: ['sessions:*', 'messages:read'] });
    assert.equal((await as(key)('POST', '/sessions', {})).status, 201);
    assert.equal(await statusBy(key), 200);
    const denied = await as(key)('POST', '/messages/send', { to: '491701234567', message: 'x' });
    assert.deepEqual([denied.status, denied.body.code], [403, 'permission_denied']);

    const changed = await call('PATCH', `/api-keys/${keyId}`, { permissions: ['messages:send'] });
    assert.deepEqual(changed.body.permissions, ['messages:send']);
    assert.equal(await statusBy(key), 403);
    assert.notEqual((await as(key)('POST', '/messages/send', { to: '491701234567', message: 'x' })).status, 403);
    const untouched = await call('PATCH', `/api-keys/${keyId}`, {});
    assert.deepEqual(untouched.body, changed.body);
  });

  it('a key expires on time, and its expiry can be changed', async () => {
    const { call } = await server.account();
    const inAMinute = new Date(clock.now() + 60_000).toISOString();
    const { keyId, key, expiresAt } = await created(call, { expiresAt: inAMinute });
    assert.equal(expiresAt, inAMinute);
    clock.set(clock.now() + 59_999);
    assert.equal(await statusBy(key), 200);
    clock.set(clock.now() + 1);
    assert.equal(await statusBy(key), 401);
    assert.equal((await call('GET', '/api-keys')).body.data[0].expiresAt, inAMinute, 'an expired key stays listed');

    await call('PATCH', `/api-keys/${keyId}`, { expiresAt: null });
    assert.equal(await statusBy(key), 200);
    clock.set(clock.now() + 365 * 86_400_000);
    assert.equal(await statusBy(key), 200);
  });

  it('an expiry with a UTC offset is converted correctly', async () => {
    const { call } = await server.account();
    const { expiresAt } = await created(call, { expiresAt: '2090-01-01T02:00:00+02:00' });
    assert.equal(expiresAt, '2090-01-01T00:00:00.000Z');
  });

  it('rotating replaces the key immediately and keeps its other properties', async () => {
    const { call } = await server.account();
    const old = await created(call, { permissions: ['messages:read'] });
    assert.equal(await statusBy(old.key), 200);
    const { status, body } = await call('POST', `/api-keys/${old.keyId}/rotate`, {});
    assert.equal(status, 200);
    const { key: before, ...kept } = old;
    const { key, ...now } = body;
    assert.deepEqual(now, kept);
    assert.notEqual(key, before);
    assert.equal(await statusBy(before), 401);
    assert.equal(await statusBy(key), 200);
    assert.equal((await call('GET', '/api-keys')).body.data.length, 1);
  });

  it('revoking ends the key immediately and permanently', async () => {
    const { call } = await server.account();
    const { keyId, key } = await created(call);
    const { key: other } = await created(call);
    assert.equal(await statusBy(key), 200);
    assert.deepEqual((await call('DELETE', `/api-keys/${keyId}`)).body, { keyId, revoked: true });
    assert.equal(await statusBy(key), 401);
    assert.equal(await statusBy(other), 200);
    for (const [method, path] of [
      ['DELETE', `/api-keys/${keyId}`],
      ['PATCH', `/api-keys/${keyId}`],
      ['POST', `/api-keys/${keyId}/rotate`],
    ] as const) {
      assert.equal((await call(method, path)).status, 404, `${method} ${path}`);
    }
    assert.equal((await call('GET', '/api-keys')).body.data.length, 1);
  });

  it('rejects a key with any changed character', async () => {
    const { call } = await server.account();
    const { key } = await created(call);
    for (let at = 0; at < key.length; at += 3) {
      const other = key[at] === 'A' ? 'B' : 'A';
      const changed = key.slice(0, at) + other + key.slice(at + 1);
      assert.equal(await statusBy(changed), 401, changed);
    }
    assert.equal(await statusBy(key.slice(0, -1)), 401);
    assert.equal(await statusBy(`${key}A`), 401);
    assert.equal(await statusBy(key), 200);
  });

  it('records when a key was last used', async () => {
    const { call } = await server.account();
    const { key } = await created(call);
    const { key: unused } = await created(call);
    assert.notEqual(unused, key);
    const lastUses = async () =>
      (await call('GET', '/api-keys')).body.data.map(({ lastUsedAt }: Answer['body']) => lastUsedAt);
    assert.deepEqual(await lastUses(), [null, null]);
    await clock.advance(1000);
    assert.equal(await statusBy(key), 200);
    const usedAt = new Date(clock.now()).toISOString();
    await clock.advance(10_000);
    await eventually(
      () => call('GET', '/api-keys'),
      ({ body }) => body.data[1].lastUsedAt !== null,
    );
    assert.deepEqual(await lastUses(), [null, usedAt]);
  });

  it('accepts the legacy forms with a deprecation notice', async () => {
    const { call } = await server.account();
    const { key } = await created(call);
    const legacy = [
      await server.call('GET', '/sessions', undefined, { 'x-api-key': key }),
      await server.call('GET', `/sessions?key=${key}`),
      await server.call('GET', `/sessions?limit=5&key=${key}`),
      await server.call('POST', `/sessions?key=${key}`, {}),
      await server.call('POST', '/sessions', {}, { 'x-api-key': key }),
    ];
    assert.deepEqual(
      legacy.map(({ status }) => status),
      [200, 200, 200, 201, 201],
    );
    for (const { headers } of legacy) {
      assert.match(headers.get('deprecation') ?? '', /^@\d+$/);
      assert.match(headers.get('link') ?? '', /^<\/docs[^>]*>; rel="deprecation"/);
    }
    const preferred = await as(key)('GET', '/sessions');
    assert.deepEqual([preferred.headers.get('deprecation'), preferred.headers.get('link')], [null, null]);
    const stale = await server.call('GET', '/sessions', undefined, { 'x-api-key': `${key}x` });
    assert.equal(stale.status, 401);
    assert.match(stale.headers.get('deprecation') ?? '', /^@/);
  });

  it('uses the preferred form of several credentials, even if it is the wrong one', async () => {
    const { call } = await server.account();
    const [good, bad] = [(await created(call)).key, 'sb_nonsense'];
    const by = async (headers: Record<string, string>, query = '') =>
      (await server.call('GET', `/sessions${query}`, undefined, headers)).status;
    assert.equal(await by({ authorization: `Bearer ${good}`, 'x-api-key': bad }, `?key=${bad}`), 200);
    assert.equal(await by({ authorization: `Bearer ${bad}`, 'x-api-key': good }, `?key=${good}`), 401);
    assert.equal(await by({ 'x-api-key': good }, `?key=${bad}`), 200);
    assert.equal(await by({ 'x-api-key': bad }, `?key=${good}`), 401);
    assert.equal(await by({}, `?key=${good}&key=${good}`), 401);
  });

  it('accepts only Bearer with QUERY_KEY_AUTH=off', async (test) => {
    const strict = await startServer({ database, env: { QUERY_KEY_AUTH: 'off' } });
    test.after(() => strict.stop());
    const { call } = await strict.account();
    const { key } = await created(call);
    assert.equal((await bearer(strict.url, key)('GET', '/sessions')).status, 200);
    const refused = [
      await strict.call('GET', '/sessions', undefined, { 'x-api-key': key }),
      await strict.call('GET', `/sessions?key=${key}`),
      await strict.call('POST', `/sessions?key=${key}`, {}),
      await fetch(`${strict.url}/api/v1/events/stream?key=${key}`),
    ];
    assert.deepEqual(
      refused.map(({ status }) => status),
      [401, 401, 401, 401],
    );
    assert.equal(refused[0]?.headers.get('www-authenticate'), 'Bearer');
  });

  it('accepts a key in X-API-Key but not in the URL with QUERY_KEY_AUTH=header', async (test) => {
    const strict = await startServer({ database, env: { QUERY_KEY_AUTH: 'header' } });
    test.after(() => strict.stop());
    const { key } = await created((await strict.account()).call);
    const statuses = async (path: string, method: string) => [
      (await strict.call(method, path, undefined, { 'x-api-key': key })).status,
      (await strict.call(method, `${path}?key=${key}`)).status,
    ];
    assert.deepEqual(await statuses('/sessions', 'GET'), [200, 401]);
    assert.deepEqual(await statuses('/mcp', 'GET'), [405, 401]);
  });

  it('stores neither keys nor passwords in plain text, and accepts both after a restart', async (test) => {
    const start = startAgain(test, newHome, { database });
    const first = await start();
    const { call, email } = await first.account();
    // An idempotency key must not make the server store the response, because that contains the key.
    const made = await call('POST', '/api-keys/create', { name: 'stored' }, { 'idempotency-key': 'once' });
    const { keyId, key } = made.body;
    const rotated = await call('POST', `/api-keys/${keyId}/rotate`, {}, { 'idempotency-key': 'twice' });
    const secrets = [key, rotated.body.key, PASSWORD].flatMap((secret) => [secret, secret.slice(-38)]);
    assert.equal((await bearer(first.url, rotated.body.key)('GET', '/sessions')).status, 200);
    const whileRunning = await everythingStored(first.home, database);
    await first.stop();
    const stopped = await everythingStored(first.home, database);
    for (const stored of [whileRunning, stopped]) {
      assert.ok(stored.includes(keyId), 'the search covers the stored key');
      for (const secret of secrets) assert.ok(!stored.includes(secret), secret);
    }

    const second = await start();
    const { body } = await bearer(second.url, rotated.body.key)('GET', '/api-keys');
    assert.ok(body.data[0].lastUsedAt !== null, 'a stop stores the last use');
    assert.equal((await second.call('POST', '/auth/login', { email, password: PASSWORD })).status, 200);
  });
});

/** Every byte in the data directory, or every value of every PostgreSQL table. */
async function everythingStored({ dataDir, databaseUrl }: Home, database: Deployment): Promise<string> {
  const entries = readdirSync(dataDir, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const files = entries.map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'latin1'));
  if (database === 'sqlite') return files.join('\n');
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const { rows: tables } = await client.query<{ name: string }>(
    `select table_name as name from information_schema.tables where table_schema = 'public'`,
  );
  const values: string[] = [];
  for (const { name } of tables) {
    const { rows } = await client.query<{ row: string }>(`select t::text as row from "${name}" t`);
    values.push(...rows.map(({ row }) => row));
  }
  await client.end();
  return [...files, ...values].join('\n');
}
