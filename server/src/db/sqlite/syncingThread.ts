import { fdatasyncSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { READY } from '../../threadPool.ts';
import { thrownMessage } from '../../thrown.ts';
import type { SyncResult } from './logSync.ts';

/* A thread that syncs an open file for every message that it gets. */

parentPort?.on('message', () => parentPort?.postMessage(sync()));
parentPort?.postMessage(READY);

function sync(): SyncResult {
  try {
    fdatasyncSync(workerData);
    return undefined;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    return { message: thrownMessage(error), code };
  }
}
