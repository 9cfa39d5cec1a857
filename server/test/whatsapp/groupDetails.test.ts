import assert from 'node:assert/strict';
import { randomFillSync } from 'node:crypto';
import { it } from 'node:test';
import { eventually } from '../support/eventually.ts';
import type { Phone } from '../support/fakeWhatsapp/index.ts';
import { download } from '../support/media/media.ts';
import { type Answer, eventOf } from '../support/server.ts';
import { eventsOf, inStatus, linkSession, nextPhone, useWhatsapp } from './support.ts';

const setting = useWhatsapp({}, prepare);
let me: Phone;
let bob: Phone;
let carol: Phone;
let sessionId: string;

async function prepare() {
  me = nextPhone(setting.whatsapp, 'Me');
  bob = nextPhone(setting.whatsapp, 'Bob');
  carol = nextPhone(setting.whatsapp, 'Carol');
  sessionId = await linkSession(setting.call, me);
}

/** Bytes that are detected as a JPEG, unique per call. */
const jpeg = () =>
  Buffer.concat([Buffer.from('ffd8ffe000104a46494600010100000100010000', 'hex'), randomFillSync(Buffer.alloc(64))]);

async function ask(...request: Parameters<typeof setting.call>): Promise<Answer['body']> {
  const { status, body } = await setting.call(...request);
  assert.ok(status < 300, `${request.slice(0, 2).join(' ')}: ${JSON.stringify(body)}`);
  return body;
}

const createGroup = (subject: string) => ask('POST', '/groups', { sessionId, subject, phoneNumbers: [bob.number] });

/** The session's id of a group that somebody else has created. */
async function groupIdOf(subject: string): Promise<string> {
  return (await eventOf(setting.call, 'group.created', (data) => data.subject === subject)).groupId;
}

async function changesOf(groupId: string): Promise<Answer['body'][]> {
  const events = await eventsOf(setting.call, sessionId, ['group.updated']);
  return events.filter(({ data }) => data.groupId === groupId).map(({ data }) => data.change);
}

async function requestChanges(groupId: string): Promise<string[][]> {
  const events = await eventsOf(setting.call, sessionId, ['group.join_request']);
  return events
    .filter(({ data }) => data.groupId === groupId)
    .map(({ data }) => [data.phoneNumber, data.change, data.method].filter(Boolean));
}

it('lists, approves and rejects requests to join a group, and reports each', async () => {
  const dave = nextPhone(setting.whatsapp, 'Dave');
  const erin = nextPhone(setting.whatsapp, 'Erin');
  const { groupId, networkGroupId } = await createGroup('By request');
  await ask('PATCH', `/groups/${groupId}`, { settings: { joinApproval: true } });
  const { inviteCode } = await ask('GET', `/groups/${groupId}/invite-link`);
  for (const phone of [carol, dave, erin]) assert.equal(phone.groups.join(inviteCode), 'requested');
  const waiting = await eventually(
    () => requestChanges(groupId),
    (changes) => changes.length === 3,
  );
  assert.deepEqual(waiting[0], [carol.number, 'created', 'invite_link']);
  const requests = `/groups/${groupId}/join-requests`;
  const { data } = await ask('GET', requests);
  assert.deepEqual(
    data.map(({ phoneNumber, method }: Answer['body']) => [phoneNumber, method]),
    [carol, dave, erin].map(({ number }) => [number, 'invite_link']),
  );
  assert.ok(Math.abs(Date.parse(data[0].requestedAt) - Date.now()) < 600_000);
  const approved = await ask('POST', `${requests}/approve`, { phoneNumbers: [carol.number, me.number] });
  assert.deepEqual(approved.results, [
    { phoneNumber: carol.number, ok: true },
    { phoneNumber: me.number, ok: false, reason: 'does not wait to join the group' },
  ]);
  const rejected = await ask('POST', `${requests}/reject`, { phoneNumbers: [dave.number] });
  assert.deepEqual(rejected.results, [{ phoneNumber: dave.number, ok: true }]);
  erin.groups.withdraw(networkGroupId);
  const all = await eventually(
    () => requestChanges(groupId),
    (changes) => changes.length >= 6,
  );
  assert.deepEqual(all.slice(3), [
    [carol.number, 'approved', 'invite_link'],
    [dave.number, 'rejected', 'invite_link'],
    [erin.number, 'withdrawn', 'invite_link'],
  ]);
  assert.deepEqual((await ask('GET', requests)).data, []);
  const { participants } = await ask('GET', `/groups/${groupId}`);
  assert.ok(participants.some(({ phoneNumber }: Answer['body']) => phoneNumber === carol.number));
});

