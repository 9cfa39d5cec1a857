import assert from 'node:assert/strict';
import { it, type TestContext } from 'node:test';
import { Compile } from 'typebox/compile';
import { eventKinds } from '../../src/events/events.ts';
import { firstIdAt } from '../../src/ids.ts';
import { describeOnEachDeployment } from '../support/databases/databases.ts';
import { createFakeClock } from '../support/fakeClock.ts';
import { mcpClient } from '../support/mcp/mcp.ts';
import { makeKey, openStream, post, receive, rpcOf } from '../support/mcp/mcpEvents.ts';
import { bearer, connectSession, newNumber, serversFor, type TestServerOptions } from '../support/server.ts';

const NOT_FOUND = -32_023;
const FORBIDDEN = -32_024;
const RESOURCE_EXHAUSTED = -32_025;
const INVALID_PARAMS = -32_602;
const DAY_MS = 24 * 3_600_000;

describeOnEachDeployment('MCP events', (_, database) => {
  const start = serversFor(database);

  /** An account with a session, and an agent with a key. */
  async function agent(permissions: readonly string[] = ['*'], options?: TestServerOptions) {
    const server = await start(options);
    const { call } = await server.account();
    const sessionId = await connectSession(call);
    const { key, keyId } = await makeKey(call, permissions);
    return { server, call, sessionId, key, keyId, rpc: rpcOf(server, key) };
  }

  it('are declared to clients of protocol version 2026-07-28', async (test) => {
    const { server, key, rpc } = await agent();
    const { result } = await rpc('server/discover');
    assert.deepEqual(result.capabilities.extensions['io.modelcontextprotocol/events'], {});
    assert.deepEqual(result.capabilities.events, {});
    const legacy = await mcpClient(server, key, '2025-11-25');
    test.after(() => legacy.close());
    const capabilities = legacy.getServerCapabilities() as Record<string, object | undefined>;
    assert.equal(capabilities['events'], undefined);
    assert.ok(!Object.hasOwn(capabilities['extensions'] ?? {}, 'io.modelcontextprotocol/events'));
  });

  it('are unknown methods in older protocol versions', async () => {
    const { server, key } = await agent();
    const response = await fetch(`${server.url}/api/v1/mcp`, {
      method: 'POST',
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'events/list', params: {} }),
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2025-11-25',
      },
    });
    assert.match(await response.text(), /-32601/);
  });

  it('are listed page by page, with schemas that their data satisfies', async () => {
    const { rpc, call, sessionId } = await agent();
    // biome-ignore lint/suspicious/noExplicitAny: descriptions of every shape
    const types: any[] = [];
    for (let cursor: string | undefined; ; ) {
      const { result } = await rpc('events/list', cursor === undefined ? {} : { cursor });
      assert.ok(Buffer.byteLength(JSON.stringify(result)) <= 60_000);
      assert.equal(result.resultType, 'complete');
      types.push(...result.events);
      cursor = result.nextCursor;
      if (cursor === undefined) break;
    }
    assert.deepEqual(
      types.map(({ name }) => name),
      eventKinds,
    );
    const incoming = types.find(({ name }) => name === 'message.incoming');
    assert.deepEqual(Object.keys(incoming.inputSchema.properties), ['sessionId', 'chatId', 'from', 'types']);
    assert.deepEqual(incoming.delivery, ['poll', 'push', 'webhook']);
    assert.ok(incoming.description.length > 0);
    const connected = types.find(({ name }) => name === 'session.connected');
    assert.deepEqual(Object.keys(connected.inputSchema.properties), ['sessionId']);

    const { result: begun } = await rpc('events/poll', { name: 'message.incoming' });
    await receive(call, sessionId, 'hello');
    const [occurrence] = (await rpc('events/poll', { name: 'message.incoming', cursor: begun.cursor })).result.events;
    assert.deepEqual(Compile(incoming.payloadSchema).Errors(occurrence.data), []);
    assert.equal((await rpc('events/list', { cursor: 'nonsense' })).error.code, INVALID_PARAMS);
  });

  it('are polled from a cursor, once each and in order', async () => {
    const { rpc, call, sessionId } = await agent();
    await receive(call, sessionId, 'before');
    const first = (await rpc('events/poll', { name: 'message.incoming' })).result;
    assert.deepEqual([first.events, first.truncated, first.hasMore], [[], false, false]);
    assert.ok(first.nextPollMs > 0);
    const texts = ['one', 'two', 'three'];
    for (const text of texts) await receive(call, sessionId, text);
    // biome-ignore lint/suspicious/noExplicitAny: occurrences of every shape
    const seen: any[] = [];
    let { cursor } = first;
    for (let hasMore = true; hasMore; ) {
      const { result } = await rpc('events/poll', { name: 'message.incoming', cursor, maxEvents: 2 });
      assert.ok(result.events.length <= 2);
      seen.push(...result.events);
      ({ cursor, hasMore } = result);
    }
    assert.deepEqual(
      seen.map(({ data }) => data.message),
      texts,
    );
    const [occurrence] = seen;
    assert.match(occurrence.eventId, /^evt_/);
    assert.equal(occurrence.name, 'message.incoming');
    assert.ok(!Number.isNaN(Date.parse(occurrence.timestamp)));
    assert.match(occurrence.data.thirdPartyText, /third parties/);
    const quiet = (await rpc('events/poll', { name: 'message.incoming', cursor })).result;
    assert.deepEqual([quiet.events, quiet.truncated], [[], false]);
    const again = (await rpc('events/poll', { name: 'message.incoming', cursor: first.cursor })).result;
    assert.equal(again.events.length, 3);
  });

  it('are selected by session, chat, sender and type of message', async () => {
    const { rpc, call, sessionId } = await agent();
    const other = await connectSession(call);
    const anna = newNumber();
    const { cursor } = (await rpc('events/poll', { name: 'message.incoming' })).result;
    await receive(call, sessionId, 'from anna', anna);
    await receive(call, sessionId, 'from ben');
    await receive(call, other, 'elsewhere', anna);
    const textsOf = async (args: object) => {
      const { result, error } = await rpc('events/poll', { name: 'message.incoming', arguments: args, cursor });
      assert.equal(error, undefined, JSON.stringify(error));
      return result.events.map(({ data }: { data: { message: string } }) => data.message);
    };
    assert.deepEqual(await textsOf({ from: `+${anna}` }), ['from anna', 'elsewhere']);
    assert.deepEqual(await textsOf({ sessionId }), ['from anna', 'from ben']);
    assert.deepEqual(await textsOf({ chatId: anna, sessionId }), ['from anna']);
    assert.deepEqual(await textsOf({ types: ['image'] }), []);
    assert.deepEqual(await textsOf({ types: ['text'], sessionId: other }), ['elsewhere']);
  });

  it('refuse wrong params, each with an error that says what is wrong', async () => {
    const { rpc } = await agent();
    const name = 'message.incoming';
    for (const [method, params, code, problem] of [
      ['events/poll', {}, INVALID_PARAMS, /name is required/],
      ['events/poll', { name: 'no.such' }, NOT_FOUND, /no\.such does not exist/],
      ['events/poll', { name, cursor: 'x' }, INVALID_PARAMS, /cursor is not a cursor/],
      ['events/poll', { name, cursor: 5 }, INVALID_PARAMS, /cursor/],
      ['events/poll', { name, maxEvents: 0 }, INVALID_PARAMS, /maxEvents/],
      ['events/poll', { name, maxAgeMs: -1 }, INVALID_PARAMS, /maxAgeMs/],
      ['events/poll', { name, arguments: { sessionid: 'x' } }, INVALID_PARAMS, /sessionid/],
      ['events/poll', { name, arguments: { sessionId: 'ses_x' } }, INVALID_PARAMS, /session ses_x does not exist/],
      ['events/poll', { name, arguments: { from: 'anna' } }, INVALID_PARAMS, /phone number/],
      ['events/stream', { name: 'no.such' }, NOT_FOUND, /no\.such/],
      ['events/stream', { name, cursor: 'x' }, INVALID_PARAMS, /cursor/],
      ['events/subscribe', { name }, INVALID_PARAMS, /delivery is required/],
      ['events/unsubscribe', { name, delivery: {} }, INVALID_PARAMS, /url is required/],
    ] as const) {
      const { error } = await rpc(method, params);
      assert.equal(error?.code, code, `${method} ${JSON.stringify(params)}: ${JSON.stringify(error)}`);
      assert.match(error.message, problem);
    }
    assert.deepEqual((await rpc('events/poll', { name: 'no.such' })).error.data, { kind: 'event' });
  });

  it('say that events may be missing if the cursor is older than the log or maxAgeMs, or of another log', async () => {
    const clock = createFakeClock();
    const { rpc, server, key, sessionId } = await agent(['*'], { clock, env: { EVENT_RETENTION_DAYS: '2' } });
    const call = bearer(server.url, key); // outlives a login
    const name = 'message.incoming';
    const poll = async (more: object) => (await rpc('events/poll', { name, ...more })).result;
    const { cursor: old } = await poll({});
    await receive(call, sessionId, 'old');
    const { cursor: afterOld } = await poll({ cursor: old });
    clock.skip(DAY_MS);
    await receive(call, sessionId, 'new');
    const recent = await poll({ cursor: old, maxAgeMs: 60_000 });
    assert.equal(recent.truncated, true);
    assert.deepEqual(
      recent.events.map(({ data }: { data: { message: string } }) => data.message),
      ['new'],
    );
    // Nothing is skipped if nothing happened in between.
    assert.equal((await poll({ cursor: afterOld, maxAgeMs: DAY_MS / 2 })).truncated, false);
    assert.equal((await poll({ cursor: recent.cursor, maxAgeMs: 60_000 })).truncated, false);
    clock.skip(2 * DAY_MS);
    const late = await poll({ cursor: old });
    assert.equal(late.truncated, true);
    assert.equal((await poll({ cursor: late.cursor })).truncated, false);
    const [, id] = String(late.cursor).split('.');
    const ahead = await poll({
      cursor: database === 'sqlite' ? `0.${firstIdAt('evt', clock.now() + DAY_MS)}` : `9007199254740000.${id}`,
    });
    assert.deepEqual([ahead.truncated, ahead.events], [true, []]);
    assert.equal((await poll({ cursor: ahead.cursor })).truncated, false);
  });

  it('leave a cursor young while nothing happens', async () => {
    const clock = createFakeClock();
    const { rpc } = await agent(['*'], { clock, env: { EVENT_RETENTION_DAYS: '2' } });
    let { cursor } = (await rpc('events/poll', { name: 'message.incoming' })).result;
    for (let day = 0; day < 5; day++) {
      clock.skip(DAY_MS);
      const { result } = await rpc('events/poll', { name: 'message.incoming', cursor });
      assert.equal(result.truncated, false);
      ({ cursor } = result);
    }
  });

  it('hide message content from a key that may see only metadata, and everything from others', async () => {
    const { rpc, call, sessionId, server } = await agent(['events:metadata']);
    const { cursor } = (await rpc('events/poll', { name: 'message.incoming' })).result;
    await receive(call, sessionId, 'a secret');
    const { result } = await rpc('events/poll', { name: 'message.incoming', cursor });
    assert.equal(result.events[0].data.contentHidden, true);
    assert.doesNotMatch(JSON.stringify(result), /a secret/);
    const { key } = await makeKey(call, ['chats:read']);
    const stranger = rpcOf(server, key);
    assert.deepEqual((await stranger('events/list')).result.events, []);
    for (const method of ['events/poll', 'events/stream'])
      assert.equal((await stranger(method, { name: 'message.incoming' })).error.code, FORBIDDEN);
  });

  it('show a key only its sessions', async () => {
    const { call, sessionId, server } = await agent();
    const own = await connectSession(call);
    const { key } = await makeKey(call, ['events:read'], { sessionIds: [own] });
    const rpc = rpcOf(server, key);
    const { cursor } = (await rpc('events/poll', { name: 'message.incoming' })).result;
    await receive(call, sessionId, 'not for you');
    await receive(call, own, 'for you');
    const { result } = await rpc('events/poll', { name: 'message.incoming', cursor });
    assert.deepEqual(
      result.events.map(({ data }: { data: { message: string } }) => data.message),
      ['for you'],
    );
    const other = await rpc('events/poll', { name: 'message.incoming', arguments: { sessionId } });
    assert.equal(other.error.code, INVALID_PARAMS);
    const streamed = await rpc('events/stream', { name: 'message.incoming', arguments: { sessionId } });
    assert.equal(streamed.error.code, INVALID_PARAMS);
  });

  it('cut long texts, and end a page before it gets too large', async () => {
    const { rpc, call, sessionId } = await agent();
    const { cursor: begin } = (await rpc('events/poll', { name: 'message.incoming' })).result;
    const count = 40;
    for (let n = 0; n < count; n++) await receive(call, sessionId, `${n} ${'"\\'.repeat(8000)}`);
    const seen: string[] = [];
    let cursor = begin;
    for (let hasMore = true; hasMore; ) {
      const { result } = await rpc('events/poll', { name: 'message.incoming', cursor, maxEvents: 100 });
      assert.ok(Buffer.byteLength(JSON.stringify(result)) <= 60_000);
      for (const { data } of result.events) {
        assert.equal(data.truncated, true);
        seen.push(data.message.split(' ')[0]);
      }
      ({ cursor, hasMore } = result);
    }
    assert.deepEqual(
      seen,
      Array.from({ length: count }, (_, n) => `${n}`),
    );
  });

  it('are streamed as they happen, and a stream resumes after the last cursor', async (test: TestContext) => {
    const { server, key, call, sessionId } = await agent();
    const name = 'message.incoming';
    const first = await openStream(test, server, key, { name, arguments: { sessionId } });
    await first.until(() => first.messages.length > 0);
    const [active] = first.paramsOf('active');
    assert.equal(active.truncated, false);
    assert.equal(active._meta['io.modelcontextprotocol/subscriptionId'], 7);
    await receive(call, sessionId, 'one');
    await receive(call, sessionId, 'two');
    await first.until(() => first.paramsOf('event').length === 2);
    const [one, two] = first.paramsOf('event');
    assert.deepEqual([one.data.message, two.data.message], ['one', 'two']);
    assert.match(one.data.thirdPartyText, /third parties/);
    first.close();
    await receive(call, sessionId, 'three');
    const second = await openStream(test, server, key, { name, arguments: { sessionId }, cursor: one.cursor });
    await second.until(() => second.paramsOf('event').length === 2);
    assert.deepEqual(
      second.paramsOf('event').map(({ data }) => data.message),
      ['two', 'three'],
    );
  });

  it('keep a stream alive with heartbeats, whose cursor resumes it', async (test) => {
    const clock = createFakeClock();
    const { server, key, call, sessionId, rpc } = await agent(['*'], { clock });
    const stream = await openStream(test, server, key, { name: 'message.incoming' });
    await stream.until(() => stream.paramsOf('active').length === 1);
    await clock.advance(20_000);
    await stream.until(() => stream.paramsOf('heartbeat').length > 0);
    const { cursor } = stream.paramsOf('heartbeat')[0];
    await receive(call, sessionId, 'later');
    const { result } = await rpc('events/poll', { name: 'message.incoming', cursor });
    assert.equal(result.events.length, 1);
  });

  it('end a stream with its key, and say so', async (test) => {
    const { server, key, keyId, call } = await agent();
    const stream = await openStream(test, server, key, { name: 'message.incoming' });
    await stream.until(() => stream.paramsOf('active').length === 1);
    await call('DELETE', `/api-keys/${keyId}`);
    await stream.until(() => stream.messages.some(({ result }) => result !== undefined));
    const [{ error }] = stream.paramsOf('terminated');
    assert.deepEqual([error.code, error.message], [FORBIDDEN, 'Forbidden']);
    assert.deepEqual(stream.messages.at(-1), {
      jsonrpc: '2.0',
      id: 7,
      result: {
        resultType: 'complete',
        _meta: {
          ...stream.messages.at(-1).result._meta,
          'io.modelcontextprotocol/subscriptionId': 7,
        },
      },
    });
  });

  it('bound the streams of an account, and free the place of one that is closed', async (test) => {
    const { server, key, rpc } = await agent(['*'], { env: { MAX_WAITING_CALLS: '1' } });
    const params = { name: 'message.incoming' };
    const stream = await openStream(test, server, key, params);
    const { error } = await rpc('events/stream', params);
    assert.deepEqual([error.code, error.data.limit], [RESOURCE_EXHAUSTED, 'streams']);
    stream.close();
    for (let status = ''; !status.startsWith('text/event-stream'); ) {
      const stop = new AbortController();
      const response = await post(server, key, 'events/stream', params, stop.signal);
      status = response.headers.get('content-type') ?? '';
      stop.abort();
    }
  });

  it('count against the rate limit', async () => {
    const { rpc } = await agent(['*'], {
      env: { RATE_LIMIT: '5', ACCOUNT_RATE_LIMIT: '0' },
      clock: createFakeClock(Date.now()), // no time passes
    });
    const statuses: number[] = [];
    for (let n = 0; n < 6; n++) {
      const { status } = await rpc('events/poll', { name: 'message.incoming' });
      statuses.push(status);
    }
    assert.deepEqual(statuses, [200, 200, 200, 200, 200, 429]);
  });

  it('are open to a login token, except for subscriptions', async () => {
    const server = await start();
    const { token } = await server.account();
    const rpc = rpcOf(server, token);
    const { result } = await rpc('events/list');
    assert.deepEqual(result.events[0].delivery, ['poll', 'push']);
    assert.equal((await rpc('events/poll', { name: 'message.incoming' })).result.events.length, 0);
    assert.equal((await bearer(server.url, token)('GET', '/webhooks/subscriptions')).status, 200);
  });
});
