import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { startReceiver } from '../support/connections/receiver.ts';
import { eventually } from '../support/eventually.ts';
import { ADA, cloudSession, eventsOf, passUntil } from '../support/networks/cloudSession.ts';
import { bearer, startServer } from '../support/server.ts';

const U1 = 'DE.999888';
const U2 = 'DE.777666';
const PARENT = 'DE.ENT.555444';
const text = (body: string) => ({ type: 'text', text: { body } });
const recipientsOf = ({ allowedRecipients }: { allowedRecipients: string[] }) => allowedRecipients;
const idsOf = ({ userId, userName }: { userId?: string; userName?: string }) => [userId, userName];

async function site(t: TestContext) {
  const session = await cloudSession(t);
  const { call } = session;
  const chats = async (): Promise<string[]> =>
    (await call('GET', '/chats')).body.data.map(({ chatId }: { chatId: string }) => chatId);
  const contact = async (id: string) => (await call('GET', `/contacts/${id}`)).body;
  const withKey = async (allowedRecipients: string[]) => {
    const limits = { name: 'limited', permissions: ['messages:send'], allowedRecipients };
    const { status, body } = await call('POST', '/api-keys/create', limits);
    assert.equal(status, 201);
    const asKey = bearer(session.server.url, body.key);
    return (to: string) => asKey('POST', '/messages/send', { to, message: 'hello' });
  };
  return { ...session, chats, contact, withKey };
}

