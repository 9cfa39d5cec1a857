import { count, defineFigure, type Figure, percentile } from '../figure.ts';
import { apiOf } from '../harness/api.ts';
import { onPostgres, onSqlite, type Storage } from '../harness/home.ts';
import { fillQueue } from '../harness/queue.ts';
import { Receiver } from '../harness/receiver.ts';
import { createText, searchPath } from '../harness/text.ts';

const MESSAGES = count(1_000_000, 1000);
const SEARCHES = count(400, 40);

/** The time of a search: common words, rare ones, two at a time, and prefixes. */
const searchOn = (storage: Storage): Figure =>
  defineFigure({
    about: `time of a search over ${MESSAGES.toLocaleString('en')} messages, ${storage.name}`,
    rounds: 1,
    readings: {
      p95: { what: 'p95 of a search', unit: 'ms', goal: { atMost: 50 } },
      median: { what: 'median of a search', unit: 'ms' },
    },
    async prepare(tree, scope) {
      const receiver = await Receiver.start(scope);
      const home = await storage.open(tree, scope);
      const { key } = await fillQueue(home, receiver, MESSAGES, { text: createText() });
      await receiver.behave({ holds: true });
      return async () => {
        const server = await home.start();
        const api = apiOf(server.url, key);
        const took: number[] = [];
        for (let n = 0; n < SEARCHES; n++) {
          const startedAt = performance.now();
          await api('GET', searchPath(n));
          took.push(performance.now() - startedAt);
        }
        await server.stop();
        return { p95: percentile(took, 0.95), median: percentile(took, 0.5) };
      };
    },
  });

export const search = searchOn(onSqlite);
export const searchPostgres = searchOn(onPostgres);
