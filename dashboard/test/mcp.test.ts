import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { allows } from '../../server/src/auth/permissions.ts';
import { operations } from '../../server/src/operations/index.ts';
import { connectSession } from '../../server/test/support/server.ts';
import { clientsFor } from '../src/pages/mcp/clients.ts';
import { assertAccessible, assertUsable, PHONE, startDashboard } from './support/browser.ts';

const toolCount = operations.filter(({ tool }) => tool).length;

describe('client configurations', () => {
  it('match the documentation', () => {
    const documented = readFileSync(new URL('../../docs/mcp.md', import.meta.url), 'utf8');
    for (const { name, file, code } of clientsFor('http://127.0.0.1:8080')) {
      assert.ok(documented.includes(code), name);
      assert.ok(documented.includes(name) && documented.includes(file), `${name}, ${file}`);
    }
  });
});

/**
 * Opens a tool of the list.
 * @returns its list item
 */
async function openTool(page: Page, name: string) {
  const tool = page.getByRole('list', { name: 'Tools' }).getByRole('listitem').filter({ hasText: name });
  await page.getByLabel('Search tools').fill(name);
  await tool.locator('summary').first().click();
  return tool.first();
}

describe('MCP page', async () => {
  const dashboard = startDashboard();

  it('shows the configuration of each client for this server', async (test) => {
    const { page } = await dashboard.openLoggedIn(test);
    await page.goto('/tools');
    for (const { name, code } of clientsFor(dashboard.server.url)) {
      await page.getByRole('tab', { name }).click();
      const shown = await page.getByRole('region', { name: `Configuration of ${name}` }).innerText();
      assert.equal(shown.trim(), code);
    }
    await page.getByText(`${toolCount} tools`).waitFor();
    await assertAccessible(page);
  });

  it('lists the tools that a key permits', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    const permissions = ['messages:*', 'chats:read', 'sessions:read'];
    const { key } = (await call('POST', '/api-keys/create', { name: 'Agent', permissions })).body;
    const permitted = operations.filter((one) => one.tool && (!one.permission || allows(permissions, one.permission)));
    await page.goto('/tools');
    await page.getByLabel('Show tools for').selectOption('Agent');
    await page.getByText(`${permitted.length} of ${toolCount} tools`).waitFor();
    const shown = await page.getByRole('list', { name: 'Tools' }).locator('summary code').allInnerTexts();
    const answer = await fetch(`${dashboard.server.url}/api/v1/mcp`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }),
    });
    const offered = [...(await answer.text()).matchAll(/"name":"(\w+)","title"/g)].map(([, name]) => name);
    assert.ok(offered.length > 5);
    assert.deepEqual(shown, offered);
  });

  it('calls a tool and shows the result that an agent would get', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    await connectSession(call);
    await page.goto('/tools');
    const tool = await openTool(page, 'messages_send_poll');
    await tool.getByLabel('to', { exact: true }).fill('491700000081');
    await tool.getByLabel('question').fill('Tea?');
    await tool.getByLabel('options').fill('Yes\nNo');
    await tool.getByLabel('maxSelections').fill('1');
    await assertAccessible(page);
    await tool.getByRole('button', { name: 'Call tool' }).click();
    await tool.getByText('The call succeeded').waitFor();
    await assertUsable(page);
    const [sent] = (await call('GET', '/messages')).body.data;
    assert.equal(sent.type, 'poll');
    await tool.getByRole('region', { name: 'Result' }).getByText(sent.messageId).first().waitFor();
  });

  it('shows an invalid input at its field', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    await connectSession(call);
    await page.goto('/tools');
    const tool = await openTool(page, 'messages_list');
    await tool.getByLabel('chatId').fill('x'.repeat(300));
    await tool.getByRole('button', { name: 'Call tool' }).click();
    await tool.locator('input[aria-invalid=true]').waitFor();
    await tool.getByText('Correct the fields in errors').first().waitFor();
    await assertAccessible(page);
  });

  it('shows plain text errors of tools and of the protocol', async (test) => {
    const { page } = await dashboard.openLoggedIn(test);
    await page.goto('/tools');
    const tool = await openTool(page, 'sessions_list');
    for (const answer of [
      { result: { isError: true, content: [{ type: 'text', text: 'Too early' }] } },
      { error: { code: -32_602, message: 'Too late' } },
    ]) {
      await page.route('**/api/v1/mcp', (route) => route.fulfill({ json: { jsonrpc: '2.0', id: 1, ...answer } }));
      await tool.getByRole('button', { name: 'Call tool' }).click();
      await tool
        .getByText('result' in answer ? 'Too early' : 'Too late', { exact: true })
        .first()
        .waitFor();
    }
  });

  it('shows the image of a result', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    const { sessionId } = (await call('POST', '/sessions', { options: { pairing: true } })).body;
    await call('POST', `/sessions/${sessionId}/connect`);
    await page.goto('/tools');
    const tool = await openTool(page, 'sessions_get_qr');
    await tool.getByLabel('sessionId').fill(sessionId);
    await tool.getByRole('button', { name: 'Call tool' }).click();
    const picture = tool.getByAltText('Image in the result');
    await picture.waitFor();
    assert.ok((await picture.evaluate((image: HTMLImageElement) => image.naturalWidth)) > 50);
  });

  it('asks for confirmation before a destructive call', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    await connectSession(call);
    const sent = await call('POST', '/messages/send', { to: '491700000082', message: 'Not forever' });
    const { messageId } = sent.body;
    const text = async () => (await call('GET', `/messages/${messageId}`)).body.message;
    await page.goto('/tools');
    const tool = await openTool(page, 'messages_delete');
    await tool.getByLabel('messageId').fill(messageId);
    await tool.getByRole('button', { name: 'Call tool' }).click();
    await assertAccessible(page);
    await page.getByRole('alertdialog').getByRole('button', { name: 'Cancel' }).click();
    assert.equal(await text(), 'Not forever', 'cancelling changes nothing');
    await tool.getByRole('button', { name: 'Call tool' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Call tool' }).click();
    await tool.getByText('The call succeeded').waitFor();
    assert.equal(await text(), '', 'the text is deleted');
  });

  it('is accessible and works by keyboard on a phone', async (test) => {
    const { page } = await dashboard.openLoggedIn(test, { viewport: PHONE });
    await page.goto('/tools');
    await page.getByLabel('Search tools').fill('sessions_list');
    await page.getByText(`1 of ${toolCount} tools`).waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.getByRole('textbox', { name: 'cursor' }).waitFor();
    await assertUsable(page);
    await page.getByRole('textbox', { name: 'cursor' }).focus();
    await page.keyboard.press('Enter');
    await page.getByText('The call succeeded').waitFor();
    await page.getByLabel('Search tools').fill('no such tool');
    await page.getByText('No tools match').waitFor();
  });
});
