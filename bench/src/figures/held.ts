import { count, defineFigure } from '../figure.ts';
import { onSqlite } from '../harness/home.ts';
import { cpuMs, sleep, untilIdle } from '../harness/processes.ts';
import { fillQueue, onCopy } from '../harness/queue.ts';
import { Receiver } from '../harness/receiver.ts';

const EVENTS = count(100_000, 1000);
const SECONDS = count(10, 1);

/** The CPU time of a server that holds events behind an open circuit breaker. */
export const held = defineFigure({
  about: `CPU use with ${EVENTS.toLocaleString('en')} events behind an open circuit breaker, SQLite`,
  rounds: count(3, 1),
  readings: { cpu: { what: 'share of a core', unit: '%', digits: 2, goal: { atMost: 1 } } },
  async prepare(tree, scope) {
    const receiver = await Receiver.start(scope);
    const home = await onSqlite.open(tree, scope);
    await fillQueue(home, receiver, EVENTS);
    const options = { env: { BREAKER_OPEN_SECONDS: '900' }, behavior: { status: 410 } };
    const measure = async (pid: number) => {
      await receiver.reach(1);
      await untilIdle(pid);
      const before = cpuMs(pid);
      await sleep(SECONDS * 1000);
      return { cpu: (cpuMs(pid) - before) / SECONDS / 10 };
    };
    return () => onCopy(home, receiver, ({ pid }) => measure(pid), options);
  },
});
