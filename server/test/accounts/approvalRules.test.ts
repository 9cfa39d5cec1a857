import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { operations } from '../../src/operations/index.ts';
import { subscribeToEvents, unsubscribeFromEvents } from '../../src/operations/webhooks/eventSubscriptions.ts';
import { describeOnEachDeployment } from '../support/databases/databases.ts';
import { eventually } from '../support/eventually.ts';
import { mcpClient } from '../support/mcp/mcp.ts';
import { makeKey, newSecret, rpcOf, startCallback } from '../support/mcp/mcpEvents.ts';
import { CHAT, guarded, inputs, noInput, type Side, UNKNOWN } from '../support/operations/operationInputs.ts';
import { requestOf } from '../support/operations/restRequest.ts';
import { bearer, connectSession, serversFor, startServer, type TestServer } from '../support/server.ts';

const to = CHAT;
const STRANGER = '491701112223';

/** Outcome of each operation that is not a read, for a key with `requiresApproval`. */
const DECISIONS: Readonly<Record<string, 'held' | 'free' | 'checked' | 'refused'>> = {
  // Waits for approval.
  'messages.send': 'held',
  'messages.send_media': 'held',
  'messages.send_location': 'held',
  'messages.send_contact': 'held',
  'messages.send_poll': 'held',
  'messages.send_event': 'held',
  'messages.send_album': 'held',
  'messages.send_bulk': 'held',
  'messages.send_template': 'held',
  'messages.send_interactive': 'held',
  'messages.forward': 'held',
  // The handler refuses the part that reaches others.
  'sessions.create': 'checked', // options
  'sessions.update': 'checked', // options
  'messages.edit': 'checked',
  'messages.delete': 'checked', // for everyone
  'messages.approve': 'checked',
  'messages.reject': 'checked',
  'chats.update': 'checked', // disappearing messages
  // Carries nothing that the caller wrote or chose.
  'sessions.connect': 'free',
  'sessions.request_pairing_code': 'free',
  'sessions.disconnect': 'free',
  'sessions.restart': 'free',
  'sessions.logout': 'free',
  'sessions.delete': 'free',
  'messages.preflight': 'free',
  'messages.fetch_media': 'free',
  'messages.cancel': 'free',
  'messages.star': 'free',
  'messages.unstar': 'free',
  'messages.add_label': 'free',
  'messages.remove_label': 'free',
  'chats.mark_read': 'free',
  'chats.mark_unread': 'free',
  'chats.set_typing': 'free',
  'chats.request_history': 'free',
  'chats.clear': 'free',
  'chats.delete': 'free',
  'chats.add_label': 'free',
  'chats.remove_label': 'free',
  'labels.create': 'free',
  'labels.update': 'free',
  'labels.delete': 'free',
  'contacts.check': 'free',
  'contacts.set_blocked': 'free',
  'contacts.set_name': 'free',
  'contacts.follow_presence': 'free',
  'sessions.set_presence': 'free',
  'calls.reject': 'free',
  'status.mark_viewed': 'free',
  'channels.refresh': 'free',
  'channels.refresh_messages': 'free',
  'channels.update': 'free', // mutes it for the session
  'channels.unfollow': 'free',
  'media.upload': 'free',
  'media.delete': 'free',
  'batches.pause': 'free',
  'batches.cancel': 'free',
  'media.create_link': 'free',
  'media.revoke_links': 'free',
  'events.unsubscribe': 'free',
  // Everything else.
  'sessions.update_profile': 'refused',
  'sessions.update_privacy': 'refused',
  'sessions.simulate': 'refused',
  'templates.create': 'refused',
  'templates.update': 'refused',
  'templates.delete': 'refused',
  'messages.react': 'refused',
  'messages.vote': 'refused',
  'messages.pin': 'refused',
  'messages.unpin': 'refused',
  'status.post': 'refused',
  'status.delete': 'refused',
  'channels.create': 'refused',
  'channels.follow': 'refused',
  'channels.post': 'refused',
  'channels.react': 'refused',
  'groups.create': 'refused',
  'groups.update': 'refused',
  'groups.update_participants': 'refused',
  'groups.get_invite_link': 'refused',
  'groups.revoke_invite_link': 'refused',
  'groups.join': 'refused',
  'groups.leave': 'refused',
  'groups.delete': 'refused',
  'batches.resume': 'refused',
  'groups.approve_join_requests': 'refused',
  'groups.reject_join_requests': 'refused',
  'communities.create': 'refused',
  'communities.link_group': 'refused',
  'communities.unlink_group': 'refused',
  'webhooks.set': 'refused',
  'webhooks.test': 'refused',
  'webhooks.reset_circuit_breaker': 'refused',
  'webhooks.replay': 'refused',
  'webhooks.cancel_delivery': 'refused',
  'webhooks.rotate_secret': 'refused',
  'webhooks.delete': 'refused',
  'webhooks.endpoints.create': 'refused',
  'webhooks.endpoints.update': 'refused',
  'webhooks.endpoints.delete': 'refused',
  'webhooks.endpoints.rotate_secret': 'refused',
  'webhooks.endpoints.test': 'refused',
  'webhooks.endpoints.reset_circuit_breaker': 'refused',
  'webhooks.subscriptions.delete': 'refused',
  'events.subscribe': 'refused',
};

