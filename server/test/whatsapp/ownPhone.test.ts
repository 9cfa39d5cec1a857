import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { it } from 'node:test';
import { proto } from 'baileys';
import { eventually } from '../support/eventually.ts';
import type { Phone } from '../support/fakeWhatsapp/index.ts';
import { stanza } from '../support/fakeWhatsapp/stanza.ts';
import { download, picture } from '../support/media/media.ts';
import { sealVote } from '../support/networks/sealVote.ts';
import { wireIdOf } from '../support/networks/wireId.ts';
import { type Answer, eventOf } from '../support/server.ts';
import { eventsOf, inStatus, linkSession, nextPhone, useWhatsapp } from './support.ts';

/* Messages that the session's own number sends from another device: the phone itself, or another client. */

const setting = useWhatsapp({}, prepare);
let me: Phone;
let bob: Phone;
let sessionId: string;

async function prepare() {
  me = nextPhone(setting.whatsapp, 'Me');
  bob = nextPhone(setting.whatsapp, 'Bob');
  sessionId = await linkSession(setting.call, me);
}

const sentElsewhere = (text: string) => eventOf(setting.call, 'message.sent', ({ message }) => message === text);
const read = async (messageId: string) => (await setting.call('GET', `/messages/${messageId}`)).body;
const nowS = () => String(Math.floor(Date.now() / 1000));
/** An id in the format of phones. */
const phoneId = () => randomBytes(16).toString('hex').toUpperCase();

it('a message from the phone with the preview of an ad has no referral, and its chat came through no ad', async () => {
  const { call } = setting;
  const externalAdReply = { title: 'Sale', sourceUrl: 'https://fb.me/x', sourceId: 'OWN-AD', sourceType: 'ad' };
  await me.send(bob.number, { extendedTextMessage: { text: 'look at our ad', contextInfo: { externalAdReply } } });
  const event = await sentElsewhere('look at our ad');
  assert.equal(event.referral, undefined);
  assert.equal((await read(event.messageId)).referral, undefined);
  for (const path of ['/messages?adId=OWN-AD', '/chats?adId=OWN-AD', '/messages?hasReferral=true'])
    assert.deepEqual((await call('GET', path)).body.data, [], path);
});

it('a message from the phone is stored as sent, with its content, an event and receipts', async () => {
  const { call } = setting;
  const id = await me.sendText(bob.number, 'from the phone', { id: phoneId() });
  const event = await sentElsewhere('from the phone');
  const { messageId } = event;
  assert.equal((await read(messageId)).networkId, id);
  assert.deepEqual(event, {
    messageId,
    to: bob.number,
    status: 'sent',
    timestamp: event.timestamp,
    sessionId,
    chatId: bob.number,
    from: me.number,
    type: 'text',
    sentElsewhere: true,
    message: 'from the phone',
    // Fields that the log adds.
    networkId: id,
    networkChatId: bob.numberJid,
    isGroup: false,
    networkFrom: me.numberJid,
    senderName: null,
    toNumber: bob.number,
    session: { name: null, metadata: {} },
  });
  await eventOf(call, 'message.delivered', (data) => data.messageId === messageId);
  bob.read(me.number, id);
  await eventOf(call, 'message.read', (data) => data.messageId === messageId);
  const message = await read(messageId);
  assert.deepEqual([message.direction, message.status, message.chatId], ['outgoing', 'read', bob.number]);
  assert.equal(message.sentElsewhere, true);
  const steps = message.statusHistory.map(({ status }: Answer['body']) => status);
  assert.deepEqual(steps, ['sent', 'delivered', 'read']);
  const { body: chats } = await call('GET', `/chats?sessionId=${sessionId}`);
  const chat = chats.data.find(({ chatId }: Answer['body']) => chatId === bob.number);
  assert.deepEqual([chat.unreadCount, chat.lastMessage.messageId], [0, messageId]);
});

it('a message from the phone can be a reply, and can be replied to', async () => {
  const { call } = setting;
  const questionId = await bob.sendText(me.number, 'whom do I talk to?');
  const question = await eventOf(call, 'message.incoming', ({ message }) => message === 'whom do I talk to?');
  const id = phoneId();
  const contextInfo = { stanzaId: questionId, participant: bob.lidJid };
  await me.send(bob.number, { extendedTextMessage: { text: 'to a person', contextInfo } }, { id });
  const answer = await sentElsewhere('to a person');
  assert.equal(answer.replyTo, question.messageId);
  const about = { stanzaId: id, participant: me.lidJid };
  await bob.send(me.number, { extendedTextMessage: { text: 'good', contextInfo: about } });
  const last = await eventOf(call, 'message.incoming', ({ message }) => message === 'good');
  assert.equal(last.replyTo, answer.messageId);
});

it('a message from the phone includes its file', async () => {
  const content = picture();
  await me.sendFile(bob.number, 'image', content, { caption: 'seen on the way' });
  const { type, media } = await sentElsewhere('seen on the way');
  assert.equal(type, 'image');
  assert.deepEqual((await download(setting.server, setting.token, media.mediaId)).bytes, content);
});

