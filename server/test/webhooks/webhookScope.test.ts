import assert from 'node:assert/strict';
import { it } from 'node:test';
import { startReceiver } from '../support/connections/receiver.ts';
import { describeOnEachDeployment } from '../support/databases/databases.ts';
import { eventually } from '../support/eventually.ts';
import { connectSession, serversFor } from '../support/server.ts';

describeOnEachDeployment('a webhook of some sessions', (_, database) => {
  const start = serversFor(database);

  /** An account with two sessions and a receiver that gets everything. */
  async function setUp(test: { after(cleanUp: () => Promise<void>): void }) {
    const { call } = await (await start()).account();
    const [mine, other] = [await connectSession(call), await connectSession(call)];
    const [receiver, witness] = [await startReceiver(), await startReceiver()];
    test.after(async () => {
      await receiver.close();
      await witness.close();
    });
    await call('POST', '/webhooks/endpoints', { webhookUrl: witness.url, events: ['message.sent'] });
    const create = (fields: object) =>
      call('POST', '/webhooks/endpoints', { webhookUrl: receiver.url, events: ['message.sent'], ...fields });
    const send = async (sessionId: string, message: string) =>
      assert.equal((await call('POST', '/messages/send', { sessionId, to: '491701112233', message })).status, 201);
    return { call, mine, other, receiver, witness, create, send };
  }

  const sessionsIn = (deliveries: readonly { readonly parsed: { data: { sessionId: string } } }[]) =>
    deliveries.map(({ parsed }) => parsed.data.sessionId);

  it('receives no events of other sessions', async (test) => {
    const { call, mine, other, receiver, witness, create, send } = await setUp(test);
    const { status, body } = await create({ sessionIds: [mine], description: 'orders', metadata: { team: 'sales' } });
    assert.equal(status, 201);
    const { webhookId } = body;
    assert.deepEqual([body.sessionIds, body.description, body.metadata], [[mine], 'orders', { team: 'sales' }]);
    const { cancelled: _, warnings: __, ...shown } = body;
    assert.deepEqual((await call('GET', `/webhooks/endpoints/${webhookId}`)).body, shown);

    for (const sessionId of [other, mine, other, mine]) await send(sessionId, 'hello');
    await witness.waitFor(4);
    await receiver.waitFor(2);
    assert.deepEqual(sessionsIn(receiver.deliveries), [mine, mine]);
    const listed = (await call('GET', `/webhooks/deliveries?webhookId=${webhookId}`)).body.data;
    assert.equal(listed.length, 2);

    const widened = (await call('PATCH', `/webhooks/endpoints/${webhookId}`, { sessionIds: null })).body;
    assert.deepEqual([widened.sessionIds, widened.description], [null, 'orders']);
    await send(other, 'hello');
    await receiver.waitFor(3);
    assert.deepEqual(sessionsIn(receiver.deliveries), [mine, mine, other]);
  });

  it('cancels pending deliveries of sessions that it drops, and no others', async (test) => {
    const { call, mine, other, receiver, create, send } = await setUp(test);
    receiver.respond(503);
    const { webhookId } = (await create({})).body;
    await send(mine, 'hello');
    await send(other, 'hello');
    await receiver.waitFor(2);
    assert.equal((await call('PATCH', `/webhooks/endpoints/${webhookId}`, { sessionIds: [mine] })).status, 200);
    const inState = async (state: string) =>
      (await call('GET', `/webhooks/deliveries?webhookId=${webhookId}&states=${state}`)).body.data;
    const [cancelled] = await eventually(
      () => inState('cancelled'),
      (found) => found.length === 1,
    );
    assert.equal((await inState('pending')).length, 1);
    const { body } = await call('GET', `/webhooks/deliveries/${cancelled.deliveryId}`);
    assert.match(JSON.stringify(body), /no longer receives the events of this session/);
  });

  it('keeps deleted sessions in its list, so that it can be saved as it was read', async (test) => {
    const { call, mine, other, create } = await setUp(test);
    const { webhookId } = (await create({ sessionIds: [mine, other, mine] })).body;
    assert.equal((await call('DELETE', `/sessions/${other}`)).status, 200);
    const path = `/webhooks/endpoints/${webhookId}`;
    const { sessionIds } = (await call('GET', path)).body;
    assert.deepEqual(sessionIds, [mine, other]);
    assert.equal((await call('PATCH', path, { sessionIds, description: 'changed' })).status, 200);
  });

  it('is never the default one, which the contract describes', async (test) => {
    const { call, mine, receiver } = await setUp(test);
    await call('POST', '/webhooks/set', { webhookUrl: receiver.url, events: ['message.sent'] });
    const { data } = (await call('GET', '/webhooks/endpoints')).body;
    const { webhookId } = data.find(({ isDefault }: { isDefault: boolean }) => isDefault);
    const { status, body } = await call('PATCH', `/webhooks/endpoints/${webhookId}`, { sessionIds: [mine] });
    assert.deepEqual([status, body.errors[0].code], [400, 'default_webhook']);
  });

  it('has metadata with short keys, as sessions do', async (test) => {
    const { call, mine, create } = await setUp(test);
    const metadata = { ['k'.repeat(41)]: 'v' };
    for (const { status, body } of [
      await create({ metadata }),
      await call('POST', '/sessions', { metadata }),
      await call('PATCH', `/sessions/${mine}`, { metadata }),
    ])
      assert.deepEqual([status, body.errors[0].field], [400, 'metadata']);
    assert.equal((await create({ metadata: { ['k'.repeat(40)]: 'v' } })).status, 201);
  });

  it('is refused for sessions that the account does not have', async (test) => {
    const { call, mine, create } = await setUp(test);
    const stranger = await (await start()).account();
    const foreign = await connectSession(stranger.call);
    for (const sessionIds of [[mine, foreign], ['ses_none'], [], 'all']) {
      const { status, body } = await create({ sessionIds });
      assert.equal(status, 400);
      assert.match(body.errors[0].field, /^sessionIds/);
    }
    const { webhookId } = (await create({ sessionIds: [mine] })).body;
    const { status, body } = await call('PATCH', `/webhooks/endpoints/${webhookId}`, { sessionIds: [foreign] });
    assert.deepEqual([status, body.errors[0].field], [400, 'sessionIds']);
    assert.deepEqual((await call('GET', `/webhooks/endpoints/${webhookId}`)).body.sessionIds, [mine]);
  });
});
