import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { startFaultyLine } from '../support/connections/faultyLine.ts';
import { newHome } from '../support/databases/databases.ts';
import { spawnServer } from '../support/processes/process.ts';

/** Starts a server behind a line to PostgreSQL that can go silent. */
async function startBehindLine(test: TestContext, settings: Record<string, string>) {
  const home = await newHome('postgres');
  const line = await startFaultyLine();
  const url = new URL(home.databaseUrl);
  line.aim(url);
  url.host = `127.0.0.1:${line.port}`;
  const server = await spawnServer({ ...home, databaseUrl: url.href }, settings);
  test.after(async () => {
    await server.kill();
    await line.close();
    await home.remove();
  });
  return { server, line };
}

describe('a server whose PostgreSQL hangs', () => {
  it('exits with code 0 on SIGTERM after some seconds', async (test) => {
    const { server, line } = await startBehindLine(test, { STOP_TIMEOUT_SECONDS: '60' });
    line.silence('both');
    const startedAt = performance.now();
    assert.equal(await server.stop(), 0);
    assert.ok(performance.now() - startedAt < 15_000, 'it does not wait until the timeout of a stop');
  });

  it('exits with code 1 when the timeout of a stop is shorter', async (test) => {
    const { server, line } = await startBehindLine(test, { STOP_TIMEOUT_SECONDS: '1' });
    line.silence('both');
    assert.equal(await server.stop(), 1, 'the exit code reports that unstored work is left to the next start');
  });
});
