import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/* Processes of a benchmark: each listens on loopback and is ended by pid. */

const children = new Set<ChildProcess>();
const folders = new Set<string>();

/** Ends all processes that are still running. */
export function cleanUp(): void {
  for (const child of children) child.kill('SIGKILL');
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  children.clear();
  folders.clear();
}

export interface Running {
  readonly url: string;
  readonly pid: number;
  /** Milliseconds from spawning it to its first line. */
  readonly readyMs: number;
  stop(): Promise<void>;
}

/** Starts a script and waits for a line with its address. */
async function start(script: string, env: Record<string, string>): Promise<Running> {
  const startedAt = performance.now();
  const child = spawn(process.execPath, [script], {
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.add(child);
  const url = await new Promise<string>((resolve, reject) => {
    let output = '';
    child.stdout.on('data', (chunk) => {
      if (output.length > 100_000) return; // the log is discarded
      output += chunk;
      const found = /(http:\/\/127\.0\.0\.1:\d+)/.exec(output)?.[1];
      if (found !== undefined) resolve(found);
    });
    child.on('exit', (code) => reject(new Error(`${script} ended with ${code}`)));
  });
  const readyMs = performance.now() - startedAt;
  return {
    url,
    pid: child.pid ?? 0,
    readyMs,
    async stop() {
      if (child.exitCode === null && child.signalCode === null) {
        child.kill('SIGTERM');
        await once(child, 'exit');
      }
      children.delete(child);
    },
  };
}

const own = (name: string) => fileURLToPath(new URL(name, import.meta.url));

/** Starts a script of this folder. */
export const startOwn = (name: string, env: Record<string, string> = {}): Promise<Running> => start(own(name), env);

/**
 * Starts Redis on loopback with an append-only file, as for a durable queue; undefined without `redis-server`.
 * @param fsync `everysec`, the default, may lose a second; `always` loses nothing, like the product
 */
export async function startRedis(
  fsync: 'everysec' | 'always',
): Promise<{ port: number; stop(): Promise<void> } | undefined> {
  const port = await freePort();
  const folder = newFolder();
  const args = [
    '--port',
    String(port),
    '--bind',
    '127.0.0.1',
    '--dir',
    folder,
    '--appendonly',
    'yes',
    '--appendfsync',
    fsync,
    '--save',
    '',
  ];
  const child = spawn('redis-server', args, { stdio: ['ignore', 'pipe', 'inherit'] });
  children.add(child);
  const isUp = await new Promise<boolean>((resolve) => {
    child.on('error', () => resolve(false));
    child.on('exit', () => resolve(false));
    child.stdout.on('data', (chunk) => String(chunk).includes('Ready to accept connections') && resolve(true));
  });
  if (!isUp) {
    children.delete(child);
    return undefined;
  }
  return {
    port,
    async stop() {
      child.kill('SIGTERM');
      await once(child, 'exit');
      children.delete(child);
    },
  };
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'switchboard-bench-'));
  folders.add(folder);
  return folder;
}

/** The product, with its default log level and no rate limit. */
export const startServer = (dataDir: string, env: Record<string, string> = {}): Promise<Running> =>
  start(own('../../server/src/main.ts'), {
    PORT: '0',
    DATA_DIR: dataDir,
    RATE_LIMIT: '0',
    REGISTRATION_RATE_LIMIT: '0',
    ...env,
  });

/** The fields of answers that benchmarks read. */
interface Answers {
  readonly token: string;
  readonly key: string;
  readonly sessionId: string;
  readonly messageId: string;
  readonly pending: number;
}

type Api = (method: string, path: string, body?: unknown) => Promise<Answers>;

/** Calls the API with this credential. */
export const apiOf =
  (url: string, credential?: string): Api =>
  async (method, path, body) => {
    const response = await fetch(`${url}/api/v1${path}`, {
      method,
      headers: {
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(credential !== undefined && { authorization: `Bearer ${credential}` }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const answer = await response.json();
    if (!response.ok) throw new Error(`${method} ${path}: ${JSON.stringify(answer)}`);
    return answer as Answers; // each call reads only the fields that its answer has
  };

/** An account with a key, a connected session and a webhook for `message.sent`. */
export async function setUp(server: Running, webhookUrl: string, name = 'bench') {
  const { token } = await apiOf(server.url)('POST', '/auth/register', {
    email: `${name}@example.com`,
    password: 'correct horse',
  });
  const { key } = await apiOf(server.url, token)('POST', '/api-keys/create', { name });
  const api = apiOf(server.url, key);
  const { sessionId } = await api('POST', '/sessions', {});
  await api('POST', `/sessions/${sessionId}/connect`);
  await api('POST', '/webhooks/set', { webhookUrl, events: ['message.sent'], secret: 'bench secret' });
  return { api, key };
}

/** The number of requests that a receiver has counted. */
export async function countOf(receiver: Running): Promise<number> {
  return Number(await (await fetch(`${receiver.url}/count`)).text());
}

/** Requests per second at a receiver, between its `from`-th and its `to`-th request. */
export async function rateOf(receiver: Running, from: number, to: number): Promise<number> {
  const at = async (wanted: number) => {
    for (;;) {
      const count = await countOf(receiver);
      if (count >= wanted) return { count, at: performance.now() };
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  const [first, last] = [await at(from), await at(to)];
  return ((last.count - first.count) / (last.at - first.at)) * 1000;
}

/** CPU time of a process, in ms. Linux counts in ticks of 10 ms. */
export function cpuMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** Resident memory of a process, in MB. */
export function rssMb(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
