import assert from 'node:assert/strict';
import { request } from 'node:http';
import { after, before, describe, it } from 'node:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import Fastify from 'fastify';
import { errors } from '../../src/errors.ts';
import { addDocs } from '../../src/http/pages/docs.ts';
import { startServer, type TestServer } from '../support/server.ts';

interface Raw {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

describe('documentation over HTTP', () => {
  let server: TestServer;
  before(async () => {
    server = await startServer();
  });
  after(() => server.stop());

  /** Requests a path as it is, without decompressing the response, or normalizing the path as `fetch` does. */
  const get = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
    new Promise<Raw>((resolve, reject) => {
      const { hostname, port } = new URL(server.url);
      request({ hostname, port, path, method, headers }, async (response) => {
        const chunks: Buffer[] = await response.toArray();
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) });
      })
        .on('error', reject)
        .end();
    });

  describe('openapi.json', () => {
    const paths = ['/openapi.json', '/api/v1/openapi.json'];
    const decode = { br: brotliDecompressSync, gzip: gunzipSync, identity: (body: Buffer) => body };

    it('is compressed as the client accepts, with a tag for each encoding', async () => {
      for (const path of paths) {
        const tags = new Set();
        for (const [accepted, expected] of [
          ['gzip, deflate, br', 'br'],
          ['br;q=0.5, gzip', 'gzip'],
          ['gzip;q=0, br;q=0', 'identity'],
          ['zstd', 'identity'],
          ['*', 'br'],
          ['', 'identity'],
        ] as const) {
          const { status, headers, body } = await get(path, { 'accept-encoding': accepted });
          assert.equal(status, 200);
          assert.equal(headers['content-encoding'] ?? 'identity', expected, accepted);
          assert.equal(headers['vary'], 'accept-encoding');
          assert.equal(headers['cache-control'], 'no-cache');
          assert.match(String(headers['content-type']), /^application\/json/);
          assert.match(String(headers['etag']), /^"[\w-]+"$/);
          tags.add(headers['etag']);
          const plain = decode[expected](body);
          assert.equal(JSON.parse(plain.toString()).openapi, '3.1.0');
          if (expected !== 'identity') assert.ok(body.length < plain.length / 8, `${body.length} bytes in ${expected}`);
        }
        assert.equal(tags.size, 3);
      }
    });

    it('answers 304 to a client that has this encoding of it', async () => {
      for (const path of paths) {
        const br = { 'accept-encoding': 'br' };
        const { etag = '' } = (await get(path, br)).headers;
        for (const known of [String(etag), `"other", W/${etag}`, '*']) {
          const answer = await get(path, { ...br, 'if-none-match': known });
          assert.equal(answer.status, 304, known);
          assert.equal(answer.body.length, 0);
          assert.equal(answer.headers['etag'], etag);
          assert.equal(answer.headers['vary'], 'accept-encoding');
        }
        for (const other of [{ ...br, 'if-none-match': '"other"' }, { 'if-none-match': String(etag) }])
          assert.equal((await get(path, other)).status, 200);
      }
    });

    it('answers HEAD with the headers only', async () => {
      const { status, headers, body } = await get('/openapi.json', { 'accept-encoding': 'gzip' }, 'HEAD');
      assert.equal(status, 200);
      assert.equal(headers['content-encoding'], 'gzip');
      assert.equal(body.length, 0);
    });
  });

  it('serves every page without a login, and with a policy that allows no inline code', async () => {
    for (const path of ['/docs', '/docs/errors', '/docs/guides/', '/docs/guides/webhooks', '/docs/guides/decisions']) {
      const { status, headers, body } = await get(path);
      assert.equal(status, 200, path);
      const policy = String(headers['content-security-policy']);
      assert.match(policy, /default-src 'none'/);
      assert.doesNotMatch(policy, /unsafe|https?:|\*/);
      assert.equal(headers['cache-control'], 'no-cache');
      assert.equal(headers['x-frame-options'], 'DENY');
      const html = body.toString();
      assert.doesNotMatch(html, /<script(?![^>]*\ssrc="\/)|<style|\sstyle="|\son\w+="/, path);
      for (const [, file = ''] of html.matchAll(/<(?:script|link|img)[^>]*(?:src|href)="([^"]+)"/g))
        assert.equal((await get(file)).status, 200, `${path} loads ${file}`);
    }
  });

  it('has an entry for every error, to which the type of a problem document leads', async () => {
    const { body } = await get('/docs/errors');
    const html = body.toString();
    for (const code of Object.keys(errors)) assert.ok(html.includes(` id="${code}"`), code);
    const problem = await (await fetch(`${server.url}/api/v1/sessions`)).json();
    const [page = '', code] = problem.type.split('#');
    assert.equal(page, '/docs/errors');
    assert.ok(html.includes(` id="${code}"`));
  });

  it('says without JavaScript where the same is', async () => {
    const html = (await get('/docs')).body.toString();
    const [, fallback = ''] = /<noscript>(.*?)<\/noscript>/s.exec(html) ?? [];
    assert.match(fallback, /href="\/openapi\.json"/);
  });

  it('compresses the guides, and caches files with a hash forever', async () => {
    for (const encoding of ['br', 'gzip']) {
      const page = await get('/docs/guides/webhooks', { 'accept-encoding': encoding });
      assert.equal(page.headers['content-encoding'], encoding);
      assert.equal(page.headers['vary'], 'accept-encoding');
      const { etag } = page.headers;
      const known = await get('/docs/guides/webhooks', { 'accept-encoding': encoding, 'if-none-match': String(etag) });
      assert.equal(known.status, 304);
    }
    const html = (await get('/docs/guides/webhooks')).body.toString();
    const [style = ''] = /\/docs\/guides\/assets\/[\w-]+\.css/.exec(html) ?? [];
    const { headers } = await get(style, { 'accept-encoding': 'br' });
    assert.equal(headers['content-encoding'], 'br');
    assert.equal(headers['cache-control'], 'public, max-age=31536000, immutable');
  });

  it('redirects other addresses of the same page', async () => {
    for (const [path, target] of [
      ['/docs/guides', '/docs/guides/'],
      ['/docs/guides/webhooks.md', '/docs/guides/webhooks'],
      ['/docs/guides/webhooks/', '/docs/guides/webhooks'],
      ['/docs/guides/index.html', '/docs/guides/'],
      ['/reference', '/docs'],
    ] as const) {
      const { status, headers } = await get(path);
      assert.deepEqual([status, headers['location']], [301, target], path);
    }
  });

  it('redirects pages with a slash at the end', async () => {
    for (const path of ['/docs', '/docs/errors']) {
      const { status, headers } = await get(`${path}/`);
      assert.deepEqual([status, headers['location']], [308, path]);
    }
  });

  it('answers 404 with a page for guides that do not exist, and serves no other files', async () => {
    for (const path of [
      '/docs/guides/nothing',
      '/docs/guides/404',
      '/docs/guides/errors',
      '/docs/guides/../package.json',
      '/docs/guides/%2e%2e/%2e%2e/package.json',
      '/docs/guides/.vite/manifest.json',
      '/docs/guides//webhooks',
    ]) {
      const { status, headers, body } = await get(path, { 'if-none-match': '*' });
      assert.equal(status, 404, path);
      assert.match(String(headers['content-type']), /^text\/html/, path);
      assert.match(body.toString(), /Page not found/, path);
    }
    for (const path of [
      '/docs/guides/assets/../404.html',
      '/docs/guides/assets/none.js',
      '/docs/guides/pictures/none.png',
    ])
      assert.ok((await get(path)).status >= 400, path);
  });

  it('starts without the builds, and then says how to make them', async () => {
    const app = Fastify();
    await addDocs(app, { dashboard: '/nonexistent', site: '/nonexistent' });
    for (const [path, command] of [
      ['/docs', 'npm run build -w dashboard'],
      ['/docs/errors', 'npm run docs'],
      ['/docs/guides', 'npm run docs'],
      ['/docs/guides/webhooks', 'npm run docs'],
    ] as const) {
      const answer = await app.inject(path);
      assert.equal(answer.statusCode, 404, path);
      assert.match(answer.body, /has not been built/);
      assert.ok(answer.body.includes(command), path);
    }
    assert.equal((await app.inject('/openapi.json')).statusCode, 200);
    await app.close();
  });
});
