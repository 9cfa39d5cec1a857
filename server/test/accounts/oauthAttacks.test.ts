import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type FileServer, startFileServer } from '../support/connections/fileServer.ts';
import { createFakeClock } from '../support/fakeClock.ts';
import {
  ACCEPT,
  approve,
  authorizationUrl,
  Browser,
  beginRequest,
  CALLBACK,
  connectApp,
  LIST,
  newProof,
  newRequest,
  postForm,
  register,
  startOAuthServer,
  TestApp,
} from '../support/mcp/oauth.ts';
import { bearer, callerOf, connectSession, startServer, type TestServer } from '../support/server.ts';

/** Fails unless a browser gets a page that explains the problem, and is sent nowhere. */
async function assertStays(response: Response): Promise<string> {
  const text = await response.text();
  assert.deepEqual([response.status, response.headers.get('location')], [400, null], text);
  assert.match(text, /The app could not be connected/);
  assert.match(response.headers.get('content-security-policy') ?? '', /default-src 'none'.*frame-ancestors 'none'/);
  return text;
}

describe('an access token of an app', () => {
  let server: TestServer;
  let token: string;
  before(async () => {
    server = await startOAuthServer();
    const { call } = await server.account();
    await connectSession(call);
    const app = new TestApp();
    await connectApp(server, call, app);
    token = app.tokensOrFail.access_token;
  });
  after(() => server.stop());

  it('is accepted only at the MCP endpoint, not as another node would present it, and only as Bearer', async () => {
    const agent = bearer(server.url, token);
    assert.equal((await agent('POST', '/mcp', LIST, ACCEPT)).status, 200);
    const forged = { 'x-switchboard-forwarded-by': 'nod_1', 'x-switchboard-node-signature': 'v1,1,AAAA' };
    for (const path of ['/sessions', '/auth/me', '/messages', '/events', '/events/stream', '/api-keys', '/media/med_1'])
      for (const headers of [{}, forged]) {
        const answer = await agent('GET', path, undefined, headers);
        assert.ok([401, 403].includes(answer.status), `${path}: ${answer.status}`);
      }
    assert.equal((await agent('POST', '/messages/send', { to: '491701234567', message: 'x' }, forged)).status, 401);
    const { body } = await agent('GET', '/sessions');
    assert.match(body.detail, /only at \/api\/v1\/mcp/);
    const others = [
      callerOf(server.url, { 'x-api-key': token }),
      callerOf(server.url, { 'x-switchboard-dashboard': '1', cookie: `switchboard=${token}` }),
    ];
    for (const other of others) assert.equal((await other('POST', '/mcp', LIST, ACCEPT)).status, 401);
    assert.equal((await server.call('POST', `/mcp?key=${token}`, LIST, ACCEPT)).status, 401);
  });

  it('is in the database only as a hash, like every other secret of OAuth', async () => {
    const { call } = await server.account();
    const app = new TestApp();
    const browser = new Browser();
    await connectApp(server, call, app, {}, browser);
    const requestId = await newRequest(server, browser);
    const { body } = await call('POST', `/connections/requests/${requestId}/approve`, { permissions: ['chats:read'] });
    const answer = new URL(body.redirectUrl, server.url).searchParams.get('answer') ?? '';
    const rows = await server.app.services.database.reader.kysely.selectFrom('oauth_records').selectAll().execute();
    assert.deepEqual(
      new Set(rows.map(({ model }) => model)),
      new Set(['AccessToken', 'AuthorizationCode', 'Client', 'Interaction', 'RefreshToken', 'Session']),
    );
    const { access_token, refresh_token } = app.tokensOrFail;
    const stored = JSON.stringify(rows);
    for (const secret of [access_token, refresh_token, answer, requestId]) {
      assert.ok(secret.length > 20, secret);
      assert.ok(!stored.includes(secret));
    }
  });
});

