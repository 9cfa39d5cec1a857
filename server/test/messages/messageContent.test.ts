import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { permissions } from '../../src/auth/permissions.ts';
import type { Operation } from '../../src/invoke/operation.ts';
import { operations } from '../../src/operations/index.ts';
import { EventLog } from '../../src/webhooks/log/eventLog.ts';
import { BEGINNING } from '../../src/webhooks/log/logEpochs.ts';
import { type Receiver, startReceiver } from '../support/connections/receiver.ts';
import { eventually } from '../support/eventually.ts';
import { callTool, mcpClient } from '../support/mcp/mcp.ts';
import { picture, upload } from '../support/media/media.ts';
import {
  type Answer,
  bearer,
  type Call,
  connectSession,
  eventOf,
  newNumber,
  startServer,
  type TestServer,
} from '../support/server.ts';

/** Occurs in all content of messages, and nowhere else. */
const SAID = 'quokka';

const CONTENT_RESOURCES = ['messages', 'chats', 'events', 'webhooks'] as const;
const METADATA = CONTENT_RESOURCES.map((resource) => `${resource}:metadata`);
/** All permissions except those that show content: the four `read` permissions, files, and webhook URLs. */
const WITHOUT_CONTENT = permissions.filter(
  (permission) =>
    permission !== 'media:read' &&
    permission !== 'webhooks:write' &&
    !CONTENT_RESOURCES.some((resource) => permission === `${resource}:read`),
);

