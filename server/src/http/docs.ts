import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance } from 'fastify';
import { errors } from '../errors.ts';
import { operations } from '../operations/index.ts';
import { openApiDocument } from './openapi.ts';

// Everything comes from this server. Swagger UI uses inline styles and images in data URLs.
const CONTENT_SECURITY_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** `/openapi.json`, the API reference at `/docs` and the list of errors at `/docs/errors`. */
export async function addDocs(app: FastifyInstance): Promise<void> {
  let document: string | undefined;
  // Built on the first request, because it takes a while and most servers never need it.
  const openApi = () => (document ??= JSON.stringify(openApiDocument(operations)));
  for (const path of ['/openapi.json', '/api/v1/openapi.json']) {
    app.get(path, async (_, reply) => reply.type('application/json; charset=utf-8').send(openApi()));
  }
  const pages: readonly [path: string, type: string, content: string][] = [
    ['/docs', 'text/html', referencePage],
    ['/docs/errors', 'text/html', errorsPage()],
    ['/docs/start.js', 'text/javascript', startScript],
  ];
  for (const [path, type, content] of pages) {
    app.get(path, async (_, reply) =>
      reply.type(`${type}; charset=utf-8`).header('content-security-policy', CONTENT_SECURITY_POLICY).send(content),
    );
  }
  await app.register(fastifyStatic, {
    root: dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json')),
    prefix: '/docs/assets/',
    decorateReply: false,
    index: false,
    allowedPath: (path) => /^\/(swagger-ui(-bundle)?\.(css|js)|favicon-32x32\.png)$/.test(path),
    maxAge: '1h',
  });
}

const referencePage = `<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <title>Switchboard API</title>
  <link rel="icon" href="/docs/assets/favicon-32x32.png">
  <link rel="stylesheet" href="/docs/assets/swagger-ui.css">
</head>
<body>
  <div id="reference"></div>
  <script src="/docs/assets/swagger-ui-bundle.js"></script>
  <script src="/docs/start.js"></script>
</body>
</html>
`;

// Credentials stay in the page's memory: every script of this origin could read them in localStorage.
const startScript = `localStorage.removeItem('authorized');
SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#reference',
  deepLinking: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: -1,
  persistAuthorization: false,
});
`;

function errorsPage(): string {
  const rows = Object.entries(errors).map(
    ([code, [status, title]]) =>
      `<tr id="${code}"><td><code>${code}</code></td><td>${status}</td><td>${title.replace(/`([^`]+)`/g, '<code>$1</code>')}</td></tr>`,
  );
  return `<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <title>Switchboard errors</title>
  <style>body { font: 16px/1.5 system-ui; margin: 2rem auto; max-width: 50rem; padding: 0 1rem } td { padding: .2rem 1rem .2rem 0 } :target { background: #ff06 }</style>
</head>
<body>
  <h1>Errors</h1>
  <p>Every error is a problem document (RFC 9457). Its <code>code</code> is one of the following, which never change their meaning. Its <code>detail</code> says what is wrong and what to do.</p>
  <table>${rows.join('\n')}</table>
</body>
</html>
`;
}
