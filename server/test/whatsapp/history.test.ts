import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { deflateSync } from 'node:zlib';
import { proto } from 'baileys';
import { eventually } from '../support/eventually.ts';
import type { Phone } from '../support/fakeWhatsapp/index.ts';
import type { Answer } from '../support/server.ts';
import { inStatus, linkSession, nextPhone, useWhatsapp } from './support.ts';

const DAY_S = 24 * 3600;
const daysAgo = (days: number) => Math.floor(Date.now() / 1000) - days * DAY_S;

const setting = useWhatsapp();
const { call } = { call: (...given: Parameters<typeof setting.call>) => setting.call(...given) };

const historyOf = async (sessionId: string) => (await call('GET', `/sessions/${sessionId}`)).body.history;

const imported = (sessionId: string) =>
  eventually(
    () => historyOf(sessionId),
    ({ state }) => state === 'complete' || state === 'failed',
  );

async function messagesOf(sessionId: string, query = ''): Promise<Answer['body'][]> {
  return (await call('GET', `/messages?sessionId=${sessionId}&limit=200${query}`)).body.data;
}

/** A phone with a chat of `count` messages, a minute apart, the newest a day old. */
function writeChat(me: Phone, other: Phone, count: number): void {
  for (let n = 0; n < count; n++)
    me.history.write(other.number, `number ${n}`, {
      id: `H${other.number}${n}`,
      fromMe: n % 3 === 0,
      atS: daysAgo(1) - (count - n) * 60,
      info: n % 3 === 0 ? { status: proto.WebMessageInfo.Status.READ } : {},
    });
}

