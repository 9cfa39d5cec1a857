import { fileURLToPath } from 'node:url';
import { count, defineFigure, type Figure, median, percentile, type Reading, type Sample } from '../figure.ts';
import { alternating } from '../harness/alternating.ts';
import { type Account, type Api, addWebhook, apiOf, greeting, newAccount, sendMessages } from '../harness/api.ts';
import { databaseBytes } from '../harness/databaseSize.ts';
import { type Home, onPostgres, onSqlite, type Storage } from '../harness/home.ts';
import { advanceTime } from '../harness/laterTime.ts';
import { cpuMs, type Running, until, untilIdle } from '../harness/processes.ts';
import { Receiver } from '../harness/receiver.ts';
import { type ListIds, listCases } from '../listFilters.ts';

/** `BENCH_ROWS=50000` measures with fewer messages. */
const LARGE = Number(process.env['BENCH_ROWS'] ?? count(5_000_000, 2000));
const SIZES = [LARGE / 5, LARGE];
const STORED = count(100_000, 1000);
const MEASURED = count(10_000, 200);
/** Alternating measurements of the large and the empty database at each size. */
const ROUNDS = count(3, 1);
const REQUESTS = count(200, 5);
const WARM_UP = count(10, 1);
const RETENTION_DAYS = 1;
const CLEANING_MS = 2000;

const metrics = {
  send: { what: 'CPU time per send without a webhook', unit: 'µs', goal: 1.1 },
  receive: { what: 'CPU time per simulated incoming message', unit: 'µs', goal: 1.1 },
  delivery: { what: 'CPU time per delivery', unit: 'µs', goal: 1.1 },
  lists: { what: 'p99 of the slowest list with a filter that matches nothing', unit: 'ms', goal: 2 },
  start: { what: 'from process start until ready', unit: 'ms', goal: undefined },
} as const;
type Metric = keyof typeof metrics;
const METRICS = Object.keys(metrics) as Metric[]; // its own keys
type Costs = Record<Metric, number>;

/** A database with an account whose webhook gets `message.sent`. */
interface Side {
  readonly home: Home;
  readonly account: Account;
  readonly webhookId: string;
  sent: number;
}

/** Bytes of a message in the database, and the growth of the server's costs with the number of messages. */
const growthOn = (storage: Storage, goals?: { readonly stored: number; readonly kept: number }): Figure<string> =>
  defineFigure<string>({
    about: `bytes per message, and costs with up to ${LARGE.toLocaleString('en')} messages, ${storage.name}`,
    rounds: 1,
    readings: {
      stored: {
        what: 'database per message, its two events and its delivery',
        unit: 'B',
        digits: 0,
        ...(goals && { goal: { atMost: goals.stored } }),
      },
      kept: {
        what: 'after retention has removed events and deliveries',
        unit: 'B',
        digits: 0,
        ...(goals && { goal: { atMost: goals.kept } }),
      },
      ...Object.fromEntries(METRICS.flatMap((metric) => SIZES.map((size) => readingOf(metric, size)))),
    },
    async prepare(tree, scope) {
      const receiver = await Receiver.start(scope);
      const open = async () => openSide(await storage.open(tree, scope), receiver);
      return async () => {
        const sample: Record<string, number> = await measureBytes(await open(), receiver);
        const [large, empty] = [await open(), await open()];
        for (const size of SIZES) {
          await fill(large, receiver, size);
          const both = alternating(
            () => measure(empty, receiver),
            () => measure(large, receiver),
          );
          const rounds: (readonly [Costs, Costs])[] = [];
          for (let round = 0; round < ROUNDS; round++) rounds.push(await both());
          for (const metric of METRICS) {
            const [before, after] = [
              median(rounds.map(([one]) => one[metric])),
              median(rounds.map(([, one]) => one[metric])),
            ];
            Object.assign(sample, {
              [keyOf(metric, size)]: after / before,
              [`${keyOf(metric, size)} empty`]: before,
              [`${keyOf(metric, size)} full`]: after,
            });
          }
        }
        return sample;
      };
    },
  });

const keyOf = (metric: Metric, size: number) => `${metric} ${size}`;

function readingOf(metric: Metric, size: number): [string, Reading] {
  const { what, unit, goal } = metrics[metric];
  const key = keyOf(metric, size);
  const note = (sample: Sample) =>
    `${(sample[`${key} empty`] ?? 0).toFixed(1)} → ${(sample[`${key} full`] ?? 0).toFixed(1)} ${unit}`;
  const reading = { what: `${what}: ${size.toLocaleString('en')} messages beside none`, unit: '×', digits: 2, note };
  return [key, size === LARGE && goal !== undefined ? { ...reading, goal: { atMost: goal } } : reading];
}

async function openSide(home: Home, receiver: Receiver): Promise<Side> {
  const server = await home.start();
  const account = await newAccount(server);
  const webhookId = await addWebhook(apiOf(server.url, account.key), receiver.hook, 64);
  await server.stop();
  return { home, account, webhookId, sent: 0 };
}

/** Stores messages through the product, and waits for their deliveries. */
async function fill(side: Side, receiver: Receiver, size: number): Promise<void> {
  await onServer(side, receiver, async (server) => {
    await send(server, side, size - side.sent);
    await delivered(server, receiver, 0);
  });
}

