import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type Fields, isFields } from '../../objects.ts';
import { badRequest, unauthorized, WahaError, wahaErrorOf } from './wahaErrors.ts';
import { type Answer, type Call, type Parts, routes } from './wahaRoutes.ts';
import { EVENTS_PATH, SERVED } from './wahaTargets.ts';

/* The HTTP side: finds the route, checks the key, reads the body within limits, and answers as WAHA does. */

/** A file of 100 MB in base64, and its other fields. */
const MAX_BODY_BYTES = 140 * 1024 * 1024;
/** Bodies in memory at the same time. */
const MAX_BODIES_BYTES = 2 * MAX_BODY_BYTES;
const MAX_JSON_DEPTH = 20;

interface Options {
  readonly parts: Parts;
  readonly apiKey: string;
  readonly onError: (error: unknown) => void;
}

const table = Object.entries(routes).map(([route, run]) => {
  const [method = '', path = ''] = route.split(' ');
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  return { method, pattern: new RegExp(`^${path.replace(/\{\w+\}/g, '([^/]+)')}/?$`), names, run };
});

export function createWahaListener({ parts, apiKey, onError }: Options): RequestListener {
  let bodiesBytes = 0;

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://localhost');
    const { pathname } = url;
    if (pathname.startsWith(EVENTS_PATH)) return receive(pathname, request, response);
    // Without a key, as in WAHA: container health checks call it.
    if (pathname === '/ping') return send(response, { status: 200, json: { message: 'pong' } });
    if (!isKey(request.headers['x-api-key'] ?? url.searchParams.get('x-api-key'), apiKey)) throw unauthorized();
    const found = routeOf(request.method ?? '', pathname);
    const wantsJson = /\bapplication\/json\b/.test(request.headers.accept ?? '');
    const run = (body: Fields) => found.run({ path: found.path, query: url.searchParams, body, wantsJson }, parts);
    if (request.method === 'GET') return send(response, await run({}));
    let size = 0;
    try {
      const body = await readJson(request, (bytes) => {
        size += bytes;
        bodiesBytes += bytes;
        if (size > MAX_BODY_BYTES) throw new WahaError(413, 'request entity too large');
        if (bodiesBytes > MAX_BODIES_BYTES)
          throw new WahaError(503, 'Too many files at the same time', { retryAfterSeconds: 5 });
      });
      return await send(response, await run(body));
    } finally {
      bodiesBytes -= size;
    }
  }

  async function receive(pathname: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const handle = parts.targets.handlerOf(pathname);
    if (handle === undefined) throw new WahaError(404, 'Unknown receiver');
    // Only those who know the path get here.
    if (request.method === 'GET') return send(response, { status: 200, json: SERVED });
    await handle(request, response);
  }

  return (request, response) => {
    answer(request, response).catch((error: unknown) => {
      const known = wahaErrorOf(error);
      if (known === undefined) onError(error);
      const shown = known ?? new WahaError(500, 'Internal server error');
      if (response.headersSent) return response.destroy();
      if (!request.complete) response.setHeader('connection', 'close'); // its body is not read
      if (shown.retryAfterSeconds !== undefined) response.setHeader('retry-after', String(shown.retryAfterSeconds));
      sendJson(response, shown.status, shown.body);
    });
  };
}

function routeOf(method: string, pathname: string): { path: Call['path']; run: (typeof table)[number]['run'] } {
  for (const { method: own, pattern, names, run } of table) {
    const match = own === method ? pattern.exec(pathname) : null;
    if (match !== null)
      return { path: Object.fromEntries(names.map((name, at) => [name, decoded(match[at + 1])])), run };
  }
  throw new WahaError(404, `Cannot ${method} ${pathname}`);
}

function decoded(part = ''): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw badRequest('The path is not encoded correctly');
  }
}

/** Compares digests, which have one length. */
function isKey(given: string | string[] | null, key: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return typeof given === 'string' && timingSafeEqual(digest(given), digest(key));
}

/** @param count throws if that is too much */
async function readJson(request: IncomingMessage, count: (bytes: number) => void): Promise<Fields> {
  const chunks: Buffer[] = [];
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    count(chunk.length);
    chunks.push(chunk);
  }
  if (chunks.length === 0) return {};
  let body: unknown;
  try {
    body = JSON.parse(Buffer.concat(chunks).toString());
  } catch {
    throw badRequest('The body is not valid JSON');
  }
  if (!isFields(body)) throw badRequest('The body must be a JSON object');
  if (depthOf(body) > MAX_JSON_DEPTH) throw badRequest('The body is nested too deeply');
  return body;
}

function depthOf(value: unknown, depth = 0): number {
  if (typeof value !== 'object' || value === null || depth > MAX_JSON_DEPTH) return depth;
  return Object.values(value).reduce<number>((most, one) => Math.max(most, depthOf(one, depth + 1)), depth + 1);
}

async function send(response: ServerResponse, answer: Answer): Promise<void> {
  if ('image' in answer) {
    response.writeHead(answer.status, { 'content-type': 'image/png', 'cache-control': 'no-store' }).end(answer.image);
    return;
  }
  if (!('file' in answer)) return sendJson(response, answer.status, answer.json);
  const { headers, body } = answer.file;
  const length = headers.get('content-length');
  response.writeHead(answer.status, {
    'content-type': headers.get('content-type') ?? 'application/octet-stream',
    ...(length !== null && { 'content-length': length }),
    // A file comes from strangers. A browser that opens it must not run it here.
    'content-security-policy': 'sandbox',
    'x-content-type-options': 'nosniff',
  });
  // The types of the global stream and of Node's differ; they are the same class.
  await pipeline(body === null ? Readable.from([]) : Readable.fromWeb(body as never), response);
}

function sendJson(response: ServerResponse, status: number, json: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' });
  response.end(json === undefined ? undefined : JSON.stringify(json));
}
