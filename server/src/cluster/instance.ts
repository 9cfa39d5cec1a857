import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';

/** What tells a data folder from others, from its first start on. One process at a time runs on it. */
export function instanceOf(dataDir: string): string {
  const file = idFile(dataDir);
  if (!existsSync(file)) writeFileSync(file, randomUUID(), { mode: 0o600 });
  return readFileSync(file, 'utf8').trim();
}

/** Enough for a process that is killed whenever it starts: each start adds one, and a dead node counts for 8 s. */
const NODES_KEPT = 50;

interface Runs {
  /** Inode of the file with the folder's id: a copy of the folder has another. */
  readonly inode: number;
  /** The start of the machine: a copy of its whole disk runs on another one. */
  readonly boot: string;
  /** The nodes that ran on this very folder, oldest first. */
  readonly nodeIds: readonly string[];
}

/**
 * Notes in a data folder that a node runs on it now. The lock on the folder is held by that time, so the nodes before it
 * are dead.
 * @returns those nodes, if this is still the folder and the machine that they ran on; undefined if nobody can tell,
 *   because an older version ran here
 */
export function noteRun(dataDir: string, nodeId: string): ReadonlySet<string> | undefined {
  const file = join(dataDir, 'instance-runs');
  const isNew = !existsSync(idFile(dataDir));
  instanceOf(dataDir);
  const here = { inode: statSync(idFile(dataDir)).ino, boot: bootOfMachine() };
  const noted = readRuns(file);
  const isSame = noted?.inode === here.inode && noted.boot === here.boot;
  const former = isSame ? noted.nodeIds : [];
  const runs: Runs = { ...here, nodeIds: [...former, nodeId].slice(-NODES_KEPT) };
  writeFileSync(file, JSON.stringify(runs), { mode: 0o600 });
  return noted === undefined && !isNew ? undefined : new Set(former);
}

/** An id of its own for each start of a machine (Linux), or else the machine's name. */
function bootOfMachine(): string {
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
    if (error instanceof SyntaxError) return undefined; // a crash while it was written
    throw error;
  }
}

const idFile = (dataDir: string) => join(dataDir, 'instance-id');
