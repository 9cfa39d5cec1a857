import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { startServer, type TestServer } from '../support/server.ts';

/* The health check of the image, which runs in a Debian container. */

const root = fileURLToPath(new URL('../../../', import.meta.url));
const dockerfile = readFileSync(`${root}Dockerfile`, 'utf8');
const [, timeoutSeconds, command = '[]'] =
  /^HEALTHCHECK .*--timeout=(\d+)s .*\\\n {2}CMD (\[.*\])$/m.exec(dockerfile) ?? [];

describe('the health check of the image', { skip: process.platform !== 'linux' && 'the image runs on Linux' }, () => {
  let server: TestServer;
  let port: string;
  before(async () => {
    server = await startServer({});
    ({ port } = new URL(server.url));
  });
  after(() => server.stop());

  it('succeeds for a running server, at each address that HOST can have', async () => {
    for (const HOST of [undefined, '', '127.0.0.1', '0.0.0.0', 'localhost']) {
      assert.equal(await check(port, { HOST }), 0, `HOST=${HOST}`);
    }
    const all = createHttpServer((_, response) => response.end('{"status":"ok"}')).listen(0, '::');
    await once(all, 'listening');
    for (const HOST of ['::', '::1']) assert.equal(await check(portOf(all), { HOST }), 0, HOST);
    all.close();
  });

  it('fails for a server that responds with another status', async () => {
    for (const status of [500, 503, 421, 204]) {
      const failing = createHttpServer((_, response) => response.writeHead(status).end()).listen(0, '127.0.0.1');
      await once(failing, 'listening');
      assert.equal(await check(portOf(failing)), 1, `${status}`);
      failing.close();
    }
  });

  it('fails without a server', async () => {
    const closed = createServer().listen(0, '127.0.0.1');
    await once(closed, 'listening');
    const unused = portOf(closed);
    closed.close();
    await once(closed, 'close');
    assert.equal(await check(unused), 1);
  });

  it('ends before the timeout of Docker for a server that never responds', async () => {
    const silent = (_: Socket) => {};
    const cutOff = (socket: Socket) => socket.end('HTTP/1.1');
    const endless = (socket: Socket) => socket.write('x'.repeat(1_000_000));
    for (const [onConnection, exit] of [
      [silent, null],
      [cutOff, 1],
      [endless, 1],
    ] as const) {
      const sockets = new Set<Socket>();
      const faulty = createServer((socket) => {
        sockets.add(socket.on('error', () => {}));
        onConnection(socket);
      }).listen(0, '127.0.0.1');
      await once(faulty, 'listening');
      assert.equal(await check(portOf(faulty)), exit, onConnection.name);
      faulty.close();
      for (const socket of sockets) socket.destroy();
    }
    const [, , seconds] = JSON.parse(command);
    assert.ok(Number(seconds) < Number(timeoutSeconds));
  });
});

function check(port: string, environment: NodeJS.ProcessEnv = {}) {
  return run(JSON.parse(command), { PORT: port, ...environment });
}

/** Runs a command as Docker does: without a shell, in the root of the application. Returns null after a signal. */
function run([program = '', ...words]: readonly string[], environment: NodeJS.ProcessEnv) {
  const child = spawn(program, words, {
    cwd: root,
    stdio: 'ignore',
    env: { PATH: process.env['PATH'], ...environment },
  });
  return new Promise<number | null>((resolve, reject) => child.on('error', reject).on('exit', resolve));
}

const portOf = (server: { address(): AddressInfo | string | null }) => `${(server.address() as AddressInfo).port}`; // TCP
