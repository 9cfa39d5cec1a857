import { count, defineFigure } from '../figure.ts';
import { onSqlite } from '../harness/home.ts';
import { measureLinked } from '../harness/linkedSessions.ts';
import { rssMb, sleep } from '../harness/processes.ts';

const SETTLE_MS = count(60_000, 2000);
const SESSIONS = count(20, 3);

/** The memory of an idle server, a minute after its start. */
export const memory = defineFigure({
  about: `resident memory of an idle server, fresh and with ${SESSIONS} linked WhatsApp sessions, SQLite`,
  rounds: count(3, 1),
  readings: {
    fresh: { what: 'a fresh server', unit: 'MB', goal: { atMost: 110 } },
    one: { what: 'with one linked WhatsApp session', unit: 'MB' },
    all: { what: `with ${SESSIONS}`, unit: 'MB' },
    each: { what: 'for each session beyond the first', unit: 'MB', digits: 2, goal: { atMost: 1 } },
  },
  async prepare(tree, scope) {
    return async () => {
      const home = await onSqlite.open(tree, scope);
      const server = await home.start();
      await sleep(SETTLE_MS);
      const fresh = rssMb(server.pid);
      await server.stop();
      await home.remove();
      const one = (await measureLinked(tree, 1, SETTLE_MS)).rss;
      const all = (await measureLinked(tree, SESSIONS, SETTLE_MS)).rss;
      return { fresh, one, all, each: (all - one) / (SESSIONS - 1) };
    };
  },
});
