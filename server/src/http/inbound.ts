import type { Readable } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { NoAnswerError } from '../cluster/forward.ts';
import type { Member } from '../cluster/members.ts';
import type { CallbackAnswer, CallbackRequest } from '../connectors/connector.ts';
import { AppError } from '../errors.ts';
import type { Services } from '../invoke/context.ts';
import { type Owners, runAtOwner } from '../invoke/owners.ts';
import type { SessionRef } from '../messages/store.ts';
import { callbackPath } from '../sessions/callbacks.ts';
import { BodyBudget, type BudgetedBody } from './bodyBudget.ts';
import type { ForwardedRequests } from './forwardedRequests.ts';

interface InboundDeps extends Pick<Services, 'sessions' | 'liveSessions' | 'cluster' | 'forward' | 'log'> {
  readonly owners: Owners;
  readonly forwardedRequests: ForwardedRequests;
}

/** In bytes. Meta's callbacks have up to 3 MB, and a busy session gets several at a time. */
const LIMITS = { body: 4 * 1024 * 1024, session: 16 * 1024 * 1024, all: 64 * 1024 * 1024 };

/**
 * Routes that networks call for sessions. Networks have no credential; the connector verifies a signature or the like,
 * which covers the body byte for byte. A network repeats a call that is not answered with 2xx, so a call that cannot be
 * stored now is not lost.
 *
 * A body is read only if its session accepts callbacks and its account has budget left, because anybody can send one.
 */
export function addInbound(
  app: FastifyInstance,
  { sessions, liveSessions, owners, cluster, forward, forwardedRequests, log }: InboundDeps,
): void {
  const budget = new BodyBudget(LIMITS);
  const callbacks = new WeakMap<FastifyRequest, { session: SessionRef; body: BudgetedBody }>();

  app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', async (request: FastifyRequest, payload: Readable) =>
      callbacks.get(request)?.body.read(payload),
    );
    scope.route<{ Params: { sessionId: string } }>({
      method: ['GET', 'POST'],
      url: callbackPath(':sessionId'),
      exposeHeadRoute: false,
      bodyLimit: LIMITS.body,
      onRequest: async (request, reply) => {
        const session = await sessions.find(request.params.sessionId);
        // The owner verifies the call.
        await atOwner<unknown>(
          session,
          () => liveSessions.part(session, 'takeCallback'),
          async () => {},
        );
        const body = budget.open(session);
        callbacks.set(request, { session, body });
        reply.raw.once('close', body.release);
      },
      handler: async (request, reply) => {
        const startedAt = performance.now();
        const { sessionId } = request.params;
        const { status, text = '' } = await answer(request);
        const ms = Math.round((performance.now() - startedAt) * 10) / 10;
        log.info({ requestId: request.id, session: sessionId, method: request.method, status, ms }, 'callback');
        return reply.code(status).type('text/plain; charset=utf-8').header('cache-control', 'no-store').send(text);
      },
    });
  });

  function atOwner<T>(session: SessionRef, here: () => Promise<T>, there: (owner: Member) => Promise<T>): Promise<T> {
    return runAtOwner(() => owners.ofSession(session), here, there);
  }

  async function answer(request: FastifyRequest): Promise<CallbackAnswer> {
    const session = callbacks.get(request)?.session;
    if (session === undefined) throw new AppError('internal_error');
    const receive = async () => {
      const take = await liveSessions.part(session, 'takeCallback');
      return take(toCallback(request));
    };
    return forwardedRequests.has(request) ? receive() : atOwner(session, receive, (owner) => relay(owner, request));
  }

  async function relay(owner: Member, request: FastifyRequest): Promise<CallbackAnswer> {
    const { method, url: path } = request;
    const { headers, body } = toCallback(request);
    try {
      return await forward.relay(owner, { method, path, headers, body }, cluster.lifeOf(owner.nodeId));
    } catch (error) {
      if (!(error instanceof NoAnswerError)) throw error;
      cluster.suspect(owner.nodeId);
      throw new AppError('session_unavailable', undefined, { retryAfterSeconds: 2, cause: error });
    }
  }
}

function toCallback({ method, url, headers, body }: FastifyRequest): CallbackRequest {
  const flat = Object.entries(headers).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, [value].flat().join(', ')]],
  );
  return {
    method,
    query: new URL(url, 'http://host').searchParams,
    headers: Object.fromEntries(flat),
    body: Buffer.isBuffer(body) ? body : Buffer.alloc(0),
  };
}
