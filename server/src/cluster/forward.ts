import type { Pool } from 'undici';
import type { Member } from './members.ts';
import { DERIVED_SESSION, type NodeSignatures } from './nodeSignature.ts';

export interface ForwardedRequest {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly body: string | undefined;
  readonly credential: string | undefined;
  readonly requestId: string;
  readonly idempotencyKey: string | undefined;
  readonly deadlineMs: number;
  /** The session that the sender has derived from the input. */
  readonly derivedSessionId?: string | undefined;
  /** `traceparent` of the span that it belongs to. */
  readonly trace?: string;
}

/** A request of a network, forwarded byte for byte. */
export type RelayedRequest = Omit<NodeRequest, 'deadlineMs'> & { readonly body: Buffer };

export interface ForwardedAnswer {
  readonly status: number;
  readonly body: unknown;
  readonly isReplayed: boolean;
  readonly retryAfterSeconds: number | undefined;
}

/** The node did not answer. The request may or may not have taken effect. */
export class NoAnswerError extends Error {
  /** Whether the node was reached, but took too long. */
  readonly isLate: boolean;
  constructor(cause: unknown) {
    super('the node did not answer', { cause });
    this.name = 'NoAnswerError';
    this.isLate = cause instanceof DOMException && cause.name === 'TimeoutError';
  }
}

/** Headers of the connection rather than of the request (RFC 9110, 7.6.1), and those that undici sets itself. */
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
 * Deadline for sending a file, in ms: five minutes for the upload, which is enough for 100 MB at 3 Mbit/s, and 30 s for
 * the network's answer. A callback may contain a file of that size.
 */
export const MAX_SEND_MS = 330_000;
const CONNECT_MS = 2000;
const CONNECTIONS_PER_NODE = 64;
/** How often a node reports that it works on a forwarded request, by `102 Processing`. */
export const PROGRESS_INTERVAL_MS = 1000;
const TICK_MS = 500;
/**
 * A node that reports nothing for this many ticks is unreachable: the connection is half open, or the node hangs.
 * Counted in ticks of this process, so that its own stalls do not look like silence of the other node.
 */
const SILENT_TICKS = 7;

export type Forward = Pick<NodeClient, 'to' | 'relay' | 'close'>;

/** Sends requests to other nodes, over the REST interface: there is no other remote interface. */
export class NodeClient {
  readonly #signatures: Pick<NodeSignatures, 'sign'>;
  readonly #tickMs: number;
  /** By origin. */
  readonly #pools = new Map<string, Pool>();
  /** Nodes that have sent `102 Processing`: their silence means something. Older nodes and some proxies send none. */
  readonly #reporting = new Set<string>();

  constructor(signatures: Pick<NodeSignatures, 'sign'>, { tickMs = TICK_MS } = {}) {
    this.#signatures = signatures;
    this.#tickMs = tickMs;
  }

  /**
   * Sends a request to another node, once.
   * @param life aborts when the node is known to be dead
   * @throws {NoAnswerError}
   */
  async to(node: Member, request: ForwardedRequest, life: AbortSignal): Promise<ForwardedAnswer> {
    const { method, path, body, credential, requestId, idempotencyKey, deadlineMs, trace, derivedSessionId } = request;
    const headers = {
      accept: 'application/json',
      'x-request-id': requestId,
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(credential !== undefined && { authorization: `Bearer ${credential}` }),
      ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
      ...(trace !== undefined && { traceparent: trace }),
      ...(derivedSessionId !== undefined && { [DERIVED_SESSION]: derivedSessionId }),
    };
    const answer = await this.#send(node, { method, path, headers, body, deadlineMs }, life);
    const retryAfter = Number(answer.headers['retry-after']);
    return {
      status: answer.status,
      body: parse(answer.text),
      isReplayed: answer.headers['idempotency-replayed'] === 'true',
      retryAfterSeconds: retryAfter > 0 ? retryAfter : undefined,
    };
  }

  /** @throws {NoAnswerError} */
  async relay(node: Member, request: RelayedRequest, life: AbortSignal): Promise<{ status: number; text: string }> {
    const { method, path, body } = request;
    const headers = Object.fromEntries(Object.entries(request.headers).filter(([name]) => !OF_ONE_HOP.has(name)));
    const sent = body.length > 0 ? body : undefined;
    return this.#send(node, { method, path, headers, body: sent, deadlineMs: MAX_SEND_MS }, life);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#pools.values()].map((pool) => pool.destroy()));
  }

  /** @throws {NoAnswerError} */
  async #send({ nodeId, url }: Member, request: NodeRequest, life: AbortSignal): Promise<NodeResponse> {
    const { method, path, headers, body, deadlineMs } = request;
    const { origin } = new URL(url ?? '');
    const silence = new Silence(this.#tickMs, this.#reporting.has(nodeId));
    try {
      const response = await (await this.#poolOf(origin)).request({
        // undici accepts every method, but its types do not.
        method: method as 'POST',
        path,
        headers: { ...headers, ...this.#signatures.sign({ method, path, body: body ?? '' }, nodeId) },
        ...(body !== undefined && { body }),
        signal: AbortSignal.any([life, silence.signal, AbortSignal.timeout(deadlineMs)]),
        onInfo: () => {
          this.#reporting.add(nodeId);
          silence.break();
        },
      });
      silence.break();
      return { status: response.statusCode, headers: response.headers, text: await response.body.text() };
    } catch (error) {
      if (silence.signal.aborted) this.#retire(origin);
      throw new NoAnswerError(error);
    } finally {
      silence.end();
    }
  }

  async #poolOf(origin: string): Promise<Pool> {
    const { Pool } = await import('undici');
    let pool = this.#pools.get(origin);
    if (pool === undefined) {
      pool = new Pool(origin, {
        connections: CONNECTIONS_PER_NODE,
        connect: { timeout: CONNECT_MS },
        headersTimeout: 0,
      });
      this.#pools.set(origin, pool);
    }
    return pool;
  }

  /** If one connection is half open, the idle ones of its pool probably are as well. */
  #retire(origin: string): void {
    const pool = this.#pools.get(origin);
    this.#pools.delete(origin);
    pool?.close().catch(() => {});
  }
}

interface NodeRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer | undefined;
  readonly deadlineMs: number;
}

interface NodeResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

/** @throws {NoAnswerError} if something other than a node listens at its address */
function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new NoAnswerError(error);
  }
}

/** Aborts a request once the other side has been silent for too long. */
class Silence {
  readonly #silent = new AbortController();
  readonly #timer: NodeJS.Timeout;
  #isWatched: boolean;
  #ticks = 0;

  /** @param isWatched from the start, rather than from the first response on */
  constructor(tickMs: number, isWatched: boolean) {
    this.#isWatched = isWatched;
    this.#timer = setInterval(() => {
      if (this.#isWatched && ++this.#ticks >= SILENT_TICKS) this.#silent.abort(new Error('the node is silent'));
    }, tickMs);
  }

  get signal(): AbortSignal {
    return this.#silent.signal;
  }

  break(): void {
    this.#isWatched = true;
    this.#ticks = 0;
  }

  end(): void {
    clearInterval(this.#timer);
  }
}
