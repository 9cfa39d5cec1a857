import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import type { Page } from 'playwright-core';
import { picture } from '../../server/test/support/media/media.ts';
import { connectSession } from '../../server/test/support/server.ts';
import { assertAccessible, assertSoon, assertUsable, PHONE, startDashboard } from './support/browser.ts';

describe('trying an operation in the API reference', async () => {
  const dashboard = startDashboard();

  /** Opens the form of an operation, with the key in it unless the operation needs none. */
  async function openForm(page: Page, id: string, key?: string): Promise<void> {
    await page.goto(`/docs#${id}`);
    await page.getByRole('button', { name: 'Try it' }).click();
    if (key !== undefined) await page.getByLabel('API key or login token').fill(key);
  }

  async function setUp(test: TestContext, options?: Parameters<typeof dashboard.open>[1]) {
    const account = await dashboard.server.account();
    const { key } = (await account.call('POST', '/api-keys/create', { name: 'Reference' })).body;
    return { ...account, key: key as string, page: await dashboard.open(test, options) };
  }

  const send = (page: Page) => page.getByRole('button', { name: 'Send request' }).click();
  const answer = (page: Page) => page.getByRole('region', { name: 'Response', exact: true });

  it('sends a real request with the key in its header only', async (test) => {
    const { page, call, key } = await setUp(test, { viewport: PHONE });
    await connectSession(call);
    await openForm(page, 'messages.send', key);
    await page
      .getByLabel('Body (JSON)')
      .fill(JSON.stringify({ to: '491700000071', message: 'From the reference <b>&</b>' }));
    const requests: { url: string; authorization: string | undefined; cookie: string | undefined }[] = [];
    page.on('request', async (request) => {
      const { authorization, cookie } = await request.allHeaders();
      requests.push({ url: request.url(), authorization, cookie });
    });
    await send(page);
    await answer(page).getByText('201 Created').waitFor();
    await answer(page).getByText('"From the reference <b>&</b>"').waitFor();
    assert.deepEqual(requests, [
      { url: `${dashboard.server.url}/api/v1/messages/send`, authorization: `Bearer ${key}`, cookie: undefined },
    ]);
    await answer(page)
      .getByText(/^\d+ headers$/)
      .click();
    await answer(page).getByText('x-request-id').waitFor();
    await assertUsable(page);
    const { body } = await call('GET', '/messages');
    assert.equal(body.data[0].message, 'From the reference <b>&</b>');
  });

  it('forgets the key with the page, unless the reader lets the tab keep it', async (test) => {
    const { page, key } = await setUp(test);
    const stored = () => page.evaluate(() => JSON.stringify([{ ...sessionStorage }, { ...localStorage }]));
    await openForm(page, 'auth.me', key);
    // It stays while the reader opens other operations.
    await page.getByRole('link', { name: 'Log out everywhere' }).click();
    await page.getByRole('button', { name: 'Try it' }).click();
    assert.equal(await page.getByLabel('API key or login token').inputValue(), key);
    assert.ok(!(await stored()).includes(key));
    assert.ok(!page.url().includes(key));
    await page.reload();
    await page.getByRole('button', { name: 'Try it' }).click();
    assert.equal(await page.getByLabel('API key or login token').inputValue(), '');

    await page.getByLabel('API key or login token').fill(key);
    await page.getByLabel('Keep it until this tab is closed').check();
    await page.reload();
    await page.getByRole('button', { name: 'Try it' }).click();
    assert.equal(await page.getByLabel('API key or login token').inputValue(), key);
    await page.getByLabel('Keep it until this tab is closed').uncheck();
    assert.ok(!(await stored()).includes(key));
  });

  it('uses only the entered key, even if the reader is logged in to the dashboard', async (test) => {
    const { page } = await dashboard.openLoggedIn(test);
    await openForm(page, 'auth.me');
    await send(page);
    await answer(page).getByText('401 Unauthorized').waitFor();
    await answer(page).getByText('"unauthorized"').waitFor();
    await assertAccessible(page);
  });

  it('puts parameters into the path, the query and the headers', async (test) => {
    const { page, call, key } = await setUp(test);
    const sessionId = await connectSession(call);
    await openForm(page, 'sessions.get', key);
    await page.getByLabel('sessionId').fill(sessionId);
    await send(page);
    await answer(page).getByText(`"${sessionId}"`).waitFor();

    await openForm(page, 'messages.list');
    await page.getByLabel('direction').selectOption('outgoing');
    await page.getByLabel('limit').fill('5');
    const request = page.waitForRequest('**/api/v1/messages?*');
    await send(page);
    assert.equal(new URL((await request).url()).search, '?direction=outgoing&limit=5');
    await answer(page).getByText('200 OK').waitFor();

    await openForm(page, 'messages.send');
    await page.getByLabel('Idempotency-Key').fill('only-once');
    const sent = page.waitForRequest('**/api/v1/messages/send');
    await send(page);
    assert.equal(await (await sent).headerValue('idempotency-key'), 'only-once');
    await answer(page).getByText('201 Created').waitFor();
  });

  it('asks before it sends a destructive request', async (test) => {
    const { page, call, key } = await setUp(test);
    const sessionId = await connectSession(call);
    await openForm(page, 'sessions.delete', key);
    await page.getByLabel('sessionId').fill(sessionId);
    await send(page);
    const dialog = page.getByRole('alertdialog', { name: 'Delete a session?' });
    await dialog.getByText('It cannot be undone.').waitFor();
    await assertAccessible(page);
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    assert.equal((await call('GET', `/sessions/${sessionId}`)).status, 200);
    await send(page);
    await dialog.getByRole('button', { name: 'Send request' }).click();
    await answer(page).getByText('200 OK').waitFor();
    assert.equal((await call('GET', `/sessions/${sessionId}`)).status, 404);
  });

  it('does not send a value that would lead to another path', async (test) => {
    const { page, key } = await setUp(test);
    await openForm(page, 'sessions.delete', key);
    for (const value of ['.', '..', ' ']) {
      await page.getByLabel('sessionId').fill(value);
      await page.getByText('This value leads to the path of another operation.').waitFor();
      assert.ok(await page.getByRole('button', { name: 'Send request' }).isDisabled());
      await page.getByLabel('sessionId').fill('...');
      await page.getByText('This value leads to the path of another operation.').waitFor({ state: 'hidden' });
    }
  });

  it('does not send a body that is not JSON, or a key that cannot be in a header', async (test) => {
    const { page } = await setUp(test);
    await openForm(page, 'messages.send', 'sb_ключ');
    await page.getByText('A key has only letters').waitFor();
    assert.ok(await page.getByRole('button', { name: 'Send request' }).isDisabled());
    await page.getByLabel('API key or login token').fill('sb_key');
    await page.getByLabel('Body (JSON)').fill('{"to":');
    await page.getByText('This is not valid JSON.').waitFor();
    assert.ok(await page.getByRole('button', { name: 'Send request' }).isDisabled());
  });

  it('uploads a file, and shows a picture that it downloads', async (test) => {
    const { page, call, key } = await setUp(test);
    await openForm(page, 'media.upload', key);
    await page
      .getByLabel('File', { exact: true })
      .setInputFiles({ name: 'picture.png', mimeType: 'image/png', buffer: Buffer.from(await picture()) });
    await send(page);
    await answer(page).getByText('201 Created').waitFor();
    const [, mediaId = ''] = /"(med_\w+)"/.exec(await answer(page).innerText()) ?? [];
    assert.equal((await call('GET', `/media/${mediaId}`)).status, 200);

    await openForm(page, 'media.content');
    await page.getByLabel('mediaId').fill(mediaId);
    await send(page);
    await answer(page).getByText('200 OK').waitFor();
    const image = answer(page).getByRole('img', { name: 'Response body' });
    await assertSoon(() => image.evaluate((one: HTMLImageElement) => one.naturalWidth > 0), true);
    await answer(page)
      .getByRole('link', { name: /^Save the file \(image\/png/ })
      .waitFor();
    await assertUsable(page);
  });

  it('shows a stream while it arrives, until the reader stops it', async (test) => {
    const { page, call, key } = await setUp(test);
    const sessionId = await connectSession(call);
    await openForm(page, 'events.stream', key);
    const response = page.waitForResponse('**/api/v1/events/stream');
    await send(page);
    await response;
    await page.getByRole('button', { name: 'Stop' }).waitFor();
    await call('POST', `/sessions/${sessionId}/simulate`, {
      action: 'incoming',
      from: '491700000072',
      message: 'Live in the reference',
    });
    await answer(page).getByText('Live in the reference').waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByRole('button', { name: 'Stop' }).waitFor({ state: 'hidden' });
    await answer(page).getByText('Live in the reference').waitFor();
    await assertUsable(page);
  });

  it('says so if the server cannot be reached', async (test) => {
    const { page, key } = await setUp(test);
    await openForm(page, 'auth.me', key);
    await page.route('**/api/v1/auth/me', (route) => route.abort());
    await send(page);
    await page.getByText('The server cannot be reached').waitFor();
    await assertAccessible(page);
  });

  it('is not offered for a WebSocket, an event or a schema', async (test) => {
    const { page } = await setUp(test);
    for (const [id, title] of [
      ['events.socket', 'Receive events over a WebSocket'],
      ['webhook.message.sent', 'message.sent'],
      ['schemas.Message', 'Message'],
    ] as const) {
      await page.goto(`/docs#${id}`);
      await page.getByRole('heading', { level: 1, name: title }).waitFor();
      assert.equal(await page.getByRole('button', { name: 'Try it' }).count(), 0);
    }
  });
});
