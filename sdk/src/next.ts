/**
 * A route handler for Next.js (App Router), and for everything else that calls a function with a `Request`: Deno, Bun,
 * Cloudflare Workers, SvelteKit, Astro.
 *
 * ```ts
 * // app/hook/route.ts
 * import { webhookHandler } from '@switchboard/sdk/next';
 *
 * export const POST = webhookHandler({
 *   secret: () => process.env.WEBHOOK_SECRET!,
 *   onEvent: (event) => store(event),
 * });
 * ```
 */

import { type HandlerOptions, Receiver, receiveRequest } from './receiver.ts';

export type { HandlerOptions, SeenEvents, VerifiedDelivery } from './receiver.ts';

/**
 * Creates a function that answers deliveries.
 * @throws {TypeError} for options that cannot work, such as an empty secret
 */
export function webhookHandler(options: HandlerOptions): (request: Request) => Promise<Response> {
  const receiver = new Receiver(options);
  return (request) => receiveRequest(receiver, request);
}
