import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { createLog } from '../../src/log.ts';
import { describeWithSessionsApart } from '../support/databases/databases.ts';
import { eventually } from '../support/eventually.ts';
import { ACCOUNT_ID, type FakeGraph, OTHER_NUMBER_ID, startFakeGraph } from '../support/fakeGraph/fakeGraph.ts';
import { ADA, cloudSession, eventsOf, GRACE } from '../support/networks/cloudSession.ts';
import { type Answer, type Call, startServer, type TestServer } from '../support/server.ts';

/* Requests of Meta to a callback URL: several numbers, bad parts, early statuses, and the data of the app. */

const textOf = (graph: FakeGraph, body: string, from = ADA) => ({
  from,
  id: graph.newId(),
  timestamp: graph.now(),
  type: 'text',
  text: { body },
});
const messagesOf = async (call: Call, query = '') => (await call('GET', `/messages?limit=200${query}`)).body.data;

describeWithSessionsApart('several numbers of one app', (_, database) => {
  let graph: FakeGraph;
  let server: TestServer;
  before(async () => {
    graph = await startFakeGraph();
    server = await startServer({ database, env: { WHATSAPP_CLOUD_URL: graph.url } });
  });
  after(async () => {
    await server.stop();
    await graph.close();
  });

  const connected: (() => Promise<unknown>)[] = [];
  // Calls are also passed on to the sessions of other accounts with the same number.
  afterEach(async () => {
    for (const remove of connected.splice(0)) await remove();
  });
  const connect = async (call: Call, more: object = {}) => {
    const options = { ...graph.options, ...more };
    const { body } = await call('POST', '/sessions', { connector: 'whatsapp-cloud', options });
    assert.equal((await call('POST', `/sessions/${body.sessionId}/connect`)).body.status, 'connected');
    connected.push(() => call('DELETE', `/sessions/${body.sessionId}`));
    return body;
  };

  it('share a callback URL, whatever their nodes', async () => {
    const { call } = await server.account();
    const first = await connect(call);
    const second = await connect(call, { phoneNumberId: OTHER_NUMBER_ID });
    graph.callBackAt(server.url + first.callbackUrl);
    const toBoth = (accountId: string) => ({
      object: 'whatsapp_business_account',
      entry: [graph.options.phoneNumberId, OTHER_NUMBER_ID].map((phoneNumberId) => ({
        id: accountId,
        changes: [
          {
            field: 'messages',
            value: { metadata: { phone_number_id: phoneNumberId }, messages: [textOf(graph, `to ${phoneNumberId}`)] },
          },
        ],
      })),
    });
    const body = JSON.stringify(toBoth('100'));
    for (let time = 0; time < 2; time++) assert.equal(await graph.post([], { body }), 200);
    const received = async (sessionId: string) =>
      (await messagesOf(call, `&sessionId=${sessionId}`)).map(({ message }: Answer['body']) => message);
    assert.deepEqual(await received(first.sessionId), [`to ${graph.options.phoneNumberId}`]);
    assert.deepEqual(await received(second.sessionId), [`to ${OTHER_NUMBER_ID}`]);

    const template = {
      field: 'message_template_status_update',
      event: 'APPROVED',
      message_template_id: 5,
      message_template_name: 'tea',
      message_template_language: 'en',
      reason: 'NONE',
    };
    await eventually(
      async () => {
        await graph.post(template);
        return eventsOf(call, 'template.updated');
      },
      (events) => events.length === 2,
    );
    const told = (await eventsOf(call, 'template.updated')).map(({ data }: Answer['body']) => data.sessionId);
    assert.deepEqual(told.toSorted(), [first.sessionId, second.sessionId].toSorted());
    assert.equal(await graph.post({ ...template, event: 'PAUSED' }, { accountId: '999' }), 200);
    assert.equal((await eventsOf(call, 'template.updated')).length, 2, 'of another business account');

    await call('POST', `/sessions/${second.sessionId}/disconnect`);
    assert.equal(await graph.post({ ...template, event: 'PAUSED' }), 200, 'one number does not hold up its account');
    const late = { messages: [textOf(graph, 'later')] };
    assert.equal(await graph.post(late, { phoneNumberId: OTHER_NUMBER_ID }), 500, 'Meta keeps it for the session');
    await call('POST', `/sessions/${second.sessionId}/connect`);
    assert.equal(await graph.post(late, { phoneNumberId: OTHER_NUMBER_ID }), 200);
    assert.ok((await received(second.sessionId)).includes('later'));
  });

  it('share a callback URL whose own number is not connected', async () => {
    const { call } = await server.account();
    const first = await connect(call);
    const second = await connect(call, { phoneNumberId: OTHER_NUMBER_ID });
    graph.callBackAt(server.url + first.callbackUrl);
    await call('POST', `/sessions/${first.sessionId}/disconnect`);
    const of = (phoneNumberId: string, text: string) => ({
      id: '100',
      changes: [
        {
          field: 'messages',
          value: { metadata: { phone_number_id: phoneNumberId }, messages: [textOf(graph, text)] },
        },
      ],
    });
    const post = async (...entry: object[]) => {
      const body = JSON.stringify({ object: 'whatsapp_business_account', entry });
      return [await graph.post([], { body }), await graph.post([], { body, signWith: 'a guess' })];
    };
    const received = async (sessionId: string) =>
      (await messagesOf(call, `&sessionId=${sessionId}`)).map(({ message }: Answer['body']) => message);
    assert.deepEqual(await post(of('99999', 'of a stranger')), [200, 403]);
    assert.deepEqual(await post(of(OTHER_NUMBER_ID, 'to the other')), [200, 403]);
    assert.deepEqual(await received(second.sessionId), ['to the other']);
    const own = of(graph.options.phoneNumberId, 'to its own');
    assert.deepEqual(await post(own), [409, 403], 'Meta keeps it for the session');
    assert.deepEqual(await post(of('99999', 'x'), of(OTHER_NUMBER_ID, 'to the other too'), own), [409, 403]);
    assert.deepEqual((await received(second.sessionId)).toSorted(), ['to the other', 'to the other too']);
    assert.deepEqual(await received(first.sessionId), []);
    await call('POST', `/sessions/${first.sessionId}/connect`);
    assert.deepEqual(await post(own), [200, 403]);
    assert.deepEqual(await received(first.sessionId), ['to its own']);

    for (const { sessionId } of [first, second]) await call('POST', `/sessions/${sessionId}/disconnect`);
    assert.deepEqual(await post(of(OTHER_NUMBER_ID, 'later')), [500, 403], 'Meta keeps it for the other session');
  });

  it('of different accounts share one as well, but only with the secret of the same app', async () => {
    const mine = await server.account();
    const theirs = await server.account();
    const first = await connect(mine.call, { phoneNumberId: OTHER_NUMBER_ID, appSecret: 'of another app' });
    await connect(theirs.call);
    graph.callBackAt(server.url + first.callbackUrl);
    const forged = { messages: [textOf(graph, 'forged')] };
    assert.equal(await graph.post(forged, { signWith: 'of another app' }), 200);
    assert.equal(await graph.post(forged), 403);
    assert.deepEqual(await messagesOf(theirs.call), []);
  });
});