describe('after linking', () => {
  it('imports chats, contacts and messages with what belongs to them', async () => {
    const { whatsapp } = setting;
    const [me, bob, carol] = [nextPhone(whatsapp, 'Me'), nextPhone(whatsapp, 'Bob'), nextPhone(whatsapp, 'Carol')];
    writeChat(me, bob, 30);
    const group = carol.groups.create('Team', [me.number, bob.number]);
    me.history.write(group, 'to the team', { from: bob.number, atS: daysAgo(3), id: 'G1' });
    me.history.write('100@g.us', 'to those who have left', { from: bob.number, atS: daysAgo(9), id: 'G2' });
    me.history.setChat('100@g.us', { name: 'Former team' });
    me.history.write(
      bob.number,
      {
        extendedTextMessage: { text: 'a reply', contextInfo: { stanzaId: `H${bob.number}4`, participant: bob.lidJid } },
      },
      {
        id: 'REPLY',
        atS: daysAgo(1),
        info: { reactions: [{ key: { fromMe: true, id: 'X' }, text: '👍', senderTimestampMs: Date.now() }] },
      },
    );
    me.history.write(carol.number, 'deleted', {
      id: 'GONE',
      atS: daysAgo(2),
      info: { message: null, messageStubType: proto.WebMessageInfo.StubType.REVOKE },
    });
    me.history.write(
      carol.number,
      {
        editedMessage: {
          message: {
            protocolMessage: { type: 14, editedMessage: { conversation: 'edited' }, timestampMs: Date.now() },
          },
        },
      },
      { id: 'EDITED', atS: daysAgo(2) + 5 },
    );
    me.history.write('status@broadcast', 'a story', { from: bob.number, atS: daysAgo(1) });
    me.history.setChat(bob.number, { unreadCount: 2, archived: true });
    me.history.setChat(carol.number, { pinned: 12345, muteEndTime: -1 });
    me.history.setName(bob.number, 'bobby');
    const sessionId = await linkSession(call, me);
    const history = await imported(sessionId);
    assert.deepEqual([history.state, history.progress, history.error], ['complete', 100, null]);

    const messages = await messagesOf(sessionId);
    assert.equal(messages.length, 35);
    assert.ok(messages.every(({ origin }) => origin === 'history'));
    const times = messages.map(({ timestamp }) => timestamp);
    assert.deepEqual(times, times.toSorted().toReversed());
    const byText = new Map(messages.map((message) => [message.message, message]));
    const reply = byText.get('a reply');
    assert.equal(reply.replyTo, byText.get('number 4').messageId);
    assert.deepEqual(
      reply.reactions.map(({ from, emoji }: Answer['body']) => [from, emoji]),
      [[me.number, '👍']],
    );
    assert.deepEqual([byText.get('number 3').direction, byText.get('number 3').status], ['outgoing', 'read']);
    assert.equal(byText.get('edited').edited, true);
    assert.equal(messages.find(({ networkId }) => networkId === 'GONE').deleted, true);
    const unread = messages.filter(({ direction, status }) => direction === 'incoming' && status === 'delivered');
    assert.deepEqual(
      unread.map(({ message }) => message),
      ['a reply', 'number 29'],
    );
    const { body: chats } = await call('GET', `/chats?sessionId=${sessionId}`);
    const shown = chats.data.map((chat: Answer['body']) => [chat.name, chat.unreadCount, chat.archived, chat.pinned]);
    assert.deepEqual(shown, [
      ['bobby', 2, true, false],
      [null, 0, false, true],
      ['Team', 0, false, false],
      ['Former team', 0, false, false],
    ]);
    assert.ok(Date.parse(chats.data[1].mutedUntil) > Date.now());
    assert.deepEqual([history.messages, history.chats], [35, 3]);
    assert.equal((await messagesOf(sessionId, '&q=number%2017')).length, 1);

    const { body: groups } = await call('GET', `/groups?sessionId=${sessionId}`);
    assert.ok(groups.data.some(({ subject }: Answer['body']) => subject === 'Team'));
    const { body: events } = await call(
      'GET',
      '/events?events=message.incoming,message.sent,session.history&limit=200',
    );
    const own = events.data.filter(({ data }: Answer['body']) => data.sessionId === sessionId);
    assert.deepEqual(
      [...new Set(own.map(({ event, data }: Answer['body']) => `${event} ${data.state}`))],
      ['session.history waiting', 'session.history importing', 'session.history complete'],
    );
    assert.deepEqual(whatsapp.troubles, []);
  });

  it('shows reactions to messages that others know by a number, in a group and in a direct chat', async () => {
    const { whatsapp } = setting;
    const [me, bob, carol] = [nextPhone(whatsapp, 'Me'), nextPhone(whatsapp, 'Bob'), nextPhone(whatsapp, 'Carol')];
    const group = bob.groups.create('Migrated since', [me.number, carol.number], 'number');
    const sentAtS = daysAgo(1);
    const inGroup = await carol.sendText(group, 'to all, by number', { sentAtS });
    whatsapp.migrateGroup(group);
    const direct = await carol.sendText(me.number, 'to me, by number', { sentAtS, addressing: 'number' });
    const byNumber = { remoteJid: group, fromMe: false, id: inGroup, participant: carol.numberJid };
    me.history.write(group, 'to all, by number', { id: inGroup, atS: sentAtS, info: { key: byNumber } });
    me.history.write(group, 'to all, by LID', { from: carol.number, atS: sentAtS + 60 });
    me.history.write(carol.numberJid, 'to me, by number', { id: direct, atS: sentAtS });
    const sessionId = await linkSession(call, me);
    assert.equal((await imported(sessionId)).state, 'complete');
    const messages = await messagesOf(sessionId);
    assert.equal(messages.length, 3);
    for (const { messageId } of messages)
      assert.equal((await call('PUT', `/messages/${messageId}/reaction`, { emoji: '📜' })).status, 200);
    for (const id of [inGroup, direct])
      await carol.messages.waitFor(({ message }) => message.reactionMessage?.key?.id === id);
    assert.deepEqual([carol.unshown.all, bob.unshown.all], [[], []]);
    assert.deepEqual(whatsapp.troubles, []);
  });

  it('imports many parts, the newest first, and live messages meanwhile', async () => {
    const { whatsapp } = setting;
    const [me, bob] = [nextPhone(whatsapp, 'Me'), nextPhone(whatsapp, 'Bob')];
    writeChat(me, bob, 450);
    me.history.setPartSize(100);
    const sessionId = await linkSession(call, me);
    await bob.sendText(me.number, 'live');
    const history = await imported(sessionId);
    assert.deepEqual([history.messages, history.chats], [450, 1]);
    const newest = await eventually(
      () => messagesOf(sessionId),
      ([first]) => first?.message === 'live',
    );
    assert.equal(newest[1].message, 'number 449');
  });

  it('imports nothing with `none`, but still learns numbers', async () => {
    const { whatsapp } = setting;
    const [me, bob] = [nextPhone(whatsapp, 'Me'), nextPhone(whatsapp, 'Bob')];
    writeChat(me, bob, 20);
    const sessionId = await linkSession(call, me, { history: 'none' });
    await bob.sendText(me.number, 'live');
    const [message] = await eventually(
      () => messagesOf(sessionId),
      ({ length }) => length > 0,
    );
    assert.deepEqual([message.from, message.message], [bob.number, 'live']);
    const ids = await eventually(
      async () => (await call('GET', `/contacts/${bob.number}?sessionId=${sessionId}`)).body.networkIds ?? [],
      (found) => found.length === 2,
    );
    assert.ok(ids.includes(bob.lidJid));
    assert.equal((await historyOf(sessionId)).state, 'none');
    assert.equal((await messagesOf(sessionId)).length, 1);
  });

  it('imports old messages only with `full`', async () => {
    const { whatsapp } = setting;
    for (const [history, expected] of [
      ['recent', ['new', 'newer']],
      ['full', ['old', 'new', 'newer']],
    ] as const) {
      const [me, bob] = [nextPhone(whatsapp, 'Me'), nextPhone(whatsapp, 'Bob')];
      for (const [text, days] of [
        ['old', 400],
        ['new', 20],
        ['newer', 10],
      ] as const)
        me.history.write(bob.number, text, { atS: daysAgo(days) });
      const sessionId = await linkSession(call, me, { history });
      const messages = await eventually(
        () => messagesOf(sessionId),
        ({ length }) => length === expected.length,
      );
      assert.deepEqual(messages.map(({ message }) => message).toReversed(), expected);
      await imported(sessionId);
    }
  });

  it('changes nothing when the session is linked again', async () => {
    const { whatsapp } = setting;
    const [me, bob] = [nextPhone(whatsapp, 'Me'), nextPhone(whatsapp, 'Bob')];
    writeChat(me, bob, 60);
    const sessionId = await linkSession(call, me);
    await imported(sessionId);
    const { body: sent } = await call('POST', '/messages/send', { sessionId, to: bob.number, message: 'from the API' });
    const before = await messagesOf(sessionId);
    assert.equal(before.length, 61);
    me.history.write(bob.number, 'from the API', { id: sent.networkId, fromMe: true });
    await call('POST', `/sessions/${sessionId}/logout`);
    await inStatus(call, sessionId, 'logged_out');
    await call('POST', `/sessions/${sessionId}/connect`);
    await inStatus(call, sessionId, 'awaiting_pairing');
    await me.scan((await call('GET', `/sessions/${sessionId}/qr`)).body.qr);
    await inStatus(call, sessionId, 'connected');
    const again = await eventually(
      () => historyOf(sessionId),
      ({ state, messages }) => state === 'complete' && messages === 0,
    );
    assert.equal(again.chats, 0);
    const ids = (messages: Answer['body'][]) => messages.map(({ messageId }) => messageId);
    assert.deepEqual(ids(await messagesOf(sessionId)), ids(before));
  });
});

