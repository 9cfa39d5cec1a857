import assert from 'node:assert/strict';
import { after, before, describe, it, type TestContext } from 'node:test';
import { eventKinds } from '../../src/events/events.ts';
import { startReceiver } from '../support/connections/receiver.ts';
import { eventually } from '../support/eventually.ts';
import { mcpClient, type ProtocolVersion, protocolVersions } from '../support/mcp/mcp.ts';
import { newNumber, startServer, type TestServer } from '../support/server.ts';

let server: TestServer;
before(async () => {
  server = await startServer();
});
after(() => server.stop());

const CHATS = 'switchboard://sessions/{sessionId}/chats';
const MESSAGES = `${CHATS}/{chatId}/messages`;

/** An account with two named sessions, a chat in the first, and a client for a key with these limits. */
async function accountWithChats(test: TestContext, limits: object = {}, version: ProtocolVersion = '2026-07-28') {
  const { call } = await server.account();
  const named = async (name: string) => (await call('POST', '/sessions', { name })).body.sessionId as string;
  const [support, sales] = [await named('support'), await named('sales desk')];
  for (const sessionId of [support, sales]) await call('POST', `/sessions/${sessionId}/connect`);
  const anna = newNumber();
  await call('POST', `/sessions/${support}/simulate`, {
    action: 'incoming',
    from: anna,
    senderName: 'Anna Berg',
    message: 'hi',
  });
  const own = 'sessionIds' in limits ? { ...limits, sessionIds: [sales] } : limits;
  const { body } = await call('POST', '/api-keys/create', { name: 'agent', ...own });
  const client = await mcpClient(server, body.key, version);
  test.after(() => client.close());
  const complete = async (
    ref: Parameters<typeof client.complete>[0]['ref'],
    name: string,
    value: string,
    others?: Record<string, string>,
  ) => {
    const context = others && { context: { arguments: others } };
    return (await client.complete({ ref, argument: { name, value }, ...context })).completion;
  };
  const resource = (uri: string) => ({ type: 'ref/resource' as const, uri });
  const prompt = (name: string) => ({ type: 'ref/prompt' as const, name });
  return { call, client, complete, resource, prompt, support, sales, anna };
}

for (const version of Object.keys(protocolVersions) as ProtocolVersion[]) {
  it(`suggests sessions by id, name and number for a resource template (${version})`, async (test) => {
    const { call, client, complete, resource, support, sales } = await accountWithChats(test, {}, version);
    assert.deepEqual(client.getServerCapabilities()?.completions, {});
    const suggest = async (value: string) => (await complete(resource(CHATS), 'sessionId', value)).values;
    assert.deepEqual((await suggest('')).toSorted(), [support, sales].toSorted());
    assert.deepEqual(await suggest('supp'), [support]);
    assert.deepEqual(await suggest('DESK'), [sales], 'any word of the name');
    assert.deepEqual(await suggest(support.slice(0, -1)), [support]);
    const { phoneNumber } = (await call('GET', `/sessions/${sales}`)).body;
    assert.deepEqual(await suggest(`+${phoneNumber.slice(0, 2)} ${phoneNumber.slice(2)}`), [sales]);
    assert.deepEqual(await complete(resource(CHATS), 'sessionId', 'nobody'), { values: [], total: 0, hasMore: false });
  });
}

