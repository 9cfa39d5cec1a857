import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { describeOnEachDeployment, describeWithSessionsApart } from '../support/databases/databases.ts';
import { eventually } from '../support/eventually.ts';
import { createFakeClock } from '../support/fakeClock.ts';
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

describeWithSessionsApart('messages of every type', (newHome, database) => {
  let server: TestServer;
  let a: Person;
  let b: Person;
  interface Person {
    readonly call: Call;
    readonly token: string;
    readonly sessionId: string;
    /** Waits for the newest matching message. An earlier one with a file may arrive later. */
    latest(fits?: (message: Answer['body']) => boolean): Promise<Answer['body']>;
  }
  async function person(phoneNumber: string): Promise<Person> {
    const { call, token } = await server.account();
    const { sessionId } = (await call('POST', '/sessions', { phoneNumber })).body;
    assert.equal((await call('POST', `/sessions/${sessionId}/connect`)).body.status, 'connected');
    const latest: Person['latest'] = async (fits = () => true) => {
      const { body } = await eventually(
        () => call('GET', '/messages?direction=incoming&limit=10'),
        (answer) => answer.body.data.some(fits),
      );
      return body.data.find(fits);
    };
    return { call, token, sessionId, latest };
  }
  before(async () => {
    server = await startServer({ database, env: sharedSandbox });
    [a, b] = [await person(A), await person(B)];
  });
  after(() => server.stop());

  /** Sends as `a` to `b`, and waits until it has arrived. */
  async function exchange(path: string, fields: object) {
    const sent = await a.call('POST', path, { to: B, ...fields });
    assert.equal(sent.status, 201, JSON.stringify(sent.body));
    const arrived = await b.latest(
      ({ timestamp, type }) => timestamp === sent.body.timestamp && type === sent.body.type,
    );
    return { sent: sent.body, arrived };
  }

  it('an image arrives unchanged as a file of the other account, and its event links to it', async () => {
    const bytes = picture();
    const { mediaId } = (await upload(server, a.token, bytes, { query: '?fileName=cat.png' })).body;
    const { sent, arrived } = await exchange('/messages/send-media', { type: 'image', mediaId, caption: 'Look' });
    assert.deepEqual([arrived.type, arrived.message, arrived.media.fileName], ['image', 'Look', 'cat.png']);
    assert.notEqual(arrived.media.mediaId, sent.media.mediaId, 'each account has its own file');
    assert.deepEqual((await download(server, b.token, arrived.media.mediaId)).bytes, bytes);
    assert.equal((await download(server, a.token, arrived.media.mediaId)).status, 404);
    const event = await eventOf(b.call, 'message.incoming', ({ messageId }) => messageId === arrived.messageId);
    assert.deepEqual(event.media, arrived.media);
  });

  it('sends a file with its detected type, and nothing for a wrong or missing one', async () => {
    const { mediaId } = (await upload(server, a.token, 'only text', { query: '?fileName=note.txt' })).body;
    const send = (fields: object) => a.call('POST', '/messages/send-media', { to: B, ...fields });
    assert.equal((await send({ type: 'document', mediaId })).status, 201);
    const wrong = await send({ type: 'image', mediaId });
    assert.deepEqual([wrong.status, wrong.body.errors[0].code], [400, 'media_type']);
    assert.equal((await send({ type: 'document' })).body.errors[0].field, 'mediaId');
    assert.equal((await send({ type: 'document', mediaId: 'med_none' })).status, 404);
    assert.equal((await send({ type: 'document', url: 'https://127.0.0.1.nip.io.invalid/x' })).status, 422);
    assert.equal((await send({ type: 'document', url: 'https://169.254.169.254/latest' })).body.errors[0].field, 'url');
    const theirs = (await upload(server, b.token, 'theirs')).body.mediaId;
    assert.equal((await send({ type: 'document', mediaId: theirs })).status, 404);
  });

  it('a location, a contact and a poll arrive with their fields', async () => {
    const place = { latitude: 52.5163, longitude: 13.3777, name: 'Brandenburg Gate' };
    assert.deepEqual((await exchange('/messages/send-location', place)).arrived.location, place);
    const card = { name: 'Ada', phoneNumbers: ['+49 170 1112223'] };
    const { arrived } = await exchange('/messages/send-contact', card);
    assert.deepEqual(arrived.contact, { name: 'Ada', phoneNumbers: ['491701112223'] });
    const question = { question: 'When?', options: ['Today', 'Tomorrow'], maxSelections: 2 };
    const poll = await exchange('/messages/send-poll', question);
    assert.equal(poll.arrived.message, 'When?');
    assert.deepEqual(poll.arrived.poll, { options: ['Today', 'Tomorrow'], maxSelections: 2 });
    const tooMany = await a.call('POST', '/messages/send-poll', { to: B, ...question, maxSelections: 3 });
    assert.equal(tooMany.body.errors[0].field, 'maxSelections');
  });

  it('counts poll votes, one per person and only for existing options', async () => {
    const poll = { to: '491705550001', question: 'Which?', options: ['x', 'y'] };
    const { messageId } = (await a.call('POST', '/messages/send-poll', poll)).body;
    const vote = (from: string, options: string[]) =>
      a.call('POST', `/sessions/${a.sessionId}/simulate`, { action: 'vote', messageId, from, options });
    await vote('491705550001', ['x']);
    await vote('491705550001', ['y', 'z']);
    assert.deepEqual((await a.call('GET', `/messages/${messageId}`)).body.votes, [
      { from: '491705550001', options: ['y'] },
    ]);
    await vote('491705550001', []);
    assert.equal((await a.call('GET', `/messages/${messageId}`)).body.votes, undefined);
  });

  it('a reply names its original on both sides, and mentions are digits', async () => {
    const first = await exchange('/messages/send', { message: 'first' });
    const { sent, arrived } = await exchange('/messages/send', {
      message: 'second',
      replyTo: first.sent.messageId,
      mentions: ['+49 170 2222222'],
    });
    assert.equal(sent.replyTo, first.sent.messageId);
    assert.equal(arrived.replyTo, first.arrived.messageId);
    assert.deepEqual(arrived.mentions, [B]);
    const foreign = await a.call('POST', '/messages/send', { to: B, message: 'x', replyTo: arrived.messageId });
    assert.deepEqual([foreign.status, foreign.body.errors[0].field], [400, 'replyTo']);
  });

  it('both sides see a reaction, its replacement and its removal', async () => {
    const { sent, arrived } = await exchange('/messages/send', { message: 'react to me' });
    const react = (emoji: string) => b.call('PUT', `/messages/${arrived.messageId}/reaction`, { emoji });
    const seen = (emojis: string[]) =>
      eventually(
        () => a.call('GET', `/messages/${sent.messageId}`),
        ({ body }) =>
          JSON.stringify((body.reactions ?? []).map((one: { emoji: string }) => one.emoji)) === JSON.stringify(emojis),
      );
    assert.equal((await react('👍')).body.reactions[0].emoji, '👍');
    assert.equal((await seen(['👍'])).body.reactions[0].from, B);
    await react('❤️');
    await seen(['❤️']);
    await react('');
    await seen([]);
    assert.equal((await react('not an emoji')).body.errors[0].field, 'emoji');
  });

  it('an edit and a deletion reach the other side, and only the sender can make them', async () => {
    const { sent, arrived } = await exchange('/messages/send', { message: 'befor' });
    const edited = await a.call('PATCH', `/messages/${sent.messageId}`, { message: 'before' });
    assert.deepEqual([edited.body.message, edited.body.edited], ['before', true]);
    const there = (fits: (message: Answer['body']) => boolean) =>
      eventually(
        () => b.call('GET', `/messages/${arrived.messageId}`),
        ({ body }) => fits(body),
      );
    await there(({ message, edited: isEdited }) => message === 'before' && isEdited === true);
    assert.equal(
      (await b.call('PATCH', `/messages/${arrived.messageId}`, { message: 'x' })).body.code,
      'message_state',
    );
    assert.equal((await b.call('DELETE', `/messages/${arrived.messageId}`)).body.code, 'message_state');
    const deleted = await a.call('DELETE', `/messages/${sent.messageId}`);
    assert.deepEqual([deleted.body.deleted, deleted.body.message], [true, '']);
    await there(({ message, deleted: isDeleted }) => message === '' && isDeleted === true);
    assert.equal((await a.call('PATCH', `/messages/${sent.messageId}`, { message: 'x' })).body.code, 'message_state');
  });

  it('a forwarded message is marked as such and includes its file', async () => {
    const { mediaId } = (await upload(server, a.token, picture())).body;
    const { arrived } = await exchange('/messages/send-media', { type: 'image', mediaId, caption: 'pass it on' });
    const to = '491705550002';
    const { status, body } = await b.call('POST', `/messages/${arrived.messageId}/forward`, { to });
    assert.deepEqual([status, body.forwarded, body.to, body.message], [201, true, to, 'pass it on']);
    assert.equal(body.media.mediaId, arrived.media.mediaId);
  });

  it('search matches whole words, the beginning of the last one and edits, ignores accents, and hides other accounts', async () => {
    const { messageId } = (await a.call('POST', '/messages/send', { to: B, message: 'Crème brûlée für Zoë' })).body;
    const { mediaId } = (await upload(server, a.token, 'x', { query: '?fileName=quarterly-report.txt' })).body;
    const file = (await a.call('POST', '/messages/send-media', { to: B, type: 'document', mediaId })).body;
    const search = async (call: Call, q: string) =>
      (await call('GET', `/messages?direction=outgoing&q=${encodeURIComponent(q)}`)).body.data.map(
        (one: { messageId: string }) => one.messageId,
      );
    assert.deepEqual(await search(a.call, 'creme BRULEE'), [messageId]);
    assert.deepEqual(await search(a.call, 'für bru'), [messageId]);
    assert.deepEqual(await search(a.call, 'rème'), []);
    assert.deepEqual(await search(a.call, 'quarterly'), [file.messageId]);
    assert.deepEqual(await search(b.call, 'brulee'), []);
    for (const hostile of ['"', "' or 1=1 --", 'a AND NOT', '*', ':*', '\\', '!&|<->']) {
      assert.equal((await a.call('GET', `/messages?q=${encodeURIComponent(hostile)}`)).status, 200, hostile);
    }
    await a.call('PATCH', `/messages/${messageId}`, { message: 'Tiramisu' });
    assert.deepEqual([await search(a.call, 'brulee'), await search(a.call, 'tiramisu')], [[], [messageId]]);
    await a.call('POST', '/messages/send', { to: B, message: '東京タワーに行きました' });
    assert.equal((await search(a.call, '東京')).length, 1);
  });

  it('search returns every match once, newest first, page by page', async () => {
    for (let n = 0; n < 5; n++) await a.call('POST', '/messages/send', { to: B, message: `needle ${n}` });
    const seen: string[] = [];
    let cursor = '';
    do {
      const { body } = await a.call('GET', `/messages?direction=outgoing&q=needle&limit=2${cursor}`);
      seen.push(...body.data.map(({ message }: { message: string }) => message));
      cursor = body.nextCursor === null ? '' : `&cursor=${body.nextCursor}`;
    } while (cursor !== '');
    assert.deepEqual(
      seen,
      [4, 3, 2, 1, 0].map((n) => `needle ${n}`),
    );
  });

  it('every send operation is safe to repeat with an idempotency key', async () => {
    const { mediaId } = (await upload(server, a.token, picture())).body;
    const requests: [string, object][] = [
      ['/messages/send', { message: 'x' }],
      ['/messages/send-media', { type: 'image', mediaId }],
      ['/messages/send-location', { latitude: 1, longitude: 2 }],
      ['/messages/send-contact', { name: 'N', phoneNumbers: [B] }],
      ['/messages/send-poll', { question: 'q', options: ['a', 'b'] }],
      ['/messages/send-bulk', { message: 'x', intervalMs: 0, to: [B, A] }],
    ];
    for (const [path, fields] of requests) {
      const send = () => a.call('POST', path, { to: '491705550003', ...fields }, { 'idempotency-key': `once ${path}` });
      const [first, second] = [await send(), await send()];
      assert.ok(first.status < 300, `${path} ${JSON.stringify(first.body)}`);
      assert.deepEqual(second.body, first.body, path);
      assert.equal(second.headers.get('idempotency-replayed'), 'true', path);
    }
  });

  it('rejects a number that is not on the network', async () => {
    const { status, body } = await a.call('POST', '/messages/send', { to: '15550001234', message: 'x' });
    assert.deepEqual([status, body.code], [422, 'recipient_not_on_network']);
    const check = await a.call('GET', `/contacts/check?phoneNumbers=${B},15550001234`);
    assert.deepEqual(
      check.body.data.map(({ onNetwork }: { onNetwork: boolean }) => onNetwork),
      [true, false],
    );
  });

  it('blocks a contact silently, and keeps the block after a restart', async (test) => {
    const start = startAgain(test, newHome, { database });
    const first = await start();
    const { call, token } = await first.account();
    const connect = async (phoneNumber: string) => {
      const { sessionId } = (await call('POST', '/sessions', { phoneNumber })).body;
      await call('POST', `/sessions/${sessionId}/connect`);
      return sessionId as string;
    };
    const [me, pest] = [await connect('491701010101'), await connect('491702020202')];
    const blocked = await call('PUT', '/contacts/+49 170 2020202/blocked', { sessionId: me, blocked: true });
    assert.deepEqual([blocked.status, blocked.body.blocked], [200, true]);
    await first.stop();
    const { call: bare } = await start();
    const again: Call = (method, path, body) => bare(method, path, body, { authorization: `Bearer ${token}` });
    const write = (message: string) =>
      again('POST', '/messages/send', { sessionId: pest, to: '491701010101', message });
    assert.equal((await write('hey')).status, 201);
    await again('PUT', '/contacts/491702020202/blocked', { sessionId: me, blocked: false });
    await write('sorry');
    const { body } = await eventually(
      () => again('GET', `/messages?sessionId=${me}&direction=incoming`),
      (answer) => answer.body.data.length > 0,
    );
    assert.deepEqual(
      body.data.map(({ message }: { message: string }) => message),
      ['sorry'],
    );
  });

  it('lists senders as contacts, and finds them by part of a name or the beginning of a number', async () => {
    const simulate = (from: string, senderName: string) =>
      a.call('POST', `/sessions/${a.sessionId}/simulate`, { action: 'incoming', from, senderName, message: 'hi' });
    await simulate('491706660001', 'Grace Hopper');
    await simulate('491706660002', '100 % Ada');
    const names = async (query: string) =>
      (await a.call('GET', `/contacts?${query}`)).body.data.map(({ name }: { name: string }) => name);
    assert.deepEqual(await names('q=hopp'), ['Grace Hopper']);
    assert.deepEqual(await names('q=%25'), ['100 % Ada']);
    assert.deepEqual(await names('q=49170666'), ['Grace Hopper', '100 % Ada']);
    assert.deepEqual(await names('phoneNumber=%2B49 170 6660002'), ['100 % Ada']);
  });

  it('archives, pins and mutes a chat, and shows typing in it', async () => {
    await exchange('/messages/send', { message: 'chat' });
    const mutedUntil = new Date(Date.now() + 60_000).toISOString();
    const changed = await a.call('PATCH', `/chats/${B}`, { archived: true, pinned: true, mutedUntil });
    assert.deepEqual([changed.body.archived, changed.body.pinned, changed.body.mutedUntil], [true, true, mutedUntil]);
    assert.equal((await a.call('PATCH', `/chats/${B}`, { mutedUntil: null })).body.mutedUntil, null);
    assert.equal((await a.call('PATCH', '/chats/491709090909', { pinned: true })).status, 404);
    assert.deepEqual((await a.call('POST', `/chats/${B}/typing`, { state: 'typing' })).body, {
      chatId: B,
      state: 'typing',
    });
    assert.equal((await a.call('POST', '/chats/x/typing', { state: 'typing' })).status, 400);
  });
});

