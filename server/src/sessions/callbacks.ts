import { API_PREFIX } from '../version.ts';

/** Where a network calls a session. Who knows the address still has to show the connector who it is. */
export function callbackPath(sessionId: string): string {
  return `${API_PREFIX}/callbacks/${sessionId}`;
}
