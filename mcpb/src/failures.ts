import { SdkError, SdkErrorCode, SdkHttpError } from '@modelcontextprotocol/client';

/** Limit for text of the server in an error. */
const MAX_TEXT_LENGTH = 500;

export interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

/** Of JSON-RPC 2.0, for errors of an implementation. */
const BRIDGE_ERROR = -32_000;

/** Why a request got no answer of the MCP server, in words that help the person who configured the bridge. */
export function failureOf(error: unknown, url: URL): RpcError {
  const own = error instanceof SdkHttpError ? rpcErrorOf(error.data['text']) : undefined;
  return own ?? { code: BRIDGE_ERROR, message: messageOf(error, url) };
}

export const endedEarly = (url: URL): RpcError => ({
  code: BRIDGE_ERROR,
  message: `The connection to ${addressOf(url)} ended before the answer. Check what the call did before you repeat it.`,
});

function messageOf(error: unknown, url: URL): string {
  const address = addressOf(url);
  if (error instanceof SdkHttpError) return httpMessageOf(error, address);
  if (error instanceof SdkError && error.code === SdkErrorCode.ClientHttpUnexpectedContent)
    return `${address} does not answer as an MCP server. Check the URL in the settings of the extension.`;
  const reason = reasonOf(error);
  return `Cannot reach the server at ${address} (${reason}). Check that it runs, and the URL in the settings of the extension.`;
}

function httpMessageOf({ status, data, message }: SdkHttpError, address: string): string {
  const detail = detailOf(data['text']);
  const said = detail === undefined ? '' : ` The server says: ${detail}`;
  if (status === 401)
    return `The server at ${address} does not accept the API key. Enter a valid one in the settings of the extension.${said}`;
  if (status === 403) return `The server at ${address} does not permit this.${said}`;
  if (status === 404 || status === 405)
    return `There is no MCP server at ${address}. Check the URL in the settings of the extension.${said}`;
  if (status === 429) return `The API key has sent too many requests. Wait, then try again.${said}`;
  if (status >= 300 && status < 400)
    return `The server at ${address} redirects elsewhere. Enter the final URL. ${shortened(message)}`;
  return `The server at ${address} answered with status ${status}.${said}`;
}

/** Without the query, which is not part of the address that a person knows. */
const addressOf = ({ origin, pathname }: URL): string => origin + pathname;

/** The code of a network error, such as ECONNREFUSED, is in its cause. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown error';
  const { code } = (error.cause ?? {}) as { code?: unknown };
  return typeof code === 'string' ? code : shortened(error.message);
}

/** An error of the protocol, which the client understands better than any words. */
function rpcErrorOf(text: unknown): RpcError | undefined {
  const { jsonrpc, error } = parsed(text) as { jsonrpc?: unknown; error?: Partial<RpcError> };
  return jsonrpc === '2.0' && typeof error?.code === 'number' && typeof error.message === 'string'
    ? { ...error, code: error.code, message: error.message }
    : undefined;
}

/** The sentence of a problem document (RFC 9457). */
function detailOf(text: unknown): string | undefined {
  const { detail } = parsed(text) as { detail?: unknown };
  return typeof detail === 'string' ? shortened(detail) : undefined;
}

const shortened = (text: string): string =>
  text.length > MAX_TEXT_LENGTH ? `${text.slice(0, MAX_TEXT_LENGTH)}…` : text;

/** An object without members if the text is no JSON object. */
function parsed(text: unknown): object {
  try {
    const value: unknown = JSON.parse(String(text));
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    return {};
  }
}
