import type { FastifyInstance } from 'fastify';
import { PROGRESS_INTERVAL_MS } from '../cluster/forward.ts';
import { FORWARDED_BY } from '../cluster/nodeSignature.ts';

/** Sends a forwarding node signs of life: a half-open connection is as silent as a slow network. */
export function reportProgress(app: FastifyInstance): void {
  app.addHook('onRequest', async ({ headers }, { raw }) => {
    if (headers[FORWARDED_BY] === undefined) return;
    const report = () => {
      if (!raw.headersSent && raw.writable) raw.writeProcessing();
    };
    report();
    const timer = setInterval(report, PROGRESS_INTERVAL_MS);
    raw.once('close', () => clearInterval(timer));
  });
}
