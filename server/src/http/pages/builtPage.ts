import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { FastifyReply } from 'fastify';

/** The build of the dashboard, which includes the API reference. */
export const DASHBOARD_DIST = fileURLToPath(new URL('../../../../dashboard/dist/', import.meta.url));
/** The build's placeholder for the nonce of a response. */
const NONCE = '__CSP_NONCE__';

/** Sends a page of the dashboard's build. */
export type SendPage = (reply: FastifyReply) => FastifyReply;

/** Reads a page that Vite built. Each response gets a nonce of its own. Undefined without a build. */
export function readBuiltPage(dist: string, file: string): SendPage | undefined {
  const path = join(dist, file);
  if (!existsSync(path)) return undefined;
  const html = readFileSync(path, 'utf8');
  return (reply) => {
    const nonce = randomBytes(16).toString('base64');
    return reply.headers(pageHeaders(nonce)).send(html.replaceAll(NONCE, nonce));
  };
}

/** Sends a page that needs no nonce. */
export function sendPlainPage(reply: FastifyReply, status: number, html: string): FastifyReply {
  return reply.code(status).headers(pageHeaders()).send(html);
}

/** The headers of every page. */
export function pageHeaders(nonce = ''): Record<string, string> {
  return {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': policy(nonce),
    'cache-control': 'no-cache',
    'referrer-policy': 'same-origin',
    'cross-origin-opener-policy': 'same-origin',
    'permissions-policy': 'camera=(), microphone=(), geolocation=(), payment=(), usb=()',
    'x-frame-options': 'DENY',
  };
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
    // For the worker that pages share: the script of a worker needs a policy.
    'trusted-types live-worker',
  ].join('; ');
}
