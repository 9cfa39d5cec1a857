import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { connectSession } from '../../server/test/support/server.ts';
import {
  assertAccessible,
  assertNoSidewaysScroll,
  assertSoon,
  PHONE,
  startDashboard,
  waitForPage,
} from './support/browser.ts';

describe('shell', async () => {
  const dashboard = startDashboard();
  const pages = [
    ['Overview', '/'],
    ['Deliveries', '/deliveries'],
    ['Events', '/events'],
    ['Sessions', '/sessions'],
    ['Chats', '/chats'],
    ['Approvals', '/approvals'],
    ['Groups', '/groups'],
    ['Phone simulator', '/simulator'],
    ['Webhooks', '/webhooks'],
    ['API keys', '/keys'],
    ['MCP', '/tools'],
  ] as const;

  it('links to every page, and each is accessible', async (test) => {
    const { page } = await dashboard.openLoggedIn(test);
    await page.goto('/');
    const navigation = page.getByRole('navigation', { name: 'Main' });
    for (const [name, path] of pages) {
      await navigation.getByRole('link', { name, exact: true }).click();
      await page.waitForURL(`**${path}`);
      await waitForPage(page, name);
      await assertAccessible(page);
    }
    await page.getByRole('button', { name: /^Account menu/ }).click();
    await page.getByRole('menuitem', { name: 'Account and password' }).click();
    await waitForPage(page, 'Account');
    await assertAccessible(page);
  });

  it('links to the documentation, which links back', async (test) => {
    const { page } = await dashboard.openLoggedIn(test);
    for (const name of ['API reference', 'Guides']) {
      await page.goto('/');
      await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name, exact: true }).click();
      await waitForPage(page, name);
      await page.getByRole('link', { name: 'Dashboard', exact: true }).first().click();
      await waitForPage(page, 'Overview');
    }
  });

  it('opens its navigation with a button on a phone, where every page fits', async (test) => {
    const { page } = await dashboard.openLoggedIn(test, { viewport: PHONE });
    await page.goto('/');
    for (const [name, path] of pages) {
      await page.getByRole('button', { name: 'Open navigation' }).click();
      await page.getByRole('link', { name, exact: true }).click();
      await page.waitForURL(`**${path}`);
      await waitForPage(page, name);
      await assertNoSidewaysScroll(page);
    }
    await page.getByRole('button', { name: 'Open navigation' }).click();
    await page.getByRole('dialog').waitFor();
    await assertAccessible(page);
    await page.getByRole('button', { name: /^Account menu/ }).click();
    await page.getByRole('menuitem', { name: 'Account and password' }).click();
    await waitForPage(page, 'Account');
  });

  it('works by keyboard: skips to the content and opens the account menu', async (test) => {
    const { page } = await dashboard.openLoggedIn(test);
    await page.goto('/');
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.keyboard.press('Tab');
    await assertSoon(() => page.evaluate(() => document.activeElement?.textContent), 'Skip to content');
    await page.keyboard.press('Enter');
    await assertSoon(() => page.evaluate(() => document.activeElement?.id), 'content');
    await page.getByRole('button', { name: /^Account menu/ }).focus();
    await page.keyboard.press('ArrowDown');
    await page.getByRole('menuitemradio', { name: 'Dark' }).focus();
    await page.keyboard.press('Enter');
    await assertSoon(() => page.evaluate(() => document.documentElement.dataset['theme']), 'dark');
    await page.reload();
    await assertSoon(() => page.evaluate(() => document.documentElement.dataset['theme']), 'dark');
  });

  it('says so when the account menu does not load', async (test) => {
    const { page } = await dashboard.openLoggedIn(test);
    await page.route('**/assets/accountMenuContent-*.js', (route) => route.abort());
    await page.goto('/');
    await page.getByRole('button', { name: /^Account menu/ }).click();
    const toasts = page.getByRole('region', { name: 'Notifications' });
    await toasts.getByText('The menu could not be loaded').waitFor();
  });

  it('shows the state of the live connection', async (test) => {
    const { page } = await dashboard.openLoggedIn(test);
    await page.goto('/');
    await page.getByRole('status').filter({ hasText: 'Live' }).waitFor();
  });

  it('shows errors within the screen until they are dismissed', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test, { viewport: PHONE });
    const sessionId = await connectSession(call);
    await call('POST', `/sessions/${sessionId}/simulate`, { action: 'incoming', from: '491700000007', message: 'Hi' });
    await page.clock.install();
    await page.goto('/chats?chat=491700000007');
    await page.route('**/api/v1/chats/**', (route) =>
      route.request().method() === 'GET' ? route.continue() : route.fulfill({ status: 422, json: problem }),
    );
    const problem = {
      code: 'invalid',
      detail: `This cannot be done, ${'for several good reasons '.repeat(4)}`,
      status: 422,
    };
    await page.getByRole('button', { name: 'Mark as read' }).click();
    const toast = page.getByRole('region', { name: 'Notifications' }).getByRole('listitem');
    await toast.waitFor();
    const { x = -1, width = 0 } = (await toast.boundingBox()) ?? {};
    assert.ok(x >= 0 && x + width <= PHONE.width, `the toast spans ${x} to ${x + width} px`);
    assert.ok(
      await toast.evaluate((element) => element.scrollWidth <= element.clientWidth),
      'the text fits in the toast',
    );
    await page.clock.runFor(30_000);
    await toast.getByRole('button', { name: 'Dismiss' }).click();
    await toast.waitFor({ state: 'detached' });
  });

  it('keeps its navigation on an unknown address', async (test) => {
    const { page } = await dashboard.openLoggedIn(test);
    await page.goto('/nope');
    await waitForPage(page, 'Page not found');
    await assertAccessible(page);
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Chats' }).click();
    await waitForPage(page, 'Chats');
  });

  it('links back from an unknown address', async (test) => {
    const { page } = await dashboard.openLoggedIn(test);
    // The last two cannot be decoded, so they have no navigation.
    for (const path of ['/no-such-page', '/sessions/%ZZ', '/%E0%A4%A']) {
      await page.goto(path);
      await page.getByText('Page not found').waitFor();
      await page.getByRole('link', { name: 'Go to overview' }).click();
      await page.getByRole('heading', { name: 'Overview' }).waitFor();
    }
  });
});
