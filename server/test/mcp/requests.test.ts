import assert from 'node:assert/strict';
import { after, before, describe, it, type TestContext } from 'node:test';
import { createLog } from '../../src/log.ts';
import { createFakeClock } from '../support/fakeClock.ts';
import { type ProtocolVersion, protocolVersions } from '../support/mcp/mcp.ts';
import { startServer, type TestServer } from '../support/server.ts';

type Message = Readonly<Record<string, unknown>>;

/** A request as a client of a protocol version makes it. */
function messageOf(version: ProtocolVersion, method: string, params: Message = {}): Message {
  const meta = {
    'io.modelcontextprotocol/protocolVersion': version,
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  return { jsonrpc: '2.0', id: 1, method, params: version === '2026-07-28' ? { ...params, _meta: meta } : params };
}

/** Posts a body unchanged. */
function post(
  { url }: Pick<TestServer, 'url'>,
  credential: string,
  body: unknown,
  { headers = {}, signal }: { headers?: Record<string, string>; signal?: AbortSignal } = {},
) {
  const { method, params = {} } = (Array.isArray(body) ? {} : body) as { method?: string; params?: { name?: string } };
  return fetch(`${url}/api/v1/mcp`, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: {
      authorization: `Bearer ${credential}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(method !== undefined && { 'mcp-method': method }),
      ...(params.name !== undefined && { 'mcp-name': params.name }),
      ...headers,
    },
    ...(signal && { signal }),
  });
}

const call = { name: 'sessions_list', arguments: {} };

const NO_CURSOR = 'cursor is not a cursor of this list, which has one page; leave it out';

describe('rate limits over MCP', () => {
  const limit = 6;
  const started = async (test: TestContext) => {
    const server = await startServer({ env: { RATE_LIMIT: String(limit) }, clock: createFakeClock() });
    test.after(() => server.stop());
    const account = await server.account();
    return { server, token: account.token };
  };

  for (const version of Object.keys(protocolVersions) as ProtocolVersion[]) {
    const headers = { 'mcp-protocol-version': version };

    it(`treat null arguments of a tool as none (${version})`, async (test) => {
      const { server, token } = await started(test);
      const message = messageOf(version, 'tools/call', { name: 'sessions_list', arguments: null });
      const text = await (await post(server, token, message, { headers })).text(); // some versions get a stream
      assert.match(text, /"structuredContent":\{"data":\[\]/);
    });

    it(`count every call and every other request once, whatever its result (${version})`, async (test) => {
      const { server, token } = await started(test);
      const send = (message: Message, more = {}) => post(server, token, message, { headers: { ...headers, ...more } });
      assert.equal((await send(messageOf(version, 'tools/call', call))).status, 200);
      assert.equal((await send(messageOf(version, 'tools/list'))).status, 200);
      await send(messageOf(version, 'tools/call', { name: 'no_such_tool', arguments: {} }));
      await send(messageOf(version, 'resources/read', { uri: 'switchboard://event-kinds' }));
      const unfit = await send(messageOf(version, 'tools/call', call), { 'mcp-protocol-version': '1999-01-01' });
      assert.equal(unfit.status, 400);
      await send(messageOf(version, 'prompts/list'));
      const refused = await send(messageOf(version, 'tools/call', call));
      assert.equal(refused.status, 200);
      assert.match(await refused.text(), /rate_limited/);
      assert.equal((await send(messageOf(version, 'tools/list'))).status, 429);
    });
  }

  it('count each member of a batch', async (test) => {
    const { server, token } = await started(test);
    const batch = (count: number) =>
      Array.from({ length: count }, (_, id) => ({ ...messageOf('2025-11-25', 'ping'), id }));
    assert.equal((await post(server, token, batch(4))).status, 200);
    const more = await post(server, token, batch(3));
    assert.deepEqual([more.status, (await more.json()).code], [429, 'rate_limited']);
    assert.ok(Number(more.headers.get('retry-after')) > 0);
    assert.equal((await post(server, token, batch(2))).status, 200, 'rejected requests do not count');
    assert.equal((await post(server, token, batch(1))).status, 429);
  });

  it('do not count the calls of a batch twice', async (test) => {
    const { server, token } = await started(test);
    const batch = Array.from({ length: limit }, (_, id) => ({ ...messageOf('2025-11-25', 'tools/call', call), id }));
    const answer = await post(server, token, batch);
    assert.equal(answer.status, 200);
    assert.doesNotMatch(await answer.text(), /rate_limited/);
  });
});

describe('MCP batches', () => {
  it('are rejected if too long, and for protocol versions without batches', async (test) => {
    const server = await startServer();
    test.after(() => server.stop());
    const { token } = await server.account();
    const batch = (count: number) =>
      Array.from({ length: count }, (_, id) => ({ ...messageOf('2025-11-25', 'ping'), id }));
    const versions = ['2024-11-05', '2025-06-18', '2025-11-25', '2026-07-28'];
    for (const version of versions) {
      const answer = await post(server, token, batch(2), { headers: { 'mcp-protocol-version': version } });
      assert.deepEqual([answer.status, (await answer.json()).error.code], [400, -32_600], version);
    }
    const modern = await post(server, token, [messageOf('2026-07-28', 'tools/list')]);
    assert.deepEqual([modern.status, (await modern.json()).error.code], [400, -32_600]);
    assert.equal((await post(server, token, batch(21))).status, 400);
    assert.equal((await post(server, token, [null, 1, 'x'])).status, 400);
    assert.equal((await post(server, token, [])).status, 400);
    const served = await post(server, token, batch(2), { headers: { 'mcp-protocol-version': '2025-03-26' } });
    assert.equal(served.status, 200);
    assert.equal((await served.text()).match(/"result"/g)?.length, 2);
  });
});

describe('a long poll over MCP', () => {
  interface Line {
    readonly operation?: string;
    readonly ms: number;
  }

  /** A server in which an agent waits for an event. `ended` returns the duration of the operation. */
  async function waiting(test: TestContext, version: ProtocolVersion, signal?: AbortSignal) {
    const ended = Promise.withResolvers<number>();
    const write = (text: string) => {
      const line: Line = JSON.parse(text);
      if (line.operation === 'events.list') ended.resolve(line.ms);
    };
    const server = await startServer({ log: createLog('info', { write }) });
    test.after(() => server.stop());
    const { token } = await server.account();
    const { feed } = server.app.services;
    const waits = Promise.withResolvers<void>();
    const next = feed.next.bind(feed);
    feed.next = (...args) => {
      waits.resolve();
      return next(...args);
    };
    const answer = post(
      server,
      token,
      messageOf(version, 'tools/call', { name: 'events_list', arguments: { wait: 30 } }),
      {
        headers: { 'mcp-protocol-version': version },
        ...(signal && { signal }),
      },
    ).then(
      (response) => response.text(),
      () => 'no answer',
    );
    await waits.promise;
    return { server, answer, ended: ended.promise };
  }

  for (const version of Object.keys(protocolVersions) as ProtocolVersion[]) {
    it(`of ${version} ends immediately when the caller disconnects`, async (test) => {
      const gone = new AbortController();
      const { answer, ended } = await waiting(test, version, gone.signal);
      gone.abort();
      assert.ok((await ended) < 10_000);
      await answer;
    });

    it(`of ${version} ends immediately, with a response, when the server stops`, async (test) => {
      const { server, answer, ended } = await waiting(test, version);
      await server.stop();
      assert.ok((await ended) < 10_000);
      assert.match(await answer, /"nextCursor":null/);
    });
  }
});

describe('wrong params', () => {
  let server: TestServer;
  let token: string;
  before(async () => {
    server = await startServer();
    ({ token } = await server.account());
  });
  after(() => server.stop());

  for (const version of Object.keys(protocolVersions) as ProtocolVersion[]) {
    const errorOf = async (method: string, params: Message) => {
      const { name, uri } = params;
      const message = messageOf(version, method, params);
      const headers = {
        'mcp-protocol-version': version,
        ...(typeof uri === 'string' && { 'mcp-name': uri }),
        ...(typeof name === 'string' && { 'mcp-name': name }),
      };
      const text = await (await post(server, token, message, { headers })).text();
      return JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? text).error;
    };

    it(`of a known method are reported as such, with the member and what was expected (${version})`, async () => {
      for (const [method, params, problem] of [
        ['tools/call', {}, 'name is required'],
        ['tools/call', { name: 5 }, 'name must be a string, not a number'],
        ['tools/call', { name: 'sessions_list', arguments: 'all' }, 'arguments must be an object, not "all"'],
        ['tools/call', { name: 'sessions_list', arguments: [] }, 'arguments must be an object, not a list'],
        ['tools/list', { cursor: 5 }, 'cursor must be a string, not a number'],
        ['resources/list', { cursor: 5 }, 'cursor must be a string, not a number'],
        ['resources/templates/list', { cursor: null }, 'cursor must be a string, not null'],
        ['resources/read', {}, 'uri is required'],
        ['resources/read', { uri: 5 }, 'uri must be a string, not a number'],
        ['prompts/list', { cursor: [] }, 'cursor must be a string, not a list'],
        ...(['tools/list', 'resources/list', 'resources/templates/list', 'prompts/list'] as const).flatMap((list) =>
          ['made up', 'bXNnXzAx', ''].map((cursor) => [list, { cursor }, NO_CURSOR] as const),
        ),
        ['prompts/get', {}, 'name is required'],
        ['prompts/get', { name: 'set_up_webhook', arguments: 'x' }, 'arguments must be an object, not "x"'],
        [
          'prompts/get',
          { name: 'set_up_webhook', arguments: { url: 5 } },
          'arguments.url must be a string, not a number',
        ],
      ] as const)
        assert.deepEqual(await errorOf(method, params), {
          code: -32_602,
          message: `The params of ${method} are invalid: ${problem}`,
        });
    });

    // The later version has neither `initialize` nor tasks.
    if (version === '2025-11-25')
      it('that only the protocol library refuses are reported without its dump', async () => {
        const known = { protocolVersion: version, capabilities: {}, clientInfo: { name: 'a', version: '1' } };
        for (const [method, params, member, problem] of [
          ['tools/call', { ...call, task: 5 }, 'task', 'expected object, received number'],
          [
            'initialize',
            { ...known, capabilities: { roots: 5 } },
            'capabilities.roots',
            'expected object, received number',
          ],
          [
            'initialize',
            { ...known, clientInfo: { ...known.clientInfo, icons: 'x' } },
            'clientInfo.icons',
            'expected array, received string',
          ],
        ] as const)
          assert.deepEqual(await errorOf(method, params), {
            code: -32_602,
            message: `The params of ${method} are invalid: ${member} is not what the protocol defines (Invalid input: ${problem})`,
          });
      });

    it(`name a tool, prompt or resource that does not exist (${version})`, async () => {
      for (const [method, params, expected] of [
        ['tools/call', { name: 'nope' }, /The tool nope does not exist; call tools\/list/],
        ['prompts/get', { name: 'nope' }, /The prompt nope does not exist; call prompts\/list/],
        ['resources/read', { uri: 'switchboard://nope' }, /The resource switchboard:\/\/nope does not exist; call /],
        ['resources/read', { uri: 'switchboard://sessions/x' }, /The session x does not exist/],
      ] as const) {
        const { code, message } = await errorOf(method, params);
        assert.match(message, expected);
        // Resources had a code of their own before 2026.
        assert.ok(code === -32_602 || (method === 'resources/read' && code === -32_002), `${method}: ${code}`);
      }
    });

    it(`of an unknown method are reported as an unknown method (${version})`, async () => {
      assert.equal((await errorOf('tools/nope', { name: 5 })).code, -32_601);
    });
  }
});
