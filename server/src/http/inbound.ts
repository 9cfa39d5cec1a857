import type { Readable } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Cluster } from '../cluster/cluster.ts';
import { ElsewhereError, type Forward, NoAnswerError } from '../cluster/forward.ts';
import type { CallbackAnswer, CallbackRequest } from '../connectors/connector.ts';
import { AppError } from '../errors.ts';
import type { Log } from '../log.ts';
import { callbackPath } from '../sessions/callbacks.ts';
import type { Sessions } from '../sessions/sessions.ts';
import { BodyBudget, type BudgetedBody } from './bodyBudget.ts';
import type { PassedOnRequests } from './passedOn.ts';

export interface InboundDeps {
  /** Finds the account of a session. @throws {AppError} `not_found` */
  readonly accountOf: (sessionId: string) => Promise<string>;
  readonly sessions: Pick<Sessions, 'receive' | 'requireReceiver'>;
  readonly cluster: Pick<Cluster, 'lifeOf' | 'suspect'>;
  readonly forward: Pick<Forward, 'relay'>;
  readonly passedOn: PassedOnRequests;
  readonly log: Log;
}

/** In bytes. Meta's callbacks have up to 3 MB, and a session of a busy number gets several at a time. */
const LIMITS = { body: 4 * 1024 * 1024, session: 16 * 1024 * 1024, all: 64 * 1024 * 1024 };

/**
 * Where networks call sessions. They have no credential of ours: the connector sees by a signature, or by what else its
 * network has, who calls. The body goes to it byte for byte, for that is what is signed. A network that is answered
 * anything but 2xx calls again later, so what cannot be stored now is not lost.
 *
 * A body is read only for a session that takes callbacks, and only while its account has room: anybody may send one.
 */
export function addInbound(
  app: FastifyInstance,
  { accountOf, sessions, cluster, forward, passedOn, log }: InboundDeps,
): void {
  const budget = new BodyBudget(LIMITS);
  const bodies = new WeakMap<FastifyRequest, BudgetedBody>();

  app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', async (request: FastifyRequest, payload: Readable) =>
      bodies.get(request)?.read(payload),
    );
    scope.route<{ Params: { sessionId: string } }>({
      method: ['GET', 'POST'],
      url: callbackPath(':sessionId'),
      exposeHeadRoute: false,
      bodyLimit: LIMITS.body,
      onRequest: async (request, reply) => {
        const { sessionId } = request.params;
        await requireReceiver(sessionId);
        const body = budget.open({ sessionId, accountId: await accountOf(sessionId) });
        bodies.set(request, body);
        reply.raw.once('close', body.release);
      },
      handler: async (request, reply) => {
        const startedAt = performance.now();
        const { sessionId } = request.params;
        const { status, text = '' } = await answer(sessionId, request);
        const ms = Math.round((performance.now() - startedAt) * 10) / 10;
        log.info({ requestId: request.id, session: sessionId, method: request.method, status, ms }, 'callback');
        return reply.code(status).type('text/plain; charset=utf-8').header('cache-control', 'no-store').send(text);
      },
    });
  });

  async function requireReceiver(sessionId: string): Promise<void> {
    await sessions.requireReceiver(sessionId).catch((error) => {
      if (!(error instanceof ElsewhereError)) throw error;
    });
  }

  async function answer(sessionId: string, request: FastifyRequest): Promise<CallbackAnswer> {
    try {
      return await sessions.receive(sessionId, toCallback(request));
    } catch (error) {
      if (!(error instanceof ElsewhereError) || passedOn.has(request)) throw error;
      return relay(error, request);
    }
  }

  /** The session is another node's: it gets the request as it came. */
  async function relay({ node }: ElsewhereError, request: FastifyRequest): Promise<CallbackAnswer> {
    const { method, url: path } = request;
    const { headers, body } = toCallback(request);
    try {
      return await forward.relay(node, { method, path, headers, body }, cluster.lifeOf(node.nodeId));
    } catch (error) {
      if (!(error instanceof NoAnswerError)) throw error;
      cluster.suspect(node.nodeId);
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
