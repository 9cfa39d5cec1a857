import { count, defineFigure } from '../figure.ts';
import { addWebhook, apiOf, greeting, newAccount, sendMessages } from '../harness/api.ts';
import { type Home, onSqlite } from '../harness/home.ts';
import { peakRssMb, sleep, until } from '../harness/processes.ts';
import { whileHeld } from '../harness/queue.ts';
import { Receiver } from '../harness/receiver.ts';

const ACCOUNTS = count(10, 2);
const WEBHOOKS_PER_ACCOUNT = count(100, 5);
const WEBHOOKS = ACCOUNTS * WEBHOOKS_PER_ACCOUNT;
const PENDING = count(1000, 20);
/** Time after the server is ready, in which all breakers open. */
const SETTLE_MS = count(15_000, 1000);
const FILL_SECONDS = 60;

/** The start of a server whose webhooks all fail, with deliveries that wait for each. */
export const failingWebhooks = defineFigure({
  about: `start with ${WEBHOOKS.toLocaleString('en')} failing webhooks and ${PENDING.toLocaleString('en')} pending deliveries for each, SQLite`,
  rounds: count(3, 1),
  readings: {
    ready: { what: 'from process start until GET /ready returns 200', unit: 'ms', digits: 0, goal: { atMost: 3000 } },
    peak: { what: 'most resident memory', unit: 'MB', digits: 0, goal: { atMost: 400 } },
    silence: { what: 'longest answer of GET /health afterwards', unit: 'ms', digits: 0 },
  },
  async prepare(tree, scope) {
    const receiver = await Receiver.start(scope);
    const home = await onSqlite.open(tree, scope);
    await fill(home, receiver);
    return () => measure(home, receiver);
  },
});

async function fill(home: Home, receiver: Receiver): Promise<void> {
  let account: Awaited<ReturnType<typeof newAccount>> | undefined;
  let n = 0;
  let sent = 0;
  await whileHeld(home, receiver, async (server) => {
    const deadline = performance.now() + FILL_SECONDS * 1000;
    while (n < ACCOUNTS && performance.now() < deadline) {
      if (account === undefined) {
        account = await newAccount(server, `bench${n}`);
        const api = apiOf(server.url, account.key);
        for (let hook = 0; hook < WEBHOOKS_PER_ACCOUNT; hook++) await addWebhook(api, receiver.hook);
      }
      const seconds = (deadline - performance.now()) / 1000;
      sent += await sendMessages(server, account, { from: sent, count: PENDING - sent, text: greeting, seconds });
      if (sent < PENDING) return false;
      [account, sent] = [undefined, 0];
      n++;
    }
    return n === ACCOUNTS;
  });
}

async function measure(home: Home, receiver: Receiver) {
  const copy = await home.copy();
  await receiver.behave({ status: 500 });
  const server = await copy.start();
  try {
    await until(
      () => fetch(`${server.url}/ready`),
      ({ status }) => status === 200,
    );
    const ready = performance.now() - server.spawnedAt;
    const silence = await longestAnswer(server.url);
    return { ready, peak: peakRssMb(server.pid), silence };
  } finally {
    await server.stop();
    await copy.remove();
  }
}

async function longestAnswer(url: string): Promise<number> {
  const endsAt = performance.now() + SETTLE_MS;
  let longest = 0;
  while (performance.now() < endsAt) {
    const startedAt = performance.now();
    await (await fetch(`${url}/health`)).text();
    longest = Math.max(longest, performance.now() - startedAt);
    await sleep(10);
  }
  return longest;
}
