import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer as createHttp, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer } from 'node:net';
import { it } from 'node:test';
import { createLog } from '../../src/log.ts';
import { startFileServer } from '../support/connections/fileServer.ts';
import { portOf } from '../support/connections/listening.ts';
import { eventually } from '../support/eventually.ts';
import { OTHER_NUMBER_ID } from '../support/fakeGraph/fakeGraph.ts';
import { ADA, asked, cloudSession, eventsOf, GRACE, passUntil } from '../support/networks/cloudSession.ts';
import { type Answer, bearer, eventOf } from '../support/server.ts';

/** A closing session waits this long for the answers to its last messages. */
const DRAIN_MS = 5000;

/*
 * How the Cloud API connector stays connected and receives despite network errors. The clock advances only on command.
 */

it('an expired token ends the session once, with the reason, and the network keeps incoming messages', async (t) => {
  const { graph, call, sessionId, send } = await cloudSession(t);
  graph.expireToken();
  const { status, body } = await send('Hello');
  assert.deepEqual([status, body.code], [409, 'session_not_connected']);
  const gone = await eventOf(call, 'session.disconnected');
  assert.deepEqual([gone.sessionId, gone.willReconnect], [sessionId, false]);
  assert.match(gone.reason, /session has expired \(190\)/);
  assert.equal((await send('Hello again')).status, 409);
  assert.equal((await eventsOf(call, 'session.disconnected')).length, 1);
  const messages = [{ from: ADA, id: graph.newId(), timestamp: graph.now(), type: 'text', text: { body: 'Hi' } }];
  assert.equal(await graph.post({ messages }), 409, 'Meta retries for seven days');

  graph.renewToken();
  const { phoneNumberId, token } = graph.options;
  await call('PATCH', `/sessions/${sessionId}`, { options: { phoneNumberId, token } });
  assert.equal((await call('POST', `/sessions/${sessionId}/connect`)).body.status, 'connected');
  assert.equal(await graph.post({ messages }), 200);
});

it('pending sends fail immediately when the token is rejected', async (t) => {
  const { graph, call, send } = await cloudSession(t);
  graph.failNext({ code: 131056 }, 'hang up');
  const held = send('Hello');
  await asked(graph, 1);
  const unanswered = send('Is this there?', GRACE);
  await asked(graph, 2);
  graph.expireToken();
  const refused = await send('Hello Alan', '4915155555555');
  assert.match(refused.body.detail, /session has expired \(190\)/);
  // No time has passed.
  const { status, body } = await held;
  assert.deepEqual([status, body.code, body.detail], [409, 'session_not_connected', refused.body.detail]);
  assert.match((await unanswered).body.detail, /may or may not have been sent/);
  const { data } = (await call('GET', '/messages')).body;
  assert.deepEqual(
    data.map((one: Answer['body']) => [one.message, one.status, one.error]),
    [
      ['Hello Alan', 'failed', refused.body.detail],
      ['Is this there?', 'failed', (await unanswered).body.detail],
      ['Hello', 'failed', refused.body.detail],
    ],
  );
});

it('pending calls end immediately when the session is disconnected, and their messages stay queued', async (t) => {
  const { graph, clock, call, sessionId, send } = await cloudSession(t);
  graph.failNext({ code: 131056 });
  const held = send('Hello');
  await asked(graph, 1);
  const path = `/sessions/${sessionId}`;
  const others = clock.timersDueIn(DRAIN_MS);
  const disconnecting = call('POST', `${path}/disconnect`);
  await eventually(
    async () => clock.timersDueIn(DRAIN_MS),
    (timers) => timers > others,
  );
  assert.equal((await graph.challenge(graph.options.verifyToken)).status, 409);
  await clock.advance(DRAIN_MS);
  await disconnecting;
  const { status, body } = await held;
  assert.deepEqual([status, body.code], [503, 'session_unavailable']);
  assert.equal((await call('GET', '/messages')).body.data[0].status, 'queued');
  await call('POST', `${path}/connect`);
  await passUntil(
    clock,
    async () => graph.sent.length,
    (count) => count === 1,
  );
});

