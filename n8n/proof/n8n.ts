import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { delimiter, dirname, join } from 'node:path';

/* The real n8n: installed apart from the repository, started and killed as a process, and used over its REST API. */

/** The newest version whose packages are all in the registry: 2.41.3 depends on one that is not. */
export const N8N_VERSION = '2.41.1';
const INSTALL_TIMEOUT_MS = 1_200_000;
const COMMAND_TIMEOUT_MS = 120_000;
const START_TIMEOUT_MS = 180_000;
const POLL_MS = 250;

/** Runs a command with this Node. @throws with its output if it fails or takes too long */
export async function command(
  program: string,
  args: readonly string[],
  { cwd, env = {}, timeoutMs = COMMAND_TIMEOUT_MS }: { cwd: string; env?: NodeJS.ProcessEnv; timeoutMs?: number },
): Promise<string> {
  const path = [dirname(process.execPath), process.env['PATH']].join(delimiter);
  const signal = AbortSignal.timeout(timeoutMs);
  const child = spawn(program, args, { cwd, env: { ...process.env, PATH: path, ...env }, signal });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${code}: ${output.slice(-4000)}`);
  return output;
}

/**
 * Installs n8n into a folder, unless it is there. The build of one optional package fails, so no script runs but one.
 */
export async function installN8n(folder: string): Promise<void> {
  const manifest = join(folder, 'node_modules/n8n/package.json');
  const done = join(folder, 'installed');
  if (existsSync(done) && JSON.parse(readFileSync(manifest, 'utf8')).version === N8N_VERSION) return;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{ "private": true }');
  const quiet = ['--no-audit', '--no-fund', '--no-update-notifier'];
  const options = { cwd: folder, timeoutMs: INSTALL_TIMEOUT_MS };
  await command('npm', ['install', `n8n@${N8N_VERSION}`, '--ignore-scripts', ...quiet], options);
  await command('npm', ['rebuild', 'sqlite3'], options);
  writeFileSync(done, N8N_VERSION);
}

/** Returns a port that nothing uses. n8n cannot choose one by itself. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port is free');
  return address.port;
}

export interface Execution {
  readonly id: string;
  readonly workflowId: string;
  readonly status: string;
  readonly mode: string;
}

export class N8n {
  readonly url: string;
  readonly #install: string;
  readonly #home: string;
  readonly #env: NodeJS.ProcessEnv;
  #child: ChildProcess | undefined;
  #cookie = '';

  constructor(install: string, home: string, port: number, brokerPort: number) {
    this.#install = install;
    this.#home = home;
    this.url = `http://127.0.0.1:${port}`;
    this.#env = {
      N8N_USER_FOLDER: home,
      N8N_LISTEN_ADDRESS: '127.0.0.1',
      N8N_HOST: '127.0.0.1',
      N8N_PORT: String(port),
      N8N_RUNNERS_BROKER_PORT: String(brokerPort),
      N8N_RUNNERS_BROKER_LISTEN_ADDRESS: '127.0.0.1',
      N8N_WEBHOOK_URL: `${this.url}/`,
      N8N_ENCRYPTION_KEY: 'proof',
      N8N_SECURE_COOKIE: 'false',
      N8N_DIAGNOSTICS_ENABLED: 'false',
      N8N_VERSION_NOTIFICATIONS_ENABLED: 'false',
      N8N_TEMPLATES_ENABLED: 'false',
      N8N_COMMUNITY_PACKAGES_ALLOW_TOOL_USAGE: 'true',
      N8N_UNVERIFIED_PACKAGES_ENABLED: 'true',
      NODE_OPTIONS: '',
    };
  }

  /** Runs a command of n8n. */
  cli(...args: string[]): Promise<string> {
    const bin = join(this.#install, 'node_modules/n8n/bin/n8n');
    return command(process.execPath, [bin, ...args], { cwd: this.#home, env: this.#env });
  }

  async start(): Promise<void> {
    const bin = join(this.#install, 'node_modules/n8n/bin/n8n');
    const log = openSync(join(this.#home, 'n8n.log'), 'a');
    const child = spawn(process.execPath, [bin, 'start'], {
      cwd: this.#home,
      env: { ...process.env, ...this.#env },
      stdio: ['ignore', log, log],
      // Its own group, so that a kill reaches the processes that it starts.
      detached: true,
    });
    closeSync(log);
    this.#child = child;
    const deadline = Date.now() + START_TIMEOUT_MS;
    for (;;) {
      if (child.exitCode !== null) throw new Error(`n8n ended with ${child.exitCode}: ${this.log()}`);
      if (Date.now() > deadline) throw new Error(`n8n did not start: ${this.log()}`);
      const response = await fetch(`${this.url}/healthz/readiness`).catch(() => undefined);
      if (response?.ok === true) break;
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
    if (this.#cookie !== '') await this.login();
  }

  log(): string {
    return readFileSync(join(this.#home, 'n8n.log'), 'utf8').slice(-60_000);
  }

  /** Ends n8n and all its processes without warning. */
  async kill(): Promise<void> {
    const child = this.#child;
    if (child?.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
    process.kill(-child.pid, 'SIGKILL');
    await once(child, 'exit');
  }

  async stop(): Promise<void> {
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGTERM');
    const late = setTimeout(() => void this.kill(), 30_000);
    await once(child, 'exit');
    clearTimeout(late);
  }

  async setUp(): Promise<void> {
    await this.rest('POST', '/owner/setup', { email: OWNER, firstName: 'P', lastName: 'Roof', password: PASSWORD });
    await this.login();
  }

  async login(): Promise<void> {
    await this.rest('POST', '/login', { emailOrLdapLoginId: OWNER, password: PASSWORD });
  }

  /** Calls the API of the editor. */
  // biome-ignore lint/suspicious/noExplicitAny: responses of n8n's internal API
  async rest(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<any> {
    const response = await fetch(`${this.url}/rest${path}`, {
      method,
      headers: { 'content-type': 'application/json', cookie: this.#cookie, 'browser-id': 'proof', ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const cookie = response.headers.getSetCookie().find((one) => one.startsWith('n8n-auth='));
    if (cookie !== undefined) this.#cookie = cookie.split(';')[0] ?? '';
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path} → ${response.status}: ${text.slice(0, 2000)}`);
    return text === '' ? undefined : JSON.parse(text).data;
  }

  async publish(workflowId: string): Promise<void> {
    const { versionId } = await this.rest('GET', `/workflows/${workflowId}`);
    await this.rest('POST', `/workflows/${workflowId}/activate`, { versionId });
  }

  async unpublish(workflowId: string): Promise<void> {
    await this.rest('POST', `/workflows/${workflowId}/deactivate`, {});
  }

  async executions(workflowId: string): Promise<Execution[]> {
    const filter = encodeURIComponent(JSON.stringify({ workflowId }));
    const { results } = await this.rest('GET', `/executions?filter=${filter}&limit=100`);
    return results;
  }

  /** Returns what an execution stored, as text. */
  async dataOf(executionId: string): Promise<string> {
    const { data } = await this.rest('GET', `/executions/${executionId}`);
    return typeof data === 'string' ? data : JSON.stringify(data);
  }
}

const OWNER = 'proof@example.com';
const PASSWORD = 'Correct-horse-battery-1';

/** Repeats a check until it returns something. */
export async function until<T>(what: string, check: () => Promise<T | undefined>, timeoutMs = 90_000): Promise<T> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const found = await check();
    if (found !== undefined) return found;
    if (Date.now() > deadline) throw new Error(`did not happen within ${timeoutMs / 1000} s: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}
