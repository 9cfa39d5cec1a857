import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import http from 'node:http';
import https from 'node:https';
import net from 'node:net';
import { after, before, describe, it } from 'node:test';
import tls from 'node:tls';
import { createGunzip } from 'node:zlib';
import { Client, request } from 'undici';
import { type Behavior, behaviors, behaviorTable, type FaultyReceiver, startFaultyReceiver } from './faultyReceiver.ts';

const BODY = '{"event":"message.incoming","data":{"text":"Grüße"}}';
const NOW = Date.UTC(2026, 0, 1, 12, 0, 0, 500);

let receiver: FaultyReceiver;

// Runs first, while the process has no connection or timer of another test.
it('close ends every connection and timer, however long they would last', async () => {
  const before = openResources();
  const doomed = await startFaultyReceiver({ slowMs: 60_000 });
  const open: Behavior[] = ['slow', 'hanging', 'headerDrip', 'bodyDrip', 'endlessBody', 'keepAliveClosed'];
  const clients = await Promise.all(open.map((behavior) => openRaw(doomed.url(behavior))));
  // No bytes are sent on these: one has not begun its HTTP request, the other not even its TLS handshake.
  clients.push(await connectRaw(doomed.url('hanging')), await connectRaw(doomed.url('tlsExpired')));
  await Promise.all(clients.slice(2, 6).map((socket) => once(socket, 'readable')));
  const ended = clients.map((socket) => once(socket.on('error', () => {}).resume(), 'close'));

  const startedAt = performance.now();
  await doomed.close();
  assert.ok(performance.now() - startedAt < 10_000);
  await Promise.all(ended);
  await doomed.close();
  assert.deepEqual(openResources(), before);
  assert.equal(codeOf((await attempt(doomed.url('gone'))).error), 'ECONNREFUSED');
});

