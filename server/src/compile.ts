import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/*
 * Compiles the server, so that the user's first start finds compiled code: starts it once on an empty data folder, and
 * loads the parts that a server loads when they are first used. Part of the install. Without compiled code, the server
 * starts more slowly.
 */

const DEADLINE_MS = 60_000;
const usedLater = [
  () => import('./db/postgres/postgres.ts'),
  () => import('./http/mcp/server.ts'),
  () => import('./connectors/whatsapp/connection.ts'), // its client is an optional dependency
  () => import('./connectors/whatsapp-cloud/connection.ts'),
  () => import('./media/s3Store.ts'),
  () => import('@platformatic/kafka'),
  () => import('amqplib'),
  () => import('ioredis'),
  () => import('@nats-io/transport-node'),
  () => import('@nats-io/jetstream'),
  () => import('./cli/cli.ts'),
  () => import('@fastify/busboy'),
  () => import('jose'),
  () => import('ws'),
  // Threads, which fail here without their data.
  () => import('./auth/passwordThread.ts'),
  () => import('./db/sqlite/readingThread.ts'),
  () => import('./db/sqlite/quickCheck.ts'),
  () => import('./db/sqlite/syncingThread.ts'),
  () => import('./media/pageThread.ts'),
];

try {
  await startOnce();
  enableCompileCache(fileURLToPath(new URL('../compiled', import.meta.url)));
  for (const load of usedLater) await load().catch(() => {});
} catch (error) {
  process.stderr.write(`Could not compile the server in advance; its first start will take longer. (${error})\n`);
}

async function startOnce(): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), 'switchboard-compile-'));
  try {
    const { PATH, TMPDIR } = process.env;
    const server = spawn(process.execPath, [fileURLToPath(new URL('../start.js', import.meta.url))], {
      env: { PATH, TMPDIR, DATA_DIR: dataDir, HOST: '127.0.0.1', PORT: '0', LOG_LEVEL: 'silent' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const deadline = setTimeout(() => server.kill('SIGKILL'), DEADLINE_MS).unref();
    server.stdout.once('data', () => server.kill('SIGTERM'));
    const [code] = await once(server, 'exit');
    clearTimeout(deadline);
    if (code !== 0) throw new Error(`the server ended with ${code}`);
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}
