import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { contractKinds } from '../../src/events/events.ts';
import { type Receiver, startReceiver } from '../support/connections/receiver.ts';
import { describeWithSessionsApart } from '../support/databases/databases.ts';
import { eventually } from '../support/eventually.ts';
import { picture } from '../support/media/media.ts';
import {
  type Answer,
  bearer,
  type Call,
  connectSession,
  eventOf,
  startServer,
  type TestServer,
} from '../support/server.ts';

/* Statuses, channels, presence and calls on the sandbox. */

const options = { statuses: true, channels: true };
const FRIEND = '491707654321';

async function ok(answer: Promise<Answer>, status = 200): Promise<Answer['body']> {
  const { status: actual, body } = await answer;
  assert.equal(actual, status, JSON.stringify(body));
  return body;
}

const codeOf = async (answer: Promise<Answer>) => {
  const { status, body } = await answer;
  return [status, body.code];
};

describeWithSessionsApart('statuses, channels, presence and calls', (_, database) => {
  let server: TestServer;
  let receiver: Receiver;
  let call: Call;
  let mine: string;
  let theirs: string;
  let myNumber: string;
  let theirNumber: string;

  before(async () => {
    server = await startServer({ database });
    receiver = await startReceiver();
    ({ call } = await server.account());
    await call('POST', '/webhooks/set', { webhookUrl: receiver.url, events: contractKinds });
    [mine, theirs] = [
      await connectSession(call, undefined, { options }),
      await connectSession(call, undefined, { options }),
    ];
    const numberOf = async (sessionId: string) => (await ok(call('GET', `/sessions/${sessionId}`))).phoneNumber;
    [myNumber, theirNumber] = [await numberOf(mine), await numberOf(theirs)];
  });
  after(async () => {
    await receiver.close();
    await server.stop();
  });

  const simulate = (sessionId: string, action: object) => ok(call('POST', `/sessions/${sessionId}/simulate`, action));
  const of = (sessionId: string) => (data: Answer['body']) => data.sessionId === sessionId;

  it('shows a status to its audience, which views it, and takes it back', async () => {
    const file = { type: 'image', content: picture().toString('base64'), message: 'Our shop' };
    const status = await ok(call('POST', '/status', { sessionId: mine, ...file, phoneNumbers: [theirNumber] }), 201);
    assert.deepEqual([status.state, status.from, status.media.mimeType], ['sent', myNumber, 'image/png']);
    const received = await eventOf(call, 'status.received', of(theirs));
    assert.deepEqual([received.message, received.from, received.fromMe], ['Our shop', myNumber, false]);
    await ok(call('POST', `/status/${received.statusId}/viewed`, { sessionId: theirs }));
    const viewed = await eventOf(call, 'status.viewed', of(mine));
    assert.deepEqual([viewed.statusId, viewed.from], [status.statusId, theirNumber]);
    await simulate(mine, { action: 'status_react', from: theirNumber, statusId: status.statusId, emoji: '💚' });
    const { data: views } = await ok(call('GET', `/status/${status.statusId}/views?sessionId=${mine}`));
    assert.deepEqual(
      views.map(({ phoneNumber, emoji }: Answer['body']) => [phoneNumber, emoji]),
      [[theirNumber, '💚']],
    );
    assert.deepEqual(await codeOf(call('DELETE', `/status/${received.statusId}?sessionId=${theirs}`)), [
      403,
      'network_denied',
    ]);
    await ok(call('DELETE', `/status/${status.statusId}?sessionId=${mine}`));
    await eventOf(call, 'status.deleted', of(theirs));
    assert.deepEqual((await ok(call('GET', '/status'))).data, []);
  });

  it('repeats a status with the same key once, and needs contacts or an audience', async () => {
    const input = { sessionId: mine, message: 'once', phoneNumbers: [FRIEND], idempotencyKey: `status ${database}` };
    const first = await ok(call('POST', '/status', input), 201);
    const second = await ok(call('POST', '/status', input), 201);
    assert.equal(second.statusId, first.statusId);
    const fresh = await connectSession(call);
    const { status, body } = await call('POST', '/status', { sessionId: fresh, message: 'to nobody' });
    assert.deepEqual([status, body.code, body.errors[0].field], [400, 'validation_failed', 'phoneNumbers']);
    await ok(call('PUT', `/contacts/${FRIEND}/blocked`, { sessionId: fresh, blocked: true }));
    const allBlocked = (await call('POST', '/status', { sessionId: fresh, message: 'to nobody' })).body;
    assert.match(allBlocked.detail, /no contacts, apart from those that are blocked or not on the network$/);
    await ok(call('PUT', `/contacts/${FRIEND}/blocked`, { sessionId: fresh, blocked: false }));
    await simulate(fresh, { action: 'incoming', from: FRIEND, message: 'hello' });
    await ok(call('POST', '/status', { sessionId: fresh, message: 'to my contact' }), 201);
    await ok(call('DELETE', `/sessions/${fresh}`));
    assert.ok((await ok(call('GET', '/status'))).data.every(({ sessionId }: Answer['body']) => sessionId !== fresh));
  });

  it('keeps the statuses of a blocked contact out, and those that nobody asked for', async () => {
    const plain = await connectSession(call);
    await ok(call('PUT', `/contacts/${FRIEND}/blocked`, { sessionId: mine, blocked: true }));
    await simulate(mine, { action: 'status', from: FRIEND, message: 'from a blocked contact' });
    await ok(call('PUT', `/contacts/${FRIEND}/blocked`, { sessionId: mine, blocked: false }));
    await simulate(plain, { action: 'status', from: FRIEND, message: 'unwanted' });
    await simulate(mine, { action: 'status', from: FRIEND, senderName: 'Friend', message: 'wanted' });
    const { data } = await ok(call('GET', `/status?by=others&phoneNumber=${FRIEND}`));
    assert.deepEqual(
      data.map(({ message }: Answer['body']) => message),
      ['wanted'],
    );
    await simulate(mine, { action: 'status_delete', from: FRIEND, statusId: data[0].statusId });
    assert.deepEqual((await ok(call('GET', `/status?by=others&phoneNumber=${FRIEND}`))).data, []);
  });

  it('plays only what people can do with a status', async () => {
    const posted = { sessionId: mine, message: 'Not for everybody', phoneNumbers: [FRIEND] };
    const { statusId } = await ok(call('POST', '/status', posted), 201);
    await simulate(mine, { action: 'status', from: FRIEND, message: 'Of a friend' });
    const { data: theirStatuses } = await ok(call('GET', `/status?sessionId=${mine}&phoneNumber=${FRIEND}`));
    const refused = async (action: object) => {
      const { status, body } = await call('POST', `/sessions/${mine}/simulate`, action);
      return [status, body.errors?.[0].field];
    };
    for (const [action, field] of [
      [{ action: 'status_react', from: FRIEND, statusId, emoji: 'no emoji' }, 'emoji'],
      [{ action: 'status_react', from: theirNumber, statusId, emoji: '👍' }, 'from'],
      [{ action: 'status_view', from: theirNumber, statusId }, 'from'],
      [{ action: 'status_delete', from: theirNumber, statusId: theirStatuses[0].statusId }, 'from'],
    ] as const)
      assert.deepEqual(await refused(action), [400, field], JSON.stringify(action));
    const views = async () =>
      (await ok(call('GET', `/status/${statusId}/views`))).data.map(({ emoji }: Answer['body']) => emoji);
    assert.deepEqual(await views(), []);
    await simulate(mine, { action: 'status_view', from: FRIEND, statusId });
    assert.deepEqual(await views(), [null]);
    for (const emoji of ['👍', '']) {
      await simulate(mine, { action: 'status_react', from: FRIEND, statusId, emoji });
      assert.deepEqual(await views(), [emoji || null]);
    }
    await simulate(mine, { action: 'status_delete', from: FRIEND, statusId: theirStatuses[0].statusId });
    await ok(call('DELETE', `/status/${statusId}`));
  });

  it('posts in a channel that another session follows', async () => {
    const channel = await ok(call('POST', '/channels', { sessionId: mine, name: 'News' }), 201);
    const followed = await ok(call('POST', '/channels/follow', { sessionId: theirs, channel: channel.inviteLink }));
    assert.deepEqual([channel.role, followed.role, followed.followers], ['owner', 'follower', 1]);
    const path = `/channels/${channel.channelId}/messages`;
    const input = { sessionId: mine, message: 'First', idempotencyKey: `post ${database}` };
    const post = await ok(call('POST', path, input), 201);
    assert.equal((await ok(call('POST', path, input), 201)).postId, post.postId);
    const event = await eventOf(call, 'channel.message', of(theirs));
    assert.deepEqual([event.message, event.channelName, event.channelId], ['First', 'News', followed.channelId]);
    await ok(
      call('POST', `/channels/${followed.channelId}/messages/${event.postId}/reaction`, {
        sessionId: theirs,
        emoji: '👍',
      }),
    );
    const { data } = await eventually(
      () => ok(call('GET', `${path}?sessionId=${mine}`)),
      ({ data: posts }) => Object.keys(posts[0].reactions).length > 0,
    );
    assert.deepEqual(
      data.map(({ message, reactions }: Answer['body']) => [message, reactions]),
      [['First', { '👍': 1 }]],
    );
    const wordy = call('POST', `/channels/${followed.channelId}/messages/${event.postId}/reaction`, {
      sessionId: theirs,
      emoji: 'not an emoji',
    });
    assert.deepEqual(await codeOf(wordy), [400, 'validation_failed']);
    const foreign = { sessionId: theirs, message: 'not mine' };
    assert.deepEqual(await codeOf(call('POST', `/channels/${followed.channelId}/messages`, foreign)), [
      403,
      'network_denied',
    ]);
    assert.deepEqual(await codeOf(call('GET', `/channels/${channel.channelId}?sessionId=${theirs}`)), [
      404,
      'not_found',
    ]);
    assert.equal((await ok(call('POST', '/channels/refresh', { sessionId: theirs }))).channels, 1);
    await ok(call('POST', `/channels/${followed.channelId}/unfollow`, { sessionId: theirs }));
    assert.deepEqual((await ok(call('GET', `/channels?sessionId=${theirs}`))).data, []);
  });

  it('finds a channel and a status by its id, whichever session it belongs to', async () => {
    const channel = await ok(call('POST', '/channels', { sessionId: mine, name: 'By id' }), 201);
    const { channelId: followed } = await ok(
      call('POST', '/channels/follow', { sessionId: theirs, channel: channel.inviteLink }),
    );
    const path = `/channels/${channel.channelId}`;
    const post = await ok(call('POST', `${path}/messages`, { message: 'Found' }), 201);
    assert.equal(post.sessionId, mine);
    assert.deepEqual(await ok(call('GET', path)), await ok(call('GET', `${path}?sessionId=${mine}`)));
    const { postId } = await eventOf(call, 'channel.message', ({ message }) => message === 'Found');
    await ok(call('POST', `/channels/${followed}/messages/${postId}/reaction`, { emoji: '👍' }));
    assert.equal((await ok(call('POST', `/channels/${followed}/messages/refresh`, {}))).posts, 1);
    assert.equal((await ok(call('GET', `/channels/${followed}/messages`))).data[0].postId, postId);
    assert.equal((await ok(call('PATCH', `/channels/${followed}`, { muted: true }))).muted, true);
    assert.equal((await ok(call('POST', `/channels/${followed}/unfollow`))).role, null);
    const posted = { sessionId: mine, message: 'Found as well', phoneNumbers: [theirNumber] };
    const { statusId } = await ok(call('POST', '/status', posted), 201);
    const received = await eventOf(call, 'status.received', ({ message }) => message === 'Found as well');
    await ok(call('POST', `/status/${received.statusId}/viewed`));
    const { data } = await eventually(
      () => ok(call('GET', `/status/${statusId}/views`)),
      (page) => page.data.length > 0,
    );
    assert.equal(data[0].phoneNumber, theirNumber);
    await ok(call('DELETE', `/status/${statusId}`));
    for (const sessionId of [undefined, mine, theirs])
      for (const [method, gone] of [
        ['GET', '/channels/chn_unknown'],
        ['GET', '/channels/chn_unknown/messages'],
        ['POST', '/channels/chn_unknown/unfollow'],
        ['POST', '/status/sts_unknown/viewed'],
        ['GET', '/status/sts_unknown/views'],
        ['DELETE', `/status/${statusId}`],
      ] as const)
        assert.deepEqual(
          await codeOf(call(method, sessionId === undefined ? gone : `${gone}?sessionId=${sessionId}`)),
          [404, 'not_found'],
          `${method} ${gone} ${sessionId}`,
        );
    assert.deepEqual(await codeOf(call('GET', `${path}?sessionId=${theirs}`)), [404, 'not_found']);
    assert.deepEqual(await codeOf(call('POST', `${path}/unfollow`, { sessionId: 'ses_unknown' })), [404, 'not_found']);
    const { key } = await ok(call('POST', '/api-keys/create', { name: 'one session', sessionIds: [theirs] }), 201);
    assert.equal((await ok(bearer(server.url, key)('GET', `/channels/${followed}`))).sessionId, theirs);
    assert.deepEqual(await codeOf(bearer(server.url, key)('GET', path)), [404, 'not_found']);
  });

  it('deletes the channels of a number with its session', async () => {
    const owner = await connectSession(call, undefined, { options });
    const { inviteLink } = await ok(call('POST', '/channels', { sessionId: owner, name: 'Short-lived' }), 201);
    const preview = () => call('GET', `/channels/preview?sessionId=${mine}&channel=${encodeURIComponent(inviteLink)}`);
    await ok(preview());
    await ok(call('DELETE', `/sessions/${owner}`));
    assert.deepEqual(await codeOf(preview()), [404, 'not_found']);
  });

  it('lists the posts of a channel in the order of their times', async () => {
    await simulate(theirs, { action: 'channel_create', from: FRIEND, subject: 'Theirs' });
    const [channel] = (await ok(call('GET', `/channels?sessionId=${theirs}`))).data;
    for (const message of ['one', 'two', 'three'])
      await simulate(theirs, { action: 'channel_post', channelId: channel.channelId, message });
    await eventOf(call, 'channel.message', ({ message }) => message === 'three');
    const path = `/channels/${channel.channelId}/messages?sessionId=${theirs}&limit=2`;
    const page = await ok(call('GET', path));
    const rest = await ok(call('GET', `${path}&cursor=${page.nextCursor}`));
    const texts = [...page.data, ...rest.data].map(({ message }: Answer['body']) => message);
    assert.deepEqual([texts, rest.nextCursor], [['three', 'two', 'one'], null]);
  });

  it('limits keys: an audience outside their recipients, approval and quota', async () => {
    const keyOf = async (limits: object) =>
      bearer(server.url, (await ok(call('POST', '/api-keys/create', { name: 'limited', ...limits }), 201)).key);
    const post = { sessionId: mine, message: 'limited', phoneNumbers: [FRIEND] };
    const few = await keyOf({ allowedRecipients: [FRIEND] });
    await ok(few('POST', '/status', post), 201);
    const others = { ...post, phoneNumbers: [FRIEND, theirNumber] };
    assert.deepEqual(await codeOf(few('POST', '/status', others)), [403, 'permission_denied']);
    const shared = await ok(call('POST', '/status', others), 201);
    const deletion = few('DELETE', `/status/${shared.statusId}?sessionId=${mine}`);
    assert.deepEqual(await codeOf(deletion), [403, 'permission_denied']);
    const channel = await ok(call('POST', '/channels', { sessionId: mine, name: 'Limited' }), 201);
    const path = `/channels/${channel.channelId}/messages`;
    assert.deepEqual(await codeOf(few('POST', path, { sessionId: mine, message: 'x' })), [403, 'permission_denied']);
    const held = await keyOf({ requiresApproval: true });
    assert.deepEqual(await codeOf(held('POST', '/status', post)), [403, 'permission_denied']);
    assert.deepEqual(await codeOf(held('POST', path, { sessionId: mine, message: 'x' })), [403, 'permission_denied']);
    const once = await keyOf({ sendQuota: 1 });
    await ok(once('POST', path, { sessionId: mine, message: 'x' }), 201);
    assert.deepEqual(await codeOf(once('POST', '/status', post)), [429, 'quota_exceeded']);
    const asking = await keyOf({ confirm: ['new_recipients'] });
    assert.deepEqual(await codeOf(asking('POST', '/status', post)), [403, 'confirmation_required']);
  });

  it('follows the presence of another session, up to a limit', async () => {
    const path = `/contacts/${theirNumber}/presence`;
    await ok(call('PUT', path, { sessionId: mine, followed: true }));
    await ok(call('PUT', `/sessions/${theirs}/presence`, { presence: 'online' }));
    await eventOf(call, 'presence.updated', (data) => of(mine)(data) && data.from === theirNumber);
    const shown = await ok(call('GET', `${path}?sessionId=${mine}`));
    assert.deepEqual([shown.followed, shown.presence], [true, 'online']);
    for (let n = 1; n < 50; n++)
      await ok(call('PUT', `/contacts/4917070000${10 + n}/presence`, { sessionId: mine, followed: true }));
    const beyond = call('PUT', '/contacts/491707000099/presence', { sessionId: mine, followed: true });
    assert.deepEqual(await codeOf(beyond), [409, 'too_many']);
    await ok(call('PUT', path, { sessionId: mine, followed: true }));
  });

  it('rejects a call that rings, and no other', async () => {
    await simulate(mine, { action: 'call', from: FRIEND, callId: 'RING' });
    await ok(call('POST', '/calls/RING/reject', { sessionId: mine }));
    const ended = await eventOf(call, 'call.ended', ({ callId }) => callId === 'RING');
    assert.deepEqual([ended.outcome, ended.from], ['rejected', FRIEND]);
    assert.deepEqual(await codeOf(call('POST', '/calls/RING/reject', { sessionId: mine })), [404, 'not_found']);
  });

  it('shows typing to the other side, if that is shown as online', async () => {
    await ok(call('PUT', `/sessions/${mine}/presence`, { presence: 'offline' }));
    const type = (to: string, state: string) => ok(call('POST', `/chats/${to}/typing`, { sessionId: theirs, state }));
    await type(myNumber, 'recording');
    await ok(call('PUT', `/sessions/${mine}/presence`, { presence: 'online' }));
    await ok(call('PUT', `/contacts/${theirNumber}/presence`, { sessionId: mine, followed: true }));
    await type(myNumber, 'typing');
    const shown = await eventOf(call, 'presence.updated', (data) => of(mine)(data) && data.presence === 'typing');
    assert.deepEqual([shown.from, shown.chatId], [theirNumber, theirNumber]);
    const followed = await ok(call('GET', `/contacts/${theirNumber}/presence?sessionId=${mine}`));
    assert.equal(followed.presence, 'typing');
    const group = { sessionId: theirs, subject: 'typing', phoneNumbers: [myNumber] };
    const { groupId } = await ok(call('POST', '/groups', group), 201);
    await type(groupId, 'paused');
    const paused = await eventOf(call, 'presence.updated', (data) => of(mine)(data) && data.presence === 'paused');
    assert.ok(paused.groupId !== undefined);
    const { data } = await ok(call('GET', '/events?events=presence.updated&limit=200'));
    const seen = data.map(({ data: { presence } }: Answer['body']) => presence);
    assert.ok(!seen.includes('recording'), seen.join());
    await ok(call('PUT', `/sessions/${mine}/presence`, { presence: 'offline' }));
  });

  it('ends a call once, and only one that rings', async () => {
    await simulate(mine, { action: 'call', from: FRIEND, callId: 'ONCE' });
    const end = (callId: string) =>
      call('POST', `/sessions/${mine}/simulate`, { action: 'call_end', from: FRIEND, callId, outcome: 'answered' });
    await ok(end('ONCE'));
    for (const callId of ['ONCE', 'NEVER']) assert.deepEqual(await codeOf(end(callId)), [404, 'not_found']);
    await simulate(mine, { action: 'call', from: FRIEND, callId: 'TWICE' });
    const again = call('POST', `/sessions/${mine}/simulate`, { action: 'call', from: FRIEND, callId: 'TWICE' });
    assert.deepEqual(await codeOf(again), [409, 'session_state']);
    await ok(end('TWICE'));
    await eventOf(call, 'call.ended', ({ callId }) => callId === 'TWICE');
    const { data } = await ok(call('GET', '/events?events=call.ended&limit=200'));
    const ended = data.map(({ data: { callId } }: Answer['body']) => callId);
    assert.equal(ended.filter((id: string) => id === 'ONCE').length, 1);
    assert.ok(!ended.includes('NEVER'));
  });

  it('lets a call ring on while the session connects again', async () => {
    await simulate(mine, { action: 'call', from: FRIEND, callId: 'KEPT' });
    await ok(call('POST', `/sessions/${mine}/disconnect`));
    await ok(call('POST', `/sessions/${mine}/connect`));
    await ok(call('POST', '/calls/KEPT/reject', { sessionId: mine }));
    const { outcome } = await eventOf(call, 'call.ended', ({ callId }) => callId === 'KEPT');
    assert.equal(outcome, 'rejected');
  });

  it('rejects every call of a session that wants it, and writes to each caller once', async () => {
    const calls = { autoReject: true, message: 'Please write' };
    const busy = await connectSession(call, undefined, { options: { calls } });
    const ring = async (from: string, callId: string) => {
      await simulate(busy, { action: 'call', from, callId });
      await eventOf(call, 'call.ended', (data) => data.callId === callId && data.outcome === 'rejected');
    };
    const texts = async () =>
      (await ok(call('GET', `/messages?sessionId=${busy}&direction=outgoing`))).data.map(
        ({ to }: Answer['body']) => to,
      );
    await ring(FRIEND, 'B1');
    await eventually(texts, (to) => to.length === 1);
    await ring(FRIEND, 'B2');
    await ring('491701112223', 'B3');
    await eventually(texts, (to) => to.length === 2);
    assert.deepEqual((await texts()).toSorted(), ['491701112223', FRIEND]);
  });

  it('sends webhooks of the contract nothing new', () => {
    const kinds = receiver.deliveries.map(({ event }) => event);
    assert.ok(kinds.length > 0);
    assert.deepEqual(
      kinds.filter((kind) => !contractKinds.some((one) => one === kind)),
      [],
    );
  });
});

it('forgets statuses after a day, and deletes them with the next retention', async (test) => {
  const server = await startServer();
  test.after(() => server.stop());
  const { call } = await server.account();
  const sessionId = await connectSession(call, undefined, { options });
  await ok(call('POST', '/status', { sessionId, message: 'own', phoneNumbers: [FRIEND] }), 201);
  await ok(call('POST', `/sessions/${sessionId}/simulate`, { action: 'status', from: FRIEND, message: 'theirs' }));
  const count = async () => (await ok(call('GET', '/status'))).data.length;
  assert.equal(await count(), 2);
  const { commit, reader } = server.app.services.database;
  const { kysely } = reader;
  const [status] = await kysely.selectFrom('statuses').selectAll().execute();
  assert.equal(Number(status?.expires_at) - Number(status?.timestamp), 24 * 60 * 60 * 1000);
  await commit((tx) =>
    tx.kysely
      .updateTable('statuses')
      .set({ expires_at: Date.now() - 1 })
      .execute(),
  );
  assert.equal(await count(), 0);
  await server.app.retention.run();
  assert.deepEqual(await kysely.selectFrom('statuses').selectAll().execute(), []);
});
