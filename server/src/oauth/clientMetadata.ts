import { isLoopback } from '../egress/target.ts';

/*
 * The description of a client, from a registration or from its metadata document. All of it is written by strangers: it
 * is bounded, and everything that this server does not need is dropped.
 */

/** A client as this server keeps it: public, without a secret, protected by PKCE. */
export interface ClientMetadata {
  readonly client_name?: string;
  readonly client_uri?: string;
  readonly redirect_uris: readonly string[];
  readonly grant_types: readonly string[];
  readonly response_types: readonly ['code'];
  readonly token_endpoint_auth_method: 'none';
  /** Redirects to this machine may use any port (RFC 8252, section 7.3). */
  readonly application_type: 'native';
}

/** The code and the description of RFC 7591, section 3.2.2. */
export class ClientMetadataError extends Error {
  readonly code: 'invalid_client_metadata' | 'invalid_redirect_uri';

  constructor(code: ClientMetadataError['code'], description: string) {
    super(description);
    this.code = code;
  }
}

const MAX_NAME_LENGTH = 100;
const MAX_URI_LENGTH = 1000;
const MAX_REDIRECT_URIS = 10;
const GRANTS = ['authorization_code', 'refresh_token'];
/**
 * The private scheme of a native app is a domain name in reverse (RFC 8252, section 7.1). Others can start programs of
 * the operating system.
 */
const PRIVATE_SCHEME = /^[a-z]{2,}(\.[a-z0-9-]+)+:$/;
/** Schemes of well-known MCP clients, which are older than that rule or ignore it. */
const KNOWN_SCHEMES = ['claude:', 'cursor:', 'kiro:', 'vscode:', 'vscode-insiders:', 'windsurf:', 'zed:'];

/** @throws {ClientMetadataError} */
export function readClientMetadata(given: unknown): ClientMetadata {
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw new ClientMetadataError('invalid_client_metadata', 'The metadata must be a JSON object');
  const fields: Readonly<Record<string, unknown>> = { ...given };
  const name = readName(fields['client_name']);
  const uri = readClientUri(fields['client_uri']);
  return {
    ...(name !== undefined && { client_name: name }),
    ...(uri !== undefined && { client_uri: uri }),
    redirect_uris: readRedirectUris(fields['redirect_uris']),
    grant_types: readGrants(fields['grant_types']),
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
    application_type: 'native',
  };
}

/** One line of visible text: a name must not imitate the words around it on the consent page. */
function readName(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string')
    throw new ClientMetadataError('invalid_client_metadata', 'client_name must be a string');
  // Controls, line breaks, runs of spaces, and characters that are invisible or change the direction of text.
  const name = value.replace(/[\p{C}\p{Z}]+/gu, ' ').trim();
  if (name.length > MAX_NAME_LENGTH)
    throw new ClientMetadataError(
      'invalid_client_metadata',
      `client_name must have at most ${MAX_NAME_LENGTH} characters`,
    );
  return name === '' ? undefined : name;
}

/** Only a link for people: a wrong one is left out. */
function readClientUri(value: unknown): string | undefined {
  if (typeof value !== 'string' || value.length > MAX_URI_LENGTH) return undefined;
  const url = URL.parse(value);
  return url?.protocol === 'https:' && url.username === '' && url.password === '' ? url.href : undefined;
}

function readGrants(value: unknown): readonly string[] {
  // Clients that name none expect to stay connected.
  if (value === undefined || value === null) return GRANTS;
  const grants = Array.isArray(value) ? GRANTS.filter((grant) => value.includes(grant)) : [];
  if (!grants.includes('authorization_code'))
    throw new ClientMetadataError('invalid_client_metadata', 'grant_types must include authorization_code');
  return grants;
}

function readRedirectUris(value: unknown): readonly string[] {
  if (!Array.isArray(value) || value.length === 0 || value.length > MAX_REDIRECT_URIS)
    throw new ClientMetadataError(
      'invalid_redirect_uri',
      `redirect_uris must be a list of 1 to ${MAX_REDIRECT_URIS} URIs`,
    );
  return value.map((uri: unknown) => {
    const wrong = typeof uri === 'string' ? brokenRule(uri) : 'must be a string';
    if (typeof uri !== 'string' || wrong !== undefined)
      throw new ClientMetadataError('invalid_redirect_uri', `Each of redirect_uris ${wrong}`);
    return uri;
  });
}

/** Returns the rule that a redirect URI breaks, as the end of a sentence; undefined if it is valid. */
function brokenRule(text: string): string | undefined {
  if (text.length > MAX_URI_LENGTH) return `must have at most ${MAX_URI_LENGTH} characters`;
  const url = /[\s\\]/.test(text) ? null : URL.parse(text);
  if (url === null) return 'must be an absolute URI';
  if (text.includes('#')) return 'must have no fragment';
  if (url.username !== '' || url.password !== '') return 'must have no user name and no password';
  if (url.protocol === 'https:') return undefined;
  if (url.protocol === 'http:')
    return isLoopback(url.hostname) ? undefined : 'must use https, unless it leads to localhost';
  const isOfApp = PRIVATE_SCHEME.test(url.protocol) || KNOWN_SCHEMES.includes(url.protocol);
  return isOfApp ? undefined : 'must use https, or the private scheme of an app, such as com.example.app';
}

/** Where a redirect leads, as people read it: a host, or the scheme of an app. */
export function describeRedirect(uri: string): { readonly host: string; readonly isLocal: boolean } {
  const url = URL.parse(uri);
  if (url === null) return { host: uri.slice(0, MAX_NAME_LENGTH), isLocal: false };
  const isWeb = url.protocol === 'https:' || url.protocol === 'http:';
  return { host: isWeb ? url.host : `${url.protocol}//`, isLocal: isWeb ? isLoopback(url.hostname) : true };
}
