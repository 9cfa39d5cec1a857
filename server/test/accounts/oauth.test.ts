import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { allows, permissions } from '../../src/auth/permissions.ts';
import { permissionFor } from '../../src/invoke/operation.ts';
import { defaultScopes, supportedScopes } from '../../src/oauth/scopes.ts';
import { operations } from '../../src/operations/index.ts';
import { eventually } from '../support/eventually.ts';
import { createFakeClock } from '../support/fakeClock.ts';
import { callTool } from '../support/mcp/mcp.ts';
import { newSecret, rpcOf, startCallback } from '../support/mcp/mcpEvents.ts';
import {
  ACCEPT,
  approve,
  authorizationUrl,
  Browser,
  beginRequest,
  CALLBACK,
  connectApp,
  connectedClient,
  LIST,
  newProof,
  newRequest,
  postForm,
  register,
  startOAuthNodes,
  startOAuthServer,
  statusWith,
  TestApp,
} from '../support/mcp/oauth.ts';
import { bearer, connectSession, newNumber, startServer, type TestServer } from '../support/server.ts';

const refresh = ({ url }: Pick<TestServer, 'url'>, app: TestApp, token: string, more: Record<string, string> = {}) =>
  postForm(`${url}/oauth/token`, {
    grant_type: 'refresh_token',
    client_id: app.client?.client_id ?? '',
    refresh_token: token,
    ...more,
  });

