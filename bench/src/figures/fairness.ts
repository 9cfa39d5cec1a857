import { count, defineFigure } from '../figure.ts';
import { recipient, setUp } from '../harness/api.ts';
import { onSqlite } from '../harness/home.ts';
import { sleep } from '../harness/processes.ts';
import { Receiver } from '../harness/receiver.ts';
import { startTimedReceiver } from '../harness/timedReceiver.ts';
import type { Tree } from '../harness/tree.ts';

const TROUBLED = count(20, 2);
const MESSAGES = count(500, 50);

/** The latency of a healthy webhook, alone and beside dead and slow ones. */
export const fairness = defineFigure({
  about: `p99 from a send to a healthy webhook, beside ${TROUBLED} dead and ${TROUBLED} slow ones, SQLite`,
  rounds: 1,
  readings: {
    beside: { what: 'beside dead and slow webhooks', unit: 'ms' },
    alone: { what: 'alone', unit: 'ms' },
    ratio: { what: 'times as long', unit: '×', digits: 2, goal: { atMost: 2 } },
  },
  async prepare(tree, scope) {
    const slow = await Receiver.start(scope);
    await slow.behave({ delayMs: 10_000 });
    return async () => {
      const [alone, beside] = [await healthyP99(tree, scope, slow, 0), await healthyP99(tree, scope, slow, TROUBLED)];
      return { alone, beside, ratio: beside / alone };
    };
  },
});

async function healthyP99(tree: Tree, scope: AsyncDisposableStack, slow: Receiver, troubled: number): Promise<number> {
  const healthy = await startTimedReceiver();
  const server = await (await onSqlite.open(tree, scope)).start();
  const main = await setUp(server, healthy.url);
  const others = [];
  for (let n = 0; n < troubled; n++) {
    others.push(await setUp(server, 'http://127.0.0.1:9/hook', `dead${n}`), await setUp(server, slow.hook, `slow${n}`));
  }
  // One event per second for each webhook, spread evenly: a burst would measure only itself.
  const load = others.map(async ({ api }, n) => {
    await sleep(n * 25);
    return setInterval(() => {
      void api('POST', '/messages/send', { to: '491701111111', message: `${n}` }).catch(() => {});
    }, 1000);
  });
  await sleep(2000);
  for (let n = 0; n < MESSAGES; n++) {
    const { messageId } = await main.api('POST', '/messages/send', { to: recipient(n), message: 'x' });
    healthy.sent(messageId);
    await sleep(20);
  }
  for (const timer of await Promise.all(load)) clearInterval(timer);
  const p99 = await healthy.p99();
  await server.stop();
  healthy.close();
  return p99;
}
