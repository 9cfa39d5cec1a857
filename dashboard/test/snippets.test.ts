import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, describe, it } from 'node:test';
import { verify } from '../../sdk/src/webhooks.ts';
import { startReceiver } from '../../server/test/support/connections/receiver.ts';
import { startServer } from '../../server/test/support/server.ts';
import { curlSnippet, receiverSnippets } from '../src/pages/webhooks/snippets.ts';

const SECRET = 'a secret of the snippets, with ünïcode';

/** The command that runs a snippet. Go and PHP may be missing. */
const commands: Readonly<Record<string, (file: string, port: number) => readonly [string, ...string[]]>> = {
  Node: (file) => [process.execPath, file],
  Python: (file) => ['python3', file],
  Go: (file) => ['go', 'run', file],
  PHP: (file, port) => ['php', '-S', `127.0.0.1:${port}`, file],
};

describe('verification snippets', async () => {
  const server = await startServer();
  const folder = mkdtempSync(join(tmpdir(), 'snippets-'));
  after(async () => {
    await server.stop();
    rmSync(folder, { recursive: true });
  });

  for (const { name, file, code } of receiverSnippets) {
    const [program] = commands[name]?.(file, 0) ?? [''];
    const isThere = spawnSync(program, [program === 'go' ? 'version' : '--version']).status === 0;
    const skip = isThere ? false : `this machine has no ${program}`;

    // PHP has no start: its web server runs the file for each request.
    if (name !== 'PHP')
      it(`in ${name} do not start without a secret`, { skip, timeout: 120_000 }, async (test) => {
        const path = join(folder, file);
        writeFileSync(path, code);
        const env = { ...process.env, GOCACHE: join(folder, 'go'), PORT: '0', WEBHOOK_SECRET: '' };
        const [command, ...args] = commands[name]?.(path, 0) ?? [''];
        const running = spawn(command, args, { env, detached: true, stdio: ['ignore', 'ignore', 'pipe'] });
        test.after(() => endGroup(running));
        assert.match(await text(running.stderr), /WEBHOOK_SECRET is not set/);
      });

    it(`in ${name} accept deliveries of the server and reject other signatures`, {
      skip,
      timeout: 120_000,
    }, async (test) => {
      const port = await freePort();
      const path = join(folder, file);
      writeFileSync(path, code);
      const [command, ...args] = commands[name]?.(path, port) ?? [''];
      const running = spawn(command, args, {
        env: { ...process.env, GOCACHE: join(folder, 'go'), PORT: String(port), WEBHOOK_SECRET: SECRET },
        // `go run` starts another process, so the whole group is ended.
        detached: true,
        stdio: ['ignore', 'ignore', 'inherit'],
      });
      test.after(() => endGroup(running));
      await listening(port, running);

      const { call } = await server.account();
      const set = (secret: string) =>
        call('POST', '/webhooks/set', {
          webhookUrl: `http://127.0.0.1:${port}/hook`,
          events: ['message.incoming'],
          secret,
        });
      await set(SECRET);
      const genuine = (await call('GET', '/webhooks/test')).body;
      assert.equal(genuine.status, 204, genuine.message);
      await set('another secret');
      const forged = (await call('GET', '/webhooks/test')).body;
      assert.equal(forged.status, 401, forged.message);
      await assertBounded(port);
      await call('POST', '/webhooks/secret/rotate', { secret: SECRET });
      const rotated = (await call('GET', '/webhooks/test')).body;
      assert.equal(rotated.status, 204, 'one of the two signatures matches');
    });
  }

  it('in curl send deliveries that the SDK verifies', async (test) => {
    const receiver = await startReceiver();
    test.after(() => receiver.close());
    const { code } = curlSnippet(receiver.url);
    const running = spawn('sh', ['-c', code], { env: { ...process.env, WEBHOOK_SECRET: SECRET }, stdio: 'ignore' });
    await receiver.waitFor(1);
    await once(running, 'close');
    const [received] = receiver.deliveries;
    assert.ok(received);
    const { body, headers } = received;
    assert.equal((await verify({ body, headers, secret: SECRET })).ok, true);
    const { 'webhook-signature': _, ...older } = headers;
    assert.equal((await verify({ body, headers: older, secret: SECRET, require: 'any' })).ok, true);
    assert.equal((await verify({ body: `${body} `, headers, secret: SECRET })).ok, false);
  });
});

/** Asserts that a body of more than 1 MiB is refused although its signature is right. */
async function assertBounded(port: number): Promise<void> {
  const data = { messageId: 'msg_1', from: '491701234567', message: 'm'.repeat(1024 * 1024) };
  const body = JSON.stringify({ event: 'message.incoming', data });
  const [id, timestamp] = ['evt_large', String(Math.floor(Date.now() / 1000))];
  const signature = createHmac('sha256', SECRET).update(`${id}.${timestamp}.${body}`).digest('base64');
  const headers = { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` };
  const answer = await fetch(`http://127.0.0.1:${port}/hook`, { method: 'POST', headers, body }).catch(() => undefined);
  // A receiver may also close the connection before the rest of the body has arrived.
  assert.ok(answer === undefined || [400, 413].includes(answer.status), `the status is ${answer?.status}`);
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** Resolves once the port accepts connections. */
async function listening(port: number, running: ChildProcess): Promise<void> {
  for (;;) {
    assert.equal(running.exitCode, null, 'the snippet exited before it listened');
    const socket = connect(port, '127.0.0.1');
    const isOpen = await new Promise<boolean>((resolve) => {
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    });
    socket.destroy();
    if (isOpen) return;
    // Another program has no event to wait for while it compiles or starts.
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

function endGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It has exited.
  }
}
