import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it, type TestContext } from 'node:test';
import { systemClock } from '../../src/clock.ts';
import { outgoingLimit, readOpenFiles } from '../../src/egress/outgoing.ts';
import { createTargetPolicy } from '../../src/egress/target.ts';
import { createLog } from '../../src/log.ts';
import { HttpDeliver } from '../../src/webhooks/delivery/deliver.ts';
import { portOf } from '../support/connections/listening.ts';
import { eventually } from '../support/eventually.ts';
import { connectSession, startServer } from '../support/server.ts';

it('outgoing connections are limited to half of the open files that Linux allows', (test) => {
  const folder = mkdtempSync(join(tmpdir(), 'limits-'));
  test.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'limits');
  const limitOf = (soft: string) => {
    writeFileSync(
      file,
      `Limit   Soft Limit   Hard Limit   Units\nMax open files            ${soft}     4096     files\n`,
    );
    return readOpenFiles(4096, file);
  };
  assert.deepEqual(limitOf('1024'), { limit: 1024, wanted: 5120 });
  assert.equal(limitOf('unlimited').limit, undefined);
  assert.equal(readOpenFiles(4096, join(folder, 'none')).limit, undefined);
  assert.equal(outgoingLimit(4096, limitOf('1024')), 512);
  assert.equal(outgoingLimit(4096, limitOf('unlimited')), 4096);
});

const setSoftLimit = (limit: number) =>
  execFileSync('prlimit', ['--pid', String(process.pid), `--nofile=${limit}:`], { stdio: 'pipe' });
const softLimit = () =>
  Number(execFileSync('prlimit', ['--pid', String(process.pid), '--nofile', '--output=SOFT', '--noheadings']));
const canLimit = (() => {
  try {
    return softLimit() > 0;
  } catch {
    return false;
  }
})();

/** Opens files until the limit is reached. @returns a function that closes them */
function openAllFiles(): () => void {
  const before = softLimit();
  setSoftLimit(readdirSync('/proc/self/fd').length + 50);
  const files: number[] = [];
  const isTaken = () => {
    try {
      files.push(openSync('/dev/null', 'r'));
      return false;
    } catch {
      return true;
    }
  };
  while (!isTaken());
  return () => {
    for (const file of files) closeSync(file);
    setSoftLimit(before);
  };
}

it('a process without free files reports that as the cause, in DNS lookups and in connects', {
  skip: !canLimit && 'prlimit is not installed',
}, async (test) => {
  const deliver = new HttpDeliver({
    policy: createTargetPolicy({ host: '127.0.0.1', allowedCidrs: [] }),
    timeoutMs: 5000,
    maxSockets: 100,
    clock: systemClock,
  });
  test.after(() => deliver.close());
  const attempt = (host: string) => deliver.attempt({ url: `http://${host}:9/`, headers: {}, body: '{}' });
  const closeFiles = openAllFiles();
  const outcomes = await Promise.all([attempt('127.0.0.1'), attempt('receiver.invalid')]).finally(closeFiles);
  assert.deepEqual(
    outcomes.map((outcome) => [outcome.class, outcome.message]),
    [
      ['no_socket', 'This server has no free socket (EMFILE): 127.0.0.1:9 was not contacted'],
      ['no_socket', 'This server has no free socket (EMFILE): receiver.invalid:9 was not contacted'],
    ],
  );
  // With files to spare, the error is the receiver's again.
  assert.equal((await attempt('127.0.0.1')).class, 'connect');
});

async function listen(test: TestContext, server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  test.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${portOf(server)}/`;
}

it('slow receivers of one account leave connections for other accounts', async (test) => {
  let hanging = 0;
  let most = 0;
  const slowUrl = await listen(
    test,
    createServer((_, response) => {
      most = Math.max(most, ++hanging);
      response.on('close', () => hanging--);
    }),
  );
  const quick = Promise.withResolvers<void>();
  const quickUrl = await listen(
    test,
    createServer((_, response) => {
      response.end();
      quick.resolve();
    }),
  );
  // Stops after its receivers, which release its connections.
  const server = await startServer({ env: { OUTGOING_CONNECTIONS: '16' } });
  test.after(() => server.stop());
  const [greedy, modest] = [await server.account(), await server.account()];
  const events = ['message.sent'];
  await greedy.call('POST', '/webhooks/endpoints', { webhookUrl: slowUrl, events, maxInFlight: 64 });
  await modest.call('POST', '/webhooks/set', { webhookUrl: quickUrl, events });
  const sessionId = await connectSession(greedy.call);
  for (let chat = 0; chat < 20; chat++)
    await greedy.call('POST', '/messages/send', { sessionId, to: `4915100000${100 + chat}`, message: 'x' });
  await eventually(
    async () => hanging,
    (count) => count === 8,
  );
  await connectSession(modest.call);
  await modest.call('POST', '/messages/send', { to: '4915100000001', message: 'x' });
  await quick.promise;
  assert.equal(most, 8);
});

it('a start with a low limit of open files logs a warning, and one with a sufficient limit does not', {
  skip: !canLimit && 'prlimit is not installed',
}, async () => {
  const before = softLimit();
  const warningsOf = async (env: Record<string, string>) => {
    const lines: string[] = [];
    const log = createLog('warn', { write: (line: string) => void lines.push(line) });
    const server = await startServer({ env, log });
    await server.stop();
    return lines.filter((line) => line.includes('limit of open files is low')).map((line) => JSON.parse(line));
  };
  try {
    setSoftLimit(2000);
    const [warning] = await warningsOf({});
    assert.deepEqual([warning.openFilesLimit, warning.wanted, warning.outgoingConnections], [2000, 5120, 1000]);
    assert.deepEqual(await warningsOf({ OUTGOING_CONNECTIONS: '500' }), []);
  } finally {
    setSoftLimit(before);
  }
});
