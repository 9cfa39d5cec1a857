import assert from 'node:assert/strict';
import { it } from 'node:test';
import { newHome } from './support/databases.ts';
import { startFaultyLine } from './support/faultyLine.ts';
import { spawnServer } from './support/process.ts';

it('a server exits on SIGTERM while PostgreSQL hangs', async (test) => {
  const home = await newHome('postgres');
  const line = await startFaultyLine();
  const url = new URL(home.databaseUrl);
  line.aim(url);
  url.host = `127.0.0.1:${line.port}`;
  const server = await spawnServer({ ...home, databaseUrl: url.href }, { STOP_TIMEOUT_SECONDS: '1' });
  test.after(async () => {
    await server.kill();
    await line.close();
    await home.remove();
  });
  line.silence('both');
  assert.equal(await server.stop(), 1, 'the exit code reports that unstored work is left to the next start');
});
