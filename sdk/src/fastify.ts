/**
 * A plugin for Fastify.
 *
 * ```ts
 * import { webhookPlugin } from '@switchboard/sdk/fastify';
 *
 * app.register(webhookPlugin, { path: '/hook', secret, onEvent: (event) => store(event) });
 * ```
 */

import { bytesOf, type HandlerOptions, RawBodyError, Receiver } from './receiver.ts';

export type { HandlerOptions, SeenEvents, VerifiedDelivery } from './receiver.ts';

export interface WebhookPluginOptions extends HandlerOptions {
  /** Path of the route, below the `prefix` of the plugin. Default `/`. */
  readonly path?: string | undefined;
}

/** The part of a Fastify instance that the plugin uses. */
export interface FastifyScope {
  removeAllContentTypeParsers(): unknown;
  addContentTypeParser(
    contentType: string,
    options: { parseAs: 'buffer'; bodyLimit: number },
    // biome-ignore lint/suspicious/noExplicitAny: Fastify's types fit nothing else
    parser: (request: any, body: any, done: (error: Error | null, body?: any) => void) => void,
  ): unknown;
  post(
    path: string,
    options: { bodyLimit: number },
    handler: (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>,
  ): unknown;
}

/** The part of a Fastify request that the plugin uses. */
export interface FastifyRequest {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: unknown;
  readonly log: { error(fields: object, message: string): void };
}

/** The part of a Fastify reply that the plugin uses. */
export interface FastifyReply {
  code(status: number): { type(contentType: string): { send(text: string): unknown } };
}

/**
 * Adds a route that answers deliveries. It gets the raw body, and the content type parsers of other routes stay as they
 * are: Fastify gives each plugin its own scope. Errors go to the log of the request, unless `onError` is set.
 * @throws {TypeError} for options that cannot work, such as an empty secret
 */
export async function webhookPlugin(scope: FastifyScope, options: WebhookPluginOptions): Promise<void> {
  const receiver = new Receiver(options);
  const { maxBytes: bodyLimit } = receiver;
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit }, (_, body, done) => done(null, body));
  scope.post(options.path ?? '/', { bodyLimit }, async (request, reply) => {
    const { status, text } = await receiver.receive(
      request.headers,
      async () => rawBody(request.body),
      (err) => request.log.error({ err }, 'failed to handle a webhook delivery'),
    );
    return reply.code(status).type('text/plain; charset=utf-8').send(text);
  });
}

function rawBody(body: unknown): Uint8Array {
  if (body === undefined) return new Uint8Array(); // Fastify does not parse an empty body
  const bytes = bytesOf(body);
  if (bytes !== undefined) return bytes;
  throw new RawBodyError('A hook of the application replaced the body before the webhook handler.');
}
