import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { type Call, connectSession } from '../../server/test/support/server.ts';
import { assertSoon, logIn, startDashboard, waitForPage } from './support/browser.ts';

/** Twice as many as the connections that browsers open to a server over HTTP/1.1. */
const TABS = 12;

const write = (call: Call, sessionId: string, message: string) =>
  call('POST', `/sessions/${sessionId}/simulate`, { action: 'incoming', from: '491700000031', message });

/** Opens the live events in a new tab. */
async function openEvents(page: Page): Promise<Page> {
  await page.goto('/events');
  await isLive(page);
  return page;
}

async function isLive(page: Page): Promise<void> {
  await page.getByRole('status').filter({ hasText: 'Live' }).waitFor();
}

const row = (page: Page, text: string) => page.getByRole('row').filter({ hasText: text });

/** Asserts that the page shows an event exactly once. */
const assertShown = (page: Page, text: string) =>
  assertSoon(() => row(page, text).count(), 1, `"${text}" is shown once`);

async function setFrozen(page: Page, isFrozen: boolean): Promise<void> {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('Page.setWebLifecycleState', { state: isFrozen ? 'frozen' : 'active' });
}

/** Ends the worker that pages share, as a browser does that runs out of memory. */
async function endWorkers(page: Page): Promise<void> {
  const browser = page.context().browser();
  assert.ok(browser);
  const devtools = await browser.newBrowserCDPSession();
  const { targetInfos } = await devtools.send('Target.getTargets');
  const workers = targetInfos.filter(({ type }) => type === 'shared_worker');
  assert.ok(workers.length > 0, 'pages share a worker');
  for (const { targetId } of workers) await devtools.send('Target.closeTarget', { targetId });
}

