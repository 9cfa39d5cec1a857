import type { Duplex } from 'node:stream';
import Fastify, { type FastifyError, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { NodeSignatures } from '../cluster/nodeSignature.ts';
import type { Settings } from '../config.ts';
import { isInRanges } from '../egress/addressRanges.ts';
import { AppError, toProblem } from '../errors.ts';
import type { Confirmations } from '../invoke/confirmations.ts';
import type { Invoke } from '../invoke/operation.ts';
import type { Owners } from '../invoke/owners.ts';
import type { Services } from '../invoke/services.ts';
import type { ToolCalls } from '../invoke/toolCalls.ts';
import { type Log, redactUrl } from '../log.ts';
import { operations } from '../operations/index.ts';
import { API_PREFIX } from '../version.ts';
import { AnonymousConnections } from './anonymousConnections.ts';
import { Callers } from './callers.ts';
import { addCors } from './cors.ts';
import { addDiscovery } from './discovery.ts';
import { EventReaders } from './events/eventReader.ts';
import { addEventSocket, SOCKET_PATH } from './events/eventSocket.ts';
import { addStream } from './events/stream.ts';
import { Upgrades } from './events/upgrades.ts';
import { ForwardedRequests } from './forwardedRequests.ts';
import { addInbound } from './inbound.ts';
import { acceptJsonOnly, RefusedName } from './jsonBody.ts';
import { addMcp } from './mcp/mount.ts';
import { toolsetsOf } from './mcp/toolsets.ts';
import { addMediaContent } from './mediaContent.ts';
import { limitReading, UPLOAD_TIMEOUT_MS } from './mediaUpload.ts';
import { addMetrics, type MetricsOptions } from './metricsRoute.ts';
import { addOAuth } from './oauth.ts';
import { createOwnHosts } from './ownHosts.ts';
import { addDashboard, isPageRequest } from './pages/dashboard.ts';
import { addDocs } from './pages/docs.ts';
import { reportProgress } from './progress.ts';
import { addRoutes, refuseOtherMethods, sendProblem } from './routes.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    takesAnyHost?: true;
  }
}

export interface HttpDeps extends Services {
  readonly owners: Owners;
  readonly invoke: Invoke;
  readonly signatures: NodeSignatures;
  readonly confirmations: Confirmations;
  readonly toolCalls: ToolCalls;
  readonly monitoring: {
    isReady(): Promise<boolean>;
    /** Lists what the node works without; empty if nothing fails. */
    degraded(): string[];
  };
  /** Undefined if metrics are off. */
  readonly metricsOptions: MetricsOptions | undefined;
}

const BODY_LIMIT_BYTES = 1024 * 1024;
/** Connections without a credential, each of which takes a socket. Far more than a proxy opens to a node. */
const MAX_ANONYMOUS_CONNECTIONS = 500;
const REQUEST_ID = /^[\w.-]{1,100}$/;

