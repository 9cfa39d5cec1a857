/**
 * Every error that a caller can act on: `code → [HTTP status, title]`. The codes are part of the API and never change
 * their meaning; the text of `detail` may change. The docs and OpenAPI list this table.
 */
export const errors = {
  validation_failed: [400, 'One or more fields are missing or invalid'],
  invalid_json: [400, 'The request body is not valid JSON'],
  unauthorized: [401, 'The request has no valid credential; send a login token or an API key'],
  invalid_credentials: [401, 'The email address or the password is wrong'],
  jwt_required: [403, 'This operation requires a login token; an API key is not enough'],
  permission_denied: [403, 'The credential does not have the required permission'],
  confirmation_required: [403, 'The user of the API key has to confirm this call first'],
  confirmation_declined: [403, 'The user did not confirm this call'],
  link_invalid: [403, 'The link is not valid; ask for a new one'],
  network_denied: [403, 'The network does not allow the session to do this'],
  permission_not_grantable: [403, 'You cannot grant permissions that you do not have'],
  registration_closed: [403, 'Registration is closed on this server'],
  not_found: [404, 'The resource does not exist'],
  route_not_found: [404, 'The route does not exist'],
  method_not_allowed: [405, 'The route does not support this method'],
  upgrade_required: [426, 'The route requires a WebSocket client'],
  email_taken: [409, 'An account with this email address already exists; log in instead'],
  phone_number_in_use: [409, 'Another session uses this phone number; log it out or delete it first'],
  session_not_connected: [409, 'The session is not connected; connect it first'],
  session_state: [409, 'The status of the session does not allow this'],
  batch_state: [409, 'The status of the batch does not allow this'],
  message_state: [409, 'The status of the message does not allow this'],
  delivery_settled: [409, 'The delivery is settled'],
  session_required: [400, '`sessionId` is required unless the account has exactly one session'],
  idempotency_in_flight: [409, 'A request with this idempotency key is still in progress; repeat it later'],
  idempotency_mismatch: [422, 'This idempotency key was used for a different request; use a new key'],
  too_many: [409, 'The account has reached a limit'],
  webhook_not_set: [409, 'The account has no webhook; set one first'],
  not_supported: [422, 'The network of this session does not support this'],
  recipient_not_on_network: [422, 'The recipient is not on this network; check the number'],
  session_unavailable: [503, 'The session or webhook is temporarily unavailable; try again'],
  template_required: [
    422,
    'The network currently accepts only template messages to this recipient; use `messages/send-template`',
  ],
  send_failed: [502, 'The network did not accept the message or request'],
  fetch_failed: [422, 'The file could not be fetched'],
  payload_too_large: [413, 'The request body or the file is too large'],
  unsupported_media_type: [415, 'The content type is not supported'],
  range_not_satisfiable: [416, 'The file does not contain the requested range'],
  misdirected_request: [421, 'The Host header does not name this server'],
  rate_limited: [429, 'Too many requests; wait before the next one'],
  quota_exceeded: [429, 'The API key has used up the messages that it may send per day'],
  internal_error: [500, 'The server failed; its log has the cause under this `requestId`'],
  storage_unavailable: [503, 'The database or the media store is unavailable; try again'],
  too_busy: [503, 'The server is busy; try again'],
  shutting_down: [503, 'The server is shutting down; try again'],
} as const satisfies Record<string, readonly [status: number, title: string]>;

export type ErrorCode = keyof typeof errors;

/** One wrong field. `field` is a dotted path into the request, such as `events.0`. */
export interface FieldError {
  readonly field: string;
  readonly code: string;
  readonly message: string;
}

/** The default `Retry-After` of errors that pass by themselves. */
const UNAVAILABLE_RETRY_SECONDS = 2;

interface Details {
  readonly fields?: readonly FieldError[];
  readonly retryAfterSeconds?: number;
  readonly cause?: unknown;
}

/** Marks an `AppError` of any copy of this module: a connector may bring its own, from `@switchboard/connector-kit`. */
const BRAND = Symbol.for('switchboard.AppError');

