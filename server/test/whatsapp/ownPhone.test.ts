import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { it } from 'node:test';
import { eventually } from '../support/eventually.ts';
import type { Phone } from '../support/fakeWhatsapp/index.ts';
import { download, picture } from '../support/media.ts';
import { sealVote } from '../support/sealVote.ts';
import { type Answer, eventOf } from '../support/server.ts';
import { wireIdOf } from '../support/wireId.ts';
import { eventsOf, inStatus, linkSession, nextPhone, useWhatsapp } from './support.ts';

/* What the session's own number sends from another device: the phone itself, or another client. */

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
/** An id as phones choose it. */
const phoneId = () => randomBytes(16).toString('hex').toUpperCase();

it('stands in its chat as sent, is told with what it says, and gets its receipts', async () => {
  const { call } = setting;
  const id = await me.sendText(bob.number, 'from the phone', { id: phoneId() });
  const told = await sentElsewhere('from the phone');
  const { messageId } = told;
  assert.deepEqual(told, {
    messageId,
    to: bob.number,
    status: 'sent',
    timestamp: told.timestamp,
    sessionId,
    chatId: bob.number,
    from: me.number,
    type: 'text',
    sentElsewhere: true,
    message: 'from the phone',
  });
  await eventOf(call, 'message.delivered', (data) => data.messageId === messageId);
  bob.read(me.number, id);
  await eventOf(call, 'message.read', (data) => data.messageId === messageId);
  const message = await read(messageId);
  assert.deepEqual([message.direction, message.status, message.chatId], ['outgoing', 'read', bob.number]);
  const { body: chats } = await call('GET', `/chats?sessionId=${sessionId}`);
  const chat = chats.data.find(({ chatId }: Answer['body']) => chatId === bob.number);
  assert.deepEqual([chat.unreadCount, chat.lastMessage.messageId], [0, messageId]);
});

it('answers, and is answered', async () => {
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

it('a file comes with it', async () => {
  const content = picture();
  await me.sendFile(bob.number, 'image', content, { caption: 'seen on the way' });
  const { type, media } = await sentElsewhere('seen on the way');
  assert.equal(type, 'image');
  assert.deepEqual((await download(setting.server, setting.token, media.mediaId)).bytes, content);
});

it('is changed from the phone as what was sent from here is, and from here as well', async () => {
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

it('in a group it is told with the group', async () => {
  const { call } = setting;
  const networkId = me.groups.create('Both of us', [bob.number]);
  const { groupId } = await eventOf(call, 'group.created', ({ subject }) => subject === 'Both of us');
  await me.sendText(networkId, 'hello, all');
  const told = await sentElsewhere('hello, all');
  assert.deepEqual([told.groupId, told.chatId, told.to, told.from], [groupId, groupId, groupId, me.number]);
});

it('votes in a poll that was asked on the phone stand with it, those of the phone too', async () => {
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

it('what was sent while the session was away is told once, as replayed', async () => {
  const { call } = setting;
  await call('POST', `/sessions/${sessionId}/disconnect`);
  await me.sendText(bob.number, 'meanwhile');
  await call('POST', `/sessions/${sessionId}/connect`);
  assert.equal((await sentElsewhere('meanwhile')).replayed, true);
  await inStatus(call, sessionId, 'connected');
  await me.sendText(bob.number, 'and now');
  await sentElsewhere('and now');
  const told = await eventsOf(call, sessionId, ['message.sent']);
  assert.equal(told.filter(({ data }) => data.message === 'meanwhile').length, 1);
});

it('a note to oneself is in the chat with oneself', async () => {
  await me.sendText(me.number, 'milk');
  const { to, chatId } = await sentElsewhere('milk');
  assert.deepEqual([to, chatId], [me.number, me.number]);
});

it('to somebody who hides the number it goes by the stand-in', async () => {
  const carol = nextPhone(setting.whatsapp, 'Carol');
  carol.profile.hidesNumber = true;
  await me.sendText(carol.number, 'who are you?');
  assert.equal((await sentElsewhere('who are you?')).chatId, `000${carol.lid}`);
});
