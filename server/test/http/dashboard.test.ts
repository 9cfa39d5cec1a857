import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { cookieToken } from '../../src/auth/loginCookie.ts';
import { type Answer, callerOf, startServer, type TestServer } from '../support/server.ts';

const password = 'correct horse battery';
/** The headers of every dashboard request. */
const ours = { 'x-switchboard-dashboard': '1' };

describe('the dashboard login', () => {
  let server: TestServer;
  before(async () => {
    server = await startServer({ env: { TRUST_PROXY: 'on' } });
  });
  after(() => server.stop());

  async function logIn(headers: Record<string, string>): Promise<Answer> {
    const { email } = await server.account();
    return server.call('POST', '/auth/login', { email, password }, headers);
  }
  /** The cookie as the browser sends it back. */
  const cookieOf = ({ headers }: Answer) => headers.getSetCookie()[0]?.split(';', 1)[0] ?? '';
  const me = (headers: Record<string, string>) => server.call('GET', '/auth/me', undefined, headers);

  it('sets an HttpOnly cookie, and returns no token', async () => {
    const answer = await logIn(ours);
    assert.equal(answer.body.token, '');
    assert.match(
      answer.headers.getSetCookie()[0] ?? '',
      /^switchboard=ey[^;]+; Path=\/; Expires=[^;]+; HttpOnly; SameSite=Strict$/,
    );
    assert.equal((await me({ ...ours, cookie: cookieOf(answer) })).status, 200);
  });

  it('returns a token and no cookie to other clients', async () => {
    const answer = await logIn({});
    assert.match(answer.body.token, /^ey/);
    assert.deepEqual(answer.headers.getSetCookie(), []);
  });

  it('sets a secure cookie over https only, however the server learns the protocol', async () => {
    const overHttps: Record<string, string>[] = [
      { 'x-forwarded-proto': 'https' },
      { origin: 'https://127.0.0.1', 'sec-fetch-site': 'same-origin' },
    ];
    for (const headers of overHttps) {
      const answer = await logIn({ ...ours, ...headers });
      assert.match(answer.headers.getSetCookie()[0] ?? '', /^__Host-switchboard=.*; Secure$/);
      assert.equal((await me({ ...ours, cookie: cookieOf(answer) })).status, 200);
    }
  });

  it('is ignored for cross-site requests', async () => {
    const cookie = cookieOf(await logIn(ours));
    const strange: Record<string, string>[] = [
      { cookie },
      { cookie, ...ours, 'sec-fetch-site': 'cross-site' },
      { cookie, ...ours, 'sec-fetch-site': 'same-site' },
      { cookie, ...ours, origin: 'https://evil.example' },
      { cookie, ...ours, origin: 'null' },
    ];
    for (const headers of strange) assert.equal((await me(headers)).status, 401, JSON.stringify(headers));
    const { host } = new URL(server.url);
    assert.equal((await me({ cookie, ...ours, origin: `http://${host}` })).status, 200);
  });

  it('sets no cookie for a cross-site login', async () => {
    const answer = await logIn({ ...ours, 'sec-fetch-site': 'cross-site' });
    assert.deepEqual(answer.headers.getSetCookie(), []);
  });

  it('accepts only the secure cookie over https, because the other could be planted', () => {
    const headers = { ...ours, cookie: 'switchboard=planted', 'sec-fetch-site': 'same-origin' };
    assert.equal(cookieToken({ ...headers, host: 'gateway.example' }), undefined);
    assert.equal(cookieToken({ ...headers, host: 'localhost:8080' }), 'planted');
    assert.equal(cookieToken({ ...headers, host: 'gateway.example', cookie: '__Host-switchboard=own' }), 'own');
  });

  it('yields to an explicit credential, and does not accept an API key', async () => {
    const cookie = cookieOf(await logIn(ours));
    assert.equal((await me({ ...ours, cookie, authorization: 'Bearer nonsense' })).status, 401);
    const { call } = await server.account();
    const { body } = await call('POST', '/api-keys/create', { name: 'smuggled' });
    assert.equal((await me({ ...ours, cookie: `switchboard=${body.key}` })).status, 401);
  });

  it('ends in this browser, everywhere, and with a password change, which starts a new one', async () => {
    const first = await logIn(ours);
    const inBrowser = callerOf(server.url, { ...ours, cookie: cookieOf(first) });

    const forgotten = await inBrowser('POST', '/auth/forget-login', {});
    assert.deepEqual(
      forgotten.headers.getSetCookie().map((text) => /^(.*)=;.* Max-Age=0;/.exec(text)?.[1]),
      ['switchboard', '__Host-switchboard'],
    );

    const change = { currentPassword: password, newPassword: `${password} staple` };
    const changed = await inBrowser('POST', '/auth/password', change);
    assert.equal(changed.body.token, '');
    assert.equal((await inBrowser('GET', '/auth/me')).status, 401);
    const again = callerOf(server.url, { ...ours, cookie: cookieOf(changed) });
    assert.equal((await again('GET', '/auth/me')).status, 200);

    const everywhere = await again('POST', '/auth/logout', {});
    assert.match(everywhere.headers.getSetCookie()[0] ?? '', /Max-Age=0/);
    assert.equal((await again('GET', '/auth/me')).status, 401);
  });
});

describe('dashboard pages', () => {
  let server: TestServer;
  before(async () => {
    server = await startServer();
  });
  after(() => server.stop());
  const open = (path: string, accept = 'text/html') => fetch(server.url + path, { headers: { accept } });

  it('return the same document at every address', async () => {
    for (const path of ['/', '/sessions', '/deliveries/dlv_1?x=1', '/sessions/%ZZ']) {
      const answer = await open(path);
      assert.equal(answer.status, 200);
      assert.match(await answer.text(), /<div id="root">/);
    }
  });

  it('do not shadow routes of the server', async () => {
    for (const path of [
      '/api/v1/nothing',
      '/api',
      '/mcp',
      '/health/nothing',
      '/assets/none.js',
      '/static/none.js',
      '/docs/none',
    ]) {
      const answer = await open(path);
      assert.equal(answer.status, 404, path);
      assert.match(answer.headers.get('content-type') ?? '', /problem\+json/);
    }
    assert.equal((await open('/sessions', 'application/json')).status, 404);
    for (const [path, accept] of [
      ['/api/v1/sessions/%ZZ', 'text/html'],
      ['/sessions/%ZZ', 'application/json'],
    ] as const) {
      const answer = await open(path, accept);
      assert.equal(answer.status, 400, path);
      assert.equal((await answer.json()).code, 'validation_failed');
    }
    assert.equal((await open('/health')).status, 200);
    assert.match(await (await open('/docs')).text(), /API reference/);
  });

  it('forbid inline scripts, external resources and framing', async () => {
    const [first, second] = [await open('/'), await open('/')];
    const policy = first.headers.get('content-security-policy') ?? '';
    for (const rule of [
      "default-src 'none'",
      "script-src 'self'",
      "connect-src 'self'",
      "frame-ancestors 'none'",
      "base-uri 'none'",
      "require-trusted-types-for 'script'",
    ]) {
      assert.ok(policy.split('; ').includes(rule), rule);
    }
    assert.doesNotMatch(policy, /unsafe|https?:|\*/);
    assert.notEqual(policy, second.headers.get('content-security-policy'), 'each nonce is new');
    const html = await first.text();
    for (const [script] of html.matchAll(/<script[^>]*>[^<]*/g)) assert.match(script, /^<script[^>]* src="\/[^>]*>$/);
  });
});
