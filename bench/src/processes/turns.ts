import { renameSync, writeFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

/*
 * Loaded into a server with `--import`: measures the turns of its main thread. A timer runs in each turn of the event
 * loop, at most once a millisecond, so what the thread uses between two of its runs is one turn, or a few short ones.
 * On SIGUSR2 it writes the longest ones since the last time to `TURNS_FILE`.
 */

const EVERY_MS = 1;
/** Turns whose median is written: some minutes of work. */
const TURNS_KEPT = 100_000;

if (isMainThread) {
  const file = process.env['TURNS_FILE'] ?? '';
  let cpu = process.threadCpuUsage();
  let at = performance.now();
  let longest = { cpuMs: 0, waitMs: 0 };
  let busy: number[] = [];
  const turn = () => {
    const { user, system } = process.threadCpuUsage(cpu);
    const cpuMs = (user + system) / 1000;
    const waitMs = Math.max(0, performance.now() - at - EVERY_MS - cpuMs);
    longest = { cpuMs: Math.max(longest.cpuMs, cpuMs), waitMs: Math.max(longest.waitMs, waitMs) };
    if (cpuMs >= EVERY_MS && busy.length < TURNS_KEPT) busy.push(cpuMs);
    cpu = process.threadCpuUsage();
    at = performance.now();
    setTimeout(turn, EVERY_MS).unref();
  };
  turn();
  process.on('SIGUSR2', () => {
    const medianMs = busy.toSorted((a, b) => a - b)[Math.floor(busy.length / 2)] ?? 0;
    writeFileSync(`${file}.new`, JSON.stringify({ ...longest, medianMs }));
    renameSync(`${file}.new`, file);
    longest = { cpuMs: 0, waitMs: 0 };
    busy = [];
  });
}