describe('a callback about a business account', () => {
  it('is not for a number of another account whose own one is still unknown', async (t) => {
    const { graph, call, server } = await cloudSession(t, { connects: false });
    graph.state.health_status.entities = [];
    const other = { ...graph.options, phoneNumberId: OTHER_NUMBER_ID, businessAccountId: ACCOUNT_ID };
    const another = await server.account();
    const { sessionId } = (await another.call('POST', '/sessions', { connector: 'whatsapp-cloud', options: other }))
      .body;
    assert.equal((await another.call('POST', `/sessions/${sessionId}/connect`)).body.status, 'connected');
    const [own] = (await call('GET', '/sessions')).body.data;
    assert.equal((await call('POST', `/sessions/${own.sessionId}/connect`)).body.status, 'connected');
    graph.callBackAt(server.url + own.callbackUrl);
    const template = {
      field: 'message_template_status_update',
      event: 'APPROVED',
      message_template_id: 5,
      message_template_name: 'tea',
      message_template_language: 'en',
    };
    await eventually(
      async () => {
        await graph.post(template);
        return eventsOf(another.call, 'template.updated');
      },
      (events) => events.length === 1,
    );
    assert.deepEqual(await eventsOf(call, 'template.updated'), []);
  });
});

describe('a callback', () => {
  it('for an unknown number is acknowledged, counted, and logged once a minute', async (t) => {
    const lines: string[] = [];
    const log = createLog('warn', { write: (line) => void lines.push(line) });
    const { graph, call, server } = await cloudSession(t, { log });
    for (let time = 0; time < 3; time++)
      assert.equal(await graph.post({ messages: [textOf(graph, 'lost')] }, { phoneNumberId: '4711' }), 200);
    assert.deepEqual(await messagesOf(call), []);
    assert.equal(lines.filter((line) => line.includes('ignored callbacks for numbers')).length, 1);
    const metrics = await (await fetch(`${server.url}/metrics`)).text();
    assert.match(metrics, /^switchboard_callback_unmatched_total 3$/m);
  });

  it('to a session that is not connected does not tell so without the secret', async (t) => {
    const lines: string[] = [];
    const log = createLog('warn', { write: (line) => void lines.push(line) });
    const { graph, call, server, sessionId } = await cloudSession(t, { log });
    const { verifyToken } = graph.options;
    const statuses = async () => [
      await graph.post({ messages: [textOf(graph, 'forged')] }, { signWith: 'a guess' }),
      await graph.post([], { body: 'no JSON', signWith: 'a guess' }),
      (await graph.challenge('a guess')).status,
    ];
    const connected = await statuses();
    await call('POST', `/sessions/${sessionId}/disconnect`);
    assert.deepEqual(
      [connected, await statuses()],
      [
        [403, 403, 403],
        [403, 403, 403],
      ],
    );
    assert.deepEqual(
      [await graph.post([], { body: 'no JSON' }), (await graph.challenge(verifyToken)).status],
      [400, 409],
    );
    assert.equal(await graph.post({ messages: [textOf(graph, 'lost')] }, { phoneNumberId: '4711' }), 200);
    assert.equal(lines.filter((line) => line.includes('ignored callbacks for numbers')).length, 1);
    const metrics = await (await fetch(`${server.url}/metrics`)).text();
    assert.match(metrics, /^switchboard_callback_unmatched_total 1$/m);
    const review = { field: 'account_review_update', decision: 'REJECTED' };
    assert.equal(await graph.post(review), 409, 'Meta keeps what concerns the account');
    await call('POST', `/sessions/${sessionId}/connect`);
    assert.equal(await graph.post(review), 200);
    await call('POST', `/sessions/${sessionId}/disconnect`);
    await call('DELETE', `/sessions/${sessionId}`);
    assert.equal(await graph.post({ messages: [textOf(graph, 'late')] }), 404);
  });

  it('that is not one of WhatsApp changes nothing', async (t) => {
    const { graph, call } = await cloudSession(t);
    const good = { field: 'messages', value: { messages: [textOf(graph, 'Hi')] } };
    for (const [body, status] of [
      ['{"object":"whatsapp_business_account","entry":[', 400],
      ['[]', 400],
      ['{"object":"whatsapp_business_account"}', 400],
      [JSON.stringify({ object: 'page', entry: [{ id: '100', changes: [good] }] }), 200],
    ] as const)
      assert.equal(await graph.post([], { body }), status, body);
    assert.deepEqual(await messagesOf(call), []);
  });

  it('with bad entries, changes and contacts keeps the good ones', async (t) => {
    const { graph, call } = await cloudSession(t);
    const value = (message: object) => ({
      metadata: { phone_number_id: graph.options.phoneNumberId },
      contacts: [null, { profile: 7 }, { wa_id: ADA, profile: { name: 'Ada' } }],
      messages: [message],
    });
    const entry = [
      null,
      { id: {}, changes: [] },
      { id: '100' },
      { id: '100', changes: [7, { field: 'messages' }, { field: 'messages', value: value(textOf(graph, 'One')) }] },
      { id: '100', changes: [{ field: 'messages', value: { ...value({}), messages: 'none' } }] },
      { id: 100, changes: [{ field: 'messages', value: value(textOf(graph, 'Two')) }] },
    ];
    const body = JSON.stringify({ object: 'whatsapp_business_account', entry });
    assert.equal(await graph.post([], { body }), 200);
    const texts = (await messagesOf(call)).map(({ message }: Answer['body']) => message);
    assert.deepEqual(texts.toSorted(), ['One', 'Two']);
    assert.equal((await call('GET', `/contacts/${ADA}`)).body.name, 'Ada');
  });

  it('can have a thousand statuses and messages', async (t) => {
    const { graph, call, send } = await cloudSession(t);
    graph.confirm(false);
    const { messageId } = (await send('Hello')).body;
    const [sent = assert.fail()] = graph.sent;
    const statuses = Array.from({ length: 999 }, (_, n) => ({
      ...graph.statusOf(sent, 'delivered'),
      id: `wamid.${n}`,
      biz_opaque_callback_data: undefined,
    }));
    const messages = Array.from({ length: 200 }, (_, n) => textOf(graph, `message ${n}`));
    const report = { statuses: [...statuses, graph.statusOf(sent, 'read')], messages };
    assert.equal(await graph.post(report), 200);
    assert.equal((await call('GET', `/messages/${messageId}`)).body.status, 'read');
    assert.equal((await messagesOf(call, '&direction=incoming')).length, 200);
  });
});

