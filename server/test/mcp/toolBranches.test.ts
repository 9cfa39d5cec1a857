import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { additions } from '../../src/http/mcp/branchTable.ts';
import { operations } from '../../src/operations/index.ts';
import { callTool, mcpClient } from '../support/mcp/mcp.ts';
import { picture, upload } from '../support/media/media.ts';
import { type Call, connectSession, newNumber, startServer, type TestServer } from '../support/server.ts';

type Client = Awaited<ReturnType<typeof mcpClient>>;
type Fields = Record<string, unknown>;

function operationOf(id: string) {
  const operation = operations.find((one) => one.id === id);
  assert.ok(operation, id);
  return operation;
}

describe('tools that cover several operations', () => {
  let server: TestServer;
  let call: Call;
  let token: string;
  let client: Client;
  let sessionId: string;
  const number = newNumber();
  const friend = newNumber();

  before(async () => {
    server = await startServer();
    ({ call, token } = await server.account());
    sessionId = await connectSession(call, number);
    await connectSession(call, friend);
    client = await clientWith({});
  });
  after(async () => {
    await client?.close();
    await server?.stop();
  });

  async function clientWith(limits: object): Promise<Client> {
    const { key } = (await call('POST', '/api-keys/create', { name: 'agent', ...limits })).body;
    return mcpClient(server, key, '2026-07-28');
  }

  async function tool(name: string, input: Fields, by = client): Promise<Fields> {
    const { isError, output } = await callTool(by, name, input);
    assert.ok(!isError, `${name}: ${JSON.stringify(output)}`);
    return output;
  }

  const simulate = (action: object) => call('POST', `/sessions/${sessionId}/simulate`, action);
  const messageOf = async (id: unknown) => (await call('GET', `/messages/${id}`)).body;
  const send = async (message = 'Hello') =>
    (await tool('messages_send', { sessionId, to: friend, message }))['messageId'];

  it('votes on a poll with messages_react', async () => {
    const poll = { sessionId, to: friend, question: 'When?', options: ['Today', 'Tomorrow'] };
    const { messageId } = await tool('messages_send_poll', poll);
    await tool('messages_react', { messageId, vote: '["Today"]' });
    assert.deepEqual((await messageOf(messageId)).votes[0].options, ['Today']);
  });

  it('ignores fields that a model fills in without using them', async () => {
    const message = 'Hello';
    await tool('messages_send', { sessionId, to: friend, message, mentions: [], mentionAll: false, buttons: [] });
    const { messageId } = await tool('messages_send', { sessionId, to: friend, message, template: null });
    const template = { name: 'greeting', language: 'en', values: null, components: null };
    const { messageId: greeting } = await tool('messages_send', { sessionId, to: friend, template });
    assert.equal((await messageOf(greeting)).template.name, 'greeting');
    await tool('messages_react', { messageId, emoji: '👍', vote: [] });
    await tool('messages_edit', { messageId, starred: true, message: null, pinned: null, addLabel: null });
    assert.equal((await messageOf(messageId)).starred, true);
    await simulate({ action: 'incoming', from: friend, message });
    const unused = { archived: null, pinned: null, mutedUntil: null, addLabel: null, olderMessages: null };
    await tool('chats_mark_read', { chatId: friend, sessionId, unread: false, ...unused });
    assert.equal((await call('GET', `/chats/${friend}?sessionId=${sessionId}`)).body.unreadCount, 0);
    assert.ok(await tool('sessions_disconnect', { sessionId: await connectSession(call, newNumber()), unlink: false }));
  });

  it('sends a product of a catalog with messages_send', async () => {
    const product = { catalogId: '194836987003835', retailerId: 'sencha-100' };
    for (const message of ['Back in stock', undefined]) {
      const { messageId } = await tool('messages_send', { sessionId, to: friend, message, product });
      assert.deepEqual((await messageOf(messageId)).interactive, { product });
    }
  });

  it('stars, pins and labels a message with messages_edit', async () => {
    const messageId = await send();
    await tool('messages_edit', { messageId, starred: true });
    await tool('messages_edit', { messageId, pinned: '7d' });
    const marked = await messageOf(messageId);
    assert.equal(marked.starred, true);
    assert.ok(marked.pinnedUntil);
    await tool('messages_edit', { messageId, starred: 'false' });
    await tool('messages_edit', { messageId, pinned: 'off' });
    const bare = await messageOf(messageId);
    assert.deepEqual([bare.starred, bare.pinnedUntil], [undefined, undefined]);
    const { labelId } = (await call('POST', '/labels', { sessionId, name: 'Urgent', color: 1 })).body;
    await tool('messages_edit', { messageId, addLabel: labelId });
    assert.deepEqual((await messageOf(messageId)).labelIds, [labelId]);
    await tool('messages_edit', { messageId, message: 'Edited' });
    assert.equal((await messageOf(messageId)).message, 'Edited');
  });

  it('changes a chat with chats_mark_read', async () => {
    await send();
    const chat = async () => (await call('GET', `/chats/${friend}?sessionId=${sessionId}`)).body;
    await tool('chats_mark_read', { chatId: friend, sessionId, unread: true });
    assert.equal((await chat()).markedUnread, true);
    await tool('chats_mark_read', { chatId: friend, sessionId, archived: true, mutedUntil: '2099-01-01T00:00:00Z' });
    assert.deepEqual([(await chat()).archived, (await chat()).mutedUntil], [true, '2099-01-01T00:00:00.000Z']);
    await tool('chats_mark_read', { chatId: friend, sessionId, mutedUntil: 'off' });
    assert.equal((await chat()).mutedUntil, null);
    const { labelId } = (await call('POST', '/labels', { sessionId, name: 'Lead', color: 2 })).body;
    await tool('chats_mark_read', { chatId: friend, sessionId, addLabel: labelId });
    const { data } = await tool('chats_list', { labelId });
    assert.equal((data as Fields[])[0]?.['chatId'], friend);
    const { labels } = await tool('sessions_get', { sessionId, include: ['labels'] });
    assert.ok((labels as Fields[]).some((label) => label['labelId'] === labelId));
  });

  it('sends albums and statuses with messages_send_media', async () => {
    const { mediaId } = (await upload(server, token, picture())).body;
    const file = { type: 'image', mediaId };
    const { messages } = await tool('messages_send_media', { sessionId, to: friend, files: [file, file] });
    assert.equal((messages as unknown[]).length, 2);
    await simulate({ action: 'incoming', from: friend, message: 'Hello from a contact' });
    const { statusId } = await tool('messages_send_media', { sessionId, to: 'status', ...file, caption: 'New' });
    const { data } = (await call('GET', `/status?sessionId=${sessionId}`)).body;
    assert.equal(data.find((status: Fields) => status['statusId'] === statusId).message, 'New');
  });

  it('shows join requests and decides on them', async () => {
    const { body: group } = await call('POST', '/groups', { sessionId, subject: 'Team', phoneNumbers: [friend] });
    const { groupId } = group;
    await call('PATCH', `/groups/${groupId}`, { settings: { joinApproval: true } });
    const asking = newNumber();
    await simulate({ action: 'group_join_request', groupId, from: asking });
    const { joinRequests } = await tool('groups_get', { groupId, include: ['joinRequests'] });
    assert.deepEqual(
      (joinRequests as Fields[]).map(({ phoneNumber }) => phoneNumber),
      [asking],
    );
    await tool('groups_update_participants', { groupId, action: 'approve', phoneNumbers: [asking] });
    const { participants } = await tool('groups_get', { groupId });
    assert.ok((participants as Fields[]).some(({ phoneNumber }) => phoneNumber === asking));
    const { inviteLink } = (await call('GET', `/groups/${groupId}/invite-link`)).body;
    const preview = await tool('groups_join', { sessionId, invite: inviteLink, previewOnly: true });
    assert.equal(preview['subject'], 'Team');
  });

  it('shows a session with its risk, options and templates', async () => {
    const shown = await tool('sessions_get', { sessionId, include: ['connectorOptions', 'templates'] });
    assert.deepEqual(shown['health'], { risk: 'low', reasons: [] });
    assert.equal((shown['connectorOptions'] as Fields)['type'], 'object');
    assert.ok(Array.isArray(shown['templates']));
    assert.equal(
      (await tool('contacts_check', { sessionId, phoneNumbers: friend, profile: true }))['phoneNumber'],
      friend,
    );
  });

  it('unlinks a session only when the call says so', async () => {
    const other = await connectSession(call);
    assert.equal((await tool('sessions_disconnect', { sessionId: other }))['status'], 'disconnected');
    assert.equal((await tool('sessions_disconnect', { sessionId: other, unlink: true }))['status'], 'logged_out');
  });

  it('rejects a call with the fields of two operations', async () => {
    const messageId = await send();
    const { isError, output } = await callTool(client, 'messages_edit', { messageId, starred: true, message: 'x' });
    assert.deepEqual([isError, output['code']], [true, 'validation_failed']);
    assert.equal((await messageOf(messageId)).starred, undefined);
    for (const [name, input] of [
      ['sessions_get', { sessionId, include: ['secrets'] }],
      ['contacts_check', { sessionId, phoneNumbers: [friend, number], profile: true }],
      ['messages_send', { sessionId, to: friend, template: 'greeting' }],
      ['messages_send', { sessionId, to: friend }],
    ] as const)
      assert.equal((await callTool(client, name, input)).output['code'], 'validation_failed', name);
  });

  it("explains branch errors in the tool's terms", async () => {
    const messageId = await send();
    const poll = { sessionId, to: friend, question: 'When?', options: ['Today', 'Tomorrow'] };
    const { messageId: pollId } = await tool('messages_send_poll', poll);
    const chat = { chatId: friend, sessionId };
    const template = { name: 'greeting', language: 'en' };
    for (const [name, input, expected] of [
      [
        'messages_edit',
        { messageId, starred: true, message: 'x' },
        'message cannot be combined with `starred: true`; make another call for it',
      ],
      ['messages_edit', { messageId, pinned: '7d', addLabel: 'lbl_1' }, 'addLabel cannot be combined with `pinned`'],
      ['messages_edit', { messageId, pinned: '99d' }, 'pinned must be one of 24h, 7d, 30d, off'],
      ['messages_edit', { messageId }, 'message is required unless the call has `starred`, `pinned`, `addLabel`'],
      ['messages_edit', { messageId, starred: 'maybe' }, 'starred must be true or false'],
      ['messages_send', { to: friend, template: 'greeting' }, 'template must be an object'],
      ['messages_send', { to: friend, template: { name: 'greeting' } }, 'template.language is required'],
      ['messages_send', { to: friend, template: { ...template, language: '' } }, 'template.language '],
      ['messages_send', { to: friend, template: { ...template, components: [] } }, 'template.components '],
      ['messages_send', { to: friend, template: { ...template, to: friend } }, 'template.to '],
      ['messages_send', { to: friend, template: { ...template, values: [1, {}] } }, 'template.values'],
      [
        'messages_send',
        { sessionId, to: friend, template, message: 'x' },
        'message cannot be combined with `template`',
      ],
      ['messages_send', { to: friend }, 'message is required unless the call has `template`, `buttons` or `product`'],
      ['messages_send', { to: friend, text: 'x' }, 'text is not an argument of this tool, which takes sessionId, to, '],
      [
        'messages_send_media',
        { to: 'status', type: 'image', fileName: 'x' },
        'fileName cannot be combined with `to: status`',
      ],
      [
        'messages_send_media',
        { sessionId, to: friend, files: [{ type: 'image' }], caption: 'x' },
        'caption cannot be combined with `files`',
      ],
      ['messages_react', { messageId: pollId }, 'emoji is required unless the call has `vote`'],
      ['messages_react', { messageId: pollId, vote: ['Today', 'Today'] }, 'vote must not contain the same item twice'],
      ['chats_mark_read', { ...chat, archived: true, unread: true }, 'archived cannot be combined with `unread: true`'],
      ['chats_mark_read', { ...chat, olderMessages: 100_000 }, 'olderMessages must be from 1 to'],
      ['chats_mark_read', { ...chat, mutedUntil: 'never' }, 'mutedUntil must be '],
      ['contacts_check', { sessionId, phoneNumbers: [friend, number], profile: true }, 'phoneNumbers '],
      ['contacts_check', { sessionId, phoneNumbers: [friend], profile: 'maybe' }, 'profile must be true'],
      ['groups_join', { sessionId, invite: 'x', previewOnly: 'maybe' }, 'previewOnly must be true'],
      ['sessions_disconnect', { sessionId, unlink: 'maybe' }, 'unlink must be true'],
    ] as const) {
      const { output } = await callTool(client, name, input);
      assert.equal(output['code'], 'validation_failed', `${name}: ${JSON.stringify(output)}`);
      assert.ok(String(output['detail']).includes(expected), `${name}: ${output['detail']}, not ${expected}`);
    }
  });

  it('maps every required field of every branch', () => {
    for (const [id, { branches = [] }] of Object.entries(additions))
      for (const { becomes, fields, names = {} } of branches) {
        const known = [...Object.keys(operationOf(id).input.properties), ...Object.keys(fields)];
        for (const field of operationOf(becomes).input.required ?? [])
          assert.ok(known.includes((names[field] ?? field).split('.')[0] ?? ''), `${id} → ${becomes}: ${field}`);
      }
  });

  it('shows a tool of which a key may use only branches, with their fields alone', async (t) => {
    const shownTo = async (permissions: string[]) => {
      const limited = await clientWith({ permissions });
      t.after(() => limited.close());
      return { limited, tools: new Map((await limited.listTools()).tools.map((one) => [one.name, one])) };
    };
    const { limited, tools } = await shownTo(['groups:read', 'chats:write']);
    const shapeOf = (name: string) => {
      const { properties = {}, required = [] } = tools.get(name)?.inputSchema ?? {};
      return [Object.keys(properties).toSorted(), required.toSorted()];
    };
    assert.deepEqual(shapeOf('groups_join'), [
      ['invite', 'previewOnly', 'sessionId'],
      ['invite', 'previewOnly'],
    ]);
    assert.deepEqual(tools.get('groups_join')?.annotations?.readOnlyHint, true);
    assert.match(tools.get('groups_join')?.description ?? '', /^Only: /);
    assert.deepEqual(shapeOf('messages_edit'), [['addLabel', 'messageId', 'removeLabel', 'starred'], ['messageId']]);
    assert.ok(!tools.has('messages_send_media') && !tools.has('groups_leave'));
    const messageId = await send();
    await tool('messages_edit', { messageId, starred: true }, limited);
    const { output } = await callTool(limited, 'messages_edit', { messageId, message: 'Edited' });
    assert.equal(output['code'], 'permission_denied');
  });

  it('describes the values that take a branch', async () => {
    const { tools } = await client.listTools();
    const { to } = tools.find(({ name }) => name === 'messages_send_media')?.inputSchema.properties ?? {};
    assert.match((to as { description: string }).description, /`status` posts a status/);
  });

  it('checks the permission of the operation, and hides what the key may not do', async (t) => {
    const limited = await clientWith({ permissions: ['messages:edit', 'messages:send', 'sessions:read'] });
    t.after(() => limited.close());
    const { tools } = await limited.listTools();
    const fieldsOf = (name: string) =>
      Object.keys(tools.find((one) => one.name === name)?.inputSchema.properties ?? {}).toSorted();
    assert.deepEqual(fieldsOf('messages_edit'), ['message', 'messageId', 'pinned']);
    assert.deepEqual(fieldsOf('sessions_get'), ['include', 'sessionId']);
    const include = tools.find(({ name }) => name === 'sessions_get')?.inputSchema.properties?.['include'] as Fields;
    assert.deepEqual((include['items'] as Fields)['enum'], ['templates', 'connectorOptions']);
    const messageId = await send();
    const { isError, output } = await callTool(limited, 'messages_edit', { messageId, starred: true });
    assert.deepEqual([isError, output['code']], [true, 'permission_denied']);
    const included = await callTool(limited, 'sessions_get', { sessionId, include: ['labels'] });
    assert.deepEqual([included.isError, included.output['code']], [true, 'permission_denied']);
  });

  it('lists such a call under its tool, with the arguments of the operation', async () => {
    const messageId = await send();
    await tool('messages_edit', { messageId, pinned: '24h' });
    const { data: keys } = (await call('GET', '/api-keys')).body;
    const lists = await Promise.all(keys.map(({ keyId }: Fields) => call('GET', `/api-keys/${keyId}/calls`)));
    const listed = lists.flatMap(({ body }) => body.data ?? []).find((one) => one.arguments.duration === '24h');
    assert.deepEqual([listed.tool, listed.arguments.messageId, listed.outcome], ['messages_edit', messageId, 'ok']);
  });

  it('asks the user before a destructive branch of a harmless tool', async (t) => {
    const asking = await clientWith({ confirm: ['destructive'] });
    t.after(() => asking.close());
    const { isError, output } = await callTool(asking, 'sessions_disconnect', { sessionId, unlink: true });
    assert.deepEqual([isError, output['code']], [true, 'confirmation_required']);
    assert.equal((await call('GET', `/sessions/${sessionId}`)).body.status, 'connected');
  });

  it('holds a template of a key with requiresApproval until a person decides', async (t) => {
    const waiting = await clientWith({ requiresApproval: true });
    t.after(() => waiting.close());
    const template = { name: 'greeting', language: 'en', values: ['Ann'] };
    const { isError, output } = await callTool(waiting, 'messages_send', { sessionId, to: friend, template });
    assert.ok(!isError, JSON.stringify(output));
    assert.equal(output['status'], 'pending_approval');
    const { template: held } = await messageOf(output['messageId']);
    assert.equal(held.name, 'greeting');
  });
});