describe('faulty receiver', () => {
  before(async () => {
    receiver = await startFaultyReceiver({ slowMs: 60, dripMs: 2, retryAfterSeconds: 90, now: () => NOW });
  });
  after(() => receiver.close());

  it('gives every fault its own URL and description', () => {
    assert.equal(new Set(behaviors.map((behavior) => receiver.url(behavior))).size, behaviors.length);
    for (const behavior of behaviors) assert.notEqual(behaviorTable[behavior].does, '');
  });

  it('keeps received requests', async () => {
    await post('unauthorized', { headers: { 'x-webhook-id': 'evt_1' } });
    const [received] = receiver.requests('unauthorized');
    assert.ok(received);
    assert.equal(received.method, 'POST');
    assert.equal(received.path, '/unauthorized');
    assert.equal(received.headers['x-webhook-id'], 'evt_1');
    assert.equal(received.body, BODY);
    assert.equal(received.isComplete, true);
    assert.ok(Math.abs(received.at - Date.now()) < 10_000);
  });

  it('slow answers 200 after its delay, which the URL can change', async () => {
    for (const [options, leastMs] of [
      [{}, 60],
      [{ delayMs: 120 }, 120],
    ] as const) {
      const startedAt = performance.now();
      const { statusCode, body } = await request(receiver.url('slow', options), { method: 'POST', body: BODY });
      await body.dump();
      assert.equal(statusCode, 200);
      // Node may fire a timer a millisecond early.
      assert.ok(performance.now() - startedAt >= leastMs - 2);
    }
  });

  it('hanging reads the request and never answers', async () => {
    const { error, bytesRead } = await post('hanging', { signal: AbortSignal.timeout(150) });
    assert.equal(error?.name, 'AbortError');
    assert.equal(bytesRead, 0);
    assert.deepEqual(
      receiver.requests('hanging').map(({ body, isComplete }) => [body, isComplete]),
      [[BODY, true]],
    );
  });

  it('headerDrip sends headers byte by byte that never end', async () => {
    const raw = await readRaw('headerDrip', 60);
    assert.match(raw, /^HTTP\/1\.1 200 OK\r\nX-Drip: \.+$/);

    const { error, bytesRead } = await post('headerDrip', { signal: AbortSignal.timeout(150) });
    assert.equal(error?.name, 'AbortError');
    assert.ok(bytesRead > 1);
  });

  it('bodyDrip answers 200 immediately, then a body that never ends', async () => {
    const { statusCode, body } = await request(receiver.url('bodyDrip'), { method: 'POST', body: BODY });
    assert.equal(statusCode, 200);
    let bytes = 0;
    for await (const chunk of body) {
      bytes += chunk.length;
      if (bytes >= 20) break;
    }
    assert.ok(bytes < 100);
  });

  it('endlessBody answers 200 with a body that never ends', async () => {
    const { statusCode, body } = await request(receiver.url('endlessBody'), { method: 'POST', body: BODY });
    assert.equal(statusCode, 200);
    let bytes = 0;
    for await (const chunk of body) {
      bytes += chunk.length;
      // More than hugeBody sends, so that the two cannot be confused.
      if (bytes > 60_000_000) break;
    }
    assert.ok(bytes > 60_000_000);
  });

  it('hugeBody answers 200 with 50 MiB', async () => {
    const { statusCode, headers, body } = await request(receiver.url('hugeBody'), { method: 'POST', body: BODY });
    assert.equal(statusCode, 200);
    let bytes = 0;
    for await (const chunk of body) bytes += chunk.length;
    assert.equal(bytes, 50 * 1024 * 1024);
    assert.equal(headers['content-length'], String(bytes));
  });

  it('gzipBomb is small on the wire and huge when inflated', async () => {
    const { statusCode, headers, body } = await request(receiver.url('gzipBomb'), { method: 'POST', body: BODY });
    assert.equal(statusCode, 200);
    assert.equal(headers['content-encoding'], 'gzip');
    const packed = Buffer.from(await body.arrayBuffer());
    assert.ok(packed.length < 1_200_000);
    let bytes = 0;
    const gunzip = createGunzip();
    gunzip.end(packed);
    for await (const chunk of gunzip) {
      bytes += chunk.length;
      // Only the beginning, because all of it takes 4 s.
      if (bytes > 200_000_000) break;
    }
    assert.ok(bytes > 200_000_000);
  });

  it('resetAfterHeaders answers 200 and resets the connection during the body', async () => {
    const { status, error, isReset } = await post('resetAfterHeaders');
    assert.equal(status, 200);
    assert.equal(codeOf(error), 'ECONNRESET');
    assert.ok(isReset);
  });

  it('resetAtOnce resets the connection before the first byte', async () => {
    const { status, error, bytesRead, isReset } = await post('resetAtOnce');
    assert.equal(status, undefined);
    assert.equal(codeOf(error), 'ECONNRESET');
    assert.equal(bytesRead, 0);
    // `socket hang up`, a regular end of the connection, has the same code.
    assert.ok(isReset);
  });

  it('garbageStatusLine is rejected by both HTTP parsers', async () => {
    const { error } = await post('garbageStatusLine');
    assert.match(codeOf(error), /^HPE_/);
    await assert.rejects(
      request(receiver.url('garbageStatusLine'), { method: 'POST', body: BODY }),
      (error: Error) => error.name === 'HTTPParserError',
    );
  });

  it('closedPort refuses the connection', async () => {
    for (let n = 0; n < 3; n++) assert.equal(codeOf((await post('closedPort')).error), 'ECONNREFUSED');
    assert.equal(receiver.visits('closedPort'), 0);
  });

  it('the closed port is not assigned to another server', async () => {
    const { port } = new URL(receiver.url('closedPort'));
    const server = net.createServer().listen(Number(port), '127.0.0.1');
    const [error] = await once(server, 'error').catch((thrown: Error) => [thrown]);
    assert.equal(codeOf(error), 'EADDRINUSE');
  });

  it('unknownHost does not resolve', async () => {
    // Without a name server, the lookup fails temporarily instead of permanently.
    assert.match(codeOf((await post('unknownHost')).error), /^(ENOTFOUND|EAI_AGAIN)$/);
  });

  it('redirect answers 301 and counts the clients that follow', async () => {
    const { status, headers } = await post('redirect');
    assert.equal(status, 301);
    assert.equal(receiver.visits('redirectTarget'), 0);

    const followed = await fetch(receiver.url('redirect'), { method: 'POST', body: BODY });
    assert.equal(followed.status, 200);
    assert.equal(followed.url, headers['location']);
    assert.equal(receiver.visits('redirectTarget'), 1);
    assert.equal(receiver.visits('redirect'), 2);
  });

  for (const [behavior, expected] of [
    ['unauthorized', 401],
    ['notFound', 404],
    ['gone', 410],
  ] as const) {
    it(`${behavior} answers ${expected}`, async () => {
      assert.equal((await post(behavior)).status, expected);
    });
  }

  it('throttledSeconds, throttledDate and unavailableDate send Retry-After', async () => {
    const seconds = await post('throttledSeconds');
    assert.equal(seconds.status, 429);
    assert.equal(seconds.headers['retry-after'], '90');

    // NOW is half a second past a whole one, which an HTTP date cannot express.
    const date = 'Thu, 01 Jan 2026 12:01:31 GMT';
    const throttled = await post('throttledDate');
    assert.equal(throttled.status, 429);
    assert.equal(throttled.headers['retry-after'], date);
    const unavailable = await post('unavailableDate');
    assert.equal(unavailable.status, 503);
    assert.equal(unavailable.headers['retry-after'], date);
  });

  it('tlsSelfSigned fails only because of its signature', async () => {
    await provesTlsFault('tlsSelfSigned', {}, 'DEPTH_ZERO_SELF_SIGNED_CERT');
    await provesTlsFault('tlsSelfSigned', { ca: receiver.caPem }, 'DEPTH_ZERO_SELF_SIGNED_CERT');
    const cert = await certificateOf('tlsSelfSigned');
    const trusting = await post('tlsSelfSigned', { ca: cert.toString() });
    assert.equal(trusting.status, 200);
  });

  it('tlsExpired fails only because of its date', async () => {
    await provesTlsFault('tlsExpired', { ca: receiver.caPem }, 'CERT_HAS_EXPIRED');
    const cert = await certificateOf('tlsExpired');
    assert.ok(cert.validToDate.getTime() < Date.now());
    assert.ok(cert.checkIP('127.0.0.1'));
    assert.ok(cert.verify(new X509Certificate(receiver.caPem).publicKey));
  });

  it('tlsWrongHost fails only because of its host name', async () => {
    await provesTlsFault('tlsWrongHost', { ca: receiver.caPem }, 'ERR_TLS_CERT_ALTNAME_INVALID');
    const rightHost = await post('tlsWrongHost', { ca: receiver.caPem, servername: 'other.example' });
    assert.equal(rightHost.status, 200);
  });

  it('keepAliveClosed closes a connection on its second request, and a retry on a new one succeeds', async () => {
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
    const results = [];
    for (let n = 0; n < 3; n++) results.push(await post('keepAliveClosed', { agent }));
    agent.destroy();
    assert.deepEqual(
      results.map(({ status, reusedSocket, bytesRead }) => [status ?? 'none', reusedSocket, bytesRead > 0]),
      [
        [200, false, true],
        ['none', true, true],
        [200, false, true],
      ],
    );
    assert.equal(results[0]?.headers['connection'], 'keep-alive');
    assert.match(codeOf(results[1]?.error), /^(ECONNRESET|EPIPE)$/);
    const [first, second, third] = receiver.requests('keepAliveClosed').map(({ connection }) => connection);
    assert.equal(first, second);
    assert.notEqual(second, third);
  });

  it('keepAliveClosed looks like a lost connection to undici', async () => {
    const client = new Client(new URL(receiver.url('keepAliveClosed')).origin);
    const send = async () => {
      const { statusCode, body } = await client.request({ method: 'POST', path: '/keepAliveClosed', body: BODY });
      await body.dump();
      return statusCode;
    };
    assert.equal(await send(), 200);
    await assert.rejects(send(), (error: Error) => /^(UND_ERR_SOCKET|ECONNRESET|EPIPE)$/.test(codeOf(error)));
    assert.equal(await send(), 200);
    await client.close();
  });

  it('loginPage answers 200 with HTML', async () => {
    const { status, headers, text } = await post('loginPage');
    assert.equal(status, 200);
    assert.match(String(headers['content-type']), /^text\/html/);
    assert.match(text, /^<!doctype html>[\s\S]*type="password"/);
  });

  it('n8nTestUrl answers like n8n', async () => {
    const { pathname } = new URL(receiver.url('n8nTestUrl'));
    const { status, text } = await post('n8nTestUrl');
    assert.match(pathname, /^\/webhook-test\/[-0-9a-f]{36}$/);
    assert.equal(status, 404);
    const { code, message, hint } = JSON.parse(text);
    assert.equal(code, 404);
    assert.equal(message, `The requested webhook "${pathname.split('/').pop()}" is not registered.`);
    assert.match(hint, /^Click the 'Execute workflow' button/);
    assert.equal(receiver.visits('n8nTestUrl'), 1);
  });
});

