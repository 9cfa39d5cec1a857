import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assertAccessible, assertNoSidewaysScroll, PASSWORD, PHONE, startDashboard } from './support/browser.ts';

const NEXT = 'another correct horse';

describe('account page', async () => {
  const dashboard = startDashboard();

  it('changes the password and ends all other logins', async (test) => {
    const { page, ...account } = await dashboard.openLoggedIn(test);
    await page.goto('/account');
    await page.getByLabel('Current password').fill('not the password');
    await page.getByLabel('New password').fill(NEXT);
    await page.getByRole('button', { name: 'Change password' }).click();
    await page.getByLabel('Current password').and(page.locator('[aria-invalid]')).waitFor();

    await page.getByLabel('Current password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Change password' }).click();
    await page.getByText('Password changed').first().waitFor();
    assert.equal((await account.call('GET', '/auth/me')).status, 401);
    await page.goto('/webhooks');
    await page.getByRole('heading', { name: 'Webhooks', level: 1 }).waitFor();
    const login = { email: account.email, password: NEXT };
    assert.equal((await dashboard.server.call('POST', '/auth/login', login)).status, 200);
  });

  it('logs out everywhere after a confirmation', async (test) => {
    const { page, ...account } = await dashboard.openLoggedIn(test);
    await page.goto('/account');
    await page.getByRole('button', { name: 'Log out everywhere' }).click();
    await page.getByRole('button', { name: 'Cancel' }).click();
    assert.equal((await account.call('GET', '/auth/me')).status, 200);
    await page.getByRole('button', { name: 'Log out everywhere' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Log out everywhere' }).click();
    await page.waitForURL('**/login');
    assert.equal((await account.call('GET', '/auth/me')).status, 401);
  });

  it('is accessible and fits on a phone', async (test) => {
    const { page } = await dashboard.openLoggedIn(test);
    await page.goto('/account');
    await page.getByLabel('Current password').waitFor();
    await assertAccessible(page);
    await page.setViewportSize(PHONE);
    await assertNoSidewaysScroll(page);
  });
});
