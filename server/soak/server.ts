import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ServerProcess, spawnServer } from '../test/support/processes/process.ts';

export interface SoakServerOptions {
  readonly dataDir: string;
  readonly databaseUrl: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Entry file of another version of the server. */
  readonly entry?: string;
}

/** A server in its own process that can be killed, stopped, paused and given another wall clock. */
export class SoakServer {
  readonly #options: SoakServerOptions;
  #entry: string | undefined;
  readonly #clockFile: string;
  #process: ServerProcess | undefined;
  #isPaused = false;

  constructor(options: SoakServerOptions) {
    this.#options = options;
    this.#entry = options.entry;
    this.#clockFile = join(options.dataDir, 'soak-clock');
    mkdirSync(options.dataDir, { recursive: true });
    this.setClock(0);
  }

  /** Of the last start. */
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
      ...(this.#entry === undefined ? [] : [{ entry: this.#entry }]),
    );
  }

  /** Sets the version that the next start runs; undefined for this one. */
  setEntry(entry: string | undefined): void {
    this.#entry = entry;
  }

  /** Whether it is still running. */
  get isRunning(): boolean {
    const child = this.#process?.child;
    return child !== undefined && child.exitCode === null && child.signalCode === null;
  }

  /** SIGKILL. */
  async kill(): Promise<void> {
    this.resume();
    await this.#process?.kill();
  }

  /** SIGSTOP: pauses it, with everything it holds, until it is resumed. */
  pause(): void {
    this.#isPaused = this.#process?.child.kill('SIGSTOP') ?? false;
  }

  resume(): void {
    if (this.#isPaused) this.#process?.child.kill('SIGCONT');
    this.#isPaused = false;
  }

  /** Sets the offset of its wall clock. */
  setClock(offsetMs: number): void {
    replaceFile(this.#clockFile, String(offsetMs));
  }
}

/** Replaces a file atomically, because others read it at any time. */
export function replaceFile(file: string, content: string): void {
  writeFileSync(`${file}.new`, content);
  renameSync(`${file}.new`, file);
}