describe('a status that arrives before its message', () => {
  it('waits for a message that the phone has sent', async (t) => {
    const { graph, call } = await cloudSession(t);
    const echo = { ...textOf(graph, 'from the phone', graph.phoneNumber), to: ADA };
    const status = (name: string) => ({ id: echo.id, status: name, timestamp: graph.now(), recipient_id: ADA });
    const pricing = { billable: false, category: 'service' };
    for (const report of [{ ...status('read'), pricing }, status('delivered'), status('read')])
      assert.equal(await graph.post({ statuses: [report] }), 200);
    assert.deepEqual(await messagesOf(call), []);
    const report = { field: 'smb_message_echoes', message_echoes: [echo] };
    for (let time = 0; time < 2; time++) assert.equal(await graph.post(report), 200);
    const [message] = await messagesOf(call);
    assert.deepEqual([message.status, message.sentElsewhere, message.pricing.category], ['read', true, 'service']);
    const kinds = ['message.sent', 'message.delivered', 'message.read'];
    for (const kind of kinds) assert.equal((await eventsOf(call, kind)).length, 1, kind);
  });

  it('waits for the answer to a message', async (t) => {
    const { graph, call, send } = await cloudSession(t);
    graph.confirm(false);
    // Meta has accepted the message, and its answer with the id is still in flight.
    graph.failNext('late');
    const sending = send('Hello');
    await eventually(
      async () => graph.slowOnes,
      (count) => count === 1,
    );
    const [sent = assert.fail()] = graph.sent;
    const { biz_opaque_callback_data: _, ...unnamed } = graph.statusOf(sent, 'delivered') as Record<string, unknown>;
    assert.equal(await graph.post({ statuses: [unnamed] }), 200);
    graph.release();
    const { messageId } = (await sending).body;
    await eventually(
      async () => (await call('GET', `/messages/${messageId}`)).body.status,
      (status) => status === 'delivered',
    );
  });
});

