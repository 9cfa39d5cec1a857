import { describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { connectSession } from '../../server/test/support/server.ts';
import { startDashboard, waitForPage } from './support/browser.ts';

const AWAY = 'The server cannot be reached';

/** Aborts requests for these addresses until the returned function is called. */
async function cutOff(page: Page, ...addresses: string[]): Promise<() => Promise<void>> {
  for (const address of addresses) await page.route(address, (route) => route.abort('connectionrefused'));
  return async () => {
    for (const address of addresses) await page.unroute(address);
  };
}

describe('recovery after the server was down', async () => {
  const dashboard = startDashboard();

  it('opens the requested page once the server responds', async (test) => {
    const { page } = await dashboard.openLoggedIn(test);
    await page.goto('/');
    await waitForPage(page, 'Overview');
    await page.context().setOffline(true);
    await page.getByRole('link', { name: 'Webhooks', exact: true }).click();
    await page.getByRole('alert').filter({ hasText: AWAY }).first().waitFor();
    await page.context().setOffline(false);
    await waitForPage(page, 'Webhooks');
  });

  it('reloads the document when the code of a page does not load', async (test) => {
    const { page } = await dashboard.openLoggedIn(test);
    await page.goto('/');
    await waitForPage(page, 'Overview');
    const restore = await cutOff(page, '**/assets/webhooksPage-*');
    const reloaded = page.waitForEvent('load');
    await page.getByRole('link', { name: 'Webhooks', exact: true }).click();
    await reloaded;
    await page.getByRole('alert').filter({ hasText: AWAY }).waitFor();
    await restore();
    await page.getByRole('button', { name: 'Try again' }).click();
    await waitForPage(page, 'Webhooks');
  });

  it('loads the account once the server responds', async (test) => {
    const { page } = await dashboard.openLoggedIn(test);
    const restore = await cutOff(page, '**/api/v1/auth/me', '**/health');
    await page.goto('/');
    await page.getByRole('alert').filter({ hasText: AWAY }).waitFor();
    await restore();
    await waitForPage(page, 'Overview');
  });

  it('recovers behind a proxy that responds in its place', async (test) => {
    const { page } = await dashboard.openLoggedIn(test);
    for (const [path, request, then] of [
      ['/', '**/api/v1/auth/me', 'Overview'],
      ['/keys', '**/api/v1/api-keys?*', 'API keys'],
    ] as const) {
      const badGateway = { status: 502, contentType: 'text/html', body: '<h1>Bad Gateway</h1>' };
      for (const address of [request, '**/health']) await page.route(address, (route) => route.fulfill(badGateway));
      await page.goto(path);
      await page.getByRole('alert').filter({ hasText: AWAY }).waitFor();
      for (const address of [request, '**/health']) await page.unroute(address);
      await page.getByRole('alert').filter({ hasText: AWAY }).waitFor({ state: 'detached' });
      await waitForPage(page, then);
    }
  });

  it('starts once its own code can be loaded', async (test) => {
    const { page } = await dashboard.openLoggedIn(test);
    const restore = await cutOff(page, '**/assets/index-*.js', '**/health');
    await page.goto('/');
    await page.getByText('This page loads as soon as it responds.').waitFor();
    await restore();
    await waitForPage(page, 'Overview');
  });

  it('loads a list that failed', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    await connectSession(call);
    const restore = await cutOff(page, '**/api/v1/api-keys?*', '**/health');
    await page.goto('/keys');
    await page.getByRole('alert').filter({ hasText: AWAY }).waitFor();
    await restore();
    await page.getByText('No API keys yet').waitFor();
  });
});
