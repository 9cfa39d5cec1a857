import { parentPort } from 'node:worker_threads';
import { READY } from '../threadPool.ts';
import { type Head, readHead } from './pageHead.ts';

/* A thread that reads the heads of pages, which come from strangers, one after the other. */

export interface PageTask {
  readonly bytes: Uint8Array;
  readonly contentType: string | null;
}

export type PageResult = Head | null;

parentPort?.on('message', ({ bytes, contentType }: PageTask) => {
  let result: PageResult = null;
  try {
    result = readHead(bytes, contentType);
  } catch {
    // A page that cannot be read has no preview.
  }
  parentPort?.postMessage(result);
});
parentPort?.postMessage(READY);
