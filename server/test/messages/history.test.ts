import assert from 'node:assert/strict';
import { it } from 'node:test';
import { describeOnEachDeployment } from '../support/databases/databases.ts';
import { eventually } from '../support/eventually.ts';
import { upload } from '../support/media/media.ts';
import { type Answer, type Call, connectSession, newNumber, serversFor } from '../support/server.ts';

const DAY_MS = 24 * 3600 * 1000;
const daysAgo = (days: number) => new Date(Date.now() - days * DAY_MS).toISOString();

describeOnEachDeployment('history of a sandbox session', (_, deployment) => {
  const server = serversFor(deployment);

  async function begin(options: object = {}) {
    const { call, token } = await (await server()).account();
    return { call, token, sessionId: await connectSession(call, newNumber(), { options }) };
  }

  async function play(call: Call, sessionId: string, history: object): Promise<void> {
    const { status, body } = await call('POST', `/sessions/${sessionId}/simulate`, { action: 'history', history });
    assert.equal(status, 200, JSON.stringify(body));
  }

  const list = async (call: Call, query = ''): Promise<Answer['body'][]> =>
    (await call('GET', `/messages?limit=200${query}`)).body.data;

  it('lists messages, chats and contacts in the order of time, without events', async () => {
    const { call, sessionId } = await begin();
    const bob = newNumber();
    const { body: live } = await call('POST', '/messages/send', { to: bob, message: 'Live' });
    await play(call, sessionId, {
      chats: [
        { with: bob, unreadCount: 1, archived: true },
        { group: 'team@sandbox', name: 'Team', pinned: true },
      ],
      contacts: [{ phoneNumber: bob, pushName: 'bobby', savedName: 'Bob Miller' }],
      messages: [
        { id: 'h3', with: bob, message: 'Third', timestamp: daysAgo(1), unread: true, replyTo: 'h1' },
        { id: 'h2', with: bob, own: true, message: 'Second', timestamp: daysAgo(2) },
        { id: 'g1', group: 'team@sandbox', from: bob, message: 'In the team', timestamp: daysAgo(3) },
        { id: 'h1', with: bob, message: 'First quick fox', timestamp: daysAgo(4) },
      ],
    });
    const messages = await list(call);
    assert.deepEqual(
      messages.map(({ message, origin, status, direction }) => [message, origin, status, direction]),
      [
        ['Live', undefined, messages[0].status, 'outgoing'],
        ['Third', 'history', 'delivered', 'incoming'],
        ['Second', 'history', 'read', 'outgoing'],
        ['In the team', 'history', 'read', 'incoming'],
        ['First quick fox', 'history', 'read', 'incoming'],
      ],
    );
    assert.equal(messages[1].replyTo, messages[4].messageId, 'a reply that is imported before its original');
    assert.equal(messages[2].sentElsewhere, true);
    assert.deepEqual(
      (await list(call, '&origin=live')).map(({ message }) => message),
      ['Live'],
    );
    assert.equal((await list(call, '&origin=history')).length, 4);
    assert.deepEqual(
      (await list(call, '&q=quick%20fox')).map(({ message }) => message),
      ['First quick fox'],
    );

    const { body: chats } = await call('GET', '/chats');
    assert.deepEqual(
      chats.data.map((chat: Answer['body']) => [chat.name, chat.type, chat.unreadCount, chat.lastMessage.message]),
      [
        ['Bob Miller', 'direct', 1, 'Live'],
        ['Team', 'group', 0, 'In the team'],
      ],
    );
    assert.equal(chats.data[0].lastMessage.messageId, live.messageId);
    assert.deepEqual([chats.data[1].pinned, chats.data[1].archived], [true, false]);
    const { body: contacts } = await call('GET', '/contacts?q=miller');
    const [{ name, pushName, savedName }] = contacts.data;
    assert.deepEqual([name, pushName, savedName], ['Bob Miller', 'bobby', 'Bob Miller']);
    const { body: read } = await call('POST', `/chats/${bob}/read`);
    assert.equal(read.read, 1);

    const { body: events } = await call('GET', '/events?events=*&limit=200');
    const kinds = events.data.map(({ event }: Answer['body']) => event);
    assert.ok(!kinds.includes('message.incoming') && !kinds.includes('contact.updated'), kinds.join());
    assert.ok(kinds.includes('session.history'));
  });

  it('marks the newest incoming messages of a chat as unread, as many as the phone has not read', async () => {
    const { call, sessionId } = await begin();
    const [bob, eve] = [newNumber(), newNumber()];
    const message = (id: string, days: number, more: object = {}) => ({
      id,
      with: bob,
      message: id,
      timestamp: daysAgo(days),
      ...more,
    });
    const chats = [{ with: bob, unreadCount: 2 }];
    await play(call, sessionId, {
      chats,
      messages: [
        message('oldest', 5),
        message('newest', 1),
        message('own', 2, { own: true }),
        message('newer', 3),
        message('other', 2, { with: eve }),
      ],
    });
    const unread = async () =>
      (await list(call)).filter(({ status }) => status === 'delivered').map(({ message: text }) => text);
    assert.deepEqual(await unread(), ['newest', 'newer']);
    assert.equal((await call('GET', `/chats/${bob}`)).body.unreadCount, 2);
    const { body: listed } = await call('GET', '/chats?unread=true');
    assert.deepEqual(
      listed.data.map(({ chatId }: Answer['body']) => chatId),
      [bob],
    );
    await play(call, sessionId, { chats, messages: [message('ancient', 9)] });
    assert.deepEqual(await unread(), ['newest', 'newer']);
  });

  it('reports the import, and changes nothing when the history is repeated', async () => {
    const { call, sessionId } = await begin();
    const before = (await call('GET', `/sessions/${sessionId}`)).body.history;
    assert.deepEqual([before.state, before.messages, before.updatedAt], ['none', 0, null]);
    const history = { generate: { messages: 1200, chats: 7 } };
    await play(call, sessionId, history);
    const first = (await call('GET', `/sessions/${sessionId}`)).body.history;
    assert.deepEqual(
      [first.state, first.progress, first.messages, first.chats, first.contacts, first.error],
      ['complete', 100, 1200, 7, 7, null],
    );
    await play(call, sessionId, history);
    const again = (await call('GET', `/sessions/${sessionId}`)).body.history;
    assert.deepEqual([again.state, again.messages, again.chats], ['complete', 1200, 7]);
    const { body: page } = await call('GET', '/messages?limit=200');
    const times = page.data.map(({ timestamp }: Answer['body']) => timestamp);
    assert.deepEqual(times, times.toSorted().toReversed());
    const { body: next } = await call('GET', `/messages?limit=200&cursor=${page.nextCursor}`);
    assert.ok(next.data[0].timestamp <= times.at(-1));
  });

  it('brings no message of a cleared or deleted chat back', async () => {
    const { call, sessionId } = await begin({ historyEvents: true });
    const [bob, carol] = [newNumber(), newNumber()];
    const message = (other: string, at: string) => ({
      id: `${other}-${at}`,
      with: other,
      message: at,
      timestamp: at,
      unread: true,
    });
    const history = {
      chats: [
        { with: bob, unreadCount: 1 },
        { with: carol, unreadCount: 1 },
      ],
      messages: [message(bob, daysAgo(1)), message(bob, daysAgo(2)), message(carol, daysAgo(3))],
    };
    await play(call, sessionId, history);
    const events = async () => (await call('GET', '/events?events=message.incoming&limit=200')).body.data.length;
    assert.deepEqual([(await list(call)).length, await events()], [3, 3]);
    assert.equal((await call('POST', `/chats/${bob}/clear`)).body.removed, 2);
    assert.equal((await call('DELETE', `/chats/${carol}`)).body.removed, 1);
    await play(call, sessionId, history);
    assert.deepEqual([await list(call), await events()], [[], 3]);
    const { body: chats } = await call('GET', '/chats');
    assert.deepEqual(
      chats.data.map(({ chatId, unreadCount }: Answer['body']) => [chatId, unreadCount]),
      [[bob, 0]],
    );
  });

  it('begins the chat of a group with the timer of the group', async () => {
    const { call, sessionId } = await begin();
    const from = newNumber();
    const { body: group } = await call('POST', '/groups', { sessionId, subject: 'Team', phoneNumbers: [from] });
    await call('PATCH', `/groups/${group.groupId}`, { settings: { disappearingSeconds: 86_400 } });
    assert.equal((await call('DELETE', `/chats/${group.groupId}`)).status, 200);
    const messages = [{ id: 'g1', group: group.networkGroupId, from, message: 'Again', timestamp: daysAgo(0) }];
    await play(call, sessionId, { messages });
    const { body: chat } = await call('GET', `/chats/${group.groupId}`);
    assert.deepEqual([chat.lastMessage.message, chat.disappearingSeconds], ['Again', 86_400]);
  });

  it('imports nothing with `none`, recent messages by default, and all with `full`', async () => {
    const history = (other: string) => ({
      messages: [
        { id: 'new', with: other, message: 'New', timestamp: daysAgo(10) },
        { id: 'old', with: other, message: 'Old', timestamp: daysAgo(400) },
      ],
    });
    for (const [options, expected] of [
      [{ history: 'none' }, []],
      [{}, ['New']],
      [{ history: 'full' }, ['New', 'Old']],
    ] as const) {
      const { call, sessionId } = await begin(options);
      await play(call, sessionId, history(newNumber()));
      assert.deepEqual(
        (await list(call)).map(({ message }) => message),
        expected,
      );
    }
    const { call } = await begin();
    const wrong = await call('POST', '/sessions', { connector: 'sandbox', options: { history: 'all' } });
    assert.equal(wrong.status, 400);
  });

  it('emits marked events with `historyEvents`', async () => {
    const { call, sessionId } = await begin({ historyEvents: true });
    const bob = newNumber();
    await play(call, sessionId, {
      messages: [
        { id: 'h2', with: bob, own: true, message: 'Second', timestamp: daysAgo(2) },
        { id: 'h1', with: bob, message: 'First', timestamp: daysAgo(4) },
      ],
    });
    const { body } = await call('GET', '/events?events=message.incoming,message.sent');
    assert.deepEqual(
      body.data.map(({ event, data }: Answer['body']) => [event, data.message, data.history, data.sentElsewhere]),
      [
        ['message.incoming', 'First', true, undefined],
        ['message.sent', 'Second', true, true],
      ],
    );
  });

  it('requests older messages of a chat', async () => {
    const { call, sessionId } = await begin();
    const bob = newNumber();
    const missing = await call('POST', `/chats/${bob}/history`);
    assert.equal(missing.status, 404);
    const { body: sent } = await call('POST', '/messages/send', { to: bob, message: 'Live' });
    await eventually(
      () => call('GET', `/messages/${sent.messageId}`),
      ({ body }) => body.status === 'delivered',
    );
    const asked = await call('POST', `/chats/${bob}/history`, { count: 30, sessionId });
    assert.deepEqual([asked.status, asked.body.count, asked.body.beforeMessageId], [202, 30, sent.messageId]);
    const older = await eventually(
      () => list(call, '&origin=history'),
      (found) => found.length === 30,
    );
    assert.ok(older.every(({ timestamp, chatId }) => timestamp < asked.body.before && chatId === bob));
    assert.equal((await call('POST', `/chats/${bob}/history`, { count: 501 })).status, 400);
  });

  it('fetches the file of a message on request', async () => {
    const { call, token, sessionId } = await begin();
    const bob = newNumber();
    const uploaded = await upload(await server(), token, 'The file of the history');
    const { mediaId } = uploaded.body;
    await play(call, sessionId, {
      messages: [
        { id: 'h2', with: bob, message: 'With a file', timestamp: daysAgo(1), mediaId },
        { id: 'h1', with: bob, message: 'Its file is gone', timestamp: daysAgo(2), mediaId: null },
        { id: 'h0', with: bob, message: 'Without a file', timestamp: daysAgo(3) },
      ],
    });
    const [has, gone, none] = await list(call, '&origin=history');
    assert.equal(has.media, undefined);
    assert.equal(has.remoteMedia.mimeType, 'text/plain');
    const fetched = await call('POST', `/messages/${has.messageId}/media`);
    assert.equal(fetched.status, 200, JSON.stringify(fetched.body));
    assert.equal(fetched.body.remoteMedia, undefined);
    assert.equal(fetched.body.media.size, Buffer.byteLength('The file of the history'));
    assert.deepEqual((await call('POST', `/messages/${has.messageId}/media`)).body.media, fetched.body.media);
    assert.equal((await call('POST', `/messages/${gone.messageId}/media`)).body.code, 'not_found');
    assert.equal((await call('POST', `/messages/${none.messageId}/media`)).body.code, 'message_state');
  });

  it('forwards a file only after it is fetched', async () => {
    const { call, sessionId, token } = await begin();
    const { mediaId } = (await upload(await server(), token, 'The file to forward')).body;
    const [bob, carol] = [newNumber(), newNumber()];
    await play(call, sessionId, { messages: [{ id: 'h1', with: bob, message: '', timestamp: daysAgo(1), mediaId }] });
    const [{ messageId }] = await list(call);
    const forward = () => call('POST', `/messages/${messageId}/forward`, { to: carol });
    const { status, body } = await forward();
    assert.deepEqual([status, body.code], [409, 'message_state'], JSON.stringify(body));
    assert.match(body.detail, /POST \/messages\/\{messageId\}\/media/);
    assert.equal((await list(call)).length, 1);
    assert.equal((await call('POST', `/messages/${messageId}/media`)).status, 200);
    const { database: stored } = (await server()).app.services;
    const { kysely } = stored.reader;
    await stored.commit((tx) =>
      tx.kysely.updateTable('media').set({ used_at: 1 }).where('media_id', '=', mediaId).execute(),
    );
    assert.equal((await forward()).status, 201);
    const used = await kysely.selectFrom('media').select('used_at').where('media_id', '=', mediaId).execute();
    assert.ok(Number(used[0]?.used_at) > 1, 'a forward is a use');
  });

  it('keeps no key of the file of a message that is deleted for everyone', async () => {
    const { call, sessionId, token } = await begin();
    const { mediaId } = (await upload(await server(), token, 'The file to delete')).body;
    const message = { id: 'h1', with: newNumber(), own: true, message: '', timestamp: daysAgo(0), mediaId };
    await play(call, sessionId, { messages: [message] });
    const [{ messageId }] = await list(call);
    const { kysely } = (await server()).app.services.database.reader;
    const reference = async () =>
      (await kysely.selectFrom('messages').select('file_reference').where('message_id', '=', messageId).execute())[0]
        ?.file_reference;
    assert.equal(typeof (await reference()), 'string');
    const { status, body } = await call('DELETE', `/messages/${messageId}`);
    assert.equal(status, 200, JSON.stringify(body));
    assert.equal(await reference(), null);
  });

  it('is deleted with its session', async () => {
    const { call, sessionId } = await begin();
    await play(call, sessionId, { generate: { messages: 50 } });
    assert.equal((await list(call)).length, 50);
    assert.equal((await call('DELETE', `/sessions/${sessionId}`)).status, 200);
    assert.equal((await list(call)).length, 0);
  });
});
