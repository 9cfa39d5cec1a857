import assert from 'node:assert/strict';
import { it } from 'node:test';
import { type BinaryNode, proto } from 'baileys';
import { eventually } from '../support/eventually.ts';
import type { Phone } from '../support/fakeWhatsapp/index.ts';
import { childOf, childrenOf } from '../support/fakeWhatsapp/stanza.ts';
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

async function createGroup(subject: string): Promise<Answer['body']> {
  const { status, body } = await setting.call('POST', '/groups', { sessionId, subject, phoneNumbers: [bob.number] });
  assert.equal(status, 201, JSON.stringify(body));
  return body;
}

/** The reported changes of a group, in order. */
async function changesOf(groupId: string): Promise<Answer['body'][]> {
  const events = await eventsOf(setting.call, sessionId, ['group.updated']);
  return events.filter(({ data }) => data.groupId === groupId).map(({ data }) => data.change);
}

it('a created group is reported once, and accepts messages both ways', async () => {
  const { call } = setting;
  const group = await createGroup('Team');
  assert.deepEqual(
    group.participants.map(({ phoneNumber }: { phoneNumber: string }) => phoneNumber).toSorted(),
    [me.number, bob.number].toSorted(),
  );
  const { status, body } = await call('POST', '/messages/send', { sessionId, to: group.groupId, message: 'hello all' });
  assert.equal(status, 201, JSON.stringify(body));
  const got = await bob.messages.waitFor(({ message }) => message.extendedTextMessage?.text === 'hello all');
  await eventOf(call, 'message.delivered', ({ messageId }) => messageId === body.messageId);
  assert.match(got.chat, /@g\.us$/);
  assert.equal(group.networkGroupId, got.chat);
  const byAddress = await call('POST', '/messages/send', { sessionId, to: got.chat, message: 'hello again' });
  assert.deepEqual([byAddress.status, byAddress.body.chatId], [201, group.groupId]);
  await bob.messages.waitFor(({ message }) => message.extendedTextMessage?.text === 'hello again');
  await bob.sendText(got.chat, 'hello to you');
  const incoming = await eventOf(call, 'message.incoming', ({ message }) => message === 'hello to you');
  assert.equal(incoming.groupId, group.groupId);
  assert.equal(incoming.from, bob.number);
  const created = await eventsOf(call, sessionId, ['group.created']);
  assert.equal(created.filter(({ data }) => data.groupId === group.groupId).length, 1);
});

it('returns a new group whose description or approval WhatsApp refuses', async () => {
  const { call, whatsapp } = setting;
  const wanted = { sessionId, subject: 'Incomplete', phoneNumbers: [bob.number], description: 'D', joinApproval: true };
  whatsapp.faults.limitQueries('description', 1);
  const first = await call('POST', '/groups', wanted);
  assert.equal(first.status, 201, JSON.stringify(first.body));
  assert.deepEqual([first.body.description, first.body.settings.joinApproval], [null, true]);
  whatsapp.faults.limitQueries('membership_approval_mode', 1);
  const second = await call('POST', '/groups', wanted);
  assert.deepEqual(
    [second.status, second.body.description, second.body.settings?.joinApproval],
    [201, 'D', false],
    JSON.stringify(second.body),
  );
});

it('changes of subject, description and settings are reported once each', async () => {
  const { call } = setting;
  const { groupId } = await createGroup('Before');
  const { status, body } = await call('PATCH', `/groups/${groupId}`, {
    subject: 'After',
    description: 'its topic',
    settings: { announce: true },
  });
  assert.equal(status, 200, JSON.stringify(body));
  assert.equal(body.subject, 'After');
  assert.equal(body.description, 'its topic');
  assert.equal(body.settings.announce, true);
  assert.deepEqual(
    (await changesOf(groupId)).map(({ type }) => type),
    ['subject', 'description', 'settings'],
  );
});

it('members are added, promoted and removed, with a reason for each who cannot be added', async () => {
  const { call } = setting;
  const { groupId } = await createGroup('People');
  const act = (action: string, phoneNumbers: string[]) =>
    call('POST', `/groups/${groupId}/participants`, { action, phoneNumbers });
  assert.deepEqual((await act('add', [carol.number])).body.results, [{ phoneNumber: carol.number, ok: true }]);
  const again = (await act('add', [carol.number])).body.results[0];
  assert.equal(again.ok, false);
  assert.match(again.reason, /already a member/);
  await act('promote', [carol.number]);
  await act('remove', [bob.number]);
  assert.deepEqual(
    (await changesOf(groupId)).map(({ action, phoneNumbers }) => [action, phoneNumbers]),
    [
      ['add', [carol.number]],
      ['promote', [carol.number]],
      ['remove', [bob.number]],
    ],
  );
});