describe('an app that connects by OAuth', () => {
  let server: TestServer;
  before(async () => {
    server = await startOAuthServer();
  });
  after(() => server.stop());

  it('finds the server by a 401, registers, and calls tools after the person has agreed', async () => {
    const { call } = await server.account();
    const sessionId = await connectSession(call);
    const app = new TestApp({ name: 'Agent' });
    const client = await connectApp(server, call, app);
    const { output } = await callTool(client, 'sessions_list');
    assert.deepEqual(
      output.data.map((session: { sessionId: string }) => session.sessionId),
      [sessionId],
    );
    const sent = await callTool(client, 'messages_send', { to: newNumber(), message: 'hello' });
    assert.equal(sent.output.status, 'sent', JSON.stringify(sent.output));
    const [key] = (await call('GET', '/api-keys')).body.data;
    assert.deepEqual(
      [key.name, key.app, key.sessionIds],
      ['Agent', { clientId: app.client?.client_id, name: 'Agent', url: null, redirectHost: '127.0.0.1:39871' }, null],
    );
    assert.equal(app.stored?.expires_in, 600);
  });

  it('renews its token by itself, and gets a new refresh token each time', async () => {
    const { call } = await server.account();
    const app = new TestApp();
    await connectApp(server, call, app);
    const first = app.tokensOrFail;
    app.stored = { ...first, token_type: 'Bearer', access_token: 'expired' };
    const client = await connectedClient(server, app);
    assert.equal((await callTool(client, 'sessions_list')).isError, false);
    const second = app.tokensOrFail;
    assert.notEqual(second.refresh_token, first.refresh_token);
    assert.notEqual(second.access_token, first.access_token);
  });

  it('loses all its tokens and subscriptions when a refresh token is used twice', async (test) => {
    const { call } = await server.account();
    const app = new TestApp();
    // The client of the SDK asks for the usual permissions, and events are not among them.
    app.redirectToAuthorization = (url) => {
      url.searchParams.set('scope', 'sessions:read events:read');
      app.authorizationUrl = url;
    };
    await connectApp(server, call, app);
    const { access_token, refresh_token } = app.tokensOrFail;
    const { body: renewed } = await refresh(server, app, refresh_token);
    assert.equal(await statusWith(server, renewed.access_token), 200);
    const callback = await startCallback(test);
    const wanted = { name: 'message.incoming', delivery: { url: callback.url, secret: newSecret() } };
    const { error } = await rpcOf(server, renewed.access_token)('events/subscribe', wanted);
    assert.equal(error, undefined, JSON.stringify(error));
    const replayed = await refresh(server, app, refresh_token);
    assert.deepEqual([replayed.status, replayed.body.error], [400, 'invalid_grant']);
    assert.equal(await statusWith(server, access_token), 401);
    assert.equal(await statusWith(server, renewed.access_token), 401);
    assert.equal((await refresh(server, app, renewed.refresh_token)).status, 400);
    await callback.waitFor(1);
    assert.equal(callback.deliveries[0]?.parsed.type, 'terminated');
    assert.deepEqual((await call('GET', '/webhooks/subscriptions')).body.data, []);
    // The person sees it among the connected apps, and keeps what they chose when it connects again.
    assert.equal((await call('GET', '/api-keys')).body.data.length, 1);
  });

  it('loses all its tokens when a code is used twice, even after the code has expired', async () => {
    const clock = createFakeClock(Date.now());
    const own = await startOAuthServer({ clock });
    try {
      const { call } = await own.account();
      const { body: client } = await register(own, { client_name: 'App', redirect_uris: [CALLBACK] });
      const { verifier, challenge } = newProof();
      const browser = new Browser();
      const url = authorizationUrl(own, client.client_id, { code_challenge: challenge, scope: 'sessions:read' });
      const redirect = await approve(own, call, browser, await beginRequest(browser, url));
      const form = {
        grant_type: 'authorization_code',
        client_id: client.client_id,
        code: redirect.searchParams.get('code') ?? '',
        code_verifier: verifier,
        redirect_uri: CALLBACK,
      };
      const { body: tokens } = await postForm(`${own.url}/oauth/token`, form);
      assert.equal(await statusWith(own, tokens.access_token), 200);
      clock.skip(5 * 60_000);
      assert.equal((await postForm(`${own.url}/oauth/token`, form)).status, 400);
      assert.equal(await statusWith(own, tokens.access_token), 401);
    } finally {
      await own.stop();
    }
  });

  it('loses all its tokens when a refresh token is used several times concurrently', async () => {
    const { call } = await server.account();
    // Whether a request comes between the read and the write of another one depends on the round.
    for (let round = 0; round < 10; round++) {
      const app = new TestApp();
      await connectApp(server, call, app);
      const { access_token, refresh_token } = app.tokensOrFail;
      const answers = await Promise.all(Array.from({ length: 8 }, () => refresh(server, app, refresh_token)));
      const issued = answers.filter(({ status }) => status === 200).map(({ body }) => body.access_token);
      assert.ok(issued.length <= 1, 'the token was used more than once');
      for (const token of [access_token, ...issued]) assert.equal(await statusWith(server, token), 401);
    }
  });

  it('may do only what the person allowed, and less as soon as they change it', async () => {
    const { call } = await server.account();
    const [mine, other] = [await connectSession(call), await connectSession(call)];
    const friend = newNumber();
    const app = new TestApp({ scope: 'sessions:read messages:read messages:send webhooks:write' });
    const consent = {
      permissions: ['sessions:read', 'messages:send'],
      sessionIds: [mine],
      allowedRecipients: [friend],
      sendQuota: 1,
    };
    const client = await connectApp(server, call, app, consent);
    assert.equal(app.stored?.scope, 'sessions:read messages:send');
    const names = (await client.listTools()).tools.map(({ name }) => name);
    assert.ok(names.includes('messages_send') && !names.includes('messages_list') && !names.includes('webhooks_set'));
    const send = async (input: object) => (await callTool(client, 'messages_send', { message: 'x', ...input })).output;
    assert.equal((await send({ to: friend, sessionId: other })).code, 'not_found');
    assert.equal((await send({ to: newNumber() })).code, 'permission_denied');
    assert.equal((await send({ to: friend })).status, 'sent');
    assert.equal((await send({ to: friend })).code, 'quota_exceeded');

    const [{ keyId }] = (await call('GET', '/api-keys')).body.data;
    await call('PATCH', `/api-keys/${keyId}`, { permissions: ['sessions:read', 'groups:*'], sendQuota: null });
    assert.equal((await send({ to: friend })).code, 'permission_denied');
    const now = (await client.listTools()).tools.map(({ name }) => name);
    assert.ok(now.includes('sessions_list') && !now.includes('groups_list'));
    // The next token has the permissions that a person adds, and says so.
    const { body } = await refresh(server, app, app.tokensOrFail.refresh_token);
    assert.equal(body.scope, 'sessions:read groups:read groups:write');
    const tools = await bearer(server.url, body.access_token)('POST', '/mcp', LIST, ACCEPT);
    assert.match(tools.body, /"name":"groups_list"/);
    // An app can ask for less, also for a permission that it no longer has.
    const less = await refresh(server, app, body.refresh_token, { scope: 'sessions:read messages:send' });
    assert.deepEqual([less.status, less.body.scope], [200, 'sessions:read']);
  });

  it('asks for what it wants, and gets what the person adds', async () => {
    const { call } = await server.account();
    const app = new TestApp({ scope: 'chats:read' });
    const client = await connectApp(server, call, app, { permissions: ['chats:read', 'events:read'] });
    assert.deepEqual(app.authorizationUrl?.searchParams.get('scope')?.split(' '), ['chats:read']);
    assert.equal(app.stored?.scope, 'chats:read events:read');
    assert.equal((await callTool(client, 'events_list')).isError, false);
    // Nothing of what it asked for.
    const other = new TestApp({ scope: 'messages:read' });
    await connectApp(server, call, other, { permissions: ['events:read'] });
    assert.equal(other.stored?.scope, 'events:read');
  });

  it('loses nothing by a request for another resource', async () => {
    const { call } = await server.account();
    const app = new TestApp();
    await connectApp(server, call, app);
    const { access_token, refresh_token } = app.tokensOrFail;
    const wrong = await refresh(server, app, refresh_token, { resource: 'https://other.example.com/mcp' });
    assert.deepEqual([wrong.status, wrong.body.error], [400, 'invalid_target']);
    assert.equal(await statusWith(server, access_token), 200);
    const right = await refresh(server, app, refresh_token, { resource: `${server.url}/api/v1/mcp` });
    assert.equal(right.status, 200, JSON.stringify(right.body));
  });

  it('stops at once when the person disconnects it, and its key cannot be rotated', async () => {
    const { call } = await server.account();
    const app = new TestApp();
    await connectApp(server, call, app);
    const { access_token, refresh_token } = app.tokensOrFail;
    const [{ keyId }] = (await call('GET', '/api-keys')).body.data;
    const rotated = await call('POST', `/api-keys/${keyId}/rotate`, {});
    assert.deepEqual([rotated.status, rotated.body.code], [400, 'validation_failed']);
    assert.match(rotated.body.detail, /connected app, which has no key to rotate/);
    assert.equal(await statusWith(server, access_token), 200);
    const stranger = await server.account();
    assert.equal((await stranger.call('DELETE', `/api-keys/${keyId}`)).status, 404);
    assert.equal(await statusWith(server, access_token), 200);
    assert.equal((await call('DELETE', `/api-keys/${keyId}`)).status, 200);
    assert.equal(await statusWith(server, access_token), 401);
    assert.equal((await refresh(server, app, refresh_token)).status, 400);
  });

  for (const name of ['access_token', 'refresh_token'] as const)
    it(`disconnects itself by revoking its ${name}, and another app cannot`, async () => {
      const { call } = await server.account();
      const app = new TestApp();
      await connectApp(server, call, app);
      const tokens = app.tokensOrFail;
      const revoke = (client_id = '') => postForm(`${server.url}/oauth/revoke`, { token: tokens[name], client_id });
      const { body: stranger } = await register(server, { redirect_uris: [CALLBACK] });
      await revoke(stranger.client_id);
      assert.equal(await statusWith(server, tokens.access_token), 200);
      assert.equal((await revoke(app.client?.client_id)).status, 200);
      assert.equal(await statusWith(server, tokens.access_token), 401);
      assert.equal((await refresh(server, app, tokens.refresh_token)).status, 400);
      assert.deepEqual((await call('GET', '/api-keys')).body.data, []);
    });

  it('keeps one connection per account, and replaces what it may do when it asks again', async () => {
    const [one, two] = [await server.account(), await server.account()];
    const app = new TestApp({ scope: 'messages:read chats:read' });
    await connectApp(server, one.call, app, { sendQuota: 7, requiresApproval: true, confirm: ['destructive'] });
    const old = app.tokensOrFail.access_token;
    app.stored = undefined;
    await connectApp(server, one.call, app, { permissions: ['chats:read'] });
    app.stored = undefined;
    await connectApp(server, two.call, app);
    const [key, ...more] = (await one.call('GET', '/api-keys')).body.data;
    assert.deepEqual([more.length, key.permissions], [0, ['chats:read']]);
    assert.deepEqual([key.sendQuota, key.requiresApproval, key.confirm], [7, true, ['destructive']]);
    assert.equal((await two.call('GET', '/api-keys')).body.data.length, 1);
    const tools = await bearer(server.url, old)('POST', '/mcp', LIST, ACCEPT);
    assert.doesNotMatch(tools.body, /"name":"messages_list"/);
  });

  it('keeps the name that a person gave its key when it asks again', async () => {
    const { call } = await server.account();
    const app = new TestApp({ name: 'Agent' });
    await connectApp(server, call, app);
    const [{ keyId }] = (await call('GET', '/api-keys')).body.data;
    await call('PATCH', `/api-keys/${keyId}`, { name: 'Agent of Anna' });
    app.stored = undefined;
    await connectApp(server, call, app);
    const [key] = (await call('GET', '/api-keys')).body.data;
    assert.deepEqual([key.keyId, key.name, key.app.name], [keyId, 'Agent of Anna', 'Agent']);
  });

  it('counts as an API key of the account', async () => {
    const small = await startOAuthServer({ env: { MAX_API_KEYS: '1' } });
    try {
      const { call } = await small.account();
      await call('POST', '/api-keys/create', { name: 'the only one' });
      const requestId = await newRequest(small, new Browser());
      const answer = await call('POST', `/connections/requests/${requestId}/approve`, { permissions: ['chats:read'] });
      assert.deepEqual([answer.status, answer.body.code], [409, 'too_many']);
      // The person can make room and answer again.
      assert.equal((await call('GET', `/connections/requests/${requestId}`)).status, 200);
    } finally {
      await small.stop();
    }
  });

  it('learns of a denial, and a request can be answered only once', async () => {
    const { call } = await server.account();
    const browser = new Browser();
    const requestId = await newRequest(server, browser, { state: 'mine' });
    const path = `/connections/requests/${requestId}`;
    const denied = await call('POST', `${path}/deny`);
    const again = [
      await call('GET', path),
      await call('POST', `${path}/deny`),
      await call('POST', `${path}/approve`, { permissions: ['chats:read'] }),
    ];
    assert.deepEqual(
      again.map(({ status }) => status),
      [404, 404, 404],
    );
    const back = await browser.open(new URL(denied.body.redirectUrl, server.url));
    const { searchParams } = new URL(back.headers.get('location') ?? '');
    assert.deepEqual(
      ['error', 'state', 'iss', 'code'].map((name) => searchParams.get(name)),
      ['access_denied', 'mine', server.url, null],
    );
  });

  it('asks for the usual permissions if it names none for apps, and gets no others than these', async () => {
    const { call } = await server.account();
    const scope = 'openid offline_access profile messages:approve account:read';
    const requestId = await newRequest(server, new Browser(), { scope });
    const { body } = await call('GET', `/connections/requests/${requestId}`);
    assert.deepEqual(body.permissions.toSorted(), [...defaultScopes].toSorted());
    assert.deepEqual([...body.permissions, ...body.morePermissions].toSorted(), supportedScopes.toSorted());
    for (const permission of ['account:read', 'messages:approve', 'messages:*', '*', 'nonsense']) {
      const answer = await call('POST', `/connections/requests/${requestId}/approve`, { permissions: [permission] });
      assert.deepEqual([answer.status, answer.body.errors?.[0].field], [400, 'permissions.0'], permission);
    }
  });
});

