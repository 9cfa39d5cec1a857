import type { TestContext } from 'node:test';
import { startReceiver } from '../test/support/connections/receiver.ts';
import type { Home } from '../test/support/databases/databases.ts';
import { Load } from './load.ts';
import { SoakServer, type SoakServerOptions } from './server.ts';
import { SECONDS, SEED } from './settings.ts';

/** Starts a SQLite server with clients that send. Both stop, and the home is removed, at the end of the test. */
export async function startScene(
  test: TestContext,
  home: Pick<Home, 'remove'>,
  options: SoakServerOptions,
): Promise<{ server: SoakServer; load: Load }> {
  test.diagnostic(`SOAK_SEED=${SEED} SOAK_SECONDS=${SECONDS}`);
  const receiver = await startReceiver();
  const server = new SoakServer(options);
  test.after(async () => {
    await server.kill();
    await receiver.close();
    await home.remove();
  });
  await server.start();
  const load = new Load(() => [server.url], receiver);
  await load.prepare();
  load.start();
  return { server, load };
}
