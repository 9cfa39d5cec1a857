import assert from 'node:assert/strict';
import { it } from 'node:test';
import { describeOnEachDatabase, describeOnEachDeployment } from '../support/databases/databases.ts';
import { eventually } from '../support/eventually.ts';
import { createFakeClock } from '../support/fakeClock.ts';
import { callTool, mcpClient } from '../support/mcp/mcp.ts';
import { bearer, connectSession, newNumber, serversFor, startAgain, type TestServer } from '../support/server.ts';

const to = '491707654321';
const others = Array.from({ length: 10 }, newNumber);

/** An account with a key that may send so many messages per day. */
async function setUp(server: TestServer, sendQuota: number) {
  const { call } = await server.account();
  const sessionId = await connectSession(call);
  const { status, body } = await call('POST', '/api-keys/create', { name: 'limited', sendQuota });
  assert.deepEqual([status, body.sendQuota], [201, sendQuota]);
  const limited = bearer(server.url, body.key);
  const send = (more: object = {}) => limited('POST', '/messages/send', { to, message: 'hello', ...more });
  const bulk = (count: number, more: object = {}) =>
    limited('POST', '/messages/send-bulk', { to: others.slice(0, count), message: 'all', ...more });
  const stored = async () => (await call('GET', '/messages?limit=200')).body.data.length;
  return { call, sessionId, limited, send, bulk, stored, ...body };
}

describeOnEachDeployment('a key with a quota of sends', (_, database) => {
  const start = serversFor(database);
  const inAnHour = new Date(Date.now() + 3_600_000).toISOString();

  it('sends no more than its quota, also in parallel', async () => {
    const { send, stored, call } = await setUp(await start(), 5);
    const answers = await Promise.all(Array.from({ length: 12 }, () => send()));
    const statuses = answers.map(({ status }) => status).toSorted();
    assert.deepEqual(statuses, [...Array(5).fill(201), ...Array(7).fill(429)]);
    assert.equal(await stored(), 5);
    const { body, headers } = await send();
    assert.equal(body.code, 'quota_exceeded');
    assert.match(body.detail, /may send 5 messages per day \(UTC\) and has sent 5/);
    assert.ok(Number(headers.get('retry-after')) <= 24 * 3600);
    assert.equal((await call('POST', '/messages/send', { to, message: 'without a quota' })).status, 201);
  });

  it('counts every message that is accepted, of every operation, and tools', async () => {
    const server = await start();
    const { send, bulk, limited, stored, key } = await setUp(server, 8);
    const { messageId } = (await send()).body;
    assert.equal((await send({ sendAt: inAnHour })).status, 201);
    assert.equal((await limited('POST', `/messages/${messageId}/forward`, { to })).status, 201);
    assert.equal((await limited('POST', '/messages/send-location', { to, latitude: 1, longitude: 2 })).status, 201);
    assert.equal((await bulk(3, { sendAt: inAnHour })).status, 202);
    assert.equal((await bulk(2)).status, 429, 'one is left');
    assert.equal(await stored(), 7, 'stores none of a bulk message that exceeds the quota');
    assert.equal((await limited('PUT', `/messages/${messageId}/reaction`, { emoji: '👍' })).status, 200);
    const client = await mcpClient(server, key, '2026-07-28');
    assert.equal((await callTool(client, 'messages_send', { to, message: 'by a tool' })).isError, false);
    const { isError, output } = await callTool(client, 'messages_send', { to, message: 'by a tool' });
    assert.deepEqual([isError, output.code], [true, 'quota_exceeded']);
    await client.close();
    for (const answer of [await send(), await send({ sendAt: inAnHour }), await bulk(1)])
      assert.equal(answer.body.code, 'quota_exceeded');
    assert.equal(await stored(), 8);
  });

  it('counts a repeated request once, and a refused one not at all', async () => {
    const { send, bulk, limited } = await setUp(await start(), 4);
    for (let n = 0; n < 3; n++) assert.equal((await send({ idempotencyKey: 'one' })).status, 201);
    for (let n = 0; n < 3; n++) assert.equal((await bulk(2, { idempotencyKey: 'two' })).status, 202);
    assert.equal((await send({ sessionId: 'ses_none' })).status, 404);
    assert.equal((await limited('POST', '/messages/send', { to: 'grp_none', message: 'x' })).status, 404);
    assert.equal((await send()).status, 201);
    assert.equal((await send()).status, 429);
    assert.equal((await send({ idempotencyKey: 'one' })).status, 201, 'the answer of before');
  });

  it('can be changed, and keeps its count when it is rotated', async () => {
    const { call, send, keyId } = await setUp(await start(), 1);
    assert.equal((await send()).status, 201);
    assert.equal((await send()).status, 429);
    const server = await start();
    const rotated = (await call('POST', `/api-keys/${keyId}/rotate`, {})).body;
    assert.equal(rotated.sendQuota, 1);
    const again = () => bearer(server.url, rotated.key)('POST', '/messages/send', { to, message: 'hello' });
    assert.equal((await again()).status, 429);
    /** The node that sends receives a signal of the change. */
    const changed = () => eventually(again, ({ status }) => status === 201);
    for (const sendQuota of [0, 1_000_001, 1.5, '2'])
      assert.equal((await call('PATCH', `/api-keys/${keyId}`, { sendQuota })).body.errors[0].field, 'sendQuota');
    assert.equal((await call('PATCH', `/api-keys/${keyId}`, { sendQuota: 2 })).body.sendQuota, 2);
    await changed();
    assert.equal((await again()).status, 429);
    assert.equal((await call('PATCH', `/api-keys/${keyId}`, { sendQuota: null })).body.sendQuota, null);
    await changed();
  });
});

describeOnEachDatabase('a quota of sends', (newHome, database) => {
  it('survives a restart, and starts again on the next day (UTC)', async (test) => {
    const clock = createFakeClock(Date.parse('2026-07-01T23:59:00Z'));
    const again = startAgain(test, newHome, { database, clock });
    const first = await again();
    const { key } = await setUp(first, 1);
    const send = ({ url }: TestServer) => bearer(url, key)('POST', '/messages/send', { to, message: 'hello' });
    assert.equal((await send(first)).status, 201);
    await first.stop();
    const second = await again();
    const refused = await eventually(
      () => send(second),
      ({ status }) => status !== 409, // the session is reconnecting until then
    );
    assert.equal(refused.status, 429, JSON.stringify(refused.body));
    const untilMidnight = (Date.parse('2026-07-02T00:00:00Z') - clock.now()) / 1000;
    assert.equal(Number(refused.headers.get('retry-after')), Math.ceil(untilMidnight));

    const rows = () => second.app.services.database.reader.kysely.selectFrom('key_sends').selectAll().execute();
    clock.set(Date.parse('2026-07-02T00:00:00Z'));
    assert.equal((await send(second)).status, 201);
    assert.equal((await rows()).length, 2);
    clock.set(Date.parse('2026-07-03T12:00:00Z'));
    await second.app.retention.run();
    assert.deepEqual(
      (await rows()).map(({ sends }) => sends),
      [1],
      'counts of older days are removed',
    );
  });
});