it('offers the permissions that a tool needs, and no others', () => {
  const tools = operations.filter(({ tool }) => tool);
  const useful = permissions.filter((one) =>
    tools.some((tool) => {
      const needed = permissionFor(tool, [one]);
      return needed !== null && allows([one], needed);
    }),
  );
  assert.deepEqual(supportedScopes, useful);
});

describe('OAuth on two nodes', () => {
  it('works with every step on another node, and ends everywhere at once', async () => {
    const { first, second, stop } = await startOAuthNodes();
    try {
      const { token } = await first.account();
      const [here, there] = [bearer(first.url, token), bearer(second.url, token)];
      const [mine, theirs] = [await connectSession(here), await connectSession(there)];
      const { body: client } = await register(second, { client_name: 'Traveler', redirect_uris: [CALLBACK] });
      const { verifier, challenge } = newProof();
      const browser = new Browser();
      const asked = authorizationUrl(first, client.client_id, { code_challenge: challenge });
      const back = await approve(first, there, browser, await beginRequest(browser, asked));
      const { body: tokens } = await postForm(`${second.url}/oauth/token`, {
        grant_type: 'authorization_code',
        client_id: client.client_id,
        redirect_uri: CALLBACK,
        code_verifier: verifier,
        code: back.searchParams.get('code') ?? '',
      });
      const agents = [bearer(first.url, tokens.access_token), bearer(second.url, tokens.access_token)];
      for (const agent of agents)
        for (const sessionId of [mine, theirs]) {
          const message = { sessionId, to: newNumber(), message: 'from either node' };
          const params = { name: 'messages_send', arguments: message };
          const answer = await agent('POST', '/mcp', { ...LIST, method: 'tools/call', params }, ACCEPT);
          assert.match(JSON.stringify(answer.body), /\\"status\\":\\"sent\\"/, JSON.stringify(answer.body));
        }
      const [{ keyId }] = (await here('GET', '/api-keys')).body.data;
      await here('DELETE', `/api-keys/${keyId}`);
      assert.equal(await statusWith(first, tokens.access_token), 401);
      await eventually(
        () => statusWith(second, tokens.access_token),
        (status) => status === 401,
      );
    } finally {
      await stop();
    }
  });
});

