import type { Server } from 'node:net';

/** Returns the port of a server that listens on TCP. */
export function portOf(server: Pick<Server, 'address'>): number {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server does not listen on a port');
  return address.port;
}

/** Lets a server listen on a free port of this machine. Returns the port. */
export async function listenLocally(server: Pick<Server, 'address' | 'listen'>): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return portOf(server);
}
