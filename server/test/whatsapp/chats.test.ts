import assert from 'node:assert/strict';
import { it } from 'node:test';
import { proto } from 'baileys';
import type { EventKind } from '../../src/events/events.ts';
import { eventually } from '../support/eventually.ts';
import type { Phone } from '../support/fakeWhatsapp/index.ts';
import { wireIdOf } from '../support/networks/wireId.ts';
import { type Answer, eventOf } from '../support/server.ts';
import { linkSession, nextPhone, useWhatsapp } from './support.ts';

/* Chats, labels and marks, as they are synchronized with the phone through the state that devices share. */

type Data = Answer['body'];

const setting = useWhatsapp({}, prepare);
let me: Phone;
let sessionId: string;

async function prepare() {
  me = nextPhone(setting.whatsapp, 'Me');
  sessionId = await linkSession(setting.call, me);
}

const ok = async (method: string, path: string, fields?: object): Promise<Data> => {
  const { status, body } = await setting.call(method, path, fields);
  assert.ok(status < 300, `${method} ${path}: ${JSON.stringify(body)}`);
  return body;
};
const next = (kind: EventKind, fits: (data: Data) => boolean = () => true) =>
  eventOf(setting.call, kind, (data) => data.sessionId === sessionId && fits(data));
const chatOf = (bob: Phone): Promise<Data> => ok('GET', `/chats/${bob.number}?sessionId=${sessionId}`);
/** The phone has read a change of a client. */
const changed = (...index: string[]) =>
  me.stateChanges.waitFor((change) => index.every((part, place) => change.index[place] === part));
const own = {
  get sessionId() {
    return sessionId;
  },
};

/** Somebody who has written to the session, with the message. */
async function written(text = 'Hello'): Promise<{ bob: Phone; wireId: string; messageId: string }> {
  const bob = nextPhone(setting.whatsapp, 'Bob');
  const wireId = await bob.sendText(me.number, text);
  const { messageId } = await next('message.incoming', ({ from }) => from === bob.number);
  return { bob, wireId, messageId };
}

it('archives, pins, mutes and marks chats as unread on the phone', async () => {
  const { bob, wireId } = await written();
  const until = new Date(Date.now() + 3_600_000).toISOString();
  const settings = { archived: true, pinned: true, mutedUntil: until };
  const chat = await ok('PATCH', `/chats/${bob.number}`, { ...own, ...settings });
  assert.deepEqual([chat.archived, chat.pinned, chat.mutedUntil, chat.synchronized], [true, true, until, true]);
  const { value } = await changed('archive', bob.lidJid);
  assert.equal(value.archiveChatAction?.archived, true);
  const [range] = value.archiveChatAction?.messageRange?.messages ?? [];
  assert.deepEqual([range?.key?.id, range?.key?.fromMe], [wireId, false]);
  assert.equal((await changed('pin_v1', bob.lidJid)).value.pinAction?.pinned, true);
  const { muteAction } = (await changed('mute', bob.lidJid)).value;
  assert.equal(Number(muteAction?.muteEndTimestamp), Date.parse(until));
  await ok('POST', `/chats/${bob.number}/unread`, own);
  const { markChatAsReadAction } = (await changed('markChatAsRead', bob.lidJid)).value;
  assert.equal(markChatAsReadAction?.read, false);
  await ok('POST', `/chats/${bob.number}/read`, own);
  await me.stateChanges.waitFor(
    ({ index, value: { markChatAsReadAction: read } }) => index[1] === bob.lidJid && read?.read === true,
  );
});

it('takes over what the phone does with chats', async () => {
  const { bob } = await written();
  await me.changeState({ archive: true, lastMessages: [] }, bob.number);
  await next('chat.updated', ({ chatId, archived }) => chatId === bob.number && archived);
  await me.changeState({ pin: true }, bob.number);
  await me.changeState({ mute: -1 }, bob.number);
  await me.changeState({ markRead: false, lastMessages: [] }, bob.number);
  await next('chat.updated', ({ chatId, markedUnread }) => chatId === bob.number && markedUnread);
  const { archived, pinned, mutedUntil, markedUnread } = await chatOf(bob);
  assert.deepEqual([archived, pinned, mutedUntil, markedUnread], [true, true, '9999-12-31T00:00:00.000Z', true]);
  await me.changeState({ markRead: true, lastMessages: [] }, bob.number);
  await next('chat.updated', (data) => data.chatId === bob.number && data.archived && !data.markedUnread);
});

