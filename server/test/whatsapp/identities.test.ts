import assert from 'node:assert/strict';
import { it } from 'node:test';
import { proto } from 'baileys';
import { storeOf } from '../../src/sessions/store.ts';
import { eventually } from '../support/eventually.ts';
import { type Answer, bearer, eventOf } from '../support/server.ts';
import { inStatus, linkSession, nextPhone, useWhatsapp } from './support.ts';

const setting = useWhatsapp();

it('a person with a hidden number has a placeholder, can be answered, and is known by number once it is shown', async () => {
  const { whatsapp, call } = setting;
  const me = nextPhone(whatsapp, 'Me');
  const bob = nextPhone(whatsapp, 'Bob');
  // Done before linking, because the history includes all numbers that WhatsApp knows.
  bob.profile.hidesNumber = true;
  const sessionId = await linkSession(call, me);
  const id = await bob.sendText(me.number, 'guess who');
  const hidden = await eventOf(call, 'message.incoming', ({ message }) => message === 'guess who');
  const placeholder = `000${bob.lid}`;
  assert.equal(hidden.from, placeholder);
  assert.equal(hidden.unidentified, true);

  const { status, body } = await call('POST', '/messages/send', { sessionId, to: placeholder, message: 'no idea' });
  assert.equal(status, 201, JSON.stringify(body));
  await bob.messages.waitFor(({ message }) => message.extendedTextMessage?.text === 'no idea');
  await bob.send(me.number, { reactionMessage: { key: { id, fromMe: true, remoteJid: me.lidJid }, text: '😀' } });
  const read = async () => (await call('GET', `/messages/${hidden.messageId}`)).body;
  await eventually(read, ({ reactions }) => reactions?.[0]?.from === placeholder);

  bob.profile.hidesNumber = false;
  await bob.sendText(me.number, 'it is me');
  const shown = await eventOf(call, 'message.incoming', ({ message }) => message === 'it is me');
  assert.equal(shown.from, bob.number);
  assert.equal(shown.unidentified, undefined);
  const first = await read();
  assert.equal(first.from, bob.number);
  assert.equal(first.chatId, bob.number);
  assert.equal(first.reactions[0].from, bob.number);
  const { body: sent } = await call('GET', `/messages/${body.messageId}`);
  assert.deepEqual([sent.to, sent.chatId], [bob.number, bob.number]);
  const { body: chats } = await call('GET', `/chats?sessionId=${sessionId}`);
  assert.deepEqual(
    chats.data.map(({ chatId, unreadCount }: Answer['body']) => [chatId, unreadCount]),
    [[bob.number, 2]],
  );
  const { body: contacts } = await call('GET', `/contacts?sessionId=${sessionId}`);
  assert.deepEqual(
    contacts.data.map(({ phoneNumber }: Answer['body']) => phoneNumber),
    [bob.number],
  );

  // No message is lost, and what was known of the person still leads there, also without a connection.
  const names = [bob.number, bob.numberJid, placeholder, bob.lidJid];
  const checkAll = async () => {
    for (const name of names) {
      const path = encodeURIComponent(name);
      const { body: found } = await call('GET', `/contacts/${path}?sessionId=${sessionId}`);
      assert.deepEqual(found, { ...contacts.data[0], networkIds: [bob.numberJid, bob.lidJid] }, name);
      const { body: messages } = await call('GET', `/messages?sessionId=${sessionId}&chatId=${path}`);
      assert.deepEqual(
        messages.data.map(({ message }: Answer['body']) => message),
        ['it is me', 'no idea', 'guess who'],
        name,
      );
      const { body: chat } = await call('GET', `/chats/${path}?sessionId=${sessionId}`);
      assert.equal(chat.chatId, bob.number, name);
    }
  };
  await checkAll();
  await call('POST', `/sessions/${sessionId}/disconnect`);
  await checkAll();
  // Without a session, it is found in the one that knows the person.
  await call('POST', '/sessions/create', { connector: 'sandbox' });
  for (const name of names) {
    const { body: messages } = await call('GET', `/messages?chatId=${encodeURIComponent(name)}`);
    assert.equal(messages.data.length, 3, name);
  }
});

