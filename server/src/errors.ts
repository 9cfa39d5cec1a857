/**
 * Every error a caller can act on: `code → [HTTP status, title]`. The codes are part of the API and never change
 * their meaning; the sentence beside them (`detail`) may. Documented in docs and in OpenAPI from this table.
 */
export const errors = {
  validation_failed: [400, 'The request has fields that are missing or wrong'],
  invalid_json: [400, 'The body is not valid JSON'],
  unauthorized: [401, 'No valid credential was presented'],
  invalid_credentials: [401, 'The email or the password is wrong'],
  jwt_required: [403, 'This operation needs a login token, not an API key'],
  permission_denied: [403, 'The credential lacks a permission'],
  network_denied: [403, 'The network refused this action'],
  permission_not_grantable: [403, 'A key can grant only what its maker has'],
  registration_closed: [403, 'Registration is closed on this server'],
  not_found: [404, 'There is no such resource'],
  route_not_found: [404, 'There is no such route'],
  method_not_allowed: [405, 'The route exists, but not with this method'],
  email_taken: [409, 'An account with this email exists already'],
  phone_number_in_use: [409, 'Another connected session uses this phone number'],
  session_not_connected: [409, 'The session is not connected'],
  session_state: [409, 'The session is not in a state that allows this'],
  message_state: [409, 'The message is not in a state that allows this'],
  session_required: [400, 'Which session is meant is not clear'],
  idempotency_in_flight: [409, 'A request with this idempotency key is still being worked on'],
  idempotency_mismatch: [422, 'This idempotency key was used for a different request'],
  too_many: [409, 'The account has reached its limit'],
  webhook_not_set: [409, 'No webhook is set'],
  not_supported: [422, 'The network of this session cannot do this'],
  recipient_not_on_network: [422, 'The recipient is not on this network'],
  session_unavailable: [503, 'The node that has the session or webhook does not answer'],
  template_required: [422, 'The network takes only a template for this recipient now'],
  send_failed: [502, 'The network refused the message'],
  fetch_failed: [422, 'The file behind the URL could not be fetched'],
  payload_too_large: [413, 'The body is too large'],
  unsupported_media_type: [415, 'The content type is not supported'],
  range_not_satisfiable: [416, 'The content has no such range'],
  misdirected_request: [421, 'The Host header does not name this server'],
  rate_limited: [429, 'Too many requests'],
  internal_error: [500, 'Something went wrong on our side'],
  storage_unavailable: [503, 'The database or the media store cannot do this right now'],
  too_busy: [503, 'The server is busy with other requests'],
  shutting_down: [503, 'The server is shutting down'],
} as const satisfies Record<string, readonly [status: number, title: string]>;

export type ErrorCode = keyof typeof errors;

/** One wrong field. `field` is a dotted path into the request, such as `events.0`. */
export interface FieldError {
  readonly field: string;
  readonly code: string;
  readonly message: string;
}

/** What is away now is asked for again after this, unless somebody knows better. */
const COMES_BACK_SECONDS = 2;

interface Details {
  readonly fields?: readonly FieldError[];
  readonly retryAfterSeconds?: number;
  readonly cause?: unknown;
}

/** An error that a caller can act on. Anything else that is thrown is a bug and answers 500 without its text. */
export class AppError extends Error {
  readonly code: ErrorCode;
  readonly fields: readonly FieldError[];
  readonly retryAfterSeconds: number | undefined;

  constructor(code: ErrorCode, detail?: string, details: Details = {}) {
    super(detail ?? errors[code][1], { cause: details.cause });
    this.name = 'AppError';
    this.code = code;
    this.fields = details.fields ?? [];
    this.retryAfterSeconds = details.retryAfterSeconds ?? (errors[code][0] === 503 ? COMES_BACK_SECONDS : undefined);
  }

  get status(): number {
    return errors[this.code][0];
  }
}

/** Whether the database or the media store is away for the moment: whoever works in the background tries again. */
export const isAway = (error: unknown): boolean => error instanceof AppError && error.code === 'storage_unavailable';

/** A `validation_failed` error for one field, as handlers raise it for rules that a schema cannot state. */
export function invalidField(field: string, message: string, code = 'invalid'): AppError {
  return new AppError('validation_failed', message, { fields: [{ field, code, message }] });
}

/** A problem document as of RFC 9457, with `code`, `requestId` and `errors` beside the standard members. */
export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code: ErrorCode;
  readonly requestId: string;
  readonly errors?: readonly FieldError[];
}

/** Any thrown value as a problem document. What is not an `AppError` tells nothing of its inside. */
export function toProblem(error: unknown, requestId: string): Problem {
  const known = error instanceof AppError ? error : new AppError('internal_error', undefined, { cause: error });
  const [status, title] = errors[known.code];
  return {
    type: `/docs/errors#${known.code}`,
    title,
    status,
    detail: known.message,
    code: known.code,
    requestId,
    ...(known.fields.length > 0 && { errors: known.fields }),
  };
}
