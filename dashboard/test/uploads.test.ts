import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { picture } from '../../server/test/support/media/media.ts';
import { connectSession } from '../../server/test/support/server.ts';
import { assertAccessible, assertSoon, assertUsable, PHONE, startDashboard } from './support/browser.ts';

const FRIEND = '491700000051';
const MAX_BYTES = 4_000_000;

function fileOf(name: string, size: number) {
  return { name, mimeType: 'application/octet-stream', buffer: Buffer.alloc(size, 'x') };
}

/** Counts the uploads from now on. */
function countUploads(page: Page): () => number {
  let count = 0;
  page.on('request', (request) => {
    if (request.method() === 'POST' && new URL(request.url()).pathname === '/api/v1/media') count++;
  });
  return () => count;
}

/** Returns a function that limits the upload speed in bytes per second (0 for no limit), and delays responses. */
async function throttleOf(page: Page): Promise<(uploadThroughput: number, latency?: number) => Promise<unknown>> {
  const devtools = await page.context().newCDPSession(page);
  return (uploadThroughput, latency = 0) =>
    devtools.send('Network.emulateNetworkConditions', {
      offline: false,
      latency,
      downloadThroughput: -1,
      uploadThroughput: uploadThroughput || -1,
    });
}

describe('file upload', async () => {
  const dashboard = startDashboard({ env: { MEDIA_MAX_BYTES: String(MAX_BYTES) } });

  it('shows its progress, and can be cancelled and retried', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test, { viewport: PHONE });
    const sessionId = await connectSession(call);
    const messages = async () => (await call('GET', `/messages?sessionId=${sessionId}`)).body.data;
    await page.goto(`/chats?chat=${FRIEND}`);
    await page.locator('input[type=file]').setInputFiles(fileOf('film.bin', 3_000_000));
    const box = page.getByLabel('Message', { exact: true });
    await box.fill('From the garden');
    const throttle = await throttleOf(page);
    await throttle(200_000);
    await page.keyboard.press('Enter');

    const bar = page.getByRole('progressbar', { name: 'Progress of film.bin' });
    await page.getByRole('status').filter({ hasText: 'Uploading film.bin…' }).waitFor();
    const percent = async () => Number(await bar.getAttribute('aria-valuenow'));
    await assertSoon(async () => (await percent()) > 0, true);
    const before = await percent();
    await assertSoon(async () => (await percent()) > before, true, `the progress stays at ${before} %`);
    await assertUsable(page);

    await page.getByRole('button', { name: 'Cancel upload of film.bin' }).click();
    await bar.waitFor({ state: 'detached' });
    await page.getByText('Attached: film.bin').waitFor();
    assert.equal(await box.inputValue(), 'From the garden');
    assert.equal(await page.getByRole('alert').count(), 0);
    assert.ok(await box.evaluate((element) => element === document.activeElement));
    assert.deepEqual(await messages(), []);

    await throttle(0);
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Download film.bin' }).waitFor();
    const [sent] = await messages();
    assert.deepEqual([sent.message, sent.media.size], ['From the garden', 3_000_000]);
    await bar.waitFor({ state: 'detached' });
  });

  it('shows that the server stores the file once all of it is sent', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    await connectSession(call);
    await page.goto(`/chats?chat=${FRIEND}`);
    const throttle = await throttleOf(page);
    await page.locator('input[type=file]').setInputFiles(fileOf('film.bin', 1000));
    await page.getByText('Attached: film.bin').waitFor();
    await throttle(0, 2000);
    await page.getByLabel('Message', { exact: true }).press('Enter');
    await page.getByRole('status').filter({ hasText: 'Storing film.bin…' }).waitFor();
    assert.equal(await page.getByRole('progressbar').getAttribute('aria-valuenow'), null);
    await throttle(0);
    await page.getByRole('button', { name: 'Download film.bin' }).waitFor();
  });

  it('rejects a file that is too large before sending it', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    const sessionId = await connectSession(call);
    const uploads = countUploads(page);
    await page.goto(`/chats?chat=${FRIEND}`);
    const refusal = 'film.bin is 4.1 MB, but this server accepts at most 4.0 MB. Choose a smaller file.';
    const choose = () => page.locator('input[type=file]').setInputFiles(fileOf('film.bin', MAX_BYTES + 100_000));
    // Repeated until the page knows the limit.
    const chooseAndLook = async () => {
      await choose();
      return page.getByRole('alert').getByText(refusal).count();
    };
    await assertSoon(chooseAndLook, 1);
    const attached = page.getByText('Attached: film.bin');
    if ((await attached.count()) > 0) await page.getByRole('button', { name: 'Remove attachment' }).click();
    await choose();
    assert.equal(await attached.count(), 0);
    await assertAccessible(page);
    await page.locator('input[type=file]').setInputFiles(fileOf('note.bin', MAX_BYTES));
    await page.getByText('Attached: note.bin').waitFor();
    assert.equal(await page.getByRole('alert').count(), 0);

    const { body } = await call('POST', '/groups', { sessionId, subject: 'Film club', phoneNumbers: [FRIEND] });
    // Without a reload: the page already knows the limit.
    await page.getByRole('link', { name: 'Groups', exact: true }).click();
    await page.getByRole('link', { name: body.subject }).click();
    await page.getByRole('button', { name: 'Choose picture' }).waitFor();
    await choose();
    await page.getByText(refusal, { exact: true }).waitFor();
    assert.equal(uploads(), 0);
  });

  it('leaves the size check to the server when the limit is unknown', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    await connectSession(call);
    await page.route('**/api/v1/connectors', (route) => route.fulfill({ status: 403, body: '' }));
    await page.goto(`/chats?chat=${FRIEND}`);
    await page.locator('input[type=file]').setInputFiles(fileOf('film.bin', MAX_BYTES + 100_000));
    await page.getByText('Attached: film.bin').waitFor();
    await page.getByLabel('Message', { exact: true }).press('Enter');
    await page.getByRole('alert').getByText(`The file is larger than the limit of ${MAX_BYTES} bytes`).waitFor();
    await page.getByText('Attached: film.bin').waitFor();
  });

  it('shows the progress of a group picture, and keeps the old one when cancelled', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    const sessionId = await connectSession(call);
    const { body } = await call('POST', '/groups', { sessionId, subject: 'Film club', phoneNumbers: [FRIEND] });
    await page.goto(`/groups/${body.groupId}`);
    await page.getByRole('button', { name: 'Choose picture' }).waitFor();
    const throttle = await throttleOf(page);
    await throttle(200_000);
    // Bytes after the end of an image are ignored, and only add to its size.
    const poster = Buffer.concat([picture(), Buffer.alloc(2_000_000)]);
    const choose = () =>
      page.locator('input[type=file]').setInputFiles({ name: 'poster.png', mimeType: 'image/png', buffer: poster });
    await choose();
    const bar = page.getByRole('progressbar', { name: 'Progress of poster.png' });
    await assertSoon(async () => Number(await bar.getAttribute('aria-valuenow')) > 0, true);
    await assertAccessible(page);
    await page.getByRole('button', { name: 'Cancel upload of poster.png' }).click();
    await bar.waitFor({ state: 'detached' });
    assert.equal((await call('GET', `/groups/${body.groupId}`)).body.pictureMediaId, null);
    await throttle(0);
    await choose();
    await page.getByText('Picture changed', { exact: true }).waitFor();
  });
});
