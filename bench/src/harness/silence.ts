import { Agent, get } from 'node:http';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';

/*
 * Measures the longest time for which a server does not answer: a thread sends `GET /health` again as soon as it was
 * answered, after a short pause.
 */

const PAUSE_MS = 3;

export class Silence {
  readonly #thread: Worker;

  /** @param url of the server */
  constructor(url: string) {
    this.#thread = new Worker(new URL(import.meta.url), { workerData: `${url}/health` });
  }

  /** Returns the longest silence in ms since the last call. */
  async longest(): Promise<number> {
    const { promise, resolve } = Promise.withResolvers<number>();
    this.#thread.once('message', resolve);
    this.#thread.postMessage('');
    return promise;
  }

  async stop(): Promise<void> {
    await this.#thread.terminate();
  }
}

if (!isMainThread && typeof workerData === 'string') watch(workerData);

function watch(url: string): void {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  let longest = 0;
  let since = performance.now();
  const ask = () => {
    since = performance.now();
    get(url, { agent }, (response) => {
      response.resume();
      response.on('end', () => {
        longest = Math.max(longest, performance.now() - since);
        setTimeout(ask, PAUSE_MS);
      });
    });
  };
  ask();
  parentPort?.on('message', () => {
    // A request that is still waiting counts as well.
    parentPort?.postMessage(Math.max(longest, performance.now() - since));
    longest = 0;
  });
}
