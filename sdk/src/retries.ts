import { ApiError, ConnectionError } from './errors.ts';

const FIRST_WAIT_MS = 250;
const REPEATABLE_STATUS = [429, 502, 503, 504];

/** Whether to retry a request after this error. */
export function isTransient(error: ApiError | ConnectionError): boolean {
  if (error instanceof ConnectionError) return true;
  // The server still works on the previous try, whose answer was lost.
  if (error.code === 'idempotency_in_flight') return true;
  // The network refused the message and would refuse it again.
  return REPEATABLE_STATUS.includes(error.status) && error.code !== 'send_failed';
}

/** Whether a reader of events continues after this error: the server does not work now, and refuses nothing. */
export function isBreak(error: unknown): error is ApiError | ConnectionError {
  if (error instanceof ApiError) return error.status >= 500 || error.status === 429;
  return error instanceof ConnectionError;
}

/**
 * `Retry-After`, or exponential backoff with jitter, in milliseconds.
 * @param maxMs the longest backoff
 */
export function waitMs(error: ApiError | ConnectionError, tries: number, maxMs?: number): number {
  if (error instanceof ApiError && error.retryAfterSeconds !== undefined) return error.retryAfterSeconds * 1000;
  return backOffMs(tries, maxMs);
}

/** @param maxMs the longest pause, 30 s by default */
export function backOffMs(tries: number, maxMs = 30_000): number {
  return Math.min(maxMs, FIRST_WAIT_MS * 2 ** tries) * (0.5 + Math.random() / 2);
}
