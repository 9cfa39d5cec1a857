import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { json, text } from 'node:stream/consumers';
import { portOf } from '../../../server/test/support/connections/listening.ts';

/*
 * A receiver of webhooks that counts requests: `GET /count` returns the counts. `POST /behave` sets how it answers from
 * now on, and starts the counts again. `GET /sample` returns the first request after that, even one that it holds.
 */
interface Behavior {
  readonly status: number;
  readonly delayMs: number;
  /** Leaves requests without an answer, and does not count them. */
  readonly holds: boolean;
}
let behavior: Behavior = { status: 200, delayMs: 0, holds: false };
/** `retries`: requests that were not the first attempt of their delivery. Times are in ms since the epoch. */
const none = { count: 0, retries: 0, firstAt: 0, lastAt: 0 };
let counts = { ...none };
let sample: { readonly headers: IncomingMessage['headers']; readonly body: string } | undefined;
let isSampled = false;

const server = createServer((request, response) => {
  if (request.url === '/count') return void response.end(JSON.stringify(counts));
  if (request.url === '/behave') return void behave(request, response);
  if (request.url === '/sample') return void response.end(JSON.stringify(sample ?? null));
  if (isSampled) request.resume();
  else void take(request);
  request.on('end', () => receive(request, response));
});

async function take(request: IncomingMessage): Promise<void> {
  isSampled = true;
  sample = { headers: request.headers, body: await text(request) };
}

function receive(request: IncomingMessage, response: ServerResponse): void {
  const { status, delayMs, holds } = behavior;
  if (holds) return;
  const at = performance.timeOrigin + performance.now();
  counts.count++;
  counts.firstAt ||= at;
  counts.lastAt = at;
  if (request.headers['x-webhook-attempt'] !== '1') counts.retries++;
  if (delayMs > 0) setTimeout(() => response.writeHead(status).end(), delayMs);
  else response.writeHead(status).end();
}

async function behave(request: IncomingMessage, response: ServerResponse): Promise<void> {
  // Sent by the benchmark in this shape.
  behavior = { status: 200, delayMs: 0, holds: false, ...((await json(request)) as Partial<Behavior>) };
  counts = { ...none };
  isSampled = false;
  response.end();
}

server.keepAliveTimeout = 0;
server.requestTimeout = 0;
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${portOf(server)}\n`);
});
process.on('SIGTERM', () => process.exit(0));