describe('with OAuth off', () => {
  let server: TestServer;
  before(async () => {
    server = await startServer();
  });
  after(() => server.stop());

  it('nothing of it answers, whatever the client accepts', async () => {
    for (const path of [
      '/.well-known/oauth-protected-resource',
      '/.well-known/oauth-protected-resource/api/v1/mcp',
      '/.well-known/oauth-authorization-server',
      '/.well-known/oauth-authorization-server/api/v1/mcp',
      '/.well-known/openid-configuration',
      '/oauth/authorize?client_id=x',
      '/oauth/token',
    ])
      for (const accept of ['*/*', 'application/json', 'text/html', 'text/html,application/xhtml+xml,*/*;q=0.8']) {
        const answer = await fetch(server.url + path, { headers: { accept }, redirect: 'manual' });
        assert.equal(answer.status, 404, path);
        assert.match(answer.headers.get('content-type') ?? '', /^application\/problem\+json/, path);
        assert.equal((await answer.json()).code, 'route_not_found');
      }
    for (const path of ['/oauth/token', '/oauth/register', '/oauth/revoke'])
      assert.equal((await fetch(server.url + path, { method: 'POST', body: '{}' })).status, 404, path);
  });

  it('the MCP endpoint challenges as before, and the operations of the consent page find nothing', async () => {
    const { call } = await server.account();
    const refused = await server.call('POST', '/mcp', LIST, ACCEPT);
    assert.deepEqual([refused.status, refused.headers.get('www-authenticate')], [401, 'Bearer']);
    const answer = await call('GET', '/connections/requests/any');
    assert.deepEqual([answer.status, answer.body.code], [404, 'not_found']);
    assert.match(answer.body.detail, /MCP_OAUTH/);
  });
});
