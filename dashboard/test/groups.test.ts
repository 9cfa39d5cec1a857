import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Call, connectSession, newNumber, sharedSandbox } from '../../server/test/support/server.ts';
import { assertAccessible, assertSoon, assertUsable, PHONE, startDashboard } from './support/browser.ts';

const [ADA, BEA, CARL] = ['491700000021', '491700000022', '491700000023'];

async function createGroup(call: Call): Promise<string> {
  const sessionId = await connectSession(call);
  const { body } = await call('POST', '/groups', { sessionId, subject: 'Allotments', phoneNumbers: [ADA, BEA] });
  return body.groupId;
}

describe('groups pages', async () => {
  const dashboard = startDashboard({ env: sharedSandbox });

  it('creates a group from a list of numbers', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    await connectSession(call);
    await page.goto('/groups');
    await page.getByText('No groups yet').waitFor();
    await assertAccessible(page);
    await page.getByRole('button', { name: 'Create group' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('Choir');
    await dialog.getByLabel('Phone numbers').fill(`+${ADA},\n${BEA}`);
    await dialog.getByRole('button', { name: 'Create group' }).click();
    await page.getByRole('heading', { level: 1, name: 'Choir' }).waitFor();
    await page.getByRole('table', { name: 'Members' }).getByText(`+${BEA}`).waitFor();
    await assertAccessible(page);
    await page.getByRole('link', { name: 'All groups' }).click();
    await page.getByRole('table', { name: 'Groups' }).getByText('Owner').waitFor();
    await assertAccessible(page);
  });

  it('changes the name, description and settings of a group', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    const groupId = await createGroup(call);
    await page.goto(`/groups/${groupId}`);
    await page.getByLabel('Name', { exact: true }).fill('Gardens');
    await page.getByRole('textbox', { name: 'Description' }).fill('Every Sunday');
    await page.getByLabel('Only admins can send messages').check();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { level: 1, name: 'Gardens' }).waitFor();
    const { body } = await call('GET', `/groups/${groupId}`);
    const { announce, locked, joinApproval } = body.settings;
    assert.deepEqual(
      [body.subject, body.description, announce, locked, joinApproval],
      ['Gardens', 'Every Sunday', true, false, false],
    );
  });

  it('keeps unsaved edits when somebody else changes the group', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    const groupId = await createGroup(call);
    await page.goto(`/groups/${groupId}`);
    const description = page.getByRole('textbox', { name: 'Description' });
    await description.fill('Half a sentence');
    await call('PATCH', `/groups/${groupId}`, { subject: 'Renamed meanwhile' });
    await page.getByRole('heading', { level: 1, name: 'Renamed meanwhile' }).waitFor();
    await assertSoon(() => description.inputValue(), 'Half a sentence');
    await assertSoon(() => page.getByLabel('Name', { exact: true }).inputValue(), 'Renamed meanwhile');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved').first().waitFor();
    const { body } = await call('GET', `/groups/${groupId}`);
    assert.deepEqual([body.subject, body.description], ['Renamed meanwhile', 'Half a sentence']);
  });

  it('adds members, changes their roles and removes them', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    const groupId = await createGroup(call);
    const roles = async () =>
      Object.fromEntries(
        (await call('GET', `/groups/${groupId}`)).body.participants.map(
          (one: { phoneNumber: string; role: string }) => [one.phoneNumber, one.role],
        ),
      );
    await page.goto(`/groups/${groupId}`);
    await page.getByRole('button', { name: 'Add members' }).click();
    await page.getByRole('dialog').getByLabel('Phone numbers').fill(`${CARL}, ${BEA}`);
    await page.getByRole('dialog').getByRole('button', { name: 'Add members' }).click();
    await page
      .getByRole('alert')
      .filter({ hasText: `${BEA}: is already a member` })
      .waitFor();
    await assertAccessible(page);
    await page.keyboard.press('Escape');
    const row = (number: string) => page.getByRole('row').filter({ hasText: number });
    await row(CARL).waitFor();
    await page.getByRole('button', { name: `Actions for +${ADA}` }).click();
    await page.getByRole('menuitem', { name: 'Make admin' }).click();
    await row(ADA).getByText('Admin').waitFor();
    await page.getByRole('button', { name: `Actions for +${BEA}` }).click();
    await page.getByRole('menuitem', { name: 'Remove from group' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Remove from group' }).click();
    // The table is hidden behind the dialog.
    await page.getByRole('alertdialog').waitFor({ state: 'detached' });
    await row(BEA).waitFor({ state: 'detached' });
    const now = await roles();
    assert.deepEqual([now[ADA], now[BEA], now[CARL]], ['admin', undefined, 'member']);
  });

  it('joins a group by its invite link, and resets the link', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    const groupId = await createGroup(call);
    await page.goto(`/groups/${groupId}`);
    await page.getByRole('button', { name: 'Show link' }).click();
    const link = (await call('GET', `/groups/${groupId}/invite-link`)).body.inviteLink;
    await page.getByText(link, { exact: true }).waitFor();
    const other = await dashboard.openLoggedIn(test);
    await connectSession(other.call, newNumber());
    await other.page.goto('/groups');
    await other.page.getByRole('button', { name: 'Join group' }).click();
    await other.page.getByRole('dialog').getByLabel('Invite link').fill(link);
    await other.page.getByRole('dialog').getByRole('button', { name: 'Join group' }).click();
    await other.page.getByRole('heading', { level: 1, name: 'Allotments' }).waitFor();
    await other.page.getByText('Only admins of the group can change this.').waitFor({ state: 'detached' });

    await page.getByRole('button', { name: 'Reset link' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Reset link' }).click();
    await page.getByText('Invite link reset').first().waitFor();
    const { body } = await call('GET', `/groups/${groupId}/invite-link`);
    assert.notEqual(body.inviteLink, link);
    await page.getByText(body.inviteLink).waitFor();

    await other.page.getByRole('button', { name: 'Leave group' }).click();
    await other.page.getByRole('alertdialog').getByRole('button', { name: 'Leave group' }).click();
    await other.page.getByText('The session left the group').first().waitFor();
    const others = (await call('GET', `/groups/${groupId}`)).body.participants;
    assert.equal(others.length, 3);
  });

  it('lets an admin decide who joins, as requests arrive', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test, { viewport: PHONE });
    const groupId = await createGroup(call);
    const { sessionId } = (await call('GET', `/groups/${groupId}`)).body;
    const [dora, emil, fay] = ['491700000024', '491700000025', '491700000026'];
    const ask = (from: string) =>
      call('POST', `/sessions/${sessionId}/simulate`, { action: 'group_join_request', groupId, from });
    const members = async () =>
      (await call('GET', `/groups/${groupId}`)).body.participants.map(
        (one: { phoneNumber: string }) => one.phoneNumber,
      );
    await page.goto(`/groups/${groupId}`);
    await page.getByText('Anyone with this link can join.').waitFor();
    await page.getByLabel('Admins approve everyone who joins by the invite link').check();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Anyone with this link can ask to join.').waitFor();
    await page.getByText('Nobody waits for approval.').waitFor();
    await ask(dora);
    const requests = page.getByRole('table', { name: 'Requests to join' });
    await requests.getByText('by invite link').waitFor();
    await assertUsable(page);
    await ask(emil);
    await page.getByRole('button', { name: `Reject +${emil}` }).click();
    await page.getByText('1 request rejected').first().waitFor();
    await requests.getByText(`+${emil}`).waitFor({ state: 'detached' });
    await ask(fay);
    await page.getByRole('button', { name: `Approve +${dora}` }).waitFor();
    await page.getByRole('button', { name: 'Approve all' }).click();
    await page.getByText('Nobody waits for approval.').waitFor();
    await page.getByRole('table', { name: 'Members' }).getByText(`+${fay}`).waitFor();
    const now = await members();
    assert.deepEqual([now.includes(dora), now.includes(emil), now.includes(fay)], [true, false, true]);
  });

  it('changes who adds members, and the timer of messages', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    const groupId = await createGroup(call);
    const [{ sessionId }] = (await call('GET', '/sessions')).body.data;
    await call('POST', `/groups/${groupId}/participants`, { action: 'promote', phoneNumbers: [ADA] });
    const settings = { disappearingSeconds: 3600 }; // only other apps can set it
    await call('POST', `/sessions/${sessionId}/simulate`, { action: 'group_settings', groupId, from: ADA, settings });
    await page.goto(`/groups/${groupId}`);
    const timer = page.getByLabel('Disappearing messages');
    await assertSoon(() => timer.locator('option:checked').innerText(), '1 h');
    await timer.selectOption('7 days');
    await page.getByLabel('Only admins can add members').uncheck();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved').first().waitFor();
    const { memberAdd, disappearingSeconds } = (await call('GET', `/groups/${groupId}`)).body.settings;
    assert.deepEqual([memberAdd, disappearingSeconds], ['all', 604_800]);
    await assertAccessible(page);
  });

  it('is accessible and fits on a phone', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test, { viewport: PHONE });
    await createGroup(call);
    await page.goto('/groups');
    await page.getByRole('link', { name: 'Allotments' }).click();
    await page.getByRole('table', { name: 'Members' }).waitFor();
    await assertUsable(page);
  });

  it('hides groups of other accounts', async (test) => {
    const other = await dashboard.server.account();
    const groupId = await createGroup(other.call);
    const { page } = await dashboard.openLoggedIn(test);
    await page.goto(`/groups/${groupId}`);
    await page.getByText('Group not found').waitFor();
  });
});
