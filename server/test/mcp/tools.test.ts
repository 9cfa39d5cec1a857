import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { permissions } from '../../src/auth/permissions.ts';
import { eventKinds } from '../../src/events/events.ts';
import { operations } from '../../src/operations/index.ts';
import { type Receiver, startReceiver } from '../support/connections/receiver.ts';
import { callTool, mcpClient, type ProtocolVersion, protocolVersions } from '../support/mcp/mcp.ts';
import { walkTools } from '../support/mcp/toolWalk.ts';
import { picture, upload } from '../support/media/media.ts';
import { newNumber, startServer, type TestServer } from '../support/server.ts';

let server: TestServer;
let receiver: Receiver;
before(async () => {
  server = await startServer();
  receiver = await startReceiver();
});
after(async () => {
  await receiver.close();
  await server.stop();
});

/** An account with a key that has these permissions. */
async function keyOf(grants: readonly string[] = ['*']) {
  const account = await server.account();
  const { body } = await account.call('POST', '/api-keys/create', { name: 'agent', permissions: grants });
  return { ...account, key: body.key as string };
}

for (const version of Object.keys(protocolVersions) as ProtocolVersion[]) {
  describe(`MCP ${version}`, () => {
    it('identifies itself and explains how to use it', async () => {
      const { key } = await keyOf();
      const client = await mcpClient(server, key, version);
      assert.deepEqual([client.getServerVersion()?.name, client.getServerVersion()?.version], ['switchboard', '2.0.0']);
      assert.match(client.getInstructions() ?? '', /sessions_list/);
      await client.close();
    });

    it('lists exactly 43 tools with their schemas and all four hints in under 46.5 KB', async () => {
      const { key } = await keyOf();
      const client = await mcpClient(server, key, version);
      const { tools } = await client.listTools();
      assert.equal(tools.length, 43);
      for (const tool of tools) {
        assert.match(tool.name, /^[a-z][a-z_]{2,63}$/);
        assert.ok(tool.title && tool.description, tool.name);
        assert.equal(tool.inputSchema.type, 'object', tool.name);
        assert.equal(tool.outputSchema?.['type'], 'object', tool.name);
        for (const hint of ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'] as const) {
          assert.equal(typeof tool.annotations?.[hint], 'boolean', `${tool.name} ${hint}`);
        }
      }
      assert.equal(tools.find(({ name }) => name === 'webhooks_test')?.annotations?.readOnlyHint, false);
      const size = Buffer.byteLength(JSON.stringify({ tools }));
      assert.ok(size < 46_500, `${size} bytes`);
      await client.close();
    });

    it('returns output that matches the schema from every tool', async () => {
      const { key, call, token } = await keyOf();
      const client = await mcpClient(server, key, version);
      await client.listTools(); // the client checks outputs against the schemas it has seen
      const called = new Set<string>();
      const { mediaId } = (await upload(server, token, picture())).body;
      const simulate = (sessionId: string, action: object) => call('POST', `/sessions/${sessionId}/simulate`, action);
      const seen = receiver.deliveries.length;
      await walkTools(
        async (id, input) => {
          const name = id.replaceAll('.', '_');
          called.add(name);
          const { isError, content, output } = await callTool(client, name, input);
          assert.ok(!isError, `${name}: ${JSON.stringify(output)}`);
          const operation = operations.find((one) => one.id === id);
          const texts = content.filter(({ type }) => type === 'text').map(({ text }) => text ?? '');
          assert.deepEqual(JSON.parse(texts.at(-1) ?? ''), output, name);
          if (operation?.thirdPartyText && operation.receipt === undefined)
            assert.match(texts[0] ?? '', /third parties/, name);
          const image = content.find(({ type }) => type === 'image');
          const format = Buffer.from(image?.data ?? '', 'base64')
            .subarray(1, 4)
            .toString();
          assert.equal(format, name === 'sessions_get_qr' ? 'PNG' : '', name);
          return output;
        },
        {
          phoneNumber: newNumber(),
          receiverUrl: receiver.url,
          mediaId,
          pair: async (sessionId) => void (await simulate(sessionId, { action: 'pair' })),
          write: async (sessionId, from) =>
            void (await simulate(sessionId, { action: 'incoming', from, message: 'hi' })),
          arrived: () => receiver.waitFor(seen + 1),
        },
      );
      const { tools } = await client.listTools();
      assert.deepEqual(
        tools.map(({ name }) => name).filter((name) => !called.has(name)),
        [],
      );
      await client.close();
    });

    it('lists only the tools that a key permits, and rejects the others like REST', async () => {
      const { key } = await keyOf(['sessions:read', 'messages:read']);
      const client = await mcpClient(server, key, version);
      const { tools } = await client.listTools();
      assert.deepEqual(
        tools.map(({ name }) => name),
        ['sessions_list', 'sessions_get', 'messages_list', 'messages_get'],
      );
      const refused = await callTool(client, 'messages_send', { to: '491707654321', message: 'x' });
      assert.deepEqual([refused.isError, refused.output.code], [true, 'permission_denied']);
      const { resources } = await client.listResources();
      assert.deepEqual(
        resources.map(({ uri }) => uri),
        ['switchboard://event-kinds', 'switchboard://sessions'],
      );
      await client.close();
    });

    it('explains what is wrong with a call and how to fix it', async () => {
      const { key } = await keyOf();
      const client = await mcpClient(server, key, version);
      const wrong = await callTool(client, 'messages_send', { to: '12', message: 7, extra: true });
      assert.deepEqual([wrong.isError, wrong.output.code], [true, 'validation_failed']);
      const none = await callTool(client, 'messages_send', { to: '491707654321', message: 'x' });
      assert.equal(none.output.code, 'session_required');
      assert.match(none.output.hint, /sessions_list/);
      await assert.rejects(client.callTool({ name: 'no_such_tool', arguments: {} }), { code: -32_602 });
      await client.close();
    });

    it('accepts a phone number given as a number', async () => {
      const { key, call } = await keyOf();
      const { sessionId } = (await call('POST', '/sessions', {})).body;
      await call('POST', `/sessions/${sessionId}/connect`);
      const client = await mcpClient(server, key, version);
      const sent = await callTool(client, 'messages_send', { to: 491_707_654_321, message: 'x' });
      assert.deepEqual(Object.keys(sent.output), ['messageId', 'sessionId', 'chatId', 'status', 'timestamp']);
      const checked = await callTool(client, 'contacts_check', { phoneNumbers: [491_707_654_321] });
      assert.equal(checked.output.data[0].onNetwork, true);
      await client.close();
    });

    it('reads resources of the account, and none of other accounts', async () => {
      const { key, call } = await keyOf();
      const { sessionId } = (await call('POST', '/sessions', {})).body;
      await call('POST', `/sessions/${sessionId}/connect`);
      await call('POST', '/messages/send', { to: '491707654321', message: 'read me' });
      const client = await mcpClient(server, key, version);
      const text = async (uri: string) => {
        const [content] = (await client.readResource({ uri })).contents;
        return JSON.parse(content !== undefined && 'text' in content ? String(content.text) : '');
      };
      const path = `switchboard://sessions/${sessionId}`;
      assert.equal((await text('switchboard://sessions')).data[0].sessionId, sessionId);
      assert.equal((await text(path)).status, 'connected');
      assert.equal((await text(`${path}/chats`)).data[0].chatId, '491707654321');
      assert.equal((await text(`${path}/chats/491707654321/messages`)).data[0].message, 'read me');
      assert.equal((await text('switchboard://event-kinds')).length, eventKinds.length);
      assert.equal((await client.listResourceTemplates()).resourceTemplates.length, 4);
      const stranger = await mcpClient(server, (await keyOf()).key, version);
      await assert.rejects(stranger.readResource({ uri: path }));
      await assert.rejects(client.readResource({ uri: 'file:///etc/passwd' }));
      await Promise.all([client.close(), stranger.close()]);
    });

    it('has prompts that name the tools to use', async () => {
      const { key } = await keyOf();
      const client = await mcpClient(server, key, version);
      const { prompts } = await client.listPrompts();
      assert.deepEqual(
        prompts.map(({ name }) => name),
        ['set_up_webhook', 'explain_missing_webhook', 'summarize_chat', 'triage_unread_chats', 'connect_phone'],
      );
      const prompt = await client.getPrompt({ name: 'set_up_webhook', arguments: { url: 'https://example.com' } });
      assert.match(JSON.stringify(prompt.messages), /https:\/\/example\.com.*webhooks_test/);
      await assert.rejects(client.getPrompt({ name: 'set_up_webhook' }), { code: -32_602 });
      await client.close();
    });
  });
}

