import { count, defineFigure, type Figure, ROUNDS } from '../figure.ts';
import { onPostgres, onSqlite, type Storage } from '../harness/home.ts';
import { startOwn } from '../harness/processes.ts';
import { fillQueue, IN_FLIGHT, onCopy } from '../harness/queue.ts';
import { Receiver } from '../harness/receiver.ts';
import { startRedis } from '../harness/redis.ts';

const EVENTS = count(150_000, 2000);
const MEASURED = [EVENTS * 0.1, EVENTS * 0.9] as const;

/** Deliveries per second, beside a BullMQ worker that signs and posts the same bodies with the same concurrency. */
const queueOn = (storage: Storage, goal: number): Figure =>
  defineFigure({
    about: `deliveries per second, ${EVENTS.toLocaleString('en')} events, ${IN_FLIGHT} in flight, ${storage.name}`,
    rounds: ROUNDS,
    readings: {
      ours: { what: 'deliveries per second', unit: '/s', digits: 0 },
      lax: { what: 'a BullMQ worker, Redis with fsync every second', unit: '/s', digits: 0 },
      strict: { what: 'a BullMQ worker, Redis with fsync always', unit: '/s', digits: 0 },
      overLax: { what: 'times BullMQ, fsync every second', unit: '×', digits: 2, goal: { atLeast: goal } },
      overStrict: { what: 'times BullMQ, fsync always', unit: '×', digits: 2, goal: { atLeast: goal } },
    },
    async prepare(tree, scope) {
      await (await startRedis('everysec')).stop(); // fails before the queue is filled if there is no Redis
      const receiver = await Receiver.start(scope);
      const home = await storage.open(tree, scope);
      await fillQueue(home, receiver, EVENTS);
      return async () => {
        const lax = await runBullmq(receiver, 'everysec');
        const strict = await runBullmq(receiver, 'always');
        const ours = await onCopy(home, receiver, async ({ pid }) => (await receiver.rate(...MEASURED, pid)).perSecond);
        return { ours, lax, strict, overLax: ours / lax, overStrict: ours / strict };
      };
    },
  });

/** The jobs are queued before the worker starts, like the deliveries before the server. */
async function runBullmq(receiver: Receiver, fsync: 'everysec' | 'always'): Promise<number> {
  const redis = await startRedis(fsync);
  await receiver.behave();
  const worker = await startOwn('bullmqLoop.ts', {
    TARGET: receiver.url,
    CONCURRENCY: String(IN_FLIGHT),
    TOTAL: String(EVENTS),
    REDIS_PORT: String(redis.port),
  });
  const { perSecond } = await receiver.rate(...MEASURED, worker.pid);
  await worker.stop();
  await redis.stop();
  return perSecond;
}

export const queue = queueOn(onSqlite, 2);
export const queuePostgres = queueOn(onPostgres, 1.3);
