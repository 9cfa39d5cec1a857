import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import http from 'node:http';
import https from 'node:https';
import net, { type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { generate } from 'selfsigned';
import type { OutcomeClass } from '../../../src/db/tables/webhooks.ts';
import { portOf } from './listening.ts';

interface BehaviorRow {
  /** The outcome for a correct sender, given a deadline longer than `slowMs`. */
  readonly outcome: OutcomeClass;
  readonly does: string;
  /** Runs after the head of the request, before its body is read. */
  readonly arrive?: (exchange: Exchange) => void;
  /** Runs after the whole request. Rows without it fail below HTTP: nothing listens, or TLS fails. */
  readonly answer?: (exchange: Exchange) => void;
}

interface Exchange {
  readonly response: http.ServerResponse;
  readonly socket: Socket;
  readonly url: URL;
  readonly origin: string;
  readonly settings: Settings;
  /** 1 for the first request with this fault on this connection. */
  readonly requestOnConnection: number;
}

interface Settings {
  readonly slowMs: number;
  readonly dripMs: number;
  readonly retryAfterSeconds: number;
  readonly now: () => number;
}

const HUGE_BODY_BYTES = 50 * 1024 * 1024;
const BOMB_MEMBER_BYTES = 10 * 1024 * 1024;
const BOMB_MEMBERS = 100;
/**
 * Long enough for the client to have read the headers before the reset, because systems other than Linux discard unread
 * data. Short enough to happen while a sender still reads the body.
 */
const RESET_AFTER_MS = 50;
const N8N_WEBHOOK = '5e9b1c2a-7d40-4f6e-9a53-0c1d2e3f4a5b';
const REDIRECT_TARGET = '/redirect/target';
const CHUNK = Buffer.alloc(64 * 1024, 'x');

/** Every fault, with its behavior and the outcome it proves. */
export const behaviorTable = {
  slow: {
    outcome: 'ok',
    does: 'answers 200 after `slowMs`, or `?delayMs=` of the URL; a timeout for a sender whose deadline is shorter',
    answer({ response, socket, url, settings }) {
      const delayMs = Number(url.searchParams.get('delayMs') ?? settings.slowMs);
      const timer = setTimeout(() => send(response, 200), delayMs);
      socket.once('close', () => clearTimeout(timer));
    },
  },
  hanging: {
    outcome: 'timeout',
    does: 'reads the request and never answers',
    answer() {},
  },
  headerDrip: {
    outcome: 'timeout',
    does: 'sends the answer’s headers one byte at a time and never comes to their end',
    answer({ socket, settings }) {
      const start = 'HTTP/1.1 200 OK\r\nX-Drip: ';
      let sent = 0;
      repeat(socket, settings.dripMs, () => socket.write(start[sent++] ?? '.'));
    },
  },
  bodyDrip: {
    outcome: 'ok',
    does: 'answers 200 with headers at once, then a body of one byte at a time that never ends',
    answer({ response, socket, settings }) {
      response.writeHead(200, { 'content-type': 'text/plain' }).flushHeaders();
      repeat(socket, settings.dripMs, () => response.write('.'));
    },
  },
  endlessBody: {
    outcome: 'ok',
    does: 'answers 200 with a body that comes as fast as it is read and never ends',
    answer({ response }) {
      response.writeHead(200, { 'content-type': 'application/octet-stream' });
      writeBody(response, Number.POSITIVE_INFINITY);
    },
  },
  hugeBody: {
    outcome: 'ok',
    does: 'answers 200 with a body of 50 MiB',
    answer({ response }) {
      response.writeHead(200, { 'content-type': 'application/octet-stream', 'content-length': HUGE_BODY_BYTES });
      writeBody(response, HUGE_BODY_BYTES);
    },
  },
  gzipBomb: {
    outcome: 'ok',
    does: 'answers 200 with 1 MB of gzip that inflates to 1 GiB',
    answer({ response }) {
      send(response, 200, gzipBomb(), { 'content-type': 'application/json', 'content-encoding': 'gzip' });
    },
  },
  resetAfterHeaders: {
    outcome: 'ok',
    does: 'answers 200 with headers that announce a body, then resets the connection (RST)',
    answer({ response, socket }) {
      response.writeHead(200, { 'content-length': 1000 }).flushHeaders();
      const timer = setTimeout(() => socket.resetAndDestroy(), RESET_AFTER_MS);
      socket.once('close', () => clearTimeout(timer));
    },
  },
  resetAtOnce: {
    outcome: 'reset',
    does: 'reads the request and resets the connection (RST) before any byte of an answer',
    answer({ socket }) {
      socket.resetAndDestroy();
    },
  },
  garbageStatusLine: {
    outcome: 'protocol',
    does: 'answers something that is not HTTP and ends the connection',
    answer({ socket }) {
      socket.end('BANANA 200 ripe\r\nContent-Length: 0\r\n\r\n');
    },
  },
  unaskedUpgrade: {
    outcome: 'protocol',
    does: 'answers 101 Switching Protocols with an `Upgrade` header, which nobody had asked for',
    answer({ socket }) {
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n');
    },
  },
  bareUpgrade: {
    outcome: 'protocol',
    does: 'answers 101 Switching Protocols and does not say to which',
    answer({ socket }) {
      socket.write('HTTP/1.1 101 Switching Protocols\r\n\r\n');
    },
  },
  unaskedContinue: {
    outcome: 'protocol',
    does: 'answers 100 Continue, which nobody had asked for, and nothing more',
    answer({ socket }) {
      socket.write('HTTP/1.1 100 Continue\r\n\r\n');
    },
  },
  impossibleStatus: {
    outcome: 'protocol',
    does: 'answers with the status 099',
    answer({ socket }) {
      socket.write('HTTP/1.1 099 What\r\n\r\n');
    },
  },
  closedPort: {
    outcome: 'connect',
    does: 'a port on which nothing listens: connections are refused',
  },
  unknownHost: {
    outcome: 'dns',
    does: 'a host name under .invalid, which never exists (RFC 6761, section 6.4)',
  },
  redirect: {
    outcome: 'redirect',
    does: 'answers 301 to another path of the same receiver; `visits("redirectTarget")` counts who followed',
    answer({ response, origin }) {
      send(response, 301, '', { location: `${origin}${REDIRECT_TARGET}` });
    },
  },
  unauthorized: {
    outcome: 'client_error',
    does: 'answers 401',
    answer({ response }) {
      send(response, 401, '{"error":"unauthorized"}', { 'www-authenticate': 'Bearer' });
    },
  },
  notFound: {
    outcome: 'client_error',
    does: 'answers 404',
    answer({ response }) {
      send(response, 404, '{"error":"not found"}');
    },
  },
  gone: {
    outcome: 'gone',
    does: 'answers 410',
    answer({ response }) {
      send(response, 410, '{"error":"gone"}');
    },
  },
  throttledSeconds: {
    outcome: 'throttled',
    does: 'answers 429 with `Retry-After` in seconds',
    answer({ response, settings }) {
      send(response, 429, '{"error":"slow down"}', { 'retry-after': String(settings.retryAfterSeconds) });
    },
  },
  throttledDate: {
    outcome: 'throttled',
    does: 'answers 429 with `Retry-After` as an HTTP date',
    answer({ response, settings }) {
      send(response, 429, '{"error":"slow down"}', { 'retry-after': retryAfterDate(settings) });
    },
  },
  unavailableDate: {
    outcome: 'server_error',
    does: 'answers 503 with `Retry-After` as an HTTP date',
    answer({ response, settings }) {
      send(response, 503, '{"error":"maintenance"}', { 'retry-after': retryAfterDate(settings) });
    },
  },
  tlsSelfSigned: {
    outcome: 'tls',
    does: 'https with a self-signed certificate for localhost and 127.0.0.1',
    answer: answerOk,
  },
  tlsExpired: {
    outcome: 'tls',
    does: 'https with a certificate of the test CA for localhost and 127.0.0.1 that expired yesterday',
    answer: answerOk,
  },
  tlsWrongHost: {
    outcome: 'tls',
    does: 'https with a valid certificate of the test CA for another host, other.example',
    answer: answerOk,
  },
  keepAliveClosed: {
    outcome: 'ok',
    does: 'answers the first request of a connection and keeps it alive; closes it without an answer when the second arrives',
    arrive({ socket, requestOnConnection }) {
      if (requestOnConnection > 1) socket.destroy();
    },
    answer: answerOk,
  },
  loginPage: {
    outcome: 'ok',
    does: 'answers 200 with the HTML login page of a proxy that stands in front of the receiver',
    answer({ response }) {
      send(response, 200, LOGIN_PAGE, { 'content-type': 'text/html; charset=utf-8' });
    },
  },
  n8nTestUrl: {
    outcome: 'client_error',
    does: 'answers 404 as n8n does at a test URL (`/webhook-test/…`) whose workflow is not being tested',
    answer({ response }) {
      send(response, 404, N8N_NOT_REGISTERED, { 'content-type': 'application/json; charset=utf-8' });
    },
  },
} as const satisfies Record<string, BehaviorRow>;

export type Behavior = keyof typeof behaviorTable;

export const behaviors = Object.keys(behaviorTable) as readonly Behavior[];

/** A received request, available once its head was read. */
export interface FaultyRequest {
  readonly method: string;
  /** Including the query. */
  readonly path: string;
  readonly headers: http.IncomingHttpHeaders;
  /** The body received so far, complete if `isComplete`. */
  readonly body: string;
  readonly isComplete: boolean;
  /** Numbers the connections of the receiver. Two requests with the same number shared one. */
  readonly connection: number;
  /** Milliseconds since the Unix epoch. */
  readonly at: number;
}

export interface FaultyReceiverOptions {
  /** The delay of `slow`. */
  readonly slowMs?: number;
  /** Time between two bytes of `headerDrip` and `bodyDrip`. */
  readonly dripMs?: number;
  /** The delay in `Retry-After`. */
  readonly retryAfterSeconds?: number;
  /** The start of the dates in `Retry-After`, for a sender with its own clock. */
  readonly now?: () => number;
}

export interface FaultyReceiver extends AsyncDisposable {
  /** The URL of a fault. `delayMs` is for `slow`. */
  url(behavior: Behavior, options?: { delayMs?: number }): string;
  /** The number of requests. 0 if TLS failed, because no request may follow. */
  visits(behavior: Behavior | 'redirectTarget'): number;
  requests(behavior: Behavior | 'redirectTarget'): readonly FaultyRequest[];
  /** The certificate (PEM) that signed those of `tlsExpired` and `tlsWrongHost`, for a client that should trust it. */
  readonly caPem: string;
  /** Ends every connection and timer immediately. Calling it twice is harmless. */
  close(): Promise<void>;
}

/** A webhook receiver with every fault that a sender must distinguish, one URL per fault. */
export async function startFaultyReceiver(options: FaultyReceiverOptions = {}): Promise<FaultyReceiver> {
  const settings: Settings = { slowMs: 200, dripMs: 20, retryAfterSeconds: 2, now: Date.now, ...options };
  const received = new Map<string, MutableRequest[]>();
  const connections = new WeakMap<Socket, Connection>();
  const sockets = new Set<Socket>();
  let connectionCount = 0;

  function onRequest(request: http.IncomingMessage, response: http.ServerResponse): void {
    const { socket } = request;
    const connection = connections.get(socket) ?? { number: ++connectionCount, requests: new Map<string, number>() };
    connections.set(socket, connection);
    const url = new URL(request.url ?? '/', `http://${request.headers.host}`);
    const name = nameOf(url.pathname);
    const entry: MutableRequest = {
      method: request.method ?? '',
      path: url.pathname + url.search,
      headers: request.headers,
      body: '',
      isComplete: false,
      connection: connection.number,
      at: Date.now(),
    };
    listOf(name).push(entry);
    const requestOnConnection = (connection.requests.get(name) ?? 0) + 1;
    connection.requests.set(name, requestOnConnection);

    const row: BehaviorRow | undefined = isBehavior(name) ? behaviorTable[name] : undefined;
    const exchange = { response, socket, url, origin, settings, requestOnConnection };
    row?.arrive?.(exchange);
    request.setEncoding('utf8');
    request.on('data', (text: string) => {
      entry.body += text;
    });
    request.on('end', () => {
      entry.isComplete = true;
      if (socket.destroyed) return;
      if (row?.answer) row.answer(exchange);
      else if (name === 'redirectTarget') send(response, 200);
      else send(response, 501, `no behavior at ${url.pathname}`);
    });
  }

  function listOf(name: string): MutableRequest[] {
    const known = received.get(name) ?? [];
    received.set(name, known);
    return known;
  }

  async function listen(server: http.Server | https.Server): Promise<number> {
    // No timer of the server may end a connection, because that would be an unintended fault.
    server.keepAliveTimeout = 0;
    server.headersTimeout = 0;
    server.requestTimeout = 0;
    // http.Server counts only connections on which HTTP has begun; one in its TLS handshake would outlive close().
    server.on('connection', (socket: Socket) => {
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return portOf(server);
  }

  const certificates = await makeCertificates();
  const servers = {
    plain: http.createServer(onRequest),
    tlsSelfSigned: https.createServer(certificates.selfSigned, onRequest),
    tlsExpired: https.createServer(certificates.expired, onRequest),
    tlsWrongHost: https.createServer(certificates.wrongHost, onRequest),
  };
  const origin = `http://127.0.0.1:${await listen(servers.plain)}`;
  const portHolder = await holdPort(Number(new URL(origin).port));
  const origins: Partial<Record<Behavior, string>> = {
    tlsSelfSigned: `https://127.0.0.1:${await listen(servers.tlsSelfSigned)}`,
    tlsExpired: `https://127.0.0.1:${await listen(servers.tlsExpired)}`,
    tlsWrongHost: `https://127.0.0.1:${await listen(servers.tlsWrongHost)}`,
    closedPort: `http://127.0.0.1:${portHolder.localPort}`,
    unknownHost: 'http://no-such-receiver.invalid',
  };

  let closed: Promise<void> | undefined;
  const close = () => {
    closed ??= Promise.all(
      Object.values(servers).map((server) => new Promise((resolve) => server.close(resolve))),
    ).then(() => {});
    portHolder.destroy();
    for (const socket of sockets) socket.destroy();
    return closed;
  };

  return {
    url(behavior, { delayMs } = {}) {
      const query = delayMs === undefined ? '' : `?delayMs=${delayMs}`;
      return `${origins[behavior] ?? origin}${pathOf(behavior)}${query}`;
    },
    visits: (name) => listOf(name).length,
    requests: (name) => listOf(name),
    caPem: certificates.caPem,
    close,
    [Symbol.asyncDispose]: close,
  };
}

type MutableRequest = { -readonly [Key in keyof FaultyRequest]: FaultyRequest[Key] };

interface Connection {
  readonly number: number;
  /** The number of requests per fault on it. */
  readonly requests: Map<string, number>;
}

const isBehavior = (name: string): name is Behavior => Object.hasOwn(behaviorTable, name);

const pathOf = (behavior: Behavior): string =>
  behavior === 'n8nTestUrl' ? `/webhook-test/${N8N_WEBHOOK}` : `/${behavior}`;

function nameOf(pathname: string): string {
  if (pathname === REDIRECT_TARGET) return 'redirectTarget';
  return behaviors.find((behavior) => pathOf(behavior) === pathname) ?? pathname;
}

function send(
  response: http.ServerResponse,
  status: number,
  body: string | Buffer = '',
  headers: http.OutgoingHttpHeaders = {},
): void {
  response
    .writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body), ...headers })
    .end(body);
}

