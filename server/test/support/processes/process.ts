import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Home } from '../databases/databases.ts';

const entry = fileURLToPath(new URL('../../../start.js', import.meta.url));

export interface ServerProcess {
  readonly url: string;
  readonly child: ChildProcess;
  /** Milliseconds from the spawn to "is ready". */
  readonly readyMs: number;
  /** SIGKILL: none of its code runs afterwards. */
  kill(): Promise<void>;
  /** SIGTERM; resolves with the exit code. */
  stop(): Promise<number | null>;
}

/**
 * Starts the server as a separate process, like a user does.
 * @param place of another installation of it, and another Node to run it
 */
export async function spawnServer(
  home: Omit<Home, 'remove'>,
  env: Record<string, string> = {},
  place: { readonly entry: string; readonly cwd?: string; readonly node?: string } = { entry },
): Promise<ServerProcess> {
  const startedAt = performance.now();
  const child = spawn(place.node ?? process.execPath, [place.entry], {
    cwd: place.cwd,
    env: {
      PATH: process.env['PATH'],
      ...(process.env['NODE_COMPILE_CACHE'] && { NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] }),
      PORT: '0',
      LOG_LEVEL: 'warn',
      RATE_LIMIT: '0',
      REGISTRATION_RATE_LIMIT: '0',
      DATA_DIR: home.dataDir,
      DATABASE_URL: home.databaseUrl,
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  const url = await new Promise<string>((resolve, reject) => {
    const read = (chunk: Buffer) => {
      output += chunk;
      const found = /API +(http:\S+)\/api\/v1/.exec(output)?.[1];
      if (found !== undefined && output.includes('Database')) resolve(found);
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    child.on('exit', (code) => reject(new Error(`the server ended with ${code}: ${output}`)));
  });
  const end = async (signal: NodeJS.Signals) => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill(signal);
      await once(child, 'exit');
    }
    return child.exitCode;
  };
  return {
    url,
    child,
    readyMs: performance.now() - startedAt,
    kill: async () => {
      await end('SIGKILL');
    },
    stop: () => end('SIGTERM'),
  };
}
