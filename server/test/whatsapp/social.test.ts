import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { it } from 'node:test';
import { AppError } from '../../src/errors.ts';
import type { EventKind } from '../../src/events/events.ts';
import { eventually } from '../support/eventually.ts';
import type { Phone } from '../support/fakeWhatsapp/index.ts';
import { createLog } from '../support/fakeWhatsapp/log.ts';
import { STATUS } from '../support/fakeWhatsapp/stanza.ts';
import { picture } from '../support/media/media.ts';
import { type Answer, eventOf } from '../support/server.ts';
import { linkAsHost } from './host.ts';
import { eventsOf, linkSession, nextPhone, useWhatsapp } from './support.ts';

/* Presence, calls, statuses and channels. */

/** A number that is not on WhatsApp. */
const ABSENT = '15559999999';
const setting = useWhatsapp({}, prepare);
let me: Phone;
let bob: Phone;
let sessionId: string;

async function prepare() {
  me = nextPhone(setting.whatsapp, 'Me');
  bob = nextPhone(setting.whatsapp, 'Bob');
  const options = { statuses: true, channels: true };
  sessionId = await linkSession(setting.call, me, options);
  // Both addresses of Bob are known from now on.
  await bob.sendText(me.number, 'first');
  await eventOf(setting.call, 'message.incoming', ({ message }) => message === 'first');
}

const next = (kind: EventKind, fits: (data: Answer['body']) => boolean = () => true) =>
  eventOf(setting.call, kind, (data) => data.sessionId === sessionId && fits(data));

async function ok(answer: Promise<Answer>, status = 200): Promise<Answer['body']> {
  const { status: actual, body } = await answer;
  assert.equal(actual, status, JSON.stringify(body));
  return body;
}

/** Changes options of the session, which connects again with them. */
async function setOptions(options: Readonly<Record<string, unknown>>): Promise<void> {
  const { call } = setting;
  await ok(
    call('PATCH', `/sessions/${sessionId}`, { options: { pauseMs: 0, statuses: true, channels: true, ...options } }),
  );
  await eventually(
    () => ok(call('GET', `/sessions/${sessionId}`)),
    ({ status }) => status === 'connected',
  );
}

it('shows the session as online, also after a reconnect, until it is offline', async () => {
  const { call } = setting;
  const shown = await ok(call('PUT', `/sessions/${sessionId}/presence`, { presence: 'online' }));
  assert.equal(shown.presence, 'online');
  assert.ok(Date.parse(shown.until) > Date.now());
  await eventually(
    async () => me.isOnline(),
    (isOnline) => isOnline,
  );
  me.setOnline(false);
  setting.whatsapp.faults.drop(me.number);
  await eventually(
    async () => me.isOnline(),
    (isOnline) => isOnline,
  );
  const hidden = await ok(call('PUT', `/sessions/${sessionId}/presence`, { presence: 'offline' }));
  assert.deepEqual(hidden, { sessionId, presence: 'offline', until: null });
  await eventually(
    async () => me.isOnline(),
    (isOnline) => !isOnline,
  );
});

it('follows the presence of a contact, and asks for it again after a reconnect', async () => {
  const { call } = setting;
  const path = `/contacts/${bob.number}/presence`;
  await eventually(
    () => call('PUT', path, { sessionId, followed: true }),
    ({ status }) => status === 200, // the session is reconnecting until then
  );
  assert.deepEqual(bob.followers(), [me.number]);
  bob.setOnline(true);
  await next('presence.updated', ({ from, presence }) => from === bob.number && presence === 'online');
  const read = () => ok(call('GET', `${path}?sessionId=${sessionId}`));
  const online = await read();
  assert.deepEqual([online.followed, online.presence], [true, 'online']);
  bob.forgetFollowers();
  setting.whatsapp.faults.drop(me.number);
  await eventually(
    async () => bob.followers(),
    (followers) => followers.includes(me.number),
  );
  await ok(call('PUT', path, { sessionId, followed: false }));
  const gone = await read();
  assert.deepEqual([gone.followed, gone.presence, gone.updatedAt], [false, null, null]);
});

it('rejects a call once', async () => {
  const { call } = setting;
  const callId = bob.call(me.number, 'video');
  await next('call.incoming', (data) => data.callId === callId);
  await ok(call('POST', `/calls/${callId}/reject`, { sessionId }));
  await bob.rejections.waitFor((id) => id === callId);
  const ended = await next('call.ended', (data) => data.callId === callId);
  assert.deepEqual([ended.outcome, ended.from, ended.video], ['rejected', bob.number, true]);
  const again = await call('POST', `/calls/${callId}/reject`, { sessionId });
  assert.deepEqual([again.status, again.body.code], [404, 'not_found']);
});

