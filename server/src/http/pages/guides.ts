import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance, FastifyReply } from 'fastify';
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

  await addFiles(app, dist);
  const notFound = readFileSync(join(dist, '404.html'), 'utf8');
  const send = (reply: FastifyReply, page: string) =>
    reply.headers(pageHeaders()).sendFile(`${page}.html`, { cacheControl: false });
  app.get('/docs/errors', async (_, reply) => send(reply, 'errors'));
  app.get('/docs/guides', async (_, reply) => reply.redirect(PREFIX, 301));
  app.get<{ Params: { '*': string } }>(`${PREFIX}*`, async ({ params }, reply) => {
    const page = params['*'] || 'index';
    if (pages.has(page)) return send(reply, page);
    const other = page.replace(/(\.md|\.html|\/)$/, '');
    if (pages.has(other)) return reply.redirect(PREFIX + (other === 'index' ? '' : other), 301);
    return sendPlainPage(reply, 404, notFound);
  });
}

async function addFiles(app: FastifyInstance, dist: string): Promise<void> {
  // Their names contain a hash.
  await app.register(fastifyStatic, {
    root: join(dist, 'assets'),
    prefix: `${PREFIX}assets/`,
    decorateReply: false,
    index: false,
    preCompressed: true,
    immutable: true,
    maxAge: '365d',
  });
  await app.register(fastifyStatic, {
    root: join(dist, 'pictures'),
    prefix: `${PREFIX}pictures/`,
    decorateReply: false,
    index: false,
    maxAge: '1h',
  });
  // Provides `sendFile` for the pages.
  await app.register(fastifyStatic, { root: dist, serve: false, preCompressed: true });
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
