import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { callTool, mcpClient } from '../../server/test/support/mcp/mcp.ts';
import { connectSession, newNumber } from '../../server/test/support/server.ts';
import { assertSoon, assertUsable, type LoggedIn, PHONE, startDashboard } from './support/browser.ts';

describe('activity of an API key', async () => {
  const dashboard = startDashboard();

  /** A key with which an agent has sent, asked and failed. */
  async function withCalls({ call }: LoggedIn) {
    await connectSession(call);
    const made = { name: 'Assistant', confirm: ['new_recipients'] };
    const { keyId, key } = (await call('POST', '/api-keys/create', made)).body;
    const client = await mcpClient(dashboard.server, key, '2026-07-28');
    const to = newNumber();
    const input = { to, message: 'a private text' };
    const { confirmationToken } = (await callTool(client, 'messages_send', input)).output;
    await callTool(client, 'messages_send', { ...input, confirmationToken });
    await callTool(client, 'messages_delete', { messageId: 'msg_none' });
    const again = () => callTool(client, 'messages_send', input);
    return { keyId, to, again, close: () => client.close() };
  }

  it('lists what the agent did, filters it, and follows what it does next', async (test) => {
    const account = await dashboard.openLoggedIn(test);
    const { page } = account;
    const { keyId, to, again, close } = await withCalls(account);
    test.after(close);
    await page.goto('/keys');
    await page.getByRole('button', { name: 'Actions for Assistant' }).click();
    await page.getByRole('menuitem', { name: 'Activity' }).click();
    await page.waitForURL(`**/keys/${keyId}`);
    await page.getByRole('heading', { level: 1, name: 'Activity of Assistant' }).waitFor();
    const rows = page.getByRole('table', { name: 'Activity' }).getByRole('row');
    const shown = async () => (await rows.count()) - 1;
    await assertSoon(shown, 3);
    const asked = rows.filter({ hasText: 'Asked the user' });
    await asked.getByText(`to ${to}, message (14 characters)`).waitFor();
    await rows.filter({ hasText: 'Done' }).getByText('test 1.0.0').waitFor();
    await rows.filter({ hasText: 'messages_delete' }).getByText('not_found').waitFor();
    assert.ok(!(await page.content()).includes('a private text'));
    await assertUsable(page);

    await page.getByLabel('Outcome').selectOption('Any error');
    await assertSoon(shown, 2);
    await page.getByLabel('Tool').fill('messages_delete');
    await page.keyboard.press('Enter');
    await assertSoon(shown, 1);
    assert.match(page.url(), /tool=messages_delete/);
    await page.getByLabel('Tool').fill('nothing');
    await page.keyboard.press('Enter');
    await page.getByText('No calls match these filters').waitFor();
    await page.goto(`/keys/${keyId}?outcome=ok`);
    await assertSoon(shown, 1);
    await again();
    await assertSoon(shown, 2);
    await page.getByRole('link', { name: 'All API keys' }).click();
    await page.waitForURL('**/keys');
  });

  it('fits on a phone', async (test) => {
    const account = await dashboard.openLoggedIn(test, { viewport: PHONE });
    const { keyId, close } = await withCalls(account);
    test.after(close);
    await account.page.goto(`/keys/${keyId}`);
    await account.page.getByRole('cell').getByText('Asked the user').waitFor();
    const line = account.page.getByRole('button', { name: /message \(14 characters\)/ }).first();
    await line.click();
    await assertSoon(() => line.evaluate((node) => node.scrollHeight <= node.clientHeight), true);
    await assertUsable(account.page);
  });

  it('says that nothing happened yet, and that a key does not exist', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    const { keyId } = (await call('POST', '/api-keys/create', { name: 'Quiet' })).body;
    await page.goto(`/keys/${keyId}`);
    await page.getByText('No tool calls yet').waitFor();
    await assertUsable(page);
    await page.goto('/keys/key_none');
    await page.getByText('API key not found').waitFor();
  });
});
