import type { FastifyInstance } from 'fastify';
import { STILL_AT_IT_MS } from '../cluster/forward.ts';
import { FORWARDED_BY } from '../cluster/nodeSignature.ts';

/**
 * Tells a node that has forwarded a request, again and again until the answer, that this one is at it: a connection
 * that is half open is as silent as a network that takes its time.
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
