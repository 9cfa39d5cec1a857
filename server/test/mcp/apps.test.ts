import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { mcpClient, type ProtocolVersion, protocolVersions, withApps } from '../support/mcp/mcp.ts';
import { startServer, type TestServer } from '../support/server.ts';

let server: TestServer;
before(async () => {
  server = await startServer();
});
after(() => server.stop());

const QR = 'ui://switchboard/qr';
const DELIVERY = 'ui://switchboard/delivery';

async function keyOf(permissions: readonly string[] = ['*']): Promise<string> {
  const { call } = await server.account();
  return (await call('POST', '/api-keys/create', { name: 'agent', permissions })).body.key;
}

for (const version of Object.keys(protocolVersions) as ProtocolVersion[]) {
  describe(`MCP Apps (${version})`, () => {
    it('are linked from their tools for a client that shows them', async (test) => {
      const client = await mcpClient(server, await keyOf(), version, withApps);
      test.after(() => client.close());
      const { tools } = await client.listTools();
      assert.deepEqual(
        tools.filter(({ _meta }) => _meta !== undefined).map(({ name, _meta }) => [name, _meta]),
        [
          ['sessions_get_qr', { ui: { resourceUri: QR } }],
          ['webhooks_get_delivery', { ui: { resourceUri: DELIVERY } }],
        ],
      );
      const listed = (await client.listResources()).resources.filter(({ uri }) => uri.startsWith('ui:'));
      assert.deepEqual(
        listed.map(({ uri }) => uri),
        [QR, DELIVERY],
      );
      for (const { uri, mimeType } of listed) {
        const { contents } = await client.readResource({ uri });
        assert.equal(contents.length, 1);
        assert.equal(contents[0]?.mimeType, mimeType);
        assert.deepEqual(contents[0]?._meta?.['ui'], {
          csp: { connectDomains: [], resourceDomains: [] },
          prefersBorder: true,
        });
        const html = contents[0] !== undefined && 'text' in contents[0] ? String(contents[0].text) : '';
        assert.match(html, /^<!doctype html>/);
        assert.doesNotMatch(html, /<(script|link|img)[^>]+(src|href)=/, 'it loads nothing');
        assert.match(html, /Content-Security-Policy" content="default-src 'none'; script-src 'sha256-/);
        assert.ok(Buffer.byteLength(html) < 300_000, `${Buffer.byteLength(html)} bytes`);
      }
    });

    it('are invisible to other clients', async (test) => {
      const client = await mcpClient(server, await keyOf(), version);
      test.after(() => client.close());
      const { tools } = await client.listTools();
      assert.ok(tools.every(({ _meta }) => _meta === undefined));
      const { resources } = await client.listResources();
      assert.ok(resources.every(({ uri }) => !uri.startsWith('ui:')));
    });

    it('cannot be read by a key that cannot use their tools', async (test) => {
      const client = await mcpClient(server, await keyOf(['sessions:read']), version, withApps);
      test.after(() => client.close());
      assert.ok((await client.listResources()).resources.every(({ uri }) => !uri.startsWith('ui:')));
      await assert.rejects(client.readResource({ uri: QR }), /does not exist; call resources\/list/);
    });
  });
}

it('the links of MCP Apps take little room in the list of tools', async (test) => {
  const key = await keyOf();
  const sizeFor = async (capabilities: Parameters<typeof mcpClient>[3]) => {
    const client = await mcpClient(server, key, '2026-07-28', capabilities);
    test.after(() => client.close());
    return Buffer.byteLength(JSON.stringify((await client.listTools()).tools));
  };
  const more = (await sizeFor(withApps)) - (await sizeFor({}));
  assert.ok(more < 150, `${more} bytes`);
});

it('an older client that declares MCP Apps gets a session id that says so, and no other client does', async () => {
  const key = await keyOf();
  const post = (method: string, params: object, more: Record<string, string> = {}) =>
    fetch(`${server.url}/api/v1/mcp`, {
      method: 'POST',
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...more,
      },
    });
  const initialize = async (capabilities: object) => {
    const clientInfo = { name: 'test', version: '1.0.0' };
    const answer = await post('initialize', { protocolVersion: '2025-11-25', clientInfo, capabilities });
    await answer.body?.cancel();
    return answer.headers.get('mcp-session-id');
  };
  const otherTypes = { extensions: { 'io.modelcontextprotocol/ui': { mimeTypes: ['text/html'] } } };
  for (const capabilities of [{}, otherTypes]) assert.equal(await initialize(capabilities), null);
  const sessionId = await initialize(withApps);
  assert.match(sessionId ?? '', /^apps-[0-9a-f-]{36}$/);
  assert.notEqual(await initialize(withApps), sessionId);
  // Nothing is stored, so an id of another server or of before a restart works as well.
  for (const [id, isLinked] of [
    [sessionId ?? '', true],
    ['apps-of-another-server', true],
    ['something else', false],
  ] as const) {
    const answer = await post('tools/list', {}, { 'mcp-session-id': id });
    assert.equal(answer.status, 200);
    assert.equal((await answer.text()).includes('ui://switchboard/qr'), isLinked, id);
  }
});
