import assert from 'node:assert/strict';
import { it } from 'node:test';
import { type TSchema, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { AddedFields } from '../../src/events/addedFields.ts';
import { type EventKind, eventKinds, events } from '../../src/events/events.ts';
import { startReceiver } from '../support/connections/receiver.ts';
import { describeOnEachDatabase } from '../support/databases/databases.ts';
import { eventually } from '../support/eventually.ts';
import { picture, upload } from '../support/media/media.ts';
import { closed } from '../support/operations/closedSchema.ts';
import { type Answer, bearer, connectSession, eventOf, serversFor } from '../support/server.ts';

const ANN = '491711111111';

describeOnEachDatabase('event types', (_, database) => {
  const start = serversFor(database);

  async function setUp(test: { after(cleanUp: () => Promise<void>): void }, subscribed: readonly string[] = ['*']) {
    const { url, account } = await start();
    const { call, token } = await account();
    const receiver = await startReceiver();
    test.after(() => receiver.close());
    const set = await call('POST', '/webhooks/set', { webhookUrl: receiver.url, events: subscribed });
    assert.equal(set.status, 200, JSON.stringify(set.body));
    const options = { statuses: true, channels: true };
    const sessionId = await connectSession(call, undefined, { options });
    const simulate = async (action: string, fields: object = {}) => {
      const { status, body } = await call('POST', `/sessions/${sessionId}/simulate`, { action, ...fields });
      assert.equal(status, 200, JSON.stringify(body));
    };
    const send = async (fields: object = {}) =>
      (await call('POST', '/messages/send', { sessionId, to: ANN, message: 'hello', ...fields })).body.messageId;
    const hold = async () => {
      const { key } = (await call('POST', '/api-keys/create', { name: 'held', requiresApproval: true })).body;
      await bearer(url, key)('POST', '/messages/send', { sessionId, to: ANN, message: 'May I?' });
    };
    return { call, url, token, receiver, sessionId, simulate, send, hold };
  }

  /** All events of the account so far. */
  const readAll = async (call: Awaited<ReturnType<typeof setUp>>['call'], kinds = '*') =>
    (await call('GET', `/events?events=${kinds}&limit=200`)).body.data as { event: EventKind; data: Answer['body'] }[];

  it('webhook.circuit_opened does not reveal where the other receiver redirects to', async (test) => {
    const { call, simulate } = await setUp(test, ['webhook.*']);
    const moved = await startReceiver();
    test.after(() => moved.close());
    moved.respond((_, response) => response.writeHead(301, { location: '/hook/a-secret' }).end());
    await call('POST', '/webhooks/endpoints', { webhookUrl: `${moved.url}/a-secret`, events: ['message.incoming'] });
    for (let n = 0; n < 6; n++) await simulate('incoming', { from: `49171111111${n}`, message: 'Hi' });
    const opened = await eventOf(call, 'webhook.circuit_opened');
    assert.equal(opened.webhookOrigin, new URL(moved.url).origin);
    assert.equal(opened.error, 'Answered 301 with a redirect, which is not followed');
    assert.ok(!JSON.stringify(opened).includes('a-secret'));
  });

  it('has an event for every change, in the shape of the table', async (test) => {
    const { call, url, token, sessionId, simulate, send, hold } = await setUp(test);
    const messageId = await send();
    const from = ANN;
    await simulate('incoming', { from, senderName: 'Ann', message: 'Hi' });
    const { messageId: incoming } = await eventOf(call, 'message.incoming');
    await simulate('react', { from, messageId, emoji: '👍' });
    await simulate('edit', { messageId: incoming, message: 'Hello' });
    await call('POST', `/chats/${ANN}/read`, { sessionId });
    await simulate('delete', { messageId: incoming });
    await send({ to: '15550001234' }); // not on the network
    await hold();
    await send({ message: 'later', sendAt: new Date(Date.now() + 50).toISOString() });
    const poll = await call('POST', '/messages/send-poll', {
      sessionId,
      to: ANN,
      question: 'Tea?',
      options: ['Yes', 'No'],
    });
    await simulate('vote', { from, messageId: poll.body.messageId, options: ['Yes'] });
    await simulate('incoming', { from, message: 'Tea', event: { startsAt: '2030-01-01T18:00:00Z' } });
    const event = await eventOf(call, 'message.incoming', ({ type }) => type === 'event');
    await simulate('event_answer', { from, messageId: event.messageId, answer: 'going' });
    const location = { latitude: 1, longitude: 2, live: { sequence: 1 } };
    await simulate('incoming', { from, location });
    const place = await eventOf(call, 'message.incoming', ({ type }) => type === 'location');
    await simulate('move', { messageId: place.messageId, location: { ...location, live: { sequence: 2 } } });
    const sent = await upload({ url }, token, picture(), { headers: { 'content-type': 'image/png' } });
    const { mediaId } = sent.body;
    await simulate('incoming', { from, mediaId, type: 'image' });
    const image = await eventOf(call, 'message.incoming', ({ type }) => type === 'image');
    await simulate('live_photo', { messageId: image.messageId, mediaId });
    await simulate('rename', { from, senderName: 'Anna' });
    await simulate('history', { history: { generate: { messages: 1 } } });
    await simulate('presence', { from, presence: 'typing' });
    await simulate('call', { from, callId: 'c1', video: true });
    await simulate('call_end', { from, callId: 'c1', outcome: 'rejected' });
    await simulate('group_create', { from, subject: 'Team', phoneNumbers: ['491722222222'] });
    const { groupId } = await eventOf(call, 'group.created');
    await simulate('group_leave', { groupId, from: '491722222222' });
    const own = (await call('POST', '/groups', { sessionId, subject: 'Own', phoneNumbers: [from] })).body.groupId;
    await call('PATCH', `/groups/${own}`, { settings: { joinApproval: true } });
    await simulate('group_join_request', { groupId: own, from: '491722222222' });
    await simulate('label', { labelName: 'New' });
    await simulate('star', { messageId });
    await simulate('pin', { messageId, from, pinnedUntil: new Date(Date.now() + 60_000).toISOString() });
    await simulate('delete_for_me', { messageId: incoming });
    await simulate('incoming', { from, groupId, message: 'Hi' });
    await simulate('chat_clear', { groupId });
    await simulate('status', { from, message: 'Out for tea' });
    const theirs = await eventOf(call, 'status.received');
    await simulate('status_mention', { from, groupId, statusId: theirs.statusId });
    await simulate('status_delete', { from, statusId: theirs.statusId });
    const status = { sessionId, message: 'Open', phoneNumbers: [ANN] };
    const { statusId } = (await call('POST', '/status', status)).body;
    await simulate('status_view', { from, statusId });
    await simulate('chat_open', { from, referral: { adId: '1', headline: 'Tea' } });
    await simulate('call_permission', { from, permittedUntil: '2030-01-01T18:00:00Z' });
    await simulate('marketing_choice', { from });
    await simulate('number_request', { from });
    await simulate('channel_create', { from, subject: 'News' });
    const [{ channelId }] = (await call('GET', `/channels?sessionId=${sessionId}`)).body.data;
    await simulate('channel_post', { channelId, message: 'Hello' });
    await simulate('number_update', { quality: 'high' });
    const template = { name: 'tea', language: 'en', category: 'utility', components: [{ type: 'BODY', text: 'Tea?' }] };
    const { templateId } = (await call('POST', `/sessions/${sessionId}/templates`, template)).body;
    await simulate('template_review', { templateId, templateStatus: 'approved' });
    await call('POST', `/sessions/${sessionId}/disconnect`);
    const gone = await startReceiver();
    test.after(() => gone.close());
    gone.respond(410);
    const broken = (await call('POST', '/webhooks/endpoints', { webhookUrl: gone.url, events: ['*'] })).body;
    await call('POST', `/sessions/${sessionId}/connect`);
    await eventOf(call, 'webhook.circuit_opened', ({ webhookOrigin }) => webhookOrigin === new URL(gone.url).origin);
    await call('POST', `/webhooks/endpoints/${broken.webhookId}/circuit-breaker/reset`);
    await eventOf(call, 'webhook.circuit_closed');
    await call('POST', '/messages/send-bulk', { sessionId, to: ['491701234567'], message: 'Hi' });
    await eventOf(call, 'message.queued');
    await eventOf(call, 'message.delivered');
    await simulate('receipt', { messageId, status: 'read' });

    const logged = await eventually(
      () => readAll(call),
      (all) => new Set(all.map(({ event }) => event)).size === eventKinds.length,
    );
    for (const { event, data } of logged) {
      const shape = Type.Object({ ...AddedFields.properties, ...events[event].data.properties });
      const check = Compile(closed(JSON.parse(JSON.stringify(shape))) as TSchema);
      assert.ok(check.Check(data), `${event}: ${JSON.stringify([data, check.Errors(data)])}`);
    }
    const about = (kind: EventKind) => logged.filter(({ event }) => event === kind).map(({ data }) => data);
    assert.deepEqual(
      about('message.reaction').map(({ emoji, from: who, fromMe }) => [emoji, who, fromMe]),
      [['👍', ANN, false]],
    );
    assert.equal(about('message.edited')[0].message, 'Hello');
    assert.equal(about('message.deleted')[0].messageId, incoming);
    assert.match(about('message.failed')[0].error, /not on this network/);
    assert.deepEqual(about('poll.vote')[0].options, ['Yes']);
    assert.deepEqual(
      about('contact.updated').map(({ name }) => name),
      ['Ann', 'Anna'],
    );
    assert.deepEqual([about('chat.updated')[0].unreadCount, about('chat.updated')[0].chatId], [0, ANN]);
    assert.deepEqual(about('group.participants')[0].phoneNumbers, ['491722222222']);
    assert.equal(about('call.ended')[0].outcome, 'rejected');
    assert.equal(about('chat.opened')[0].referral.headline, 'Tea');
    assert.deepEqual([about('call.permission')[0].granted, about('contact.marketing')[0].stopped], [true, true]);
    assert.deepEqual(
      [about('status.mentioned')[0].groupId, about('status.mentioned')[0].statusId],
      [groupId, theirs.statusId],
    );
    assert.deepEqual(about('message.media')[0].livePhoto.mediaId, mediaId);
    assert.deepEqual(
      about('session.status').map(({ previousStatus, status }) => `${previousStatus} ${status}`),
      [
        'created connecting',
        'connecting connected',
        'connected disconnected',
        'disconnected connecting',
        'connecting connected',
      ],
    );
    // The webhook whose breaker opened does not get it.
    const { body } = await call('GET', `/webhooks/deliveries?webhookId=${broken.webhookId}&limit=200`);
    assert.ok(body.data.every(({ event }: { event: string }) => !event.startsWith('webhook.')));
  });

  it('reaches only webhooks that subscribe to it, by name or pattern', async (test) => {
    const contract = [
      'message.incoming',
      'message.sent',
      'message.delivered',
      'message.read',
      'session.connected',
      'session.disconnected',
      'group.created',
      'group.updated',
    ];
    const { call, receiver, simulate, sessionId } = await setUp(test, contract);
    const [messages, calls] = [await startReceiver(), await startReceiver()];
    test.after(async () => {
      await messages.close();
      await calls.close();
    });
    const add = (webhookUrl: string, wanted: string[]) =>
      call('POST', '/webhooks/endpoints', { webhookUrl, events: wanted });
    const { body } = await add(messages.url, ['session.status', 'message.*', 'message.sent']);
    assert.deepEqual(body.events, ['message.*', 'session.status']);
    await add(calls.url, ['call.incoming']);
    await simulate('incoming', { from: ANN, message: 'Hi' });
    const { messageId } = await eventOf(call, 'message.incoming');
    await simulate('react', { from: ANN, messageId, emoji: '🎉' });
    await simulate('react', { from: ANN, messageId, emoji: '🎉' }); // no change, so no event
    await simulate('call', { from: ANN, callId: 'c1' });
    await call('POST', `/sessions/${sessionId}/disconnect`);
    await receiver.waitFor(3);
    await messages.waitFor(3);
    await calls.waitFor(1);
    const kindsIn = ({ deliveries }: typeof receiver) => deliveries.map(({ event }) => event).sort();
    assert.deepEqual(kindsIn(receiver), ['message.incoming', 'session.connected', 'session.disconnected']);
    assert.deepEqual(kindsIn(messages), ['message.incoming', 'message.reaction', 'session.status']);
    assert.deepEqual(kindsIn(calls), ['call.incoming']);

    const kinds = (await readAll(call, 'message.*,call.incoming')).map(({ event }) => event);
    assert.deepEqual(kinds, ['message.incoming', 'message.reaction', 'call.incoming']);
  });

  it('names the field and the value that is no event type', async (test) => {
    const { call } = await setUp(test);
    for (const wrong of ['message', 'message*', 'nope.*', '**', '*.sent', 'message.sen*', '']) {
      const { status, body } = await call('POST', '/webhooks/endpoints', {
        webhookUrl: 'http://127.0.0.1:9/hook',
        events: ['message.sent', wrong],
      });
      assert.deepEqual([status, body.errors?.[0].field], [400, 'events'], wrong);
      assert.ok(body.detail.includes(`"${wrong}"`), body.detail);
    }
    for (const wrong of [1, null, 'x'.repeat(60)]) {
      const { status, body } = await call('POST', '/webhooks/endpoints', {
        webhookUrl: 'https://example.com/hooks',
        events: ['message.sent', wrong],
      });
      assert.deepEqual([status, body.errors[0].field], [400, 'events'], String(wrong));
      assert.match(body.errors[0].message, /^has an entry that must /);
    }
    const { body } = await call('GET', '/events?events=nope');
    assert.equal(body.errors[0].field, 'events');
  });

  it('is listed with its schema and an example that fits', async (test) => {
    const { call } = await setUp(test);
    const { status, body } = await call('GET', '/events/types');
    assert.equal(status, 200);
    assert.deepEqual(
      body.data.map(({ event }: Answer['body']) => event),
      eventKinds,
    );
    for (const { event, schema, example } of body.data) {
      assert.equal(example.event, event);
      assert.ok(Compile(schema).Check(example.data), event);
    }
  });

  it('shows how to link a phone, and hides it from those who may not see content', async (test) => {
    const { call } = await setUp(test);
    const { body: session } = await call('POST', '/sessions', { options: { pairing: true } });
    const { sessionId } = session;
    await call('POST', `/sessions/${sessionId}/connect`);
    const { qr } = (await call('GET', `/sessions/${sessionId}/qr`)).body;
    const ofSession = (data: Answer['body']) => data.sessionId === sessionId;
    const shown = await eventOf(call, 'session.status', (data) => ofSession(data) && data.qr !== undefined);
    assert.deepEqual([shown.status, shown.previousStatus, shown.qr], ['awaiting_pairing', 'connecting', qr]);
    assert.ok(Date.parse(shown.expiresAt) > Date.parse(shown.timestamp));
    const { code } = (await call('POST', `/sessions/${sessionId}/pairing-code`, { phoneNumber: '15551112222' })).body;
    const coded = await eventOf(call, 'session.status', (data) => data.pairingCode !== undefined);
    assert.deepEqual([coded.pairingCode, coded.status, coded.sessionId], [code, 'awaiting_pairing', sessionId]);

    for (const permissions of [['events:metadata'], ['events:read']]) {
      const { body: key } = await call('POST', '/api-keys/create', { name: 'watcher', permissions });
      const watcher = (path: string) => call('GET', path, undefined, { authorization: `Bearer ${key.key}` });
      const { body } = await watcher('/events?events=session.status');
      const seen = body.data.filter(({ data }: Answer['body']) => ofSession(data));
      assert.ok(seen.length >= 3 && seen.every(({ data }: Answer['body']) => !data.qr && !data.pairingCode));
    }
  });

  it('reports nothing of a blocked contact, and what happens to it', async (test) => {
    const { call, sessionId, simulate } = await setUp(test);
    const block = (blocked: boolean) => call('PUT', `/contacts/${ANN}/blocked`, { sessionId, blocked });
    await block(true);
    await block(true);
    await simulate('call', { from: ANN, callId: 'c1' });
    await simulate('presence', { from: ANN, presence: 'online' });
    await block(false);
    await simulate('call', { from: ANN, callId: 'c2' });
    await eventOf(call, 'call.incoming', ({ callId }) => callId === 'c2');
    const logged = await readAll(call, 'contact.*,call.*,presence.*');
    assert.deepEqual(
      logged.map(({ event, data }) => [event, data.blocked ?? data.callId]),
      [
        ['contact.updated', true],
        ['contact.updated', false],
        ['call.incoming', 'c2'],
      ],
    );
  });

  it('reports changes of a chat, here and on another device', async (test) => {
    const { call, sessionId, simulate } = await setUp(test);
    await simulate('incoming', { from: ANN, message: 'Hi' });
    await eventOf(call, 'message.incoming');
    const mutedUntil = '2030-01-01T00:00:00.000Z';
    const patch = { sessionId, archived: true, mutedUntil };
    await call('PATCH', `/chats/${ANN}`, patch);
    await call('PATCH', `/chats/${ANN}`, patch); // no change
    await simulate('chat_update', { from: ANN, pinned: true, archived: false });
    await simulate('chat_update', { from: ANN, read: true });
    await simulate('chat_update', { from: '491799999999', archived: true }); // the session has no such chat
    const [archived, pinned, read, ...more] = (await readAll(call, 'chat.updated')).map(({ data }) => data);
    assert.deepEqual([archived.archived, archived.pinned, archived.mutedUntil], [true, false, mutedUntil]);
    assert.deepEqual([pinned.archived, pinned.pinned, pinned.unreadCount], [false, true, 1]);
    assert.equal(read.unreadCount, 0);
    assert.deepEqual(more, []);
    const { body: chat } = await call('GET', `/chats/${ANN}?sessionId=${sessionId}`);
    assert.deepEqual([chat.unreadCount, chat.pinned, chat.archived], [0, true, false]);
  });

  it('is left out of the log by default, however many there are in between', async (test) => {
    const { call, simulate } = await setUp(test);
    const { nextCursor } = (await call('GET', '/events?afterCursor=now')).body;
    for (let n = 0; n < 25; n++) await simulate('call', { from: ANN, callId: `c${n}` });
    await simulate('incoming', { from: ANN, message: 'Hi' });
    await eventOf(call, 'message.incoming');
    const found: string[] = [];
    let after: string = nextCursor;
    let requests = 0;
    for (; requests < 5 && found.length === 0; requests++) {
      const { body } = await call('GET', `/events?limit=1&afterCursor=${after}`);
      assert.notEqual(body.nextCursor, after, 'the cursor moves past the events that are left out');
      found.push(...body.data.map(({ event }: { event: string }) => event));
      after = body.nextCursor;
    }
    assert.deepEqual([found, requests], [['message.incoming'], 3]);
    const waited = (await call('GET', `/events?limit=1&wait=5&afterCursor=${nextCursor}`)).body;
    assert.equal(waited.data[0].event, 'message.incoming');
  });
});
