import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createFakeClock } from '../support/fakeClock.ts';
import {
  approve,
  authorizationUrl,
  Browser,
  beginRequest,
  CALLBACK,
  connectApp,
  newProof,
  newRequest,
  postForm,
  register,
  startOAuthServer,
  statusWith,
  TestApp,
} from '../support/mcp/oauth.ts';
import type { Call, TestServer } from '../support/server.ts';

describe('codes', () => {
  const clock = createFakeClock(Date.now());
  let server: TestServer;
  let call: Call;
  before(async () => {
    server = await startOAuthServer({ clock });
    ({ call } = await server.account());
  });
  after(() => server.stop());

  /** Gets a code. @returns a function that exchanges it, with other fields if given */
  async function newCode(parameters: Record<string, string | undefined> = {}) {
    const { body: client } = await register(server, { redirect_uris: [CALLBACK, 'https://app.example.com/callback'] });
    const { verifier, challenge } = newProof();
    const browser = new Browser();
    const url = authorizationUrl(server, client.client_id, { code_challenge: challenge, ...parameters });
    const back = await approve(server, call, browser, await beginRequest(browser, url));
    const code = back.searchParams.get('code') ?? '';
    return (fields: Record<string, string> = {}) =>
      postForm(`${server.url}/oauth/token`, {
        grant_type: 'authorization_code',
        client_id: client.client_id,
        redirect_uri: CALLBACK,
        code_verifier: verifier,
        code,
        ...fields,
      });
  }

  it('work without a resource, which older clients do not name', async () => {
    const { status, body } = await (await newCode({ resource: undefined }))();
    assert.equal(status, 200, JSON.stringify(body));
    assert.equal(await statusWith(server, body.access_token), 200);
  });

  it('are exchanged only with their own verifier, redirect, client and resource', async () => {
    const { body: other } = await register(server, { redirect_uris: [CALLBACK] });
    const cases: readonly Record<string, string>[] = [
      { code_verifier: newProof().verifier },
      { redirect_uri: 'https://app.example.com/callback' },
      { client_id: other.client_id },
      { client_id: 'nobody' },
      { resource: 'https://other.example.com/mcp' },
      { resource: server.url },
      { code: 'nonsense' },
    ];
    const exchange = await newCode();
    assert.equal((await exchange({ resource: server.url })).body.error, 'invalid_target');
    assert.equal((await exchange()).status, 200, 'a refused request uses up nothing');
    for (const wrong of cases) {
      const answer = await (await newCode())(wrong);
      assert.ok([400, 401].includes(answer.status), JSON.stringify([wrong, answer.body]));
      assert.equal(answer.body.access_token, undefined);
    }
  });

  it('end the tokens that they gave when they are used again', async () => {
    const exchange = await newCode();
    const { body } = await exchange();
    assert.equal(await statusWith(server, body.access_token), 200);
    const again = await exchange();
    assert.deepEqual([again.status, again.body.error], [400, 'invalid_grant']);
    assert.equal(await statusWith(server, body.access_token), 401);
  });

  it('expire after a minute, access tokens after ten, requests after a quarter of an hour', async () => {
    const exchange = await newCode();
    const { body } = await (await newCode())();
    await clock.advance(61_000);
    assert.equal((await exchange()).body.error, 'invalid_grant');
    assert.equal(await statusWith(server, body.access_token), 200);
    await clock.advance(10 * 60_000);
    assert.equal(await statusWith(server, body.access_token), 401);
    const requestId = await newRequest(server, new Browser());
    await clock.advance(16 * 60_000);
    assert.equal((await call('GET', `/connections/requests/${requestId}`)).status, 404);
  });

  it('belong to clients that are forgotten after a day, unless somebody has connected them', async () => {
    const app = new TestApp();
    await connectApp(server, call, app);
    const { body: unused } = await register(server, { redirect_uris: [CALLBACK] });
    clock.skip(25 * 60 * 60_000);
    const opened = async (clientId = '') => (await new Browser().open(authorizationUrl(server, clientId))).status;
    assert.equal(await opened(app.client?.client_id), 303);
    assert.equal(await opened(unused.client_id), 400);
  });
});
