import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { operations } from '../../src/operations/index.ts';
import { callTool, mcpClient } from '../support/mcp/mcp.ts';
import { type Call, connectSession, startServer, type TestServer } from '../support/server.ts';

/* Every list continues after its own cursors only. */

let server: TestServer;
let call: Call;
/** The first page of each list, by the id of its operation, with one entry. */
let lists: ReadonlyMap<string, string>;

before(async () => {
  server = await startServer();
  const account = await server.account();
  ({ call } = account);
  const made = await call('POST', '/api-keys/create', { name: 'first' });
  await call('POST', '/api-keys/create', { name: 'second' });
  const sessionId = await connectSession(call);
  await connectSession(call);
  const session = `/sessions/${sessionId}`;
  for (const path of ['/a', '/b']) {
    const { status } = await call('POST', '/webhooks/endpoints', {
      webhookUrl: `http://127.0.0.1:9${path}`,
      events: ['message.sent'],
    });
    assert.equal(status, 201);
  }
  for (const from of ['491701111111', '491702222222']) {
    await call('POST', `${session}/simulate`, { action: 'incoming', from, message: 'word' });
    await call('POST', '/messages/send', { sessionId, to: from, message: 'word' });
    const { status } = await call('POST', '/groups', { sessionId, subject: 'group', phoneNumbers: [from] });
    assert.equal(status, 201);
  }
  const social = await makeSocial(sessionId);
  lists = new Map([
    ['api_keys.list', '/api-keys?limit=1'],
    ['api_keys.list_calls', `/api-keys/${made.body.keyId}/calls?limit=1`],
    ['sessions.list', '/sessions?limit=1'],
    ['sessions.history', `${session}/history?limit=1`],
    ['messages.list', '/messages?limit=1'],
    ['search', '/messages?q=word&limit=1'],
    ['batches.list', '/batches?limit=1'],
    ['chats.list', '/chats?limit=1'],
    ['contacts.list', '/contacts?limit=1'],
    ['groups.list', '/groups?limit=1'],
    ['webhooks.endpoints.list', '/webhooks/endpoints?limit=1'],
    ['webhooks.list_deliveries', '/webhooks/deliveries?limit=1'],
    ['webhooks.subscriptions.list', '/webhooks/subscriptions?limit=1'],
    ['templates.list', `${session}/templates?limit=1`],
    ['contacts.catalog', `/contacts/491701111111/catalog?sessionId=${sessionId}&limit=1`],
    ['status.list', `/status?sessionId=${sessionId}&limit=1`],
    ['status.views', `/status/${social.statusId}/views?sessionId=${sessionId}&limit=1`],
    ['messages.receipts', `/messages/${social.messageId}/receipts?limit=1`],
    ['channels.list', `/channels?sessionId=${sessionId}&limit=1`],
    ['channels.messages', `/channels/${social.channelId}/messages?sessionId=${sessionId}&limit=1`],
    ['communities.list', `/communities?sessionId=${sessionId}&limit=1`],
  ]);
  const client = await mcpClient(server, made.body.key, '2026-07-28');
  for (let n = 0; n < 2; n++)
    await callTool(client, 'messages_send', { sessionId, to: '491701111111', message: 'word' });
  await client.close();
});
after(() => server.stop());

