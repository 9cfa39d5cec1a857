import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer as createTlsServer } from 'node:tls';
import { eventually } from '../eventually.ts';

/* Message brokers for tests: real servers on free ports of loopback, each with a folder of its own. */

const NATS = '/usr/sbin/nats-server';
const REDIS = '/usr/bin/redis-server';
/** Not the Debian wrapper, which switches to the user of the system's service. */
const RABBITMQ = '/usr/lib/rabbitmq/bin/rabbitmq-server';

/** Why tests with a real broker are skipped; false if it is installed. */
export const missing: Readonly<Record<'rabbitmq' | 'nats' | 'redis', string | false>> = {
  rabbitmq: existsSync(RABBITMQ) ? false : 'rabbitmq-server is not installed',
  nats: existsSync(NATS) ? false : 'nats-server is not installed',
  redis: existsSync(REDIS) ? false : 'redis-server is not installed',
};

export interface BrokerServer {
  readonly port: number;
  /** Ends it with SIGKILL. */
  kill(): Promise<void>;
  /** Starts it again on the same port, with what it has stored. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

export async function startRedis(password: string): Promise<BrokerServer> {
  return start((port, folder) => ({
    file: REDIS,
    args: ['--bind', '127.0.0.1', '--port', `${port}`, '--dir', folder, '--requirepass', password].concat([
      '--appendonly',
      'yes',
      '--appendfsync',
      'always',
      '--save',
      '',
    ]),
  }));
}

/** @param certificate for TLS */
export async function startNats(user: string, password: string, certificate?: Certificate): Promise<BrokerServer> {
  return start(async (port, folder) => {
    const [certFile, keyFile] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
    await writeFile(certFile, certificate?.cert ?? '');
    await writeFile(keyFile, certificate?.key ?? '');
    const tls = certificate === undefined ? '' : `tls { cert_file: "${certFile}", key_file: "${keyFile}" }`;
    const config = `listen: "127.0.0.1:${port}"
      jetstream { store_dir: "${folder}" }
      ${tls}
      authorization { user: "${user}", password: "${password}" }`;
    await writeFile(join(folder, 'nats.conf'), config);
    return { file: NATS, args: ['-c', join(folder, 'nats.conf')] };
  });
}

export async function startRabbitMq(): Promise<BrokerServer> {
  const [epmdPort, distributionPort] = [await freePort(), await freePort()];
  // By hand and in the foreground: Erlang would start a daemon that outlives the test.
  const epmd = spawn('epmd', ['-port', `${epmdPort}`, '-address', '127.0.0.1'], { stdio: 'ignore' });
  await answers(epmdPort);
  const server = await start((port, folder) => ({
    file: RABBITMQ,
    args: [],
    env: {
      HOME: folder,
      ERL_EPMD_PORT: `${epmdPort}`,
      RABBITMQ_NODENAME: `test${port}@localhost`,
      RABBITMQ_NODE_IP_ADDRESS: '127.0.0.1',
      RABBITMQ_NODE_PORT: `${port}`,
      RABBITMQ_DIST_PORT: `${distributionPort}`,
      RABBITMQ_MNESIA_BASE: join(folder, 'data'),
      RABBITMQ_LOG_BASE: join(folder, 'log'),
      RABBITMQ_ENABLED_PLUGINS_FILE: join(folder, 'plugins'),
      RABBITMQ_CONF_ENV_FILE: join(folder, 'none'),
      RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS: `-kernel inet_dist_use_interface {127,0,0,1} -rabbit max_message_size ${1024 * 1024}`,
    },
  }));
  return {
    ...server,
    async stop() {
      await server.stop();
      await ended(epmd);
    },
  };
}

export interface Certificate {
  readonly key: string;
  readonly cert: string;
}

/** Accepts TLS in front of a broker. */
export async function startTlsProxy(upstream: number, certificate: Certificate) {
  const sockets = new Set<Socket>();
  const server = createTlsServer({ ...certificate }, (socket) => {
    const onward = connect(upstream, '127.0.0.1');
    for (const [from, to] of [[socket, onward] as const, [onward, socket] as const]) {
      sockets.add(from);
      from.on('error', () => to.destroy());
      from.on('close', () => to.destroy());
      from.pipe(to);
    }
  });
  server.on('tlsClientError', () => {});
  const port = await freePort();
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return {
    port,
    async stop() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

interface Command {
  readonly file: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

async function start(command: (port: number, folder: string) => Command | Promise<Command>): Promise<BrokerServer> {
  const port = await freePort();
  const folder = await mkdtemp(join(tmpdir(), 'switchboard-broker-'));
  const { file, args, env } = await command(port, folder);
  let running: ChildProcess;
  const run = async () => {
    // A group of its own, because some servers have child processes.
    running = spawn(file, args, { cwd: folder, stdio: 'ignore', detached: true, env: { ...process.env, ...env } });
    await answers(port);
  };
  const kill = async () => {
    await ended(running, true);
    // The last process of the group may take longer.
    await eventually(
      () => isOpen(port),
      (is) => !is,
    );
  };
  await run();
  return {
    port,
    kill,
    restart: run,
    async stop() {
      await kill();
      await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
    },
  };
}

async function ended(child: ChildProcess, isGroup = false): Promise<void> {
  const { pid } = child;
  if (pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  child.once('exit', () => resolve());
  process.kill(isGroup ? -pid : pid, 'SIGKILL');
  await promise;
}

/** Resolves once something listens on the port. */
async function answers(port: number): Promise<void> {
  await eventually(
    () => isOpen(port),
    (is) => is,
  );
}

function isOpen(port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = connect(port, '127.0.0.1', () => {
    socket.destroy();
    resolve(true);
  });
  socket.once('error', () => resolve(false));
  return promise;
}

export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}