describe('many tabs', async () => {
  const dashboard = startDashboard();

  it(`shares one event stream between ${TABS} tabs over HTTP/1.1, and survives the end of any of them`, async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    const sessionId = await connectSession(call);
    const tabs = [await openEvents(page)];
    while (tabs.length < TABS) tabs.push(await openEvents(await page.context().newPage()));
    await write(call, sessionId, 'To all tabs');
    for (const tab of tabs) await assertShown(tab, 'To all tabs');

    // Each tab can still send requests.
    for (const tab of tabs.slice(1)) {
      await tab.getByRole('link', { name: 'API keys' }).click();
      await waitForPage(tab, 'API keys');
    }
    for (const tab of tabs.splice(0, TABS / 2)) await tab.close();
    for (const tab of tabs) {
      await tab.getByRole('link', { name: 'Events', exact: true }).click();
      await isLive(tab);
    }
    await write(call, sessionId, 'To the tabs that are left');
    for (const tab of tabs) await assertShown(tab, 'To the tabs that are left');
  });

  it('shows what happened while the tab was frozen', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    const sessionId = await connectSession(call);
    await openEvents(page);
    const second = await openEvents(await page.context().newPage());
    await write(call, sessionId, 'Before');
    for (const tab of [page, second]) await assertShown(tab, 'Before');
    await setFrozen(page, true);
    await write(call, sessionId, 'While frozen');
    await assertShown(second, 'While frozen');
    await setFrozen(page, false);
    for (const text of ['Before', 'While frozen']) await assertShown(page, text);
  });

  it('resumes at its last event when the shared worker has ended', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    const sessionId = await connectSession(call);
    await page.clock.install();
    await openEvents(page);
    await write(call, sessionId, 'Before the end');
    await assertShown(page, 'Before the end');
    await endWorkers(page);
    await write(call, sessionId, 'Nobody listens');
    await page.clock.fastForward(60_000);
    await write(call, sessionId, 'After the end');
    for (const text of ['Before the end', 'Nobody listens', 'After the end']) await assertShown(page, text);
    await isLive(page);
  });

  it('catches up with a worker that other tabs kept running', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    const sessionId = await connectSession(call);
    await openEvents(page);
    await openEvents(await page.context().newPage());
    await write(call, sessionId, 'Seen');
    await assertShown(page, 'Seen');
    // The back/forward cache keeps a page in this way.
    await page.evaluate(() => dispatchEvent(new PageTransitionEvent('pagehide', { persisted: true })));
    for (let index = 0; index < 250; index++) await write(call, sessionId, `Missed ${index}.`);
    await page.evaluate(() => dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true })));
    await write(call, sessionId, 'After the return');
    await assertShown(page, 'After the return');
    const { body } = await call('GET', '/events?events=message.incoming&limit=200');
    assert.equal(body.data.length, 200, 'the log has more than one page');
    await page.getByLabel('Event type').selectOption('message.incoming');
    // The header, what was seen, what was missed, and what followed.
    await assertSoon(async () => Number(await page.getByRole('table').getAttribute('aria-rowcount')), 1 + 252);
  });

  it('follows a login and a logout in another tab', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    const sessionId = await connectSession(call);
    const other = await dashboard.server.account();
    const otherSession = await connectSession(other.call);
    await openEvents(page);
    const second = await page.context().newPage();
    await second.goto('/');
    await second.getByRole('button', { name: /^Account menu/ }).click();
    await second.getByRole('menuitem', { name: 'Log out' }).click();
    await page.waitForURL('**/login?next=*');
    await logIn(second, other.email);
    await waitForPage(page, 'Events');
    await isLive(page);
    await write(call, sessionId, 'For the first account');
    await write(other.call, otherSession, 'For the second account');
    await assertShown(page, 'For the second account');
    await assertSoon(() => row(page, 'For the first account').count(), 0);
  });

  it('keeps drafts, unsent messages and half-filled forms when the same account logs in again', async (test) => {
    const { page, call, email } = await dashboard.openLoggedIn(test);
    const sessionId = await connectSession(call);
    const box = page.getByLabel('Message', { exact: true });
    await page.goto('/chats?chat=491700000031');
    await box.fill('Half a thought');
    const form = await page.context().newPage();
    await form.goto('/keys');
    await form.getByRole('button', { name: 'Create key' }).first().click();
    await form.getByRole('dialog').getByLabel('Name').fill('Half a key');
    // This tab sends no request between the end of the login and the next one.
    await form.route('**/api/v1/**', (route) => route.abort());
    const events = await openEvents(await page.context().newPage());

    await page.context().clearCookies();
    const loginForm = page.getByRole('dialog', { name: 'Log in again' });
    await loginForm.waitFor();
    await logIn(await page.context().newPage(), email);
    await loginForm.waitFor({ state: 'detached' });
    assert.equal(await box.inputValue(), 'Half a thought');
    await form.unroute('**/api/v1/**');
    await form.getByRole('dialog').getByRole('button', { name: 'Create key' }).click();
    await form.getByRole('dialog').getByRole('status', { name: 'API key' }).waitFor();
    await write(call, sessionId, 'After the login');
    await assertShown(events, 'After the login');
  });

  it('works without shared workers, in the tab that is shown', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    await page.addInitScript(() => Reflect.deleteProperty(globalThis, 'SharedWorker'));
    const sessionId = await connectSession(call);
    await openEvents(page);
    await write(call, sessionId, 'Before');
    await assertShown(page, 'Before');
    const setHidden = (isHidden: boolean) =>
      page.evaluate((hidden) => {
        Object.defineProperty(document, 'visibilityState', {
          value: hidden ? 'hidden' : 'visible',
          configurable: true,
        });
        document.dispatchEvent(new Event('visibilitychange'));
      }, isHidden);
    await setHidden(true);
    await write(call, sessionId, 'While hidden');
    await setHidden(false);
    await write(call, sessionId, 'Afterwards');
    for (const text of ['Before', 'While hidden', 'Afterwards']) await assertShown(page, text);
  });
});