describe('a number that the WhatsApp Business app uses as well', () => {
  const history = (graph: FakeGraph) => ({
    field: 'history',
    history: [
      {
        metadata: { phase: 0, chunk_order: 1, progress: 55 },
        threads: [
          {
            id: ADA,
            messages: [
              {
                ...textOf(graph, 'Thanks!'),
                id: 'wamid.two',
                timestamp: '1739230970',
                history_context: { status: 'READ' },
              },
              {
                ...textOf(graph, 'Here it is', graph.phoneNumber),
                id: 'wamid.one',
                timestamp: '1739230955',
                history_context: { status: 'READ' },
              },
              { from: ADA, id: 'wamid.file', timestamp: '1739230960', type: 'media_placeholder' },
              { id: 7 },
            ],
          },
          { id: GRACE, messages: [textOf(graph, 'Order', GRACE)] },
          'no thread',
        ],
      },
      { errors: [{ code: 2593109, title: 'History sync is turned off', message: 'History sync is turned off' }] },
      { metadata: 7 },
    ],
  });

  it('gets the history of the app without events, each message once', async (t) => {
    const { graph, call, sessionId } = await cloudSession(t);
    const report = history(graph);
    for (let time = 0; time < 2; time++) assert.equal(await graph.post(report), 200);
    const found = (await messagesOf(call, `&chatId=${ADA}`)).map((one: Answer['body']) => [
      one.message,
      one.direction,
      one.timestamp,
    ]);
    assert.deepEqual(found.toSorted(), [
      ['Here it is', 'outgoing', '2025-02-10T23:42:35.000Z'],
      ['Thanks!', 'incoming', '2025-02-10T23:42:50.000Z'],
    ]);
    const [thanks] = (await messagesOf(call, `&chatId=${ADA}&direction=incoming`)) as Answer['body'][];
    assert.deepEqual([thanks.origin, thanks.status], ['history', 'read']);
    const [sent] = (await messagesOf(call, `&chatId=${ADA}&direction=outgoing`)) as Answer['body'][];
    assert.equal(sent.status, 'read');
    const { history: state } = (await call('GET', `/sessions/${sessionId}`)).body;
    assert.deepEqual([state.state, state.progress, state.messages], ['failed', 55, 3]);
    assert.match(state.error, /History sync is turned off/);
    for (const kind of ['message.incoming', 'message.sent', 'message.read'])
      assert.deepEqual(await eventsOf(call, kind), [], kind);
    const chats = (await call('GET', '/chats')).body.data;
    assert.ok(chats.every(({ unreadCount }: Answer['body']) => unreadCount === 0));
    const file = graph.keep(Buffer.from('%PDF-1.7'), 'application/pdf');
    const media = { from: ADA, id: 'wamid.file', timestamp: '1739230960', type: 'document', document: { id: file } };
    assert.equal(await graph.post({ field: 'history', messages: [media] }), 200);
    const [document] = await messagesOf(call, '&type=document');
    assert.deepEqual([document.remoteMedia.size, document.media ?? null], [8, null]);
    const fetched = await call('POST', `/messages/${document.messageId}/media`, {});
    assert.equal(fetched.body.media?.size, 8, JSON.stringify(fetched.body));
    const last = {
      field: 'history',
      history: [{ metadata: { phase: 2, chunk_order: 1, progress: 100 }, threads: [] }],
    };
    assert.equal(await graph.post(last), 200);
    const progressOf = async () => (await call('GET', `/sessions/${sessionId}`)).body.history.state;
    assert.equal(await progressOf(), 'complete');
    assert.equal(await graph.post({ ...report, history: report.history.slice(0, 1) }), 200);
    assert.equal(await progressOf(), 'complete', 'a repeated part does not set it back');
  });

  it('gets the names of its address book', async (t) => {
    const { graph, call } = await cloudSession(t);
    const entry = (action: string, contact: object) => ({ type: 'contact', action, contact });
    const state_sync = [
      entry('add', { full_name: 'Ada Lovelace', first_name: 'Ada', phone_number: ADA }),
      entry('add', { first_name: 'Grace', phone_number: `+${GRACE}` }),
      entry('remove', { phone_number: ADA }),
      entry('add', { full_name: 'nobody', phone_number: 'none' }),
      { type: 'chat' },
    ];
    assert.equal(await graph.post({ field: 'smb_app_state_sync', state_sync }), 200);
    const saved = async () =>
      (await call('GET', '/contacts')).body.data.map(({ savedName }: Answer['body']) => savedName).toSorted();
    assert.deepEqual(await saved(), ['Grace', null], 'the removed name is gone');
  });

  it('asks for both once, if its options say so', async (t) => {
    const { graph, call, sessionId } = await cloudSession(t);
    assert.deepEqual(graph.requestedAppData, []);
    // The change of options connects the session again.
    await call('PATCH', `/sessions/${sessionId}`, {
      options: { phoneNumberId: graph.options.phoneNumberId, coexistence: true },
    });
    await eventually(
      async () => (await call('GET', `/sessions/${sessionId}`)).body.history?.state,
      (state) => state === 'waiting',
    );
    await call('POST', `/sessions/${sessionId}/disconnect`);
    assert.equal((await call('POST', `/sessions/${sessionId}/connect`)).status, 200);
    assert.deepEqual(graph.requestedAppData, ['smb_app_state_sync', 'history']);
  });
});
