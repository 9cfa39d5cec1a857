import { hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Provider } from 'oidc-provider';
import { recordIdOf } from '../auth/appTokens.ts';
import { Buckets } from '../auth/buckets.ts';
import type { KeyChanges } from '../auth/keyChanges.ts';
import type { Clock } from '../clock.ts';
import type { Tx } from '../db/commit.ts';
import type { Database } from '../db/database.ts';
import type { TargetPolicy } from '../egress/target.ts';
import type { Log } from '../log.ts';
import { ClientDocuments } from './clientDocuments.ts';
import { describeRedirect } from './clientMetadata.ts';
import type { RequestDetails } from './provider.ts';
import { OAuthRecords, type Payload, putAnswer } from './records.ts';
import { paths } from './requests.ts';
import { supportedScopes } from './scopes.ts';

interface OAuthDeps {
  /** The origin of `PUBLIC_URL`, which is the issuer. */
  readonly issuer: string;
  /** The MCP endpoint, the only resource. */
  readonly resource: string;
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Log;
  /** The secret that all nodes share. */
  readonly secret: string;
  readonly targets: TargetPolicy;
  readonly keyChanges: KeyChanges;
}

/** The page for errors that cannot be sent to the app. */
export type RenderError = (title: string, detail: string) => { html: string; headers: Record<string, string> };

/** A request of an app for a connection, which a person answers. */
export interface AppRequest extends RequestDetails {
  readonly redirectHost: string;
  /** Whether the redirect leads to the device of the person, so that no host vouches for the app. */
  readonly isLocal: boolean;
  readonly expiresAt: number;
}

interface Approval {
  readonly accountId: string;
  /** The key that stands for the app. */
  readonly keyId: string;
  readonly permissions: readonly string[];
}

/** Documents that strangers let this node fetch, in a minute. */
const FETCHES_PER_NETWORK = 20;
const FETCHES = 120;
/** Fetches of the document of one client that an account has connected: strangers must not use up its share. */
const FETCHES_PER_CONNECTED = 20;

/**
 * The OAuth server of the MCP endpoint: an app asks for a connection, a person answers in the dashboard, and the app
 * gets tokens that stand for an API key. The protocol is `oidc-provider`, which is loaded with the first request.
 */
export class OAuth {
  readonly issuer: string;
  readonly resource: string;
  readonly #deps: OAuthDeps;
  readonly #records: OAuthRecords;
  readonly #fetchesByNetwork: Buckets;
  readonly #fetches: Buckets;
  readonly #fetchesByConnected: Buckets;
  #provider: Promise<Provider> | undefined;

  constructor(deps: OAuthDeps) {
    this.issuer = deps.issuer;
    this.resource = deps.resource;
    this.#deps = deps;
    this.#records = new OAuthRecords(deps.database, deps.clock);
    this.#fetchesByNetwork = new Buckets(FETCHES_PER_NETWORK, deps.clock);
    this.#fetches = new Buckets(FETCHES, deps.clock);
    this.#fetchesByConnected = new Buckets(FETCHES_PER_CONNECTED, deps.clock);
  }