interface Result {
  readonly status: number | undefined;
  readonly headers: http.IncomingHttpHeaders;
  readonly text: string;
  readonly error: Error | undefined;
  /** Bytes received on the connection for all its requests. */
  readonly bytesRead: number;
  readonly reusedSocket: boolean;
  /** The connection ended by RST, not by FIN. */
  readonly isReset: boolean;
}

const post = (behavior: Behavior, options: https.RequestOptions = {}) => attempt(receiver.url(behavior), options);

/** One request as seen by Node's own client, with every outcome as a value. */
function attempt(url: string, options: https.RequestOptions = {}): Promise<Result> {
  return new Promise((resolve) => {
    let status: number | undefined;
    let headers: http.IncomingHttpHeaders = {};
    let text = '';
    let socket: net.Socket | undefined;
    let isReset = false;
    const finish = (error?: Error) =>
      resolve({
        status,
        headers,
        text,
        error,
        bytesRead: socket?.bytesRead ?? 0,
        reusedSocket: sent.reusedSocket,
        isReset,
      });
    const { request: start } = url.startsWith('https:') ? https : http;
    const sent = start(url, { method: 'POST', agent: false, ...options }, (response) => {
      status = response.statusCode;
      headers = response.headers;
      response.setEncoding('utf8');
      response.on('data', (part: string) => {
        text += part;
      });
      response.on('error', finish);
      response.on('end', () => finish());
    });
    sent.on('socket', (assigned) => {
      socket = assigned;
      // Registered before the listener of the client, which ends the request with this error or, during the body, with
      // its own.
      assigned.prependListener('error', (error) => {
        isReset = codeOf(error) === 'ECONNRESET' && 'syscall' in error;
      });
    });
    sent.on('error', finish);
    sent.end(BODY);
  });
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : `no code: ${error}`;
}

