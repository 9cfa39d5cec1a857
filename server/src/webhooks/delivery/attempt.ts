import type { Client, Dispatcher } from 'undici';
import type { Clock } from '../../clock.ts';
import { thrownError } from '../../thrown.ts';
import {
  type AnswerHeaders,
  type Described,
  describeAnswer,
  describeError,
  describeSwitchedProtocols,
  headerValue,
  type Outcome,
} from '../queue/outcome.ts';
import { parseRetryAfter } from '../queue/retry.ts';
import type { ReceiverConnections } from './connections.ts';
import type { BrokerDestination, Credentials } from './destination.ts';

export interface AttemptRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** `traceparent` of the change that emitted the event, if tracing is on. */
  readonly trace?: string | null;
  /** Deadline of the attempt; null for that of the server. */
  readonly timeoutMs?: number | null;
  /** Whether a redirect to the result of the request counts as delivered. */
  readonly acceptRedirects?: boolean;
  readonly signal?: AbortSignal;
  /** Undefined for HTTP. */
  readonly broker?: BrokerRequest | undefined;
}

/** The part of an attempt that only a message broker needs. */
export interface BrokerRequest {
  readonly accountId: string;
  /** Undefined for a test, which no start repeats. */
  readonly webhookId?: string;
  readonly destination: BrokerDestination;
  readonly credentials: Credentials;
  /** Messages of one conversation stay in order. */
  readonly conversation: string;
}

const BODY_READ_BYTES = 16 * 1024;
const BODY_KEPT_CHARACTERS = 1024;
/** A 2xx counts as soon as its headers arrive. Its body gets this long to deliver an excerpt for the log. */
const BODY_GRACE_MS = 250;
const SWITCHING_PROTOCOLS = 101;

/** One attempt at a delivery: undici reports to it as the handler of its request. */
export class Attempt implements Dispatcher.DispatchHandler {
  readonly #request: AttemptRequest;
  readonly #url: URL;
  readonly #connections: ReceiverConnections;
  readonly #timeoutMs: number;
  readonly #clock: Clock;
  readonly #startedAt = performance.now();
  readonly #ended = Promise.withResolvers<Outcome>();
  #controller: Dispatcher.DispatchController | undefined;
  #status: number | null = null;
  #headers: AnswerHeaders = {};
  readonly #chunks: Buffer[] = [];
  #received = 0;
  #isRetry = false;
  #isDone = false;
  #cancelDeadline = () => {};
  #cancelGrace = () => {};

  /** @param url the vetted URL of the request */
  constructor(request: AttemptRequest, url: URL, connections: ReceiverConnections, timeoutMs: number, clock: Clock) {
    this.#request = request;
    this.#url = url;
    this.#connections = connections;
    this.#timeoutMs = timeoutMs;
    this.#clock = clock;
  }

  /** Call it once. With `moments`, opens a new connection and records its progress there. */
  run(moments?: Map<string, number>): Promise<Outcome> {
    this.#cancelDeadline = this.#clock.after(this.#timeoutMs, () => this.#onDeadline());
    this.#request.signal?.addEventListener('abort', this.#onAbort);
    const { origin } = this.#url;
    try {
      if (moments === undefined) this.#dispatch(this.#connections.poolOf(origin));
      else this.#dispatchOnce(this.#connections.newClient(origin, moments));
    } catch (error) {
      this.#finish(describeError(thrownError(error), this.#url, this.#timeoutMs));
    }
    return this.#ended.promise;
  }

  /** Ends the attempt as `unknown_outcome`, unless it has ended. */
  abort(message: string): void {
    this.#finish(['unknown_outcome', null, message]);
    this.#releaseConnection();
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // The deadline may pass while the request still waits for its connection.
    if (this.#isDone) this.#releaseConnection();
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: AnswerHeaders): void {
    if (status === SWITCHING_PROTOCOLS) {
      this.#finish(describeSwitchedProtocols(this.#url));
      this.#releaseConnection();
    }
    if (status < 200) return;
    this.#status = status;
    this.#headers = headers;
    if (status < 300) this.#cancelGrace = this.#clock.after(BODY_GRACE_MS, () => this.#finishEarly(status));
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#received < BODY_READ_BYTES) this.#chunks.push(chunk.subarray(0, BODY_READ_BYTES - this.#received));
    this.#received += chunk.length;
    if (this.#received > BODY_READ_BYTES) this.#finishEarly(this.#status ?? 0);
  }

  onResponseEnd(): void {
    this.#finishAnswered(this.#status ?? 0);
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    if (this.#isDone) return;
    if (this.#status !== null) this.#finishAnswered(this.#status);
    // The receiver may close an idle connection just as we use it. Nothing was answered, so the same attempt is
    // repeated once, on a new connection.
    else if (!this.#isRetry && this.#connections.isStaleSocket(error)) {
      this.#isRetry = true;
      this.#dispatchOnce(this.#connections.newClient(this.#url.origin));
    } else this.#finish(describeError(error, this.#url, this.#timeoutMs));
  }

  #dispatch(client: Dispatcher): void {
    const { headers, body } = this.#request;
    const { pathname, search } = this.#url;
    client.dispatch({ method: 'POST', path: pathname + search, headers, body }, this);
  }

  #dispatchOnce(client: Client): void {
    this.#dispatch(client);
    void client.close().catch(() => {}); // closes after this request
  }

  readonly #onAbort = (): void => this.abort('The webhook was removed before the answer arrived');

  #onDeadline(): void {
    const message = `${this.#url.host} did not answer within ${this.#timeoutMs / 1000} s`;
    if (this.#status === null) this.#finish(['timeout', null, message]);
    else this.#finishAnswered(this.#status);
    this.#releaseConnection();
  }

  #finishEarly(status: number): void {
    this.#finishAnswered(status);
    this.#releaseConnection();
  }

  #finishAnswered(status: number): void {
    const response = excerpt(this.#chunks);
    const retryAfterMs = parseRetryAfter(headerValue(this.#headers, 'retry-after'), this.#clock.now());
    const { acceptRedirects = false } = this.#request;
    const described = describeAnswer(status, this.#headers, response, this.#url, acceptRedirects);
    this.#finish(described, { response, retryAfterMs });
  }

  #finish([kind, status, message]: Described, more: Partial<Outcome> = {}): void {
    if (this.#isDone) return;
    this.#isDone = true;
    this.#cancelDeadline();
    this.#cancelGrace();
    this.#request.signal?.removeEventListener('abort', this.#onAbort);
    const durationMs = Math.round(performance.now() - this.#startedAt);
    this.#ended.resolve({
      class: kind,
      status,
      durationMs,
      message: message.toWellFormed(),
      response: null,
      retryAfterMs: null,
      ...more,
    });
  }

  /** Closes a connection on which more data may arrive than is read. */
  #releaseConnection(): void {
    this.#controller?.abort(new Error('the attempt is over'));
  }
}

/** The start of an answer as harmless text, with unprintable characters escaped. */
function excerpt(chunks: readonly Buffer[]): string {
  return Buffer.concat(chunks)
    .toString('utf8')
    .slice(0, BODY_KEPT_CHARACTERS)
    .replace(/[^\P{C}\n\t]/gu, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`)
    .slice(0, BODY_KEPT_CHARACTERS)
    .toWellFormed(); // a cut may leave half a character, which PostgreSQL does not store
}