/** Makes two of everything that is listed besides messages and groups. */
async function makeSocial(sessionId: string): Promise<{ statusId: string; channelId: string; messageId: string }> {
  const make = async (path: string, body: object) => {
    const made = await call('POST', path, body);
    assert.ok(made.status < 300, `${path}: ${JSON.stringify(made.body)}`);
    return made.body;
  };
  const simulate = (action: object) => make(`/sessions/${sessionId}/simulate`, action);
  const ids: { statusId: string; channelId: string }[] = [];
  for (const name of ['one', 'two']) {
    const components = [{ type: 'BODY', text: 'Tea?' }];
    await make(`/sessions/${sessionId}/templates`, { name, language: 'en', category: 'utility', components });
    await make('/communities', { sessionId, subject: name });
    await make('/messages/send-bulk', { sessionId, to: ['491701111111'], message: name });
    const phoneNumbers = ['491701111111', '491702222222'];
    const { statusId } = await make('/status', { sessionId, message: name, phoneNumbers });
    const { channelId } = await make('/channels', { sessionId, name });
    ids.push({ statusId, channelId });
  }
  const [made] = ids;
  assert.ok(made);
  for (const from of ['491701111111', '491702222222']) {
    await simulate({ action: 'status_view', from, statusId: made.statusId });
    await make(`/channels/${made.channelId}/messages`, { sessionId, message: from });
  }
  const phoneNumbers = ['491701111111', '491702222222'];
  const { groupId } = await make('/groups', { sessionId, subject: 'readers', phoneNumbers });
  const { messageId } = await make('/messages/send', { sessionId, to: groupId, message: 'Tea?' });
  for (const from of phoneNumbers) await simulate({ action: 'receipt', messageId, from, status: 'read' });
  const products = ['tea', 'cup'].map((name) => ({ productId: name, name }));
  const business = { description: 'Teas', collections: [{ name: 'All', products }] };
  await simulate({ action: 'business_profile', from: '491701111111', business });
  return { ...made, messageId };
}

/** Lists that need more than an account to have two entries: they only get cursors here. */
const EMPTY = ['webhooks.subscriptions.list'];
/** Lists whose cursors have always named them. */
const SINCE_NAMED = [
  'templates.list',
  'contacts.catalog',
  'status.list',
  'status.views',
  'messages.receipts',
  'channels.list',
  'channels.messages',
  'communities.list',
];

it('refuses a cursor of another list, in every list', async () => {
  const paged = operations.filter(({ input }) => Object.hasOwn(input.properties, 'cursor')).map(({ id }) => id);
  assert.deepEqual(
    paged.filter((id) => !lists.has(id)),
    [],
  );
  for (const [id, path] of lists) {
    const { status, body } = await call('GET', path);
    assert.equal(status, 200, id);
    if (EMPTY.includes(id)) continue;
    assert.equal(typeof body.nextCursor, 'string', `${id} has no second page`);
    for (const [other, at] of lists) {
      const answer = await call('GET', `${at}&cursor=${body.nextCursor}`);
      if (other === id) assert.equal(answer.body.data.length, 1, id);
      else {
        assert.deepEqual([answer.status, answer.body.code], [400, 'validation_failed'], `${id} in ${other}`);
        assert.deepEqual(answer.body.errors[0].field, 'cursor');
        assert.match(answer.body.detail, /is not a cursor of this list/);
      }
    }
  }
});

it('refuses a text that is no cursor, in every list', async () => {
  for (const [id, path] of lists)
    for (const cursor of ['nonsense', 'zzz', '-5', '0']) {
      const { status, body } = await call('GET', `${path}&cursor=${cursor}`);
      assert.deepEqual(
        [status, body.code, body.errors?.[0].field],
        [400, 'validation_failed', 'cursor'],
        `${id} ${cursor}`,
      );
    }
});

it('continues after a cursor that names no list, like the example of the API description', async () => {
  for (const [id, path] of lists) {
    if (EMPTY.includes(id) || SINCE_NAMED.includes(id)) continue;
    const { nextCursor } = (await call('GET', path)).body;
    const [, bare = ''] = Buffer.from(nextCursor, 'base64url').toString().split('~');
    const [own, former] = await Promise.all(
      [nextCursor, Buffer.from(bare).toString('base64url')].map((cursor) => call('GET', `${path}&cursor=${cursor}`)),
    );
    assert.equal(former?.status, 200, id);
    assert.equal(former?.body.nextCursor, own?.body.nextCursor, id);
    assert.deepEqual(former?.body.data.map(identityOf), own?.body.data.map(identityOf), id);
  }
});

/** An entry without the times that change between two calls. */
function identityOf(entry: unknown): unknown {
  const { dueAt: _, ...rest } = entry as Record<string, unknown>;
  return rest;
}
