import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Cluster } from '../cluster/cluster.ts';
import { ElsewhereError, type Forward, NoAnswerError } from '../cluster/forward.ts';
import type { CallbackAnswer, CallbackRequest } from '../connectors/connector.ts';
import { AppError } from '../errors.ts';
import type { Log } from '../log.ts';
import { callbackPath } from '../sessions/callbacks.ts';
import type { Sessions } from '../sessions/sessions.ts';
import type { PassedOnRequests } from './passedOn.ts';

export interface InboundDeps {
  readonly sessions: Pick<Sessions, 'receive'>;
  readonly cluster: Pick<Cluster, 'lifeOf' | 'suspect'>;
  readonly forward: Pick<Forward, 'relay'>;
  readonly passedOn: PassedOnRequests;
  readonly log: Log;
}

/** What networks send at once: WhatsApp's callbacks have up to 3 MB. */
const BODY_LIMIT_BYTES = 4 * 1024 * 1024;

/**
 * Where networks call sessions. They have no credential of ours: the connector sees by a signature, or by what else its
 * network has, who calls. The body goes to it byte for byte, for that is what is signed. A network that is answered
 * anything but 2xx calls again later, so what cannot be stored now is not lost.
 */
export function addInbound(app: FastifyInstance, { sessions, cluster, forward, passedOn, log }: InboundDeps): void {
  app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: BODY_LIMIT_BYTES }, (_, body, done) =>
      done(null, body),
    );
    scope.route<{ Params: { sessionId: string } }>({
      method: ['GET', 'POST'],
      url: callbackPath(':sessionId'),
      exposeHeadRoute: false,
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