it('a message from the phone can be edited and deleted there and through the API', async () => {
  const { call } = setting;
  const { body: sent } = await call('POST', '/messages/send', { sessionId, to: bob.number, message: 'from heer' });
  const id = phoneId();
  await me.sendText(bob.number, 'from thier', { id });
  const { messageId } = await sentElsewhere('from thier');
  const theirs = await bob.sendText(me.number, 'yours?');
  const { messageId: theirId } = await eventOf(call, 'message.incoming', ({ message }) => message === 'yours?');

  for (const [key, ours, text] of [
    [wireIdOf(sent.messageId), sent.messageId, 'from here'],
    [id, messageId, 'from there'],
  ] as const) {
    const about = { id: key, fromMe: true, remoteJid: bob.lidJid };
    await me.send(bob.number, { protocolMessage: { type: 14, key: about, editedMessage: { conversation: text } } });
    await eventually(
      () => read(ours),
      ({ message }) => message === text,
    );
    await me.send(bob.number, { reactionMessage: { key: about, text: '👍' } });
    await eventually(
      () => read(ours),
      ({ reactions }) => reactions?.[0]?.from === me.number,
    );
  }
  await me.send(bob.number, { reactionMessage: { key: { id: theirs, fromMe: false }, text: '🎉' } });
  await eventually(
    () => read(theirId),
    ({ reactions }) => reactions?.[0]?.from === me.number,
  );
  const about = { id: wireIdOf(sent.messageId), fromMe: true, remoteJid: bob.lidJid };
  await me.send(bob.number, { protocolMessage: { type: 0, key: about } });
  await eventually(
    () => read(sent.messageId),
    ({ deleted }) => deleted === true,
  );

  assert.equal((await call('DELETE', `/messages/${messageId}`)).status, 200);
  await bob.messages.waitFor(({ message }) => message.protocolMessage?.key?.id === id);
});

it('a message from the phone to a group is reported with the group', async () => {
  const { call } = setting;
  const networkId = me.groups.create('Both of us', [bob.number]);
  const { groupId } = await eventOf(call, 'group.created', ({ subject }) => subject === 'Both of us');
  await me.sendText(networkId, 'hello, all');
  const event = await sentElsewhere('hello, all');
  assert.deepEqual([event.groupId, event.chatId, event.to, event.from], [groupId, groupId, groupId, me.number]);
});

it('a poll from the phone counts votes, including those of the phone', async () => {
  const id = phoneId();
  const secret = randomBytes(32);
  const options = ['Tea', 'Coffee'];
  const poll = { name: 'What?', options: options.map((optionName) => ({ optionName })), selectableOptionsCount: 1 };
  await me.send(bob.number, { pollCreationMessage: poll, messageContextInfo: { messageSecret: secret } }, { id });
  const { messageId } = await sentElsewhere('What?');
  const vote = (by: Phone, to: string, option: string) =>
    by.send(to, {
      pollUpdateMessage: {
        pollCreationMessageKey: { id, fromMe: by === me, remoteJid: me.lidJid },
        vote: sealVote([option], { pollId: id, secret, author: me.lidJid, voter: by.lidJid }),
        senderTimestampMs: Date.now(),
      },
    });
  await vote(bob, me.number, 'Tea');
  await vote(me, bob.number, 'Coffee');
  const { votes } = await eventually(
    () => read(messageId),
    (message) => message.votes?.length === 2,
  );
  assert.deepEqual(
    new Map(votes.map(({ from, options }: Answer['body']) => [from, options[0]])),
    new Map([
      [bob.number, 'Tea'],
      [me.number, 'Coffee'],
    ]),
  );
});

it('a message sent from the phone while the session was away is reported once, as replayed', async () => {
  const { call } = setting;
  await call('POST', `/sessions/${sessionId}/disconnect`);
  await me.sendText(bob.number, 'meanwhile');
  await call('POST', `/sessions/${sessionId}/connect`);
  assert.equal((await sentElsewhere('meanwhile')).replayed, true);
  await inStatus(call, sessionId, 'connected');
  await me.sendText(bob.number, 'and now');
  await sentElsewhere('and now');
  const events = await eventsOf(call, sessionId, ['message.sent']);
  assert.equal(events.filter(({ data }) => data.message === 'meanwhile').length, 1);
});

it('a note to oneself belongs to the chat with oneself', async () => {
  await me.sendText(me.number, 'milk');
  const { to, chatId } = await sentElsewhere('milk');
  assert.deepEqual([to, chatId], [me.number, me.number]);
});

it('a message from the phone to a person with a hidden number uses the placeholder', async () => {
  const carol = nextPhone(setting.whatsapp, 'Carol');
  carol.profile.hidesNumber = true;
  await me.sendText(carol.number, 'who are you?');
  assert.equal((await sentElsewhere('who are you?')).chatId, `000${carol.lid}`);
});