describe('a key without permission to read content', () => {
  let server: TestServer;
  let receiver: Receiver;
  let scene: Scene;
  before(async () => {
    server = await startServer();
    receiver = await startReceiver();
    scene = await play(server, receiver);
  });
  after(async () => {
    await receiver.close();
    await server.stop();
  });

  it('gets the response of a full key to every query, without the content', async () => {
    const full = await readAll(scene, await scene.keyWith(['*']));
    const hidden = await readAll(scene, await scene.keyWith(WITHOUT_CONTENT));
    const revealing = full.filter(({ text }) => text.includes(SAID)).map(({ id }) => id);
    assert.deepEqual(revealing.toSorted(), [
      'chats.get',
      'chats.list',
      'events.list',
      'media.get',
      'messages.get',
      'messages.list',
      'webhooks.get_delivery',
    ]);
    for (const [index, { id, status, text }] of hidden.entries()) {
      assert.ok(!text.includes(SAID), `${id}: ${text}`);
      assert.equal(status, id === 'media.get' ? 403 : full[index]?.status, `${id}: ${text}`);
    }
  });

  it('gets a mark that content was left out, and all other fields', async () => {
    const hidden = await scene.keyWith(METADATA);
    for (const id of scene.messageIds) {
      const { body: whole } = await scene.call('GET', `/messages/${id}`);
      const { body: shown } = await hidden('GET', `/messages/${id}`);
      const { message: _, media, location, contact, poll, template, interactive, mentions, ...rest } = whole;
      const { payload: __, votes, reactions, event, product, order, groupInvite, choice, ...others } = rest;
      const { contacts, linkPreview, answers, referral, ...metadata } = others;
      assert.deepEqual(shown, { ...metadata, message: '', contentHidden: true });
    }
    const { body: log } = await hidden('GET', '/events?events=message.incoming');
    assert.ok(log.data.length > 0);
    for (const { data } of log.data) {
      assert.equal(data.message, '');
      assert.equal(data.contentHidden, true);
      assert.ok(data.from);
    }
    const { body: delivery } = await hidden('GET', `/webhooks/deliveries/${scene.deliveryId}`);
    assert.equal(JSON.parse(delivery.body).data.message, '');
    assert.equal(delivery.attemptLog[0].response, null);
    assert.equal(delivery.attemptLog[0].status, 200);
  });

  it('is refused queries that would reveal content indirectly', async () => {
    const hidden = await scene.keyWith(WITHOUT_CONTENT);
    const refused = async (method: string, path: string, body?: object) => {
      const answer = await hidden(method, path, body);
      assert.deepEqual([answer.status, answer.body.code], [403, 'permission_denied'], `${path} ${answer.body.detail}`);
    };
    const [messageId] = scene.messageIds;
    await refused('GET', `/messages?q=${SAID}`);
    await refused('POST', `/messages/${messageId}/forward`, { to: newNumber() });
    await refused('POST', '/messages/send', { to: newNumber(), message: 'See', replyTo: messageId });
    await refused('POST', '/messages/send', { to: scene.groupId, message: 'See', replyTo: scene.inGroupId });
    await refused('POST', '/webhooks/set', { webhookUrl: receiver.url });
    await refused('GET', `/media/${scene.mediaId}`);
    const inItsChat = { to: scene.from, message: 'Yes', replyTo: messageId };
    assert.equal((await hidden('POST', '/messages/send', inItsChat)).status, 201);
  });

  it('gets no content in the results of changes, repeated sends and cancellations', async () => {
    const hidden = await scene.keyWith(WITHOUT_CONTENT);
    const [messageId] = scene.messageIds;
    const same = { to: scene.from, message: `the ${SAID} again`, idempotencyKey: 'same' };
    assert.equal((await hidden('POST', '/messages/send', same)).status, 201);
    const later = { to: scene.from, message: SAID, sendAt: new Date(Date.now() + 3_600_000).toISOString() };
    const { body: planned } = await scene.call('POST', '/messages/send', later);
    const answers = [
      await hidden('POST', '/messages/send', same),
      await hidden('PUT', `/messages/${messageId}/reaction`, { emoji: '👍' }),
      await hidden('PATCH', `/messages/${scene.ownId}`, { message: `the other ${SAID}` }),
      await hidden('PATCH', `/chats/${scene.from}`, { archived: true }),
      await hidden('POST', `/messages/${planned.messageId}/cancel`),
      await hidden('DELETE', `/messages/${scene.ownId}`),
    ];
    for (const { status, body } of answers) {
      assert.ok(status < 300, JSON.stringify(body));
      assert.ok(!JSON.stringify(body).includes(SAID), JSON.stringify(body));
    }
    assert.equal(answers[0]?.headers.get('idempotency-replayed'), 'true');
  });

  it('gets no content over MCP', async () => {
    const { key } = await scene.newKey(WITHOUT_CONTENT);
    const client = await mcpClient(server, key, '2026-07-28');
    const asked: [string, Record<string, unknown>][] = [
      ['messages_list', {}],
      ...scene.messageIds.map((messageId): [string, Record<string, unknown>] => ['messages_get', { messageId }]),
      ['chats_list', {}],
      ['events_list', {}],
      ['webhooks_get_delivery', { deliveryId: scene.deliveryId }],
    ];
    for (const [name, input] of asked) {
      const { isError, content, output } = await callTool(client, name, input);
      assert.ok(!isError, `${name}: ${JSON.stringify(output)}`);
      assert.ok(!JSON.stringify([content, output]).includes(SAID), name);
    }
    const { sessionId, from } = scene;
    for (const uri of [`sessions/${sessionId}/chats`, `sessions/${sessionId}/chats/${from}/messages`]) {
      const { contents } = await client.readResource({ uri: `switchboard://${uri}` });
      assert.ok(JSON.stringify(contents).includes(from), uri);
      assert.ok(!JSON.stringify(contents).includes(SAID), uri);
    }
    await client.close();
  });

  it('follows the event stream without content, both past and live events', async () => {
    const { key, keyId } = await scene.newKey(['events:metadata']);
    const stream = await follow(server.url, key);
    const { messageId } = await scene.incoming(`live ${SAID}`);
    const text = await stream.until((read) => read.includes(messageId));
    assert.ok(text.includes(scene.messageIds[0] ?? ''), 'past events are sent first');
    assert.ok(!text.includes(SAID), text);
    assert.equal((await scene.call('PATCH', `/api-keys/${keyId}`, { permissions: ['messages:read'] })).status, 200);
    await stream.ended;
  });

  it('loses its stream and long poll when its permission to read content is removed', async (test) => {
    const { key, keyId } = await scene.newKey(['events:read']);
    const stream = await follow(server.url, key);
    await stream.until((read) => read.includes(SAID));
    const { nextCursor } = (await scene.call('GET', '/events?limit=200')).body;
    const read = test.mock.method(EventLog.prototype, 'select').mock;
    const poll = bearer(server.url, key)('GET', `/events?wait=30&events=group.created&afterCursor=${nextCursor}`);
    await eventually(
      async () => read.calls.map((one) => one.arguments[2].kinds),
      (kinds) => kinds.some((wanted) => wanted?.includes('group.created')),
    );
    await scene.call('PATCH', `/api-keys/${keyId}`, { permissions: ['events:metadata'] });
    await stream.ended;
    const { status, body } = await poll;
    assert.deepEqual([status, body.code], [403, 'permission_denied']);
  });
});

