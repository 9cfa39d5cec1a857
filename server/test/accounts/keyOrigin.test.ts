import assert from 'node:assert/strict';
import { it, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { AppError } from '../../src/errors.ts';
import { PAUSED_BY_KEY } from '../../src/webhooks/endpoints/keyWebhooks.ts';
import { startReceiver } from '../support/connections/receiver.ts';
import { describeOnEachDatabase } from '../support/databases/databases.ts';
import { eventually } from '../support/eventually.ts';
import { createFakeClock } from '../support/fakeClock.ts';
import { PUPPET_NUMBER, puppet } from '../support/networks/puppet.ts';
import { bearer, startServer } from '../support/server.ts';

const PUPPET = fileURLToPath(new URL('../support/networks/puppet.ts', import.meta.url));
const to = '491707654321';
const HOUR_MS = 3_600_000;

describeOnEachDatabase('messages, webhooks and texts of an API key', (_, database) => {
  async function setUp(test: Pick<TestContext, 'after'>, permissions = ['*']) {
    const clock = createFakeClock(Date.now());
    const server = await startServer({ database, clock, env: { CONNECTORS: PUPPET } });
    const pump = setInterval(() => void clock.advance(20), 5);
    test.after(() => {
      clearInterval(pump);
      return server.stop();
    });
    const { call } = await server.account();
    const { sessionId } = (await call('POST', '/sessions', { connector: 'puppet' })).body;
    assert.equal((await call('POST', `/sessions/${sessionId}/connect`)).status, 200);
    const { key, keyId } = (await call('POST', '/api-keys/create', { name: 'agent', permissions })).body;
    const agent = bearer(server.url, key);
    const sendAt = new Date(clock.now() + HOUR_MS).toISOString();
    const schedule = async () => {
      const { status, body } = await agent('POST', '/messages/send', { sessionId, to, message: 'later', sendAt });
      assert.equal(status, 201, JSON.stringify(body));
      return body;
    };
    const settled = (messageId: string) =>
      eventually(
        async () => (await call('GET', `/messages/${messageId}`)).body,
        ({ status }) => !['scheduled', 'queued'].includes(status),
      );
    return { server, clock, call, agent, keyId, sessionId, schedule, settled };
  }

  it('fail if the key may no longer send scheduled messages', async (test) => {
    for (const [change, words] of [
      [{ permissions: ['messages:read'] }, /may no longer send messages/],
      [{ allowedRecipients: ['491701112223'] }, /may no longer send to 491707654321/],
      [{ requiresApproval: true }, /now needs approval/],
    ] as const) {
      const { clock, call, keyId, schedule, settled } = await setUp(test);
      const { messageId, createdByKeyId } = await schedule();
      assert.equal(createdByKeyId, keyId);
      assert.equal((await call('PATCH', `/api-keys/${keyId}`, change)).status, 200);
      clock.skip(HOUR_MS);
      const { status, error } = await settled(messageId);
      assert.equal(status, 'failed', JSON.stringify(change));
      assert.match(error, words);
    }
  });

  it('go out within the limits of the key, and after it has ended', async (test) => {
    const { clock, call, keyId, schedule, settled } = await setUp(test);
    const [first, second] = [await schedule(), await schedule()];
    const login = (await call('POST', '/messages/send', { to, message: 'by a login' })).body;
    assert.equal(login.createdByKeyId, undefined);
    assert.equal((await call('PATCH', `/api-keys/${keyId}`, { allowedRecipients: [to] })).status, 200);
    clock.skip(HOUR_MS);
    assert.equal((await settled(first.messageId)).status, 'sent');
    const { body } = await call('DELETE', `/api-keys/${keyId}`);
    assert.deepEqual(body, { keyId, revoked: true });
    assert.equal((await settled(second.messageId)).status, 'sent');
  });

  it('are removed with the revocation on request', async (test) => {
    const { call, agent, keyId, sessionId, schedule } = await setUp(test);
    const { messageId } = await schedule();
    const held = (await call('POST', '/api-keys/create', { name: 'held', requiresApproval: true })).body;
    const own = (await call('POST', '/webhooks/endpoints', hook('https://example.com/own'))).body;
    const made = (await agent('POST', '/webhooks/endpoints', hook('https://example.com/agent'))).body;
    assert.deepEqual([own.setByKeyId, made.setByKeyId], [null, keyId]);
    const options = { calls: { autoReject: true, message: 'Call later' } };
    assert.equal((await agent('PATCH', `/sessions/${sessionId}`, { options })).body.callTextKeyId, keyId);

    const { body } = await call('DELETE', `/api-keys/${keyId}?created=remove`);
    assert.deepEqual(body.removed, { messages: 1, webhooks: 1 });
    const cancelled = (await call('GET', `/messages/${messageId}`)).body;
    assert.equal(cancelled.status, 'failed');
    const left = (await call('GET', '/webhooks/endpoints')).body.data;
    assert.deepEqual(
      left.map(({ webhookId }: { webhookId: string }) => webhookId),
      [own.webhookId],
    );
    const session = (await call('GET', `/sessions/${sessionId}`)).body;
    assert.deepEqual([session.options, session.callTextKeyId], [{ calls: { autoReject: true } }, undefined]);
    assert.ok(held.keyId);
  });

  it('are removed by an interrupted revocation, which continues by itself, and do not go out in between', async (test) => {
    const { server, call, agent, keyId, schedule, settled } = await setUp(test);
    const [first, second] = [await schedule(), await schedule()];
    await agent('POST', '/webhooks/endpoints', hook('https://example.com/agent'));
    const away = () => Promise.reject(new AppError('storage_unavailable'));
    const cancel = test.mock.method(server.app.services.sender, 'cancel', away);
    assert.equal((await call('DELETE', `/api-keys/${keyId}?created=remove`)).status, 503);
    assert.equal((await agent('GET', '/messages')).status, 403);
    for (const [method, path, body] of [
      ['PATCH', '', { permissions: ['*'] }],
      ['POST', '/rotate', undefined],
    ] as const)
      assert.equal((await call(method, `/api-keys/${keyId}${path}`, body)).status, 404, 'it stays without permissions');
    cancel.mock.restore();
    await eventually(
      () => agent('GET', '/messages'),
      ({ status }) => status === 401,
    );
    for (const { messageId } of [first, second]) assert.equal((await settled(messageId)).status, 'failed');
    assert.deepEqual((await call('GET', '/webhooks/endpoints')).body.data, []);
    assert.equal((await call('DELETE', `/api-keys/${keyId}?created=remove`)).status, 404);
  });

  it('are removed with the revocation while their session is offline', async (test) => {
    const sent: string[] = [];
    const { call, clock, agent, keyId, sessionId, schedule } = await setUp(test);
    puppet.send = async ({ content }) => {
      sent.push(content.text);
      return { timestamp: Date.now() };
    };
    test.after(() => {
      puppet.send = async () => ({ timestamp: Date.now() });
    });
    const { messageId } = await schedule();
    const own = (await call('POST', '/messages/send', later(sessionId, clock.now()))).body;
    assert.equal((await call('POST', `/sessions/${sessionId}/disconnect`)).status, 200);
    clock.skip(HOUR_MS);
    const statusOf = async (id: string) => (await call('GET', `/messages/${id}`)).body.status;
    for (const id of [messageId, own.messageId])
      await eventually(
        () => statusOf(id),
        (status) => status === 'queued',
      );
    assert.equal((await agent('GET', `/messages/${messageId}`)).status, 200);

    const { body } = await call('DELETE', `/api-keys/${keyId}?created=remove`);
    assert.deepEqual(body.removed, { messages: 1, webhooks: 0 });
    assert.equal(await statusOf(messageId), 'failed');
    assert.equal((await call('POST', `/sessions/${sessionId}/connect`)).status, 200);
    await eventually(
      () => statusOf(own.messageId),
      (status) => status === 'sent',
    );
    assert.deepEqual(sent, ['by a login']);
  });

  const later = (sessionId: string, now: number) => {
    const sendAt = new Date(now + HOUR_MS).toISOString();
    return { sessionId, to, message: 'by a login', sendAt };
  };
  const hook = (webhookUrl: string) => ({ webhookUrl, events: ['message.sent'] });

  it('pause if the key may no longer set webhooks', async (test) => {
    const receiver = await startReceiver();
    test.after(() => receiver.close());
    for (const change of [{ permissions: ['messages:send'] }, { requiresApproval: true }]) {
      const { call, agent, keyId } = await setUp(test);
      const { body: made } = await agent('POST', '/webhooks/endpoints', hook(receiver.url));
      const { body: moved } = await call('POST', '/webhooks/endpoints', hook('https://example.com/own'));
      await agent('PATCH', `/webhooks/endpoints/${moved.webhookId}`, { description: 'same receiver' });
      assert.equal((await call('PATCH', `/api-keys/${keyId}`, change)).status, 200);
      const reasonOf = async (id: string) => {
        const { paused, pausedReason } = (await call('GET', `/webhooks/endpoints/${id}`)).body;
        return [paused, pausedReason];
      };
      assert.deepEqual(await reasonOf(made.webhookId), [true, PAUSED_BY_KEY]);
      assert.deepEqual(await reasonOf(moved.webhookId), [false, null]);
      const before = receiver.deliveries.length;
      await call('POST', '/messages/send', { to, message: 'secret' });
      const pending = async () =>
        (await call('GET', `/webhooks/deliveries?webhookId=${made.webhookId}`)).body.data.map(
          ({ state }: { state: string }) => state,
        );
      await eventually(pending, (states) => states.length > 0);
      assert.deepEqual([await pending(), receiver.deliveries.length], [['pending'], before]);
    }
  });

  it('do not reach callers once the key may no longer send texts', async (test) => {
    const texts: string[] = [];
    const { call, agent, keyId, sessionId } = await setUp(test);
    const rejected: string[] = [];
    puppet.parts = { rejectCall: async ({ callId }) => void rejected.push(callId) };
    puppet.send = async ({ content }) => {
      texts.push(content.text);
      return { timestamp: Date.now() };
    };
    test.after(() => {
      puppet.parts = {};
      puppet.send = async () => ({ timestamp: Date.now() });
    });
    await call('POST', `/sessions/${sessionId}/disconnect`);
    assert.equal((await call('POST', `/sessions/${sessionId}/connect`)).status, 200);
    const options = { calls: { autoReject: true, message: 'Call later' } };
    assert.equal((await agent('PATCH', `/sessions/${sessionId}`, { options })).status, 200);
    const ring = async (callId: string, from: string) => {
      const caller = { chat: { type: 'direct', id: from }, from, isVideo: false } as const;
      await puppet.host?.onEvent({ type: 'call', callId, ...caller, timestamp: Date.now() });
      await eventually(
        async () => rejected,
        (ids) => ids.includes(callId),
      );
    };
    await ring('C1', to);
    await eventually(
      async () => texts,
      (all) => all.length === 1,
    );
    assert.equal((await call('PATCH', `/api-keys/${keyId}`, { requiresApproval: true })).status, 200);
    await ring('C2', '491701112223');
    await call('POST', '/messages/send', { sessionId, to: PUPPET_NUMBER, message: 'a later one' });
    assert.deepEqual(texts, ['Call later', 'a later one']);
  });
});
