import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import {
  describeOnEachDatabase,
  describeOnEachDeployment,
  type Home,
  newHome,
} from '../support/databases/databases.ts';
import { eventually } from '../support/eventually.ts';
import { createFakeClock } from '../support/fakeClock.ts';
import { callTool, mcpClient } from '../support/mcp/mcp.ts';
import { picture, upload } from '../support/media/media.ts';
import {
  type Answer,
  bearer,
  type Call,
  connectSession,
  newNumber,
  serversFor,
  startAgain,
  startServer,
  type TestServer,
} from '../support/server.ts';

const to = '491707654321';
const DAY_MS = 24 * 3_600_000;

type Body = Answer['body'];

/** An account with a session, and a key whose messages need approval. */
async function setUp(server: TestServer, limits: object = {}) {
  const { call, token } = await server.account();
  const sessionId = await connectSession(call);
  const keyOf = async (settings: object) => {
    const { status, body } = await call('POST', '/api-keys/create', { name: 'key', ...settings });
    assert.equal(status, 201, JSON.stringify(body));
    return body;
  };
  const { key, keyId } = await keyOf({ requiresApproval: true, ...limits });
  const agent = bearer(server.url, key);
  const ask = async (more: object = {}): Promise<Body> => {
    const { status, body } = await agent('POST', '/messages/send', { to, message: 'May I?', ...more });
    assert.equal(status, 201, JSON.stringify(body));
    return body;
  };
  const get = async (messageId: string): Promise<Body> => (await call('GET', `/messages/${messageId}`)).body;
  const until = (messageId: string, wanted: string) =>
    eventually(
      () => get(messageId),
      ({ status }) => status === wanted,
    );
  const pending = async (): Promise<Body[]> => (await call('GET', '/messages?status=pending_approval')).body.data;
  const approve = (messageId: string, body: object = {}, as: Call = call) =>
    as('POST', `/messages/${messageId}/approve`, body);
  const reject = (messageId: string, body: object = {}, as: Call = call) =>
    as('POST', `/messages/${messageId}/reject`, body);
  return { call, token, sessionId, keyOf, key, keyId, agent, ask, get, until, pending, approve, reject };
}

const steps = ({ statusHistory }: Body) => statusHistory.map(({ status }: { status: string }) => status);

function assertStale({ status, body }: Answer, words: RegExp) {
  assert.deepEqual([status, body.code], [409, 'message_state']);
  assert.match(body.detail, words);
}

