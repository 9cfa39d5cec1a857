import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { startReceiver } from '../../server/test/support/connections/receiver.ts';
import { type Call, connectSession } from '../../server/test/support/server.ts';
import {
  assertAccessible,
  assertNoSidewaysScroll,
  assertNothingCutOff,
  assertSoon,
  assertUsable,
  PHONE,
  startDashboard,
} from './support/browser.ts';

/** Connects a session, and returns a function that writes to it. */
async function writer(call: Call) {
  const sessionId = await connectSession(call);
  return async (message: string, from = '491700000001') => {
    await call('POST', `/sessions/${sessionId}/simulate`, { action: 'incoming', from, message });
  };
}

describe('delivery log', async () => {
  // Two attempts each: a delivery fails for good after the second.
  const dashboard = startDashboard({ env: { WEBHOOK_RETRY_SECONDS: '1', BREAKER_OPEN_SECONDS: '600' } });
  const receiver = await startReceiver();
  after(() => receiver.close());
  const setWebhook = (call: Call, more: object = {}) =>
    call('POST', '/webhooks/set', {
      webhookUrl: receiver.url,
      events: ['message.incoming', 'session.connected'],
      ...more,
    });

  it('says what to do while it is empty', async (test) => {
    const { page } = await dashboard.openLoggedIn(test);
    await page.goto('/deliveries');
    await page.getByText('No deliveries yet').waitFor();
    await assertAccessible(page);
    await page.getByRole('link', { name: 'Set up a webhook' }).click();
    await page.getByRole('heading', { name: 'Webhooks' }).waitFor();
  });

  it('shows what each delivery waits for', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    receiver.respond(410);
    await setWebhook(call);
    const write = await writer(call);
    await write('opens the breaker', '491700000003');
    await page.goto('/deliveries');
    const table = page.getByRole('table', { name: 'Deliveries' });
    await table
      .getByText(/^Held by the circuit breaker: .*410/)
      .first()
      .waitFor();
    await write('is held', '491700000004');
    await table.getByText('Held by the circuit breaker', { exact: true }).first().waitFor();
  });

  it('updates itself, and keeps its filters in the address', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    receiver.respond(200);
    await setWebhook(call);
    await page.goto('/deliveries');
    await page.getByText('No deliveries yet').waitFor();
    const write = await writer(call);
    await write('first', '491700000002');
    const table = page.getByRole('table', { name: 'Deliveries' });
    await table.getByRole('link', { name: 'message.incoming' }).waitFor();
    await table.getByText('Delivered').nth(1).waitFor();
    await assertAccessible(page);

    await page.getByLabel('Event', { exact: true }).selectOption('session.connected');
    await table.getByRole('link', { name: 'message.incoming' }).waitFor({ state: 'detached' });
    await assertSoon(async () => new URL(page.url()).searchParams.get('event'), 'session.connected');
    await page.reload();
    await table.getByRole('link', { name: 'session.connected' }).waitFor();
    await assertSoon(() => table.getByRole('link').count(), 1);
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await table.getByRole('link', { name: 'message.incoming' }).waitFor();
    await page.getByLabel('From', { exact: true }).focus();
    await page.keyboard.type('01012020');
    await page.keyboard.press('Tab');
    await page.keyboard.type('1230AM');
    await page.keyboard.press('Enter');
    await page.waitForURL((url) => url.searchParams.get('after')?.startsWith('20') === true);
    await assertSoon(() => page.getByLabel('From', { exact: true }).inputValue(), '2020-01-01T00:30');
    await page.getByLabel('Chat with').fill('491700000002');
    await page.keyboard.press('Enter');
    await table.getByRole('link', { name: 'session.connected' }).waitFor({ state: 'detached' });
    await assertSoon(() => page.getByLabel('Chat with').evaluate((input) => input === document.activeElement), true);
    await page.getByLabel('State').selectOption('failed');
    await page.getByText('No deliveries match these filters').waitFor();
  });

  it('shows the payload, the attempts and the reason of a failed delivery', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    await setWebhook(call, { secret: 'of the deliveries' });
    const write = await writer(call);
    receiver.respond((_, response) => response.writeHead(503).end('<img src=x onerror="document.title=1">'));
    await write('<script>document.title = "mine"</script>');
    await page.goto('/deliveries?event=message.incoming');
    await page.getByRole('link', { name: 'message.incoming' }).click();
    await page.getByText('All 2 attempts failed').waitFor();
    await page.getByText('The receiver failed while it handled the request').waitFor();
    await assertSoon(() => page.getByText(/^Attempt \d$/).count(), 2);
    await page.getByText('Response: 503').first().waitFor();
    await page.getByText('<img src=x onerror="document.title=1">').first().waitFor();
    await page.getByText('x-webhook-attempt: 2').waitFor();
    const request = await page.getByRole('region', { name: 'Request of attempt 2' }).innerText();
    const headers = receiver.deliveries.findLast(({ body }) => body.includes('document.title'))?.headers;
    for (const name of ['user-agent', 'x-webhook-timestamp', 'webhook-id', 'webhook-timestamp'])
      assert.ok(request.includes(`${name}: ${headers?.[name]}\n`), `${name} is missing in ${request}`);
    await page.getByText('"<script>document.title').first().waitFor();
    await page.getByRole('tab', { name: 'Raw' }).click();
    const sent = receiver.deliveries.find(({ body }) => body.includes('document.title'))?.body ?? '?';
    await assertSoon(() => page.getByRole('region', { name: 'Raw' }).innerText(), sent);
    assert.equal(await page.title(), 'Delivery of message.incoming · Switchboard');
    await assertNothingCutOff(page);
    await assertAccessible(page);
    // The narrowest screen with cards side by side.
    await page.setViewportSize({ width: 960, height: 800 });
    const spare = await page
      .locator('dl')
      .first()
      .evaluate((list) => {
        // Text that breaks between any two letters may end a pixel or two after its column, in the padding of the card.
        const lines = [...list.querySelectorAll('*')].flatMap((element) => [...element.getClientRects()]);
        const card = list.closest('section')?.getBoundingClientRect();
        return (card?.right ?? 0) - Math.max(...lines.map(({ right }) => right));
      });
    assert.ok(spare > 0, `the facts end ${spare} px before the right edge of their card`);

    receiver.respond(204);
    await page.getByRole('button', { name: 'Redeliver' }).click();
    await page.getByText('It was delivered at').waitFor();
    await page.getByText('Attempt 3', { exact: true }).waitFor();
  });

  it('cancels a delivery that holds back the later ones of its chat', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    await setWebhook(call);
    const { webhookId } = (await call('GET', '/webhooks/endpoints')).body.data[0];
    await page.goto(`/webhooks/${webhookId}`);
    await page.getByRole('checkbox', { name: 'Strict order' }).check();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved', { exact: true }).waitFor();
    await call('PATCH', `/webhooks/endpoints/${webhookId}`, { retrySeconds: [3600] });
    receiver.respond(({ parsed }, response) => response.writeHead(parsed.data.message === 'poison' ? 500 : 200).end());
    const write = await writer(call);
    await write('poison');
    await write('behind it');
    await page.goto('/deliveries');
    const held = page.getByRole('row').filter({ hasText: 'Waits for an earlier delivery of its chat' });
    await held.getByRole('link').first().click();
    await page.getByText('It waits for the earlier delivery').waitFor();
    await assertAccessible(page);
    await page.getByRole('link', { name: /^dlv_/ }).click();
    await page.getByText('Attempt 1', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByText('It was cancelled at').waitFor();
    await receiver.waitFor((all) => all.some(({ parsed }) => parsed.data.message === 'behind it'));
  });

  it('replays a time range after counting its deliveries', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    await setWebhook(call);
    const write = await writer(call);
    receiver.respond(200);
    for (const text of ['a', 'b', 'c']) await write(text);
    const mine = () => receiver.deliveries.filter(({ parsed }) => ['a', 'b', 'c'].includes(parsed?.data.message));
    await receiver.waitFor(() => mine().length === 3);
    await page.goto('/deliveries');
    await page.getByRole('button', { name: 'Replay' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Count deliveries' }).click();
    await dialog.getByText('No deliveries match.').waitFor();
    await dialog.getByLabel('Delivered', { exact: true }).check();
    await dialog.getByLabel('session.connected').uncheck();
    await dialog.getByRole('button', { name: 'Count deliveries' }).click();
    await dialog.getByText('3 deliveries match.').waitFor();
    await assertAccessible(page);
    assert.equal(mine().length, 3, 'counting sends nothing');
    await dialog.getByRole('button', { name: 'Replay 3 deliveries' }).click();
    await page.getByText('3 deliveries queued again').first().waitFor();
    await assertSoon(
      async () => new URL(page.url()).searchParams.has('after'),
      true,
      'the log shows the replayed deliveries',
    );
    await receiver.waitFor(() => mine().length === 6);
    const ids = mine().map(({ id }) => id);
    assert.deepEqual(new Set(ids.slice(0, 3)), new Set(ids.slice(3)), 'replays keep the ids');
  });

  it('is accessible and fits on a phone', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test, { viewport: PHONE });
    receiver.respond(200);
    await setWebhook(call);
    await (await writer(call))('hello');
    await page.goto('/deliveries');
    await page.getByRole('link', { name: 'message.incoming' }).waitFor();
    await assertNoSidewaysScroll(page);
    await page.getByRole('link', { name: 'message.incoming' }).click();
    await page.getByText('It was delivered at').waitFor();
    await assertUsable(page);
  });

  it('hides deliveries of other accounts', async (test) => {
    const other = await dashboard.server.account();
    await setWebhook(other.call);
    await (await writer(other.call))('for other eyes');
    const { deliveryId } = (await other.call('GET', '/webhooks/deliveries')).body.data[0];
    const { page } = await dashboard.openLoggedIn(test);
    await page.goto(`/deliveries/${deliveryId}`);
    await page.getByText('Delivery not found').waitFor();
    await page.goto('/deliveries');
    await page.getByText('No deliveries yet').waitFor();
  });
});
