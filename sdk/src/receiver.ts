import { readSecrets, type Secret } from './secrets.ts';
import { type HeadersInput, parse, verify, WebhookBodyError, type WebhookEvent } from './webhooks.ts';

/* The common part of the handlers for all frameworks. */

export interface HandlerOptions {
  /**
   * The webhook's secret, or several during a rotation. A function is called for each request, for a secret that does
   * not exist yet when the module is loaded, such as during a build.
   */
  readonly secret: Secret | (() => Secret | Promise<Secret>);
  /**
   * Handles a verified event. The delivery is answered with 204 once this resolves, and with 500 if it throws, so that
   * Switchboard delivers the event again. Switchboard waits 15 s: store the event here, and do slow work elsewhere.
   */
  readonly onEvent: (event: WebhookEvent, delivery: VerifiedDelivery) => unknown;
  /** Remembers which events were handled, so that a repeated delivery is answered without calling `onEvent` again. */
  readonly seen?: SeenEvents | undefined;
  /** Called with the error of an answer 500, or of a signed body that is not an event. By default it is logged. */
  readonly onError?: ((error: unknown) => void) | undefined;
  /** Maximum size of a body in bytes. A larger one is answered with 413 and not read. Default 1 MiB. */
  readonly maxBytes?: number | undefined;
  /** Maximum age of a delivery in seconds. Default 300. */
  readonly tolerance?: number | undefined;
}

/** The facts of a delivery that its signature covers. */
export interface VerifiedDelivery {
  /** Id of the event, the same on every attempt. */
  readonly id: string;
  /** Time of this attempt, in Unix seconds. */
  readonly timestamp: number;
}

/**
 * A store of event ids. A `Set` is enough for a single process and its lifetime. In production, use a store that
 * survives restarts, is shared by all processes, and forgets ids after three days, when the last retry is over.
 */
export interface SeenEvents {
  has(id: string): boolean | Promise<boolean>;
  /** Called when `onEvent` has resolved. If it fails, the event is delivered again. */
  add(id: string): unknown;
}

/** The answer to a delivery, in plain text. */
export interface Answer {
  readonly status: number;
  readonly text: string;
}

/** The body is larger than `maxBytes`. */
export class BodyTooLargeError extends Error {}

/** Something read the body before the handler did. The message says how to prevent it. */
export class RawBodyError extends Error {
  override readonly name = 'RawBodyError';
}

const DEFAULT_MAX_BYTES = 1024 * 1024;

/** Verifies deliveries and passes their events on, one call at a time for each event. */
export class Receiver {
  readonly maxBytes: number;
  readonly #options: HandlerOptions;
  /** A delivery that timed out may be repeated while its event is still being handled. */
  readonly #handling = new Map<string, Promise<void>>();

  /** @throws {TypeError} for options that cannot work */
  constructor(options: HandlerOptions) {
    if (typeof options.secret !== 'function') readSecrets(options.secret);
    if (typeof options.onEvent !== 'function') throw new TypeError('`onEvent` must be a function');
    const { maxBytes = DEFAULT_MAX_BYTES } = options;
    if (!Number.isInteger(maxBytes) || maxBytes <= 0) throw new TypeError('`maxBytes` must be a positive integer');
    this.maxBytes = maxBytes;
    this.#options = options;
  }

  /**
   * Returns the answer to a delivery. Never throws.
   * @param readBody reads the raw body. Throws a `BodyTooLargeError` or a `RawBodyError`; any other error means that
   *   the connection broke.
   * @param log takes errors if there is no `onError`
   */
  async receive(headers: HeadersInput, readBody: () => Promise<Uint8Array>, log = logError): Promise<Answer> {
    let body: Uint8Array;
    try {
      body = await readBody();
    } catch (error) {
      return this.#unreadable(error, log);
    }
    try {
      return await this.#answer(headers, body);
    } catch (error) {
      this.#report(error, log);
      if (error instanceof WebhookBodyError) return { status: 400, text: error.message };
      return { status: 500, text: 'The receiver failed to handle the event' };
    }
  }