it('a token without secondary permissions can still send', async (t) => {
  const { graph, call, sessionId, send } = await cloudSession(t);
  const text = { type: 'text', text: { body: 'Hi' } };
  await graph.incoming(ADA, text);
  const { messageId } = (await call('GET', '/messages')).body.data[0];
  const aside: [string, string, object?][] = [
    ['PUT', `/contacts/${ADA}/blocked`, { blocked: true }],
    ['POST', `/chats/${ADA}/read`],
    ['POST', `/chats/${ADA}/typing`, { state: 'typing' }],
    ['PUT', `/messages/${messageId}/reaction`, { emoji: '👍' }],
  ];
  const codes = [3, 10, 131005, 200];
  for (const [index, [method, path, body]] of aside.entries()) {
    const code = codes[index] ?? 0;
    graph.failNext({ code, status: 403, details: 'Access denied' });
    const answer = await call(method, path, body);
    const { status, body: problem } = answer;
    assert.deepEqual([status, problem.code], [403, 'network_denied'], `${path} ${JSON.stringify(problem)}`);
    assert.equal(problem.detail, `WhatsApp says: Access denied (${code})`);
  }
  // Nor does a file that the token cannot read.
  const file = graph.keep(Buffer.from('%PDF-1.7'), 'application/pdf');
  graph.failNext({ code: 10, status: 403 });
  await graph.incoming(ADA, { type: 'document', document: { id: file } });
  assert.equal((await send('Still here')).status, 201);

  graph.failNext({ code: 10, status: 403, details: 'Permission denied' });
  const { status, body } = await send('Hello');
  assert.deepEqual([status, body.code], [409, 'session_not_connected']);
  assert.equal((await call('GET', `/sessions/${sessionId}`)).body.error, 'WhatsApp says: Permission denied (10)');
});

it('a locked account ends the session, whatever the request was', async (t) => {
  const { graph, call } = await cloudSession(t);
  graph.failNext({ code: 131031, status: 403, details: 'Account locked' });
  const { body } = await call('PUT', `/contacts/${ADA}/blocked`, { blocked: true });
  assert.deepEqual([body.code, body.detail], ['session_not_connected', 'WhatsApp says: Account locked (131031)']);
  assert.equal((await eventOf(call, 'session.disconnected')).willReconnect, false);
});

it('detects an expired token even if nothing is sent', async (t) => {
  const { graph, clock, call } = await cloudSession(t);
  graph.expireToken();
  await clock.advance(5 * 60_000);
  assert.match((await eventOf(call, 'session.disconnected')).reason, /190/);
});

it('reports a token that is wrong from the start immediately, and not as an outage', async (t) => {
  const { graph, call, sessionId } = await cloudSession(t, { connects: false });
  graph.expireToken();
  const { body } = await call('POST', `/sessions/${sessionId}/connect`);
  assert.equal(body.status, 'disconnected');
  assert.match(body.error, /190/);
  assert.equal((await eventsOf(call, 'session.disconnected')).length, 0);
});

it('reports an unknown number immediately, but retries if the number worked before', async (t) => {
  const { graph, clock, call, sessionId } = await cloudSession(t, { connects: false });
  await call('PATCH', `/sessions/${sessionId}`, { options: { phoneNumberId: '404' } });
  const { body } = await call('POST', `/sessions/${sessionId}/connect`);
  assert.equal(body.status, 'disconnected');
  assert.match(body.error, /'404' does not exist \(100\)/);

  await call('PATCH', `/sessions/${sessionId}`, { options: { phoneNumberId: graph.options.phoneNumberId } });
  assert.equal((await call('POST', `/sessions/${sessionId}/connect`)).body.status, 'connected');
  graph.failNext({ code: 100, status: 400 }, { code: 100, status: 400 }, { code: 100, status: 400 });
  const status = async () => (await call('GET', `/sessions/${sessionId}`)).body.status;
  await clock.advance(5 * 60_000);
  await passUntil(clock, status, (now) => now === 'connecting');
  await passUntil(clock, status, (now) => now === 'connected');

  await call('PATCH', `/sessions/${sessionId}`, { options: { phoneNumberId: '405' } });
  assert.equal((await call('POST', `/sessions/${sessionId}/disconnect`)).status, 200);
  assert.equal((await call('POST', `/sessions/${sessionId}/connect`)).body.status, 'disconnected');
});

