import { count, defineFigure, percentile } from '../figure.ts';
import { type Api, apiOf } from '../harness/api.ts';
import { onSqlite } from '../harness/home.ts';
import { sleep } from '../harness/processes.ts';
import { fillQueue, onCopy } from '../harness/queue.ts';
import { Receiver } from '../harness/receiver.ts';
import { createText, searchPath } from '../harness/text.ts';

const MESSAGES = count(1_000_000, 3000);
const SECONDS = count(30, 1);
const EVERY_MS = 20;

/** The latency of a light request while the same process searches and works off a backlog. */
export const responsive = defineFigure({
  about: `GET /sessions beside searches and a backlog of ${MESSAGES.toLocaleString('en')} messages each, SQLite`,
  rounds: count(3, 1),
  readings: {
    p99: { what: 'p99 of GET /sessions', unit: 'ms', goal: { atMost: 25 } },
    median: { what: 'median of GET /sessions', unit: 'ms' },
    slowest: { what: 'slowest GET /sessions', unit: 'ms' },
    searches: { what: 'searches per second meanwhile', unit: '/s' },
    deliveries: { what: 'deliveries per second meanwhile', unit: '/s', digits: 0 },
  },
  async prepare(tree, scope) {
    const receiver = await Receiver.start(scope);
    const home = await onSqlite.open(tree, scope);
    const { key } = await fillQueue(home, receiver, MESSAGES, { text: createText() });
    return () =>
      onCopy(home, receiver, async (server) => {
        const api = apiOf(server.url, key);
        const { count: before } = await receiver.reach(1);
        const until = performance.now() + SECONDS * 1000;
        const [took, searches] = await Promise.all([lightRequests(api, until), searchUntil(api, until)]);
        const delivered = (await receiver.counts()).count - before;
        return {
          p99: percentile(took, 0.99),
          median: percentile(took, 0.5),
          slowest: Math.max(...took),
          searches: searches / SECONDS,
          deliveries: delivered / SECONDS,
        };
      });
  },
});

/** Sends a request every 20 ms, whether or not the one before was answered. Returns the milliseconds of each. */
async function lightRequests(api: Api, until: number): Promise<number[]> {
  const requests: Promise<number>[] = [];
  for (let at = performance.now(); at < until; at += EVERY_MS) {
    await sleep(Math.max(0, at - performance.now()));
    // A late start of this process counts as well: it is what a caller on this machine would see.
    requests.push(api('GET', '/sessions').then(() => performance.now() - at));
  }
  return Promise.all(requests);
}

async function searchUntil(api: Api, until: number): Promise<number> {
  let n = 0;
  while (performance.now() < until) await api('GET', searchPath(n++));
  return n;
}
