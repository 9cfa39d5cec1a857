import type { FastifyInstance } from 'fastify';
import { operations } from '../../operations/index.ts';
import { openApiDocument } from '../openapi/openapi.ts';
import { DASHBOARD_DIST, readBuiltPage, sendPlainPage } from './builtPage.ts';
import { sendsCompressed } from './compressedText.ts';
import { addGuides } from './guides.ts';

/** The folders of the builds. */
interface Builds {
  readonly dashboard?: string;
  readonly site?: string;
}

/** Adds `/openapi.json`, the API reference at `/docs`, the guides and the list of errors. */
export async function addDocs(app: FastifyInstance, { dashboard = DASHBOARD_DIST, site }: Builds = {}): Promise<void> {
  const sendOpenApi = sendsCompressed('application/json; charset=utf-8', () =>
    JSON.stringify(openApiDocument(operations)),
  );
  for (const path of ['/openapi.json', '/api/v1/openapi.json']) app.get(path, sendOpenApi);
  const sendReference = readBuiltPage(dashboard, 'reference.html');
  app.get('/docs', async (_, reply) => sendReference?.(reply) ?? sendPlainPage(reply, 404, notBuilt));
  for (const path of ['/docs', '/docs/errors']) app.get(`${path}/`, async (_, reply) => reply.redirect(path, 308));
  await addGuides(app, site);
}

const notBuilt = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>Switchboard API</title></head>
<body>
  <h1>The API reference has not been built</h1>
  <p>To build it: <code>npm run build -w dashboard</code>, then start the server again. The same is in <a href="/openapi.json">openapi.json</a>.</p>
</body>
</html>
`;
