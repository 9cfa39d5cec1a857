import { createServer } from 'node:http';
import { portOf } from '../../../server/test/support/connections/listening.ts';
import { count, defineFigure, percentile } from '../figure.ts';
import { type Api, addWebhook, apiOf, newAccount, recipient } from '../harness/api.ts';
import { onSqlite } from '../harness/home.ts';
import { sleep, until } from '../harness/processes.ts';

const WEBHOOKS = count(30, 2);
const SHORTEST_MS = count(31_000, 2000);
const LONGEST_MS = count(60_000, 3000);
const SEND_EVERY_MS = 200;

/** How soon deliveries resume after an outage of the receiver, and how often it is probed meanwhile. */
export const recovery = defineFigure({
  about: `after an outage of ${SHORTEST_MS / 1000} to ${LONGEST_MS / 1000} s, ${WEBHOOKS} webhooks, SQLite`,
  rounds: 1,
  readings: {
    p95: { what: 'from the end of the outage to the first delivery, p95', unit: 's', goal: { atMost: 10 } },
    median: { what: 'the same, median', unit: 's' },
    gap: { what: 'shortest time between probes during the outage', unit: 's', goal: { atLeast: 5 } },
  },
  async prepare(tree, scope) {
    return async () => {
      const home = await onSqlite.open(tree, scope);
      const server = await home.start();
      const outages = await startOutages();
      const { key } = await newAccount(server);
      const api = apiOf(server.url, key);
      const ids: string[] = [];
      for (let n = 0; n < WEBHOOKS; n++) ids.push(await addWebhook(api, `${outages.url}/${n}`));
      const receivers = await interrupt(api, ids, outages.receivers);
      await server.stop();
      outages.close();
      await home.remove();
      const delays = receivers.map(({ resumedAt, endsAt }) => (resumedAt - endsAt) / 1000);
      const gap = Math.min(...receivers.map(shortestGap)) / 1000;
      return { p95: percentile(delays, 0.95), median: percentile(delays, 0.5), gap };
    };
  },
});

/** The receiver of one webhook. Times are those of `performance.now()`. */
interface Outage {
  /** Answers 503 until then. */
  endsAt: number;
  /** When the circuit breaker was seen to have left the closed state. */
  openedAt: number;
  /** Requests during the outage. */
  readonly refusedAt: number[];
  /** The first request after the outage; infinite before. */
  resumedAt: number;
  /** Whether a request was accepted before the outage. */
  isWarm: boolean;
}

async function startOutages() {
  const receivers = Array.from(
    { length: WEBHOOKS },
    (): Outage => ({ endsAt: 0, openedAt: 0, refusedAt: [], resumedAt: Number.POSITIVE_INFINITY, isWarm: false }),
  );
  const server = createServer((request, response) => {
    const at = performance.now();
    const receiver = receivers[Number(request.url?.slice(1))];
    request.resume();
    if (receiver === undefined) return void response.writeHead(404).end();
    const isOut = at < receiver.endsAt;
    if (isOut) receiver.refusedAt.push(at);
    else if (receiver.endsAt > 0) receiver.resumedAt = Math.min(receiver.resumedAt, at);
    else receiver.isWarm = true;
    response.writeHead(isOut ? 503 : 200).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${portOf(server)}`,
    receivers,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Sends messages in one conversation, through an outage of every receiver, until all have received again. */
async function interrupt(api: Api, webhookIds: readonly string[], receivers: readonly Outage[]) {
  const timer = setInterval(() => {
    void api('POST', '/messages/send', { to: recipient(0), message: 'Hello there' }).catch(() => {});
  }, SEND_EVERY_MS);
  const have = (is: (receiver: Outage) => boolean) =>
    until(
      () => receivers.every(is),
      (all) => all,
    );
  await have(({ isWarm }) => isWarm);
  const startsAt = performance.now();
  for (const [n, receiver] of receivers.entries()) {
    receiver.endsAt = startsAt + SHORTEST_MS + ((LONGEST_MS - SHORTEST_MS) * n) / (receivers.length - 1);
  }
  await Promise.all(receivers.map((receiver, n) => noteOpening(api, webhookIds[n] ?? '', receiver)));
  await have(({ resumedAt }) => Number.isFinite(resumedAt));
  clearInterval(timer);
  await sleep(SEND_EVERY_MS);
  return receivers;
}

async function noteOpening(api: Api, webhookId: string, receiver: Outage): Promise<void> {
  await until(
    () => api('GET', `/webhooks/endpoints/${webhookId}/circuit-breaker`),
    ({ state }) => state !== 'closed',
  );
  receiver.openedAt = performance.now();
}

/** The shortest time between two requests, from the one that opened the circuit breaker on. */
function shortestGap({ refusedAt, openedAt }: Outage): number {
  const opening = refusedAt.findLastIndex((at) => at < openedAt);
  const probes = refusedAt.slice(opening);
  return Math.min(...probes.slice(1).map((at, n) => at - (probes[n] ?? Number.NaN)));
}
