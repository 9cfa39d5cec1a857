import assert from 'node:assert/strict';
import { it } from 'node:test';
import { limitInput } from '../../src/operations/accounts/keyLimits.ts';
import { describeOnEachDeployment } from '../support/databases/databases.ts';
import { callTool, mcpClient } from '../support/mcp/mcp.ts';
import { CHAT, guarded, inputs, noInput, UNKNOWN } from '../support/operations/operationInputs.ts';
import { requestOf } from '../support/operations/restRequest.ts';
import { bearer, type Call, connectSession, serversFor, startServer } from '../support/server.ts';

const to = CHAT;

describeOnEachDeployment('a key of some addresses', (_, database) => {
  const start = serversFor(database, { env: { TRUST_PROXY: 'on' } });

  async function setUp(allowedIps: readonly string[]) {
    const server = await start();
    const { call } = await server.account();
    const sessionId = await connectSession(call);
    const { status, body } = await call('POST', '/api-keys/create', { name: 'limited', allowedIps });
    assert.equal(status, 201, JSON.stringify(body));
    /** Calls from an address, as a proxy reports it. */
    const from =
      (address: string): Call =>
      (method, path, input) =>
        bearer(server.url, body.key)(method, path, input, { 'x-forwarded-for': address });
    return { server, call, sessionId, from, ...body };
  }

  it('works from them, whatever the form of the address and the node that runs the call', async () => {
    const { from, allowedIps } = await setUp(['203.0.113.0/24', '2001:db8::/32']);
    assert.deepEqual(allowedIps, ['203.0.113.0/24', '2001:db8::/32']);
    for (const address of ['203.0.113.9', '::ffff:203.0.113.9', '2001:db8::7'])
      assert.equal((await from(address)('POST', '/messages/send', { to, message: 'hello' })).status, 201, address);
  });

  it('is refused from elsewhere, over REST, streams and MCP', async () => {
    const { server, from, key } = await setUp(['203.0.113.0/24']);
    for (const address of ['203.0.114.9', '::ffff:203.0.114.9', '2001:db8::7', 'unknown'])
      for (const [method, path] of [
        ['GET', '/sessions'],
        ['GET', '/auth/me'],
        ['POST', '/messages/send'],
        ['GET', '/events/stream'],
        ['GET', '/media/med_none/content'],
        ['POST', '/mcp'],
      ] as const) {
        const body = method === 'POST' ? { jsonrpc: '2.0', id: 1, method: 'tools/list' } : undefined;
        const answer = await from(address)(method, path, body);
        assert.deepEqual([answer.status, answer.body.code], [403, 'permission_denied'], `${path} from ${address}`);
        assert.ok(answer.body.detail.includes(address), answer.body.detail);
      }
    await assert.rejects(mcpClient(server, key, '2026-07-28'));
  });

  it('counts only the address that the proxy adds', async () => {
    const { from } = await setUp(['203.0.113.9']);
    assert.equal((await from('203.0.113.9, 198.51.100.1')('GET', '/sessions')).status, 403);
    assert.equal((await from('198.51.100.1, 203.0.113.9')('GET', '/sessions')).status, 200);
  });

  it('is changed at once, and names wrong networks', async () => {
    const { call, from, keyId, server, key } = await setUp(['203.0.113.9']);
    const change = (allowedIps: unknown) => call('PATCH', `/api-keys/${keyId}`, { allowedIps });
    const { status, body } = await change(['10.0.0.0/8', '10.0.0.0/99', 'localhost']);
    const fields = body.errors.map(({ field }: { field: string }) => field);
    assert.deepEqual([status, fields], [400, ['allowedIps.1', 'allowedIps.2']]);
    for (const wrong of [[], '10.0.0.0/8', Array(51).fill('10.0.0.0/8')])
      assert.equal((await change(wrong)).status, 400);
    assert.equal((await change(['198.51.100.0/24'])).status, 200);
    assert.equal((await from('203.0.113.9')('GET', '/sessions')).status, 403);
    assert.equal((await from('198.51.100.1')('GET', '/sessions')).status, 200);
    assert.equal((await change(null)).body.allowedIps, null);
    const client = await mcpClient(server, key, '2026-07-28');
    assert.equal((await callTool(client, 'sessions_list')).isError, false);
    await client.close();
  });
});

it('a key of some addresses counts the address only if a trusted proxy adds it', async (test) => {
  for (const [proxies, status] of [
    ['127.0.0.1', 200],
    ['10.0.0.2, 127.0.0.0/8', 200],
    ['10.0.0.2', 403],
    ['off', 403],
  ] as const) {
    const server = await startServer({ env: { TRUST_PROXY: proxies } });
    test.after(() => server.stop());
    const { call } = await server.account();
    const { body } = await call('POST', '/api-keys/create', { name: 'limited', allowedIps: ['203.0.113.9'] });
    const answer = await bearer(server.url, body.key)('GET', '/sessions', undefined, {
      'x-forwarded-for': '203.0.113.9',
    });
    assert.equal(answer.status, status, proxies);
  }
});