it('clears and deletes chats on the phone', async () => {
  const { bob, wireId } = await written();
  const cleared = await ok('POST', `/chats/${bob.number}/clear`, own);
  assert.deepEqual([cleared.removed, cleared.synchronized], [1, true]);
  const { clearChatAction } = (await changed('clearChat', bob.lidJid)).value;
  assert.equal(clearChatAction?.messageRange?.messages?.[0]?.key?.id, wireId);
  await ok('DELETE', `/chats/${bob.number}?sessionId=${sessionId}`);
  await changed('deleteChat', bob.lidJid);
  assert.equal((await setting.call('GET', `/chats/${bob.number}?sessionId=${sessionId}`)).status, 404);
});

it('deletes what the phone deleted, but no later message', async () => {
  const { bob, messageId } = await written('old');
  const { timestamp } = await ok('GET', `/messages/${messageId}`);
  const seconds = Date.parse(timestamp) / 1000;
  const later = await bob.sendText(me.number, 'new', { sentAtS: seconds + 60 });
  const { messageId: newId } = await next('message.incoming', ({ message }) => message === 'new');
  assert.ok(later);
  const upTo = { lastMessageTimestamp: seconds, messages: [] };
  await me.changeState({ clear: true, lastMessages: upTo }, bob.number);
  assert.equal((await next('chat.removed', ({ chatId }) => chatId === bob.number)).action, 'cleared');
  const left = (await ok('GET', `/messages?chatId=${bob.number}`)).data.map((one: Data) => one.messageId);
  assert.deepEqual(left, [newId]);
  await me.changeState(
    { delete: true, lastMessages: { lastMessageTimestamp: seconds + 60, messages: [] } },
    bob.number,
  );
  await next('chat.removed', ({ chatId, action }) => chatId === bob.number && action === 'deleted');
  assert.equal((await setting.call('GET', `/chats/${bob.number}?sessionId=${sessionId}`)).status, 404);
});

it('stars messages and deletes them for the session, on the phone as well', async () => {
  const { bob, wireId, messageId } = await written();
  assert.equal((await ok('PUT', `/messages/${messageId}/star`)).starred, true);
  assert.equal((await changed('star', bob.lidJid, wireId, '0')).value.starAction?.starred, true);
  await ok('DELETE', `/messages/${messageId}?for=me`);
  await changed('deleteMessageForMe', bob.lidJid, wireId, '0');
  const sent = await ok('POST', '/messages/send', { ...own, to: bob.number, message: 'mine' });
  await ok('PUT', `/messages/${sent.messageId}/star`);
  await changed('star', bob.lidJid, wireIdOf(sent.messageId), '1');
});

it('takes over stars and deletions of messages from the phone', async () => {
  const { bob, wireId, messageId } = await written();
  await me.changeState({ star: { messages: [{ id: wireId, fromMe: false }], star: true } }, bob.number);
  await next('message.marked', (data) => data.messageId === messageId && data.starred);
  const key = { remoteJid: bob.numberJid, id: wireId, fromMe: false };
  await me.changeState({ deleteForMe: { deleteMedia: false, key, timestamp: 1 } }, bob.number);
  await next('message.removed', (data) => data.messageId === messageId);
  assert.equal((await setting.call('GET', `/messages/${messageId}`)).status, 404);
});

