import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { picture, upload } from '../../server/test/support/media/media.ts';
import { bearer, type Call } from '../../server/test/support/server.ts';
import {
  assertAccessible,
  assertNoSidewaysScroll,
  assertSoon,
  assertUsable,
  PHONE,
  startDashboard,
} from './support/browser.ts';
import { FRIEND, openSandbox } from './support/sandbox.ts';

describe('approvals page', async () => {
  const dashboard = startDashboard({ env: { MAX_API_KEYS: '300' } });

  /** A key whose messages need approval, and a function that asks with it. */
  async function openQueue(call: Call) {
    const sandbox = await openSandbox(call);
    const { key, keyId } = (await call('POST', '/api-keys/create', { name: 'Shop agent', requiresApproval: true }))
      .body;
    const agent = bearer(dashboard.server.url, key);
    const ask = async (message: string, more: object = {}): Promise<string> => {
      const { body } = await agent('POST', '/messages/send', { to: FRIEND, message, ...more });
      assert.equal(body.status, 'pending_approval', JSON.stringify(body));
      return body.messageId;
    };
    const get = async (messageId: string) => (await call('GET', `/messages/${messageId}`)).body;
    return { ...sandbox, agent, keyId, ask, get };
  }

  const cards = (page: Page) => page.getByRole('list', { name: 'Messages that wait for approval' }).locator('> li');

  it('shows new messages live, and approves one with the keyboard', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    const { ask, get } = await openQueue(call);
    await page.goto('/approvals');
    await page.getByText('Nothing waits for approval').waitFor();
    await assertAccessible(page);
    const link = page.getByRole('navigation').getByRole('link', { name: 'Approvals' });
    await assertSoon(() => link.innerText(), 'Approvals');
    const first = await ask('May I write this?');
    await page.getByText('May I write this?').waitFor();
    const second = await ask('And this?');
    await page.getByText('And this?').waitFor();
    await link.getByText('2 waiting').waitFor();
    await page.getByText('Shop agent').first().waitFor();
    const firstWords = async () => (await cards(page).allInnerTexts()).map((text) => /May I|And this/.exec(text)?.[0]);
    await assertSoon(async () => (await firstWords()).join(), 'May I,And this', 'oldest first');
    await assertAccessible(page);

    await page
      .getByRole('button', { name: /^Approve the message/ })
      .first()
      .focus();
    await page.keyboard.press('Enter');
    await cards(page).first().getByText('Approved').waitFor();
    await link.getByText('1 waiting').waitFor();
    await assertSoon(async () => (await get(first)).status, 'delivered');
    assert.equal(await cards(page).count(), 2, 'a message that was decided keeps its place');
    await assertSoon(() => cards(page).first().getByRole('button').count(), 0);
    await assertSoon(() => page.evaluate(() => document.activeElement?.tagName), 'H2');
    assert.equal((await get(second)).status, 'pending_approval');
    await page.reload();
    await page.getByText('And this?').waitFor();
    await assertSoon(() => cards(page).count(), 1);
  });

  it('edits a message before it is sent, and rejects one with a reason, on a phone', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test, { viewport: PHONE });
    const { ask, get } = await openQueue(call);
    const [first, second] = [await ask('Buy now!!!'), await ask('Your order 7 is on its way.')];
    await page.goto('/approvals');
    await page.getByText('Buy now!!!').waitFor();
    await assertUsable(page);
    await cards(page)
      .last()
      .getByRole('button', { name: /^Edit and approve/ })
      .click();
    const dialog = page.getByRole('dialog');
    await assertAccessible(page);
    await dialog.getByLabel('Text').fill('');
    await assertSoon(() => dialog.getByRole('button', { name: 'Approve' }).isDisabled(), true);
    await dialog.getByLabel('Text').fill('Your order 8 is on its way.');
    await dialog.getByRole('button', { name: 'Approve' }).click();
    await cards(page).last().getByText('Approved').waitFor();
    await cards(page).last().getByText('Your order 8 is on its way.').waitFor();
    await assertSoon(async () => (await get(second)).status, 'delivered');
    assert.equal((await get(second)).message, 'Your order 8 is on its way.');

    await cards(page)
      .first()
      .getByRole('button', { name: /^Reject/ })
      .click();
    await assertAccessible(page);
    await dialog.getByLabel('Reason').fill('Too loud');
    await dialog.getByRole('button', { name: 'Reject' }).click();
    await cards(page).first().getByText('Rejected', { exact: true }).waitFor();
    await assertNoSidewaysScroll(page);
    assert.equal((await get(first)).error, 'The message was rejected: Too loud');
  });

  it('shows the picture, and says when somebody else has decided', async (test) => {
    const { page, call, token } = await dashboard.openLoggedIn(test);
    const { agent, ask } = await openQueue(call);
    const { mediaId } = (await upload(dashboard.server, token, picture())).body;
    await agent('POST', '/messages/send-media', { to: FRIEND, type: 'image', mediaId, caption: 'The new shop' });
    const sendAt = new Date(Date.now() + 3_600_000).toISOString();
    const later = await ask('Later', { sendAt });
    await page.goto('/approvals');
    await page.getByRole('img', { name: 'Image' }).waitFor();
    await page.getByText('The new shop').waitFor();
    await cards(page).last().locator(`time[datetime="${sendAt}"]`).first().waitFor();
    await call('POST', `/messages/${later}/reject`);
    await cards(page).last().getByText('Rejected', { exact: true }).waitFor();
    await assertSoon(() => cards(page).last().getByText('Waiting for approval').count(), 0);
    await assertSoon(() => cards(page).last().getByRole('button').count(), 0);
  });

  it('reports why a decision failed', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    const { ask } = await openQueue(call);
    const messageId = await ask('Hello');
    await page.goto('/approvals');
    await page.route('**/approve', async (route) => {
      await call('POST', `/messages/${messageId}/reject`);
      await route.continue();
    });
    await page.getByRole('button', { name: /^Approve the message/ }).click();
    await page.getByText('does not wait for approval').first().waitFor();
  });

  it('closes the form of a message that was decided elsewhere, and says so', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    const { ask } = await openQueue(call);
    const messageId = await ask('Hello');
    await page.goto('/approvals');
    await page.route('**/approve', async (route) => {
      await call('POST', `/messages/${messageId}/reject`);
      await route.continue();
    });
    // The names of key and session move the buttons, also from below a pressed mouse button.
    await page.getByText('Shop agent').waitFor();
    await page.getByRole('button', { name: /^Edit and approve/ }).press('Enter');
    await page.getByRole('dialog').getByRole('button', { name: 'Approve' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await cards(page).first().getByText('Rejected', { exact: true }).waitFor();
  });

  it('labels a waiting message in its chat, where it can be cancelled', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    const { ask, write, get } = await openQueue(call);
    await write('Hello?');
    const messageId = await ask('May I answer?');
    await page.goto(`/chats?chat=${FRIEND}`);
    const row = page.getByRole('article').filter({ hasText: 'May I answer?' });
    await row.getByText('Waiting for approval').first().waitFor();
    await row.getByRole('button', { name: 'Message actions' }).click();
    await page.getByRole('menuitem', { name: 'Cancel message' }).click();
    await row.getByText('Cancelled before it was sent').waitFor();
    assert.equal((await get(messageId)).approval.status, 'withdrawn');
  });

  it('names the key of a message among more keys than one page of their list has', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    const { ask } = await openQueue(call);
    await ask('Who is asking?');
    for (let index = 0; index < 200; index++)
      assert.equal((await call('POST', '/api-keys/create', { name: `Key ${index}` })).status, 201);
    await page.goto('/approvals');
    await cards(page).getByText('Shop agent').waitFor();
  });

  it('is filled by keys with the setting, which the form of a key shows', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    await page.goto('/keys');
    await page.getByRole('button', { name: 'Create key' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('Agent');
    await dialog.getByLabel('Approve every message').check();
    await dialog.getByRole('button', { name: 'Create key' }).click();
    await page.getByRole('button', { name: 'I have saved it' }).click();
    await page.getByText('Every message needs approval').waitFor();
    const settings = async () => (await call('GET', '/api-keys')).body.data[0];
    assert.equal((await settings()).requiresApproval, true);
    await page.getByRole('button', { name: 'Actions for Agent' }).click();
    await page.getByRole('menuitem', { name: 'Edit' }).click();
    await assertSoon(() => dialog.getByLabel('Approve every message').isChecked(), true);
    await dialog.getByLabel('Approve every message').uncheck();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.waitFor({ state: 'detached' });
    assert.equal((await settings()).requiresApproval, false);
  });
});
