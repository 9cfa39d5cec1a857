import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const entry = fileURLToPath(new URL('../start.js', import.meta.url));

/** The bridge as users run it: a separate process. */
export class BridgeProcess {
  readonly #env: Readonly<Record<string, string>>;
  #child: ChildProcess | undefined;
  output = '';

  constructor(env: Readonly<Record<string, string>>) {
    this.#env = { PATH: process.env['PATH'] ?? '', ...env };
  }

  /** Runs a command to its end. @returns the exit code */
  async run(...args: readonly string[]): Promise<number | null> {
    const child = this.#spawn(args);
    const [code] = await once(child, 'exit');
    return code;
  }

  /** Resolves once the bridge listens. */
  async start(): Promise<void> {
    const child = this.#spawn([]);
    this.#child = child;
    const from = this.output.length;
    await new Promise<void>((resolve, reject) => {
      child.stderr?.on('data', () => {
        if (this.output.slice(from).includes('bridge started')) resolve();
      });
      child.once('exit', (code) => reject(new Error(`the bridge ended with ${code}: ${this.output.slice(from)}`)));
    });
  }

  /** Waits until the bridge ends by itself. @returns the exit code */
  async ended(): Promise<number | null> {
    const child = this.#child;
    if (child?.exitCode === null && child.signalCode === null) await once(child, 'exit');
    return child?.exitCode ?? null;
  }

  /** SIGKILL: none of its code runs afterwards. */
  async kill(): Promise<void> {
    await this.#end('SIGKILL');
  }

  /** @returns the exit code */
  stop(): Promise<number | null> {
    return this.#end('SIGTERM');
  }

  async #end(signal: NodeJS.Signals): Promise<number | null> {
    const child = this.#child;
    if (child === undefined) return null;
    if (child.exitCode === null && child.signalCode === null) {
      child.kill(signal);
      await once(child, 'exit');
    }
    return child.exitCode;
  }

  #spawn(args: readonly string[]): ChildProcess {
    const child = spawn(process.execPath, [entry, ...args], { env: this.#env, stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => {
        this.output += chunk;
      });
    return child;
  }
}
