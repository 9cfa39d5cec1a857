import { ApiError, ConnectionError, NotFoundError } from '../../../../sdk/src/errors.ts';

/*
 * Errors as WAHA returns them. WAHA is built on NestJS: an exception of its own becomes `{statusCode, message, error}`,
 * and a few carry another object (`src/nestjs/AllExceptionsFilter.ts` and `src/core/abc/manager.abc.ts` of
 * devlikeapro/waha, 2024.10).
 */

const NAMES: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  403: 'Forbidden',
  404: 'Not Found',
  409: 'Conflict',
  413: 'Payload Too Large',
  415: 'Unsupported Media Type',
  422: 'Unprocessable Entity',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
};

export class WahaError extends Error {
  readonly status: number;
  readonly body: object;
  readonly retryAfterSeconds: number | undefined;
  constructor(
    status: number,
    message: string | readonly string[],
    { body, retryAfterSeconds }: { readonly body?: object; readonly retryAfterSeconds?: number | undefined } = {},
  ) {
    super(String(message));
    this.status = status;
    this.body = body ?? { statusCode: status, message, ...(NAMES[status] !== undefined && { error: NAMES[status] }) };
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** A request whose fields are wrong. WAHA lists a sentence for each. */
export const badRequest = (...messages: readonly string[]) => new WahaError(400, messages);

export const unprocessable = (message: string) => new WahaError(422, message);

export const unauthorized = () =>
  new WahaError(401, 'Unauthorized', { body: { statusCode: 401, message: 'Unauthorized' } });

/** A session in the wrong state, as `waitUntilStatus` of WAHA reports it. */
export function unexpectedStatus(session: string, status: string, expected: string): WahaError {
  const error = 'Session status is not as expected. Try again later or restart the session';
  return new WahaError(422, error, { body: { error, session, status, expected: [expected] } });
}

/** The error of a call to Switchboard, as WAHA's clients expect it. Undefined for a bug. */
export function wahaErrorOf(error: unknown): WahaError | undefined {
  if (error instanceof WahaError) return error;
  if (error instanceof ConnectionError) return new WahaError(502, 'Switchboard does not answer');
  if (!(error instanceof ApiError)) return undefined;
  const { status, message, fields, retryAfterSeconds } = error;
  // The caller's key was right; the key of this command is not.
  if (status === 401) return new WahaError(502, `Switchboard refused the key of this command: ${message}`);
  const texts = fields.map((field) => `${field.field}: ${field.message}`);
  if (status === 400) return badRequest(...(texts.length > 0 ? texts : [message]));
  return new WahaError(status === 409 ? 422 : status, message, { retryAfterSeconds });
}

/** Returns undefined for something that does not exist, such as a deleted message. */
export async function unlessGone<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof NotFoundError) return undefined;
    throw error;
  }
}
