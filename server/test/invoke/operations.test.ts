import assert from 'node:assert/strict';
import { after, before, describe, it, type TestContext } from 'node:test';
import { Compile } from 'typebox/compile';
import { allows, permissions } from '../../src/auth/permissions.ts';
import type { Operation } from '../../src/invoke/operation.ts';
import { operations } from '../../src/operations/index.ts';
import { type Receiver, startReceiver } from '../support/connections/receiver.ts';
import { makeKey, newSecret, rpcOf, startCallback } from '../support/mcp/mcpEvents.ts';
import { Browser, newRequest, startOAuthServer } from '../support/mcp/oauth.ts';
import { picture, upload } from '../support/media/media.ts';
import { closed } from '../support/operations/closedSchema.ts';
import { type Answer, bearer, type Call, callerOf, startServer, type TestServer } from '../support/server.ts';

const byId = new Map(operations.map((operation) => [operation.id, operation]));
const guarded = operations.filter(({ credential }) => credential !== 'none');
/** A path with made-up ids. */
const pathOf = ({ path }: Operation) => path.replace(/\{(\w+)\}/g, 'nothing_00000000000000000000000000');

describe('the operation table', () => {
  let server: TestServer;
  let receiver: Receiver;
  before(async () => {
    server = await startServer();
    receiver = await startReceiver();
  });
  after(async () => {
    await receiver.close();
    await server.stop();
  });

  it('has unique ids, and unique pairs of method and path', () => {
    assert.equal(new Set(operations.map(({ id }) => id)).size, operations.length);
    assert.equal(new Set(operations.map(({ method, path }) => `${method} ${path}`)).size, operations.length);
  });

  it('names only existing permissions, and none for public operations', () => {
    for (const { id, permission, credential } of operations) {
      assert.ok(permission === null || permissions.includes(permission), id);
      if (credential === 'none') assert.equal(permission, null, id);
    }
  });

  it('names an input field by which an operation is routed to its node', () => {
    const withDefault = ['webhooks.delete']; // of the account's default webhook
    for (const { id, owner, input } of operations)
      if (owner !== undefined && !withDefault.includes(id)) assert.ok(owner.field in input.properties, id);
  });

  it('responds 401 to every operation without a credential', async () => {
    for (const operation of guarded) {
      const answer = await server.call(
        operation.method,
        pathOf(operation),
        operation.method === 'GET' ? undefined : {},
      );
      assert.equal(answer.status, 401, operation.id);
      assertProblem(answer, 'unauthorized');
      assert.equal(answer.headers.get('www-authenticate'), 'Bearer');
      assert.equal(answer.headers.get('cache-control'), 'no-store');
    }
  });

  it('responds 403 without the permission, and to any key where a login is required', async () => {
    const { call } = await server.account();
    for (const operation of guarded) {
      const { permission, messageContent } = operation;
      const others = permissions.filter(
        (one) => !(permission !== null && allows([one], permission)) && one !== `${messageContent}:metadata`,
      );
      const { body } = await call('POST', '/api-keys/create', { name: operation.id, permissions: others });
      const byKey = callerOf(server.url, { authorization: `Bearer ${body.key}` });
      if (operation.credential === undefined && operation.permission === null) continue;
      const answer = await byKey(operation.method, pathOf(operation), operation.method === 'GET' ? undefined : {});
      assert.equal(answer.status, 403, operation.id);
      assertProblem(answer, operation.credential === 'jwt' ? 'jwt_required' : 'permission_denied');
      await call('DELETE', `/api-keys/${body.keyId}`); // an account may have fewer keys than there are operations
    }
  });

  it('rejects an unknown field by name, and changes nothing', async () => {
    const { call } = await server.account();
    for (const operation of guarded) {
      const isQuery = operation.method === 'GET' || operation.method === 'DELETE' || operation.takesContent;
      const path = `${pathOf(operation)}${isQuery ? '?nonsense=1' : ''}`;
      const answer = await call(operation.method, path, isQuery ? undefined : { nonsense: 1 });
      assert.equal(answer.status, 400, operation.id);
      assertProblem(answer, 'validation_failed');
      assert.ok(
        answer.body.errors.some(({ field }: { field: string }) => field === 'nonsense'),
        operation.id,
      );
    }
  });

  it('completes every operation with an output that matches its schema, hidden from other accounts', async (test) => {
    const succeeded = new Set<string>();
    const me = await server.account();
    const stranger = await server.account();

    /** Calls an operation as the owner, checks the output, and repeats it as a stranger. */
    async function run(id: string, path: string, body?: unknown): Promise<Answer['body']> {
      const operation = byId.get(id);
      assert.ok(operation, id);
      const [bare = ''] = path.split('?');
      const pattern = new RegExp(`^${operation.path.replace(/\{\w+\}/g, '[^/]+')}$`);
      assert.match(bare, pattern, id);
      // The path names resources of the owner, which do not exist for a stranger.
      if (operation.path.includes('{')) {
        const denied = await stranger.call(operation.method, path, body);
        assert.equal(denied.status, 404, `${id} as a stranger: ${JSON.stringify(denied.body)}`);
      }
      return runAs(me.call, id, path, body);
    }

    async function runAs(call: Call, id: string, path: string, body?: unknown): Promise<Answer['body']> {
      const operation = byId.get(id);
      assert.ok(operation, id);
      const answer = await call(operation.method, path, body);
      assert.equal(answer.status, operation.status ?? 200, `${id}: ${JSON.stringify(answer.body)}`);
      const check = Compile(closed(JSON.parse(JSON.stringify(operation.output))) as Operation['output']);
      assert.ok(
        check.Check(answer.body),
        `${id}: ${JSON.stringify(check.Errors(answer.body))} in ${JSON.stringify(answer.body)}`,
      );
      succeeded.add(id);
      return answer.body;
    }
    // With several sessions the stranger would have to name one. With one session the answer is "not found".
    const email = 'walker@example.com';
    for (const [id, path] of [
      ['auth.register', '/auth/register'],
      ['auth.login', '/auth/login'],
    ] as const) {
      await run(id, path, { email, password: 'correct horse battery' });
    }
    await run('auth.forget_login', '/auth/forget-login', {});
    await run('auth.me', '/auth/me');
    const key = await run('api_keys.create', '/api-keys/create', { name: 'walk' });
    await run('api_keys.list', '/api-keys');
    await run('api_keys.update', `/api-keys/${key.keyId}`, { name: 'walked' });
    await run('api_keys.rotate', `/api-keys/${key.keyId}/rotate`, {});
    await run('api_keys.list_calls', `/api-keys/${key.keyId}/calls`);
    await run('api_keys.revoke', `/api-keys/${key.keyId}`);

    // The request of an app belongs to no account until a person answers it.
    const oauth = await startOAuthServer();
    try {
      const person = await oauth.account();
      const approved = `/connections/requests/${await newRequest(oauth, new Browser())}`;
      const { permissions: wanted } = await runAs(person.call, 'connections.get_request', approved);
      await runAs(person.call, 'connections.approve', `${approved}/approve`, { permissions: wanted });
      const denied = `/connections/requests/${await newRequest(oauth, new Browser())}`;
      await runAs(person.call, 'connections.deny', `${denied}/deny`, {});
    } finally {
      await oauth.stop();
    }

    const { data: networks } = await run('connectors.list', '/connectors');
    assert.deepEqual(
      networks.map(({ name, isDefault }: { name: string; isDefault: boolean }) => [name, isDefault]),
      [
        ['sandbox', true],
        ['whatsapp', false],
        ['whatsapp-cloud', false],
      ],
    );
    const paired = await run('sessions.create', '/sessions', {
      name: 'paired',
      options: { pairing: true, statuses: true },
      metadata: { a: 'b' },
    });
    const pairedPath = `/sessions/${paired.sessionId}`;
    await run('sessions.connect', `${pairedPath}/connect`, {});
    await run('sessions.get_qr', `${pairedPath}/qr`);
    await run('sessions.request_pairing_code', `${pairedPath}/pairing-code`, { phoneNumber: '491701111111' });
    await run('sessions.simulate', `${pairedPath}/simulate`, { action: 'pair' });
    await run('sessions.get', pairedPath);
    await run('sessions.update', pairedPath, { name: null });
    await run('sessions.list', '/sessions');
    await run('sessions.history', `${pairedPath}/history`);

    const { sessionId } = paired;
    await run('webhooks.set', '/webhooks/set', { webhookUrl: receiver.url, events: ['message.sent'], secret: 'walk' });
    await run('webhooks.get', '/webhooks');
    await run('webhooks.rotate_secret', '/webhooks/secret/rotate', {});
    await run('webhooks.reveal_secret', '/webhooks/secret/reveal', {});
    const message = await run('messages.send', '/messages/send', { to: '491702222222', message: 'hello' });
    await run('messages.get', `/messages/${message.messageId}`);
    await run('messages.receipts', `/messages/${message.messageId}/receipts`);
    await run('messages.list', '/messages');
    await run('messages.stats', '/messages/stats');
    await me.call('POST', `${pairedPath}/simulate`, { action: 'incoming', from: '491702222222', message: 'hi' });
    await run('chats.list', '/chats');
    await run('chats.mark_read', '/chats/491702222222/read', { sessionId });
    const to = '491702222222';
    const sent = `/messages/${message.messageId}`;
    const file = (await upload(server, me.token, picture())).body.mediaId;
    await run('messages.send_media', '/messages/send-media', { to, type: 'image', mediaId: file, caption: 'look' });
    await run('messages.send_location', '/messages/send-location', { to, latitude: 52.5, longitude: 13.4, name: 'B' });
    await run('messages.send_contact', '/messages/send-contact', { to, name: 'Ada', phoneNumbers: [to] });
    const asked = await run('messages.send_poll', '/messages/send-poll', {
      to,
      question: 'When?',
      options: ['now', 'later'],
    });
    await run('messages.vote', `/messages/${asked.messageId}/vote`, { options: ['now'] });
    await run('messages.send_event', '/messages/send-event', { to, name: 'Tea', startsAt: '2030-01-01T18:00:00Z' });
    const files = [file, file].map((mediaId) => ({ type: 'image', mediaId }));
    await run('messages.send_album', '/messages/send-album', { to, files });
    await run('messages.send_template', '/messages/send-template', { to, name: 'order_sent', language: 'en_US' });
    const buttons = [{ id: 'yes', title: 'Yes' }];
    await run('messages.send_interactive', '/messages/send-interactive', { to, message: 'Tea?', buttons });
    await run('messages.preflight', '/messages/preflight', { to: [to, 'nobody'], message: 'all' });
    await run('messages.send_bulk', '/messages/send-bulk', { to: [to, 'nobody'], message: 'all', intervalMs: 0 });
    const inAnHourTo = new Date(Date.now() + 3_600_000).toISOString();
    const batch = await me.call('POST', '/messages/send-bulk', { to: [to], message: 'all', sendAt: inAnHourTo });
    const { batchId } = batch.body;
    await run('batches.list', '/batches');
    await run('batches.get', `/batches/${batchId}`);
    await run('batches.pause', `/batches/${batchId}/pause`, {});
    await run('batches.resume', `/batches/${batchId}/resume`, {});
    await run('batches.cancel', `/batches/${batchId}/cancel`, {});
    await run('messages.react', `${sent}/reaction`, { emoji: '👍' });
    await run('messages.edit', sent, { message: 'hello again' });
    await run('messages.forward', `${sent}/forward`, { to: '491705555555' });
    const inAnHour = new Date(Date.now() + 3_600_000).toISOString();
    const later = await me.call('POST', '/messages/send', { to, message: 'later', sendAt: inAnHour });
    await run('messages.cancel', `/messages/${later.body.messageId}/cancel`, {});
    await run('messages.delete', sent);
    const { key: heldKey } = (await me.call('POST', '/api-keys/create', { name: 'held', requiresApproval: true })).body;
    const hold = async () =>
      (await bearer(server.url, heldKey)('POST', '/messages/send', { to, message: 'May I?' })).body.messageId;
    await run('messages.approve', `/messages/${await hold()}/approve`, { message: 'You may.' });
    await run('messages.reject', `/messages/${await hold()}/reject`, { reason: 'No.' });
    await run('chats.get', `/chats/${to}?sessionId=${sessionId}`);
    await run('chats.update', `/chats/${to}`, { sessionId, archived: true });
    const past = {
      id: 'past',
      with: to,
      message: '',
      timestamp: new Date(Date.now() - 3_600_000).toISOString(),
      mediaId: file,
    };
    await me.call('POST', `${pairedPath}/simulate`, { action: 'history', history: { messages: [past] } });
    const { body: found } = await me.call('GET', '/messages?origin=history');
    await run('messages.fetch_media', `/messages/${found.data[0].messageId}/media`);
    await run('chats.request_history', `/chats/${to}/history`, { sessionId, count: 1 });
    await run('chats.set_typing', `/chats/${to}/typing`, { sessionId, state: 'typing' });
    await run('chats.mark_unread', `/chats/${to}/unread`, { sessionId });
    const { body: marked } = await me.call('POST', '/messages/send', { to, message: 'mark me' });
    const mark = `/messages/${marked.messageId}`;
    await run('messages.star', `${mark}/star`, {});
    await run('messages.unstar', `${mark}/star`);
    await run('messages.pin', `${mark}/pin`, { duration: '24h' });
    await run('messages.unpin', `${mark}/pin`);
    const { labelId } = await run('labels.create', '/labels', { sessionId, name: 'walk' });
    await run('labels.list', '/labels');
    await run('labels.update', `/labels/${labelId}`, { sessionId, color: 2 });
    await run('chats.add_label', `/chats/${to}/labels/${labelId}`, { sessionId });
    await run('chats.remove_label', `/chats/${to}/labels/${labelId}?sessionId=${sessionId}`);
    await run('messages.add_label', `${mark}/labels/${labelId}`, {});
    await run('messages.remove_label', `${mark}/labels/${labelId}`);
    await run('labels.delete', `/labels/${labelId}?sessionId=${sessionId}`);
    const other = '491709999999';
    await me.call('POST', '/messages/send', { to: other, message: 'to be deleted' });
    await run('chats.clear', `/chats/${other}/clear`, { sessionId });
    await run('chats.delete', `/chats/${other}?sessionId=${sessionId}`);
    await run('contacts.list', '/contacts');
    await run('contacts.check', `/contacts/check?phoneNumbers=${to},15550000001`);
    await run('contacts.get', `/contacts/${to}?sessionId=${sessionId}`);
    await run('contacts.set_name', `/contacts/${to}/name`, { sessionId, name: 'Ada Lovelace' });
    await run('contacts.set_blocked', `/contacts/${to}/blocked`, { sessionId, blocked: true });
    const group = await run('groups.create', '/groups', { subject: 'Walk', phoneNumbers: ['491703333333'] });
    await run('groups.list', '/groups');
    await run('groups.get', `/groups/${group.groupId}`);
    await run('groups.update', `/groups/${group.groupId}`, { subject: 'Walked' });
    await run('groups.update_participants', `/groups/${group.groupId}/participants`, {
      action: 'add',
      phoneNumbers: ['491704444444'],
    });

    const status = await run('status.post', '/status', { sessionId, message: 'walking', phoneNumbers: [to] });
    await run('status.list', '/status');
    await run('status.views', `/status/${status.statusId}/views?sessionId=${sessionId}`);
    await run('status.delete', `/status/${status.statusId}?sessionId=${sessionId}`);
    await me.call('POST', `${pairedPath}/simulate`, { action: 'status', from: '491703333333', message: 'at sea' });
    const { data: statuses } = (await me.call('GET', '/status?by=others')).body;
    await run('status.mark_viewed', `/status/${statuses[0].statusId}/viewed`, { sessionId });
    const channel = await run('channels.create', '/channels', { sessionId, name: 'Walks' });
    const channelPath = `/channels/${channel.channelId}`;
    await run('channels.list', '/channels');
    await run('channels.get', `${channelPath}?sessionId=${sessionId}`);
    await run('channels.preview', `/channels/preview?sessionId=${sessionId}&channel=${channel.channelId}`);
    await run('channels.follow', '/channels/follow', { sessionId, channel: channel.inviteLink });
    await run('channels.refresh', '/channels/refresh', { sessionId });
    await run('channels.update', channelPath, { sessionId, muted: true });
    const { postId } = await run('channels.post', `${channelPath}/messages`, { sessionId, message: 'A walk' });
    await run('channels.messages', `${channelPath}/messages?sessionId=${sessionId}`);
    await run('channels.refresh_messages', `${channelPath}/messages/refresh`, { sessionId });
    await run('channels.react', `${channelPath}/messages/${postId}/reaction`, { sessionId, emoji: '👍' });
    await me.call('POST', `${pairedPath}/simulate`, { action: 'channel_create', from: to, subject: 'Theirs' });
    const theirs = (await me.call('GET', '/channels')).body.data[0].channelId;
    await run('channels.unfollow', `/channels/${theirs}/unfollow`, { sessionId });
    await run('sessions.set_presence', `${pairedPath}/presence`, { presence: 'online' });
    await run('contacts.follow_presence', `/contacts/${to}/presence`, { sessionId, followed: true });
    await run('contacts.presence', `/contacts/${to}/presence?sessionId=${sessionId}`);
    await me.call('POST', `${pairedPath}/simulate`, { action: 'call', from: '491703333333', callId: 'CALL' });
    await run('calls.reject', '/calls/CALL/reject', { sessionId });

    const media = await run('media.upload', '/media?fileName=walk.txt', 'a file');
    await run('media.get', `/media/${media.mediaId}`);
    await run('media.create_link', `/media/${media.mediaId}/links`, {});
    await run('media.revoke_links', '/media/links/revoke', {});
    await run('media.delete', `/media/${media.mediaId}`);

    const { inviteLink } = await run('groups.get_invite_link', `/groups/${group.groupId}/invite-link`);
    await run('groups.join', '/groups/join', { invite: inviteLink });
    await run(
      'groups.preview_invite',
      `/groups/preview?invite=${encodeURIComponent(inviteLink)}&sessionId=${sessionId}`,
    );
    const asking = '491706666666';
    const play = (action: string, fields: object) =>
      me.call('POST', `/sessions/${sessionId}/simulate`, { action, ...fields });
    await me.call('PATCH', `/groups/${group.groupId}`, { settings: { joinApproval: true } });
    await play('group_join_request', { groupId: group.groupId, from: asking });
    const requests = `/groups/${group.groupId}/join-requests`;
    await run('groups.list_join_requests', requests);
    await run('groups.approve_join_requests', `${requests}/approve`, { phoneNumbers: [asking] });
    await run('groups.reject_join_requests', `${requests}/reject`, { phoneNumbers: [asking] });
    const community = await run('communities.create', '/communities', { sessionId, subject: 'Walks' });
    await run('communities.list', '/communities');
    const linked = `/communities/${community.groupId}/groups`;
    await run('communities.link_group', `${linked}/${group.groupId}`);
    await run('communities.list_groups', linked);
    await run('communities.unlink_group', `${linked}/${group.groupId}`);
    await run('sessions.get_profile', `/sessions/${sessionId}/profile`);
    await run('sessions.list_devices', `/sessions/${sessionId}/devices`);
    await run('sessions.get_privacy', `/sessions/${sessionId}/privacy`);
    await run('sessions.update_privacy', `/sessions/${sessionId}/privacy`, { about: 'nobody' });
    await play('business_profile', { from: asking, business: { description: 'Tea' } });
    await run('contacts.look_up', `/contacts/lookup?phoneNumbers=${asking}&sessionId=${sessionId}`);
    await run('contacts.business_profile', `/contacts/${asking}/business-profile?sessionId=${sessionId}`);
    await run('contacts.catalog', `/contacts/${asking}/catalog?sessionId=${sessionId}`);
    await run('contacts.collections', `/contacts/${asking}/catalog/collections?sessionId=${sessionId}`);
    await run('groups.revoke_invite_link', `/groups/${group.groupId}/invite-link`);
    await run('groups.leave', `/groups/${group.groupId}/leave`, {});
    const brief = await me.call('POST', '/groups', { sessionId, subject: 'Brief', phoneNumbers: [asking] });
    await run('groups.delete', `/groups/${brief.body.groupId}`);

    await receiver.waitFor(1);
    await run('webhooks.test', '/webhooks/test');
    await run('webhooks.stats', '/webhooks/stats');
    await run('webhooks.get_circuit_breaker', '/webhooks/circuit-breaker');
    await run('webhooks.reset_circuit_breaker', '/webhooks/circuit-breaker/reset', {});
    const { data } = await run('webhooks.list_deliveries', '/webhooks/deliveries');
    await run('webhooks.get_delivery', `/webhooks/deliveries/${data[0].deliveryId}`);
    await run('webhooks.replay', '/webhooks/replay', { deliveryIds: [data[0].deliveryId] });
    const { webhookId } = await run('webhooks.endpoints.create', '/webhooks/endpoints', {
      webhookUrl: receiver.url,
      events: ['chat.updated'],
      paused: true,
    });
    const endpoint = `/webhooks/endpoints/${webhookId}`;
    await run('webhooks.endpoints.list', '/webhooks/endpoints');
    await run('webhooks.endpoints.get', endpoint);
    await run('webhooks.endpoints.update', endpoint, { maxInFlight: 2 });
    await run('webhooks.endpoints.rotate_secret', `${endpoint}/secret/rotate`, {});
    await run('webhooks.endpoints.reveal_secret', `${endpoint}/secret/reveal`, {});
    await run('webhooks.endpoints.test', `${endpoint}/test`);
    await run('webhooks.endpoints.stats', `${endpoint}/stats`);
    await run('webhooks.endpoints.get_circuit_breaker', `${endpoint}/circuit-breaker`);
    await run('webhooks.endpoints.reset_circuit_breaker', `${endpoint}/circuit-breaker/reset`, {});
    await me.call('PATCH', `/chats/${to}`, { sessionId, pinned: true });
    const { body: pending } = await me.call('GET', `/webhooks/deliveries?webhookId=${webhookId}&states=pending`);
    await run('webhooks.cancel_delivery', `/webhooks/deliveries/${pending.data[0].deliveryId}/cancel`, {});
    await run('webhooks.endpoints.delete', endpoint);
    await subscribe(test, server, me.call);
    const subscriptions = await run('webhooks.subscriptions.list', '/webhooks/subscriptions');
    await run('webhooks.subscriptions.delete', `/webhooks/subscriptions/${subscriptions.data[0].webhookId}`);
    await run('webhooks.delete', '/webhooks');
    await run('events.list', '/events');
    await run('events.types', '/events/types');

    await run('sessions.update_profile', `/sessions/${sessionId}/profile`, { name: 'Walker', about: 'on foot' });
    await walkTemplates(run, sessionId);
    await run('contacts.profile', `/contacts/${to}/profile?sessionId=${sessionId}`);

    await run('sessions.restart', `${pairedPath}/restart`, {});
    await run('sessions.disconnect', `${pairedPath}/disconnect`, {});
    await run('sessions.logout', `${pairedPath}/logout`, {});
    await run('sessions.delete', pairedPath);
    await run('auth.change_password', '/auth/password', {
      currentPassword: 'correct horse battery',
      newPassword: 'another long password',
    });
    const again = await server.call('POST', '/auth/login', { email: me.email, password: 'another long password' });
    const logout = await callerOf(server.url, { authorization: `Bearer ${again.body.token}` })(
      'POST',
      '/auth/logout',
      {},
    );
    assert.deepEqual(logout.body, { loggedOut: true });
    succeeded.add('auth.logout');

    assert.deepEqual(
      operations.filter(({ id }) => !succeeded.has(id)).map(({ id }) => id),
      [],
      'every operation was called',
    );
  });
});