describeOnEachDeployment('a message that needs approval', (_, database) => {
  const start = serversFor(database);
  let server: TestServer;
  before(async () => {
    server = await start();
  });

  it('waits until a login approves it, and then goes out', async () => {
    const { call, sessionId, keyId, ask, get, until, pending, approve } = await setUp(server);
    const asked = await ask();
    const { messageId } = asked;
    assert.equal(asked.status, 'pending_approval');
    assert.deepEqual([asked.approval.status, asked.approval.keyId], ['pending', keyId]);
    assert.equal(Date.parse(asked.approval.expiresAt) - Date.parse(asked.timestamp), 7 * DAY_MS);
    assert.deepEqual(
      (await pending()).map((message) => [message.messageId, message.message, message.approval]),
      [[messageId, 'May I?', asked.approval]],
    );
    assert.deepEqual((await call('GET', `/chats?sessionId=${sessionId}`)).body.data, [], 'no chat before it is sent');
    assert.deepEqual(steps(await get(messageId)), ['pending_approval']);

    const { status, body } = await approve(messageId);
    assert.equal(status, 200, JSON.stringify(body));
    assert.ok(['queued', 'sent'].includes(body.status));
    const { decidedAt, requestedAt, ...approval } = body.approval;
    assert.equal(requestedAt, asked.timestamp);
    assert.deepEqual(approval, { status: 'approved', keyId, decidedBy: 'login' });
    assert.ok(Date.parse(decidedAt) >= Date.parse(asked.timestamp));
    const sent = await until(messageId, 'delivered');
    assert.deepEqual(steps(sent), ['pending_approval', 'queued', 'sent', 'delivered']);
    assert.deepEqual(await pending(), []);
    const [chat] = (await call('GET', `/chats?sessionId=${sessionId}`)).body.data;
    assert.equal(chat.lastMessage.messageId, messageId);
    assertStale(await approve(messageId), /was approved at /);
    assert.equal((await approve('msg_none')).status, 404);
  });

  it('goes out with the text that the approver writes', async () => {
    const { token, ask, until, approve, call } = await setUp(server);
    const { messageId } = await ask({ message: 'zebra' });
    assert.equal((await approve(messageId, { message: '' })).body.errors[0].field, 'message');
    assert.equal((await approve(messageId, { message: 'giraffe' })).status, 200);
    const sent = await until(messageId, 'delivered');
    assert.deepEqual([sent.message, sent.approval.edited, sent.edited], ['giraffe', true, undefined]);
    const found = async (word: string) => (await call('GET', `/messages?q=${word}`)).body.data.length;
    assert.deepEqual([await found('giraffe'), await found('zebra')], [1, 0]);

    const same = await ask({ message: 'as it is' });
    assert.equal((await approve(same.messageId, { message: 'as it is' })).body.approval.edited, undefined);

    const { mediaId } = (await upload(server, token, picture())).body;
    const asked = await call('POST', '/api-keys/create', { name: 'media', requiresApproval: true });
    const photo = await bearer(server.url, asked.body.key)('POST', '/messages/send-media', {
      to,
      type: 'image',
      mediaId,
      caption: 'old',
    });
    assert.equal(photo.body.status, 'pending_approval');
    const tooLong = await approve(photo.body.messageId, { message: 'x'.repeat(4097) });
    assert.deepEqual([tooLong.status, tooLong.body.errors[0].field], [400, 'message']);
    assert.equal((await approve(photo.body.messageId, { message: '' })).status, 200, 'a caption can be removed');
    const sentPhoto = await until(photo.body.messageId, 'delivered');
    assert.deepEqual([sentPhoto.message, sentPhoto.media.mediaId], ['', mediaId]);
  });

  it('fails with the reason if it is rejected', async () => {
    const { call, agent, ask, get, reject, approve, keyOf } = await setUp(server);
    const { messageId } = await ask();
    const reviewer = await keyOf({ permissions: ['messages:approve'] });
    const asReviewer = bearer(server.url, reviewer.key);
    assert.equal((await reject(messageId, { reason: 'x'.repeat(501) }, asReviewer)).status, 400);
    const reason = 'Too\u202e \npushy.';
    const { status, body } = await reject(messageId, { reason }, asReviewer);
    assert.deepEqual([status, body.status], [200, 'failed']);
    const seen = (await agent('GET', `/messages/${messageId}?wait=30`)).body;
    assert.equal(seen.error, 'The message was rejected: Too pushy.');
    const { decidedAt: _, requestedAt: __, ...approval } = seen.approval;
    assert.deepEqual(approval, {
      status: 'rejected',
      keyId: body.approval.keyId,
      decidedBy: reviewer.keyId,
      reason: 'Too pushy.',
    });
    assert.deepEqual(steps(seen), ['pending_approval', 'failed']);
    assertStale(await approve(messageId), /was rejected at /);
    assertStale(await reject(messageId), /was rejected at /);
    const second = await ask();
    assert.equal((await reject(second.messageId)).body.error, 'The message was rejected');
    const sent = (await call('POST', '/messages/send', { to, message: 'mine' })).body;
    assertStale(await approve(sent.messageId), /it is (sent|delivered)/);
    assert.equal((await get(messageId)).status, 'failed');
  });

  it('hides why it was rejected from keys that see no message content', async () => {
    const { call, ask, get, reject, keyOf } = await setUp(server);
    await call('POST', '/messages/send', { to, message: 'so that there is a chat' });
    const { messageId } = await ask();
    assert.equal((await reject(messageId, { reason: 'May I? is rude' })).status, 200);
    const paths = [`/messages/${messageId}`, '/messages', `/chats/${to}`, '/events?events=*&limit=200'];
    const readOf = async (permissions: readonly string[]) => {
      const as = bearer(server.url, (await keyOf({ permissions })).key);
      return Promise.all(paths.map(async (path) => JSON.stringify((await as('GET', path)).body)));
    };
    const seen = await readOf(['messages:metadata', 'chats:metadata', 'events:metadata']);
    for (const text of seen) assert.doesNotMatch(text, /is rude/);
    assert.match(seen[0] ?? '', /"error":"The message was rejected"/);
    assert.match(seen[3] ?? '', /"error":"The message was rejected"/);
    for (const [index, text] of (await readOf(['messages:read', 'events:read'])).entries())
      if (paths[index] !== `/chats/${to}`) assert.match(text, /is rude/);
    assert.equal((await get(messageId)).error, 'The message was rejected: May I? is rude');
  });

  it('cannot be decided by the key itself, or by any key that needs approval', async () => {
    const { call, agent, ask, keyId, keyOf, approve, reject } = await setUp(server, { permissions: ['*'] });
    const { messageId } = await ask();
    const held = bearer(server.url, (await keyOf({ requiresApproval: true })).key);
    const without = bearer(server.url, (await keyOf({ permissions: ['messages:send', 'messages:read'] })).key);
    const refusals = [
      [agent, /need approval/],
      [held, /need approval/],
      [without, /permission messages:approve/],
    ] as const;
    for (const [caller, words] of refusals) {
      for (const decide of [approve, reject]) {
        const { status, body } = await decide(messageId, {}, caller);
        assert.deepEqual([status, body.code], [403, 'permission_denied']);
        assert.match(body.detail, words);
      }
    }
    await call('PATCH', `/api-keys/${keyId}`, { requiresApproval: false });
    const { body } = await eventually(
      () => approve(messageId, {}, agent),
      (answer) => /its own messages/.test(answer.body.detail),
    );
    assert.equal(body.code, 'permission_denied', 'not even once its messages no longer need approval');
    await eventually(
      () => agent('POST', '/messages/send', { to, message: 'free' }),
      (answer) => answer.body.status === 'sent',
    );
    assert.equal((await approve(messageId)).status, 200);
  });

  it('is every message that the key can send', async () => {
    const { call, token, agent, ask, pending, sessionId } = await setUp(server);
    const { mediaId } = (await upload(server, token, picture())).body;
    const { messageId } = (await call('POST', '/messages/send', { sessionId, to, message: 'of somebody else' })).body;
    const before = (await call('GET', '/messages?direction=outgoing&limit=200')).body.data.length;
    const sends: [path: string, input: object][] = [
      ['send', { message: 'hello' }],
      ['send', { message: 'hello', replyTo: messageId }],
      ['send-media', { type: 'image', mediaId }],
      ['send-location', { latitude: 1, longitude: 2 }],
      ['send-contact', { name: 'Ada', phoneNumbers: [to] }],
      ['send-poll', { question: 'When?', options: ['now', 'later'] }],
      ['send-template', { name: 'order_sent', language: 'en_US' }],
      ['send-interactive', { message: 'Tea?', buttons: [{ id: 'yes', title: 'Yes' }] }],
      ['send-interactive', { product: { catalogId: '7', retailerId: 'sencha-100' } }],
      [`${messageId}/forward`, {}],
    ];
    for (const [path, input] of sends) {
      const { status, body } = await agent('POST', `/messages/${path}`, { to, ...input });
      assert.deepEqual([status, body.status], [201, 'pending_approval'], `${path} ${JSON.stringify(body)}`);
    }
    const bulk = await agent('POST', '/messages/send-bulk', { to: [to, '491707654322', 'nobody'], message: 'all' });
    const { accepted, refused, pendingApproval } = bulk.body;
    assert.deepEqual([accepted, refused, pendingApproval], [2, 1, true]);
    assert.equal((await ask({ sendAt: new Date(Date.now() + DAY_MS).toISOString() })).status, 'pending_approval');
    const held = (await pending()).length;
    assert.equal(held, sends.length + 3);
    const after = (await call('GET', '/messages?direction=outgoing&limit=200')).body.data.length;
    assert.equal(after - before, held, 'nothing went out');

    const edit = await agent('PATCH', `/messages/${messageId}`, { message: 'circumvented' });
    assert.deepEqual([edit.status, edit.body.code], [403, 'permission_denied']);
    assert.match(edit.body.detail, /send a new message instead/);
    assert.equal((await call('GET', `/messages/${messageId}`)).body.message, 'of somebody else');
  });

  it('of a type that its network lacks is refused at once, and one of an unknown group too', async () => {
    const { agent, pending } = await setUp(server);
    const unknown = await agent('POST', '/messages/send', { to: 'grp_none', message: 'x' });
    assert.equal(unknown.status, 404);
    const unlinked = (await agent('POST', '/sessions', {})).body.sessionId;
    const early = await agent('POST', '/messages/send', { sessionId: unlinked, to, message: 'x' });
    assert.deepEqual([early.status, early.body.code], [409, 'session_not_connected']);
    assert.deepEqual(await pending(), []);
  });

  it('keeps a time that is still to come', async () => {
    const { ask, approve, get, call } = await setUp(server);
    const sendAt = new Date(Date.now() + DAY_MS).toISOString();
    const { messageId, timestamp } = await ask({ sendAt });
    assert.equal(timestamp, sendAt);
    assert.equal((await approve(messageId)).body.status, 'scheduled');
    assert.deepEqual(steps(await get(messageId)), ['pending_approval', 'scheduled']);
    assert.equal((await call('POST', `/messages/${messageId}/cancel`)).body.status, 'failed');
  });

  it('can be taken back while it waits', async () => {
    const { agent, ask, approve, get } = await setUp(server);
    const [one, two] = [await ask(), await ask()];
    const cancelled = await agent('POST', `/messages/${one.messageId}/cancel`);
    assert.deepEqual([cancelled.status, cancelled.body.status], [200, 'failed']);
    assert.equal(cancelled.body.error, 'Cancelled before it was sent');
    assert.equal((await agent('DELETE', `/messages/${two.messageId}`)).body.approval.status, 'withdrawn');
    for (const { messageId } of [one, two]) {
      assertStale(await approve(messageId), /was withdrawn at /);
      assert.deepEqual(steps(await get(messageId)), ['pending_approval', 'failed']);
    }
  });

  it('is stored once for an idempotency key, and counts once against the quota', async () => {
    const { ask, agent, approve, reject, pending, call } = await setUp(server, { sendQuota: 2 });
    const one = await ask({ idempotencyKey: 'one' });
    assert.deepEqual(await ask({ idempotencyKey: 'one' }), one);
    await approve(one.messageId);
    assert.deepEqual(await ask({ idempotencyKey: 'one' }), one, 'the answer of before');
    const two = await ask();
    await reject(two.messageId);
    const third = await agent('POST', '/messages/send', { to, message: 'too many' });
    assert.deepEqual([third.status, third.body.code], [429, 'quota_exceeded']);
    assert.deepEqual(await pending(), []);
    assert.equal((await call('GET', '/messages?limit=200')).body.data.length, 2);
  });

  it('is sent once if several approve it at the same time, or one approves and one rejects', async () => {
    const { call, ask, approve, reject, until, keyOf } = await setUp(server);
    const other = bearer(server.url, (await keyOf({ permissions: ['messages:approve'] })).key);
    for (let round = 0; round < 5; round++) {
      const { messageId } = await ask();
      const decisions = [
        approve(messageId),
        approve(messageId, {}, other),
        reject(messageId),
        reject(messageId, {}, other),
      ];
      const answers = await Promise.all(decisions);
      const won = answers.filter(({ status }) => status === 200);
      assert.equal(won.length, 1, JSON.stringify(answers.map(({ status }) => status)));
      for (const { status, body } of answers) assert.ok(status === 200 || body.code === 'message_state');
      await until(messageId, won[0]?.body.approval.status === 'approved' ? 'delivered' : 'failed');
      const { body } = await call('GET', '/events?events=message.sent,message.failed&limit=200');
      const about = body.data.filter(({ data }: Body) => data.messageId === messageId);
      assert.equal(about.length, 1);
    }
  });

  it('can be decided only within the sessions and recipients of the approver', async () => {
    const { call, ask, approve, keyOf, sessionId } = await setUp(server);
    const second = await connectSession(call);
    const { messageId } = await ask({ sessionId });
    const permissions = ['messages:approve', 'messages:read'];
    const elsewhere = bearer(server.url, (await keyOf({ permissions, sessionIds: [second] })).key);
    assert.equal((await approve(messageId, {}, elsewhere)).status, 404);
    assert.deepEqual((await elsewhere('GET', '/messages?status=pending_approval')).body.data, []);
    const others = bearer(server.url, (await keyOf({ permissions, allowedRecipients: ['4930*'] })).key);
    assert.equal((await approve(messageId, {}, others)).status, 403);
    const own = bearer(server.url, (await keyOf({ permissions, sessionIds: [sessionId] })).key);
    assert.equal((await own('GET', '/messages?status=pending_approval')).body.data.length, 1);
    assert.equal((await approve(messageId, {}, own)).status, 200);
    const stranger = await server.account();
    const { messageId: next } = await ask({ sessionId });
    assert.equal((await approve(next, {}, stranger.call)).status, 404);
  });

  it('emits events that a reader can subscribe to, and none of the contract before it is sent', async () => {
    const { call, ask, approve, reject, until, keyId } = await setUp(server);
    const [one, two] = [await ask(), await ask()];
    await approve(one.messageId);
    await reject(two.messageId, { reason: 'No' });
    await until(one.messageId, 'delivered');
    const { body } = await call('GET', '/events?events=*&limit=200');
    const eventsOf = (messageId: string) =>
      body.data
        .filter(({ data }: Body) => data.messageId === messageId)
        .map(({ event, data }: Body) => [event, data.status, data.approval, data.keyId, data.reason].filter(Boolean));
    assert.deepEqual(eventsOf(one.messageId), [
      ['message.approval', 'pending_approval', 'pending', keyId],
      ['message.approval', 'queued', 'approved', keyId],
      ['message.queued', 'queued'],
      ['message.sent', 'sent'],
      ['message.delivered', 'delivered'],
    ]);
    assert.deepEqual(eventsOf(two.messageId), [
      ['message.approval', 'pending_approval', 'pending', keyId],
      ['message.approval', 'failed', 'rejected', keyId, 'No'],
      ['message.failed', 'failed'],
    ]);
  });

  it('waits for its session after it was approved, and is gone with its session', async () => {
    const { call, sessionId, ask, approve, until, get, pending } = await setUp(server);
    await call('POST', `/sessions/${sessionId}/disconnect`);
    const { messageId } = await ask();
    const { messageId: never } = await ask();
    assert.equal((await approve(messageId)).body.status, 'queued');
    await call('POST', `/sessions/${sessionId}/connect`);
    await until(messageId, 'delivered');
    assert.equal((await get(never)).status, 'pending_approval');
    await call('DELETE', `/sessions/${sessionId}`);
    await eventually(pending, (left) => left.length === 0);
    assert.equal((await approve(never)).status, 404);
  });

  it('is explained to an agent, which waits for the decision', async () => {
    const { key, sessionId, approve, reject } = await setUp(server);
    for (const version of ['2026-07-28', '2025-11-25'] as const) {
      const client = await mcpClient(server, key, version);
      const tool = async (name: string, input: Record<string, unknown>) => {
        const { isError, output } = await callTool(client, name, input);
        assert.equal(isError, false, JSON.stringify(output));
        return output;
      };
      const asked = await tool('messages_send', { sessionId, to, message: 'By a tool' });
      assert.deepEqual([asked.status, asked.approval.status], ['pending_approval', 'pending']);
      assert.match(asked.hint, /has to approve/);
      const waiting = tool('messages_get', { messageId: asked.messageId, wait: 30, until: 'sent' });
      await approve(asked.messageId);
      const sent = await waiting;
      assert.ok(['sent', 'delivered'].includes(sent.status), sent.status);
      assert.equal(sent.hint, undefined);
      const again = await tool('messages_send', { sessionId, to, message: 'By a tool' });
      const refused = tool('messages_get', { messageId: again.messageId, wait: 30 });
      await reject(again.messageId, { reason: 'Not today' });
      assert.equal((await refused).error, 'The message was rejected: Not today');
      const tools = (await client.listTools()).tools.map(({ name }) => name);
      assert.ok(!tools.some((name) => /approve|reject/.test(name)));
      await client.close();
    }
  });
});

