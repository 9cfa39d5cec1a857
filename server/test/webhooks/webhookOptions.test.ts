import assert from 'node:assert/strict';
import { it } from 'node:test';
import { startReceiver } from '../support/connections/receiver.ts';
import { describeOnEachDeployment } from '../support/databases/databases.ts';
import { eventually } from '../support/eventually.ts';
import { type Answer, connectSession, serversFor } from '../support/server.ts';

const ANN = '491711111111';
const BEN = '491722222222';

describeOnEachDeployment('options of a webhook', (_, database) => {
  const start = serversFor(database);

  /** An account with a session, a receiver, and a witness that receives everything. */
  async function setUp(test: { after(cleanUp: () => Promise<void>): void }, events: readonly string[] = ['message.*']) {
    const { call } = await (await start()).account();
    const [receiver, witness] = [await startReceiver(), await startReceiver()];
    test.after(async () => {
      await receiver.close();
      await witness.close();
    });
    await call('POST', '/webhooks/set', { webhookUrl: witness.url, events: ['message.*'] });
    const sessionId = await connectSession(call);
    const create = (fields: object = {}) =>
      call('POST', '/webhooks/endpoints', { webhookUrl: receiver.url, events, ...fields });
    const change = (webhookId: string, fields: object) => call('PATCH', `/webhooks/endpoints/${webhookId}`, fields);
    const write = (from: string, message: string, more: object = {}) =>
      call('POST', `/sessions/${sessionId}/simulate`, { action: 'incoming', from, message, ...more });
    const pendingOf = async (webhookId: string): Promise<Answer['body'][]> =>
      (await call('GET', `/webhooks/deliveries?webhookId=${webhookId}&states=pending`)).body.data;
    return { call, receiver, witness, sessionId, create, change, write, pendingOf };
  }

  it('filters select events by chat, sender and type', async (test) => {
    const { call, receiver, witness, sessionId, create, change, write } = await setUp(test);
    const filters = { chats: ['+49 171 1111111', '4917222*'], ignoredChats: [BEN], fromMe: false };
    const { status, body } = await create({ filters });
    assert.equal(status, 201, JSON.stringify(body));
    assert.deepEqual(body.filters, { chats: [ANN, '4917222*'], ignoredChats: [BEN], fromMe: false });
    await call('POST', '/messages/send', { sessionId, to: ANN, message: 'mine' });
    await write(BEN, 'ignored');
    await write('491733333333', 'not listed');
    await write(ANN, 'listed');
    await write('491722222223', 'by its beginning');
    await witness.waitFor((all) => all.filter(({ event }) => event === 'message.incoming').length === 4);
    await receiver.waitFor(2);
    const textsOf = () => receiver.deliveries.map(({ parsed }) => parsed.data.message);
    assert.deepEqual(textsOf().sort(), ['by its beginning', 'listed']);

    const changed = await change(body.webhookId, { filters: { messageTypes: ['location'], chatTypes: ['direct'] } });
    assert.deepEqual(changed.body.filters, { messageTypes: ['location'], chatTypes: ['direct'] });
    await write(ANN, 'a text');
    await write(BEN, 'a place', { location: { latitude: 1, longitude: 2 } });
    await receiver.waitFor(3);
    assert.equal(textsOf().at(-1), 'a place');
    assert.equal((await change(body.webhookId, { filters: null })).body.filters, null);
    await write(BEN, 'anything');
    await receiver.waitFor(4);
    assert.equal(textsOf().at(-1), 'anything');
  });

  it('filters go on with a hidden number once it is known', async (test) => {
    const { call, receiver, sessionId, create, write } = await setUp(test, ['message.incoming', 'contact.updated']);
    const hidden = '000123456789012';
    const { body } = await create({ filters: { chats: [hidden] } });
    await call('POST', '/api-keys/create', { name: 'limited', allowedRecipients: [hidden] });
    await write(hidden, 'hidden');
    await receiver.waitFor((all) => all.some(({ event }) => event === 'message.incoming'));
    const known = { action: 'identify', from: hidden, phoneNumber: ANN };
    assert.equal((await call('POST', `/sessions/${sessionId}/simulate`, known)).status, 200);
    await write(BEN, 'another person');
    await write(ANN, 'known');
    await receiver.waitFor((all) => all.some(({ parsed }) => parsed.data.message === 'known'));
    const updated = receiver.deliveries.find(({ parsed }) => parsed.data.previousPhoneNumber === hidden);
    assert.equal(updated?.parsed.data.phoneNumber, ANN);
    assert.ok(!receiver.deliveries.some(({ parsed }) => parsed.data.message === 'another person'));
    const { filters } = (await call('GET', `/webhooks/endpoints/${body.webhookId}`)).body;
    assert.deepEqual(filters, { chats: [ANN] });
    const [key] = (await call('GET', '/api-keys')).body.data;
    assert.deepEqual(key.allowedRecipients, [ANN], 'so does a key that may write to the person');
    for (const wrong of [{ from: BEN }, { phoneNumber: hidden }, { phoneNumber: undefined }])
      assert.equal((await call('POST', `/sessions/${sessionId}/simulate`, { ...known, ...wrong })).status, 400);
  });

  it('filters select the posts of channels as those of chats', async (test) => {
    const { call } = await (await start()).account();
    const sessionId = await connectSession(call, undefined, { options: { channels: true } });
    const simulate = async (action: string, fields: object) => {
      const { status, body } = await call('POST', `/sessions/${sessionId}/simulate`, { action, ...fields });
      assert.equal(status, 200, JSON.stringify(body));
    };
    await simulate('channel_create', { from: ANN, subject: 'News' });
    const [{ channelId }] = (await call('GET', `/channels?sessionId=${sessionId}`)).body.data;
    const receive = async (filters: object) => {
      const receiver = await startReceiver();
      test.after(() => receiver.close());
      const events = ['channel.message', 'message.incoming'];
      const { status, body } = await call('POST', '/webhooks/endpoints', { webhookUrl: receiver.url, events, filters });
      assert.equal(status, 201, JSON.stringify(body));
      return receiver;
    };
    const ofChannels = await receive({ chatTypes: ['channel'] });
    const ofOne = await receive({ chats: [channelId, ANN] });
    const ofPeople = await receive({ chatTypes: ['direct', 'group'] });
    const ofAnn = await receive({ chats: ['+49 171*'] });
    await simulate('channel_post', { channelId, message: 'a post' });
    await simulate('incoming', { from: ANN, message: 'a message' });
    await ofOne.waitFor(2);
    for (const receiver of [ofChannels, ofPeople, ofAnn]) await receiver.waitFor(1);
    const kindsOf = ({ deliveries }: typeof ofOne) => deliveries.map(({ event }) => event).toSorted();
    assert.deepEqual(kindsOf(ofOne), ['channel.message', 'message.incoming']);
    assert.deepEqual(kindsOf(ofChannels), ['channel.message']);
    for (const receiver of [ofPeople, ofAnn]) assert.deepEqual(kindsOf(receiver), ['message.incoming']);
  });

  it('filters select messages and opened chats by the ad that led to them', async (test) => {
    const events = ['message.*', 'chat.opened'];
    const { call, receiver, sessionId, create, change, write } = await setUp(test, events);
    const { body: created } = await create({ filters: { hasReferral: true } });
    assert.deepEqual([created.filters, created.warnings], [{ hasReferral: true }, []]);
    const open = (from: string, more: object = {}) =>
      call('POST', `/sessions/${sessionId}/simulate`, { action: 'chat_open', from, ...more });
    /** Sends everything, then a message that every filter lets through, and returns what arrived before it. */
    const arrived = async () => {
      const before = receiver.deliveries.length;
      await write(ANN, 'without an ad');
      await write(ANN, 'from ad 1', { referral: { adId: '1', headline: 'Tea' } });
      await write(BEN, 'from ad 2', { referral: { adId: '2' } });
      await write(BEN, 'from an unknown ad', { referral: { headline: 'Coffee' } });
      await open('491733333333');
      await open('491744444444', { referral: { adId: '1' } });
      await call('POST', '/messages/send', { sessionId, to: ANN, message: 'mine' });
      await receiver.waitFor((all) => all.slice(before).some(({ event }) => event === 'message.delivered'));
      const received = receiver.deliveries
        .slice(before)
        .filter(({ event }) => ['message.incoming', 'chat.opened'].includes(event));
      return received.map(({ parsed: { data } }) => data.message ?? `opened by ${data.from}`).toSorted();
    };
    const opened = 'opened by 491744444444';
    assert.deepEqual(await arrived(), ['from ad 1', 'from ad 2', 'from an unknown ad', opened]);
    assert.equal((await change(created.webhookId, { filters: { adIds: ['1', '3'] } })).status, 200);
    assert.deepEqual(await arrived(), ['from ad 1', opened]);
    assert.equal((await change(created.webhookId, { filters: { hasReferral: false } })).status, 200);
    assert.deepEqual(await arrived(), ['opened by 491733333333', 'without an ad']);

    const useless = await create({ events: ['message.sent'], filters: { adIds: ['1'] } });
    assert.match(useless.body.warnings.join(), /hasReferral and adIds have no effect: they apply to message\.incoming/);
    for (const filters of [{ adIds: [] }, { adIds: [''] }, { adIds: ['x'.repeat(201)] }, { hasReferral: 'yes' }])
      assert.equal((await create({ filters })).status, 400, JSON.stringify(filters));
    const { status, body } = await create({ filters: { hasReferral: false, adIds: ['1'] } });
    assert.deepEqual([status, body.errors[0].field, body.errors[0].code], [400, 'filters.adIds', 'conflict']);
  });

  it('headers are sent, and never returned', async (test) => {
    const { receiver, create, change, call, write } = await setUp(test);
    const { body } = await create({
      headers: { Authorization: 'Bearer s3cret', 'X-Team': 'sales', 'User-Agent': 'mine/1' },
      secret: 'x',
    });
    assert.deepEqual(body.headerNames, ['authorization', 'x-team', 'user-agent']);
    const { body: read } = await call('GET', `/webhooks/endpoints/${body.webhookId}`);
    assert.ok(!JSON.stringify([body, read]).includes('s3cret'));
    await write(ANN, 'Hi');
    await receiver.waitFor(1);
    const [{ headers } = assert.fail()] = receiver.deliveries;
    assert.deepEqual(
      [headers.authorization, headers['x-team'], headers['user-agent']],
      ['Bearer s3cret', 'sales', 'mine/1'],
    );
    assert.equal(headers['content-type'], 'application/json');
    assert.ok(headers['x-webhook-signature']);
    const { body: tested } = await call('GET', `/webhooks/endpoints/${body.webhookId}/test`);
    assert.equal(receiver.deliveries.at(-1)?.headers.authorization, 'Bearer s3cret');
    assert.deepEqual(
      [tested.request.headers.authorization, tested.request.headers['x-team']],
      ['(hidden)', '(hidden)'],
    );
    assert.ok(!JSON.stringify(tested).includes('s3cret'));
    assert.deepEqual((await change(body.webhookId, { headers: null })).body.headerNames, []);
    await write(ANN, 'Hi again');
    await receiver.waitFor(3);
    assert.equal(receiver.deliveries.at(-1)?.headers.authorization, undefined);
    assert.match(String(receiver.deliveries.at(-1)?.headers['user-agent']), /^Switchboard\//);
  });

  it('headers do not follow the URL to another origin', async (test) => {
    const { receiver, witness, create, change, write } = await setUp(test);
    const { webhookId } = (await create({ headers: { Authorization: 'Bearer s3cret' } })).body;
    const { body: same } = await change(webhookId, { webhookUrl: `${receiver.url}/other-path` });
    assert.deepEqual([same.headerNames, same.warnings], [['authorization'], []]);
    const { body: moved } = await change(webhookId, { webhookUrl: `${witness.url}/other-path` });
    assert.deepEqual(moved.headerNames, []);
    assert.match(moved.warnings[0], /headers were removed/);
    await write(ANN, 'Hi');
    await witness.waitFor(2);
    assert.ok(witness.deliveries.every(({ headers }) => headers.authorization === undefined));
    const headers = { Authorization: 'Bearer new' };
    const { body: both } = await change(webhookId, { webhookUrl: receiver.url, headers });
    assert.deepEqual([both.headerNames, both.warnings], [['authorization'], []]);
  });

  it('rejects headers and filters that cannot work, and names them', async (test) => {
    const { create, call, witness } = await setUp(test);
    const many = Object.fromEntries(Array.from({ length: 21 }, (_, n) => [`x-${n}`, '']));
    for (const headers of [
      { 'x-a': 'one\r\nx-b: two' },
      { 'x-a': 'é' },
      { 'x a': '' },
      { '': '' },
      { Host: 'other.example' },
      { 'Content-Length': '5' },
      { 'Transfer-Encoding': 'chunked' },
      { 'X-Webhook-Id': 'evt_1' },
      { 'webhook-signature': 'v1,x' },
      { 'x-a': '', 'X-A': '' },
      { [`x-${'a'.repeat(100)}`]: '' },
      many,
    ]) {
      const { status, body } = await create({ headers });
      assert.deepEqual([status, body.errors[0].field.split('.')[0]], [400, 'headers'], JSON.stringify(headers));
    }
    for (const chat of ['*', 'grp_*x', 'chn_1', '0170*', 'nobody', '12', '*49', '']) {
      const { status, body } = await create({ filters: { chats: [chat] } });
      assert.equal(status, 400, chat);
      assert.match(body.errors[0].field, /^filters\.chats/);
    }
    for (const wrong of [
      { timeoutMs: 999 },
      { timeoutMs: 60_001 },
      { retrySeconds: [0] },
      { filters: { chatTypes: [] } },
    ])
      assert.equal((await create(wrong)).status, 400, JSON.stringify(wrong));
    const { data } = (await call('GET', '/webhooks/endpoints')).body;
    assert.equal(data.length, 1, 'nothing was created');
    const { status, body } = await call('PATCH', `/webhooks/endpoints/${data[0].webhookId}`, {
      filters: { fromMe: true },
    });
    assert.deepEqual([status, body.errors[0].field], [400, 'filters'], witness.url);
  });

  it('a webhook with an empty retry schedule fails after one attempt', async (test) => {
    const { call, receiver, create, write } = await setUp(test);
    receiver.respond(500);
    const { body } = await create({ retrySeconds: [] });
    assert.deepEqual(body.retrySeconds, []);
    await write(ANN, 'Hi');
    const failed = await eventually(
      async () => (await call('GET', `/webhooks/deliveries?webhookId=${body.webhookId}&states=failed`)).body.data,
      (found) => found.length === 1,
    );
    assert.equal(failed[0].attempts, 1);
    assert.equal(receiver.deliveries.length, 1);
  });

  it('a webhook with its own deadline gives up then', async (test) => {
    const { call, receiver, create } = await setUp(test);
    receiver.respond(() => {}); // never answers
    const { body } = await create({ timeoutMs: 1000 });
    const { body: result } = await call('GET', `/webhooks/endpoints/${body.webhookId}/test`);
    assert.deepEqual([result.class, result.delivered], ['timeout', false]);
    assert.match(result.message, /\b1(\.0)? s\b|1000 ms/);
  });

  it('a paused webhook queues its events and sends them once it is resumed', async (test) => {
    const { call, receiver, witness, create, change, write, pendingOf } = await setUp(test);
    const { webhookId } = (await create({ paused: true })).body;
    await write(ANN, 'one');
    await write(ANN, 'two');
    await witness.waitFor(2);
    const pending = await pendingOf(webhookId);
    assert.equal(pending.length, 2);
    const { body: explained } = await call('GET', `/webhooks/deliveries/${pending[0].deliveryId}`);
    assert.match(explained.why, /paused/);
    assert.equal(receiver.deliveries.length, 0);
    assert.equal((await change(webhookId, { paused: false })).body.paused, false);
    await receiver.waitFor(2);
    assert.deepEqual(
      receiver.deliveries.map(({ parsed }) => parsed.data.message),
      ['one', 'two'],
    );
  });

  it('a change says how many pending deliveries it cancelled', async (test) => {
    const { call, witness, sessionId, create, change, write, pendingOf } = await setUp(test, [
      'message.*',
      'call.incoming',
    ]);
    const { webhookId } = (await create({ paused: true })).body;
    const other = await connectSession(call);
    await write(ANN, 'one');
    await call('POST', `/sessions/${other}/simulate`, { action: 'incoming', from: ANN, message: 'two' });
    await call('POST', `/sessions/${sessionId}/simulate`, { action: 'call', from: ANN, callId: 'c1' });
    await witness.waitFor(2);
    assert.equal((await change(webhookId, { events: ['message.*'] })).body.cancelled, 1);
    assert.equal((await change(webhookId, { sessionIds: [sessionId] })).body.cancelled, 1);
    assert.equal((await change(webhookId, { sessionIds: [sessionId], events: ['message.*'] })).body.cancelled, 0);
    assert.equal((await change(webhookId, { description: 'mine' })).body.cancelled, 0);
    assert.equal((await pendingOf(webhookId)).length, 1);
  });

  it('setting the default webhook says what it cancels and removes, and warns of a twin', async (test) => {
    const { call, receiver, witness, sessionId, change } = await setUp(test);
    const set = async (webhookUrl: string, ...events: string[]) =>
      (await call('POST', '/webhooks/set', { webhookUrl, events })).body;
    const first = await set(witness.url, 'message.*', 'call.incoming');
    assert.deepEqual([first.cancelled, first.warnings], [undefined, undefined]);
    const [{ webhookId }] = (await call('GET', '/webhooks/endpoints')).body.data;
    await change(webhookId, { paused: true, headers: { 'x-a': 'b' } });
    await call('POST', `/sessions/${sessionId}/simulate`, { action: 'call', from: ANN, callId: 'c1' });
    await call('POST', '/webhooks/endpoints', { webhookUrl: receiver.url, events: ['message.sent'] });
    const { cancelled, warnings } = await set(receiver.url, 'message.*');
    assert.equal(cancelled, 1);
    assert.match(warnings[0], /^The headers were removed/);
    assert.match(warnings[1], /has the same URL and also receives message\.sent/);
  });

  it('warns of another webhook that sends the same events to the same URL', async (test) => {
    const { witness, create, change } = await setUp(test);
    const { body: first } = await create();
    assert.deepEqual(first.warnings, []);
    const { body: twin } = await create({ events: ['message.sent', 'group.created'] });
    assert.equal(twin.warnings.length, 1);
    assert.match(twin.warnings[0], new RegExp(`${first.webhookId} .*receives message\\.sent:`));
    const { body: apart } = await change(twin.webhookId, { events: ['group.created'] });
    assert.deepEqual(apart.warnings, []);
    assert.equal((await change(twin.webhookId, { webhookUrl: witness.url, events: ['*'] })).body.warnings.length, 1);
  });
});