describe('the OAuth endpoints', () => {
  let server: TestServer;
  before(async () => {
    server = await startOAuthServer();
  });
  after(() => server.stop());

  it('are described where clients look, and nowhere else', async () => {
    const read = async (path: string) => (await fetch(`${server.url}/.well-known/${path}`)).json();
    const resource = await read('oauth-protected-resource');
    assert.deepEqual(resource, await read('oauth-protected-resource/api/v1/mcp'));
    assert.deepEqual([resource.resource, resource.authorization_servers], [`${server.url}/api/v1/mcp`, [server.url]]);
    assert.equal(resource.scopes_supported, undefined, 'clients would ask for all of them');
    const metadata = await read('oauth-authorization-server');
    assert.equal(metadata.issuer, server.url);
    assert.deepEqual(metadata.code_challenge_methods_supported, ['S256']);
    assert.equal(metadata.client_id_metadata_document_supported, true);
    for (const name of ['authorization', 'token', 'registration', 'revocation'])
      assert.ok(metadata[`${name}_endpoint`].startsWith(`${server.url}/oauth/`), name);
    // The address comes from the settings, and not from the caller.
    const headers = { 'x-forwarded-host': 'evil.example.com', forwarded: 'host=evil.example.com' };
    const same = await fetch(`${server.url}/.well-known/oauth-authorization-server`, { headers });
    assert.deepEqual(await same.json(), metadata);
    // Pages of other origins cannot call the MCP endpoint, so they need none of this.
    const page = { headers: { origin: 'https://page.example.com' } };
    const shared = await fetch(`${server.url}/.well-known/oauth-authorization-server`, page);
    assert.equal(shared.headers.get('access-control-allow-origin'), null);
    for (const path of ['.well-known/openid-configuration', 'oauth/jwks', 'oauth/me', 'oauth/register/any'])
      assert.equal((await fetch(`${server.url}/${path}`, { headers: { accept: 'text/html' } })).status, 404, path);
  });

  it('allow no page of another origin', async () => {
    for (const path of ['token', 'revoke', 'register'])
      for (const headers of [{}, { origin: 'https://page.example.com' }] as Record<string, string>[]) {
        const response = await fetch(`${server.url}/oauth/${path}`, {
          method: 'POST',
          body: new URLSearchParams({ client_id: 'unknown' }),
          headers,
        });
        const names = [...response.headers.keys()].filter((name) => name.startsWith('access-control-'));
        assert.deepEqual(names, [], path);
      }
  });

  it('are named in the challenge of the MCP endpoint, and of no other', async () => {
    const challengeOf = async (path: string, headers: Record<string, string> = {}) => {
      const answer = await server.call('POST', path, LIST, { ...ACCEPT, ...headers });
      assert.equal(answer.status, 401);
      return answer.headers.get('www-authenticate') ?? '';
    };
    const metadata = `resource_metadata="${server.url}/.well-known/oauth-protected-resource/api/v1/mcp"`;
    const first = await challengeOf('/mcp');
    assert.equal(first, `Bearer ${metadata}`);
    assert.match(await challengeOf('/mcp', { authorization: 'Bearer wrong' }), /error="invalid_token"/);
    assert.equal(await challengeOf('/messages/send'), 'Bearer');
    const { call, token } = await server.account();
    assert.equal((await call('POST', '/mcp', LIST, ACCEPT)).headers.get('www-authenticate'), null);
    const { body } = await call('POST', '/api-keys/create', { name: 'key' });
    for (const credential of [token, body.key])
      assert.equal((await bearer(server.url, credential)('POST', '/mcp', LIST, ACCEPT)).status, 200);
  });

  it('send nobody to an address that the client has not registered', async () => {
    const { body: client } = await register(server, { redirect_uris: [CALLBACK, 'https://app.example.com/callback'] });
    for (const redirect_uri of [
      'https://evil.example.com/callback',
      'https://app.example.com/callback/more',
      'https://app.example.com/callback?next=evil',
      'https://app.example.com@evil.example.com/callback',
      'https://app.example.com:444/callback',
      'http://app.example.com/callback',
      'http://127.0.0.1:1/other',
      'javascript:alert(1)',
      '',
    ])
      await assertStays(await new Browser().open(authorizationUrl(server, client.client_id, { redirect_uri })));
    // The port of a program on the device is free (RFC 8252, section 7.3).
    const moved = authorizationUrl(server, client.client_id, { redirect_uri: 'http://127.0.0.1:40000/callback' });
    await beginRequest(new Browser(), moved);
  });

  it('show texts of strangers as text', async () => {
    const url = authorizationUrl(server, '<script>alert(1)</script>', { state: '"><img src=x>' });
    const text = await assertStays(await new Browser().open(url));
    assert.doesNotMatch(text, /<script|<img/);
  });

  it('refuse requests without a proof key of SHA-256, and answers in a page with a script', async () => {
    const { body: client } = await register(server, { redirect_uris: [CALLBACK] });
    for (const [parameters, error] of [
      [{ code_challenge: undefined, code_challenge_method: undefined }, 'invalid_request'],
      [{ code_challenge_method: 'plain' }, 'invalid_request'],
      [{ code_challenge_method: undefined }, 'invalid_request'],
      [{ response_type: 'token' }, 'unsupported_response_type'],
      [{ response_mode: 'form_post' }, 'unsupported_response_mode'],
      [{ resource: 'https://other.example.com/mcp' }, 'invalid_target'],
      [{ resource: `${server.url}/api/v1/mcp/` }, 'invalid_target'],
      [{ prompt: 'none' }, 'consent_required'],
    ] as const) {
      const answer = await new Browser().open(authorizationUrl(server, client.client_id, parameters));
      const back = new URL(answer.headers.get('location') ?? 'about:blank');
      assert.ok(back.href.startsWith(CALLBACK), `${JSON.stringify(parameters)}: ${answer.status}`);
      // The answer to a request for a token is in the fragment.
      const answered = new URLSearchParams(back.search || back.hash.slice(1));
      assert.equal(answered.get('error'), error, JSON.stringify(parameters));
      assert.deepEqual([answered.get('code'), answered.get('access_token')], [null, null]);
    }
  });

  it('give the account of a person to nobody who sent them a link', async () => {
    const victim = await server.account();
    const [attacker, own] = [new Browser(), new Browser()];
    const { body: client } = await register(server, { client_name: 'Trustworthy', redirect_uris: [CALLBACK] });
    const requestId = await beginRequest(attacker, authorizationUrl(server, client.client_id));
    // The person follows the link, and agrees.
    const path = `/connections/requests/${requestId}`;
    const { body } = await victim.call('POST', `${path}/approve`, { permissions: ['messages:read'] });
    // The browser of the attacker does not know the secret, and that of the victim has no cookie.
    for (const secret of ['', '?answer=', `?answer=${'A'.repeat(43)}`])
      await assertStays(await attacker.open(`${server.url}/oauth/authorize/${requestId}${secret}`));
    await assertStays(await own.open(new URL(body.redirectUrl, server.url)));
  });

  it('keep no login of their own: each request asks, also in a browser that another person used before', async () => {
    const [one, two] = [await server.account(), await server.account()];
    const browser = new Browser();
    const { body: client } = await register(server, { redirect_uris: [CALLBACK] });
    const url = authorizationUrl(server, client.client_id);
    for (const person of [one, two, one]) {
      const back = await approve(server, person.call, browser, await beginRequest(browser, url));
      assert.ok(back.searchParams.has('code'));
    }
    assert.deepEqual(
      browser.cookieNames.filter((name) => name.includes('session')),
      [],
    );
  });

  it('need the login of a person, and not a key', async () => {
    const { call } = await server.account();
    const { body } = await call('POST', '/api-keys/create', { name: 'full' });
    const requestId = await newRequest(server, new Browser());
    const byKey = bearer(server.url, body.key);
    const path = `/connections/requests/${requestId}`;
    for (const [method, suffix] of [
      ['GET', ''],
      ['POST', '/approve'],
      ['POST', '/deny'],
    ] as const)
      assert.equal((await byKey(method, path + suffix, method === 'GET' ? undefined : {})).status, 403);
    // A page of another site has the cookie at best, and not the header.
    const { token } = await server.account();
    const byCookie = callerOf(server.url, { cookie: `switchboard=${token}` });
    assert.equal((await byCookie('POST', `${path}/approve`, { permissions: ['chats:read'] })).status, 401);
    const crossSite = { 'x-switchboard-dashboard': '1', 'sec-fetch-site': 'cross-site' };
    assert.equal((await byCookie('POST', `${path}/deny`, {}, crossSite)).status, 401);
  });

  it('take small registrations with safe redirects, and keep nothing else of them', async () => {
    for (const metadata of [
      'no JSON',
      '[]',
      {},
      { redirect_uris: [] },
      { redirect_uris: Array.from({ length: 11 }, (_, index) => `https://app.example.com/${index}`) },
      { redirect_uris: ['http://app.example.com/callback'] },
      { redirect_uris: ['javascript:alert(1)//'] },
      { redirect_uris: ['data:text/html,x'] },
      { redirect_uris: ['ms-msdt:/id'] },
      { redirect_uris: ['search-ms:query=x'] },
      { redirect_uris: ['itms-services://?action=download-manifest'] },
      { redirect_uris: ['x-apple.systempreferences:com.apple.preference'] },
      { redirect_uris: ['/relative'] },
      { redirect_uris: [`https://app.example.com/${'x'.repeat(1000)}`] },
      { redirect_uris: [CALLBACK], client_name: 'x'.repeat(101) },
      { redirect_uris: [CALLBACK], grant_types: ['client_credentials'] },
    ]) {
      const { status, body } = await register(server, metadata);
      assert.equal(status, 400, JSON.stringify(metadata));
      assert.match(body.error, /^invalid_(client_metadata|redirect_uri)$/);
    }
    const large = await register(server, { redirect_uris: [CALLBACK], more: 'x'.repeat(17_000) });
    assert.deepEqual([large.status, large.body.error], [413, 'invalid_request']);
    assert.match(large.body.error_description, /16 KiB/);
    const { status, body } = await register(server, {
      redirect_uris: [CALLBACK, 'com.example.app:/callback', 'cursor://anysphere.cursor-mcp/oauth/callback'],
      client_name: 'A name\u202e\n\u0000 with controls',
      token_endpoint_auth_method: 'client_secret_post',
      client_id: 'chosen',
      jwks_uri: 'http://10.0.0.1/',
      sector_identifier_uri: 'https://10.0.0.1/',
      scope: 'everything',
    });
    assert.equal(status, 201, JSON.stringify(body));
    assert.deepEqual(
      [
        body.client_name,
        body.token_endpoint_auth_method,
        body.jwks_uri,
        body.client_secret,
        body.sector_identifier_uri,
      ],
      ['A name with controls', 'none', undefined, undefined, undefined],
    );
    assert.notEqual(body.client_id, 'chosen');
  });

  it('limit what one network does in a minute, and registers in an hour', async () => {
    const strict = await startOAuthServer({ env: { LOGIN_RATE_LIMIT: '1', REGISTRATION_RATE_LIMIT: '2' } });
    try {
      const metadata = { redirect_uris: [CALLBACK] };
      const statuses = [];
      for (let index = 0; index < 3; index++) statuses.push((await register(strict, metadata)).status);
      assert.deepEqual(statuses, [201, 201, 429]);
      const opened = [];
      for (let index = 0; index < 12; index++)
        opened.push((await new Browser().open(authorizationUrl(strict, 'nobody'))).status);
      assert.deepEqual(new Set(opened), new Set([400, 429]));
      assert.equal(opened[0], 400);
    } finally {
      await strict.stop();
    }
  });
});

