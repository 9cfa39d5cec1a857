import autocannon from 'autocannon';
import {
  apiOf,
  countOf,
  cpuMs,
  median,
  newFolder,
  rateOf,
  rssMb,
  setUp,
  startOwn,
  startRedis,
  startServer,
} from './harness.ts';

import { type NewHome, onPostgres, onSqlite } from './home.ts';
import { startPostgres } from './postgres.ts';

/** One row of the results. */
export interface Figure {
  readonly what: string;
  readonly ours: string;
  readonly beside: string;
  readonly figure: string;
  readonly goal: string;
  readonly met: boolean;
}

const ROUNDS = 5;
/** Inserting a million rows takes long. */
const BACKLOG_ROUNDS = 3;

export const send = () => sendOn('SQLite', onSqlite, 0.3);
export const sendPostgres = () => withPostgres((url) => sendOn('PostgreSQL', onPostgres(url), 0.1));

/** `POST /messages/send` at 50 connections compared with a bare Fastify route, in turns. */
async function sendOn(database: string, newHome: NewHome, goal: number): Promise<Figure[]> {
  const seconds = 4;
  const bodies = Array.from({ length: 500 }, (_, n) =>
    JSON.stringify({ to: String(491_707_000_000 + n), message: 'Hello there' }),
  );
  const load = async (url: string, path: string, headers: Record<string, string> = {}) => {
    const requests = bodies.map((body) => ({
      method: 'POST' as const,
      path,
      body,
      headers: { 'content-type': 'application/json', ...headers },
    }));
    const result = await autocannon({ url, connections: 50, duration: seconds, requests });
    if (result.non2xx > 0 || result.errors > 0)
      throw new Error(`${url}: ${result.non2xx} refused, ${result.errors} errors`);
    return result['2xx'] / result.duration;
  };
  const receiver = await startOwn('receiver.ts');
  const [bare, ours]: number[][] = [[], []];
  let answered = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const route = await startOwn('bareRoute.ts');
    bare?.push(await load(route.url, '/send'));
    await route.stop();
    const server = await (await newHome()).start();
    const { key, api } = await setUp(server, `${receiver.url}/hook`);
    const before = await countOf(receiver);
    const perSecond = await load(server.url, '/api/v1/messages/send', { authorization: `Bearer ${key}` });
    ours?.push(perSecond);
    answered = perSecond * seconds;
    // Speed loses nothing: every message that was answered with 201 arrives at the receiver.
    while ((await api('GET', '/webhooks/stats')).pending > 0) await new Promise((resolve) => setTimeout(resolve, 200));
    const arrived = (await countOf(receiver)) - before;
    if (arrived < answered * 0.999) throw new Error(`${arrived} arrived of ${answered}`);
    await server.stop();
  }
  await receiver.stop();
  return [
    ratio(
      `send: requests/s, 50 connections, ${database} with fsync, one webhook`,
      ours ?? [],
      'a bare Fastify route',
      bare ?? [],
      goal,
    ),
  ];
}

/** `tools/call` of messages_send compared with the REST call of the same operation, on one server, in turns. */
export async function mcp(): Promise<Figure[]> {
  const receiver = await startOwn('receiver.ts');
  const server = await startServer(newFolder());
  const { key } = await setUp(server, `${receiver.url}/hook`);
  const message = (n: number) => ({ to: String(491_707_000_000 + n), message: 'Hello there' });
  const authorization = `Bearer ${key}`;
  const rest = Array.from({ length: 200 }, (_, n) => ({
    path: '/api/v1/messages/send',
    body: JSON.stringify(message(n)),
    headers: { authorization, 'content-type': 'application/json' },
  }));
  const meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const tool = Array.from({ length: 200 }, (_, n) => ({
    path: '/api/v1/mcp',
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: n,
      method: 'tools/call',
      params: { name: 'messages_send', arguments: message(n), _meta: meta },
    }),
    headers: {
      authorization,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': 'messages_send',
    },
  }));
  const [firstCall] = tool;
  const answer = await fetch(server.url + firstCall?.path, { method: 'POST', ...firstCall });
  const { result } = (await answer.json()) as { result?: { isError?: boolean } };
  if (result === undefined || result.isError) throw new Error('the tool call failed');
  const [calls, sends]: number[][] = [[], []];
  for (let round = 0; round < ROUNDS; round++) {
    for (const [requests, rates] of [
      [rest, sends],
      [tool, calls],
    ] as const) {
      const load = requests.map((request) => ({ method: 'POST' as const, ...request }));
      const result = await autocannon({ url: server.url, connections: 20, duration: 3, requests: load });
      if (result.non2xx > 0 || result.errors > 0) throw new Error(`${result.non2xx} refused, ${result.errors} errors`);
      rates?.push(result['2xx'] / result.duration);
    }
  }
  await server.stop();
  await receiver.stop();
  return [ratio('mcp: tools/call of messages_send, calls/s', calls ?? [], 'the same over REST', sends ?? [], 0.5)];
}

