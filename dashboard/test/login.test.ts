import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assertSoon, assertUsable, logIn, PASSWORD, PHONE, startDashboard } from './support/browser.ts';

describe('login', async () => {
  const dashboard = startDashboard();

  it('redirects to the login, and from there to the requested page', async (test) => {
    const { email } = await dashboard.server.account();
    const page = await dashboard.open(test);
    await page.goto('/keys');
    await page.waitForURL((url) => url.pathname === '/login' && url.searchParams.get('next') === '/keys');
    await page.getByLabel('Email').fill(email);
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await page.keyboard.press('Enter');
    await page.waitForURL('**/keys');
  });

  it('redirects readers who are logged in away from the login and the registration', async (test) => {
    const { page } = await dashboard.openLoggedIn(test);
    for (const path of ['/login', '/register']) {
      await page.goto(path);
      await page.waitForURL((url) => url.pathname === '/');
      await page.getByRole('heading', { name: 'Overview' }).waitFor();
      await page.goto(`${path}?next=${encodeURIComponent('/deliveries?status=failed')}`);
      await page.getByRole('heading', { name: 'Deliveries' }).waitFor();
      assert.equal(new URL(page.url()).search, '?status=failed');
    }
    // Going back must not end at the login again.
    await page.goto('/keys');
    await page.getByRole('heading', { name: 'API keys' }).waitFor();
    await page.goto('/login');
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await page.goBack();
    await page.getByRole('heading', { name: 'API keys' }).waitFor();
  });

  it('shows the form when the account cannot be loaded', async (test) => {
    const page = await dashboard.open(test);
    await page.route('**/auth/me', (route) => route.fulfill({ status: 500, body: '' }));
    await page.goto('/login');
    await page.getByLabel('Email').waitFor();
  });

  it('registers an account', async (test) => {
    const page = await dashboard.open(test);
    await page.goto('/register');
    await page.getByLabel('Name').fill('Ada');
    await page.getByLabel('Email').fill('ada@example.com');
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await page.getByRole('button', { name: 'Create account' }).click();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await page.getByRole('button', { name: 'Account menu: Ada' }).waitFor();
  });

  it('shows the error of a password and of a login', async (test) => {
    const page = await dashboard.open(test);
    await page.goto('/register');
    await page.getByLabel('Email').fill('short@example.com');
    await page.getByLabel('Password', { exact: true }).fill('short');
    await page.getByRole('button', { name: 'Create account' }).click();
    await page.getByLabel('Password', { exact: true }).and(page.locator('[aria-invalid]')).waitFor();

    await page.goto('/login');
    await page.getByLabel('Email').fill('nobody@example.com');
    await page.getByLabel('Password', { exact: true }).fill('not the password');
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByRole('alert').waitFor();
  });

  it('keeps the token out of reach of scripts', async (test) => {
    const { email } = await dashboard.server.account();
    const page = await dashboard.open(test);
    const answer = page.waitForResponse('**/auth/login');
    await logIn(page, email);
    const [cookie] = await page.context().cookies();
    assert.ok(cookie?.httpOnly);
    assert.equal(cookie.sameSite, 'Strict');
    assert.equal((await (await answer).json()).token, '');
    const seen = await page.evaluate(() =>
      JSON.stringify([document.cookie, { ...localStorage }, { ...sessionStorage }, document.documentElement.outerHTML]),
    );
    assert.ok(!seen.includes(cookie.value));
  });

  it('shows nothing of the account after logging out and going back', async (test) => {
    const { call, email } = await dashboard.server.account();
    const page = await dashboard.open(test);
    await logIn(page, email);
    await call('POST', '/sessions', { name: 'My shop' });
    await page.goto('/sessions');
    await page.getByText('My shop').waitFor();
    await page.getByRole('button', { name: /^Account menu/ }).click();
    await page.getByRole('menuitem', { name: 'Log out' }).click();
    await page.waitForURL('**/login');
    // The cookie of a known device stays, and logs nobody in.
    assert.deepEqual(
      (await page.context().cookies()).map(({ name }) => name),
      ['switchboard-device'],
    );
    await page.goBack();
    await page.waitForURL((url) => url.pathname === '/login' && url.searchParams.get('next') === '/sessions');
    await assertSoon(() => page.getByText('My shop').count(), 0);
    await page.goto('/keys');
    await page.waitForURL((url) => url.pathname === '/login' && url.searchParams.get('next') === '/keys');
  });

  it('switches all tabs to the account that logs in', async (test) => {
    const { page } = await dashboard.openLoggedIn(test);
    const other = await dashboard.server.account();
    await other.call('POST', '/sessions', { name: 'Not of the first' });
    await page.goto('/sessions');
    await page.getByText('No sessions yet').waitFor();
    const second = await page.context().newPage();
    await second.goto('/');
    const logOut = async () => {
      await second.getByRole('button', { name: /^Account menu/ }).click();
      await second.getByRole('menuitem', { name: 'Log out' }).click();
      await page.waitForURL('**/login?next=*');
    };
    await logOut();
    await logIn(second, other.email);
    // The form of the first tab now redirects without being filled in.
    await page.getByText('Not of the first').waitFor();
    await page.getByRole('button', { name: `Account menu: ${other.email}` }).waitFor();
    await logOut();
  });

  it('never redirects to another server', async (test) => {
    const { email } = await dashboard.server.account();
    for (const next of ['//evil.example/', 'https://evil.example/', '/\\evil.example', '/\t/evil.example']) {
      const page = await dashboard.open(test);
      await page.goto(`/login?next=${encodeURIComponent(next)}`);
      await page.getByLabel('Email').fill(email);
      await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
      await page.getByRole('button', { name: 'Log in' }).click();
      await page.getByRole('heading', { name: 'Overview' }).waitFor();
      assert.equal(new URL(page.url()).origin, dashboard.server.url);
      // Readers who are logged in are redirected right away.
      await page.goto(`/login?next=${encodeURIComponent(next)}`);
      await page.waitForURL((url) => url.pathname !== '/login');
      await page.getByRole('heading', { name: 'Overview' }).waitFor();
      assert.equal(new URL(page.url()).origin, dashboard.server.url);
    }
  });

  it('is accessible and fits on a phone', async (test) => {
    const page = await dashboard.open(test, { viewport: PHONE });
    for (const path of ['/login', '/register']) {
      await page.goto(path);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await assertUsable(page);
    }
  });
});
