import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

const DIST = fileURLToPath(new URL('../../../dashboard/dist/', import.meta.url));
/** The build's placeholder for the nonce of a response. */
const NONCE = '__CSP_NONCE__';
/** First segments of paths that are not pages: if nothing is found there, a browser gets an error as well. */
const NO_PAGES = ['api', 'mcp', 'health', 'ready', 'metrics', 'docs', 'openapi.json', 'assets', 'static'];

/** Sends the dashboard's page, for every address: the browser does the routing. */
export type SendPage = (reply: FastifyReply) => FastifyReply;

/**
 * Serves the dashboard that was built on install: its files below `/assets`, which never expire because their names
 * contain a hash, and one page for every address. Without a build, the page explains how to create one.
 */
export async function addDashboard(app: FastifyInstance, dist = DIST): Promise<SendPage> {
  const page = join(dist, 'index.html');
  if (!existsSync(page)) {
    const send: SendPage = (reply) =>
      reply.code(503).type('text/html; charset=utf-8').header('content-security-policy', policy('')).send(notBuilt);
    app.get('/', async (_, reply) => send(reply));
    return send;
  }

  const html = readFileSync(page, 'utf8');
  await app.register(fastifyStatic, {
    root: join(dist, 'assets'),
    prefix: '/assets/',
    decorateReply: false,
    index: false,
    preCompressed: true,
    immutable: true,
    maxAge: '365d',
  });
  // Files without a hash in their name: the icon, and the script that runs before the first paint.
  await app.register(fastifyStatic, {
    root: join(dist, 'static'),
    prefix: '/static/',
    decorateReply: false,
    index: false,
    preCompressed: true,
    maxAge: '1h',
  });

  const send: SendPage = (reply) => {
    const nonce = randomBytes(16).toString('base64');
    return reply
      .type('text/html; charset=utf-8')
      .headers({
        'content-security-policy': policy(nonce),
        'cache-control': 'no-cache',
        'referrer-policy': 'same-origin',
        'cross-origin-opener-policy': 'same-origin',
        'permissions-policy': 'camera=(), microphone=(), geolocation=(), payment=(), usb=()',
        'x-frame-options': 'DENY',
      })
      .send(html.replaceAll(NONCE, nonce));
  };
  app.get('/', async (_, reply) => send(reply));
  return send;
}

/** Whether a browser requests an address that may be one of the dashboard. */
export function isPageRequest({ method, url, headers }: FastifyRequest): boolean {
  if (method !== 'GET' && method !== 'HEAD') return false;
  const [, first = ''] = /^\/([^/?#]*)/.exec(url) ?? [];
  return !NO_PAGES.includes(first) && (headers.accept ?? '').includes('text/html');
}

/**
 * Allows only resources of this server and no inline scripts. The nonce is for style sheets that an open dialog adds
 * (to keep the page behind it from scrolling).
 */
function policy(nonce: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self'${nonce && ` 'nonce-${nonce}'`}`,
    "img-src 'self' data: blob:",
    "media-src 'self' blob:",
    "font-src 'self'",
    "connect-src 'self'",
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ');
}

const notBuilt = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>Switchboard</title></head>
<body>
  <h1>The dashboard has not been built</h1>
  <p>The server runs; its API answers below <code>/api/v1</code>. To build the dashboard: <code>npm run build -w dashboard</code>, then start the server again.</p>
  <p><a href="/docs">API reference</a></p>
</body>
</html>
`;
