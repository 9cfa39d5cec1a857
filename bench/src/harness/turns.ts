import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { newFolder, until } from './processes.ts';

/** The longest turns of a server's main thread. */
export interface LongestTurns {
  /** Processor time of one turn. */
  readonly cpuMs: number;
  /** Time of one turn in which the thread did not run: it waited for the disk, or for a core that others used. */
  readonly waitMs: number;
  /** Median of the processor time of all turns of at least a millisecond. */
  readonly medianMs: number;
}

/** Measures the turns of the main thread of a server that is started with `env`. */
export class Turns {
  readonly #file = join(newFolder(), 'turns.json');

  get env(): { readonly TURNS_FILE: string } {
    return { TURNS_FILE: this.#file };
  }

  /** Module for `--import`. */
  static readonly script = fileURLToPath(new URL('../processes/turns.ts', import.meta.url));

  /** Returns the longest turns since the last call. */
  async longest(pid: number): Promise<LongestTurns> {
    rmSync(this.#file, { force: true });
    process.kill(pid, 'SIGUSR2');
    await until(
      () => existsSync(this.#file),
      (isWritten) => isWritten,
    );
    return JSON.parse(readFileSync(this.#file, 'utf8')) as LongestTurns;
  }
}
