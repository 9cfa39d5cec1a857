import { Pool } from 'undici';
import { AppError } from '../errors.ts';
import type { Member } from './members.ts';

/** What is asked for is done by another node. Whoever can passes the request on; to a caller it is a 503. */
export class ElsewhereError extends AppError {
  readonly node: Member;
  constructor(node: Member) {
    super('session_unavailable', 'The session has just moved to another node', { retryAfterSeconds: 1 });
    this.name = 'ElsewhereError';
    this.node = node;
  }
}

/** A request of the REST interface, as its caller made it. */
export interface ForwardedRequest {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly body: string | undefined;
  /** The credential that its caller has shown. */
  readonly credential: string | undefined;
  readonly requestId: string;
  readonly idempotencyKey: string | undefined;
  /** `traceparent` of the span that it belongs to, where there are traces. */
  readonly trace?: string;
}

/** A request from outside that is passed on as it came. */
export interface RelayedRequest {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

export interface ForwardedAnswer {
  readonly status: number;
  /** The JSON of the answer. */
  readonly body: unknown;
  readonly isReplayed: boolean;
  readonly retryAfterSeconds: number | undefined;
}

/** The node did not answer: what was asked for may have been done, or not. */
export class NoAnswerError extends Error {
  /** Whether it was reached and took too long. */
  readonly isLate: boolean;
  constructor(cause: unknown) {
    super('the node did not answer', { cause });
    this.name = 'NoAnswerError';
    this.isLate = cause instanceof DOMException && cause.name === 'TimeoutError';
  }
}

export interface Forward {
  /**
   * Asks another node, once.
   * @param life ends when the node is known to be dead
   * @throws {NoAnswerError}
   */
  to(node: Member, request: ForwardedRequest, life: AbortSignal): Promise<ForwardedAnswer>;
  /** The same for what is no operation. @throws {NoAnswerError} */
  relay(node: Member, request: RelayedRequest, life: AbortSignal): Promise<{ status: number; text: string }>;
  close(): Promise<void>;
}

/** Marks a request that was passed on, so that it is not passed on again. Its value is the node that did. */
export const FORWARDED_BY = 'x-switchboard-forwarded-by';

/** Headers that speak of a connection and not of the request (RFC 9110, 7.6.1), or that undici writes itself. */
const OF_ONE_HOP = new Set([
  'connection',
  'host',
  'content-length',
  'transfer-encoding',
  'keep-alive',
  'te',
  'upgrade',
  'expect',
]);

/**
 * How long a send may take, in ms: 30 s for the network's answer, and before that a file has to get there, which takes
 * 100 MB five minutes at some 3 MBit/s. Whoever waits for an operation waits for longer.
 */
export const LONGEST_SEND_MS = 330_000;
/** Before a send a file behind a URL may take 60 s to come. */
const DEADLINE_MS = LONGEST_SEND_MS + 65_000;
const CONNECT_MS = 2000;
const CONNECTIONS_PER_NODE = 64;

/** The REST interface is how nodes ask one another: there is no other remote interface. */
export function createForward(nodeId: string): Forward {
  const pools = new Map<string, Pool>();

  function poolOf(origin: string): Pool {
    let pool = pools.get(origin);
    if (pool === undefined) {
      pool = new Pool(origin, {
        connections: CONNECTIONS_PER_NODE,
        connect: { timeout: CONNECT_MS },
        headersTimeout: 0,
      });
      pools.set(origin, pool);
    }
    return pool;
  }

  return {
    async to({ url }, { method, path, body, credential, requestId, idempotencyKey, trace }, life) {
      const { origin, pathname } = new URL(url ?? '');
      try {
        const response = await poolOf(origin).request({
          method: method as 'GET',
          path: `${pathname.replace(/\/$/, '')}${path}`,
          headers: {
            accept: 'application/json',
            'x-request-id': requestId,
            [FORWARDED_BY]: nodeId,
            ...(body !== undefined && { 'content-type': 'application/json' }),
            ...(credential !== undefined && { authorization: `Bearer ${credential}` }),
            ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
            ...(trace !== undefined && { traceparent: trace }),
          },
          ...(body !== undefined && { body }),
          signal: AbortSignal.any([life, AbortSignal.timeout(DEADLINE_MS)]),
        });
        const retryAfter = Number(response.headers['retry-after']);
        return {
          status: response.statusCode,
          body: await response.body.json(),
          isReplayed: response.headers['idempotency-replayed'] === 'true',
          retryAfterSeconds: retryAfter > 0 ? retryAfter : undefined,
        };
      } catch (error) {
        throw new NoAnswerError(error);
      }
    },
    async relay({ url }, { method, path, headers, body }, life) {
      const { origin, pathname } = new URL(url ?? '');
      const passed = Object.entries(headers).filter(([name]) => !OF_ONE_HOP.has(name));
      try {
        const response = await poolOf(origin).request({
          method: method as 'POST',
          path: `${pathname.replace(/\/$/, '')}${path}`,
          headers: { ...Object.fromEntries(passed), [FORWARDED_BY]: nodeId },
          ...(body.length > 0 && { body }),
          signal: AbortSignal.any([life, AbortSignal.timeout(DEADLINE_MS)]),
        });
        return { status: response.statusCode, text: await response.body.text() };
      } catch (error) {
        throw new NoAnswerError(error);
      }
    },
    async close() {
      await Promise.all([...pools.values()].map((pool) => pool.destroy()));
    },
  };
}