it('an outage of the network is reported once, however long, and ends on its own', async (t) => {
  const { graph, clock, call, sessionId } = await cloudSession(t);
  const status = async () => (await call('GET', `/sessions/${sessionId}`)).body.status;
  const checks = async () => graph.calls.filter((one) => one.startsWith('GET')).length;
  graph.setDown(true);
  await clock.advance(5 * 60_000);
  await eventually(checks, (count) => count === 2);
  assert.equal(await status(), 'connected', 'one miss is none');
  await passUntil(clock, status, (now) => now === 'connecting');
  assert.equal(await checks(), 4);
  const gone = await eventOf(call, 'session.disconnected');
  assert.deepEqual([gone.willReconnect, gone.reason], [true, 'The WhatsApp Cloud API cannot be reached']);
  await passUntil(clock, checks, (count) => count === 5);
  graph.setDown(false);
  await passUntil(clock, status, (now) => now === 'connected');
  assert.equal((await eventsOf(call, 'session.disconnected')).length, 1);
  assert.equal((await eventsOf(call, 'session.connected')).length, 2);
});

it('a file that is unavailable, too large or empty does not hold back its message', async (t) => {
  const { graph, call } = await cloudSession(t, { env: { MEDIA_MAX_BYTES: '1000' } });
  const arrived = async (id: string, bytes: Buffer) => {
    const file = graph.keep(bytes, 'application/pdf');
    await graph.incoming(ADA, { type: 'document', document: { id: file, filename: 'offer.pdf', caption: id } });
    const { type, message, media } = (await call('GET', '/messages?limit=1')).body.data[0];
    assert.deepEqual([type, message], ['document', id]);
    return media;
  };
  assert.equal(await arrived('too large', Buffer.alloc(1001, 'a')), undefined);
  assert.equal(await arrived('empty', Buffer.alloc(0)), undefined);
  graph.failNextFiles({ code: 0, status: 404 });
  assert.equal(await arrived('gone', Buffer.from('%PDF-1.7')), undefined);
  assert.equal((await arrived('there', Buffer.from('%PDF-1.7'))).size, 8);
});

it('retries a file that is temporarily unavailable for six hours after its message', async (t) => {
  const { graph, call } = await cloudSession(t);
  const file = graph.keep(Buffer.from('%PDF-1.7'), 'application/pdf');
  const report = (hours: number, caption: string) => ({
    from: ADA,
    id: graph.newId(),
    timestamp: String(Number(graph.now()) - hours * 3600),
    type: 'document',
    document: { id: file, caption },
  });
  const received = async () =>
    (await call('GET', '/messages')).body.data.map(({ message, media }: Answer['body']) => [message, media?.size]);
  const first = { messages: [report(5, 'recent')] };
  graph.failNextFiles({ code: 0, status: 503 });
  assert.equal(await graph.post(first), 500);
  graph.failNextFiles('hang up');
  assert.equal(await graph.post(first), 500);
  graph.failNext({ code: 131016, status: 503 });
  assert.equal(await graph.post(first), 500);
  assert.deepEqual(await received(), []);
  assert.equal(await graph.post(first), 200);

  graph.failNextFiles('hang up');
  assert.equal(await graph.post({ messages: [report(7, 'old')] }), 200);
  graph.failNext({ code: 131016, status: 503 });
  assert.equal(await graph.post({ messages: [report(7, 'older')] }), 200);
  assert.equal(await graph.post({ messages: [report(7, 'in time')] }), 200);
  assert.deepEqual((await received()).toSorted(), [
    ['in time', 8],
    ['old', undefined],
    ['older', undefined],
    ['recent', 8],
  ]);
});

it('delivers a message of a group that Meta does not return', async (t) => {
  const { graph, call, send } = await cloudSession(t);
  const groupId = graph.groups.add({ subject: 'Tea' });
  const text = (body: string) => ({ group_id: groupId, type: 'text', text: { body } });
  const message = { from: ADA, id: graph.newId(), timestamp: graph.now(), ...text('One') };
  graph.failNext({ code: 131016, status: 503 });
  assert.equal(await graph.post({ messages: [message] }), 500, 'the group may become visible later');
  graph.failNext({ code: 100, details: 'Unsupported get request' });
  assert.equal(await graph.post({ messages: [message] }), 200);
  await graph.incoming(ADA, text('Two'));
  const { data } = (await call('GET', '/messages')).body;
  const chat = data[0].chatId;
  assert.deepEqual(
    data.map((one: Answer['body']) => [one.message, one.chatId]),
    [
      ['Two', chat],
      ['One', chat],
    ],
  );
  const group = (await call('GET', `/groups/${chat}`)).body;
  assert.deepEqual([group.subject, group.participants.length], [groupId, 1]);
  assert.equal((await send('Coming', chat)).status, 201);
});

