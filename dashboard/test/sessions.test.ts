import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { connectSession } from '../../server/test/support/server.ts';
import { assertAccessible, assertSoon, assertUsable, PHONE, SERVER_ERROR, startDashboard } from './support/browser.ts';

describe('sessions pages', async () => {
  const dashboard = startDashboard({ env: { PUBLIC_URL: 'https://gateway.example.com' } });

  it('show every step of connecting, even without an event', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    const { body } = await call('POST', '/sessions', { name: 'New phone', options: { pairing: true } });
    await page.goto('/sessions');
    const row = page.getByRole('row').filter({ hasText: 'New phone' });
    await row.getByText('Not connected yet').waitFor();
    await call('POST', `/sessions/${body.sessionId}/connect`);
    await row.getByText('Awaiting pairing').waitFor();
  });

  it('show why there is no QR code, then the code, even if the clock is wrong', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    const { sessionId } = (await call('POST', '/sessions', { options: { pairing: true } })).body;
    await call('POST', `/sessions/${sessionId}/connect`);
    await page.route('**/qr', (route) => route.fulfill(SERVER_ERROR));
    await page.goto(`/sessions/${sessionId}`);
    await page.getByRole('alert').getByText('The database is on fire').waitFor();
    // With a clock that is behind, the code seems to be valid for a day.
    let asked = 0;
    await page.unroute('**/qr');
    await page.route('**/qr', async (route) => {
      const response = await route.fetch();
      const expiresAt = new Date(Date.now() + 86_400_000).toISOString();
      asked++;
      await route.fulfill({ response, json: { ...(await response.json()), expiresAt } });
    });
    await page.getByRole('img', { name: 'Pairing QR code' }).waitFor();
    const before = asked;
    await page.waitForResponse('**/qr');
    assert.ok(asked > before);
  });

  it('create the first session, which connects on the sandbox', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    await page.goto('/sessions');
    await page.getByText('No sessions yet').waitFor();
    await assertAccessible(page);
    await page.getByRole('button', { name: 'Create session' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('Support');
    await dialog.getByLabel('Phone number').fill('+49 170 555-0101');
    await assertAccessible(page);
    await dialog.getByRole('button', { name: 'Create and connect' }).click();
    await page.getByRole('heading', { level: 1, name: 'Support, +491705550101' }).waitFor();
    await page.getByRole('status').getByText('Connected', { exact: true }).waitFor();
    await assertAccessible(page);
    const { data } = (await call('GET', '/sessions')).body;
    assert.deepEqual(
      data.map(({ name, phoneNumber, status }: Record<string, string>) => [name, phoneNumber, status]),
      [['Support', '491705550101', 'connected']],
    );
    await page.getByRole('link', { name: 'All sessions' }).click();
    const table = page.getByRole('table', { name: 'Sessions' });
    await table.getByText('Connected', { exact: true }).waitFor();
    await assertUsable(page);
  });

  it('create a session on any network from its schema, and never show secrets again', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    await page.goto('/sessions');
    await page.getByRole('button', { name: 'Create session' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Network').selectOption('WhatsApp (linked device)');
    await dialog.getByLabel('New chats per day').waitFor();
    await dialog.getByLabel('Network').selectOption('WhatsApp Cloud API');
    await assertAccessible(page);
    await dialog.getByLabel('Phone number id').fill('a word');
    await dialog.getByLabel('Token', { exact: true }).fill('EAAtoken');
    await dialog.getByLabel('App secret').fill('of the app');
    await dialog.getByLabel('Verify token').fill('long enough');
    await dialog.getByLabel('Messages per second').fill('20');
    await assertSoon(() => dialog.getByLabel('App secret').getAttribute('type'), 'password');
    await assertSoon(() => dialog.getByLabel('Messages per second').getAttribute('max'), '1000');
    const submit = dialog.getByRole('button', { name: 'Create and connect' });
    await submit.click();
    await dialog.locator('input[aria-invalid=true]').waitFor();
    await assertSoon(() => dialog.locator('input[aria-invalid=true]').inputValue(), 'a word');
    await assertAccessible(page);
    assert.equal((await call('GET', '/sessions')).body.data.length, 0);
    // Tests do not call Meta: connecting fails, and the session is created anyway.
    await page.route('**/connect', (route) => route.fulfill(SERVER_ERROR));
    await dialog.getByLabel('Phone number id').fill('1234567890');
    await submit.click();
    await page.getByText('The database is on fire').first().waitFor();
    await page.getByText(/^https:\/\/gateway\.example\.com\/.*ses_/).waitFor();
    const [session] = (await call('GET', '/sessions')).body.data;
    assert.deepEqual(session.options, { phoneNumberId: '1234567890', messagesPerSecond: 20 });
    await assertSoon(() => page.getByLabel('Messages per second').inputValue(), '20');
    await assertSoon(() => page.getByLabel('App secret').inputValue(), '');
    await page.getByLabel('Messages per second').fill('40');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved').first().waitFor();
    const again = (await call('GET', `/sessions/${session.sessionId}`)).body;
    assert.deepEqual(again.options, { phoneNumberId: '1234567890', messagesPerSecond: 40 });
  });

  it('pair by a QR code that is renewed when it expires', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    await page.goto('/sessions');
    await page.getByRole('button', { name: 'Create session' }).click();
    await page.getByRole('dialog').getByLabel('Pairing').selectOption('Yes');
    await page.getByRole('dialog').getByRole('button', { name: 'Create and connect' }).click();
    const qr = page.getByRole('img', { name: 'Pairing QR code' });
    await qr.waitFor();
    await page.getByText(/^New code in \d+ s$/).waitFor();
    await assertUsable(page);
    const sessionId = new URL(page.url()).pathname.split('/').at(-1);
    const drawn = () => qr.locator('path').getAttribute('d');
    const [first, { body }] = [await drawn(), await call('GET', `/sessions/${sessionId}/qr`)];
    // The sandbox shows each code for 20 s.
    await page.waitForFunction(
      (before) => document.querySelector('svg[role=img] path')?.getAttribute('d') !== before,
      first,
      { timeout: 30_000 },
    );
    assert.notEqual((await call('GET', `/sessions/${sessionId}/qr`)).body.qr, body.qr);
    await call('POST', `/sessions/${sessionId}/simulate`, { action: 'pair' });
    await page.getByRole('status').getByText('Connected', { exact: true }).waitFor();
    await assertSoon(() => qr.count(), 0);
  });

  it('draw a valid QR code', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    const { sessionId } = (await call('POST', '/sessions', { options: { pairing: true } })).body;
    await call('POST', `/sessions/${sessionId}/connect`);
    await page.goto(`/sessions/${sessionId}`);
    const qr = page.getByRole('img', { name: 'Pairing QR code' });
    await qr.waitFor();
    const side = Number((await qr.getAttribute('viewBox'))?.split(' ')[2]) - 8;
    assert.equal((side - 17) % 4, 0, `a code has 17 cells and four for each version: ${side}`);
    // Three of the corners have a dark ring of seven by seven cells.
    const cells = new Set(
      [...((await qr.locator('path').getAttribute('d')) ?? '').matchAll(/M(\d+ \d+)h/g)].map(([, at]) => at),
    );
    const ring = (left: number, top: number) =>
      [0, 1, 2, 3, 4, 5, 6].every((step) => cells.has(`${left + step} ${top}`));
    assert.deepEqual(
      [ring(0, 0), ring(side - 7, 0), ring(0, side - 7), ring(side - 7, side - 7)],
      [true, true, true, false],
    );
  });

  it('pair by a pairing code', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test, { viewport: PHONE });
    const { sessionId } = (await call('POST', '/sessions', { options: { pairing: true } })).body;
    await call('POST', `/sessions/${sessionId}/connect`);
    await page.goto(`/sessions/${sessionId}`);
    await page.getByLabel('Number of the phone').fill('12');
    await page.getByRole('button', { name: 'Get code' }).click();
    await page.locator('input[aria-invalid=true]').waitFor();
    await page.getByLabel('Number of the phone').fill('+49 170 5550102');
    await page.getByRole('button', { name: 'Get code' }).click();
    const code = page.getByRole('region', { name: 'Pairing code' });
    assert.match(await code.locator('output').innerText(), /^[0-9A-Z-]{8,9}$/);
    await code.getByText(/^Valid for \d+ min$/).waitFor();
    await assertUsable(page);
  });

  it('restart and disconnect a session, and log out and delete it after a confirmation', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    const sessionId = await connectSession(call, '491705550103', { name: 'Till' });
    await page.goto(`/sessions/${sessionId}`);
    await page.getByRole('button', { name: 'Restart' }).click();
    await page.getByText('Session restarted').first().waitFor();
    await page.getByRole('button', { name: 'Disconnect' }).click();
    await page.getByRole('status').getByText('Disconnected', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Connect', exact: true }).click();
    await page.getByRole('status').getByText('Connected', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Log out' }).click();
    const question = page.getByRole('alertdialog');
    await assertAccessible(page);
    await question.getByRole('button', { name: 'Cancel' }).click();
    assert.equal((await call('GET', `/sessions/${sessionId}`)).body.status, 'connected');
    await page.getByRole('button', { name: 'Log out' }).click();
    await question.getByRole('button', { name: 'Log out' }).click();
    await page.getByRole('status').getByText('Logged out', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Delete session' }).click();
    await question.getByRole('button', { name: 'Delete session' }).click();
    await page.waitForURL('**/sessions');
    await page.getByText('No sessions yet').waitFor();
    assert.equal((await call('GET', `/sessions/${sessionId}`)).status, 404);
    await page.goto(`/sessions/${sessionId}`);
    await page.getByText('Session not found').waitFor();
    await assertAccessible(page);
  });

  it('show status changes live with their reasons', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test, { viewport: PHONE });
    const sessionId = await connectSession(call);
    await page.goto(`/sessions/${sessionId}`);
    const history = page.getByRole('table', { name: 'Status changes' });
    await history.getByText('Connected', { exact: true }).waitFor();
    await call('POST', `/sessions/${sessionId}/simulate`, {
      action: 'disconnect',
      reason: '<b>The mast fell</b>',
      reconnectAfterMs: 600_000,
    });
    await page.getByText('Connecting', { exact: true }).first().waitFor();
    await history.getByText('<b>The mast fell</b>').waitFor();
    await page.getByText('<b>The mast fell</b>').first().waitFor();
    assert.deepEqual(
      await history
        .getByRole('row')
        .nth(1)
        .innerText()
        .then((text) => text.includes('Connecting')),
      true,
    );
    await assertUsable(page);
  });

  it('change an option that has fields of its own', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test, { viewport: PHONE });
    const sessionId = await connectSession(call, undefined, { options: { calls: { message: 'Write, please' } } });
    await page.goto(`/sessions/${sessionId}`);
    const calls = page.getByRole('group', { name: 'Calls' });
    await assertSoon(() => calls.getByLabel('Message').inputValue(), 'Write, please');
    await calls.getByLabel('Auto reject').selectOption('Yes');
    await assertUsable(page);
    await calls.getByLabel('Message').fill('x'.repeat(1001));
    await page.getByRole('button', { name: 'Save' }).click();
    await calls.getByRole('alert').waitFor();
    await calls.getByLabel('Message').fill('');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved').first().waitFor();
    const { body } = await call('GET', `/sessions/${sessionId}`);
    assert.deepEqual(body.options, { calls: { autoReject: true } });
    await page.getByText('warmUp', { exact: true }).waitFor(); // code, without its backticks
  });

  it('show what is counted of the messages that a session sends', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test, { viewport: PHONE });
    const sessionId = await connectSession(call);
    await call('POST', '/messages/send', { sessionId, to: '491700000077', message: 'Hello' });
    const standing = { action: 'standing', newChats: { used: 3, total: 40 } };
    await call('POST', `/sessions/${sessionId}/simulate`, standing);
    await page.goto(`/sessions/${sessionId}`);
    const sending = page.getByRole('region', { name: 'Sending' });
    await sending.getByText('Low').waitFor();
    await sending.getByText('3 of 40 new chats used').waitFor();
    await sending.getByText('1 in the last hour, 1 in 24 hours').waitFor();
    await assertUsable(page);
  });

  it('show names without controls, in their place', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    const sessionId = await connectSession(call, '491705550199', { name: 'live \u202e name\u0007' });
    await connectSession(call, '491705550198', { name: 'متجر' });
    await page.goto('/sessions');
    await page.getByRole('link', { name: 'live name', exact: true }).waitFor();
    await page.getByRole('link', { name: '\u2068متجر\u2069', exact: true }).waitFor();
    await page.goto(`/sessions/${sessionId}`);
    await page.getByRole('heading', { level: 1, name: 'live name, +491705550199' }).waitFor();
  });

  it('show the callback URL below the id on a phone', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test, { viewport: PHONE });
    const options = { phoneNumberId: '1', token: 'EAAtoken', appSecret: 'of the app', verifyToken: 'long enough' };
    const { body } = await call('POST', '/sessions', { connector: 'whatsapp-cloud', options });
    await page.goto(`/sessions/${body.sessionId}`);
    const fact = (text: string) => page.getByRole('definition').getByText(text, { exact: true });
    // In one step, because the page moves while its other parts load.
    const isAbove = async () =>
      fact(body.sessionId).evaluate(
        (id, url) => url !== null && id.getBoundingClientRect().bottom <= url.getBoundingClientRect().top,
        await fact(body.callbackUrl).elementHandle(),
      );
    await assertSoon(isAbove, true, 'they overlap');
    await assertUsable(page);
  });

  it('create a session and go back by keyboard', async (test) => {
    const { page } = await dashboard.openLoggedIn(test);
    await page.goto('/sessions');
    await page.getByRole('button', { name: 'Create session' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').getByLabel('Network').waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.type('By keys');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: /^By keys, \+\d+$/ }).waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.getByRole('table', { name: 'Sessions' }).getByRole('link', { name: 'By keys' }).waitFor();
  });
});
