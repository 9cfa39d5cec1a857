import { constants, setPriority } from 'node:os';
import { Worker } from 'node:worker_threads';
import { ConversionError, type Outcome, type Prepared, type Task } from './task.ts';
import type { Watched } from './watchdog.ts';

/*
 * The process that decodes files, which come from strangers. It may read the installed packages and nothing else, and
 * has no network. The server ends it when it takes too long.
 */

const [MAX_BYTES = 0, KEPT_BYTES = 0, SERVER_PID = 0] = process.argv.slice(2).map(Number);
const isBusy = new Int32Array(new SharedArrayBuffer(4));

setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
for (const name of ['fetch', 'WebSocket', 'EventSource', 'XMLHttpRequest'])
  Object.defineProperty(globalThis, name, { value: undefined });

const watched: Watched = { serverPid: SERVER_PID, maxBytes: MAX_BYTES, isBusy };
const watchdog = new Worker(new URL('./watchdog.ts', import.meta.url), { workerData: watched });
// Without it, the process could outlive the server, so it does not work without it either.
watchdog.on('error', () => process.exit(1));
watchdog.on('online', () => process.send?.('ready'));

process.on('message', (task: Task) => {
  void outcomeOf(task).then((outcome) => {
    // The memory of this file must be free for the next one.
    globalThis.gc?.();
    const isLast = process.memoryUsage.rss() > KEPT_BYTES;
    process.send?.({ ...outcome, isLast }, () => isLast && process.exit());
  });
});
process.on('disconnect', () => process.exit());

async function outcomeOf(task: Task): Promise<Outcome> {
  Atomics.store(isBusy, 0, 1);
  try {
    return { prepared: await prepare(task) };
  } catch (error) {
    const { reason, message } =
      error instanceof ConversionError ? error : ({ reason: 'unreadable', message: 'its content is damaged' } as const);
    return { failure: { reason, message } };
  } finally {
    Atomics.store(isBusy, 0, 0);
  }
}

async function prepare(task: Task): Promise<Prepared> {
  try {
    return await decode(task);
  } catch (error) {
    if (!(error instanceof ConversionError) || error.reason !== 'missing') throw error;
    return (await import('./containers.ts')).examine(task, error);
  }
}

async function decode(task: Task): Promise<Prepared> {
  const { content, mimeType } = task;
  switch (task.purpose) {
    case 'image':
      return (await import('./images.ts')).prepareImage(content, mimeType, task.rule);
    case 'sticker':
      return (await import('./images.ts')).prepareSticker(content, mimeType, task.rule);
    case 'voice':
      return (await import('./audio.ts')).prepareVoice(content, mimeType, task.rule);
    case 'audio':
      return (await import('./audio.ts')).prepareAudio(content, mimeType, task.rule);
    case 'video':
      return (await import('./video.ts')).prepareVideo(content, mimeType, task.rule);
  }
}
