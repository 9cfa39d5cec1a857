import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { connectSession, eventOf } from '../../server/test/support/server.ts';
import { assertAccessible, assertUsable, PHONE, startDashboard } from './support/browser.ts';

const FRIEND = '491700000009';

describe('phone simulator', async () => {
  const dashboard = startDashboard();

  it('asks for a sandbox session', async (test) => {
    const { page } = await dashboard.openLoggedIn(test);
    await page.goto('/simulator');
    await page.getByText('No sandbox sessions yet').waitFor();
    await assertAccessible(page);
  });

  it('shows why read receipts failed, and retries', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    const sessionId = await connectSession(call);
    for (const message of ['One', 'Two']) await call('POST', '/messages/send', { sessionId, to: FRIEND, message });
    await page.goto(`/simulator?chat=${FRIEND}`);
    await page.route('**/simulate', (route) => route.abort());
    await page.getByRole('button', { name: 'Read 2 messages' }).click();
    await page.getByText('The server cannot be reached').first().waitFor();
    await page.unroute('**/simulate');
    await page.getByRole('button', { name: 'Read 2 messages' }).click();
    for (const text of ['One', 'Two'])
      await page.getByRole('article').filter({ hasText: text }).getByText('Read', { exact: true }).waitFor();
  });

  it('writes to a session, reads its messages and reacts', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    const sessionId = await connectSession(call);
    await page.goto('/simulator');
    await page.getByText('No contacts yet').waitFor();
    await assertAccessible(page);
    await page.getByRole('button', { name: 'Write as a new number' }).first().click();
    await page.getByLabel('Phone number').fill(`+${FRIEND}`);
    await page.getByRole('button', { name: 'Open chat' }).click();
    await page.getByRole('heading', { name: `Phone of +${FRIEND}` }).waitFor();
    await page.getByLabel('Message', { exact: true }).fill('Hello, is this the shop?');
    await page.keyboard.press('Enter');
    await page.getByRole('article').getByText('Hello, is this the shop?').waitFor();
    assert.equal((await eventOf(call, 'message.incoming')).message, 'Hello, is this the shop?');

    const sent = (await call('POST', '/messages/send', { sessionId, to: FRIEND, message: 'It is' })).body;
    const answer = page.getByRole('article').filter({ hasText: 'It is' });
    await page.getByRole('button', { name: 'Read 1 message' }).click();
    await answer.getByText('Read', { exact: true }).waitFor();
    assert.equal((await eventOf(call, 'message.read')).messageId, sent.messageId);
    await answer.getByRole('button', { name: 'Message actions' }).click();
    await page.getByRole('menuitem', { name: 'React with ❤️' }).click();
    await answer.getByText(`❤️ by +${FRIEND}`).waitFor();
    await assertAccessible(page);

    const own = page.getByRole('article').filter({ hasText: 'is this the shop?' });
    await own.getByRole('button', { name: 'Message actions' }).click();
    await page.getByRole('menuitem', { name: 'Edit' }).click();
    await page.getByRole('dialog').getByLabel('Message').fill('Hello, is this the flower shop?');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('edited').waitFor();
    const { body } = await call('GET', `/messages?sessionId=${sessionId}&direction=incoming`);
    assert.equal(body.data[0].message, 'Hello, is this the flower shop?');
  });

  it('creates a group and writes in it as any member', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    await connectSession(call);
    await page.goto('/simulator');
    await page.getByRole('button', { name: 'Create group' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Group name').fill('Neighbors');
    await dialog.getByLabel('Created by').fill(FRIEND);
    await dialog.getByLabel('Other members').fill('491700000010, 491700000011');
    await assertAccessible(page);
    await dialog.getByRole('button', { name: 'Create group' }).click();
    await page.getByRole('list', { name: 'Chats' }).getByRole('button', { name: 'Neighbors' }).click();
    await page.getByRole('combobox', { name: 'Write as' }).selectOption('491700000011');
    await page.getByLabel('Message', { exact: true }).fill('Who has a ladder?');
    await page.keyboard.press('Enter');
    await page.getByRole('article').getByText('Who has a ladder?').waitFor();
    const incoming = await eventOf(call, 'message.incoming');
    assert.equal(incoming.from, '491700000011');
    assert.match(incoming.groupId, /^grp_/);
    await assertAccessible(page);
    await page.getByRole('button', { name: 'Group actions', exact: true }).click();
    await page.getByRole('menuitem', { name: 'Rename group' }).click();
    await page.getByRole('dialog').getByLabel('Group name').fill('Good neighbors');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: 'Good neighbors' }).waitFor();
    assert.equal((await eventOf(call, 'group.updated')).subject, 'Good neighbors');
  });

  it('sends polls, locations and contacts, and votes', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    const sessionId = await connectSession(call);
    await page.goto(`/simulator?chat=${FRIEND}`);
    const begin = async (name: string) => {
      await page.getByRole('button', { name: 'Attach' }).click();
      await page.getByRole('menuitem', { name }).click();
    };
    const send = () => page.getByRole('dialog').getByRole('button', { name: 'Send' }).click();
    await begin('Location');
    await page.getByLabel('Latitude').fill('52.52');
    await page.getByLabel('Longitude').fill('13.4');
    await page.getByLabel('Place name').fill('The market');
    await assertAccessible(page);
    await send();
    await page.getByText('The market').waitFor();
    await begin('Contact');
    await page.getByRole('dialog').getByLabel('Name').fill('Ada');
    await page.getByLabel('Phone number').fill('+49 170 0000012');
    await send();
    await page.getByRole('article').getByText('Ada').waitFor();

    const poll = { sessionId, to: FRIEND, question: 'When?', options: ['Monday', 'Friday'] };
    await call('POST', '/messages/send-poll', poll);
    const asked = page.getByRole('article').filter({ hasText: 'When?' });
    await asked.getByRole('button', { name: 'Message actions' }).click();
    await page.getByRole('menuitem', { name: 'Vote for Friday' }).click();
    await asked.getByText('1 vote').waitFor();
    const { body } = await call('GET', `/messages?sessionId=${sessionId}`);
    const [, contact, location] = body.data;
    assert.deepEqual(contact.contact, { name: 'Ada', phoneNumbers: ['491700000012'] });
    assert.deepEqual(location.location, { latitude: 52.52, longitude: 13.4, name: 'The market' });
  });

  it('scans the QR code of a session and drops its connection', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    const { sessionId } = (await call('POST', '/sessions', { options: { pairing: true } })).body;
    await call('POST', `/sessions/${sessionId}/connect`);
    await page.goto('/simulator');
    await page.getByRole('button', { name: 'Scan QR code' }).click();
    await eventOf(call, 'session.connected');
    await page.getByRole('button', { name: 'Scan QR code' }).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Connection' }).click();
    await page.getByRole('menuitem', { name: 'Drop connection for 5 s' }).click();
    const { reason, willReconnect } = await eventOf(call, 'session.disconnected');
    assert.deepEqual([reason, willReconnect], ['The simulated network dropped the connection', true]);
    await page.getByText('The session is not connected').waitFor();
  });

  it('is accessible and fits on a phone', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test, { viewport: PHONE });
    await connectSession(call);
    await page.goto(`/simulator?chat=${FRIEND}`);
    await page.getByLabel('Message', { exact: true }).fill('From a small screen');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByRole('article').getByText('From a small screen').waitFor();
    await assertUsable(page);
  });
});
