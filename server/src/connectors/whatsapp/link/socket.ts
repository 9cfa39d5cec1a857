import type { WASocket } from 'baileys';
import { withTimeout } from '../../../async.ts';
import type { Clock } from '../../../clock.ts';

/** How long the server may take to answer the end of a connection. */
const CLOSE_MS = 2000;

/** Ends a connection, and terminates it if the server does not answer. */
export async function endSocket(socket: WASocket, clock: Clock): Promise<void> {
  await withTimeout(clock, CLOSE_MS, socket.end(undefined)).catch(() => terminate(socket));
}

/** Terminates a connection without waiting for a server that does not answer. */
export function terminate(socket: WASocket): void {
  // Baileys does not expose the WebSocket and would wait for its closing handshake.
  const { socket: inner } = socket.ws as unknown as { socket: { terminate(): void } | null };
  inner?.terminate();
  socket.end(undefined).catch(() => {});
}