/** These change nothing that somebody else sees, although their permission lets others do so. */
const REACH_NOBODY = [
  'messages.cancel',
  'messages.fetch_media',
  'messages.star',
  'messages.unstar',
  'messages.add_label',
  'messages.remove_label',
  'chats.update',
  'chats.request_history',
  'chats.mark_unread',
  'chats.clear',
  'chats.delete',
  'chats.add_label',
  'chats.remove_label',
  'labels.create',
  'labels.update',
  'labels.delete',
  'sessions.set_presence',
  'contacts.follow_presence',
  'contacts.check',
  'contacts.set_blocked',
  'contacts.set_name',
  'batches.pause',
  'batches.cancel',
  'channels.refresh_messages',
  'channels.refresh',
  'channels.create', // it has no followers yet
  'channels.update', // mutes it for the session
  'channels.follow',
  'channels.unfollow',
  'groups.get_invite_link',
  'groups.revoke_invite_link',
  'groups.join',
  'groups.leave',
  'communities.create', // it has no members yet
  'communities.unlink_group',
];

/** Everybody sees the result. */
const REACH_EVERYBODY = ['sessions.update_profile'];

/** Handlers that check the people whom they reach, or answer somebody who calls at this moment. */
const CHECK_THEMSELVES = [
  'groups.update',
  'groups.delete',
  'communities.link_group',
  'messages.preflight',
  'batches.resume',
  'status.post',
  'status.delete',
  'status.mark_viewed',
  'channels.post',
  'channels.react',
  'calls.reject',
];