it('reports groups that others create or change', async () => {
  const { call } = setting;
  const networkId = bob.groups.create('From Bob', [me.number]);
  const created = await eventOf(call, 'group.created', ({ subject }) => subject === 'From Bob');
  assert.equal(created.createdBy, bob.number);
  bob.groups.rename(networkId, 'From Bob, renamed');
  const { change } = await eventOf(call, 'group.updated', ({ groupId }) => groupId === created.groupId);
  assert.deepEqual(change, { type: 'subject', subject: 'From Bob, renamed' });
});

it('reports changes that happened while the session was away', async () => {
  const { call } = setting;
  const networkId = bob.groups.create('Seen', [me.number]);
  const { groupId } = await eventOf(call, 'group.created', ({ subject }) => subject === 'Seen');
  await call('POST', `/sessions/${sessionId}/disconnect`);
  bob.groups.change(networkId, 'add', [carol.number]);
  await call('POST', `/sessions/${sessionId}/connect`);
  await inStatus(call, sessionId, 'connected');
  const { change } = await eventOf(call, 'group.updated', (data) => data.groupId === groupId);
  assert.deepEqual(change, { type: 'participants', action: 'add', phoneNumbers: [carol.number] });
});

/** Reconnects the session, and resolves once it has requested its groups. */
async function reconnect(): Promise<void> {
  const { call, whatsapp } = setting;
  await call('POST', `/sessions/${sessionId}/disconnect`);
  const asked = async () => whatsapp.counters.queries['w:g2'] ?? 0;
  const before = await asked();
  await call('POST', `/sessions/${sessionId}/connect`);
  await inStatus(call, sessionId, 'connected');
  await eventually(asked, (now) => now > before);
}

it('an empty group list does not mean that the session left its groups', async () => {
  const { call, whatsapp } = setting;
  const networkId = bob.groups.create('Still there', [me.number]);
  const { groupId } = await eventOf(call, 'group.created', ({ subject }) => subject === 'Still there');
  whatsapp.faults.emptyAnswers('w:g2');
  await reconnect();
  whatsapp.faults.answerQueries();
  bob.groups.rename(networkId, 'Here all along');
  await eventOf(call, 'group.updated', (data) => data.groupId === groupId && data.change.type === 'subject');
  assert.deepEqual(await changesOf(groupId), [{ type: 'subject', subject: 'Here all along' }]);
});

it('an outdated response does not overwrite a newer group', async () => {
  const { call, whatsapp } = setting;
  const networkId = bob.groups.create('Old name', [me.number]);
  const old = await eventOf(call, 'group.created', ({ subject }) => subject === 'Old name');
  whatsapp.faults.withholdAnswers('participating');
  await reconnect();
  bob.groups.rename(networkId, 'New name');
  await eventOf(call, 'group.updated', ({ groupId }) => groupId === old.groupId);
  const { groupId } = await createGroup('Made meanwhile');
  whatsapp.faults.answerQueries();
  bob.groups.rename(networkId, 'Newest name');
  await eventOf(call, 'group.updated', ({ subject }) => subject === 'Newest name');
  await call('PATCH', `/groups/${groupId}`, { subject: 'Still ours' });
  assert.deepEqual(
    (await changesOf(old.groupId)).map(({ subject }) => subject),
    ['New name', 'Newest name'],
  );
  assert.deepEqual(await changesOf(groupId), [{ type: 'subject', subject: 'Still ours' }]);
});

it('an invite link is shown, reset, and used to join', async () => {
  const { call } = setting;
  const { groupId } = await createGroup('Open house');
  const first = (await call('GET', `/groups/${groupId}/invite-link`)).body;
  assert.match(first.inviteLink, /^https:\/\/chat\.whatsapp\.com\/.+/);
  const renewed = (await call('DELETE', `/groups/${groupId}/invite-link`)).body;
  assert.notEqual(renewed.inviteLink, first.inviteLink);
  assert.equal((await call('GET', `/groups/${groupId}/invite-link`)).body.inviteLink, renewed.inviteLink);

  const networkId = bob.groups.create('Come in', []);
  const joined = await call('POST', '/groups/join', { sessionId, invite: bob.groups.inviteCode(networkId) });
  assert.equal(joined.status, 200, JSON.stringify(joined.body));
  const wrong = await call('POST', '/groups/join', { sessionId, invite: 'https://chat.whatsapp.com/nothing' });
  assert.equal(wrong.status, 404, JSON.stringify(wrong.body));
});

