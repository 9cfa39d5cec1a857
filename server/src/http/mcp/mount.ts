import { randomUUID } from 'node:crypto';
import type { McpHttpHandler } from '@modelcontextprotocol/server';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Caller } from '../../auth/authenticate.ts';
import { addressDenialOf } from '../../auth/keyScope.ts';
import { rateLimited } from '../../auth/requestLimits.ts';
import { AppError } from '../../errors.ts';
import type { Call } from '../../invoke/operation.ts';
import type { Services } from '../../invoke/services.ts';
import type { OAuth } from '../../oauth/oauth.ts';
import { API_PREFIX } from '../../version.ts';
import type { OwnHosts } from '../ownHosts.ts';
import { disconnectSignal, type RouteDeps } from '../routes.ts';
import { appsSessionId, SESSION_HEADER, showsApps } from './apps.ts';
import { type EventStream, sendEventStream } from './eventStream.ts';
import { readSelection, type Selection } from './toolsets.ts';

/** The part of a call that is the same for all calls of an MCP request. */
export interface Principal
  extends Pick<Call, 'requestId' | 'address' | 'credential' | 'trace' | 'signal' | 'allowance' | 'confirm'> {
  readonly caller: Caller;
  readonly selection: Selection;
  /** Takes over a stream of events, which the response then consists of. */
  readonly stream: (stream: EventStream) => void;
  /** Whether the client can show the pages of MCP Apps. */
  readonly showsApps: boolean;
}

interface McpDeps extends Pick<Services, 'requestLimits'>, Pick<RouteDeps, 'callers' | 'stopping'> {
  readonly ownHosts: OwnHosts;
  readonly toolsets: readonly string[];
  /** Undefined if OAuth is off. */
  readonly oauth?: OAuth | undefined;
  /** Called with the first request: the protocol library takes a tenth of a second and 15 MB. */
  readonly loadHandler: () => Promise<McpHttpHandler>;
}

/** JSON-RPC 2.0, section 5.1. */
const PARSE_ERROR = -32_700;
const INVALID_REQUEST = -32_600;

/**
 * `/api/v1/mcp`: the Model Context Protocol over Streamable HTTP, without sessions: every request gets a server of its
 * own, made for its caller. This URL serves both generations of the protocol, 2026-07-28 and those that begin with
 * `initialize`.
 *
 * If a client hangs up, waiting ends, but calls that already run are finished and recorded.
 */
export function addMcp(app: FastifyInstance, deps: McpDeps): void {
  const { callers, ownHosts, oauth, loadHandler } = deps;
  let handler: Promise<McpHttpHandler> | undefined;
  app.addHook('onClose', async () => (await handler)?.close());

  app.register(async (scope) => {
    scope.setErrorHandler((error: FastifyError, _request, reply) => {
      const rpc = rpcErrorOf(error);
      if (rpc === undefined) throw error; // other errors are problem documents, as everywhere
      return reply.code(rpc.status).send(rpcError(rpc.code, rpc.message));
    });
    scope.addHook('onRequest', async ({ headers }) => ownHosts.requireOrigin(headers));
    scope.addHook('onRequest', async (request, reply) => {
      await callers.authenticateAny(request, reply).catch((error: unknown) => {
        if (oauth !== undefined && error instanceof AppError && error.status === 401)
          reply.header('www-authenticate', oauth.challenge(request.headers.authorization !== undefined));
        throw error;
      });
    });
    scope.route({
      method: ['GET', 'POST', 'DELETE'],
      url: `${API_PREFIX}/mcp`,
      exposeHeadRoute: false,
      config: { takesAppTokens: true },
      handler: async (request, reply) => {
        const admitted = admit(request, reply, deps);
        const { body, headers } = request;
        for (const message of Array.isArray(body) ? body : [body]) dropNullArguments(message);
        const wrong = Array.isArray(body) ? findWrong(body, headers['mcp-protocol-version']) : undefined;
        if (wrong !== undefined) return reply.code(400).send(rpcError(INVALID_REQUEST, wrong));
        handler ??= loadHandler().catch((error: unknown) => {
          handler = undefined; // the next request tries again
          throw error;
        });
        return answer(request, reply, admitted, handler);
      },
    });
  });
}

/** A request that its caller may make now. */
interface Admitted {
  readonly principal: Principal;
  /** The stream that the request has opened, if any. */
  readonly opened: { stream?: EventStream };
}

/**
 * Reads who calls and with what, and counts the request.
 * @throws if the address or the rate of the caller is not allowed
 */
