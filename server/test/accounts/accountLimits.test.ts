import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, it, type TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { describeOnEachDatabase, newHome } from '../support/databases/databases.ts';
import { eventually } from '../support/eventually.ts';
import { createFakeClock } from '../support/fakeClock.ts';
import { queryOf } from '../support/processes/nodes.ts';
import { bearer, type Call, connectSession, startServer, type TestServer } from '../support/server.ts';

const LIMITS = {
  MAX_API_KEYS: '2',
  MAX_SESSIONS: '2',
  MAX_SCHEDULED_MESSAGES: '3',
  MAX_WAITING_CALLS: '2',
};

async function refused(answer: ReturnType<Call>, setting: string): Promise<void> {
  const { status, body } = await answer;
  assert.deepEqual([status, body.code], [409, 'too_many']);
  assert.match(body.detail, new RegExp(setting));
}

describeOnEachDatabase('limits of an account', (_, database) => {
  let server: TestServer;
  before(async () => {
    server = await startServer({ database, env: LIMITS });
  });
  after(() => server.stop());

  it('reject API keys beyond the limit, and accept one after another is revoked', async () => {
    const { call } = await server.account();
    const create = () => call('POST', '/api-keys/create', { name: 'key' });
    const { keyId } = (await create()).body;
    assert.equal((await create()).status, 201);
    await refused(create(), 'MAX_API_KEYS');
    await call('DELETE', `/api-keys/${keyId}`);
    assert.equal((await create()).status, 201);
    const other = await server.account();
    assert.equal((await other.call('POST', '/api-keys/create', { name: 'key' })).status, 201);
  });

  it('reject sessions beyond the limit, and answer a repeated request with the session it created', async () => {
    const { call } = await server.account();
    const create = (key: string) => call('POST', '/sessions', {}, { 'idempotency-key': key });
    const [first, second] = [await create('one'), await create('two')];
    assert.deepEqual([first.status, second.status], [201, 201]);
    await refused(create('three'), 'MAX_SESSIONS');
    assert.equal((await create('two')).body.sessionId, second.body.sessionId);
    await call('DELETE', `/sessions/${first.body.sessionId}`);
    assert.equal((await create('four')).status, 201);
  });

  it('hold for concurrent calls', async () => {
    const { call } = await server.account();
    const sessionId = await connectSession(call);
    const sendAt = new Date(Date.now() + 3_600_000).toISOString();
    const [keys, sessions, messages] = await Promise.all(
      [
        () => call('POST', '/api-keys/create', { name: 'key' }),
        () => call('POST', '/sessions', {}),
        () => call('POST', '/messages/send', { sessionId, to: '491707654321', message: 'Hello', sendAt }),
      ].map(async (make) => {
        const answers = await Promise.all(Array.from({ length: 20 }, make));
        for (const { status, body } of answers) assert.ok(status === 201 || body.code === 'too_many');
        return answers.filter(({ status }) => status === 201).length;
      }),
    );
    assert.deepEqual([keys, sessions], [2, 1], 'one session existed before');
    assert.ok(messages !== undefined && messages > 0 && messages <= 3, `${messages} messages`);
  });

  it('hold for a call that counts before another one has stored its messages', async (test) => {
    const { call } = await server.account();
    await connectSession(call);
    const sendAt = new Date(Date.now() + 3_600_000).toISOString();
    const to = ['491707654321', '491707654322'];
    const send = () => call('POST', '/messages/send-bulk', { to, message: 'Hello', sendAt });
    const { connection } = server.app.services.database.reader;
    const query = connection.query.bind(connection);
    let counts = 0;
    test.mock.method(connection, 'query', async (...args: Parameters<typeof query>) => {
      const result = await query(...args);
      const isCount = /count\(\*\).*'scheduled'/.test(args[0]);
      if (isCount && ++counts === 1) await delay(300);
      return result;
    });
    const first = send();
    await eventually(
      async () => counts,
      (count) => count === 1,
    );
    const statuses = (await Promise.all([first, send()])).map(({ status }) => status);
    assert.deepEqual(statuses.toSorted(), [202, 409]);
    assert.equal((await call('GET', '/messages?status=scheduled')).body.data.length, 2);
  });

  it('reject queued messages beyond the limit, in bulk or one by one', async () => {
    const { call } = await server.account();
    await connectSession(call);
    const sendAt = new Date(Date.now() + 3_600_000).toISOString();
    const bulk = (...to: string[]) => call('POST', '/messages/send-bulk', { to, message: 'Hello', sendAt });
    const one = () => call('POST', '/messages/send', { to: '491707654321', message: 'Hello', sendAt });
    await refused(bulk('491707654321', '491707654322', '491707654323', '491707654324'), 'MAX_SCHEDULED_MESSAGES');
    assert.equal((await bulk('491707654321', '491707654322')).body.accepted, 2);
    const { body } = await one();
    assert.equal(body.status, 'scheduled');
    await refused(one(), 'MAX_SCHEDULED_MESSAGES');
    assert.equal((await call('POST', '/messages/send', { to: '491707654321', message: 'now' })).status, 201);
    await call('POST', `/messages/${body.messageId}/cancel`);
    assert.equal((await one()).status, 201);
  });

  it('reject streams and long polls beyond the limit, but no other reads of the log', async (test) => {
    const { call, token } = await server.account();
    const open = async () => {
      const gone = new AbortController();
      test.after(() => gone.abort());
      const headers = { authorization: `Bearer ${token}` };
      const stream = await fetch(`${server.url}/api/v1/events/stream`, { headers, signal: gone.signal });
      // Kept in a variable, because undici closes the connection of a response that is garbage collected.
      return { stream, close: () => gone.abort() };
    };
    const [first, second] = [await open(), await open()];
    assert.deepEqual([first.stream.status, second.stream.status], [200, 200]);
    await refused(call('GET', '/events/stream'), 'MAX_WAITING_CALLS');
    await refused(call('GET', '/events?wait=1'), 'MAX_WAITING_CALLS');
    assert.equal((await call('GET', '/events')).status, 200);
    first.close();
    const third = await eventually(open, ({ stream }) => stream.status === 200);
    await refused(call('GET', '/events/stream'), 'MAX_WAITING_CALLS');
    for (const { close } of [second, third]) close();
  });
});

