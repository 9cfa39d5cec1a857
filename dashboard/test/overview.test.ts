import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { startReceiver } from '../../server/test/support/connections/receiver.ts';
import { connectSession } from '../../server/test/support/server.ts';
import { assertAccessible, assertUsable, PHONE, startDashboard } from './support/browser.ts';
import { writeIn } from './support/sandbox.ts';

const step = (page: Page, text: string) => page.getByRole('listitem').filter({ hasText: text });
const attention = (page: Page) => page.getByRole('region', { name: 'Needs attention' });
const messagesOf = (page: Page, received: number, sent: number) =>
  page.getByRole('img', { name: `In the last hour, ${received} messages received and ${sent} sent.` });

describe('overview', async () => {
  const dashboard = startDashboard({ env: { WEBHOOK_RETRY_SECONDS: '1,600', BREAKER_OPEN_SECONDS: '600' } });
  const receiver = await startReceiver();
  after(() => receiver.close());

  it('shows a new account its first steps until all are done', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    receiver.respond(200);
    await page.goto('/');
    await page.getByText('0 of 5 done').waitFor();
    await attention(page).getByText('Everything is working.').waitFor();
    await page.getByText('No webhooks yet').waitFor();
    await assertAccessible(page);
    const sessionId = await connectSession(call);
    await step(page, 'Done: Connect a session').waitFor();
    await writeIn(call, sessionId, 'The first');
    await step(page, 'Done: Send or receive a message').waitFor();
    await page.getByText('2 of 5 done').waitFor();
    await assertAccessible(page);
    await call('POST', '/webhooks/set', { webhookUrl: receiver.url, events: ['message.incoming'] });
    await step(page, 'Done: Set up a webhook').waitFor();
    await writeIn(call, sessionId, 'The second');
    await step(page, 'Done: Receive a delivery').waitFor();
    await page.getByRole('link', { name: 'Create an API key' }).click();
    await page.waitForURL('**/keys');
    await call('POST', '/api-keys/create', { name: 'My shop' });
    await page.goto('/');
    await page.getByRole('list', { name: 'Webhooks' }).waitFor();
    await attention(page).waitFor();
    await page.waitForFunction(() => !document.body.textContent?.includes('Getting started'));
  });

  it('draws its plots in a browser whose language is not valid', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    await connectSession(call);
    await page.addInitScript(() =>
      Object.defineProperty(Navigator.prototype, 'language', { get: () => 'en-US@posix', configurable: true }),
    );
    await page.goto('/');
    await messagesOf(page, 0, 0).waitFor();
  });

  it('counts the messages of the last hour and new ones as they arrive', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    const stranger = await dashboard.server.account();
    const sessionId = await connectSession(call);
    await writeIn(call, sessionId, 'One', 'Two');
    await call('POST', '/messages/send', { to: '491700000072', message: 'Three' });
    await page.goto('/');
    await messagesOf(page, 2, 1).waitFor();
    await writeIn(stranger.call, await connectSession(stranger.call), 'Not for you');
    await writeIn(call, sessionId, 'Four');
    await call('POST', '/messages/send', { to: '491700000072', message: 'Five' });
    await messagesOf(page, 3, 2).waitFor();
    await page.getByRole('region', { name: 'Current figures' }).getByText('5', { exact: true }).waitFor();
    await page.reload();
    await messagesOf(page, 3, 2).waitFor();
    await page.getByText('1 of 1').waitFor();
  });

  it('explains an open breaker, and recovers with it', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test, { viewport: PHONE });
    const sessionId = await connectSession(call);
    await call('POST', '/webhooks/set', { webhookUrl: receiver.url, events: ['message.incoming'] });
    receiver.respond(502);
    await page.goto('/');
    await writeIn(call, sessionId, 'One', 'Two', 'Three', 'Four', 'Five', 'Six');
    await attention(page)
      .getByText(/^[56] events held for \d+ s: receiver returns 502; next probe in (9|10) min$/)
      .waitFor();
    await page.getByRole('list', { name: 'Webhooks' }).getByText('Open').waitFor();
    await page.getByRole('img', { name: /^In the last hour, 0 attempts succeeded and [5-9] failed\.$/ }).waitFor();
    await page.getByRole('region', { name: 'Current figures' }).getByText('0 %').waitFor();
    await assertUsable(page);
    receiver.respond(200);
    await call('POST', '/webhooks/circuit-breaker/reset', {});
    await attention(page).getByText('Everything is working.').waitFor();
    await page.getByRole('img', { name: /^In the last hour, 6 attempts succeeded/ }).waitFor();
  });

  it('shows a broken webhook among many others, and stays while one is added', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    const sessionId = await connectSession(call);
    const add = async (webhookUrl: string, kind: string) =>
      (await call('POST', '/webhooks/endpoints', { webhookUrl, events: [kind] })).body.webhookId;
    receiver.respond(502);
    await add(`${receiver.url}old`, 'message.incoming');
    for (let index = 0; index < 21; index++) await add(`${receiver.url}${index}`, 'group.updated');
    await page.goto('/');
    await page.getByText('Showing 20 webhooks').waitFor();
    await writeIn(call, sessionId, 'One', 'Two', 'Three', 'Four', 'Five', 'Six');
    await attention(page)
      .getByText(/^[56] events held/)
      .waitFor();
    await page.evaluate(() => {
      const seen = globalThis as unknown as { gone?: boolean };
      new MutationObserver(() => {
        seen.gone ||= document.querySelector('main')?.textContent?.includes('Needs attention') !== true;
      }).observe(document.body, { childList: true, subtree: true });
    });
    await call('POST', '/webhooks/set', { webhookUrl: `${receiver.url}new`, events: ['group.updated'] });
    await page.getByRole('link', { name: `${receiver.url}new` }).waitFor();
    assert.equal(await page.evaluate(() => (globalThis as unknown as { gone?: boolean }).gone ?? false), false);
    receiver.respond(200);
  });

  it('names sessions that are down, escapes their errors and links to them', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    const sessionId = await connectSession(call, '491705550111', { name: '<img src=x onerror=alert(1)>' });
    await connectSession(call);
    const { body } = await call('POST', '/sessions', { name: 'New phone', options: { pairing: true } });
    await call('POST', `/sessions/${body.sessionId}/connect`);
    await page.goto('/');
    const statuses = page.getByRole('region', { name: 'Sessions by status' });
    await statuses.getByRole('listitem').filter({ hasText: 'Connected' }).getByText('2').waitFor();
    await call('POST', `/sessions/${sessionId}/simulate`, { action: 'logout' });
    await attention(page)
      .getByText(/^<img src=x onerror=alert\(1\)>, \+491705550111: logged out\./)
      .waitFor();
    await statuses.getByRole('listitem').filter({ hasText: 'Connected' }).getByText('1').waitFor();
    await assertUsable(page);
    await attention(page).getByRole('link', { name: 'Pair device' }).press('Enter');
    await page.getByRole('img', { name: 'Pairing QR code' }).waitFor();
  });

  it('lists numbers that the network may ban, with the reasons, the gravest first', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test, { viewport: PHONE });
    for (let index = 0; index < 6; index++) {
      const sessionId = await connectSession(call, undefined, { name: `Shop ${index}` });
      const standing = { action: 'standing', newChats: { used: 9, total: 10 } };
      await call('POST', `/sessions/${sessionId}/simulate`, standing);
      if (index === 0)
        for (let n = 0; n < 3; n++) await call('POST', `/sessions/${sessionId}/simulate`, { action: 'block_report' });
    }
    await page.goto('/');
    const first = attention(page).getByRole('listitem').first();
    await first.getByText(/^Shop 0, \+\d+: high risk of a ban$/).waitFor();
    await first.getByText(/3 people have blocked or reported the number/).waitFor();
    await attention(page).getByText('1 more session is at risk of a ban').waitFor();
    await attention(page).getByText('6 items need attention').waitFor();
    await assertUsable(page);
    await first.getByRole('link', { name: 'View session' }).click();
    await page.getByRole('alert').getByText('High risk of a ban').waitFor();
  });
});
