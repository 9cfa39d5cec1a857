import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { App } from '../../src/app.ts';
import { FailureLimit } from '../../src/auth/failureLimit.ts';
import { describeOnEachDatabase, type Home } from '../support/databases/databases.ts';
import { eventually } from '../support/eventually.ts';
import { createFakeClock } from '../support/fakeClock.ts';
import { type Answer, bearer, type Call, startServer, type TestServer } from '../support/server.ts';

/** Far less than the 15 s after which a stream polls, and than the 30 s of the long polls here. */
const AT_ONCE_MS = 8000;
const PASSWORD = 'correct horse battery';

/** Lets a key expire soon, but still in the future when the server checks it. */
async function expireSoon(call: Call, keyId: string): Promise<Answer> {
  for (let ms = 150; ; ms *= 2) {
    const answer = await call('PATCH', `/api-keys/${keyId}`, { expiresAt: new Date(Date.now() + ms).toISOString() });
    if (answer.status !== 400) return answer;
  }
}

/** Requests that wait with a credential: a stream, a long poll, and an MCP tool that polls. */
interface Waiting {
  /** Resolves once all of them have ended. */
  readonly ended: Promise<{ readonly poll: Answer; readonly tool: Answer['body'] }>;
}

async function waitWith({ url, app }: TestServer, credential: string): Promise<Waiting> {
  const watched = watchedCalls(app, credential);
  const headers = { authorization: `Bearer ${credential}` };
  const stream = await fetch(`${url}/api/v1/events/stream`, { headers });
  assert.equal(stream.status, 200);
  const reader = stream.body?.getReader();
  await reader?.read(); // ": connected"
  const drained = (async () => {
    while (!(await reader?.read())?.done);
  })();
  const call = bearer(url, credential);
  const poll = call('GET', '/events?wait=30&events=group.created');
  const tool = callTool(url, credential, 'events_list', { wait: 30, events: ['group.created'] });
  // A request sent after the credential ended would be rejected for that, without having waited.
  await eventually(
    async () => watched(),
    (count) => count === 3,
  );
  return { ended: Promise.all([poll, tool, drained]).then(([answer, result]) => ({ poll: answer, tool: result })) };
}

/** @returns how many requests have started to wait with the credential since */
function watchedCalls({ services: { authenticator } }: App, credential: string): () => number {
  let count = 0;
  const { watch } = authenticator;
  authenticator.watch = function (...args) {
    if (args[1] === credential) count++;
    return watch.apply(this, args);
  };
  return () => count;
}

async function callTool(url: string, credential: string, name: string, input: object): Promise<Answer['body']> {
  const response = await fetch(`${url}/api/v1/mcp`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${credential}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: input } }),
  });
  const text = await response.text();
  const json = text.startsWith('{') ? text : (/^data: (.*)$/m.exec(text)?.[1] ?? '{}');
  return JSON.parse(json).result;
}

async function endsAtOnce({ ended }: Waiting, code: string): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('they still wait')), AT_ONCE_MS);
  });
  const { poll, tool } = await Promise.race([ended, late]).finally(() => clearTimeout(timer));
  assert.equal(poll.body.code, code, JSON.stringify(poll.body));
  assert.equal(tool?.isError, true, JSON.stringify(tool));
  assert.match(JSON.stringify(tool), new RegExp(code));
}

describeOnEachDatabase('a pending request whose credential ends', (newHome, name) => {
  let home: Home;
  /** Where credentials are changed, and where requests wait. These are two nodes on PostgreSQL. */
  let here: TestServer;
  let there: TestServer;
  before(async () => {
    home = await newHome();
    const node = (dir: string) =>
      startServer({
        database: name,
        home,
        env: { DATA_DIR: join(home.dataDir, dir), MEDIA_DIR: join(home.dataDir, 'm') },
      });
    here = await node('here');
    there = name === 'sqlite' ? here : await node('there');
  });
  after(async () => {
    await here.stop();
    if (there !== here) await there.stop();
    await home.remove();
  });

  async function newKey(call: Call, more: object = {}): Promise<{ keyId: string; key: string }> {
    return (await call('POST', '/api-keys/create', { name: 'waits', permissions: ['events:read'], ...more })).body;
  }

  it('ends immediately when its key is revoked', async () => {
    const { call } = await here.account();
    const { keyId, key } = await newKey(call);
    const { keyId: otherId, key: other } = await newKey(call);
    const [waiting, unconcerned] = [await waitWith(there, key), await waitWith(there, other)];
    assert.equal((await call('DELETE', `/api-keys/${keyId}`)).status, 200);
    await endsAtOnce(waiting, 'unauthorized');
    assert.equal((await bearer(there.url, key)('GET', '/auth/me')).status, 401);
    assert.equal((await bearer(there.url, other)('GET', '/auth/me')).status, 200);
    assert.equal(await Promise.race([unconcerned.ended, 'waiting']), 'waiting');
    assert.equal((await call('DELETE', `/api-keys/${otherId}`)).status, 200);
    await endsAtOnce(unconcerned, 'unauthorized');
  });

  it('ends immediately when its key is rotated, loses its permission or expires', async () => {
    const { call } = await here.account();
    const changes: [code: string, change: (keyId: string) => Promise<Answer>][] = [
      ['unauthorized', (keyId) => call('POST', `/api-keys/${keyId}/rotate`)],
      ['permission_denied', (keyId) => call('PATCH', `/api-keys/${keyId}`, { permissions: ['messages:read'] })],
      ['unauthorized', (keyId) => expireSoon(call, keyId)],
    ];
    await Promise.all(
      changes.map(async ([code, change]) => {
        const { keyId, key } = await newKey(call);
        const waiting = await waitWith(there, key);
        assert.equal((await change(keyId)).status, 200);
        await endsAtOnce(waiting, code);
      }),
    );
  });

  it('ends with the error even if the key is revoked while the log is read', async (t) => {
    const { call } = await here.account();
    const { keyId, key } = await newKey(call);
    const { eventLog } = there.app.services;
    const read = eventLog.read.bind(eventLog);
    const reading = Promise.withResolvers<void>();
    const revoked = Promise.withResolvers<void>();
    t.mock.method(eventLog, 'read', async (...query: Parameters<typeof read>) => {
      reading.resolve();
      await revoked.promise;
      return read(...query);
    });
    const poll = bearer(there.url, key)('GET', '/events?wait=30');
    await reading.promise;
    assert.equal((await call('DELETE', `/api-keys/${keyId}`)).status, 200);
    const isRefused = ({ status }: Answer) => status === 401;
    await eventually(() => bearer(there.url, key)('GET', '/auth/me'), isRefused);
    revoked.resolve();
    assert.equal((await poll).body.code, 'unauthorized');
  });

  it('ends immediately when the account logs out or changes its password', async () => {
    const { call, token, email } = await here.account();
    const waiting = await waitWith(there, token);
    assert.equal((await call('POST', '/auth/logout')).status, 200);
    await endsAtOnce(waiting, 'unauthorized');

    const { token: next } = (await here.call('POST', '/auth/login', { email, password: PASSWORD })).body;
    const again = await waitWith(there, next);
    const change = { currentPassword: PASSWORD, newPassword: 'another horse battery' };
    assert.equal((await bearer(here.url, next)('POST', '/auth/password', change)).status, 200);
    await endsAtOnce(again, 'unauthorized');
  });
});