it('blocks and unblocks a person whose number is hidden', async () => {
  const { whatsapp, call } = setting;
  const me = nextPhone(whatsapp, 'Me');
  const bob = nextPhone(whatsapp, 'Bob');
  bob.profile.hidesNumber = true;
  const sessionId = await linkSession(call, me);
  await bob.sendText(me.number, 'guess who I am');
  const { from } = await eventOf(call, 'message.incoming', ({ message }) => message === 'guess who I am');
  for (const [name, blocked] of Object.entries({ [from]: true, [bob.lidJid]: false })) {
    const path = `/contacts/${encodeURIComponent(name)}/blocked`;
    const { status, body } = await call('PUT', path, { sessionId, blocked });
    assert.deepEqual([status, body.phoneNumber, body.blocked], [200, from, blocked], JSON.stringify(body));
    await bob.sendText(me.number, blocked ? 'let me in again' : 'here I am again');
  }
  await eventOf(call, 'message.incoming', ({ message }) => message === 'here I am again');
  const { body: events } = await call('GET', '/events?events=message.incoming&limit=200');
  assert.ok(!events.data.some(({ data }: Answer['body']) => data.message === 'let me in again'));
});

it('a contact is found by the LID, whether the number is hidden, known or was never hidden', async () => {
  const { whatsapp, call } = setting;
  const me = nextPhone(whatsapp, 'Me');
  const bob = nextPhone(whatsapp, 'Bob');
  const carol = nextPhone(whatsapp, 'Carol');
  bob.profile.hidesNumber = true;
  const sessionId = await linkSession(call, me);
  await bob.sendText(me.number, 'hidden');
  await carol.sendText(me.number, 'open');
  await eventOf(call, 'message.incoming', ({ message }) => message === 'hidden');
  await eventOf(call, 'message.incoming', ({ message }) => message === 'open');
  const contact = async (id: string) =>
    (await call('GET', `/contacts/${encodeURIComponent(id)}?sessionId=${sessionId}`)).body;
  for (const name of [bob.lidJid, `000${bob.lid}`]) {
    const { phoneNumber, unidentified, networkIds } = await contact(name);
    assert.deepEqual([phoneNumber, unidentified, networkIds], [`000${bob.lid}`, true, [bob.lidJid]]);
  }
  for (const name of [carol.lidJid, carol.number]) {
    const { phoneNumber, unidentified, networkIds } = await contact(name);
    assert.deepEqual(
      [phoneNumber, unidentified, networkIds],
      [carol.number, undefined, [carol.numberJid, carol.lidJid]],
    );
  }
  assert.equal((await contact('999999999999@lid')).code, 'not_found');
});

it('the LID of a person whose number is known is read as the number', async () => {
  const { whatsapp, call } = setting;
  const me = nextPhone(whatsapp, 'Me');
  const dave = nextPhone(whatsapp, 'Dave');
  const sessionId = await linkSession(call, me);
  await dave.sendText(me.number, 'open');
  await eventOf(call, 'message.incoming', ({ message }) => message === 'open');
  const { status, body } = await call('POST', '/messages/send', { sessionId, to: dave.lidJid, message: 'to the LID' });
  assert.deepEqual([status, body.to], [201, dave.number], JSON.stringify(body));
  await dave.messages.waitFor(({ message }) => message.extendedTextMessage?.text === 'to the LID');
  const { body: chats } = await call('GET', `/chats?sessionId=${sessionId}`);
  assert.deepEqual(
    chats.data.map(({ chatId }: Answer['body']) => chatId),
    [dave.number],
  );
  const { body: from } = await call('GET', `/messages?sessionId=${sessionId}&from=${encodeURIComponent(dave.lidJid)}`);
  assert.deepEqual(
    from.data.map(({ message }: Answer['body']) => message),
    ['open'],
  );
  const { body: preflight } = await call('POST', '/messages/preflight', {
    sessionId,
    to: [dave.lidJid],
    message: 'Hi',
  });
  assert.notEqual(preflight.results[0].outcome, 'not_on_network', JSON.stringify(preflight));
  const { body: key } = await call('POST', '/api-keys/create', { name: 'one', allowedRecipients: [dave.lidJid] });
  assert.deepEqual(key.allowedRecipients, [dave.number]);
});