it('reports a request that another admin rejects, and hides the list from members', async () => {
  const networkId = bob.groups.create('Of Bob', [me.number]);
  const groupId = await groupIdOf('Of Bob');
  bob.groups.setApproval(networkId, true);
  carol.groups.join(bob.groups.inviteCode(networkId));
  await eventually(
    () => requestChanges(groupId),
    (changes) => changes.length === 1,
  );
  bob.groups.decide(networkId, 'reject', [carol.number]);
  const changes = await eventually(
    () => requestChanges(groupId),
    (all) => all.length === 2,
  );
  assert.deepEqual(changes[1], [carol.number, 'rejected', 'invite_link']);
  const { body } = await setting.call('GET', `/groups/${groupId}/join-requests`);
  assert.equal(body.code, 'network_denied');
});

it('previews an invite by code and by link, without joining', async () => {
  const networkId = bob.groups.create('To look at', [carol.number]);
  bob.groups.setApproval(networkId, true);
  const code = bob.groups.inviteCode(networkId);
  for (const invite of [code, encodeURIComponent(`https://chat.whatsapp.com/${code}`)]) {
    const preview = await ask('GET', `/groups/preview?invite=${invite}&sessionId=${sessionId}`);
    assert.deepEqual(
      [preview.networkGroupId, preview.subject, preview.size, preview.createdBy, preview.joinApproval],
      [networkId, 'To look at', 2, bob.number, true],
    );
  }
  const { data } = await ask('GET', `/groups?q=look`);
  assert.deepEqual(data, []);
  const unknown = await setting.call('GET', `/groups/preview?invite=nothing&sessionId=${sessionId}`);
  assert.equal(unknown.body.code, 'not_found');
});

it('creates a community, lists, links and unlinks its groups', async () => {
  const community = await ask('POST', '/communities', { sessionId, subject: 'Town', description: 'All of us' });
  assert.deepEqual([community.isCommunity, community.description], [true, 'All of us']);
  const linkedGroups = `/communities/${community.groupId}/groups`;
  const listed = () => ask('GET', linkedGroups);
  const first = await eventually(listed, ({ data }) => data.length === 1 && data[0].groupId !== null);
  const announcements = await ask('GET', `/groups/${first.data[0].groupId}`);
  assert.deepEqual([announcements.isAnnouncementGroup, announcements.communityId], [true, community.groupId]);
  const group = await createGroup('Street');
  assert.equal(group.communityId, undefined);
  await ask('PUT', `${linkedGroups}/${group.groupId}`);
  assert.equal((await ask('GET', `/groups/${group.groupId}`)).communityId, community.groupId);
  assert.deepEqual(
    (await listed()).data.map(({ groupId, subject, size }: Answer['body']) => [groupId, subject, size]),
    [
      [announcements.groupId, 'Town', 1],
      [group.groupId, 'Street', 2],
    ],
  );
  const twice = await setting.call('DELETE', `${linkedGroups}/${announcements.groupId}`);
  assert.equal(twice.body.code, 'network_denied', JSON.stringify(twice.body));
  await ask('DELETE', `${linkedGroups}/${encodeURIComponent(group.networkGroupId)}`);
  assert.equal((await ask('GET', `/groups/${group.groupId}`)).communityId, undefined);
  assert.deepEqual(await changesOf(group.groupId), [], 'a link is not a change of the group');
  const { data } = await ask('GET', `/communities?sessionId=${sessionId}`);
  assert.deepEqual(
    data.map(({ groupId }: Answer['body']) => groupId),
    [community.groupId],
  );
  const { body } = await setting.call('GET', `/communities/${group.groupId}/groups`);
  assert.equal(body.code, 'validation_failed');
});

it('links only groups that the session is an admin of, and sees links by others', async () => {
  const community = await ask('POST', '/communities', { sessionId, subject: 'Mine' });
  const networkId = bob.groups.create('Not mine', [me.number]);
  const groupId = await groupIdOf('Not mine');
  const refused = await setting.call('PUT', `/communities/${community.groupId}/groups/${groupId}`);
  assert.equal(refused.body.code, 'network_denied', JSON.stringify(refused.body));
  bob.groups.link(bob.groups.createCommunity('Of Bob too'), networkId);
  bob.groups.rename(networkId, 'Of a community');
  await eventOf(setting.call, 'group.updated', (data) => data.groupId === groupId);
  assert.equal((await ask('GET', `/groups/${groupId}`)).communityId, undefined, 'the session is not in the community');
});