it('synchronizes labels both ways', async () => {
  const { bob, wireId, messageId } = await written();
  const { labelId } = await ok('POST', '/labels', { ...own, name: 'New customer', color: 4 });
  const { index, value } = await changed('label_edit');
  const [, networkId = ''] = index;
  assert.deepEqual([value.labelEditAction?.name, value.labelEditAction?.color], ['New customer', 4]);
  await ok('PUT', `/chats/${bob.number}/labels/${labelId}`, own);
  assert.equal((await changed('label_jid', networkId, bob.lidJid)).value.labelAssociationAction?.labeled, true);
  await ok('PUT', `/messages/${messageId}/labels/${labelId}`);
  await changed('label_message', networkId, bob.lidJid, wireId);
  await me.changeState({ removeChatLabel: { labelId: networkId } }, bob.number);
  await next('chat.updated', ({ chatId, labelIds }) => chatId === bob.number && labelIds.length === 0);
  await me.changeState({ removeMessageLabel: { labelId: networkId, messageId: wireId } }, bob.number);
  await next('message.marked', (data) => data.messageId === messageId && data.labelIds.length === 0);

  await me.changeState({ addLabel: { id: '77', name: 'Paid', color: 2, deleted: false } });
  const { labelId: paid, color } = await next('label.updated', ({ name }) => name === 'Paid');
  assert.equal(color, 2);
  await me.changeState({ addChatLabel: { labelId: '77' } }, bob.number);
  await next('chat.updated', ({ chatId, labelIds }) => chatId === bob.number && labelIds.includes(paid));
  await me.changeState({ addMessageLabel: { labelId: '77', messageId: wireId } }, bob.number);
  await next('message.marked', (data) => data.messageId === messageId && data.labelIds.includes(paid));
  await me.changeState({ addLabel: { id: '77', name: 'Paid', color: 2, deleted: true } });
  await next('label.updated', (data) => data.labelId === paid && data.deleted === true);
  await ok('DELETE', `/labels/${labelId}?sessionId=${sessionId}`);
  await me.stateChanges.waitFor(({ value: { labelEditAction } }) => labelEditAction?.deleted === true);
});

it('pins messages, and shows pins of others', async () => {
  const { bob, wireId, messageId } = await written('Address');
  const { pinnedUntil } = await ok('POST', `/messages/${messageId}/pin`, { duration: '24h' });
  assert.ok(Date.parse(pinnedUntil) > Date.now());
  const { message, stanza } = await bob.messages.waitFor(({ message: { pinInChatMessage } }) => !!pinInChatMessage);
  assert.deepEqual([message.pinInChatMessage?.key?.id, message.pinInChatMessage?.type], [wireId, 1]);
  assert.deepEqual([message.messageContextInfo?.messageAddOnDurationInSecs, stanza.attrs['edit']], [86_400, '2']);
  assert.equal('pinnedUntil' in (await ok('DELETE', `/messages/${messageId}/pin`)), false);
  await bob.messages.waitFor(({ message: { pinInChatMessage: pin } }) => pin?.type === 2);

  const sent = await ok('POST', '/messages/send', { ...own, to: bob.number, message: 'pin mine' });
  const pin = (type: number) => ({
    pinInChatMessage: { key: { remoteJid: me.lidJid, fromMe: false, id: wireIdOf(sent.messageId) }, type },
    messageContextInfo: { messageAddOnDurationInSecs: 604_800 },
  });
  await bob.send(me.number, pin(1));
  const event = await next('message.pinned', (data) => data.messageId === sent.messageId);
  assert.deepEqual([event.from, event.fromMe], [bob.number, false]);
  assert.equal(Date.parse(event.pinnedUntil) - Date.parse(event.timestamp), 604_800_000);
  await bob.send(me.number, pin(2));
  await next('message.pinned', (data) => data.messageId === sent.messageId && data.pinnedUntil === null);
});

it('sets the timer of a chat, and gives messages in it their time', async () => {
  const { bob } = await written('before');
  const chat = await ok('PATCH', `/chats/${bob.number}`, { ...own, disappearingSeconds: 86_400 });
  assert.equal(chat.disappearingSeconds, 86_400);
  const { EPHEMERAL_SETTING } = proto.Message.ProtocolMessage.Type;
  const set = await bob.messages.waitFor(({ message }) => innerOf(message).protocolMessage?.type === EPHEMERAL_SETTING);
  assert.equal(innerOf(set.message).protocolMessage?.ephemeralExpiration, 86_400);
  const sent = await ok('POST', '/messages/send', { ...own, to: bob.number, message: 'goes' });
  const { message } = await bob.messages.waitFor(({ message: { extendedTextMessage: m } }) => m?.text === 'goes');
  assert.equal(message.extendedTextMessage?.contextInfo?.expiration, 86_400);
  const { expiresAt, timestamp } = await ok('GET', `/messages/${sent.messageId}`);
  assert.equal(Date.parse(expiresAt) - Date.parse(timestamp), 86_400_000);

  await bob.send(me.number, { protocolMessage: { type: EPHEMERAL_SETTING, ephemeralExpiration: 7_776_000 } });
  await next('chat.updated', (data) => data.chatId === bob.number && data.disappearingSeconds === 7_776_000);
  const contextInfo = { expiration: 7_776_000 };
  await bob.send(me.number, { extendedTextMessage: { text: 'theirs', contextInfo } });
  const { messageId } = await next('message.incoming', (data) => data.message === 'theirs');
  const theirs = await ok('GET', `/messages/${messageId}`);
  assert.equal(Date.parse(theirs.expiresAt) - Date.parse(theirs.timestamp), 7_776_000_000);
  await bob.send(me.number, { protocolMessage: { type: EPHEMERAL_SETTING, ephemeralExpiration: 0 } });
  await next('chat.updated', (data) => data.chatId === bob.number && data.disappearingSeconds === null);
});

