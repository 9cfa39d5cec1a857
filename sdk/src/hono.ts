/**
 * A handler for Hono.
 *
 * ```ts
 * import { webhookHandler } from '@switchboard/sdk/hono';
 *
 * app.post('/hook', webhookHandler({ secret, onEvent: (event) => store(event) }));
 * ```
 */

import { assertLength, type HandlerOptions, RawBodyError, Receiver, receiveRequest } from './receiver.ts';

export type { HandlerOptions, SeenEvents, VerifiedDelivery } from './receiver.ts';

/** The part of Hono's context that the handler uses. */
export interface HonoContext {
  readonly req: {
    readonly raw: Request;
    arrayBuffer(): Promise<ArrayBuffer>;
  };
}

/**
 * Creates a handler that answers deliveries.
 * @throws {TypeError} for options that cannot work, such as an empty secret
 */
export function webhookHandler(options: HandlerOptions): (context: HonoContext) => Promise<Response> {
  const receiver = new Receiver(options);
  return ({ req }) =>
    req.raw.bodyUsed
      ? receiveRequest(receiver, req.raw, () => keptBytes(req, receiver.maxBytes))
      : receiveRequest(receiver, req.raw);
}

/** Hono keeps a body that a middleware has read through its context. */
async function keptBytes(req: HonoContext['req'], maxBytes: number): Promise<Uint8Array> {
  let body: ArrayBuffer;
  try {
    body = await req.arrayBuffer();
  } catch (cause) {
    const advice = 'A middleware read the body with `c.req.raw`. Read it with `c.req.text()`, or after the handler.';
    throw new RawBodyError(advice, { cause });
  }
  assertLength(body.byteLength, maxBytes);
  return new Uint8Array(body);
}