describeOnEachDatabase('messages that wait for approval', (newHome, database) => {
  const start = serversFor(database);

  it('survive a restart, expire after seven days, and go out at once if their time has passed', async (test) => {
    const clock = createFakeClock(Date.parse('2026-07-01T12:00:00Z'));
    const again = startAgain(test, newHome, { database, clock });
    const first = await again();
    const { keyOf, ask, pending } = await setUp(first);
    const { key } = await keyOf({}); // a login would end meanwhile
    const late = await ask({ sendAt: new Date(clock.now() + 3_600_000).toISOString() });
    const forgotten = await ask();
    assert.equal((await pending()).length, 2);
    await first.stop();
    clock.set(clock.now() + 6 * DAY_MS);
    const second = await again();
    const call = bearer(second.url, key);
    const get = async (messageId: string) => (await call('GET', `/messages/${messageId}`)).body;
    const until = (messageId: string, status: string) =>
      eventually(
        () => get(messageId),
        (message) => message.status === status,
      );
    assert.equal((await call('POST', `/messages/${late.messageId}/approve`)).status, 200);
    const sent = await until(late.messageId, 'delivered');
    assert.deepEqual(steps(sent), ['pending_approval', 'queued', 'sent', 'delivered']);
    const approvedAt = Date.parse(sent.approval.decidedAt);
    assert.ok(Date.parse(sent.timestamp) >= approvedAt);
    await eventually(
      async () => (await call('GET', '/messages/stats')).body.series,
      (series: Body[]) => series.some(({ outgoing }) => outgoing === 1),
    );

    clock.skip(DAY_MS - 1000);
    await clock.advance(0);
    assert.equal((await get(forgotten.messageId)).status, 'pending_approval');
    clock.skip(2000);
    assertStale(await call('POST', `/messages/${forgotten.messageId}/approve`), /expired at 2026-07-08T12:00:01/);
    const expired = await until(forgotten.messageId, 'failed');
    assert.equal(expired.error, 'The message was not approved within 7 days');
    assert.equal(expired.approval.status, 'expired');
  });

  it('expire by themselves', async () => {
    const clock = createFakeClock(Date.parse('2026-07-01T12:00:00Z'));
    const server = await start({ clock });
    const { keyOf, ask } = await setUp(server);
    const call = bearer(server.url, (await keyOf({})).key);
    const ids: string[] = [];
    for (let n = 0; n < 3; n++) ids.push((await ask()).messageId);
    clock.set(clock.now() + 7 * DAY_MS);
    await eventually(
      async () => {
        await clock.advance(60_000);
        return (await call('GET', '/messages?status=failed')).body.data;
      },
      (failed: Body[]) => failed.length === ids.length && failed.every(({ approval }) => approval.status === 'expired'),
    );
    const { body } = await call('GET', '/events?events=message.failed,message.approval&limit=200');
    assert.equal(body.data.filter(({ event }: Body) => event === 'message.failed').length, ids.length);
  });

  it('are limited for each account, also for concurrent requests', async () => {
    const server = await start({ env: { MAX_PENDING_APPROVALS: '3' } });
    const { agent, pending, reject, ask } = await setUp(server);
    const bulk = (count: number) =>
      agent('POST', '/messages/send-bulk', {
        to: Array.from({ length: count }, newNumber),
        message: 'all',
        idempotencyKey: `${count}`,
      });
    const refused = await bulk(4);
    assert.deepEqual([refused.status, refused.body.code], [409, 'too_many']);
    assert.match(refused.body.detail, /MAX_PENDING_APPROVALS/);
    assert.deepEqual(await pending(), [], 'all or none');
    const sends = Array.from({ length: 6 }, () => agent('POST', '/messages/send', { to, message: 'x' }));
    const statuses = (await Promise.all(sends)).map(({ status }) => status);
    assert.deepEqual(statuses.toSorted(), [201, 201, 201, 409, 409, 409]);
    const [first] = await pending();
    await reject(first?.messageId);
    await ask();
    assert.equal((await setUp(server).then(({ ask: other }) => other())).status, 'pending_approval');
  });

  it('are scheduled only within the limit of scheduled messages', async () => {
    const server = await start({ env: { MAX_SCHEDULED_MESSAGES: '2' } });
    const { call, ask, approve, get, pending } = await setUp(server);
    const sendAt = new Date(Date.now() + DAY_MS).toISOString();
    const asked = [await ask({ sendAt }), await ask({ sendAt }), await ask({ sendAt }), await ask({ sendAt })];
    const answers = await Promise.all(asked.map(({ messageId }) => approve(messageId)));
    assert.deepEqual(answers.map(({ status }) => status).toSorted(), [200, 200, 409, 409]);
    const refused = answers.find(({ status }) => status === 409);
    assert.equal(refused?.body.code, 'too_many');
    assert.match(refused?.body.detail, /MAX_SCHEDULED_MESSAGES/);
    const [first, ...others] = await pending();
    assert.equal(others.length, 1, 'a message that was refused still waits');
    const atOnce = await ask();
    assert.equal((await approve(atOnce.messageId)).status, 200, 'no limit for a message without a time');
    const [scheduled] = (await call('GET', '/messages?status=scheduled')).body.data;
    await call('POST', `/messages/${scheduled.messageId}/cancel`);
    assert.equal((await approve(first?.messageId)).status, 200);
    assert.equal((await get(first?.messageId)).status, 'scheduled');
  });
});

