import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { verify } from '../../sdk/src/webhooks.ts';
import { startReceiver } from '../../server/test/support/connections/receiver.ts';
import { bearer } from '../../server/test/support/server.ts';
import { assertAccessible, PASSWORD, startDashboard } from './support/browser.ts';

const CUSTOMER = '491700000051';

describe('a new user', async () => {
  const dashboard = startDashboard({ env: { WEBHOOK_RETRY_SECONDS: '1,600', BREAKER_OPEN_SECONDS: '600' } });
  const receiver = await startReceiver();
  after(() => receiver.close());

  it('registers, connects, receives events, and diagnoses and fixes a broken receiver', async (test) => {
    const page = await dashboard.open(test);
    const { server } = dashboard;
    const follow = (name: string) =>
      page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name, exact: true }).click();

    // An account.
    await page.goto('/register');
    await page.getByLabel('Email').fill('new.user@example.com');
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await page.getByRole('button', { name: 'Create account' }).click();
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();

    // A key for the application.
    await follow('API keys');
    await page.getByRole('button', { name: 'Create key' }).click();
    await page.getByRole('dialog').getByLabel('Name').fill('My shop');
    await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click();
    const key = (await page.getByRole('status', { name: 'API key' }).innerText()).trim();
    await page.getByRole('button', { name: 'I have saved it' }).click();
    const call = bearer(server.url, key);

    // A session that is paired by QR code.
    await follow('Sessions');
    await page.getByRole('button', { name: 'Create session' }).click();
    await page.getByRole('dialog').getByLabel('Name').fill('Shop');
    await page.getByRole('dialog').getByLabel('Pairing').selectOption('Yes');
    await page.getByRole('dialog').getByRole('button', { name: 'Create and connect' }).click();
    await page.getByRole('img', { name: 'Pairing QR code' }).waitFor();
    const sessionId = new URL(page.url()).pathname.split('/').at(-1);
    await follow('Phone simulator');
    await page.getByRole('button', { name: 'Scan QR code' }).click();
    await page.getByText('Device paired').first().waitFor();

    // A webhook, with the secret that the application stores.
    await follow('Webhooks');
    await page.getByRole('button', { name: 'Add webhook' }).click();
    await page.getByRole('dialog').getByLabel('URL').fill(receiver.url);
    await page.getByRole('dialog').getByRole('button', { name: 'Add webhook' }).click();
    const secret = (await page.getByRole('status', { name: 'Webhook secret' }).innerText()).trim();
    await page.getByRole('button', { name: 'I have saved it' }).click();
    await page.getByRole('button', { name: 'Send test' }).click();
    await page.getByText('The receiver accepted the request').waitFor();

    // A customer writes, and the application receives the signed event.
    await follow('Phone simulator');
    await page.getByRole('button', { name: 'Write as a new number' }).first().click();
    await page.getByLabel('Phone number').fill(CUSTOMER);
    await page.getByRole('button', { name: 'Open chat' }).click();
    const write = async (text: string) => {
      await page.getByLabel('Message', { exact: true }).fill(text);
      await page.keyboard.press('Enter');
      await page.getByRole('article').getByText(text, { exact: true }).waitFor();
    };
    const got = (text: string) => receiver.deliveries.find(({ parsed }) => parsed?.data.message === text);
    await write('Are you open today?');
    await receiver.waitFor(() => got('Are you open today?') !== undefined);
    const { body = '', headers = {} } = got('Are you open today?') ?? {};
    assert.equal((await verify({ body, headers, secret })).ok, true);

    // The application replies with its key, and the customer reads the reply.
    await call('POST', '/messages/send', { sessionId, to: CUSTOMER, message: 'Until six' });
    await page.getByRole('article').getByText('Until six').waitFor();
    await page.getByRole('button', { name: 'Read 1 message' }).click();
    await receiver.waitFor((all) => all.some(({ event }) => event === 'message.read'));

    // The delivery is in the log.
    await follow('Deliveries');
    await page.getByRole('link', { name: 'message.incoming' }).first().click();
    await page.getByText('It was delivered at').waitFor();
    await page.getByRole('region', { name: 'Formatted' }).getByText('"Are you open today?"').waitFor();

    // The receiver breaks. Deliveries fail, then events are held, and the page says what to do.
    receiver.respond((_, response) => response.writeHead(502).end('upstream is down'));
    await follow('Phone simulator');
    await page.getByRole('list', { name: 'Chats' }).getByRole('button').first().click();
    for (const text of ['One', 'Two', 'Three', 'Four', 'Five', 'Six']) await write(text);
    await follow('Webhooks');
    await page.getByRole('table', { name: 'Webhooks' }).getByText('Open').waitFor();
    await page.getByRole('link', { name: receiver.url }).click();
    await page.getByText('Five consecutive attempts failed.').first().waitFor();
    await page.getByText(/Last error: .*502/).waitFor();
    await page.getByText(/\d+ events are held; next probe in/).waitFor();
    await assertAccessible(page);
    await page.getByRole('link', { name: 'View deliveries' }).click();
    await page.getByLabel('State').selectOption('pending');
    await page.getByRole('link', { name: 'message.incoming' }).first().click();
    await page.getByText('The circuit breaker holds this delivery').waitFor();
    await assertAccessible(page);

    // The receiver works again: resetting the breaker delivers everything that was held.
    receiver.respond(200);
    await page.getByRole('link', { name: receiver.url }).click();
    await page.getByRole('button', { name: 'Reset breaker' }).click();
    await page
      .getByText(/Breaker reset; \d+ held events released/)
      .first()
      .waitFor();
    const arrived = (text: string) => receiver.deliveries.filter(({ parsed }) => parsed?.data.message === text).length;
    await receiver.waitFor(() => ['One', 'Two', 'Three', 'Four', 'Five', 'Six'].every((text) => arrived(text) > 0));

    // The application lost its database: the messages of the last day are replayed.
    await follow('Deliveries');
    await page.getByRole('button', { name: 'Replay' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Delivered', { exact: true }).check();
    for (const kind of ['message.sent', 'message.delivered', 'message.read', 'session.connected'])
      await dialog.getByLabel(kind, { exact: true }).uncheck();
    const before = arrived('Are you open today?');
    await dialog.getByRole('button', { name: 'Count deliveries' }).click();
    await dialog.getByText('7 deliveries match.').waitFor();
    await dialog.getByRole('button', { name: 'Replay 7 deliveries' }).click();
    await receiver.waitFor(() => arrived('Are you open today?') > before && arrived('Six') > 1);
  });
});
