import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { after, before, describe, it, type TestContext } from 'node:test';
import { type Receiver, startReceiver } from '../../support/connections/receiver.ts';
import { samples } from '../../support/media/media.ts';
import { type Call, connectSession, newNumber, startServer, type TestServer } from '../../support/server.ts';
import { type CliProcess, newPerson, type Person } from '../support.ts';
import { type Answered, API_KEY, callWaha, HMAC_KEY, startCompat } from './compatProcess.ts';
import { chattingRequests, checkExists, createSession, credentialTest, sessionRequests } from './n8nRequests.ts';

describe('switchboard compat --waha', () => {
  let server: TestServer;
  let person: Person;
  let call: Call;
  let key: string;
  let receiver: Receiver;
  let running: CliProcess;
  let url: string;
  const number = newNumber();
  const friend = newNumber();
  let sessionId: string;

  before(async () => {
    server = await startServer();
    person = newPerson();
    receiver = await startReceiver();
    ({ call } = await server.account());
    key = (await call('POST', '/api-keys/create', { name: 'compat' })).body.key;
    sessionId = await connectSession(call, number, { name: 'sales' });
    ({ running, url } = await start(['--forward-to', receiver.url, '--events', '*']));
  });
  after(async () => {
    await running?.end('SIGKILL');
    await receiver?.close();
    await server?.stop();
    person?.remove();
  });

  const start = (args: readonly string[]) => startCompat(person, { url: server.url, key }, args);
  const waha = (request: Parameters<typeof callWaha>[1], headers = {}) => callWaha(url, request, headers);

  /** The friend writes. @returns WAHA's event */
  async function incoming(message: string, more: object = {}) {
    const path = `/sessions/${sessionId}/simulate`;
    await call('POST', path, { action: 'incoming', from: friend, message, ...more });
    return eventWith('message', ({ payload }) => payload.body === message);
  }

  // biome-ignore lint/suspicious/noExplicitAny: as above
  async function eventWith(event: string, isWanted: (body: any) => boolean): Promise<any> {
    const find = () => receiver.deliveries.find(({ parsed }) => parsed.event === event && isWanted(parsed));
    await receiver.waitFor(() => find() !== undefined);
    return find()?.parsed;
  }

  it('sends incoming messages in the shape of WAHA, signed', async () => {
    const event = await incoming('Hello from outside');
    const { payload } = event;
    assert.equal(event.session, 'sales');
    assert.equal(event.me.id, `${number}@c.us`);
    assert.match(payload.id, new RegExp(`^false_${friend}@c\\.us_[0-9A-Z]{26}$`));
    assert.deepEqual(
      [payload.from, payload.to, payload.fromMe, payload.hasMedia, payload.participant],
      [`${friend}@c.us`, `${number}@c.us`, false, false, null],
    );
    assert.ok(Math.abs(payload.timestamp - Date.now() / 1000) < 600);
    const received = receiver.deliveries.find(({ parsed }) => parsed.id === event.id);
    assert.ok(received);
    const signature = createHmac('sha512', HMAC_KEY).update(received.body).digest('hex');
    assert.equal(received.headers['x-webhook-hmac'], signature);
    assert.equal(received.headers['x-webhook-hmac-algorithm'], 'sha512');
    const any = await eventWith('message.any', ({ payload: { id } }) => id === payload.id);
    assert.notEqual(any.id, event.id);
  });

  it('answers the requests of the n8n node', async () => {
    const { session, payload } = await incoming('To be answered');
    const files = { image: samples.image.toString('base64'), voice: samples.voice.toString('base64') };
    const requests = chattingRequests({ session, chatId: payload.from, messageId: payload.id, ...files });
    for (const request of [credentialTest, ...requests, checkExists(session, friend)]) {
      const { status, body } = await waha(request);
      const expected = request.method === 'POST' ? 201 : 200;
      assert.equal(status, expected, `${request.operation}: ${JSON.stringify(body)}`);
    }
    const { data } = (await call('GET', `/messages?chatId=${friend}&direction=outgoing`)).body;
    const types = data.map(({ type }: { type: string }) => type);
    assert.deepEqual(types.toSorted(), ['document', 'image', 'text', 'voice']);
    const document = data.find(({ type }: { type: string }) => type === 'document');
    const question = `msg_${payload.id.split('_')[2]}`;
    assert.equal(document.replyTo, question);
    const { reactions } = (await call('GET', `/messages/${question}`)).body;
    assert.deepEqual(
      reactions.map(({ emoji }: { emoji: string }) => emoji),
      ['👍'],
    );
    assert.equal((await call('GET', `/chats/${friend}`)).body.unreadCount, 0);
  });

  it('reports messages sent, acknowledgements, reactions and revocations', async () => {
    const chatId = `${friend}@c.us`;
    const { body } = await waha({
      method: 'POST',
      path: '/api/sendText',
      body: { session: 'sales', chatId, text: 'Sent' },
    });
    assert.match(body.id, new RegExp(`^true_${friend}@c\\.us_`));
    assert.deepEqual([body.from, body.to, body.body, body.fromMe], [`${number}@c.us`, chatId, 'Sent', true]);
    const isOfMessage = ({ payload }: { payload: { id: string } }) => payload.id === body.id;
    const any = await eventWith('message.any', isOfMessage);
    assert.deepEqual([any.payload.body, any.payload.fromMe, any.payload.ackName], ['Sent', true, 'SERVER']);
    const ack = await eventWith('message.ack', (event) => isOfMessage(event) && event.payload.ack === 2);
    assert.deepEqual([ack.payload.ackName, ack.payload.to], ['DEVICE', chatId]);

    const messageId = `msg_${body.id.split('_')[2]}`;
    const simulate = (action: object) => call('POST', `/sessions/${sessionId}/simulate`, action);
    await simulate({ action: 'react', from: friend, messageId, emoji: '🎉' });
    const { payload } = await eventWith('message.reaction', ({ payload }) => payload.reaction.text === '🎉');
    assert.deepEqual(payload.reaction, { text: '🎉', messageId: body.id });
    assert.deepEqual([payload.from, payload.fromMe], [chatId, false]);

    await call('DELETE', `/messages/${messageId}`);
    const revoked = await eventWith(
      'message.revoked',
      ({ payload }) => payload.revokedMessageId === body.id.split('_')[2],
    );
    assert.deepEqual([revoked.payload.before, revoked.payload.after.id], [null, body.id]);
  });

  it('creates, lists, stops and starts sessions, and sends their events to their own webhooks', async (t) => {
    const own = await startReceiver();
    t.after(() => own.close());
    const created = await waha(createSession('support', own.url));
    assert.equal(created.status, 201, JSON.stringify(created.body));
    assert.equal(created.body.name, 'support');
    assert.deepEqual(created.body.config.metadata, { 'user.id': '123', 'user.email': 'email@example.com' });
    const statuses: string[] = [];
    for (const request of sessionRequests('support')) {
      const { status, body } = await waha(request);
      assert.ok(status < 300, `${request.operation}: ${JSON.stringify(body)}`);
      if (!Array.isArray(body)) statuses.push(body.status);
      else assert.deepEqual(body.map(({ name }) => name).toSorted(), ['sales', 'support']);
    }
    assert.equal(statuses[1], 'STOPPED');
    await own.waitFor((all) => all.some(({ parsed }) => parsed.payload.status === 'STOPPED'));
    assert.deepEqual(
      [...new Set(own.deliveries.map(({ parsed }) => `${parsed.session} ${parsed.event}`))],
      ['support session.status'],
    );
    const again = await waha(createSession('support', own.url));
    assert.deepEqual([again.status, again.body.error], [422, 'Unprocessable Entity']);
    const loggedOut = await waha({ method: 'POST', path: '/api/sessions/support/logout' });
    assert.equal(loggedOut.status, 201, JSON.stringify(loggedOut.body));
  });

  it('returns the QR code as an image, as JSON and as text', async () => {
    await call('POST', '/sessions', { name: 'new phone', connector: 'sandbox', options: { pairing: true } });
    const { sessionId: id } = (await call('GET', '/sessions')).body.data.find(
      (one: { name: string }) => one.name === 'new phone',
    );
    await call('POST', `/sessions/${id}/connect`);
    const path = '/api/new%20phone/auth/qr?format=image';
    const image = await fetch(url + path, { headers: { 'x-api-key': API_KEY, accept: 'image/png' } });
    assert.equal(image.headers.get('content-type'), 'image/png');
    assert.equal(
      Buffer.from(await image.arrayBuffer())
        .subarray(1, 4)
        .toString(),
      'PNG',
    );
    assert.equal((await waha({ method: 'GET', path })).body.mimetype, 'image/png');
    assert.equal(
      typeof (await waha({ method: 'GET', path: '/api/new%20phone/auth/qr?format=raw' })).body.value,
      'string',
    );
    const other = await waha({ method: 'GET', path: '/api/sales/auth/qr?format=raw' });
    assert.deepEqual([other.status, other.body.status, other.body.expected], [422, 'WORKING', ['SCAN_QR_CODE']]);
  });

  it('serves received files', async () => {
    const upload = await fetch(`${server.url}/api/v1/media?fileName=photo.png`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'image/png' },
      body: new Uint8Array(samples.image),
    });
    const { mediaId } = JSON.parse(await upload.text());
    const { payload } = await incoming('A photo', { type: 'image', mediaId });
    assert.equal(payload.hasMedia, true);
    assert.match(payload.media.url, new RegExp(`^${url}/api/files/med_\\w+\\.png$`));
    const { pathname } = new URL(payload.media.url);
    const file = await fetch(url + pathname, { headers: { 'x-api-key': API_KEY } });
    assert.equal(file.headers.get('content-type'), 'image/png');
    assert.deepEqual(Buffer.from(await file.arrayBuffer()), samples.image);
    assert.equal((await fetch(url + pathname)).status, 401);
    const missing = await waha({ method: 'GET', path: '/api/files/med_none.png' });
    assert.deepEqual([missing.status, missing.body.error.key], [404, 'FILE_NOT_FOUND']);
  });

  it('returns errors in the shape of WAHA', async () => {
    const send = (body: unknown, headers = {}) =>
      waha({ method: 'POST', path: '/api/sendText', body: body as object }, headers);
    assert.deepEqual(errorOf(await send({}, { 'x-api-key': 'wrong' })), [401, 'Unauthorized']);
    assert.deepEqual(errorOf(await send({ chatId: `${friend}@c.us` })), [
      400,
      ['text should not be empty', 'text must be a string'],
    ]);
    assert.deepEqual(errorOf(await send('not JSON')), [400, ['The body is not valid JSON']]);
    assert.deepEqual(errorOf(await send('[]')), [400, ['The body must be a JSON object']]);
    const text = { chatId: `${friend}@c.us`, text: 'Hi' };
    const [status, message] = errorOf(await send({ ...text, session: 'nobody' }));
    assert.deepEqual([status, /find a session with name 'nobody'/.test(String(message))], [404, true]);
    const unknown = await send({ ...text, session: 'sales', reply_to: `false_${friend}@c.us_3EB0FFFFFFFF` });
    assert.equal(unknown.status, 404);
    assert.deepEqual(errorOf(await waha({ method: 'POST', path: '/api/screenshot' })), [
      404,
      'Cannot POST /api/screenshot',
    ]);
    await call('POST', '/sessions', { name: 'offline', connector: 'sandbox' });
    const stopped = (await send({ ...text, session: 'offline' })).body;
    assert.deepEqual([stopped.status, stopped.expected], ['STOPPED', ['WORKING']]);
    const hook = { url: receiver.url, events: ['message'], hmac: { key: 'x' } };
    const refused = await waha({
      method: 'POST',
      path: '/api/sessions',
      body: { name: 'signed', config: { webhooks: [hook] } },
    });
    assert.equal(refused.status, 422);
    assert.equal(
      (await call('GET', '/sessions')).body.data.some(({ name }: { name: string }) => name === 'signed'),
      false,
    );
  });

  it('names groups and their members as WAHA does', async () => {
    const { body: group } = await call('POST', '/groups', { sessionId, subject: 'Team', phoneNumbers: [friend] });
    const { payload } = await incoming('To all', { groupId: group.groupId });
    assert.deepEqual([payload.from, payload.participant], [group.networkGroupId, `${friend}@c.us`]);
    const text = { session: 'sales', chatId: payload.from, text: 'To the group', reply_to: payload.id };
    const { status, body } = await waha({ method: 'POST', path: '/api/sendText', body: text });
    assert.deepEqual([status, body.to], [201, payload.from], JSON.stringify(body));
    assert.equal((await call('GET', `/messages?chatId=${group.groupId}&limit=1`)).body.data[0].message, 'To the group');
  });

  it('finds messages by the ids that WAHA gave them', async () => {
    const { payload } = await incoming('Known to WAHA');
    const { networkId } = (await call('GET', `/messages/msg_${payload.id.split('_')[2]}`)).body;
    const reply = {
      session: 'sales',
      chatId: payload.from,
      text: 'A reply',
      reply_to: `false_${payload.from}_${networkId}`,
    };
    const { body } = await waha({ method: 'POST', path: '/api/sendText', body: reply });
    assert.equal(body.replyTo.id, payload.id.split('_')[2]);
  });

  it('delivers what happened while it or the receiver was down', async (t: TestContext) => {
    const slow = await startReceiver();
    t.after(() => slow.close());
    await running.end('SIGTERM');
    await call('POST', `/sessions/${sessionId}/simulate`, { action: 'incoming', from: friend, message: 'Missed' });
    slow.respond((received, response) => response.writeHead(received.attempt === 1 ? 500 : 200).end());
    ({ running, url } = await start(['--forward-to', slow.url, '--events', 'message']));
    await slow.waitFor((all) => all.some(({ parsed }) => parsed.payload.body === 'Missed'));
    const { data } = (await call('GET', '/webhooks/endpoints')).body;
    const own = data.filter(
      ({ metadata }: { metadata: Record<string, string> }) => metadata['compat'] === 'waha' && !metadata['session'],
    );
    assert.equal(own.length, 1, 'the webhook of the first run is used again');
  });
});

const errorOf = ({ status, body }: Answered) => [status, body.message];
