import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { bearer, sharedSandbox } from '../../server/test/support/server.ts';
import {
  type Account,
  assertAccessible,
  assertSoon,
  assertUsable,
  PASSWORD,
  PHONE,
  startDashboard,
} from './support/browser.ts';
import { FRIEND, openSandbox } from './support/sandbox.ts';

/** A dialog of a page, and a field that a test fills in. A checkbox is filled in by checking it. */
interface FilledDialog {
  readonly path: string;
  /** Buttons and menu items that lead to it. */
  readonly open: readonly (string | RegExp)[];
  readonly field: string;
  readonly text?: string;
  /** Other fields that have to be filled in. */
  readonly others?: Readonly<Record<string, string>>;
  readonly submit: string;
}

/** The form that covers the page. */
const loginForm = (page: Page) => page.getByRole('dialog', { name: 'Log in again' });

async function logInAgain(page: Page, password = PASSWORD): Promise<void> {
  await loginForm(page).getByLabel('Password', { exact: true }).fill(password);
  await loginForm(page).getByRole('button', { name: 'Log in' }).click();
}

const entryOf = (field: Locator, { text }: FilledDialog) =>
  text === undefined ? field.isChecked() : field.inputValue();

describe('a login that ends while a page is open', async () => {
  const dashboard = startDashboard({ env: sharedSandbox });
  let account: Account;
  const paths = { webhook: '', group: '', simulatedGroup: '' };

  before(async () => {
    account = await dashboard.server.account();
    const { call } = account;
    const { sessionId } = await openSandbox(call);
    const set = { webhookUrl: 'http://127.0.0.1:9/', events: ['message.incoming'] };
    const { webhookId } = (await call('POST', '/webhooks/endpoints', set)).body;
    paths.webhook = `/webhooks/${webhookId}`;
    const { groupId } = (await call('POST', '/groups', { sessionId, subject: 'Choir', phoneNumbers: [FRIEND] })).body;
    paths.group = `/groups/${groupId}`;
    paths.simulatedGroup = `/simulator?chat=${groupId}`;
    await call('POST', '/messages/send', { sessionId, to: FRIEND, message: 'Sent before' });
    const { key } = (await call('POST', '/api-keys/create', { name: 'Agent', requiresApproval: true })).body;
    await bearer(dashboard.server.url, key)('POST', '/messages/send', { to: FRIEND, message: 'May I?' });
  });

  const dialogs: Readonly<Record<string, () => FilledDialog>> = {
    'a new session': () => ({
      path: '/sessions',
      open: ['Create session'],
      field: 'Name',
      text: 'Half a session',
      submit: 'Create and connect',
    }),
    'a new webhook': () => ({
      path: '/webhooks',
      open: ['Add webhook'],
      field: 'URL',
      text: 'https://example.com/half',
      submit: 'Add webhook',
    }),
    'a webhook secret': () => ({
      path: paths.webhook,
      open: ['Set secret'],
      field: 'New secret',
      text: 'one that I made up',
      submit: 'Set secret',
    }),
    'a new API key': () => ({
      path: '/keys',
      open: ['Create key'],
      field: 'Name',
      text: 'Half a key',
      submit: 'Create key',
    }),
    'the settings of an API key': () => ({
      path: '/keys',
      open: ['Actions for Agent', 'Edit'],
      field: 'Name',
      text: 'Renamed agent',
      submit: 'Save',
    }),
    'the end of an API key': () => ({
      path: '/keys',
      open: ['Actions for Agent', 'Revoke'],
      field: 'Also remove what it made',
      submit: 'Revoke',
    }),
    'a replay': () => ({
      path: '/deliveries',
      open: ['Replay'],
      field: 'Deliveries per second',
      text: '7',
      submit: 'Count deliveries',
    }),
    'an approval': () => ({
      path: '/approvals',
      open: [/^Edit and approve/],
      field: 'Text',
      text: 'You may',
      submit: 'Approve',
    }),
    'a rejection': () => ({
      path: '/approvals',
      open: [/^Reject the message/],
      field: 'Reason',
      text: 'Too rude',
      submit: 'Reject',
    }),
    'a poll': () => ({
      path: `/chats?chat=${FRIEND}`,
      open: ['Attach', 'Poll'],
      field: 'Question',
      text: 'Where?',
      others: { Options: 'Here\nThere' },
      submit: 'Send',
    }),
    'an edited message': () => ({
      path: `/chats?chat=${FRIEND}`,
      open: ['Message actions', 'Edit'],
      field: 'Message',
      text: 'Edited by half',
      submit: 'Save',
    }),
    'a recipient': () => ({
      path: `/chats?chat=${FRIEND}`,
      open: ['Message actions', 'Forward'],
      field: 'Phone number',
      text: '491700000098',
      submit: 'Forward',
    }),
    'a new group': () => ({
      path: '/groups',
      open: ['Create group'],
      field: 'Name',
      text: 'Half a group',
      others: { 'Phone numbers': FRIEND },
      submit: 'Create group',
    }),
    'an invite link': () => ({
      path: '/groups',
      open: ['Join group'],
      field: 'Invite link',
      text: 'https://chat.sandbox/half',
      submit: 'Join group',
    }),
    'new members': () => ({
      path: paths.group,
      open: ['Add members'],
      field: 'Phone numbers',
      text: '491700000097',
      submit: 'Add members',
    }),
    'a simulated group': () => ({
      path: '/simulator',
      open: ['Create group'],
      field: 'Group name',
      text: 'Half a group',
      others: { 'Created by': FRIEND },
      submit: 'Create group',
    }),
    'the name of a simulated group': () => ({
      path: paths.simulatedGroup,
      open: ['Group actions', 'Rename group'],
      field: 'Group name',
      text: 'Half a name',
      submit: 'Save',
    }),
  };

  for (const [name, describeDialog] of Object.entries(dialogs)) {
    it(`keeps the dialog for ${name} and its fields`, async (test) => {
      const filled = describeDialog();
      const page = await dashboard.openAs(test, account);
      await page.goto(filled.path);
      const [button, item] = filled.open;
      await page
        .getByRole('button', { name: button ?? '', exact: true })
        .first()
        .click();
      if (item !== undefined) await page.getByRole('menuitem', { name: item, exact: true }).click();
      const dialog = page.locator('[role=dialog], [role=alertdialog]').filter({ hasNotText: 'Log in again' });
      // Labels of optional fields go on.
      const field = dialog.getByLabel(new RegExp(`^${filled.field}`));
      if (filled.text === undefined) await field.check();
      else await field.fill(filled.text);
      for (const [label, text] of Object.entries(filled.others ?? {})) await dialog.getByLabel(label).fill(text);
      const entered = await entryOf(field, filled);

      await page.context().clearCookies();
      await dialog.getByRole('button', { name: filled.submit, exact: true }).click();
      await logInAgain(page);
      await loginForm(page).waitFor({ state: 'detached' });
      assert.equal(await entryOf(field, filled), entered);
      await dialog.getByText('Your login had ended, so nothing was changed. Try again.').waitFor();
    });
  }

  it('submits a dialog after the login', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    await page.goto('/keys');
    await page.getByRole('button', { name: 'Create key' }).first().click();
    const dialog = page.getByRole('dialog', { name: 'Create API key' });
    await dialog.getByLabel('Name').fill('Half a key');
    await call('POST', '/auth/logout');
    await dialog.getByRole('button', { name: 'Create key' }).click();
    await loginForm(page).waitFor();
    await assertAccessible(page);
    await page.keyboard.press('Escape');
    await page.mouse.click(5, 5);
    await logInAgain(page, 'not the password');
    await loginForm(page).getByText('The email address or the password is wrong').waitFor();
    await logInAgain(page);
    await loginForm(page).waitFor({ state: 'detached' });
    const hasButtonFocus = () =>
      dialog.getByRole('button', { name: 'Create key' }).evaluate((element) => element === document.activeElement);
    await assertSoon(hasButtonFocus, true, 'the focus returns to the button that was pressed');
    await page.keyboard.press('Tab');
    const hasFocus = () => dialog.evaluate((element) => element.contains(document.activeElement));
    await assertSoon(hasFocus, true, 'the keyboard continues in the dialog');
    await dialog.getByRole('button', { name: 'Create key' }).click();
    await page.getByRole('status', { name: 'API key' }).waitFor();
  });

  it('returns the focus to the field of a dialog that had it', async (test) => {
    const { page } = await dashboard.openLoggedIn(test);
    await page.goto('/keys');
    await page.getByRole('button', { name: 'Create key' }).first().click();
    const name = page.getByRole('dialog', { name: 'Create API key' }).getByLabel('Name');
    await name.fill('Half a key');
    await page.context().clearCookies();
    await name.press('Enter');
    await logInAgain(page);
    await loginForm(page).waitFor({ state: 'detached' });
    const hasFocus = () => name.evaluate((element) => element === document.activeElement);
    await assertSoon(hasFocus, true, 'the focus returns to the field');
  });

  it('hides the page on a phone, and shows nothing of it to another account', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test, { viewport: PHONE });
    await call('POST', '/sessions', { name: 'My shop' });
    const other = await dashboard.server.account();
    await page.goto('/sessions');
    const own = page.getByText('My shop');
    await own.waitFor();
    await page.context().clearCookies();
    await call('POST', '/sessions', { name: 'Another shop' });
    await loginForm(page).waitFor();
    await assertUsable(page);
    const { x, y } = (await own.boundingBox()) ?? { x: 0, y: 0 };
    const isCovered = await page.evaluate(
      ([left, top]) => {
        const topmost = document.elementFromPoint(left ?? 0, top ?? 0);
        return topmost?.closest('#root') === null;
      },
      [x + 1, y + 1],
    );
    assert.ok(isCovered, 'the form and its backdrop cover the page');
    await loginForm(page).getByLabel('Email').fill(other.email);
    await logInAgain(page);
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    await page.goto('/sessions');
    await page.getByText('No sessions yet').waitFor();
  });
});
