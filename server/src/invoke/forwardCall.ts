import { sleep } from '../async.ts';
import { systemClock } from '../clock.ts';
import { type ForwardedAnswer, type ForwardedRequest, NoAnswerError } from '../cluster/forward.ts';
import type { Member } from '../cluster/members.ts';
import { AppError, type ErrorCode, errors, type Problem } from '../errors.ts';
import { API_PREFIX } from '../version.ts';
import type { Call, Operation } from './operation.ts';
import type { Services } from './services.ts';

/** The ways in which this node can settle a call that the other one did not answer. */
interface Here {
  run(idempotencyKey: string): Promise<Outcome>;
  /** Returns what the other node has stored so far; undefined if nothing, or if that is unknown. */
  readStored(idempotencyKey: string): Promise<unknown>;
}

export interface Outcome {
  readonly output: unknown;
  readonly replayed: boolean;
}

/** An operation makes up to six requests to its network, with a timeout of 20 s each. */
const DEADLINE_MS = 125_000;
/** Delays before looking for the outcome: usually the other node has run the call, and only its answer was lost. */
const LOOKUP_DELAYS_MS: readonly number[] = [100, 200, 300, 400, 500, 500];

/**
 * Forwards a call to another node over its REST interface, once, with the same path, input, credential and request id.
 * If that node does not answer and the call is safe to repeat, this node finds its outcome, or runs the call itself.
 *
 * @throws {AppError} the error of the other node; `session_unavailable` if it did not answer
 */
export async function forwardCall(
  { cluster, forward, newId }: Pick<Services, 'cluster' | 'forward' | 'newId'>,
  node: Member,
  operation: Operation,
  call: Call,
  here: Here,
): Promise<Outcome> {
  const own = (call.input as { idempotencyKey?: string }).idempotencyKey;
  // Without a key of the caller, the two nodes still need one to recognize the same message.
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

/** Returns undefined if the other node still runs the call, or died meanwhile. A repeated request then settles it. */
async function settleHere(key: string, here: Here): Promise<Outcome | undefined> {
  for (const ms of [0, ...LOOKUP_DELAYS_MS]) {
    await sleep(systemClock, ms);
    try {
      return await here.run(key);
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'idempotency_in_flight') throw error;
    }
  }
  const output = await here.readStored(key);
  return output === undefined ? undefined : { output, replayed: false };
}

function requestOf(operation: Operation, call: Call, idempotencyKey: string | undefined): ForwardedRequest {
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
    derivedSessionId: call.derivedSessionId,
    requestId: call.requestId,
    idempotencyKey,
    deadlineMs,
  };
}

/** @throws {NoAnswerError} if something other than a node listens at its address */
function fromProblem({ status, body, retryAfterSeconds }: ForwardedAnswer): AppError {
  const { code, detail, errors: fields = [] } = (body ?? {}) as Partial<Problem>;
  if (code === undefined || detail === undefined)
    throw new NoAnswerError(new Error(`status ${status} of something that is not a node`));
  const known = Object.hasOwn(errors, code) ? code : codeOf(status);
  return new AppError(known, detail, { fields, ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) });
}

/** A newer node may return codes that this one does not know; then the status decides. */
function codeOf(status: number): ErrorCode {
  const found = Object.entries(errors).find(([, [known]]) => known === status);
  return found === undefined ? 'internal_error' : (found[0] as ErrorCode);
}
