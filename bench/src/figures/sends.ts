import { count, defineFigure, type Figure, ROUNDS } from '../figure.ts';
import { alternating } from '../harness/alternating.ts';
import { setUp } from '../harness/api.ts';
import { onPostgres, onSqlite, type Storage } from '../harness/home.ts';
import { answers, CONNECTIONS } from '../harness/load.ts';
import { cpuMs, startOwn, untilIdle } from '../harness/processes.ts';
import { Receiver } from '../harness/receiver.ts';

const WARM_UP_SECONDS = count(3, 1);
const SECONDS = count(8, 1);

/** `POST /messages/send` with the delivery of every message, beside a Fastify route that only answers. */
const sendsOn = (storage: Storage, goal: number): Figure =>
  defineFigure({
    about: `POST /messages/send, ${CONNECTIONS} connections, one webhook, ${storage.name}`,
    rounds: ROUNDS,
    readings: {
      rate: { what: 'sends per second', unit: '/s', digits: 0 },
      aloneRate: { what: 'sends per second on one connection', unit: '/s', digits: 0 },
      cpu: { what: 'CPU time per send, its delivery included', unit: 'µs', digits: 0 },
      bareRate: { what: 'a bare Fastify route', unit: '/s', digits: 0 },
      share: { what: 'share of the bare route', unit: '×', digits: 2, goal: { atLeast: goal } },
    },
    async prepare(tree, scope) {
      const receiver = await Receiver.start(scope);
      const empty = await storage.open(tree, scope);
      const ours = async () => {
        const home = await empty.copy();
        const server = await home.start();
        await receiver.behave();
        const { key } = await setUp(server, receiver.hook);
        const headers = { authorization: `Bearer ${key}` };
        const load = (seconds: number, connections?: number) =>
          answers(server.url, '/api/v1/messages/send', seconds, headers, connections);
        const warmedUp = await load(WARM_UP_SECONDS);
        const alone = await load(WARM_UP_SECONDS, 1);
        await untilIdle(server.pid);
        const before = cpuMs(server.pid);
        const sent = await load(SECONDS);
        await untilIdle(server.pid);
        const cpu = ((cpuMs(server.pid) - before) / sent) * 1000;
        // Every message that was answered with 201 arrives at the receiver.
        const arrived = (await receiver.counts()).count;
        if (arrived < warmedUp + alone + sent) throw new Error(`${arrived} arrived of ${warmedUp + alone + sent}`);
        await server.stop();
        await home.remove();
        const aloneRate = alone / WARM_UP_SECONDS;
        return { rate: sent / SECONDS, aloneRate, cpu };
      };
      const runBoth = alternating(bareRoute, ours);
      return async () => {
        const [bareRate, measured] = await runBoth();
        return { ...measured, bareRate, share: measured.rate / bareRate };
      };
    },
  });

async function bareRoute(): Promise<number> {
  const route = await startOwn('bareRoute.ts');
  await answers(route.url, '/send', WARM_UP_SECONDS);
  const answered = await answers(route.url, '/send', SECONDS);
  await route.stop();
  return answered / SECONDS;
}

export const sends = sendsOn(onSqlite, 0.3);
export const sendsPostgres = sendsOn(onPostgres, 0.1);
