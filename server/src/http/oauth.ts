import type { IncomingMessage } from 'node:http';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Buckets } from '../auth/buckets.ts';
import { networkOf } from '../auth/network.ts';
import { AppError } from '../errors.ts';
import type { Services } from '../invoke/services.ts';
import { ClientMetadataError, readClientMetadata } from '../oauth/clientMetadata.ts';
import type { OAuth } from '../oauth/oauth.ts';
import { authorizationQuery, paths, SESSION_COOKIE, tokenForm } from '../oauth/requests.ts';
import { API_PREFIX } from '../version.ts';
import { pageHeaders } from './pages/builtPage.ts';

type OAuthDeps = Pick<Services, 'settings' | 'loginLimit' | 'clock'> & { readonly oauth: OAuth };

const BODY_LIMIT_BYTES = 16 * 1024;
/** Factors of `LOGIN_RATE_LIMIT`, for the requests of one network on this node in a minute. */
const AUTHORIZATIONS_FACTOR = 10;
const TOKENS_FACTOR = 60;

/**
 * The endpoints of the OAuth server. Requests reach `oidc-provider` only through here: bounded, without the parameters
 * that this server does not need, and with the address of the server from the settings instead of from the caller.
 */
export function addOAuth(app: FastifyInstance, { oauth, settings, loginLimit, clock }: OAuthDeps): void {
  const endpoint = new Endpoint(oauth);
  const authorizations = new Buckets(settings.loginRateLimit * AUTHORIZATIONS_FACTOR, clock);
  const tokens = new Buckets(settings.loginRateLimit * TOKENS_FACTOR, clock);
  const limit = (buckets: Buckets) => async (request: FastifyRequest) => {
    const { allowed, resetSeconds } = buckets.take(networkOf(request.ip));
    if (!allowed)
      throw new AppError('rate_limited', 'Too many OAuth requests from your IP address; wait before you try again', {
        retryAfterSeconds: resetSeconds,
      });
  };

  addMetadata(app, oauth);
  app.register(async (scope) => {
    scope.setErrorHandler((error: FastifyError, _request, reply) => {
      if (error.code !== 'FST_ERR_CTP_BODY_TOO_LARGE') throw error;
      const description = `The request body is larger than ${BODY_LIMIT_BYTES / 1024} KiB`;
      return reply.code(413).send({ error: 'invalid_request', error_description: description });
    });
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: BODY_LIMIT_BYTES }, (_, body, done) =>
      done(null, body),
    );
    const authorizing = { exposeHeadRoute: false, onRequest: limit(authorizations) };
    scope.get(paths.authorization, authorizing, async (request, reply) => {
      const query = authorizationQuery(queryOf(request));
      return endpoint.answer(request, reply, { url: `${paths.authorization}?${query}` });
    });
    scope.get(`${paths.authorization}/:id`, authorizing, async (request, reply) => {
      const { id } = request.params as { id: string };
      const { answer = '' } = request.query as { answer?: string };
      if (await oauth.isAnsweredBy(id, String(answer)))
        return endpoint.answer(request, reply, { url: `${paths.authorization}/${encodeURIComponent(id)}` });
      const { html, headers } = errorPage('invalid_request', 'The request has expired, or was answered elsewhere.');
      return reply.code(400).headers(headers).send(html);
    });
    for (const path of [paths.token, paths.revocation]) {
      scope.post(path, { onRequest: limit(tokens) }, async (request, reply) => {
        const form = tokenForm(new URLSearchParams(textOf(request)));
        // The library uses up the code or refresh token before it checks this.
        if (path === paths.token && form.getAll('resource').some((one) => one !== '' && one !== oauth.resource))
          return reply.code(400).header('cache-control', 'no-store').send(wrongResource(oauth.resource));
        return endpoint.answer(request, reply, { url: path, body: form.toString() });
      });
    }
    scope.post(paths.registration, { onRequest: limit(tokens) }, async (request, reply) => {
      const metadata = readRegistration(textOf(request));
      if (metadata instanceof ClientMetadataError)
        return reply.code(400).send({ error: metadata.code, error_description: metadata.message });
      await loginLimit.takeClientRegistration(request.ip);
      return endpoint.answer(request, reply, { url: paths.registration, body: JSON.stringify(metadata) });
    });
  });
}

