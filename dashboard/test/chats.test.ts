import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { connectSession, newNumber, sharedSandbox } from '../../server/test/support/server.ts';
import {
  assertAccessible,
  assertNoSidewaysScroll,
  assertSoon,
  assertUsable,
  PHONE,
  startDashboard,
} from './support/browser.ts';
import { FRIEND, openSandbox } from './support/sandbox.ts';

describe('chats page', async () => {
  const dashboard = startDashboard({ env: sharedSandbox });

  it('keeps the composer in view on every screen', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    const { write } = await openSandbox(call);
    for (let line = 0; line < 30; line++) await write(`Line ${line}`);
    for (const viewport of [PHONE, { width: 844, height: 390 }, { width: 1280, height: 640 }]) {
      await page.setViewportSize(viewport);
      for (const path of ['/chats', '/simulator']) {
        await page.goto(`${path}?chat=${FRIEND}`);
        await page.getByRole('article').getByText('Line 29').waitFor();
        const box = await page.getByRole('button', { name: 'Send' }).boundingBox();
        assert.ok(box !== null, `${path} shows no Send`);
        const { y, height } = box;
        assert.ok(y >= 0 && y + height <= viewport.height, `${path} has it at ${y} to ${y + height} px`);
      }
    }
  });

  it('keeps a draft per chat until it is sent or the login ends', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    const { write } = await openSandbox(call);
    await write('Hello');
    const box = page.getByLabel('Message', { exact: true });
    const drafts = () =>
      page.evaluate(() => Object.keys(sessionStorage).filter((key) => key.startsWith('draft:')).length);
    await page.goto(`/chats?chat=${FRIEND}`);
    await box.fill('Half a thought');
    await page.goto('/chats?chat=491700000008');
    assert.equal(await box.inputValue(), '');
    await box.fill('Something else');
    await page.getByRole('list', { name: 'Chats' }).getByRole('button').click();
    await assertSoon(() => box.inputValue(), 'Half a thought');
    await page.goto(`/simulator?chat=${FRIEND}`);
    assert.equal(await box.inputValue(), '', 'the simulator has separate drafts');
    await page.goto(`/chats?chat=${FRIEND}`);
    await box.press('Enter');
    await page.getByRole('article').getByText('Half a thought').waitFor();
    await page.reload();
    await page.getByRole('article').getByText('Half a thought').waitFor();
    assert.equal(await box.inputValue(), '');
    assert.equal(await drafts(), 1);
    await page.getByRole('button', { name: /^Account menu/ }).click();
    await page.getByRole('menuitem', { name: 'Log out' }).click();
    await page.getByLabel('Email').waitFor();
    assert.equal(await drafts(), 0);
  });

  it('opens any chat by its link and scrolls the list to it', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    const { write } = await openSandbox(call);
    const numberOf = (index: number) => `4917000${String(10_000 + index)}`;
    for (let index = 0; index < 130; index++) await write(`From ${index}`, numberOf(index));
    await page.goto(`/chats?chat=${numberOf(60)}`);
    const chosen = page.getByRole('list', { name: 'Chats' }).locator('[aria-current]');
    await chosen.getByText('From 60').waitFor();
    await assertSoon(() => chosen.evaluate((row) => row.getBoundingClientRect().bottom <= innerHeight), true);
    // Beyond the first page of the list.
    await page.goto(`/chats?chat=${numberOf(0)}`);
    await page.getByRole('article').getByText('From 0').waitFor();
    await page.getByRole('button', { name: 'Mark as read' }).click();
    await page.getByRole('button', { name: 'Mark as read' }).waitFor({ state: 'detached' });
  });

  it('asks for a session, then starts a chat', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    await page.goto('/chats');
    await page.getByText('No sessions yet').waitFor();
    await assertAccessible(page);
    const { messages } = await openSandbox(call);
    await page.reload();
    await page.getByText('No chats yet').waitFor();
    await assertAccessible(page);
    await page.getByRole('button', { name: 'New chat' }).first().click();
    await page.getByLabel('Phone number').fill('+49 170 0000007');
    await page.getByRole('button', { name: 'Open chat' }).click();
    await page.getByText('No messages yet. Write the first one below.').waitFor();
    await page.getByLabel('Message', { exact: true }).fill('Good morning');
    await page.keyboard.press('Shift+Enter');
    await page.keyboard.type('and well met');
    await page.keyboard.press('Enter');
    await page.getByRole('article').getByText('Good morning').waitFor();
    await assertSoon(() => page.getByLabel('Message', { exact: true }).inputValue(), '');
    const [sent] = await messages();
    assert.deepEqual([sent.to, sent.message], [FRIEND, 'Good morning\nand well met']);
  });

  it('shows an unknown session as not found', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    const { sessionId } = await openSandbox(call);
    for (const path of ['chats', 'simulator', 'groups']) {
      await page.goto(`/${path}?session=ses_gone&chat=${FRIEND}`);
      await page.getByText('Session not found').waitFor();
      await assertSoon(() => page.getByLabel('Message', { exact: true }).count(), 0);
      await assertAccessible(page);
      await page.getByLabel('Session').selectOption(sessionId);
      await page.waitForURL((url) => url.searchParams.get('session') === sessionId);
      await page.getByText('Session not found').waitFor({ state: 'detached' });
    }
  });

  it('shows the result of a slow fetch while messages keep arriving', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    const { write } = await openSandbox(call);
    await write('Line 0');
    // Each fetch of the chats lasts until events have refetched the messages twice.
    let written = 0;
    const slow: (() => void)[] = [];
    await page.route(
      (url) => url.pathname === '/api/v1/chats',
      async (route) => {
        const begun = written;
        while (written < begun + 2) await new Promise<void>((resolve) => slow.push(resolve));
        await route.continue();
      },
    );
    page.on('response', async (response) => {
      if (new URL(response.url()).pathname !== '/api/v1/messages') return;
      await write(`Line ${++written}`);
      for (const resume of slow.splice(0)) resume();
    });
    await page.goto(`/chats?chat=${FRIEND}`);
    await page
      .getByRole('list', { name: 'Chats' })
      .getByText(/^Line [5-9]$/)
      .waitFor();
    await page.unrouteAll({ behavior: 'ignoreErrors' });
  });

  it('names a new sender immediately, and reads names only then', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    const { write, simulate } = await openSandbox(call);
    await write('Line 1');
    await page.goto(`/chats?chat=${FRIEND}`);
    const list = page.getByRole('list', { name: 'Chats' });
    await list.getByText('Line 1').waitFor();
    await simulate({ action: 'incoming', from: '491700000008', senderName: 'Nora', message: 'Hello' });
    await list.getByText('Nora').waitFor();
    let reads = 0;
    page.on('request', (request) => {
      if (/\/(contacts|groups)\?.*limit=200/.test(request.url())) reads++;
    });
    for (const text of ['Line 2', 'Line 3']) {
      await write(text);
      await list.getByText(text).waitFor();
    }
    assert.equal(reads, 0);
  });

  it('searches when the reader pauses, not on every letter', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    const { write } = await openSandbox(call);
    await write('The invoice of November');
    await page.goto('/chats');
    const asked: (string | null)[] = [];
    page.on('request', (request) => {
      const url = new URL(request.url());
      if (url.searchParams.has('q')) asked.push(url.searchParams.get('q'));
    });
    await page.getByLabel('Search messages').pressSequentially('the invoice of');
    await page.getByRole('list', { name: 'Search results' }).getByText('The invoice of November').waitFor();
    assert.equal(asked.at(-1), 'the invoice of');
    assert.ok(asked.length < 5, `it searched for ${asked.join(', ')}`);
  });

  it('shows the newest messages for an invalid time in the address', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    const { write } = await openSandbox(call);
    await write('Good morning');
    await page.goto(`/chats?chat=${FRIEND}&upTo=yesterday`);
    await page.getByRole('article').getByText('Good morning').waitFor();
    await page.getByLabel('Message', { exact: true }).waitFor();
  });

  it('marks a chat as unread, shows its labels, clears it and deletes it', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    const { write, sessionId } = await openSandbox(call);
    await write('Remember me');
    await write('Something else', '491700000008');
    const { labelId } = (await call('POST', '/labels', { sessionId, name: 'Customer' })).body;
    await call('PUT', `/chats/${FRIEND}/labels/${labelId}`, { sessionId });
    await page.goto(`/chats?chat=${FRIEND}`);
    await page.getByRole('list', { name: 'Labels' }).getByText('Customer').waitFor();
    await page.getByRole('button', { name: 'Mark as read' }).click();
    const choose = async (name: string) => {
      await page.getByRole('button', { name: 'Chat actions', exact: true }).click();
      await page.getByRole('menuitem', { name }).click();
    };
    const list = page.getByRole('list', { name: 'Chats' });
    await page.getByRole('button', { name: 'Mark as read' }).waitFor({ state: 'detached' });
    await choose('Mark as unread');
    await list.getByRole('img', { name: 'marked as unread' }).waitFor();
    await assertAccessible(page);
    await choose('Clear messages');
    await page.getByRole('button', { name: 'Clear messages' }).click();
    // The messages are hidden behind the dialog.
    await page.getByRole('alertdialog').waitFor({ state: 'detached' });
    await page.getByRole('article').getByText('Remember me').waitFor({ state: 'detached' });
    await choose('Delete chat');
    await page.getByRole('button', { name: 'Delete chat' }).click();
    await page.getByText('Select a chat to read it.').waitFor();
    await assertSoon(() => list.getByRole('button').count(), 1);
  });

  it('shows addresses in the metadata as links, and nothing else of it', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    const { write, sessionId } = await openSandbox(call);
    await write('Hello');
    const metadata = { chatwoot: 'https://chat.example.com/app/1', script: 'javascript:alert(1)', note: 'VIP' };
    assert.equal((await call('PATCH', `/chats/${FRIEND}`, { sessionId, metadata })).status, 200);
    await page.goto(`/chats?chat=${FRIEND}`);
    const links = page.getByRole('list', { name: 'Links' }).getByRole('link');
    await assertSoon(async () => (await links.allTextContents()).join(), 'chatwoot');
    assert.equal(await links.first().getAttribute('href'), metadata.chatwoot);
    await assertAccessible(page);
  });

  it('stars, pins and deletes a message for the session', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    const { write, messages } = await openSandbox(call);
    await write('Keep this');
    await page.goto(`/chats?chat=${FRIEND}`);
    const bubble = page.getByRole('article').filter({ hasText: 'Keep this' });
    const choose = async (name: string) => {
      await bubble.hover();
      await bubble.getByRole('button', { name: 'Message actions' }).click();
      await page.getByRole('menuitem', { name, exact: true }).click();
    };
    await choose('Star');
    await bubble.getByRole('img', { name: 'starred' }).waitFor();
    await choose('Pin for a week');
    await bubble.getByRole('img', { name: 'pinned' }).waitFor();
    await choose('Unpin');
    await bubble.getByRole('img', { name: 'pinned' }).waitFor({ state: 'detached' });
    await choose('Delete for me');
    await page.getByRole('button', { name: 'Delete for me' }).click();
    // The messages are hidden behind the dialog.
    await page.getByRole('alertdialog').waitFor({ state: 'detached' });
    await bubble.waitFor({ state: 'detached' });
    assert.deepEqual(await messages(), []);
  });

  it('blocks and unblocks a contact', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    const { write, sessionId } = await openSandbox(call);
    await write('Buy my things');
    await page.goto(`/chats?chat=${FRIEND}`);
    await page.getByRole('button', { name: 'Chat actions', exact: true }).click();
    await page.getByRole('menuitem', { name: 'Block' }).click();
    await page.getByText('This contact is blocked').waitFor();
    await assertAccessible(page);
    const { body } = await call('GET', `/contacts?sessionId=${sessionId}&blocked=true`);
    assert.equal(body.data[0].phoneNumber, FRIEND);
    await page.getByRole('button', { name: 'Chat actions', exact: true }).click();
    await page.getByRole('menuitem', { name: 'Unblock' }).click();
    await page.getByText('This contact is blocked').waitFor({ state: 'detached' });
  });

  it('marks chats as read, pins and archives them', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    const { write, sessionId } = await openSandbox(call);
    await write('one');
    await write('two');
    await page.goto('/chats');
    await page.getByText('2 unread messages').waitFor();
    await page.getByRole('list', { name: 'Chats' }).getByRole('button').first().click();
    await page.getByRole('button', { name: 'Mark as read' }).click();
    await page.getByText('2 unread messages').waitFor({ state: 'detached' });
    for (const [name, shown] of [
      ['Pin', 'pinned'],
      ['Archive', 'archived'],
    ] as const) {
      await page.getByRole('button', { name: 'Chat actions', exact: true }).click();
      await page.getByRole('menuitem', { name }).click();
      const list = page.getByRole('list', { name: 'Chats' });
      await (shown === 'pinned' ? list.getByRole('img', { name: shown }) : list.getByText(shown)).waitFor();
    }
    const [chat] = (await call('GET', `/chats?sessionId=${sessionId}`)).body.data;
    assert.deepEqual([chat.pinned, chat.archived, chat.unreadCount], [true, true, 0]);
  });

  it('searches messages and opens a result', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    const { write } = await openSandbox(call);
    await write('the harbor is closed');
    for (let index = 0; index < 5; index++) await write(`later ${index}`);
    await page.goto('/chats');
    await page.getByLabel('Search messages').fill('harb');
    await page.getByRole('list', { name: 'Search results' }).getByRole('button').click();
    await page.getByText('Showing messages up to the search result.').waitFor();
    await page.getByRole('article').getByText('the harbor is closed').waitFor();
    await assertSoon(() => page.getByRole('article').count(), 1);
    await page.getByRole('button', { name: 'Go to newest' }).click();
    await page.getByRole('article').getByText('later 4').waitFor();
    await page.getByLabel('Search messages').fill('nowhere');
    await page.getByText('No messages contain all of these words').waitFor();
  });

  it('is accessible and fits on a phone', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test, { viewport: PHONE, locale: 'de-DE' });
    const { write } = await openSandbox(call);
    await write('a long word: ' + 'x'.repeat(200));
    await page.goto('/chats');
    await page.getByRole('list', { name: 'Chats' }).getByRole('button').click();
    const day = await page.getByRole('article').locator('time').first().innerText();
    assert.match(day, /^[A-Z][a-z]{2} \d+, \d{4}$/, 'dates are in English');
    await page.getByLabel('Message', { exact: true }).fill('y'.repeat(500));
    await assertUsable(page);
    await page.getByRole('button', { name: 'Back to chats' }).click();
    await page.getByRole('list', { name: 'Chats' }).waitFor();
    await assertNoSidewaysScroll(page);
  });

  it('separates two accounts that write to each other', async (test) => {
    const [mine, theirs] = [await dashboard.openLoggedIn(test), await dashboard.openLoggedIn(test)];
    const [myNumber, theirNumber] = [newNumber(), newNumber()];
    await connectSession(mine.call, myNumber);
    await connectSession(theirs.call, theirNumber);
    await mine.page.goto(`/chats?chat=${theirNumber}`);
    await mine.page.getByLabel('Message', { exact: true }).fill('For you alone');
    await mine.page.keyboard.press('Enter');
    await mine.page.getByRole('article').getByText('Delivered').waitFor();
    await theirs.page.goto('/chats');
    await theirs.page.getByRole('list', { name: 'Chats' }).getByText(`+${myNumber}`).click();
    await theirs.page.getByRole('article').getByText('For you alone').waitFor();
    await theirs.page.getByRole('button', { name: 'Mark as read' }).click();
    await mine.page.getByRole('article').getByText('Read', { exact: true }).waitFor();

    const { sessionId } = (await theirs.call('GET', '/sessions')).body.data[0];
    await mine.page.goto(`/chats?session=${sessionId}&chat=${myNumber}`);
    await mine.page.getByText('Session not found').waitFor();
    assert.deepEqual(
      await mine.page.getByLabel('Session').locator('option').allInnerTexts(),
      ['Select a session', `+${myNumber}`],
      'a session of another account cannot be selected, not even by its id',
    );
  });
});