/** The HTTP server with every route. It does not listen yet. */
export async function createServer(deps: HttpDeps): Promise<FastifyInstance> {
  const { newId, log } = deps;
  const upgrades = new Upgrades(SOCKET_PATH);
  const app = Fastify({
    http: { shouldUpgradeCallback: upgrades.isWanted },
    // `invoke` writes one line per operation; Fastify's two lines per request would add nothing.
    logger: false,
    trustProxy: trusted(deps.settings),
    requestTimeout: UPLOAD_TIMEOUT_MS,
    bodyLimit: BODY_LIMIT_BYTES,
    forceCloseConnections: 'idle',
    // `refuseWhileClosing` refuses instead, with the usual headers.
    return503OnClosing: false,
    // The operations validate ids, with their own error messages.
    routerOptions: { maxParamLength: 16_384 },
    schemaController: { compilersFactory: { buildValidator: refuseSchema, buildSerializer: refuseSchema } },
    // Errors before a route is found, and so before the hooks. A browser that requests an address that cannot be
    // decoded gets the page, as for any unknown address.
    frameworkErrors: (error, request, reply) => {
      identify(request, reply);
      return isPageRequest(request) ? sendPage(reply) : sendError(log, asAppError(error, request), request, reply);
    },
    clientErrorHandler: (error, socket) => refuseUnreadable(error, socket, newId('req')),
    genReqId: ({ headers }) => {
      const sent = headers['x-request-id'];
      return typeof sent === 'string' && REQUEST_ID.test(sent) ? sent : newId('req');
    },
  });

  const anonymous = new AnonymousConnections(MAX_ANONYMOUS_CONNECTIONS);
  watchConnections(app, anonymous, upgrades);
  const callers = new Callers(deps.authenticator, anonymous);
  const ownHosts = createOwnHosts(deps.settings);

  const forwardedRequests = new ForwardedRequests(deps.signatures, anonymous);
  acceptJsonOnly(app, forwardedRequests);
  limitReading(app);
  app.addHook('onRequest', async (request, reply) => identify(request, reply));
  addCors(app, deps.settings.corsOrigins);
  app.addHook('onRequest', async ({ headers, routeOptions }) => {
    if (!routeOptions.config.takesAnyHost) ownHosts.require(headers.host);
  });
  refuseWhileClosing(app);
  reportProgress(app);
  app.addHook('preHandler', forwardedRequests.verify);
  app.addHook('preHandler', async (request) => callers.requireOwnToken(request, forwardedRequests.has(request)));
  app.addHook('onResponse', async ({ method }, { statusCode }) =>
    deps.metrics.requests.inc({ method, status: statusCode }),
  );
  app.setErrorHandler((error: FastifyError, request, reply) =>
    sendError(log, asAppError(error, request), request, reply),
  );
  const sendPage = await addDashboard(app);
  app.setNotFoundHandler((request, reply) =>
    isPageRequest(request)
      ? sendPage(reply)
      : sendError(
          log,
          new AppError(
            'route_not_found',
            `The route ${request.method} ${pathOf(request)} does not exist; /docs lists all routes`,
          ),
          request,
          reply,
        ),
  );

  const others = refuseOtherMethods(app);
  const stopping = new AbortController();
  app.addHook('preClose', async () => stopping.abort());
  const parts = { ...deps, callers, forwardedRequests, stopping: stopping.signal };
  addRoutes(app, operations, parts);
  const readers = new EventReaders(parts);
  addStream(app, readers, parts);
  addEventSocket(app, readers, { ...parts, ownHosts, upgrades });
  addMediaContent(app, parts);
  addInbound(app, parts);
  addMcp(app, { ...parts, ownHosts, ...mcpTools(deps, readers) });
  if (deps.oauth !== undefined) addOAuth(app, { ...deps, oauth: deps.oauth });
  addDiscovery(app, { publicUrl: deps.settings.publicUrl, hasOAuth: deps.oauth !== undefined });
  addHealth(app, deps);
  if (deps.metricsOptions !== undefined) addMetrics(app, deps.metricsOptions);
  await addDocs(app);
  others.done();
  return app;
}

/** One hop: trusts what our proxy adds to the header, not what a caller wrote into it. */
function trusted({ trustProxy }: Settings): false | ((address: string, hop: number) => boolean) {
  return trustProxy && ((address, hop) => hop < 1 && (trustProxy === true || isInRanges(trustProxy, address)));
}

const mcpTools = (deps: HttpDeps, readers: EventReaders) => ({
  toolsets: toolsetsOf(operations),
  loadHandler: async () => (await import('./mcp/server.ts')).createHandler(operations, { ...deps, readers }),
});

function watchConnections(app: FastifyInstance, anonymous: AnonymousConnections, upgrades: Upgrades): void {
  const { server } = app;
  server.on('connection', anonymous.add);
  server.on('request', anonymous.watch);
  server.on('upgrade', (request, socket, head) =>
    upgrades.receive(request, socket, head, (_, response) => {
      anonymous.watch(request, response);
      app.routing(request, response);
    }),
  );
}

/** Operations validate their input and project their output, so Fastify need not load what would do it for routes. */
function refuseSchema(): never {
  throw new Error('routes have no schemas: define an operation');
}

/** Sets the headers of every response. */
function identify(request: FastifyRequest, reply: FastifyReply): void {
  reply.header('x-request-id', request.id);
  reply.header('x-content-type-options', 'nosniff');
  // Responses to credentials must not be cached, including errors. Files set their own header.
  const { url = API_PREFIX } = request.routeOptions;
  if (url.startsWith(API_PREFIX)) reply.header('cache-control', 'no-store');
}