it('a message to a placeholder joins the chat of the number, once that is known', async () => {
  const { whatsapp, call } = setting;
  const me = nextPhone(whatsapp, 'Me');
  const bob = nextPhone(whatsapp, 'Bob');
  bob.profile.hidesNumber = true;
  const sessionId = await linkSession(call, me);
  await bob.sendText(me.number, 'nameless');
  const { from: placeholder } = await eventOf(call, 'message.incoming', ({ message }) => message === 'nameless');
  const write = (message: string) => call('POST', '/messages/send', { sessionId, to: placeholder, message });
  assert.equal((await write('to the placeholder')).status, 201);
  bob.profile.hidesNumber = false;
  await bob.sendText(me.number, 'with a number');
  await eventOf(call, 'message.incoming', ({ message }) => message === 'with a number');
  const { status, body } = await write('to the number');
  assert.equal(status, 201, JSON.stringify(body));
  assert.equal(body.to, bob.number);
  await bob.messages.waitFor(({ message }) => message.extendedTextMessage?.text === 'to the number');
  const { body: chats } = await call('GET', `/chats?sessionId=${sessionId}`);
  assert.deepEqual(
    chats.data.map(({ chatId }: Answer['body']) => chatId),
    [bob.number],
  );
});

it('rejects a message to a placeholder that nobody has', async () => {
  const { whatsapp, call } = setting;
  const sessionId = await linkSession(call, nextPhone(whatsapp, 'Me'));
  const { status, body } = await call('POST', '/messages/send', { sessionId, to: '000123456789', message: 'Anybody?' });
  assert.deepEqual([status, body.code], [422, 'recipient_not_on_network']);
});

it('a person who hides their number later stays the same person', async () => {
  const { whatsapp, call } = setting;
  const me = nextPhone(whatsapp, 'Me');
  const bob = nextPhone(whatsapp, 'Bob');
  await linkSession(call, me);
  await bob.sendText(me.number, 'here I am');
  await eventOf(call, 'message.incoming', ({ message }) => message === 'here I am');
  bob.profile.hidesNumber = true;
  await bob.sendText(me.number, 'and here');
  const later = await eventOf(call, 'message.incoming', ({ message }) => message === 'and here');
  assert.equal(later.from, bob.number);
});

it('a number that becomes known without a message replaces the placeholder in earlier messages', async () => {
  const { whatsapp, call } = setting;
  const me = nextPhone(whatsapp, 'Me');
  const bob = nextPhone(whatsapp, 'Bob');
  bob.profile.hidesNumber = true;
  await linkSession(call, me);
  await bob.sendText(me.number, 'still a secret');
  const { messageId } = await eventOf(call, 'message.incoming', ({ message }) => message === 'still a secret');
  bob.showNumberTo(me.number);
  await eventually(
    async () => (await call('GET', `/messages/${messageId}`)).body,
    ({ from }) => from === bob.number,
  );
});

/*
 * A person who hides the number shares it without a text: `SHARE_PHONE_NUMBER` answers a request for the number
 * (WhatsApp Web, message type 11), and a message or notice names the number next to the LID (`sender_pn`,
 * `participant_pn`).
 */
