import type { FastifyReply, FastifyRequest } from 'fastify';
import {
  type Authenticator,
  type Caller,
  isLegacy,
  type Presented,
  presentedCredential,
} from '../auth/authenticate.ts';
import { FORWARDED_BY } from '../cluster/nodeSignature.ts';
import { AppError } from '../errors.ts';
import { isFields } from '../objects.ts';
import { API_PREFIX } from '../version.ts';
import type { AnonymousConnections } from './anonymousConnections.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route accepts the access tokens of connected apps. */
    takesAppTokens?: true;
  }
}

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
    await this.authenticateAny(request, reply);
    // Another node forwards calls of apps over REST. `requireOwnToken` checks that it is one.
    if (isOfApp(this.of(request)) && request.headers[FORWARDED_BY] === undefined) throw notForRest();
  };

  /** Like `authenticate`, and also accepts the access token of an app. */
  readonly authenticateAny = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const presented = credentialOf(request);
    if (presented !== undefined && isLegacy(presented)) announceDeprecation(reply);
    const caller = await this.#authenticator.authenticate(presented, request.ip);
    if (presented === undefined) throw new AppError('unauthorized');
    this.#anonymous.forget(request.raw.socket);
    this.#found.set(request, { caller, presented });
  };

  /** Stops counting the connection of a request as anonymous, because what it presented without a caller is signed. */
  trust({ raw }: FastifyRequest): void {
    this.#anonymous.forget(raw.socket);
  }

  /**
   * For `preHandler`, after the signature of a forwarded request is verified. @throws {AppError} `unauthorized` if a
   * caller who is not a node presents the access token of an app at a route that does not accept it
   */
  requireOwnToken(request: FastifyRequest, isForwarded: boolean): void {
    const found = this.#found.get(request);
    if (found === undefined || !isOfApp(found) || isForwarded || request.routeOptions.config.takesAppTokens) return;
    throw notForRest();
  }

  /** @throws {AppError} `unauthorized` */
  of(request: FastifyRequest): Authenticated {
    const found = this.#found.get(request);
    if (found === undefined) throw new AppError('unauthorized');
    return found;
  }
}

const isOfApp = ({ caller: { credential } }: Authenticated) =>
  credential.type === 'api_key' && credential.isAppToken === true;

const notForRest = () =>
  new AppError('unauthorized', `Access tokens of apps are accepted only at ${API_PREFIX}/mcp; use an API key`);

function credentialOf({ headers, query }: FastifyRequest): Presented | undefined {
  return presentedCredential(headers, isFields(query) ? query['key'] : undefined);
}

function announceDeprecation(reply: FastifyReply): void {
  reply.header('deprecation', DEPRECATED_SINCE);
  reply.header('link', '</docs>; rel="deprecation"; type="text/html"');
}
