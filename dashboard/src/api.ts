import { createClient } from '@switchboard/sdk';
import { ApiError, ConnectionError, errorOf } from '@switchboard/sdk/errors';
import { PageCodeError } from './lazyPage.tsx';
import { words } from './strings/shared.ts';

/**
 * Says to the server that the dashboard asks: only then does the cookie with the login count. Other sites cannot send
 * it (see `loginCookie.ts` of the server).
 */
export const DASHBOARD_HEADER = { 'x-switchboard-dashboard': '1' };

/** The way to the server. The login is in a cookie that no script can read. */
export const api = createClient({ baseUrl: location.origin, headers: DASHBOARD_HEADER });

/**
 * A request for what is no operation of the API, and so not in the client: the API's own description, and MCP.
 * @returns what was answered
 * @throws {ApiError | ConnectionError} as the client does
 */
export async function apiFetch(path: string, init: RequestInit = {}): Promise<Response> {
  const response = await fetch(path, { ...init, headers: { ...DASHBOARD_HEADER, ...init.headers } }).catch(
    (cause: unknown) => {
      throw new ConnectionError(`${path} got no answer`, { cause });
    },
  );
  if (!response.ok) throw await errorOf(response);
  return response;
}

/** Whether nobody is logged in, or not any more. */
export function isLoggedOut(error: unknown): boolean {
  return error instanceof ApiError && error.status === 401;
}

/** What a proxy answers while the server behind it is away, and what the server answers while it cannot work. */
const AWAY: ReadonlySet<number> = new Set([502, 503, 504]);

/** Whether the same request may pass as soon as the server is back. */
export function isUnavailable(error: unknown): boolean {
  return error instanceof ConnectionError || (error instanceof ApiError && AWAY.has(error.status));
}

/** What the server says is wrong in another way than by the API's errors. */
export class ServerError extends Error {}

/** An error in words for the reader. */
export function errorText(error: unknown): string {
  // An answer without the id of a request is not the server's, but that of something in front of it.
  const isAnswered = error instanceof ApiError && error.requestId !== '';
  if (error instanceof PageCodeError || (isUnavailable(error) && !isAnswered)) return words.unreachable;
  if (error instanceof ApiError || error instanceof ServerError) return error.message;
  return words.unexpected;
}

/** What is wrong with a field of what was sent, if the server complains of it. */
export function fieldError(error: unknown, field: string): string | undefined {
  return error instanceof ApiError ? error.fields.find((entry) => entry.field === field)?.message : undefined;
}