function admit(
  request: FastifyRequest,
  reply: FastifyReply,
  { callers, requestLimits, stopping, toolsets }: McpDeps,
): Admitted {
  const { body, headers, ip, id } = request;
  const { caller, presented } = callers.of(request);
  const opened: Admitted['opened'] = {};
  const principal = {
    caller,
    selection: readSelection(toolsets, request.query as Readonly<Record<string, unknown>>, headers),
    showsApps: showsApps(body, headers),
    requestId: id,
    address: ip,
    credential: presented.value,
    trace: headers['traceparent']?.toString(),
    signal: () => AbortSignal.any([stopping, disconnectSignal(reply)]),
    stream: (stream: EventStream) => {
      opened.stream = stream;
    },
  };
  // Some requests, such as those for lists, call no operation.
  const denial = addressDenialOf(caller, ip);
  if (denial !== undefined) throw denial;
  // A batch counts as many requests as it has members.
  const allowance = requestLimits.take(principal, Array.isArray(body) ? Math.max(1, body.length) : 1);
  // A refused tool call is answered with a tool result, for the model; other requests with an error, for the client.
  if (!allowance.allowed && methodOf(body) !== 'tools/call') throw rateLimited(allowance);
  return { principal: { ...principal, allowance }, opened };
}

/** Lets the protocol library answer, and sends its answer or the stream that the request has opened. */
async function answer(
  request: FastifyRequest,
  reply: FastifyReply,
  { principal, opened }: Admitted,
  handler: Promise<McpHttpHandler>,
): Promise<FastifyReply> {
  const { body } = request;
  const authInfo = { token: '', clientId: '', scopes: [], extra: { principal } };
  // Other calls run to their end. A subscription has none, and would keep the server from stopping.
  const signal = methodOf(body) === 'subscriptions/listen' ? principal.signal() : undefined;
  const served = handler.then((ready) => ready.fetch(toWebRequest(request, signal), { authInfo, parsedBody: body }));
  const response = await served.catch((error: unknown) => {
    opened.stream?.close();
    throw error;
  });
  const sessionId = appsSessionId(body, randomUUID);
  if (sessionId !== undefined) reply.header(SESSION_HEADER, sessionId);
  return opened.stream === undefined
    ? sendResponse(reply, response)
    : sendEventStream(reply, request.id, opened.stream, await response.text());
}

function methodOf(body: unknown): unknown {
  return typeof body === 'object' && body !== null && 'method' in body ? body.method : undefined;
}

/** `null` counts as left out, like in the optional fields of tools. The protocol library would refuse it. */
function dropNullArguments(message: unknown): void {
  const { params } = (message ?? {}) as { params?: { arguments?: unknown } | null };
  if (typeof params === 'object' && params?.arguments === null) delete params.arguments;
}

/** The only version with batches. Its clients, and older ones, send no header. */
const VERSION_WITH_BATCHES = '2025-03-26';
const MAX_BATCH_MEMBERS = 20;

/** The error of a batch as a whole. */
function findWrong(batch: readonly unknown[], version: unknown): string | undefined {
  if (version !== undefined && version !== VERSION_WITH_BATCHES)
    return `Only protocol version ${VERSION_WITH_BATCHES} supports batches; send each request separately`;
  // Versions that are named in each request are newer than that.
  if (batch.some(hasOwnVersion)) return 'This protocol version does not support batches; send each request separately';
  if (batch.length > MAX_BATCH_MEMBERS) return `The batch has more than ${MAX_BATCH_MEMBERS} members; split it`;
  return undefined;
}

function hasOwnVersion(member: unknown): boolean {
  const { params } = (member ?? {}) as { params?: { _meta?: Readonly<Record<string, unknown>> } };
  return params?._meta?.['io.modelcontextprotocol/protocolVersion'] !== undefined;
}

const rpcError = (code: number, message: string) => ({ jsonrpc: '2.0', id: null, error: { code, message } });

/** Sent through Fastify, so that its hooks run. */
function sendResponse(reply: FastifyReply, { status, headers, body }: Response): FastifyReply {
  const own = new Headers(headers);
  own.set('cache-control', 'no-store');
  return reply.send(new Response(body, { status, headers: own }));
}

/** The request without its body, which has already been read and parsed. */
function toWebRequest(request: FastifyRequest, signal: AbortSignal | undefined): Request {
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers))
    if (value !== undefined) headers.set(name, String(value));
  // Without the query, which may contain a key.
  return new Request(`http://localhost${API_PREFIX}/mcp`, {
    method: request.method,
    headers,
    ...(signal !== undefined && { signal }),
  });
}

function rpcErrorOf(error: FastifyError): { status: number; code: number; message: string } | undefined {
  if (error.code === 'FST_ERR_CTP_INVALID_JSON_BODY' || error instanceof SyntaxError)
    return { status: 400, code: PARSE_ERROR, message: 'The request body is not valid JSON' };
  if (error.code === 'FST_ERR_CTP_EMPTY_JSON_BODY')
    return { status: 400, code: INVALID_REQUEST, message: 'The request body is empty; send a JSON-RPC request' };
  if (error instanceof AppError && error.code === 'validation_failed') {
    const wrong = error.fields.map(({ field, message }) => `${field} ${message}`);
    return { status: error.status, code: INVALID_REQUEST, message: wrong.join('; ') };
  }
  if (error.code === 'FST_ERR_CTP_BODY_TOO_LARGE')
    return { status: 413, code: INVALID_REQUEST, message: 'The request body is larger than 1 MiB' };
  return undefined;
}
