import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { after, before, describe, it, type TestContext } from 'node:test';
import { type ClientOptions, WebSocket } from 'ws';
import { AppError } from '../../src/errors.ts';
import { BEGINNING } from '../../src/webhooks/log/logEpochs.ts';
import { describeOnEachDatabase } from '../support/databases/databases.ts';
import { storeLog } from '../support/databases/storedLog.ts';
import { eventually } from '../support/eventually.ts';
import { createFakeClock } from '../support/fakeClock.ts';
import {
  type Answer,
  bearer,
  type Call,
  connectSession,
  newNumber,
  startServer,
  type TestServer,
} from '../support/server.ts';

const HEARTBEAT_MS = 15_000;

describeOnEachDatabase('the event socket', (_, database) => {
  let server: TestServer;
  before(async () => {
    server = await startServer({ database });
  });
  after(() => server.stop());

  it('tells the cursor it starts from, and sends the next events as the log lists them', async (test) => {
    const { call, token } = await open(server);
    const { nextCursor } = (await call('GET', '/events?afterCursor=now')).body;
    const socket = await openSocket(test, server, token);
    assert.deepEqual(socket.connected, { type: 'connected', cursor: nextCursor });
    await send(call, 'one');
    await socket.until(2);
    const log = (await call('GET', `/events?afterCursor=${nextCursor}`)).body;
    assert.deepEqual(socket.items(), log.data.slice(0, 2));
    assert.deepEqual(Object.keys(socket.events()[0] ?? {}).toSorted(), [
      'createdAt',
      'cursor',
      'data',
      'event',
      'eventId',
      'sequence',
      'type',
    ]);
    assert.equal(socket.events()[0]?.type, 'event');
  });

  it('loses and repeats nothing when a client reconnects with its last cursor during traffic', async (test) => {
    const { call, token } = await open(server);
    let socket = await openSocket(test, server, token);
    const start = socket.connected.cursor;
    const traffic = (async () => {
      for (let n = 0; n < 60; n++) await send(call, `${n}`);
    })();
    const seen: string[] = [];
    let cursor = start;
    const take = () => {
      for (const event of socket.events()) {
        seen.push(event.eventId);
        cursor = event.cursor;
      }
    };
    for (const count of [1, 3, 0, 7, 2]) {
      await socket.until(count);
      socket.client.terminate();
      take();
      socket = await openSocket(test, server, token, `afterCursor=${cursor}`);
      assert.equal(socket.connected.cursor, cursor);
    }
    await traffic;
    // `message.sent` and `message.delivered` of each. The latter can follow the answer to a send.
    const { data } = (
      await eventually(
        () => call('GET', `/events?afterCursor=${start}&limit=200`),
        ({ body }) => body.data.length === 2 * 60,
      )
    ).body;
    await socket.until(data.length - seen.length);
    take();
    assert.deepEqual(
      seen,
      data.map(({ eventId }: { eventId: string }) => eventId),
    );
  });

  it('reads the whole log from a cursor, and then follows it', async (test) => {
    const { call, token, accountId } = await open(server);
    await insertEvents(server, accountId, 350, 10);
    const socket = await openSocket(test, server, token, `afterCursor=${BEGINNING}`);
    await socket.until(351);
    await send(call, 'live');
    await socket.until(352);
    assert.equal(new Set(socket.events().map(({ eventId }) => eventId)).size, socket.events().length);
    assert.equal(socket.events()[0]?.event, 'session.connected');
  });

  it('filters by event types, from the log and live', async (test) => {
    const { call, token } = await open(server);
    await send(call, 'before');
    const socket = await openSocket(
      test,
      server,
      token,
      `afterCursor=${BEGINNING}&events=message.sent,session.connected`,
    );
    await socket.until(2);
    await send(call, 'after');
    await socket.until(3);
    assert.deepEqual(
      socket.events().map(({ event }) => event),
      ['session.connected', 'message.sent', 'message.sent'],
    );
  });

  it('leaves out message content for a key that may not read it', async (test) => {
    const { call } = await open(server);
    const number = newNumber();
    await connectSession(call, number);
    const key = await newKey(call, ['events:metadata']);
    const socket = await openSocket(test, server, key, 'events=message.incoming');
    const [{ sessionId }] = (await call('GET', '/sessions')).body.data.filter(
      ({ phoneNumber }: { phoneNumber: string }) => phoneNumber !== number,
    );
    await call('POST', '/messages/send', { sessionId, to: number, message: 'the quokka' });
    await socket.until(1);
    const [item] = socket.items();
    assert.deepEqual([item?.data['message'], item?.data['contentHidden']], ['', true]);
    assert.doesNotMatch(JSON.stringify(item), /quokka/);
    assert.deepEqual(
      socket.items(),
      (await bearer(server.url, key)('GET', '/events?events=message.incoming')).body.data,
    );
  });

  it('closes with 4401 when its key is revoked, and with 4403 when that loses the permission', async (test) => {
    const { call } = await server.account();
    for (const [code, change] of [
      [4401, (keyId: string) => call('DELETE', `/api-keys/${keyId}`)],
      [4403, (keyId: string) => call('PATCH', `/api-keys/${keyId}`, { permissions: ['messages:read'] })],
    ] as const) {
      const { body } = await call('POST', '/api-keys/create', { name: 'socket', permissions: ['events:read'] });
      const socket = await openSocket(test, server, body.key);
      assert.equal((await change(body.keyId)).status, 200);
      assert.equal((await socket.closed).code, code);
    }
  });
});