it('joins the chats of a person who shares the number only in the envelope of a message', async () => {
  const { whatsapp, call } = setting;
  const me = nextPhone(whatsapp, 'Me');
  const bob = nextPhone(whatsapp, 'Bob');
  bob.profile.hidesNumber = true;
  const sessionId = await linkSession(call, me);
  const id = await bob.sendText(me.number, 'no number yet');
  const { messageId } = await eventOf(call, 'message.incoming', ({ message }) => message === 'no number yet');
  bob.profile.hidesNumber = false;
  const type = proto.Message.ProtocolMessage.Type.SHARE_PHONE_NUMBER;
  await bob.send(me.number, { protocolMessage: { type } });
  const changed = await eventOf(call, 'contact.updated', (data) => data.phoneNumber === bob.number);
  assert.deepEqual([changed.previousPhoneNumber, changed.numberChanged], [`000${bob.lid}`, undefined]);
  const { body } = await call('GET', `/messages/${messageId}`);
  assert.deepEqual([body.networkId, body.from, body.chatId], [id, bob.number, bob.number]);
  assert.deepEqual(await chatIds(sessionId), [bob.number]);
});

it('joins the chats of a person who shares the number in a group', async () => {
  const { whatsapp, call } = setting;
  const me = nextPhone(whatsapp, 'Me');
  const bob = nextPhone(whatsapp, 'Bob');
  bob.profile.hidesNumber = true;
  const sessionId = await linkSession(call, me);
  await bob.sendText(me.number, 'direct and hidden');
  await eventOf(call, 'message.incoming', ({ message }) => message === 'direct and hidden');
  const group = nextPhone(whatsapp, 'Carol').groups.create('Shared', [me.number, bob.number]);
  const { groupId } = await eventOf(call, 'group.created', ({ subject }) => subject === 'Shared');
  await bob.sendText(group, 'in the group');
  const hidden = await eventOf(call, 'message.incoming', ({ message }) => message === 'in the group');
  assert.equal(hidden.from, `000${bob.lid}`);
  bob.profile.hidesNumber = false;
  await bob.send(group, { reactionMessage: { key: { id: 'UNKNOWN', remoteJid: group }, text: '👋' } });
  await eventOf(call, 'contact.updated', (data) => data.phoneNumber === bob.number);
  assert.deepEqual((await chatIds(sessionId)).toSorted(), [bob.number, groupId].toSorted());
  assert.equal((await call('GET', `/messages/${hidden.messageId}`)).body.from, bob.number);
});

const chatIds = async (sessionId: string): Promise<string[]> =>
  (await setting.call('GET', `/chats?sessionId=${sessionId}`)).body.data.map(({ chatId }: Answer['body']) => chatId);
const textsIn = async (sessionId: string, chatId: string): Promise<string[]> =>
  (await setting.call('GET', `/messages?sessionId=${sessionId}&chatId=${chatId}`)).body.data
    .map(({ message }: Answer['body']) => message)
    .toReversed();
const changedTo = (phoneNumber: string) =>
  eventOf(setting.call, 'contact.updated', (data) => data.phoneNumber === phoneNumber && data.numberChanged === true);

