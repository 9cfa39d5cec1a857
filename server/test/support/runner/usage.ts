import { readFileSync } from 'node:fs';

/** Resources that a test file used, without PostgreSQL. */
export interface FileUsage {
  readonly file: string;
  readonly wallMs: number;
  /** CPU time of its process and of the child processes that have ended. */
  readonly cpuMs: number;
  readonly assertions: number;
}

/** Prefix of the diagnostic message that reports a `FileUsage`. */
export const USAGE = 'usage: ';
/** Linux counts the CPU time of processes in hundredths of a second. */
const TICK_MS = 10;

/** Returns the CPU time of this process, and of its child processes that have ended (on Linux). */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000 + childrenMs();
}

function childrenMs(): number {
  if (process.platform !== 'linux') return 0;
  const stat = readFileSync('/proc/self/stat', 'utf8');
  // The name of the command, in parentheses, can contain spaces. The fields after it start with the third.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[13]) + Number(fields[14])) * TICK_MS; // cutime and cstime
}
