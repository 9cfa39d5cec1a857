import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdirSync, statSync } from 'node:fs';
import { createServer, connect as openSocket, type Socket } from 'node:net';
import { join } from 'node:path';
import { it, type TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { systemClock } from '../src/clock.ts';
import type { NetworkEvent } from '../src/connectors/contract/events.ts';
import type { NetworkGroup } from '../src/connectors/contract/groups.ts';
import { type Database, DataInUseError, openDatabase } from '../src/db/database.ts';
import { AppError } from '../src/errors.ts';
import { createLog } from '../src/log.ts';
import { portOf } from './support/connections/listening.ts';
import { startReceiver } from './support/connections/receiver.ts';
import { newHome } from './support/databases/databases.ts';
import { storeLog } from './support/databases/storedLog.ts';
import { eventually } from './support/eventually.ts';
import { createFakeClock } from './support/fakeClock.ts';
import { puppet } from './support/networks/puppet.ts';
import { spawnServer } from './support/processes/process.ts';
import {
  type Answer,
  bearer,
  type Call,
  connectSession,
  newNumber,
  sharedSandbox,
  startAgain,
  startServer,
  type TestServer,
} from './support/server.ts';

/* Regression tests for fixed bugs. */

async function setUp(test: TestContext, env: Record<string, string> = {}) {
  const server = await startServer({ env });
  const receiver = await startReceiver();
  test.after(async () => {
    await server.stop();
    await receiver.close();
  });
  const account = await server.account();
  const { call } = account;
  const { body } = await call('POST', '/sessions', { phoneNumber: '491701111111' });
  await call('POST', `/sessions/${body.sessionId}/connect`);
  await call('POST', '/webhooks/set', { webhookUrl: receiver.url, events: ['message.sent'] });
  return { server, receiver, call, account, sessionId: body.sessionId as string };
}
it('concurrent connects do not leave a session that can never connect again', async (test) => {
  const server = await startServer();
  test.after(() => server.stop());
  const { call } = await server.account();
  const { body } = await call('POST', '/sessions', { phoneNumber: '491701111111' });
  const path = `/sessions/${body.sessionId}`;
  const both = await Promise.all([call('POST', `${path}/connect`), call('POST', `${path}/connect`)]);
  assert.deepEqual(
    both.map(({ status }) => status),
    [200, 200],
  );
  await Promise.all([
    call('POST', `${path}/disconnect`),
    call('POST', `${path}/connect`),
    call('POST', `${path}/disconnect`),
  ]);
  assert.equal((await call('POST', `${path}/connect`)).body.status, 'connected');
});

it('concurrent password guesses are limited', async (test) => {
  // The clock stands still, because a guess is returned every six seconds.
  const server = await startServer({ clock: createFakeClock(Date.now()) });
  test.after(() => server.stop());
  const { email } = await server.account();
  const guesses = Array.from({ length: 40 }, () => server.call('POST', '/auth/login', { email, password: 'wrong' }));
  const checked = (await Promise.all(guesses)).filter(({ status }) => status === 401).length;
  assert.ok(checked <= 10, `${checked} guesses were checked`);
});

it('a half-open breaker pauses after a 429 without Retry-After', async (test) => {
  const { receiver, call } = await setUp(test, { BREAKER_OPEN_SECONDS: '1', WEBHOOK_RETRY_SECONDS: '600' });
  receiver.respond(500);
  for (let n = 0; n < 5; n++) await call('POST', '/messages/send', { to: `49170555000${n}`, message: `${n}` });
  await receiver.waitFor(5);
  await call('POST', '/messages/send', { to: '491705550009', message: 'held' });
  receiver.respond(429);
  await receiver.waitFor(6);
  await delay(300); // long enough for an unwanted attempt
  assert.equal(receiver.deliveries.length, 6);
});

it('a send with an idempotency key happens once if the database fails for a moment', async (test) => {
  // No other write occurs except the message in its recipient's mailbox: the clock stands still, and the recipient is
  // away.
  const server = await startServer({ clock: createFakeClock(Date.now()) });
  test.after(() => server.stop());
  const { call } = await server.account();
  const [sessionId, away] = [await connectSession(call), await connectSession(call, '491702222222')];
  await call('POST', `/sessions/${away}/disconnect`);
  const { database } = server.app.services as { database: { -readonly [name in keyof Database]: Database[name] } };
  const { commit, commitJointly } = database;
  for (const failing of [3, 4]) {
    let n = 0;
    const isAway = () => ++n === failing;
    const refuse = () => Promise.reject(new AppError('storage_unavailable'));
    const isRefused = (key: string | undefined) => key !== 'sandbox mailboxes' && isAway();
    database.commit = (work, key) => (isRefused(key) ? refuse() : commit(work, key));
    database.commitJointly = (work, item, key) => (isRefused(key) ? refuse() : commitJointly(work, item, key));
    const send = () =>
      call(
        'POST',
        '/messages/send',
        { sessionId, to: '491702222222', message: `once ${failing}` },
        { 'idempotency-key': `k${failing}` },
      );
    const first = await send();
    Object.assign(database, { commit, commitJointly });
    const second = await send();
    assert.deepEqual([first.status, second.status], [503, 201]);
    const { body } = await call('GET', '/messages');
    assert.equal(body.data.filter(({ message }: { message: string }) => message === `once ${failing}`).length, 1);
  }
});

/** Rejects the first matching commit, as if the database had failed for a moment. */
function refuseOnce(server: TestServer, fits: (work: { readonly name: string }, key?: string) => boolean): void {
  const { database } = server.app.services as { database: { -readonly [name in keyof Database]: Database[name] } };
  const { commit, commitJointly } = database;
  const refuse = () => {
    Object.assign(database, { commit, commitJointly });
    return Promise.reject(new AppError('storage_unavailable'));
  };
  database.commit = (work, key) => (fits(work, key) ? refuse() : commit(work, key));
  database.commitJointly = (work, item, key) => (fits(work, key) ? refuse() : commitJointly(work, item, key));
}

it('a message keeps its reported order if the database fails after it was sent', async (test) => {
  // The clock stands still, so failed writes are not retried on their own.
  const server = await startServer({ clock: createFakeClock(Date.now()) });
  test.after(() => server.stop());
  const { call } = await server.account();
  const sessionId = await connectSession(call);
  const away = newNumber(); // so that no receipt confirms it as well
  await call('POST', `/sessions/${await connectSession(call, away)}/disconnect`);
  const send = (message: string) => call('POST', '/messages/send', { sessionId, to: away, message });
  refuseOnce(server, ({ name }) => name === 'acknowledge');
  assert.deepEqual([(await send('first')).status, (await send('second')).status], [503, 201]);
  const { body: messages } = await call('GET', '/messages');
  const { body: log } = await call('GET', '/events?events=message.sent');
  assert.deepEqual(
    log.data.map(({ data }: Answer['body']) => data.messageId),
    messages.data.map(({ messageId }: Answer['body']) => messageId).toReversed(),
  );
});

it('a message queued by another node is not overtaken if the signal to the owner is lost', async (test) => {
  const home = await newHome('postgres');
  const node = (name: string) =>
    startServer({ home, env: { DATA_DIR: join(home.dataDir, name), MEDIA_DIR: join(home.dataDir, 'media') } });
  const [server, other] = [await node('one'), await node('other')];
  test.after(async () => {
    await server.stop();
    await other.stop();
    await home.remove();
  });
  const { call } = await server.account();
  const away = newNumber(); // so that only its own node sends it
  await call('POST', `/sessions/${await connectSession(call, away)}/disconnect`);
  const sessionId = await connectSession(call);
  const send = async (message: string) => (await call('POST', '/messages/send', { sessionId, to: away, message })).body;
  const { messageId: first } = await send('first');
  await other.app.services.database.commit(({ kysely }) =>
    kysely.updateTable('messages').set({ status: 'queued', sent_at: null }).where('message_id', '=', first).execute(),
  );
  const { messageId: second, status } = await send('second');
  assert.equal(status, 'sent');
  const { body } = await call('GET', '/events?events=message.sent');
  assert.deepEqual(
    body.data.map(({ data }: Answer['body']) => data.messageId),
    [first, first, second],
  );
});

it('a sandbox message is not overtaken by later ones if the database fails as it arrives', async (test) => {
  const clock = createFakeClock(Date.now());
  const server = await startServer({ clock });
  test.after(() => server.stop());
  const { call } = await server.account();
  const [sessionId, to] = [await connectSession(call), newNumber()];
  const receiving = await connectSession(call, to);
  refuseOnce(server, (_, key) => key === receiving);
  for (const message of ['first', 'second', 'third'])
    assert.equal((await call('POST', '/messages/send', { sessionId, to, message })).status, 201);
  await clock.advance(1000);
  const { body } = await eventually(
    () => call('GET', '/events?events=message.incoming'),
    (answer) => answer.body.data.length === 3,
  );
  assert.deepEqual(
    body.data.map(({ data }: Answer['body']) => data.message),
    ['first', 'second', 'third'],
  );
});

async function connectPuppet(test: TestContext) {
  const PUPPET = fileURLToPath(new URL('./support/networks/puppet.ts', import.meta.url));
  const server = await startServer({ env: { CONNECTORS: PUPPET } });
  test.after(() => server.stop());
  const { call } = await server.account();
  const { sessionId } = (await call('POST', '/sessions', { connector: 'puppet' })).body;
  await call('POST', `/sessions/${sessionId}/connect`);
  return { server, call, sessionId };
}

it('a session reconnects after a connect that follows its end by the network', async (test) => {
  const { server, call, sessionId } = await connectPuppet(test);

  // Delays every write after the end of the session.
  const { database } = server.app.services as { database: { -readonly [name in keyof Database]: Database[name] } };
  const { commit } = database;
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  database.commit = async (work, key) => {
    const result = await commit(work, key);
    database.commit = commit;
    void commit(() => released);
    return result;
  };
  const ending = puppet.host?.onEvent({ type: 'disconnected', reason: 'ended', willReconnect: false });
  await eventually(
    async () => (await call('GET', `/sessions/${sessionId}`)).body.status,
    (status) => status === 'disconnected',
  );
  const connecting = call('POST', `/sessions/${sessionId}/connect`);
  await Promise.race([connecting, delay(500)]);
  release();
  await ending;
  assert.equal((await connecting).body.status, 'connected');
  assert.equal((await call('POST', '/messages/send', { sessionId, to: '491702222222', message: 'x' })).status, 201);
});

it('a person who is known under two names keeps the later of two reactions', async (test) => {
  const { call } = await connectPuppet(test);
  const [placeholder, phoneNumber, carol] = ['000123456789', '491702222222', '491703333333'];
  const report = async (event: NetworkEvent) => puppet.host?.onEvent(event);
  const participants = [puppet.phoneNumber, placeholder, phoneNumber, carol].map((number) => ({
    phoneNumber: number,
    role: 'member' as const,
  }));
  const group: NetworkGroup = {
    networkId: 'crew',
    subject: 'crew',
    description: null,
    createdBy: carol,
    createdAt: Date.now(),
    participants,
    settings: { announce: false, locked: false, joinApproval: false },
    inviteCode: null,
    picture: null,
  };
  await report({ type: 'group_created', group });
  for (const [networkId, emojis] of Object.entries({ one: ['👍', '🎉'], two: ['🎉', '👍'] })) {
    await report({
      type: 'message',
      networkId,
      chat: { type: 'group', id: 'crew' },
      from: carol,
      content: { type: 'text', text: networkId },
      timestamp: Date.now(),
      replyTo: null,
    });
    for (const [at, emoji] of emojis.entries())
      await report({
        type: 'reaction',
        networkId,
        from: emoji === '👍' ? placeholder : phoneNumber,
        emoji,
        timestamp: Date.now() + at,
      });
  }
  await report({ type: 'identified', standIn: placeholder, phoneNumber });
  const { data } = (await call('GET', '/messages')).body;
  assert.deepEqual(
    data.map(({ message, reactions }: Answer['body']) => [
      message,
      ...reactions.map(({ from, emoji }: Answer['body']) => [from, emoji]),
    ]),
    [
      ['two', [phoneNumber, '👍']],
      ['one', [phoneNumber, '🎉']],
    ],
  );
});

it('a person who is known under two names keeps the timer and the marks of chat and messages', async (test) => {
  const { call, sessionId } = await connectPuppet(test);
  const [placeholder, phoneNumber, labelId] = ['000123456780', '491702222223', '7'];
  const report = async (event: NetworkEvent) => puppet.host?.onEvent(event);
  const chatOf = (id: string) => ({ type: 'direct', id }) as const;
  const written = (networkId: string, from: string) =>
    report({
      type: 'message',
      networkId,
      chat: chatOf(from),
      from,
      content: { type: 'text', text: networkId },
      timestamp: Date.now(),
      replyTo: null,
    });
  const messages = async (): Promise<Answer['body'][]> => (await call('GET', '/messages')).body.data;
  await written('repeated', placeholder);
  const chat = chatOf(placeholder);
  await report({ type: 'disappearing', chat, seconds: 86_400 });
  await report({ type: 'chat_updated', chat, markedUnread: true });
  await report({ type: 'message_starred', networkId: 'repeated', chat, isStarred: true });
  const until = Date.now() + 3_600_000;
  await report({
    type: 'message_pinned',
    networkId: 'repeated',
    chat,
    from: placeholder,
    until,
    timestamp: Date.now(),
  });
  await report({ type: 'label_updated', label: { networkId: labelId, name: 'Lead', color: 1 } });
  await report({ type: 'label_assigned', labelId, chat, message: 'repeated', isSet: true });
  const emoji = '👍';
  await report({ type: 'reaction', networkId: 'repeated', from: placeholder, emoji, timestamp: Date.now() });
  await written('repeated', phoneNumber);
  assert.equal((await messages()).length, 2);

  await report({ type: 'identified', standIn: placeholder, phoneNumber });
  const [kept, ...others] = await messages();
  assert.deepEqual([kept.chatId, kept.starred, kept.labelIds.length, others.length], [phoneNumber, true, 1, 0]);
  assert.equal(Date.parse(kept.pinnedUntil), until);
  assert.deepEqual(
    kept.reactions.map((one: Answer['body']) => [one.from, one.emoji]),
    [[phoneNumber, emoji]],
  );
  const merged = (await call('GET', `/chats/${phoneNumber}?sessionId=${sessionId}`)).body;
  assert.deepEqual(
    [merged.disappearingSeconds, merged.markedUnread, merged.unreadCount, merged.lastMessage.messageId],
    [86_400, true, 1, kept.messageId],
  );
});

it('another account cannot take over an offline number and its mail', async (test) => {
  const { server, call, sessionId } = await setUp(test, sharedSandbox);
  await call('POST', `/sessions/${sessionId}/disconnect`);
  const eve = await server.account();
  const { body } = await eve.call('POST', '/sessions', { phoneNumber: '491701111111' });
  assert.equal((await eve.call('POST', `/sessions/${body.sessionId}/connect`)).body.code, 'phone_number_in_use');
  await call('POST', `/sessions/${sessionId}/logout`);
  assert.equal((await eve.call('POST', `/sessions/${body.sessionId}/connect`)).body.status, 'connected');
});

it('a busy conversation does not block the other conversations of its webhook', async (test) => {
  const { receiver, call } = await setUp(test);
  receiver.respond((_, response) => setTimeout(() => response.writeHead(200).end(), 20));
  for (let n = 0; n < 12; n++) {
    const burst = Array.from({ length: 50 }, () =>
      call('POST', '/messages/send', { to: '491702222222', message: 'hot' }),
    );
    await Promise.all(burst);
  }
  await call('POST', '/messages/send', { to: '491703333333', message: 'other' });
  await receiver.waitFor((all) => all.some(({ parsed }) => parsed.data.to === '491703333333'));
  assert.ok(
    receiver.deliveries.length < 300,
    `${receiver.deliveries.length} deliveries while the other conversation waited`,
  );
  await receiver.waitFor(601);
  const ids = receiver.deliveries.map(({ parsed }) => parsed.data).filter(({ to }) => to === '491702222222');
  const order = ids.map(({ messageId }) => messageId);
  assert.deepEqual(order, [...order].sort(), 'the busy conversation keeps its order');
});

it('a nonexistent date is rejected as the expiry of a key', async (test) => {
  const server = await startServer();
  test.after(() => server.stop());
  const { call } = await server.account();
  const answer = await call('POST', '/api-keys/create', { name: 'leap', expiresAt: '2026-12-31T23:59:60Z' });
  assert.deepEqual([answer.status, answer.body.errors[0].field], [400, 'expiresAt']);
  assert.equal((await call('GET', '/api-keys')).body.data.length, 0);
});

it('a queued message to a deleted group does not block those behind it', async (test) => {
  const { server, call, account, sessionId } = await setUp(test);
  for (const to of ['491702222222', '491703333333']) await call('POST', '/messages/send', { to, message: 'x' });
  await call('POST', `/sessions/${sessionId}/disconnect`);
  await server.app.services.database.commit(async ({ kysely }) => {
    await kysely
      .updateTable('messages')
      .set({ status: 'queued' })
      .where('account_id', '=', account.accountId)
      .execute();
    await kysely.updateTable('messages').set({ chat_id: 'grp_gone' }).where('chat_id', '=', '491702222222').execute();
  });
  await call('POST', `/sessions/${sessionId}/connect`);
  const statuses = async () =>
    (await call('GET', '/messages')).body.data.map(
      ({ chatId, status }: Record<string, string>) => `${chatId} ${status}`,
    );
  await eventually(statuses, (lines) => !lines.some((line: string) => line.endsWith('queued')));
  assert.ok((await statuses()).includes('grp_gone failed'));
  assert.match((await statuses()).join(), /491703333333 (sent|delivered)/);
});

it('attempts in flight to an old URL do not open the breaker of the new one', async (test) => {
  const { receiver, call } = await setUp(test, { WEBHOOK_TIMEOUT_MS: '500', WEBHOOK_RETRY_SECONDS: '60' });
  const good = await startReceiver();
  receiver.respond(() => {});
  for (let n = 0; n < 6; n++) await call('POST', '/messages/send', { to: `49170555000${n}`, message: `${n}` });
  await receiver.waitFor(6);
  await call('POST', '/webhooks/set', { webhookUrl: good.url, events: ['message.sent'] });
  await good.waitFor(6);
  assert.equal((await call('GET', '/webhooks/circuit-breaker')).body.state, 'closed');
  await good.close();
});

it('a delivered message does not become failed when its acknowledgement is lost', async (test) => {
  const { server, call, account, sessionId } = await setUp(test);
  const connection = server.app.services.liveSessions.find({ accountId: account.accountId, sessionId })?.connection;
  assert.ok(connection);
  const send = connection.send.bind(connection);
  connection.send = async (message) => {
    await send(message);
    await eventually(
      () => call('GET', '/messages?status=delivered'),
      ({ body }) => body.data.length === 1,
    );
    throw new Error('the socket broke after the network had taken it');
  };
  await call('POST', '/messages/send', { to: '491702222222', message: 'x' });
  assert.equal((await call('GET', '/messages')).body.data[0].status, 'delivered');
});

it('a disabled webhook gets no retries', async (test) => {
  const { receiver, call } = await setUp(test, { WEBHOOK_RETRY_SECONDS: '1,1,1,1,1,1' });
  const other = await startReceiver();
  test.after(() => other.close());
  const { webhookId } = (await call('GET', '/webhooks/endpoints')).body.data[0];
  await call('POST', '/webhooks/endpoints', { webhookUrl: other.url, events: ['message.sent'] });
  receiver.respond(500);
  other.respond(500);
  await call('POST', '/messages/send', { to: '491702222222', message: 'x' });
  await receiver.waitFor(1);
  await call('PATCH', `/webhooks/endpoints/${webhookId}`, { enabled: false });
  const before = receiver.deliveries.length; // on a busy machine, a retry may come first
  const retries = other.deliveries.length;
  await other.waitFor(retries + 2);
  assert.equal(receiver.deliveries.length, before);
  receiver.respond(200);
  await call('PATCH', `/webhooks/endpoints/${webhookId}`, { enabled: true });
  await receiver.waitFor(before + 1);
});

it('a server behind a proxy rejects webhooks that point at its own machine', async (test) => {
  const server = await startServer({ env: { PUBLIC_URL: 'https://gateway.example.com' } });
  test.after(() => server.stop());
  const { call } = await server.account();
  const answer = await call('POST', '/webhooks/set', {
    webhookUrl: `${server.url}/internal`,
    events: ['message.sent'],
  });
  assert.deepEqual([answer.status, answer.body.errors[0].code], [400, 'address']);
});

it('a client that never finishes its request does not prevent shutdown', async (test) => {
  const home = await newHome('sqlite');
  const server = await spawnServer(home);
  const socket = openSocket(Number(new URL(server.url).port), '127.0.0.1');
  test.after(async () => {
    socket.destroy();
    await server.kill();
    await home.remove();
  });
  socket.on('error', () => {});
  socket.write(
    'POST /api/v1/auth/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\nExpect: 100-continue\r\n\r\n{',
  );
  const [accepted] = await once(socket, 'data');
  assert.match(String(accepted), /^HTTP\/1.1 100 /);
  const startedAt = performance.now();
  assert.equal(await server.stop(), 0);
  assert.ok(performance.now() - startedAt < 15_000);
});

it('reading the headers of a test does not send a real one', async (test) => {
  const { server, receiver, account } = await setUp(test);
  const headers = { authorization: `Bearer ${account.token}` };
  const answer = await fetch(`${server.url}/api/v1/webhooks/test`, { method: 'HEAD', headers });
  assert.ok([404, 405].includes(answer.status), String(answer.status));
  const real = await fetch(`${server.url}/api/v1/webhooks/test`, { headers });
  assert.equal(real.status, 200);
  await receiver.waitFor(1);
  assert.equal(receiver.deliveries.length, 1);
});

it('event streams count toward the rate limit', async (test) => {
  const server = await startServer({ env: { RATE_LIMIT: '3' } });
  test.after(() => server.stop());
  const { token } = await server.account();
  const statuses: number[] = [];
  for (let n = 0; n < 4; n++) {
    const gone = new AbortController();
    const headers = { authorization: `Bearer ${token}` };
    const answer = await fetch(`${server.url}/api/v1/events/stream`, { headers, signal: gone.signal });
    statuses.push(answer.status);
    gone.abort();
  }
  assert.deepEqual(statuses, [200, 200, 200, 429]);
});

it('resetting a breaker with many held events takes several short transactions', async (test) => {
  const env = { WEBHOOK_RETRY_SECONDS: '3600', BREAKER_OPEN_SECONDS: '900' };
  const { server, receiver, call, account } = await setUp(test, env);
  receiver.respond(410);
  await call('POST', '/messages/send', { to: '491702222222', message: 'x' });
  await eventually(
    () => call('GET', '/webhooks/circuit-breaker'),
    (answer) => answer.body.state === 'open',
  );
  const { database } = server.app.services;
  // 12,000 more that wait for a retry, as after hours of failures.
  const { data } = (await call('GET', '/webhooks/deliveries')).body;
  const { newId } = server.app.services;
  const waiting = Array.from({ length: 12_000 }, (_, n) => ({
    ...{
      eventId: newId('evt'),
      deliveryId: newId('dlv'),
      webhookId: data[0].webhookId,
      conversation: `chat ${n % 1000}`,
    },
    ...{ body: '{"event":"message.sent","data":{}}', dueAt: Date.now() + 3_600_000, attempts: 1, steps: 1 },
  }));
  for (let start = 0; start < waiting.length; start += 1000)
    await database.commit((tx) => storeLog(tx, account.accountId, waiting.slice(start, start + 1000)));
  receiver.respond(200);
  const { body } = await call('POST', '/webhooks/circuit-breaker/reset');
  assert.equal(body.state, 'closed');
  await receiver.waitFor(12_000);
  const { rows } = await database.reader.connection.query<{ count: number }>(
    `select count(*) as count from deliveries where state = 'pending'`,
    [],
  );
  assert.ok(Number(rows[0]?.count) < 300, 'the rest is settled in later transactions');
});

it('a cursor of another list and an endless id in a path are answered with problem documents', async (test) => {
  for (const database of ['sqlite', 'postgres'] as const) {
    const server = await startServer({ database });
    test.after(() => server.stop());
    const { call } = await server.account();
    const cursor = Buffer.from('msg_1').toString('base64url');
    const answer = await call('GET', `/messages?q=x&cursor=${cursor}`);
    assert.deepEqual([answer.status, answer.body.errors[0].field], [400, 'cursor']);
    const endless = await call('GET', `/messages/${'x'.repeat(5000)}`);
    assert.equal(endless.body.code, 'validation_failed');
  }
});

it('a session with many messages can be deleted without blocking other changes', async (test) => {
  const { call, sessionId } = await setUp(test);
  const path = `/sessions/${sessionId}`;
  for (let n = 0; n < 30; n++) await call('POST', '/messages/send', { to: '491705555555', message: `word${n}` });
  assert.equal((await call('DELETE', path)).status, 200);
  const { body } = await call('POST', '/sessions', {});
  assert.equal((await call('PATCH', `/sessions/${body.sessionId}`, { name: 'next' })).status, 200);
});

it('an unreadable URL is answered with a request id', async (test) => {
  const server = await startServer();
  test.after(() => server.stop());
  const { status, headers, body } = await server.call('GET', '/messages%ZZ');
  assert.deepEqual([status, body.code], [400, 'validation_failed']);
  assert.equal(headers.get('x-request-id'), body.requestId);
});

it('an oversized URL is answered with a problem document, and the connection stays usable', async (test) => {
  const server = await startServer();
  test.after(() => server.stop());
  const { status, headers, body } = await server.call('GET', `/messages?q=${'x'.repeat(20_000)}`);
  assert.deepEqual([status, body.code], [413, 'payload_too_large']);
  assert.equal(headers.get('x-request-id'), body.requestId);
  assert.equal(headers.get('connection'), 'close');
});

it('deeply nested options are rejected as invalid input', async (test) => {
  const server = await startServer();
  test.after(() => server.stop());
  const { call } = await server.account();
  const depth = 20_000;
  const { status, body } = await call('POST', '/sessions', `{"options":${'{"a":'.repeat(depth)}0${'}'.repeat(depth)}}`);
  assert.deepEqual([status, body.errors?.[0].field, body.errors?.[0].code], [400, 'options', 'depth']);
  // If all items of a list must differ, that check came first.
  const poll = `{"to":"4917055500","question":"?","options":[${'['.repeat(depth)}${']'.repeat(depth)}]}`;
  const refused = await call('POST', '/messages/send-poll', poll);
  assert.deepEqual([refused.status, refused.body.errors?.[0].code], [400, 'depth']);
});

it('half a surrogate pair is stored as it is returned', async (test) => {
  const server = await startServer();
  test.after(() => server.stop());
  const { call } = await server.account();
  for (const body of [{ name: 'a\ud800' }, { metadata: { 'k\udfff': 'v' } }]) {
    const answer = await call('POST', '/sessions', body);
    assert.deepEqual([answer.status, answer.body.errors[0].code], [400, 'text']);
  }
});

it('the database file is readable only by its owner', async (test) => {
  const server = await startServer();
  test.after(() => server.stop());
  await server.account();
  for (const file of ['switchboard.db', 'switchboard.db-wal', 'switchboard.db-shm', 'switchboard.lock']) {
    assert.equal(statSync(`${server.home.dataDir}/${file}`).mode & 0o077, 0, file);
  }
});

it('an unknown default network is reported at startup', async () => {
  await assert.rejects(
    startServer({ env: { DEFAULT_CONNECTOR: 'pigeon' } }),
    /DEFAULT_CONNECTOR must be one of sandbox, .*, not "pigeon"/,
  );
});

it('an unreachable PostgreSQL is answered with 503', async (test) => {
  const home = await newHome('postgres');
  const target = new URL(home.databaseUrl);
  const sockets = new Set<Socket>();
  const proxy = createServer((socket) => {
    const onward = openSocket(Number(target.port), target.hostname);
    for (const [one, other] of [
      [socket, onward],
      [onward, socket],
    ] as const) {
      sockets.add(one);
      one.on('error', () => {}).on('close', () => other.destroy());
      one.pipe(other);
    }
  });
  const listen = (port: number) => new Promise<void>((resolve) => proxy.listen(port, '127.0.0.1', resolve));
  await listen(0);
  const port = portOf(proxy);
  const through = new URL(home.databaseUrl);
  through.host = `127.0.0.1:${port}`;
  const server = await startServer({ home: { ...home, databaseUrl: through.href } });
  test.after(async () => {
    await server.stop();
    for (const socket of sockets) socket.destroy();
    proxy.close();
    await home.remove();
  });
  const { call } = await server.account();

  proxy.close();
  for (const socket of sockets) socket.destroy();
  const away = await call('GET', '/sessions');
  assert.deepEqual([away.status, away.body.code], [503, 'storage_unavailable']);
  assert.ok(Number(away.headers.get('retry-after')) > 0);
  await listen(port);
  await eventually(
    () => call('GET', '/sessions'),
    ({ status }) => status === 200,
  );
});

it('the event stream accepts repeated event types and rejects unknown fields', async (test) => {
  const { server, call, account } = await setUp(test);
  const gone = new AbortController();
  const headers = { authorization: `Bearer ${account.token}` };
  const url = `${server.url}/api/v1/events/stream`;
  const stream = await fetch(`${url}?events=message.read&events=message.delivered`, { headers, signal: gone.signal });
  await call('POST', '/messages/send', { to: '491702222222', message: 'x' });
  let text = '';
  assert.ok(stream.body);
  for await (const chunk of stream.body.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    if (text.includes('data: ')) break;
  }
  assert.match(text, /event: message\.delivered/);
  assert.doesNotMatch(text, /event: message\.sent/);
  gone.abort();
  const unknown = await fetch(`${url}?foo=1`, { headers });
  assert.deepEqual([unknown.status, (await unknown.json()).errors[0].field], [400, 'foo']);
});

it('a data folder without write permission is reported as such', async (test) => {
  const home = await newHome('sqlite');
  test.after(() => home.remove());
  mkdirSync(`${home.dataDir}/switchboard.lock`, { recursive: true });
  await assert.rejects(openDatabase(home, systemClock), (error) => !(error instanceof DataInUseError));
});

it('a server that stops writes a line to its log', async () => {
  const lines: string[] = [];
  const log = createLog('info', { write: (line: string) => void lines.push(JSON.parse(line).msg) });
  const server = await startServer({ log });
  await server.stop();
  assert.deepEqual(lines, ['draining in-flight work', 'stopped']);
});

it('a rotated secret must have the minimum length', async (test) => {
  const { call } = await setUp(test);
  const short = await call('POST', '/webhooks/secret/rotate', { secret: 'fifteen letters' });
  assert.deepEqual([short.status, short.body.errors?.[0].field], [400, 'secret']);
  assert.equal((await call('POST', '/webhooks/secret/rotate', { secret: 'sixteen letters!' })).status, 200);
});

it('the event log shows events after a restore into another PostgreSQL cluster', async (test) => {
  const start = startAgain(test, () => newHome('postgres'), {});
  const first = await start();
  const { call, token } = await first.account();
  await connectSession(call);
  for (const message of ['1', '2']) await call('POST', '/messages/send', { to: '491702222222', message });
  const log = async (ask: Call, after = '') => (await ask('GET', `/events?events=message.sent${after}`)).body;
  const { data: stored, nextCursor } = await log(call);
  assert.equal(stored.length, 2);
  // Contained in a dump of a server with a later event position.
  await first.app.services.database.commit(async ({ connection }) => {
    await connection.query('update events set position = position + 1000000000', []);
    await connection.query(`select setval('event_positions', last_value + 1000000000) from event_positions`, []);
  });
  await first.stop();

  const second = await start();
  const again = bearer(second.url, token);
  const cursor = `&afterCursor=${nextCursor.replace(/^\d+/, (position: string) => Number(position) + 1e9)}`;
  const before = stored.map((event: { sequence: number }) => ({ ...event, sequence: event.sequence + 1e9 }));
  assert.deepEqual((await log(again)).data, before);
  assert.deepEqual((await log(again, cursor)).data, []);
  await again('POST', '/messages/send', { to: '491702222222', message: '3' });
  const { data } = await eventually(
    () => log(again, cursor),
    (page) => page.data.length > 0,
  );
  assert.equal(data.length, 1);
  assert.deepEqual((await log(again)).data, [...before, ...data]);
});

it('a chat changes in Switchboard only if its session loses the connection meanwhile', async (test) => {
  const { server, call, sessionId } = await setUp(test);
  const chatId = '491702222222';
  await call('POST', '/messages/send', { to: chatId, message: 'hello' });
  const lost = async () => Promise.reject(new AppError('session_not_connected'));
  test.mock.method(server.app.services.liveSessions, 'part', async () => ({ update: lost, remove: lost }));
  const archived = await call('PATCH', `/chats/${chatId}`, { sessionId, archived: true });
  assert.deepEqual([archived.status, archived.body.archived, archived.body.synchronized], [200, true, false]);
  const removed = await call('DELETE', `/chats/${chatId}`, { sessionId });
  assert.deepEqual([removed.status, removed.body.removed, removed.body.synchronized], [200, 1, false]);
});
