import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { describeWithSessionsApart } from '../support/databases/databases.ts';
import { eventually } from '../support/eventually.ts';
import { picture, upload } from '../support/media/media.ts';
import { sampleMedia } from '../support/media/sampleMedia.ts';
import {
  type Answer,
  type Call,
  eventOf,
  newNumber,
  sharedSandbox,
  startServer,
  type TestServer,
} from '../support/server.ts';

/** The smallest beginning by which a video is detected. */
const MP4 = sampleMedia('clip.mp4');

describeWithSessionsApart('kinds of messages on the sandbox', (_, database) => {
  let server: TestServer;
  let a: Person;
  let b: Person;
  interface Person {
    readonly call: Call;
    readonly token: string;
    readonly sessionId: string;
    readonly number: string;
  }
  before(async () => {
    server = await startServer({ database, env: sharedSandbox });
    [a, b] = [await person(), await person()];
  });
  after(() => server.stop());

  async function person(): Promise<Person> {
    const { call, token } = await server.account();
    const number = newNumber();
    const { sessionId } = (await call('POST', '/sessions', { phoneNumber: number })).body;
    assert.equal((await call('POST', `/sessions/${sessionId}/connect`)).body.status, 'connected');
    return { call, token, sessionId, number };
  }

  const mediaOf = async ({ token }: Person, content = picture()) => (await upload(server, token, content)).body.mediaId;

  /** Waits for the message that `b` received. */
  const arrived = async (fits: (message: Answer['body']) => boolean): Promise<Answer['body']> => {
    const { body } = await eventually(
      () => b.call('GET', '/messages?direction=incoming&limit=50'),
      (answer) => answer.body.data.some(fits),
    );
    return body.data.find(fits);
  };

  async function simulate(action: object): Promise<void> {
    const { status, body } = await b.call('POST', `/sessions/${b.sessionId}/simulate`, { from: PETER, ...action });
    assert.equal(status, 200, JSON.stringify(body));
  }
  const PETER = '491709999999';

  it('pass their flags to the other side', async () => {
    const video = await mediaOf(a, MP4);
    for (const flag of ['viewOnce', 'gif', 'videoNote']) {
      const body = { to: b.number, type: 'video', mediaId: video, [flag]: true };
      const sent = await a.call('POST', '/messages/send-media', body);
      assert.deepEqual([sent.status, sent.body[flag]], [201, true], JSON.stringify(sent.body));
      assert.equal((await arrived((message) => message[flag] === true)).type, 'video');
    }
  });

  it('refuse flags that do not fit', async () => {
    const mediaId = await mediaOf(a);
    const video = await mediaOf(a, MP4);
    for (const [body, field] of [
      [{ type: 'image', mediaId, gif: true }, 'gif'],
      [{ type: 'document', mediaId, viewOnce: true }, 'viewOnce'],
      [{ type: 'video', mediaId: video, gif: true, videoNote: true }, 'videoNote'],
      [{ type: 'video', mediaId: video, videoNote: true, caption: 'x' }, 'caption'],
      [{ type: 'image', mediaId, mentionAll: true }, 'mentionAll'],
    ] as const) {
      const answer = await a.call('POST', '/messages/send-media', { to: b.number, ...body });
      assert.deepEqual([answer.status, answer.body.errors[0].field], [400, field]);
    }
  });

  it('have a caption that can be edited within its limit, and others have none to edit', async () => {
    const send = async (fields: object) =>
      (await a.call('POST', '/messages/send-media', { to: b.number, ...fields })).body.messageId;
    const edit = (messageId: string, message: string) => a.call('PATCH', `/messages/${messageId}`, { message });
    const image = await send({ type: 'image', mediaId: await mediaOf(a), caption: 'before' });
    assert.equal((await edit(image, 'y'.repeat(4096))).body.message.length, 4096);
    const tooLong = await edit(image, 'y'.repeat(4097));
    assert.deepEqual([tooLong.status, tooLong.body.errors[0].field], [400, 'message']);
    const removed = await edit(image, '');
    assert.deepEqual([removed.status, removed.body.message, removed.body.edited], [200, '', true]);
    const received = await arrived(({ type, edited }) => type === 'image' && edited === true);
    await eventually(
      async () => (await b.call('GET', `/messages/${received.messageId}`)).body.message,
      (text) => text === '',
    );
    const text = (await a.call('POST', '/messages/send', { to: b.number, message: 'words' })).body.messageId;
    const emptied = await edit(text, '');
    assert.deepEqual([emptied.status, emptied.body.errors[0].field], [400, 'message']);

    const recording = await mediaOf(a, sampleMedia('voice.ogg'));
    for (const fields of [
      { type: 'voice', mediaId: recording },
      { type: 'audio', mediaId: recording },
      { type: 'sticker', mediaId: await mediaOf(a, sampleMedia('sticker.webp')) },
      { type: 'video', mediaId: await mediaOf(a, MP4), videoNote: true },
    ]) {
      const { status, body } = await edit(await send(fields), 'x');
      assert.deepEqual([fields.type, status, body.code], [fields.type, 409, 'message_state']);
    }
  });

  it('show an album as files that belong together', async () => {
    const files = [
      { type: 'image', mediaId: await mediaOf(a), caption: 'first of two' },
      { type: 'video', mediaId: await mediaOf(a, MP4) },
    ];
    const body = { to: b.number, files, idempotencyKey: `album ${b.number}` };
    const sent = await a.call('POST', '/messages/send-album', body);
    assert.equal(sent.status, 202, JSON.stringify(sent.body));
    const again = await a.call('POST', '/messages/send-album', body);
    assert.equal(again.body.albumId, sent.body.albumId);
    const first = await arrived(({ message }) => message === 'first of two');
    assert.deepEqual(first.album, { albumId: sent.body.albumId, images: 1, videos: 1, index: 0 });
    await arrived(({ type, album }) => type === 'video' && album?.albumId === first.album.albumId);
    const all = (await b.call('GET', '/messages?limit=50')).body.data;
    assert.equal(all.filter(({ album }: Answer['body']) => album?.albumId === first.album.albumId).length, 2);
    const few = await a.call('POST', '/messages/send-album', { to: b.number, files: files.slice(0, 1) });
    assert.equal(few.body.code, 'validation_failed');
  });

  it('show an event with its fields, and who comes', async () => {
    const event = { name: 'Lunch', startsAt: '2030-07-01T12:00:00+02:00', extraGuests: true };
    const sent = await a.call('POST', '/messages/send-event', { to: b.number, ...event, location: { name: 'Gate' } });
    assert.equal(sent.status, 201, JSON.stringify(sent.body));
    const got = await arrived(({ type, message }) => type === 'event' && message === 'Lunch');
    assert.deepEqual(got.event, {
      startsAt: '2030-07-01T10:00:00.000Z',
      location: { name: 'Gate' },
      extraGuests: true,
    });
    for (const answer of ['maybe', 'going', 'going']) {
      const action = { action: 'event_answer', from: b.number, messageId: sent.body.messageId, answer };
      const { status } = await a.call('POST', `/sessions/${a.sessionId}/simulate`, action);
      assert.equal(status, 200);
    }
    const { body } = await a.call('GET', `/messages/${sent.body.messageId}`);
    assert.deepEqual(body.answers, [{ from: b.number, answer: 'going' }]);
    const { body: log } = await a.call('GET', '/events?events=event.answer');
    assert.deepEqual(
      log.data.map(({ data }: Answer['body']) => data.answer),
      ['maybe', 'going'],
    );
    for (const wrong of [{ endsAt: '2030-07-01T09:00:00Z' }, { location: { latitude: 1 } }, { location: {} }]) {
      const refused = await a.call('POST', '/messages/send-event', { to: b.number, ...event, ...wrong });
      assert.equal(refused.body.code, 'validation_failed', JSON.stringify(wrong));
    }
  });

  it('take simulated changes only where they have an effect', async () => {
    const [text, event, poll] = await Promise.all(
      [
        ['/messages/send', { message: 'plain' }],
        ['/messages/send-event', { name: 'Dinner', startsAt: '2030-07-01T12:00:00Z' }],
        ['/messages/send-poll', { question: 'Who?', options: ['x', 'y'] }],
      ].map(async ([path, body]) => {
        const sent = await a.call('POST', String(path), { to: b.number, ...(body as object) });
        return String(sent.body.messageId);
      }),
    );
    const play = (action: object) => a.call('POST', `/sessions/${a.sessionId}/simulate`, action);
    await play({ action: 'incoming', from: b.number, message: 'received' });
    const { messageId: received } = await eventOf(a.call, 'message.incoming', ({ message }) => message === 'received');
    const stranger = '491705559999';
    const location = { latitude: 1, longitude: 2, live: { sequence: 2 } };
    const refused: [object, string][] = [
      [{ action: 'event_answer', messageId: event, from: stranger, answer: 'going' }, 'from'],
      [{ action: 'vote', messageId: poll, from: stranger, options: ['x'] }, 'from'],
      [{ action: 'react', messageId: text, from: stranger, emoji: '👍' }, 'from'],
      [{ action: 'event_answer', messageId: text, from: b.number, answer: 'going' }, 'messageId'],
      [{ action: 'vote', messageId: text, from: b.number, options: ['x'] }, 'messageId'],
      [{ action: 'move', messageId: text, location }, 'messageId'],
      [{ action: 'receipt', messageId: received, status: 'read' }, 'messageId'],
    ];
    for (const [action, field] of refused) {
      const { status, body } = await play(action);
      assert.deepEqual([status, body.errors?.[0].field], [400, field], JSON.stringify(action));
    }
    assert.equal((await a.call('GET', `/messages/${event}`)).body.answers, undefined);
    await a.call('DELETE', `/messages/${text}`);
    const late = await play({ action: 'react', messageId: text, from: b.number, emoji: '👍' });
    assert.deepEqual([late.status, late.body.code], [409, 'message_state']);
  });

  it('show a vote on both sides', async () => {
    const poll = { question: 'Both sides?', options: ['Yes', 'No'] };
    const sent = await a.call('POST', '/messages/send-poll', { to: b.number, ...poll });
    const { messageId } = await arrived(({ message }) => message === poll.question);
    const voted = await b.call('POST', `/messages/${messageId}/vote`, { options: ['Yes'] });
    assert.deepEqual(voted.body.votes, [{ from: b.number, options: ['Yes'] }]);
    const seen = await eventually(
      async () => (await a.call('GET', `/messages/${sent.body.messageId}`)).body,
      ({ votes }) => votes !== undefined,
    );
    assert.deepEqual(seen.votes, voted.body.votes);
    const { fromMe, options } = await eventOf(b.call, 'poll.vote', (data) => data.messageId === messageId);
    assert.deepEqual([fromMe, options], [true, ['Yes']]);
  });

  it('mention everybody in a group only', async () => {
    const group = await a.call('POST', '/groups', { subject: 'All', phoneNumbers: [b.number] });
    const { groupId } = group.body;
    await eventOf(b.call, 'group.created', ({ subject }) => subject === 'All');
    await a.call('POST', '/messages/send', { to: groupId, message: 'to all of you', mentionAll: true });
    assert.equal((await arrived(({ message }) => message === 'to all of you')).mentionsAll, true);
    const direct = await a.call('POST', '/messages/send', { to: b.number, message: 'x', mentionAll: true });
    assert.equal(direct.body.errors[0].field, 'mentionAll');
  });

  it('replace the position of a live location by a newer one only', async () => {
    const location = { latitude: 1, longitude: 2, name: 'Route', live: { sequence: 1 } };
    await simulate({ action: 'incoming', location });
    const { messageId } = await arrived((message) => message.location?.name === 'Route');
    const move = (latitude: number, sequence: number) =>
      simulate({ action: 'move', messageId, location: { latitude, longitude: 2, live: { sequence, heading: 90 } } });
    await move(5, 3);
    await move(5, 3);
    await move(4, 2);
    const { body } = await b.call('GET', `/messages/${messageId}`);
    assert.deepEqual(body.location, { latitude: 5, longitude: 2, name: 'Route', live: { heading: 90, sequence: 3 } });
    const { body: log } = await b.call('GET', '/events?events=message.location');
    assert.deepEqual(
      log.data.map(({ data }: Answer['body']) => data.location.latitude),
      [5],
    );
  });

  it('arrive from the simulator', async () => {
    await simulate({
      action: 'incoming',
      message: 'Tea',
      product: { retailerId: 'SKU-1', price: 4.5, currency: 'EUR' },
    });
    assert.deepEqual((await arrived(({ type }) => type === 'product')).product, {
      retailerId: 'SKU-1',
      price: 4.5,
      currency: 'EUR',
    });
    await simulate({ action: 'incoming', order: { items: [{ retailerId: 'SKU-1', quantity: 2, price: 4.5 }] } });
    assert.deepEqual((await arrived(({ type }) => type === 'order')).order, {
      itemCount: 1,
      items: [{ retailerId: 'SKU-1', quantity: 2, price: 4.5 }],
    });
    await simulate({ action: 'incoming', groupInvite: { networkGroupId: '1@g.us', code: 'Abc' } });
    assert.equal((await arrived(({ type }) => type === 'group_invite')).groupInvite.code, 'Abc');
    await simulate({ action: 'incoming', message: 'pay', rawType: 'requestPaymentMessage' });
    assert.equal((await arrived(({ type }) => type === 'unsupported')).rawType, 'requestPaymentMessage');
    await simulate({ action: 'incoming', message: 'Yes', choice: { kind: 'button', id: 'yes' } });
    const chosen = await arrived(({ choice }) => choice !== undefined);
    assert.deepEqual([chosen.choice, chosen.payload], [{ kind: 'button' }, 'yes']);
    const referral = { adId: '120226305854810726', clickId: 'Aff-n8', headline: 'Tea', url: 'https://example.com/tea' };
    await simulate({ action: 'incoming', message: 'Hello', referral });
    const fromAd = await arrived((message) => message.referral !== undefined);
    assert.deepEqual(fromAd.referral, referral);
    await simulate({
      action: 'incoming',
      from: '491709990001',
      message: 'Hi',
      referral: { url: 'https://example.com' },
    });
    const withoutId = await arrived((message) => message.from === '491709990001');
    const idsOf = async (path: string) =>
      (await b.call('GET', path)).body.data.map(
        ({ messageId, chatId }: { messageId?: string; chatId: string }) => messageId ?? chatId,
      );
    assert.deepEqual(await idsOf('/messages?hasReferral=true'), [withoutId.messageId, fromAd.messageId]);
    assert.deepEqual(await idsOf(`/messages?adId=${referral.adId}`), [fromAd.messageId]);
    assert.deepEqual(await idsOf('/messages?adId=0'), []);
    assert.deepEqual(await idsOf('/chats?hasReferral=true'), [withoutId.chatId, fromAd.chatId]);
    assert.deepEqual(await idsOf(`/chats?adId=${referral.adId}`), [fromAd.chatId]);
    const forwarded = await b.call('POST', `/messages/${fromAd.messageId}/forward`, { to: a.number });
    assert.deepEqual([forwarded.status, forwarded.body.referral], [201, undefined]);
    const quoted = { networkId: 'OLD', from: a.number, type: 'image', text: 'an old picture', isStatus: true };
    await simulate({ action: 'incoming', message: 'nice one', quoted });
    const reply = await arrived(({ message }) => message === 'nice one');
    assert.deepEqual([reply.quoted, reply.replyTo], [quoted, undefined]);
    const mediaId = await mediaOf(b);
    await simulate({ action: 'incoming', type: 'image', mediaId, viewOnce: true, albumId: 'A1' });
    assert.deepEqual((await arrived(({ album }) => album?.albumId === 'A1')).viewOnce, true);
  });

  it('are found by their ad when they are deleted, and chats also if they were only opened through it', async () => {
    const idsOf = async (path: string) =>
      (await b.call('GET', path)).body.data.map(
        ({ messageId, chatId }: { messageId?: string; chatId: string }) => messageId ?? chatId,
      );
    const [person, opener] = ['491709990011', '491709990012'];
    await simulate({ action: 'incoming', from: person, message: 'I saw it', referral: { adId: 'AD-1' } });
    const { messageId } = await arrived(({ message }) => message === 'I saw it');
    await simulate({ action: 'delete', messageId });
    await eventually(
      async () => (await b.call('GET', `/messages/${messageId}`)).body,
      ({ deleted }) => deleted === true,
    );
    assert.deepEqual(await idsOf('/messages?adId=AD-1'), [messageId]);
    assert.deepEqual((await b.call('GET', `/messages/${messageId}`)).body.referral, undefined);
    assert.equal((await b.call('DELETE', `/messages/${messageId}?for=me`)).status, 200);
    assert.deepEqual(await idsOf('/messages?adId=AD-1'), []);
    assert.deepEqual(await idsOf('/chats?adId=AD-1'), [person]);
    await simulate({ action: 'chat_open', from: opener, referral: { adId: 'AD-2' } });
    await simulate({ action: 'incoming', from: opener, message: 'What does it cost?' });
    await arrived(({ message }) => message === 'What does it cost?');
    assert.deepEqual([await idsOf('/chats?adId=AD-2'), await idsOf('/messages?adId=AD-2')], [[opener], []]);
    assert.equal((await idsOf('/chats?hasReferral=true')).includes(opener), true);
    await b.call('DELETE', `/chats/${opener}?sessionId=${b.sessionId}`);
    await simulate({ action: 'incoming', from: opener, message: 'Hello again' });
    await arrived(({ message }) => message === 'Hello again');
    assert.deepEqual(await idsOf('/chats?adId=AD-2'), []);
  });

  it('cannot be sent if a session can only receive them', async () => {
    const { messageId } = await arrived(({ type }) => type === 'product');
    const { status, body } = await b.call('POST', `/messages/${messageId}/forward`, { to: a.number });
    assert.deepEqual([status, body.code], [422, 'not_supported']);
  });
});
