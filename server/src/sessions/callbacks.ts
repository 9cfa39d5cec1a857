import { API_PREFIX } from '../version.ts';

/** The path of a session's callback. A caller of it must still authenticate to the connector. */
export function callbackPath(sessionId: string): string {
  return `${API_PREFIX}/callbacks/${sessionId}`;
}
