import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { portOf } from '../../../server/test/support/connections/listening.ts';

/* Processes of a benchmark: each listens on loopback and is ended by pid. */

const children = new Set<ChildProcess>();
const folders = new Set<string>();

/** Ends all processes that are still running, and removes all folders. */
export function cleanUp(): void {
  for (const child of children) child.kill('SIGKILL');
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  children.clear();
  folders.clear();
}

export interface Running {
  readonly url: string;
  readonly pid: number;
  /** When it was spawned, by `performance.now()`. */
  readonly spawnedAt: number;
  /** Ends it in an orderly way. May be called twice. */
  stop(): Promise<void>;
}

/** A line with an address alone or after its name. Lines of the log may contain the addresses of other nodes. */
const OWN_ADDRESS = /^\s*(?:\w+\s+)?(http:\/\/127\.0\.0\.1:\d+)/m;

/** Starts a script with nothing but these variables, and waits for a line with its address. */
export async function start(script: string, env: Readonly<Record<string, string>>): Promise<Running> {
  const spawnedAt = performance.now();
  const child = spawn(process.execPath, [script], {
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.add(child);
  const url = await new Promise<string>((resolve, reject) => {
    let output = '';
    child.stdout.on('data', (chunk) => {
      if (output.length > 100_000) return; // the log is discarded
      output += chunk;
      const found = OWN_ADDRESS.exec(output)?.[1];
      if (found !== undefined) resolve(found);
    });
    child.on('exit', (code) => reject(new Error(`${script} ended with ${code}`)));
  });
  return { url, pid: child.pid ?? 0, spawnedAt, stop: () => end(child) };
}

/** Starts a script of `processes/`. */
export const startOwn = (name: string, env: Readonly<Record<string, string>> = {}): Promise<Running> =>
  start(fileURLToPath(new URL(`../processes/${name}`, import.meta.url)), env);

export interface Program {
  readonly pid: number;
  stop(): Promise<void>;
}

/** Starts a program and waits until it prints a text; undefined if it is missing or ends before. */
export async function startProgram(
  program: string,
  args: readonly string[],
  text: string,
): Promise<Program | undefined> {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  children.add(child);
  const isUp = await new Promise<boolean>((resolve) => {
    child.on('error', () => resolve(false));
    child.on('exit', () => resolve(false));
    child.stdout.on('data', (chunk) => String(chunk).includes(text) && resolve(true));
  });
  if (isUp) return { pid: child.pid ?? 0, stop: () => end(child) };
  children.delete(child);
  return undefined;
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) {
    child.kill('SIGTERM');
    await once(child, 'exit');
  }
  children.delete(child);
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const port = portOf(server);
  server.close();
  await once(server, 'close');
  return port;
}

/** Creates a folder that `removeFolder` or the end of the benchmark removes. */
export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'switchboard-bench-'));
  folders.add(folder);
  return folder;
}

export function removeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
  folders.delete(folder);
}

/** CPU time of a process, user and system, in ms. Linux counts in ticks of 10 ms. */
export function cpuMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** CPU time of a process and its children, including those that have ended, in ms. */
export function familyCpuMs(pid: number): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  const ended = (Number(fields[13]) + Number(fields[14])) * 10;
  return children.reduce((sum, child) => sum + cpuOfRunning(child), cpuMs(pid) + ended);
}

/** Zero if it has just ended: then its parent has counted it, or soon will. */
function cpuOfRunning(pid: number): number {
  return existsSync(`/proc/${pid}/stat`) ? cpuMs(pid) : 0;
}

/** Bytes that a process has sent to the disk, counted in whole pages. Zero on a file system in memory. */
export function writtenBytes(pid: number): number {
  return Number(/^write_bytes: (\d+)/m.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))?.[1]);
}

/** Resident memory of a process, in MB. */
export function rssMb(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
}

/** The most resident memory that a process ever had, in MB. */
export function peakRssMb(pid: number): number {
  return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
}

/** Waits until a process has used less than 2 % of a core for two seconds. */
export async function untilIdle(pid: number): Promise<void> {
  const deadline = performance.now() + IDLE_WITHIN_MS;
  for (;;) {
    const before = cpuMs(pid);
    await sleep(2000);
    if (cpuMs(pid) - before <= 40) return;
    if (performance.now() > deadline) throw new Error(`process ${pid} is still busy after ${IDLE_WITHIN_MS / 1000} s`);
  }
}

const IDLE_WITHIN_MS = 600_000;

export const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** Reads a value every 20 ms until it is accepted. */
export async function until<T>(read: () => T | Promise<T>, isMet: (value: T) => boolean): Promise<T> {
  for (;;) {
    const value = await read();
    if (isMet(value)) return value;
    await sleep(20);
  }
}
