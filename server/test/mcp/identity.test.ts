import assert from 'node:assert/strict';
import { it } from 'node:test';
import { mcpClient, type ProtocolVersion, protocolVersions } from '../support/mcp/mcp.ts';
import { startServer } from '../support/server.ts';

for (const version of Object.keys(protocolVersions) as ProtocolVersion[]) {
  it(`shows an icon and a website to clients (${version})`, async (test) => {
    const server = await startServer({ env: { PUBLIC_URL: 'https://gateway.example.com' } });
    test.after(() => server.stop());
    const { token } = await server.account();
    const client = await mcpClient(server, token, version);
    test.after(() => client.close());
    const info = client.getServerVersion();
    assert.equal(info?.title, 'Switchboard');
    assert.match(info?.description ?? '', /messaging gateway/);
    assert.equal(info?.websiteUrl, 'https://gateway.example.com/');
    assert.deepEqual(
      info?.icons?.map(({ src }) => src),
      ['https://gateway.example.com/static/icon.svg', 'https://gateway.example.com/static/icon.png'],
    );
    for (const { src, mimeType } of info?.icons ?? []) {
      const answer = await fetch(server.url + new URL(src).pathname);
      assert.deepEqual([answer.status, answer.headers.get('content-type')], [200, mimeType]);
      await answer.body?.cancel();
    }
  });
}

it('sends the icon itself if it does not know its own address, and only when a client asks who it is', async (test) => {
  const server = await startServer();
  test.after(() => server.stop());
  const { token } = await server.account();
  const client = await mcpClient(server, token, '2026-07-28');
  test.after(() => client.close());
  const [icon] = client.getServerVersion()?.icons ?? [];
  assert.match(icon?.src ?? '', /^data:image\/svg\+xml;base64,/);
  assert.ok((icon?.src.length ?? 0) < 1000);
  assert.equal(client.getServerVersion()?.websiteUrl, undefined);
  const { _meta } = await client.callTool({ name: 'sessions_list', arguments: {} });
  assert.deepEqual(_meta?.['io.modelcontextprotocol/serverInfo'], {
    name: 'switchboard',
    version: '2.0.0',
    title: 'Switchboard',
  });
});