it('a session that was removed from a group returns by invitation or link, with one event each', async () => {
  const { call } = setting;
  const networkId = bob.groups.create('In and out', [me.number]);
  const { groupId } = await eventOf(call, 'group.created', ({ subject }) => subject === 'In and out');
  const listed = async () =>
    (await call('GET', `/groups?sessionId=${sessionId}&limit=100`)).body.data.find(
      (group: Answer['body']) => group.groupId === groupId,
    );
  const isMember = (group: Answer['body']) =>
    group?.participants.some(({ phoneNumber }: Answer['body']) => phoneNumber === me.number) === true;

  bob.groups.change(networkId, 'remove', [me.number]);
  await eventually(listed, (group) => group === undefined);
  bob.groups.rename(networkId, 'In again');
  bob.groups.change(networkId, 'add', [me.number]);
  assert.equal((await eventually(listed, isMember)).subject, 'In again');

  assert.equal((await call('POST', `/groups/${groupId}/leave`)).status, 200);
  assert.equal(await listed(), undefined);
  const joined = await call('POST', '/groups/join', { sessionId, invite: bob.groups.inviteCode(networkId) });
  assert.deepEqual([joined.status, joined.body.group?.groupId], [200, groupId], JSON.stringify(joined.body));
  assert.ok(isMember(await listed()));
  const change = (action: string) => ({ type: 'participants', action, phoneNumbers: [me.number] });
  assert.deepEqual(await changesOf(groupId), ['remove', 'add', 'remove', 'add'].map(change));
  const created = await eventsOf(call, sessionId, ['group.created']);
  assert.equal(created.filter(({ data }) => data.groupId === groupId).length, 1);
});

it('a member whose number becomes known has neither joined nor left', async () => {
  const { call, whatsapp } = setting;
  const erin = nextPhone(whatsapp, 'Erin');
  const frank = nextPhone(whatsapp, 'Frank');
  for (const { profile } of [erin, frank]) profile.hidesNumber = true;
  // The history does not include the numbers for a session that is linked later.
  const dave = nextPhone(whatsapp, 'Dave');
  const session = await linkSession(call, dave);
  const networkId = carol.groups.create('Masks', [dave.number, erin.number, frank.number]);
  const { groupId } = await eventOf(
    call,
    'group.created',
    (data) => data.sessionId === session && data.subject === 'Masks',
  );
  const members = async () =>
    (await call('GET', `/groups/${groupId}`)).body.participants.map(({ phoneNumber }: Answer['body']) => phoneNumber);
  const placeholders = [erin, frank].map(({ lid }) => `000${lid}`);
  assert.deepEqual((await members()).toSorted(), [carol.number, dave.number, ...placeholders].toSorted());

  // One becomes known by a notification of the network, the other by the next state of the group.
  erin.showNumberTo(dave.number);
  await eventually(members, (numbers) => numbers.includes(erin.number));
  carol.groups.rename(networkId, 'Faces');
  await eventOf(call, 'group.updated', (data) => data.groupId === groupId && data.subject === 'Faces');
  frank.profile.hidesNumber = false;
  carol.groups.rename(networkId, 'Friends');
  await eventOf(call, 'group.updated', (data) => data.groupId === groupId && data.subject === 'Friends');
  assert.deepEqual((await members()).toSorted(), [carol, dave, erin, frank].map(({ number }) => number).toSorted());
  const events = await eventsOf(call, session, ['group.updated']);
  assert.deepEqual(
    events.map(({ data }) => data.change.type),
    ['subject', 'subject'],
  );
});

it('an admin can delete all messages of the group, and a member only their own', async () => {
  const { call } = setting;
  const networkId = bob.groups.create('Tidy', [me.number, carol.number]);
  const { groupId } = await eventOf(call, 'group.created', ({ subject }) => subject === 'Tidy');
  const remove = (by: Phone, id: string, author: Phone) =>
    by.send(networkId, {
      protocolMessage: {
        type: proto.Message.ProtocolMessage.Type.REVOKE,
        key: { id, remoteJid: networkId, fromMe: by === author, participant: author.lidJid },
      },
    });
  const isDeleted = async (messageId: string) => (await call('GET', `/messages/${messageId}`)).body.deleted === true;
  const written = async (by: Phone, text: string) => {
    const id = await by.sendText(networkId, text);
    return { id, ...(await eventOf(call, 'message.incoming', ({ message }) => message === text)) };
  };

  const ofBob = await written(bob, 'by an admin');
  const ofCarol = await written(carol, 'by a member');
  const { body: ours } = await call('POST', '/messages/send', { sessionId, to: groupId, message: 'by the session' });
  const { id } = await carol.messages.waitFor(({ message }) => message.extendedTextMessage?.text === 'by the session');

  await remove(carol, ofBob.id, bob);
  await remove(carol, id, me);
  await written(carol, 'may I not?');
  assert.deepEqual([await isDeleted(ofBob.messageId), await isDeleted(ours.messageId)], [false, false]);
  await remove(bob, ofCarol.id, carol);
  await remove(bob, id, me);
  await written(bob, 'tidied');
  assert.deepEqual([await isDeleted(ofCarol.messageId), await isDeleted(ours.messageId)], [true, true]);
  assert.equal(await isDeleted(ofBob.messageId), false);
});