it('a receipt that arrives before its message is stored waits for it', async () => {
  const { whatsapp, call } = setting;
  whatsapp.faults.refuseDownloads(503);
  const id = await me.sendFile(bob.number, 'image', picture(), { caption: 'slow to come' });
  await bob.messages.waitFor((message) => message.id === id);
  assert.equal(me.haveConfirmed(id), false);
  whatsapp.faults.refuseDownloads(undefined);
  const { messageId } = await sentElsewhere('slow to come');
  await eventOf(call, 'message.delivered', (data) => data.messageId === messageId);
});

it('a receipt from the LID belongs to a message from the phone that showed the number', async () => {
  const { whatsapp, call } = setting;
  const carol = nextPhone(whatsapp, 'Carol');
  carol.switchOff();
  whatsapp.faults.refuseDownloads(503);
  const id = await me.sendFile(carol.number, 'image', picture(), { caption: 'first message to Carol' });
  whatsapp.inject(me.number, stanza('receipt', { from: carol.lidJid, id, t: nowS() }));
  whatsapp.faults.refuseDownloads(undefined);
  const { messageId, chatId } = await sentElsewhere('first message to Carol');
  assert.equal(chatId, carol.number);
  await eventOf(call, 'message.delivered', (data) => data.messageId === messageId);
});

it('a receipt shows the number of a person whose chat has a placeholder', async () => {
  const { whatsapp, call } = setting;
  const dave = nextPhone(whatsapp, 'Dave');
  dave.profile.hidesNumber = true;
  dave.switchOff();
  const id = await me.sendText(dave.number, 'first message to Dave');
  const { messageId, chatId } = await sentElsewhere('first message to Dave');
  assert.equal(chatId, `000${dave.lid}`);
  whatsapp.inject(me.number, stanza('receipt', { from: dave.lidJid, sender_pn: dave.numberJid, id, t: nowS() }));
  const delivered = await eventOf(call, 'message.delivered', (data) => data.messageId === messageId);
  assert.equal(delivered.chatId, dave.number);
});

it('a receipt of several messages does not wait for one without content', async () => {
  const { call } = setting;
  const album = await me.send(bob.number, { albumMessage: { expectedImageCount: 2 } });
  const { body: sent } = await call('POST', '/messages/send', { sessionId, to: bob.number, message: 'beside it' });
  bob.read(me.number, album, wireIdOf(sent.messageId));
  await eventually(
    () => read(sent.messageId),
    ({ status }) => status === 'read',
    15_000,
  );
  await eventually(
    async () => me.haveConfirmed(album),
    (isConfirmed) => isConfirmed,
    15_000,
  );
});

it('a message delivered twice is reported once, and does not delay its receipts', async () => {
  const { whatsapp, call } = setting;
  whatsapp.faults.duplicateNext(me.number);
  const id = await me.sendText(bob.number, 'once');
  const { messageId } = await sentElsewhere('once');
  // A third time, after its key was used up.
  const t = String(Math.floor(Date.now() / 1000));
  const envelope = { id, from: me.lidJid, recipient: bob.lidJid, type: 'text', t };
  whatsapp.inject(me.number, stanza('message', envelope, [stanza('enc', { v: '2', type: 'msg' }, randomBytes(60))]));
  bob.read(me.number, id);
  await eventually(
    () => read(messageId),
    ({ status }) => status === 'read',
    15_000,
  );
  const events = await eventsOf(call, sessionId, ['message.sent']);
  assert.equal(events.filter(({ data }) => data.message === 'once').length, 1);
});

/** Lets the phone resend a message that arrived in an empty envelope. */
function resend(remoteJid: string, id: string, text: string): Promise<string> {
  const webMessageInfoBytes = proto.WebMessageInfo.encode({
    key: { id, remoteJid, fromMe: true },
    message: { conversation: text },
    messageTimestamp: Math.floor(Date.now() / 1000),
  }).finish();
  const result = { placeholderMessageResendResponse: { webMessageInfoBytes } };
  const { PEER_DATA_OPERATION_REQUEST_RESPONSE_MESSAGE: type } = proto.Message.ProtocolMessage.Type;
  const resent = { stanzaId: 'REQUEST', peerDataOperationResult: [result] };
  return me.send(me.number, { protocolMessage: { type, peerDataOperationRequestResponseMessage: resent } });
}

it('messages resent by the phone are reported, except those to an assistant or a broadcast list', async () => {
  await resend('867051314767696@bot', 'ASSISTANT', 'to nobody');
  await resend('1700000000@broadcast', 'LIST', 'to many');
  await resend(bob.lidJid, 'EMPTY', 'resent');
  assert.equal((await sentElsewhere('resent')).chatId, bob.number);
  const events = await eventsOf(setting.call, sessionId, ['message.sent', 'message.incoming']);
  assert.ok(!events.some(({ data }) => ['to nobody', 'to many'].includes(data.message)));
});