describeOnEachDeployment('a key of some recipients', (_, database) => {
  const start = serversFor(database);

  async function setUp(allowedRecipients: readonly string[]) {
    const server = await start();
    const { call } = await server.account();
    const sessionId = await connectSession(call);
    const { messageId } = (await call('POST', '/messages/send', { to, message: 'before' })).body;
    const { groupId } = (await call('POST', '/groups', { subject: 'before', phoneNumbers: [to] })).body;
    const listed = allowedRecipients.map((pattern) => (pattern === 'the group' ? groupId : pattern));
    const { status, body } = await call('POST', '/api-keys/create', { name: 'limited', allowedRecipients: listed });
    assert.equal(status, 201, JSON.stringify(body));
    const limited = bearer(server.url, body.key);
    const sendTo = (recipient: string) => limited('POST', '/messages/send', { to: recipient, message: 'hello' });
    return { server, call, limited, sendTo, side: { ...UNKNOWN, sessionId, messageId, groupId }, ...body };
  }

  it('decides for every operation that reaches somebody', () => {
    const reaching = guarded.filter(
      ({ id, permission, effect }) =>
        effect !== 'read' &&
        ![...REACH_NOBODY, ...CHECK_THEMSELVES].includes(id) &&
        /^(messages|chats|groups|contacts|calls|status|channels):/.test(permission ?? ''),
    );
    assert.ok(reaching.length > 10);
    for (const { id, recipients, input } of reaching) {
      assert.ok(recipients, `${id} has no decision`);
      if (recipients !== 'each') assert.ok(recipients in input.properties, id);
    }
  });

  it('reaches nobody else by any operation or tool', async () => {
    const { server, call, limited, side, key } = await setUp(['491709999999', '4930*']);
    const before = (await call('GET', '/messages')).body;
    const client = await mcpClient(server, key, '2026-07-28');
    for (const operation of guarded) {
      const { id, recipients, credential, tool } = operation;
      if (recipients === 'each' || credential === 'jwt') continue;
      // The others get ids that nobody has, so that they change nothing.
      const isUnknown = recipients === undefined && !REACH_EVERYBODY.includes(id);
      const input = (inputs[id] ?? noInput)(isUnknown ? UNKNOWN : side);
      const { method, path, body } = requestOf(id, input);
      const answer = await limited(method, path, body);
      if (recipients === undefined) {
        assert.equal(answer.status === 403, REACH_EVERYBODY.includes(id), id);
        continue;
      }
      assert.deepEqual([answer.status, answer.body.code], [403, 'permission_denied'], id);
      assert.ok(answer.body.detail.includes(to), id);
      if (!tool) continue;
      const { isError, output } = await callTool(client, id.replaceAll('.', '_'), input);
      assert.deepEqual([isError, output.code, output.detail], [true, 'permission_denied', answer.body.detail], id);
    }
    await client.close();
    assert.deepEqual((await call('GET', '/messages')).body, before);
  });

  it('names the field of a refused recipient, and none for a missing permission', async () => {
    const { server, call, limited, side, sendTo } = await setUp(['the group']);
    const message = `This API key cannot send to ${to}`;
    assert.deepEqual((await sendTo(to)).body.errors, [{ field: 'to', code: 'recipient_denied', message }]);
    const reaction = await limited('PUT', `/messages/${side.messageId}/reaction`, { emoji: '👍' });
    assert.deepEqual(reaction.body.errors, [{ field: 'messageId', code: 'recipient_denied', message }]);
    const added = await limited('POST', `/groups/${side.groupId}/participants`, {
      action: 'add',
      phoneNumbers: [to],
    });
    assert.deepEqual(added.body.errors, [{ field: 'phoneNumbers.0', code: 'recipient_denied', message }]);
    const { body } = await call('POST', '/api-keys/create', { name: 'reader', permissions: ['messages:read'] });
    const refused = await bearer(server.url, body.key)('POST', '/messages/send', { to, message: 'hello' });
    assert.deepEqual([refused.body.code, refused.body.errors], ['permission_denied', undefined]);
  });

  it('sends to them in any spelling', async () => {
    const { call, sendTo, side, limited, allowedRecipients } = await setUp([
      '+49 (170) 765-4321',
      ' 49 30*',
      'the group',
    ]);
    assert.deepEqual(allowedRecipients, [to, '4930*', side.groupId]);
    for (const recipient of [to, `+${to}`, '49-170-7654321', '493012345678', side.groupId])
      assert.equal((await sendTo(recipient)).status, 201, recipient);
    for (const recipient of ['491707654322', '4931234567', UNKNOWN.groupId])
      assert.equal((await sendTo(recipient)).body.code, 'permission_denied', recipient);
    const path = `/messages/${side.messageId}`;
    assert.equal((await limited('PUT', `${path}/reaction`, { emoji: '👍' })).status, 200);
    assert.equal((await limited('POST', `${path}/forward`, { to: '491707654322' })).status, 403);
    const { body: other } = await call('POST', '/groups', { subject: 'other', phoneNumbers: ['491707654322'] });
    for (const text of [{ subject: 'text' }, { description: 'text' }, { settings: { disappearingSeconds: 86_400 } }]) {
      assert.equal((await limited('PATCH', `/groups/${other.groupId}`, text)).body.code, 'permission_denied');
      assert.equal((await limited('PATCH', `/groups/${side.groupId}`, text)).status, 200);
    }
    assert.equal((await limited('PATCH', `/groups/${other.groupId}`, { settings: { announce: true } })).status, 200);
    const people = { action: 'add', phoneNumbers: [to, '491707654322'] };
    assert.equal((await limited('POST', `/groups/${side.groupId}/participants`, people)).status, 403);
    assert.equal((await limited('POST', '/groups', { subject: 'new', phoneNumbers: ['493012345678'] })).status, 201);
    assert.equal((await limited('DELETE', `/groups/${other.groupId}`)).body.code, 'permission_denied');
    assert.equal((await call('GET', `/groups/${other.groupId}`)).body.participants.length, 2);
    assert.equal((await limited('DELETE', `/groups/${side.groupId}`)).status, 200);
  });

  it('refuses single recipients of a bulk message', async () => {
    const { limited } = await setUp([to]);
    const bulk = { to: [to, '491707654322', 'nobody'], message: 'all', intervalMs: 0 };
    const { status, body } = await limited('POST', '/messages/send-bulk', bulk);
    assert.deepEqual([status, body.accepted, body.refused], [202, 1, 2]);
    assert.equal(body.results[1].error, 'This API key cannot send to 491707654322');
  });

  it('is not answered with a message to somebody else by a repeated idempotency key', async () => {
    const { call, limited } = await setUp(['491709999999']);
    const message = { to, message: 'once', idempotencyKey: 'shared' };
    assert.equal((await call('POST', '/messages/send', message)).status, 201);
    assert.equal((await limited('POST', '/messages/send', message)).status, 403);
  });

  it('names wrong patterns', async () => {
    const { call } = await setUp([to]);
    const allowedRecipients = [to, '*', '12', 'grp_', '0170*', '49*170', 'somebody'];
    const { status, body } = await call('POST', '/api-keys/create', { name: 'wrong', allowedRecipients });
    const fields = body.errors.map(({ field }: { field: string }) => field);
    assert.deepEqual([status, fields], [400, [1, 2, 3, 4, 5, 6].map((at) => `allowedRecipients.${at}`)]);
  });
});

describeOnEachDeployment('the limits of a key', (_, database) => {
  const start = serversFor(database);

  it('stay as they are when something else is changed', async () => {
    const { call } = await (await start()).account();
    const sessionId = await connectSession(call);
    const limits: Record<string, unknown> = {
      sessionIds: [sessionId],
      allowedIps: ['127.0.0.0/8'],
      allowedRecipients: [to],
      sendQuota: 5,
      confirm: ['destructive'],
      requiresApproval: true,
    };
    assert.deepEqual(Object.keys(limits), Object.keys(limitInput));
    const { keyId } = (await call('POST', '/api-keys/create', { name: 'limited', ...limits })).body;
    const patch = async (change: object) => {
      const { status, body } = await call('PATCH', `/api-keys/${keyId}`, change);
      assert.equal(status, 200, JSON.stringify(body));
      return Object.fromEntries(Object.keys(limits).map((name) => [name, body[name]]));
    };
    assert.deepEqual(await patch({ name: 'renamed' }), limits);
    for (const [name, value] of Object.entries(limits)) {
      assert.deepEqual(await patch({ [name]: value }), limits, name);
      const none = name === 'requiresApproval' ? false : null;
      assert.deepEqual(await patch({ [name]: none }), { ...limits, [name]: none }, name);
      await patch({ [name]: value });
    }
  });
});
