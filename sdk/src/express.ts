/**
 * A handler for Express, and for other servers on Node's `http`.
 *
 * ```ts
 * import { webhookHandler } from '@switchboard/sdk/express';
 *
 * app.post('/hook', webhookHandler({ secret, onEvent: (event) => store(event) }));
 * app.use(express.json());
 * ```
 */

import {
  assertLength,
  BodyTooLargeError,
  bytesOf,
  Collected,
  type HandlerOptions,
  RawBodyError,
  Receiver,
} from './receiver.ts';

export type { HandlerOptions, SeenEvents, VerifiedDelivery } from './receiver.ts';

/** The part of Node's and Express's request that the handler uses. */
export interface ExpressRequest {
  readonly method?: string | undefined;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The result of a body parser. */
  readonly body?: unknown;
  /** The bytes, where the platform or the `verify` function of a body parser keeps them. */
  readonly rawBody?: unknown;
  readonly readableDidRead?: boolean;
  readonly destroyed?: boolean;
  // biome-ignore lint/suspicious/noExplicitAny: as in the types of Node, which fit nothing else
  on(event: string, listener: (...args: any[]) => void): unknown;
  pause(): unknown;
}

/** The part of Node's and Express's response that the handler uses. */
export interface ExpressResponse {
  statusCode: number;
  readonly headersSent: boolean;
  setHeader(name: string, value: string): unknown;
  end(text: string): unknown;
}

/**
 * Creates a handler that answers deliveries. It reads the raw body itself, or takes it from `express.raw()` or
 * `express.text()`. After `express.json()` the raw body is gone, and the answer says so.
 * @throws {TypeError} for options that cannot work, such as an empty secret
 */
export function webhookHandler(
  options: HandlerOptions,
): (request: ExpressRequest, response: ExpressResponse) => Promise<void> {
  const receiver = new Receiver(options);
  return async (request, response) => {
    if (request.method !== 'POST') {
      response.setHeader('allow', 'POST');
      return answer(response, 405, 'Send a POST');
    }
    const { status, text } = await receiver.receive(request.headers, () => rawBody(request, receiver.maxBytes));
    // The rest of the body is not read, so the connection cannot carry another request.
    if (status === 413) response.setHeader('connection', 'close');
    answer(response, status, text);
  };
}

function answer(response: ExpressResponse, status: number, text: string): void {
  if (response.headersSent) return; // a middleware answered first, such as one for timeouts
  response.statusCode = status;
  if (text !== '') response.setHeader('content-type', 'text/plain; charset=utf-8');
  response.end(text);
}

async function rawBody(request: ExpressRequest, maxBytes: number): Promise<Uint8Array> {
  for (const kept of [request.rawBody, request.body]) {
    const bytes = bytesOf(kept);
    if (bytes === undefined) continue;
    assertLength(bytes.byteLength, maxBytes);
    return bytes;
  }
  if (request.readableDidRead === true)
    throw new RawBodyError(
      'The raw body is gone, because a body parser such as express.json() read it first. ' +
        'Register the webhook handler before the body parser, or put express.raw({ type: "*/*", limit: "1mb" }) in front of it.',
    );
  const { 'content-length': length } = request.headers;
  assertLength(Number(length ?? 0), maxBytes);
  return readStream(request, maxBytes);
}

/** Not by `for await`, which closes the connection when it stops early, before the answer. */
function readStream(request: ExpressRequest, maxBytes: number): Promise<Uint8Array> {
  const collected = new Collected(maxBytes);
  return new Promise((resolve, reject) => {
    const fail = () => reject(new Error('The connection closed before the end of the body'));
    // A destroyed request emits no more events.
    if (request.destroyed === true) return fail();
    let isTooLarge = false;
    request.on('data', (chunk: Uint8Array | string) => {
      if (isTooLarge) return;
      try {
        collected.add(bytesOf(chunk) ?? new Uint8Array());
      } catch (error) {
        isTooLarge = error instanceof BodyTooLargeError;
        request.pause();
        reject(error);
      }
    });
    request.on('end', () => resolve(collected.bytes()));
    request.on('error', fail);
    request.on('close', fail); // no effect after `end`
  });
}
