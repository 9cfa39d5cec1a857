import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { readSettings } from '../../src/config.ts';
import { picture, upload } from '../support/media/media.ts';
import { startServer, type TestServer } from '../support/server.ts';

const OWN = 'https://app.example.com';
const FOREIGN = 'https://evil.example.com';

describe('web pages of other origins', () => {
  let server: TestServer;
  let token: string;
  before(async () => {
    server = await startServer({ env: { CORS_ORIGINS: `${OWN},http://localhost:5173` } });
    ({ token } = await server.account());
  });
  after(() => server.stop());

  const request = (path: string, origin: string | undefined, init: RequestInit = {}) =>
    fetch(`${server.url}/api/v1${path}`, {
      ...init,
      headers: { ...(origin !== undefined && { origin }), ...(init.headers as Record<string, string>) },
    });
  const preflight = (path: string, origin: string, headers = 'authorization,content-type') =>
    request(path, origin, {
      method: 'OPTIONS',
      headers: { 'access-control-request-method': 'POST', 'access-control-request-headers': headers },
    });
  const authorized = () => ({ headers: { authorization: `Bearer ${token}` } });
  const corsOf = ({ headers }: Response) =>
    [...headers.keys()].filter((name) => name.startsWith('access-control-')).toSorted();

  it('pass a preflight and read responses and errors if their origin is allowed', async () => {
    const allowed = await preflight('/messages/send', OWN);
    assert.equal(allowed.status, 204);
    assert.equal(allowed.headers.get('access-control-allow-origin'), OWN);
    assert.match(allowed.headers.get('access-control-allow-headers') ?? '', /\bAuthorization\b.*\bIdempotency-Key\b/);
    assert.match(allowed.headers.get('access-control-allow-methods') ?? '', /\bDELETE\b/);
    for (const response of [await request('/auth/me', OWN, authorized()), await request('/auth/me', OWN)]) {
      assert.equal(response.headers.get('access-control-allow-origin'), OWN);
      assert.match(response.headers.get('access-control-expose-headers') ?? '', /\bX-Request-Id\b/);
      assert.equal(response.headers.get('vary'), 'Origin');
      assert.equal(response.headers.get('access-control-allow-credentials'), null);
    }
    assert.equal((await request('/auth/me', OWN)).status, 401);
    assert.equal((await request('/nothing', OWN)).headers.get('access-control-allow-origin'), OWN);
  });

  it('read the event stream and files', async () => {
    const stream = await request('/events/stream', OWN, authorized());
    assert.equal(stream.headers.get('access-control-allow-origin'), OWN);
    await stream.body?.cancel();
    const { body } = await upload(server, token, picture());
    const file = await request(`/media/${body.mediaId}/content`, OWN, authorized());
    assert.equal(file.headers.get('access-control-allow-origin'), OWN);
    await file.body?.cancel();
  });

  it('get no permission if their origin is another one', async () => {
    for (const origin of [FOREIGN, `${OWN}.evil.com`, 'http://app.example.com', 'null', `${OWN}:8443`]) {
      const response = await preflight('/messages/send', origin);
      assert.deepEqual([response.status, corsOf(response)], [405, []], origin);
      const read = await request('/auth/me', origin, authorized());
      assert.deepEqual([read.status, corsOf(read), read.headers.get('vary')], [200, [], 'Origin'], origin);
    }
    assert.deepEqual(corsOf(await request('/auth/me', undefined, authorized())), []);
  });

  it('cannot send the header of the dashboard, with which the login cookie counts', async () => {
    const response = await preflight('/messages/send', OWN, 'x-switchboard-dashboard');
    const headers = response.headers.get('access-control-allow-headers') ?? '';
    assert.ok(!headers.toLowerCase().includes('dashboard'));
    assert.equal(response.headers.get('access-control-allow-credentials'), null);
  });

  it('cannot use MCP or pages of the server', async () => {
    assert.deepEqual(corsOf(await preflight('/mcp', OWN)), []);
    const page = await fetch(`${server.url}/health`, { headers: { origin: OWN } });
    assert.deepEqual(corsOf(page), []);
  });
});

it('allows no other origin by default', async (test) => {
  const server = await startServer();
  test.after(() => server.stop());
  const response = await fetch(`${server.url}/api/v1/auth/me`, { headers: { origin: OWN } });
  assert.equal(response.headers.get('access-control-allow-origin'), null);
});

it('rejects origins that are not exact', () => {
  for (const text of ['*', 'https://*.example.com', 'app.example.com', `${OWN}/`, `${OWN}/path`, 'null', 'ftp://a.b'])
    assert.throws(() => readSettings({ CORS_ORIGINS: text }), /CORS_ORIGINS must be/, text);
  assert.deepEqual(readSettings({ CORS_ORIGINS: `${OWN}, http://localhost:5173` }).corsOrigins, [
    OWN,
    'http://localhost:5173',
  ]);
});