/** Waits until nothing is pending, and at least so many requests have arrived. */
async function delivered(server: Running, receiver: Receiver, least: number): Promise<void> {
  await receiver.reach(least);
  await untilIdle(server.pid);
}

async function measureBytes(side: Side, receiver: Receiver): Promise<{ stored: number; kept: number }> {
  const before = await databaseBytes(side.home);
  await fill(side, receiver, STORED);
  const stored = await databaseBytes(side.home);
  await advanceTime(side.home, RETENTION_DAYS + 1);
  const server = await side.home.start({
    NODE_OPTIONS: `--import ${fileURLToPath(new URL('../processes/soonCleaning.ts', import.meta.url))}`,
    EVENT_RETENTION_DAYS: String(RETENTION_DAYS),
    CLEANING_MS: String(CLEANING_MS),
  });
  const api = apiOf(server.url, side.account.key);
  for (const path of ['/events?limit=1', '/webhooks/deliveries?limit=1'])
    await until(
      () => api('GET', path),
      ({ data }) => data.length === 0,
    );
  await untilIdle(server.pid);
  await server.stop();
  const kept = await databaseBytes(side.home);
  return { stored: (stored - before) / STORED, kept: (kept - before) / STORED };
}

async function measure(side: Side, receiver: Receiver): Promise<Costs> {
  return onServer(side, receiver, async (server, start) => {
    const api = apiOf(server.url, side.account.key);
    const webhook = (fields: object) => api('PATCH', `/webhooks/endpoints/${side.webhookId}`, fields);
    const cpu = () => cpuMs(server.pid) + side.home.databaseCpuMs();
    const costOf = async (work: () => Promise<unknown>) => {
      await untilIdle(server.pid);
      const before = cpu();
      await work();
      await untilIdle(server.pid);
      return ((cpu() - before) / MEASURED) * 1000;
    };
    await webhook({ events: ['group.created'] });
    await send(server, side, MEASURED);
    const sending = await costOf(() => send(server, side, MEASURED));
    await receive(api, side, MEASURED);
    const receiving = await costOf(() => receive(api, side, MEASURED));
    const lists = await slowestList(api);
    await webhook({ events: ['message.sent'], paused: true });
    await send(server, side, MEASURED);
    await untilIdle(server.pid);
    await receiver.behave();
    const { cpuUs: delivery } = await rateOf(receiver, cpu, () => webhook({ paused: false }));
    await delivered(server, receiver, MEASURED);
    return { send: sending, receive: receiving, delivery, lists, start };
  });
}

async function rateOf(receiver: Receiver, cpu: () => number, begin: () => Promise<unknown>) {
  const rate = receiver.rate(MEASURED * 0.2, MEASURED * 0.95, cpu);
  await begin();
  return rate;
}

async function send(server: Running, side: Side, amount: number): Promise<void> {
  await sendMessages(server, side.account, { from: side.sent, count: amount, text: greeting });
  side.sent += amount;
}

const RECEIVERS = 20;
const UNKNOWN = 'unknown';
const LARGE_LISTS = ['messages.list', 'webhooks.list_deliveries', 'events.list', 'chats.list'];

/** The filters of large lists, except those that need the id of something. */
const filteredPaths = listCases
  .filter(({ operation, fields, isLimited }) => LARGE_LISTS.includes(operation) && fields.length > 0 && !isLimited)
  .map(({ path }) => path(new Proxy({} as ListIds, { get: () => UNKNOWN })))
  .filter((path) => !path.includes(UNKNOWN));

/** Each incoming message is a call of the simulator. */
async function receive(api: Api, { account }: Side, amount: number): Promise<void> {
  let left = amount;
  const next = async () => {
    while (left-- > 0)
      await api('POST', `/sessions/${account.sessionId}/simulate`, {
        action: 'incoming',
        from: String(491_708_000_000 + (left % 1000)),
        message: greeting(),
      });
  };
  await Promise.all(Array.from({ length: RECEIVERS }, next));
}

/** Returns the p99 in ms of the slowest list whose filter matches nothing. */
async function slowestList(api: Api): Promise<number> {
  let slowest = 0;
  for (const target of filteredPaths) {
    const time = async () => {
      const since = performance.now();
      const { data } = await api('GET', target);
      return { hits: data.length, ms: performance.now() - since };
    };
    if ((await time()).hits > 0) continue;
    for (let n = 0; n < WARM_UP; n++) await time();
    const took: number[] = [];
    for (let n = 0; n < REQUESTS; n++) took.push((await time()).ms);
    slowest = Math.max(slowest, percentile(took, 0.99));
  }
  return slowest;
}

/** @param work gets the time in ms that the server took to become ready */
async function onServer<T>(
  { home }: Side,
  receiver: Receiver,
  work: (server: Running, readyMs: number) => Promise<T>,
): Promise<T> {
  await receiver.behave();
  const server = await home.start();
  try {
    await until(
      () => fetch(`${server.url}/ready`),
      ({ status }) => status === 200,
    );
    return await work(server, performance.now() - server.spawnedAt);
  } finally {
    await server.stop();
  }
}

export const growth = growthOn(onSqlite, { stored: 1100, kept: 400 });
export const growthPostgres = growthOn(onPostgres);