describe('two nodes on one database', () => {
  const nodes: TestServer[] = [];
  let home: Home | undefined;
  before(async () => {
    home = await newHome('postgres');
    const MEDIA_DIR = join(home.dataDir, 'media');
    const env = { MEDIA_DIR, MAX_PENDING_APPROVALS: '4' };
    for (const name of ['one', 'two'])
      nodes.push(await startServer({ home: { ...home, dataDir: join(home.dataDir, name) }, env }));
  });
  after(async () => {
    for (const node of nodes) await node.stop();
    await home?.remove();
  });

  async function onBoth() {
    const [one, two] = nodes as [TestServer, TestServer];
    const account = await setUp(one);
    return {
      ...account,
      logins: [account.call, bearer(two.url, account.token)] as const,
      agents: [account.agent, bearer(two.url, account.key)] as const,
    };
  }

  it('send a message once that both approve at the same time', async () => {
    const { call, ask, approve, until, logins } = await onBoth();
    for (let round = 0; round < 5; round++) {
      const { messageId } = await ask();
      const answers = await Promise.all([...logins, ...logins].map((login) => approve(messageId, {}, login)));
      assert.deepEqual(answers.map(({ status }) => status).toSorted(), [200, 409, 409, 409]);
      await until(messageId, 'delivered');
      const { body } = await call('GET', '/events?events=message.sent,message.queued&limit=200');
      const about = body.data.filter(({ data }: Body) => data.messageId === messageId);
      assert.deepEqual(
        about.map(({ event }: Body) => event),
        ['message.queued', 'message.sent'],
      );
    }
  });

  it('keep a decision when one approves and the other one rejects', async () => {
    const { ask, approve, reject, until, logins } = await onBoth();
    for (let round = 0; round < 5; round++) {
      const { messageId } = await ask();
      const [approved, rejected] = await Promise.all([
        approve(messageId, {}, logins[round % 2]),
        reject(messageId, {}, logins[(round + 1) % 2]),
      ]);
      assert.deepEqual([approved.status, rejected.status].toSorted(), [200, 409]);
      await until(messageId, approved.status === 200 ? 'delivered' : 'failed');
    }
  });

  it('keep the limit together', async () => {
    const { pending, agents, sessionId } = await onBoth();
    const asks = Array.from({ length: 10 }, (_, n) =>
      // Bulk messages are stored by the node that is called.
      agents[n % 2 === 0 ? 0 : 1]('POST', '/messages/send-bulk', { sessionId, to: [to], message: `${n}` }),
    );
    const statuses = (await Promise.all(asks)).map(({ status }) => status);
    assert.equal(statuses.filter((status) => status === 202).length, 4);
    assert.equal((await pending()).length, 4);
  });

  it('send what the other node has approved', async () => {
    const { ask, approve, until, logins } = await onBoth();
    for (const login of logins) {
      const { messageId } = await ask();
      const { body } = await approve(messageId, { message: 'by any node' }, login);
      assert.ok(['queued', 'sent', 'delivered'].includes(body.status), JSON.stringify(body));
      assert.equal((await until(messageId, 'delivered')).message, 'by any node');
    }
  });
});
