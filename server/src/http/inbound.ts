import type { Readable } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { NoAnswerError } from '../cluster/forward.ts';
import type { Member } from '../cluster/members.ts';
import type { CallbackAnswer, CallbackRequest } from '../connectors/contract/callbacks.ts';
import { AppError } from '../errors.ts';
import { type Owners, runAtOwner } from '../invoke/owners.ts';
import type { Services } from '../invoke/services.ts';
import type { SessionRef } from '../messages/store.ts';
import { callbackPath } from '../sessions/callbacks.ts';
import { callbackTakerOf } from '../sessions/callbackTaker.ts';
import { BodyBudget, type BudgetedBody } from './bodyBudget.ts';
import { CallbackFan } from './callbackFan.ts';
import type { ForwardedRequests } from './forwardedRequests.ts';

interface InboundDeps
  extends Pick<
    Services,
    'database' | 'sessions' | 'liveSessions' | 'cluster' | 'forward' | 'log' | 'metrics' | 'clock'
  > {
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
 * A body is read only if the connector of its session verifies callbacks and its account has budget left, because
 * anybody can send one. Without its body, a call cannot be told from a forged one.
 */
export function addInbound(app: FastifyInstance, deps: InboundDeps): void {
  const { sessions, owners, cluster, forward, forwardedRequests, log, metrics, clock } = deps;
  const budget = new BodyBudget(LIMITS);
  const fan = new CallbackFan({ sessions, log, metrics, clock }, receiveAt);
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
          () => callbackTakerOf(deps, session),
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
    const callback = { ...toCallback(request), ...(isPassedOn(request) && { isPassedOn: true as const }) };
    const answered = forwardedRequests.has(request)
      ? await receiveHere(session, callback)
      : await receiveAt(session, callback);
    // Another node that only relayed the request gets the answer without these, so they are handled where it was
    // received.
    const all = await fan.passOn(callback, answered);
    if (all.status === NOT_CONNECTED) throw new AppError('session_not_connected');
    return all;
  }

  async function receiveHere(session: SessionRef, callback: CallbackRequest): Promise<CallbackAnswer> {
    const take = await callbackTakerOf(deps, session);
    return take(callback);
  }

  /** Passes a call to the owner of a session. */
  function receiveAt(session: SessionRef, callback: CallbackRequest): Promise<CallbackAnswer> {
    return atOwner(
      session,
      () => receiveHere(session, callback),
      (owner) => relay(owner, session, callback),
    );
  }

  async function relay(owner: Member, { sessionId }: SessionRef, callback: CallbackRequest): Promise<CallbackAnswer> {
    const { method, query, headers, body, isPassedOn: passedOn } = callback;
    const parameters = new URLSearchParams(query);
    if (passedOn) parameters.set(PASSED_ON, '1');
    const search = parameters.size === 0 ? '' : `?${parameters}`;
    const path = `${callbackPath(sessionId)}${search}`;
    try {
      return await forward.relay(owner, { method, path, headers, body }, cluster.lifeOf(owner.nodeId));
    } catch (error) {
      if (!(error instanceof NoAnswerError)) throw error;
      cluster.suspect(owner.nodeId);
      throw new AppError('session_unavailable', undefined, { retryAfterSeconds: 2, cause: error });
    }
  }

  /** Only another node can say so: a stranger could otherwise keep a call from the sessions that it concerns. */
  function isPassedOn(request: FastifyRequest): boolean {
    return forwardedRequests.has(request) && new URL(request.url, 'http://host').searchParams.get(PASSED_ON) === '1';
  }
}

const NOT_CONNECTED = 409;

/** Marks, between nodes, a call that another session has received and passed on. */
const PASSED_ON = 'switchboard.passed-on';

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
