import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { sharedSandbox } from '../../server/test/support/server.ts';
import { webLink } from '../src/model/webLink.ts';
import { chatSearch } from '../src/pages/chats/search.ts';
import { assertAccessible, startDashboard } from './support/browser.ts';
import { FRIEND, openSandbox } from './support/sandbox.ts';

const OTHER = '491700000008';
/** Beyond the integers that JavaScript keeps exactly. */
const AD = '120226305854810726';

describe('chats that came through ads', async () => {
  const dashboard = startDashboard({ env: sharedSandbox });

  it('are found by a filter that stays in the address, with the search', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    const { write, simulate } = await openSandbox(call);
    const referral = { adId: AD, headline: 'Tea of the month', body: 'Now fresh', url: 'https://fb.me/tea' };
    await simulate({ action: 'incoming', from: FRIEND, message: 'Is the tea fresh?', referral });
    await write('Fresh tea without an ad', OTHER);
    await page.goto('/chats');
    const chats = page.getByRole('list', { name: 'Chats' }).getByRole('button');
    await chats.nth(1).waitFor();
    await page.getByText('Filters').click();
    await page.getByLabel('Ads').selectOption({ label: 'Only from ads' });
    await page.getByRole('list', { name: 'Chats' }).getByText('Is the tea fresh?').waitFor();
    await chats.nth(1).waitFor({ state: 'detached' });
    await assertAccessible(page);
    await page.getByLabel('Ad ID').fill('1');
    await page.keyboard.press('Enter');
    await page.getByText('No chats came from these ads').waitFor();
    await page.getByLabel('Ad ID').fill(AD);
    await page.keyboard.press('Enter');
    await page.getByRole('list', { name: 'Chats' }).getByText('Is the tea fresh?').waitFor();
    const filters = page.locator('summary', { hasText: 'Filters' });
    await filters.click();
    await page.getByLabel('Ad ID').waitFor({ state: 'hidden' });
    await filters.getByText(`From ad ${AD}`).waitFor();
    await assertAccessible(page);
    // Without quotes, as people write it.
    await page.goto(`/chats?ads=true&adId=${AD}`);
    await chats.first().click();
    await page.getByRole('article').getByText('Is the tea fresh?').waitFor();
    assert.equal(await page.getByLabel('Ad ID').inputValue(), AD);
    await page.getByLabel('Search messages').fill('fresh');
    const results = page.getByRole('list', { name: 'Search results' }).getByRole('button');
    await results.getByText('Is the tea fresh?').waitFor();
    assert.equal(await results.count(), 1);
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await results.nth(1).waitFor();
  });

  it('show the ad of a message with a link to its page', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    const { simulate } = await openSandbox(call);
    const referral = { adId: AD, headline: 'Tea of the month', body: 'Now fresh', url: 'https://fb.me/tea' };
    await simulate({ action: 'incoming', from: FRIEND, message: 'Hello', referral });
    await page.goto(`/chats?chat=${FRIEND}`);
    const message = page.getByRole('article');
    for (const text of ['Tea of the month', 'Now fresh', `Came from an ad: ${AD}`])
      await message.getByText(text).waitFor();
    const link = message.getByRole('link', { name: 'https://fb.me/tea' });
    const shown = ['href', 'target', 'rel'].map((name) => link.getAttribute(name));
    assert.deepEqual(await Promise.all(shown), ['https://fb.me/tea', '_blank', 'noopener noreferrer']);
    await assertAccessible(page);
  });
});

it('links only to pages of the web, as the browser would open them', () => {
  assert.equal(webLink('HTTPS://fb.me/tea'), 'https://fb.me/tea');
  // A Cyrillic letter that looks like a Latin one.
  assert.equal(webLink('http://f\u0430cebook.com/'), 'http://xn--fcebook-2fg.com/');
  for (const text of ['javascript:alert(1)', 'data:text/html,x', 'file:///etc/passwd', 'fb.me/tea', '//fb.me', ''])
    assert.equal(webLink(text), undefined, text);
});

it('ignores an ad id in the address without the filter', () => {
  assert.equal('adId' in chatSearch({ adId: AD }), false);
});
