import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/*
 * Starts the server once on an empty data folder, so that its compiled code is there for the first start of the user.
 * Part of the install. If it fails, the first start compiles the code.
 */

const DEADLINE_MS = 60_000;

const dataDir = mkdtempSync(join(tmpdir(), 'switchboard-compile-'));
const env = { PATH: process.env['PATH'], DATA_DIR: dataDir, HOST: '127.0.0.1', PORT: '0', LOG_LEVEL: 'silent' };
const server = spawn(process.execPath, [fileURLToPath(new URL('../start.js', import.meta.url))], {
  env,
  stdio: ['ignore', 'pipe', 'inherit'],
});
const deadline = setTimeout(() => server.kill('SIGKILL'), DEADLINE_MS);
server.stdout.once('data', () => server.kill('SIGTERM'));
const [code] = await once(server, 'exit');
clearTimeout(deadline);
rmSync(dataDir, { recursive: true, force: true });
if (code !== 0) process.stderr.write('The server was not compiled in advance; its first start takes longer.\n');