function answerOk({ response }: Exchange): void {
  send(response, 200, '{"ok":true}');
}

/** Runs `action` every `intervalMs` as long as the connection is open. */
function repeat(socket: Socket, intervalMs: number, action: () => void): void {
  const timer = setInterval(action, intervalMs);
  socket.once('close', () => clearInterval(timer));
}

/** Writes no faster than the other side reads, so that an endless body needs no memory. */
function writeBody(response: http.ServerResponse, bytes: number): void {
  let left = bytes;
  const writeMore = () => {
    while (left > 0) {
      const chunk = CHUNK.subarray(0, left);
      left -= chunk.length;
      if (!response.write(chunk)) {
        response.once('drain', writeMore);
        return;
      }
    }
    response.end();
  };
  writeMore();
}

/** Rounded up to the whole seconds of an HTTP date, so never earlier than requested. */
function retryAfterDate({ now, retryAfterSeconds }: Settings): string {
  return new Date((Math.ceil(now() / 1000) + retryAfterSeconds) * 1000).toUTCString();
}

let bomb: Buffer | undefined;

/** A gzip file may have many members (RFC 1952, section 2.2): compressing one takes 30 ms, all of them 3 s. */
function gzipBomb(): Buffer {
  bomb ??= Buffer.concat(new Array<Buffer>(BOMB_MEMBERS).fill(gzipSync(Buffer.alloc(BOMB_MEMBER_BYTES))));
  return bomb;
}

