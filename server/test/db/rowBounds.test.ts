import assert from 'node:assert/strict';
import { it, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Database } from '../../src/db/database.ts';
import { queryable, type Store } from '../../src/db/dialect.ts';
import type { MessageRow } from '../../src/db/schema.ts';
import { storeOf } from '../../src/sessions/store.ts';
import { describeOnEachDatabase } from '../support/databases/databases.ts';
import { TransactionRows } from '../support/databases/transactionRows.ts';
import { eventually } from '../support/eventually.ts';
import { picture, upload } from '../support/media/media.ts';
import { puppet } from '../support/networks/puppet.ts';
import { bearer, type Call, connectSession, startServer, type TestServer } from '../support/server.ts';

const PUPPET = fileURLToPath(new URL('../support/networks/puppet.ts', import.meta.url));
/** Rows that a transaction may list, and those that it may change. */
const MOST = 1000;
const MANY = 2500;

describeOnEachDatabase('bound of rows per transaction', (newHome, name) => {
  async function setUp(test: TestContext, { table = 'messages', env = {} } = {}) {
    const home = await newHome();
    const rows = new TransactionRows(table);
    const server = await startServer({ home, env: { CONNECTORS: PUPPET, ...env }, wrapStore: rows.wrap });
    const { call, accountId } = await server.account();
    test.after(async () => {
      puppet.parts = {};
      await server.stop();
      await home.remove();
    });
    const { sessionId } = (await call('POST', '/sessions', { connector: 'puppet' })).body;
    await call('POST', `/sessions/${sessionId}/connect`);
    return { server, rows, call, accountId, sessionId };
  }

  const receive = (networkId: string, from: string) =>
    puppet.host?.onEvent({
      type: 'message',
      networkId,
      chat: { type: 'direct', id: from },
      from,
      content: { type: 'text', text: networkId },
      timestamp: Date.now(),
      replyTo: null,
    });

  it('marks a chat with many messages as read in parts, and confirms them in parts', async (test) => {
    const confirmed: number[] = [];
    puppet.parts = {
      markRead: async (_chat, messages) => {
        // One that arrives during the call stays unread.
        if (confirmed.push(messages.length) === 1) await receive('late', '491702222222');
      },
    };
    const { server, rows, call, sessionId } = await setUp(test);
    await receive('first', '491702222222');
    await copyMessage(server, MANY - 1);
    rows.take();
    const { body } = await call('POST', '/chats/491702222222/read', { sessionId });
    assert.deepEqual(body, { chatId: '491702222222', read: MANY });
    assert.equal(
      confirmed.reduce((sum, count) => sum + count),
      MANY,
    );
    assert.ok(Math.max(...confirmed) <= MOST, `${confirmed}`);
    const counts = rows.take();
    assert.ok(Math.max(...counts) <= MOST, `${counts}`);
    const chat = (await call('GET', `/chats/491702222222?sessionId=${sessionId}`)).body;
    assert.deepEqual([chat.unreadCount, await unreadOf(server.app.services.database)], [1, 1]);
  });

  it('marks a chat that a phone reports as read in parts', async (test) => {
    const { server, rows, call, sessionId } = await setUp(test);
    await receive('first', '491702222222');
    await copyMessage(server, MANY - 1);
    rows.take();
    await puppet.host?.onEvent({
      type: 'chat_updated',
      chat: { type: 'direct', id: '491702222222' },
      archived: true,
      isRead: true,
    });
    const counts = rows.take();
    assert.ok(Math.max(...counts) <= MOST, `${counts}`);
    const chat = (await call('GET', `/chats/491702222222?sessionId=${sessionId}`)).body;
    assert.deepEqual([chat.archived, chat.unreadCount, await unreadOf(server.app.services.database)], [true, 0, 0]);
    // Each part emits one, and a busy machine makes smaller parts.
    const { data: events } = (await call('GET', '/events?events=chat.updated&limit=200')).body;
    assert.equal(events.at(-1).data.unreadCount, 0);
  });

  it('moves the messages of a hidden person in parts, and reports of the session wait', async (test) => {
    const { server, rows, call, sessionId } = await setUp(test);
    const [placeholder, phoneNumber] = ['000123456780', '491702222223'];
    const { sessionId: otherId } = (await call('POST', '/sessions', { connector: 'puppet' })).body;
    await call('POST', `/sessions/${otherId}/connect`);
    await receive('other', placeholder);
    await call('POST', `/sessions/${otherId}/disconnect`);
    await call('POST', `/sessions/${sessionId}/disconnect`);
    await call('POST', `/sessions/${sessionId}/connect`);
    await receive('first', placeholder);
    await copyMessage(server, MANY - 1);
    await receive('first-5', phoneNumber); // which the network repeats
    rows.take();
    const chat = { type: 'direct', id: phoneNumber } as const;
    await Promise.all([
      puppet.host?.onEvent({ type: 'identified', standIn: placeholder, phoneNumber }),
      puppet.host?.onEvent({ type: 'message_removed', networkId: 'first-1700', chat }),
    ]);
    const counts = rows.take();
    assert.ok(counts.length > 2 && Math.max(...counts) <= MOST, `${counts}`);
    const { reader } = server.app.services.database;
    const found = await reader.kysely.selectFrom('messages').selectAll().orderBy('message_id').execute();
    const ofOther = found.filter(({ session_id }) => session_id === otherId);
    assert.deepEqual(
      ofOther.map((row) => [row.chat_id, row.from_number]),
      [[placeholder, placeholder]],
    );
    const ofSession = found.filter(({ session_id }) => session_id === sessionId);
    assert.equal(ofSession.length, MANY - 1);
    assert.ok(ofSession.every((row) => row.chat_id === phoneNumber && row.from_number === phoneNumber));
    const merged = (await call('GET', `/chats/${phoneNumber}?sessionId=${sessionId}`)).body;
    assert.equal(merged.unreadCount, MANY - 1);
    assert.equal((await call('GET', `/chats/${placeholder}?sessionId=${sessionId}`)).status, 404);
    const { data: events } = (await call('GET', '/events?events=contact.updated')).body;
    assert.equal(events.at(-1).data.previousPhoneNumber, placeholder);
  });

  it('keeps a file for a message that is stored while the others are searched for it', async (test) => {
    const home = await newHome();
    let searched = async () => {};
    const wrapStore = (store: Store): Store => ({
      ...store,
      longReader: queryable(store.dialect, {
        query: async (text, parameters, name) => {
          const result = await store.longReader.connection.query<never>(text, parameters, name);
          if (parameters.some((value) => String(value).includes('"mediaId"'))) await searched();
          return result;
        },
      }),
    });
    const server = await startServer({ home, wrapStore });
    test.after(async () => {
      await server.stop();
      await home.remove();
    });
    const { call, token } = await server.account();
    await connectSession(call);
    const { mediaId } = (await upload(server, token, picture())).body;
    const sendAt = new Date(Date.now() + 3_600_000).toISOString();
    let searches = 0;
    searched = async () => {
      // After the last search, which would find it.
      if (++searches === 3)
        await call('POST', '/messages/send-media', { to: '491702222222', type: 'image', mediaId, sendAt });
    };
    const { status, body } = await call('DELETE', `/media/${mediaId}`);
    assert.deepEqual([status, body.code], [409, 'message_state']);
    assert.equal(searches, 3);
  });

  it('reads groups, blocked contacts and a long queue outside the main thread', async (test) => {
    const home = await newHome();
    const read: number[] = [];
    const wrapStore = (store: Store): Store => ({
      ...store,
      reader: queryable(store.dialect, {
        query: async (text, parameters, name) => {
          const result = await store.reader.connection.query<never>(text, parameters, name);
          if (/(group_participants|contacts|messages)/.test(text)) read.push(result.rows.length);
          return result;
        },
      }),
    });
    const server = await startServer({ home, wrapStore });
    test.after(async () => {
      await server.stop();
      await home.remove();
    });
    const { call, accountId } = await server.account();
    const sessionId = await connectSession(call);
    const { database } = server.app.services;
    const numbers = Array.from({ length: MANY }, (_, n) => `4917${10_000_000 + n}`);
    const { groupId } = (await call('POST', '/groups', { subject: 'Crew', phoneNumbers: numbers.slice(0, 1) })).body;
    await call('POST', '/messages/send', { to: numbers[0], message: 'first' });
    await call('POST', `/sessions/${sessionId}/disconnect`);
    await database.commit(async ({ kysely }) => {
      const shared = { account_id: accountId, session_id: sessionId, name: null, saved_name: null };
      const rest = { blocked: 1, on_network: null, checked_at: null };
      const contacts = numbers.map((phone_number) => ({ ...shared, ...rest, phone_number }));
      const members = numbers.slice(1).map((phone_number) => ({
        ...{ account_id: accountId, group_id: groupId, phone_number, role: 'member' as const },
        joined_at: 1,
      }));
      for (let at = 0; at < MANY; at += 500) {
        await kysely
          .insertInto('contacts')
          .values(contacts.slice(at, at + 500))
          .onConflict((conflict) => conflict.columns(['session_id', 'phone_number']).doUpdateSet({ blocked: 1 }))
          .execute();
        await kysely
          .insertInto('group_participants')
          .values(members.slice(at, at + 500))
          .execute();
      }
    });
    const [queued] = await database.reader.kysely.selectFrom('messages').selectAll().execute();
    if (queued === undefined) throw new Error('there is no message to copy');
    const { seq: _, ...row } = queued;
    await database.commit(async ({ kysely }) => {
      for (const to of numbers)
        await kysely
          .insertInto('messages')
          .values({
            ...{ ...row, message_id: server.app.services.newId('msg'), network_id: `n-${to}`, to_id: to, chat_id: to },
            ...{ status: 'queued' as const, sent_at: null },
          })
          .execute();
    });
    read.length = 0;
    assert.equal((await call('POST', `/sessions/${sessionId}/connect`)).body.status, 'connected');
    const isQueued = async () =>
      (
        await database.longReader.kysely
          .selectFrom('messages')
          .select('status')
          .where('status', '=', 'queued')
          .execute()
      ).length;
    await eventually(isQueued, (count) => count === 0);
    assert.ok(Math.max(...read) <= MOST, `${Math.max(...read)}`);
    const { body: group } = await call('GET', `/groups/${groupId}`);
    assert.equal(group.participants.length, MANY + 1);
  });

  it('clears the stored keys of a session in parts', async (test) => {
    const home = await newHome();
    const rows = new TransactionRows('session_store');
    const server = await startServer({ home, wrapStore: rows.wrap });
    test.after(async () => {
      await server.stop();
      await home.remove();
    });
    const [store, other] = ['ses_1', 'ses_2'].map((id) => storeOf(server.app.services.database, id));
    for (let at = 0; at < MANY; at += 500)
      await store?.write(new Map(Array.from({ length: 500 }, (_, n) => [`key-${at + n}`, 'value'])));
    await other?.set('key-1', 'kept');
    rows.take();
    await store?.clear();
    const counts = rows.take();
    assert.equal(
      counts.reduce((sum, count) => sum + count),
      MANY,
    );
    assert.ok(Math.max(...counts) <= MOST, `${counts}`);
    assert.deepEqual([(await store?.list(''))?.size, await other?.get('key-1')], [0, 'kept']);
  });

  it('stores a bulk message in parts for a limited key, or nothing', async (test) => {
    const { server, rows, call, sessionId } = await setUp(test, { env: { MAX_PENDING_APPROVALS: '1000' } });
    const keyWith = async (limits: object) => {
      const title = JSON.stringify(limits);
      const { body } = await call('POST', '/api-keys/create', {
        name: title,
        permissions: ['messages:send'],
        ...limits,
      });
      return bearer(server.url, body.key);
    };
    const to = Array.from({ length: 600 }, (_, index) => `49170${7_000_000 + index}`);
    const sendAt = new Date(Date.now() + 3_600_000).toISOString();
    const bulk = (as: Call) => as('POST', '/messages/send-bulk', { sessionId, to, message: 'all', sendAt });
    const [limited, approved] = [await keyWith({ sendQuota: 1199 }), await keyWith({ requiresApproval: true })];
    rows.take();
    assert.equal((await bulk(limited)).body.accepted, to.length);
    assert.deepEqual([(await bulk(limited)).status, (await bulk(limited)).body.code], [429, 'quota_exceeded']);
    const refusedOrNot = await Promise.all([bulk(approved), bulk(approved)]);
    assert.deepEqual(refusedOrNot.map(({ status }) => status).toSorted(), [202, 409]);
    const counts = rows.take();
    if (name === 'sqlite') assert.ok(counts.length > 4 && Math.max(...counts) <= MOST, `${counts}`);
    const { reader } = server.app.services.database;
    const { rows: stored } = await reader.connection.query<{ status: string; count: number }>(
      'select status, count(*) as count from messages group by status order by status',
      [],
    );
    assert.deepEqual(
      stored.map(({ status, count }) => [status, Number(count)]),
      [
        ['pending_approval', to.length],
        ['scheduled', to.length],
      ],
    );
  });

  it('fails a long queue at the logout in parts', async (test) => {
    const { server, rows, call, sessionId } = await setUp(test);
    const { database } = server.app.services;
    await call('POST', '/messages/send', { sessionId, to: '491702222222', message: 'hello' });
    await call('POST', `/sessions/${sessionId}/disconnect`); // it would send them
    await copyMessage(server, MANY, { status: 'queued', sent_at: null });
    rows.take();
    assert.equal((await call('POST', `/sessions/${sessionId}/logout`)).status, 200);
    const counts = rows.take();
    assert.ok(counts.length > 2 && Math.max(...counts) <= MOST, `${counts}`);
    const withStatus = async (status: MessageRow['status']) => {
      const found = database.reader.kysely.selectFrom('messages').where('status', '=', status);
      return Number((await found.select(({ fn }) => fn.countAll().as('count')).executeTakeFirstOrThrow()).count);
    };
    assert.deepEqual([await withStatus('failed'), await withStatus('queued')], [MANY, 0]);
    const { data: failed } = (await call('GET', '/events?events=message.failed&limit=200')).body;
    assert.match(failed[0].data.error, /logged out before/);
    await copyMessage(server, 1, { status: 'queued', error: null, failed_at: null });
    assert.equal((await call('POST', `/sessions/${sessionId}/logout`)).status, 200);
    assert.equal(await withStatus('queued'), 0, 'a second logout fails what was queued since');
  });

  it('takes a label that a phone deletes off many chats in parts', async (test) => {
    const { server, rows, call, sessionId, accountId } = await setUp(test, { table: 'chat_labels' });
    const { database } = server.app.services;
    await puppet.host?.onEvent({ type: 'label_updated', label: { networkId: '7', name: 'Customer', color: 1 } });
    const [label] = (await call('GET', `/labels?sessionId=${sessionId}`)).body.data;
    const common = { account_id: accountId, session_id: sessionId, label_id: label.labelId };
    await database.commit(async ({ kysely }) => {
      for (let n = 0; n < MANY; n++)
        await kysely
          .insertInto('chat_labels')
          .values({ ...common, chat_id: `49170${1_000_000 + n}` })
          .execute();
    });
    rows.take();
    await puppet.host?.onEvent({ type: 'label_removed', networkId: '7' });
    const counts = rows.take();
    assert.ok(counts.length > 2 && Math.max(...counts) <= MOST, `${counts}`);
    assert.deepEqual((await call('GET', `/labels?sessionId=${sessionId}`)).body.data, []);
    assert.deepEqual(await database.reader.kysely.selectFrom('chat_labels').selectAll().execute(), []);
  });

  it('subtracts a removed message where a chat has too many unread ones to count them', async (test) => {
    const { server, call, sessionId } = await setUp(test);
    await receive('first', '491702222222');
    await copyMessage(server, MANY - 1);
    const chat = { type: 'direct', id: '491702222222' } as const;
    await puppet.host?.onEvent({ type: 'message_removed', networkId: 'first', chat });
    const { unreadCount } = (await call('GET', `/chats/491702222222?sessionId=${sessionId}`)).body;
    assert.equal(unreadCount, MANY - 1);
  });
});

