import assert from 'node:assert/strict';
import { it } from 'node:test';
import { describeWithSessionsApart } from '../support/databases/databases.ts';
import { eventually } from '../support/eventually.ts';
import { createFakeClock } from '../support/fakeClock.ts';
import { type Call, newNumber, serversFor, sharedSandbox, startServer } from '../support/server.ts';

describeWithSessionsApart('sessions and messages', (newHome, database) => {
  const start = serversFor(database);
  const startShared = serversFor(database, { env: sharedSandbox });
  async function connect(call: Call, phoneNumber?: string): Promise<string> {
    const { body } = await call('POST', '/sessions', { ...(phoneNumber && { phoneNumber }) });
    assert.equal((await call('POST', `/sessions/${body.sessionId}/connect`)).body.status, 'connected');
    return body.sessionId;
  }
  const messageWith = (call: Call, messageId: string, status: string) =>
    eventually(
      () => call('GET', `/messages/${messageId}`),
      ({ body }) => body.status === status,
    );

  it('a session pairs by QR or pairing code if required, and stays paired', async () => {
    const server = await start();
    const { call } = await server.account();
    const { sessionId } = (await call('POST', '/sessions', { options: { pairing: true } })).body;
    const path = `/sessions/${sessionId}`;
    assert.equal((await call('GET', `${path}/qr`)).body.code, 'session_state');
    assert.equal((await call('POST', `${path}/connect`)).body.status, 'awaiting_pairing');
    const qr = await call('GET', `${path}/qr`);
    assert.match(qr.body.qr, /^sandbox:/);
    const png = await fetch(`${server.url}/api/v1${path}/qr`, {
      headers: {
        accept: 'image/png',
        authorization: `Bearer ${(await server.call('POST', '/auth/login', { email: 'x@y.z', password: 'x' })).body.token ?? ''}`,
      },
    });
    assert.equal(png.status, 401);
    assert.match(
      (await call('POST', `${path}/pairing-code`, { phoneNumber: '+49 170 9999999' })).body.code,
      /^[0-9A-Z]{4}-[0-9A-Z]{4}$/,
    );
    await call('POST', `${path}/simulate`, { action: 'pair' });
    const linked = await call('GET', path);
    assert.deepEqual([linked.body.status, linked.body.phoneNumber], ['connected', '491709999999']);
    await call('POST', `${path}/disconnect`);
    assert.equal((await call('POST', `${path}/connect`)).body.status, 'connected', 'the session stays paired');
    await call('POST', `${path}/logout`);
    assert.equal((await call('POST', `${path}/connect`)).body.status, 'awaiting_pairing');
    const history = await call('GET', `${path}/history`);
    const statuses = history.body.data.map(({ status }: { status: string }) => status);
    assert.ok(statuses.includes('logged_out') && statuses.includes('connected'));
  });

  it('returns the QR code as an image on request', async () => {
    const server = await start();
    const { call, token } = await server.account();
    const { sessionId } = (await call('POST', '/sessions', { options: { pairing: true } })).body;
    await call('POST', `/sessions/${sessionId}/connect`);
    const png = await fetch(`${server.url}/api/v1/sessions/${sessionId}/qr`, {
      headers: { accept: 'image/png', authorization: `Bearer ${token}` },
    });
    assert.equal(png.headers.get('content-type'), 'image/png');
    assert.deepEqual([...new Uint8Array(await png.arrayBuffer()).slice(1, 4)], [...Buffer.from('PNG')]);
  });

  it('allows one connected session per number', async () => {
    const { call } = await (await start()).account();
    await connect(call, '491701111111');
    const { sessionId } = (await call('POST', '/sessions', { phoneNumber: '+49 (170) 111-1111' })).body;
    const refused = await call('POST', `/sessions/${sessionId}/connect`);
    assert.deepEqual([refused.status, refused.body.code], [409, 'phone_number_in_use']);
    assert.equal((await call('POST', '/sessions', { connector: 'pigeon' })).body.errors[0].field, 'connector');
    assert.equal(
      (await call('POST', '/sessions', { options: { pairing: 'yes' } })).body.errors[0].field,
      'options.pairing',
    );
  });

  it('reconnects connected sessions after a restart without an event, and no others', async () => {
    const home = await newHome();
    const first = await startServer({ home, database });
    const { call, token } = await first.account();
    const [stays, ends] = [await connect(call, '491701111111'), await connect(call, '491702222222')];
    await call('POST', `/sessions/${ends}/disconnect`);
    await first.stop();
    const second = await startServer({ home, database });
    const again: Call = (method, path, body) => second.call(method, path, body, { authorization: `Bearer ${token}` });
    assert.equal((await again('GET', `/sessions/${stays}`)).body.status, 'connected');
    assert.equal((await again('GET', `/sessions/${ends}`)).body.status, 'disconnected');
    const { body } = await eventually(
      () => again('GET', '/events?events=session.connected,session.disconnected'),
      (answer) => answer.body.data.length >= 3,
    );
    assert.deepEqual(
      body.data.map(({ event }: { event: string }) => event),
      ['session.connected', 'session.connected', 'session.disconnected'],
    );
    await second.stop();
    await home.remove();
  });

  it('an outage is one session.disconnected and one session.connected', async () => {
    const { call } = await (await start()).account();
    const sessionId = await connect(call);
    const outage = { action: 'disconnect', reason: 'lost', reconnectAfterMs: 50 };
    const simulated = await call('POST', `/sessions/${sessionId}/simulate`, outage);
    assert.equal(simulated.status, 200, JSON.stringify(simulated.body));
    const { body } = await eventually(
      () => call('GET', '/events'),
      (answer) => answer.body.data.length >= 3,
    );
    assert.deepEqual(
      body.data.map(({ event }: { event: string }) => event),
      ['session.connected', 'session.disconnected', 'session.connected'],
    );
    assert.deepEqual([body.data[1].data.reason, body.data[1].data.willReconnect], ['lost', true]);
    // It can move to the other node in this moment.
    await eventually(
      () => call('GET', `/sessions/${sessionId}`),
      (answer) => answer.body.status === 'connected',
    );
  });

  it('rejects a send during an outage', async () => {
    const { call } = await (await start()).account();
    const sessionId = await connect(call);
    const outage = { action: 'disconnect', reason: 'lost', reconnectAfterMs: 60_000 };
    const simulated = await call('POST', `/sessions/${sessionId}/simulate`, outage);
    assert.equal(simulated.status, 200, JSON.stringify(simulated.body));
    const { body: refused } = await call('POST', '/messages/send', { to: '491701234567', message: 'x' });
    assert.equal(refused.code, 'session_not_connected', JSON.stringify(refused));
    assert.match(refused.detail, /is connecting; try again/);
    assert.deepEqual((await call('GET', '/messages')).body.data, []);
    await call('POST', `/sessions/${sessionId}/disconnect`);
    const { body: gone } = await call('POST', '/messages/send', { to: '491701234567', message: 'x' });
    assert.match(gone.detail, /connect it first/);
  });

  it('normalizes numbers and rejects invalid ones', async () => {
    const { call } = await (await start()).account();
    await connect(call);
    const sent = await call('POST', '/messages/send', { to: '+49 170-123 45 67', message: 'hello' });
    assert.equal(sent.status, 201);
    assert.deepEqual(
      [sent.body.to, sent.body.chatId, sent.body.status, sent.body.direction],
      ['491701234567', '491701234567', 'sent', 'outgoing'],
    );
    const withPrefix = await call('POST', '/messages/send', { to: '00491701234567', message: 'hello' });
    assert.deepEqual([withPrefix.status, withPrefix.body.to], [201, '491701234567']);
    for (const to of ['abc', '0', '123', '49170123456789012345', '+', '١٢٣٤٥٦٧٨٩', "1' or '1'='1"]) {
      const refused = await call('POST', '/messages/send', { to, message: 'x' });
      assert.deepEqual([refused.status, refused.body.errors?.[0]?.field], [400, 'to'], to);
    }
  });

  it('requires `sessionId` only if there are several sessions', async () => {
    const { call } = await (await start()).account();
    assert.equal(
      (await call('POST', '/messages/send', { to: '491701234567', message: 'x' })).body.code,
      'session_required',
    );
    const first = await connect(call);
    assert.equal((await call('POST', '/messages/send', { to: '491701234567', message: 'x' })).status, 201);
    await connect(call);
    const unclear = await call('POST', '/messages/send', { to: '491701234567', message: 'x' });
    assert.equal(unclear.body.errors[0].field, 'sessionId');
    assert.equal(
      (await call('POST', '/messages/send', { sessionId: first, to: '491701234567', message: 'x' })).status,
      201,
    );
    await call('POST', `/sessions/${first}/disconnect`);
    assert.equal(
      (await call('POST', '/messages/send', { sessionId: first, to: '491701234567', message: 'x' })).body.code,
      'session_not_connected',
    );
  });

  it('counts accepted messages of the last hour per minute and account', async () => {
    const clock = createFakeClock();
    const server = await start({ clock });
    const [mine, other] = [(await server.account()).call, (await server.account()).call];
    const [sessionId, otherSession] = [await connect(mine), await connect(other)];
    const write = (call: Call, id: string) =>
      call('POST', `/sessions/${id}/simulate`, { action: 'incoming', from: '491700000077', message: 'Hello' });
    const series = async () => (await mine('GET', '/messages/stats')).body.series;
    assert.deepEqual(await series(), []);
    await write(mine, sessionId);
    const first = (await mine('GET', '/messages')).body.data[0].timestamp;
    await write(other, otherSession);
    await clock.advance(2 * 60_000);
    await write(mine, sessionId);
    await write(mine, sessionId);
    const { messageId } = (await mine('POST', '/messages/send', { to: '491700000077', message: 'Good day' })).body;
    await messageWith(mine, messageId, 'delivered');
    const later = await mine('POST', '/messages/send', {
      to: '491700000077',
      message: 'Later',
      sendAt: new Date(clock.now() + 2 * 3_600_000).toISOString(),
    });
    const planned = later.body.messageId;
    const minute = (at: number) => new Date(at - (at % 60_000)).toISOString();
    const last = { minute: minute(clock.now()), incoming: 2, outgoing: 1 };
    assert.deepEqual(await series(), [{ minute: minute(Date.parse(first)), incoming: 1, outgoing: 0 }, last]);
    clock.skip(58 * 60_000);
    assert.deepEqual(await series(), [last]);
    clock.skip(2 * 60_000);
    assert.deepEqual(await series(), []);
    // A scheduled message counts when it is sent, however old its id is.
    clock.skip(62 * 60_000);
    await clock.advance(0);
    await messageWith(mine, planned, 'delivered');
    assert.deepEqual(
      (await series()).map(({ outgoing }: { outgoing: number }) => outgoing),
      [1],
    );
  });

  it('answers the repetition of a cancellation as the first time', async () => {
    const server = await start();
    const { call } = await server.account();
    await connect(call, newNumber());
    const sendAt = new Date(Date.now() + 3_600_000).toISOString();
    const ofScheduled = async () => {
      const { body } = await call('POST', '/messages/send', { to: newNumber(), message: 'Later', sendAt });
      return `/messages/${body.messageId}`;
    };
    const [cancelled, deleted] = [await ofScheduled(), await ofScheduled()];
    const calls = [
      [cancelled, () => call('POST', `${cancelled}/cancel`)],
      [deleted, () => call('DELETE', deleted)],
    ] as const;
    for (const [path, cancel] of calls) {
      const first = await cancel();
      assert.deepEqual([first.status, first.body.status], [200, 'failed'], path);
      const second = await cancel();
      assert.deepEqual([second.status, second.body], [200, first.body], path);
    }
    assert.deepEqual((await call('DELETE', cancelled)).body.status, 'failed');
    const { body } = await call('POST', '/messages/send', { to: newNumber(), message: 'Now' });
    assert.equal((await call('POST', `/messages/${body.messageId}/cancel`)).body.code, 'message_state');
  });

  it('fails queued messages of a session that is logged out', async () => {
    const clock = createFakeClock(Date.now());
    const server = await start({ clock });
    const { call } = await server.account();
    const sessionId = await connect(call, '491701111119');
    const sendAt = new Date(clock.now() + 60_000).toISOString();
    const later = { to: '491700000078', message: 'Later', sendAt };
    const { messageId } = (await call('POST', '/messages/send', later)).body;
    await call('POST', `/sessions/${sessionId}/disconnect`);
    await clock.advance(61_000);
    await messageWith(call, messageId, 'queued');
    await call('POST', `/sessions/${sessionId}/logout`);
    const { body } = await messageWith(call, messageId, 'failed');
    assert.match(body.error, /logged out/);
  });

  it('a message reaches the other session, and its receipts return', async () => {
    const server = await startShared();
    const [first, second] = [newNumber(), newNumber()];
    const [alice, bob] = [await server.account(), await server.account()];
    await connect(alice.call, first);
    await connect(bob.call, second);
    const { body: sent } = await alice.call('POST', '/messages/send', { to: second, message: 'hello' });
    await messageWith(alice.call, sent.messageId, 'delivered');
    const { body: chats } = await bob.call('GET', '/chats');
    assert.deepEqual(
      [chats.data[0].chatId, chats.data[0].unreadCount, chats.data[0].lastMessage.message],
      [first, 1, 'hello'],
    );
    assert.deepEqual((await bob.call('POST', `/chats/${first}/read`, {})).body, {
      chatId: first,
      read: 1,
    });
    const read = await messageWith(alice.call, sent.messageId, 'read');
    assert.deepEqual(
      read.body.statusHistory.map(({ status }: { status: string }) => status),
      ['queued', 'sent', 'delivered', 'read'],
    );
    assert.equal((await bob.call('GET', '/chats')).body.data[0].unreadCount, 0);
    assert.equal((await bob.call('GET', `/messages/${sent.messageId}`)).status, 404);
  });

  it('a message to a session that is away arrives once when it returns', async () => {
    const server = await startShared();
    const [first, second] = [newNumber(), newNumber()];
    const [alice, bob] = [await server.account(), await server.account()];
    await connect(alice.call, first);
    const bobs = await connect(bob.call, second);
    await bob.call('POST', `/sessions/${bobs}/disconnect`);
    const { body: sent } = await alice.call('POST', '/messages/send', { to: second, message: 'are you there' });
    assert.equal((await bob.call('GET', '/messages')).body.data.length, 0);
    await bob.call('POST', `/sessions/${bobs}/connect`);
    await messageWith(alice.call, sent.messageId, 'delivered');
    assert.equal((await bob.call('GET', '/messages')).body.data.length, 1);
  });

  it('a status only moves forward, and skipped steps are filled in', async () => {
    const server = await startShared();
    const [first, second] = [newNumber(), newNumber()];
    const { call } = await server.account();
    const other = await server.account();
    const sessionId = await connect(call, first);
    const away = await connect(other.call, second);
    await other.call('POST', `/sessions/${away}/disconnect`);
    const { body: sent } = await call('POST', '/messages/send', { to: second, message: 'x' });
    const receipt = (status: string) =>
      call('POST', `/sessions/${sessionId}/simulate`, { action: 'receipt', messageId: sent.messageId, status });
    await receipt('read');
    await receipt('delivered');
    await receipt('failed');
    assert.equal((await call('GET', `/messages/${sent.messageId}`)).body.status, 'read');
    // The log shows an event once no earlier one can appear.
    const { body } = await eventually(
      () => call('GET', '/events?events=message.sent,message.delivered,message.read'),
      (answer) => answer.body.data.length === 3,
    );
    assert.deepEqual(
      body.data.map(({ event }: { event: string }) => event),
      ['message.sent', 'message.delivered', 'message.read'],
    );
  });

  it('lists messages by every filter, page by page', async () => {
    const { call } = await (await start()).account();
    const sessionId = await connect(call, '491701111111');
    for (let n = 0; n < 7; n++)
      await call('POST', '/messages/send', { to: n % 2 ? '491702222222' : '491703333333', message: `${n}` });
    await call('POST', `/sessions/${sessionId}/simulate`, { action: 'incoming', from: '491702222222', message: 'hi' });
    const count = async (query: string) => (await call('GET', `/messages?${query}`)).body.data.length;
    assert.equal(await count('direction=incoming'), 1);
    assert.equal(await count('chatId=491702222222'), 4);
    assert.equal(await count(`chatId=${encodeURIComponent('+49 170 2222222')}`), 4);
    assert.equal(await count(`sessionId=${sessionId}&chatId=+49-170-3333333&q=2`), 1);
    for (const unknown of ['chatId=491709999999', 'chatId=grp_none', 'sessionId=ses_none', 'chatId=nobody&q=hi']) {
      const { status, body } = await call('GET', `/messages?${unknown}`);
      assert.deepEqual([status, body.code], [404, 'not_found'], unknown);
    }
    const { body: group } = await call('POST', '/groups', { subject: 'Quiet', phoneNumbers: ['491702222222'] });
    assert.equal(await count(`chatId=${group.groupId}`), 0);
    assert.equal(await count(`sessionId=${sessionId}&from=%2B491701111111`), 7);
    assert.equal(await count(`from=${encodeURIComponent('+49 170 2222222')}`), 1);
    assert.equal(await count(`afterTime=${new Date(Date.now() + 60_000).toISOString()}`), 0);
    assert.equal(await count(`beforeTime=${new Date(Date.now() + 60_000).toISOString()}`), 8);
    assert.equal(await count('type=image'), 0);
    const seen: string[] = [];
    let cursor = '';
    do {
      const { body } = await call('GET', `/messages?limit=3${cursor && `&cursor=${cursor}`}`);
      seen.push(...body.data.map(({ message }: { message: string }) => message));
      cursor = body.nextCursor;
    } while (cursor !== null);
    assert.deepEqual(seen, ['hi', '6', '5', '4', '3', '2', '1', '0']);
    assert.equal((await call('GET', '/messages?limit=201')).status, 400);
    assert.equal((await call('GET', '/messages?cursor=%00')).status, 400);
  });

  it('a repeated request with an idempotency key sends once within 24 hours', async () => {
    const clock = createFakeClock(Date.now());
    const { call } = await (await start({ clock })).account();
    await connect(call);
    const send = (message: string, key = 'key-1') =>
      call('POST', '/messages/send', { to: '491701234567', message }, { 'idempotency-key': key });
    const [first, twin] = await Promise.all([send('once'), send('once')]);
    const winner = first.status === 201 ? first : twin;
    assert.deepEqual(
      [first.status, twin.status].sort(),
      winner === first && twin.status === 201 ? [201, 201] : [201, 409],
    );
    const repeated = await send('once');
    assert.equal(repeated.status, 201);
    assert.equal(repeated.headers.get('idempotency-replayed'), 'true');
    assert.deepEqual(repeated.body, winner.body);
    assert.deepEqual((await send('something else')).body.code, 'idempotency_mismatch');
    const inBody = await call('POST', '/messages/send', {
      message: 'once',
      to: '491701234567',
      idempotencyKey: 'key-1',
    });
    assert.equal(inBody.body.messageId, winner.body.messageId);
    assert.equal((await call('GET', '/messages')).body.data.length, 1);
    clock.skip(24 * 3_600_000 + 1000);
    const { body: login } = await call('GET', '/messages');
    assert.equal(login.code, 'unauthorized', 'the login token has expired meanwhile');
  });

  it('only authorized members change a group, and every member gets the event', async () => {
    const server = await startShared();
    const [first, second] = [newNumber(), newNumber()];
    const [alice, bob] = [await server.account(), await server.account()];
    await connect(alice.call, first);
    const bobs = await connect(bob.call, second);
    const group = await alice.call('POST', '/groups', {
      subject: 'Team',
      phoneNumbers: [second, '+49 170 3333333'],
    });
    assert.equal(group.status, 201);
    assert.deepEqual(group.body.participants.map(({ role }: { role: string }) => role).sort(), [
      'member',
      'member',
      'owner',
    ]);
    const path = `/groups/${group.body.groupId}`;
    const results = await alice.call('POST', `${path}/participants`, {
      action: 'add',
      phoneNumbers: ['491704444444', second],
    });
    assert.deepEqual(
      results.body.results.map(({ ok }: { ok: boolean }) => ok),
      [true, false],
    );
    assert.equal(
      (await alice.call('PATCH', path, { subject: 'The team', description: 'ours' })).body.description,
      'ours',
    );

    const theirs = await eventually(
      () => bob.call('GET', '/groups'),
      ({ body }) => body.data[0]?.subject === 'The team',
    );
    assert.notEqual(theirs.body.data[0].groupId, group.body.groupId);
    const bobsPath = `/groups/${theirs.body.data[0].groupId}`;
    const refused = await bob.call('POST', `${bobsPath}/participants`, {
      action: 'remove',
      phoneNumbers: [first],
    });
    assert.equal(refused.status, 403);
    await alice.call('POST', '/messages/send', { to: group.body.groupId, message: 'hello all' });
    const got = await eventually(
      () => bob.call('GET', '/messages'),
      ({ body }) => body.data.length === 1,
    );
    assert.equal(got.body.data[0].chatId, theirs.body.data[0].groupId);
    const { body } = await eventually(
      () => bob.call('GET', '/events?events=group.created,group.updated'),
      (answer) => answer.body.data.length === 4,
    );
    assert.deepEqual(
      body.data.map(({ data }: { data: { change?: { type: string } } }) => data.change?.type ?? 'created'),
      ['created', 'participants', 'subject', 'description'],
    );
    await bob.call('DELETE', `/sessions/${bobs}`);
    assert.equal((await bob.call('GET', '/messages')).body.data.length, 0);
  });
});
