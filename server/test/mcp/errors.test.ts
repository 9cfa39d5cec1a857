import assert from 'node:assert/strict';
import { after, before, it, type TestContext } from 'node:test';
import { callTool, mcpClient } from '../support/mcp/mcp.ts';
import { connectSession, newNumber, startServer, type TestServer } from '../support/server.ts';

let server: TestServer;
before(async () => {
  server = await startServer();
});
after(() => server.stop());

/** An agent with full permissions, and a function that returns the errors of its calls. */
async function agent(test: TestContext) {
  const { call } = await server.account();
  const { key } = (await call('POST', '/api-keys/create', { name: 'agent' })).body;
  const client = await mcpClient(server, key, '2026-07-28');
  test.after(() => client.close());
  const sessionId = await connectSession(call);
  const refusal = async (name: string, input: Record<string, unknown>) => {
    const { isError, output } = await callTool(client, name, input);
    assert.ok(isError, name);
    return output;
  };
  return { call, sessionId, refusal };
}

it('an error names the invalid field and lists its allowed values', async (test) => {
  const { refusal } = await agent(test);
  const field = async (name: string, input: Record<string, unknown>) => (await refusal(name, input)).errors[0];
  const state = await field('chats_set_typing', { chatId: newNumber(), state: 'singing' });
  assert.deepEqual(
    [state.field, state.code, state.message],
    ['state', 'enum', 'must be one of typing, recording, paused'],
  );
  const status = await field('messages_list', { status: 'lost' });
  assert.match(status.message, /queued, scheduled, sent/);
  for (const [name, input, expected] of [
    ['events_list', { events: ['message.sent', 'nope'] }, 'events'],
    [
      'webhooks_replay',
      { afterTime: '2026-01-01T00:00:00Z', beforeTime: '2026-01-02T00:00:00Z', events: ['nope'] },
      'events',
    ],
    ['webhooks_list_deliveries', { events: ['nope'] }, 'events'],
    ['webhooks_set', { webhookUrl: 'https://example.com', events: ['nope'] }, 'events'],
  ] as const) {
    const error = await field(name, input);
    assert.equal(error.field, expected, name);
    assert.match(error.message, /message\.incoming/, name);
  }
});

it('an error about a time mentions its missing offset', async (test) => {
  const { refusal } = await agent(test);
  const to = newNumber();
  for (const sendAt of ['2026-07-01T12:00:00', 'tomorrow', '2020-07-01T12:00:00Z']) {
    const { code, errors } = await refusal('messages_send', { to, message: 'hello', sendAt });
    assert.deepEqual([code, errors[0].field], ['validation_failed', 'sendAt'], sendAt);
    assert.match(errors[0].message, /offset/, sendAt);
  }
});

it('an error about a time that is too far ahead mentions the limit', async (test) => {
  const { refusal } = await agent(test);
  const { code, errors } = await refusal('messages_send', {
    to: newNumber(),
    message: 'hello',
    sendAt: '2199-07-01T12:00:00Z',
  });
  assert.deepEqual([code, errors[0].field], ['validation_failed', 'sendAt']);
  assert.match(
    errors[0].message,
    /^must be at most 366 days ahead, which is \d{4}-.*Z; it is 2199-07-01T12:00:00.000Z$/,
  );
});

it('an operation for admins only has an error code of its own, and suggests no other key', async (test) => {
  const { call, sessionId, refusal } = await agent(test);
  const from = newNumber();
  await call('POST', `/sessions/${sessionId}/simulate`, {
    action: 'group_create',
    from,
    subject: 'Theirs',
    phoneNumbers: [],
  });
  const [{ groupId }] = (await call('GET', '/groups')).body.data;
  const denied = await refusal('groups_update', { groupId, settings: { announce: true } });
  assert.equal(denied.code, 'network_denied');
  assert.match(denied.detail, /admin/);
  assert.doesNotMatch(denied.hint, /key/);
  const { status, body } = await call('PATCH', `/groups/${groupId}`, { settings: { announce: true } });
  assert.deepEqual([status, body.code], [403, 'network_denied']);
});