it('a group can be left', async () => {
  const { call } = setting;
  const { groupId } = await createGroup('Short');
  assert.equal((await call('POST', `/groups/${groupId}/leave`)).status, 200);
  const changes = await changesOf(groupId);
  assert.deepEqual(changes, [{ type: 'participants', action: 'remove', phoneNumbers: [me.number] }]);
});

it('rejects a message of a member to a group in which only admins write', async () => {
  const { call } = setting;
  const networkId = bob.groups.create('Quiet', [me.number]);
  const { groupId } = await eventOf(call, 'group.created', ({ subject }) => subject === 'Quiet');
  bob.groups.set(networkId, 'announcement');
  await eventOf(call, 'group.updated', (data) => data.groupId === groupId);
  const { status, body } = await call('POST', '/messages/send', { sessionId, to: groupId, message: 'may I?' });
  assert.equal(status, 403, JSON.stringify(body));
});

/** Sends to a group, and resolves with the message as the phone has read it. */
async function sendTo(groupId: string, reader: Phone, message: string) {
  const sent = await setting.call('POST', '/messages/send', { sessionId, to: groupId, message });
  assert.equal(sent.status, 201, JSON.stringify(sent.body));
  return reader.messages.waitFor(({ message: read }) => read.extendedTextMessage?.text === message);
}

for (const hidesNumber of [false, true])
  it(`a member ${hidesNumber ? 'who hides the number ' : ''}reads the group on a new phone without asking again`, async () => {
    const dan = nextPhone(setting.whatsapp, 'Dan');
    dan.profile.hidesNumber = hidesNumber;
    const group = bob.groups.create(`New phones ${hidesNumber}`, [me.number, dan.number]);
    const { groupId } = await eventOf(setting.call, 'group.created', (data) => data.networkGroupId === group);
    await sendTo(groupId, dan, 'to the old phone');
    assert.equal((await sendTo(groupId, dan, 'to the old phone again')).encryption, 'skmsg');
    const notified = dan.replace();
    await eventually(
      async () => me.haveConfirmed(notified),
      (isConfirmed) => isConfirmed,
    );
    const { counters } = setting.whatsapp;
    const asked = counters.retriesFromPhones;
    await sendTo(groupId, dan, 'to the new phone');
    assert.equal(counters.retriesFromPhones, asked);
  });

it('a device that is no longer registered does not fail a send to a group or a person', async () => {
  const erin = nextPhone(setting.whatsapp, 'Erin');
  const frank = nextPhone(setting.whatsapp, 'Frank');
  erin.addDeregisteredDevice();
  const group = bob.groups.create('Old devices', [me.number, erin.number, frank.number]);
  const { groupId } = await eventOf(setting.call, 'group.created', (data) => data.networkGroupId === group);
  for (const reader of [frank, erin]) await sendTo(groupId, reader, `first for ${reader.number}`);
  // A device that appears later is the only one without the key.
  frank.addDeregisteredDevice();
  assert.equal((await sendTo(groupId, erin, 'second')).encryption, 'skmsg');
  const gina = nextPhone(setting.whatsapp, 'Gina');
  gina.addDeregisteredDevice();
  await gina.sendText(me.number, 'write to me');
  await eventOf(setting.call, 'message.incoming', ({ message }) => message === 'write to me');
  await sendTo(gina.number, gina, 'to a person');
});

it('thirty changes in a moment cause few reads, and the last one is reported', async () => {
  const { counters } = setting.whatsapp;
  const group = bob.groups.create('Busy', [me.number]);
  const { groupId } = await eventOf(setting.call, 'group.created', (data) => data.networkGroupId === group);
  const before = counters.queries['w:g2'] ?? 0;
  for (let change = 1; change <= 30; change++) bob.groups.rename(group, `Busy ${change}`);
  await eventOf(
    setting.call,
    'group.updated',
    ({ change }) => change.type === 'subject' && change.subject === 'Busy 30',
  );
  assert.equal((await setting.call('GET', `/groups/${groupId}`)).body.subject, 'Busy 30');
  const reads = (counters.queries['w:g2'] ?? 0) - before;
  assert.ok(reads <= 5, `${reads} reads`);
});

