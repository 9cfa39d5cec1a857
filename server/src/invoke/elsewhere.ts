import { sleep } from '../async.ts';
import { systemClock } from '../clock.ts';
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
  readonly deadlineMs?: number;
}

/** What this node can do for a call that the other one did not answer. */
interface Here {
  /** Runs the operation on this node, under an idempotency key. */
  run(idempotencyKey: string): Promise<Outcome>;
  /** What the other node has made so far under this key; undefined when it cannot be told. */
  soFar(idempotencyKey: string): Promise<unknown>;
}

export interface Outcome {
  readonly output: unknown;
  readonly replayed: boolean;
}

/** An operation asks its network up to six questions, each of which is given up after 20 s. */
const DEADLINE_MS = 125_000;
/** When to ask again for what the other node makes of it: mostly it has done it, and only its answer was lost. */
const LOOKS_MS: readonly number[] = [100, 200, 300, 400, 500, 500];

/**
 * Asks the node that has what an operation needs, over its REST interface: the same path, input, credential and request
 * id, once. When it does not answer and the operation is safe to repeat, this node finds what that one has done, or
 * keeps what it has not.
 *
 * @throws {AppError} what the other node answered; `session_unavailable` when it did not answer
 */
export async function runElsewhere(
  { cluster, forward, newId }: { cluster: Cluster; forward: Forward; newId: NewId },
  node: Member,
  operation: Route,
  call: Asked,
  here: Here,
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
    const found = key === undefined ? undefined : await settleHere(key, here);
    if (found === undefined) throw new AppError('session_unavailable', undefined, { cause: error });
    return found;
  }
}

/** @returns undefined when the other node is at it still, or died at it: a repeat will tell */
async function settleHere(key: string, here: Here): Promise<Outcome | undefined> {
  for (const ms of [0, ...LOOKS_MS]) {
    await sleep(systemClock, ms);
    try {
      return await here.run(key);
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'idempotency_in_flight') throw error;
    }
  }
  const output = await here.soFar(key);
  return output === undefined ? undefined : { output, replayed: false };
}

function requestOf(operation: Route, call: Asked, idempotencyKey: string | undefined): ForwardedRequest {
  const { method, path, deadlineMs = DEADLINE_MS } = operation;
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
    deadlineMs,
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
