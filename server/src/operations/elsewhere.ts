import type { Cluster } from '../cluster/cluster.ts';
import { type Forward, type ForwardedAnswer, type ForwardedRequest, NoAnswerError } from '../cluster/forward.ts';
import type { Member } from '../cluster/members.ts';
import { AppError, type ErrorCode, errors, type Problem } from '../errors.ts';
import type { NewId } from '../ids.ts';
import { API_PREFIX } from '../version.ts';

/** The call of an operation, as far as another node needs to know it. */
interface Asked {
  readonly input: unknown;
  readonly requestId: string;
  readonly credential?: string | undefined;
  readonly idempotencyKey?: string | undefined;
}

/** The operation, as far as it makes a request. */
interface Route {
  readonly method: string;
  readonly path: string;
  readonly idempotent?: boolean;
}

export interface Outcome {
  readonly output: unknown;
  readonly replayed: boolean;
}

/**
 * Asks the node that has what an operation needs, over its REST interface: the same path, input, credential and request
 * id, once.
 *
 * @param runHere runs the operation on this node, under an idempotency key. It is called when the other node did not
 *   answer and the operation is safe to repeat: it finds what that one may have done, or keeps what it has not.
 * @throws {AppError} what the other node answered; `session_unavailable` when it did not answer
 */
export async function runElsewhere(
  { cluster, forward, newId }: { cluster: Cluster; forward: Forward; newId: NewId },
  node: Member,
  operation: Route,
  call: Asked,
  runHere: (idempotencyKey: string) => Promise<Outcome>,
): Promise<Outcome> {
  const own = (call.input as { idempotencyKey?: string }).idempotencyKey;
  // Without one of the caller's the two nodes need a key all the same, to agree on what is one message.
  const key = operation.idempotent ? (call.idempotencyKey ?? own ?? `forwarded ${newId('req')}`) : undefined;
  try {
    const answer = await forward.to(node, requestOf(operation, call, key), cluster.lifeOf(node.nodeId));
    if (answer.status >= 400) throw fromProblem(answer);
    return { output: answer.body, replayed: answer.isReplayed };
  } catch (error) {
    if (!(error instanceof NoAnswerError)) throw error;
    if (!error.isLate) cluster.suspect(node.nodeId);
    const away = new AppError('session_unavailable', undefined, { cause: error });
    if (key === undefined) throw away;
    return runHere(key).catch((second) => {
      // The other node is at it still, or died at it: a repeat will tell.
      throw second instanceof AppError && second.code === 'idempotency_in_flight' ? away : second;
    });
  }
}

function requestOf({ method, path }: Route, call: Asked, idempotencyKey: string | undefined): ForwardedRequest {
  const rest = { ...(call.input as Record<string, unknown>) };
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = String(rest[name]);
    delete rest[name];
    return encodeURIComponent(value);
  });
  const inQuery = method === 'GET' || method === 'DELETE';
  const query = new URLSearchParams(Object.entries(rest).map(([name, value]) => [name, String(value)]));
  return {
    method,
    path: `${API_PREFIX}${filled}${inQuery && query.size > 0 ? `?${query}` : ''}`,
    body: inQuery ? undefined : JSON.stringify(rest),
    credential: call.credential,
    requestId: call.requestId,
    idempotencyKey,
  };
}

/** @throws {NoAnswerError} when it is no answer of ours: something else listens at the node's address */
function fromProblem({ status, body, retryAfterSeconds }: ForwardedAnswer): AppError {
  const { code, detail, errors: fields = [] } = (body ?? {}) as Partial<Problem>;
  if (code === undefined || detail === undefined) throw new NoAnswerError(new Error(`an answer ${status} of another`));
  const known = Object.hasOwn(errors, code) ? code : codeOf(status);
  return new AppError(known, detail, { fields, ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) });
}

/** A node of the next release may know codes that this one does not: then the status tells. */
function codeOf(status: number): ErrorCode {
  const found = Object.entries(errors).find(([, [known]]) => known === status);
  return found === undefined ? 'internal_error' : (found[0] as ErrorCode);
}