describe('the MCP endpoint', () => {
  const endpoint = () => `${server.url}/api/v1/mcp`;
  const list = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} };
  const post = (headers: Record<string, string>, body: string = JSON.stringify(list)) =>
    fetch(endpoint(), {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
    });

  it('answers unauthenticated requests with 401 and Bearer, whatever they contain', async () => {
    for (const request of [post({}), post({}, '{'), fetch(endpoint())]) {
      const answer = await request;
      assert.deepEqual([answer.status, answer.headers.get('www-authenticate')], [401, 'Bearer']);
      assert.equal((await answer.json()).code, 'unauthorized');
    }
  });

  it('accepts a key in the legacy forms with a deprecation notice, and forbids caching', async () => {
    const { key } = await keyOf();
    const accept = 'application/json, text/event-stream';
    const inUrl = await fetch(`${endpoint()}?key=${key}`, {
      method: 'POST',
      body: JSON.stringify(list),
      headers: { 'content-type': 'application/json', accept },
    });
    for (const answer of [inUrl, await post({ 'x-api-key': key })]) {
      assert.deepEqual([answer.status, answer.headers.get('cache-control')], [200, 'no-store']);
      assert.match(answer.headers.get('deprecation') ?? '', /^@\d+$/);
      assert.match(answer.headers.get('link') ?? '', /rel="deprecation"/);
      assert.ok(answer.headers.get('x-request-id'));
      await answer.body?.cancel();
    }
    const preferred = await post({ authorization: `Bearer ${key}` });
    assert.equal(preferred.headers.get('deprecation'), null);
    await preferred.body?.cancel();
  });

  it('rejects other origins and foreign host names', async () => {
    const { key } = await keyOf();
    const authorization = `Bearer ${key}`;
    for (const origin of ['https://evil.example', 'null']) {
      const answer = await post({ authorization, origin });
      assert.equal(answer.status, 403, origin);
    }
    const own = await post({ authorization, origin: server.url });
    assert.equal(own.status, 200);
    await own.body?.cancel();
  });

  it('reports an invalid body in JSON-RPC', async () => {
    const { key } = await keyOf();
    const authorization = `Bearer ${key}`;
    const broken = await post({ authorization }, '{"jsonrpc":');
    assert.deepEqual([broken.status, (await broken.json()).error.code], [400, -32_700]);
    const wide = await post({ authorization }, `{"jsonrpc":"2.0","params":[${'1,'.repeat(30_000)}`);
    assert.deepEqual([wide.status, (await wide.json()).error.code], [400, -32_600]);
    const large = await post({ authorization }, JSON.stringify({ ...list, params: { x: 'x'.repeat(1_100_000) } }));
    assert.deepEqual([large.status, (await large.json()).error.code], [413, -32_600]);
  });

  it('survives a deeply nested body', async () => {
    const { key } = await keyOf();
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"sessions_create","arguments":{"options":${deep}}}}`;
    const answer = await post({ authorization: `Bearer ${key}` }, call);
    assert.ok(answer.status < 500, `${answer.status}`);
    assert.doesNotMatch(await answer.text(), /call stack/);
    assert.equal((await server.call('GET', '/health')).status, 200);
  });

  it('opens no streams, ends no sessions and advertises no authorization server', async () => {
    const { key } = await keyOf();
    const headers = { authorization: `Bearer ${key}`, accept: 'text/event-stream' };
    for (const method of ['GET', 'DELETE']) {
      const answer = await fetch(endpoint(), { method, headers });
      assert.equal(answer.status, 405, method);
      await answer.body?.cancel();
    }
    for (const path of [
      '/.well-known/oauth-protected-resource',
      '/.well-known/oauth-authorization-server',
      '/register',
    ]) {
      const answer = await fetch(`${server.url}${path}`);
      assert.equal(answer.status, 404, path);
      assert.match(answer.headers.get('content-type') ?? '', /json/);
      await answer.body?.cancel();
    }
  });

  it('limits requests per credential, and tells the model how long to wait', async () => {
    const limited = await startServer({ env: { RATE_LIMIT: '3' } }); // discovering the server counts as one
    const { token } = await limited.account();
    const client = await mcpClient(limited, token, '2026-07-28');
    const answers = [];
    for (let n = 0; n < 3; n++) answers.push(await callTool(client, 'sessions_list'));
    assert.deepEqual(
      answers.map(({ isError }) => isError),
      [false, false, true],
    );
    assert.equal(answers[2]?.output.code, 'rate_limited');
    assert.ok(answers[2]?.output.retryAfterSeconds > 0);
    const listing = await fetch(`${limited.url}/api/v1/mcp`, {
      method: 'POST',
      body: JSON.stringify(list),
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
    });
    assert.equal(listing.status, 429, 'other requests count too');
    assert.ok(Number(listing.headers.get('retry-after')) > 0);
    await client.close();
    await limited.stop();
  });

  it('every permission that a tool requires exists', () => {
    for (const { tool, permission } of operations)
      if (tool) assert.ok(permission !== null && permissions.includes(permission));
  });
});