it('rejects every call by itself, and tells each caller once', async () => {
  const calls = { autoReject: true, message: 'Please write instead' };
  await setOptions({ calls });
  const told = () => bob.messages.all.filter(({ message }) => message.extendedTextMessage?.text === calls.message);
  const first = bob.call(me.number);
  await bob.rejections.waitFor((id) => id === first);
  await eventually(
    async () => told().length,
    (count) => count === 1,
  );
  const second = bob.call(me.number);
  await bob.rejections.waitFor((id) => id === second);
  const third = bob.call(me.number);
  await bob.rejections.waitFor((id) => id === third);
  await next('call.ended', ({ callId }) => callId === third);
  assert.equal(told().length, 1);
  await setOptions({});
});

it('reports status mentions and requests for the number as events, and not as messages', async () => {
  const { call } = setting;
  const group = bob.groups.create('Mentioned', [me.number]);
  const { groupId } = await next('group.created', ({ subject }) => subject === 'Mentioned');
  const before = (await call('GET', '/messages?direction=incoming')).body.data.length;
  // Clients send it like that (Baileys #1341): the key of the status is in a notice of the type STATUS_MENTION_MESSAGE.
  const key = { remoteJid: 'status@broadcast', fromMe: true, id: 'STATUS01' };
  const message = { protocolMessage: { key, type: 25 } };
  await bob.send(group, { groupStatusMentionMessage: { message } });
  const inGroup = await next('status.mentioned', (data) => data.groupId === groupId);
  assert.deepEqual([inGroup.from, inGroup.fromMe, inGroup.chatId], [bob.number, false, groupId]);
  assert.equal(inGroup.statusId, undefined);
  await bob.send(me.number, { statusMentionMessage: { message } });
  await next('status.mentioned', (data) => data.chatId === bob.number);
  await bob.send(me.number, { statusMentionMessage: {} });
  await bob.send(me.number, { requestPhoneNumberMessage: {} });
  const request = await next('contact.number_request');
  assert.deepEqual([request.from, request.chatId, request.groupId], [bob.number, bob.number, undefined]);
  assert.equal((await call('GET', '/messages?direction=incoming')).body.data.length, before);
  await ok(call('DELETE', `/chats/${groupId}`));
});

it('posts a status to its audience, counts its views, and deletes it', async () => {
  const { call } = setting;
  const carol = nextPhone(setting.whatsapp, 'Carol');
  const status = await ok(
    call('POST', '/status', {
      sessionId,
      message: 'We are open',
      backgroundColor: '#1f6f5c',
      font: 2,
      phoneNumbers: [bob.number, ABSENT],
    }),
    201,
  );
  assert.deepEqual([status.state, status.fromMe, status.backgroundColor], ['sent', true, '#1F6F5C']);
  const leftOut = { count: 1, phoneNumbers: [ABSENT] };
  assert.deepEqual(status.leftOut, leftOut);
  const seen = await bob.messages.waitFor(({ chat }) => chat === STATUS);
  const { extendedTextMessage: text } = seen.message;
  assert.deepEqual([text?.text, text?.backgroundArgb, text?.font], ['We are open', 0xff1f6f5c, 2]);
  await me.messages.waitFor(({ chat, isOwn }) => chat === STATUS && isOwn);
  assert.deepEqual(carol.messages.all, []);
  bob.read(STATUS, seen.id);
  const viewed = await next('status.viewed');
  assert.deepEqual([viewed.statusId, viewed.from, viewed.emoji], [status.statusId, bob.number, null]);
  await bob.send(me.number, { reactionMessage: { key: { remoteJid: STATUS, id: seen.id }, text: '💚' } });
  await next('status.viewed', ({ emoji }) => emoji === '💚');
  const views = await ok(call('GET', `/status/${status.statusId}/views?sessionId=${sessionId}`));
  assert.deepEqual(
    views.data.map(({ phoneNumber, emoji }: Answer['body']) => [phoneNumber, emoji]),
    [[bob.number, '💚']],
  );
  const { data } = await ok(call('GET', `/status?by=me&sessionId=${sessionId}`));
  assert.deepEqual([data.length, data[0].views, data[0].leftOut], [1, 1, leftOut]);
  await ok(call('DELETE', `/status/${status.statusId}?sessionId=${sessionId}`));
  const revoked = await bob.messages.waitFor(({ message }) => message.protocolMessage != null);
  assert.equal(revoked.message.protocolMessage?.key?.id, seen.id);
  assert.deepEqual((await ok(call('GET', `/status?by=me&sessionId=${sessionId}`))).data, []);
});

