import { join } from 'node:path';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { addBuiltFiles, builtFiles, FOREVER, HOUR } from './builtFiles.ts';
import { DASHBOARD_DIST, readBuiltPage, type SendPage, sendPlainPage } from './builtPage.ts';

/** First segments of paths that are not pages: if nothing is found there, a browser gets an error as well. */
const NO_PAGES = [
  '.well-known',
  'api',
  'mcp',
  'oauth',
  'health',
  'ready',
  'metrics',
  'docs',
  'openapi.json',
  'assets',
  'static',
];

/**
 * Serves the dashboard that was built on install: its files below `/assets`, which never expire because their names
 * contain a hash, and one page for every address, because the browser does the routing. Without a build, the page
 * explains how to create one.
 */
export async function addDashboard(app: FastifyInstance, dist = DASHBOARD_DIST): Promise<SendPage> {
  const built = readBuiltPage(dist, 'index.html');
  const send: SendPage = built ?? ((reply) => sendPlainPage(reply, 503, notBuilt));
  app.get('/', async (_, reply) => send(reply));
  // The API reference was a page of the dashboard. Browsers keep the fragment, which names the operation.
  app.get('/reference', async (_, reply) => reply.redirect('/docs', 301));
  if (built !== undefined) addFiles(app, dist);
  return send;
}

function addFiles(app: FastifyInstance, dist: string): void {
  addBuiltFiles(app, '/assets/', builtFiles(join(dist, 'assets'), FOREVER));
  // Files without a hash in their name: the icon, and the script that runs before the first paint.
  addBuiltFiles(app, '/static/', builtFiles(join(dist, 'static'), HOUR));
}

/** Whether a browser requests an address that may be one of the dashboard. */
export function isPageRequest({ method, url, headers }: FastifyRequest): boolean {
  if (method !== 'GET' && method !== 'HEAD') return false;
  const [, first = ''] = /^\/([^/?#]*)/.exec(url) ?? [];
  return !NO_PAGES.includes(first) && (headers.accept ?? '').includes('text/html');
}

const notBuilt = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>Switchboard</title></head>
<body>
  <h1>The dashboard has not been built</h1>
  <p>The server runs; its API answers below <code>/api/v1</code>. To build the dashboard: <code>npm run build -w dashboard</code>, then start the server again.</p>
  <p><a href="/openapi.json">API description</a></p>
</body>
</html>
`;
