import { workerData } from 'node:worker_threads';

/*
 * A thread of the process that converts files. Decoders keep the main thread of that process busy for up to minutes, in
 * which it can check nothing. Without the thread, a process would outlive a server that was killed, and keep
 * converting.
 */

const CHECK_MS = 50;

export interface Watched {
  readonly serverPid: number;
  /** Memory with which the process ends while it converts a file, in bytes. */
  readonly maxBytes: number;
  /** Element 0 is 1 while the process converts a file. */
  readonly isBusy: Int32Array;
}

const { serverPid, maxBytes, isBusy }: Watched = workerData;

setInterval(() => {
  const isOrphan = process.ppid !== serverPid;
  const isTooLarge = Atomics.load(isBusy, 0) === 1 && process.memoryUsage.rss() > maxBytes;
  if (isOrphan || isTooLarge) process.kill(process.pid, 'SIGKILL');
}, CHECK_MS);
