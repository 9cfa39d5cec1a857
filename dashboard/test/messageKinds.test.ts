import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { sampleMedia } from '../../server/test/support/media/sampleMedia.ts';
import { sharedSandbox } from '../../server/test/support/server.ts';
import { assertAccessible, assertNoSidewaysScroll, PHONE, startDashboard } from './support/browser.ts';
import { FRIEND, openSandbox } from './support/sandbox.ts';

describe('kinds of messages in a chat', async () => {
  const dashboard = startDashboard({ env: sharedSandbox });

  it('are legible on a phone', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test, { viewport: PHONE });
    const { simulate } = await openSandbox(call);
    const incoming = (fields: object) => simulate({ action: 'incoming', from: FRIEND, ...fields });
    const place = { name: 'x'.repeat(200) };
    await incoming({ message: 'Team lunch', event: { startsAt: '2030-07-01T12:00:00Z', location: place } });
    await incoming({ product: { title: 'Green tea', price: 4.5, currency: 'EUR', url: `https://${'y'.repeat(200)}` } });
    await incoming({ order: { items: [{ retailerId: 'tea', quantity: 2, price: 4.5, currency: 'EUR' }], total: 9 } });
    await incoming({ groupInvite: { networkGroupId: '1@g.us', code: 'Abc', subject: 'Tea lovers' } });
    await incoming({ message: 'Yes', choice: { kind: 'button', id: 'yes' } });
    await incoming({
      message: 'Is it fresh?',
      referral: { adId: '1202', headline: 'Tea of the month', url: 'https://fb.me/tea' },
    });
    await incoming({ message: 'for the tea', rawType: 'requestPaymentMessage' });
    await page.goto(`/chats?chat=${FRIEND}`);
    const messages = page.getByRole('article');
    for (const text of [
      'Team lunch',
      'EUR\u00a04.50',
      '2 × tea, EUR\u00a04.50 each',
      'Total 9',
      'Tea lovers',
      'Pressed a button',
      'Tea of the month',
      'Came from an ad: 1202',
    ])
      await messages.getByText(text).first().waitFor();
    await messages.getByText('Unknown kind: requestPaymentMessage').waitFor();
    await assertNoSidewaysScroll(page);
    await assertAccessible(page);
  });

  it('show the names of mentioned people', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    const { sessionId, simulate } = await openSandbox(call);
    await simulate({ action: 'incoming', from: FRIEND, senderName: 'Ada', message: 'Hello' });
    const message = `Tea, @${FRIEND}? Call @491709999999`;
    const sent = await call('POST', '/messages/send', { sessionId, to: FRIEND, message, mentions: [FRIEND] });
    assert.equal(sent.status, 201, JSON.stringify(sent.body));
    await page.goto(`/chats?chat=${FRIEND}`);
    await page.getByRole('article').getByText('Tea, @Ada? Call @491709999999', { exact: true }).waitFor();
    await page.getByRole('list', { name: 'Chats' }).getByText('Tea, @Ada? Call @491709999999').waitFor();
  });

  it('say what a sound or video is before it loads, with its waveform or thumbnail', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test, { viewport: PHONE });
    const { sessionId, simulate } = await openSandbox(call);
    const send = (type: string, file: Parameters<typeof sampleMedia>[0]) =>
      call('POST', '/messages/send-media', {
        sessionId,
        to: FRIEND,
        type,
        content: sampleMedia(file).toString('base64'),
      });
    assert.equal((await send('voice', 'tone.m4a')).status, 201);
    const video = await send('video', 'clip.mp4');
    assert.equal(video.status, 201);
    const { mediaId } = video.body.media;
    for (const kind of ['gif', 'videoNote'])
      await simulate({ action: 'incoming', from: FRIEND, type: 'video', mediaId, [kind]: true });
    await page.goto(`/chats?chat=${FRIEND}`);
    const messages = page.getByRole('article');
    await messages.nth(0).getByText('Voice message · 0:02').waitFor();
    await messages.nth(0).locator('svg path[d^="M2 "]').waitFor();
    await messages.nth(1).getByText('Video · 0:02').waitFor();
    await page.waitForFunction(() => [...document.images].some(({ naturalWidth }) => naturalWidth > 0));
    await messages.nth(2).getByText('GIF').waitFor();
    await messages.nth(3).getByText('Video note').waitFor();
    await assertNoSidewaysScroll(page);
    await assertAccessible(page);
    await messages
      .nth(1)
      .getByRole('button', { name: /^Load, / })
      .click();
    await messages.nth(1).locator('video[controls]').waitFor();
    await messages
      .nth(2)
      .getByRole('button', { name: /^Load, / })
      .click();
    await messages.nth(2).locator('video[loop]:not([controls])').waitFor();
    await assertNoSidewaysScroll(page);
  });

  it('fetch a file of the history', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    const { sessionId, simulate } = await openSandbox(call);
    const content = sampleMedia('sticker.webp').toString('base64');
    const sent = await call('POST', '/messages/send-media', {
      sessionId,
      to: '491700000066',
      type: 'document',
      content,
    });
    const { mediaId } = sent.body.media;
    const timestamp = new Date(Date.now() - 86_400_000).toISOString();
    const message = { id: 'old-1', with: FRIEND, message: 'The contract', timestamp, mediaId };
    assert.equal((await simulate({ action: 'history', history: { messages: [message] } })).status, 200);
    await page.goto(`/chats?chat=${FRIEND}`);
    await page.getByRole('article').getByText('The contract').waitFor();
    await assertAccessible(page);
    await page.getByRole('button', { name: /^Fetch / }).click();
    await page.getByRole('article').getByRole('button', { name: 'Download File' }).waitFor();
    assert.equal(await page.getByRole('button', { name: /^Fetch / }).count(), 0);
  });

  it('name a deleted file without asking for it', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    const { sessionId } = await openSandbox(call);
    const content = sampleMedia('clip.mp4').toString('base64');
    const { body } = await call('POST', '/messages/send-media', { sessionId, to: FRIEND, type: 'document', content });
    assert.equal((await call('DELETE', `/media/${body.media.mediaId}`)).status, 200);
    const asked: string[] = [];
    page.on('request', (request) => request.url().includes('/media/') && asked.push(request.url()));
    for (const path of ['/chats', '/simulator']) {
      await page.goto(`${path}?chat=${FRIEND}`);
      await page.getByRole('article').getByText('This file was deleted').waitFor();
    }
    assert.deepEqual(asked, []);
    await assertAccessible(page);
  });
});
