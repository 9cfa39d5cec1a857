import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join, sep } from 'node:path';
import { after, before, describe, it, type TestContext } from 'node:test';
import { getMcpConfigForManifest, unpackExtension, validateManifest } from '@anthropic-ai/mcpb';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import sharp from 'sharp';
import { portOf } from '../../server/test/support/connections/listening.ts';
import { callTool, type ProtocolVersion, protocolVersions } from '../../server/test/support/mcp/mcp.ts';
import { startFixtures } from '../../server/test/support/mcp/mcpFixtures.ts';
import { startServer, type TestServer } from '../../server/test/support/server.ts';
import manifest from '../manifest.json' with { type: 'json' };
import { packBundle } from '../src/build.ts';

/* The bundle as a desktop client uses it: unpacked, and started by its manifest with what a person has entered. */

const VERSIONS: readonly ProtocolVersion[] = ['2026-07-28', '2025-11-25'];

interface Entered {
  readonly url?: string;
  readonly api_key?: string;
}

describe('the bundle for desktop clients', () => {
  let folder: string;
  let server: TestServer;
  let key: string;
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'switchboard-mcpb-'));
    const mcpbPath = await packBundle(join(folder, 'dist'));
    assert.ok(await unpackExtension({ mcpbPath, outputDir: join(folder, 'unpacked'), silent: true }));
    server = await startServer();
    const { call } = await server.account();
    key = (await call('POST', '/api-keys/create', { name: 'desktop' })).body.key;
  });
  after(async () => {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Starts the program of the bundle as a desktop client does. Its process ends with the test. */
  async function startBundle(
    test: TestContext,
    entered: Entered,
    stderr: 'ignore' | 'pipe' = 'ignore',
  ): Promise<StdioClientTransport> {
    const extensionPath = join(folder, 'unpacked');
    const config = await getMcpConfigForManifest({
      manifest: JSON.parse(readFileSync(join(extensionPath, 'manifest.json'), 'utf8')),
      extensionPath,
      systemDirs: {},
      userConfig: { ...entered },
      pathSeparator: sep,
    });
    // A client that starts it without what is required leaves the placeholders.
    const { args = [], env = {} } = config ?? manifest.server.mcp_config;
    const program = args.map((arg) => arg.replace(/^\$\{__dirname\}/, extensionPath));
    const transport = new StdioClientTransport({ command: process.execPath, args: program, env, stderr });
    test.after(() => transport.close());
    return transport;
  }

  async function connect(test: TestContext, entered: Entered, client: Client) {
    const transport = await startBundle(test, entered);
    await client.connect(transport as Parameters<Client['connect']>[0]);
    return { client, transport };
  }

  const clientOf = (version: ProtocolVersion | 'auto') =>
    new Client(
      { name: 'desktop', version: '1' },
      {
        versionNegotiation: version === 'auto' ? { mode: 'auto' } : protocolVersions[version],
        capabilities: { elicitation: {} },
      },
    );

  /** A client that insists on a version shows no reason if it is not offered. Desktop clients accept others. */
  const failure = (test: TestContext, entered: Entered, message: RegExp) =>
    Promise.all(
      (['auto', '2025-11-25'] as const).map((version) =>
        assert.rejects(connect(test, entered, clientOf(version)), (error: Error) => {
          assert.match(error.message, message);
          assert.ok(error.message.length < 1000);
          return true;
        }),
      ),
    );

  it('has a valid manifest with the version of the product, and an icon of the size that clients show', async () => {
    const path = join(folder, 'unpacked/manifest.json');
    assert.ok(validateManifest(path));
    const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
    assert.equal(JSON.parse(readFileSync(path, 'utf8')).version, version);
    const { width, height, format } = await sharp(join(folder, 'unpacked/icon.png')).metadata();
    assert.deepEqual([width, height, format], [512, 512, 'png']);
    assert.match(
      readFileSync(join(folder, 'unpacked/THIRD-PARTY-LICENSES'), 'utf8'),
      /^@modelcontextprotocol\/client /,
    );
    assert.equal(manifest.user_config.api_key.sensitive, true);
  });

  for (const version of VERSIONS) {
    it(`lists and calls the tools of a server in ${version}`, async (test) => {
      const { client } = await connect(test, { url: server.url, api_key: key }, clientOf(version));
      assert.equal(client.getServerVersion()?.name, 'switchboard');
      const { tools } = await client.listTools();
      assert.ok(tools.some(({ name }) => name === 'messages_send'));
      const created = await callTool(client, 'sessions_create', { name: 'Desktop' });
      assert.ok(!created.isError);
      const { output } = await callTool(client, 'sessions_get', { sessionId: created.output.sessionId });
      assert.equal(output.name, 'Desktop');
      assert.equal((await callTool(client, 'sessions_get', { sessionId: 'ses_none' })).isError, true);
      await assert.rejects(
        client.callTool({ name: 'no_such_tool', arguments: {} }),
        /does not exist; call tools\/list/,
      );
    });
  }

  it('says that the key is wrong', async (test) => {
    const message =
      /does not accept the API key\. Enter a valid one in the settings of the extension\. The server says: /;
    await failure(test, { url: server.url, api_key: 'sb_wrong' }, message);
  });

  it('accepts the addresses that people enter, and keeps the toolsets', async (test) => {
    for (const url of [`${server.url}/`, `${server.url}/api/v1`, `${server.url}/api/v1/mcp/`]) {
      const { client } = await connect(test, { url: ` ${url} `, api_key: `Bearer ${key} ` }, clientOf('2026-07-28'));
      assert.ok((await client.listTools()).tools.length > 10, url);
      await client.close();
    }
    const some = { url: `${server.url}/api/v1/mcp?toolsets=media`, api_key: key };
    const { client } = await connect(test, some, clientOf('2026-07-28'));
    assert.ok((await client.listTools()).tools.every(({ name }) => name.startsWith('media_')));
  });

  it('says what is missing or wrong in the settings', async (test) => {
    const cases: [Entered, RegExp][] = [
      [{ api_key: 'sb_1' }, /The URL of the server is missing/],
      [{ url: '  ', api_key: 'sb_1' }, /The URL of the server is missing/],
      [{ url: 'switchboard', api_key: 'sb_1' }, /The URL "switchboard" is not an address such as https/],
      [{ url: 'file:///etc/passwd', api_key: 'sb_1' }, /is not an address such as https/],
      [{ url: 'https://ann:secret@example.com', api_key: 'sb_1' }, /contains a user name or password/],
      [{ url: 'https://example.com', api_key: ' ' }, /The API key is missing\. Create one in the dashboard/],
      [{ url: 'https://example.com', api_key: 'sb_ü' }, /has characters that no key has/],
    ];
    for (const [entered, message] of cases) await failure(test, entered, message);
  });

  it('says that there is no server, and that something else answers', async (test) => {
    const other = createServer((request, response) => {
      if (request.url?.startsWith('/page/')) response.setHeader('content-type', 'text/html').end('<p>Hello</p>');
      else if (request.url?.startsWith('/moved/')) response.writeHead(302, { location: 'https://example.com/' }).end();
      else response.writeHead(404, { 'content-type': 'text/plain' }).end(`Nothing${'x'.repeat(100_000)}`);
    });
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${portOf(other)}`;
    const cases: [string, RegExp][] = [
      [`${url}/page`, /does not answer as an MCP server\. Check the URL/],
      [`${url}/moved`, /redirects elsewhere\. Enter the final URL/],
      [url, /There is no MCP server at http:\/\/127\.0\.0\.1:\d+\/api\/v1\/mcp\. Check the URL/],
    ];
    for (const [at, message] of cases) await failure(test, { url: at, api_key: key }, message);
    other.closeAllConnections();
    await new Promise((resolve) => other.close(resolve));
    const refused = /Cannot reach the server at http:\/\/127\.0\.0\.1:\d+\/api\/v1\/mcp \(ECONNREFUSED\)/;
    await failure(test, { url, api_key: key }, refused);
  });

  it('passes a question of the server to the user, and the answer back', async (test) => {
    const { app, url } = await startFixtures(server);
    test.after(() => app.close());
    const client = clientOf('2026-07-28');
    client.setRequestHandler('elicitation/create', () => ({ action: 'accept', content: { name: 'Anna' } }));
    await connect(test, { url, api_key: key }, client);
    const { content } = await client.callTool({ name: 'test_input_required_result_elicitation', arguments: {} });
    assert.deepEqual(content, [{ type: 'text', text: 'Hello, Anna!' }]);
  });

  it('passes notifications of the server, and those on a subscription', async (test) => {
    const { app, url } = await startFixtures(server);
    test.after(() => app.close());
    const { client, transport } = await connect(test, { url, api_key: key }, clientOf('2026-07-28'));
    const receive = transport.onmessage;
    const methods: (string | undefined)[] = [];
    transport.onmessage = (message) => {
      methods.push('method' in message ? message.method : undefined);
      receive?.(message);
    };
    // The client forgets about progress that it reads together with the result, so this looks at the messages.
    await client.callTool({ name: 'test_tool_with_progress', arguments: {} }, { onprogress: () => undefined });
    assert.deepEqual(methods, [...Array(3).fill('notifications/progress'), undefined]);
    const announced = Promise.withResolvers<void>();
    client.setNotificationHandler('notifications/tools/list_changed', () => announced.resolve());
    const subscription = await client.listen({ toolsListChanged: true });
    await client.callTool({ name: 'test_trigger_tool_change', arguments: {} });
    await announced.promise;
    await subscription.close();
    await client.callTool({ name: 'test_simple_text', arguments: {} });
  });

  it('answers a call whose connection breaks, cancels one, and ends with its client', async (test) => {
    const waiting = Promise.withResolvers<void>();
    const aborted = Promise.withResolvers<void>();
    let calls = 0;
    const other = createServer(async (request, response) => {
      const body = JSON.parse(Buffer.concat(await request.toArray()).toString() || '{}');
      if (body.method === 'tools/call') {
        response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
        calls++;
        if (calls === 1) response.socket?.destroy();
        else response.on('close', () => aborted.resolve());
        waiting.resolve();
        return;
      }
      const result = {
        protocolVersion: '2025-11-25',
        capabilities: { tools: {} },
        serverInfo: { name: 'x', version: '1' },
      };
      if (body.method !== 'initialize') response.writeHead(202).end();
      else
        response
          .setHeader('content-type', 'application/json')
          .end(JSON.stringify({ jsonrpc: '2.0', id: body.id, result }));
    });
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    test.after(() => other.closeAllConnections());
    test.after(() => other.close());
    const url = `http://127.0.0.1:${portOf(other)}`;
    const { client, transport } = await connect(test, { url, api_key: key }, clientOf('2025-11-25'));
    await assert.rejects(
      client.callTool({ name: 'a', arguments: {} }),
      /ended before the answer\. Check what the call did before you repeat it/,
    );
    assert.equal(calls, 1, 'repeats nothing');
    await waiting.promise;
    const cancel = new AbortController();
    const cancelled = client.callTool({ name: 'a', arguments: {} }, { signal: cancel.signal });
    cancelled.catch(() => undefined);
    while (calls < 2) await new Promise(setImmediate);
    cancel.abort();
    await aborted.promise;
    await assert.rejects(cancelled);
    const { pid } = transport;
    await client.close();
    assert.ok(pid !== null);
    assert.throws(() => process.kill(pid, 0), { code: 'ESRCH' });
  });

  /** Starts a server that answers the handshake, and leaves calls of tools to the test. */
  async function startFaulty(test: TestContext, answer: (response: ServerResponse, request: Received) => void) {
    const other = createServer(async (request, response) => {
      const body = JSON.parse(Buffer.concat(await request.toArray()).toString() || '{}');
      const id = body.id;
      const result = {
        protocolVersion: '2025-11-25',
        capabilities: { tools: {} },
        serverInfo: { name: 'x', version: '1' },
      };
      if (body.method === 'tools/call')
        answer(response, { id, name: body.params.name, authorization: request.headers.authorization ?? '' });
      else if (body.method !== 'initialize') response.writeHead(202).end();
      else response.setHeader('content-type', 'application/json').end(JSON.stringify({ jsonrpc: '2.0', id, result }));
    });
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    test.after(() => other.closeAllConnections());
    test.after(() => other.close());
    return `http://127.0.0.1:${portOf(other)}`;
  }

  it('says that a call may have run if the server received it and did not answer completely', async (test) => {
    const json = { 'content-type': 'application/json' };
    const answers: Record<string, (response: ServerResponse, request: Received) => void> = {
      destroyed: (response) => response.socket?.destroy(),
      truncated: (response) => response.writeHead(200, json).end('{"jsonrpc":"2.0","id'),
      broken: (response) => {
        response.writeHead(200, { ...json, 'content-length': 1000 }).write('{"jsonrpc"');
        setImmediate(() => response.socket?.destroy());
      },
      accepted: (response) => response.writeHead(202).end(),
      empty: (response) => response.writeHead(204).end(),
      none: (response) => response.writeHead(200, json).end('[]'),
      other: (response) => response.writeHead(200, json).end('{"jsonrpc":"2.0","id":"other","result":{}}'),
      gateway: (response) => response.writeHead(502).end('<p>Bad gateway</p>'),
    };
    const url = await startFaulty(test, (response, request) => answers[request.name]?.(response, request));
    const { client } = await connect(test, { url, api_key: key }, clientOf('2025-11-25'));
    for (const name of Object.keys(answers))
      await assert.rejects(client.callTool({ name, arguments: {} }), (error: Error) => {
        const advice = /Check what the call did before you repeat it/;
        assert.match(error.message, name === 'empty' ? /does not answer as an MCP server/ : advice, name);
        assert.doesNotMatch(error.message, /Cannot reach/, name);
        return true;
      });
  });

  it('masks the key in everything that the server says', async (test) => {
    const problem = (detail: string) => JSON.stringify({ detail });
    const url = await startFaulty(test, (response, { id, name, authorization }) => {
      const echo = `You sent ${authorization}`;
      const json = response.setHeader('content-type', 'application/json');
      if (name === 'problem') json.writeHead(403).end(problem(echo));
      else if (name === 'cut') json.writeHead(403).end(problem('x'.repeat(480) + authorization));
      else if (name === 'error')
        json.end(JSON.stringify({ jsonrpc: '2.0', id, error: { code: 1, message: echo, data: { echo } } }));
      else if (name === 'status')
        json.writeHead(400).end(JSON.stringify({ jsonrpc: '2.0', id, error: { code: 1, message: echo } }));
      else if (name === 'text') json.end(echo);
      else json.end(JSON.stringify({ jsonrpc: '2.0', id, result: { content: [{ type: 'text', text: echo }] } }));
    });
    const transport = await startBundle(test, { url, api_key: key }, 'pipe');
    let written = '';
    transport.stderr?.on('data', (chunk) => {
      written += chunk;
    });
    const client = clientOf('2025-11-25');
    await client.connect(transport as Parameters<Client['connect']>[0]);
    for (const name of ['problem', 'cut', 'error', 'status', 'text', 'result']) {
      const said = await client.callTool({ name, arguments: {} }).then(
        (result) => JSON.stringify(result),
        (error: Error & { data?: unknown }) => error.message + JSON.stringify(error.data),
      );
      assert.ok(!said.includes(key.slice(0, 20)), name);
      if (name !== 'text') assert.match(said, /\[API key\]|x{480}/, name);
    }
    await client.close();
    assert.match(written, /The server says: You sent Bearer \[API key\]/);
    assert.ok(!written.includes(key.slice(0, 20)));
  });
});

interface Received {
  readonly id: unknown;
  readonly name: string;
  readonly authorization: string;
}
