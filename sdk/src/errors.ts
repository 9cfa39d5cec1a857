import type { ErrorCode } from './api.ts';

/** An invalid field. `field` is a dotted path into the request, such as `events.0`. */
export interface FieldError {
  readonly field: string;
  readonly code: string;
  readonly message: string;
}

interface Problem {
  readonly status: number;
  readonly code: ErrorCode;
  readonly detail: string;
  readonly requestId: string;
  readonly errors?: readonly FieldError[];
}

/**
 * The server refused a request, with a stable `code`. Its subclasses say what kind of refusal it was:
 *
 * ```ts
 * try {
 *   await sb.messages.send({ to, message });
 * } catch (error) {
 *   if (!(error instanceof ConflictError) || error.code !== 'session_not_connected') throw error;
 *   await sb.sessions.connect({ sessionId });
 * }
 * ```
 */
export class ApiError extends Error {
  override readonly name: string = 'ApiError';
  readonly status: number;
  readonly code: ErrorCode;
  /** Id of the request in the server's log. */
  readonly requestId: string;
  readonly fields: readonly FieldError[];
  /** Seconds to wait, if the server sent `Retry-After`. */
  readonly retryAfterSeconds: number | undefined;

  constructor({ status, code, detail, requestId, errors = [] }: Problem, retryAfterSeconds?: number) {
    super(detail);
    this.status = status;
    this.code = code;
    this.requestId = requestId;
    this.fields = errors;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** The request is invalid; `fields` lists the errors (400, 413, 415, 416, 422). */
export class ValidationError extends ApiError {
  override readonly name = 'ValidationError';
}
/** The credential is missing, wrong, expired or revoked (401). */
export class AuthenticationError extends ApiError {
  override readonly name = 'AuthenticationError';
}
/** The credential lacks the permission (403). */
export class PermissionError extends ApiError {
  override readonly name = 'PermissionError';
}
/** The resource does not exist in this account (404). */
export class NotFoundError extends ApiError {
  override readonly name = 'NotFoundError';
}
/** The state of the resource does not allow the request (409). */
export class ConflictError extends ApiError {
  override readonly name = 'ConflictError';
}
/** Too many requests (429); `retryAfterSeconds` says how long to wait. */
export class RateLimitError extends ApiError {
  override readonly name = 'RateLimitError';
}
/** The server or the network failed (5xx). */
export class ServerError extends ApiError {
  override readonly name = 'ServerError';
}

/** The server was not reached, or the connection broke. The request may have been processed. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError';
}

const byStatus: Readonly<Record<number, typeof ApiError>> = {
  401: AuthenticationError,
  403: PermissionError,
  404: NotFoundError,
  409: ConflictError,
  429: RateLimitError,
};

/** A value cannot be part of a request, which was not sent: an id that is a dot, or an address that is no URL. */
export class ArgumentError extends TypeError {
  override readonly name = 'ArgumentError';
}

/** Reads the error from a response. */
export async function errorOf(response: Response): Promise<ApiError> {
  const { status } = response;
  const retryAfterSeconds = secondsOf(response.headers.get('retry-after'));
  const problem = await response.json().catch(() => undefined);
  const Type = byStatus[status] ?? (status >= 500 ? ServerError : ValidationError);
  return new Type(isProblem(problem) ? problem : unknownProblem(response), retryAfterSeconds);
}

/** Reads seconds or a date, which a proxy may send (RFC 9110, 10.2.3). */
function secondsOf(retryAfter: string | null): number | undefined {
  if (retryAfter === null) return undefined;
  const seconds = /^\d+$/.test(retryAfter) ? Number(retryAfter) : (Date.parse(retryAfter) - Date.now()) / 1000;
  return Number.isNaN(seconds) ? undefined : Math.max(0, seconds);
}

function isProblem(value: unknown): value is Problem {
  return typeof value === 'object' && value !== null && 'code' in value && 'detail' in value;
}

/** Describes an answer that a proxy sent in place of the server. */
function unknownProblem({ status, statusText, headers }: Response): Problem {
  return {
    status,
    code: 'internal_error',
    detail: `Answered ${status} ${statusText} without a problem document`,
    requestId: headers.get('x-request-id') ?? '',
  };
}