interface Scene {
  readonly call: Call;
  readonly sessionId: string;
  /** The sender. */
  readonly from: string;
  /** Messages with content of every type. */
  readonly messageIds: readonly string[];
  /** A message that the account sent. */
  readonly ownId: string;
  readonly deliveryId: string;
  readonly mediaId: string;
  readonly webhookId: string;
  /** A group, and a message in it. */
  readonly groupId: string;
  readonly inGroupId: string;
  newKey(granted: readonly string[]): Promise<{ key: string; keyId: string }>;
  keyWith(granted: readonly string[]): Promise<Call>;
  incoming(message: string): Promise<{ messageId: string }>;
}

/** An account with the same content in every type of message, whose receiver echoes its requests. */
async function play(server: TestServer, receiver: Receiver): Promise<Scene> {
  const { call, token } = await server.account();
  receiver.respond(({ body }, response) => response.end(body));
  const { webhookId } = (
    await call('POST', '/webhooks/set', { webhookUrl: receiver.url, events: ['message.incoming'] })
  ).body;
  const sessionId = await connectSession(call);
  const from = newNumber();
  const { mediaId } = (await upload(server, token, picture(), { query: `?fileName=${SAID}.png` })).body;
  const simulate = async (action: object): Promise<void> => {
    const { status, body } = await call('POST', `/sessions/${sessionId}/simulate`, { from, ...action });
    assert.equal(status, 200, JSON.stringify(body));
  };
  const incoming = async (more: object): Promise<{ messageId: string }> => {
    const { body: log } = await call('GET', '/events?limit=200');
    const known = new Set(log.data.map(({ data }: Answer['body']) => data.messageId));
    await simulate({ action: 'incoming', ...more });
    return eventOf(call, 'message.incoming', ({ messageId }) => !known.has(messageId));
  };
  const received = [
    await incoming({ message: SAID }),
    await incoming({ message: SAID, type: 'image', mediaId }),
    await incoming({ location: { latitude: 1, longitude: 2, name: SAID, address: SAID } }),
    await incoming({ contact: { name: SAID, phoneNumbers: ['491700000001'] } }),
    await incoming({ message: SAID, poll: { options: [SAID, 'no'], maxSelections: 1 } }),
    await incoming({ message: SAID, event: { startsAt: '2030-01-01T18:00:00Z', description: SAID } }),
    await incoming({ message: SAID, product: { title: SAID, retailerId: SAID } }),
    await incoming({ order: { title: SAID, items: [{ retailerId: SAID, quantity: 1 }] } }),
    await incoming({ message: SAID, groupInvite: { networkGroupId: '1@g.us', subject: SAID, code: SAID } }),
    await incoming({ message: SAID, choice: { kind: 'form', response: SAID } }),
    await incoming({ message: SAID, referral: { adId: SAID, headline: SAID, body: SAID, clickId: SAID } }),
    await incoming({ message: SAID, rawType: 'requestPaymentMessage' }),
  ];
  const send = async (path: string, body: object): Promise<string> => {
    const answer = await call('POST', `/messages/${path}`, { to: from, ...body });
    assert.equal(answer.status, 201, JSON.stringify(answer.body));
    return answer.body.messageId;
  };
  const sent = [
    await send('send', { message: SAID, mentions: [from] }),
    await send('send-poll', { question: SAID, options: [SAID, 'no'] }),
    await send('send-interactive', { message: SAID, buttons: [{ id: 'yes', title: SAID }] }),
    await send('send-template', { name: SAID, language: 'en', components: [] }),
    await send('send-event', { name: SAID, startsAt: '2030-01-01T18:00:00Z', description: SAID }),
    await send('send', { message: `https://example.com/${SAID}`, linkPreview: { title: SAID } }),
  ];
  await simulate({ action: 'vote', messageId: sent[1], options: [SAID] });
  await simulate({ action: 'react', messageId: sent[0], emoji: '👍' });
  const { groupId } = (await call('POST', '/groups', { sessionId, subject: 'Ours', phoneNumbers: [from] })).body;
  const inGroup = await incoming({ message: SAID, groupId });
  const [ownId = ''] = sent;
  const { messageId } = received[0] ?? {};
  const delivered = await eventually(
    () => call('GET', `/webhooks/deliveries?states=delivered&messageId=${messageId}`),
    ({ body }) => body.data.length === 1,
  );
  const newKey = async (granted: readonly string[]) =>
    (await call('POST', '/api-keys/create', { name: 'key', permissions: granted })).body;
  return {
    call,
    sessionId,
    from,
    messageIds: [...received.map((one) => one.messageId), ...sent],
    ownId,
    deliveryId: delivered.body.data[0].deliveryId,
    mediaId,
    webhookId,
    groupId,
    inGroupId: inGroup.messageId,
    newKey,
    keyWith: async (granted) => bearer(server.url, (await newKey(granted)).key),
    incoming: (message) => incoming({ message }),
  };
}