it('sets and shows the timer of a group', async () => {
  const bob = nextPhone(setting.whatsapp, 'Bob');
  const group = bob.groups.create('Timers', [me.number]);
  const { groupId } = await next('group.created', ({ subject }) => subject === 'Timers');
  bob.groups.setTimer(group, 604_800);
  await next('chat.updated', (data) => data.chatId === groupId && data.disappearingSeconds === 604_800);
  bob.groups.change(group, 'promote', [me.number]);
  const set = (disappearingSeconds: number) => ok('PATCH', `/groups/${groupId}`, { settings: { disappearingSeconds } });
  await set(0);
  assert.equal((await ok('GET', `/chats/${groupId}?sessionId=${sessionId}`)).disappearingSeconds, null);
  await set(86_400);
  await ok('POST', '/messages/send', { ...own, to: groupId, message: 'in the group' });
  const { message } = await bob.messages.waitFor(({ chat: at }) => at === group);
  assert.equal(message.extendedTextMessage?.contextInfo?.expiration, 86_400);
});

it('notices that the timer of a group was turned off while the server was away', async () => {
  const bob = nextPhone(setting.whatsapp, 'Bob');
  const group = bob.groups.create('Away', [me.number]);
  const { groupId } = await next('group.created', ({ subject }) => subject === 'Away');
  bob.groups.setTimer(group, 604_800);
  await next('chat.updated', (data) => data.chatId === groupId && data.disappearingSeconds === 604_800);
  await ok('POST', `/sessions/${sessionId}/disconnect`);
  bob.groups.setTimer(group, 0);
  await ok('POST', `/sessions/${sessionId}/connect`);
  await next('chat.updated', (data) => data.chatId === groupId && data.disappearingSeconds === null);
  const { messageId } = await ok('POST', '/messages/send', { ...own, to: groupId, message: 'stays' });
  assert.equal('expiresAt' in (await ok('GET', `/messages/${messageId}`)), false);
});

it('ignores a message of a member that claims to set the timer of a group', async () => {
  const bob = nextPhone(setting.whatsapp, 'Bob');
  const carol = nextPhone(setting.whatsapp, 'Carol');
  const group = bob.groups.create('Fixed timer', [me.number, carol.number]);
  const { groupId } = await next('group.created', ({ subject }) => subject === 'Fixed timer');
  const { EPHEMERAL_SETTING } = proto.Message.ProtocolMessage.Type;
  await carol.send(group, { protocolMessage: { type: EPHEMERAL_SETTING, ephemeralExpiration: 86_400 } });
  await carol.send(group, { conversation: 'after the timer' });
  await next('message.incoming', ({ message }) => message === 'after the timer');
  assert.equal((await ok('GET', `/chats/${groupId}?sessionId=${sessionId}`)).disappearingSeconds, null);
});

it('repeats a change that another device has overtaken', async () => {
  const { bob } = await written();
  setting.whatsapp.faults.conflictStateChanges(me.number, 3);
  await ok('PATCH', `/chats/${bob.number}`, { ...own, pinned: true });
  assert.equal((await changed('pin_v1', bob.lidJid)).value.pinAction?.pinned, true);
  // Both sides still understand later changes.
  await me.changeState({ pin: false }, bob.number);
  await next('chat.updated', (data) => data.chatId === bob.number && !data.pinned);
  await ok('PATCH', `/chats/${bob.number}`, { ...own, archived: true });
  await changed('archive', bob.lidJid);

  setting.whatsapp.faults.conflictStateChanges(me.number, 4);
  const { status, body } = await setting.call('PATCH', `/chats/${bob.number}`, { ...own, pinned: true });
  assert.deepEqual([status, body.code], [502, 'send_failed']);
  assert.equal((await chatOf(bob)).pinned, false, 'a change that WhatsApp refuses changes nothing here');
  await ok('PATCH', `/chats/${bob.number}`, { ...own, pinned: true });
});

