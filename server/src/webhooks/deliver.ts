import type { Socket } from 'node:net';
import { LRUCache } from 'lru-cache';
import { buildConnector, Client, type Dispatcher, Pool } from 'undici';
import type { Clock } from '../clock.ts';
import { checkUrl, createLookup, type TargetPolicy, type Verdict } from '../target.ts';
import type { Outcome, OutcomeClass } from './outcome.ts';
import { parseRetryAfter } from './retry.ts';

export interface AttemptRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** `traceparent` of what caused it, where there are traces. */
  readonly trace?: string | null;
  /** Breaks the attempt off, wherever it is. */
  readonly signal?: AbortSignal;
}

export interface Deliver {
  /** Makes one attempt. Never rejects: whatever happens is an outcome. */
  attempt(request: AttemptRequest): Promise<Outcome>;
  /** Makes one attempt on a connection of its own, and tells how far it came. */
  probe(request: AttemptRequest): Promise<{ outcome: Outcome; stages: readonly Stage[] }>;
  /** Ends what is in flight as `unknown_outcome` and closes the connections. */
  close(): Promise<void>;
}

/** A step of an attempt. `skipped`: there was nothing to do, or it was not reached. */
export interface Stage {
  readonly stage: 'url' | 'dns' | 'connect' | 'tls' | 'http';
  readonly result: 'ok' | 'failed' | 'skipped';
  readonly ms: number | null;
}

const POOLS_KEPT = 1000;
const VERDICTS_KEPT = 1000;
const KEEP_ALIVE_MS = 30_000;
const BODY_READ_BYTES = 16 * 1024;
const BODY_KEPT_CHARACTERS = 1024;
/** A 2xx counts as soon as its headers are there; its body gets this long to show something for the log. */
const BODY_GRACE_MS = 250;

/**
 * Makes delivery attempts: one overall deadline, redirects not followed, at most 16 KiB of the answer read, the
 * vetted address dialled, connections kept alive per origin.
 */
