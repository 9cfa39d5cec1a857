import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { sharedSandbox } from '../../server/test/support/server.ts';
import { assertAccessible, assertNoSidewaysScroll, assertSoon, PHONE, startDashboard } from './support/browser.ts';
import { FRIEND, openSandbox } from './support/sandbox.ts';

describe('the composer of a chat', async () => {
  const dashboard = startDashboard({ env: sharedSandbox });

  it('fits files with long names on a phone', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test, { viewport: PHONE });
    await openSandbox(call);
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

  it('keeps the draft while a message is sent, and restores one that failed', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    await openSandbox(call);
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

  it('sends messages in order that are submitted while another one is being sent', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    const { messages } = await openSandbox(call);
    await page.goto(`/chats?chat=${FRIEND}`);
    const box = page.getByLabel('Message', { exact: true });
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.route('**/api/v1/messages/send', async (route) => {
      await held;
      return route.continue();
    });
    for (const text of ['one', 'two', 'three']) {
      await box.fill(text);
      await page.keyboard.press('Enter');
      await assertSoon(() => box.inputValue(), '', `Enter sends "${text}"`);
    }
    await page.getByRole('status').filter({ hasText: 'Sending 3 messages.' }).waitFor();
    // The chat can be left in the meantime.
    await page.getByRole('link', { name: 'API keys' }).click();
    release();
    await assertSoon(async () => (await messages()).length, 3);
    assert.deepEqual(
      (await messages()).map(({ message }: { message: string }) => message),
      ['three', 'two', 'one'],
      'newest first',
    );
    // The server has the last message before the page knows.
    const unsent = () => page.evaluate(() => Object.keys(sessionStorage).filter((key) => key.startsWith('unsent:')));
    await assertSoon(async () => (await unsent()).length, 0);
    await page.goto(`/chats?chat=${FRIEND}`);
    await page.getByRole('article').getByText('three').waitFor();
    assert.equal(await page.getByText(/^Not sent/).count(), 0);
  });

  it('lists a message that failed while the next one is being written, and sends it once', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    const { messages, write } = await openSandbox(call);
    await write('Hello');
    await page.goto(`/chats?chat=${FRIEND}`);
    const box = page.getByLabel('Message', { exact: true });
    await page.getByRole('article').getByRole('button', { name: 'Message actions' }).click();
    await page.getByRole('menuitem', { name: 'Reply' }).click();
    let fail = () => {};
    const failed = new Promise<void>((resolve) => {
      fail = resolve;
    });
    // The server sends the messages, but its responses are lost.
    await page.route('**/api/v1/messages/send', async (route) => {
      await failed;
      await route.fetch();
      return route.abort();
    });
    await box.fill('the first');
    await page.keyboard.press('Enter');
    await page.keyboard.type('the second');
    fail();
    const unsent = page.getByRole('list', { name: 'Unsent messages' });
    await unsent.getByText('Not sent: the first').waitFor();
    assert.equal(await box.inputValue(), 'the second', 'the texts do not merge');
    await assertAccessible(page);
    assert.ok(await unsent.getByRole('button', { name: 'Edit' }).isDisabled(), 'the composer is not empty');
    await page.reload();
    await unsent.getByText('Not sent: the first').waitFor();
    assert.equal(await box.inputValue(), 'the second');

    await page.unroute('**/api/v1/messages/send');
    await unsent.getByRole('button', { name: 'Send again' }).click();
    await unsent.waitFor({ state: 'detached' });
    await box.press('Enter');
    await page.getByRole('article').getByText('the second').waitFor();
    const sent = await messages();
    assert.deepEqual(
      sent.map(({ message, replyTo }: { message: string; replyTo?: string | null }) => [
        message,
        (replyTo ?? null) !== null,
      ]),
      [
        ['the second', false],
        ['the first', true],
        ['Hello', false],
      ],
    );
  });

  it('brings a failed message back into an empty composer, and edits or discards unsent ones', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    const { messages } = await openSandbox(call);
    await page.goto(`/chats?chat=${FRIEND}`);
    const box = page.getByLabel('Message', { exact: true });
    let fail = () => {};
    const failed = new Promise<void>((resolve) => {
      fail = resolve;
    });
    await page.route('**/api/v1/messages/send', async (route) => {
      await failed;
      return route.fulfill({ status: 422, json: { code: 'invalid', detail: 'This cannot be sent', status: 422 } });
    });
    for (const text of ['first', 'second', 'third']) {
      await box.fill(text);
      await page.keyboard.press('Enter');
      await assertSoon(() => box.inputValue(), '');
    }
    fail();
    const unsent = page.getByRole('list', { name: 'Unsent messages' });
    await assertSoon(() => unsent.getByRole('listitem').count(), 2);
    await page.getByText('This cannot be sent').waitFor();
    await assertSoon(() => box.inputValue(), 'first');
    await box.fill('');
    await unsent.getByRole('button', { name: 'Edit' }).first().click();
    await assertSoon(() => box.inputValue(), 'second');
    await unsent.getByRole('button', { name: 'Discard message' }).click();
    await unsent.waitFor({ state: 'detached' });
    await page.unroute('**/api/v1/messages/send');
    await box.press('Enter');
    await page.getByRole('article').getByText('second').waitFor();
    assert.deepEqual((await messages()).length, 1);
  });

  it('lists messages that fail after the chat was left and opened again, with their files', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    const { messages, simulate } = await openSandbox(call);
    const other = '491700000099';
    for (const from of [FRIEND, other]) await simulate({ action: 'incoming', from, message: `from ${from}` });
    await page.goto(`/chats?chat=${FRIEND}`);
    const box = page.getByLabel('Message', { exact: true });
    const { promise: failed, resolve: fail } = Promise.withResolvers<void>();
    await page.route('**/api/v1/m*/**', async (route) => {
      if (route.request().method() !== 'POST') return route.continue();
      await failed;
      return route.abort();
    });
    await box.fill('a text');
    await page.keyboard.press('Enter');
    await page
      .locator('input[type=file]')
      .setInputFiles({ name: 'plan.pdf', mimeType: 'application/pdf', buffer: Buffer.from('%PDF-1.4') });
    await page.getByText(/^Attached/).waitFor();
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await page.getByText(`from ${other}`).first().click();
    await page.getByRole('article').getByText(`from ${other}`).waitFor();
    await page.getByText(`from ${FRIEND}`).first().click();
    await page.getByRole('article').getByText(`from ${FRIEND}`).waitFor();
    fail();
    const unsent = page.getByRole('list', { name: 'Unsent messages' });
    await assertSoon(() => unsent.getByRole('listitem').count(), 2);
    assert.equal(await box.inputValue(), '');
    await page.unroute('**/api/v1/m*/**');
    for (const left of [1, 0]) {
      await unsent.getByRole('button', { name: 'Send again' }).first().click();
      await assertSoon(() => unsent.getByRole('listitem').count(), left);
    }
    await assertSoon(
      async () =>
        (await messages())
          .map(({ type }: { type: string }) => type)
          .toSorted()
          .join(),
      'document,text,text,text',
    );
  });

  it('reports typing until the message is sent or the chat is left', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    const { write } = await openSandbox(call);
    await write('Are you there?');
    await page.goto(`/chats?chat=${FRIEND}`);
    const box = page.getByLabel('Message', { exact: true });
    const typingSent = (state: string) =>
      page.waitForRequest((request) => request.postDataJSON()?.state === state && request.url().endsWith('/typing'));
    for (const leave of [() => box.press('Enter'), () => page.getByRole('link', { name: 'API keys' }).click()]) {
      await Promise.all([typingSent('typing'), box.pressSequentially('Yes')]);
      await Promise.all([typingSent('paused'), leave()]);
    }
  });
});
