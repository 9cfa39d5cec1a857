import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify';
import type { TSchema } from 'typebox';
import type { Caller } from '../auth/authenticate.ts';
import { deviceToken } from '../auth/loginCookie.ts';
import { DERIVED_SESSION } from '../cluster/nodeSignature.ts';
import { AppError, type Problem } from '../errors.ts';
import { type Answer, denialOf, type Invoke, isRead, type Operation } from '../invoke/operation.ts';
import type { Services } from '../invoke/services.ts';
import { API_PREFIX } from '../version.ts';
import type { Authenticated, Callers } from './callers.ts';
import type { ForwardedRequests } from './forwardedRequests.ts';
import { replyWithLogin } from './loginReply.ts';
import { acceptContent, openContent } from './mediaUpload.ts';

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE'];
/** Limit for requests without a credential. An email, a password and a name are far shorter. */
const AUTH_BODY_LIMIT_BYTES = 8 * 1024;

export interface RouteDeps extends Pick<Services, 'devices'> {
  readonly callers: Callers;
  readonly invoke: Invoke;
  readonly forwardedRequests: ForwardedRequests;
  readonly stopping: AbortSignal;
}

export function addRoutes(app: FastifyInstance, operations: readonly Operation[], deps: RouteDeps): void {
  for (const [path, atPath] of Map.groupBy(operations, ({ path }) => path)) {
    const url = API_PREFIX + path.replace(/\{(\w+)\}/g, ':$1');
    for (const operation of atPath) {
      const route = {
        method: operation.method,
        url,
        // A HEAD request must not trigger a GET that has an effect, such as sending a test.
        exposeHeadRoute: isRead(operation),
        ...routeOf(operation, deps),
        ...(path.startsWith('/auth/') && { bodyLimit: AUTH_BODY_LIMIT_BYTES }),
      };
      if (operation.takesContent) acceptContent(app, (scope, config) => scope.route({ ...route, config }));
      else app.route(route);
    }
  }
}

/** Answers every other method of a path with 405. Call it before the routes are added; it sees raw ones as well. */
export function refuseOtherMethods(app: FastifyInstance): { done(): void } {
  const methodsOf = new Map<string, string[]>();
  const note = (url: string, methods: string | string[]) =>
    methodsOf.set(url, [...new Set([methodsOf.get(url) ?? [], methods].flat())]);
  let isDone = false;
  app.addHook('onRoute', ({ url, method }) => void (isDone || note(url, method)));
  return {
    done() {
      // Plugins load in order, so this one runs after all routes are added.
      app.register(async (scope) => {
        isDone = true;
        for (const [url, known] of methodsOf) scope.route(refusalAt(url, known));
      });
    },
  };
}

function refusalAt(url: string, known: readonly string[]): RouteOptions {
  const allow = known.join(', ');
  return {
    url,
    method: METHODS.filter((method) => !known.includes(method)),
    handler: async (request, reply) => {
      reply.header('allow', allow);
      throw new AppError('method_not_allowed', `This route does not support ${request.method}; use ${allow}`);
    },
  };
}

/** Sends the output of a successful operation. */
type Send = (
  operation: Operation,
  answer: Answer & { ok: true },
  request: FastifyRequest,
  reply: FastifyReply,
  caller: Caller | undefined,
) => Promise<FastifyReply>;

/** A route for one operation, which may read its input and send its output in its own way. */
export function routeOf(
  operation: Operation,
  { callers, invoke, forwardedRequests, devices, stopping }: RouteDeps,
  send: Send = sendOutput,
  readInput: ReadInput = inputReader(operation),
) {
  const isOpen = operation.credential === 'none';
  const handler = async (request: FastifyRequest, reply: FastifyReply) => {
    const { key: _, ...query } = request.query as Record<string, unknown>;
    const { caller, presented } = isOpen ? ANONYMOUS : callers.of(request);
    const idempotencyKey = request.headers['idempotency-key'];
    const isForwarded = forwardedRequests.has(request);
    const derivedSessionId = isForwarded ? request.headers[DERIVED_SESSION] : undefined;
    const answer = await invoke(operation, {
      caller,
      input: readInput(request, query),
      requestId: request.id,
      address: request.ip,
      ...(operation.login === 'begins' && { device: deviceToken(request.headers) }),
      channel: 'rest',
      trace: request.headers['traceparent']?.toString(),
      credential: presented?.value,
      isForwarded,
      ...(typeof derivedSessionId === 'string' && { derivedSessionId }),
      signal: () => AbortSignal.any([stopping, disconnectSignal(reply)]),
      ...(typeof idempotencyKey === 'string' && { idempotencyKey }),
      ...(operation.takesContent && { openContent: () => openContent(request) }),
    });
    setHeaders(reply, answer);
    if (!answer.ok) return sendProblem(reply, answer.problem, answer.retryAfterSeconds);
    const output = replyWithLogin(operation, answer.output, request, reply, devices);
    return send(operation, { ...answer, output }, request, reply, caller);
  };
  const onRequest = async (request: FastifyRequest, reply: FastifyReply) => {
    await callers.authenticate(request, reply);
    // Denied calls are answered before their body is read.
    if (denialOf(operation, callers.of(request).caller) !== undefined) return handler(request, reply);
    return undefined;
  };
  return { handler, ...(!isOpen && { onRequest }) };
}