describe('on demand', () => {
  it('requests older messages of a chat from the phone', async () => {
    const { whatsapp } = setting;
    const [me, bob] = [nextPhone(whatsapp, 'Me'), nextPhone(whatsapp, 'Bob')];
    for (let n = 0; n < 40; n++) me.history.write(bob.number, `old ${n}`, { atS: daysAgo(400) + n * 60 });
    me.history.write(bob.number, 'new', { atS: daysAgo(2) });
    const sessionId = await linkSession(call, me);
    await imported(sessionId);
    assert.equal((await messagesOf(sessionId)).length, 1);
    const asked = await call('POST', `/chats/${bob.number}/history`, { sessionId, count: 15 });
    assert.equal(asked.status, 202, JSON.stringify(asked.body));
    const messages = await eventually(
      () => messagesOf(sessionId),
      ({ length }) => length === 16,
    );
    assert.deepEqual([messages[1].message, messages[15].message], ['old 39', 'old 25']);
    await call('POST', `/chats/${bob.number}/history`, { sessionId, count: 100 });
    await eventually(
      () => messagesOf(sessionId),
      ({ length }) => length === 41,
    );
    for (let n = 0; n < 18; n++) await call('POST', `/chats/${bob.number}/history`, { sessionId, count: 1 });
    const limited = await call('POST', `/chats/${bob.number}/history`, { sessionId, count: 1 });
    assert.equal(limited.body.code, 'rate_limited');
    await call('POST', `/sessions/${sessionId}/disconnect`);
    const offline = await call('POST', `/chats/${bob.number}/history`, { sessionId });
    assert.equal(offline.body.code, 'session_not_connected');
  });

  it('imports an HD photo and a live photo as one message each, with the HD file', async () => {
    const { whatsapp } = setting;
    const [me, bob] = [nextPhone(whatsapp, 'Me'), nextPhone(whatsapp, 'Bob')];
    const [sd, hd] = [Buffer.from('standard'), Buffer.from('much better')];
    const image = (content: Buffer) => bob.uploadFile('image', content, { mimetype: 'image/jpeg' });
    const partOf = (parent: string, associationType: number, message: proto.IMessage): proto.IMessage => ({
      associatedChildMessage: { message },
      messageContextInfo: { messageAssociation: { associationType, parentMessageKey: { id: parent } } },
    });
    const { HD_IMAGE_DUAL_UPLOAD, MOTION_PHOTO } = proto.MessageAssociation.AssociationType;
    const write = (message: proto.IMessage, days: number, id: string, fromMe = false) =>
      me.history.write(bob.number, message, { atS: daysAgo(days), id, fromMe });
    write(image(sd), 9, 'PHOTO');
    write(partOf('PHOTO', HD_IMAGE_DUAL_UPLOAD, image(hd)), 8, 'PHOTO-HD');
    write(partOf('PHOTO', HD_IMAGE_DUAL_UPLOAD, image(Buffer.from('of another sender'))), 7, 'FORGED', true);
    const clip = bob.uploadFile('video', Buffer.from('moving'), { mimetype: 'video/mp4' });
    write(partOf('PHOTO', MOTION_PHOTO, clip), 6, 'PHOTO-LIVE');
    write({ conversation: 'later' }, 5, 'TEXT');
    const sessionId = await linkSession(call, me);
    await imported(sessionId);
    const all = await messagesOf(sessionId);
    assert.deepEqual(
      all.map(({ type, remoteMedia }) => [type, remoteMedia?.size]),
      [
        ['text', undefined],
        ['image', hd.length],
      ],
    );
    const fetched = await call('POST', `/messages/${all[1].messageId}/media`);
    assert.deepEqual([fetched.status, fetched.body.media?.size], [200, hd.length], JSON.stringify(fetched.body));
  });

  it('fetches a file of the history, also one that only the phone still has', async () => {
    const { whatsapp } = setting;
    const [me, bob] = [nextPhone(whatsapp, 'Me'), nextPhone(whatsapp, 'Bob')];
    const carol = nextPhone(whatsapp, 'Carol');
    const content = Buffer.from('%PDF-1.4 of the history');
    const id = await bob.sendFile(carol.number, 'document', content, {
      fileName: 'old.pdf',
      mimetype: 'application/pdf',
    });
    const { message } = await carol.messages.waitFor((received) => received.id === id);
    me.history.write(bob.number, message, { atS: daysAgo(2), id: 'FILE' });
    const sessionId = await linkSession(call, me);
    await imported(sessionId);
    const [found] = await messagesOf(sessionId);
    assert.deepEqual(found.remoteMedia, { mimeType: 'application/pdf', size: content.length, fileName: 'old.pdf' });
    assert.equal(found.media, undefined);
    const fetched = await call('POST', `/messages/${found.messageId}/media`);
    assert.deepEqual([fetched.status, fetched.body.media?.size], [200, content.length], JSON.stringify(fetched.body));

    me.history.write(carol.number, message, { atS: daysAgo(3), id: 'LOST' });
    await me.history.sendAgain();
    const lost = await eventually(
      () => messagesOf(sessionId),
      ({ length }) => length === 2,
    );
    whatsapp.faults.expireMedia();
    const gone = await call('POST', `/messages/${lost[1].messageId}/media`);
    assert.deepEqual([gone.status, gone.body.code], [404, 'not_found'], JSON.stringify(gone.body));
    for (let n = 1; n < 20; n++) await call('POST', `/messages/${lost[1].messageId}/media`);
    const limited = await call('POST', `/messages/${lost[1].messageId}/media`);
    assert.equal(limited.body.code, 'rate_limited', 'requests to the phone are limited');
  });
});

