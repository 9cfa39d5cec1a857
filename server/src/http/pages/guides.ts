import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { addBuiltFiles, builtFiles, FOREVER, HOUR } from './builtFiles.ts';
import { pageHeaders, sendPlainPage } from './builtPage.ts';

/** The documentation, which `npm run docs` builds from `docs/`. */
const SITE_DIST = fileURLToPath(new URL('../../../../site/dist/', import.meta.url));
const PREFIX = '/docs/guides/';

/**
 * Serves the documentation that was built on install: the guides below `/docs/guides/` and the list of errors at
 * `/docs/errors`. Without a build, both answer 404 and explain how to create one.
 */
export async function addGuides(app: FastifyInstance, dist = SITE_DIST): Promise<void> {
  const files = globSync('**/*.html', { cwd: dist, exclude: ['404.html', 'errors.html'] });
  const pages = new Set(files.map((file) => file.replace(/\.html$/, '')));
  if (pages.size === 0) {
    const refuse = async (_: unknown, reply: FastifyReply) => sendPlainPage(reply, 404, notBuilt);
    for (const path of ['/docs/errors', '/docs/guides', `${PREFIX}*`]) app.get(path, refuse);
    return;
  }

  addBuiltFiles(app, `${PREFIX}assets/`, builtFiles(join(dist, 'assets'), FOREVER)); // their names contain a hash
  addBuiltFiles(app, `${PREFIX}pictures/`, builtFiles(join(dist, 'pictures'), HOUR));
  const sendPage = builtFiles(dist);
  const notFound = readFileSync(join(dist, '404.html'), 'utf8');
  const send = (request: FastifyRequest, reply: FastifyReply, page: string) =>
    sendPage(request, reply.headers(pageHeaders()), `${page}.html`);
  app.get('/docs/errors', async (request, reply) => send(request, reply, 'errors'));
  app.get('/docs/guides', async (_, reply) => reply.redirect(PREFIX, 301));
  app.get<{ Params: { '*': string } }>(`${PREFIX}*`, async (request, reply) => {
    const page = request.params['*'] || 'index';
    if (pages.has(page)) return send(request, reply, page);
    const other = page.replace(/(\.md|\.html|\/)$/, '');
    if (pages.has(other)) return reply.redirect(PREFIX + (other === 'index' ? '' : other), 301);
    return sendPlainPage(reply, 404, notFound);
  });
}

const notBuilt = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>Switchboard documentation</title></head>
<body>
  <h1>The documentation has not been built</h1>
  <p>To build it: <code>npm run docs</code>, then start the server again.</p>
  <p><a href="/docs">API reference</a></p>
</body>
</html>
`;
