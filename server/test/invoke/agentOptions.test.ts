import assert from 'node:assert/strict';
import { it } from 'node:test';
import { startReceiver } from '../support/connections/receiver.ts';
import { describeOnEachDeployment } from '../support/databases/databases.ts';
import { bearer, connectSession, newNumber, pagesOf, serversFor } from '../support/server.ts';

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
    const again = await call('DELETE', `/messages/${messageId}`);
    assert.deepEqual([again.status, again.body], [200, body], 'a repeated call answers as the first');
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

  it('chats, contacts and groups are listed across sessions, in order, without losing or repeating any', async () => {
    const server = await start();
    const { call } = await server.account();
    const sessions = [await connectSession(call), await connectSession(call), await connectSession(call)];
    const people = ['491711111111', '491722222222', '491733333333'];
    for (const from of people)
      for (const sessionId of sessions)
        await call('POST', `/sessions/${sessionId}/simulate`, {
          action: 'incoming',
          from,
          senderName: `Name of ${from}`,
          message: `to ${sessionId}`,
        });
    for (const sessionId of sessions)
      await call('POST', '/groups', { sessionId, subject: 'Team', phoneNumbers: people });
    const walk = async (as: typeof call, path: string) => {
      const pages = await pagesOf(as, path, 2);
      return pages.flat();
    };

    const chats = await walk(call, '/chats');
    assert.equal(new Set(chats.map(({ sessionId, chatId }) => `${sessionId} ${chatId}`)).size, chats.length);
    const direct = chats.filter(({ type }) => type === 'direct');
    assert.deepEqual(
      direct.map(({ sessionId, chatId, name }) => [sessionId, chatId, name]),
      people.flatMap((from) => sessions.map((sessionId) => [sessionId, from, `Name of ${from}`])).toReversed(),
    );
    for (const { type, name } of chats) if (type === 'group') assert.equal(name, 'Team');

    const [first = '', second = ''] = sessions;
    await call('POST', `/chats/${people[0]}/read`, { sessionId: first });
    const unread = await walk(call, '/chats?unread=true');
    assert.equal(unread.length, people.length * sessions.length - 1);
    assert.ok(unread.every(({ unreadCount }) => unreadCount > 0));
    const read = await walk(call, `/chats?unread=false&sessionId=${first}`);
    assert.ok(read.some(({ chatId }) => chatId === people[0]));
    assert.ok(read.every(({ sessionId, unreadCount }) => sessionId === first && unreadCount === 0));

    const contacts = await walk(call, '/contacts');
    assert.deepEqual(
      contacts.map(({ phoneNumber, sessionId }) => `${phoneNumber} ${sessionId}`),
      people.flatMap((from) => sessions.map((sessionId) => `${from} ${sessionId}`)),
    );
    assert.equal((await walk(call, `/contacts?sessionId=${second}`)).length, people.length);
    assert.equal((await walk(call, '/contacts?q=4917222')).length, sessions.length);
    const groups = await walk(call, '/groups');
    assert.deepEqual(groups.map(({ sessionId }) => sessionId).sort(), sessions);
    await call('POST', '/groups', { sessionId: first, subject: '100% "Tea_time"', phoneNumbers: people });
    for (const [q, count] of [
      ['tea', 4],
      ['TEAM', 3],
      ['0%', 1],
      ['a_t', 1],
      ['coffee', 0],
    ] as const)
      assert.equal((await walk(call, `/groups?q=${encodeURIComponent(q)}`)).length, count, q);
    for (const { participants } of groups)
      assert.deepEqual(
        participants.flatMap(({ phoneNumber, name }: Record<string, string>) => (name ? [[phoneNumber, name]] : [])),
        people.map((from) => [from, `Name of ${from}`]),
      );

    // A key that is limited to sessions sees those only, and nobody sees another account.
    const limit = { name: 'two', sessionIds: [first, second] };
    const limited = bearer(server.url, (await call('POST', '/api-keys/create', limit)).body.key);
    const { call: stranger } = await server.account();
    for (const path of ['/chats', '/contacts', '/groups']) {
      const seen = (await walk(limited, path)).map(({ sessionId }) => sessionId);
      assert.deepEqual([...new Set(seen)].sort(), [first, second], path);
      assert.equal((await limited('GET', `${path}?sessionId=${sessions[2]}`)).status, 404, path);
      assert.deepEqual((await stranger('GET', path)).body.data, [], path);
    }
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
    const chosen = (await call('GET', `/webhooks?webhookId=${webhookId}`)).body;
    assert.deepEqual([chosen.webhookUrl, chosen.others], [other.url, undefined]);
    const standard = (await call('GET', '/webhooks')).body;
    assert.deepEqual([standard.webhookUrl, standard.others], [byDefault.url, [{ webhookId, webhookUrl: other.url }]]);
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
