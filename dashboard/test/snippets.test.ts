import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { verify } from '../../sdk/src/webhooks.ts';
import { startReceiver } from '../../server/test/support/receiver.ts';
import { startServer } from '../../server/test/support/server.ts';
import { curlSnippet, receiverSnippets } from '../src/pages/webhooks/snippets.ts';

const SECRET = 'a secret of the snippets, with ünïcode';

/** The command that runs a snippet. Go and PHP may be missing. */
const commands: Readonly<Record<string, (file: string, port: number) => readonly [string, ...string[]]>> = {
  TypeScript: (file) => [process.execPath, file],
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

    it(`in ${name} accept deliveries of the server and reject other signatures`, {
      skip: isThere ? false : `this machine has no ${program}`,
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