it('sets who can add members and how long messages stay, and reports both from a phone', async () => {
  const { groupId, settings, networkGroupId } = await createGroup('Settings');
  assert.deepEqual([settings.memberAdd, settings.disappearingSeconds], ['all', 0]);
  const wanted = { memberAdd: 'admins', disappearingSeconds: 86_400 };
  const changed = await ask('PATCH', `/groups/${groupId}`, { settings: wanted });
  assert.deepEqual([changed.settings.memberAdd, changed.settings.disappearingSeconds], ['admins', 86_400]);
  const own = (await changesOf(groupId)).map((change) => change.settings);
  assert.deepEqual(Object.assign({}, ...own), wanted);
  assert.equal(own.flatMap(Object.keys).length, 2, 'each is reported once');
  await ask('POST', `/groups/${groupId}/participants`, { action: 'promote', phoneNumbers: [bob.number] });
  bob.groups.setTimer(networkGroupId, 604_800);
  bob.groups.setMemberAdd(networkGroupId, 'all_member_add');
  const changes = await eventually(
    () => changesOf(groupId),
    (all) => all.filter(({ type }) => type === 'settings').length >= 3 || all.at(-1)?.settings?.memberAdd === 'all',
  );
  assert.ok(changes.some((change) => change.settings?.disappearingSeconds === 604_800));
  const odd = await setting.call('PATCH', `/groups/${groupId}`, { subject: 'X', settings: { disappearingSeconds: 5 } });
  assert.deepEqual([odd.body.code, odd.body.errors[0].field], ['validation_failed', 'settings.disappearingSeconds']);
});

it('notices pictures that others set and remove, once each, also while the session was away', async () => {
  const { call, server, token } = setting;
  const networkId = bob.groups.create('Pictures', [me.number]);
  const groupId = await groupIdOf('Pictures');
  const content = jpeg();
  const pictures = async () => (await changesOf(groupId)).filter(({ type }) => type === 'picture').length;
  bob.setPicture(content, networkId);
  await eventually(pictures, (count) => count === 1);
  const { pictureMediaId } = await ask('GET', `/groups/${groupId}`);
  assert.deepEqual((await download(server, token, pictureMediaId)).bytes, content);
  await call('POST', `/sessions/${sessionId}/disconnect`);
  const another = jpeg();
  bob.setPicture(another, networkId);
  await call('POST', `/sessions/${sessionId}/connect`);
  await inStatus(call, sessionId, 'connected');
  await eventually(pictures, (count) => count === 2);
  const now = await ask('GET', `/groups/${groupId}`);
  assert.deepEqual((await download(server, token, now.pictureMediaId)).bytes, another);
  bob.setPicture(undefined, networkId);
  await eventually(pictures, (count) => count === 3);
  assert.equal((await ask('GET', `/groups/${groupId}`)).pictureMediaId, null);
});

it('fetches a picture again on the next connection if its host fails', async () => {
  const { call, whatsapp } = setting;
  const networkId = bob.groups.create('Unreachable', [me.number]);
  const groupId = await groupIdOf('Unreachable');
  whatsapp.faults.refuseDownloads(500);
  const before = whatsapp.counters.downloads;
  bob.setPicture(jpeg(), networkId);
  await eventually(
    async () => whatsapp.counters.downloads,
    (count) => count > before,
  );
  await call('POST', `/sessions/${sessionId}/disconnect`);
  whatsapp.faults.refuseDownloads(undefined);
  await call('POST', `/sessions/${sessionId}/connect`);
  await inStatus(call, sessionId, 'connected');
  await eventOf(call, 'group.updated', (data) => data.groupId === groupId && data.change.type === 'picture');
});

it('deletes messages of others as an admin, and not as a member', async () => {
  const { call } = setting;
  const { groupId, networkGroupId } = await createGroup('Moderated');
  const id = await bob.sendText(networkGroupId, 'spam');
  const { messageId } = await eventOf(call, 'message.incoming', ({ message }) => message === 'spam');
  const deleted = await ask('DELETE', `/messages/${messageId}`);
  assert.deepEqual([deleted.deleted, deleted.message], [true, '']);
  const got = await bob.messages.waitFor(({ message }) => message.protocolMessage?.key?.id === id);
  assert.equal(got.chat, networkGroupId);
  const { fromMe, from } = await eventOf(call, 'message.deleted', (data) => data.messageId === messageId);
  assert.deepEqual([fromMe, from], [true, me.number]);
  assert.ok(groupId);

  const networkId = bob.groups.create('Of others', [me.number]);
  await groupIdOf('Of others');
  await bob.sendText(networkId, 'stays');
  const kept = await eventOf(call, 'message.incoming', ({ message }) => message === 'stays');
  assert.equal((await call('DELETE', `/messages/${kept.messageId}`)).body.code, 'network_denied');
  await bob.sendText(me.number, 'direct');
  const direct = await eventOf(call, 'message.incoming', ({ message }) => message === 'direct');
  assert.equal((await call('DELETE', `/messages/${direct.messageId}`)).body.code, 'message_state');
});
