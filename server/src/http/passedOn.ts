import type { FastifyRequest } from 'fastify';
import { FORWARDED_BY, type NodeSignatures } from '../cluster/nodeSignature.ts';

/** Tells the requests that another node passed on from those that only claim so. */
export class PassedOnRequests {
  readonly #signatures: Pick<NodeSignatures, 'verify'>;
  /** What was parsed already, as it came. */
  readonly #texts = new WeakMap<FastifyRequest, string>();

  constructor(signatures: Pick<NodeSignatures, 'verify'>) {
    this.#signatures = signatures;
  }

  /** Keeps the text of a body that is about to be parsed: the signature covers it. */
  keep(request: FastifyRequest, text: string): void {
    if (request.headers[FORWARDED_BY] !== undefined) this.#texts.set(request, text);
  }

  has(request: FastifyRequest): boolean {
    const { method, url: path, headers } = request;
    if (headers[FORWARDED_BY] === undefined) return false;
    const body = Buffer.isBuffer(request.body) ? request.body : (this.#texts.get(request) ?? '');
    return this.#signatures.verify({ method, path, body }, headers);
  }
}
