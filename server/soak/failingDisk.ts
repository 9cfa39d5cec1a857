import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { replaceFile } from './server.ts';

/** See `failingDisk.c`. */
export const diskModes = ['ok', 'full', 'unsynced', 'error', 'readonly', 'short', 'slow'] as const;
export type DiskMode = (typeof diskModes)[number];

/** A folder on a disk that fails on command, for processes with its environment. */
export class FailingDisk {
  readonly #library: string;
  readonly #folder: string;
  readonly #modeFile: string;

  /**
   * @param folder a folder on the disk
   * @param ownFolder for files of the disk itself
   * @throws {Error} if there is no C compiler
   */
  constructor(folder: string, ownFolder: string) {
    this.#folder = folder;
    mkdirSync(ownFolder, { recursive: true });
    this.#library = join(ownFolder, 'failingDisk.so');
    this.#modeFile = join(ownFolder, 'mode');
    const source = fileURLToPath(new URL('./failingDisk.c', import.meta.url));
    execFileSync('cc', ['-shared', '-fPIC', '-O1', '-Wall', '-o', this.#library, source, '-ldl'], { stdio: 'pipe' });
    this.set('ok');
  }

  static get isAvailable(): boolean {
    try {
      execFileSync('cc', ['--version'], { stdio: 'pipe' });
      return process.platform === 'linux';
    } catch {
      return false;
    }
  }

  get env(): Readonly<Record<string, string>> {
    return { LD_PRELOAD: this.#library, FAILING_DISK_FOLDER: this.#folder, FAILING_DISK_MODE: this.#modeFile };
  }

  set(mode: DiskMode): void {
    replaceFile(this.#modeFile, mode);
  }
}
