import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { isOpenToSessions } from '../../src/invoke/sessionScope.ts';
import { type Receiver, startReceiver } from '../support/connections/receiver.ts';
import { describeOnEachDeployment } from '../support/databases/databases.ts';
import { eventually } from '../support/eventually.ts';
import { callTool, mcpClient } from '../support/mcp/mcp.ts';
import { picture, upload } from '../support/media/media.ts';
import {
  CHAT,
  type GuardedOperation,
  guarded,
  inputs,
  noInput,
  type Side,
  UNKNOWN,
} from '../support/operations/operationInputs.ts';
import { requestOf } from '../support/operations/restRequest.ts';
import { createSide } from '../support/operations/side.ts';
import { type Answer, bearer, type Call, connectSession, startServer, type TestServer } from '../support/server.ts';

const to = CHAT;

/** Every key may call these, whatever its sessions. */
const CONCERN_NO_SESSION = ['auth.me', 'connectors.list', 'events.types', 'media.upload'];

/** Reads that fail on these sessions: they need one that waits to be linked, an invite, or a community. */
const NEED_MORE = ['sessions.get_qr', 'groups.preview_invite', 'communities.list_groups'];

describeOnEachDeployment('a key of some sessions', (_, database) => {
  let server: TestServer;
  let receiver: Receiver;
  let owner: Call;
  let token: string;
  let key: string;
  let scoped: Call;
  let mine: Side;
  let other: Side;

  before(async () => {
    server = await startServer({ database });
    receiver = await startReceiver();
    ({ call: owner, token } = await server.account());
    await owner('POST', '/webhooks/set', { webhookUrl: receiver.url, events: ['message.incoming', 'message.sent'] });
    const account = { call: owner, token };
    [mine, other] = [await createSide(server, account, 'mine'), await createSide(server, account, 'other')];
    const { body } = await owner('POST', '/api-keys/create', { name: 'scoped', sessionIds: [mine.sessionId] });
    key = body.key;
    scoped = bearer(server.url, key);
  });
  after(async () => {
    await receiver.close();
    await server.stop();
  });

  const call = (as: Call, { id }: GuardedOperation, input: Record<string, unknown>) => {
    const { method, path, body } = requestOf(id, input);
    return as(method, path, body);
  };

  /** Everything that belongs to the other session. */
  async function otherSide() {
    const paths = [
      `/sessions/${other.sessionId}`,
      `/messages?sessionId=${other.sessionId}`,
      `/chats?sessionId=${other.sessionId}`,
      `/contacts?sessionId=${other.sessionId}`,
      `/groups?sessionId=${other.sessionId}`,
      `/status?sessionId=${other.sessionId}`,
      `/channels?sessionId=${other.sessionId}`,
    ];
    const bodies = await Promise.all(paths.map(async (path) => (await owner('GET', path)).body));
    // The server updates both every 15 s.
    const [{ health: _, lastEventAt: __, ...session }, ...lists] = bodies;
    return [session, ...lists];
  }

  /** The part of an error that must not differ between an unknown id and one of another session. */
  const shown = ({ status, body }: Pick<Answer, 'status' | 'body'>) => {
    const { requestId: _, ...problem } = body;
    return { status, problem: JSON.stringify(problem).replace(/[a-z]{3}_[0-9A-Z]{26}/g, 'id') };
  };

  function assertNothingOfOther(operation: GuardedOperation, output: unknown): void {
    const text = JSON.stringify(output);
    for (const id of Object.values(other)) assert.ok(!text.includes(id), `${operation.id} shows ${id}`);
    // The lists of event types and connectors are the same for every account, and contain the word.
    if (!['events.types', 'connectors.list'].includes(operation.id)) assert.doesNotMatch(text, /other/, operation.id);
  }

  it('has a decision and a test for every operation', () => {
    assert.deepEqual(Object.keys(inputs).toSorted(), guarded.map(({ id }) => id).toSorted());
    for (const { id, scope, input } of guarded) {
      assert.ok(scope === 'account' || isOpenToSessions(scope), `${id} has no decision`);
      if (scope.endsWith('Id')) assert.ok(scope in input.properties, `${id} has no field ${scope}`);
      if (scope === 'none') assert.ok(CONCERN_NO_SESSION.includes(id), id);
    }
  });

  it('reaches nothing of other sessions by any operation', async () => {
    const before = await otherSide();
    for (const operation of guarded) {
      const { id, scope, credential } = operation;
      const inputOf = inputs[id] ?? noInput;
      const answer = await call(scoped, operation, inputOf(other));
      if (scope === 'account') {
        assert.equal(answer.status, 403, id);
        assert.equal(answer.body.code, credential === 'jwt' ? 'jwt_required' : 'permission_denied', id);
      } else if (scope === 'none' || Object.keys(inputOf(other)).length === 0) {
        assert.equal(answer.status, operation.status ?? 200, `${id}: ${JSON.stringify(answer.body)}`);
        assertNothingOfOther(operation, answer.body);
      } else {
        assert.equal(answer.status, 404, `${id}: ${JSON.stringify(answer.body)}`);
        assert.deepEqual(shown(answer), shown(await call(scoped, operation, inputOf(UNKNOWN))), id);
        assert.deepEqual(shown(answer), shown(await call(owner, operation, inputOf(UNKNOWN))), id);
      }
    }
    assert.deepEqual(await otherSide(), before);
  });

  it('reaches nothing of other sessions by any tool', async () => {
    const before = await otherSide();
    const client = await mcpClient(server, key, '2026-07-28');
    const listed = (await client.listTools()).tools.map(({ name }) => name);
    for (const operation of guarded) {
      if (!operation.tool) continue;
      const { id, scope } = operation;
      const name = id.replaceAll('.', '_');
      assert.equal(listed.includes(name), scope !== 'account', name);
      const inputOf = inputs[id] ?? noInput;
      const { isError, output } = await callTool(client, name, inputOf(other));
      if (scope === 'account') assert.deepEqual([isError, output.code], [true, 'permission_denied'], name);
      else if (Object.keys(inputOf(other)).length > 0)
        assert.deepEqual([isError, output.code], [true, 'not_found'], name);
      else assertNothingOfOther(operation, isError ? assert.fail(`${name}: ${JSON.stringify(output)}`) : output);
    }
    const { resources } = await client.listResources();
    for (const { uri } of resources)
      assert.doesNotMatch(JSON.stringify(await client.readResource({ uri })), new RegExp(other.sessionId), uri);
    const templates = (await client.listResourceTemplates()).resourceTemplates.map(({ uriTemplate }) => uriTemplate);
    assert.ok(templates.length > 0);
    for (const template of templates) {
      const of = (side: Side) =>
        template.replace(/\{(\w+)\}/g, (_all, field: string) => ({ ...side, chatId: CHAT })[field as keyof Side]);
      await assert.rejects(client.readResource({ uri: of(other) }), /does not exist/, template);
      assert.equal((await client.readResource({ uri: of(mine) })).contents.length > 0, true, template);
    }
    await client.close();
    assert.deepEqual(await otherSide(), before);
  });

  it('reads everything of its own sessions', async () => {
    for (const operation of guarded) {
      const { id, scope, effect, input } = operation;
      if (scope === 'account' || effect !== 'read' || NEED_MORE.includes(id)) continue;
      const own = (inputs[id] ?? noInput)(mine);
      const answer = await call(scoped, operation, own);
      assert.equal(answer.status, 200, `${id}: ${JSON.stringify(answer.body)}`);
      assertNothingOfOther(operation, answer.body);
      if (scope !== 'sessionId' || input.required?.includes('sessionId')) continue;
      const { sessionId: _, ...without } = own;
      assert.deepEqual((await call(scoped, operation, without)).body, answer.body, `${id} without sessionId`);
    }
  });

  it('lists its own messages, events and deliveries, and counts only its own', async () => {
    const idsIn = (body: Answer['body'], field: string) => body.data.map((one: Record<string, string>) => one[field]);
    for (const query of ['', '?q=text', `?chatId=${CHAT}`, '?direction=outgoing']) {
      const { body } = await scoped('GET', `/messages${query}`);
      assert.ok(idsIn(body, 'messageId').includes(mine.messageId), query);
      assert.deepEqual([...new Set(idsIn(body, 'sessionId'))], [mine.sessionId], query);
    }
    assert.deepEqual((await scoped('GET', '/messages?q=other')).body.data, []);
    assert.equal((await scoped('GET', `/messages?chatId=${other.groupId}`)).status, 404);
    const { body: deliveries } = await scoped('GET', '/webhooks/deliveries');
    assert.ok(idsIn(deliveries, 'deliveryId').includes(mine.deliveryId));
    assert.equal((await scoped('GET', `/webhooks/deliveries?messageId=${other.messageId}`)).status, 404);
    const { body: events } = await scoped('GET', '/events?limit=200');
    const sessions = events.data.map(({ data }: { data: { sessionId: string } }) => data.sessionId);
    assert.deepEqual([...new Set(sessions)], [mine.sessionId]);
    const sum = async (as: Call) => {
      const { series } = (await as('GET', '/messages/stats')).body;
      return series.reduce(
        (count: number, { incoming, outgoing }: Record<string, number>) => count + (incoming ?? 0) + (outgoing ?? 0),
        0,
      );
    };
    const own = (await owner('GET', `/messages?sessionId=${mine.sessionId}`)).body.data.length;
    assert.equal(await sum(scoped), own);
    assert.ok((await sum(owner)) > own);
  });

  it('sends through its only session, and has to choose among several', async () => {
    const message = { to, message: 'without a session' };
    assert.equal((await owner('POST', '/messages/send', message)).body.code, 'session_required');
    const sent = await scoped('POST', '/messages/send', message);
    assert.deepEqual([sent.status, sent.body.sessionId], [201, mine.sessionId]);
    const both = [mine.sessionId, other.sessionId];
    const { body } = await owner('POST', '/api-keys/create', { name: 'both', sessionIds: both });
    const { status, body: refused } = await bearer(server.url, body.key)('POST', '/messages/send', message);
    assert.deepEqual([status, refused.code, refused.errors[0].field], [400, 'session_required', 'sessionId']);
  });

  it('gets no answer of another session by a repeated idempotency key', async () => {
    const idempotencyKey = `shared ${database}`;
    const message = { to, message: 'once', idempotencyKey };
    const sent = await owner('POST', '/messages/send', { ...message, sessionId: other.sessionId });
    assert.equal(sent.status, 201);
    const answer = await scoped('POST', '/messages/send', message);
    assert.equal(answer.status, 201, 'each key has its own idempotency keys');
    assert.notEqual(answer.body.messageId, sent.body.messageId);
    assertNothingOfOther({ id: 'messages.send' } as GuardedOperation, answer.body);
  });

  it('uses files that it uploads, and no others', async () => {
    const added = (await upload(server, key, picture())).body.mediaId;
    assert.equal((await scoped('GET', `/media/${added}`)).status, 200);
    assert.equal((await scoped('GET', `/media/${added}/content`)).status, 200);
    assert.equal((await scoped('GET', `/media/${other.mediaId}/content`)).status, 404);
    const sent = await scoped('POST', '/messages/send-media', { to, type: 'image', mediaId: added });
    assert.equal(sent.status, 201);
    const others = { to, type: 'image', mediaId: other.mediaId };
    assert.equal(
      (await scoped('POST', '/messages/send-media', others)).body.detail,
      `The file ${other.mediaId} does not exist`,
    );
    const hidden = { pictureMediaId: other.mediaId };
    assert.equal((await scoped('PATCH', `/groups/${mine.groupId}`, hidden)).status, 404);
    const components = [{ media: { mediaId: other.mediaId } }];
    await scoped('POST', '/messages/send-template', { to, name: 'forged', language: 'en', components });
    assert.equal((await scoped('GET', `/media/${other.mediaId}`)).status, 404, 'a template proves nothing');
  });

  it('uses no files of other sessions in nested fields', async () => {
    const { sessionId } = mine;
    const { mediaId } = other;
    const image = { type: 'image', mediaId };
    const preview = { title: 'Page', image: mediaId };
    const message = { id: 'old', with: CHAT, message: '', timestamp: '2026-01-01T00:00:00.000Z', mediaId };
    for (const [path, input] of [
      ['/messages/send-album', { to, files: [image, image] }],
      ['/messages/send', { to, message: 'https://example.com', linkPreview: preview }],
      [`/sessions/${sessionId}/simulate`, { action: 'history', history: { messages: [message] } }],
    ] as const) {
      const refused = await scoped('POST', path, input);
      assert.deepEqual([refused.status, refused.body.detail], [404, `The file ${mediaId} does not exist`], path);
      const own = JSON.parse(JSON.stringify(input).replaceAll(mediaId, mine.mediaId));
      const answer = await scoped('POST', path, own);
      assert.ok(answer.status < 300, `${path}: ${JSON.stringify(answer.body)}`);
    }
    // The sandbox has templates without files.
    const header = { type: 'image', mediaId };
    const named = { sessionId, name: 'forged', language: 'en' };
    const template = { ...named, category: 'marketing', components: [{ type: 'HEADER' }], headerMediaId: mediaId };
    for (const [path, input] of [
      ['/messages/send-template', { ...named, to, header }],
      [`/sessions/${sessionId}/templates`, template],
    ] as const) {
      const refused = await scoped('POST', path, input);
      assert.deepEqual([refused.status, refused.body.detail], [404, `The file ${mediaId} does not exist`], path);
    }
  });

  it('checks every field that names a file', () => {
    const names = new Set<string>();
    const collect = (schema: object, name = ''): void => {
      if ('description' in schema && /`med_…`|uploaded (?:file|image)/.test(String(schema.description)))
        names.add(name);
      for (const [key, value] of Object.entries(schema))
        if (typeof value === 'object' && value !== null)
          collect(value, Array.isArray(schema) || ['items', 'anyOf', 'properties'].includes(key) ? name : key);
    };
    for (const { input } of guarded) collect(input);
    assert.deepEqual([...names].toSorted(), ['headerMediaId', 'image', 'mediaId', 'pictureMediaId']);
  });

  it('streams the events of its sessions, until its sessions change', async () => {
    const { body } = await owner('POST', '/api-keys/create', { name: 'stream', sessionIds: [mine.sessionId] });
    const headers = { authorization: `Bearer ${body.key}` };
    const response = await fetch(`${server.url}/api/v1/events/stream`, { headers });
    assert.equal(response.status, 200);
    let text = '';
    const send = async ({ sessionId }: Side) =>
      (await owner('POST', '/messages/send', { sessionId, to, message: 'streamed' })).body.messageId;
    const [hidden, shownId] = [await send(other), await send(mine)];
    const decoder = new TextDecoder();
    let isChanged = false;
    for await (const chunk of response.body ?? []) {
      text += decoder.decode(chunk, { stream: true });
      if (isChanged || !text.includes(shownId)) continue;
      isChanged = true;
      const change = { sessionIds: [other.sessionId] };
      assert.equal((await owner('PATCH', `/api-keys/${body.keyId}`, change)).status, 200);
    }
    assert.ok(isChanged);
    assert.ok(!text.includes(hidden));
  });

  it('waits for events of its sessions only', async () => {
    const { nextCursor } = (await scoped('GET', '/events?afterCursor=now')).body;
    // Not receipts of earlier messages, which arrive at any time.
    const waiting = scoped('GET', `/events?afterCursor=${nextCursor}&wait=30&events=message.sent`);
    await owner('POST', '/messages/send', { sessionId: other.sessionId, to, message: 'hidden' });
    const sent = await owner('POST', '/messages/send', { sessionId: mine.sessionId, to, message: 'shown' });
    const { body } = await waiting;
    assert.equal(body.data[0].data.messageId, sent.body.messageId);
  });

  it('keeps its sessions when it is rotated, and lists them', async () => {
    const sessionIds = [mine.sessionId];
    const { body: created } = await owner('POST', '/api-keys/create', { name: 'rotated', sessionIds });
    assert.deepEqual(created.sessionIds, sessionIds);
    const { body: rotated } = await owner('POST', `/api-keys/${created.keyId}/rotate`, {});
    assert.deepEqual(rotated.sessionIds, sessionIds);
    const as = bearer(server.url, rotated.key);
    assert.equal((await as('GET', `/sessions/${other.sessionId}`)).status, 404);
    const { body: listed } = await owner('GET', '/api-keys');
    assert.deepEqual(listed.data[0].sessionIds, sessionIds);
    const { body: widened } = await owner('PATCH', `/api-keys/${created.keyId}`, { sessionIds: null });
    assert.equal(widened.sessionIds, null);
    assert.equal((await as('GET', `/sessions/${other.sessionId}`)).status, 200);
  });

  it('can be limited only to sessions of the account, and keeps those that are deleted', async () => {
    const stranger = await connectSession((await server.account()).call);
    for (const sessionIds of [[stranger], ['ses_none'], [], 'all', Array(101).fill(mine.sessionId)]) {
      const { status, body } = await owner('POST', '/api-keys/create', { name: 'bad', sessionIds });
      assert.equal(status, 400);
      assert.match(body.errors[0].field, /^sessionIds/);
    }
    const gone = await connectSession(owner);
    const { body } = await owner('POST', '/api-keys/create', { name: 'gone', sessionIds: [gone] });
    assert.equal((await owner('DELETE', `/sessions/${gone}`)).status, 200);
    const as = bearer(server.url, body.key);
    assert.deepEqual((await as('GET', '/sessions')).body.data, []);
    assert.equal((await as('POST', '/messages/send', { to, message: 'x' })).body.code, 'session_required');
    const change = { sessionIds: [gone, mine.sessionId] };
    assert.equal((await owner('PATCH', `/api-keys/${body.keyId}`, change)).status, 200);
    // The node that sends receives a signal of the change.
    await eventually(
      () => as('POST', '/messages/send', { to, message: 'x' }),
      ({ status }) => status === 201,
    );
  });
});
