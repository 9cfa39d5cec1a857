import { count, defineFigure } from '../figure.ts';
import { measureLinked } from '../harness/linkedSessions.ts';

const SESSIONS = count(200, 4);
/** V8 gives back the memory of connecting within a minute. */
const SETTLE_MS = count(70_000, 1000);
const IDLE_MS = count(20_000, 1000);

/** The cost of idle WhatsApp sessions, and the time until a server with many of them has reconnected. */
export const whatsappIdle = defineFigure({
  about: `cost of ${SESSIONS} idle WhatsApp sessions, SQLite`,
  rounds: 1,
  readings: {
    each: { what: 'memory for each session beyond the first', unit: 'MB', digits: 2, goal: { atMost: 1 } },
    one: { what: 'memory with one session', unit: 'MB', digits: 0 },
    all: { what: `memory with ${SESSIONS}`, unit: 'MB', digits: 0 },
    connected: { what: 'from the start until all are connected', unit: 's', goal: { atMost: 60 } },
    cpu: { what: 'CPU use, share of a core', unit: '%', goal: { atMost: 5 } },
    oneCpu: { what: 'CPU use with one session', unit: '%' },
  },
  async prepare(tree) {
    return async () => {
      const one = await measureLinked(tree, 1, SETTLE_MS, IDLE_MS);
      const all = await measureLinked(tree, SESSIONS, SETTLE_MS, IDLE_MS);
      return {
        each: (all.rss - one.rss) / (SESSIONS - 1),
        one: one.rss,
        all: all.rss,
        connected: all.connectedMs / 1000,
        cpu: all.cpuPercent,
        oneCpu: one.cpuPercent,
      };
    };
  },
});