for (const hasLids of [true, false])
  it(`keeps the chat of a person who changes the number, ${hasLids ? 'with' : 'without'} LIDs in the notice`, async () => {
    const { whatsapp, server, call } = setting;
    const [me, bob, bobLater] = ['Me', 'Bob', 'Bob'].map((name) => nextPhone(whatsapp, name));
    assert.ok(me && bob && bobLater);
    const sessionId = await linkSession(call, me);
    const texts = ['hello', 'answer', 'same person', 'who has the number now?', 'someone else'].map(
      (text) => `${text} ${bob.number}`,
    );
    const [hello = '', answer = '', same = '', who = '', other = ''] = texts;
    const made = await call('POST', '/api-keys/create', { name: 'bob', allowedRecipients: [bob.number] });
    const limited = bearer(server.url, made.body.key);
    await bob.sendText(me.number, hello);
    await eventOf(call, 'message.incoming', ({ message }) => message === hello);
    const send = (to: string, message: string) => limited('POST', '/messages/send', { sessionId, to, message });
    assert.equal((await send(bob.number, answer)).status, 201);
    assert.equal((await send(bobLater.number, 'not yet')).body.code, 'permission_denied');

    const atS = Math.floor(Date.now() / 1000) - 5;
    bob.moveTo(bobLater.number, { hasLids, atS });
    const changed = await changedTo(bobLater.number);
    assert.deepEqual([changed.previousPhoneNumber, changed.sessionId], [bob.number, sessionId]);
    assert.deepEqual(await chatIds(sessionId), [bobLater.number]);
    await bobLater.sendText(me.number, same);
    const { chatId } = await eventOf(call, 'message.incoming', ({ message }) => message === same);
    assert.equal(chatId, bobLater.number);
    assert.deepEqual(await textsIn(sessionId, bobLater.number), [hello, answer, same]);
    const sentToNew = await send(bobLater.number, 'to the new number');
    assert.equal(sentToNew.status, 201, 'keys that the server has cached follow immediately');

    // The former number goes to its next owner.
    const sent = await send(bob.number, who);
    assert.deepEqual([sent.status, sent.body.to], [201, bob.number], JSON.stringify(sent.body));
    await bob.messages.waitFor(({ message }) => message.extendedTextMessage?.text === who);
    await bob.sendText(me.number, other);
    const stranger = await eventOf(call, 'message.incoming', ({ message }) => message === other);
    assert.equal(stranger.chatId, bob.number);
    bob.moveTo(bobLater.number, { hasLids, atS });
    await bob.sendText(me.number, `${other} again`);
    await eventOf(call, 'message.incoming', ({ message }) => message === `${other} again`);
    assert.deepEqual(await textsIn(sessionId, bob.number), [who, other, `${other} again`], 'a repeated notice');
  });

it('keeps the chat of a person who hides the number and changes it', async () => {
  const { whatsapp, call } = setting;
  const [me, bob, bobLater] = ['Me', 'Bob', 'Bob'].map((name) => nextPhone(whatsapp, name));
  assert.ok(me && bob && bobLater);
  bob.profile.hidesNumber = true;
  const sessionId = await linkSession(call, me);
  await bob.sendText(me.number, 'hidden before');
  const { from } = await eventOf(call, 'message.incoming', ({ message }) => message === 'hidden before');
  await call('POST', '/messages/send', { sessionId, to: from, message: 'hi' });
  bob.moveTo(bobLater.number);
  await eventOf(call, 'contact.updated', (data) => data.phoneNumber === bobLater.number);
  assert.deepEqual(await chatIds(sessionId), [bobLater.number]);
  assert.deepEqual(await textsIn(sessionId, bobLater.number), ['hidden before', 'hi']);
});

it('keeps the chat of a person whose change of number was not stored before a crash', async () => {
  const { whatsapp, server, call } = setting;
  const [me, bob, bobLater] = ['Me', 'Bob', 'Bob'].map((name) => nextPhone(whatsapp, name));
  assert.ok(me && bob && bobLater);
  const sessionId = await linkSession(call, me);
  await bob.sendText(me.number, 'before the crash');
  await eventOf(call, 'message.incoming', ({ message }) => message === 'before the crash');
  await call('POST', `/sessions/${sessionId}/disconnect`);
  const change = JSON.stringify({ from: bob.numberJid, to: bobLater.numberJid, at: 1 });
  await storeOf(server.app.services.database, sessionId).set(`changing/${bob.numberJid}`, change);
  await call('POST', `/sessions/${sessionId}/connect`);
  const changed = await changedTo(bobLater.number);
  assert.equal(changed.previousPhoneNumber, bob.number);
  assert.deepEqual(await chatIds(sessionId), [bobLater.number]);
});

