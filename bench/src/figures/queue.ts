import { count, defineFigure, type Figure, ROUNDS } from '../figure.ts';
import { alternating } from '../harness/alternating.ts';
import { onPostgres, onSqlite, type Storage } from '../harness/home.ts';
import { cpuMs, startOwn } from '../harness/processes.ts';
import { fillQueue, IN_FLIGHT, onCopy } from '../harness/queue.ts';
import { Receiver } from '../harness/receiver.ts';
import { startRedis } from '../harness/redis.ts';

const EVENTS = count(150_000, 2000);
const MEASURED = [EVENTS * 0.1, EVENTS * 0.9] as const;

/** Deliveries per second. Peer: a BullMQ worker that signs and posts the same requests with the same concurrency. */
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
      cpu: { what: 'CPU time per delivery, the database included', unit: 'µs' },
      laxCpu: { what: 'of BullMQ with Redis, fsync every second', unit: 'µs' },
      strictCpu: { what: 'of BullMQ with Redis, fsync always', unit: 'µs' },
    },
    async prepare(tree, scope) {
      await (await startRedis('everysec')).stop(); // fails before the queue is filled if there is no Redis
      const receiver = await Receiver.start(scope);
      const home = await storage.open(tree, scope);
      await fillQueue(home, receiver, EVENTS);
      const runBoth = alternating(
        alternating(
          () => runBullmq(receiver, 'everysec'),
          () => runBullmq(receiver, 'always'),
        ),
        () =>
          onCopy(home, receiver, ({ pid }, copy) =>
            receiver.rate(...MEASURED, () => cpuMs(pid) + copy.databaseCpuMs()),
          ),
      );
      return async () => {
        const [[lax, strict], ours] = await runBoth();
        return {
          ours: ours.perSecond,
          lax: lax.perSecond,
          strict: strict.perSecond,
          overLax: ours.perSecond / lax.perSecond,
          overStrict: ours.perSecond / strict.perSecond,
          cpu: ours.cpuUs,
          laxCpu: lax.cpuUs,
          strictCpu: strict.cpuUs,
        };
      };
    },
  });

/** The jobs are queued before the worker starts, like the deliveries before the server. */
async function runBullmq(receiver: Receiver, fsync: 'everysec' | 'always') {
  const redis = await startRedis(fsync);
  await receiver.behave();
  const worker = await startOwn('bullmqLoop.ts', {
    TARGET: receiver.url,
    CONCURRENCY: String(IN_FLIGHT),
    TOTAL: String(EVENTS),
    REDIS_PORT: String(redis.port),
  });
  const rate = await receiver.rate(...MEASURED, () => cpuMs(worker.pid) + cpuMs(redis.pid));
  await worker.stop();
  await redis.stop();
  return rate;
}

export const queue = queueOn(onSqlite, 2);
export const queuePostgres = queueOn(onPostgres, 1.3);
