import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { Context } from '../context.ts';
import { CliError } from '../failure.ts';

const PACKAGE = 'switchboard-chatwoot';

/** Runs the bridge to Chatwoot, which is a separate package, as a separate process. */
export async function runChatwoot({ io }: Context, action: 'init' | undefined, { config }: { config?: string }) {
  const args = [...(action === undefined ? [] : [action]), ...(config === undefined ? [] : ['--config', config])];
  const child = spawn(process.execPath, [entryOfBridge(), ...args], {
    // Over the channel, the bridge notices the end of this process, whatever ends it.
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    env: { ...io.env },
  });
  const signal = io.stopSignal();
  const stop = () => child.kill('SIGTERM');
  signal.addEventListener('abort', stop);
  try {
    const [code] = await once(child, 'exit');
    // The bridge has explained itself on standard error.
    if (code !== 0 && !signal.aborted) throw new CliError(code === 2 ? 'usage' : 'failed', 'The bridge has ended.');
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

/** The package is installed next to this one, or in the folder where the command runs. @throws {CliError} */
function entryOfBridge(): string {
  for (const place of [import.meta.url, join(process.cwd(), 'package.json')])
    try {
      return join(dirname(createRequire(place).resolve(`${PACKAGE}/package.json`)), 'start.js');
    } catch {
      // Not there.
    }
  throw new CliError('failed', `The bridge to Chatwoot is not installed. Install it with: npm install -g ${PACKAGE}`);
}
