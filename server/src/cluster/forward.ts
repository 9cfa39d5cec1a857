import { Pool } from 'undici';
import { AppError } from '../errors.ts';
import type { Member } from './members.ts';
import type { NodeSignatures } from './nodeSignature.ts';

/** What is asked for is done by another node. Whoever can passes the request on; to a caller it is a 503. */
export class ElsewhereError extends AppError {
  readonly node: Member;
  constructor(node: Member) {
    super('session_unavailable', 'The session has just moved to another node; try again', { retryAfterSeconds: 1 });
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
  /** How long the operation may take at the most. */
  readonly deadlineMs: number;
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
 * How long the send of a file may take, in ms: 30 s for the network's answer, and before that the upload, which takes
 * five minutes for 100 MB at some 3 MBit/s. A callback may bring a file of that size.
 */
export const LONGEST_SEND_MS = 330_000;
const CONNECT_MS = 2000;
const CONNECTIONS_PER_NODE = 64;
/** A node says at once, and then this often, that it works on a forwarded request: by `102 Processing`. */
export const STILL_AT_IT_MS = 1000;
const TICK_MS = 500;
/**
 * A node that says nothing for this many ticks cannot be reached: the connection is half open, or the node stands
 * still. Counted in ticks of our own, so that a stall of this process is not taken for a silence of the other.
 */
const SILENT_TICKS = 7;

/** The REST interface is how nodes ask one another: there is no other remote interface. */
export function createForward(signatures: Pick<NodeSignatures, 'sign'>, { tickMs = TICK_MS } = {}): Forward {
  const pools = new Map<string, Pool>();
  /** Nodes that have said before that they are at work: their silence tells. Older ones never do, nor through some proxies. */
  const telling = new Set<string>();

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

  /** The idle connections of a line that is half open are no better than the one that showed it. */
  function retire(origin: string): void {
    const pool = pools.get(origin);
    pools.delete(origin);
    pool?.close().catch(() => {});
  }

  /** @throws {NoAnswerError} */
  async function ask({ nodeId, url }: Member, request: Asked, life: AbortSignal): Promise<Answered> {
    const { method, path, headers, body, deadlineMs } = request;
    const { origin } = new URL(url ?? '');
    const silence = new Silence(tickMs, telling.has(nodeId));
    try {
      const response = await poolOf(origin).request({
        // Only what undici is told: it takes every method.
        method: method as 'POST',
        path,
        headers: { ...headers, ...signatures.sign({ method, path, body: body ?? '' }, nodeId) },
        ...(body !== undefined && { body }),
        signal: AbortSignal.any([life, silence.signal, AbortSignal.timeout(deadlineMs)]),
        onInfo: () => {
          telling.add(nodeId);
          silence.break();
        },
      });
      silence.break();
      return { status: response.statusCode, headers: response.headers, text: await response.body.text() };
    } catch (error) {
      if (silence.signal.aborted) retire(origin);
      throw new NoAnswerError(error);
    } finally {
      silence.end();
    }
  }

  return {
    async to(node, { method, path, body, credential, requestId, idempotencyKey, deadlineMs, trace }, life) {
      const headers = {
        accept: 'application/json',
        'x-request-id': requestId,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(credential !== undefined && { authorization: `Bearer ${credential}` }),
        ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
        ...(trace !== undefined && { traceparent: trace }),
      };
      const answer = await ask(node, { method, path, headers, body, deadlineMs }, life);
      const retryAfter = Number(answer.headers['retry-after']);
      return {
        status: answer.status,
        body: parse(answer.text),
        isReplayed: answer.headers['idempotency-replayed'] === 'true',
        retryAfterSeconds: retryAfter > 0 ? retryAfter : undefined,
      };
    },
    async relay(node, { method, path, headers: all, body }, life) {
      const headers = Object.fromEntries(Object.entries(all).filter(([name]) => !OF_ONE_HOP.has(name)));
      const given = body.length > 0 ? body : undefined;
      return ask(node, { method, path, headers, body: given, deadlineMs: LONGEST_SEND_MS }, life);
    },
    async close() {
      await Promise.all([...pools.values()].map((pool) => pool.destroy()));
    },
  };
}

/** A request as it goes to another node. */
interface Asked {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer | undefined;
  readonly deadlineMs: number;
}

interface Answered {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

/** @throws {NoAnswerError} when something else than a node listens at its address */
function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new NoAnswerError(error);
  }
}

/** Watches one request, and aborts it once the other side has been silent for too long. */
class Silence {
  readonly #silent = new AbortController();
  readonly #timer: NodeJS.Timeout;
  #isWatched: boolean;
  #ticks = 0;

  /** @param isWatched from the beginning, and not only once something has come */
  constructor(tickMs: number, isWatched: boolean) {
    this.#isWatched = isWatched;
    this.#timer = setInterval(() => {
      if (this.#isWatched && ++this.#ticks >= SILENT_TICKS) this.#silent.abort(new Error('the node is silent'));
    }, tickMs);
  }

  get signal(): AbortSignal {
    return this.#silent.signal;
  }

  /** Something came. */
  break(): void {
    this.#isWatched = true;
    this.#ticks = 0;
  }

  end(): void {
    clearInterval(this.#timer);
  }
}