/**
 * A port on 127.0.0.1 that refuses connections as long as the returned socket is open. It is the local end of an
 * outgoing connection, because the system could assign a port that was listened on and closed to another server.
 */
async function holdPort(peerPort: number): Promise<Socket> {
  const socket = net.connect(peerPort, '127.0.0.1');
  await once(socket, 'connect');
  return socket;
}

const DAY_MS = 86_400_000;
const LOCAL_NAMES = [
  { type: 2, value: 'localhost' },
  { type: 7, ip: '127.0.0.1' },
] as const;

async function makeCertificates() {
  // A process that trusts two with the same name would confuse them.
  const ca = await makeCertificate(`Test CA ${randomUUID()}`, { isCa: true });
  const issuer = { key: ca.key, cert: ca.cert };
  return {
    caPem: ca.cert,
    selfSigned: await makeCertificate('localhost', { altNames: LOCAL_NAMES }),
    expired: await makeCertificate('localhost', { altNames: LOCAL_NAMES, issuer, endsInDays: -1 }),
    wrongHost: await makeCertificate('other.example', { altNames: [{ type: 2, value: 'other.example' }], issuer }),
  };
}

interface CertificateOptions {
  readonly altNames?: readonly ({ type: 2; value: string } | { type: 7; ip: string })[];
  readonly isCa?: boolean;
  /** The signer; the certificate itself if omitted. */
  readonly issuer?: { key: string; cert: string };
  readonly endsInDays?: number;
}

