import type { FastifyReply, FastifyRequest } from 'fastify';
import {
  type Authenticator,
  type Caller,
  isLegacy,
  type Presented,
  presentedCredential,
} from '../auth/authenticate.ts';
import { AppError } from '../errors.ts';
import type { AnonymousConnections } from './anonymousConnections.ts';

/** When the legacy forms of a credential were deprecated (RFC 9745): the first day of the product. */
const DEPRECATED_SINCE = '@1763596800';

export interface Authenticated {
  readonly caller: Caller;
  readonly presented: Presented;
}

/** Authenticates requests before their bodies are read, and keeps the result for their handlers. */
export class Callers {
  readonly #authenticator: Authenticator;
  readonly #anonymous: AnonymousConnections;
  readonly #found = new WeakMap<FastifyRequest, Authenticated>();

  constructor(authenticator: Authenticator, anonymous: AnonymousConnections) {
    this.#authenticator = authenticator;
    this.#anonymous = anonymous;
  }

  /** For `onRequest`. @throws {AppError} `unauthorized` */
  readonly authenticate = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const presented = credentialOf(request);
    if (presented !== undefined && isLegacy(presented)) announceDeprecation(reply);
    const caller = await this.#authenticator.authenticate(presented, request.ip);
    if (presented === undefined) throw new AppError('unauthorized');
    this.#anonymous.forget(request.raw.socket);
    this.#found.set(request, { caller, presented });
  };

  /** @throws {AppError} `unauthorized` */
  of(request: FastifyRequest): Authenticated {
    const found = this.#found.get(request);
    if (found === undefined) throw new AppError('unauthorized');
    return found;
  }
}

function credentialOf({ headers, query }: FastifyRequest): Presented | undefined {
  return presentedCredential(headers, (query as Record<string, unknown>)['key']);
}

function announceDeprecation(reply: FastifyReply): void {
  reply.header('deprecation', DEPRECATED_SINCE);
  reply.header('link', '</docs>; rel="deprecation"; type="text/html"');
}
