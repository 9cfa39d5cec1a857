import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { sql } from 'kysely';
import type { EventKind } from '../../src/events/events.ts';
import { MAX_CHAT_LABELS } from '../../src/messages/chats/labels.ts';
import { newRow, storeMessages } from '../../src/messages/store.ts';
import { describeOnEachDeployment } from '../support/databases/databases.ts';
import { eventually } from '../support/eventually.ts';
import { ADA, cloudSession } from '../support/networks/cloudSession.ts';
import {
  type Answer,
  bearer,
  type Call,
  connectSession,
  eventOf,
  newNumber,
  startServer,
  type TestServer,
} from '../support/server.ts';

type Data = Answer['body'];

describeOnEachDeployment('chats', (_, database) => {
  let server: TestServer;
  let call: Call;
  let sessionId: string;
  before(async () => {
    server = await startServer({ database });
    ({ call } = await server.account());
    sessionId = await connectSession(call);
  });
  after(() => server.stop());

  const simulate = async (action: string, fields: object) => {
    const { status, body } = await call('POST', `/sessions/${sessionId}/simulate`, { action, ...fields });
    assert.equal(status, 200, JSON.stringify(body));
  };
  const ok = async (method: string, path: string, fields?: object): Promise<Data> => {
    const { status, body } = await call(method, path, fields);
    assert.ok(status < 300, `${method} ${path}: ${JSON.stringify(body)}`);
    return body;
  };
  const messagesOf = async (chatId: string): Promise<Data[]> => (await ok('GET', `/messages?chatId=${chatId}`)).data;
  const next = (kind: EventKind, fits: (data: Data) => boolean) => eventOf(call, kind, fits);

  const accountOf = (id: string) =>
    server.app.services.database.reader.kysely
      .selectFrom('sessions')
      .select('account_id')
      .where('session_id', '=', id)
      .executeTakeFirstOrThrow();

  /** Lets somebody write to the session. @returns the number, and the messages in the order in which they arrived */
  async function written(...texts: string[]): Promise<{ from: string; messages: Data[] }> {
    const from = newNumber();
    for (const message of texts) await simulate('incoming', { from, message });
    const messages = await eventually(
      () => messagesOf(from),
      ({ length }) => length === texts.length,
    );
    return { from, messages: messages.toReversed() };
  }

  it('deletes a chat with its messages, their search words, reactions and labels', async () => {
    const { from, messages } = await written('Zebra one', 'Zebra two');
    const [first] = messages;
    await simulate('react', { messageId: first.messageId, from, emoji: '👍' });
    const { labelId } = await ok('POST', '/labels', { sessionId, name: 'Animals' });
    await ok('PUT', `/chats/${from}/labels/${labelId}`, { sessionId });
    await ok('PUT', `/messages/${first.messageId}/labels/${labelId}`);
    assert.deepEqual(await ok('DELETE', `/chats/${from}?sessionId=${sessionId}`), {
      chatId: from,
      removed: 2,
      synchronized: true,
    });
    for (const path of [`/chats/${from}?sessionId=${sessionId}`, `/messages/${first.messageId}`])
      assert.equal((await call('GET', path)).status, 404, path);
    assert.deepEqual((await ok('GET', '/messages?q=zebra')).data, []);
    assert.deepEqual((await ok('GET', `/messages?labelId=${labelId}`)).data, []);
    assert.equal((await next('chat.removed', ({ chatId }) => chatId === from)).action, 'deleted');
    assert.equal((await call('DELETE', `/chats/${from}?sessionId=${sessionId}`)).status, 404);
    // A receipt or an edit of a message that is gone does not bring the chat back, but a new message does.
    await simulate('incoming', { from, message: 'Zebra three' });
    const chat = await ok('GET', `/chats/${from}?sessionId=${sessionId}`);
    assert.deepEqual([chat.unreadCount, chat.labelIds, chat.lastMessage.message], [1, [], 'Zebra three']);
  });

  it('clears a chat, which stays without messages', async () => {
    const { from } = await written('one', 'two', 'three');
    await ok('POST', `/chats/${from}/unread`, { sessionId });
    assert.equal((await ok('POST', `/chats/${from}/clear`, { sessionId })).removed, 3);
    const chat = await ok('GET', `/chats/${from}?sessionId=${sessionId}`);
    assert.deepEqual([chat.unreadCount, chat.markedUnread, chat.lastMessage], [0, false, null]);
    assert.equal((await next('chat.removed', ({ chatId }) => chatId === from)).action, 'cleared');
    assert.equal((await ok('POST', `/chats/${from}/clear`, { sessionId })).removed, 0);
  });

  it('keeps messages that wait to be sent, and their chat', async () => {
    const { from } = await written('one');
    const sendAt = new Date(Date.now() + 3_600_000).toISOString();
    const { messageId } = await ok('POST', '/messages/send', { sessionId, to: from, message: 'later', sendAt });
    assert.equal((await ok('DELETE', `/chats/${from}?sessionId=${sessionId}`)).removed, 1);
    assert.equal((await ok('GET', `/chats/${from}?sessionId=${sessionId}`)).lastMessage, null);
    assert.equal((await ok('GET', `/messages/${messageId}`)).status, 'scheduled');
  });

  it('deletes chats of more messages than one transaction deletes', async () => {
    const { from } = await written('the last one');
    const { account_id } = await accountOf(sessionId);
    const { services } = server.app;
    const rows = Array.from({ length: 600 }, (_none, n) =>
      newRow({
        account_id,
        message_id: services.newId('msg'),
        session_id: sessionId,
        chat_id: from,
        network_id: `old ${n}`,
        direction: 'incoming',
        type: 'text',
        from_number: from,
        to_id: from,
        body: 'Okapi',
        content: null,
        reply_to: null,
        status: 'delivered',
        timestamp: n,
        created_at: n,
      }),
    );
    await services.database.commit((tx) => storeMessages(tx, rows));
    assert.equal((await ok('DELETE', `/chats/${from}?sessionId=${sessionId}`)).removed, 601);
    assert.equal((await call('GET', `/chats/${from}?sessionId=${sessionId}`)).status, 404);
    assert.deepEqual((await ok('GET', '/messages?q=okapi')).data, []);
  });

  it('marks a chat as unread until it is read', async () => {
    const { from } = await written('read me');
    await ok('POST', `/chats/${from}/read`, { sessionId });
    const answer = await ok('POST', `/chats/${from}/unread`, { sessionId });
    assert.deepEqual(answer, { chatId: from, markedUnread: true, synchronized: true });
    const event = await next('chat.updated', ({ chatId, markedUnread }) => chatId === from && markedUnread);
    assert.deepEqual([event.unreadCount, event.labelIds, event.disappearingSeconds], [0, [], null]);
    await ok('POST', `/chats/${from}/read`, { sessionId });
    assert.equal((await ok('GET', `/chats/${from}?sessionId=${sessionId}`)).markedUnread, false);
  });

  it('changes a chat of a session that is not connected only here, and says so', async () => {
    const { from } = await written('offline');
    assert.equal((await ok('PATCH', `/chats/${from}`, { sessionId, archived: true })).synchronized, true);
    const listed = async (archived: boolean) =>
      (await ok('GET', `/chats?sessionId=${sessionId}&archived=${archived}&limit=200`)).data.map(
        ({ chatId }: Data) => chatId,
      );
    assert.deepEqual([await listed(true), (await listed(false)).includes(from)], [[from], false]);
    await ok('POST', `/sessions/${sessionId}/disconnect`);
    assert.equal((await ok('PATCH', `/chats/${from}`, { sessionId, archived: false })).synchronized, false);
    assert.equal((await ok('POST', `/chats/${from}/unread`, { sessionId })).synchronized, false);
    const timer = await call('PATCH', `/chats/${from}`, { sessionId, disappearingSeconds: 86_400 });
    assert.deepEqual([timer.status, timer.body.code], [409, 'session_not_connected']);
    assert.equal((await ok('DELETE', `/chats/${from}?sessionId=${sessionId}`)).synchronized, false);
    await ok('POST', `/sessions/${sessionId}/connect`);
    await eventually(
      () => ok('GET', `/sessions/${sessionId}`),
      ({ status }) => status === 'connected',
    );
  });

  it('keeps chat metadata when a hidden number becomes known', async () => {
    const { from } = await written('with metadata');
    const changed = await ok('PATCH', `/chats/${from}`, { sessionId, metadata: { crm: 'https://example.com/1' } });
    assert.deepEqual(changed.metadata, { crm: 'https://example.com/1' });
    await ok('PATCH', `/chats/${from}`, { sessionId, pinned: true });
    assert.deepEqual((await ok('GET', `/chats/${from}?sessionId=${sessionId}`)).metadata, changed.metadata);
    const tooLong = await call('PATCH', `/chats/${from}`, { sessionId, metadata: { ['k'.repeat(41)]: 'v' } });
    assert.equal(tooLong.body.errors[0].code, 'key_length');
    const hidden = '000987654321';
    await simulate('incoming', { from: hidden, message: 'Hidden' });
    await next('message.incoming', ({ message }) => message === 'Hidden');
    await ok('PATCH', `/chats/${hidden}`, { sessionId, metadata: { crm: '2' } });
    const number = newNumber();
    await simulate('identify', { from: hidden, phoneNumber: number });
    const merged = await eventually(
      () => call('GET', `/chats/${number}?sessionId=${sessionId}`),
      ({ status }) => status === 200,
    );
    assert.deepEqual(merged.body.metadata, { crm: '2' });
  });

  it('changes only the given metadata keys, and removes those that are null', async () => {
    const { from } = await written('with several keys');
    const change = (metadata: object) => call('PATCH', `/chats/${from}`, { sessionId, metadata });
    await change({ crm: '1', desk: 'a' });
    assert.deepEqual((await change({ desk: 'b', bot: 'on' })).body.metadata, { crm: '1', desk: 'b', bot: 'on' });
    assert.deepEqual((await change({ crm: null, unknown: null })).body.metadata, { desk: 'b', bot: 'on' });
    // Two programs at the same time, each with its own keys.
    await Promise.all(Array.from({ length: 20 }, (_, index) => change({ [`key${index}`]: 'x' })));
    const { metadata } = await ok('GET', `/chats/${from}?sessionId=${sessionId}`);
    assert.equal(Object.keys(metadata).length, 22);
    const more = Object.fromEntries(Array.from({ length: 29 }, (_, index) => [`more${index}`, 'x']));
    const tooMany = await call('PATCH', `/chats/${from}`, { sessionId, pinned: true, metadata: more });
    assert.equal(tooMany.status, 400);
    assert.equal(tooMany.body.errors[0].code, 'key_count');
    const after = await ok('GET', `/chats/${from}?sessionId=${sessionId}`);
    assert.deepEqual([after.metadata, after.pinned], [metadata, false]);
    assert.equal(Object.keys((await change({ ...more, bot: null })).body.metadata).length, 50);
  });

  it('joins the metadata of two chats when a hidden number becomes known', async () => {
    const { from: number } = await written('the known one');
    const hidden = '000987654322';
    await simulate('incoming', { from: hidden, message: 'the hidden one' });
    await next('message.incoming', ({ message }) => message === 'the hidden one');
    await ok('PATCH', `/chats/${number}`, { sessionId, metadata: { crm: '1', desk: 'a' } });
    await ok('PATCH', `/chats/${hidden}`, { sessionId, metadata: { crm: '2', bot: 'on' } });
    await simulate('identify', { from: hidden, phoneNumber: number });
    const merged = await eventually(
      () => ok('GET', `/chats/${number}?sessionId=${sessionId}`),
      ({ metadata }) => metadata.bot !== undefined,
    );
    assert.deepEqual(merged.metadata, { crm: '1', desk: 'a', bot: 'on' });
  });

  it('stars messages, and lists them', async () => {
    const { messages } = await written('shiny', 'dull');
    const { messageId } = messages[0];
    assert.equal((await ok('PUT', `/messages/${messageId}/star`)).starred, true);
    assert.equal((await ok('PUT', `/messages/${messageId}/star`)).starred, true);
    const listed = (await ok('GET', '/messages?starred=true')).data.map((one: Data) => one.messageId);
    assert.deepEqual(listed, [messageId]);
    const event = await next('message.marked', (data) => data.messageId === messageId);
    assert.deepEqual([event.starred, event.labelIds], [true, []]);
    assert.equal('starred' in (await ok('DELETE', `/messages/${messageId}/star`)), false);
    assert.deepEqual((await ok('GET', '/messages?starred=true')).data, []);
    await simulate('star', { messageId });
    assert.equal((await ok('GET', `/messages/${messageId}`)).starred, true);
  });

  it('pins a message for everyone in the chat', async () => {
    const other = await connectSession(call);
    const { phoneNumber } = await ok('GET', `/sessions/${other}`);
    const { messageId } = await ok('POST', '/messages/send', { sessionId, to: phoneNumber, message: 'Read this' });
    const theirs = await eventually(
      async () => (await ok('GET', `/messages?sessionId=${other}`)).data[0],
      (message) => message !== undefined,
    );
    const before = Date.now();
    const { pinnedUntil } = await ok('POST', `/messages/${messageId}/pin`, { duration: '24h' });
    assert.ok(Date.parse(pinnedUntil) >= before + 86_400_000);
    const seen = await next('message.pinned', (data) => data.messageId === theirs.messageId);
    assert.ok(Date.parse(seen.pinnedUntil) >= before + 86_400_000);
    assert.deepEqual([seen.fromMe, seen.sessionId], [false, other]);
    assert.equal((await next('message.pinned', (data) => data.messageId === messageId)).fromMe, true);
    assert.equal('pinnedUntil' in (await ok('DELETE', `/messages/${messageId}/pin`)), false);
    await next('message.pinned', (data) => data.messageId === theirs.messageId && data.pinnedUntil === null);
    await simulate('pin', { messageId, from: newNumber(), pinnedUntil: new Date(Date.now() - 1000).toISOString() });
    assert.equal('pinnedUntil' in (await ok('GET', `/messages/${messageId}`)), false, 'a pin ends by itself');
    await ok('DELETE', `/sessions/${other}`);
  });

  it('deletes a message for the session only', async () => {
    const { from, messages } = await written('first', 'Quagga');
    const { messageId } = messages[1];
    const shown = await ok('DELETE', `/messages/${messageId}?for=me`);
    assert.deepEqual([shown.messageId, shown.message, shown.deleted], [messageId, '', true]);
    assert.equal((await call('GET', `/messages/${messageId}`)).status, 404);
    assert.deepEqual((await ok('GET', '/messages?q=quagga')).data, []);
    const chat = await ok('GET', `/chats/${from}?sessionId=${sessionId}`);
    assert.deepEqual([chat.unreadCount, chat.lastMessage.messageId], [1, messages[0].messageId]);
    assert.equal((await next('message.removed', (data) => data.messageId === messageId)).chatId, from);
    await simulate('delete_for_me', { messageId: messages[0].messageId });
    assert.deepEqual(await messagesOf(from), []);
    const sendAt = new Date(Date.now() + 3_600_000).toISOString();
    const later = await ok('POST', '/messages/send', { sessionId, to: from, message: 'later', sendAt });
    const refused = await call('DELETE', `/messages/${later.messageId}?for=me`);
    assert.deepEqual([refused.status, refused.body.code], [409, 'message_state']);
  });

  describe('labels', () => {
    it('are created, changed, put on chats and messages, and deleted', async () => {
      const { from, messages } = await written('order');
      const { messageId } = messages[0];
      const label = await ok('POST', '/labels', { sessionId, name: 'New', color: 3 });
      assert.deepEqual(label, { labelId: label.labelId, sessionId, name: 'New', color: 3 });
      const changed = await ok('PATCH', `/labels/${label.labelId}`, { sessionId, name: 'Paid' });
      assert.deepEqual(changed, { ...label, name: 'Paid' });
      const listed = (await ok('GET', `/labels?sessionId=${sessionId}`)).data;
      assert.ok(listed.some((one: Data) => one.labelId === label.labelId && one.name === 'Paid'));
      const { labelIds } = await ok('PUT', `/chats/${from}/labels/${label.labelId}`, { sessionId });
      assert.deepEqual(labelIds, [label.labelId]);
      assert.deepEqual((await ok('PUT', `/messages/${messageId}/labels/${label.labelId}`)).labelIds, [label.labelId]);
      const chats = (await ok('GET', `/chats?labelId=${label.labelId}`)).data;
      assert.deepEqual(
        chats.map((one: Data) => [one.chatId, one.labelIds]),
        [[from, [label.labelId]]],
      );
      const found = (await ok('GET', `/messages?labelId=${label.labelId}`)).data;
      assert.deepEqual(
        found.map((one: Data) => one.messageId),
        [messageId],
      );
      await next('chat.updated', (data) => data.chatId === from && data.labelIds.length === 1);
      assert.deepEqual(
        (await ok('DELETE', `/chats/${from}/labels/${label.labelId}?sessionId=${sessionId}`)).labelIds,
        [],
      );
      assert.deepEqual(await ok('DELETE', `/labels/${label.labelId}?sessionId=${sessionId}`), {
        labelId: label.labelId,
        deleted: true,
      });
      assert.equal('labelIds' in (await ok('GET', `/messages/${messageId}`)), false);
      const event = await next('label.updated', (data) => data.labelId === label.labelId && data.deleted === true);
      assert.equal(event.name, 'Paid');
    });

    it('get different numbers if they are created at the same time', async () => {
      const names = ['Red', 'Green', 'Blue'];
      const created = await Promise.all(names.map((name) => ok('POST', '/labels', { sessionId, name })));
      assert.equal(new Set(created.map(({ labelId }) => labelId)).size, names.length);
      const listed: Data[] = (await ok('GET', `/labels?sessionId=${sessionId}`)).data;
      for (const { labelId, name } of created) assert.equal(listed.find((one) => one.labelId === labelId)?.name, name);
    });

    it('are on a limited number of chats', async () => {
      const other = await connectSession(call);
      const { labelId } = await ok('POST', '/labels', { sessionId: other, name: 'Everyone' });
      const chatIds = [newNumber(), newNumber()];
      for (const to of chatIds) await ok('POST', '/messages/send', { sessionId: other, to, message: 'Hello' });
      const [first, second] = chatIds.map((chatId) => `/chats/${chatId}/labels/${labelId}`);
      await ok('PUT', first ?? '', { sessionId: other });
      const { account_id } = await accountOf(other);
      await server.app.services.database.commit(({ kysely }) =>
        sql`
          with recursive numbers (n) as (select 2 union all select n + 1 from numbers where n < ${MAX_CHAT_LABELS})
          insert into chat_labels (account_id, session_id, chat_id, label_id)
          select ${account_id}, ${other}, cast(n as text), ${labelId} from numbers`.execute(kysely),
      );
      const refused = await call('PUT', second ?? '', { sessionId: other });
      assert.deepEqual([refused.status, refused.body.code], [409, 'too_many']);
      assert.deepEqual((await ok('PUT', first ?? '', { sessionId: other })).labelIds, [labelId]);
      await ok('DELETE', `${first}?sessionId=${other}`);
      assert.deepEqual((await ok('PUT', second ?? '', { sessionId: other })).labelIds, [labelId]);
      await ok('DELETE', `/sessions/${other}`);
    });

    it('of another session are unknown', async () => {
      const other = await connectSession(call);
      const { labelId } = await ok('POST', '/labels', { sessionId: other, name: 'Theirs' });
      const { from, messages } = await written('mine');
      for (const [method, path] of [
        ['PUT', `/chats/${from}/labels/${labelId}`],
        ['PUT', `/messages/${messages[0].messageId}/labels/${labelId}`],
        ['PATCH', `/labels/${labelId}`],
      ] as const) {
        const fields = path.startsWith('/messages') ? {} : { sessionId };
        assert.equal((await call(method, path, fields)).status, 404, path);
      }
      await ok('DELETE', `/sessions/${other}`);
      const left = (await ok('GET', '/labels')).data.map((one: Data) => one.labelId);
      assert.ok(!left.includes(labelId), 'a deleted session has no labels');
    });

    it('come from another device, also before their chat exists', async () => {
      const from = newNumber();
      await simulate('label', { labelName: 'Lead', labelColor: 7 });
      const { labelId } = await next('label.updated', ({ name }) => name === 'Lead');
      await simulate('label_assign', { labelId, from });
      await simulate('incoming', { from, message: 'Hello' });
      assert.deepEqual((await ok('GET', `/chats/${from}?sessionId=${sessionId}`)).labelIds, [labelId]);
      await simulate('label_assign', { labelId, from, labeled: false });
      await simulate('label', { labelId, labelName: 'Customer' });
      await simulate('label_delete', { labelId });
      await next('label.updated', (data) => data.labelId === labelId && data.deleted === true);
    });
  });

  describe('disappearing messages', () => {
    it('have the timer of their chat, which reaches the other side', async () => {
      const other = await connectSession(call);
      const { phoneNumber: to } = await ok('GET', `/sessions/${other}`);
      const { phoneNumber: own } = await ok('GET', `/sessions/${sessionId}`);
      await ok('POST', '/messages/send', { sessionId, to, message: 'stays' });
      const chat = await ok('PATCH', `/chats/${to}`, { sessionId, disappearingSeconds: 604_800 });
      assert.deepEqual([chat.disappearingSeconds, chat.synchronized], [604_800, true]);
      await eventually(
        () => call('GET', `/chats/${own}?sessionId=${other}`),
        ({ body }) => body.disappearingSeconds === 604_800,
      );
      const sent = await ok('POST', '/messages/send', { sessionId, to, message: 'goes' });
      const read = await ok('GET', `/messages/${sent.messageId}`);
      assert.equal(Date.parse(read.expiresAt) - Date.parse(read.timestamp), 604_800_000);
      const theirs = await eventually(
        async () => (await ok('GET', `/messages?sessionId=${other}`)).data,
        (list: Data[]) => list.length === 2,
      );
      assert.deepEqual(
        theirs.map((one: Data) => 'expiresAt' in one),
        [true, false],
      );
      assert.equal(
        (await ok('PATCH', `/chats/${to}`, { sessionId, disappearingSeconds: null })).disappearingSeconds,
        null,
      );
      await ok('DELETE', `/sessions/${other}`);
    });

    it('have the timer of the group in a group, also if its chat begins again', async () => {
      const friend = newNumber();
      const group = await ok('POST', '/groups', { sessionId, subject: 'Timer', phoneNumbers: [friend] });
      const { groupId } = group;
      const { body } = await call('PATCH', `/chats/${groupId}`, { sessionId, disappearingSeconds: 86_400 });
      assert.deepEqual([body.code, body.errors[0].field], ['validation_failed', 'disappearingSeconds']);
      await ok('PATCH', `/groups/${groupId}`, { settings: { disappearingSeconds: 86_400 } });
      await next('chat.updated', (data) => data.chatId === groupId && data.disappearingSeconds === 86_400);
      await ok('DELETE', `/chats/${groupId}?sessionId=${sessionId}`);
      await ok('PATCH', `/groups/${groupId}`, { subject: 'Another subject' });
      assert.equal((await call('GET', `/chats/${groupId}?sessionId=${sessionId}`)).status, 404, 'it stays deleted');
      const { messageId } = await ok('POST', '/messages/send', { sessionId, to: groupId, message: 'goes' });
      assert.ok('expiresAt' in (await ok('GET', `/messages/${messageId}`)));
      await ok('POST', `/groups/${groupId}/participants`, { action: 'promote', phoneNumbers: [friend] });
      await simulate('disappearing', { groupId, from: friend, disappearingSeconds: null });
      assert.equal((await ok('GET', `/groups/${groupId}`)).settings.disappearingSeconds, 0);
      assert.equal((await ok('GET', `/chats/${groupId}?sessionId=${sessionId}`)).disappearingSeconds, null);
    });

    it('accept the timers of phones only', async () => {
      const { from } = await written('timer');
      const { status, body } = await call('PATCH', `/chats/${from}`, { sessionId, disappearingSeconds: 60 });
      assert.deepEqual([status, body.errors[0].field], [400, 'disappearingSeconds']);
    });
  });

  it('lets another device clear and delete chats, and mark them as unread', async () => {
    const { from } = await written('one', 'two');
    await simulate('chat_update', { from, markedUnread: true });
    assert.equal((await ok('GET', `/chats/${from}?sessionId=${sessionId}`)).markedUnread, true);
    await simulate('chat_clear', { from });
    assert.deepEqual(await messagesOf(from), []);
    await simulate('chat_delete', { from });
    assert.equal((await call('GET', `/chats/${from}?sessionId=${sessionId}`)).status, 404);
    await simulate('chat_delete', { from });
    const removals = (await ok('GET', '/events?events=chat.removed&limit=200')).data.filter(
      ({ data }: Data) => data.chatId === from,
    );
    assert.deepEqual(
      removals.map(({ data }: Data) => data.action),
      ['cleared', 'deleted'],
    );
  });

  it('lets keys delete only with `chats:delete`, and set timers only for their recipients', async () => {
    const { from } = await written('limits');
    const keyOf = async (fields: object) =>
      bearer(server.url, (await ok('POST', '/api-keys/create', { name: 'k', ...fields })).key);
    const writer = await keyOf({ permissions: ['chats:write', 'chats:read', 'messages:send'] });
    for (const [method, path] of [
      ['DELETE', `/chats/${from}?sessionId=${sessionId}`],
      ['POST', `/chats/${from}/clear`],
    ] as const)
      assert.equal((await writer(method, path, method === 'POST' ? { sessionId } : undefined)).status, 403, path);
    const [{ messageId: kept }] = await messagesOf(from);
    assert.equal((await writer('DELETE', `/messages/${kept}?for=me`)).body.code, 'permission_denied');
    const limited = await keyOf({ allowedRecipients: [newNumber()] });
    const set = (disappearingSeconds: number | null) =>
      limited('PATCH', `/chats/${from}`, { sessionId, disappearingSeconds });
    assert.deepEqual([(await set(86_400)).status, (await set(null)).body.code], [403, 'permission_denied']);
    const { groupId } = await ok('POST', '/groups', { sessionId, subject: 'Limits', phoneNumbers: [from] });
    const inGroup = await limited('PATCH', `/groups/${groupId}`, { settings: { disappearingSeconds: 86_400 } });
    assert.equal(inGroup.body.code, 'permission_denied');
    assert.equal((await limited('PATCH', `/groups/${groupId}`, { settings: { locked: true } })).status, 200);
    const { messageId } = (await messagesOf(from))[0];
    assert.equal((await limited('POST', `/messages/${messageId}/pin`, {})).status, 403);
    assert.equal((await limited('PUT', `/messages/${messageId}/star`, {})).status, 200, 'nobody else sees a star');
  });
});

