import { count, defineFigure, type Figure, ROUNDS } from '../figure.ts';
import { alternating } from '../harness/alternating.ts';
import { onPostgres, onSqlite, type Storage } from '../harness/home.ts';
import { cpuMs, startOwn } from '../harness/processes.ts';
import { fillQueue, IN_FLIGHT, onCopy } from '../harness/queue.ts';
import { Receiver } from '../harness/receiver.ts';

const EVENTS = count(150_000, 2000);
/** Steady state: without the start, in which the compiler warms up, and the last events. */
export const STEADY = [EVENTS * 0.2, EVENTS * 0.95] as const;

/** CPU time of the server process per delivery, and of a loop that only signs and posts the same requests. */
const costOn = (storage: Storage, goal?: { atMost: number }): Figure =>
  defineFigure({
    about: `CPU time per delivery, ${EVENTS.toLocaleString('en')} events, ${IN_FLIGHT} in flight, ${storage.name}`,
    rounds: ROUNDS,
    readings: {
      ours: { what: 'CPU time per delivery', unit: 'µs' },
      bare: { what: 'an undici loop that only signs and posts the same, per post', unit: 'µs' },
      ratio: { what: 'times the loop', unit: '×', digits: 2, ...(goal && { goal }) },
      rate: { what: 'deliveries per second', unit: '/s', digits: 0 },
      bareRate: { what: 'posts of the loop per second', unit: '/s', digits: 0 },
      share: { what: 'share of the rate of the loop', unit: '×', digits: 2 },
    },
    async prepare(tree, scope) {
      const receiver = await Receiver.start(scope);
      const home = await storage.open(tree, scope);
      await fillQueue(home, receiver, EVENTS);
      const runBoth = alternating(
        () => runBareLoop(receiver),
        () => onCopy(home, receiver, ({ pid }) => receiver.rate(...STEADY, () => cpuMs(pid))),
      );
      return async () => {
        const [bare, ours] = await runBoth();
        return {
          ours: ours.cpuUs,
          bare: bare.cpuUs,
          ratio: ours.cpuUs / bare.cpuUs,
          rate: ours.perSecond,
          bareRate: bare.perSecond,
          share: ours.perSecond / bare.perSecond,
        };
      };
    },
  });

async function runBareLoop(receiver: Receiver) {
  await receiver.behave();
  const total = { CONCURRENCY: String(IN_FLIGHT), TOTAL: String(EVENTS) };
  const loop = await startOwn('bareLoop.ts', { TARGET: receiver.url, ...total });
  const rate = await receiver.rate(...STEADY, () => cpuMs(loop.pid));
  await loop.stop();
  return rate;
}

export const cost = costOn(onSqlite, { atMost: 1.8 });
export const costPostgres = costOn(onPostgres);