it('a revoked key leaves the cache in time, even if the revocation signal was lost or the clock moved', async (test) => {
  const clock = createFakeClock();
  const server = await startServer({ clock });
  test.after(() => server.stop());
  const { call } = await server.account();
  const { keyId, key } = (await call('POST', '/api-keys/create', { name: 'missed' })).body;
  const status = async () => (await bearer(server.url, key)('GET', '/auth/me')).status;
  assert.equal(await status(), 200);
  const { database } = server.app.services;
  await database.commit(({ kysely }) => kysely.deleteFrom('api_keys').where('key_id', '=', keyId).execute());
  assert.equal(await status(), 200, 'the revocation signal was lost');
  clock.set(clock.now() - 3_600_000);
  clock.skip(6000);
  assert.equal(await status(), 401);
});

describe('wrong credentials', () => {
  const clock = createFakeClock();
  let server: TestServer;
  before(async () => {
    server = await startServer({ clock, env: { LOGIN_RATE_LIMIT: '1', TRUST_PROXY: 'on' } });
  });
  after(() => server.stop());
  const ask = async (credential: string, address: string) =>
    server.call('GET', '/auth/me', undefined, { authorization: `Bearer ${credential}`, 'x-forwarded-for': address });

  it('are throttled per address, without locking out callers whose credential was valid before', async () => {
    const { token, call } = await server.account();
    const { key: unused } = (await call('POST', '/api-keys/create', { name: 'unused' })).body;
    const statuses: number[] = [];
    for (let n = 0; n < 11; n++) statuses.push((await ask(`wrong${n}`, `2001:db8::${n}`)).status);
    assert.deepEqual(statuses, [...Array(10).fill(401), 429]);
    const refused = await ask('wrong', '2001:db8::1');
    assert.deepEqual([refused.body.code, refused.headers.get('retry-after')], ['rate_limited', '6']);
    assert.equal((await ask(token, '2001:db8::1')).status, 200, 'valid before');
    assert.equal((await ask(unused, '2001:db8:0:1::1')).status, 200, 'from another network');
    await clock.advance(6000);
    assert.equal((await ask('wrong', '2001:db8::1')).status, 401);
  });

  it('are counted only after they failed, so valid ones that are checked concurrently are not', async () => {
    const limit = new FailureLimit(10, clock);
    const { promise: found, resolve } = Promise.withResolvers<string>();
    const lookups = Array.from({ length: 30 }, (_, n) => limit.limit('203.0.113.9', `digest ${n}`, () => found));
    resolve('found');
    assert.deepEqual(await Promise.all(lookups), Array(30).fill('found'));
  });

  it('do not prevent logins from the same address', async () => {
    const { email } = await server.account();
    const from = { 'x-forwarded-for': '203.0.113.8' };
    for (let n = 0; n < 11; n++) await ask(`wrong${n}`, '203.0.113.8');
    const { status, body } = await server.call('POST', '/auth/login', { email, password: PASSWORD }, from);
    assert.equal(status, 200);
    assert.equal((await ask(body.token, '203.0.113.8')).status, 200);
  });

  it('are counted over MCP too, while valid ones are never counted', async () => {
    const { token } = await server.account();
    for (let n = 0; n < 12; n++) assert.equal((await ask(token, '203.0.113.1')).status, 200);
    const mcp = (credential: string) =>
      server.call('POST', '/mcp', {}, { authorization: `Bearer ${credential}`, 'x-forwarded-for': '203.0.113.2' });
    for (let n = 0; n < 10; n++) assert.equal((await mcp(`wrong${n}`)).status, 401);
    assert.equal((await mcp('wrong')).status, 429);
  });
});
