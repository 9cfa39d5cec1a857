import { describe, it } from 'node:test';
import { type Call, connectSession, eventOf } from '../../server/test/support/server.ts';
import { assertAccessible, assertSoon, assertUsable, PHONE, startDashboard } from './support/browser.ts';

const write = (call: Call, sessionId: string, message: string) =>
  call('POST', `/sessions/${sessionId}/simulate`, { action: 'incoming', from: '491700000031', message });

describe('events page', async () => {
  const dashboard = startDashboard();

  it('shows events live with their payloads', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    await page.goto('/events');
    await page.getByText('Waiting for events').waitFor();
    await page.getByRole('status').filter({ hasText: 'Live' }).waitFor();
    await assertAccessible(page);
    const sessionId = await connectSession(call);
    await page.getByRole('button', { name: 'session.connected' }).waitFor();
    await write(call, sessionId, 'Knock, knock');
    await page.getByRole('button', { name: 'message.incoming' }).click();
    const inspector = page.getByRole('region', { name: 'Payload of message.incoming' });
    await inspector.getByText('"Knock, knock"').waitFor();
    const { messageId } = await eventOf(call, 'message.incoming');
    await inspector.getByText(messageId).waitFor();
    const { eventId } = (await call('GET', '/events?events=message.incoming')).body.data[0];
    await page.getByText(eventId).waitFor();
    await assertAccessible(page);
  });

  it('holds events while it is paused', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    await page.goto('/events');
    await page.getByRole('status').filter({ hasText: 'Live' }).waitFor();
    await page.getByRole('button', { name: 'Pause' }).click();
    await connectSession(call);
    await page.getByText('Paused, 3 waiting').waitFor();
    await assertSoon(() => page.getByRole('button', { name: 'session.connected' }).count(), 0);
    await page.getByRole('button', { name: 'Resume' }).click();
    await page.getByRole('button', { name: 'session.connected' }).waitFor();
  });

  it('shows the log, which updates itself, and filters it by type', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    await page.goto('/events?view=log');
    await page.getByText('No events yet').waitFor();
    await assertAccessible(page);
    const sessionId = await connectSession(call);
    const table = page.getByRole('table', { name: 'Event log' });
    await table.getByRole('button', { name: 'session.connected' }).waitFor();
    await write(call, sessionId, 'first');
    await table.getByText('first').waitFor();
    await write(call, sessionId, 'second');
    await table.getByText('second').waitFor();
    await assertAccessible(page);
    await page.getByLabel('Event type').selectOption('session.connected');
    await table.getByText('second').waitFor({ state: 'detached' });
    await assertSoon(async () => new URL(page.url()).searchParams.get('kind'), 'session.connected');
    await table.getByRole('button', { name: 'session.connected' }).waitFor();
    await assertSoon(() => table.getByRole('button').count(), 1);
  });

  it('is accessible and fits on a phone', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test, { viewport: PHONE });
    await connectSession(call);
    await page.goto('/events?view=log');
    await page.getByRole('button', { name: 'session.connected' }).click();
    await page.getByRole('region', { name: 'Payload of session.connected' }).waitFor();
    await assertUsable(page);
  });

  it('hides events of other accounts', async (test) => {
    const other = await dashboard.server.account();
    await connectSession(other.call);
    const { page } = await dashboard.openLoggedIn(test);
    await page.goto('/events?view=log');
    await page.getByText('No events yet').waitFor();
  });

  it('streams no events of other accounts', async (test) => {
    const [mine, theirs] = [await dashboard.openLoggedIn(test), await dashboard.openLoggedIn(test)];
    await mine.page.goto('/events');
    await mine.page.getByRole('status').filter({ hasText: 'Live' }).waitFor();
    await write(theirs.call, await connectSession(theirs.call), 'Not for you');
    await eventOf(theirs.call, 'message.incoming');
    await write(mine.call, await connectSession(mine.call), 'For me');
    await mine.page.getByText('For me').waitFor();
    await assertSoon(() => mine.page.getByText('Not for you').count(), 0);
    const { body } = await mine.call('GET', '/events?events=*');
    const rows = 1 + body.data.length;
    await assertSoon(() => mine.page.getByRole('row').count(), rows, 'the header and the events of this account');
  });
});
