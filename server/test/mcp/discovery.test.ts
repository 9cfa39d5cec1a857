import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { PROTOCOL_VERSIONS } from '../../src/http/mcp/identity.ts';
import { aiCatalog, CARD_PATH, serverCard } from '../../src/http/mcp/serverCard.ts';
import { mcpClient } from '../support/mcp/mcp.ts';
import { startServer, type TestServer } from '../support/server.ts';

const CARD_TYPE = 'application/mcp-server-card+json';
const WELL_KNOWN_CARD = '/.well-known/mcp/server-card.json';
const CATALOG = '/.well-known/ai-catalog.json';
const PATHS = [CARD_PATH, WELL_KNOWN_CARD, CATALOG];

describe('discovery', () => {
  let server: TestServer;
  before(async () => {
    server = await startServer({ env: { PUBLIC_URL: 'https://chat.example.com/' } });
  });
  after(() => server.stop());

  it('serves the card to everybody, at the reserved place and at the well-known one', async () => {
    for (const path of [CARD_PATH, WELL_KNOWN_CARD]) {
      for (const accept of [CARD_TYPE, '*/*', 'text/html']) {
        const answer = await fetch(server.url + path, { headers: { accept, origin: 'https://elsewhere.example' } });
        assert.equal(answer.status, 200);
        assert.equal(answer.headers.get('content-type'), CARD_TYPE);
        assert.equal(answer.headers.get('cache-control'), 'public, max-age=3600');
        assert.equal(answer.headers.get('access-control-allow-origin'), '*');
        assert.equal(answer.headers.get('access-control-expose-headers'), 'ETag');
        const card = await answer.json();
        assert.equal(card.name, 'com.example.chat/switchboard');
        assert.equal(card.remotes[0].url, 'https://chat.example.com/api/v1/mcp');
      }
    }
  });

  it('leads from the catalog to the card', async () => {
    const answer = await fetch(server.url + CATALOG);
    assert.equal(answer.headers.get('content-type'), 'application/ai-catalog+json');
    assert.deepEqual(await answer.json(), {
      specVersion: '1.0',
      entries: [
        {
          identifier: 'urn:air:chat.example.com:mcp:switchboard',
          type: CARD_TYPE,
          url: `https://chat.example.com${CARD_PATH}`,
        },
      ],
    });
  });

  it('answers 304 to a known tag, and preflights of browsers', async () => {
    for (const path of PATHS) {
      const tag = (await fetch(server.url + path, { method: 'HEAD' })).headers.get('etag') ?? '';
      const again = await fetch(server.url + path, { headers: { 'if-none-match': `W/${tag}` } });
      assert.equal(again.status, 304);
      assert.equal(await again.text(), '');
      const preflight = await fetch(server.url + path, {
        method: 'OPTIONS',
        headers: { origin: 'https://elsewhere.example', 'access-control-request-headers': 'if-none-match' },
      });
      assert.equal(preflight.status, 204);
      assert.match(preflight.headers.get('access-control-allow-headers') ?? '', /If-None-Match/);
      assert.equal((await fetch(server.url + path, { method: 'POST' })).status, 405);
    }
  });

  it('says what the server says once a client is connected', async () => {
    const { token } = await server.account();
    const card = await (await fetch(server.url + CARD_PATH)).json();
    const client = await mcpClient(server, token, '2026-07-28');
    const { supportedVersions } = await client.request({ method: 'server/discover' });
    const info = client.getServerVersion();
    await client.close();
    assert.equal(card.version, info?.version);
    assert.equal(card.title, info?.title);
    assert.deepEqual(
      supportedVersions.filter((version) => !card.remotes[0].supportedProtocolVersions.includes(version)),
      [],
    );
    for (const protocolVersion of PROTOCOL_VERSIONS.slice(1)) {
      const params = { protocolVersion, capabilities: {}, clientInfo: { name: 'test', version: '1' } };
      const answer = await fetch(`${server.url}/api/v1/mcp`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${token}`,
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
        },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params }),
      });
      assert.match(await answer.text(), new RegExp(`"protocolVersion":"${protocolVersion}"`));
    }
  });

  it('has no card without PUBLIC_URL, and answers JSON to every request for what is not there', async (test) => {
    const unnamed = await startServer();
    test.after(() => unnamed.stop());
    const paths = [
      WELL_KNOWN_CARD,
      CATALOG,
      '/.well-known/openid-configuration',
      '/.well-known/oauth-protected-resource/api/v1/mcp',
      '/.well-known/oauth-authorization-server',
      '/.well-known',
      '/.well-known/',
      '/.well-known/%E0',
      CARD_PATH,
    ];
    for (const path of paths) {
      for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
        for (const accept of ['text/html,application/xhtml+xml,*/*;q=0.8', 'application/json', 'image/png']) {
          const answer = await fetch(unnamed.url + path, { method, headers: { accept } });
          assert.equal(answer.status, path.endsWith('%E0') ? 400 : 404, `${method} ${path} ${accept}`);
          assert.match(answer.headers.get('content-type') ?? '', /^application\/problem\+json/);
          await answer.body?.cancel();
        }
      }
    }
  });
});

describe('the server card', () => {
  const cardOf = (url: string, hasOAuth = false) => serverCard({ publicUrl: new URL(url), hasOAuth });

  it('requires a key, unless clients can sign in', () => {
    const [withKey, withOAuth] = [false, true].map(
      (hasOAuth) => cardOf('https://example.com', hasOAuth).remotes[0]?.headers[0],
    );
    assert.deepEqual([withKey?.isRequired, withOAuth?.isRequired], [true, false]);
    assert.match(withOAuth?.description ?? '', /OAuth/);
    assert.doesNotMatch(withKey?.description ?? '', /OAuth/);
    assert.ok(withKey?.isSecret && withOAuth?.isSecret);
  });

  it('keeps to the limits of its schema, whatever the host', () => {
    const label = 'a'.repeat(63);
    const names = {
      'https://example.com/some/path?x=1': 'com.example/switchboard',
      'http://localhost:8080': 'localhost/switchboard',
      'http://192.0.2.7': '192.0.2.7/switchboard',
      'http://[2001:db8::1]:8080': '2001-db8--1/switchboard',
      'https://example.com.': 'com.example/switchboard',
      'http://my_host:8080': 'my-host/switchboard',
      [`https://${[label, label, label, 'example.com'].join('.')}`]: undefined,
    };
    for (const [url, name] of Object.entries(names)) {
      const card = cardOf(url);
      if (name !== undefined) assert.equal(card.name, name);
      assert.match(card.name, /^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/);
      assert.ok(card.name.length <= 200);
      assert.ok((card.description?.length ?? 101) <= 100);
      assert.match(card.remotes[0]?.url ?? '', /^https?:\/\/\S+\/api\/v1\/mcp$/);
      assert.match(aiCatalog(new URL(url)).entries[0]?.identifier ?? '', /^urn:air:[a-z0-9.-]+:mcp:switchboard$/);
    }
  });
});