it('keeps the chat of a former number apart when its next owner writes while the session is offline', async () => {
  const { whatsapp, call } = setting;
  const [me, bob, bobLater] = ['Me', 'Bob', 'Bob'].map((name) => nextPhone(whatsapp, name));
  assert.ok(me && bob && bobLater);
  const sessionId = await linkSession(call, me);
  await bob.sendText(me.number, 'I am Bob');
  await eventOf(call, 'message.incoming', ({ message }) => message === 'I am Bob');
  await call('POST', '/messages/send', { sessionId, to: bob.number, message: 'hi Bob' });
  await call('POST', `/sessions/${sessionId}/disconnect`);
  bob.moveTo(bobLater.number);
  await bob.sendText(me.number, 'I am the next owner');
  await call('POST', `/sessions/${sessionId}/connect`);
  const { chatId } = await eventOf(call, 'message.incoming', ({ message }) => message === 'I am the next owner');
  assert.equal(chatId, bob.number);
  await changedTo(bobLater.number);
  assert.deepEqual(await textsIn(sessionId, bobLater.number), ['I am Bob', 'hi Bob']);
  assert.deepEqual(await textsIn(sessionId, bob.number), ['I am the next owner']);
});

it('forgets which number the LID of a person had before a change without LIDs', async () => {
  const { whatsapp, server, call } = setting;
  const [me, bob, bobLater] = ['Me', 'Bob', 'Bob'].map((name) => nextPhone(whatsapp, name));
  assert.ok(me && bob && bobLater);
  const sessionId = await linkSession(call, me);
  const store = storeOf(server.app.services.database, sessionId);
  await store.set('changed/491700000001@s.whatsapp.net', '1');
  await bob.sendText(me.number, 'with the first number');
  await eventOf(call, 'message.incoming', ({ message }) => message === 'with the first number');
  await call('POST', '/messages/send', { sessionId, to: bob.number, message: 'hi' });
  bob.moveTo(bobLater.number, { hasLids: false });
  await changedTo(bobLater.number);
  bob.profile.hidesNumber = true;
  await bob.sendText(me.number, 'without a number');
  const { chatId } = await eventOf(call, 'message.incoming', ({ message }) => message === 'without a number');
  assert.equal(chatId, `000${bob.lid}`);
  await call('POST', `/sessions/${sessionId}/disconnect`);
  await call('POST', `/sessions/${sessionId}/connect`);
  await inStatus(call, sessionId, 'connected');
  assert.deepEqual([...(await store.list('changed/')).keys()], [`changed/${bob.numberJid}`]);
});

it('ignores a notice about the number of the session', async () => {
  const { whatsapp, call } = setting;
  const [me, bob] = ['Me', 'Bob'].map((name) => nextPhone(whatsapp, name));
  assert.ok(me && bob);
  const sessionId = await linkSession(call, me);
  await bob.sendText(me.number, 'to my number');
  await eventOf(call, 'message.incoming', ({ message }) => message === 'to my number');
  await call('POST', '/messages/send', { sessionId, to: bob.number, message: 'hi' });
  bob.moveTo(me.number);
  await bob.sendText(me.number, 'after the notice');
  const { chatId } = await eventOf(call, 'message.incoming', ({ message }) => message === 'after the notice');
  assert.deepEqual([chatId, await chatIds(sessionId)], [bob.number, [bob.number]]);
});

it('a sender with a hosted address is known by number', async () => {
  const { whatsapp, call } = setting;
  const me = nextPhone(whatsapp, 'Me');
  const shop = nextPhone(whatsapp, 'Shop');
  await linkSession(call, me);
  await shop.sendText(me.number, 'we are open', { addressing: 'hosted' });
  const event = await eventOf(call, 'message.incoming', ({ message }) => message === 'we are open');
  assert.deepEqual([event.from, event.chatId, event.unidentified], [shop.number, shop.number, undefined]);
});
