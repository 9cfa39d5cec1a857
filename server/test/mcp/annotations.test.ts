import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { callTool, mcpClient } from '../support/mcp/mcp.ts';
import { picture, upload } from '../support/media/media.ts';
import { connectSession, startServer, type TestServer } from '../support/server.ts';

let server: TestServer;
before(async () => {
  server = await startServer();
});
after(() => server.stop());

it('resources say whom they are for, and when a session last changed', async (test) => {
  const { call } = await server.account();
  const sessionId = await connectSession(call);
  const { body } = await call('POST', '/api-keys/create', { name: 'agent' });
  const client = await mcpClient(server, body.key, '2026-07-28');
  test.after(() => client.close());
  const { resources } = await client.listResources();
  const { resourceTemplates } = await client.listResourceTemplates();
  for (const { name, annotations } of [...resources, ...resourceTemplates]) {
    assert.ok((annotations?.audience?.length ?? 0) > 0, name);
    assert.ok(annotations?.priority !== undefined && annotations.priority >= 0 && annotations.priority <= 1, name);
  }
  const listed = resources.find(({ uri }) => uri === `switchboard://sessions/${sessionId}`);
  const { phoneNumber, lastEventAt, connectedAt } = (await call('GET', `/sessions/${sessionId}`)).body;
  assert.equal(listed?.title, phoneNumber);
  assert.equal(listed?.annotations?.lastModified, lastEventAt ?? connectedAt);
});

it('images say whom they are for, and when a file was stored', async (test) => {
  const { call, token } = await server.account();
  const { body } = await call('POST', '/api-keys/create', { name: 'agent' });
  const client = await mcpClient(server, body.key, '2026-07-28');
  test.after(() => client.close());
  const imageOf = async (tool: string, input: Record<string, unknown>) =>
    (await callTool(client, tool, input)).content.find(({ type }) => type === 'image') as
      | { annotations?: unknown }
      | undefined;
  const { sessionId } = (await call('POST', '/sessions', { options: { pairing: true } })).body;
  await call('POST', `/sessions/${sessionId}/connect`);
  const code = await imageOf('sessions_get_qr', { sessionId });
  assert.deepEqual(code?.annotations, { audience: ['user'], priority: 1 });
  const { mediaId, createdAt } = (await upload(server, token, picture())).body;
  const file = await imageOf('media_get', { mediaId, picture: true });
  assert.deepEqual(file?.annotations, { audience: ['user', 'assistant'], lastModified: createdAt });
});