  provider(renderError: RenderError): Promise<Provider> {
    this.#provider ??= this.#load(renderError).catch((error: unknown) => {
      this.#provider = undefined; // the next request tries again
      throw error;
    });
    return this.#provider;
  }

  /** @returns undefined if the request has expired or was answered */
  async readRequest(id: string): Promise<AppRequest | undefined> {
    const found = await this.#records.find('Interaction', id);
    if (found === undefined || found['result'] !== undefined) return undefined;
    // Written by the prompts of the provider.
    const { prompt, exp } = found as { prompt: { details: { request: RequestDetails } }; exp: number };
    const { request } = prompt.details;
    const { host, isLocal } = describeRedirect(request.redirectUri);
    return { ...request, redirectHost: host, isLocal, expiresAt: exp * 1000 };
  }

  /** Connects the app, as part of a transaction. @returns where the browser continues; undefined as `readRequest` */
  approve(tx: Tx, id: string, { accountId, keyId, permissions }: Approval): Promise<string | undefined> {
    // The app gets what the person chose, which can be more than it asked for.
    const params = { scope: permissions.join(' ') };
    return this.#answer(tx, id, { login: { accountId }, consent: { grantId: keyId } }, params);
  }

  deny(tx: Tx, id: string): Promise<string | undefined> {
    const error = { error: 'access_denied', error_description: 'The person did not connect the app' };
    return this.#answer(tx, id, error);
  }

  /**
   * Whether a browser continues a request that was answered in this browser. Its cookie shows that the request began
   * there; this secret, that the person who answered it was there, and not somebody who was sent a link to it.
   */
  async isAnsweredBy(id: string, secret: string): Promise<boolean> {
    const found = await this.#records.find('Interaction', id);
    const { answeredBy } = (found?.['result'] ?? {}) as { answeredBy?: string };
    if (answeredBy === undefined) return false;
    return timingSafeEqual(Buffer.from(answeredBy), Buffer.from(recordIdOf(secret)));
  }

  /** RFC 9728. */
  protectedResource(): object {
    return {
      resource: this.resource,
      resource_name: 'Switchboard',
      resource_documentation: `${this.issuer}/docs/guides/mcp`,
      authorization_servers: [this.issuer],
      // Without scopes: clients would ask for all of them instead of those that they want.
      bearer_methods_supported: ['header'],
    };
  }

  /** RFC 8414. */
  authorizationServer(): object {
    return {
      issuer: this.issuer,
      authorization_endpoint: this.issuer + paths.authorization,
      token_endpoint: this.issuer + paths.token,
      registration_endpoint: this.issuer + paths.registration,
      revocation_endpoint: this.issuer + paths.revocation,
      scopes_supported: supportedScopes,
      response_types_supported: ['code'],
      response_modes_supported: ['query'],
      grant_types_supported: ['authorization_code', 'refresh_token'],
      token_endpoint_auth_methods_supported: ['none'],
      revocation_endpoint_auth_methods_supported: ['none'],
      code_challenge_methods_supported: ['S256'],
      authorization_response_iss_parameter_supported: true,
      client_id_metadata_document_supported: true,
      service_documentation: `${this.issuer}/docs/guides/oauth`,
    };
  }

  /**
   * The `WWW-Authenticate` of a 401 of the MCP endpoint (RFC 6750 and 9728). It names no scopes, which clients would
   * ask for instead of those that they want.
   * @param isRefused whether the request had a credential
   */
  challenge(isRefused: boolean): string {
    const { pathname } = new URL(this.resource);
    const metadata = `${this.issuer}/.well-known/oauth-protected-resource${pathname}`;
    return [`Bearer resource_metadata="${metadata}"`, ...(isRefused ? ['error="invalid_token"'] : [])].join(', ');
  }

  async #load(renderError: RenderError): Promise<Provider> {
    const { createProvider } = await import('./provider.ts');
    const { issuer, resource, secret, targets, keyChanges, clock, log } = this.#deps;
    return createProvider({
      issuer,
      resource,
      cookieKey: Buffer.from(hkdfSync('sha256', secret, '', 'switchboard: cookies of OAuth', 32)).toString('base64'),
      records: this.#records,
      documents: new ClientDocuments(targets),
      mayFetch: (clientId, network) => this.#mayFetch(clientId, network),
      keyChanges,
      clock,
      renderError,
      log,
    });
  }

  async #mayFetch(clientId: string, network: string): Promise<boolean> {
    if (await this.#records.isConnectedClient(clientId)) return this.#fetchesByConnected.take(clientId).allowed;
    return this.#fetchesByNetwork.take(network).allowed && this.#fetches.take('all').allowed;
  }

  async #answer(tx: Tx, id: string, answer: Payload, params: Payload = {}): Promise<string | undefined> {
    const secret = randomBytes(32).toString('base64url');
    const result = { ...answer, answeredBy: recordIdOf(secret) };
    const isStored = await putAnswer(tx, id, { result, params }, this.#deps.clock.now());
    if (!isStored) return undefined;
    return `${paths.authorization}/${encodeURIComponent(id)}?answer=${secret}`;
  }
}
