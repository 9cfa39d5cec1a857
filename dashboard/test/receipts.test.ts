import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { sharedSandbox } from '../../server/test/support/server.ts';
import { assertAccessible, assertNoSidewaysScroll, PHONE, startDashboard } from './support/browser.ts';
import { FRIEND, openSandbox } from './support/sandbox.ts';

describe('receipts of a message', async () => {
  const dashboard = startDashboard({ env: sharedSandbox });

  async function openDetails(
    test: TestContext,
    options: object = {},
    prepare: (page: Page) => Promise<unknown> = async () => {},
  ) {
    const { page, call } = await dashboard.openLoggedIn(test, options);
    const { simulate, sessionId } = await openSandbox(call);
    await simulate({ action: 'incoming', from: FRIEND, senderName: 'Nora', message: 'Hello' });
    const { messageId } = (await call('POST', '/messages/send', { sessionId, to: FRIEND, message: 'Good morning' }))
      .body;
    await prepare(page);
    await page.goto(`/chats?chat=${FRIEND}`);
    const bubble = page.getByRole('article').filter({ hasText: 'Good morning' });
    await bubble.getByText('Delivered').waitFor();
    await bubble.hover();
    await bubble.getByRole('button', { name: 'Message actions' }).click();
    await page.getByRole('menuitem', { name: 'Details' }).click();
    const rows = page.getByRole('dialog').getByRole('row');
    await rows.nth(1).waitFor();
    return { page, call, simulate, rows, messageId };
  }

  type Page = Awaited<ReturnType<typeof dashboard.openLoggedIn>>['page'];

  it('list the person by name, and the reading as it happens', async (test) => {
    const { page, simulate, rows, messageId } = await openDetails(test, { viewport: PHONE });
    const row = rows.nth(1);
    await row.getByText('Nora').waitFor();
    await row.getByText('Not reported').waitFor();
    assert.equal(await row.locator('time').count(), 1);
    await assertAccessible(page);
    await assertNoSidewaysScroll(page);
    await simulate({ action: 'receipt', from: FRIEND, messageId, status: 'read' });
    await row.locator('time').nth(1).waitFor();
    assert.equal(await rows.count(), 2);
  });

  it('are not read again once everyone has read the message', async (test) => {
    const { page, simulate, rows, messageId } = await openDetails(test);
    await page.clock.install();
    await simulate({ action: 'receipt', from: FRIEND, messageId, status: 'read' });
    let reads = 0;
    page.on('request', (request) => {
      if (new URL(request.url()).pathname.endsWith('/receipts')) reads++;
    });
    await page.reload();
    const bubble = page.getByRole('article').filter({ hasText: 'Good morning' });
    await bubble.hover();
    await bubble.getByRole('button', { name: 'Message actions' }).click();
    await page.getByRole('menuitem', { name: 'Details' }).click();
    await rows.nth(1).locator('time').nth(1).waitFor();
    const before = reads;
    await page.clock.runFor(60_000);
    await page.getByRole('dialog').getByText('Receipts', { exact: true }).waitFor();
    assert.equal(reads, before);
  });

  it('come in pages, and with those that no event reports', async (test) => {
    const at = '2026-07-01T12:00:00.000Z';
    const numbers = Array.from({ length: 101 }, (_, index) => `4917000${10_000 + index}`);
    let readers = 0;
    const { page, rows } = await openDetails(test, {}, (page) =>
      page.route(
        (url) => url.pathname.endsWith('/receipts'),
        async (route) => {
          const isSecond = new URL(route.request().url()).searchParams.has('cursor');
          const data = numbers
            .slice(isSecond ? 100 : 0, isSecond ? 101 : 100)
            .map((phoneNumber, index) => ({ phoneNumber, deliveredAt: at, readAt: index < readers ? at : null }));
          await route.fulfill({ json: { data, nextCursor: isSecond ? null : 'next' } });
        },
      ),
    );
    assert.equal(await rows.count(), 101, 'with the header');
    await page.getByRole('button', { name: 'Show more' }).click();
    await rows.nth(101).waitFor();
    await page.getByRole('button', { name: 'Show more' }).waitFor({ state: 'detached' });
    readers = 1;
    await rows.nth(1).locator('time').nth(1).waitFor();
    await rows.nth(101).locator('time').nth(1).waitFor();
    await assertAccessible(page);
  });

  it('are not shown for a received message', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    const { write } = await openSandbox(call);
    await write('From a friend');
    await page.goto(`/chats?chat=${FRIEND}`);
    const bubble = page.getByRole('article').filter({ hasText: 'From a friend' });
    await bubble.hover();
    await bubble.getByRole('button', { name: 'Message actions' }).click();
    await page.getByRole('menuitem', { name: 'Details' }).click();
    await page.getByRole('dialog').getByText('Delivered', { exact: true }).waitFor();
    assert.equal(await page.getByText('Receipts', { exact: true }).count(), 0);
  });
});
