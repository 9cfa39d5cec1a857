import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';

/** Returns the id of a data folder, which is generated on its first start. */
export function instanceOf(dataDir: string): string {
  const file = idFile(dataDir);
  if (!existsSync(file)) writeFileSync(file, randomUUID(), { mode: 0o600 });
  return readFileSync(file, 'utf8').trim();
}

/** Each start adds one, and a dead node counts for the rest of its lease: enough for a process that keeps crashing. */
const NODES_KEPT = 50;

interface Runs {
  /** Inode of the file with the folder's id: a copy of the folder has a different one. */
  readonly inode: number;
  /** Boot id of the machine: a copy of the whole disk has a different one. */
  readonly boot: string;
  /** Nodes that ran on this folder, oldest first. */
  readonly nodeIds: readonly string[];
}

/**
 * Records in a data folder that a node runs on it. The caller holds the lock on the folder, so earlier nodes are dead.
 * @returns the id of the folder, and the earlier nodes if this is still the folder and the machine that they ran on;
 * they
 *   are undefined if unknown, because an older version ran here
 */
export function noteRun(
  dataDir: string,
  nodeId: string,
): { instance: string; former: ReadonlySet<string> | undefined } {
  const file = join(dataDir, 'instance-runs');
  const isNew = !existsSync(idFile(dataDir));
  const instance = instanceOf(dataDir);
  const here = { inode: statSync(idFile(dataDir)).ino, boot: bootId() };
  const noted = readRuns(file);
  const isSame = noted?.inode === here.inode && noted.boot === here.boot;
  const former = isSame ? noted.nodeIds : [];
  const runs: Runs = { ...here, nodeIds: [...former, nodeId].slice(-NODES_KEPT) };
  writeFileSync(file, JSON.stringify(runs), { mode: 0o600 });
  return { instance, former: noted === undefined && !isNew ? undefined : new Set(former) };
}

function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return hostname();
  }
}

function readRuns(file: string): Runs | undefined {
  if (!existsSync(file)) return undefined;
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Runs; // only `noteRun` writes it
  } catch (error) {
    if (error instanceof SyntaxError) return undefined; // cut off by a crash
    throw error;
  }
}

const idFile = (dataDir: string) => join(dataDir, 'instance-id');
