import { createClient } from '@switchboard/sdk';
import { ApiError, ConnectionError, errorOf } from '@switchboard/sdk/errors';
import { DASHBOARD_HEADER } from './dashboardHeader.ts';
import { PageCodeError } from './lazyPage.tsx';
import { sharedStrings } from './strings/shared.ts';

/** Client of the API. The login is in a cookie that no script can read. */
export const api = createClient({ baseUrl: location.origin, headers: DASHBOARD_HEADER });

/**
 * Requests something that is not an operation of the API, such as its description, or MCP.
 * @throws {ApiError | ConnectionError} like the client
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

/** Whether the request needs a login. A wrong password is another error with the same status. */
export function isLoggedOut(error: unknown): boolean {
  return error instanceof ApiError && error.status === 401 && error.code !== 'invalid_credentials';
}

/** Statuses of a proxy whose server is down, and of a server that cannot work. */
const UNAVAILABLE_STATUSES: ReadonlySet<number> = new Set([502, 503, 504]);

/** Whether the same request may succeed once the server is back. */
export function isUnavailable(error: unknown): boolean {
  return error instanceof ConnectionError || (error instanceof ApiError && UNAVAILABLE_STATUSES.has(error.status));
}

/** An error that the server reports in another format than that of the API. */
export class ServerError extends Error {}

/** The message of an error for the reader. */
export function errorText(error: unknown): string {
  // A response without a request id comes from a proxy.
  const isAnswered = error instanceof ApiError && error.requestId !== '';
  if (error instanceof PageCodeError || (isUnavailable(error) && !isAnswered)) return sharedStrings.unreachable;
  if (isLoggedOut(error)) return sharedStrings.loggedOut;
  if (error instanceof ApiError || error instanceof ServerError) return error.message;
  return sharedStrings.unexpected;
}

/** The errors of a field, and those of its entries if it is a list, if the server reports any. */
export function fieldError(error: unknown, field: string): string | undefined {
  const own = error instanceof ApiError ? error.fields.filter((entry) => isOf(field, entry.field)) : [];
  return own.length === 0 ? undefined : own.map(({ message }) => message).join('; ');
}

/** Fields whose entries have names of their own. */
const MAPS: ReadonlySet<string> = new Set(['headers', 'metadata']);

/** Whether an error names a field of a form, or one of its entries, such as `events.0`. */
const isOf = (field: string, named: string) =>
  named === field ||
  (named.startsWith(`${field}.`) && (MAPS.has(field) || /^\d+$/.test(named.slice(field.length + 1))));

/** The error to show for a form whose `fields` show theirs: null if that is all that the server reports. */
export function formError(error: unknown, fields: readonly string[]): unknown {
  const reported = error instanceof ApiError ? error.fields : [];
  const isShown = reported.length > 0 && reported.every(({ field }) => fields.some((name) => isOf(name, field)));
  return isShown ? null : error;
}