it('a limit of WhatsApp on reading groups delays a change, and returns rate_limited to a sender', async () => {
  const { whatsapp } = setting;
  const { faults } = whatsapp;
  const group = bob.groups.create('Limited', [me.number], 'number');
  const { groupId } = await eventOf(setting.call, 'group.created', (data) => data.networkGroupId === group);
  // The notice reports that the addresses of all members have changed, and lists none.
  whatsapp.migrateGroup(group);
  faults.limitQueries('w:g2', 2);
  bob.groups.rename(group, 'Limited and renamed');
  const sent = await setting.call('POST', '/messages/send', { sessionId, to: groupId, message: 'too early' });
  assert.deepEqual([sent.status, sent.body.code], [429, 'rate_limited'], JSON.stringify(sent.body));
  faults.answerQueries();
});

/** Sends a text to a group. @returns the addresses that its stanza carries the group's key for */
async function sendKeys(groupId: string, text: string): Promise<string[]> {
  const stanzas: BinaryNode[] = [];
  const stop = setting.whatsapp.watchMessages((number, node) => {
    if (number === me.number) stanzas.push(node);
  });
  const { status, body } = await setting.call('POST', '/messages/send', { sessionId, to: groupId, message: text });
  stop();
  assert.equal(status, 201, JSON.stringify(body));
  const participants = stanzas.map((node) => childOf(node, 'participants'));
  return participants.flatMap((node) => (node ? childrenOf(node, 'to').map(({ attrs }) => attrs['jid'] ?? '') : []));
}

/** Resolves once the session has received everything that came before. */
async function pass(group: string, text: string): Promise<void> {
  await bob.sendText(group, text);
  await eventOf(setting.call, 'message.incoming', ({ message }) => message === text);
}

it('reads a group seldom while it changes before each of thirty sends', async () => {
  const { counters } = setting.whatsapp;
  const group = bob.groups.create('Changing', [me.number]);
  const { groupId } = await eventOf(setting.call, 'group.created', (data) => data.networkGroupId === group);
  const before = counters.queries['w:g2'] ?? 0;
  for (let change = 1; change <= 30; change++) {
    bob.groups.change(group, change % 2 === 1 ? 'add' : 'remove', [carol.number]);
    await pass(group, `change ${change}`);
    await sendKeys(groupId, `reply ${change}`);
  }
  const reads = (counters.queries['w:g2'] ?? 0) - before;
  assert.ok(reads <= 10, `${reads} reads`);
});

it('sends to the members of the last notice while the group cannot be read', async () => {
  const { faults } = setting.whatsapp;
  const group = bob.groups.create('Moving', [me.number, carol.number]);
  const { groupId } = await eventOf(setting.call, 'group.created', (data) => data.networkGroupId === group);
  faults.withholdAnswers('query');
  bob.groups.change(group, 'remove', [carol.number]);
  await pass(group, 'carol has left');
  const first = await sendKeys(groupId, 'without carol');
  assert.ok(first.includes(bob.lidJid) && !first.includes(carol.lidJid), first.join());
  bob.groups.change(group, 'add', [carol.number]);
  await pass(group, 'carol is back');
  assert.deepEqual(await sendKeys(groupId, 'with carol'), [carol.lidJid]);
  await carol.messages.waitFor(({ message }) => message.extendedTextMessage?.text === 'with carol');
  faults.answerQueries();
});

it('sends to no members of an outdated response', async () => {
  const { whatsapp } = setting;
  const group = bob.groups.create('Migrating', [me.number, carol.number], 'number');
  const { groupId } = await eventOf(setting.call, 'group.created', (data) => data.networkGroupId === group);
  whatsapp.migrateGroup(group);
  whatsapp.faults.withholdAnswers('query');
  bob.groups.rename(group, 'Migrated');
  await pass(group, 'the group has other addresses');
  bob.groups.change(group, 'remove', [carol.number]);
  await pass(group, 'carol has left the migrated group');
  whatsapp.faults.answerQueries();
  const keyed = await sendKeys(groupId, 'without carol again');
  assert.ok(keyed.includes(bob.lidJid) && !keyed.includes(carol.lidJid), keyed.join());
});
