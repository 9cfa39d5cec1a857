import { count, defineFigure, ROUNDS } from '../figure.ts';
import { addWebhook, apiOf, greeting, newAccount, sendMessages } from '../harness/api.ts';
import { type Home, onSqlite } from '../harness/home.ts';
import type { Running } from '../harness/processes.ts';
import { fillQueue, onCopy, whileHeld } from '../harness/queue.ts';
import { Receiver } from '../harness/receiver.ts';

const ACCOUNTS = count(100, 3);
/** The most that an account may have. */
const WEBHOOKS_PER_ACCOUNT = 100;
const DELIVERIES = ACCOUNTS * WEBHOOKS_PER_ACCOUNT;

/** The time to drain many webhooks with one due delivery each, beside one webhook with as many. */
export const manyWebhooks = defineFigure({
  about: `${DELIVERIES.toLocaleString('en')} webhooks with one due delivery each, beside one webhook with as many, SQLite`,
  rounds: ROUNDS,
  readings: {
    many: { what: 'many webhooks, from the first to the last delivery', unit: 'ms', digits: 0 },
    one: { what: 'one webhook, the same', unit: 'ms', digits: 0 },
    ratio: { what: 'times as long as one webhook', unit: '×', digits: 2, goal: { atMost: 2 } },
    manyStart: { what: 'many webhooks, from process start to the first delivery', unit: 'ms', digits: 0 },
    oneStart: { what: 'one webhook, the same', unit: 'ms', digits: 0 },
  },
  async prepare(tree, scope) {
    const receiver = await Receiver.start(scope);
    const [oneHome, manyHome] = [await onSqlite.open(tree, scope), await onSqlite.open(tree, scope)];
    await fillManyWebhooks(manyHome, receiver);
    await fillQueue(oneHome, receiver, DELIVERIES);
    return async () => {
      const [one, many] = [await drain(oneHome, receiver), await drain(manyHome, receiver)];
      const start = { manyStart: many.startMs, oneStart: one.startMs };
      return { many: many.ms, one: one.ms, ratio: many.ms / one.ms, ...start };
    };
  },
});

/** One message in each account goes to all of its webhooks. */
async function fillManyWebhooks(home: Home, receiver: Receiver): Promise<void> {
  let n = 0;
  await whileHeld(home, receiver, async (server) => {
    await fillAccount(server, receiver, n++);
    while (n < ACCOUNTS && n % 20 !== 0) await fillAccount(server, receiver, n++);
    return n === ACCOUNTS;
  });
}

async function fillAccount(server: Running, receiver: Receiver, n: number): Promise<void> {
  const account = await newAccount(server, `bench${n}`);
  const api = apiOf(server.url, account.key);
  await Promise.all(Array.from({ length: WEBHOOKS_PER_ACCOUNT }, () => addWebhook(api, receiver.hook)));
  await sendMessages(server, account, { count: 1, text: greeting });
}

/** Milliseconds from the first to the last delivery, and from the process start to the first. */
const drain = (home: Home, receiver: Receiver) =>
  onCopy(home, receiver, async ({ spawnedAt }) => {
    await receiver.reach(DELIVERIES);
    const { firstAt, lastAt } = await receiver.counts();
    return { ms: lastAt - firstAt, startMs: firstAt - performance.timeOrigin - spawnedAt };
  });
