import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { startReceiver } from '../support/connections/receiver.ts';
import { eventually } from '../support/eventually.ts';
import { callTool, mcpClient } from '../support/mcp/mcp.ts';
import { connectSession, newNumber, startServer, type TestServer } from '../support/server.ts';

let server: TestServer;
before(async () => {
  server = await startServer();
});
after(() => server.stop());

async function setUp() {
  const receiver = await startReceiver();
  const { call, token } = await server.account();
  const sessionId = await connectSession(call);
  await call('POST', '/webhooks/set', { webhookUrl: receiver.url, events: ['message.incoming'] });
  const from = newNumber();
  await call('POST', `/sessions/${sessionId}/simulate`, { action: 'incoming', from, message: 'x' });
  await receiver.waitFor(1);
  const client = await mcpClient(server, token, '2026-07-28');
  // The delivery is settled a moment after the receiver has it.
  await eventually(
    async () => (await call('GET', '/webhooks/deliveries?states=delivered')).body.data,
    (data) => data.length === 1,
  );
  return {
    ...{ call, client, from, receiver },
    close: async () => {
      await client.close();
      await receiver.close();
    },
  };
}

it('deliveries are found by their chat, also of a group', async () => {
  const { call, client, from, receiver, close } = await setUp();
  const { data } = (await callTool(client, 'webhooks_list_deliveries', { chatId: from })).output;
  assert.equal(data.length, 1);
  const none = await callTool(client, 'webhooks_list_deliveries', { chatId: newNumber() });
  assert.deepEqual([none.isError, none.output.code], [true, 'not_found']);
  await call('POST', '/webhooks/set', { webhookUrl: receiver.url, events: ['message.sent'] });
  const { groupId } = (await call('POST', '/groups', { subject: 'Team', phoneNumbers: [from] })).body;
  const { messageId } = (await call('POST', '/messages/send', { to: groupId, message: 'x' })).body;
  const ofGroup = (await callTool(client, 'webhooks_list_deliveries', { chatId: groupId })).output.data;
  assert.deepEqual(
    ofGroup.map((delivery: { messageId: string }) => delivery.messageId),
    [messageId],
  );
  await close();
});
