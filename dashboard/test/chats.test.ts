import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Call, connectSession, newNumber, sharedSandbox } from '../../server/test/support/server.ts';
import { assertAccessible, assertNoSidewaysScroll, assertSoon, PHONE, startDashboard } from './support/browser.ts';

const FRIEND = '491700000007';
/** An image of one red pixel. */
const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==',
  'base64',
);

/** Connects a session, and returns functions that play its other side. */
async function sandbox(call: Call) {
  const sessionId = await connectSession(call);
  return {
    sessionId,
    simulate: (action: object) => call('POST', `/sessions/${sessionId}/simulate`, action),
    write: (message: string, from = FRIEND) =>
      call('POST', `/sessions/${sessionId}/simulate`, { action: 'incoming', from, message }),
    messages: async (query = '') => (await call('GET', `/messages?sessionId=${sessionId}${query}`)).body.data,
  };
}

describe('chats page', async () => {
  const dashboard = await startDashboard({ env: sharedSandbox });

  it('keeps the composer in view on every screen', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    const { write } = await sandbox(call);
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
    const { write } = await sandbox(call);
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
    assert.equal(await box.inputValue(), '', 'the other side has drafts of its own');
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
    const { write } = await sandbox(call);
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

  it('fits files with long names on a phone', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test, { viewport: PHONE });
    await sandbox(call);
    const name = `${'quarterly_report_'.repeat(11)}.pdf`;
    await page.goto(`/chats?chat=${FRIEND}`);
    await page
      .locator('input[type=file]')
      .setInputFiles({ name, mimeType: 'application/pdf', buffer: Buffer.from('%PDF-1.4') });
    await page.getByText(/^Attached/).waitFor();
    await assertNoSidewaysScroll(page);
    const answer = Promise.withResolvers<void>();
    await page.route('**/api/v1/messages/send-media', async (route) => {
      await answer.promise;
      await route.continue();
    });
    await page.keyboard.press('Tab');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByText(/^Uploading quarterly/).waitFor();
    await assertNoSidewaysScroll(page);
    answer.resolve();
    await page
      .getByRole('article')
      .getByRole('button', { name: /^Download quarterly/ })
      .waitFor();
    await assertNoSidewaysScroll(page);
    const right = await page
      .getByRole('article')
      .last()
      .getByRole('button', { name: /^Download quarterly/ })
      .evaluate((button) => button.getBoundingClientRect().right);
    assert.ok(right > 0 && right <= PHONE.width, `it ends at ${right} px`);
  });

  it('asks for a session, then starts a chat', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    await page.goto('/chats');
    await page.getByText('No sessions yet').waitFor();
    await assertAccessible(page);
    const { messages } = await sandbox(call);
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

  it('keeps the draft while a message is sent, and restores one that failed', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    await sandbox(call);
    await page.goto(`/chats?chat=${FRIEND}`);
    const box = page.getByLabel('Message', { exact: true });
    let release = (_: 'continue' | 'abort') => {};
    const held = new Promise<'continue' | 'abort'>((resolve) => {
      release = resolve;
    });
    await page.route('**/api/v1/messages/send', async (route) =>
      (await held) === 'abort' ? route.abort() : route.continue(),
    );
    await box.fill('the first');
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => document.querySelector('textarea')?.value === '');
    await page.keyboard.type('the second');
    release('continue');
    await page.getByRole('article').getByText('the first').waitFor();
    await assertSoon(() => box.inputValue(), 'the second');

    await page.unroute('**/api/v1/messages/send');
    await page.route('**/api/v1/messages/send', (route) => route.abort());
    await page.keyboard.press('Enter');
    await page.getByText('The server cannot be reached').first().waitFor();
    await assertSoon(() => box.inputValue(), 'the second');
  });

  it('keeps the dialog of a message that scrolls out of view', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    const { sessionId, write } = await sandbox(call);
    await call('POST', '/messages/send', { sessionId, to: FRIEND, message: 'with a mistkae' });
    for (const [path, wrong] of [
      ['/chats', 'with a mistkae'],
      ['/simulator', '/chats 39'],
    ] as const) {
      await page.goto(`${path}?chat=${FRIEND}`);
      const row = page.locator('article', { hasText: wrong });
      await row.getByRole('button', { name: 'Message actions' }).click();
      await page.getByRole('menuitem', { name: 'Edit' }).click();
      const text = page.getByRole('dialog').getByLabel('Message');
      await text.fill('without a mistake');
      for (let index = 0; index < 40; index++) await write(`${path} ${index}`);
      await row.waitFor({ state: 'detached' });
      await assertSoon(() => text.inputValue(), 'without a mistake');
      await page.getByRole('button', { name: 'Save' }).click();
      await text.waitFor({ state: 'detached' });
    }
    const { data } = (await call('GET', `/messages?sessionId=${sessionId}&limit=100`)).body;
    assert.equal(data.filter(({ message }: { message: string }) => message === 'without a mistake').length, 2);
  });

  it('shows an unknown session as not found', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    const { sessionId } = await sandbox(call);
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

  it('shows ticks as a message is sent, delivered and read', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    const { simulate, messages } = await sandbox(call);
    await page.goto(`/chats?chat=${FRIEND}`);
    await page.getByLabel('Message', { exact: true }).fill('Is it there?');
    await page.getByRole('button', { name: 'Send' }).click();
    const article = page.getByRole('article');
    await article.getByText('Delivered').waitFor();
    const [{ messageId }] = await messages();
    await simulate({ action: 'receipt', messageId, status: 'read' });
    await article.getByText('Read', { exact: true }).waitFor();
    await assertAccessible(page);
    await article.getByRole('button', { name: 'Message actions' }).click();
    await page.getByRole('menuitem', { name: 'Details' }).click();
    const dialog = page.getByRole('dialog');
    for (const status of ['Sent', 'Delivered', 'Read']) await dialog.getByText(status, { exact: true }).waitFor();
    await assertAccessible(page);
  });

  it('never executes messages, names or file names', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    const { simulate, write } = await sandbox(call);
    const hostile = [
      '<script>globalThis.hacked = 1</script>',
      '<img src=x onerror="globalThis.hacked = 1">',
      '"><svg/onload=globalThis.hacked=1>',
      'javascript:globalThis.hacked=1',
      "{{constructor.constructor('globalThis.hacked=1')()}}",
    ];
    for (const text of hostile) await write(text);
    const media = await fetch(`${dashboard.server.url}/api/v1/media?fileName=${encodeURIComponent(hostile[1] ?? '')}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${(await call('POST', '/api-keys/create', { name: 'upload' })).body.key}`,
        'content-type': 'image/svg+xml',
      },
      body: '<svg xmlns="http://www.w3.org/2000/svg" onload="globalThis.hacked = 1"><script>globalThis.hacked = 1</script></svg>',
    });
    const { mediaId } = (await media.json()) as { mediaId: string };
    await simulate({
      action: 'incoming',
      from: FRIEND,
      senderName: hostile[1],
      mediaId,
      type: 'image',
      message: hostile[0],
    });
    await simulate({ action: 'group_create', from: FRIEND, subject: hostile[1], phoneNumbers: [] });
    for (const path of [`/chats?chat=${FRIEND}`, `/simulator?chat=${FRIEND}`]) {
      await page.goto(path);
      for (const text of hostile) await page.getByRole('article').getByText(text, { exact: true }).first().waitFor();
    }
    await page.goto('/groups');
    await page.getByRole('link', { name: hostile[1] ?? '' }).click();
    await page.getByRole('heading', { level: 1, name: hostile[1] ?? '' }).waitFor();
    await page.goto('/events?view=log&kind=message.incoming');
    await page.getByRole('button', { name: 'message.incoming' }).first().click();
    await page.getByText('globalThis.hacked').first().waitFor();
    assert.equal(await page.evaluate(() => 'hacked' in globalThis), false);
  });

  it('loads older messages while new ones keep arriving', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    const { write } = await sandbox(call);
    for (let index = 0; index < 130; index++) await write(`Line ${index}`);
    // Without events, the newest page is refetched only every four seconds.
    await page.route('**/api/v1/events/stream*', (route) => route.abort());
    let looks = 0;
    let turn = Promise.resolve();
    await page.route(
      (url) => url.pathname === '/api/v1/messages' && !url.searchParams.has('cursor'),
      (route) => {
        turn = turn.then(async () => {
          await write(`Look ${++looks}`);
          await route.fulfill({ response: await route.fetch() });
        });
      },
    );
    await page.goto(`/chats?chat=${FRIEND}`);
    const feed = page.getByRole('feed');
    await feed.getByRole('article').last().waitFor();
    while (looks < 10 && !(await feed.getByText('Line 0', { exact: true }).isVisible()))
      await feed.evaluate(async (element) => {
        element.scrollTo({ top: 0, behavior: 'instant' });
        await new Promise((resolve) => requestAnimationFrame(resolve));
      });
    assert.ok(looks < 10, `it looked ${looks} times`);
  });

  it('shows the result of a slow fetch while messages keep arriving', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    const { write } = await sandbox(call);
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
    const { write, simulate } = await sandbox(call);
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
    const { write } = await sandbox(call);
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
    assert.ok(asked.length < 5, `it asked for ${asked.join(', ')}`);
  });

  it('shows the newest messages for an invalid time in the address', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    const { write } = await sandbox(call);
    await write('Good morning');
    await page.goto(`/chats?chat=${FRIEND}&upTo=yesterday`);
    await page.getByRole('article').getByText('Good morning').waitFor();
    await page.getByLabel('Message', { exact: true }).waitFor();
  });

  it('reports typing until the message is sent or the chat is left', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    const { write } = await sandbox(call);
    await write('Are you there?');
    await page.goto(`/chats?chat=${FRIEND}`);
    const box = page.getByLabel('Message', { exact: true });
    const told = (state: string) =>
      page.waitForRequest((request) => request.postDataJSON()?.state === state && request.url().endsWith('/typing'));
    for (const leave of [() => box.press('Enter'), () => page.getByRole('link', { name: 'API keys' }).click()]) {
      await Promise.all([told('typing'), box.pressSequentially('Yes')]);
      await Promise.all([told('paused'), leave()]);
    }
  });

  it('sends and shows replies, reactions, edits and deletions', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    const { write, simulate, messages } = await sandbox(call);
    await write('What time is it?');
    await page.goto(`/chats?chat=${FRIEND}`);
    const question = page.getByRole('article').filter({ hasText: 'What time is it?' }).first();
    const told = page.getByRole('status').filter({ hasText: 'New message' });
    await question.waitFor();
    await assertSoon(() => told.count(), 0, 'what was there before is not new');
    await write('Hello?');
    await told.waitFor();
    const first = await told.locator('span').elementHandle();
    await write('Anybody?');
    await page.waitForFunction((element) => element?.isConnected === false, first);
    await told.waitFor();
    await question.getByRole('button', { name: 'Message actions' }).click();
    await page.getByRole('menuitem', { name: 'React with 👍' }).click();
    await question.getByText('👍 by', { exact: false }).waitFor();
    await question.getByRole('button', { name: 'Message actions' }).click();
    await page.getByRole('menuitem', { name: 'Reply' }).click();
    await page.getByText('Replying to: What time is it?').waitFor();
    await page.getByLabel('Message', { exact: true }).fill('Half past');
    await page.keyboard.press('Enter');
    const answer = page.getByRole('article', { name: 'You' }).filter({ hasText: 'Half past' });
    await answer.getByText('What time is it?').waitFor();
    const [sent, , , asked] = await messages();
    assert.equal(sent.replyTo, asked.messageId);

    await answer.getByRole('button', { name: 'Message actions' }).click();
    await page.getByRole('menuitem', { name: 'Edit' }).click();
    await page.getByRole('dialog').getByLabel('Message').fill('Half past ten');
    await page.getByRole('button', { name: 'Save' }).click();
    const edited = page.getByRole('article').filter({ hasText: 'Half past ten' });
    await edited.getByText('edited').waitFor();
    await simulate({ action: 'react', messageId: sent.messageId, from: FRIEND, emoji: '🙏' });
    await edited.getByText(`🙏 by +${FRIEND}`).waitFor();
    await edited.getByRole('button', { name: 'Message actions' }).click();
    await page.getByRole('menuitem', { name: 'Delete for everyone' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Delete for everyone' }).click();
    await page.getByRole('article').getByText('This message was deleted').waitFor();
    await page.getByText('Half past ten').waitFor({ state: 'detached' });
  });

  it('sends and shows images', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    const { messages } = await sandbox(call);
    await page.goto(`/chats?chat=${FRIEND}`);
    await page.locator('input[type=file]').setInputFiles({ name: 'red.png', mimeType: 'image/png', buffer: PIXEL });
    await page.getByText('Attached: red.png').waitFor();
    await page.getByLabel('Message', { exact: true }).fill('Look');
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.route('**/api/v1/media**', async (route) => {
      if (route.request().method() === 'POST') await held;
      return route.continue();
    });
    await page.keyboard.press('Enter');
    await page.getByRole('status').filter({ hasText: 'Uploading red.png…' }).waitFor();
    release();
    const picture = page.getByRole('img', { name: 'Image red.png' });
    await picture.waitFor();
    await page.waitForFunction(() => document.querySelector('article img')?.matches('[src^="blob:"]'));
    assert.equal(await picture.evaluate((image: HTMLImageElement) => image.decode().then(() => image.naturalWidth)), 1);
    const [sent] = await messages();
    assert.deepEqual([sent.type, sent.message, sent.media.mimeType], ['image', 'Look', 'image/png']);
    await assertAccessible(page);
  });

  it('shows and sends polls, locations and contacts', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    const { simulate } = await sandbox(call);
    const incoming = (more: object) => simulate({ action: 'incoming', from: FRIEND, ...more });
    await incoming({ message: 'Lunch?', poll: { options: ['Soup', 'Bread'], maxSelections: 1 } });
    await incoming({ location: { latitude: 52.5, longitude: 13.4, name: 'The office' } });
    await incoming({ contact: { name: 'Ada', phoneNumbers: ['491700000008'] } });
    await page.goto(`/chats?chat=${FRIEND}`);
    await page.getByRole('list', { name: 'Poll' }).getByText('Soup').waitFor();
    await page.getByText('The office').waitFor();
    await page.getByText('Ada').waitFor();
    await assertAccessible(page);

    await page.getByRole('button', { name: 'Attach' }).click();
    await page.getByRole('menuitem', { name: 'Poll' }).click();
    await page.getByLabel('Question').fill('Where?');
    await page.getByLabel('Options').fill('Here\nThere');
    await page.getByRole('dialog').getByRole('button', { name: 'Send' }).click();
    const article = page.getByRole('article').filter({ hasText: 'Where?' });
    await article.getByText('There').waitFor();
    await article.getByRole('button', { name: 'Message actions' }).click();
    await page.getByRole('menuitem', { name: 'Forward' }).click();
    await page.getByLabel('Phone number').fill('491700000099');
    await page.getByRole('button', { name: 'Forward' }).click();
    await page.getByText('Message forwarded').first().waitFor();
    const [forwarded] = (await call('GET', '/messages?chatId=491700000099')).body.data;
    assert.deepEqual([forwarded.forwarded, forwarded.poll.options], [true, ['Here', 'There']]);
  });

  it('shows choices, lists and templates', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    const { sessionId } = await sandbox(call);
    const send = async (kind: string, more: object) => {
      const { status, body } = await call('POST', `/messages/send-${kind}`, { sessionId, to: FRIEND, ...more });
      assert.equal(status, 201, JSON.stringify(body));
    };
    await send('interactive', {
      message: 'Shall we?',
      footer: 'By tomorrow',
      buttons: [
        { id: 'y', title: 'Gladly' },
        { id: 'n', title: 'Rather not' },
      ],
    });
    await send('interactive', {
      message: 'What size?',
      list: { title: 'Sizes', rows: [{ id: 's', title: 'Small' }] },
    });
    await send('template', { name: 'order_shipped', language: 'en' });
    await page.goto(`/chats?chat=${FRIEND}`);
    const choices = page.getByRole('list', { name: 'Choices' });
    await choices.getByText('Rather not').waitFor();
    await page.getByText('By tomorrow').waitFor();
    await choices.getByText('Small').waitFor();
    await page.getByRole('article').getByText('order_shipped en').waitFor();
    await assertAccessible(page);
  });

  it('blocks and unblocks a contact', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    const { write, sessionId } = await sandbox(call);
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
    const { write, sessionId } = await sandbox(call);
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
    const { write } = await sandbox(call);
    await write('the harbor is closed');
    for (let index = 0; index < 5; index++) await write(`later ${index}`);
    await page.goto('/chats');
    await page.getByLabel('Search messages').fill('harb');
    await page.getByRole('list', { name: 'Search results' }).getByRole('button').click();
    await page.getByText('You are reading up to a search result.').waitFor();
    await page.getByRole('article').getByText('the harbor is closed').waitFor();
    await assertSoon(() => page.getByRole('article').count(), 1);
    await page.getByRole('button', { name: 'Go to newest' }).click();
    await page.getByRole('article').getByText('later 4').waitFor();
    await page.getByLabel('Search messages').fill('nowhere');
    await page.getByText('No messages contain all of these words').waitFor();
  });

  it('is accessible and fits on a phone', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test, { viewport: PHONE, locale: 'de-DE' });
    const { write } = await sandbox(call);
    await write('a long word: ' + 'x'.repeat(200));
    await page.goto('/chats');
    await page.getByRole('list', { name: 'Chats' }).getByRole('button').click();
    const day = await page.getByRole('article').locator('time').first().innerText();
    assert.match(day, /^[A-Z][a-z]{2} \d+, \d{4}$/, 'English, as the page is');
    await page.getByLabel('Message', { exact: true }).fill('y'.repeat(500));
    await assertNoSidewaysScroll(page);
    await assertAccessible(page);
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
      'a session of somebody else cannot be chosen, not even by its id',
    );
  });
});