/** Sends every query that an API key allows, with the ids of the scene. */
async function readAll(scene: Scene, ask: Call): Promise<{ id: string; status: number; text: string }[]> {
  const isQuestion = ({ method, credential, effect }: Operation) =>
    method === 'GET' && credential === undefined && effect === 'read';
  const ids: Readonly<Record<string, string>> = {
    ...scene,
    messageId: scene.messageIds[0] ?? '',
    chatId: scene.from,
    phoneNumber: scene.from,
  } as never;
  const asked = operations
    .filter(isQuestion)
    .map(({ id, path }) => ({ id, path: path.replace(/\{(\w+)\}/g, (_, name) => ids[name] ?? '') }))
    .filter(({ path }) => !path.includes('//') && !path.endsWith('/') && !path.startsWith('/groups/'));
  return Promise.all(
    asked.map(async ({ id, path }) => {
      const { status, body } = await ask('GET', path);
      return { id, status, text: JSON.stringify(body) };
    }),
  );
}

/** Reads a stream from the beginning of the log. */
async function follow(url: string, key: string) {
  const headers = { authorization: `Bearer ${key}`, 'last-event-id': BEGINNING };
  const response = await fetch(`${url}/api/v1/events/stream`, { headers });
  assert.equal(response.status, 200, await (response.status === 200 ? '' : response.text()));
  let text = '';
  const ended = (async () => {
    for await (const chunk of response.body ?? []) text += Buffer.from(chunk).toString();
  })();
  return {
    ended,
    until: (isMet: (read: string) => boolean) => eventually(async () => text, isMet),
  };
}
