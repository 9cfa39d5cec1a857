import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { eventually } from '../../server/test/support/eventually.ts';
import { bearer } from '../../server/test/support/server.ts';
import {
  assertAccessible,
  assertNoSidewaysScroll,
  assertSoon,
  assertUsable,
  PHONE,
  startDashboard,
} from './support/browser.ts';

const shownKey = (page: Page) => page.getByRole('dialog').getByRole('status', { name: 'API key' });

async function choose(page: Page, name: string, action: string) {
  await page.getByRole('button', { name: `Actions for ${name}` }).click();
  await page.getByRole('menuitem', { name: action }).click();
}

describe('API keys page', async () => {
  const dashboard = startDashboard();

  it('shows full key names on a phone', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test, { viewport: PHONE });
    for (const name of ['Shop backend', 'Support desk']) await call('POST', '/api-keys/create', { name });
    await page.goto('/keys');
    for (const name of ['Shop backend', 'Support desk']) {
      const shown = page.getByRole('cell').getByText(name, { exact: true });
      await shown.waitFor();
      assert.ok(
        await shown.evaluate(({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth),
        `${name} is cut off`,
      );
    }
    await assertUsable(page);
  });

  it('creates a key with selected permissions and shows it once', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test, { permissions: ['clipboard-read', 'clipboard-write'] });
    await page.goto('/keys');
    await page.getByText('No API keys yet').waitFor();
    await assertAccessible(page);
    await page.getByRole('button', { name: 'Create key' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('My shop');
    await dialog.getByLabel('Selected permissions').check();
    await dialog.getByText('Select at least one permission').waitFor();
    await assertSoon(() => dialog.getByRole('button', { name: 'Create key' }).isDisabled(), true);
    await dialog.getByLabel('messages:read').check();
    await dialog.getByLabel('sessions:read').check();
    await dialog.getByLabel('Expires').selectOption('In 30 days');
    await assertAccessible(page);
    await dialog.getByRole('button', { name: 'Create key' }).click();

    const key = await shownKey(page).innerText();
    await page.mouse.click(5, 5);
    await page.keyboard.press('Escape');
    await assertSoon(() => dialog.getByRole('button', { name: 'Close' }).count(), 0);
    await assertSoon(() => shownKey(page).innerText(), key, 'only its button closes the dialog');
    assert.match(key, /^sb_/);
    await assertAccessible(page);
    await page.getByRole('button', { name: 'Copy key' }).click();
    await page.getByText('Copied').first().waitFor();
    await assertSoon(() => page.evaluate(() => navigator.clipboard.readText()), key);
    await page.getByRole('button', { name: 'I have saved it' }).click();
    await shownKey(page).waitFor({ state: 'detached' });
    assert.ok(!(await page.content()).includes(key), 'the key is not shown again');
    await page.getByText('2 permissions').waitFor();

    const program = bearer(dashboard.server.url, key);
    assert.equal((await program('GET', '/sessions')).status, 200);
    assert.equal((await program('POST', '/sessions', {})).status, 403);
    const [listed] = (await call('GET', '/api-keys')).body.data;
    const days = (Date.parse(listed.expiresAt) - Date.parse(listed.createdAt)) / 86_400_000;
    assert.ok(Math.abs(days - 30) < 0.01, `it expires in ${days} days`);
  });

  it('edits a key without losing its other settings', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    const made = await call('POST', '/api-keys/create', { name: 'Reader', permissions: ['messages:*', 'chats:read'] });
    await page.goto('/keys');
    await page.getByText('4 permissions').waitFor();
    await choose(page, 'Reader', 'Edit');
    const dialog = page.getByRole('dialog');
    await assertSoon(() => dialog.getByLabel('messages:send').isChecked(), true);
    await dialog.getByLabel('messages:send').uncheck();
    await dialog.getByLabel('Name').fill('Only reader');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByText('3 permissions').waitFor();
    const [listed] = (await call('GET', '/api-keys')).body.data;
    assert.equal(listed.name, 'Only reader');
    assert.deepEqual(listed.permissions.toSorted(), ['chats:read', 'messages:approve', 'messages:read']);
    const program = bearer(dashboard.server.url, made.body.key);
    assert.equal((await program('POST', '/messages/send', { to: '491700000071', message: 'Hi' })).status, 403);
  });

  it('shows when a key was last used', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    const { key } = (await call('POST', '/api-keys/create', { name: 'Night job' })).body;
    await page.goto('/keys');
    const row = page.getByRole('row').filter({ hasText: 'Night job' });
    // Neither used nor expiring.
    await row.getByText('never').nth(1).waitFor();
    await bearer(dashboard.server.url, key)('GET', '/sessions');
    const lastUsedAt = async () => (await call('GET', '/api-keys')).body.data[0].lastUsedAt;
    // The server stores it every ten seconds.
    const at = await eventually(lastUsedAt, (time) => time !== null);
    await page.reload();
    await row.locator(`time[datetime="${at}"]`).waitFor();
  });

  it('rejects an expiry in the past at its field', async (test) => {
    const { page } = await dashboard.openLoggedIn(test);
    await page.goto('/keys');
    await page.getByRole('button', { name: 'Create key' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('Too late');
    await dialog.getByLabel('Expires').selectOption('At a custom time');
    await dialog.getByLabel('Expiry time').fill('2020-01-01T12:00');
    await dialog.getByRole('button', { name: 'Create key' }).click();
    await dialog.locator('input[aria-invalid=true]').waitFor();
    await dialog.getByText('must be in the future').first().waitFor();
    await assertAccessible(page);
  });

  it('creates a key with limits, and shows how it is limited', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    const { sessionId } = (await call('POST', '/sessions', { name: 'Orders' })).body;
    await call('POST', '/sessions', { name: 'Support' });
    await page.goto('/keys');
    await page.getByRole('button', { name: 'Create key' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('Shop');
    await dialog.getByRole('checkbox', { name: 'All sessions' }).uncheck();
    await dialog.getByText('Select at least one session').waitFor();
    await assertSoon(() => dialog.getByRole('button', { name: 'Create key' }).isDisabled(), true);
    await dialog.getByRole('checkbox', { name: 'Orders' }).check();
    await dialog.getByLabel('Networks').fill('127.0.0.0/8\n::1');
    await dialog.getByLabel('Recipients').fill('+49 170 765-4321\n4930*\n');
    await dialog.getByLabel('Messages per day').fill('1000');
    await dialog.getByLabel('Before the first message to someone').check();
    await assertAccessible(page);
    await dialog.getByRole('button', { name: 'Create key' }).click();
    const key = await shownKey(page).innerText();
    await page.getByRole('button', { name: 'I have saved it' }).click();
    const row = page.getByRole('row').filter({ hasText: 'Shop' });
    const brief = row.getByText(
      'Limited to 1 session, 2 networks, 2 recipients, 1,000 messages a day. Asks before first messages',
    );
    await brief.waitFor();
    assert.match((await brief.getAttribute('title')) ?? '', /127\.0\.0\.0\/8.*491707654321/);

    const limits = {
      sessionIds: [sessionId],
      allowedIps: ['127.0.0.0/8', '::1'],
      allowedRecipients: ['491707654321', '4930*'],
      sendQuota: 1000,
      confirm: ['new_recipients'],
    };
    const { credential } = (await bearer(dashboard.server.url, key)('GET', '/auth/me')).body;
    assert.deepEqual({ ...credential, ...limits }, credential);
  });

  it('names wrong limits at their fields, and changes and removes them', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    await call('POST', '/api-keys/create', { name: 'Limited', allowedIps: ['127.0.0.1', '::1'], sendQuota: 5 });
    await page.goto('/keys');
    await page.getByText('Limited to 2 networks, 5 messages a day').waitFor();
    await choose(page, 'Limited', 'Edit');
    const dialog = page.getByRole('dialog');
    const networks = dialog.getByLabel('Networks');
    await assertSoon(() => networks.inputValue(), '127.0.0.1\n::1');
    await networks.fill('localhost, 10.0.0.0/8\n10.0.0.0/99');
    await dialog.getByLabel('Recipients').fill('somebody');
    await dialog.getByRole('button', { name: 'Save' }).click();
    const wrong = dialog.getByRole('alert');
    await wrong.getByText(/not "localhost"; .*not "10\.0\.0\.0\/99"/).waitFor();
    await assertSoon(() => networks.getAttribute('aria-invalid'), 'true');
    await assertSoon(() => wrong.count(), 1, 'no second message above the form');
    await networks.fill('');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await wrong.getByText(/not "somebody"/).waitFor();
    await assertSoon(() => dialog.getByLabel('Recipients').getAttribute('aria-invalid'), 'true');
    await dialog.getByLabel('Recipients').fill('4930*');
    await dialog.getByLabel('Messages per day').fill('2000000');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await wrong.getByText(/1000000/).waitFor();
    await dialog.getByLabel('Messages per day').fill('');
    await assertAccessible(page);
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Limited to 1 recipient', { exact: true }).waitFor();
    const [{ allowedIps, allowedRecipients, sendQuota }] = (await call('GET', '/api-keys')).body.data;
    assert.deepEqual([allowedIps, allowedRecipients, sendQuota], [null, ['4930*'], null]);
  });

  it('shows the errors of every limit at its field', async (test) => {
    const { page } = await dashboard.openLoggedIn(test);
    const wrong = ['confirm', 'requiresApproval'];
    await page.route('**/api/v1/api-keys/create', (route) =>
      route.fulfill({
        status: 400,
        contentType: 'application/problem+json',
        json: {
          code: 'validation_failed',
          detail: 'The form is wrong',
          errors: wrong.map((field) => ({ field, code: 'type', message: `${field} is wrong` })),
        },
      }),
    );
    await page.goto('/keys');
    await page.getByRole('button', { name: 'Create key' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('Wrong');
    await dialog.getByRole('button', { name: 'Create key' }).click();
    const alerts = dialog.getByRole('alert');
    for (const field of wrong) await alerts.getByText(`${field} is wrong`).waitFor();
    await assertSoon(() => alerts.count(), wrong.length, 'no second message above the form');
    await assertSoon(() => dialog.getByLabel('Approve every message').getAttribute('aria-invalid'), 'true');
    await assertAccessible(page);
  });

  it('shows the first error of a long form, and focuses its field', async (test) => {
    const { page } = await dashboard.openLoggedIn(test, { viewport: PHONE });
    await page.goto('/keys');
    await page.getByRole('button', { name: 'Create key' }).first().click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('Long');
    const networks = dialog.getByLabel('Networks');
    const submit = dialog.getByRole('button', { name: 'Create key' });
    for (const wrong of ['localhost', 'elsewhere']) {
      await networks.fill(wrong);
      await dialog.getByLabel('Recipients').fill('somebody');
      await submit.scrollIntoViewIfNeeded();
      await submit.click();
      await dialog.getByText(`not "${wrong}"`).waitFor();
      await assertSoon(() => networks.evaluate((field) => field === document.activeElement), true);
      await assertSoon(
        () =>
          networks.evaluate((field) => {
            const [{ top, bottom }, panel] = [field.getBoundingClientRect(), field.closest('[role="dialog"]')];
            const view = panel?.getBoundingClientRect();
            return view !== undefined && top >= view.top && bottom <= view.bottom;
          }),
        true,
      );
    }
  });

  it('lets an agent ask its user, and no longer', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    await call('POST', '/api-keys/create', { name: 'Agent', confirm: ['destructive', 'new_recipients'] });
    const stored = async () => JSON.stringify((await call('GET', '/api-keys')).body.data[0].confirm);
    await page.goto('/keys');
    await page.getByText('Asks before changes and first messages').waitFor();
    for (const [label, expected] of [
      ['Before the first message to someone', '["destructive"]'],
      ['Before it changes or deletes something', 'null'],
    ] as const) {
      await choose(page, 'Agent', 'Edit');
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel(label).uncheck();
      await dialog.getByRole('button', { name: 'Save' }).click();
      await dialog.waitFor({ state: 'detached' });
      await assertSoon(stored, expected);
    }
    await assertSoon(() => page.getByText('Asks before').count(), 0);
  });

  it('shows limits on a phone', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test, { viewport: PHONE });
    await call('POST', '/api-keys/create', { name: 'Limited', sendQuota: 5 });
    await page.goto('/keys');
    await page.getByText('Limited to 5 messages a day').waitFor();
    await assertUsable(page);
    await choose(page, 'Limited', 'Edit');
    await page.getByRole('dialog').getByLabel('Networks').waitFor();
    await assertNoSidewaysScroll(page);
  });

  it('rotates and revokes a key after a confirmation', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    const { key: first } = (await call('POST', '/api-keys/create', { name: 'Worker' })).body;
    const status = async (key: string) => (await bearer(dashboard.server.url, key)('GET', '/sessions')).status;
    await page.goto('/keys');
    await choose(page, 'Worker', 'Rotate');
    await page.getByRole('alertdialog').getByRole('button', { name: 'Cancel' }).click();
    assert.equal(await status(first), 200, 'cancelling changes nothing');
    await choose(page, 'Worker', 'Rotate');
    await assertAccessible(page);
    await page.getByRole('alertdialog').getByRole('button', { name: 'Rotate' }).click();
    const second = await shownKey(page).innerText();
    await page.getByRole('button', { name: 'I have saved it' }).click();
    assert.deepEqual([await status(first), await status(second)], [401, 200]);

    await choose(page, 'Worker', 'Revoke');
    await page.getByRole('alertdialog').getByRole('button', { name: 'Revoke' }).click();
    await page.getByText('No API keys yet').waitFor();
    assert.equal(await status(second), 401);
  });

  it('keeps a key and shows the error when revoking fails', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    await call('POST', '/api-keys/create', { name: 'Stays' });
    await page.goto('/keys');
    await page.route('**/api/v1/api-keys/key_*', (route) => route.abort());
    await choose(page, 'Stays', 'Revoke');
    await page.getByRole('alertdialog').getByRole('button', { name: 'Revoke' }).click();
    await page.getByRole('alertdialog').getByRole('alert').getByText('The server cannot be reached').waitFor();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('table', { name: 'API keys' }).getByText('Stays').waitFor();
  });

  it('edits a key by keyboard on a phone', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test, { viewport: PHONE });
    const name = 'A program with a name that is far too long for the screen of a phone';
    await call('POST', '/api-keys/create', { name, expiresAt: new Date(Date.now() + 3_600_000).toISOString() });
    await page.goto('/keys');
    await page.getByRole('button', { name: `Actions for ${name}` }).focus();
    await assertUsable(page);
    await page.keyboard.press('Enter');
    await page.getByRole('menuitem', { name: 'Edit' }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').getByLabel('Name').waitFor();
    await assertSoon(() => page.evaluate(() => document.activeElement?.tagName), 'INPUT');
    await page.keyboard.press('ControlOrMeta+a');
    await page.keyboard.type('Short');
    await assertNoSidewaysScroll(page);
    await page.keyboard.press('Enter');
    await page.getByRole('cell').getByText('Short', { exact: true }).waitFor();
  });

  it('hides keys of other accounts', async (test) => {
    const other = await dashboard.server.account();
    await other.call('POST', '/api-keys/create', { name: 'Not yours' });
    const { page } = await dashboard.openLoggedIn(test);
    await page.goto('/keys');
    await page.getByText('No API keys yet').waitFor();
    await assertSoon(() => page.getByText('Not yours').count(), 0);
  });
});