it('the limit of webhooks holds for concurrent calls to two nodes', async (test) => {
  const home = await newHome('postgres');
  const nodes: TestServer[] = [];
  test.after(async () => {
    for (const node of nodes) await node.stop();
    await home.remove();
  });
  for (const name of ['one', 'two'])
    nodes.push(await startServer({ home: { ...home, dataDir: join(home.dataDir, name) } }));
  const [first, second] = nodes as [TestServer, TestServer];
  const { token, call } = await first.account();
  const webhook = { webhookUrl: 'https://example.com/hook', events: ['message.sent'], enabled: false };
  assert.equal((await call('POST', '/webhooks/endpoints', webhook)).status, 201);
  await queryOf(home)(`
    insert into webhooks select (jsonb_populate_record(w, jsonb_build_object('webhook_id', 'whk_copy' || n))).*
      from webhooks w, generate_series(1, 97) n`);
  const calls = [call, bearer(second.url, token)];
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, n) => calls[n % 2]?.('POST', '/webhooks/endpoints', webhook)),
  );
  assert.equal(answers.filter((answer) => answer?.status === 201).length, 2);
});

/** A server whose limits are not refilled during the test. */
async function limited(test: TestContext, env: Record<string, string>) {
  const server = await startServer({ env, clock: createFakeClock() });
  test.after(() => server.stop());
  const { call } = await server.account();
  const keys: Call[] = [];
  for (const name of ['one', 'two', 'three'])
    keys.push(bearer(server.url, (await call('POST', '/api-keys/create', { name })).body.key));
  return { server, keys };
}

it('requests are limited per account, regardless of the number of its keys', async (test) => {
  const { server, keys } = await limited(test, { RATE_LIMIT: '10', ACCOUNT_RATE_LIMIT: '12' });
  const statuses: number[] = [];
  for (let n = 0; n < 4; n++) for (const key of keys) statuses.push((await key('GET', '/auth/me')).status);
  // Creating the keys used three of the twelve.
  assert.deepEqual(statuses, [...Array(9).fill(200), 429, 429, 429]);
  const { body, headers } = (await keys[0]?.('GET', '/auth/me')) ?? assert.fail();
  assert.equal(body.detail, 'This account is limited to 12 requests per minute');
  assert.match(headers.get('ratelimit') ?? '', /^"account";r=0;t=/);
  assert.equal((await (await server.account()).call('GET', '/auth/me')).status, 200, 'another account');
});

it('an account has twice the request limit of one credential by default', async (test) => {
  const { keys } = await limited(test, { RATE_LIMIT: '4' });
  const statuses: number[] = [];
  for (const key of [...keys, ...keys]) statuses.push((await key('GET', '/auth/me')).status);
  assert.deepEqual(statuses, [200, 200, 200, 200, 200, 429]);
});