const callable = [...guarded, subscribeToEvents, unsubscribeFromEvents].filter(
  ({ effect, credential }) => effect !== 'read' && credential !== 'jwt',
);

describe('the approval rule', () => {
  it('has a decision for every operation that is not a read', () => {
    assert.deepEqual(
      Object.fromEntries(callable.map(({ id, approval = 'refused' }) => [id, approval])),
      Object.fromEntries(callable.map(({ id }) => [id, DECISIONS[id]])),
    );
    assert.deepEqual(Object.keys(DECISIONS).toSorted(), callable.map(({ id }) => id).toSorted());
    for (const { id, effect } of operations) if (effect === 'read') assert.equal(DECISIONS[id], undefined, id);
  });
});

describeOnEachDeployment('a key that needs approval', (_, database) => {
  const start = serversFor(database);
  let server: TestServer;
  before(async () => {
    server = await start();
  });

  async function setUp() {
    const { call } = await server.account();
    const sessionId = await connectSession(call);
    const { messageId } = (await call('POST', '/messages/send', { to, message: 'The PIN is 4711' })).body;
    const { groupId } = (await call('POST', '/groups', { subject: 'before', phoneNumbers: [to] })).body;
    const { key } = (await call('POST', '/api-keys/create', { name: 'held', requiresApproval: true })).body;
    const side: Side = { ...UNKNOWN, sessionId, messageId, groupId };
    return { call, agent: bearer(server.url, key), key, sessionId, messageId, side };
  }

  it('is refused every operation that reaches others and cannot wait', async () => {
    const { call, agent, key, side } = await setUp();
    const state = async () =>
      Promise.all(['/messages', '/groups', '/webhooks', '/status'].map(async (path) => (await call('GET', path)).body));
    const present = await eventually(state, ([messages]) => messages.data[0]?.status === 'delivered');
    for (const { id } of callable.filter((one) => DECISIONS[one.id] === 'refused')) {
      if (id === 'events.subscribe') continue; // has no route
      const { method, path, body } = requestOf(id, (inputs[id] ?? noInput)(side));
      const answer = await agent(method, path, body);
      assert.deepEqual([answer.status, answer.body.code], [403, 'permission_denied'], id);
      assert.match(answer.body.detail, /cannot wait for approval/, id);
    }
    assert.deepEqual(await state(), present);
    const client = await mcpClient(server, key, '2026-07-28');
    const { tools } = await client.listTools();
    const listed = tools.map(({ name }) => name);
    for (const { id, tool } of guarded)
      if (tool && id !== 'groups.join')
        assert.equal(listed.includes(id.replaceAll('.', '_')), DECISIONS[id] !== 'refused', id);
    const { inputSchema } = tools.find(({ name }) => name === 'groups_join') ?? {};
    assert.deepEqual(inputSchema?.required, ['invite', 'previewOnly'], 'it can only look at the group');
    await client.close();
  });

  it('changes no options, deletes nothing for everyone, and sets no timer', async () => {
    const { call, agent, sessionId, messageId } = await setUp();
    const options = { calls: { autoReject: true, message: 'Send me your PIN' } };
    const refused = [
      await agent('PATCH', `/sessions/${sessionId}`, { options }),
      await agent('POST', '/sessions', { options }),
      await agent('DELETE', `/messages/${messageId}`),
      await agent('PATCH', `/chats/${to}?sessionId=${sessionId}`, { disappearingSeconds: 86_400 }),
    ];
    for (const { status, body } of refused) assert.deepEqual([status, body.code], [403, 'permission_denied']);
    assert.equal((await call('GET', `/messages/${messageId}`)).body.deleted, undefined);
    assert.equal((await agent('PATCH', `/sessions/${sessionId}`, { name: 'support' })).status, 200);
    assert.equal((await agent('PATCH', `/chats/${to}?sessionId=${sessionId}`, { archived: true })).status, 200);
    const { body: own } = await agent('POST', '/messages/send', { to, message: 'May I?' });
    assert.equal((await agent('DELETE', `/messages/${own.messageId}`)).body.status, 'failed');
  });

  it('subscribes to no events', async (test) => {
    const callback = await startCallback(test);
    const { key } = await makeKey((await setUp()).call, ['*'], { requiresApproval: true });
    const rpc = rpcOf(server, key);
    const delivery = { mode: 'webhook', url: callback.url, secret: newSecret() };
    const { error } = await rpc('events/subscribe', { name: 'message.incoming', params: {}, delivery });
    assert.match(JSON.stringify(error), /cannot wait for approval/);
    assert.equal(callback.challenges.length, 0);
  });
});

