import { generateKeyPairSync } from 'node:crypto';
import type { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { type Configuration, errors, interactionPolicy, type KoaContextWithOIDC, Provider } from 'oidc-provider';
import type { KeyChanges } from '../auth/keyChanges.ts';
import { networkOf } from '../auth/network.ts';
import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import { OAuthAdapter } from './adapter.ts';
import type { ClientDocuments } from './clientDocuments.ts';
import type { OAuthRecords } from './records.ts';
import { paths, SESSION_COOKIE } from './requests.ts';
import { supportedScopes } from './scopes.ts';

interface ProviderDeps {
  readonly issuer: string;
  readonly resource: string;
  /** Signs the cookies that bind a request to its browser. The same on all nodes. */
  readonly cookieKey: string;
  readonly records: OAuthRecords;
  readonly documents: ClientDocuments;
  /** Whether a caller from this network may make the server fetch the document of a client once more. */
  readonly mayFetch: (clientId: string, network: string) => Promise<boolean>;
  readonly clock: Clock;
  readonly keyChanges: KeyChanges;
  readonly renderError: (title: string, detail: string) => { html: string; headers: Record<string, string> };
  readonly log: Log;
}

const MINUTE = 60;
const ACCESS_TOKEN_SECONDS = 10 * MINUTE;
/** For clients that cannot refresh, and so would have to ask the person again. */
const LONE_ACCESS_TOKEN_SECONDS = 60 * MINUTE;
const REFRESH_TOKEN_SECONDS = 30 * 24 * 60 * MINUTE;
const CODE_SECONDS = MINUTE;
const INTERACTION_SECONDS = 15 * MINUTE;
/** Sessions of the library are of no use here: every request of an app asks the person. */
const SESSION_SECONDS = MINUTE;
const MAX_CLIENT_ID_LENGTH = 500;
const TOO_MANY_FETCHES = 'too many descriptions of apps were fetched; wait a minute before you try again';

/**
 * Creates the authorization server: code flow with PKCE for public clients, opaque tokens, and nothing of OpenID
 * Connect. It trusts `x-forwarded-proto`, which its caller sets.
 */
export function createProvider(deps: ProviderDeps): Provider {
  const { issuer, log } = deps;
  const provider = new Provider(issuer, configurationOf(deps));
  provider.proxy = true;
  provider.use(async (ctx, next) => {
    await next();
    dropSessionCookie(ctx.res);
    dropCors(ctx.res);
  });
  // Such as a client that hangs up. Without a listener, Koa prints them. The published types lack the events of Koa.
  (provider as EventEmitter).on('error', (error: Error) => log.warn({ err: error }, 'OAuth connection failed'));
  provider.on('server_error', (_, error: Error) => log.error({ err: error }, 'OAuth request failed'));
  const refused = (ctx: KoaContextWithOIDC, error: errors.OIDCProviderError) => {
    const { error: code, error_description: description, error_detail: detail, cause } = error;
    const reason = cause instanceof Error ? cause.message : undefined;
    log.info({ path: ctx.path, error: code, description, detail, reason }, 'refused an OAuth request');
  };
  provider.on('authorization.error', refused);
  provider.on('grant.error', refused);
  provider.on('revocation.error', refused);
  provider.on('registration_create.error', refused);
  return provider;
}

function configurationOf(deps: ProviderDeps): Configuration {
  const { resource, cookieKey, records, documents, keyChanges, clock } = deps;
  return {
    adapter: (name: string) => new OAuthAdapter(name, { records, resource, keyChanges, clock }),
    routes: { ...paths },
    cookies: {
      names: {
        session: SESSION_COOKIE,
        interaction: 'switchboard-oauth-request',
        resume: 'switchboard-oauth-resume',
      },
      keys: [cookieKey],
      long: { signed: true, httpOnly: true, sameSite: 'lax', path: paths.authorization },
      short: { signed: true, httpOnly: true, sameSite: 'lax' },
    },
    responseTypes: ['code'],
    clientAuthMethods: ['none'],
    clientDefaults: { token_endpoint_auth_method: 'none', id_token_signed_response_alg: 'ES256' },
    // Required by the library. Nothing is signed: tokens are opaque, and there are no id tokens.
    jwks: { keys: [generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' })] },
    pkce: { required: () => true },
    clientBasedCORS: () => false,
    features: featuresOf(deps),
    ttl: {
      AccessToken: (_ctx, _token, client) =>
        client.grantTypeAllowed('refresh_token') ? ACCESS_TOKEN_SECONDS : LONE_ACCESS_TOKEN_SECONDS,
      AuthorizationCode: CODE_SECONDS,
      Grant: REFRESH_TOKEN_SECONDS,
      Interaction: INTERACTION_SECONDS,
      RefreshToken: REFRESH_TOKEN_SECONDS,
      Session: SESSION_SECONDS,
    },
    issueRefreshToken: async (_ctx, client) => client.grantTypeAllowed('refresh_token'),
    rotateRefreshToken: true,
    expiresWithSession: async () => false,
    // An app that revokes one of its tokens disconnects. After a replay it stays connected, without any token.
    revokeGrantPolicy: ({ oidc }) => oidc.route === 'revocation',
    loadExistingGrant: async ({ oidc }) => {
      const keyId = oidc.result?.consent?.grantId;
      return keyId === undefined ? undefined : oidc.provider.Grant.find(keyId);
    },
    findAccount: async (_ctx, accountId) => ({ accountId, claims: async () => ({ sub: accountId }) }),
    interactions: {
      policy: policyOf() as NonNullable<Configuration['interactions']>['policy'],
      url: (_ctx, { uid }) => `/connect/${uid}`,
    },
    renderError: async (ctx, { error, error_description: description }) => {
      const { html, headers } = deps.renderError(error, description ?? '');
      ctx.set(headers);
      ctx.body = html;
    },
    fetch: async (url) => documents.fetch(String(url)),
  };
}

function featuresOf({ resource, mayFetch }: ProviderDeps): Configuration['features'] {
  const scope = supportedScopes.join(' ');
  // The library looks up a client again to report that it could not be fetched.
  const fetching = new WeakSet<KoaContextWithOIDC>();
  return {
    clientIdMetadataDocument: {
      enabled: true,
      ack: 'draft-02',
      allowFetch: async (ctx: KoaContextWithOIDC, clientId: string) => {
        if (clientId.length > MAX_CLIENT_ID_LENGTH || fetching.has(ctx)) return false;
        fetching.add(ctx);
        // Not `invalid_client`, after which clients forget their tokens.
        if (!(await mayFetch(clientId, networkOf(ctx.ip)))) throw new errors.TemporarilyUnavailable(TOO_MANY_FETCHES);
        return true;
      },
      allowClient: async () => true,
    },
    registration: { enabled: true, issueRegistrationAccessToken: false },
    revocation: { enabled: true, allowedPolicy: async (_ctx, client, token) => token.clientId === client.clientId },
    resourceIndicators: {
      enabled: true,
      // Older clients do not name it.
      defaultResource: async () => resource,
      useGrantedResource: async () => true,
      getResourceServerInfo: async (_ctx, wanted) => {
        if (wanted !== resource) throw new errors.InvalidTarget();
        return { scope, audience: resource, accessTokenFormat: 'opaque' };
      },
    },
    devInteractions: { enabled: false },
    dPoP: { enabled: false },
    pushedAuthorizationRequests: { enabled: false },
    rpInitiatedLogout: { enabled: false },
    userinfo: { enabled: false },
  } as Configuration['features']; // the published types lack some of these
}

/** The details for the consent page. Stored with the request, because only this node may have read the client. */
export interface RequestDetails {
  readonly clientId: string;
  readonly name: string | null;
  readonly url: string | null;
  readonly redirectUri: string;
  readonly scopes: readonly string[];
}

/** Every request asks the person, who is the one that is logged in to the dashboard. */
function policyOf() {
  const details = ({ oidc }: KoaContextWithOIDC): RequestDetails => {
    const { client, params } = oidc;
    return {
      clientId: String(client?.clientId),
      name: client?.clientName ?? null,
      url: client?.clientUri ?? null,
      redirectUri: String(params?.['redirect_uri']),
      scopes: String(params?.['scope'] ?? '').split(' '),
    };
  };
  const isUnanswered = ({ oidc }: KoaContextWithOIDC) => oidc.result?.consent?.grantId === undefined;
  const { Prompt, Check } = interactionPolicy;
  const shown = async (ctx: KoaContextWithOIDC) => ({ request: details(ctx) });
  return [
    new Prompt({ name: 'login', requestable: true }, shown),
    new Prompt(
      { name: 'consent', requestable: true },
      shown,
      new Check('unanswered', 'The person has to answer the request', isUnanswered),
    ),
  ];
}

/** Pages of other origins cannot call these endpoints. The library allows every origin before it knows the client. */
function dropCors(res: ServerResponse): void {
  for (const name of res.getHeaderNames()) if (name.startsWith('access-control-')) res.removeHeader(name);
}

/** The browser keeps no session of the library. */
function dropSessionCookie(res: ServerResponse): void {
  const cookies = [res.getHeader('set-cookie') ?? []].flat().map(String);
  const kept = cookies.filter((cookie) => !cookie.startsWith(SESSION_COOKIE));
  if (kept.length === cookies.length) return;
  if (kept.length === 0) res.removeHeader('set-cookie');
  else res.setHeader('set-cookie', kept);
}
