import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { freePort } from '../../server/test/support/brokers/brokers.ts';
import { authorizationUrl, newProof, postForm, register } from '../../server/test/support/mcp/oauth.ts';
import { bearer, connectSession } from '../../server/test/support/server.ts';
import { assertAccessible, assertSoon, assertUsable, PHONE, startDashboard } from './support/browser.ts';

describe('consent page', async () => {
  const port = await freePort();
  const dashboard = startDashboard({
    env: { MCP_OAUTH: 'on', PORT: String(port), PUBLIC_URL: `http://127.0.0.1:${port}` },
  });
  // The app of these tests is a page of the same server, because the tests allow no other.
  const callback = () => `${dashboard.server.url}/health`;

  async function newApp(name: string, scope?: string) {
    const { server } = dashboard;
    const { body: client } = await register(server, { client_name: name, redirect_uris: [callback()] });
    const { verifier, challenge } = newProof();
    const parameters = { redirect_uri: callback(), code_challenge: challenge, state: 'mine', scope };
    const exchange = (code: string) =>
      postForm(`${server.url}/oauth/token`, {
        grant_type: 'authorization_code',
        client_id: client.client_id,
        redirect_uri: callback(),
        code_verifier: verifier,
        code,
      });
    return { url: authorizationUrl(server, client.client_id, parameters).href, exchange };
  }

  const backAtApp = async (page: Page) => {
    await page.waitForURL(`${callback()}?*`);
    return new URL(page.url()).searchParams;
  };

  it('asks for the login, shows the app, and connects it with what the person allows', async (test) => {
    const account = await dashboard.server.account();
    const sessionId = await connectSession(account.call);
    await account.call('PATCH', `/sessions/${sessionId}`, { name: 'Shop' });
    const app = await newApp('Assistant', 'messages:read messages:send sessions:read');
    const page = await dashboard.open(test, { viewport: PHONE });
    await page.goto(app.url);
    await page.getByRole('heading', { name: 'Log in' }).waitFor();
    await page.getByLabel('Email').fill(account.email);
    await page.getByLabel('Password', { exact: true }).fill('correct horse battery');
    await page.getByRole('button', { name: 'Log in' }).click();

    await page.getByRole('heading', { level: 1, name: 'Connect Assistant?' }).waitFor();
    await page.getByText(account.email).waitFor();
    await page.getByText(`127.0.0.1:${port}`, { exact: true }).waitFor();
    await page.getByText('This app runs on your device').waitFor();
    await assertUsable(page);
    assert.equal(await page.getByRole('group', { name: 'Permissions' }).getByRole('checkbox').count(), 3);
    await page.getByLabel('Send, edit, react to and delete messages').uncheck();
    await page.getByText('More permissions').click();
    await page.getByLabel('Read and stream the event log', { exact: true }).check();
    assert.equal(await page.getByText('messages:approve').count(), 0, 'of no use to an app');
    await page.getByLabel('All sessions').uncheck();
    await assertSoon(() => page.getByRole('button', { name: 'Connect' }).isDisabled(), true);
    await page.getByLabel('Shop').check();
    await page.getByLabel('Recipients').fill('nobody');
    await page.getByRole('button', { name: 'Connect' }).click();
    await page.getByText('must be a phone number').waitFor();
    await assertAccessible(page);
    await page.getByLabel('Recipients').fill('491701234567');
    await page.getByRole('button', { name: 'Connect' }).click();

    const back = await backAtApp(page);
    assert.equal(back.get('state'), 'mine');
    const { body: tokens } = await app.exchange(back.get('code') ?? '');
    assert.equal(tokens.scope, 'sessions:read messages:read events:read');
    const [key] = (await account.call('GET', '/api-keys')).body.data;
    assert.deepEqual(
      [key.name, key.permissions, key.sessionIds, key.allowedRecipients, key.app.redirectHost],
      [
        'Assistant',
        ['sessions:read', 'messages:read', 'events:read'],
        [sessionId],
        ['491701234567'],
        `127.0.0.1:${port}`,
      ],
    );
  });

  it('denies the request, of which the app learns', async (test) => {
    const { page } = await dashboard.openLoggedIn(test);
    const app = await newApp('Nosy app');
    await page.goto(app.url);
    await page.getByRole('heading', { level: 1, name: 'Connect Nosy app?' }).waitFor();
    await page.getByRole('button', { name: 'Deny' }).click();
    assert.equal((await backAtApp(page)).get('error'), 'access_denied');
  });

  it('shows text of the app as text, and a request that is over as such', async (test) => {
    const { page } = await dashboard.openLoggedIn(test, { viewport: PHONE });
    const app = await newApp('<img src=x onerror=alert(1)> Your bank');
    await page.goto(app.url);
    await page.getByRole('heading', { level: 1, name: 'Connect <img src=x onerror=alert(1)> Your bank?' }).waitFor();
    await assertUsable(page);
    const consent = page.url();
    await page.getByRole('button', { name: 'Deny' }).click();
    await backAtApp(page);
    await page.goto(consent);
    await page.getByRole('heading', { name: 'The request has expired or was answered' }).waitFor();
    await assertUsable(page);
  });

  it('offers the present choice when an app asks again', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    const app = await newApp('Returning app', 'chats:read messages:read');
    await page.goto(app.url);
    await page.getByLabel('List chats with their last messages').uncheck();
    await page.getByLabel('Messages per day').fill('5');
    await page.getByRole('button', { name: 'Connect' }).click();
    await backAtApp(page);
    await page.goto(app.url);
    await page.getByText('This app is connected already').waitFor();
    assert.equal(await page.getByLabel('List chats with their last messages').isChecked(), false);
    assert.equal(await page.getByLabel('Messages per day').inputValue(), '5');
    await page.getByLabel('List chats with their last messages').check();
    await page.getByRole('button', { name: 'Connect' }).click();
    await backAtApp(page);
    const { data } = (await call('GET', '/api-keys')).body;
    assert.deepEqual(
      data.map(({ permissions, sendQuota }: Record<string, unknown>) => [permissions, sendQuota]),
      [[['messages:read', 'chats:read'], 5]],
    );
  });

  it('lists connected apps among the keys, and disconnects them', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test, { viewport: PHONE });
    const app = await newApp('Old app');
    await page.goto(app.url);
    await page.getByRole('button', { name: 'Connect' }).click();
    const { body: tokens } = await app.exchange((await backAtApp(page)).get('code') ?? '');
    const agent = bearer(dashboard.server.url, tokens.access_token);
    const listTools = () => agent('POST', '/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/list' }, MCP_HEADERS);
    assert.equal((await listTools()).status, 200);

    await page.goto('/keys');
    await page.getByText(`Connected app at 127.0.0.1:${port}`).waitFor();
    await assertUsable(page);
    await page.getByRole('button', { name: 'Actions for Old app' }).click();
    assert.equal(await page.getByRole('menuitem', { name: 'Rotate' }).count(), 0);
    await page.getByRole('menuitem', { name: 'Disconnect' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Disconnect' }).click();
    await page.getByText('No API keys yet').waitFor();
    assert.equal((await listTools()).status, 401);
    assert.deepEqual((await call('GET', '/api-keys')).body.data, []);
  });

  it('cannot be framed', async () => {
    const page = await fetch(`${dashboard.server.url}/connect/any`, { headers: { accept: 'text/html' } });
    assert.match(page.headers.get('content-security-policy') ?? '', /frame-ancestors 'none'/);
    assert.equal(page.headers.get('x-frame-options'), 'DENY');
  });
});

const MCP_HEADERS = { accept: 'application/json, text/event-stream' };