async function makeCertificate(
  commonName: string,
  { altNames = [], isCa = false, issuer, endsInDays = 2 }: CertificateOptions,
): Promise<{ key: string; cert: string }> {
  const made = await generate([{ name: 'commonName', value: commonName }], {
    // 3 ms per certificate, while RSA, the default, takes 100 ms.
    keyType: 'ec',
    algorithm: 'sha256',
    notBeforeDate: new Date(Date.now() - 3 * DAY_MS),
    notAfterDate: new Date(Date.now() + endsInDays * DAY_MS),
    extensions: [
      { name: 'basicConstraints', cA: isCa, critical: true },
      { name: 'keyUsage', critical: true, ...(isCa ? { keyCertSign: true } : { digitalSignature: true }) },
      ...(isCa ? [] : [{ name: 'subjectAltName' as const, altNames: [...altNames] }]),
    ],
    ...(issuer && { ca: issuer }),
  });
  return { key: made.private, cert: made.cert };
}

const LOGIN_PAGE = `<!doctype html>
<html><head><title>Sign in</title></head>
<body><form method="post" action="/login">
<label>User <input name="user"></label> <label>Password <input name="password" type="password"></label>
<button>Log in</button>
</form></body></html>
`;

// The exact response of n8n.
const N8N_NOT_REGISTERED = JSON.stringify({
  code: 404,
  message: `The requested webhook "${N8N_WEBHOOK}" is not registered.`,
  hint: "Click the 'Execute workflow' button on the canvas, then try again. (In test mode, the webhook only works for one call after you click this button)",
});
