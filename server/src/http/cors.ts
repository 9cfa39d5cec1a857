import type { FastifyInstance, FastifyReply } from 'fastify';
import { API_PREFIX } from '../version.ts';

/** Paths that pages of other origins cannot call: MCP clients are programs, and the endpoint refuses foreign pages. */
const EXCLUDED = [`${API_PREFIX}/mcp`];

const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE';
/** Without the dashboard's header, so that the login cookie never counts for another origin (`auth/loginCookie.ts`). */
const HEADERS = [
  'Authorization',
  'Content-Type',
  'Content-Disposition',
  'Idempotency-Key',
  'If-None-Match',
  'If-Range',
  'Last-Event-ID',
  'Range',
  'X-API-Key',
  'X-Request-Id',
].join(', ');
/** Response headers that pages may read, besides those that browsers always show. */
const EXPOSED = [
  'Accept-Ranges',
  'Content-Disposition',
  'Content-Range',
  'Deprecation',
  'ETag',
  'Idempotency-Replayed',
  'Link',
  'RateLimit',
  'RateLimit-Policy',
  'Retry-After',
  'X-Request-Id',
].join(', ');
/** Browsers keep the answer to a preflight no longer than two hours. */
const MAX_AGE_SECONDS = 7200;

/**
 * Lets web pages of some origins call the REST API from a browser (CORS,
 * https://fetch.spec.whatwg.org/#http-cors-protocol). Each response repeats one exact origin, never `*`, and never
 * allows credentials, so browsers send no cookies.
 */
export function addCors(app: FastifyInstance, origins: readonly string[]): void {
  if (origins.length === 0) return;
  const allowed = new Set(origins);
  app.addHook('onRequest', async (request, reply) => {
    const { method, headers, url } = request;
    const path = url.split(/[?#]/, 1)[0] ?? '';
    if (!path.startsWith(`${API_PREFIX}/`) || EXCLUDED.includes(path)) return undefined;
    // Caches must not give one origin the response of another.
    reply.header('vary', 'Origin');
    const { origin } = headers;
    if (origin === undefined || !allowed.has(origin)) return undefined;
    reply.header('access-control-allow-origin', origin);
    if (method === 'OPTIONS' && headers['access-control-request-method'] !== undefined) return preflight(reply);
    reply.header('access-control-expose-headers', EXPOSED);
    return undefined;
  });
}

function preflight(reply: FastifyReply): FastifyReply {
  return reply
    .code(204)
    .headers({
      'access-control-allow-methods': METHODS,
      'access-control-allow-headers': HEADERS,
      'access-control-max-age': MAX_AGE_SECONDS,
    })
    .send();
}

/** Returns the headers that a response which bypasses Fastify has to repeat. */
export function corsHeadersOf(reply: FastifyReply): Record<string, string> {
  const set = Object.entries(reply.getHeaders()).filter(
    ([name]) => name === 'vary' || name.startsWith('access-control-'),
  );
  return Object.fromEntries(set.map(([name, value]) => [name, String(value)]));
}