export function createDeliver({
  policy,
  timeoutMs,
  maxSockets,
  clock,
}: {
  policy: TargetPolicy;
  timeoutMs: number;
  /** With so many sockets open, those that are kept alive for a receiver not used for longest are closed. */
  maxSockets: number;
  clock: Clock;
}): Deliver {
  const bytesReadBefore = new WeakMap<Error, number>();
  const inFlight = new Set<(outcome: Outcome) => void>();
  const pools = new LRUCache<string, Pool>({
    max: POOLS_KEPT,
    dispose: (pool) => void pool.close().catch(() => {}),
  });

  // What is thought of a URL's text never changes; what its name resolves to is vetted when it is dialled.
  const verdicts = new LRUCache<string, Verdict>({ max: VERDICTS_KEPT });
  function vet(url: string): Verdict {
    const verdict = verdicts.get(url) ?? checkUrl(url, policy);
    verdicts.set(url, verdict);
    return verdict;
  }

  // undici's own connector; what it cannot say is whether a socket that broke had served a request before.
  const connectSocket = buildConnector({ lookup: createLookup(policy), timeout: timeoutMs });
  let openSockets = 0;
  const connect: buildConnector.connector = (options, callback) =>
    connectSocket(options, (...result) => {
      const socket = result[1];
      // Undefined with an error, whatever undici's type says.
      if (socket) {
        openSockets++;
        socket.once('close', () => openSockets--);
        socket.prependListener('error', (error) => bytesReadBefore.set(error, socket.bytesRead));
      }
      callback(...result);
    });

  // `attempt` keeps the time: undici's timers tick in seconds and start again with every byte.
  const clientOptions = { pipelining: 1, headersTimeout: 0, bodyTimeout: 0, keepAliveTimeout: KEEP_ALIVE_MS, connect };

  function poolOf(origin: string): Pool {
    let pool = pools.get(origin);
    // The one in use is the newest by now.
    if (openSockets >= maxSockets && pools.size > 1) pools.pop();
    if (pool === undefined) {
      // No limit of connections: the lane limits what is in flight.
      pool = new Pool(origin, { ...clientOptions, connections: null });
      pools.set(origin, pool);
    }
    return pool;
  }

  async function probe(request: AttemptRequest) {
    const startedAt = performance.now();
    const moments = new Map<string, number>();
    const note = (name: string) => () => moments.set(name, performance.now());
    const traced: buildConnector.connector = (options, callback) => {
      // undici's type leaves out that its connector hands back the socket it is about to connect.
      const socket = connectSocket(options, callback) as unknown as Socket;
      for (const name of ['lookup', 'connect', 'secureConnect']) socket.once(name, note(name));
    };
    const outcome = await attempt(request, (origin) => new Client(origin, { ...clientOptions, connect: traced }));
    return { outcome, stages: stagesOf(request.url, outcome, startedAt, moments) };
  }

  /** @param clientOf a client for this attempt alone; without it the origin's pool is used */
  function attempt(
    { url: text, headers, body, signal }: AttemptRequest,
    clientOf?: (origin: string) => Client,
  ): Promise<Outcome> {
    const startedAt = performance.now();
    // A literal address is dialled without a lookup, so it is vetted here, before every attempt.
    const target = vet(text);
    if (!target.ok) return Promise.resolve(outcome('blocked_address', null, target.message));
    const { url } = target;

    function outcome(kind: OutcomeClass, status: number | null, message: string, more: Partial<Outcome> = {}): Outcome {
      const durationMs = Math.round(performance.now() - startedAt);
      return { class: kind, status, durationMs, message, response: null, retryAfterMs: null, ...more };
    }

    return new Promise((resolve) => {
      let controller: Dispatcher.DispatchController | undefined;
      let status: number | null = null;
      let answerHeaders: Headers = {};
      let received = 0;
      let isRetry = false;
      let isDone = false;
      const chunks: Buffer[] = [];
      let cancelGrace = () => {};
      const cancelDeadline = clock.after(timeoutMs, onDeadline);

      function finish(result: Outcome): void {
        if (isDone) return;
        isDone = true;
        cancelDeadline();
        cancelGrace();
        signal?.removeEventListener('abort', onCut);
        inFlight.delete(finish);
        resolve(result);
      }

      /** Ends the attempt with what is known and lets go of the connection, which has more to say than we read. */
      function finishAndAbort(result: Outcome): void {
        finish(result);
        controller?.abort(new Error('the attempt is over'));
      }

      function answered(): Outcome {
        const text = excerpt(chunks);
        return outcome(...describeAnswer(status ?? 0, answerHeaders, text, url), {
          response: text,
          retryAfterMs: parseRetryAfter(headerValue(answerHeaders, 'retry-after'), clock.now()),
        });
      }

      function onCut(): void {
        finishAndAbort(outcome('unknown_outcome', null, 'The webhook was removed before the answer arrived'));
      }

      function onDeadline(): void {
        const late = () => outcome('timeout', null, `${url.host} did not answer within ${timeoutMs / 1000} s`);
        finishAndAbort(status === null ? late() : answered());
      }

      const handler: Dispatcher.DispatchHandler = {
        onRequestStart(started) {
          controller = started;
          // The deadline may pass while the request still waits for its connection.
          if (isDone) started.abort(new Error('the attempt is over'));
        },
        onResponseStart(_, code, received) {
          if (code === SWITCHING_PROTOCOLS) return finishAndAbort(outcome(...switchedProtocols(url)));
          if (code < 200) return;
          status = code;
          answerHeaders = received;
          if (code < 300) cancelGrace = clock.after(BODY_GRACE_MS, () => finishAndAbort(answered()));
        },
        onResponseData(_, chunk) {
          if (received < BODY_READ_BYTES) chunks.push(chunk.subarray(0, BODY_READ_BYTES - received));
          received += chunk.length;
          if (received > BODY_READ_BYTES) finishAndAbort(answered());
        },
        onResponseEnd() {
          finish(answered());
        },
        onResponseError(_, error) {
          if (isDone) return;
          if (status !== null) return finish(answered());
          // An idle connection may be closed by the other side in the very moment we use it: nothing was answered,
          // so the same attempt goes out again, on a connection that is sure to be new.
          if (!isRetry && isStaleSocket(error)) {
            isRetry = true;
            dispatchOnce(new Client(url.origin, clientOptions));
            return;
          }
          finish(outcome(...describeError(error, url, timeoutMs)));
        },
      };

      function dispatch(client: Dispatcher): void {
        client.dispatch({ method: 'POST', path: url.pathname + url.search, headers, body }, handler);
      }

      function dispatchOnce(client: Client): void {
        dispatch(client);
        void client.close().catch(() => {}); // when this request is done
      }

      inFlight.add(finish);
      signal?.addEventListener('abort', onCut);
      try {
        if (clientOf === undefined) dispatch(poolOf(url.origin));
        else dispatchOnce(clientOf(url.origin));
      } catch (error) {
        finish(outcome(...describeError(error as Error, url, timeoutMs)));
      }
    });
  }

  function isStaleSocket(error: Error): boolean {
    if (isUnaskedAnswer(error)) return false;
    const { code, socket } = error as { code?: string; socket?: { bytesRead?: number } };
    if (code !== 'UND_ERR_SOCKET' && code !== 'ECONNRESET' && code !== 'EPIPE') return false;
    return (socket?.bytesRead ?? bytesReadBefore.get(error) ?? 0) > 0;
  }

  async function close(): Promise<void> {
    for (const finish of inFlight) {
      finish({
        class: 'unknown_outcome',
        status: null,
        durationMs: 0,
        message: 'The server stopped before the answer arrived',
        response: null,
        retryAfterMs: null,
      });
    }
    const open = [...pools.values()];
    await Promise.all(open.map((pool) => pool.destroy().catch(() => {})));
    pools.clear();
  }

  return { attempt, probe, close };
}

