import { count, defineFigure } from '../figure.ts';
import { type Home, onSqlite } from '../harness/home.ts';
import { cpuMs, rssMb } from '../harness/processes.ts';
import { fillQueue, onCopy } from '../harness/queue.ts';
import { Receiver } from '../harness/receiver.ts';

/*
 * Ten thousand deliveries take about a second, most of which a new process spends warming up, so both queues are
 * measured after the same warm-up and over the same number.
 */
const WARM_UP = count(20_000, 500);
const MEASURED = count(10_000, 500);
const LARGE = count(1_000_000, 3000);

/** The delivery rate with a large queue, beside a small one. */
export const backlog = defineFigure({
  about: `deliveries per second with ${LARGE.toLocaleString('en')} pending, beside ${MEASURED.toLocaleString('en')}, SQLite`,
  rounds: count(3, 1),
  readings: {
    large: { what: `${LARGE.toLocaleString('en')} pending`, unit: '/s', digits: 0 },
    small: { what: `${MEASURED.toLocaleString('en')} pending`, unit: '/s', digits: 0 },
    ratio: { what: 'share of the rate with few', unit: '×', digits: 2, goal: { atLeast: 0.9 } },
    memory: { what: 'memory with many', unit: 'MB', digits: 0, goal: { atMost: 400 } },
  },
  async prepare(tree, scope) {
    const receiver = await Receiver.start(scope);
    const [few, many] = [await onSqlite.open(tree, scope), await onSqlite.open(tree, scope)];
    await fillQueue(few, receiver, WARM_UP + MEASURED);
    await fillQueue(many, receiver, LARGE);
    return async () => {
      const [small, large] = [await drain(few, receiver), await drain(many, receiver)];
      const ratio = large.perSecond / small.perSecond;
      return { small: small.perSecond, large: large.perSecond, ratio, memory: large.memory };
    };
  },
});

const drain = (home: Home, receiver: Receiver) =>
  onCopy(home, receiver, async ({ pid }) => {
    const { perSecond } = await receiver.rate(WARM_UP, WARM_UP + MEASURED * 0.9, () => cpuMs(pid));
    return { perSecond, memory: rssMb(pid) };
  });
