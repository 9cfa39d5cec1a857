import { ApiError, NotFoundError, ValidationError } from '../sdk/src/errors.ts';

/** The network refuses the message, and would refuse it again. */
const FINAL_CODES: readonly string[] = ['send_failed', 'network_denied'];

/**
 * Whether the server would refuse the same request again. A receiver that fails at such an error gets the same event
 * until its retries end, and under strict ordering, the chat waits for that long. Other errors can pass: a session
 * connects again, a key gets its permission.
 */
export function isRefusal(error: unknown): error is ApiError {
  if (error instanceof ValidationError || error instanceof NotFoundError) return true;
  return error instanceof ApiError && FINAL_CODES.includes(error.code);
}