/** How far an attempt came, from the moments at which its socket reached something. */
function stagesOf(url: string, outcome: Outcome, startedAt: number, moments: ReadonlyMap<string, number>): Stage[] {
  const { protocol = '', hostname = '' } = URL.canParse(url) ? new URL(url) : {};
  const isLiteral = /^[\d.]+$|^\[/.test(hostname);
  const endedAt = startedAt + outcome.durationMs;
  const steps: { stage: Stage['stage']; at: number | undefined; applies: boolean }[] = [
    { stage: 'url', at: outcome.class === 'blocked_address' ? undefined : startedAt, applies: true },
    { stage: 'dns', at: outcome.class === 'dns' ? undefined : moments.get('lookup'), applies: !isLiteral },
    { stage: 'connect', at: moments.get('connect'), applies: true },
    { stage: 'tls', at: moments.get('secureConnect'), applies: protocol === 'https:' },
    { stage: 'http', at: outcome.status === null ? undefined : endedAt, applies: true },
  ];
  let since = startedAt;
  let hasFailed = false;
  return steps.map(({ stage, at, applies }): Stage => {
    if (!applies || hasFailed) return { stage, result: 'skipped', ms: null };
    const ms = Math.max(0, Math.round((at ?? endedAt) - since));
    since = at ?? endedAt;
    hasFailed = at === undefined || (stage === 'http' && outcome.class !== 'ok');
    return { stage, result: hasFailed ? 'failed' : 'ok', ms };
  });
}

type Headers = Readonly<Record<string, string | string[] | undefined>>;
type Described = [kind: OutcomeClass, status: number | null, message: string];

function headerValue(headers: Headers, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' ? value : value?.[0];
}

function describeAnswer(status: number, headers: Headers, body: string, url: URL): Described {
  const isHtml =
    (headerValue(headers, 'content-type') ?? '').includes('html') || /^\s*<(!doctype html|html)/i.test(body);
  if (status < 300) {
    const looksLikeLogin = isHtml && /password|log ?in|sign ?in/i.test(body);
    const hint = looksLikeLogin
      ? ' with an HTML page that looks like a login: a proxy in front of the receiver may be answering in its place'
      : '';
    return ['ok', status, `Answered ${status}${hint}`];
  }
  if (status < 400) {
    const location = headerValue(headers, 'location');
    const target = location === undefined ? 'nowhere (no Location header)' : location.slice(0, 300);
    return [
      'redirect',
      status,
      `Answered ${status}, redirecting to ${target}. Redirects are not followed: set that URL instead`,
    ];
  }
  if (status === 410) return ['gone', status, 'Answered 410 Gone: it accepts no more deliveries'];
  if (status === 429) return ['throttled', status, 'Answered 429 Too Many Requests'];
  if (status >= 500) return ['server_error', status, `Answered ${status}${isHtml ? ' with an HTML page' : ''}`];
  if (status === 404 && url.pathname.includes('/webhook-test/')) {
    return [
      'client_error',
      status,
      'Answered 404. This is an n8n test URL, which listens only while its workflow is tested; activate the workflow and set its production URL (/webhook/…)',
    ];
  }
  if (status === 401 || status === 403) {
    return ['client_error', status, `Answered ${status}: the receiver, or a proxy in front of it, wants a credential`];
  }
  return ['client_error', status, `Answered ${status}${isHtml ? ' with an HTML page' : ''}`];
}

const SWITCHING_PROTOCOLS = 101;

function switchedProtocols({ host }: URL): Described {
  const message = `${host} answered 101 Switching Protocols, which nobody had asked for: does another service listen there?`;
  return ['protocol', SWITCHING_PROTOCOLS, message];
}

/** undici's words for an interim answer that has no place there; their code is that of a broken connection. */
function isUnaskedAnswer({ message }: Error): boolean {
  return message === 'bad upgrade' || message === 'bad response';
}

const TLS_PROBLEMS: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'its certificate has expired',
  CERT_NOT_YET_VALID: 'its certificate is not valid yet',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'its certificate chain ends in a self-signed certificate that is not trusted here',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    'it does not send its intermediate certificates, or their issuer is not trusted here',
  UNABLE_TO_GET_ISSUER_CERT: 'the issuer of its certificate is not trusted here',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'the issuer of its certificate is not trusted here',
  CERT_REVOKED: 'its certificate was revoked',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another host name',
  ERR_SSL_WRONG_VERSION_NUMBER: 'it does not speak TLS on this port: should the URL start with http://?',
};

