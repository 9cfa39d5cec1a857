import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { eventually } from '../support/eventually.ts';
import { bearer, connectSession, startServer, type TestServer } from '../support/server.ts';

describe('toolsets', () => {
  let server: TestServer;
  let token: string;
  let sessionId: string;
  before(async () => {
    server = await startServer();
    const account = await server.account();
    ({ token } = account);
    sessionId = await connectSession(account.call);
  });
  after(() => server.stop());

  async function connect(query: string, headers: Record<string, string> = {}, credential = token): Promise<Client> {
    const client = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode: 'legacy' } });
    const transport = new StreamableHTTPClientTransport(new URL(`${server.url}/api/v1/mcp${query}`), {
      requestInit: { headers: { authorization: `Bearer ${credential}`, ...headers } },
    });
    // The SDK's own class does not fit its interface under exactOptionalPropertyTypes.
    await client.connect(transport as Parameters<Client['connect']>[0]);
    return client;
  }

  const namesOf = async (client: Client) => (await client.listTools()).tools.map(({ name }) => name);

  it('limit the tools to those that the URL or the headers name', async () => {
    const all = await namesOf(await connect(''));
    for (const client of [
      await connect('?toolsets=chats,%20messages'),
      await connect('?toolsets=groups', { 'x-mcp-toolsets': 'messages,chats' }),
    ]) {
      const names = await namesOf(client);
      assert.deepEqual(
        names,
        all.filter((name) => /^(messages|chats)_/.test(name)),
      );
      assert.ok(names.length > 5);
      await assert.rejects(
        client.callTool({ name: 'sessions_list' }),
        /sessions_list does not exist; call tools\/list/,
      );
    }
    assert.deepEqual(await namesOf(await connect('?toolsets=')), all);
  });

  it('can be read-only', async () => {
    for (const client of [
      await connect('?toolsets=messages&readonly=true'),
      await connect('', { 'x-mcp-toolsets': 'messages', 'x-mcp-readonly': 'true' }),
    ]) {
      assert.deepEqual(await namesOf(client), ['messages_list', 'messages_get']);
      const send = client.callTool({
        name: 'messages_send',
        arguments: { sessionId, to: '491707654321', message: 'x' },
      });
      await assert.rejects(send, /messages_send does not exist/);
    }
  });

  it('refuses an unknown value of readonly', async () => {
    for (const query of ['readonly=yes', 'readonly=TRUE', 'readonly=', 'readonly=true&readonly=false']) {
      const response = await fetch(`${server.url}/api/v1/mcp?${query}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
      });
      assert.equal(response.status, 400, query);
      assert.match((await response.json()).error.message, /^readonly must be true or false, not "/, query);
    }
    assert.ok((await namesOf(await connect('?readonly=false'))).includes('messages_send'));
  });

  it('refuses unknown ones, naming those that exist', async () => {
    for (const wrong of ['message', 'x'.repeat(1000), 'messages;chats']) {
      const response = await fetch(`${server.url}/api/v1/mcp?toolsets=${encodeURIComponent(wrong)}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
      });
      const { error } = await response.json();
      assert.equal(response.status, 400);
      assert.match(error.message, /^toolsets must name some of sessions, messages, chats, .*webhooks, events, not "/);
      assert.ok(error.message.length < 500);
    }
  });

  it('do not hide refused calls from the list of the calls of a key', async () => {
    const call = bearer(server.url, token);
    const { body } = await call('POST', '/api-keys/create', { name: 'some', permissions: ['messages:read'] });
    const client = await connect('?toolsets=messages', {}, body.key);
    const hidden = () => client.callTool({ name: 'chats_list', arguments: {} });
    await assert.rejects(hidden, /chats_list does not exist/);
    await assert.rejects(client.callTool({ name: 'chats_archive_all', arguments: {} }));
    const refused = { name: 'messages_send', arguments: { to: '491701111111', message: 'x' } };
    assert.equal((await client.callTool(refused)).isError, true);
    const listed = await eventually(
      async () => (await call('GET', `/api-keys/${body.keyId}/calls`)).body.data as Record<string, string>[],
      ({ length }) => length === 2,
    );
    assert.deepEqual(listed.map(({ tool, outcome }) => `${tool} ${outcome}`).sort(), [
      'chats_list not_selected',
      'messages_send permission_denied',
    ]);
  });

  it('leave out prompts whose tools cannot be used', async () => {
    const promptsOf = async (client: Client) => (await client.listPrompts()).prompts.map(({ name }) => name);
    assert.deepEqual(await promptsOf(await connect('')), [
      'set_up_webhook',
      'explain_missing_webhook',
      'summarize_chat',
      'triage_unread_chats',
      'connect_phone',
    ]);
    assert.deepEqual(await promptsOf(await connect('?toolsets=messages')), ['summarize_chat']);
    assert.deepEqual(await promptsOf(await connect('?readonly=true')), [
      'explain_missing_webhook',
      'summarize_chat',
      'triage_unread_chats',
    ]);
    const { body } = await server.call(
      'POST',
      '/api-keys/create',
      { name: 'one session', sessionIds: [sessionId] },
      { authorization: `Bearer ${token}` },
    );
    const limited = await connect('', {}, body.key);
    assert.deepEqual(await promptsOf(limited), ['summarize_chat', 'triage_unread_chats', 'connect_phone']);
    const prompt = limited.getPrompt({ name: 'set_up_webhook', arguments: { url: 'https://example.com' } });
    await assert.rejects(prompt, /set_up_webhook does not exist; call prompts\/list/);
  });
});
