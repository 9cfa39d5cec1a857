import type { FastifyRequest } from 'fastify';
import { FORWARDED_BY, type NodeSignatures } from '../cluster/nodeSignature.ts';
import type { AnonymousConnections } from './anonymousConnections.ts';

/** Verifies requests that claim to be forwarded by another node. */
export class ForwardedRequests {
  readonly #signatures: Pick<NodeSignatures, 'verify'>;
  readonly #anonymous: Pick<AnonymousConnections, 'forget'>;
  /** The text of bodies that are already parsed. */
  readonly #texts = new WeakMap<FastifyRequest, string>();
  readonly #verified = new WeakSet<FastifyRequest>();

  constructor(signatures: Pick<NodeSignatures, 'verify'>, anonymous: Pick<AnonymousConnections, 'forget'>) {
    this.#signatures = signatures;
    this.#anonymous = anonymous;
  }

  /** Keeps the text of a body before it is parsed, because the signature covers it. */
  keep(request: FastifyRequest, text: string): void {
    if (request.headers[FORWARDED_BY] !== undefined) this.#texts.set(request, text);
  }

  /** For `preHandler`. Also exempts the connection of another node from the limit of anonymous connections. */
  readonly verify = async (request: FastifyRequest): Promise<void> => {
    const { method, url: path, headers } = request;
    if (headers[FORWARDED_BY] === undefined) return;
    const body = Buffer.isBuffer(request.body) ? request.body : (this.#texts.get(request) ?? '');
    if (!this.#signatures.verify({ method, path, body }, headers)) return;
    this.#verified.add(request);
    this.#anonymous.forget(request.raw.socket);
  };

  /** Whether `verify` confirmed that the request comes from another node. */
  has(request: FastifyRequest): boolean {
    return this.#verified.has(request);
  }
}
