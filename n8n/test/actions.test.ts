import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, it } from 'node:test';
import { newNumber } from '../../server/test/support/server.ts';
import { execute, type RunOptions, searchList } from './support/contexts.ts';
import { operations, switchboard } from './support/nodes.ts';
import { newScene, uploadedTo } from './support/scene.ts';

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
/** Like a `DateTime` of Luxon, which has no ISO if it is invalid. */
const luxon = (iso: string | null) => ({ toJSON: () => iso });
const chosen = (value: string) => ({ __rl: true, mode: 'id', value });

describe('the actions for n8n', () => {
  const scene = newScene();
  const used = new Set<string>();

  /** Runs an operation. @returns the items */
  async function run(resource: string, operation: string, parameters: object, options?: RunOptions) {
    used.add(`${resource}.${operation}`);
    return execute(switchboard, scene().credential, { resource, operation, ...parameters }, options);
  }

  /** Runs an operation with one result. */
  // biome-ignore lint/suspicious/noExplicitAny: results have the shapes of many operations
  async function one(resource: string, operation: string, parameters: object, options?: RunOptions): Promise<any> {
    const items = await run(resource, operation, parameters, options);
    assert.equal(items.length, 1, JSON.stringify(items));
    assert.deepEqual(items[0]?.pairedItem, { item: 0 });
    return items[0]?.json;
  }

  let executions = 0;
  /** Each call of a test is an execution with another run, unless it is about repeated ones. */
  const fresh = (): RunOptions => ({ run: ++executions });
  const toFriend = () => ({ to: chosen(scene().friend), sessionId: chosen(scene().sessionId) });
  const sendText = (message: string, more: object = {}) =>
    one('message', 'sendText', { ...toFriend(), message, ...more }, fresh());

  it('sends text, places, contact cards and polls', async () => {
    const question = await sendText('Hello https://example.com', { options: { linkPreview: false } });
    assert.equal(question.status, 'sent');
    const reply = await sendText('A reply', { options: { replyTo: question.messageId, mentions: '' } });
    assert.equal(reply.replyTo, question.messageId);

    const place = { latitude: 52.5163, longitude: 13.3777, options: { name: 'Gate' } };
    const { location } = await one('message', 'sendLocation', { ...toFriend(), ...place }, fresh());
    assert.deepEqual([location.latitude, location.name], [52.5163, 'Gate']);

    const card = { contactName: 'Ada', phoneNumbers: '+49 170 1234567, 491707654321' };
    const { contact } = await one('message', 'sendContact', { ...toFriend(), ...card }, fresh());
    assert.deepEqual(contact.phoneNumbers, ['491701234567', '491707654321']);

    const choice = { question: 'When?', answers: ['today', 'tomorrow'], options: { maxSelections: 2 } };
    const { poll } = await one('message', 'sendPoll', { ...toFriend(), ...choice }, fresh());
    assert.deepEqual(poll.options, ['today', 'tomorrow']);
  });

  it('converts the values of expressions', async () => {
    assert.equal((await sendText(42 as never)).message, '42');
    assert.equal((await sendText(false as never)).message, 'false');
    assert.equal((await sendText({ total: 4.5 } as never)).message, '{"total":4.5}');
    const date = new Date(Date.UTC(2026, 0, 2));
    assert.equal((await sendText(date as never)).message, '2026-01-02T00:00:00.000Z');
    const tokyo = '2026-01-02T08:00:00.000+09:00';
    assert.equal((await sendText(luxon(tokyo) as never)).message, tokyo);
    for (const empty of [null, '', undefined]) await assert.rejects(sendText(empty as never), /"Text" is required/);

    const sent = await sendText('Hi', {
      options: { linkPreview: 'false', mentionAll: null, replyTo: null, sendAt: null },
    });
    assert.equal(sent.status, 'sent');
    for (const linkPreview of ['maybe', 'constructor'])
      await assert.rejects(sendText('Hi', { options: { linkPreview } }), /"Link Preview" must be true or false/);
    const edited = await one('message', 'edit', { messageId: sent.messageId, message: 7 });
    assert.equal(edited.message, '7');
    await one('message', 'react', { messageId: sent.messageId, emoji: null });

    const place = { latitude: '52.5', longitude: ' 13.25 ', options: { name: 5, address: null } };
    const { location } = await one('message', 'sendLocation', { ...toFriend(), ...place }, fresh());
    assert.deepEqual([location.latitude, location.longitude, location.name], [52.5, 13.25, '5']);
    const unknown = one('message', 'sendLocation', { ...toFriend(), latitude: '52,5', longitude: 13 }, fresh());
    await assert.rejects(unknown, /"Latitude" must be a number/);
    const choice = { question: 2026, answers: [1, null, 2], options: { maxSelections: '2' } };
    const question = await one('message', 'sendPoll', { ...toFriend(), ...choice }, fresh());
    assert.deepEqual([question.message, question.poll], ['2026', { options: ['1', '2'], maxSelections: 2 }]);
    assert.ok((await one('chat', 'getAll', { limit: '1', filters: { unread: null } })).chatId);
  });

  it('takes times as dates, numbers and text, and never sends a scheduled message now', async () => {
    const at = new Date(Date.now() + 3_600_000);
    at.setUTCMilliseconds(0);
    const seconds = at.getTime() / 1000;
    for (const sendAt of [at, luxon(at.toISOString()), at.getTime(), seconds, String(seconds), at.toISOString()]) {
      const scheduled = await one('message', 'schedule', { ...toFriend(), message: 'Later', sendAt }, fresh());
      assert.deepEqual(
        [scheduled.status, Date.parse(scheduled.timestamp)],
        ['scheduled', at.getTime()],
        String(sendAt),
      );
    }
    for (const sendAt of [null, '', luxon(null)]) {
      const scheduled = one('message', 'schedule', { ...toFriend(), message: 'Later', sendAt }, fresh());
      await assert.rejects(scheduled, /"Send At" is required/);
    }
    const afterTime = new Date(Date.now() - 60_000);
    assert.ok((await run('message', 'getAll', { chatId: chosen(scene().friend), filters: { afterTime } })).length > 0);
  });

  it('replays nothing if an expression returns no value', async () => {
    const webhook = { webhookUrl: 'http://127.0.0.1:1/', events: ['message.incoming'] };
    const { webhookId } = (await scene().call('POST', '/webhooks/endpoints', webhook)).body;
    const replay = (more: object) => one('webhook', 'replay', { webhookId: chosen(webhookId), ...more });
    await assert.rejects(replay({ dryRun: null, options: { afterTime: new Date(0) } }), /"Dry Run" must be/);
    await assert.rejects(replay({ options: { deliveryIds: [], afterTime: new Date(0) } }), /"Delivery IDs" is empty/);
    await scene().call('DELETE', `/webhooks/endpoints/${webhookId}`);
  });

  it('sends a template of the session', async () => {
    const { call, credential, sessionId, simulate } = scene();
    const created = await call('POST', `/sessions/${sessionId}/templates`, {
      name: 'order_sent',
      language: 'en_US',
      category: 'utility',
      components: [{ type: 'BODY', text: 'Order {{1}} is on its way', example: { body_text: [['42']] } }],
    });
    assert.equal(created.status, 201, JSON.stringify(created.body));
    if (created.body.status !== 'approved') {
      await simulate({ action: 'template_review', templateId: created.body.templateId, templateStatus: 'approved' });
    }
    const found = await searchList(switchboard, credential, 'searchTemplates', 'order', { sessionId });
    assert.deepEqual(found.results, [{ name: 'order_sent (en_US)', value: 'order_sent' }]);
    assert.deepEqual((await searchList(switchboard, credential, 'searchTemplates')).results, []);
    const template = { templateName: chosen('order_sent'), language: 'en_US', values: ['42'] };
    const sent = await one('message', 'sendTemplate', { ...toFriend(), ...template }, fresh());
    assert.equal(sent.type, 'template');
    // An empty value must not give its place to the next one.
    const values = [null, 42];
    const { template: filled } = await one('message', 'sendTemplate', { ...toFriend(), ...template, values }, fresh());
    const texts = filled.components[0].parameters.map(({ text }: { text: string }) => text);
    assert.deepEqual(texts, ['', '42']);
    const broken = run(
      'message',
      'sendTemplate',
      { ...toFriend(), ...template, options: { components: '{' } },
      fresh(),
    );
    await assert.rejects(broken, /must be a list in JSON/);
  });

  it('sends files of the item, of the server and by URL', async () => {
    const binary = { data: { data: PNG.toString('base64'), mimeType: 'image/png', fileName: 'dot.png' } };
    const items = [{ json: {}, binary }];
    const image = await one(
      'message',
      'sendMedia',
      { ...toFriend(), options: { caption: 'A dot' } },
      { ...fresh(), items },
    );
    assert.deepEqual([image.type, image.message, image.media.mimeType], ['image', 'A dot', 'image/png']);
    assert.equal(image.media.size, PNG.length);

    // n8n stores large files outside of the item, under an id.
    const stored = [
      { json: {}, binary: { data: { ...binary.data, id: PNG.toString('base64'), data: 'filesystem-v2' } } },
    ];
    const document = { ...toFriend(), mediaType: 'document', options: { fileName: 'point.png' } };
    const streamed = await one('message', 'sendMedia', document, { ...fresh(), items: stored });
    assert.deepEqual([streamed.type, streamed.media.fileName], ['document', 'point.png']);

    const { mediaId } = image.media;
    const again = await one('message', 'sendMedia', { ...toFriend(), source: 'media', mediaId }, fresh());
    assert.equal(again.type, 'image');

    const url = { ...toFriend(), source: 'url', url: 'https://192.0.2.1/invoice.pdf' };
    await assert.rejects(run('message', 'sendMedia', url, fresh()), /Choose "Send As" for a URL/);
    await assert.rejects(run('message', 'sendMedia', { ...url, mediaType: 'document' }, fresh()), {
      name: 'NodeApiError',
    });
    await assert.rejects(run('message', 'sendMedia', toFriend(), fresh()), /binary file 'data'/);
  });

  it('downloads and uploads files', async () => {
    const { credential, friend, simulate, call } = scene();
    const mediaId = await uploadedTo(credential, PNG);
    const [item] = await run('file', 'download', { mediaId }, fresh());
    assert.match(String(item?.binary?.['data']?.fileName), /\.png$/);
    assert.deepEqual(Buffer.from(item?.binary?.['data']?.data ?? '', 'base64'), PNG);
    assert.equal(item?.json['mimeType'], 'image/png');

    await simulate({ action: 'incoming', from: friend, mediaId, type: 'image' });
    const { body } = await call('GET', `/messages?type=image&direction=incoming&limit=1`);
    const byMessage = { findBy: 'message', messageId: body.data[0].messageId, binaryProperty: 'picture' };
    const [received] = await run('file', 'download', byMessage, fresh());
    assert.equal(received?.binary?.['picture']?.mimeType, 'image/png');

    const { messageId } = await sendText('no file');
    await assert.rejects(run('file', 'download', { findBy: 'message', messageId }, fresh()), /has no file/);

    const binary = {
      data: { data: Buffer.from('a,b').toString('base64'), mimeType: 'text/csv', fileName: 'rows.csv' },
    };
    const uploaded = await one('file', 'upload', {}, { ...fresh(), items: [{ json: {}, binary }] });
    assert.equal(uploaded.fileName, 'rows.csv');
  });

  it('schedules and cancels messages, in the time zone of the workflow', async () => {
    const year = new Date().getUTCFullYear() + 1;
    const parameters = { ...toFriend(), message: 'Later', sendAt: `${year}-01-15T14:00:00` };
    const scheduled = await one('message', 'schedule', parameters, fresh());
    assert.deepEqual([scheduled.status, scheduled.timestamp], ['scheduled', `${year}-01-15T13:00:00.000Z`]);
    const { messageId } = scheduled;
    await one('message', 'cancel', { messageId }, fresh());
    assert.equal((await one('message', 'get', { messageId }, fresh())).status, 'failed');
  });

  it('edits, reacts to and deletes messages, and finds them', async () => {
    const { messageId } = await sendText('Helo zebra');
    assert.equal((await one('message', 'edit', { messageId, message: 'Hello zebra' }, fresh())).message, 'Hello zebra');
    assert.equal((await one('message', 'react', { messageId, emoji: '👍' }, fresh())).reactions[0].emoji, '👍');
    assert.equal((await one('message', 'react', { messageId, emoji: '' }, fresh())).reactions, undefined);
    const found = await run('message', 'getAll', { filters: { q: 'zebra', direction: 'outgoing' } }, fresh());
    assert.deepEqual(
      found.map(({ json }) => json['messageId']),
      [messageId],
    );
    assert.equal((await one('message', 'delete', { messageId, for: 'everyone' }, fresh())).deleted, true);
  });

  it('lists all pages, up to the limit', async () => {
    for (let i = 0; i < 3; i++) await sendText(`page ${i}`);
    const two = await run('message', 'getAll', { limit: 2, chatId: chosen(scene().friend) }, fresh());
    assert.equal(two.length, 2);
    const all = await run('message', 'getAll', { returnAll: true, chatId: chosen(scene().friend) }, fresh());
    assert.ok(all.length > 2);
  });

  it('marks chats as read, shows typing, and lists chats and contacts', async () => {
    const { friend, sessionId, simulate } = scene();
    await simulate({ action: 'incoming', from: friend, message: 'unread', senderName: 'Ada Friend' });
    const chat = { chatId: chosen(friend), sessionId: chosen(sessionId) };
    assert.ok((await run('chat', 'getAll', { filters: { unread: true } }, fresh())).length > 0);
    assert.ok((await one('chat', 'markRead', chat, fresh())).read > 0);
    assert.equal((await one('chat', 'setTyping', { ...chat, state: 'typing' }, fresh())).state, 'typing');
    const checked = await run('contact', 'check', { phoneNumbers: `${friend}, +49 170 999 0000` }, fresh());
    assert.deepEqual(
      checked.map(({ json }) => json['onNetwork']),
      [true, true],
    );
    const contacts = await run('contact', 'getAll', { filters: { phoneNumber: friend } }, fresh());
    assert.equal(contacts.length, 1);
  });

  it('creates groups and changes their members', async () => {
    const [first, second] = [newNumber(), newNumber()];
    const created = await one('group', 'create', { subject: 'Orders team', phoneNumbers: first, options: {} }, fresh());
    const group = { groupId: chosen(created.groupId) };
    const change = { ...group, change: 'add', phoneNumbers: second };
    const [result] = await run('group', 'updateParticipants', change, fresh());
    assert.deepEqual(result?.json, { phoneNumber: second, ok: true });
    const { participants } = await one('group', 'get', group, fresh());
    assert.equal(participants.length, 3);
    const found = await run('group', 'getAll', { q: 'Orders' }, fresh());
    assert.deepEqual(
      found.map(({ json }) => json['groupId']),
      [created.groupId],
    );
  });

  it('shows sessions and their QR code', async () => {
    const { call, sessionId } = scene();
    assert.equal((await one('session', 'get', { sessionId: chosen(sessionId) }, fresh())).status, 'connected');
    const { body } = await call('POST', '/sessions', { connector: 'sandbox', options: { pairing: true } });
    await call('POST', `/sessions/${body.sessionId}/connect`);
    const [item] = await run('session', 'getQr', { sessionId: chosen(body.sessionId) }, fresh());
    assert.ok(String(item?.json['qr']).length > 0);
    assert.equal(item?.binary?.['data']?.mimeType, 'image/png');
    assert.equal(
      Buffer.from(item?.binary?.['data']?.data ?? '', 'base64')
        .subarray(1, 4)
        .toString(),
      'PNG',
    );
    assert.ok((await run('session', 'getAll', {}, fresh())).length >= 2);
    await call('DELETE', `/sessions/${body.sessionId}`);
  });

  it('resets breakers, lists deliveries and replays them', async () => {
    const { call, credential } = scene();
    const { body } = await call('POST', '/webhooks/endpoints', {
      webhookUrl: 'http://127.0.0.1:9/closed',
      events: ['message.sent'],
      description: 'closed endpoint',
      retrySeconds: [],
    });
    const webhook = { webhookId: chosen(body.webhookId) };
    const listed = await searchList(switchboard, credential, 'searchWebhooks', 'closed');
    assert.deepEqual(listed.results, [{ name: 'closed endpoint (closed)', value: body.webhookId }]);
    assert.equal((await one('webhook', 'resetBreaker', webhook, fresh())).state, 'closed');
    await run('webhook', 'getDeliveries', { ...webhook, filters: { events: 'message.*' } }, fresh());
    const options = { afterTime: '2026-01-01T00:00:00Z', states: ['failed'] };
    const { replayed } = await one('webhook', 'replay', { ...webhook, dryRun: true, options }, fresh());
    assert.equal(replayed, 0);
    await call('DELETE', `/webhooks/endpoints/${body.webhookId}`);
  });

  it('sends once for a repeated run of an item, and again in the next run of a loop', async () => {
    const { friend } = scene();
    const items = [{ json: {} }, { json: {} }];
    const parameters = { ...toFriend(), message: 'once' };
    const ids = async (options: RunOptions) =>
      (await run('message', 'sendText', parameters, { items, ...options })).map(({ json }) => json['messageId']);
    const first = await ids({ run: 1000 });
    assert.notEqual(first[0], first[1]);
    assert.deepEqual(await ids({ run: 1000 }), first);
    assert.notDeepEqual(await ids({ run: 1001 }), first);
    const other = { ...parameters, message: 'another text' };
    await assert.rejects(run('message', 'sendText', other, { run: 1000 }), /idempotency key was used/);
    const tool = (message: string) =>
      one('message', 'sendText', { to: chosen(friend), message }, { run: 1002, isTool: true });
    assert.notEqual((await tool('a')).messageId, (await tool('b')).messageId);
  });

  it('rejects options that do not exist', async () => {
    const message = { messageId: 'msg_none' };
    for (const [resource, operation, parameters, label] of [
      ['message', 'delete', { ...message, for: null }, 'Delete For'],
      ['message', 'sendMedia', { ...toFriend(), source: 'disk' }, 'Source'],
      [
        'message',
        'sendMedia',
        { ...toFriend(), source: 'url', url: 'https://192.0.2.1/', mediaType: 'gif' },
        'Send As',
      ],
      ['file', 'download', { ...message, findBy: 'name' }, 'Find By'],
    ] as const) {
      const expected = new RegExp(`^NodeOperationError: "${label}" must be one of: `);
      await assert.rejects(run(resource, operation, parameters, fresh()), expected);
    }
  });

  it('shows errors with their reason, code and item, and continues if the node says so', async () => {
    const parameters = (index: number) => ({
      resource: 'message',
      operation: 'sendText',
      to: chosen(index === 0 ? scene().friend : 'not a number'),
      message: 'Hello',
    });
    const { credential } = scene();
    const items = [{ json: {} }, { json: {} }];
    await assert.rejects(execute(switchboard, credential, parameters, { ...fresh(), items }), (error) => {
      const { name, message, description, httpCode, context } = error as never as Record<string, unknown>;
      assert.equal(name, 'NodeApiError');
      assert.match(String(message), /^to must be a phone number/);
      assert.match(String(description), /^Code: validation_failed, Request: /);
      assert.equal(httpCode, '400');
      assert.equal((context as { itemIndex: number }).itemIndex, 1);
      return true;
    });
    const results = await execute(switchboard, credential, parameters, { ...fresh(), items, continueOnFail: true });
    assert.equal(results[0]?.json['status'], 'sent');
    assert.equal(results[1]?.json['code'], 'validation_failed');
    assert.deepEqual(results[1]?.pairedItem, { item: 1 });

    const wrong = { ...credential, apiKey: 'wrong' };
    await assert.rejects(execute(switchboard, wrong, parameters, fresh()), /credential/);
    await assert.rejects(run('message', 'sendText', { message: 'Hello' }, fresh()), /"To" is required/);
    await assert.rejects(run('file', 'download', { mediaId: 'med_none' }, fresh()), { httpCode: '404' });
  });

  it('waits and repeats a call when the server is busy', async () => {
    const answers = [503, 429, 200];
    const keys: unknown[] = [];
    const server = createServer((request, response) => {
      keys.push(request.headers['idempotency-key']);
      const status = answers.shift() ?? 500;
      response.writeHead(status, { 'content-type': 'application/json', 'retry-after': '0' });
      response.end(JSON.stringify(status === 200 ? { messageId: 'msg_1' } : { code: 'too_busy', detail: 'busy' }));
    }).listen(0, '127.0.0.1');
    try {
      await new Promise((resolve) => server.once('listening', resolve));
      const credential = {
        baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v1/`,
        apiKey: 'key',
      };
      const parameters = { resource: 'message', operation: 'sendText', to: chosen('491701234567'), message: 'Hello' };
      const [item] = await execute(switchboard, credential, parameters);
      assert.equal(item?.json['messageId'], 'msg_1');
      assert.equal(new Set(keys).size, 1);

      // Without a key, a repeated call could do something twice.
      answers.push(503, 200);
      const edit = { resource: 'message', operation: 'edit', messageId: 'msg_1', message: 'Hello' };
      await assert.rejects(execute(switchboard, credential, edit), /busy/);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });

  it('lists sessions, chats and groups to choose from', async () => {
    const { credential, sessionId, friend, simulate } = scene();
    await simulate({ action: 'incoming', from: friend, message: 'Hi', senderName: 'Grace' });
    const sessions = await searchList(switchboard, credential, 'searchSessions', 'connected');
    assert.deepEqual(
      sessions.results.map(({ value }) => value),
      [sessionId],
    );
    const recent = await searchList(switchboard, credential, 'searchChats', undefined, { sessionId });
    assert.ok(recent.results.some(({ value }) => value === friend));
    const found = await searchList(switchboard, credential, 'searchChats', 'Grace');
    assert.deepEqual(
      found.results.map(({ value }) => value),
      [friend],
    );
    const groups = await searchList(switchboard, credential, 'searchGroups', 'Orders');
    assert.equal(groups.results[0]?.name, 'Orders team');
  });

  it('has a test for every operation', () => {
    const all = Object.entries(operations).flatMap(([resource, named]) =>
      Object.keys(named).map((operation) => `${resource}.${operation}`),
    );
    // waiting.test.ts
    const elsewhere = ['message.ask'];
    assert.deepEqual(
      all.filter((name) => !used.has(name) && !elsewhere.includes(name)),
      [],
    );
    // n8n offers exactly these.
    const offered = switchboard.description.properties
      .filter(({ name }) => name === 'operation')
      .flatMap(({ displayOptions, options = [] }) =>
        options.map((option) => `${displayOptions?.show?.['resource']?.[0]}.${'value' in option ? option.value : ''}`),
      );
    assert.deepEqual(offered.toSorted(), all.toSorted());
  });
});
