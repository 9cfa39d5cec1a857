import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { connectSession } from '../../server/test/support/server.ts';
import { assertAccessible, assertSoon, assertUsable, PHONE, SERVER_ERROR, startDashboard } from './support/browser.ts';

/** Each page, the request that it depends on, and text that it shows after that. */
const pages = [
  ['/', '**/api/v1/sessions?*', 'Everything is working.'],
  ['/chats', '**/api/v1/chats?*', 'No chats yet'],
  ['/approvals', '**/api/v1/messages?*', 'Nothing waits for approval'],
  ['/simulator', '**/api/v1/chats?*', 'No contacts yet'],
  ['/groups', '**/api/v1/groups?*', 'No groups yet'],
  ['/sessions', '**/api/v1/sessions?*', 'Connected'],
  ['/webhooks', '**/api/v1/webhooks/endpoints?*', 'No webhooks yet'],
  ['/deliveries', '**/api/v1/webhooks/deliveries?*', 'No deliveries yet'],
  ['/tools', '**/api/v1/mcp', 'sessions_list'],
  ['/keys', '**/api/v1/api-keys?*', 'No API keys yet'],
  ['/events?view=log&kind=group.updated', '**/api/v1/events?*', 'No events of this type'],
] as const;

describe('loading and failed pages', async () => {
  const dashboard = startDashboard();

  for (const [path, request, empty] of pages) {
    it(`${path} shows that it loads, why it failed, and a button to retry`, async (test) => {
      const { page, call } = await dashboard.openLoggedIn(test, { viewport: PHONE });
      await connectSession(call);
      const answer = Promise.withResolvers<void>();
      await page.route(request, async (route) => {
        await answer.promise;
        await route.fulfill(SERVER_ERROR);
      });
      await page.goto(path);
      await page.getByRole('heading', { level: 1 }).waitFor(); // the code of the page has loaded
      await page.getByRole('main').getByRole('status', { name: 'Loading' }).first().waitFor();
      await assertAccessible(page);
      answer.resolve();
      const failure = page.getByRole('alert').filter({ hasText: 'Could not load this' });
      await failure.getByText('The database is on fire').waitFor();
      await failure.getByText('Request req_test').waitFor();
      await assertUsable(page);
      await page.unroute(request);
      await failure.getByRole('button', { name: 'Try again' }).click();
      await page.getByText(empty).waitFor();
    });
  }

  it('retries the next page of a list on request', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test, { viewport: PHONE });
    const sessionId = await connectSession(call);
    await Promise.all(Array.from({ length: 110 }, (_, index) => call('POST', '/sessions', { name: `Shop ${index}` })));
    for (let index = 0; index < 110; index++)
      await call('POST', `/sessions/${sessionId}/simulate`, {
        action: 'incoming',
        from: '491700000063',
        message: `Line ${index}`,
      });
    const rests = [
      ['/sessions', '[role=table] [tabindex="0"]', 'Shop 0', 1e6],
      [`/chats?session=${sessionId}&chat=491700000063`, '[role=feed]', 'Line 0', 0],
    ] as const;
    for (const [path, scroller, last, end] of rests) {
      let asked = 0;
      await page.route('**/api/v1/**cursor=*', async (route) => {
        asked++;
        await route.fulfill(SERVER_ERROR);
      });
      const goToEnd = () =>
        page.locator(scroller).evaluate((element, top) => element.scrollTo({ top, behavior: 'instant' }), end);
      await page.goto(path);
      await page.locator(scroller).locator('[role=row], article').first().waitFor();
      await goToEnd();
      const failure = page.getByRole('alert').filter({ hasText: 'Could not load more' });
      await failure.getByText('The database is on fire').waitFor();
      await assertUsable(page);
      assert.ok(asked < 10, `${path} asked ${asked} times`);
      await page.unroute('**/api/v1/**cursor=*');
      await failure.getByRole('button', { name: 'Try again' }).click();
      await failure.waitFor({ state: 'detached' });
      await goToEnd();
      await page.getByText(last, { exact: true }).waitFor();
    }
  });

  it('keeps a message that could not be sent', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    await connectSession(call);
    await page.goto('/chats?chat=491700000061');
    await page.route('**/api/v1/messages/send', (route) => route.fulfill(SERVER_ERROR));
    const box = page.getByLabel('Message', { exact: true });
    await box.fill('Do not lose me');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').getByText('The database is on fire').waitFor();
    await assertSoon(() => box.inputValue(), 'Do not lose me');
    await page.unroute('**/api/v1/messages/send');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByRole('article').getByText('Do not lose me').waitFor();
  });

  it('reads and answers a chat by keyboard', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    const sessionId = await connectSession(call);
    await call('POST', `/sessions/${sessionId}/simulate`, {
      action: 'incoming',
      from: '491700000062',
      message: 'By hand?',
    });
    await page.goto('/chats');
    await page.getByRole('list', { name: 'Chats' }).getByRole('button').waitFor();
    const press = async (...keys: string[]) => {
      for (const key of keys) await page.keyboard.press(key);
    };
    await page.getByLabel('Search messages').focus();
    // The filters come between the search and the list.
    await press('Tab', 'Tab', 'Tab', 'Enter');
    await page.getByRole('article').getByText('By hand?').waitFor();
    await page.getByRole('article').getByRole('button').focus();
    await press('Enter');
    await page.getByRole('menuitem', { name: 'React with 👍' }).waitFor();
    await page.keyboard.type('Reply');
    // The focus moves a moment after the last letter.
    await page.locator('[role=menuitem]:focus', { hasText: 'Reply' }).waitFor();
    await press('Enter');
    await page.getByText('Replying to: By hand?').waitFor();
    await page.locator('textarea:focus').waitFor();
    await page.keyboard.type('By keys');
    await press('Enter');
    await page.getByRole('article').getByText('By keys').waitFor();
    await assertSoon(
      () => page.evaluate(() => document.activeElement?.tagName),
      'TEXTAREA',
      'the composer keeps the focus',
    );
  });
});
