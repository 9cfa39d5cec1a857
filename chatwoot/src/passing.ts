import { ApiError, ConnectionError } from '@switchboard/sdk/errors';
import { ChatwootError, ChatwootUnreachable } from './chatwoot/client.ts';

/** Error codes that pass, besides 408, 429 and 5xx. 401 and 403 pass once a key has been replaced. */
const PASSING = new Set([
  'session_not_connected',
  'session_state',
  'idempotency_in_flight',
  'unauthorized',
  'permission_denied',
]);

/** Whether Switchboard can accept the same request later. A key whose limits forbid one recipient still works. */
export function isPassing({ status, code, fields }: ApiError): boolean {
  if (fields.some((field) => field.code === 'recipient_denied')) return false;
  return status >= 500 ? code !== 'send_failed' : [401, 408, 429].includes(status) || PASSING.has(code);
}

/** Describes an outage for `GET /health`, which strangers can read, without texts of either side. */
export function outageOf(error: unknown): string {
  if (error instanceof ChatwootError) return `Chatwoot responded with ${error.status}`;
  if (error instanceof ChatwootUnreachable) return 'Chatwoot does not respond';
  if (error instanceof ApiError) return `Switchboard responded with ${error.status} (${error.code})`;
  return error instanceof ConnectionError ? 'Switchboard does not respond' : 'The bridge failed; see its log';
}
