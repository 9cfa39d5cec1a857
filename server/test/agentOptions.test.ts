import assert from 'node:assert/strict';
import { it } from 'node:test';
import { describeOnEachDeployment } from './support/databases.ts';
import { startReceiver } from './support/receiver.ts';
import { connectSession, newNumber, serversFor } from './support/server.ts';

/* Options that spare agents a second tool, and are available over REST as well. */

describeOnEachDeployment('options that spare a second call', (_, database) => {
  const start = serversFor(database);

  /** An account with a connected session. */
  async function setUp() {
    const { call } = await (await start()).account();
    return { call, sessionId: await connectSession(call) };
  }

  it('a read of a message waits for its status', async () => {
    const { call, sessionId } = await setUp();
    const { messageId } = (await call('POST', '/messages/send', { sessionId, to: newNumber(), message: 'x' })).body;
    const path = `/messages/${messageId}`;
    assert.equal((await call('GET', `${path}?wait=30`)).body.status, 'delivered');
    const isRead = call('GET', `${path}?wait=30&until=read`);
    await call('POST', `/sessions/${sessionId}/simulate`, { action: 'receipt', messageId, status: 'read' });
    const { body } = await isRead;
    assert.equal(body.status, 'read');
    assert.equal(body.statusHistory.at(-1).status, 'read');
    // It has gone further than that, or will never get there.
    assert.equal((await call('GET', `${path}?wait=30&until=sent`)).body.status, 'read');
    const failing = {
      sessionId,
      to: newNumber(),
      message: 'x',
      sendAt: new Date(Date.now() + 3_600_000).toISOString(),
    };
    const { messageId: scheduled } = (await call('POST', '/messages/send', failing)).body;
    const failed = call('GET', `/messages/${scheduled}?wait=30`);
    await call('POST', `/messages/${scheduled}/cancel`);
    assert.equal((await failed).body.status, 'failed');
    for (const wrong of ['wait=31', 'wait=-1', 'until=failed'])
      assert.equal((await call('GET', `${path}?${wrong}`)).status, 400, wrong);
  });

  it('deleting a scheduled message cancels it', async () => {
    const { call, sessionId } = await setUp();
    const sendAt = new Date(Date.now() + 3_600_000).toISOString();
    const draft = { sessionId, to: newNumber(), message: 'x', sendAt };
    const { messageId } = (await call('POST', '/messages/send', draft)).body;
    const { status, body } = await call('DELETE', `/messages/${messageId}`);
    assert.deepEqual([status, body.status, body.deleted, body.message], [200, 'failed', undefined, 'x']);
    assert.match(body.error, /cancel/i);
    assert.equal((await call('DELETE', `/messages/${messageId}`)).body.code, 'message_state');
  });

  it('a session or a group is created once for an idempotency key in the body', async () => {
    const { call, sessionId } = await setUp();
    const sessions = [1, 2].map(() => call('POST', '/sessions', { name: 'once', idempotencyKey: 'session 1' }));
    const [one, two] = await Promise.all(sessions);
    // The second call can arrive while the first is running.
    const created = [one, two].filter((answer) => answer?.status === 201);
    assert.ok(created.length > 0);
    const again = await call('POST', '/sessions', { name: 'once', idempotencyKey: 'session 1' });
    assert.equal(again.body.sessionId, created[0]?.body.sessionId);
    const other = await call('POST', '/sessions', { name: 'other', idempotencyKey: 'session 1' });
    assert.deepEqual([other.status, other.body.code], [422, 'idempotency_mismatch']);

    const group = { sessionId, subject: 'Team', phoneNumbers: [newNumber()], idempotencyKey: 'group 1' };
    const { body: first } = await call('POST', '/groups', group);
    assert.equal((await call('POST', '/groups', group)).body.groupId, first.groupId);
    assert.equal((await call('GET', `/groups?sessionId=${sessionId}`)).body.data.length, 1);
  });

  it('operations on the default webhook accept another one', async (test) => {
    const { call } = await setUp();
    const [byDefault, other] = [await startReceiver(), await startReceiver()];
    test.after(async () => {
      await byDefault.close();
      await other.close();
    });
    await call('POST', '/webhooks/set', { webhookUrl: byDefault.url, events: ['message.incoming'] });
    const fields = { webhookUrl: other.url, events: ['message.sent'] };
    const { webhookId } = (await call('POST', '/webhooks/endpoints', fields)).body;
    assert.equal((await call('GET', `/webhooks/test?webhookId=${webhookId}`)).body.delivered, true);
    assert.deepEqual([byDefault.deliveries.length, other.deliveries.length], [0, 1]);
    assert.equal((await call('GET', `/webhooks?webhookId=${webhookId}`)).body.webhookUrl, other.url);
    assert.equal((await call('GET', '/webhooks')).body.webhookUrl, byDefault.url);
    assert.equal((await call('GET', `/webhooks/circuit-breaker?webhookId=${webhookId}`)).body.state, 'closed');

    const changed = { webhookId, webhookUrl: `${other.url}/new`, events: ['message.read'] };
    assert.equal((await call('POST', '/webhooks/set', changed)).status, 200);
    const { body: endpoint } = await call('GET', `/webhooks/endpoints/${webhookId}`);
    assert.deepEqual([endpoint.webhookUrl, endpoint.events], [`${other.url}/new`, ['message.read']]);
    assert.deepEqual((await call('GET', '/webhooks')).body.events, ['message.incoming']);

    for (const path of ['', '/test', '/stats', '/circuit-breaker']) {
      const { status, body } = await call('GET', `/webhooks${path}?webhookId=whk_00000000000000000000000000`);
      assert.deepEqual([status, body.code], [404, 'not_found'], path);
    }
    const unknown = { ...changed, webhookId: 'whk_00000000000000000000000000' };
    assert.equal((await call('POST', '/webhooks/set', unknown)).status, 404);
    const { call: stranger } = await (await start()).account();
    assert.equal((await stranger('GET', `/webhooks?webhookId=${webhookId}`)).status, 404);
    assert.equal((await stranger('POST', '/webhooks/set', changed)).status, 404);
  });

  it('the URL of a webhook to a message broker stays an address of that broker', async () => {
    const { call } = await setUp();
    const destination = { type: 'redis', stream: 'events' };
    const fields = { webhookUrl: 'redis://127.0.0.1:1', destination, events: ['message.sent'] };
    const { body } = await call('POST', '/webhooks/endpoints', fields);
    const set = (webhookUrl: string) =>
      call('POST', '/webhooks/set', { webhookId: body.webhookId, webhookUrl, events: ['message.sent'] });
    assert.deepEqual((await set('https://127.0.0.1/hook')).body.errors[0].field, 'webhookUrl');
    assert.equal((await set('redis://127.0.0.1:2')).body.webhookUrl, 'redis://127.0.0.1:2');
  });
});
