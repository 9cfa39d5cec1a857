import assert from 'node:assert/strict';
import { after, before, describe, it, type TestContext } from 'node:test';
import { callTool, mcpClient } from '../support/mcp/mcp.ts';
import { type Call, connectSession, startServer, type TestServer } from '../support/server.ts';

describe('a call for a session of another node', () => {
  let server: TestServer;
  let call: Call;
  let sessionId: string;
  let nodeId: string;

  before(async () => {
    server = await startServer({ database: 'two nodes' });
    ({ call } = await server.account());
    sessionId = await connectSession(call);
    ({ nodeId } = server.app.services.cluster);
  });
  after(() => server.stop());

  const send = (message: string, headers?: Record<string, string>) =>
    call('POST', '/messages/send', { sessionId, to: '491707654321', message }, headers);

  const textsSent = async () => {
    const { body } = await call('GET', '/messages');
    return body.data.map(({ message }: { message: string }) => message);
  };

  /** Lets the node decide to run the next call itself, and moves the session right after the decision. */
  function decideWrongly(test: TestContext) {
    return test.mock.method(server.app.services.cluster.sessions, 'ownerOf', async () => 'nobody' as const, {
      times: 1,
    });
  }

  it('leaves no state on the node that forwards it', async () => {
    const { status } = await send('one', { 'idempotency-key': 'one' });
    assert.equal(status, 201);
    const keys = await server.app.services.database.reader.kysely
      .selectFrom('idempotency_keys')
      .select('owner')
      .where('idempotency_key', '=', 'one')
      .execute();
    assert.equal(keys.length, 1);
    assert.notEqual(keys[0]?.owner, nodeId);
    assert.equal((await send('one', { 'idempotency-key': 'one' })).headers.get('idempotency-replayed'), 'true');
    assert.deepEqual(await textsSent(), ['one']);
  });

  it('sends once if the session moves after the routing decision', async (test) => {
    const decision = decideWrongly(test);
    const { status, body } = await send('two');
    assert.deepEqual([status, body.status, decision.mock.callCount()], [201, 'sent', 1]);
    const again = decideWrongly(test);
    const key = { 'idempotency-key': 'three' };
    const first = await send('three', key);
    assert.deepEqual([first.status, first.body.status, again.mock.callCount()], [201, 'sent', 1]);
    assert.equal((await send('three', key)).body.messageId, first.body.messageId);
    assert.deepEqual(await textsSent(), ['three', 'two', 'one']);
  });

  it('is rejected if it names a session of another account', async () => {
    const stranger = await server.account();
    const message = { sessionId, to: '491707654321', message: 'mine' };
    assert.equal((await stranger.call('POST', '/messages/send', message)).status, 404);
    assert.equal((await stranger.call('POST', `/sessions/${sessionId}/disconnect`)).status, 404);
  });

  it('is sent once over MCP to the only session that has the chat', async (test) => {
    const account = await server.account();
    const sessions = [await connectSession(account.call), await connectSession(account.call)];
    const to = '491707654321';
    await account.call('POST', '/messages/send', { sessionId: sessions[1], to, message: 'first' });
    const { key } = (await account.call('POST', '/api-keys/create', { name: 'agent' })).body;
    const client = await mcpClient(server, key, '2026-07-28');
    test.after(() => client.close());
    const forwarded = test.mock.method(server.app.services.forward, 'to');
    const input = { to, message: 'second', idempotencyKey: 'derived' };
    const first = await callTool(client, 'messages_send', input);
    assert.deepEqual([first.isError, first.output.sessionId], [false, sessions[1]], JSON.stringify(first.output));
    assert.equal(forwarded.mock.callCount(), 1);
    await account.call('POST', '/messages/send', { sessionId: sessions[0], to, message: 'third' });
    const second = await callTool(client, 'messages_send', input);
    assert.equal(second.output.messageId, first.output.messageId, 'the first result, although both have the chat now');
  });

  it('is not forwarded if it schedules a message', async (test) => {
    const { forward } = server.app.services;
    const forwarded = test.mock.method(forward, 'to');
    const sendAt = new Date(Date.now() + 3_600_000).toISOString();
    const later = await call('POST', '/messages/send', { sessionId, to: '491707654321', message: 'later', sendAt });
    assert.deepEqual([later.status, later.body.status, forwarded.mock.callCount()], [201, 'scheduled', 0]);
  });
});
