import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import { createLog } from '../../src/log.ts';
import { type Call, connectSession, startServer, type TestServer } from '../support/server.ts';

interface Reply {
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** Whether it arrived on a connection that was open before. */
  readonly isReused: boolean;
}

/** Sends a request with any `Host`, which `fetch` forbids. */
async function ask(
  url: string,
  headers: Record<string, string>,
  { method = 'GET', agent = false }: { method?: string; agent?: Agent | false } = {},
): Promise<Reply> {
  const request = httpRequest(url, { method, headers, agent });
  request.end();
  const [response] = await once(request, 'response');
  const body = await text(response);
  return { status: response.statusCode, headers: response.headers, body, isReused: request.reusedSocket };
}

/** Far longer than a rejected client may continue to send (2 s), and half of the longest request. */
const TOLERATED_MS = 30_000;

describe('access control', () => {
  let server: TestServer;
  let call: Call;
  let key: string;
  let sandbox: string;
  before(async () => {
    server = await startServer();
    ({ call } = await server.account());
    ({ key } = (await call('POST', '/api-keys/create', { name: 'access' })).body);
    sandbox = await connectSession(call);
  });
  after(() => server.stop());

  /** A connection that sends the head of a request, and the response so far. */
  function open(head: string): { socket: Socket; closed: Promise<string> } {
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
    let answer = '';
    socket.on('data', (data) => (answer += data)).on('error', () => {});
    const closed = new Promise<string>((resolve) => socket.once('close', () => resolve(answer)));
    socket.write(`${head}\r\n\r\n`);
    return { socket, closed };
  }

  it('answers 421 on every route to a foreign host name', async () => {
    for (const path of ['/', '/docs', '/metrics', '/nothing', '/openapi.json', '/api/v1/sessions', '/api/v1/mcp']) {
      const { status, body, headers } = await ask(server.url + path, { host: 'rebound.example:8080' });
      assert.equal(status, 421, path);
      assert.match(headers['content-type'] ?? '', /^application\/problem\+json/);
      assert.equal(JSON.parse(body).code, 'misdirected_request');
    }
    for (const path of ['/health', '/ready', '/api/v1/health', '/api/v1/ready']) {
      assert.equal((await ask(server.url + path, { host: 'probe.cluster.local' })).status, 200, path);
    }
  });

  it('accepts loopback names and IP addresses, which DNS cannot redirect', async () => {
    for (const host of [
      'localhost',
      'LOCALHOST:1',
      'app.localhost',
      '127.0.0.1',
      '[::1]:80',
      '10.1.2.3:8080',
      '[fd00::1]',
    ])
      assert.equal((await ask(`${server.url}/openapi.json`, { host })).status, 200, host);
    for (const host of ['localhost.example', '10.1.2.3.example', 'x y', 'evil.example@localhost'])
      assert.equal((await ask(`${server.url}/openapi.json`, { host })).status, 421, host);
  });

  it('accepts the host names of its settings', async (test) => {
    const env = {
      PUBLIC_URL: 'https://chat.example.com',
      NODE_URL: 'http://node1:8080',
      ALLOWED_HOSTS: 'Alias.example.com',
    };
    const named = await startServer({ database: 'postgres', env });
    test.after(() => named.stop());
    for (const host of ['chat.example.com', 'node1:8080', 'alias.EXAMPLE.com.', 'localhost'])
      assert.equal((await ask(`${named.url}/openapi.json`, { host })).status, 200, host);
    assert.equal((await ask(`${named.url}/openapi.json`, { host: 'other.example.com' })).status, 421);
  });

  it('accepts any host name with ALLOWED_HOSTS=*, but still no other origin over MCP', async (test) => {
    const any = await startServer({ env: { ALLOWED_HOSTS: '*' } });
    test.after(() => any.stop());
    assert.equal((await ask(`${any.url}/openapi.json`, { host: 'whatever.example' })).status, 200);
    const mcp = (origin: string) =>
      ask(`${any.url}/api/v1/mcp`, { host: 'whatever.example', origin }, { method: 'POST' });
    for (const origin of ['https://evil.example', 'null', 'http://203.0.113.9'])
      assert.equal((await mcp(origin)).status, 403, origin);
    assert.equal((await mcp('https://whatever.example')).status, 401);
  });

  it('rejects webhooks that point at its own machine behind a proxy', async (test) => {
    for (const proxies of ['on', '10.0.0.2']) {
      const reachable = await startServer({ env: { TRUST_PROXY: proxies } });
      test.after(() => reachable.stop());
      const account = await reachable.account();
      const webhook = { webhookUrl: 'http://127.0.0.1:3000/hook', events: ['message.sent'] };
      const { status, body } = await account.call('POST', '/webhooks/set', webhook);
      assert.deepEqual([status, body.errors?.[0].field], [400, 'webhookUrl']);
    }
  });

  it('closes the connection of a client that keeps sending a rejected body', async () => {
    const length = 'content-length: 900000';
    const post = (path: string, more: string) => `POST /api/v1${path} HTTP/1.1\r\nhost: localhost\r\n${more}`;
    const bearer = `authorization: Bearer ${key}`;
    const { key: reader } = (await call('POST', '/api-keys/create', { name: 'reads', permissions: ['sessions:read'] }))
      .body;
    const refused: [head: string, status: number][] = [
      [post('/mcp', length), 401],
      [post('/mcp', `${bearer}\r\norigin: https://evil.example\r\n${length}`), 403],
      [post('/mcp', `${bearer}\r\ncontent-type: application/json\r\ncontent-length: 9000000`), 413],
      [post('/sessions', length), 401],
      [post('/sessions', `${bearer}\r\ncontent-type: application/json\r\ncontent-length: 9000000`), 413],
      [post('/auth/login', `content-type: application/json\r\n${length}`), 413],
      [post('/media', length), 401],
      [post('/media', `${bearer}\r\ncontent-length: 900000000`), 413],
      [post('/messages/send', `authorization: Bearer ${reader}\r\ncontent-type: application/json\r\n${length}`), 403],
      [post('/nothing', length), 404],
      [post('/callbacks/ses_none', length), 404],
    ];
    await Promise.all(
      refused.map(async ([head, status]) => {
        const { socket, closed } = open(head);
        let isTolerated = false;
        const goOn = setInterval(() => socket.write('x'), 20);
        const giveUp = setTimeout(() => {
          isTolerated = true;
          socket.destroy();
        }, TOLERATED_MS);
        const answer = await closed;
        clearInterval(goOn);
        clearTimeout(giveUp);
        assert.match(answer, new RegExp(`^HTTP/1.1 ${status} `), head);
        assert.ok(!isTolerated, `still open: ${head}`);
      }),
    );
  });

  it('looks up the session before it reads the body of a callback', async () => {
    for (const [sessionId, status] of [
      ['ses_none', 404],
      [sandbox, 422],
    ] as const) {
      // The body never arrives, so only code that does not wait for it can respond.
      const { socket } = open(
        `POST /api/v1/callbacks/${sessionId} HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1000`,
      );
      const [answer] = await once(socket, 'data');
      assert.match(String(answer), new RegExp(`^HTTP/1.1 ${status} `));
      socket.destroy();
    }
  });

  it('closes the oldest unauthenticated connection for a new one, and keeps authenticated ones', async (test) => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const askAsKnown = () => ask(`${server.url}/api/v1/sessions`, { authorization: `Bearer ${key}` }, { agent });
    const later: Socket[] = [];
    test.after(() => {
      agent.destroy();
      for (const socket of later) socket.destroy();
    });
    assert.equal((await askAsKnown()).status, 200);
    const oldest = open('GET /api/v1/sessions HTTP/1.1\r\nhost: localhost');
    await once(oldest.socket, 'data');
    for (let n = 0; n < 500; n++) later.push(connect(Number(new URL(server.url).port), '127.0.0.1'));
    await Promise.all(later.map((socket) => once(socket, 'connect')));
    assert.match(await oldest.closed, /^HTTP\/1.1 401 /);
    const { status, isReused } = await askAsKnown();
    assert.deepEqual([status, isReused], [200, true], 'on the earlier connection');
  });

  it('forbids caching of every authenticated response', async () => {
    const { body } = await call('GET', '/sessions');
    const sessionId = body.data[0].sessionId;
    const answers = [
      await call('GET', '/sessions'),
      await call('GET', `/sessions/${sessionId}`),
      await call('GET', '/events'),
      await call('GET', '/auth/me'),
      await call('GET', '/messages/msg_none'),
      await call('GET', '/nothing'),
      await call('PUT', '/sessions'),
      await call('POST', '/sessions', '{'),
      await server.call('GET', '/sessions'),
      await server.call('POST', '/auth/login', { email: 'nobody@example.com', password: 'nothing' }),
      await call('GET', '/media/med_none/content'),
    ];
    for (const { status, headers } of answers) assert.equal(headers.get('cache-control'), 'no-store', `${status}`);
  });

  it('logs no key, however the query spells its parameter', async (test) => {
    const lines: string[] = [];
    const logged = await startServer({ log: createLog('trace', { write: (line) => void lines.push(line) }) });
    test.after(() => logged.stop());
    const account = await logged.account();
    const { key } = (await account.call('POST', '/api-keys/create', { name: 'logged' })).body;
    for (const query of [
      '?key=',
      '?%6bey=',
      '?%6Bey=',
      '?k%65y=',
      '?%6b%65%79=',
      '?limit=5&k%65%79=',
      '#key=',
      '#%6bey=',
    ]) {
      const taken = await rawGet(logged.url, `/api/v1/sessions${query}${key}`);
      assert.match(taken, /^HTTP\/1.1 200 /, query);
      // Only requests that reach no operation are logged with their URL.
      for (const path of ['/api/v1/nothing', '/api/v1/mcp', '/nothing']) {
        const answer = await rawGet(logged.url, `${path}${query}${key}`);
        assert.doesNotMatch(answer, new RegExp(key), query);
      }
    }
    assert.ok(lines.some((line) => line.includes('[redacted]')));
    assert.doesNotMatch(lines.join('\n'), new RegExp(key));
  });
});

/** The whole response to a request with a raw target. Clients strip everything after a `#`. */
async function rawGet(url: string, target: string): Promise<string> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  socket.write(`GET ${target} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n`);
  return text(socket);
}