describe('user ids of the Cloud API', () => {
  it('shows the user id and user name in events, messages, chats and contacts', async (t) => {
    const { graph, call, contact } = await site(t);
    const wamid = await graph.incoming(U1, text('hello'), { username: 'ada.l' });
    const [{ data }] = await eventsOf(call, 'message.incoming');
    assert.deepEqual([data.unidentified, ...idsOf(data)], [true, U1, 'ada.l']);
    const [message] = (await call('GET', '/messages')).body.data;
    assert.deepEqual(idsOf(message), [U1, 'ada.l']);
    const [chat] = (await call('GET', '/chats')).body.data;
    assert.deepEqual([...idsOf(chat), ...idsOf(chat.lastMessage)], [U1, 'ada.l', U1, 'ada.l']);
    assert.deepEqual(idsOf(await contact(U1)), [U1, 'ada.l']);
    const found = (await call('GET', '/contacts?q=ada.l')).body.data;
    assert.deepEqual(found.map(idsOf), [[U1, 'ada.l']]);
    const receiver = await startReceiver();
    t.after(() => receiver.close());
    const hook = { webhookUrl: receiver.url, events: ['message.reaction'] };
    assert.equal((await call('POST', '/webhooks/endpoints', hook)).status, 201);
    await graph.incoming(U1, { type: 'reaction', reaction: { message_id: wamid, emoji: '👍' } });
    await receiver.waitFor(1);
    const { data: reaction } = receiver.deliveries[0]?.parsed ?? assert.fail();
    assert.deepEqual([...idsOf(reaction), reaction.networkFrom, reaction.networkChatId], [U1, 'ada.l', U1, U1]);
    const [updated] = await eventsOf(call, 'contact.updated');
    assert.deepEqual(idsOf(updated.data), [U1, 'ada.l']);
  });

  it('shows them for a person with a number, and keeps them when the user name changes', async (t) => {
    const { graph, call, contact } = await site(t);
    await graph.incoming(ADA, text('hello'), { userId: U1 });
    const [{ data }] = await eventsOf(call, 'message.incoming');
    assert.deepEqual([data.from, ...idsOf(data)], [ADA, U1, undefined]);
    await graph.incoming(ADA, text('again'), { userId: U1, username: 'ada' });
    await graph.incoming(ADA, text('and again'), { userId: U1 });
    assert.deepEqual(idsOf(await contact(ADA)), [U1, 'ada']);
    await graph.incoming(ADA, text('a new owner of the number'), { userId: U2 });
    assert.deepEqual(idsOf(await contact(ADA)), [U2, undefined]);
  });

  it('hides user names from keys that may see only metadata', async (t) => {
    const { graph, call, server } = await site(t);
    await graph.incoming(U1, text('hello'), { username: 'ada.l' });
    const key = { name: 'metadata', permissions: ['messages:metadata'] };
    const { body } = await call('POST', '/api-keys/create', key);
    const [message] = (await bearer(server.url, body.key)('GET', '/messages')).body.data;
    assert.deepEqual(idsOf(message), [U1, undefined]);
  });

  it('sends to an id that the session has never seen, and keeps one chat afterwards', async (t) => {
    const { graph, call, send, chats, contact } = await site(t);
    const first = await send('hello', U1);
    assert.equal(first.status, 201);
    const placeholder = first.body.to;
    assert.match(placeholder, /^000\d{20}$/);
    assert.deepEqual([first.body.userId, graph.sent.at(-1)?.body.recipient], [U1, U1]);
    assert.equal(graph.sent.at(-1)?.body.to, undefined);
    assert.equal((await contact(U1)).phoneNumber, placeholder);
    await graph.incoming(U1, text('hi'), { username: 'ada.l' });
    assert.deepEqual(await chats(), [placeholder]);
    assert.equal((await call('POST', `/chats/${U1}/read`)).status, 200);
    assert.equal((await call('GET', `/messages?chatId=${U1}`)).body.data.length, 2);
    await graph.incoming(ADA, text('my number'), { userId: U1 });
    assert.deepEqual(await chats(), [ADA]);
    assert.deepEqual(idsOf(await contact(U1)), [U1, 'ada.l']);
    assert.equal((await send('again', ` ${U1} `)).body.to, ADA);
    assert.equal(graph.sent.at(-1)?.body.to, ADA);
  });

  it('sends to an unknown id later and in bulk, even after a restart', async (t) => {
    const { graph, call, clock, server, start, token, sessionId } = await site(t);
    const sendAt = new Date(clock.now() + 60_000).toISOString();
    const scheduled = await call('POST', '/messages/send', { to: U1, message: 'later', sendAt });
    assert.equal(scheduled.status, 201);
    const bulk = await call('POST', '/messages/send-bulk', { to: [U2, 'de.1234567'], message: 'all', sendAt });
    assert.deepEqual([bulk.body.accepted, bulk.body.refused], [1, 1]);
    assert.match(bulk.body.results[1].error, /begins with two capital letters/);
    await server.stop();
    const again = bearer((await start()).url, token);
    await eventually(
      async () => (await again('GET', `/sessions/${sessionId}`)).body.status,
      (status) => status === 'connected',
    );
    await eventually(
      async () => {
        await clock.advance(5000);
        return graph.sent.length;
      },
      (count) => count === 2,
    );
    assert.deepEqual(graph.sent.map(({ body }) => body.recipient).toSorted(), [U2, U1]);
  });

  it('refuses ids in another form, and keeps the case of letters', async (t) => {
    const { send } = await site(t);
    for (const id of ['de.999888', 'DE.ent.999888', 'DEU.999888', 'DE.', 'DE.99-88', `DE.${'9'.repeat(129)}`]) {
      const { status, body } = await send('hello', id);
      assert.deepEqual([status, body.code, body.errors[0].field], [400, 'validation_failed', 'to'], id);
    }
    const [longest, upper, lower] = [`DE.ENT.${'9'.repeat(128)}`, 'DE.abcdeF', 'DE.abcdef'];
    const chats = await Promise.all([longest, upper, lower].map(async (id) => (await send('hello', id)).body.chatId));
    assert.equal(new Set(chats).size, 3);
  });

  it('cannot put an id on a contact card', async (t) => {
    const { call } = await site(t);
    const card = { to: ADA, name: 'Ada', phoneNumbers: [U1] };
    const { status, body } = await call('POST', '/messages/send-contact', card);
    assert.deepEqual([status, body.code], [400, 'validation_failed']);
  });

  it('learns the user name of a recipient from a receipt', async (t) => {
    const { graph, send, contact } = await site(t);
    await send('hello', U1);
    await graph.settled();
    const status = { ...graph.statusOf(graph.sent.at(-1) ?? assert.fail(), 'read'), recipient_user_id: U1 };
    await graph.post({ contacts: [{ user_id: U1, profile: { username: 'ada.l' } }], statuses: [status] });
    assert.deepEqual(idsOf(await contact(U1)), [U1, 'ada.l']);
  });

  it('applies the recipients of keys to the person behind an id', async (t) => {
    const { graph, withKey } = await site(t);
    const ofNumber = await withKey([ADA]);
    assert.deepEqual([(await ofNumber(U1)).status, (await ofNumber(ADA)).status], [403, 201]);
    await graph.incoming(ADA, text('it is me'), { userId: U1 });
    assert.deepEqual([(await ofNumber(U1)).status, (await ofNumber(U2)).status], [201, 403]);
  });

  it('lets a key that is limited to an id reach the person, and no stranger', async (t) => {
    const { graph, call, withKey } = await site(t);
    const ofId = await withKey([U1]);
    const tries = async () => {
      const answers = [];
      for (const to of [U1, U2, ADA]) answers.push((await ofId(to)).status);
      return answers;
    };
    assert.deepEqual(await tries(), [201, 403, 403]);
    await graph.incoming(ADA, text('it is me'), { userId: U1 });
    assert.equal((await ofId(U1)).body.to, ADA);
    assert.deepEqual(await tries(), [201, 403, 201]);
    const limits = async () => (await call('GET', '/api-keys')).body.data.map(recipientsOf);
    assert.deepEqual(await limits(), [[U1]]);
    await graph.incoming(ADA, text('the number is mine now'), { userId: U2 });
    assert.deepEqual(await tries(), [201, 403, 403]);
    assert.equal(graph.sent.at(-1)?.body.recipient, U1, 'the id reaches its person');
    const NEW = '4915199999999';
    await graph.incoming(NEW, text('my new number'), { userId: U1 });
    assert.deepEqual([(await ofId(NEW)).status, (await ofId(ADA)).status], [201, 403]);
    assert.equal((await ofId(U1)).body.to, NEW);
    assert.deepEqual(await limits(), [[U1]]);
  });

  it('does not send a message that a key has scheduled to the next owner of the number', async (t) => {
    const { graph, call, clock, server } = await site(t);
    await graph.incoming(ADA, text('it is me'), { userId: U1 });
    const limits = { name: 'limited', permissions: ['messages:send'], allowedRecipients: [U1] };
    const { body: key } = await call('POST', '/api-keys/create', limits);
    const sendAt = new Date(clock.now() + 60_000).toISOString();
    const later = { to: U1, message: 'later', sendAt };
    const { body: sent } = await bearer(server.url, key.key)('POST', '/messages/send', later);
    await graph.incoming(ADA, text('the number is mine now'), { userId: U2 });
    const message = await passUntil(
      clock,
      async () => (await call('GET', `/messages/${sent.messageId}`)).body,
      ({ status }) => !['scheduled', 'queued'].includes(status),
    );
    assert.deepEqual([message.status, graph.sent.length], ['failed', 0]);
    assert.match(message.error, /may no longer send to/);
  });

  it('does not lead a former id or a parent id to the next owner of the number', async (t) => {
    const { graph, call } = await site(t);
    await graph.incoming(ADA, text('it is me'), { userId: U1, parentUserId: PARENT });
    const change = { type: 'user_changed_user_id', body: 'changed', wa_id: ADA, user_id: U2, previous_user_id: U1 };
    await graph.notice({ ...change, parent_user_id: PARENT });
    const send = async (to: string) => {
      assert.equal((await call('POST', '/messages/send', { to, message: 'hello' })).status, 201, to);
      const { to: number, recipient } = graph.sent.at(-1)?.body ?? {};
      return number ?? recipient;
    };
    for (const id of [U1, U2, PARENT]) assert.equal(await send(id), ADA, id);
    await graph.incoming(ADA, text('the number is mine now'), { userId: 'DE.555444' });
    for (const id of [U1, U2, PARENT]) assert.notEqual(await send(id), ADA, id);
  });

  it('leads to a person whose ids change back', async (t) => {
    const { graph, call } = await site(t);
    await graph.incoming(ADA, text('it is me'), { userId: U1 });
    const change = (user_id: string, previous_user_id: string, shown: object = { wa_id: ADA }) =>
      graph.notice({ type: 'user_changed_user_id', body: 'changed', ...shown, user_id, previous_user_id });
    const sentTo = async (to: string) => {
      assert.equal((await call('POST', '/messages/send', { to, message: 'hello' })).status, 201, to);
      const { to: number, recipient } = graph.sent.at(-1)?.body ?? {};
      return number ?? recipient;
    };
    await change(U2, U1);
    await change(U1, U2);
    for (const id of [U1, U2]) assert.equal(await sentTo(id), ADA, id);
    assert.deepEqual((await call('GET', `/contacts/${ADA}`)).body.networkIds, [ADA, U1]);
    await change(U2, U1, {});
    for (const id of [U1, U2]) assert.equal(await sentTo(id), U2, 'the number is hidden');
    await change(U1, U2, {});
    for (const id of [U1, U2]) assert.equal(await sentTo(id), U1, 'the number is hidden');
    await graph.incoming(ADA, text('my number'), { userId: U1 });
    for (const id of [U1, U2]) assert.equal(await sentTo(id), ADA, id);
  });

  it('leads to a person whose id has changed many times, even if two notices change places', async (t) => {
    const { graph, call, chats } = await site(t);
    const ids = Array.from({ length: 14 }, (_, nth) => `DE.${nth + 1000}`);
    await graph.incoming(ADA, text('it is me'), { userId: ids[0] ?? '' });
    const order = [1, 2, 4, 3, 5, 6, 7, 8, 9, 10, 11, 12, 13];
    for (const nth of order) {
      const change = { user_id: ids[nth], previous_user_id: ids[nth - 1] };
      await graph.notice({ type: 'user_changed_user_id', body: 'changed', wa_id: ADA, ...change });
    }
    for (const id of ids) {
      assert.equal((await call('POST', '/messages/send', { to: id, message: 'hello' })).status, 201, id);
      assert.equal(graph.sent.at(-1)?.body.to, ADA, id);
    }
    for (const id of ids) await graph.incoming(id, text('late'));
    assert.deepEqual(await chats(), [ADA]);
    assert.deepEqual((await call('GET', `/contacts/${ADA}`)).body.networkIds, [ADA, ids.at(-1)]);
  });

  it('keeps the id of a key whose recipient was written as a placeholder, and adds a changed id', async (t) => {
    const { graph, call, chats, withKey } = await site(t);
    await graph.incoming(U1, text('hello'));
    const [placeholder = ''] = await chats();
    const ofId = await withKey([placeholder]);
    const limits = async () => (await call('GET', '/api-keys')).body.data.map(recipientsOf);
    assert.deepEqual(await limits(), [[U1]]);
    assert.equal((await ofId(placeholder)).status, 201);
    await graph.incoming(ADA, text('it is me'), { userId: U1 });
    assert.deepEqual([await limits(), (await ofId(ADA)).status], [[[U1]], 201]);
    await graph.notice({ type: 'user_changed_user_id', body: 'changed', user_id: U2, previous_user_id: U1 });
    await eventually(limits, ([list]) => list.length === 2);
    assert.deepEqual(await limits(), [[U1, U2]]);
  });

  it('lets a key that is limited to an id reach a person whom a later session meets by number', async (t) => {
    const { graph, call, clock, server, sessionId } = await site(t);
    assert.equal((await call('DELETE', `/sessions/${sessionId}`)).status, 200);
    const keyFor = async (userId: string) => {
      const permissions = ['messages:send', 'messages:edit'];
      const key = { name: 'limited', permissions, allowedRecipients: [userId] };
      const { status, body } = await call('POST', '/api-keys/create', key);
      assert.equal(status, 201);
      return bearer(server.url, body.key);
    };
    const keys = [await keyFor(U1), await keyFor(PARENT)];
    const options = { connector: 'whatsapp-cloud', options: graph.options };
    const { body: session } = await call('POST', '/sessions', options);
    graph.callBackAt(new URL(session.callbackUrl, server.url).href);
    assert.equal((await call('POST', `/sessions/${session.sessionId}/connect`)).body.status, 'connected');
    await graph.incoming(ADA, text('it is me'), { userId: U1, parentUserId: PARENT });
    const [{ messageId }] = (await call('GET', '/messages')).body.data;
    for (const [nth, key] of keys.entries()) {
      assert.equal((await key('PUT', `/messages/${messageId}/reaction`, { emoji: '👍' })).status, 200);
      const sendAt = new Date(clock.now() + 60_000).toISOString();
      const sent = await key('POST', '/messages/send', { to: ADA, message: 'later', sendAt });
      assert.equal(sent.status, 201, JSON.stringify(sent.body));
      const { status } = await passUntil(
        clock,
        async () => (await call('GET', `/messages/${sent.body.messageId}`)).body,
        (message) => !['scheduled', 'queued'].includes(message.status),
      );
      assert.notEqual(status, 'failed', `key ${nth}`);
    }
    assert.deepEqual(
      (await eventsOf(call, 'contact.updated')).map(({ data }: { data: object }) => 'previousPhoneNumber' in data),
      [false],
    );
  });

  it('matches a webhook filter with an id, and not the next owner of the number', async (t) => {
    const { graph, call } = await site(t);
    const hook = async (filters: object) => {
      const receiver = await startReceiver();
      t.after(() => receiver.close());
      const options = { webhookUrl: receiver.url, events: ['message.incoming'], filters };
      const { status, body } = await call('POST', '/webhooks/endpoints', options);
      assert.equal(status, 201);
      const texts = async (count: number) => {
        await receiver.waitFor(count);
        return receiver.deliveries.map(({ parsed }) => parsed.data.message);
      };
      return { webhookId: body.webhookId, texts };
    };
    const [chosen, ignored] = [await hook({ chats: [U1] }), await hook({ ignoredChats: [U1] })];
    assert.deepEqual((await call('GET', '/contacts')).body.data, [], 'a filter adds no contact');
    await graph.incoming(U1, text('hidden'));
    await graph.incoming(ADA, text('it is me'), { userId: U1 });
    await graph.incoming(ADA, text('mine now'), { userId: U2 });
    await graph.incoming(U1, text('hidden again'));
    await graph.incoming(U2, text('still mine'));
    assert.deepEqual(await chosen.texts(3), ['hidden', 'it is me', 'hidden again']);
    assert.deepEqual(await ignored.texts(2), ['mine now', 'still mine']);
    const { filters } = (await call('GET', `/webhooks/endpoints/${chosen.webhookId}`)).body;
    assert.deepEqual(filters.chats, [U1]);
  });
});

describe('networks without user ids', () => {
  it('rejects an id with a clear error', async (t) => {
    const server = await startServer();
    t.after(() => server.stop());
    const { call } = await server.account();
    const { sessionId } = (await call('POST', '/sessions', { connector: 'sandbox' })).body;
    await call('POST', `/sessions/${sessionId}/connect`);
    const sent = await call('POST', '/messages/send', { to: U1, message: 'hello' });
    assert.deepEqual([sent.status, sent.body.code], [422, 'not_supported']);
    assert.match(sent.body.detail, /has no user ids such as DE\.999888/);
    assert.equal((await call('GET', `/contacts/${U1}`)).status, 404);
  });
});