it('makes changes of one session one after the other', async () => {
  const people = await Promise.all([written('1'), written('2'), written('3')]);
  await Promise.all(
    people.map(({ bob }) => ok('PATCH', `/chats/${bob.number}`, { ...own, pinned: true, archived: true })),
  );
  for (const { bob } of people) {
    await changed('pin_v1', bob.lidJid);
    await changed('archive', bob.lidJid);
  }
});

it('refuses changes until the phone has shared the key', async () => {
  const { whatsapp, call } = setting;
  whatsapp.faults.withholdStateKeys(true);
  const phone = nextPhone(whatsapp, 'New');
  const fresh = await linkSession(call, phone);
  whatsapp.faults.withholdStateKeys(false);
  const bob = nextPhone(whatsapp, 'Bob');
  await bob.sendText(phone.number, 'Hi');
  const chat = `/chats/${bob.number}`;
  await eventually(
    () => call('GET', `${chat}?sessionId=${fresh}`),
    ({ status }) => status === 200,
  );
  const { status, body } = await call('PATCH', chat, { sessionId: fresh, archived: true });
  assert.deepEqual([status, body.code], [409, 'session_state']);
  const { body: unchanged } = await call('GET', `${chat}?sessionId=${fresh}`);
  assert.equal(unchanged.archived, false);
  assert.equal(
    (await call('POST', '/messages/send', { sessionId: fresh, to: bob.number, message: 'works' })).status,
    201,
  );
  await setting.server.app.services.database.commit(({ kysely }) =>
    kysely.updateTable('chats').set({ marked_unread: 1 }).where('session_id', '=', fresh).execute(),
  );
  const read = await call('POST', `${chat}/read`, { sessionId: fresh });
  assert.deepEqual([read.status, read.body.read], [200, 1], 'it is read, although the phone keeps its mark');
  assert.equal((await call('GET', `${chat}?sessionId=${fresh}`)).body.markedUnread, false);
});

const innerOf = (message: proto.IMessage): proto.IMessage => message.ephemeralMessage?.message ?? message;

it('saves, renames and removes contacts in the address book of the phone', async () => {
  const { bob } = await written();
  const path = `/contacts/${bob.number}/name`;
  const saved = await ok('PUT', path, { ...own, name: '  Bob Builder ' });
  assert.deepEqual([saved.savedName, saved.name, saved.pushName], ['Bob Builder', 'Bob Builder', 'Bob']);
  const { value, collection } = await changed('contact', `${bob.number}@s.whatsapp.net`);
  assert.equal(collection, 'critical_unblock_low');
  const { fullName, firstName, lidJid, saveOnPrimaryAddressbook } = value.contactAction ?? {};
  assert.deepEqual([fullName, firstName, lidJid], ['Bob Builder', 'Bob', bob.lidJid]);
  assert.equal(saveOnPrimaryAddressbook, true);
  await next('contact.updated', ({ phoneNumber, name }) => phoneNumber === bob.number && name === 'Bob Builder');

  assert.equal((await ok('PUT', path, { ...own, name: 'Robert' })).savedName, 'Robert');
  await me.stateChanges.waitFor((change) => change.value.contactAction?.fullName === 'Robert');
  const removed = await ok('PUT', path, { ...own, name: null });
  assert.deepEqual([removed.savedName, removed.name], [null, 'Bob']);
  // Without an entry, there is nothing to remove.
  const before = me.stateChanges.all.length;
  assert.equal((await ok('PUT', path, { ...own, name: null })).savedName, null);
  assert.equal(me.stateChanges.all.length, before);
  // The state still accepts changes after the removal.
  assert.equal((await ok('PUT', path, { ...own, name: 'Bob again' })).savedName, 'Bob again');
});
