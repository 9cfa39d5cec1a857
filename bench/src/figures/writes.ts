import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { count, defineFigure, type Figure } from '../figure.ts';
import { greeting, newAccount, sendMessages } from '../harness/api.ts';
import { type Home, onPostgresWith, onSqlite, type Storage } from '../harness/home.ts';
import { newFolder, untilIdle } from '../harness/processes.ts';
import { fillQueue, onCopy } from '../harness/queue.ts';
import { Receiver } from '../harness/receiver.ts';

const SENDS = count(20_000, 500);
const DELIVERIES = count(50_000, 2000);
/** The server has begun to deliver, and its statements of starting are past. */
const STARTED = DELIVERIES * 0.1;

interface Writes {
  readonly statements: number;
  /** Bytes written to the write-ahead log. */
  readonly bytes: number;
}

interface Counter {
  /** Variables of a server that is counted. */
  readonly env: Readonly<Record<string, string>>;
  /** Counts the writes of all servers on this home so far. */
  read(home: Home): Promise<Writes>;
}

/** Statements, including `begin` and `commit`, and bytes of the write-ahead log, per send and per delivery. */
const writesOn = (storage: Storage, createCounter: () => Counter): Figure =>
  defineFigure({
    about: `statements and bytes of the write-ahead log per send and per delivery, ${storage.name}`,
    rounds: 1,
    readings: {
      sendStatements: { what: 'statements per send, 50 connections, no webhook', unit: '', digits: 2 },
      sendBytes: { what: 'bytes per send', unit: 'B', digits: 0 },
      deliveryStatements: { what: 'statements per delivery, 64 in flight', unit: '', digits: 2 },
      deliveryBytes: { what: 'bytes per delivery', unit: 'B', digits: 0 },
    },
    async prepare(tree, scope) {
      const receiver = await Receiver.start(scope);
      const [forSends, forDeliveries] = [await storage.open(tree, scope), await storage.open(tree, scope)];
      await fillQueue(forDeliveries, receiver, DELIVERIES);
      return async () => {
        const send = await writesOfSends(forSends, createCounter());
        const delivery = await writesOfDeliveries(forDeliveries, receiver, createCounter());
        return {
          sendStatements: send.statements,
          sendBytes: send.bytes,
          deliveryStatements: delivery.statements,
          deliveryBytes: delivery.bytes,
        };
      };
    },
  });

async function writesOfSends(home: Home, counter: Counter): Promise<Writes> {
  const server = await home.start(counter.env);
  const account = await newAccount(server);
  await sendMessages(server, account, { count: SENDS / 10, text: greeting });
  await untilIdle(server.pid);
  const before = await counter.read(home);
  await sendMessages(server, account, { count: SENDS, text: greeting });
  await untilIdle(server.pid);
  const after = await counter.read(home);
  await server.stop();
  return perItem(before, after, SENDS);
}

async function writesOfDeliveries(home: Home, receiver: Receiver, counter: Counter): Promise<Writes> {
  const measure = async (pid: number, copy: Home) => {
    const started = await receiver.reach(STARTED);
    const before = await counter.read(copy);
    await receiver.reach(DELIVERIES);
    await untilIdle(pid);
    return perItem(before, await counter.read(copy), DELIVERIES - started.count);
  };
  return onCopy(home, receiver, ({ pid }, copy) => measure(pid, copy), { env: counter.env });
}

const perItem = (before: Writes, after: Writes, items: number): Writes => ({
  statements: (after.statements - before.statements) / items,
  bytes: (after.bytes - before.bytes) / items,
});

/** `countWrites.ts` counts in the server, and keeps the log from being written back. */
function createSqliteCounter(): Counter {
  const folder = newFolder();
  const preload = fileURLToPath(new URL('../processes/countWrites.ts', import.meta.url));
  const read = (name: string) => Number(readFileSync(join(folder, name), 'utf8'));
  return {
    env: { NODE_OPTIONS: `--import=${preload}`, COUNTS_DIR: folder },
    read: async (home) => ({
      statements: readdirSync(folder).reduce((sum, name) => sum + read(name), 0),
      bytes: statSync(join(home.folder, 'switchboard.db-wal')).size,
    }),
  };
}

/** Without whole pages in the log: their number depends on when PostgreSQL makes checkpoints. */
const counted = onPostgresWith({ shared_preload_libraries: 'pg_stat_statements', full_page_writes: 'off' });

function createPostgresCounter(): Counter {
  return {
    env: {},
    async read({ databaseUrl }) {
      const client = new pg.Client({ connectionString: databaseUrl });
      await client.connect();
      await client.query('create extension if not exists pg_stat_statements');
      const { rows } = await client.query<{ statements: string; bytes: string }>(
        `select sum(calls) as statements, pg_current_wal_lsn() - '0/0' as bytes from pg_stat_statements
         where dbid = (select oid from pg_database where datname = current_database())`,
      );
      await client.end();
      return { statements: Number(rows[0]?.statements), bytes: Number(rows[0]?.bytes) };
    },
  };
}

export const writes = writesOn(onSqlite, createSqliteCounter);
export const writesPostgres = writesOn(counted, createPostgresCounter);
