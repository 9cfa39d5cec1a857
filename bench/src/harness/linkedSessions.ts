import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Api, apiOf } from './api.ts';
import { onSqlite } from './home.ts';
import { cpuMs, newFolder, type Running, rssMb, sleep, startOwn, until } from './processes.ts';
import type { Tree } from './tree.ts';

/* WhatsApp sessions that are linked with the fake WhatsApp of the tests, in a process of its own. */

/** Linked concurrently: enough to keep both cores busy. */
const LINKED_AT_ONCE = 4;

/** The fields of answers that benchmarks read. */
interface Answers {
  readonly qr: string;
  readonly socketUrl: string;
  readonly mediaHost: string;
  readonly ca: string;
  readonly online: number;
  readonly connections: number;
  readonly group: string;
  readonly isOpen: boolean;
  readonly at: number;
  readonly ms: number;
}

/** Sends a request to another process of the benchmark. */
export async function ask(process: Running, path: string, body?: object): Promise<Answers> {
  const response = await fetch(process.url + path, body && { method: 'POST', body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`${path}: ${await response.text()}`);
  return (await response.json()) as Answers; // each call reads only the fields that its answer has
}

/**
 * Starts the network. Returns it with the variables of a server that uses it.
 * @param isMigrated whether its accounts have been migrated to LIDs
 */
export async function startNetwork(
  isMigrated = false,
): Promise<{ network: Running; env: Readonly<Record<string, string>> }> {
  const network = await startOwn('whatsappNetwork.ts', { IS_MIGRATED: String(isMigrated) });
  const { socketUrl, mediaHost, ca } = await ask(network, '/network');
  const certificate = join(newFolder(), 'media.pem');
  writeFileSync(certificate, ca);
  const env = {
    WHATSAPP_URL: socketUrl,
    WHATSAPP_MEDIA_HOST: mediaHost,
    NODE_EXTRA_CA_CERTS: certificate,
    LOG_LEVEL: 'warn',
  };
  return { network, env };
}

/** The n-th phone number. */
export const numberOf = (n: number) => String(15_551_000_000 + n);

/** Calls the API of a server as a new account. */
export async function newOwner(server: Running): Promise<{ api: Api; token: string }> {
  const { token } = await apiOf(server.url)('POST', '/auth/register', {
    email: 'bench@example.com',
    password: 'correct horse',
  });
  return { api: apiOf(server.url, token), token };
}

/** Links a session with a phone. Returns the id of the session. */
export async function link(api: Api, network: Running, number: string): Promise<string> {
  const { sessionId } = await api('POST', '/sessions', { connector: 'whatsapp', options: { pauseMs: 0 } });
  await api('POST', `/sessions/${sessionId}/connect`);
  const status = () => api('GET', `/sessions/${sessionId}`);
  await until(status, (session) => session.status === 'awaiting_pairing');
  const { qr } = await api('GET', `/sessions/${sessionId}/qr`);
  await ask(network, '/scan', { number, qr });
  await until(status, (session) => session.status === 'connected');
  return sessionId;
}

const IDLE_MS = 20_000;

/**
 * Links sessions, restarts the server, and measures it once all of them are connected and have settled.
 * @returns memory in MB, CPU use in percent of a core, and the time from the start until all were connected
 */
export async function measureLinked(
  tree: Tree,
  count: number,
  settleMs: number,
  idleMs = IDLE_MS,
): Promise<{ rss: number; cpuPercent: number; connectedMs: number }> {
  const { network, env } = await startNetwork();
  await using scope = new AsyncDisposableStack();
  const home = await onSqlite.open(tree, scope);
  const first = await home.start(env);
  const { api } = await newOwner(first);
  let next = 0;
  const linking = async () => {
    while (next < count) await link(api, network, numberOf(++next));
  };
  await Promise.all(Array.from({ length: LINKED_AT_ONCE }, linking));
  await first.stop();

  const server = await home.start(env);
  await until(
    () => ask(network, '/network'),
    ({ online }) => online === count,
  );
  const connectedMs = performance.now() - server.spawnedAt;
  await sleep(settleMs);
  const cpuBefore = cpuMs(server.pid);
  const rss = rssMb(server.pid);
  await sleep(idleMs);
  const cpuPercent = ((cpuMs(server.pid) - cpuBefore) / idleMs) * 100;
  await server.stop();
  await network.stop();
  await home.remove();
  return { rss, cpuPercent, connectedMs };
}