describe('completions', () => {
  it('suggest the chats of the session that is filled in, by number and name', async (test) => {
    const { complete, resource, support, sales, anna } = await accountWithChats(test);
    const suggest = async (value: string, sessionId: string) =>
      (await complete(resource(MESSAGES), 'chatId', value, { sessionId })).values;
    assert.deepEqual(await suggest('', support), [anna]);
    assert.deepEqual(await suggest('ber', support), [anna]);
    assert.deepEqual(await suggest(anna.slice(0, 5), support), [anna]);
    assert.deepEqual(await suggest('', sales), []);
    assert.deepEqual(await suggest('', 'ses_unknown'), []);
    assert.deepEqual(await suggest('x'.repeat(5000), support), []);
  });

  it('suggest names of sessions and numbers of chats for prompts', async (test) => {
    const { call, complete, prompt, support, anna } = await accountWithChats(test);
    const summarize = prompt('summarize_chat');
    assert.deepEqual((await complete(summarize, 'session', 'sup')).values, ['support']);
    assert.deepEqual((await complete(summarize, 'chat', 'anna', { session: 'support' })).values, [anna]);
    assert.deepEqual((await complete(summarize, 'chat', 'anna', { session: 'sales desk' })).values, []);
    assert.deepEqual((await complete(summarize, 'chat', 'anna', { session: support })).values, [anna]);
    // Two sessions of one name are told apart by their numbers.
    await call('POST', '/sessions', { name: 'support' });
    const { values } = await complete(summarize, 'session', 'sup');
    assert.equal(values.length, 2);
    assert.ok(!values.includes('support'));
  });

  it('suggest networks and event types, also after a comma', async (test) => {
    const { complete, prompt } = await accountWithChats(test);
    assert.ok((await complete(prompt('connect_phone'), 'network', 'sand')).values.includes('sandbox'));
    const setUp = prompt('set_up_webhook');
    assert.deepEqual((await complete(setUp, 'events', '')).values, eventKinds.slice(0, 100));
    assert.deepEqual((await complete(setUp, 'events', 'message.inc')).values, ['message.incoming']);
    const { values } = await complete(setUp, 'events', 'message.incoming, message.del');
    assert.ok(values.includes('message.incoming, message.delivered'));
    assert.deepEqual((await complete(setUp, 'events', `${'x'.repeat(2000)},`)).values, []);
    assert.deepEqual((await complete(setUp, 'url', 'https://')).values, []);
  });

  it('suggest nothing for spaces and punctuation', async (test) => {
    const { complete, prompt } = await accountWithChats(test);
    for (const value of [' ', '+', '-', '()', ', ', '…']) {
      assert.deepEqual((await complete(prompt('summarize_chat'), 'session', value)).values, [], value);
      assert.deepEqual((await complete(prompt('set_up_webhook'), 'events', value)).values, [], value);
    }
    assert.equal((await complete(prompt('summarize_chat'), 'session', '')).values.length, 2);
  });

  it('suggest messages whose webhook failed', async (test) => {
    const receiver = await startReceiver();
    test.after(() => receiver.close());
    receiver.respond(500);
    const { call, complete, prompt, anna, support } = await accountWithChats(test);
    await call('POST', '/webhooks/endpoints', { webhookUrl: receiver.url, events: ['message.sent'], retrySeconds: [] });
    const { messageId } = (await call('POST', '/messages/send', { sessionId: support, to: anna, message: 'x' })).body;
    await eventually(
      async () => (await call('GET', '/webhooks/deliveries?states=failed')).body.data,
      (data) => data.length > 0,
    );
    assert.deepEqual((await complete(prompt('explain_missing_webhook'), 'messageId', 'msg_')).values, [messageId]);
  });

  it('have at most 100 values', async (test) => {
    const { call, complete, resource, support } = await accountWithChats(test);
    const numbers = Array.from({ length: 101 }, newNumber);
    for (const from of numbers)
      await call('POST', `/sessions/${support}/simulate`, { action: 'incoming', from, message: 'hi' });
    const { values, total, hasMore } = await complete(resource(MESSAGES), 'chatId', '', { sessionId: support });
    assert.deepEqual([values.length, total, hasMore], [100, 102, true]);
  });

  it('show a key only its own sessions and what it may read', async (test) => {
    const limited = await accountWithChats(test, { sessionIds: [] });
    const { complete, resource, support, sales } = limited;
    assert.deepEqual((await complete(resource(CHATS), 'sessionId', '')).values, [sales]);
    assert.deepEqual((await complete(resource(MESSAGES), 'chatId', '', { sessionId: support })).values, []);
    assert.deepEqual((await complete(resource(MESSAGES), 'chatId', 'anna')).values, []);

    const blind = await accountWithChats(test, { permissions: ['messages:read'] });
    const { values } = await blind.complete(blind.resource(MESSAGES), 'chatId', '', { sessionId: blind.support });
    assert.deepEqual(values, [], 'without chats:read');
    await assert.rejects(blind.complete(blind.resource(CHATS), 'sessionId', ''), /does not exist; call resources/);
    await assert.rejects(blind.complete(blind.prompt('connect_phone'), 'session', ''), /does not exist; call prompts/);
  });

  it('report an unknown reference or argument', async (test) => {
    const { client, complete, resource, prompt } = await accountWithChats(test);
    for (const [ref, name, problem] of [
      [resource('switchboard://nope/{id}'), 'id', /resource template switchboard:\/\/nope\/{id} does not exist/],
      [resource(CHATS), 'chatId', /has no variable chatId/],
      [prompt('nope'), 'x', /The prompt nope does not exist/],
      [prompt('summarize_chat'), 'x', /The prompt summarize_chat has no argument x/],
    ] as const)
      await assert.rejects(complete(ref, name, ''), problem);
    const wrong = client.complete({ ref: { type: 'other' } as never, argument: { name: 'x', value: '' } });
    await assert.rejects(wrong, /completion\/complete are invalid: ref.type/);
  });
});

it('completions count against the limit of requests', async () => {
  const limited = await startServer({ env: { RATE_LIMIT: '2' } }); // discovering the server counts as one
  const { token } = await limited.account();
  const client = await mcpClient(limited, token, '2026-07-28');
  const ref = { type: 'ref/resource' as const, uri: CHATS };
  const argument = { name: 'sessionId', value: '' };
  await client.complete({ ref, argument });
  await assert.rejects(client.complete({ ref, argument }), /429|Too Many Requests|limited/i);
  await client.close();
  await limited.stop();
});
