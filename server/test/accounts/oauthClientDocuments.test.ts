import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type FileServer, startFileServer } from '../support/connections/fileServer.ts';
import { callTool } from '../support/mcp/mcp.ts';
import { authorizationUrl, Browser, CALLBACK, connectApp, startOAuthServer, TestApp } from '../support/mcp/oauth.ts';
import type { TestServer } from '../support/server.ts';

describe('a client ID metadata document', () => {
  let server: TestServer;
  let files: FileServer;
  let document: (id: string) => string;
  before(async () => {
    server = await startOAuthServer();
    files = await startFileServer((request, response) => {
      if (request.url === '/moved') response.writeHead(302, { location: '/client.json' }).end();
      else response.setHeader('content-type', 'application/json').end(document(files.url + request.url));
    });
  });
  after(async () => {
    await server.stop();
    await files.close();
  });
  const valid = {
    client_name: 'Described app',
    redirect_uris: [CALLBACK],
    grant_types: ['authorization_code', 'refresh_token'],
  };

  it('takes the place of a registration', async () => {
    document = (client_id) => JSON.stringify({ client_id, ...valid, scope: 'of another server', logo_uri: 'x' });
    const { call } = await server.account();
    const app = new TestApp({ documentUrl: `${files.url}/client.json` });
    const client = await connectApp(server, call, app);
    assert.equal(app.client?.client_id, `${files.url}/client.json`);
    assert.equal((await callTool(client, 'sessions_list')).isError, false);
    const [key] = (await call('GET', '/api-keys')).body.data;
    assert.deepEqual([key.name, key.app.clientId], ['Described app', `${files.url}/client.json`]);
    assert.deepEqual(files.visits, ['/client.json']);
  });

  it('is refused if it is for another address, too large, redirected, or not valid', async () => {
    const wrong: readonly [path: string, document: (id: string) => string][] = [
      ['/another', () => JSON.stringify({ client_id: `${files.url}/else`, ...valid })],
      ['/large', (client_id) => JSON.stringify({ client_id, ...valid, more: 'x'.repeat(17_000) })],
      ['/moved', (client_id) => JSON.stringify({ client_id, ...valid })],
      [
        '/secret',
        (client_id) => JSON.stringify({ client_id, ...valid, token_endpoint_auth_method: 'client_secret_post' }),
      ],
      ['/script', (client_id) => JSON.stringify({ client_id, ...valid, redirect_uris: ['javascript:alert(1)'] })],
      ['/text', () => 'not JSON'],
      ['/list', () => '[]'],
    ];
    for (const [path, content] of wrong) {
      document = content;
      const answer = await new Browser().open(authorizationUrl(server, files.url + path));
      assert.equal(answer.status, 400, path);
      assert.equal(answer.headers.get('location'), null, path);
      assert.match(await answer.text(), /could not be connected/, path);
    }
    assert.ok(
      !files.visits.includes('/client.json') || files.visits.filter((path) => path === '/client.json').length === 1,
    );
  });
});
