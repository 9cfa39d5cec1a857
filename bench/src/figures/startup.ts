import { count, defineFigure, ROUNDS } from '../figure.ts';
import { apiOf, newSession } from '../harness/api.ts';
import { type Home, onSqlite } from '../harness/home.ts';
import { until } from '../harness/processes.ts';
import { fillQueue, whileHeld } from '../harness/queue.ts';
import { Receiver } from '../harness/receiver.ts';

const EVENTS = count(1_000_000, 1000);
const SESSIONS = count(1000, 20);
/** Each message is two events: sent and delivered. */
const MESSAGES = EVENTS / 2;

/** The time from the process start until `GET /ready` answers 200. */
export const startup = defineFigure({
  about: 'from process start until GET /ready returns 200, SQLite',
  rounds: ROUNDS,
  readings: {
    empty: { what: 'a new data folder', unit: 'ms', digits: 0, goal: { atMost: 1000 } },
    full: {
      what: `${EVENTS.toLocaleString('en')} events and ${SESSIONS.toLocaleString('en')} sessions`,
      unit: 'ms',
      digits: 0,
      goal: { atMost: 2000 },
    },
  },
  async prepare(tree, scope) {
    const receiver = await Receiver.start(scope);
    const full = await onSqlite.open(tree, scope);
    await fill(full, receiver);
    await receiver.behave({ holds: true }); // every round starts with the same rows
    return async () => {
      const home = await onSqlite.open(tree, scope);
      const empty = await readyMs(home);
      await home.remove();
      return { empty, full: await readyMs(full) };
    };
  },
});

async function readyMs(home: Home): Promise<number> {
  const server = await home.start();
  await until(
    () => fetch(`${server.url}/ready`),
    ({ status }) => status === 200,
  );
  const ms = performance.now() - server.spawnedAt;
  await server.stop();
  return ms;
}

async function fill(home: Home, receiver: Receiver): Promise<void> {
  const { key } = await fillQueue(home, receiver, MESSAGES);
  await whileHeld(home, receiver, async (server) => {
    for (let n = 1; n < SESSIONS; n++) await newSession(apiOf(server.url, key));
    return true;
  });
}
