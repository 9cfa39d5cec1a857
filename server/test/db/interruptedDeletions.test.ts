import assert from 'node:assert/strict';
import { join } from 'node:path';
import { it, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { sql } from 'kysely';
import { type Clock, systemClock } from '../../src/clock.ts';
import type { Commit } from '../../src/db/commit.ts';
import type { Database } from '../../src/db/database.ts';
import { firstIdAt } from '../../src/ids.ts';
import { Deletions } from '../../src/jobs/deletions.ts';
import { webhookDeletion } from '../../src/webhooks/endpoints/removal.ts';
import { describeOnEachDatabase, type Home } from '../support/databases/databases.ts';
import { storeLog } from '../support/databases/storedLog.ts';
import { eventually } from '../support/eventually.ts';
import { createFakeClock } from '../support/fakeClock.ts';
import { puppet } from '../support/networks/puppet.ts';
import { type Answer, bearer, connectSession, startServer, type TestServer } from '../support/server.ts';

const PUPPET = fileURLToPath(new URL('../support/networks/puppet.ts', import.meta.url));

const UNFINISHED = 'Earlier changes of the session could not be completed; try again, and check the log of the server';

/** Lets a statement fail on some rows, as if the process had died before it. */
async function refuse(
  { app }: TestServer,
  change: 'delete' | 'update',
  table: string,
  when: string,
  name = 'refuse',
): Promise<void> {
  const { commit, reader } = app.services.database;
  const statements =
    reader.dialect.name === 'sqlite'
      ? [`create trigger ${name} before ${change} on ${table} when ${when} begin select raise(abort, 'refused'); end`]
      : [
          `create function ${name}() returns trigger as $$ begin raise 'refused' using errcode = 'check_violation'; end $$ language plpgsql`,
          `create trigger ${name} before ${change} on ${table} for each row when (${when}) execute function ${name}()`,
        ];
  await commit(async ({ connection }) => {
    for (const statement of statements) await connection.query(statement, []);
  });
}

/** Accepts a refused statement again. */
async function accept({ app }: TestServer, table: string, name = 'refuse'): Promise<void> {
  const { commit, reader } = app.services.database;
  const statement = reader.dialect.name === 'sqlite' ? `drop trigger ${name}` : `drop trigger ${name} on ${table}`;
  await commit(({ connection }) => connection.query(statement, []));
}

/** Starts another server, on PostgreSQL as another node, which accepts the statements on `table` again. */
async function startOther(
  test: TestContext,
  server: TestServer,
  home: Home,
  { table, clock }: { table?: string; clock?: Clock },
): Promise<TestServer> {
  const { database, deletions } = server.app.services;
  const isSqlite = database.reader.dialect.name === 'sqlite';
  await deletions.stop(); // it would continue
  if (table !== undefined) await accept(server, table);
  await server.stop();
  const env: Record<string, string> = isSqlite
    ? {}
    : { DATA_DIR: join(home.dataDir, 'other'), MEDIA_DIR: join(home.dataDir, 'media') };
  const other = await startServer({ home, env, ...(clock && { clock }) });
  test.after(() => other.stop());
  return other;
}

const recorded = ({ reader }: Database) =>
  reader.kysely.selectFrom('deletions').select(['kind', 'resource_id']).execute();

const untilDone = ({ app }: TestServer) =>
  eventually(
    () => recorded(app.services.database),
    (rows) => rows.length === 0,
  );

const countOf = async ({ app }: TestServer, table: 'messages' | 'chats', sessionId: string) => {
  const rows = app.services.database.reader.kysely.selectFrom(table).where('session_id', '=', sessionId);
  return Number((await rows.select(({ fn }) => fn.countAll().as('count')).executeTakeFirstOrThrow()).count);
};

describeOnEachDatabase('a deletion whose process dies', (newHome, database) => {
  const setUp = async (test: TestContext, env: Record<string, string> = {}) => {
    const home = await newHome();
    test.after(() => home.remove());
    const ofNode: Record<string, string> = database === 'sqlite' ? {} : { MEDIA_DIR: join(home.dataDir, 'media') };
    const server = await startServer({ home, env: { ...ofNode, ...env } });
    return { home, server, ...(await server.account()) };
  };
  const withHistory = async (call: ReturnType<typeof bearer>, messages: number) => {
    const sessionId = await connectSession(call);
    const history = { generate: { messages, chats: 1 } };
    await call('POST', `/sessions/${sessionId}/simulate`, { action: 'history', history });
    return sessionId;
  };

  it('moves the rest of a hidden person on the next start, before the session reports anything', async (test) => {
    const { home, server, call, token } = await setUp(test);
    const sessionId = await connectSession(call);
    const [hidden, phoneNumber] = ['000123456780', '491702222223'];
    const simulate = (action: object) => call('POST', `/sessions/${sessionId}/simulate`, action);
    for (let n = 0; n < 120; n++)
      assert.equal((await simulate({ action: 'incoming', from: hidden, message: `text ${n}` })).status, 200);
    const { data } = (await call('GET', '/messages?limit=1')).body;
    await refuse(server, 'update', 'messages', `old.message_id = '${data[0].messageId}'`);
    await simulate({ action: 'identify', from: hidden, phoneNumber });
    const [record] = await eventually(
      () => recorded(server.app.services.database),
      (rows) => rows.length === 1,
    );
    assert.equal(record?.resource_id, `identity/${sessionId}/${hidden}`);
    const other = await startOther(test, server, home, { table: 'messages' });
    const callOther = bearer(other.url, token);
    await untilDone(other);
    const { body: chat } = await callOther('GET', `/chats/${phoneNumber}?sessionId=${sessionId}`);
    assert.deepEqual([chat.unreadCount, chat.lastMessage.message], [120, 'text 119']);
    assert.equal((await callOther('GET', `/chats/${hidden}?sessionId=${sessionId}`)).status, 404);
    const { data: events } = (await callOther('GET', '/events?events=contact.updated')).body;
    const identified = events.filter(({ data }: Answer['body']) => data.previousPhoneNumber === hidden);
    assert.equal(identified.length, 1);
  });

  it('keeps only its own session from connecting, and can be tried again', async (test) => {
    const { home, server, call, token } = await setUp(test);
    const [sessionId, healthy] = [await connectSession(call), await connectSession(call)];
    const simulate = (action: object) => call('POST', `/sessions/${sessionId}/simulate`, action);
    for (let n = 0; n < 120; n++) await simulate({ action: 'incoming', from: '000123456780', message: `text ${n}` });
    const { data } = (await call('GET', '/messages?limit=1')).body;
    await refuse(server, 'update', 'messages', `old.message_id = '${data[0].messageId}'`);
    await simulate({ action: 'identify', from: '000123456780', phoneNumber: '491702222223' });
    await eventually(
      () => recorded(server.app.services.database),
      (rows) => rows.length === 1,
    );
    const clock = createFakeClock(Date.now());
    const other = await startOther(test, server, home, { clock });
    const callOther = bearer(other.url, token);
    const statusOf = async (id: string) => (await callOther('GET', `/sessions/${id}`)).body.status;
    const untilConnected = (id: string) =>
      eventually(
        async () => {
          await clock.advance(1000);
          return statusOf(id);
        },
        (status) => status === 'connected',
      );
    await untilConnected(healthy);
    const stuck = (await callOther('GET', `/sessions/${sessionId}`)).body;
    assert.deepEqual([stuck.status, stuck.error], ['connecting', UNFINISHED]);
    const connecting = await callOther('POST', `/sessions/${sessionId}/connect`);
    assert.deepEqual([connecting.status, connecting.body.detail], [503, UNFINISHED]);
    const { status, body } = await callOther('POST', '/messages/send', { sessionId, to: '491702222222', message: 'x' });
    assert.deepEqual([status, body.code], [503, 'session_unavailable']);
    await accept(other, 'messages');
    await untilConnected(sessionId);
    assert.deepEqual(await recorded(other.app.services.database), []);
    const { data: gone } = (await callOther('GET', '/events?events=session.disconnected')).body;
    assert.deepEqual(
      gone.map((event: Answer['body']) => [event.data.reason, event.data.willReconnect]),
      [[UNFINISHED, true]],
    );
  });

  it('lets its session be disconnected or deleted', async (test) => {
    const { home, server, call, token } = await setUp(test);
    const sessionId = await connectSession(call);
    await server.app.services.database.commit((tx) =>
      server.app.services.deletions.record(tx, {
        resourceId: `identity/${sessionId}/000123456780`,
        accountId: 'acc_none',
        kind: 'placeholder',
        details: 'no JSON',
      }),
    );
    const other = await startOther(test, server, home, { clock: createFakeClock(Date.now()) });
    const callOther = bearer(other.url, token);
    const session = `/sessions/${sessionId}`;
    await eventually(
      () => callOther('GET', session),
      ({ body }) => body.error === UNFINISHED,
    );
    assert.equal((await callOther('POST', `${session}/disconnect`)).body.status, 'disconnected');
    const message = { sessionId, to: '491702222222', message: 'x' };
    assert.equal((await callOther('POST', '/messages/send', message)).status, 409, 'nothing connects it again');
    assert.equal((await callOther('DELETE', session)).status, 200);
    assert.equal((await callOther('GET', session)).status, 404);
  });

  it('fails the rest of a queue after a logout on the next start, without what was queued since', async (test) => {
    const { home, server, call, token } = await setUp(test);
    const sessionId = await connectSession(call);
    const sent: string[] = [];
    for (let n = 0; n < 120; n++)
      sent.push((await call('POST', '/messages/send', { sessionId, to: '491702222222', message: 'x' })).body.messageId);
    await call('POST', `/sessions/${sessionId}/disconnect`); // it would send them again
    const { database } = server.app.services;
    const queue = (turn: number | null, messageIds: readonly string[]) =>
      database.commit(({ kysely }) =>
        kysely
          .updateTable('messages')
          .set({ status: 'queued', turn, failed_at: null, error: null })
          .where('message_id', 'in', messageIds)
          .execute(),
      );
    await queue(null, sent);
    await refuse(server, 'update', 'messages', `old.message_id = '${sent.at(-1)}'`);
    assert.equal((await call('POST', `/sessions/${sessionId}/logout`)).status, 200);
    const [record] = await recorded(database);
    assert.equal(record?.resource_id, `queue/${sessionId}`);
    assert.equal((await call('POST', `/sessions/${sessionId}/connect`)).status, 503, 'it would send the rest');
    assert.equal((await call('GET', `/sessions/${sessionId}`)).body.status, 'logged_out');
    await queue(65_536 * 1000, sent.slice(0, 1)); // behind everything that is stored
    await database.commit(({ kysely }) => kysely.updateTable('deletions').set({ worked_until: 0 }).execute());

    const other = await startOther(test, server, home, { table: 'messages' });
    await untilDone(other);
    const callOther = bearer(other.url, token);
    const { data: failed } = (await callOther('GET', '/messages?status=failed&limit=200')).body;
    const { data: queued } = (await callOther('GET', '/messages?status=queued')).body;
    assert.deepEqual([failed.length, queued[0]?.messageId, queued.length], [119, sent[0], 1]);
  });

  it('refuses other operations on the session, and deletes the rest on the next start', async (test) => {
    const { home, server, call, token } = await setUp(test);
    const sessionId = await withHistory(call, 30);
    const otherId = await withHistory(call, 30);
    await refuse(server, 'delete', 'chats', `old.session_id = '${sessionId}'`);
    assert.equal((await call('DELETE', `/sessions/${sessionId}`)).status, 500);
    assert.deepEqual([await countOf(server, 'messages', sessionId), await countOf(server, 'chats', sessionId)], [0, 1]);

    for (const [method, path, body] of [
      ['POST', `/sessions/${sessionId}/connect`],
      ['GET', `/sessions/${sessionId}`],
      ['GET', `/messages?sessionId=${sessionId}`],
      ['GET', `/chats?sessionId=${sessionId}`],
      ['PATCH', `/sessions/${sessionId}`, { name: 'again' }],
      ['POST', `/sessions/${sessionId}/logout`],
      ['POST', '/messages/send', { sessionId, to: '491701', message: 'hello' }],
    ] as const) {
      const { status, body: problem } = await call(method, path, body);
      assert.deepEqual([path, status, problem.code], [path, 404, 'not_found']);
      assert.match(problem.detail, /is being deleted/);
    }
    for (const [path, body] of [
      ['/webhooks/endpoints', { ...endpoint, sessionIds: [sessionId] }],
      ['/api-keys/create', { name: 'late', sessionIds: [sessionId] }],
    ] as const)
      assert.equal((await call('POST', path, body)).status, 400, path);
    const { data } = (await call('GET', '/sessions')).body;
    assert.deepEqual(
      data.map((session: { sessionId: string }) => session.sessionId),
      [otherId],
    );

    const other = await startOther(test, server, home, { table: 'chats' });
    await untilDone(other);
    assert.equal(await countOf(other, 'chats', sessionId), 0);
    const { status, body } = await bearer(other.url, token)('GET', `/sessions/${sessionId}`);
    assert.deepEqual([status, body.detail], [404, `The session ${sessionId} does not exist`]);
    assert.deepEqual([await countOf(other, 'messages', otherId), await countOf(other, 'chats', otherId)], [30, 1]);
  });

  it('accepts a repeated deletion of the session', async (test) => {
    const { server, call } = await setUp(test);
    test.after(() => server.stop());
    const sessionId = await withHistory(call, 30);
    const answers = await Promise.all([1, 2].map(() => call('DELETE', `/sessions/${sessionId}`)));
    for (const { status } of answers) assert.equal(status, 200);
    assert.equal((await call('DELETE', `/sessions/${sessionId}`)).status, 404);
  });

  it('refuses operations on messages of the session', async (test) => {
    const { server, call } = await setUp(test);
    test.after(() => server.stop());
    const sessionId = await withHistory(call, 30);
    const [{ messageId }] = (await call('GET', '/messages?limit=1')).body.data;
    await refuse(server, 'delete', 'messages', `old.session_id = '${sessionId}'`);
    assert.equal((await call('DELETE', `/sessions/${sessionId}`)).status, 500);
    for (const [method, path] of [
      ['GET', ''],
      ['PUT', '/star'],
      ['DELETE', ''],
    ] as const) {
      const { status, body } = await call(method, `/messages/${messageId}${path}`);
      assert.deepEqual([path, status, body.code], [path, 404, 'not_found']);
      assert.match(body.detail, /is being deleted/);
    }
  });

  it('of a large session continues after the response', async (test) => {
    const home = await newHome();
    test.after(() => home.remove());
    const clock = createFakeClock();
    const server = await startServer({ home, clock });
    test.after(() => server.stop());
    const { call } = await server.account();
    const sessionId = await connectSession(call);
    const { promise: end, resolve } = Promise.withResolvers<void>();
    const run = test.mock.method(Deletions.prototype, 'run', () => end);
    const answer = call('DELETE', `/sessions/${sessionId}`);
    await eventually(
      async () => run.mock.callCount(),
      (count) => count > 0,
    );
    await clock.advance(10_000);
    const { status, body } = await answer;
    assert.deepEqual([status, body], [200, { sessionId, deleted: true }]);
    assert.equal((await call('GET', `/sessions/${sessionId}`)).status, 404);
    assert.equal((await recorded(server.app.services.database)).length, 1);
    resolve();
  });

  it('removes the other messages of a chat on the next start, and emits one event', async (test) => {
    const { home, server, call, token } = await setUp(test);
    const sessionId = await withHistory(call, 600);
    const { chatId } = (await call('GET', '/chats')).body.data[0];
    const { kysely } = server.app.services.database.reader;
    const rows = await kysely.selectFrom('messages').select('message_id').orderBy('message_id').execute();
    await refuse(server, 'delete', 'messages', `old.message_id = '${rows.at(400)?.message_id}'`);
    assert.equal((await call('DELETE', `/chats/${chatId}`)).status, 500);
    const left = await countOf(server, 'messages', sessionId);
    assert.ok(left > 0 && left < 600, `${left}`);

    const other = await startOther(test, server, home, { table: 'messages' });
    await untilDone(other);
    assert.deepEqual([await countOf(other, 'messages', sessionId), await countOf(other, 'chats', sessionId)], [0, 0]);
    const { data } = (await bearer(other.url, token)('GET', '/events?events=chat.removed')).body;
    assert.deepEqual(
      data.map((event: { data: { chatId: string; action: string } }) => [event.data.chatId, event.data.action]),
      [[chatId, 'deleted']],
    );
  });

  it('removes the rest of a chat and a label that a phone reports once as deleted, on the next start', async (test) => {
    const { home, server, call, token, accountId } = await setUp(test, { CONNECTORS: PUPPET });
    test.after(() => (puppet.parts = {}));
    const { sessionId } = (await call('POST', '/sessions', { connector: 'puppet' })).body;
    await call('POST', `/sessions/${sessionId}/connect`);
    const chat = { type: 'direct', id: '491702222222' } as const;
    const text = {
      chat,
      from: chat.id,
      content: { type: 'text', text: 'hello' },
      timestamp: 1,
      replyTo: null,
    } as const;
    for (let n = 0; n < 300; n++)
      await puppet.host?.onEvent({ type: 'message', networkId: `${n}`.padStart(3, '0'), ...text });
    await puppet.host?.onEvent({ type: 'label_updated', label: { networkId: '7', name: 'Customer', color: 1 } });
    const [{ labelId }] = (await call('GET', '/labels')).body.data;
    const { database } = server.app.services;
    const ids = Array.from({ length: 120 }, (_, n) => `49170${3_000_000 + n}`);
    const labels = ids.map((id) => ({
      ...{ account_id: accountId, session_id: sessionId },
      label_id: labelId,
      chat_id: id,
    }));
    await database.commit(({ kysely }) => kysely.insertInto('chat_labels').values(labels).execute());
    await refuse(server, 'delete', 'messages', `old.network_id = '290'`);
    const removed = { type: 'chat_removed', chat, isWhole: true, upTo: Date.now() } as const;
    await assert.rejects(async () => puppet.host?.onEvent(removed));
    await refuse(server, 'delete', 'chat_labels', `old.chat_id = '${ids.at(-1)}'`, 'refuse_label');
    await assert.rejects(async () => puppet.host?.onEvent({ type: 'label_removed', networkId: '7' }));
    const left = await countOf(server, 'messages', sessionId);
    assert.ok(left > 0 && left < 300, `${left}`);
    const kinds = (await recorded(database)).map(({ kind }) => kind);
    assert.deepEqual(kinds.toSorted(), ['chat', 'label']);

    await accept(server, 'chat_labels', 'refuse_label');
    const other = await startOther(test, server, home, { table: 'messages' });
    await untilDone(other);
    assert.deepEqual([await countOf(other, 'messages', sessionId), await countOf(other, 'chats', sessionId)], [0, 0]);
    const callOther = bearer(other.url, token);
    assert.deepEqual((await callOther('GET', '/labels')).body.data, []);
    const { kysely } = other.app.services.database.reader;
    assert.deepEqual(await kysely.selectFrom('chat_labels').selectAll().execute(), []);
    const { data } = (await callOther('GET', '/events?events=chat.removed,label.updated')).body;
    const outcomes = data.map((event: Answer['body']) => event.data.action ?? event.data.deleted ?? 'created');
    assert.deepEqual(new Set(outcomes), new Set(['created', 'deleted', true]));
  });

  const endpoint = { webhookUrl: 'http://127.0.0.1:9/', events: ['message.sent'], paused: true };
  /** Stores 1200 pending deliveries. Returns their ids. */
  const addPending = async ({ app }: TestServer, accountId: string, webhookId: string, first: number) => {
    const { database, steady } = app.services;
    const at = steady.now();
    const base = firstIdAt('dlv', at).slice(0, -4);
    const ids = Array.from({ length: 1200 }, (_, n) => base + String(first + n).padStart(4, '0'));
    for (let start = 0; start < ids.length; start += 100)
      await database.commit((tx) => {
        const some = ids.slice(start, start + 100);
        const rows = some.map((deliveryId) => ({ deliveryId, eventId: deliveryId.replace('dlv', 'evt'), webhookId }));
        return storeLog(tx, accountId, rows);
      });
    return ids;
  };
  const pendingCount = async ({ app }: TestServer) => {
    const pending = app.services.database.reader.kysely
      .selectFrom('deliveries')
      .where('state', '=', sql.lit('pending' as const));
    const left = pending.select(({ fn }) => fn.countAll().as('count'));
    return Number((await left.executeTakeFirstOrThrow()).count);
  };

  it('cancels the other deliveries of a removed webhook on the next start', async (test) => {
    const { home, server, call, accountId } = await setUp(test);
    const { webhookId } = (await call('POST', '/webhooks/endpoints', endpoint)).body;
    const ids = await addPending(server, accountId, webhookId, 0);
    await refuse(server, 'update', 'deliveries', `old.delivery_id = '${ids.at(-1)}'`);
    assert.equal((await call('DELETE', `/webhooks/endpoints/${webhookId}`)).status, 200);
    const { reader } = server.app.services.database;
    await eventually(
      () => reader.kysely.selectFrom('deletions').selectAll().where('worked_until', '<', Date.now()).execute(),
      (rows) => rows.length === 1,
    );
    assert.ok((await pendingCount(server)) > 0);

    const other = await startOther(test, server, home, { table: 'deliveries' });
    await untilDone(other);
    assert.equal(await pendingCount(other), 0);
  });

  it('of a webhook ends between two transactions at a stop', async (test) => {
    const { server, call, accountId } = await setUp(test);
    test.after(() => server.stop());
    const { webhookId } = (await call('POST', '/webhooks/endpoints', endpoint)).body;
    await addPending(server, accountId, webhookId, 0);
    const { database } = server.app.services;
    let [commits, most] = [0, 1];
    const commit: Commit = (work, key) => {
      commits++;
      return database.commit(work, key);
    };
    const handler = webhookDeletion({ commit }, systemClock, () => commits >= most);
    const deletion = { resourceId: webhookId, accountId, kind: 'webhook', details: '{}' } as const;
    const run = async () => handler(deletion, true, async () => {});
    await assert.rejects(run(), { code: 'shutting_down' });
    assert.equal(commits, 1);
    assert.ok((await pendingCount(server)) > 0);
    most = Number.POSITIVE_INFINITY;
    await run();
    assert.equal(await pendingCount(server), 0);
  });

  it('removes the other messages of a revoked key, and the key, on the next start', async (test) => {
    const { home, server, call, token } = await setUp(test);
    const sessionId = await connectSession(call);
    const { keyId, key } = (await call('POST', '/api-keys/create', { name: 'short-lived' })).body;
    const sendAt = new Date(Date.now() + 3_600_000).toISOString();
    const later = { sessionId, to: '491702222222', message: 'later', sendAt };
    const made: string[] = [];
    for (let n = 0; n < 5; n++)
      made.push((await bearer(server.url, key)('POST', '/messages/send', later)).body.messageId);
    await refuse(server, 'update', 'messages', `old.message_id = '${made[3]}'`);
    assert.equal((await call('DELETE', `/api-keys/${keyId}?created=remove`)).status, 500);
    const scheduled = async (ask: typeof call) => (await ask('GET', '/messages?status=scheduled')).body.data.length;
    assert.equal(await scheduled(call), 2);

    const other = await startOther(test, server, home, { table: 'messages' });
    const callOther = bearer(other.url, token);
    await untilDone(other);
    assert.equal(await scheduled(callOther), 0);
    assert.deepEqual((await callOther('GET', '/api-keys')).body.data, []);
  });

  it('removes all webhooks of a key together, and cancels their other deliveries on the next start', async (test) => {
    const { home, server, call, accountId } = await setUp(test);
    const { keyId, key } = (await call('POST', '/api-keys/create', { name: 'short-lived' })).body;
    const byKey = bearer(server.url, key);
    const ids: string[][] = [];
    for (let count = 0; count < 3; count++) {
      const { webhookId } = (await byKey('POST', '/webhooks/endpoints', endpoint)).body;
      ids.push(await addPending(server, accountId, webhookId, 1200 * count));
    }
    await refuse(server, 'update', 'deliveries', `old.delivery_id = '${ids[0]?.at(-1)}'`);
    const { status, body } = await call('DELETE', `/api-keys/${keyId}?created=remove`);
    assert.deepEqual([status, body.removed], [200, { messages: 0, webhooks: 3 }]);
    assert.deepEqual((await call('GET', '/webhooks/endpoints')).body.data, []);
    assert.ok((await pendingCount(server)) > 0);

    const other = await startOther(test, server, home, { table: 'deliveries' });
    await untilDone(other);
    assert.equal(await pendingCount(other), 0);
    const { kysely } = other.app.services.database.reader;
    const reasons = await kysely.selectFrom('deliveries').select('reason').distinct().execute();
    assert.deepEqual(
      reasons.map(({ reason }) => reason),
      ['The webhook was removed with its API key'],
    );
  });
});