describeOnEachDeployment('scheduled messages', (newHome, database) => {
  it('are sent on time, even after a restart, unless they are canceled', async (test) => {
    const clock = createFakeClock(Date.now());
    const start = startAgain(test, newHome, { database, clock });
    const first = await start();
    const { call, token } = await first.account();
    const { sessionId } = (await call('POST', '/sessions', { phoneNumber: A })).body;
    await call('POST', `/sessions/${sessionId}/connect`);
    const at = (minutes: number) => new Date(clock.now() + minutes * 60_000).toISOString();
    const later = async (message: string, minutes: number) =>
      (await call('POST', '/messages/send', { to: B, message, sendAt: at(minutes) })).body;
    const [soon, next, never] = [await later('soon', 5), await later('next', 90), await later('never', 90)];
    assert.equal(soon.status, 'scheduled');
    assert.equal(
      (await call('POST', '/messages/send', { to: B, message: 'x', sendAt: at(-1) })).body.errors[0].code,
      'past',
    );
    assert.equal((await call('GET', '/chats')).body.data.length, 0, 'no message was sent yet');
    assert.equal((await call('POST', `/messages/${never.messageId}/cancel`)).body.status, 'failed');
    // A client that lost the first answer gets it again.
    assert.equal((await call('POST', `/messages/${never.messageId}/cancel`)).body.status, 'failed');
    await clock.advance(6 * 60_000);
    await arrived(call, soon.messageId);
    assert.equal((await call('GET', `/messages/${next.messageId}`)).body.status, 'scheduled');
    await first.stop();
    await clock.advance(120 * 60_000);

    const second = await start();
    const again: Call = (method, path, body) => second.call(method, path, body, { authorization: `Bearer ${token}` });
    const { body } = await arrived(again, next.messageId);
    assert.deepEqual(
      body.statusHistory.map(({ status }: { status: string }) => status),
      ['scheduled', 'sent', 'delivered'],
    );
    assert.equal((await again('GET', `/messages/${never.messageId}`)).body.status, 'failed');
  });

  it('wait for their session if it is away at their time', async (test) => {
    const clock = createFakeClock(Date.now());
    const server = await startServer({ database, clock });
    test.after(() => server.stop());
    const { call } = await server.account();
    const { sessionId } = (await call('POST', '/sessions', {})).body;
    const sendAt = new Date(clock.now() + 60_000).toISOString();
    const early = await call('POST', '/messages/send', { to: B, message: 'x', sendAt });
    assert.equal(early.body.code, 'session_not_connected', 'a session without a number cannot say who sends');
    await call('POST', `/sessions/${sessionId}/connect`);
    const { messageId } = (await call('POST', '/messages/send', { to: B, message: 'x', sendAt })).body;
    await call('POST', `/sessions/${sessionId}/disconnect`);
    await clock.advance(61_000);
    await eventually(
      () => call('GET', `/messages/${messageId}`),
      ({ body }) => body.status === 'queued',
    );
    await call('POST', `/sessions/${sessionId}/connect`);
    await arrived(call, messageId);
  });

  it('sent in bulk go out one by one, and an invalid recipient does not block the others', async (test) => {
    const clock = createFakeClock(Date.now());
    const server = await startServer({ database, clock });
    test.after(() => server.stop());
    const { call } = await server.account();
    const { sessionId } = (await call('POST', '/sessions', {})).body;
    await call('POST', `/sessions/${sessionId}/connect`);
    const numbers = Array.from({ length: 10 }, (_, n) => `4917012300${String(n).padStart(2, '0')}`);
    const to = [numbers[0], 'nobody', ...numbers.slice(1), 'grp_none'];
    const { status, body } = await call('POST', '/messages/send-bulk', { to, message: 'all', intervalMs: 1000 });
    assert.deepEqual([status, body.accepted, body.refused], [202, 10, 2]);
    assert.match(body.results[1].error, /phone number/);
    assert.deepEqual([body.results[1].messageId, body.results.at(-1).messageId], [null, null]);
    const sent = async () => (await call('GET', '/messages?status=delivered&limit=200')).body.data.length;
    await eventually(sent, (count) => count === 1);
    await clock.advance(4000);
    await eventually(sent, (count) => count === 5);
    await clock.advance(20_000);
    await eventually(sent, (count) => count === 10);
  });

  const arrived = (call: Call, messageId: string) =>
    eventually(
      () => call('GET', `/messages/${messageId}`),
      ({ body }) => body.status === 'delivered',
    );
});