function describeError(error: Error, url: URL, timeoutMs: number): Described {
  // Happy eyeballs tries several addresses and reports all of them: the first one stands for the rest.
  const first = error instanceof AggregateError ? (error.errors[0] as Error) : error;
  const code = String((first as { code?: unknown }).code ?? '');
  const { host } = url;
  if (code === 'EMFILE' || code === 'ENFILE')
    return ['no_socket', null, `This server has no free socket (${code}): ${host} was not asked`];
  if (code === 'ERR_TARGET_REFUSED') return ['dns', null, first.message];
  if (code === 'UND_ERR_CONNECT_TIMEOUT')
    return ['timeout', null, `No connection to ${host} within ${timeoutMs / 1000} s`];
  if (code === 'ECONNREFUSED') return ['connect', null, `Nothing listens on ${host}: the connection was refused`];
  if (/^(EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL|EHOSTDOWN|ENETDOWN)$/.test(code)) {
    return ['connect', null, `${host} cannot be reached from here (${code})`];
  }
  if (code === 'ETIMEDOUT') return ['connect', null, `${host} did not take the connection (${code})`];
  if (code in TLS_PROBLEMS || /^(ERR_TLS|ERR_SSL|CERT_|UNABLE_TO|EPROTO|HOSTNAME_MISMATCH)/.test(code)) {
    return ['tls', null, `No TLS connection to ${host}: ${TLS_PROBLEMS[code] ?? first.message.slice(0, 200)}`];
  }
  if (first.message === 'bad upgrade') return switchedProtocols(url);
  if (/^(ECONNRESET|EPIPE|UND_ERR_SOCKET|ECONNABORTED)$/.test(code) && !isUnaskedAnswer(first)) {
    return ['reset', null, `${host} closed the connection before it answered`];
  }
  // undici gives the parser's own complaint without a code, and asserts what it has not checked of a status line.
  if (first.name === 'HTTPParserError' || /^(HPE_|UND_ERR_|ERR_ASSERTION$)/.test(code))
    return ['protocol', null, `${host} did not answer in valid HTTP${code && ` (${code})`}`];
  return ['connect', null, `No answer from ${host}: ${(code || first.message).slice(0, 200)}`];
}

/** The start of an answer as harmless text: what is not printable is shown as an escape. */
function excerpt(chunks: readonly Buffer[]): string {
  return Buffer.concat(chunks)
    .toString('utf8')
    .slice(0, BODY_KEPT_CHARACTERS)
    .replace(/[^\P{C}\n\t]/gu, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`)
    .slice(0, BODY_KEPT_CHARACTERS);
}
