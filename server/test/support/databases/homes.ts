import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync, statfsSync } from 'node:fs';
import { freemem, tmpdir } from 'node:os';
import { join } from 'node:path';

const MEMORY = '/dev/shm';
const NEEDED_BYTES = 6 * 1024 ** 3;
const PREFIX = 'switchboard-homes-';

/** Folder for the data folders of tests and of PostgreSQL. */
export const homesFolder = (): string => process.env['TEST_HOMES'] ?? tmpdir();

/**
 * Creates the folder in memory if there is enough, because the file system is most of what a new database costs.
 * Removes the folders of runs that were killed.
 */
export function createHomes(): string {
  const parent = hasMemory() ? MEMORY : tmpdir();
  for (const name of readdirSync(parent)) {
    const pid = name.startsWith(PREFIX) ? Number(name.slice(PREFIX.length).split('-')[0]) : 0;
    if (pid > 0 && !isRunning(pid)) rmSync(join(parent, name), { recursive: true, force: true });
  }
  const folder = mkdtempSync(join(parent, `${PREFIX}${process.pid}-`));
  chmodSync(folder, 0o755); // the user that PostgreSQL runs as needs access
  return folder;
}

function hasMemory(): boolean {
  if (!existsSync(MEMORY) || freemem() < NEEDED_BYTES) return false;
  const { bavail, bsize } = statfsSync(MEMORY);
  return bavail * bsize >= NEEDED_BYTES;
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