describe('the address of a client', () => {
  let files: FileServer;
  before(async () => {
    files = await startFileServer((request, response) => {
      const document = { client_id: files.url + request.url, redirect_uris: [CALLBACK] };
      response.end(request.url?.startsWith('/valid/') ? JSON.stringify(document) : '{}');
    });
  });
  after(() => files.close());

  it('makes the server call nothing of its own network, not even what webhooks may reach', async () => {
    const env = { PUBLIC_URL: 'https://gateway.example.com', MCP_OAUTH: 'on', WEBHOOK_ALLOWED_CIDRS: '127.0.0.0/8' };
    const server = await startServer({ env });
    try {
      for (const clientId of [
        `${files.url}/client.json`,
        files.url.replace('127.0.0.1', 'localhost') + '/client.json',
        'https://10.0.0.1/client.json',
        'https://169.254.169.254/latest/meta-data',
        'https://[::1]/client.json',
        'https://0x7f000001/client.json',
        'http://127.0.0.1/client.json',
        `https://user@127.0.0.1/client.json`,
        `https://app.example.com/${'x'.repeat(600)}`,
      ])
        await assertStays(await new Browser().open(authorizationUrl(server, clientId)));
      assert.deepEqual(files.visits, []);
    } finally {
      await server.stop();
    }
  });

  it('on this machine is fetched only if the operator lists it', async () => {
    const server = await startOAuthServer({ env: { WEBHOOK_ALLOWED_CIDRS: '10.0.0.0/8' } });
    try {
      for (const host of ['127.0.0.1', 'localhost'])
        await assertStays(
          await new Browser().open(authorizationUrl(server, `${files.url.replace('127.0.0.1', host)}/valid/app`)),
        );
      assert.deepEqual(files.visits, []);
    } finally {
      await server.stop();
    }
  });

  it('lets a connected app refresh its tokens while strangers use up what the server fetches', async () => {
    const clock = createFakeClock(Date.now());
    const server = await startOAuthServer({ clock });
    try {
      const { call } = await server.account();
      const app = new TestApp({ documentUrl: `${files.url}/valid/app` });
      await connectApp(server, call, app);
      const visits = () => files.visits.filter((path) => path === '/valid/app').length;
      assert.equal(visits(), 1);
      const open = (path: string) => new Browser().open(authorizationUrl(server, `${files.url}/valid/${path}`));
      // More documents than the server keeps, and then as many as it fetches for strangers in a minute.
      for (let minute = 0; minute < 12; minute++) {
        clock.skip(60_000);
        for (let index = 0; index < 20; index++) assert.equal((await open(`${minute}/${index}`)).status, 303);
      }
      await assertStays(await open('another'));
      const form = { grant_type: 'refresh_token', client_id: `${files.url}/valid/app` };
      const refreshed = await postForm(`${server.url}/oauth/token`, {
        ...form,
        refresh_token: app.tokensOrFail.refresh_token,
      });
      assert.equal(refreshed.status, 200, JSON.stringify(refreshed.body));
      assert.equal(visits(), 2);
    } finally {
      await server.stop();
    }
  });

  it('makes it fetch only so many documents for one network', async () => {
    const server = await startOAuthServer({ clock: createFakeClock(Date.now()) });
    try {
      const before = files.visits.length;
      for (let index = 0; index < 25; index++)
        await assertStays(await new Browser().open(authorizationUrl(server, `${files.url}/${index}`)));
      const expected = Array.from({ length: 20 }, (_, index) => `/${index}`);
      assert.deepEqual(files.visits.slice(before), expected, 'each of them once');
      const page = await assertStays(await new Browser().open(authorizationUrl(server, `${files.url}/one-more`)));
      assert.match(page, /wait a minute/);
      // The token endpoint looks up clients, too.
      const { code, verifier } = { code: 'x', verifier: newProof().verifier };
      const form = { grant_type: 'authorization_code', client_id: `${files.url}/token`, code, code_verifier: verifier };
      assert.equal((await postForm(`${server.url}/oauth/token`, form)).body.error, 'temporarily_unavailable');
      assert.equal(files.visits.length, before + 20);
    } finally {
      await server.stop();
    }
  });
});

it('keeps the cookies of a request from other sites, and from plain HTTP', async () => {
  const server = await startServer({ env: { PUBLIC_URL: 'https://gateway.example.com', MCP_OAUTH: 'on' } });
  try {
    const { body: client } = await register(server, { redirect_uris: [CALLBACK] });
    const resource = 'https://gateway.example.com/api/v1/mcp';
    const answer = await new Browser().open(authorizationUrl(server, client.client_id, { resource }));
    assert.match(answer.headers.get('location') ?? '', /\/connect\//);
    const cookies = answer.headers.getSetCookie();
    assert.ok(cookies.length > 0);
    for (const cookie of cookies) assert.match(cookie, /; secure; httponly/i);
    for (const cookie of cookies) assert.match(cookie, /samesite=lax/i);
  } finally {
    await server.stop();
  }
});
