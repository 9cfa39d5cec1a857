import { count, defineFigure, type Figure } from '../figure.ts';
import { greeting, newAccount, sendMessages } from '../harness/api.ts';
import { type Home, onSqlite, type Storage } from '../harness/home.ts';
import { untilIdle } from '../harness/processes.ts';
import { fillQueue, onCopy } from '../harness/queue.ts';
import { Receiver } from '../harness/receiver.ts';
import {
  countedPostgres,
  createPostgresCounter,
  createSqliteCounter,
  perItem,
  type WriteCounter,
  type Writes,
} from '../harness/writeCounter.ts';

const SENDS = count(20_000, 500);
const DELIVERIES = count(50_000, 2000);
/** The server has begun to deliver, and its statements of starting are past. */
const STARTED = DELIVERIES * 0.1;

/** Statements, including `begin` and `commit`, and bytes of the write-ahead log, per send and per delivery. */
const writesOn = (storage: Storage, createCounter: () => WriteCounter): Figure =>
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

async function writesOfSends(home: Home, counter: WriteCounter): Promise<Writes> {
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

async function writesOfDeliveries(home: Home, receiver: Receiver, counter: WriteCounter): Promise<Writes> {
  const measure = async (pid: number, copy: Home) => {
    const started = await receiver.reach(STARTED);
    const before = await counter.read(copy);
    await receiver.reach(DELIVERIES);
    await untilIdle(pid);
    return perItem(before, await counter.read(copy), DELIVERIES - started.count);
  };
  return onCopy(home, receiver, ({ pid }, copy) => measure(pid, copy), { env: counter.env });
}

export const writes = writesOn(onSqlite, createSqliteCounter);
export const writesPostgres = writesOn(countedPostgres, createPostgresCounter);
