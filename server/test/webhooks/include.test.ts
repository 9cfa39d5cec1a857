import assert from 'node:assert/strict';
import { it } from 'node:test';
import { startReceiver } from '../support/connections/receiver.ts';
import { describeOnEachDeployment } from '../support/databases/databases.ts';
import { eventually } from '../support/eventually.ts';
import { bearer, type Call, connectSession, eventOf, newNumber, serversFor } from '../support/server.ts';

const ANN = '491711111111';

describeOnEachDeployment('the fields that a webhook adds', (_, database) => {
  const start = serversFor(database);

  async function setUp(test: { after(cleanUp: () => Promise<void>): void }) {
    const server = await start();
    const { call } = await server.account();
    const receiver = await startReceiver();
    test.after(() => receiver.close());
    const sessionId = await connectSession(call, newNumber(), { name: 'Sales', metadata: { team: 'a' } });
    const create = (events: readonly string[], more: object = {}) =>
      call('POST', '/webhooks/endpoints', { webhookUrl: receiver.url, events, ...more });
    const simulate = (action: string, fields: object) =>
      call('POST', `/sessions/${sessionId}/simulate`, { action, ...fields });
    const write = (fields: object = {}) =>
      simulate('incoming', { from: ANN, senderName: 'Ann', message: 'Hi', ...fields });
    return { server, call, receiver, sessionId, create, simulate, write };
  }

  const usual = ['messageId', 'from', 'message', 'timestamp', 'sessionId', 'chatId', 'to', 'type'];

  it('are none by default if it receives only the first event types', async (test) => {
    const { receiver, create, write } = await setUp(test);
    const { body } = await create(['message.incoming']);
    assert.deepEqual(body.include, []);
    await write();
    await receiver.waitFor(1);
    assert.deepEqual(Object.keys(receiver.deliveries[0]?.parsed.data), usual);
  });

  it('are those of the network and of the contact by default if it receives others', async (test) => {
    const { call, receiver, create, write, sessionId } = await setUp(test);
    const { body } = await create(['message.*']);
    assert.deepEqual(body.include, ['network', 'contact']);
    await write();
    await receiver.waitFor(1);
    const { data } = receiver.deliveries[0]?.parsed ?? assert.fail();
    const { networkId, ...rest } = data;
    assert.deepEqual(Object.keys(data).slice(0, usual.length), usual, 'the fields of the event come first');
    assert.deepEqual([rest.networkChatId, rest.networkFrom, rest.senderName], [ANN, ANN, 'Ann']);
    assert.equal(rest.session, undefined);
    const { body: message } = await call('GET', `/messages/${data.messageId}`);
    assert.equal(networkId, message.networkId);

    const { body: sent } = await call('POST', '/messages/send', { sessionId, to: ANN, message: 'x' });
    await receiver.waitFor((all) => all.some(({ event }) => event === 'message.sent'));
    const { parsed } = receiver.deliveries.find(({ event }) => event === 'message.sent') ?? assert.fail();
    const { body: shown } = await call('GET', `/messages/${sent.messageId}`);
    assert.deepEqual([parsed.data.networkId, parsed.data.networkChatId], [shown.networkId, ANN]);
  });

  it('tell a strict reader what a group is, and to whom a message goes', async (test) => {
    const { call, receiver, create, simulate, write, sessionId } = await setUp(test);
    await create(['message.incoming', 'message.sent'], { include: ['chat', 'session', 'network'] });
    await simulate('group_create', { from: ANN, subject: 'Team', phoneNumbers: [] });
    const { groupId } = await eventOf(call, 'group.created');
    await write({ groupId });
    await receiver.waitFor(1);
    const { body: group } = await call('GET', `/groups/${groupId}`);
    const { data } = receiver.deliveries[0]?.parsed ?? assert.fail();
    assert.deepEqual(
      [data.isGroup, data.groupId, data.participant, data.toNumber, data.networkChatId, data.networkGroupId],
      [true, groupId, ANN, null, group.networkGroupId, group.networkGroupId],
    );
    assert.deepEqual(data.session, { name: 'Sales', metadata: { team: 'a' } });
    assert.equal(data.senderName, undefined);
    for (const to of [groupId, ANN]) await call('POST', '/messages/send', { sessionId, to, message: 'x' });
    await receiver.waitFor(3);
    const sent = receiver.deliveries.filter(({ event }) => event === 'message.sent').map(({ parsed }) => parsed.data);
    assert.deepEqual(sent.map(({ to, toNumber, isGroup }) => [to, toNumber, isGroup]).toSorted(), [
      [ANN, ANN, false],
      [groupId, null, true],
    ]);
  });

  it('are signed, and looked up again for a replay', async (test) => {
    const { call, receiver, create, simulate, write } = await setUp(test);
    const { webhookId } = (await create(['message.incoming'], { include: ['contact'], secret: 'a secret of the test' }))
      .body;
    await write();
    await receiver.waitFor(1);
    await simulate('rename', { from: ANN, senderName: 'Anna' });
    await eventOf(call, 'contact.updated', ({ name }) => name === 'Anna');
    const { data } = (
      await eventually(
        () => call('GET', `/webhooks/deliveries?webhookId=${webhookId}`),
        ({ body }) => body.data[0].state === 'delivered',
      )
    ).body;
    await call('POST', '/webhooks/replay', { deliveryIds: [data[0].deliveryId] });
    await receiver.waitFor(2);
    const [first, second] = receiver.deliveries;
    assert.deepEqual([first?.parsed.data.senderName, second?.parsed.data.senderName], ['Ann', 'Anna']);
    assert.equal(first?.id, second?.id);
    assert.notEqual(first?.headers['x-webhook-signature'], second?.headers['x-webhook-signature']);
    const { body: shown } = await call('GET', `/webhooks/deliveries/${data[0].deliveryId}`);
    assert.equal(JSON.parse(shown.body).data.senderName, 'Anna');
  });

  it('can be changed, and unknown groups are rejected', async (test) => {
    const { call, create } = await setUp(test);
    const { webhookId } = (await create(['message.incoming'])).body;
    const change = (include: unknown) => call('PATCH', `/webhooks/endpoints/${webhookId}`, { include });
    assert.deepEqual((await change(['session', 'chat'])).body.include, ['session', 'chat']);
    assert.deepEqual((await change([])).body.include, []);
    assert.deepEqual((await change(null)).body.include, []);
    for (const wrong of [['everything'], 'network', ['chat', 'chat']]) {
      const { status, body } = await change(wrong);
      assert.equal(status, 400, JSON.stringify(wrong));
      assert.match(body.errors[0].field, /^include/);
    }
    const tested = await call('GET', `/webhooks/endpoints/${webhookId}/test`);
    assert.equal(JSON.parse(tested.body.request.body).data.senderName, undefined);
    await change(['contact']);
    const { body } = await call('GET', `/webhooks/endpoints/${webhookId}/test`);
    assert.equal(JSON.parse(body.request.body).data.senderName, 'Test');
  });

  it('are all in the log, without names for callers who may see only metadata', async (test) => {
    const { server, call, write } = await setUp(test);
    await write();
    await eventOf(call, 'message.incoming');
    const logged = async (as: Call) => (await as('GET', '/events?events=message.incoming')).body.data[0].data;
    const all = await logged(call);
    assert.deepEqual(
      [all.senderName, all.networkFrom, all.isGroup, all.session],
      ['Ann', ANN, false, { name: 'Sales', metadata: { team: 'a' } }],
    );
    const { body } = await call('POST', '/api-keys/create', { name: 'meta', permissions: ['events:metadata'] });
    const some = await logged(bearer(server.url, body.apiKey ?? body.key));
    assert.deepEqual([some.senderName, some.networkFrom, some.contentHidden], [undefined, ANN, true]);
    assert.equal(some.session, undefined, 'needs `sessions:read`');
  });
});
