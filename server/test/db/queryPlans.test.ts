import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { it, type TestContext } from 'node:test';
import type { Store } from '../../src/db/dialect.ts';
import { Identities } from '../../src/messages/identities/identities.ts';
import type { InboxOptions } from '../../src/messages/inboxOptions.ts';
import { OutgoingProgress } from '../../src/messages/messages/outgoingProgress.ts';
import { startReceiver } from '../support/connections/receiver.ts';
import { newHome } from '../support/databases/databases.ts';
import { eventually } from '../support/eventually.ts';
import { picture, upload } from '../support/media/media.ts';
import { queryOf } from '../support/processes/nodes.ts';
import { bearer, connectSession, startServer, type TestServer } from '../support/server.ts';

const MESSAGES = 1000;
/** Each look-up of a row reads an index entry, or a few if it was updated. A scan reads hundreds. */
const MOST_EACH = 30;

it('PostgreSQL looks up the rows of messages and deliveries in new tables', async (test) => {
  const home = await newHome('postgres');
  test.after(() => home.remove());
  const receiver = await startReceiver();
  test.after(() => receiver.close());
  const server = await startServer({ home });
  const { call } = await server.account();
  await connectSession(call);
  await call('POST', '/webhooks/endpoints', { webhookUrl: receiver.url, events: ['message.sent'] });
  const numbers = Array.from({ length: MESSAGES }, (_, n) => String(491_707_000_000 + n));
  for (let at = 0; at < MESSAGES; at += 20)
    await Promise.all(numbers.slice(at, at + 20).map((to) => call('POST', '/messages/send', { to, message: 'hello' })));
  await receiver.waitFor(MESSAGES);
  await server.stop(); // connections report what they have read when they end

  const read = await queryOf(home)<{ name: string; scanned: number; entries: number; updates: number; hot: number }>(`
    select relname as name, seq_tup_read::int as scanned, n_tup_upd::int as updates, n_tup_hot_upd::int as hot,
      (select sum(idx_tup_read)::int from pg_stat_user_indexes i where i.relid = t.relid) as entries
    from pg_stat_user_tables t where relname in ('messages', 'deliveries', 'queue') order by relname desc`);
  const [queue, messages, deliveries] = read;
  assert.ok(messages && messages.scanned + messages.entries < MESSAGES * MOST_EACH, JSON.stringify(messages));
  // Updates that add no entry to an index: about 95 %, fewer if the machine is busy.
  assert.ok(messages.updates >= 2 * MESSAGES && messages.hot > messages.updates / 2, JSON.stringify(messages));
  assert.ok(deliveries && deliveries.entries < MESSAGES * MOST_EACH, JSON.stringify(deliveries));
  assert.ok(deliveries.updates >= MESSAGES && deliveries.hot > deliveries.updates / 2, JSON.stringify(deliveries));
  assert.ok(queue && queue.scanned + queue.entries < MESSAGES * MOST_EACH, JSON.stringify(queue));
});

