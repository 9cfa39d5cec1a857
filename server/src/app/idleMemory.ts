import { performance } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';
import type { Clock } from '../clock.ts';

const CHECK_MS = 10_000;
/** The process counts as idle below this share of busy time. */
const IDLE_SHARE = 0.02;
/** Growth of the heap that is worth a collection. The start of the server leaves about 30 MB behind. */
const GROWTH_BYTES = 16 * 1024 * 1024;
/** A collection blocks the process for about 2 ms for each MB in use. */
const MAX_USED_BYTES = 128 * 1024 * 1024;
const EVERY_MS = 60_000;
/** The fraction of time that collections may take, and so the fraction of requests that may have to wait for one. */
const SHARE = 0.001;

export interface HeapSize {
  /** Bytes that V8 has reserved. */
  readonly reserved: number;
  readonly used: number;
}

interface Options {
  readonly clock: Clock;
  /** Returns the share of the time that the process was busy since the last call. */
  readonly readBusyShare?: () => number;
  readonly readHeap?: () => HeapSize;
  readonly collect?: () => Promise<void>;
  readonly trim?: () => Promise<void>;
}

/**
 * Returns memory to the operating system when the process is idle. V8 keeps what a start or a burst of work needed
 * until more work makes it collect garbage, and the C library keeps what was freed: a third of the memory of a server
 * that has just started.
 */
export class IdleMemory {
  readonly #clock: Clock;
  readonly #readBusyShare: () => number;
  readonly #readHeap: () => HeapSize;
  readonly #collect: () => Promise<void>;
  readonly #trim: () => Promise<void>;
  #cancelCheck = () => {};
  /** Least number of bytes that were reserved since the last collection. */
  #reservedAfter = 0;
  #nextAt = 0;

  constructor({
    clock,
    readBusyShare = busyShareReader(),
    readHeap = heapSize,
    collect = collectGarbage,
    trim = nativeTrimmer(),
  }: Options) {
    this.#clock = clock;
    this.#readBusyShare = readBusyShare;
    this.#readHeap = readHeap;
    this.#collect = collect;
    this.#trim = trim;
  }

  start(): void {
    this.#cancelCheck();
    this.#cancelCheck = this.#clock.after(CHECK_MS, () => {
      this.start();
      // Without an inspector there is no way to collect.
      this.#check().catch(() => this.stop());
    });
  }

  stop(): void {
    this.#cancelCheck();
  }

  async #check(): Promise<void> {
    const isIdle = this.#readBusyShare() < IDLE_SHARE;
    const { reserved, used } = this.#readHeap();
    this.#reservedAfter = Math.min(this.#reservedAfter, reserved);
    const startedAt = this.#clock.elapsed();
    if (!isIdle || startedAt < this.#nextAt || used > MAX_USED_BYTES) return;
    if (reserved - this.#reservedAfter < GROWTH_BYTES) return;
    await this.#collect();
    await this.#trim();
    const ms = this.#clock.elapsed() - startedAt;
    this.#nextAt = startedAt + Math.max(EVERY_MS, ms / SHARE);
    this.#reservedAfter = this.#readHeap().reserved;
  }
}

function busyShareReader(): () => number {
  let before = performance.eventLoopUtilization();
  return () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, before);
    before = now;
    return utilization;
  };
}

function heapSize(): HeapSize {
  const { total_heap_size: reserved, used_heap_size: used } = getHeapStatistics();
  return { reserved, used };
}

/**
 * Collects all garbage and shrinks the heap, which V8 offers only to its inspector.
 * @throws {Error} if this Node has no inspector
 */
export async function collectGarbage(): Promise<void> {
  const { Session } = await import('node:inspector');
  const session = new Session();
  session.connect();
  try {
    await new Promise<void>((resolve, reject) =>
      session.post('HeapProfiler.collectGarbage', (error) => (error === null ? resolve() : reject(error))),
    );
  } finally {
    session.disconnect();
  }
}

/**
 * Returns a function that gives native memory which was freed, such as that of typed arrays, back to the operating
 * system. Only glibc has a call for that: elsewhere, and without the optional package koffi, it does nothing.
 */
export function nativeTrimmer(): () => Promise<void> {
  let trim: ((pad: number) => number) | undefined;
  return async () => {
    trim ??= await loadMallocTrim();
    trim(0);
  };
}

/** Loads `int malloc_trim(size_t pad)`. */
async function loadMallocTrim(): Promise<(pad: number) => number> {
  try {
    if (process.platform !== 'linux') return () => 0;
    const { default: koffi } = await import('koffi');
    return koffi.load('libc.so.6').func('malloc_trim', 'int', ['size_t']);
  } catch {
    return () => 0;
  }
}
