import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import { connectSession } from '../../server/test/support/server.ts';
import { assertAccessible, assertNoSidewaysScroll, assertUsable, PHONE, startDashboard } from './support/browser.ts';

const run = promisify(execFile);

describe('API reference', async () => {
  const dashboard = startDashboard();

  it('lists every operation and event type of the server', async (test) => {
    const { page } = await dashboard.openLoggedIn(test);
    await page.goto('/reference');
    const described = await (await fetch(`${dashboard.server.url}/openapi.json`)).json();
    const wanted = [described.paths, described.webhooks].flatMap((paths) =>
      Object.entries<object>(paths).flatMap(([path, methods]) =>
        Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
      ),
    );
    await page.getByText(/^\d+ operations$/).waitFor();
    const shown = await page
      .locator('summary')
      .evaluateAll((all) =>
        all.map((one) => `${one.querySelector('span span')?.textContent} ${one.querySelector('code')?.textContent}`),
      );
    assert.ok(wanted.length > 80);
    assert.deepEqual(shown.toSorted(), wanted.toSorted());
    await assertAccessible(page);
  });

  it('names resources like the pages do', async (test) => {
    const { page } = await dashboard.openLoggedIn(test);
    await page.goto('/reference');
    await page.getByRole('heading', { name: 'API keys', exact: true }).waitFor();
    await page.getByRole('heading', { name: 'Auth', exact: true }).waitFor();
  });

  it('opens an operation by its address, with an example that runs as it is', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    await connectSession(call);
    const { key } = (await call('POST', '/api-keys/create', { name: 'Example' })).body;
    await page.goto('/reference#messages.send');
    const snippet = page.getByRole('region', { name: 'Example request: curl' });
    await snippet.waitFor();
    const code = await snippet.innerText();
    const { stdout } = await run('sh', ['-c', `${code} -s`], { env: { ...process.env, SWITCHBOARD_KEY: key } });
    const sent = JSON.parse(stdout);
    assert.equal(sent.message, 'Hello', stdout);
    assert.equal((await call('GET', `/messages/${sent.messageId}`)).status, 200);

    await page.getByRole('tab', { name: 'TypeScript' }).click();
    await page.getByText('await sb.messages.send({').waitFor();
    await page.getByText('Requires the permission').first().waitFor();
    await page.getByText('Text of the message.').waitFor();
    await page.getByText('session_not_connected').first().waitFor();
    await assertUsable(page);
  });

  it('searches operations and opens them by keyboard on a phone', async (test) => {
    const { page } = await dashboard.openLoggedIn(test, { viewport: PHONE });
    await page.goto('/reference');
    await page.getByText(/^\d+ operations$/).waitFor();
    await page.getByLabel('Search operations').fill('get chats.list');
    await page.getByText(/^1 of \d+ operations$/).waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Errors' }).waitFor();
    await page.getByText('Fields').first().click();
    await assertUsable(page);
    await page.getByLabel('Search operations').fill('no such thing');
    await page.getByText('No operations match').waitFor();
    await assertAccessible(page);
  });

  it('shows the payload of an event', async (test) => {
    const { page } = await dashboard.openLoggedIn(test);
    await page.goto('/reference#webhook.message.incoming');
    await page
      .getByRole('region', { name: 'Example: Response message.incoming' })
      .getByText('"message.incoming"')
      .waitFor();
    await assertAccessible(page);
  });

  it('renders every operation', async (test) => {
    const { page } = await dashboard.openLoggedIn(test);
    await page.goto('/reference');
    await page.getByText(/^\d+ operations$/).waitFor();
    await page.evaluate(() => {
      for (const summary of document.querySelectorAll('summary')) summary.click();
    });
    const count = await page.locator('main details summary').count();
    assert.ok(count > 80);
    await page.getByRole('heading', { name: 'Responses' }).last().waitFor();
    await assertNoSidewaysScroll(page);
  });
});