function assertProblem({ headers, body }: Answer, code: string): void {
  assert.match(headers.get('content-type') ?? '', /^application\/problem\+json/);
  assert.equal(body.code, code);
  assert.equal(body.requestId, headers.get('x-request-id'));
  for (const member of ['type', 'title', 'status', 'detail']) assert.ok(member in body, member);
}

async function walkTemplates(
  run: (id: string, path: string, body?: unknown) => Promise<Answer['body']>,
  sessionId: string,
): Promise<void> {
  const path = `/sessions/${sessionId}/templates`;
  const template = { name: 'walk', language: 'en', category: 'utility', components: [{ type: 'BODY', text: 'Hello' }] };
  const { templateId } = await run('templates.create', path, template);
  await run('templates.list', path);
  await run('templates.get', `${path}/${templateId}`);
  await run('templates.update', `${path}/${templateId}`, { category: 'marketing' });
  await run('templates.delete', `${path}/${templateId}`);
}

/** Subscribes to events as an MCP client does. */
async function subscribe(test: TestContext, server: TestServer, call: Call): Promise<void> {
  const { key } = await makeKey(call);
  const { url } = await startCallback(test);
  const params = { name: 'message.incoming', delivery: { url, secret: newSecret() } };
  const { error } = await rpcOf(server, key)('events/subscribe', params);
  assert.equal(error, undefined, JSON.stringify(error));
}