  async #answer(headers: HeadersInput, body: Uint8Array): Promise<Answer> {
    const { secret, tolerance } = this.#options;
    const result = await verify({
      body,
      headers,
      secret: typeof secret === 'function' ? await secret() : secret,
      ...(tolerance !== undefined && { tolerance }),
    });
    if (!result.ok) return { status: 401, text: result.reason };
    // `verify` accepts nothing else by default; only this scheme covers the id.
    if (result.scheme !== 'standard') return { status: 401, text: 'standard_signature_required' };
    const { id, timestamp } = result;
    await this.#handleOnce(parse(body), { id, timestamp });
    return { status: 204, text: '' };
  }

  /** A delivery that is repeated meanwhile has the outcome of the first. */
  #handleOnce(event: WebhookEvent, delivery: VerifiedDelivery): Promise<void> {
    const handling =
      this.#handling.get(delivery.id) ??
      this.#handle(event, delivery).finally(() => this.#handling.delete(delivery.id));
    this.#handling.set(delivery.id, handling);
    return handling;
  }

  async #handle(event: WebhookEvent, delivery: VerifiedDelivery): Promise<void> {
    const { seen, onEvent } = this.#options;
    if (await seen?.has(delivery.id)) return;
    await onEvent(event, delivery);
    await seen?.add(delivery.id);
  }

  #unreadable(error: unknown, log: typeof logError): Answer {
    if (error instanceof BodyTooLargeError)
      return { status: 413, text: `The body is larger than ${this.maxBytes} bytes` };
    // Not reported: a stranger can break connections at will.
    if (!(error instanceof RawBodyError)) return { status: 400, text: 'The body could not be read' };
    this.#report(error, log);
    return { status: 500, text: error.message };
  }

  #report(error: unknown, log: typeof logError): void {
    try {
      (this.#options.onError ?? log)(error);
    } catch (cause) {
      logError(cause);
    }
  }
}

/** Answers a request of the Fetch API. */
export async function receiveRequest(
  receiver: Receiver,
  request: Request,
  readBody: () => Promise<Uint8Array> = () => readRequest(request, receiver.maxBytes),
): Promise<Response> {
  if (request.method !== 'POST') return new Response('Send a POST', { status: 405, headers: { allow: 'POST' } });
  const { status, text } = await receiver.receive(request.headers, readBody);
  return status === 204 ? new Response(null, { status }) : new Response(text, { status });
}

/** @throws {BodyTooLargeError} */
export function assertLength(length: number, maxBytes: number): void {
  if (length > maxBytes) throw new BodyTooLargeError();
}

/** @returns undefined for a body that was parsed */
export function bytesOf(body: unknown): Uint8Array | undefined {
  if (typeof body === 'string') return new TextEncoder().encode(body);
  // Not instanceof: test runners such as Jest have another Uint8Array in the test than in a request.
  return ArrayBuffer.isView(body) ? new Uint8Array(body.buffer, body.byteOffset, body.byteLength) : undefined;
}

/** Reads a body up to its limit. */
async function readRequest(request: Request, maxBytes: number): Promise<Uint8Array> {
  if (request.bodyUsed)
    throw new RawBodyError('The body was read before the webhook handler. Pass the request to the handler unread.');
  assertLength(Number(request.headers.get('content-length') ?? 0), maxBytes);
  const collected = new Collected(maxBytes);
  const reader = request.body?.getReader();
  for (let next = await reader?.read(); next?.value !== undefined; next = await reader?.read()) {
    try {
      collected.add(next.value);
    } catch (error) {
      // Without waiting: the sender may never let go of its end.
      reader?.cancel().catch(() => {});
      throw error;
    }
  }
  return collected.bytes();
}

/** The pieces of a body that is being read. */
export class Collected {
  readonly #maxBytes: number;
  readonly #pieces: Uint8Array[] = [];
  #size = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** @throws {BodyTooLargeError} */
  add(piece: Uint8Array): void {
    this.#size += piece.byteLength;
    if (this.#size > this.#maxBytes) throw new BodyTooLargeError();
    this.#pieces.push(piece);
  }

  bytes(): Uint8Array {
    const whole = new Uint8Array(this.#size);
    let at = 0;
    for (const piece of this.#pieces) {
      whole.set(piece, at);
      at += piece.byteLength;
    }
    return whole;
  }
}

function logError(error: unknown): void {
  // biome-ignore lint/suspicious/noConsole: the only log that every runtime has; `onError` replaces it
  console.error('Failed to handle a webhook delivery:', error);
}