/**
 * An error that a caller can act on. Anything else that is thrown is a bug: a 500 without its text.
 *
 * `instanceof AppError` recognizes those of other copies of this class, if their code is in the table.
 */
export class AppError extends Error {
  readonly [BRAND] = true;
  readonly code: ErrorCode;
  readonly fields: readonly FieldError[];
  readonly retryAfterSeconds: number | undefined;

  constructor(code: ErrorCode, detail?: string, details: Details = {}) {
    super(detail ?? errors[code][1], { cause: details.cause });
    this.name = 'AppError';
    this.code = code;
    this.fields = details.fields ?? [];
    this.retryAfterSeconds =
      details.retryAfterSeconds ?? (errors[code][0] === 503 ? UNAVAILABLE_RETRY_SECONDS : undefined);
  }

  get status(): number {
    return errors[this.code][0];
  }

  static override [Symbol.hasInstance](value: unknown): boolean {
    // Subclasses have no other copies, and differ from one another.
    // biome-ignore lint/complexity/noThisInStatic: a subclass inherits this
    if (this !== AppError) return Function.prototype[Symbol.hasInstance].call(this, value);
    if (typeof value !== 'object' || value === null || !(BRAND in value) || !('code' in value)) return false;
    return typeof value.code === 'string' && Object.hasOwn(errors, value.code);
  }
}

/** A problem that the operator can fix. Its message explains it completely. */
export class OperatorError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** Whether the database or the media store is temporarily unavailable, so that background work should retry. */
export const isAway = (error: unknown): error is AppError =>
  error instanceof AppError && error.code === 'storage_unavailable';

/** Joins errors of fields to the text of an error, for callers who read nothing else. */
export const textOfFields = (fields: readonly FieldError[]): string =>
  fields.map(({ field, message }) => `${field} ${message}`).join('; ');

/** Makes a `validation_failed` error for one field, for rules that a schema cannot express. */
export function invalidField(field: string, message: string, code = 'invalid'): AppError {
  // A predicate, such as "is required", is prefixed with the field.
  const detail = /^[a-z]/.test(message) ? `${field} ${message}` : message;
  return new AppError('validation_failed', detail, { fields: [{ field, code, message }] });
}

/**
 * Makes a `not_found` error, the same one for an unknown id and for one that the caller may not see.
 * @param field the field of the input that has the id, for errors that name it
 */
export function noSuch(resource: string, id: string, field?: string): AppError {
  const detail = `The ${resource} ${id} does not exist`;
  const fields = field === undefined ? [] : [{ field, code: 'not_found', message: detail }];
  return new AppError('not_found', detail, { fields });
}

/** Makes the error of every operation on a session whose deletion has begun. */
export const isBeingDeleted = (sessionId: string) =>
  new AppError('not_found', `The session ${sessionId} is being deleted`, {
    fields: [{ field: 'sessionId', code: 'not_found', message: `The session ${sessionId} is being deleted` }],
  });

/** Makes the error of a session that connects by itself, so that nobody has to connect it. */
export const isConnecting = () =>
  new AppError('session_not_connected', 'The session is connecting; try again in a moment');

/** A problem document (RFC 9457), with the additional members `code`, `requestId` and `errors`. */
export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code: ErrorCode;
  readonly requestId: string;
  readonly errors?: readonly FieldError[];
}

/** The errors at the limit of open files of the process or the machine. */
const FILE_LIMITS: readonly unknown[] = ['EMFILE', 'ENFILE'];
const CROWDED = 'The server has too many open files and connections; try again';

/** Returns an `AppError` unchanged, and one that reveals nothing for any other thrown value. */
export function asAppError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  const isCrowded = error instanceof Error && 'code' in error && FILE_LIMITS.includes(error.code);
  return isCrowded
    ? new AppError('too_busy', CROWDED, { cause: error })
    : new AppError('internal_error', undefined, { cause: error });
}

/** Turns any thrown value into a problem document. Only an `AppError` reveals its message. */
export function toProblem(error: unknown, requestId: string): Problem {
  const known = asAppError(error);
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