describeOnEachDeployment('a quote of another chat', (_, database) => {
  const start = serversFor(database);

  it('is refused for every key with limits on what it sends', async () => {
    const server = await start();
    const { call } = await server.account();
    const sessionId = await connectSession(call);
    const { messageId } = (await call('POST', '/messages/send', { to, message: 'The PIN is 4711' })).body;
    const quote = { sessionId, message: 'See above', replyTo: messageId };
    for (const limits of [
      { requiresApproval: true },
      { allowedRecipients: [STRANGER, to] },
      { sessionIds: [sessionId] },
    ]) {
      const { body } = await call('POST', '/api-keys/create', { name: 'limited', ...limits });
      const limited = bearer(server.url, body.key);
      const refused = await limited('POST', '/messages/send', { ...quote, to: STRANGER });
      assert.deepEqual([refused.status, refused.body.code], [403, 'permission_denied'], JSON.stringify(limits));
      assert.equal((await limited('POST', '/messages/send', { ...quote, to })).status, 201, JSON.stringify(limits));
    }
    assert.equal((await call('POST', '/messages/send', { ...quote, to: STRANGER })).status, 201, 'a login may');
  });
});

describe('a text for callers', () => {
  let server: TestServer;
  before(async () => {
    server = await startServer();
  });
  after(() => server.stop());

  it('requires a key that may send to everyone', async () => {
    const { call } = await server.account();
    const { sessionId } = (await call('POST', '/sessions', { connector: 'sandbox' })).body;
    const options = { calls: { autoReject: true, message: 'Call later' } };
    const set = async (key: object, more: object = options) => {
      const { body } = await call('POST', '/api-keys/create', { name: 'key', ...key });
      return (await bearer(server.url, body.key)('PATCH', `/sessions/${sessionId}`, { options: more })).status;
    };
    const both = ['sessions:write', 'messages:send'];
    assert.equal(await set({ permissions: ['sessions:write'] }), 403);
    assert.equal(await set({ permissions: both, allowedRecipients: [to] }), 403);
    assert.equal(await set({ permissions: both, sendQuota: 1 }), 403);
    assert.equal(await set({ permissions: both, confirm: ['new_recipients'] }), 403);
    assert.equal(await set({ permissions: ['sessions:write'] }, { calls: { autoReject: true } }), 200);
    assert.equal(await set({ permissions: both }), 200);
    assert.equal(await set({ permissions: ['sessions:write'] }), 200, 'the same text as before');
    const other = { calls: { autoReject: true, message: 'Other' } };
    assert.equal(await set({ permissions: ['sessions:write'] }, other), 403);
  });
});
