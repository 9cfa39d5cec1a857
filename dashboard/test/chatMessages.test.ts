import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { bearer, sharedSandbox } from '../../server/test/support/server.ts';
import { assertAccessible, assertNoSidewaysScroll, assertSoon, startDashboard } from './support/browser.ts';
import { FRIEND, openSandbox } from './support/sandbox.ts';

/** An image of one red pixel. */
const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==',
  'base64',
);

describe('messages of a chat', async () => {
  const dashboard = startDashboard({ env: sharedSandbox });

  it('shows the API key that created a message which has not been sent', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    const { sessionId, write } = await openSandbox(call);
    await write('Remind me');
    const { key } = (await call('POST', '/api-keys/create', { name: 'reminders', permissions: ['*'] })).body;
    const program = bearer(dashboard.server.url, key);
    const sendAt = new Date(Date.now() + 3_600_000).toISOString();
    for (const message of [
      { message: 'In an hour', sendAt },
      { message: 'Right away', sendAt: undefined },
    ])
      assert.equal((await program('POST', '/messages/send', { sessionId, to: FRIEND, ...message })).status, 201);
    await page.goto(`/chats?chat=${FRIEND}`);
    const waiting = page.getByRole('article').filter({ hasText: 'In an hour' });
    await waiting.getByText('Created by the API key “reminders”').waitFor();
    assert.equal(await page.getByText(/^Created by the API key/).count(), 1);
    await assertAccessible(page);
  });

  it('folds long texts, and breaks words of any length', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    const { simulate } = await openSandbox(call);
    const word = 'z'.repeat(65_000);
    for (let n = 0; n < 10; n++) await simulate({ action: 'incoming', from: FRIEND, message: `${word} the end` });
    await page.goto(`/chats?chat=${FRIEND}`);
    const last = page.getByRole('article').last();
    await last.getByText(/^z{3000}…$/).waitFor();
    const text = await page.locator('main').evaluate((main) => main.textContent?.length ?? 0);
    assert.ok(text < 40_000, `${text} characters are on the page`);
    await last.getByRole('button', { name: 'Show all 65,008 characters' }).click();
    await last.getByText(/the end$/).waitFor();
    await assertNoSidewaysScroll(page);
  });

  it('keeps the dialog of a message that scrolls out of view', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    const { sessionId, write } = await openSandbox(call);
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

  it('shows ticks as a message is sent, delivered and read', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    const { simulate, messages } = await openSandbox(call);
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
    const { simulate, write } = await openSandbox(call);
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
    const { write } = await openSandbox(call);
    for (let index = 0; index < 130; index++) await write(`Line ${index}`);
    // Without events, the newest page is refetched every four seconds.
    await page.addInitScript(() => Reflect.deleteProperty(globalThis, 'SharedWorker'));
    await page.route('**/api/v1/events/stream*', (route) => route.abort());
    let reads = 0;
    let turn = Promise.resolve();
    await page.route(
      (url) => url.pathname === '/api/v1/messages' && !url.searchParams.has('cursor'),
      (route) => {
        turn = turn.then(async () => {
          await write(`Read ${++reads}`);
          await route.fulfill({ response: await route.fetch() });
        });
      },
    );
    await page.goto(`/chats?chat=${FRIEND}`);
    const feed = page.getByRole('feed');
    await feed.getByRole('article').last().waitFor();
    while (reads < 10 && !(await feed.getByText('Line 0', { exact: true }).isVisible()))
      await feed.evaluate(async (element) => {
        element.scrollTo({ top: 0, behavior: 'instant' });
        await new Promise((resolve) => requestAnimationFrame(resolve));
      });
    assert.ok(reads < 10, `the newest page was fetched ${reads} times`);
  });

  it('sends and shows replies, reactions, edits and deletions', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    const { write, simulate, messages } = await openSandbox(call);
    await write('What time is it?');
    await page.goto(`/chats?chat=${FRIEND}`);
    const question = page.getByRole('article').filter({ hasText: 'What time is it?' }).first();
    const notice = page.getByRole('status').filter({ hasText: 'New message' });
    await question.waitFor();
    await assertSoon(() => notice.count(), 0, 'existing messages are not announced');
    await write('Hello?');
    await notice.waitFor();
    const first = await notice.locator('span').elementHandle();
    await write('Anybody?');
    await page.waitForFunction((element) => element?.isConnected === false, first);
    await notice.waitFor();
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
    const { messages } = await openSandbox(call);
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
    const { simulate } = await openSandbox(call);
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
    const { sessionId } = await openSandbox(call);
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
    const items = [
      { retailerId: 'sencha-100', section: 'Tea' },
      { retailerId: 'mocha-250', section: 'Coffee' },
    ];
    await send('interactive', { message: 'New in', header: 'Our drinks', products: { catalogId: '7', items } });
    await send('interactive', { product: { catalogId: '7', retailerId: 'green-cup' } });
    await send('interactive', { message: 'All of it', catalog: { retailerId: 'sencha-100' } });
    await send('template', { name: 'order_shipped', language: 'en' });
    await page.goto(`/chats?chat=${FRIEND}`);
    const choices = page.getByRole('list', { name: 'Choices' });
    await choices.getByText('Rather not').waitFor();
    await page.getByText('By tomorrow').waitFor();
    await choices.getByText('Small').waitFor();
    for (const text of ['Tea: sencha-100', 'Coffee: mocha-250', 'green-cup', 'View catalog'])
      await choices.getByText(text, { exact: true }).waitFor();
    await page.getByRole('article').getByText('order_shipped en').waitFor();
    await assertAccessible(page);
  });
});