it('receives statuses with their files, marks them as viewed, and forgets deleted ones', async () => {
  const { call } = setting;
  const audience = [me.number];
  const textId = await bob.send(
    STATUS,
    { extendedTextMessage: { text: 'At the sea', backgroundArgb: 0xff102030, font: 1 } },
    { audience },
  );
  const received = await next('status.received', ({ message }) => message === 'At the sea');
  assert.deepEqual([received.from, received.type, received.fromMe], [bob.number, 'text', false]);
  assert.deepEqual([received.backgroundColor, received.font], ['#102030', 1]);
  await bob.sendFile(STATUS, 'image', picture(), { caption: 'A picture', mimetype: 'image/png' }, { audience });
  const withFile = await next('status.received', ({ message }) => message === 'A picture');
  assert.deepEqual([withFile.type, withFile.media.mimeType], ['image', 'image/png']);
  await ok(call('POST', `/status/${received.statusId}/viewed`, { sessionId }));
  await bob.receipts.waitFor(({ id, type }) => id === textId && type === 'read');
  const key = { id: textId, remoteJid: STATUS, fromMe: true };
  await bob.send(STATUS, { protocolMessage: { type: 0, key } }, { audience });
  const deleted = await next('status.deleted', ({ from }) => from === bob.number);
  assert.equal(deleted.statusId, received.statusId);
  const { data } = await ok(call('GET', `/status?by=others&sessionId=${sessionId}`));
  assert.deepEqual(
    data.map(({ message }: Answer['body']) => message),
    ['A picture'],
  );
  const chats = await ok(call('GET', `/chats?sessionId=${sessionId}`));
  assert.ok(
    chats.data.every(({ chatId }: Answer['body']) => chatId === bob.number),
    'statuses are no chats',
  );
});

it('confirms statuses and posts that a session does not want, and stores none', async () => {
  const { call } = setting;
  const dora = nextPhone(setting.whatsapp, 'Dora');
  const other = await linkSession(call, dora);
  const { jid } = bob.createChannel('Unwanted');
  dora.follow(jid);
  const statusId = await bob.send(STATUS, { conversation: 'unwanted' }, { audience: [dora.number] });
  const postId = bob.post(jid, { conversation: 'unwanted' });
  await eventually(
    async () => dora.haveConfirmed(statusId) && dora.haveConfirmed(postId),
    (isDone) => isDone,
  );
  await bob.sendText(dora.number, 'and a message');
  await eventOf(call, 'message.incoming', ({ message }) => message === 'and a message');
  assert.deepEqual((await ok(call('GET', `/status?sessionId=${other}`))).data, []);
  assert.deepEqual((await ok(call('GET', `/channels?sessionId=${other}`))).data, []);
  assert.deepEqual(await eventsOf(call, other, ['status.received', 'channel.message']), []);
});

