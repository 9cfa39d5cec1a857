import type { FastifyInstance } from 'fastify';
import { STILL_AT_IT_MS } from '../cluster/forward.ts';
import { FORWARDED_BY } from '../cluster/nodeSignature.ts';

/**
 * Sends a forwarding node regular signs of life until the response: a half-open connection is as silent as a slow
 * network.
 */
export function tellForwarders(app: FastifyInstance): void {
  app.addHook('onRequest', async ({ headers }, { raw }) => {
    if (headers[FORWARDED_BY] === undefined) return;
    const tell = () => {
      if (!raw.headersSent && raw.writable) raw.writeProcessing();
    };
    tell();
    const timer = setInterval(tell, STILL_AT_IT_MS);
    raw.once('close', () => clearInterval(timer));
  });
}
