import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import { connectSession } from '../../server/test/support/server.ts';
import {
  assertAccessible,
  assertNoSidewaysScroll,
  assertSoon,
  assertUsable,
  PHONE,
  SERVER_ERROR,
  startDashboard,
} from './support/browser.ts';

const run = promisify(execFile);
/** Everything that the browser transfers until the reference is shown. About 90 kB are the description of the API. */
const FIRST_VIEW_BYTES = { br: 280_000, gzip: 320_000 };

describe('API reference', async () => {
  const dashboard = startDashboard();

  /** Opens an entry, and waits until it is shown. */
  async function openEntry(page: Page, id: string, title: string): Promise<void> {
    await page.goto(`/docs#${id}`);
    await page.getByRole('heading', { level: 1, name: title }).waitFor();
  }

  /** Opens the list of all entries. Its title is shown before the description of the API is loaded. */
  async function openList(page: Page): Promise<void> {
    await page.goto('/docs');
    await page.getByRole('main').getByRole('listitem').first().waitFor();
  }

  const described = async () => (await fetch(`${dashboard.server.url}/openapi.json`)).json();

  it('lists every operation, event type and schema of the server, without a login', async (test) => {
    const page = await dashboard.open(test);
    await openList(page);
    await page.getByRole('heading', { level: 1, name: 'API reference' }).waitFor();
    const { paths, webhooks, components } = await described();
    const ids = [
      ...[paths, webhooks].flatMap((all) =>
        Object.values<object>(all).flatMap((methods) => Object.values(methods).map(({ operationId }) => operationId)),
      ),
      ...Object.keys(components.schemas).map((name) => `schemas.${name}`),
    ];
    assert.ok(ids.length > 100);
    for (const list of ['main', 'nav[aria-label=Operations]']) {
      const links = await page.locator(`${list} li a`).evaluateAll((all) => all.map((one) => one.getAttribute('href')));
      assert.deepEqual(links.toSorted(), ids.map((id) => `#${id}`).toSorted(), list);
    }
    await page.getByRole('heading', { name: 'API keys', exact: true }).waitFor();
    await assertUsable(page);
  });

  it('transfers few bytes for the first view', async (test) => {
    for (const [path, shown, encodings] of [
      ['/docs', 'API keys', ['br', 'gzip']],
      ['/docs#messages.send', 'Send a text message', ['br', 'gzip']],
      // Over plain http, browsers do not accept Brotli from another machine.
      ['/docs', 'API keys', ['gzip']],
    ] as const) {
      const page = await dashboard.open(test);
      const devtools = await page.context().newCDPSession(page);
      await devtools.send('Network.enable');
      // The types lack this experimental command.
      const command = 'Network.setAcceptedEncodings' as 'Network.emulateNetworkConditions';
      await devtools.send(command, { encodings } as never);
      const sizes = new Map<string, number>();
      devtools.on('Network.loadingFinished', ({ requestId, encodedDataLength }) =>
        sizes.set(requestId, encodedDataLength),
      );
      await page.goto(path);
      await page.getByRole('heading', { name: shown, exact: true }).waitFor();
      await page.evaluate(async () => void (await document.fonts.ready));
      const total = [...sizes.values()].reduce((sum, size) => sum + size, 0);
      test.diagnostic(`${path} in ${encodings[0]}: ${total} bytes in ${sizes.size} files`);
      assert.ok(sizes.size > 5 && total > 100_000, 'the files are counted');
      assert.ok(total < FIRST_VIEW_BYTES[encodings[0]], `${total} bytes in ${sizes.size} files`);
    }
  });

  it('opens an operation by its address, with an example that runs as it is', async (test) => {
    const { call } = await dashboard.server.account();
    const page = await dashboard.open(test);
    await connectSession(call);
    const { key } = (await call('POST', '/api-keys/create', { name: 'Example' })).body;
    await openEntry(page, 'messages.send', 'Send a text message');
    const code = await page.getByRole('region', { name: 'Example request: curl' }).innerText();
    const { stdout } = await run('sh', ['-c', `${code} -s`], { env: { ...process.env, SWITCHBOARD_KEY: key } });
    const sent = JSON.parse(stdout);
    assert.equal(sent.message, 'Hello', stdout);
    assert.equal((await call('GET', `/messages/${sent.messageId}`)).status, 200);

    await page.getByRole('tab', { name: 'TypeScript' }).click();
    await page.getByText('await sb.messages.send({').waitFor();
    await page.getByText('Requires the permission').first().waitFor();
    await page.getByText('Text of the message.').waitFor();
    await assertUsable(page);
    const error = page.getByRole('link', { name: 'session_not_connected' });
    assert.equal(await error.getAttribute('href'), '/docs/errors#session_not_connected');

    // The next operation is shown in the same language.
    await page.getByRole('link', { name: 'Send a poll' }).click();
    await page.getByText('await sb.messages.sendPoll({').waitFor();
    await assertSoon(() => page.title(), 'Send a poll · API reference · Switchboard');
    await assertSoon(() => page.evaluate(() => document.activeElement?.id), 'content');
    await page.goBack();
    await page.getByText('await sb.messages.send({').waitFor();
  });

  it('leads from a type to its schema', async (test) => {
    const page = await dashboard.open(test);
    await openEntry(page, 'groups.list', 'List groups');
    await page.getByRole('main').getByRole('link', { name: 'Group', exact: true }).first().click();
    await page.getByRole('heading', { level: 1, name: 'Group', exact: true }).waitFor();
    await page.getByText('Id of the group').first().waitFor();
    await assertUsable(page);
  });

  it('shows the payload of an event', async (test) => {
    const page = await dashboard.open(test);
    await openEntry(page, 'webhook.message.incoming', 'message.incoming');
    const example = page.getByRole('region', { name: 'Example: Response message.incoming' });
    await example.getByText('"message.incoming"').waitFor();
    await page.getByRole('main').getByText('messageId', { exact: true }).first().waitFor();
    await assertUsable(page);
  });

  it('says so if there is no entry with the name in the address', async (test) => {
    const page = await dashboard.open(test);
    await page.goto('/docs#messages.nothing%E0');
    await page.getByText('no operation, event or schema with the name messages.nothing').waitFor();
    await assertAccessible(page);
  });

  it('searches and opens an operation by keyboard on a phone', async (test) => {
    const page = await dashboard.open(test, { viewport: PHONE });
    await page.goto('/docs');
    await page.getByRole('button', { name: 'Open navigation' }).click();
    await assertUsable(page);
    await page.getByLabel('Search operations').fill('get chats.list');
    await page.getByText('1 match', { exact: true }).waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'List chats' }).waitFor();
    assert.equal(await page.getByLabel('Search operations').count(), 0, 'the navigation is closed');
    await assertUsable(page);
    await page.getByRole('button', { name: 'Open navigation' }).click();
    await page.getByLabel('Search operations').fill('no such thing');
    await page.getByText('Nothing matches').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('heading', { level: 1, name: 'List chats' }).waitFor();
  });

  it('moves to the search with /', async (test) => {
    const page = await dashboard.open(test);
    await page.goto('/docs');
    await page.getByLabel('Search operations').waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('forget-login');
    await page.getByText('1 match', { exact: true }).waitFor();
  });

  it('renders every entry on a wide screen and on a phone', async (test) => {
    for (const viewport of [PHONE, { width: 1600, height: 900 }]) {
      const page = await dashboard.open(test, { viewport });
      await openList(page);
      const links = await page
        .locator('main li a')
        .evaluateAll((all) => all.map((link) => [link.getAttribute('href') ?? '', link.textContent] as const));
      assert.ok(links.length > 100);
      for (const [href, text] of links) {
        await page.evaluate((hash) => {
          location.hash = hash;
        }, href);
        await page.locator('main header h1').waitFor();
        await page.waitForFunction(
          ([shown]) => shown?.includes(document.querySelector('main header h1')?.textContent ?? '?'),
          [text],
        );
        await assertNoSidewaysScroll(page);
      }
    }
  });

  it('switches the theme, and keeps the choice', async (test) => {
    const page = await dashboard.open(test);
    await page.goto('/docs');
    await page.getByRole('button', { name: 'Switch to the dark theme' }).click();
    await assertSoon(() => page.evaluate(() => document.documentElement.dataset['theme']), 'dark');
    await page.goto('/docs/guides/');
    await assertSoon(() => page.evaluate(() => document.documentElement.dataset['theme']), 'dark');
  });

  it('says why it cannot be shown, with a button to retry', async (test) => {
    const page = await dashboard.open(test, { viewport: PHONE });
    await page.route('**/openapi.json', (route) => route.fulfill(SERVER_ERROR));
    await page.goto('/docs');
    await page.getByText('The database is on fire').waitFor();
    await assertUsable(page);
    await page.unroute('**/openapi.json');
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('heading', { level: 1, name: 'API reference' }).waitFor();
  });

  it('leads to openapi.json without JavaScript', async (test) => {
    const page = await dashboard.open(test, { javaScriptEnabled: false });
    await page.goto('/docs');
    // Locators by text or role do not find what is inside of <noscript>.
    const link = page.locator('noscript a[href="/openapi.json"]');
    assert.ok(await link.isVisible());
    await link.click();
    await page.waitForURL('**/openapi.json');
  });
});