/** The fault shows, no request gets through, and only the certificate check prevents it. */
async function provesTlsFault(behavior: Behavior, options: https.RequestOptions, code: string): Promise<void> {
  const visits = receiver.visits(behavior);
  assert.equal(codeOf((await post(behavior, options)).error), code);
  assert.equal(receiver.visits(behavior), visits);
  assert.equal((await post(behavior, { ...options, rejectUnauthorized: false })).status, 200);
  assert.equal(receiver.visits(behavior), visits + 1);
}

async function certificateOf(behavior: Behavior): Promise<X509Certificate> {
  const { port } = new URL(receiver.url(behavior));
  const socket = tls.connect({ host: '127.0.0.1', port: Number(port), rejectUnauthorized: false });
  await once(socket, 'secureConnect');
  const certificate = socket.getPeerX509Certificate();
  socket.destroy();
  assert.ok(certificate);
  return certificate;
}

async function connectRaw(url: string): Promise<net.Socket> {
  const socket = net.connect(Number(new URL(url).port), '127.0.0.1');
  await once(socket, 'connect');
  return socket;
}

async function openRaw(url: string): Promise<net.Socket> {
  const socket = await connectRaw(url);
  socket.write(`POST ${new URL(url).pathname} HTTP/1.1\r\nHost: test\r\nContent-Length: 0\r\n\r\n`);
  return socket;
}

async function readRaw(behavior: Behavior, bytes: number): Promise<string> {
  const socket = await openRaw(receiver.url(behavior));
  let text = '';
  for await (const chunk of socket) {
    text += chunk;
    if (text.length >= bytes) break;
  }
  return text;
}

/** The resources that would keep the process alive: servers, connections, timers. */
function openResources(): string[] {
  return process.getActiveResourcesInfo().filter((kind) => /TCP|TLS|Timeout|Pipe/.test(kind));
}
