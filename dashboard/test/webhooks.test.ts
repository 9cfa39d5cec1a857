import assert from 'node:assert/strict';
import { after, describe, it, type TestContext } from 'node:test';
import { missing, startRedis } from '../../server/test/support/brokers/brokers.ts';
import { type Receiver, startReceiver } from '../../server/test/support/connections/receiver.ts';
import { eventually } from '../../server/test/support/eventually.ts';
import { makeKey, newSecret, rpcOf, startCallback } from '../../server/test/support/mcp/mcpEvents.ts';
import { connectSession, type TestServer } from '../../server/test/support/server.ts';
import {
  assertAccessible,
  assertNothingCutOff,
  assertSoon,
  assertUsable,
  PHONE,
  startDashboard,
} from './support/browser.ts';
import { writeIn } from './support/sandbox.ts';

type Call = Awaited<ReturnType<TestServer['account']>>['call'];

/**
 * Sets the default webhook.
 * @returns its id
 */
async function setWebhook(call: Call, receiver: Receiver, more: object = {}): Promise<string> {
  await call('POST', '/webhooks/set', { webhookUrl: receiver.url, events: ['message.incoming'], ...more });
  return (await call('GET', '/webhooks/endpoints')).body.data[0].webhookId;
}

describe('webhooks pages', async () => {
  const dashboard = startDashboard({ env: { WEBHOOK_RETRY_SECONDS: '1', BREAKER_OPEN_SECONDS: '600' } });

  /** Lets an agent subscribe to incoming messages. */
  async function subscribeAgent(test: TestContext, call: Call) {
    const { key } = await makeKey(call, ['events:read']);
    const callback = await startCallback(test);
    const url = `${callback.url}?token=hidden`;
    const params = { name: 'message.incoming', delivery: { url, secret: newSecret() } };
    const { error } = await rpcOf(dashboard.server, key)('events/subscribe', params);
    assert.equal(error, undefined, JSON.stringify(error));
    return { host: new URL(url).host, url, deliveries: () => callback.deliveries, waitFor: callback.waitFor };
  }
  const receiver = await startReceiver();
  after(() => receiver.close());

  it('add the first webhook and show its secret once', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    await page.goto('/webhooks');
    await page.getByText('No webhooks yet').waitFor();
    await assertAccessible(page);
    await page.getByRole('button', { name: 'Add webhook' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('URL').fill(receiver.url);
    await dialog.getByRole('button', { name: 'Generate' }).click();
    const secret = await dialog.getByLabel('Secret').inputValue();
    assert.match(secret, /^[\w-]{32}$/);
    await assertAccessible(page);
    await dialog.getByRole('button', { name: 'Add webhook' }).click();
    await page.getByText('Save this secret now').waitFor();
    await page.mouse.click(5, 5);
    await page.keyboard.press('Escape');
    await page.getByText(secret).waitFor();
    await page.getByRole('button', { name: 'I have saved it' }).click();
    await page.getByRole('heading', { level: 1, name: receiver.url }).waitFor();
    await assertSoon(() => page.getByText(secret).count(), 0);
    const { body } = await call('GET', '/webhooks');
    assert.equal(body.webhookUrl, receiver.url, 'it is the default webhook');
    assert.equal(body.events.length, 8);
  });

  it('list the subscriptions of agents as they come, and end one', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    await page.goto('/webhooks');
    await page.getByText('No webhooks yet').waitFor();
    const { host, url, deliveries, waitFor } = await subscribeAgent(test, call);
    const table = page.getByRole('table', { name: "Agents' subscriptions" });
    const row = table.getByRole('row').filter({ hasText: host });
    await row.getByText('message.incoming').waitFor();
    await row.getByRole('link', { name: 'agent' }).waitFor();
    assert.ok(!(await page.content()).includes(url.slice(url.indexOf('?'))), 'the rest of the URL is not shown');
    await assertUsable(page);
    await row.getByRole('button', { name: `End the subscription of ${host}` }).click();
    const dialog = page.getByRole('alertdialog');
    await assertAccessible(page);
    await dialog.getByRole('button', { name: 'End' }).click();
    await page.getByText('Subscription ended').first().waitFor();
    await assertSoon(() => table.count(), 0);
    await waitFor(1);
    assert.equal(deliveries()[0]?.parsed.type, 'terminated');
  });

  it('keep a default webhook that was set elsewhere meanwhile', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    await page.goto('/webhooks');
    await page.getByText('No webhooks yet').waitFor();
    await page.getByRole('button', { name: 'Add webhook' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('URL').fill(`${receiver.url}second`);
    await call('POST', '/webhooks/set', { webhookUrl: `${receiver.url}first`, events: ['message.incoming'] });
    await dialog.getByRole('button', { name: 'Add webhook' }).click();
    await page.getByRole('button', { name: 'I have saved it' }).click();
    await page.waitForURL('**/webhooks/whk_*');
    assert.equal((await call('GET', '/webhooks')).body.webhookUrl, `${receiver.url}first`);
  });

  it('add one that publishes to Redis, and never show its password', { skip: missing.redis }, async (test) => {
    const password = 'the password of Redis';
    const redis = await startRedis(password);
    test.after(() => redis.stop());
    const { page, call } = await dashboard.openLoggedIn(test);
    await page.goto('/webhooks');
    await page.getByRole('button', { name: 'Add webhook' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Destination').selectOption('Redis stream');
    const url = `redis://127.0.0.1:${redis.port}`;
    await dialog.getByLabel('URL').fill(url);
    await dialog.getByLabel('Stream').fill('events');
    await dialog.getByLabel('Entries to keep').fill('1000');
    await dialog.getByLabel('Password').fill('not the password');
    assert.equal(await dialog.getByLabel('Password').getAttribute('type'), 'password');
    await assertAccessible(page);
    await dialog.getByRole('button', { name: 'Add webhook' }).click();
    await page.getByRole('button', { name: 'I have saved it' }).click();
    await page.getByRole('heading', { level: 1, name: url }).waitFor();
    await page.getByRole('button', { name: 'Send test' }).click();
    await page.getByRole('alert').filter({ hasText: 'refused the user name or the password' }).waitFor();

    assert.equal(await page.getByLabel('Password').inputValue(), '');
    await page.getByText('Set: Password.').waitFor();
    await page.getByLabel('Password').fill(password);
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved').first().waitFor();
    await assertSoon(() => page.getByLabel('Password').inputValue(), '');
    await page.getByRole('button', { name: 'Send test' }).click();
    await page.getByText('The receiver accepted the request').waitFor();
    const stages = page.getByRole('list', { name: 'Stages' });
    for (const stage of ['Login', 'Confirmation']) await stages.getByText(stage).waitFor();
    await assertNothingCutOff(page);
    await assertAccessible(page);
    const [webhook] = (await call('GET', '/webhooks/endpoints')).body.data;
    assert.deepEqual(webhook.destination, { type: 'redis', stream: 'events', maxLength: 1000 });
    assert.equal(webhook.isDefault, false, 'the default webhook is HTTP only');
    await page.getByRole('link', { name: 'All webhooks' }).click();
    await page.getByRole('table').getByText('Redis stream').waitFor();
  });

  it('show the error of a URL at its field', async (test) => {
    const { page } = await dashboard.openLoggedIn(test);
    await page.goto('/webhooks');
    await page.getByRole('button', { name: 'Add webhook' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('URL').fill('ftp://example.com/hook');
    await dialog.getByRole('button', { name: 'Add webhook' }).click();
    await page.locator('input[aria-invalid=true]').waitFor();
    assert.equal(await dialog.getByRole('alert').count(), 1, 'it is shown once');
    await assertAccessible(page);
  });

  it('send a test and show its stages and the request as sent', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    const webhookId = await setWebhook(call, receiver, { secret: 'of the test' });
    receiver.respond((_, response) => response.writeHead(200).end('<b>thanks</b>'));
    await page.goto(`/webhooks/${webhookId}`);
    await page.getByRole('button', { name: 'Send test' }).click();
    await page.getByText('The receiver accepted the request').waitFor();
    const sent = receiver.deliveries.at(-1);
    assert.equal(sent?.headers['x-webhook-test'], 'true');
    const shown = await page.getByRole('region', { name: 'Request as sent' }).innerText();
    assert.ok(shown.includes(`x-webhook-signature: ${sent?.headers['x-webhook-signature']}`), shown);
    assert.ok(shown.includes(sent?.body ?? '?'), 'the body is shown byte for byte');
    await assertSoon(() => page.getByRole('list', { name: 'Stages' }).getByRole('listitem').count(), 5);
    await page.getByText('<b>thanks</b>').waitFor();
    await assertNothingCutOff(page);
    await assertAccessible(page);

    receiver.respond(500);
    await page.getByRole('button', { name: 'Send test' }).click();
    await page.getByRole('alert').filter({ hasText: '500' }).waitFor();
  });

  it('set, rotate and remove the secret', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    const webhookId = await setWebhook(call, receiver);
    await page.goto(`/webhooks/${webhookId}`);
    await page.getByText('Deliveries are not signed,').waitFor();
    for (const name of ['Node', 'Python', 'Go', 'PHP', 'curl']) {
      await page.getByRole('tab', { name }).click();
      await page.getByRole('region', { name: `Verification examples: ${name}` }).waitFor();
    }
    await page.getByRole('button', { name: 'Set secret' }).click();
    await page.getByRole('dialog').getByLabel('New secret').fill('one that is mine');
    await page.getByRole('dialog').getByRole('button', { name: 'Set secret' }).click();
    await page.getByText('one that is mine').waitFor();
    await page.getByRole('button', { name: 'I have saved it' }).click();
    await page.getByText('Every delivery is signed').waitFor();

    await page.getByRole('button', { name: 'Rotate secret' }).click();
    await page.getByRole('dialog').getByLabel('Grace period').selectOption('1 hour');
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate secret' }).click();
    await page.getByRole('button', { name: 'I have saved it' }).click();
    await page.getByText('The old secret is valid until').waitFor();
    receiver.respond(200);
    await page.getByRole('button', { name: 'Send test' }).click();
    await page.getByText('The receiver accepted the request').waitFor();
    assert.match(String(receiver.deliveries.at(-1)?.headers['webhook-signature']), /^v1,\S+ v1,\S+$/);

    await page.getByRole('button', { name: 'Stop signing' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Stop signing' }).click();
    await page.getByText('Deliveries are not signed,').waitFor();
    assert.equal((await call('GET', '/webhooks')).body.hasSecret, false);
  });

  it('show a secret that the server made for an agent', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    const webhookId = await setWebhook(call, receiver);
    await call('POST', `/webhooks/endpoints/${webhookId}/secret/rotate`, {});
    await page.goto(`/webhooks/${webhookId}`);
    await page.getByText('The server made this secret').waitFor();
    await assertAccessible(page);
    await page.getByRole('button', { name: 'Show secret' }).click();
    const { secret } = (await call('POST', '/webhooks/secret/reveal')).body;
    const dialog = page.getByRole('dialog', { name: 'Webhook secret' });
    assert.equal(await dialog.getByRole('status').innerText(), secret);
    assert.equal(await dialog.getByText('only once').count(), 0);
    await dialog.getByRole('button', { name: 'Done' }).click();
    await dialog.waitFor({ state: 'detached' });
    await call('POST', '/webhooks/secret/rotate', { secret: 'one that a person passed' });
    await page.reload();
    await page.getByText('Every delivery is signed').waitFor();
    assert.equal(await page.getByRole('button', { name: 'Show secret' }).count(), 0);
  });

  it('change, disable, add and delete webhooks', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    const webhookId = await setWebhook(call, receiver);
    await page.goto(`/webhooks/${webhookId}`);
    await page.getByLabel('message.read').check();
    await page.getByLabel('Concurrent requests').fill('32');
    await page.getByRole('checkbox', { name: 'Enabled' }).uncheck();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved').first().waitFor();
    const { body } = await call('GET', `/webhooks/endpoints/${webhookId}`);
    assert.deepEqual(body.events, ['message.incoming', 'message.read']);
    assert.deepEqual([body.maxInFlight, body.enabled], [32, false]);

    await page.getByRole('link', { name: 'All webhooks' }).click();
    await page.waitForURL('**/webhooks');
    await page.getByText('Disabled', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Add webhook' }).click();
    await page.getByRole('dialog').getByLabel('URL').fill(`${receiver.url}/second`);
    await page.getByRole('dialog').getByLabel('Secret').fill('');
    await page.getByRole('dialog').getByRole('button', { name: 'Add webhook' }).click();
    await page.getByRole('heading', { level: 1, name: `${receiver.url}/second` }).waitFor();
    await page.getByRole('button', { name: 'Delete webhook' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Delete webhook' }).click();
    await page.waitForURL('**/webhooks');
    await page.getByRole('table', { name: 'Webhooks' }).waitFor();
    await assertAccessible(page);
    const left = (await call('GET', '/webhooks/endpoints')).body.data;
    assert.deepEqual(
      left.map((one: { webhookId: string }) => one.webhookId),
      [webhookId],
    );
  });

  it('create and change a webhook with every option', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    const { sessionId } = (await call('POST', '/sessions', { name: 'Orders' })).body;
    await page.goto('/webhooks');
    await page.getByRole('button', { name: 'Add webhook' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('URL').fill(receiver.url);
    await dialog.getByLabel('Secret').fill('');
    await dialog.getByText('More options').click();
    await dialog.getByText('Only these chats: phone numbers').waitFor();
    await dialog.getByRole('checkbox', { name: 'All sessions' }).uncheck();
    await dialog.getByRole('checkbox', { name: 'Orders' }).check();
    await dialog.getByLabel('Description').fill('the shop');
    await dialog.getByLabel('Concurrent requests').fill('4');
    await dialog.getByRole('checkbox', { name: 'Paused' }).check();
    await dialog.getByRole('checkbox', { name: 'Strict order' }).check();
    await dialog.getByLabel('Only these chats').fill('not a chat');
    await dialog.getByLabel('Ignored chats').fill('491700000001\n49171*');
    await dialog.getByRole('checkbox', { name: 'direct', exact: true }).check();
    await dialog.getByLabel('Sender').selectOption('Only others');
    await dialog.getByRole('checkbox', { name: 'image', exact: true }).check();
    await dialog.getByRole('checkbox', { name: 'Choose the added fields' }).check();
    await dialog.getByRole('group', { name: 'Added fields' }).getByRole('checkbox', { name: 'session' }).check();
    await dialog.getByLabel('Headers').fill('Authorization: Bearer a:b\nHost: example.com');
    await dialog.getByRole('checkbox', { name: 'Count redirects as delivered' }).check();
    await dialog.getByLabel('Attempt timeout').fill('5');
    await dialog.getByLabel('Retries').selectOption('Own schedule');
    await dialog.getByLabel('Seconds before each retry').fill('5, soon');
    await dialog.getByLabel('Metadata').fill('team: sales');
    await assertAccessible(page);

    const submit = () => dialog.getByRole('button', { name: 'Add webhook' }).click();
    const invalid = (label: string) => dialog.getByLabel(label).and(page.locator('[aria-invalid]'));
    await submit();
    for (const label of ['Attempt timeout', 'Seconds before each retry']) await invalid(label).waitFor();
    const day = new Date(Date.now() + 30 * 86_400_000).toISOString().slice(0, 10);
    await dialog.getByLabel('Expires').fill(`${day}T12:00`);
    await dialog.getByLabel('Attempt timeout').fill('5000');
    await dialog.getByLabel('Seconds before each retry').fill('5, 60');
    for (const [label, text] of [
      ['Only these chats', '49170*'],
      ['Headers', 'Authorization: Bearer a:b'],
    ] as const) {
      await submit();
      await invalid(label).waitFor();
      await dialog.getByLabel(label).fill(text);
    }
    await submit();
    await page.getByRole('heading', { level: 1, name: receiver.url }).waitFor();
    const webhookId = page.url().split('/').at(-1);
    const read = async () => {
      const { body } = await call('GET', `/webhooks/endpoints/${webhookId}`);
      const { description, maxInFlight, paused, ordering, filters, include, headerNames, acceptRedirects } = body;
      const { sessionIds, timeoutMs, retrySeconds, metadata, expiresAt } = body;
      return [
        { sessionIds, description, maxInFlight, paused, ordering, filters, include },
        { headerNames, acceptRedirects, timeoutMs, retrySeconds, metadata, expiryDay: expiresAt?.slice(0, 10) },
      ];
    };
    assert.deepEqual(await read(), [
      {
        sessionIds: [sessionId],
        description: 'the shop',
        maxInFlight: 4,
        paused: true,
        ordering: 'strict',
        filters: {
          chats: ['49170*'],
          ignoredChats: ['491700000001', '49171*'],
          chatTypes: ['direct'],
          fromMe: false,
          messageTypes: ['image'],
        },
        include: ['session'],
      },
      {
        headerNames: ['authorization'],
        acceptRedirects: true,
        timeoutMs: 5000,
        retrySeconds: [5, 60],
        metadata: { team: 'sales' },
        expiryDay: day,
      },
    ]);

    await page.getByText('More options').click();
    await page.getByText('Set: authorization.').waitFor();
    assert.equal(await page.getByLabel('Headers').first().inputValue(), '');
    assert.equal(await page.getByLabel('Ignored chats').inputValue(), '491700000001\n49171*');
    await page.getByLabel('Ignored chats').fill('');
    await page.getByLabel('Sender').selectOption('Anyone');
    await page.getByRole('checkbox', { name: 'Remove all headers' }).check();
    await page.getByRole('checkbox', { name: 'Count redirects as delivered' }).uncheck();
    await page.getByLabel('Attempt timeout').fill('');
    await page.getByLabel('Retries').selectOption('No retries');
    await page.getByLabel('Metadata').fill('');
    await page.getByLabel('Expires').fill('');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved').first().waitFor();
    const [settings, delivery] = await read();
    assert.deepEqual(settings?.filters, { chats: ['49170*'], chatTypes: ['direct'], messageTypes: ['image'] });
    assert.deepEqual(delivery, {
      headerNames: [],
      acceptRedirects: false,
      timeoutMs: null,
      retrySeconds: [],
      metadata: {},
      expiryDay: undefined,
    });
    await assertSoon(() => page.getByRole('checkbox', { name: 'Remove all headers' }).count(), 0);
    await page.setViewportSize(PHONE);
    await assertUsable(page);
  });

  it('limit a webhook to some sessions', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    const { webhookId } = (
      await call('POST', '/webhooks/endpoints', { webhookUrl: receiver.url, events: ['message.sent'] })
    ).body;
    const { sessionId } = (await call('POST', '/sessions', { name: 'Orders' })).body;
    await call('POST', '/sessions', { name: 'Support' });
    await page.goto(`/webhooks/${webhookId}`);
    await page.getByRole('checkbox', { name: 'All sessions' }).uncheck();
    await page.getByText('Select at least one session').waitFor();
    assert.ok(await page.getByRole('button', { name: 'Save' }).isDisabled());
    await page.getByRole('checkbox', { name: 'Orders' }).check();
    await page.getByLabel('Description').fill('the shop');
    await call('POST', '/webhooks/endpoints', { webhookUrl: receiver.url, events: ['message.sent'] });
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved').first().waitFor();
    await page.getByText('has the same URL and also receives message.sent').waitFor();
    await assertAccessible(page);
    const { body } = await call('GET', `/webhooks/endpoints/${webhookId}`);
    assert.deepEqual([body.sessionIds, body.description], [[sessionId], 'the shop']);
    await page.getByRole('checkbox', { name: 'All sessions' }).check();
    await page.getByRole('button', { name: 'Save' }).click();
    await eventually(
      () => call('GET', `/webhooks/endpoints/${webhookId}`),
      (found) => found.body.sessionIds === null,
    );
  });

  it('subscribe to all event types, and can be paused', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    const webhookId = await setWebhook(call, receiver);
    await page.goto(`/webhooks/${webhookId}`);
    await page.getByRole('checkbox', { name: 'All event types' }).check();
    assert.ok(await page.getByRole('checkbox', { name: 'poll.vote' }).isChecked());
    assert.ok(await page.getByRole('checkbox', { name: 'poll.vote' }).isDisabled());
    await page.getByRole('checkbox', { name: 'Paused' }).check();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('main').getByText('While a webhook is paused').nth(1).waitFor();
    await assertAccessible(page);
    const { body } = await call('GET', `/webhooks/endpoints/${webhookId}`);
    assert.deepEqual([body.events, body.paused], [['*'], true]);
  });

  it('keep changes made elsewhere while the form is open', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    const webhookId = await setWebhook(call, receiver);
    await page.goto(`/webhooks/${webhookId}`);
    await page.getByLabel('Concurrent requests').fill('12');
    await call('PATCH', `/webhooks/endpoints/${webhookId}`, { events: ['message.read'] });
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved').first().waitFor();
    const { body } = await call('GET', `/webhooks/endpoints/${webhookId}`);
    assert.deepEqual([body.events, body.maxInFlight], [['message.read'], 12]);
    await page.waitForFunction(
      (kind) =>
        [...document.querySelectorAll('label')].some(
          (label) => label.textContent === kind && label.control?.matches(':not(:checked)'),
        ),
      'message.incoming',
    );
  });

  it('explain an open breaker and reset it', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    const webhookId = await setWebhook(call, receiver);
    const sessionId = await connectSession(call);
    receiver.respond(502);
    await page.goto(`/webhooks/${webhookId}`);
    await page.getByText('Closed', { exact: true }).waitFor();
    await writeIn(call, sessionId, 'one', 'two', 'three', 'four', 'five', 'six');
    await page.getByText('Five consecutive attempts failed.').first().waitFor();
    await page.getByText(/Last error: .*502/).waitFor();
    await page.getByText(/6 events are held; next probe in \d+ min/).waitFor();
    await page.getByText('History', { exact: true }).click();
    await page.getByText('Closed → open').waitFor();
    await assertAccessible(page);
    receiver.respond(200);
    await page.getByRole('button', { name: 'Reset breaker' }).click();
    await page.getByText('Breaker reset; 6 held events released').first().waitFor();
    await receiver.waitFor((all) => all.some(({ parsed, attempt }) => parsed?.data.message === 'six' && attempt > 0));
    await page.getByText('The breaker was reset manually.').waitFor();
  });

  it('are accessible and fit on a phone', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test, { viewport: PHONE });
    await subscribeAgent(test, call);
    const webhookId = await setWebhook(call, receiver, { secret: 'short' });
    receiver.respond(200);
    await page.goto('/webhooks');
    await page.getByRole('button', { name: /^End the subscription of/ }).waitFor();
    await assertUsable(page);
    await page.getByRole('link', { name: receiver.url }).click();
    await page.getByRole('button', { name: 'Send test' }).click();
    await page.getByText('The receiver accepted the request').waitFor();
    await assertUsable(page);
    await assertSoon(async () => page.url().endsWith(webhookId), true);
  });

  it('hide webhooks of other accounts', async (test) => {
    const other = await dashboard.server.account();
    const webhookId = await setWebhook(other.call, receiver);
    const { page } = await dashboard.openLoggedIn(test);
    await page.goto(`/webhooks/${webhookId}`);
    await page.getByText('Webhook not found').waitFor();
    await page.goto('/webhooks');
    await page.getByText('No webhooks yet').waitFor();
  });
});