/** Delivered webhooks per second compared with a loop that signs and posts the same. */
export async function deliver(): Promise<Figure[]> {
  const events = 20_000;
  const figures: Figure[] = [];
  for (const inFlight of [8, 64]) {
    const [bare, ours]: number[][] = [[], []];
    for (let round = 0; round < ROUNDS; round++) {
      const first = await startOwn('receiver.ts');
      const loop = await startOwn('bareLoop.ts', {
        TARGET: first.url,
        CONCURRENCY: String(inFlight),
        TOTAL: String(events),
      });
      bare?.push(await rateOf(first, events * 0.1, events * 0.9));
      await loop.stop();
      await first.stop();
      ours?.push((await drain(events, inFlight, events)).perSecond);
    }
    figures.push(
      ratio(`deliver: webhooks/s, ${inFlight} in flight`, ours ?? [], 'a bare undici loop', bare ?? [], 0.6),
    );
  }
  return figures;
}

export const queue = () => queueOn('SQLite', onSqlite, 3.5);
export const queuePostgres = () => withPostgres((url) => queueOn('PostgreSQL', onPostgres(url), 1.5));

/**
 * Delivered webhooks per second compared with a BullMQ worker that signs and posts the same, each with 64 in flight.
 */
async function queueOn(database: string, newHome: NewHome, goal: number): Promise<Figure[]> {
  const events = 20_000;
  const [lax, strict, ours]: number[][] = [[], [], []];
  for (let round = 0; round < ROUNDS; round++) {
    for (const [fsync, rates] of [
      ['everysec', lax],
      ['always', strict],
    ] as const) {
      const redis = await startRedis(fsync);
      if (redis === undefined) {
        const what = 'queue: webhooks/s compared with a BullMQ worker';
        return [{ what, ours: '', beside: 'redis-server is not installed', figure: '', goal: '', met: false }];
      }
      const receiver = await startOwn('receiver.ts');
      const worker = await startOwn('bullmqLoop.ts', {
        TARGET: receiver.url,
        TOTAL: String(events),
        REDIS_PORT: String(redis.port),
      });
      rates?.push(await rateOf(receiver, events * 0.1, events * 0.9));
      await worker.stop();
      await redis.stop();
      await receiver.stop();
    }
    ours?.push((await drain(events, 64, events, newHome)).perSecond);
  }
  const what = `queue: webhooks/s, 64 in flight, ${database}`;
  return [
    ratio(what, ours ?? [], 'a BullMQ worker, Redis with fsync every second', lax ?? [], goal),
    ratio(what, ours ?? [], 'a BullMQ worker, Redis with fsync always', strict ?? [], goal),
  ];
}

/**
 * The drain rate with 1,000,000 pending deliveries compared with 10,000. Ten thousand drain in about a second, most of
 * which a new process spends warming up, so both are measured after the same warm-up and over the same number.
 */
export async function backlog(): Promise<Figure[]> {
  const warmUp = 20_000;
  const measured = 10_000;
  const [small, large]: number[][] = [[], []];
  let memory = 0;
  for (let round = 0; round < BACKLOG_ROUNDS; round++) {
    small?.push((await drain(warmUp + measured, 64, [warmUp, warmUp + measured * 0.9])).perSecond);
    const run = await drain(1_000_000, 64, [warmUp, warmUp + measured * 0.9]);
    large?.push(run.perSecond);
    memory = Math.max(memory, run.rssMb);
  }
  const share = median(large ?? []) / median(small ?? []);
  return [
    {
      what: 'backlog: webhooks/s with 1,000,000 pending',
      ours: perSecond(median(large ?? [])),
      beside: `with 10,000 pending: ${perSecond(median(small ?? []))}`,
      figure: share.toFixed(2),
      goal: '≥ 0.90',
      met: share >= 0.9,
    },
    {
      what: 'backlog: memory during the run',
      ours: `${memory.toFixed(0)} MB`,
      beside: '',
      figure: '',
      goal: '< 400 MB',
      met: memory < 400,
    },
  ];
}