describe('a hostile part', () => {
  it('leaves out messages with long ids, and replies to such ids', async () => {
    const { whatsapp } = setting;
    const [me, bob] = [nextPhone(whatsapp, 'Me'), nextPhone(whatsapp, 'Bob')];
    me.history.write(bob.number, 'usual', { atS: daysAgo(1) });
    me.history.write(bob.number, 'long id', { atS: daysAgo(2), id: 'x'.repeat(4000) });
    const contextInfo = { stanzaId: 'y'.repeat(100_000), participant: bob.lidJid };
    me.history.write(bob.number, { extendedTextMessage: { text: 'reply', contextInfo } }, { atS: daysAgo(3) });
    const sessionId = await linkSession(call, me);
    assert.equal((await imported(sessionId)).state, 'complete');
    assert.deepEqual(
      (await messagesOf(sessionId)).map(({ message, replyTo }) => [message, replyTo ?? null]),
      [
        ['usual', null],
        ['reply', null],
      ],
    );
  });

  const bomb = () => {
    // A field that claims to be longer than everything allowed, and is.
    const head = Buffer.from([0x1a + 8 * 6, 0xff, 0xff, 0xff, 0xff, 0x07]);
    return deflateSync(Buffer.concat([head, Buffer.alloc(300 * 1024 * 1024)]));
  };
  const cases: readonly (readonly [string, () => Parameters<Phone['history']['announce']>[0], RegExp])[] = [
    ['with a wrong hash', () => ({ file: { fileSha256: Buffer.alloc(32, 1) } }), /does not match its hash/],
    ['whose file is missing', () => ({ file: { directPath: '/v/nothing' } }), /no longer has/],
    ['without a key', () => ({ file: { mediaKey: Buffer.alloc(3) } }), /incompletely/],
    ['on another host', () => ({ file: { directPath: '@127.0.0.1/x' } }), /incompletely/],
    ['that is not compressed', () => ({ content: Buffer.from('garbage') }), /decompressed/],
    [
      'that is garbage',
      () => ({ content: deflateSync(Buffer.alloc(1000, 0x12)) }),
      /cannot be read|ends too early|too large/,
    ],
    ['that is a zip bomb', () => ({ content: bomb() }), /larger than 256 MiB/],
  ];
  for (const [title, part, reason] of cases)
    it(`${title} fails with a reason, and the session stays usable`, async () => {
      const { whatsapp } = setting;
      const [me, bob] = [nextPhone(whatsapp, 'Me'), nextPhone(whatsapp, 'Bob')];
      const sessionId = await linkSession(call, me);
      await me.history.announce({ ...part(), progress: 100 });
      const history = await eventually(
        () => historyOf(sessionId),
        ({ state }) => state === 'failed',
      );
      assert.match(history.error, reason);
      me.history.write(bob.number, 'after it', { atS: daysAgo(2) });
      me.history.write(bob.number, 'before it', { atS: daysAgo(3) });
      await me.history.sendAgain();
      await eventually(
        () => messagesOf(sessionId),
        ({ length }) => length === 2,
      );
      assert.equal((await call('POST', '/messages/send', { sessionId, to: bob.number, message: 'works' })).status, 201);
    });
});