it('registers a callback URL per session if the public address is known', async (t) => {
  const port = await freePort();
  const { graph, sessionId } = await cloudSession(t, {
    env: { PORT: String(port), PUBLIC_URL: `http://127.0.0.1:${port}` },
  });
  await eventually(
    async () => graph.callbackUrl,
    (url) => url === `http://127.0.0.1:${port}/api/v1/callbacks/${sessionId}`,
  );
});

it('a deleted session removes its callback URL, unless another one has replaced it', async (t) => {
  const port = await freePort();
  const address = `http://127.0.0.1:${port}`;
  const { graph, clock, call, sessionId } = await cloudSession(t, { env: { PORT: String(port), PUBLIC_URL: address } });
  const calledAt = (url: string) =>
    eventually(
      async () => graph.callbackUrl,
      (now) => now === url,
    );
  const connected = async () => {
    const { body } = await call('POST', '/sessions', { connector: 'whatsapp-cloud', options: graph.options });
    await call('POST', `/sessions/${body.sessionId}/connect`);
    await calledAt(`${address}/api/v1/callbacks/${body.sessionId}`);
    return body.sessionId;
  };
  await calledAt(`${address}/api/v1/callbacks/${sessionId}`);
  assert.equal((await call('DELETE', `/sessions/${sessionId}`)).status, 200);
  assert.equal(graph.callbackUrl, '');

  const older = await connected();
  const newer = await connected();
  const ofNewer = graph.callbackUrl;
  assert.equal((await call('DELETE', `/sessions/${older}`)).status, 200);
  assert.equal(graph.callbackUrl, ofNewer);

  graph.failNext('slow');
  const deleting = call('DELETE', `/sessions/${newer}`);
  await eventually(
    async () => graph.slowOnes,
    (count) => count === 1,
  );
  assert.equal((await clock.settle(deleting, 1000)).status, 200, 'a network that does not answer keeps no session');
  assert.equal((await call('GET', `/sessions/${newer}`)).status, 404);
  assert.equal(graph.callbackUrl, ofNewer);
});

it('routes a callback for another number of the app to its session, with the secret of that app only', async (t) => {
  const { graph, server, call, sessionId } = await cloudSession(t);
  const options = { ...graph.options, phoneNumberId: OTHER_NUMBER_ID };
  const other = (await call('POST', '/sessions', { connector: 'whatsapp-cloud', options })).body.sessionId;
  await call('POST', `/sessions/${other}/connect`);
  const hi = () => ({
    messages: [{ from: ADA, id: graph.newId(), timestamp: graph.now(), type: 'text', text: { body: 'Hi' } }],
  });
  assert.equal(await graph.post(hi(), { phoneNumberId: OTHER_NUMBER_ID }), 200);
  const received = async (id: string) => (await call('GET', `/messages?sessionId=${id}`)).body.data.length;
  assert.deepEqual([await received(sessionId), await received(other)], [0, 1]);

  const stranger = await server.account();
  const theirs = { ...graph.options, appSecret: 'of an app of theirs' };
  const mine = (await stranger.call('POST', '/sessions', { connector: 'whatsapp-cloud', options: theirs })).body;
  await stranger.call('POST', `/sessions/${mine.sessionId}/connect`);
  graph.callBackAt(server.url + mine.callbackUrl);
  const forged = await graph.post(hi(), { phoneNumberId: OTHER_NUMBER_ID, signWith: 'of an app of theirs' });
  assert.equal(forged, 200, 'the number of another app is unknown');
  assert.equal(await received(other), 1, 'another app cannot sign for this session');
});

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

