import { describe, it } from 'node:test';
import { sharedSandbox } from '../../server/test/support/server.ts';
import { assertAccessible, assertNoSidewaysScroll, PHONE, startDashboard } from './support/browser.ts';
import { FRIEND, openSandbox } from './support/sandbox.ts';

describe('kinds of messages in a chat', async () => {
  const dashboard = startDashboard({ env: sharedSandbox });

  it('are legible on a phone', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test, { viewport: PHONE });
    const { simulate } = await openSandbox(call);
    const incoming = (fields: object) => simulate({ action: 'incoming', from: FRIEND, ...fields });
    const place = { name: 'x'.repeat(200) };
    await incoming({ message: 'Team lunch', event: { startsAt: '2030-07-01T12:00:00Z', location: place } });
    await incoming({ product: { title: 'Green tea', price: 4.5, currency: 'EUR', url: `https://${'y'.repeat(200)}` } });
    await incoming({ order: { items: [{ retailerId: 'tea', quantity: 2, price: 4.5, currency: 'EUR' }], total: 9 } });
    await incoming({ groupInvite: { networkGroupId: '1@g.us', code: 'Abc', subject: 'Tea lovers' } });
    await incoming({ message: 'Yes', choice: { kind: 'button', id: 'yes' } });
    await incoming({ message: 'for the tea', rawType: 'requestPaymentMessage' });
    await page.goto(`/chats?chat=${FRIEND}`);
    const messages = page.getByRole('article');
    for (const text of ['Team lunch', '4.5 EUR', '2 × tea', 'Tea lovers', 'Pressed a button'])
      await messages.getByText(text).first().waitFor();
    await messages.getByText('Unknown kind: requestPaymentMessage').waitFor();
    await assertNoSidewaysScroll(page);
    await assertAccessible(page);
  });
});
