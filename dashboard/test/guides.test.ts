import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  assertAccessible,
  assertNoSidewaysScroll,
  assertSoon,
  assertUsable,
  PHONE,
  startDashboard,
} from './support/browser.ts';

describe('guides', async () => {
  const dashboard = startDashboard();

  it('are accessible and fit, on a wide screen and on a phone', async (test) => {
    for (const viewport of [PHONE, { width: 1600, height: 900 }]) {
      const page = await dashboard.open(test, { viewport });
      await page.goto('/docs/guides/');
      await page.getByRole('heading', { level: 1, name: 'Guides' }).waitFor();
      await assertUsable(page);
      const paths = await page
        .locator('a.card')
        .evaluateAll((all) => all.map((link) => link.getAttribute('href') ?? ''));
      assert.ok(paths.length > 10);
      for (const path of [...paths, '/docs/errors', '/docs/guides/decisions/0001-node-from-npm', '/docs/guides/none']) {
        await page.goto(path);
        await page.getByRole('heading', { level: 1 }).waitFor();
        await assertNoSidewaysScroll(page);
      }
    }
  });

  it('are accessible with tables, code, pictures and errors', async (test) => {
    const page = await dashboard.open(test);
    for (const path of ['/docs/guides/webhooks', '/docs/guides/dashboard', '/docs/errors', '/docs/guides/none']) {
      await page.goto(path);
      await assertAccessible(page);
    }
  });

  it('lead from page to page, and show where the reader is', async (test) => {
    const page = await dashboard.open(test, { viewport: { width: 1600, height: 900 } });
    await page.goto('/docs/guides/webhooks');
    const pages = page.getByRole('navigation', { name: 'Pages', exact: true });
    assert.equal(await pages.locator('[aria-current=page]').textContent(), 'Webhooks');
    await page
      .getByRole('navigation', { name: 'On this page' })
      .getByRole('link', { name: 'The circuit breaker' })
      .click();
    await assertSoon(() => page.locator('.outline [aria-current]').textContent(), 'The circuit breaker');
    assert.equal(new URL(page.url()).hash, '#the-circuit-breaker');
    await page.getByRole('link', { name: /^Next/ }).click();
    await page.getByRole('heading', { level: 1, name: 'Message brokers as destinations' }).waitFor();
    await page.getByRole('navigation', { name: 'Documentation' }).getByRole('link', { name: 'API reference' }).click();
    await page.getByRole('heading', { level: 1, name: 'API reference' }).waitFor();
  });

  it('lead to sections that moved to another page', async (test) => {
    const page = await dashboard.open(test);
    await page.goto('/docs/guides/operations#what-each-alert-means');
    await page.waitForURL('**/docs/guides/monitoring#what-each-alert-means');
    await page.getByRole('heading', { level: 1, name: 'Monitor' }).waitFor();
  });

  it('copy code', async (test) => {
    const page = await dashboard.open(test, { permissions: ['clipboard-read', 'clipboard-write'] });
    await page.goto('/docs/guides/webhooks');
    const block = page.locator('.code').first();
    await block.hover();
    await block.getByRole('button', { name: 'Copy' }).click();
    await block.getByRole('button', { name: 'Copied' }).waitFor();
    const code = (await block.locator('code').textContent())?.trimEnd();
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), code);
  });

  it('are searched in the browser, by keyboard', async (test) => {
    const page = await dashboard.open(test);
    await page.goto('/docs/guides/');
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.keyboard.press('/');
    const dialog = page.getByRole('dialog', { name: 'Search' });
    await dialog.getByRole('searchbox', { name: 'Search' }).waitFor();
    await page.keyboard.type('circuit breaker');
    await dialog.getByRole('status').getByText('results').waitFor();
    await dialog.getByRole('link', { name: /^The circuit breaker/ }).waitFor();
    await assertAccessible(page);
    // Without the network: everything to search was loaded with the first search.
    await page.context().setOffline(true);
    await dialog.getByRole('searchbox', { name: 'Search' }).fill('permission_denied');
    await dialog
      .getByRole('link', { name: /^permission_denied/ })
      .first()
      .waitFor();
    await page.context().setOffline(false);
    await dialog.getByRole('searchbox', { name: 'Search' }).fill('<zzzzzz onxxxxxx=qqqqqq>');
    await dialog.getByText('Nothing found for').waitFor();
    await dialog.getByRole('searchbox', { name: 'Search' }).fill('send a text message');
    await dialog.getByRole('link', { name: /^Send a text message/ }).waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Send a text message' }).waitFor();
  });

  it('open the navigation and the search with buttons on a phone', async (test) => {
    const page = await dashboard.open(test, { viewport: PHONE });
    await page.goto('/docs/guides/webhooks');
    await page.getByRole('button', { name: 'Pages' }).click();
    const pages = page.getByRole('navigation', { name: 'Pages', exact: true });
    await pages.getByRole('link', { name: 'Security' }).waitFor();
    await assertUsable(page);
    await page.keyboard.press('Escape');
    await pages.waitFor({ state: 'hidden' });
    await page.getByRole('button', { name: 'Pages' }).click();
    await pages.getByRole('link', { name: 'Security' }).click();
    await page.getByRole('heading', { level: 1, name: 'Security' }).waitFor();
    await page.getByRole('button', { name: 'Search' }).click();
    await page.getByRole('dialog', { name: 'Search' }).waitFor();
    await assertUsable(page);
    await page.getByRole('button', { name: 'Close' }).click();
    await page.getByRole('dialog', { name: 'Search' }).waitFor({ state: 'hidden' });
  });

  it('switch the theme', async (test) => {
    const page = await dashboard.open(test, { colorScheme: 'dark' });
    await page.goto('/docs/errors');
    const theme = () => page.evaluate(() => document.documentElement.dataset['theme']);
    await assertSoon(theme, 'dark');
    await page.getByRole('button', { name: 'Switch to the light theme' }).click();
    await assertSoon(theme, 'light');
    await page.getByRole('link', { name: 'Guides' }).first().click();
    await page.getByRole('heading', { level: 1, name: 'Guides' }).waitFor();
    await assertSoon(theme, 'light');
  });

  it('can be read without JavaScript', async (test) => {
    for (const viewport of [PHONE, { width: 1280, height: 860 }]) {
      const page = await dashboard.open(test, { javaScriptEnabled: false, viewport });
      await page.goto('/docs/guides/webhooks');
      await page.getByRole('link', { name: 'Security', exact: true }).click();
      await page.getByRole('heading', { level: 1, name: 'Security' }).waitFor();
      assert.equal(await page.getByRole('button').count(), 0, 'buttons need JavaScript');
    }
  });
});