it('a number that does not respond blocks only the call that connects it', async (t) => {
  const { graph, server, start, call, token, sessionId } = await cloudSession(t, { connects: false });
  const isAsked = (times: number) =>
    eventually(
      async () => graph.calls.filter((one) => one.startsWith('GET')).length,
      (count) => count === times,
    );
  graph.failNext('slow');
  const connecting = call('POST', `/sessions/${sessionId}/connect`);
  await isAsked(1);
  // The clock does not advance, because nothing here may wait for it.
  assert.equal((await call('POST', `/sessions/${sessionId}/disconnect`)).body.status, 'disconnected');
  assert.equal((await connecting).status, 200);

  assert.equal((await call('POST', `/sessions/${sessionId}/connect`)).body.status, 'connected');
  await server.stop();
  graph.failNext('slow');
  const next = await start();
  const again = bearer(next.url, token);
  await isAsked(3);
  assert.equal((await again('GET', `/sessions/${sessionId}`)).body.status, 'connecting');
  const sent = await again('POST', '/messages/send', { to: ADA, message: 'Hello' });
  assert.deepEqual([sent.status, sent.body.code], [503, 'session_unavailable']);
  await again('POST', `/sessions/${sessionId}/disconnect`);
  graph.failNext('slow');
  const asking = again('POST', `/sessions/${sessionId}/connect`);
  await isAsked(4);
  await next.stop();
  assert.equal((await asking).body.status, 'connecting');
});

it('does not fetch a file from another host, and never sends the token there', async (t) => {
  const visits: string[] = [];
  const answer = ({ url = '' }: IncomingMessage, response: ServerResponse) => {
    visits.push(url);
    response.end('not from Meta');
  };
  const secure = await startFileServer(answer);
  const plain = createHttp(answer).listen(0, '127.0.0.1');
  await once(plain, 'listening');
  t.after(async () => {
    plain.close();
    await secure.close();
  });
  const { graph, call } = await cloudSession(t);
  const places = [
    `${secure.url}/file`,
    `http://127.0.0.1:${portOf(plain)}/file`,
    `${graph.url.replace('127.0.0.1', 'localhost')}/cdn/1`,
    `https://lookaside.fbsbx.com@${new URL(secure.url).host}/file`,
    'file:///etc/passwd',
    'nowhere',
  ];
  for (const [index, place] of places.entries()) {
    const id = graph.keep(Buffer.from('x'), 'text/plain', '', place);
    await graph.incoming(ADA, { type: 'document', document: { id, filename: 'a.txt', caption: `file ${index}` } });
    const event = await eventOf(call, 'message.incoming', ({ message }) => message === `file ${index}`);
    assert.equal(event.media, undefined, place);
  }
  assert.deepEqual(visits, []);
  assert.ok(!graph.calls.some((one) => one.includes('/cdn/')));
});

it('stores, shows and logs errors of Meta without the credentials they quote', async (t) => {
  const lines: string[] = [];
  const log = createLog('debug', { write: (line: string) => void lines.push(line) });
  const { graph, call, sessionId } = await cloudSession(t, { connects: false, log });
  const { token, appSecret } = graph.options;
  const quoting = `Malformed access token ${token} of ${appSecret}; access_token=${token.slice(0, 20)}&x=1, Bearer ${token}`;
  graph.failNext({ code: 131000, status: 400, details: quoting }, { code: 190, status: 401, details: quoting });
  await call('POST', `/sessions/${sessionId}/connect`);
  await eventually(
    async () => (await call('GET', `/sessions/${sessionId}`)).body,
    ({ error }) => error !== null,
  );
  await call('POST', `/sessions/${sessionId}/disconnect`);
  const shown = [
    await call('POST', `/sessions/${sessionId}/connect`),
    await call('GET', `/sessions/${sessionId}`),
    await call('GET', `/sessions/${sessionId}/history`),
    await call('GET', '/events'),
  ].map(({ body }) => JSON.stringify(body));
  assert.match(shown[1] ?? '', /Malformed access token \[redacted\] of \[redacted\]; access_token=\[redacted\]&x=1/);
  for (const text of [...shown, ...lines]) {
    assert.ok(!text.includes(token.slice(0, 20)), text);
    assert.ok(!text.includes(appSecret), text);
  }
  assert.ok(lines.some((line) => line.includes('Malformed access token')));
});

it('stores the reason of a failed message without the credential that Meta quotes', async (t) => {
  const { graph, call, send } = await cloudSession(t);
  const { token } = graph.options;
  graph.confirm(false);
  const { body: message } = await send('Hello');
  const failure = graph.failure(131000, `Bad token ${token}`);
  const [sent = assert.fail()] = graph.sent;
  assert.equal(await graph.post({ statuses: [graph.statusOf(sent, 'failed', failure)] }), 200);
  const { body } = await call('GET', `/messages/${message.messageId}`);
  assert.equal(body.error, 'WhatsApp says: Bad token [redacted] (131000)');
});
