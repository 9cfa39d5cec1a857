import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ServerProcess, spawnServer } from '../test/support/process.ts';

export interface SoakServerOptions {
  readonly dataDir: string;
  readonly databaseUrl: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** A server as a process of its own, that can be killed, stopped, paused and given another time of day. */
export class SoakServer {
  readonly #options: SoakServerOptions;
  readonly #clockFile: string;
  #process: ServerProcess | undefined;
  #isPaused = false;

  constructor(options: SoakServerOptions) {
    this.#options = options;
    this.#clockFile = join(options.dataDir, 'soak-clock');
    mkdirSync(options.dataDir, { recursive: true });
    this.setClock(0);
  }

  /** Of its last start. */
  get url(): string {
    return this.#process?.url ?? '';
  }

  async start(): Promise<void> {
    const { dataDir, databaseUrl, env } = this.#options;
    const clock = new URL('./jumpingClock.ts', import.meta.url).href;
    this.#process = await spawnServer(
      { dataDir, databaseUrl },
      {
        SOAK_CLOCK: this.#clockFile,
        NODE_OPTIONS: `--import=${clock}`,
        WEBHOOK_RETRY_SECONDS: '1,1,1,1,1,1,1,1,1,1',
        ...env,
      },
    );
  }

  /** Whether it has not ended, by itself or by a signal. */
  get isRunning(): boolean {
    const child = this.#process?.child;
    return child !== undefined && child.exitCode === null && child.signalCode === null;
  }

  /** SIGKILL. */
  async kill(): Promise<void> {
    this.resume();
    await this.#process?.kill();
  }

  /** SIGSTOP: it stands still, with everything that it holds, until it is resumed. */
  pause(): void {
    this.#isPaused = this.#process?.child.kill('SIGSTOP') ?? false;
  }

  resume(): void {
    if (this.#isPaused) this.#process?.child.kill('SIGCONT');
    this.#isPaused = false;
  }

  /** How far its wall clock is off from now on. */
  setClock(offsetMs: number): void {
    replaceFile(this.#clockFile, String(offsetMs));
  }
}

/** Writes a file that others read at any time: they see the former content or this one. */
export function replaceFile(file: string, content: string): void {
  writeFileSync(`${file}.new`, content);
  renameSync(`${file}.new`, file);
}
