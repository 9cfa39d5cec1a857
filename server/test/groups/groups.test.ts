import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { describeWithSessionsApart } from '../support/databases/databases.ts';
import { eventually } from '../support/eventually.ts';
import { download, picture, upload } from '../support/media/media.ts';
import {
  type Answer,
  type Call,
  eventOf,
  sharedSandbox,
  startAgain,
  startServer,
  type TestServer,
} from '../support/server.ts';

const A = '491701111111';
const B = '491702222222';
const C = '491703333333';

describeWithSessionsApart('groups', (newHome, database) => {
  let server: TestServer;
  let a: Member;
  let b: Member;
  interface Member {
    readonly call: Call;
    readonly token: string;
    readonly sessionId: string;
  }
  async function member(phoneNumber: string): Promise<Member> {
    const { call, token } = await server.account();
    const { sessionId } = (await call('POST', '/sessions', { phoneNumber })).body;
    await call('POST', `/sessions/${sessionId}/connect`);
    return { call, token, sessionId };
  }
  before(async () => {
    server = await startServer({ database, env: sharedSandbox });
    [a, b] = [await member(A), await member(B)];
  });
  after(() => server.stop());

  /** A group of `a` with these members. */
  async function newGroup(...phoneNumbers: string[]): Promise<Answer['body']> {
    const { status, body } = await a.call('POST', '/groups', {
      subject: `group of ${phoneNumbers.length}`,
      phoneNumbers,
    });
    assert.equal(status, 201);
    return body;
  }
  /** The group as `b` sees it, because each session has its own id for it. */
  async function asB(group: Answer['body']): Promise<Answer['body']> {
    const { body } = await eventually(
      () => b.call('GET', '/groups'),
      (answer) => answer.body.data.some(({ createdAt }: { createdAt: string }) => createdAt === group.createdAt),
    );
    return body.data.find(({ createdAt }: { createdAt: string }) => createdAt === group.createdAt);
  }
  const roles = ({ participants }: Answer['body']) =>
    Object.fromEntries(participants.map((one: { phoneNumber: string; role: string }) => [one.phoneNumber, one.role]));

  it('each change reaches the other members as one event with the details', async () => {
    const group = await newGroup(B);
    const theirs = await asB(group);
    const path = `/groups/${group.groupId}`;
    const { mediaId } = (await upload(server, a.token, picture())).body;
    const changes: [object, string][] = [
      [{ subject: 'renamed' }, 'subject'],
      [{ description: 'its purpose' }, 'description'],
      [{ settings: { locked: true } }, 'settings'],
      [{ pictureMediaId: mediaId }, 'picture'],
    ];
    for (const [fields, type] of changes) {
      assert.equal((await a.call('PATCH', path, fields)).status, 200, type);
      await eventOf(
        b.call,
        'group.updated',
        ({ groupId, change }) => groupId === theirs.groupId && change.type === type,
      );
    }
    const { body } = await b.call('GET', `/groups/${theirs.groupId}`);
    assert.deepEqual([body.subject, body.description, body.settings.locked], ['renamed', 'its purpose', true]);
    assert.equal((await download(server, b.token, body.pictureMediaId)).status, 200);
    assert.equal((await a.call('PATCH', path, { pictureMediaId: null })).body.pictureMediaId, null);
  });

  it('a repeated request with an idempotency key creates one group', async () => {
    const create = () =>
      a.call('POST', '/groups', { subject: 'once', phoneNumbers: [C] }, { 'idempotency-key': 'this group' });
    const [first, second] = [await create(), await create()];
    assert.deepEqual([second.status, second.body.groupId], [201, first.body.groupId]);
    const { body } = await a.call('GET', '/groups?limit=200');
    assert.equal(body.data.filter(({ subject }: { subject: string }) => subject === 'once').length, 1);
  });

  it('creates a group with a description that asks admins before people join', async () => {
    const wanted = { subject: 'described', phoneNumbers: [B], description: 'its purpose', joinApproval: true };
    const { status, body } = await a.call('POST', '/groups', wanted);
    assert.equal(status, 201, JSON.stringify(body));
    assert.deepEqual([body.description, body.settings.joinApproval], ['its purpose', true]);
    const alone = await a.call('POST', '/groups', { subject: 'alone' });
    assert.deepEqual([alone.status, alone.body.errors?.[0]?.field], [400, 'phoneNumbers'], JSON.stringify(alone.body));
  });

  it('only the owner deletes a group, for everyone', async () => {
    const group = await newGroup(B);
    const theirs = await asB(group);
    assert.equal((await b.call('DELETE', `/groups/${theirs.groupId}`)).body.code, 'network_denied');
    const { status, body } = await a.call('DELETE', `/groups/${group.groupId}`);
    assert.deepEqual([status, body], [200, { groupId: group.groupId, deleted: true }]);
    await eventOf(
      b.call,
      'group.participants',
      ({ groupId, action, phoneNumbers }) =>
        groupId === theirs.groupId && action === 'remove' && phoneNumbers.includes(B),
    );
    for (const member of [a, b]) {
      const { data } = (await member.call('GET', '/groups?limit=200')).body;
      assert.ok(!data.some(({ groupId }: Answer['body']) => [group.groupId, theirs.groupId].includes(groupId)));
    }
    assert.equal((await b.call('POST', '/messages/send', { to: theirs.groupId, message: 'hi' })).status, 403);
  });

  it('only admins change a locked group and write to an announcement group', async () => {
    const group = await newGroup(B);
    const theirs = await asB(group);
    await a.call('PATCH', `/groups/${group.groupId}`, { settings: { locked: true, announce: true } });
    const rename = () => b.call('PATCH', `/groups/${theirs.groupId}`, { subject: `by b ${Date.now()}` });
    const write = () => b.call('POST', '/messages/send', { to: theirs.groupId, message: 'hello all' });
    assert.equal((await rename()).body.code, 'network_denied');
    assert.equal((await write()).body.code, 'network_denied');
    assert.equal((await a.call('POST', '/messages/send', { to: group.groupId, message: 'news' })).status, 201);
    await a.call('POST', `/groups/${group.groupId}/participants`, { action: 'promote', phoneNumbers: [B] });
    assert.equal((await rename()).status, 200);
    assert.equal((await write()).status, 201);
  });

  it('the invite link admits members until it is reset', async () => {
    const group = await newGroup(C);
    const link = `/groups/${group.groupId}/invite-link`;
    const { inviteLink, inviteCode } = (await a.call('GET', link)).body;
    assert.equal((await a.call('GET', link)).body.inviteLink, inviteLink, 'the link is stable');
    const joined = await b.call('POST', '/groups/join', { invite: inviteLink });
    assert.deepEqual([joined.status, joined.body.status], [200, 'joined']);
    assert.equal(roles(joined.body.group)[B], 'member');
    await eventOf(b.call, 'group.created', ({ groupId }) => groupId === joined.body.group.groupId);
    assert.equal((await b.call('GET', `/groups/${joined.body.group.groupId}/invite-link`)).body.code, 'network_denied');

    assert.notEqual((await a.call('DELETE', link)).body.inviteLink, inviteLink);
    const late = await b.call('POST', '/groups/join', { invite: inviteCode });
    assert.deepEqual([late.status, late.body.code], [404, 'not_found']);
  });

  it('with approval, the link only creates a request, and an admin adds the member', async () => {
    const group = await newGroup(C);
    await a.call('PATCH', `/groups/${group.groupId}`, { settings: { joinApproval: true } });
    const { inviteCode } = (await a.call('GET', `/groups/${group.groupId}/invite-link`)).body;
    const asked = await b.call('POST', '/groups/join', { invite: inviteCode });
    assert.deepEqual(asked.body, { status: 'requested', group: null });
    await a.call('POST', `/groups/${group.groupId}/participants`, { action: 'add', phoneNumbers: [B] });
    assert.equal(roles(await asB(group))[B], 'member');
  });

  it('a member who leaves is removed, and an owner who leaves is succeeded', async () => {
    const group = await newGroup(B, C);
    const theirs = await asB(group);
    assert.equal((await a.call('POST', `/groups/${group.groupId}/leave`)).body.left, true);
    const left = await eventually(
      () => b.call('GET', `/groups/${theirs.groupId}`),
      ({ body }) => roles(body)[A] === undefined,
    );
    assert.deepEqual(roles(left.body), { [B]: 'owner', [C]: 'member' });
    const listed = (await a.call('GET', '/groups?limit=200')).body.data;
    assert.ok(!listed.some(({ groupId }: { groupId: string }) => groupId === group.groupId));
    assert.equal(
      (await a.call('POST', '/messages/send', { to: group.groupId, message: 'x' })).body.code,
      'network_denied',
    );
  });

  it('settings and the invite link survive a restart', async (test) => {
    const start = startAgain(test, newHome, { database });
    const first = await start();
    const { call, token } = await first.account();
    const { sessionId } = (await call('POST', '/sessions', { phoneNumber: A })).body;
    await call('POST', `/sessions/${sessionId}/connect`);
    const { groupId } = (await call('POST', '/groups', { subject: 'stays', phoneNumbers: [C] })).body;
    await call('PATCH', `/groups/${groupId}`, { settings: { announce: true } });
    const { inviteLink } = (await call('GET', `/groups/${groupId}/invite-link`)).body;
    await first.stop();
    const { call: bare } = await start();
    const again = (path: string) => bare('GET', path, undefined, { authorization: `Bearer ${token}` });
    assert.equal((await again(`/groups/${groupId}`)).body.settings.announce, true);
    assert.equal((await again(`/groups/${groupId}/invite-link`)).body.inviteLink, inviteLink);
  });
});