const ANONYMOUS: Partial<Authenticated> = {};

/** Aborted when the caller hangs up before the response. */
export function disconnectSignal(reply: FastifyReply): AbortSignal {
  const gone = new AbortController();
  if (reply.raw.closed) gone.abort();
  else reply.raw.once('close', () => gone.abort());
  return gone.signal;
}

function setHeaders(reply: FastifyReply, answer: Answer): void {
  const { allowance } = answer;
  if (allowance !== undefined && allowance.limit > 0) {
    reply.header('ratelimit-policy', `"${allowance.of}";q=${allowance.limit};w=60`);
    reply.header('ratelimit', `"${allowance.of}";r=${allowance.remaining};t=${allowance.resetSeconds}`);
  }
  if (answer.ok && answer.replayed) reply.header('idempotency-replayed', 'true');
}

export function sendProblem(reply: FastifyReply, problem: Problem, retryAfterSeconds?: number): FastifyReply {
  if (problem.status === 401 && !reply.hasHeader('www-authenticate')) reply.header('www-authenticate', 'Bearer');
  if (retryAfterSeconds !== undefined) reply.header('retry-after', String(retryAfterSeconds));
  return reply.code(problem.status).type('application/problem+json').send(JSON.stringify(problem));
}

async function sendOutput(
  operation: Operation,
  { status, output, represent }: Answer & { ok: true },
  request: FastifyRequest,
  reply: FastifyReply,
) {
  reply.code(status);
  const accept = request.headers.accept ?? '';
  for (const type of Object.keys(operation.representations ?? {})) {
    const other = accept.includes(type) ? await represent(type) : null;
    if (other !== null) return reply.type(type).send(other);
  }
  return reply.type('application/json; charset=utf-8').send(JSON.stringify(output));
}

type ReadInput = (request: FastifyRequest, query: Record<string, unknown>) => unknown;

/** Reads an operation's input: from the path, and from the query of a GET or DELETE or the body otherwise. */
function inputReader(operation: Operation): ReadInput {
  const { method, input, takesContent } = operation;
  if (method === 'GET' || method === 'DELETE' || takesContent) {
    const types = new Map(Object.entries(input.properties).map(([name, schema]) => [name, typeOf(schema)]));
    return (request, query) => {
      const read = Object.entries(query).map(([name, value]) => [name, fromQuery(value, types.get(name))]);
      return { ...Object.fromEntries(read), ...(request.params as object) };
    };
  }
  return ({ body, params }) => {
    if (body === undefined) return { ...(params as object) };
    // Anything but an object is passed on unchanged, and validation reports it.
    if (typeof body !== 'object' || body === null || Array.isArray(body)) return body;
    return { ...body, ...(params as object) };
  };
}

function typeOf(schema: TSchema): string {
  return String((schema as { type?: unknown }).type);
}

/** A query has only text: converts numbers, booleans and lists as the schema requires. */
function fromQuery(value: unknown, type: string | undefined): unknown {
  if (type === 'array') return [value].flat().flatMap((item) => String(item).split(','));
  if (typeof value !== 'string') return value;
  if ((type === 'integer' || type === 'number') && value.trim() !== '' && !Number.isNaN(Number(value)))
    return Number(value);
  if (type === 'boolean' && (value === 'true' || value === 'false')) return value === 'true';
  return value;
}