it('finds and follows a channel, receives its posts with files, reacts, and stops', async () => {
  const { call, whatsapp } = setting;
  const { jid, invite } = bob.createChannel('News of Bob');
  const link = `https://whatsapp.com/channel/${invite}`;
  const preview = await ok(call('GET', `/channels/preview?sessionId=${sessionId}&channel=${encodeURIComponent(link)}`));
  assert.deepEqual([preview.name, preview.role, preview.networkChannelId], ['News of Bob', null, jid]);
  const channel = await ok(call('POST', '/channels/follow', { sessionId, channel: link }));
  assert.deepEqual([channel.role, channel.followers, channel.muted], ['follower', 1, false]);
  const path = `/channels/${channel.channelId}`;
  const postId = bob.post(jid, { extendedTextMessage: { text: 'Hello all' } });
  const event = await next('channel.message', ({ message }) => message === 'Hello all');
  assert.deepEqual([event.channelId, event.channelName, event.type], [channel.channelId, 'News of Bob', 'text']);
  await eventually(
    async () => me.haveConfirmed(postId),
    (isConfirmed) => isConfirmed,
  );
  const content = picture();
  const directPath = whatsapp.putFile(content);
  const image = { directPath, fileSha256: createHash('sha256').update(content).digest(), mimetype: 'image/png' };
  bob.post(jid, { imageMessage: { ...image, caption: 'A picture', fileLength: content.length } });
  const withFile = await next('channel.message', ({ message }) => message === 'A picture');
  assert.deepEqual([withFile.type, withFile.media.size], ['image', content.length]);
  bob.post(jid, { imageMessage: { ...image, fileSha256: Buffer.alloc(32), caption: 'A forgery' } });
  const forged = await next('channel.message', ({ message }) => message === 'A forgery');
  assert.equal(forged.media, undefined);
  await ok(call('POST', `${path}/messages/${event.postId}/reaction`, { sessionId, emoji: '👍' }));
  const [first] = bob.channel(jid).posts;
  assert.deepEqual([...(first?.reactions.values() ?? [])], ['👍']);
  if (first !== undefined) first.views = 7;
  await ok(call('POST', `${path}/messages/refresh`, { sessionId }));
  const { data } = await ok(call('GET', `${path}/messages?sessionId=${sessionId}`));
  const shown = data.find((post: Answer['body']) => post.postId === event.postId);
  assert.deepEqual([data.length, shown.views, shown.reactions], [3, 7, { '👍': 1 }]);
  assert.equal((await ok(call('PATCH', path, { sessionId, muted: true }))).muted, true);
  assert.equal((await ok(call('POST', '/channels/refresh', { sessionId }))).channels, 1);
  assert.equal((await ok(call('GET', `${path}?sessionId=${sessionId}`))).muted, true);
  const denied = await call('POST', `${path}/messages`, { sessionId, message: 'not mine' });
  assert.deepEqual([denied.status, denied.body.code], [403, 'network_denied']);
  assert.equal((await ok(call('POST', `${path}/unfollow`, { sessionId }))).role, null);
  assert.equal(bob.channel(jid).followers.size, 0);
  const unknown = await call('POST', '/channels/follow', { sessionId, channel: `${link.slice(0, -4)}zzzz` });
  assert.deepEqual([unknown.status, unknown.body.code], [404, 'not_found']);
});

it('creates a channel, and posts texts and files in it', async () => {
  const { call } = setting;
  const channel = await ok(call('POST', '/channels', { sessionId, name: 'Our news', description: 'Daily' }), 201);
  assert.deepEqual([channel.name, channel.description, channel.role], ['Our news', 'Daily', 'owner']);
  const path = `/channels/${channel.channelId}/messages`;
  const post = await ok(call('POST', path, { sessionId, message: 'The first' }), 201);
  assert.deepEqual([post.state, post.fromMe, post.type], ['sent', true, 'text']);
  const file = { type: 'image', content: picture().toString('base64'), message: 'The second' };
  const second = await ok(call('POST', path, { sessionId, ...file }), 201);
  assert.equal(second.media.mimeType, 'image/png');
  const { posts } = me.channel(channel.networkChannelId);
  assert.deepEqual(
    posts.map(({ type }) => type),
    ['text', 'media'],
  );
  await ok(call('POST', `${path}/refresh`, { sessionId }));
  const { data } = await ok(call('GET', `${path}?sessionId=${sessionId}`));
  assert.deepEqual(data.map(({ message }: Answer['body']) => message).toSorted(), ['The first', 'The second']);
  await ok(call('POST', `${path}/${post.postId}/reaction`, { sessionId, emoji: '🎉' }));
  assert.deepEqual([...(posts[0]?.reactions.values() ?? [])], ['🎉']);
  assert.deepEqual(setting.whatsapp.troubles, []);
});

it('leaves a post unconfirmed that the session could not store before it ended', async (test) => {
  const { whatsapp } = setting;
  const tried = createLog<string>('reports of posts', (type) => type);
  const session = await linkAsHost(test, whatsapp, {
    options: { channels: true },
    async onEvent({ type }) {
      if (type !== 'channel_post') return;
      tried.add(type);
      throw new AppError('storage_unavailable');
    },
  });
  const { jid } = bob.createChannel('News without a disk');
  session.me.follow(jid);
  const postId = bob.post(jid, { conversation: 'never stored' });
  await tried.waitFor((type) => type === 'channel_post');
  await session.connection.close();
  await session.logged.waitFor((line) => line.includes('failed to report a post'));
  assert.equal(session.me.haveConfirmed(postId), false);
});