/** Stores copies of the newest message. */
async function copyMessage({ app }: TestServer, count: number, changes: Partial<MessageRow> = {}): Promise<void> {
  const { database, newId } = app.services;
  const [newest] = await database.reader.kysely
    .selectFrom('messages')
    .selectAll()
    .orderBy('message_id', 'desc')
    .limit(1)
    .execute();
  if (newest === undefined) throw new Error('there is no message to copy');
  const { seq: _, ...row } = newest;
  const copies = Array.from({ length: count }, (_, n) => ({
    ...row,
    ...changes,
    message_id: newId('msg'),
    network_id: `${row.network_id}-${n}`,
  }));
  await database.commit(async ({ kysely }) => {
    for (const copy of copies) await kysely.insertInto('messages').values(copy).execute();
    await kysely
      .updateTable('chats')
      .set(({ eb }) => ({
        unread_count: eb('unread_count', '+', count),
        last_message_id: copies.at(-1)?.message_id ?? null,
      }))
      .where('chat_id', '=', row.chat_id)
      .execute();
  });
}

async function unreadOf({ reader }: Database): Promise<number> {
  const { count } = await reader.kysely
    .selectFrom('messages')
    .select(({ fn }) => fn.countAll().as('count'))
    .where('status', '=', 'delivered')
    .executeTakeFirstOrThrow();
  return Number(count);
}