/** CPU time of a server that holds 100,000 events behind an open breaker. */
export async function held(): Promise<Figure[]> {
  const receiver = await startOwn('receiver.ts', { STATUS: '410' });
  const home = await onSqlite();
  const env = { BREAKER_OPEN_SECONDS: '900' };
  let server = await home.start(env);
  await setUp(server, `${receiver.url}/hook`);
  await server.stop();
  await home.fillQueue(100_000);
  server = await home.start(env);
  await new Promise((resolve) => setTimeout(resolve, 3000));
  const before = cpuMs(server.pid);
  await new Promise((resolve) => setTimeout(resolve, 10_000));
  const share = (cpuMs(server.pid) - before) / 10_000;
  await server.stop();
  await receiver.stop();
  const figure = `${(share * 100).toFixed(1)} %`;
  return [
    {
      what: 'held: CPU with 100,000 events behind an open circuit breaker',
      ours: figure,
      beside: '',
      figure: '',
      goal: '< 1 %',
      met: share < 0.01,
    },
  ];
}

/** p99 latency from emitting to receiving for a healthy webhook, alone and next to 20 dead and 20 slow ones. */
export async function fairness(): Promise<Figure[]> {
  const [alone, beside] = [await healthyP99(0), await healthyP99(20)];
  const times = beside / alone;
  return [
    {
      what: 'fairness: p99 of a healthy webhook next to 20 dead and 20 slow ones',
      ours: `${beside.toFixed(1)} ms`,
      beside: `alone: ${alone.toFixed(1)} ms`,
      figure: times.toFixed(2),
      goal: '< 2.00',
      met: times < 2,
    },
  ];
}

async function healthyP99(troubled: number): Promise<number> {
  const { startTimedReceiver } = await import('./timedReceiver.ts');
  const healthy = await startTimedReceiver();
  const slow = await startOwn('receiver.ts', { DELAY_MS: '10000' });
  const server = await startServer(newFolder());
  const main = await setUp(server, healthy.url);
  const others = [];
  for (let n = 0; n < troubled; n++) {
    others.push(
      await setUp(server, 'http://127.0.0.1:9/hook', `dead${n}`),
      await setUp(server, `${slow.url}/hook`, `slow${n}`),
    );
  }
  // One event per second for each webhook, spread evenly: a burst would measure only itself.
  const load = others.map(async ({ api }, n) => {
    await new Promise((resolve) => setTimeout(resolve, n * 25));
    return setInterval(() => {
      void api('POST', '/messages/send', { to: '491701111111', message: `${n}` }).catch(() => {});
    }, 1000);
  });
  await new Promise((resolve) => setTimeout(resolve, 2000));
  for (let n = 0; n < 500; n++) {
    const to = String(491_707_000_000 + (n % 100));
    const { messageId } = await main.api('POST', '/messages/send', { to, message: 'x' });
    healthy.sent(messageId);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  for (const timer of await Promise.all(load)) clearInterval(timer);
  const p99 = await healthy.p99();
  await server.stop();
  await slow.stop();
  healthy.close();
  return p99;
}

/** Time from process start to the printed address. */
export async function startup(): Promise<Figure[]> {
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const server = await startServer(newFolder());
    times.push(server.readyMs);
    await apiOf(server.url)('GET', '/ready');
    await server.stop();
  }
  const ms = median(times);
  return [
    {
      what: 'startup: from process start to ready',
      ours: `${ms.toFixed(0)} ms`,
      beside: '',
      figure: '',
      goal: '< 1500 ms',
      met: ms < 1500,
    },
  ];
}

async function drain(
  events: number,
  inFlight: number,
  measured: number | readonly [from: number, to: number],
  newHome = onSqlite,
): Promise<{ perSecond: number; rssMb: number }> {
  const receiver = await startOwn('receiver.ts');
  const home = await newHome();
  const first = await home.start();
  await setUp(first, `${receiver.url}/hook`);
  await first.stop();
  await home.fillQueue(events);
  await home.run(`update webhooks set max_in_flight = ${inFlight}`);
  const server = await home.start();
  const [from, to] = typeof measured === 'number' ? [measured * 0.1, measured * 0.9] : measured;
  const perSecond = await rateOf(receiver, from, to);
  const memory = rssMb(server.pid);
  await server.stop();
  await receiver.stop();
  return { perSecond, rssMb: memory };
}

async function withPostgres(measure: (url: string) => Promise<Figure[]>): Promise<Figure[]> {
  const postgres = await startPostgres();
  try {
    return await measure(postgres.url);
  } finally {
    await postgres.stop();
  }
}

function ratio(
  what: string,
  ours: readonly number[],
  besideWhat: string,
  beside: readonly number[],
  goal: number,
): Figure {
  const share = median(ours) / median(beside);
  return {
    what,
    ours: perSecond(median(ours)),
    beside: `${besideWhat}: ${perSecond(median(beside))}`,
    figure: share.toFixed(2),
    goal: `≥ ${goal.toFixed(2)}`,
    met: share >= goal,
  };
}

function perSecond(value: number): string {
  return `${Math.round(value).toLocaleString('en')}/s`;
}
