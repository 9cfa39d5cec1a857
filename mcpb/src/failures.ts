import { SdkError, SdkErrorCode, SdkHttpError } from '@modelcontextprotocol/client';
import { type BridgeSettings, withoutKey } from './settings.ts';

/** Limit for text of the server in an error. */
const MAX_TEXT_LENGTH = 500;

export interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

/** Of JSON-RPC 2.0, for errors of an implementation. */
const BRIDGE_ERROR = -32_000;

const CHECK_FIRST = 'Check what the call did before you repeat it.';

/** Errors before anything was sent: of the name, the connection and the certificate. */
const UNSENT =
  /^(ECONNREFUSED|ENOTFOUND|EAI_\w+|E(HOST|NET)UNREACH|UND_ERR_CONNECT_TIMEOUT|EPROTO|\w*CERT\w*|\w+_SIGNATURE|ERR_(TLS|SSL)_\w+)$/;

/** Why a request got no answer of the MCP server, in words that help the person who configured the bridge. */
export function failureOf(error: unknown, settings: BridgeSettings): RpcError {
  const text = error instanceof SdkHttpError ? withoutKey(error.data['text'], settings) : undefined;
  return rpcErrorOf(text) ?? { code: BRIDGE_ERROR, message: messageOf(error, text, settings) };
}

export const endedEarly = (settings: BridgeSettings): RpcError => ({
  code: BRIDGE_ERROR,
  message: `The connection to ${addressOf(settings)} ended before the answer. ${CHECK_FIRST}`,
});

export const unanswered = (settings: BridgeSettings): RpcError => ({
  code: BRIDGE_ERROR,
  message: `The server at ${addressOf(settings)} accepted the request, but did not answer it. ${CHECK_FIRST}`,
});

function messageOf(error: unknown, text: unknown, settings: BridgeSettings): string {
  const address = addressOf(settings);
  if (error instanceof SdkHttpError) return httpMessageOf(error, text, settings);
  if (error instanceof SdkError && error.code === SdkErrorCode.ClientHttpUnexpectedContent)
    return `${address} does not answer as an MCP server. Check the URL in the settings of the extension.`;
  const { code, syscall } = causeOf(error);
  const reason = code ?? shortened(withoutKey(error instanceof Error ? error.message : 'unknown error', settings));
  if (syscall === 'connect' || UNSENT.test(code ?? ''))
    return `Cannot reach the server at ${address} (${reason}). Check that it runs, and the URL in the settings of the extension.`;
  return `There is no complete answer from the server at ${address} (${reason}). ${CHECK_FIRST}`;
}

function httpMessageOf({ status, message }: SdkHttpError, text: unknown, settings: BridgeSettings): string {
  const address = addressOf(settings);
  const detail = detailOf(text);
  const said = detail === undefined ? '' : ` The server says: ${detail}`;
  if (status === 401)
    return `The server at ${address} does not accept the API key. Enter a valid one in the settings of the extension.${said}`;
  if (status === 403) return `The server at ${address} does not permit this.${said}`;
  if (status === 404 || status === 405)
    return `There is no MCP server at ${address}. Check the URL in the settings of the extension.${said}`;
  if (status === 429) return `The API key has sent too many requests. Wait, then try again.${said}`;
  if (status >= 300 && status < 400)
    return `The server at ${address} redirects elsewhere. Enter the final URL. ${shortened(withoutKey(message, settings))}`;
  const advice = status >= 500 ? ` ${CHECK_FIRST}` : '';
  return `The server at ${address} answered with status ${status}.${advice}${said}`;
}

/** Without the query, which is not part of the address that a person knows. */
const addressOf = ({ url: { origin, pathname } }: BridgeSettings): string => origin + pathname;

interface Cause {
  readonly code?: string;
  readonly syscall?: string;
}

/** A network error, such as ECONNREFUSED, is the cause of the one that is thrown. */
function causeOf(error: unknown): Cause {
  const { cause } = (error ?? {}) as { cause?: unknown };
  const { code, syscall } = (cause ?? {}) as { code?: unknown; syscall?: unknown };
  return { ...(typeof code === 'string' && { code }), ...(typeof syscall === 'string' && { syscall }) };
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
