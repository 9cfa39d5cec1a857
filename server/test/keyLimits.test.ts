import assert from 'node:assert/strict';
import { it } from 'node:test';
import { describeOnEachDeployment } from './support/databases.ts';
import { callTool, mcpClient } from './support/mcp.ts';
import { bearer, type Call, connectSession, serversFor } from './support/server.ts';

const to = '491707654321';

describeOnEachDeployment('a key of some addresses', (_, database) => {
  const start = serversFor(database, { env: { TRUST_PROXY: 'on' } });

  async function setUp(allowedIps: readonly string[]) {
    const server = await start();
    const { call } = await server.account();
    const sessionId = await connectSession(call);
    const { status, body } = await call('POST', '/api-keys/create', { name: 'limited', allowedIps });
    assert.equal(status, 201, JSON.stringify(body));
    /** Calls from an address, as a proxy reports it. */
    const from =
      (address: string): Call =>
      (method, path, input) =>
        bearer(server.url, body.key)(method, path, input, { 'x-forwarded-for': address });
    return { server, call, sessionId, from, ...body };
  }

  it('works from them, whatever the form of the address and the node that runs the call', async () => {
    const { from, allowedIps } = await setUp(['203.0.113.0/24', '2001:db8::/32']);
    assert.deepEqual(allowedIps, ['203.0.113.0/24', '2001:db8::/32']);
    for (const address of ['203.0.113.9', '::ffff:203.0.113.9', '2001:db8::7'])
      assert.equal((await from(address)('POST', '/messages/send', { to, message: 'hello' })).status, 201, address);
  });

  it('is refused from elsewhere, over REST, streams and MCP', async () => {
    const { server, from, key } = await setUp(['203.0.113.0/24']);
    for (const address of ['203.0.114.9', '::ffff:203.0.114.9', '2001:db8::7', 'unknown'])
      for (const [method, path] of [
        ['GET', '/sessions'],
        ['GET', '/auth/me'],
        ['POST', '/messages/send'],
        ['GET', '/events/stream'],
        ['GET', '/media/med_none/content'],
        ['POST', '/mcp'],
      ] as const) {
        const body = method === 'POST' ? { jsonrpc: '2.0', id: 1, method: 'tools/list' } : undefined;
        const answer = await from(address)(method, path, body);
        assert.deepEqual([answer.status, answer.body.code], [403, 'permission_denied'], `${path} from ${address}`);
        assert.ok(answer.body.detail.includes(address), answer.body.detail);
      }
    await assert.rejects(mcpClient(server, key, '2026-07-28'));
  });

  it('counts only the address that the proxy adds', async () => {
    const { from } = await setUp(['203.0.113.9']);
    assert.equal((await from('203.0.113.9, 198.51.100.1')('GET', '/sessions')).status, 403);
    assert.equal((await from('198.51.100.1, 203.0.113.9')('GET', '/sessions')).status, 200);
  });

  it('is changed at once, and names wrong networks', async () => {
    const { call, from, keyId, server, key } = await setUp(['203.0.113.9']);
    const change = (allowedIps: unknown) => call('PATCH', `/api-keys/${keyId}`, { allowedIps });
    const { status, body } = await change(['10.0.0.0/8', '10.0.0.0/99', 'localhost']);
    const fields = body.errors.map(({ field }: { field: string }) => field);
    assert.deepEqual([status, fields], [400, ['allowedIps.1', 'allowedIps.2']]);
    for (const wrong of [[], '10.0.0.0/8', Array(51).fill('10.0.0.0/8')])
      assert.equal((await change(wrong)).status, 400);
    assert.equal((await change(['198.51.100.0/24'])).status, 200);
    assert.equal((await from('203.0.113.9')('GET', '/sessions')).status, 403);
    assert.equal((await from('198.51.100.1')('GET', '/sessions')).status, 200);
    assert.equal((await change(null)).body.allowedIps, null);
    const client = await mcpClient(server, key, '2026-07-28');
    assert.equal((await callTool(client, 'sessions_list')).isError, false);
    await client.close();
  });
});
