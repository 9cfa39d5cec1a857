import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/** Below the ports that systems give to servers and clients that ask for any. */
const [FIRST, END] = [20_000, 32_000];

/**
 * Finds a port on which nothing listens. Other tests do not get it by chance, unlike a port that the system has chosen:
 * it stays free until a program of this test listens on it, or for good.
 */
export async function quietPort(): Promise<number> {
  for (;;) {
    const port = randomInt(FIRST, END);
    const server = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false));
      server.listen(port, '127.0.0.1', () => resolve(true));
    });
    if (!isFree) continue;
    await new Promise((resolve) => server.close(resolve));
    return port;
  }
}