it('are arranged only here on a network without shared settings', async (test) => {
  const { call, graph, sessionId } = await cloudSession(test);
  await graph.incoming(ADA, { type: 'text', text: { body: 'Hello' } });
  const [{ messageId }] = await eventually(
    async () => (await call('GET', '/messages')).body.data,
    (list: Data[]) => list.length === 1,
  );
  const archived = await call('PATCH', `/chats/${ADA}`, { sessionId, archived: true });
  assert.deepEqual([archived.status, archived.body.archived, archived.body.synchronized], [200, true, false]);
  assert.equal((await call('POST', `/chats/${ADA}/unread`, { sessionId })).body.synchronized, false);
  for (const [method, path, fields] of [
    ['PATCH', `/chats/${ADA}`, { sessionId, disappearingSeconds: 86_400 }],
    ['PUT', `/messages/${messageId}/star`, {}],
    ['POST', `/messages/${messageId}/pin`, {}],
    ['POST', '/labels', { sessionId, name: 'New' }],
    ['DELETE', `/messages/${messageId}?for=me`, undefined],
  ] as const) {
    const { status, body } = await call(method, path, fields);
    assert.deepEqual([status, body.code], [422, 'not_supported'], path);
  }
  const removed = (await call('DELETE', `/chats/${ADA}?sessionId=${sessionId}`)).body;
  assert.deepEqual([removed.removed, removed.synchronized], [1, false]);
});
