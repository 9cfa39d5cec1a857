import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { allows } from '../../src/auth/permissions.ts';
import { describeOnEachDeployment } from '../support/databases/databases.ts';
import { callTool, mcpClient } from '../support/mcp/mcp.ts';
import { guarded, inputs, noInput, UNKNOWN } from '../support/operations/operationInputs.ts';
import { connectSession, newNumber, startServer, type TestServer } from '../support/server.ts';

/* Sessions and recipients of a key are tested with every tool in `keyScope.test.ts` and `keyLimits.test.ts`. */

const toolOf = (id: string) => id.replaceAll('.', '_');
const tools = guarded.filter(({ tool }) => tool);

describeOnEachDeployment('the limits of a key over MCP', (_, database) => {
  let server: TestServer;
  before(async () => {
    server = await startServer({ database });
  });
  after(() => server.stop());

  async function setUp(limits: object) {
    const { call } = await server.account();
    const sessionId = await connectSession(call);
    const to = newNumber();
    const { messageId } = (await call('POST', '/messages/send', { to, message: 'before' })).body;
    const { groupId } = (await call('POST', '/groups', { subject: 'before', phoneNumbers: [to] })).body;
    const { body } = await call('POST', '/api-keys/create', { name: 'limited', ...limits });
    return { call, to, side: { ...UNKNOWN, sessionId, messageId, groupId }, key: body.key as string };
  }

  it('let a key that may read call every tool that reads, and no other', async () => {
    const { call, side, key } = await setUp({ permissions: ['*:read'] });
    const listOf = async (path: string) => (await call('GET', path)).body.data;
    // Not the status of a message, which receipts change meanwhile.
    const state = async () => ({
      messages: (await listOf('/messages')).map(({ message }: { message: string }) => message),
      groups: await listOf('/groups'),
      names: (await listOf('/sessions')).map(({ name }: { name: string }) => name),
    });
    const before = await state();
    const client = await mcpClient(server, key, '2026-07-28');
    const listed = (await client.listTools()).tools.map(({ name }) => name);
    for (const { id, permission, effect } of tools) {
      const isPermitted = permission === null || allows(['*:read'], permission);
      // Such a key can see an invite's group, which is a branch of this tool.
      assert.equal(listed.includes(toolOf(id)), isPermitted || id === 'groups.join', id);
      if (effect === 'destructive') assert.ok(!isPermitted, id);
      // The QR code gives a phone access to the session.
      if (effect === 'read' && id !== 'sessions.get_qr') assert.ok(isPermitted, id);
      if (isPermitted) continue;
      const { isError, output } = await callTool(client, toolOf(id), (inputs[id] ?? noInput)(side));
      assert.deepEqual([isError, output.code], [true, 'permission_denied'], id);
    }
    for (const name of ['sessions_list', 'messages_list', 'chats_list', 'groups_list', 'events_list'])
      assert.equal((await callTool(client, name)).isError, false, name);
    await client.close();
    assert.deepEqual(await state(), before);
  });

  it('count the messages of every tool that sends', async () => {
    const { call, to, side, key } = await setUp({ sendQuota: 1 });
    const stored = async () => (await call('GET', '/messages')).body.data.length;
    const client = await mcpClient(server, key, '2026-07-28');
    const before = await stored();
    assert.equal((await callTool(client, 'messages_send', { to, message: 'the only one' })).isError, false);
    const sending = tools.filter(({ id, permission }) => permission === 'messages:send' && /send|forward/.test(id));
    assert.ok(sending.length >= 6);
    const { body: file } = await call('POST', '/media?fileName=a.txt', 'a file', { 'content-type': 'text/plain' });
    for (const { id } of sending) {
      const input = { ...(inputs[id] ?? noInput)({ ...side, mediaId: file.mediaId }), to };
      const isFile = id === 'messages.send_media';
      const { isError, output } = await callTool(client, toolOf(id), { ...input, ...(isFile && { type: 'document' }) });
      assert.deepEqual([isError, output.code], [true, 'quota_exceeded'], `${id} ${JSON.stringify(output)}`);
    }
    await client.close();
    assert.equal(await stored(), before + 1);
  });
});