it('SQLite merges a hidden number without reading the other rows of its session', async (test) => {
  const server = await startServer();
  test.after(() => server.stop());
  const { accountId, call } = await server.account();
  const sessionId = await connectSession(call);
  const standIn = '5511912345678';
  await call('POST', `/sessions/${sessionId}/simulate`, { action: 'incoming', from: standIn, message: 'hello' });
  const { database, deletions, clock, newId } = server.app.services;
  const options = { emit: () => {}, clock, newId } as unknown as InboxOptions;
  const identities = new Identities({
    ...options,
    database,
    deletions,
    outgoing: new OutgoingProgress(options),
    keysChanged: () => {},
  });
  const steps = await plansOf(test, server, () =>
    identities.identify({ accountId, sessionId }, { type: 'identified', standIn, phoneNumber: '551112345678' }),
  );
  const ofPerson = steps.filter((step) =>
    /^(SEARCH|SCAN) (messages|old|twin|groups|group_participants|former|present|chat_labels|status_views)\b/.test(step),
  );
  assert.ok(ofPerson.length > 12, steps.join('\n'));
  const finds =
    /\((account_id=\? AND (message_id|chat_id|from_number|phone_number|created_by)=\?|session_id=\? AND (network_id|from_number|phone_number|chat_id)=\?|status_id=\?|rowid=\?)/;
  for (const step of ofPerson) assert.match(step, finds);
});

it('SQLite searches a chat without passing other sessions of the same person', async (test) => {
  const wrapStore = (store: Store): Store => ({ ...store, longReader: store.reader });
  const server = await startServer({ wrapStore });
  test.after(() => server.stop());
  const { call } = await server.account();
  const sessionId = await connectSession(call);
  const to = '491707000001';
  const sent: string[] = [];
  for (const message of ['hello', 'world'])
    sent.push((await call('POST', '/messages/send', { to, message })).body.messageId);
  const incoming = { action: 'incoming', from: to, message: 'hi' };
  assert.equal((await call('POST', `/sessions/${sessionId}/simulate`, incoming)).status, 200);
  const steps = await plansOf(test, server, async () => {
    const done = [
      await call('POST', '/messages/preflight', { to: [to], message: 'hello again' }),
      await call('POST', `/chats/${to}/read`),
      await call('POST', `/chats/${to}/unread`),
      await call('PATCH', `/chats/${to}`, { archived: true }),
      await call('POST', `/chats/${to}/history`, {}),
      await call('DELETE', `/messages/${sent[0]}?for=me`),
      await call('DELETE', `/chats/${to}`),
    ];
    assert.deepEqual(
      done.map(({ status }) => status),
      [200, 200, 200, 200, 202, 200, 200],
      JSON.stringify(done.map(({ body }) => body.detail)),
    );
  });
  const ofMessages = steps.filter((step) => /^(SEARCH|SCAN) (messages|m)\b/.test(step));
  assert.ok(ofMessages.length > 8, steps.join('\n'));
  const few =
    /USING (COVERING )?INDEX (messages_of_chat \(<expr>=\? AND chat_id=\?|messages_(network|reply) \(session_id=\? AND (chat_id|(reply_)?network_id)=\?|\w+ \(account_id=\? AND message_id=\?)/;
  // The indexer of search words reads the greatest `seq`, which is the last row.
  const others = ofMessages.filter(
    (step) => !few.test(step) && !step.includes('rowid=?') && step !== 'SEARCH messages',
  );
  assert.deepEqual(others, []);
  const unread = steps.filter((step) => /^(SEARCH|SCAN) u\b/.test(step));
  assert.ok(unread.length > 2, steps.join('\n'));
  for (const step of unread) assert.match(step, /PRIMARY KEY \(session_id=\? AND chat_id=\?/);
});

it('SQLite reads the labels of a page by its messages and chats', async (test) => {
  const server = await startServer();
  test.after(() => server.stop());
  const { call } = await server.account();
  await connectSession(call);
  await call('POST', '/messages/send', { to: '491707000001', message: 'hello' });
  const steps = await plansOf(test, server, async () => {
    await call('GET', '/messages');
    await call('GET', '/chats');
  });
  const ofLabels = steps.filter((step) => /^(SEARCH|SCAN) (message|chat)_labels\b/.test(step));
  assert.equal(ofLabels.length, 2, steps.join('\n'));
  for (const step of ofLabels) assert.match(step, /message_id=\?|chat_id=\?/);
});

it('SQLite finds messages that wait without reading the others of their account', async (test) => {
  const wrapStore = (store: Store): Store => ({ ...store, longReader: store.reader });
  const server = await startServer({ wrapStore });
  test.after(() => server.stop());
  const { call, token } = await server.account();
  await connectSession(call);
  const { key, keyId } = (await call('POST', '/api-keys/create', { name: 'agent', permissions: ['*'] })).body;
  const { mediaId } = (await upload(server, token, picture())).body;
  const sendAt = new Date(Date.now() + 3_600_000).toISOString();
  const steps = await plansOf(test, server, async () => {
    await bearer(server.url, key)('POST', '/messages/send', { to: '491707000001', message: 'later', sendAt });
    assert.equal((await call('DELETE', `/media/${mediaId}`)).status, 200);
    const { body } = await call('DELETE', `/api-keys/${keyId}?created=remove`);
    assert.equal(body.removed.messages, 1);
  });
  const ofMessages = steps.filter((step) => /^(SEARCH|SCAN) (messages|m)\b/.test(step));
  assert.ok(ofMessages.length > 8, steps.join('\n'));
  assert.deepEqual(
    ofMessages.filter((step) => /^SCAN|autoindex_messages_\d \(account_id=\?\)$/.test(step)),
    [],
  );
  const ofOutbox = steps.filter((step) => /^(SEARCH|SCAN) (outbox|o)\b/.test(step));
  assert.ok(ofOutbox.length > 3, steps.join('\n'));
  for (const step of ofOutbox) assert.match(step, /PRIMARY KEY \(account_id=\? AND status=\?/);
  const ofGroups = steps.filter((step) => /^(SEARCH|SCAN) groups\b/.test(step));
  assert.deepEqual(ofGroups, ['SEARCH groups USING INDEX groups_picture (account_id=? AND picture_media_id=?)']);
  const ofFiles = steps.filter((step) => /^(SEARCH|SCAN) (key_media|media_conversions)\b/.test(step));
  for (const step of ofFiles) assert.match(step, /media_id=\?|hash=\?/);
});

it('SQLite searches chats for their last incoming message outside the main thread', async (test) => {
  const server = await startServer();
  test.after(() => server.stop());
  const { call } = await server.account();
  await connectSession(call);
  const to = '491707000001';
  await call('POST', '/messages/send', { to, message: 'hello' });
  const steps = await plansOf(test, server, async () => {
    const { status } = await call('POST', '/messages/preflight', { to: [to], message: 'hello again' });
    assert.equal(status, 200);
  });
  assert.ok(steps.length > 0);
  assert.deepEqual(
    steps.filter((step) => /^SEARCH m USING INDEX messages_(chat|session)/.test(step)),
    [],
  );
});

it('SQLite reads the messages of a search by their numbers, with any filter', async (test) => {
  const server = await startServer();
  test.after(() => server.stop());
  const { call } = await server.account();
  await connectSession(call);
  await call('POST', '/messages/send', { to: '491707000001', message: 'hello' });
  const { reader, longReader } = server.app.services.database;
  const { mock } = test.mock.method(longReader.connection, 'query');
  for (const filter of ['', '&type=image', '&direction=incoming', '&chatId=491707000001', '&status=failed'])
    await call('GET', `/messages?q=hello${filter}`);
  const texts = mock.calls.map(({ arguments: [text] }) => String(text)).filter((text) => /from `?messages/.test(text));
  assert.equal(texts.length, 5);
  for (const text of texts) {
    const { rows } = await reader.connection.query<{ detail: string }>(`explain query plan ${text}`, []);
    assert.ok(
      rows.some(({ detail }) => /^SEARCH m USING INTEGER PRIMARY KEY/.test(detail)),
      JSON.stringify(rows),
    );
  }
});

it('SQLite reads the groups of a community without reading all groups of the account', async (test) => {
  const server = await startServer();
  test.after(() => server.stop());
  const { call } = await server.account();
  const sessionId = await connectSession(call);
  const steps = await plansOf(test, server, async () => {
    const { groupId } = (await call('POST', '/communities', { subject: 'Town' })).body;
    const { body: group } = await call('POST', '/groups', { subject: 'Street', phoneNumbers: ['491707000001'] });
    await call('PUT', `/communities/${groupId}/groups/${group.groupId}`);
    const { data } = (await call('GET', `/communities/${groupId}/groups`)).body;
    assert.ok(data.some((linked: { groupId: string | null }) => linked.groupId === group.groupId));
    assert.equal((await call('GET', `/groups/${group.groupId}`)).body.communityId, groupId);
    const history = { chats: [{ group: 'team@sandbox', name: 'Team' }] };
    await call('POST', `/sessions/${sessionId}/simulate`, { action: 'history', history });
    await eventually(
      async () => (await call('GET', '/chats')).body.data.length,
      (chats) => chats === 4,
    );
  });
  assertNoneOfAccount(steps, 'groups', 8);
});

it('SQLite keeps channels and statuses without reading all of the account', async (test) => {
  const server = await startServer();
  test.after(() => server.stop());
  const { call } = await server.account();
  const { sessionId } = (
    await call('POST', '/sessions', { connector: 'sandbox', options: { statuses: true, channels: true } })
  ).body;
  await call('POST', `/sessions/${sessionId}/connect`);
  const steps = await plansOf(test, server, async () => {
    assert.equal((await call('POST', '/channels', { name: 'News' })).status, 201);
    assert.equal((await call('POST', '/channels/refresh', {})).body.channels, 1);
    const status = { action: 'status', from: '491707000001', message: 'Hello' };
    assert.equal((await call('POST', `/sessions/${sessionId}/simulate`, status)).status, 200);
    await eventually(
      async () => (await call('GET', '/status')).body.data.length,
      (statuses) => statuses === 1,
    );
  });
  assertNoneOfAccount(steps, 'channels', 4);
  assertNoneOfAccount(steps, 'statuses', 1);
});

it('SQLite deletes a chat without reading the labels and messages of other chats', async (test) => {
  const server = await startServer();
  test.after(() => server.stop());
  const { call } = await server.account();
  const sessionId = await connectSession(call);
  const to = '491707000001';
  await call('POST', '/messages/send', { to, message: 'hello' });
  const { labelId } = (await call('POST', '/labels', { name: 'Customer' })).body;
  assert.equal((await call('PUT', `/chats/${to}/labels/${labelId}`)).status, 200);
  const steps = await plansOf(test, server, async () => {
    assert.equal((await call('GET', `/labels?sessionId=${sessionId}`)).body.data.length, 1);
    assert.equal((await call('DELETE', `/chats/${to}`)).body.removed, 1);
  });
  assertNoneOfAccount(steps, 'chat_labels', 1);
  const found = steps.filter((step) => /^(SEARCH|SCAN) (labels|messages)\b/.test(step));
  assert.deepEqual(
    found.filter((step) => /^SCAN|\(account_id=\?(\)| AND message_id[<>]\?)/.test(step)),
    [],
  );
});

it('SQLite deletes a session without reading the rows of others', async (test) => {
  const wrapStore = (store: Store): Store => ({ ...store, longReader: store.reader });
  const server = await startServer({ wrapStore });
  test.after(() => server.stop());
  const { call } = await server.account();
  const sessionId = await connectSession(call);
  const steps = await plansOf(test, server, async () => {
    assert.equal((await call('DELETE', `/sessions/${sessionId}`)).status, 200);
  });
  for (const table of ['groups', 'channels', 'labels']) assertNoneOfAccount(steps, table, 1);
});

/** Asserts that no statement reads all rows that an account has in a table. */
function assertNoneOfAccount(steps: readonly string[], table: string, atLeast: number): void {
  const ofTable = steps.filter((step) => new RegExp(`^(SEARCH|SCAN) ${table}\\b`).test(step));
  assert.ok(ofTable.length >= atLeast, ofTable.join('\n'));
  assert.deepEqual(
    ofTable.filter((step) => /^SCAN|\(account_id=\?\)/.test(step)),
    [],
  );
}

/** Returns the steps of the plans of all statements that SQLite prepares for some work. */
async function plansOf(test: TestContext, server: TestServer, work: () => Promise<unknown>): Promise<string[]> {
  const { reader } = server.app.services.database;
  const texts = new Set<string>();
  const { prepare } = DatabaseSync.prototype;
  const spy = test.mock.method(DatabaseSync.prototype, 'prepare', function (this: DatabaseSync, text: string) {
    texts.add(text);
    return prepare.call(this, text);
  });
  await work();
  spy.mock.restore();
  const steps: string[] = [];
  for (const text of texts) {
    if (!/^\s*(select|with|insert|update|delete)/i.test(text)) continue;
    const { rows } = await reader.connection.query<{ detail: string }>(`explain query plan ${text}`, []);
    steps.push(...rows.map(({ detail }) => detail));
  }
  return steps;
}
