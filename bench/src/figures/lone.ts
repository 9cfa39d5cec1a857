import pg from 'pg';
import { count, defineFigure, type Figure, percentile, type Reading, UnavailableError } from '../figure.ts';
import { type Account, addWebhook, apiOf, newAccount, sendAtRate } from '../harness/api.ts';
import { type Home, onPostgres, onSqlite, type Storage } from '../harness/home.ts';
import { cpuMs, type Running, sleep, until, writtenBytes } from '../harness/processes.ts';
import { Receiver } from '../harness/receiver.ts';
import {
  countedPostgres,
  createPostgresCounter,
  createSqliteCounter,
  perItem,
  type WriteCounter,
} from '../harness/writeCounter.ts';

const RATES = [1, 5, 20] as const;
/** The goals are for this rate. */
const BUSIEST = 20;
const WARM_UP_SECONDS = count(20, 1);
/** PostgreSQL publishes the bytes of its processes about once a second. */
const SECONDS = count(30, 2);
const COUNTED_SECONDS = count(15, 2);

interface LoneStorage {
  readonly storage: Storage;
  readonly counted: Storage;
  readonly createCounter: () => WriteCounter;
  /** Returns the bytes that the server and its database have sent to the disk so far. */
  readonly written: (server: Running, home: Home) => Promise<number>;
  readonly goals?: { readonly cpuMs: number; readonly writtenKb: number };
}

type Rate = (typeof RATES)[number];
type Value = 'cpu' | 'written' | 'log' | 'statements' | 'p50' | 'p99';
type Key = `${Value}${Rate}` | 'idle';

/** Sends at the rates of a small business, one at a time over one connection, each with the delivery of its webhook. */
const loneOn = ({ storage, counted, createCounter, written, goals }: LoneStorage): Figure<Key> =>
  defineFigure<Key>({
    about: `cost of single sends at ${RATES.join(', ')} per second, one connection, one webhook, ${storage.name}`,
    rounds: count(3, 1),
    readings: {
      ...(Object.fromEntries(RATES.flatMap((rate) => readingsOf(rate, goals))) as Record<Key, Reading>),
      idle: { what: 'CPU use without sends', unit: '%', digits: 2 },
    },
    async prepare(tree, scope) {
      const receiver = await Receiver.start(scope);
      const empty = await storage.open(tree, scope);
      const emptyCounted = await counted.open(tree, scope);
      return async () => {
        const sample = {} as Record<Key, number>;
        await onServer(empty, receiver, {}, async (server, home, account) => {
          let sent = await warmUp(server, account);
          for (const rate of RATES) {
            const [cpu, bytes] = [cpuMs(server.pid), await written(server, home)];
            const took = await sendAtRate(server, account, { from: sent, perSecond: rate, seconds: SECONDS });
            sample[`cpu${rate}`] = (cpuMs(server.pid) - cpu) / took.length;
            sample[`written${rate}`] = ((await written(server, home)) - bytes) / took.length / 1000;
            sample[`p50${rate}`] = percentile(took, 0.5);
            sample[`p99${rate}`] = percentile(took, 0.99);
            sent += took.length;
          }
          // Every message that was answered with 201 arrives at the receiver.
          await until(
            () => receiver.counts(),
            (counts) => counts.count >= sent,
          );
          const before = cpuMs(server.pid);
          await sleep(SECONDS * 1000);
          sample.idle = (cpuMs(server.pid) - before) / SECONDS / 10;
        });
        const counter = createCounter();
        await onServer(emptyCounted, receiver, counter.env, async (server, home, account) => {
          let sent = await warmUp(server, account);
          for (const rate of RATES) {
            const before = await counter.read(home);
            const took = await sendAtRate(server, account, { from: sent, perSecond: rate, seconds: COUNTED_SECONDS });
            const { bytes, statements } = perItem(before, await counter.read(home), took.length);
            sample[`log${rate}`] = bytes / 1000;
            sample[`statements${rate}`] = statements;
            sent += took.length;
          }
        });
        return sample;
      };
    },
  });

function readingsOf(rate: Rate, goals: LoneStorage['goals']): [`${Value}${Rate}`, Reading][] {
  const at = `at ${rate} per second`;
  const goal = (limit: number | undefined) =>
    rate === BUSIEST && limit !== undefined ? { goal: { atMost: limit } } : undefined;
  return [
    [`cpu${rate}`, { what: `CPU time per send ${at}`, unit: 'ms', digits: 2, ...goal(goals?.cpuMs) }],
    [`written${rate}`, { what: `sent to the disk per send ${at}`, unit: 'kB', ...goal(goals?.writtenKb) }],
    [`log${rate}`, { what: `write-ahead log per send ${at}`, unit: 'kB' }],
    [`statements${rate}`, { what: `statements per send ${at}`, unit: '' }],
    [`p50${rate}`, { what: `p50 of the response ${at}`, unit: 'ms', digits: 2 }],
    [`p99${rate}`, { what: `p99 of the response ${at}`, unit: 'ms', digits: 2 }],
  ];
}

/** Compiles and optimizes the code of a send, as in a server that has run for a while. */
const warmUp = async (server: Running, account: Account): Promise<number> =>
  (await sendAtRate(server, account, { perSecond: WARM_UP_RATE, seconds: WARM_UP_SECONDS })).length;
const WARM_UP_RATE = 50;

async function onServer(
  empty: Home,
  receiver: Receiver,
  env: WriteCounter['env'],
  work: (server: Running, home: Home, account: Account) => Promise<void>,
): Promise<void> {
  await receiver.behave();
  const home = await empty.copy();
  const server = await home.start(env);
  try {
    const account = await newAccount(server);
    await addWebhook(apiOf(server.url, account.key), receiver.hook);
    await work(server, home, account);
  } finally {
    await server.stop();
    await home.remove();
  }
}

/** @throws {UnavailableError} if the data folder is in memory, where nothing is written */
async function writtenByServer({ pid }: Running): Promise<number> {
  const bytes = writtenBytes(pid);
  if (bytes === 0) throw new UnavailableError('the temporary folder is not on a disk; set TMPDIR');
  return bytes;
}

/** All processes of PostgreSQL, the log included. */
async function writtenByPostgres(_server: Running, { databaseUrl }: Home): Promise<number> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const { rows } = await client.query<{ bytes: string }>(
    `select sum(coalesce(write_bytes, 0) + coalesce(extend_bytes, 0)) as bytes from pg_stat_io`,
  );
  await client.end();
  return Number(rows[0]?.bytes);
}

export const lone = loneOn({
  storage: onSqlite,
  counted: onSqlite,
  createCounter: createSqliteCounter,
  written: writtenByServer,
  goals: { cpuMs: 2, writtenKb: 60 },
});
export const lonePostgres = loneOn({
  storage: onPostgres,
  counted: countedPostgres,
  createCounter: createPostgresCounter,
  written: writtenByPostgres,
});
