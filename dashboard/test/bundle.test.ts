import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { PASSWORD, startDashboard } from './support/browser.ts';

/** Budget until the first page is usable: compressed for JavaScript and styles, as served for fonts. */
const BUDGET_BYTES = { script: 200 * 1000, stylesheet: 12 * 1000, font: 80 * 1000 };
/** "Slow 4G" of Lighthouse: https://github.com/GoogleChrome/lighthouse/blob/main/docs/throttling.md */
const SLOW_4G = {
  latency: 150,
  downloadThroughput: (1.6 * 1e6) / 8,
  uploadThroughput: (750 * 1e3) / 8,
  offline: false,
};
/**
 * A slow network loads this much in 1.2 s. A first paint after 1.8 s is "good" (https://web.dev/articles/fcp); the rest
 * is for round trips and the work of the browser.
 */
const FIRST_PAINT_BYTES = 1.2 * SLOW_4G.downloadThroughput;
/** More is "poor" (https://web.dev/articles/cls). */
const LAYOUT_SHIFT = 0.25;

describe('bundle', async () => {
  const dashboard = startDashboard();

  it('stays within its budget for the login and the overview', async (test) => {
    const { email } = await dashboard.server.account();
    const page = await dashboard.open(test);
    const loaded = { script: new Map<string, Promise<number>>(), stylesheet: new Map(), font: new Map() };
    page.on('response', (response) => {
      const type = response.request().resourceType();
      if (type === 'script' || type === 'stylesheet' || type === 'font')
        loaded[type].set(
          response.url(),
          response.body().then((body) => (type === 'font' ? body : gzipSync(body)).length),
        );
    });
    await page.goto('/login');
    await page.getByLabel('Email').fill(email);
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await page.keyboard.press('Enter');
    // The plots load last.
    await page
      .getByRole('img', { name: /^In the last hour/ })
      .first()
      .waitFor();
    assert.ok(loaded.script.size > 2, 'pages are separate files');
    for (const type of ['script', 'stylesheet', 'font'] as const) {
      const sizes = await Promise.all(loaded[type].values());
      const total = sizes.reduce((sum, size) => sum + size, 0);
      assert.ok(total > 0 && total < BUDGET_BYTES[type], `${total} bytes in ${sizes.length} files of ${type}`);
    }
  });

  it('paints its frame from the few files that a slow network loads early', async (test) => {
    const { page } = await dashboard.openLoggedIn(test);
    await page.goto('/');
    const devtools = await page.context().newCDPSession(page);
    await devtools.send('Network.setCacheDisabled', { cacheDisabled: true });
    const html = await (await fetch(dashboard.server.url, { headers: { accept: 'text/html' } })).text();
    await page.route('**/assets/*.js', (route) => {
      // The others, which the page would show later, never arrive.
      if (html.includes(new URL(route.request().url()).pathname)) return route.continue();
    });
    await page.reload();
    const bytes = await page.evaluate(async () => {
      await new Promise((resolve) => {
        new PerformanceObserver((list) => {
          if (list.getEntriesByName('first-contentful-paint').length > 0) resolve(undefined);
        }).observe({ type: 'paint', buffered: true });
      });
      const loaded = [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')];
      return loaded.reduce((sum, entry) => sum + (entry as PerformanceResourceTiming).transferSize, 0);
    });
    test.diagnostic(`painted with ${Math.round(bytes / 1000)} KB`);
    assert.ok(bytes > 0 && bytes < FIRST_PAINT_BYTES, `${bytes} bytes`);
  });

  it('does not shift on a slow network', async (test) => {
    const { page } = await dashboard.openLoggedIn(test);
    await page.goto('/');
    const devtools = await page.context().newCDPSession(page);
    await devtools.send('Network.setCacheDisabled', { cacheDisabled: true });
    await devtools.send('Network.emulateNetworkConditions', SLOW_4G);
    await page.reload();
    await page
      .getByRole('img', { name: /^In the last hour/ })
      .first()
      .waitFor();
    const shift = await page.evaluate(
      () =>
        new Promise<number>((resolve) => {
          let shifted = 0;
          new PerformanceObserver((list) => {
            for (const entry of list.getEntries()) shifted += (entry as PerformanceEntry & { value: number }).value;
          }).observe({ type: 'layout-shift', buffered: true });
          // The observer receives buffered entries in a task of its own.
          setTimeout(() => resolve(shifted), 100);
        }),
    );
    test.diagnostic(`moved by ${shift.toFixed(2)}`);
    assert.ok(shift < LAYOUT_SHIFT, `layout shift of ${shift}`);
  });

  it('contains each font file once', async () => {
    const html = await (await fetch(dashboard.server.url, { headers: { accept: 'text/html' } })).text();
    const [sheet = ''] = /\/assets\/[\w-]+\.css/.exec(html) ?? [];
    const files = [...(await (await fetch(dashboard.server.url + sheet)).text()).matchAll(/url\(([^)]+\.woff2)\)/g)];
    assert.ok(files.length > 2);
    assert.equal(new Set(files.map(([, file]) => file)).size, files.length);
  });

  it('is compressed, and cached forever under hashed names', async () => {
    const page = await fetch(dashboard.server.url, { headers: { accept: 'text/html' } });
    assert.equal(page.headers.get('cache-control'), 'no-cache');
    const [script = ''] = /\/assets\/[\w-]+\.js/.exec(await page.text()) ?? [];
    for (const encoding of ['br', 'gzip']) {
      const answer = await fetch(dashboard.server.url + script, { headers: { 'accept-encoding': encoding } });
      assert.equal(answer.headers.get('content-encoding'), encoding);
      assert.equal(answer.headers.get('cache-control'), 'public, max-age=31536000, immutable');
    }
  });

  it('loads the code of a page only when the page is opened', async (test) => {
    const { page } = await dashboard.openLoggedIn(test);
    await page.goto('/');
    const loaded = () => page.evaluate(() => performance.getEntriesByType('resource').map(({ name }) => name));
    const isThere = async () => (await loaded()).some((name) => name.includes('/apiKeysPage-'));
    assert.equal(await isThere(), false);
    await page.getByRole('link', { name: 'API keys' }).click();
    await page.getByRole('heading', { name: 'API keys' }).waitFor();
    assert.equal(await isThere(), true);
  });
});