function addMetadata(app: FastifyInstance, oauth: OAuth): void {
  const send = (document: object) => async (_: FastifyRequest, reply: FastifyReply) =>
    reply.header('cache-control', 'public, max-age=300').send(document);
  app.get('/.well-known/oauth-authorization-server', send(oauth.authorizationServer()));
  for (const path of ['', `${API_PREFIX}/mcp`])
    app.get(`/.well-known/oauth-protected-resource${path}`, send(oauth.protectedResource()));
}

const wrongResource = (resource: string) => ({
  error: 'invalid_target',
  error_description: `The only resource is ${resource}`,
});

interface Forwarded {
  readonly url: string;
  readonly body?: string;
}

/** Passes requests to the library. */
class Endpoint {
  readonly #oauth: OAuth;

  constructor(oauth: OAuth) {
    this.#oauth = oauth;
  }

  async answer(request: FastifyRequest, reply: FastifyReply, { url, body }: Forwarded): Promise<FastifyReply> {
    const provider = await this.#oauth.provider(errorPage);
    const { host, protocol } = new URL(this.#oauth.issuer);
    const { cookie, 'content-type': type, accept = '' } = request.headers;
    const isPage = body === undefined;
    const headers = {
      host,
      'x-forwarded-proto': protocol.slice(0, -1),
      'x-forwarded-for': request.ip,
      accept: isPage ? accept : 'application/json',
      ...(isPage && cookie !== undefined && { cookie: withoutSession(cookie) }),
      ...(!isPage && type !== undefined && { 'content-type': type }),
      ...(!isPage && { 'content-length': String(Buffer.byteLength(body)) }),
    };
    reply.hijack();
    // Those of the server's hooks.
    for (const [name, value] of Object.entries(reply.getHeaders()))
      if (value !== undefined) reply.raw.setHeader(name, value);
    reply.raw.setHeader('cache-control', 'no-store');
    await provider.callback()(withRead(request.raw, { url, headers, body }), reply.raw);
    return reply;
  }
}

/** Without the session of the library, which a logout from the dashboard would not end. */
const withoutSession = (cookie: string) =>
  cookie
    .split(';')
    .filter((pair) => !pair.trim().startsWith(SESSION_COOKIE))
    .join(';');

/** A request whose body has been read, and whose headers are replaced. */
function withRead(
  raw: IncomingMessage,
  { url, headers, body = '' }: { url: string; headers: Record<string, string>; body: string | undefined },
): IncomingMessage {
  const chunks = body === '' ? [] : [Buffer.from(body)];
  return Object.create(raw, {
    url: { value: url, writable: true },
    headers: { value: headers },
    readable: { value: true },
    readableEncoding: { value: null },
    iterator: {
      value: async function* () {
        yield* chunks;
      },
    },
  });
}

const queryOf = ({ url }: FastifyRequest) => new URL(url, 'http://localhost').searchParams;

const textOf = ({ body }: FastifyRequest) => (Buffer.isBuffer(body) ? body.toString() : '');

function readRegistration(text: string): object {
  try {
    return readClientMetadata(JSON.parse(text));
  } catch (error) {
    if (error instanceof ClientMetadataError) return error;
    return new ClientMetadataError('invalid_client_metadata', 'The request body is not valid JSON');
  }
}

/** For people whose request cannot go back to the app. Its texts may come from strangers. */
function errorPage(title: string, detail: string) {
  const html = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>Switchboard</title></head>
<body>
  <h1>The app could not be connected</h1>
  <p>${escaped(detail)} (<code>${escaped(title)}</code>)</p>
  <p>Go back to the app, and connect it again.</p>
</body>
</html>
`;
  return { html, headers: pageHeaders() };
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
const escaped = (text: string) => text.slice(0, 500).replace(/[&<>"']/g, (char) => ENTITIES[char] ?? '');