/** A request on an open connection should go to another node, or be repeated once the server is back. */
function refuseWhileClosing(app: FastifyInstance): void {
  let isClosing = false;
  app.addHook('preClose', async () => {
    isClosing = true;
  });
  app.addHook('onRequest', async (_, reply) => {
    if (!isClosing) return;
    reply.header('connection', 'close');
    throw new AppError('shutting_down');
  });
}

/** Writes an error as a problem document, and logs errors that occur before an operation. */
function sendError(log: Log, error: unknown, request: FastifyRequest, reply: FastifyReply) {
  const problem = toProblem(error, request.id);
  const line = {
    requestId: request.id,
    method: request.method,
    url: redactUrl(request.url),
    status: problem.status,
    code: problem.code,
  };
  if (problem.status >= 500 && problem.status !== 503) log.error({ ...line, err: error }, 'request');
  else log.info(line, 'request');
  return sendProblem(reply, problem, error instanceof AppError ? error.retryAfterSeconds : undefined);
}

/** Answers invalid HTTP and too large headers. There is no request object, and the connection must close. */
function refuseUnreadable({ code }: Error & { code?: string }, socket: Duplex, requestId: string): void {
  if (code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const error =
    code === 'HPE_HEADER_OVERFLOW'
      ? new AppError('payload_too_large', 'The URL and the headers are larger than 16 KiB')
      : new AppError('validation_failed', 'The request is not valid HTTP or could not be read');
  const body = JSON.stringify(toProblem(error, requestId));
  const head = [
    `HTTP/1.1 ${error.status} ${error.status === 413 ? 'Payload Too Large' : 'Bad Request'}`,
    'content-type: application/problem+json',
    `content-length: ${Buffer.byteLength(body)}`,
    `x-request-id: ${requestId}`,
    'x-content-type-options: nosniff',
    'connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}

function asAppError(error: FastifyError, request: FastifyRequest): unknown {
  if (error instanceof AppError) return error;
  if (error.code === 'FST_ERR_CTP_BODY_TOO_LARGE')
    return new AppError(
      'payload_too_large',
      `The request body is larger than ${request.routeOptions.bodyLimit / 1024} KiB`,
    );
  if (error.code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') {
    return new AppError('unsupported_media_type', 'The request body must be JSON; send Content-Type: application/json');
  }
  if (error instanceof RefusedName) return new AppError('invalid_json', error.message, { cause: error });
  if (error.code === 'FST_ERR_CTP_INVALID_JSON_BODY' || (error instanceof SyntaxError && error.statusCode === 400)) {
    return new AppError('invalid_json', 'The request body is not valid JSON; check its quotes, commas and brackets', {
      cause: error,
    });
  }
  if (error.code === 'FST_ERR_BAD_URL') {
    return new AppError(
      'validation_failed',
      'The path has an invalid percent-encoding; encode it as UTF-8, such as %C3%A9 for é',
      { cause: error },
    );
  }
  if (error.statusCode !== undefined && error.statusCode < 500) {
    return new AppError('validation_failed', 'The request is not valid HTTP or could not be read', { cause: error });
  }
  return error;
}

function pathOf(request: FastifyRequest): string {
  return request.url.split(/[?#]/, 1)[0] ?? ''; // the router treats both as the start of the query
}

function addHealth(app: FastifyInstance, { monitoring }: HttpDeps): void {
  const health = async (_: FastifyRequest, reply: FastifyReply) =>
    reply.header('cache-control', 'no-store').send({ status: 'ok' });
  const ready = async (_: FastifyRequest, reply: FastifyReply) => {
    const isUp = await monitoring.isReady();
    const degraded = monitoring.degraded();
    return reply
      .header('cache-control', 'no-store')
      .code(isUp ? 200 : 503)
      .send({
        status: isUp ? 'ready' : 'not_ready',
        // The node works without them: by polling, or except for the calls that need them. So it stays ready.
        ...(degraded.length > 0 && { degraded }),
      });
  };
  // Health checks may use any name for the node, and the answer reveals nothing about accounts.
  const config = { takesAnyHost: true } as const;
  for (const prefix of ['', API_PREFIX]) {
    app.get(`${prefix}/health`, { config }, health);
    app.get(`${prefix}/ready`, { config }, ready);
  }
}
