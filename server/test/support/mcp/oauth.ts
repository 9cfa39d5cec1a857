import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import {
  Client,
  type OAuthClientInformationMixed,
  type OAuthClientProvider,
  type OAuthTokens,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from '@modelcontextprotocol/client';
import { freePort } from '../brokers/brokers.ts';
import { newHome } from '../databases/databases.ts';
import { type Answer, bearer, type Call, startServer, type TestServer, type TestServerOptions } from '../server.ts';

/** Starts a server that connects apps. Its address is the issuer. */
export async function startOAuthServer(options: TestServerOptions = {}): Promise<TestServer> {
  const port = await freePort();
  const env = {
    MCP_OAUTH: 'on',
    PORT: String(port),
    PUBLIC_URL: `http://127.0.0.1:${port}`,
    WEBHOOK_ALLOWED_CIDRS: '127.0.0.0/8', // documents of clients are on this machine
    ...options.env,
  };
  return startServer({ ...options, env });
}

/** Two nodes on one PostgreSQL. The address of the first one is the issuer, as that of a load balancer would be. */
export async function startOAuthNodes(): Promise<{ first: TestServer; second: TestServer; stop(): Promise<void> }> {
  const home = await newHome('postgres');
  const first = await startOAuthServer({ home });
  const env = {
    MCP_OAUTH: 'on',
    PUBLIC_URL: first.url,
    DATA_DIR: join(home.dataDir, 'second'),
    MEDIA_DIR: join(home.dataDir, 'media'),
  };
  const second = await startServer({ home, env });
  return {
    first,
    second,
    async stop() {
      await second.stop();
      await first.stop();
      await home.remove();
    },
  };
}

/** The browser of a person: it keeps cookies, and follows no redirect by itself. */
export class Browser {
  readonly #cookies = new Map<string, { value: string; path: string }>();

  async open(url: string | URL, headers: Record<string, string> = {}): Promise<Response> {
    const { pathname } = new URL(url);
    const cookie = [...this.#cookies]
      .filter(([, { path }]) => pathname.startsWith(path))
      .map(([name, { value }]) => `${name}=${value}`)
      .join('; ');
    const response = await fetch(url, { redirect: 'manual', headers: { accept: 'text/html', cookie, ...headers } });
    for (const line of response.headers.getSetCookie()) this.#keep(line);
    return response;
  }

  get cookieNames(): string[] {
    return [...this.#cookies.keys()];
  }

  #keep(line: string): void {
    const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
    const path = /; *path=([^;]*)/i.exec(line)?.[1] ?? '/';
    if (value === '') this.#cookies.delete(name);
    else this.#cookies.set(name, { value, path });
  }
}

/** The headers and the body of a request to the MCP endpoint. */
export const ACCEPT = { accept: 'application/json, text/event-stream' };
export const LIST = { jsonrpc: '2.0', id: 1, method: 'tools/list' };

/** Calls the MCP endpoint with a token and returns the HTTP status. */
export async function statusWith({ url }: Pick<TestServer, 'url'>, token: string): Promise<number> {
  return (await bearer(url, token)('POST', '/mcp', LIST, ACCEPT)).status;
}

export const CALLBACK = 'http://127.0.0.1:39871/callback';

/** An app that keeps its tokens in memory, for the client of the official SDK. */
export class TestApp implements OAuthClientProvider {
  readonly redirectUrl = CALLBACK;
  readonly clientMetadataUrl?: string;
  readonly clientMetadata: OAuthClientProvider['clientMetadata'];
  /** Where the client sends the person. */
  authorizationUrl: URL | undefined;
  client: OAuthClientInformationMixed | undefined;
  stored: OAuthTokens | undefined;
  #verifier = '';

  constructor({ name = 'Test app', scope, documentUrl }: { name?: string; scope?: string; documentUrl?: string } = {}) {
    this.clientMetadata = {
      client_name: name,
      redirect_uris: [CALLBACK],
      grant_types: ['authorization_code', 'refresh_token'],
      ...(scope !== undefined && { scope }),
    };
    if (documentUrl !== undefined) this.clientMetadataUrl = documentUrl;
  }

  state = () => 'the state of the app';
  clientInformation = () => this.client;
  saveClientInformation(client: OAuthClientInformationMixed) {
    this.client = client;
  }
  tokens = () => this.stored;
  saveTokens(tokens: OAuthTokens) {
    this.stored = tokens;
  }
  redirectToAuthorization(url: URL) {
    this.authorizationUrl = url;
  }
  saveCodeVerifier(verifier: string) {
    this.#verifier = verifier;
  }
  codeVerifier = () => this.#verifier;

  get tokensOrFail(): { access_token: string; refresh_token: string } {
    const { access_token, refresh_token } = this.stored ?? {};
    assert.ok(access_token !== undefined && refresh_token !== undefined, 'the app has no tokens');
    return { access_token, refresh_token };
  }
}

export function transportOf({ url }: Pick<TestServer, 'url'>, app: TestApp): StreamableHTTPClientTransport {
  return new StreamableHTTPClientTransport(new URL(`${url}/api/v1/mcp`), { authProvider: app });
}

export async function connectedClient(server: Pick<TestServer, 'url'>, app: TestApp): Promise<Client> {
  const client = new Client({ name: 'test', version: '1.0.0' });
  // The SDK's own class does not fit its interface under exactOptionalPropertyTypes.
  await client.connect(transportOf(server, app) as Parameters<Client['connect']>[0]);
  return client;
}

/** Answers the request of an app as a person who is logged in. */
export interface Consent {
  readonly permissions?: readonly string[];
  readonly [limit: string]: unknown;
}

/** Opens the authorization URL of an app. @returns the id of its request */
export async function beginRequest(browser: Browser, authorizationUrl: URL): Promise<string> {
  const begun = await browser.open(authorizationUrl);
  const location = begun.headers.get('location') ?? '';
  assert.equal(begun.status, 303, await begun.text());
  const [, id] = /^\/connect\/([\w-]+)$/.exec(new URL(location, authorizationUrl).pathname) ?? [];
  assert.ok(id !== undefined, `no request: ${location}`);
  return id;
}

/** Approves a request. @returns the address to which the app gets its code */
export async function approve(
  server: Pick<TestServer, 'url'>,
  call: Call,
  browser: Browser,
  requestId: string,
  consent: Consent = {},
): Promise<URL> {
  const asked = await call('GET', `/connections/requests/${requestId}`);
  assert.equal(asked.status, 200, JSON.stringify(asked.body));
  const answer = await call('POST', `/connections/requests/${requestId}/approve`, {
    permissions: asked.body.permissions,
    ...consent,
  });
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  return finish(server, browser, answer);
}

/** Continues in the browser after an answer. */
export async function finish({ url }: Pick<TestServer, 'url'>, browser: Browser, { body }: Answer): Promise<URL> {
  const back = await browser.open(new URL(body.redirectUrl, url));
  assert.equal(back.status, 303, await back.text());
  return new URL(back.headers.get('location') ?? '');
}

/** The whole flow, as the client of the official SDK does it: discovery, registration, consent, tokens. */
export async function connectApp(
  server: Pick<TestServer, 'url'>,
  call: Call,
  app: TestApp,
  consent: Consent = {},
  browser = new Browser(),
): Promise<Client> {
  const transport = transportOf(server, app);
  const client = new Client({ name: 'test', version: '1.0.0' });
  await assert.rejects(client.connect(transport as Parameters<Client['connect']>[0]), UnauthorizedError);
  assert.ok(app.authorizationUrl);
  const requestId = await beginRequest(browser, app.authorizationUrl);
  const redirect = await approve(server, call, browser, requestId, consent);
  assert.equal(redirect.searchParams.get('state'), 'the state of the app');
  await transport.finishAuth(redirect.searchParams);
  return connectedClient(server, app);
}

/** Registers a client. @returns the answer of the server */
export async function register({ url }: Pick<TestServer, 'url'>, metadata: unknown): Promise<Answer> {
  const response = await fetch(`${url}/oauth/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: typeof metadata === 'string' ? metadata : JSON.stringify(metadata),
  });
  return { status: response.status, headers: response.headers, body: await response.json() };
}

/** The address at which an app asks for a connection. `undefined` leaves a parameter out. */
export function authorizationUrl(
  { url }: Pick<TestServer, 'url'>,
  clientId: string,
  parameters: Record<string, string | undefined> = {},
): URL {
  const wanted: Record<string, string | undefined> = {
    response_type: 'code',
    client_id: clientId,
    redirect_uri: CALLBACK,
    code_challenge: newProof().challenge,
    code_challenge_method: 'S256',
    resource: `${url}/api/v1/mcp`,
    ...parameters,
  };
  const given = Object.entries(wanted).filter((pair): pair is [string, string] => pair[1] !== undefined);
  return new URL(`${url}/oauth/authorize?${new URLSearchParams(given)}`);
}

/** Lets a new app ask for a connection. @returns the id of its request */
export async function newRequest(
  server: Pick<TestServer, 'url'>,
  browser: Browser,
  parameters: Record<string, string | undefined> = {},
): Promise<string> {
  const { body } = await register(server, { client_name: 'Test app', redirect_uris: [CALLBACK] });
  return beginRequest(browser, authorizationUrl(server, body.client_id, parameters));
}

/** Calls an endpoint of the OAuth server with a form. */
export async function postForm(url: string, fields: Record<string, string>): Promise<Answer> {
  const response = await fetch(url, { method: 'POST', body: new URLSearchParams(fields) });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === '' ? undefined : JSON.parse(text) };
}

/** A proof key (RFC 7636). */
export function newProof(): { verifier: string; challenge: string } {
  const verifier = randomBytes(32).toString('base64url');
  return { verifier, challenge: createHash('sha256').update(verifier).digest('base64url') };
}
