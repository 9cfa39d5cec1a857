import { count, defineFigure } from '../figure.ts';
import { onSqlite } from '../harness/home.ts';
import { ask, link, newOwner, numberOf, startNetwork } from '../harness/linkedSessions.ts';
import { cpuMs, rssMb, sleep, until } from '../harness/processes.ts';

const MESSAGES = count(100_000, 2000);
const MANY = count(500_000, 4000);
const CHATS = 200;
const SETTLE_MS = count(10_000, 500);

/** The import of a phone's history over the tests' fake network, whose process is not measured. */
export const history = defineFigure({
  about: `import of ${MESSAGES} and of ${MANY} messages of a phone's history, SQLite`,
  rounds: 1,
  readings: {
    seconds: { what: `from the scan until ${MESSAGES} messages are stored`, unit: 's', goal: { atMost: 60 } },
    cpu: { what: 'CPU time of the server for that', unit: 's' },
    added: { what: 'most memory during that beyond a linked session', unit: 'MB', digits: 0, goal: { atMost: 300 } },
    manySeconds: { what: `the time for ${MANY}`, unit: 's', digits: 0 },
    manyAdded: { what: `the memory for ${MANY}`, unit: 'MB', digits: 0, goal: { atMost: 300 } },
  },
  async prepare(tree, scope) {
    const measure = async (messages: number) => {
      const { network, env } = await startNetwork();
      const home = await onSqlite.open(tree, scope);
      const server = await home.start(env);
      const { api } = await newOwner(server);
      // The client itself takes memory when the first session loads it.
      await link(api, network, numberOf(1));
      await sleep(SETTLE_MS);
      const before = rssMb(server.pid);
      await ask(network, '/history', { number: numberOf(2), messages, chats: CHATS });
      const startedAt = performance.now();
      const cpuBefore = cpuMs(server.pid);
      let most = before;
      const watch = setInterval(() => {
        most = Math.max(most, rssMb(server.pid));
      }, 100);
      const sessionId = await link(api, network, numberOf(2));
      await until(
        () => api('GET', `/sessions/${sessionId}`),
        (session) => session.history.state === 'complete' && session.history.messages === messages,
      );
      const seconds = (performance.now() - startedAt) / 1000;
      const cpu = (cpuMs(server.pid) - cpuBefore) / 1000;
      clearInterval(watch);
      await server.stop();
      await network.stop();
      await home.remove();
      return { seconds, cpu, added: most - before };
    };
    return async () => {
      const some = await measure(MESSAGES);
      const many = await measure(MANY);
      return { ...some, manySeconds: many.seconds, manyAdded: many.added };
    };
  },
});