describe('a handshake of the event socket', () => {
  let server: TestServer;
  before(async () => {
    server = await startServer({ env: { MAX_WAITING_CALLS: '1' } });
  });
  after(() => server.stop());

  it('is answered with a problem, like any request', async () => {
    const { call, token } = await server.account();
    const authorization = `Bearer ${token}`;
    const without = await newKey(call, ['messages:read']);
    const cases: [headers: Record<string, string>, query: string, status: number, code: string, field?: string][] = [
      [{}, '', 401, 'unauthorized'],
      [{ authorization: 'Bearer sb_nonsense' }, '', 401, 'unauthorized'],
      [{ authorization: `Bearer ${without}` }, '', 403, 'permission_denied'],
      [{ authorization }, 'afterCursor=yesterday', 400, 'validation_failed', 'afterCursor'],
      [{ authorization }, 'events=message.nonsense', 400, 'validation_failed', 'events'],
      [{ authorization }, 'foo=1', 400, 'validation_failed', 'foo'],
      [{ authorization, host: 'other.example' }, '', 421, 'misdirected_request'],
      [{ authorization, origin: 'https://other.example' }, '', 403, 'permission_denied'],
      [{ authorization, origin: 'null' }, '', 403, 'permission_denied'],
      [{ cookie: `switchboard=${token}`, origin: server.url }, '', 401, 'unauthorized'],
    ];
    for (const [headers, query, status, code, field] of cases) {
      const answer = await refusalOf(server, query, { headers: { ...headers, 'x-request-id': 'mine' } });
      const about = JSON.stringify([headers, query, answer.body]);
      assert.deepEqual([answer.status, answer.body.code], [status, code], about);
      assert.equal(answer.body.errors?.[0].field, field, about);
      assert.equal(answer.headers.get('content-type'), 'application/problem+json; charset=utf-8');
      assert.deepEqual([answer.headers.get('x-request-id'), answer.body.requestId], ['mine', 'mine']);
    }
  });

  it('gets 426 without `Upgrade`, and 400 if it is invalid', async () => {
    const { call, token } = await server.account();
    const plain = await call('GET', '/events/socket');
    assert.deepEqual([plain.status, plain.body.code], [426, 'upgrade_required']);
    assert.equal(plain.headers.get('upgrade'), 'websocket');
    const handshake = (more: string) =>
      raw(server, `GET /api/v1/events/socket HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n${more}`);
    assert.match(await handshake('Upgrade: h2c\r\nConnection: Upgrade, close\r\n\r\n'), /^HTTP\/1\.1 426 /);
    const upgrade = 'Upgrade: websocket\r\nConnection: Upgrade\r\n';
    const key = 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n';
    for (const more of [
      'Sec-WebSocket-Version: 13\r\n',
      `${key}Sec-WebSocket-Version: 7\r\n`,
      `${key}Sec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: ,\r\n`,
    ]) {
      const answer = await handshake(`${upgrade}${more}\r\n`);
      assert.match(answer, /^HTTP\/1\.1 400 .*sec-websocket-version: 13\r\n.*"code":"validation_failed"/s);
    }
  });

  it('accepts every form of a credential, and pages of its own origin', async (test) => {
    const { call } = await open(server);
    const key = await newKey(call, ['events:read']);
    const forms: [headers: Record<string, string>, query: string][] = [
      [{ authorization: `Bearer ${key}`, origin: server.url }, ''],
      [{ 'x-api-key': key }, ''],
      [{}, `key=${key}`],
    ];
    for (const [headers, query] of forms) {
      const client = clientOf(server, query, { headers });
      test.after(() => client.terminate());
      const [response] = await once(client, 'upgrade');
      assert.equal(response.statusCode, 101);
      assert.equal(response.headers['deprecation'] === undefined, headers['authorization'] !== undefined);
      assert.match(response.headers['x-request-id'], /^req_/);
      client.terminate();
      await released(server, key);
    }
  });

  it('counts toward the limits of requests and of open streams', async (test) => {
    const limited = await startServer({ env: { RATE_LIMIT: '2', MAX_WAITING_CALLS: '1' } });
    test.after(() => limited.stop());
    const { token } = await limited.account();
    const headers = { authorization: `Bearer ${token}` };
    await openSocket(test, limited, token);
    const second = await refusalOf(limited, '', { headers });
    assert.deepEqual([second.status, second.body.code], [409, 'too_many']);
    assert.match(second.headers.get('ratelimit') ?? '', /^"credential";r=0;/);
    const third = await refusalOf(limited, '', { headers });
    assert.deepEqual([third.status, third.body.code], [429, 'rate_limited']);
    assert.ok(Number(third.headers.get('retry-after')) > 0);
  });

  it('closes the connection when it fails, so that nothing stays open without a credential', async () => {
    const handshake = `GET /api/v1/events/socket HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n`;
    const answer = await raw(server, `${handshake}Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: x\r\n\r\nmore`);
    assert.match(answer, /^HTTP\/1\.1 401 .*connection: close\r\n/is);
  });

  it('ends the connection of a client that has not waited for a response', async () => {
    const { token } = await server.account();
    const ask = (path: string, more: string) =>
      `GET /api/v1${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n${more}\r\n`;
    const upgrade = 'Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n';
    await raw(server, ask('/events?wait=30', '') + ask('/events/socket', `${upgrade}Sec-WebSocket-Key: x\r\n`));
    assert.equal((await server.call('GET', '/health')).status, 200);
  });

  it('survives a client that hangs up before the response', async (test) => {
    const { authenticator } = server.app.services;
    const [asked, closed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    test.mock.method(authenticator, 'authenticate', async () => {
      asked.resolve();
      await closed.promise;
      throw new AppError('unauthorized');
    });
    server.app.http.server.once('connection', (connection) => connection.once('close', closed.resolve));
    const client = connect(Number(new URL(server.url).port), '127.0.0.1');
    client.write('GET /api/v1/events/socket HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\n');
    client.write('Connection: Upgrade\r\n\r\n');
    await asked.promise;
    client.resetAndDestroy();
    await closed.promise;
    assert.equal((await server.call('GET', '/health')).status, 200);
  });

  it('leaves `Upgrade` on other routes without effect', async () => {
    const { token } = await server.account();
    const headers = `Host: localhost\r\nAuthorization: Bearer ${token}\r\nUpgrade: websocket\r\n`;
    const body = JSON.stringify({ phoneNumber: newNumber() });
    const content = `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    const connection = 'Connection: Upgrade, close\r\n';
    const answer = await raw(server, `POST /api/v1/sessions HTTP/1.1\r\n${headers}${connection}${content}`);
    assert.match(answer, /^HTTP\/1\.1 201 .*"sessionId"/s);
  });
});

describe('an open event socket', () => {
  it('closes with 1001 when the server stops, even if the client does not answer', async (test) => {
    const server = await startServer();
    const { token } = await server.account();
    const socket = await openSocket(test, server, token);
    const silent = await openSocket(test, server, token);
    silent.client.pause();
    await server.stop();
    assert.equal((await socket.closed).code, 1001);
  });

  it('closes when the client sends a message, however long', async (test) => {
    const server = await startServer({ env: { MAX_WAITING_CALLS: '1' } });
    test.after(() => server.stop());
    const { token } = await open(server);
    for (const [data, code] of [
      ['{"type":"ping"}', 1003],
      [Buffer.from([1, 2, 3]), 1003],
      ['x'.repeat(126), 1009],
      ['x'.repeat(5_000_000), 1009],
    ] as const) {
      const socket = await openSocket(test, server, token);
      socket.client.send(data);
      assert.equal((await socket.closed).code, code);
      await released(server, token);
    }
  });

  it('survives a client that breaks the connection or the protocol', async (test) => {
    const server = await startServer({ env: { MAX_WAITING_CALLS: '1' } });
    test.after(() => server.stop());
    const { call, token } = await open(server);
    const broken = await openSocket(test, server, token);
    connectionOf(broken.client).write(Buffer.from([0xff, 0xff, 0xff, 0xff]));
    assert.equal((await broken.closed).code, 1002);
    await released(server, token);
    const reset = await openSocket(test, server, token);
    await send(call, 'unread');
    connectionOf(reset.client).resetAndDestroy();
    await released(server, token);
  });

  it('reads what a client sends along with its handshake', async (test) => {
    const server = await startServer();
    test.after(() => server.stop());
    const { token } = await server.account();
    const headers = `Host: localhost\r\nAuthorization: Bearer ${token}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n`;
    const key = 'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n';
    const handshake = `GET /api/v1/events/socket HTTP/1.1\r\n${headers}${key}\r\n`;
    const message = [0x81, 0x81, 0, 0, 0, 0, 0x78];
    const close = (code: number) => Buffer.from([0x03, code - 0x300]).toString('latin1');
    assert.ok((await raw(server, handshake, message)).includes(close(1003)));
    assert.ok((await raw(server, handshake, [0xff, 0xff])).includes(close(1002)));
  });

  it('repeats a read of the log that failed', async (test) => {
    const server = await startServer();
    test.after(() => server.stop());
    const { call, token } = await open(server);
    const other = await openSocket(test, server, token); // its tail is known, so it wakes nobody
    await send(call, 'first');
    await other.until(1);
    const { filteredEventLog } = server.app.services;
    const select = filteredEventLog.select.bind(filteredEventLog);
    let reads = 0;
    test.mock.method(filteredEventLog, 'select', async (...wanted: Parameters<typeof select>) => {
      if (++reads === 2) throw new AppError('storage_unavailable'); // the first read is of `events.list`
      return select(...wanted);
    });
    const socket = await openSocket(test, server, token, `afterCursor=${BEGINNING}&events=session.connected`);
    await socket.until(1);
    assert.equal(reads, 3);
  });

  it('stays open while the client answers pings, and ends after two that it does not', async (test) => {
    const clock = createFakeClock();
    const server = await startServer({ clock });
    test.after(() => server.stop());
    const { token } = await server.account();
    const alive = await openSocket(test, server, token);
    const dead = await openSocket(test, server, token, '', { autoPong: false });
    for (let n = 0; n < 3; n++) {
      await clock.advance(HEARTBEAT_MS);
      await alive.pinged(n + 1);
      await roundTrip(alive.client);
      if (n < 2) await dead.pinged(n + 1);
    }
    assert.equal((await dead.closed).code, 1006);
    await clock.advance(HEARTBEAT_MS);
    await alive.pinged(4);
    assert.equal(alive.client.readyState, WebSocket.OPEN);
  });

  it('buffers little for a client that reads slowly, and loses nothing', async (test) => {
    const clock = createFakeClock();
    const server = await startServer({ clock });
    test.after(() => server.stop());
    const { token, accountId } = await server.account();
    const eventBytes = 64 * 1024;
    await insertEvents(server, accountId, 300, eventBytes); // 19 MB, more than the buffers of the system
    const accepted = once(server.app.http.server, 'connection');
    const socket = await openSocket(test, server, token, `afterCursor=${BEGINNING}`, { autoPong: false });
    socket.client.pause();
    const [connection]: Socket[] = await accepted;
    assert.ok(connection);
    let most = 0;
    const stalled = async () => {
      const before = connection.bytesWritten;
      await roundTripOf(server);
      most = Math.max(most, connection.writableLength);
      return connection.writableNeedDrain && connection.bytesWritten === before;
    };
    await eventually(stalled, (isStalled) => isStalled);
    assert.ok(socket.events().length < 300);
    assert.ok(most < 2 * eventBytes + 10_000, `${most} bytes are buffered`);

    // Reading is a sign of life, even without an answer to the pings.
    await clock.advance(2 * HEARTBEAT_MS);
    socket.client.resume();
    await socket.until(300);
    await clock.advance(2 * HEARTBEAT_MS);
    assert.equal(socket.client.readyState, WebSocket.OPEN);
    assert.equal(new Set(socket.events().map(({ eventId }) => eventId)).size, 300);
  });

  it('ends for a client that reads nothing at all', async (test) => {
    const clock = createFakeClock();
    const server = await startServer({ clock });
    test.after(() => server.stop());
    const { token, accountId } = await server.account();
    await insertEvents(server, accountId, 300, 64 * 1024);
    const accepted = once(server.app.http.server, 'connection');
    const socket = await openSocket(test, server, token, `afterCursor=${BEGINNING}`);
    socket.client.pause();
    const [connection]: Socket[] = await accepted;
    assert.ok(connection);
    await eventually(
      async () => {
        await clock.advance(HEARTBEAT_MS);
        await roundTripOf(server);
        return connection.destroyed;
      },
      (isOver) => isOver,
    );
  });
});

interface Item {
  readonly type: string;
  readonly eventId: string;
  readonly event: string;
  readonly data: Record<string, unknown>;
  readonly createdAt: string;
  readonly cursor: string;
}

function clientOf({ url }: TestServer, query: string, options: ClientOptions): WebSocket {
  return new WebSocket(`${url.replace('http', 'ws')}/api/v1/events/socket?${query}`, options);
}

async function openSocket(
  test: TestContext,
  server: TestServer,
  credential: string,
  query = '',
  options: ClientOptions = {},
) {
  const client = clientOf(server, query, { headers: { authorization: `Bearer ${credential}` }, ...options });
  test.after(() => client.terminate());
  const frames: Item[] = [];
  let pings = 0;
  const checks = new Set<() => void>();
  const check = () => {
    for (const one of checks) one();
  };
  client.on('message', (data) => {
    frames.push(JSON.parse(String(data)));
    check();
  });
  client.on('ping', () => {
    pings++;
    check();
  });
  client.on('error', () => {}); // a connection that breaks
  const closed = once(client, 'close').then(([code, reason]) => ({ code: Number(code), reason: String(reason) }));
  const wait = (isMet: () => boolean) =>
    new Promise<void>((resolve) => {
      const one = () => {
        if (!isMet()) return;
        checks.delete(one);
        resolve();
      };
      checks.add(one);
      one();
    });
  await wait(() => frames.length > 0);
  const [connected, ...early] = frames.splice(0);
  assert.ok(connected);
  frames.push(...early);
  return {
    client,
    connected,
    closed,
    events: (): readonly Item[] => frames,
    /** The events as `GET /events` has them. */
    items: () => frames.map(({ type: _, cursor: __, ...item }) => item),
    until: (count: number) => wait(() => frames.length >= count),
    pinged: (count: number) => wait(() => pings >= count),
  };
}

/** Sends a handshake that the server refuses. */
async function refusalOf(server: TestServer, query: string, options: ClientOptions): Promise<Answer> {
  const client = clientOf(server, query, options);
  client.once('open', () => client.emit('error', new Error('the server accepted the handshake')));
  const [, response] = await once(client, 'unexpected-response');
  let text = '';
  for await (const chunk of response) text += chunk;
  return { status: response.statusCode, headers: new Headers(response.headers), body: JSON.parse(text) };
}

/** Sends text and bytes over a connection. @returns all that the server answers until it closes the connection */
async function raw({ url }: TestServer, text: string, bytes: readonly number[] = []): Promise<string> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  let answer = '';
  socket.on('data', (chunk) => (answer += chunk.toString('latin1'))).on('error', () => {});
  socket.write(Buffer.concat([Buffer.from(text), Buffer.from(bytes)]));
  await once(socket, 'close');
  return answer;
}

/** Resolves once the server has read all that the client has sent. */
async function roundTrip(client: WebSocket): Promise<void> {
  const answered = once(client, 'pong');
  client.ping();
  await answered;
}

const roundTripOf = (server: TestServer) => server.call('GET', '/health');

/** The connection below a client, which its types hide. */
const connectionOf = (client: WebSocket) => (client as unknown as { _socket: Socket })._socket;

/** Resolves once an account with one event, which may have one socket open, has none. */
async function released(server: TestServer, credential: string): Promise<void> {
  const call = bearer(server.url, credential);
  await eventually(
    () => call('GET', '/events?wait=1'),
    ({ status }) => status === 200,
  );
}

async function open(server: TestServer) {
  const account = await server.account();
  await connectSession(account.call);
  return account;
}

async function newKey(call: Call, permissions: readonly string[]): Promise<string> {
  return (await call('POST', '/api-keys/create', { name: 'socket', permissions })).body.key;
}

async function send(call: Call, message: string): Promise<void> {
  const { status, body } = await call('POST', '/messages/send', { to: '491702222222', message });
  assert.equal(status, 201, JSON.stringify(body));
}

/** Adds events to the log, each with so many bytes, without announcing them. */
async function insertEvents({ app }: TestServer, accountId: string, count: number, bytes: number): Promise<void> {
  const { database, newId } = app.services;
  const text = 'x'.repeat(bytes);
  const rows = Array.from({ length: count }, () => ({
    eventId: newId('evt'),
    body: JSON.stringify({ event: 'message.sent', data: { messageId: newId('msg'), text } }),
  }));
  await database.commit((tx) => storeLog(tx, accountId, rows));
}
