import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { operations } from '../src/operations/index.ts';
import { eventually } from './support/eventually.ts';
import { callTool, mcpClient } from './support/mcp.ts';
import { startReceiver } from './support/receiver.ts';
import { connectSession, newNumber, startServer, type TestServer } from './support/server.ts';

/* Renamed input fields: the former names stay valid, and only programs of before see them. */

let server: TestServer;
before(async () => {
  server = await startServer();
});
after(() => server.stop());

const DAY_MS = 24 * 3600 * 1000;
const yesterday = new Date(Date.now() - DAY_MS).toISOString();
const tomorrow = new Date(Date.now() + DAY_MS).toISOString();

/** Inputs under the present and under the former names, by the tool that they are for. */
const inputs: readonly (readonly [tool: string, present: object, former: object])[] = [
  ['messages_list', { afterTime: yesterday, beforeTime: tomorrow }, { after: yesterday, before: tomorrow }],
  ['messages_list', { afterTime: tomorrow }, { after: tomorrow }],
  [
    'webhooks_list_deliveries',
    { states: ['delivered'], events: ['message.incoming'], afterTime: yesterday, beforeTime: tomorrow },
    { state: 'delivered', event: 'message.incoming', after: yesterday, before: tomorrow },
  ],
  ['webhooks_list_deliveries', { states: ['failed'] }, { state: 'failed' }],
  ['events_list', { events: ['message.incoming'] }, { kinds: ['message.incoming'] }],
  ['events_list', { afterCursor: 'now' }, { after: 'now' }],
  [
    'webhooks_replay',
    { afterTime: yesterday, beforeTime: tomorrow, events: ['message.incoming'], states: ['delivered'], dryRun: true },
    { from: yesterday, to: tomorrow, kinds: ['message.incoming'], states: ['delivered'], dryRun: true },
  ],
];

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

it('former names of input fields select the same as the present ones, over MCP and REST', async () => {
  const { call, client, close } = await setUp();
  const sizes = new Set<number>();
  for (const [tool, present, former] of inputs) {
    const [now, then] = [await callTool(client, tool, { ...present }), await callTool(client, tool, { ...former })];
    assert.deepEqual([now.isError, then.isError], [false, false], `${tool}: ${JSON.stringify(then.output)}`);
    assert.deepEqual(then.output, now.output, tool);
    sizes.add(now.output.data?.length ?? now.output.matched);
    const operation = operations.find(({ id }) => id.replaceAll('.', '_') === tool);
    assert.ok(operation);
    const { method, path } = operation;
    const viaRest = async (input: object) => {
      if (method !== 'GET') return (await call(method, path, input)).body;
      const query = new URLSearchParams(Object.entries(input).map(([name, value]) => [name, String(value)]));
      return (await call('GET', `${path}?${query}`)).body;
    };
    assert.deepEqual(await viaRest(former), await viaRest(present), path);
  }
  assert.deepEqual([...sizes].sort(), [0, 1], 'the filters select');
  await close();
});

it('errors name the field as the caller did, and a field under both names is refused', async () => {
  const { call, client, close } = await setUp();
  for (const [tool, input, field, message] of [
    ['events_list', { after: 'nowhere' }, 'after', /^after is not a cursor/],
    ['events_list', { afterCursor: 'nowhere' }, 'afterCursor', /^afterCursor is not a cursor/],
    ['events_list', { kinds: ['no.such'] }, 'kinds', /not an event type/],
    ['events_list', { events: ['no.such'] }, 'events', /not an event type/],
    ['webhooks_list_deliveries', { event: 'no.such' }, 'event', /not an event type/],
    ['webhooks_list_deliveries', { state: 'lost' }, 'state', /^state must be one of pending/],
    ['messages_list', { after: 'yesterday' }, 'after', /^after must be a time/],
    ['messages_list', { after: '2026-02-30T00:00:00Z' }, 'after', /^after must be/],
    ['messages_list', { after: yesterday, afterTime: yesterday }, 'after', /former name of `afterTime`/],
    ['webhooks_replay', { from: '2026-02-30T00:00:00Z', to: tomorrow }, 'from', /^from must be/],
  ] as const) {
    const { isError, output } = await callTool(client, tool, { ...input });
    assert.deepEqual([isError, output.code, output.errors?.[0]?.field], [true, 'validation_failed', field]);
    assert.match(output.detail, message);
  }
  const { status, body } = await call('GET', '/events?kinds=no.such');
  assert.deepEqual([status, body.errors[0].field], [400, 'kinds']);
  await close();
});

it('agents see only the present names, and the same name for the same thing', async () => {
  const { token } = await server.account();
  const client = await mcpClient(server, token, '2026-07-28');
  const { tools } = await client.listTools();
  const names = new Map(tools.map(({ name, inputSchema }) => [name, Object.keys(inputSchema.properties ?? {})]));
  for (const former of ['kinds', 'after', 'before', 'eventType', 'kind'])
    for (const [tool, fields] of names) assert.ok(!fields.includes(former), `${tool}: ${former}`);
  for (const [tool, , former] of inputs)
    for (const name of Object.keys(former).filter((one) => !['states', 'dryRun'].includes(one)))
      assert.ok(!names.get(tool)?.includes(name), `${tool}: ${name}`);
  await client.close();
});

it('deliveries are found by their chat, also of a group', async () => {
  const { call, client, from, receiver, close } = await setUp();
  const { data } = (await callTool(client, 'webhooks_list_deliveries', { chatId: from })).output;
  assert.equal(data.length, 1);
  assert.deepEqual((await call('GET', `/webhooks/deliveries?phoneNumber=${from}`)).body.data, data);
  const none = await callTool(client, 'webhooks_list_deliveries', { chatId: newNumber() });
  assert.deepEqual([none.isError, none.output.code], [true, 'not_found']);
  assert.deepEqual((await call('GET', `/webhooks/deliveries?phoneNumber=${newNumber()}`)).body.data, []);
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
