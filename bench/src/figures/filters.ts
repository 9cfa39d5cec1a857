import { count, defineFigure, percentile, type Sample } from '../figure.ts';
import { addWebhook, apiOf, newAccount, newSession } from '../harness/api.ts';
import { fillLists, fillTables } from '../harness/bulk.ts';
import { type Home, onSqlite } from '../harness/home.ts';
import type { Tree } from '../harness/tree.ts';
import { type ListCase, type ListIds, listCases } from '../listFilters.ts';

/** `BENCH_ROWS=50000` measures with fewer rows. */
const ROWS = Number(process.env['BENCH_ROWS'] ?? count(1_000_000, 5000));
const REQUESTS = count(Number(process.env['BENCH_REQUESTS'] ?? 200), 5);
const WARM_UP = count(5, 1);
const GOAL = 2;

/** A server, and the paths of its lists. */
interface Side {
  readonly home: Home;
  readonly ids: ListIds;
  readonly key: string;
  readonly limitedKey: string;
}

const keyOf = ({ operation, fields, isLimited = false }: ListCase, n: number) =>
  `${n} ${operation} ${fields.join(' ')}${isLimited ? ' limited' : ''}`;
const keys = listCases.map(keyOf);
const noted = ['p50 empty', 'p50', 'p99 empty', 'p99'] as const;

const describe = ({ path, isLimited = false }: ListCase) =>
  `GET ${path(new Proxy({} as ListIds, { get: () => '…' }))}${isLimited ? ', key of a quiet session' : ''}`;

const noteOf = (key: string) => (sample: Sample) => {
  const [emptyMedian, median, emptyMost, most] = noted.map((name) => (sample[`${key} ${name}`] ?? 0).toFixed(1));
  return `p50 ${emptyMedian} → ${median} ms, p99 ${emptyMost} → ${most} ms`;
};

/** Compares every list with each of its filters in a large account and an empty one, in turns. */
export const filters = defineFigure<string>({
  about: `p99 of each list and filter with ${ROWS.toLocaleString('en')} rows in each table and with empty tables, SQLite`,
  rounds: 1,
  readings: Object.fromEntries(
    listCases.map((one, n) => [
      keyOf(one, n),
      { what: describe(one), unit: '×', digits: 2, goal: { atMost: GOAL }, note: noteOf(keyOf(one, n)) },
    ]),
  ),
  async prepare(tree, scope) {
    const empty = await openSide(tree, scope, 0);
    const full = await openSide(tree, scope, ROWS);
    return async () => {
      const sample: Record<string, number> = {};
      const [emptyServer, fullServer] = [await empty.home.start(), await full.home.start()];
      for (const [n, one] of listCases.entries()) {
        const key = keys[n] ?? '';
        const timers = [timerOf(emptyServer.url, empty, one), timerOf(fullServer.url, full, one)] as const;
        const took: [number[], number[]] = [[], []];
        for (let at = 0; at < WARM_UP; at++) for (const timer of timers) await timer();
        for (let at = 0; at < REQUESTS; at++) {
          took[0].push(await timers[0]());
          took[1].push(await timers[1]());
        }
        const values = [0.5, 0.99].flatMap((share) => took.map((list) => percentile(list, share)));
        for (const [index, name] of noted.entries()) sample[`${key} ${name}`] = values[index] ?? Number.NaN;
        sample[key] = percentile(took[1], 0.99) / percentile(took[0], 0.99);
      }
      await emptyServer.stop();
      await fullServer.stop();
      return sample;
    };
  },
});

function timerOf(url: string, { ids, key, limitedKey }: Side, { path, isLimited }: ListCase) {
  const api = apiOf(url, isLimited ? limitedKey : key);
  const base = path(ids);
  // A page of a large account has more entries than one of an empty account, whatever its filter costs.
  const target = base.startsWith('/labels') ? base : `${base}${base.includes('?') ? '&' : '?'}limit=1`;
  return async function time(): Promise<number> {
    const since = performance.now();
    try {
      await api('GET', target);
    } catch (error) {
      // The server closed the connection that was idle while the other one answered.
      if (error instanceof TypeError) return time();
      throw error;
    }
    return performance.now() - since;
  };
}

async function openSide(tree: Tree, scope: AsyncDisposableStack, rows: number): Promise<Side> {
  const home = await onSqlite.open(tree, scope);
  const server = await home.start();
  const { key, token, sessionId } = await newAccount(server);
  const api = apiOf(server.url, key);
  const quietSessionId = await newSession(api);
  const hook = async () => {
    const webhookId = await addWebhook(api, 'http://127.0.0.1:9/');
    await api('PATCH', `/webhooks/endpoints/${webhookId}`, { events: ['message.sent', 'message.read'], paused: true });
    return webhookId;
  };
  const quietWebhookId = await hook();
  await api('PATCH', `/webhooks/endpoints/${quietWebhookId}`, { events: ['group.created'] });
  const { messageId } = await api('POST', '/messages/send', { sessionId, to: '491707000001', message: 'Hello' });
  const limited = await apiOf(server.url, token)('POST', '/api-keys/create', {
    name: 'limited',
    sessionIds: [quietSessionId],
  });
  const label = (name: string) => api('POST', '/labels', { sessionId, name });
  const ids: ListIds = {
    sessionId,
    quietSessionId,
    quietWebhookId,
    webhookId: await hook(),
    keyId: limited.keyId,
    labelId: (await label('Busy')).labelId,
    quietLabelId: (await label('Quiet')).labelId,
    statusId: (await api('POST', '/status', { sessionId, message: 'Hello', phoneNumbers: ['491707000001'] })).statusId,
    channelId: (await api('POST', '/channels', { sessionId, name: 'News' })).channelId,
    messageId,
  };
  const bulk = {
    sessionId,
    otherSessionId: quietSessionId,
    labelId: ids.labelId,
    settledWebhookId: ids.webhookId,
    pendingWebhookId: await hook(),
  };
  // Connected, it would take the groups of the lists to its sandbox network.
  await api('POST', `/sessions/${sessionId}/disconnect`);
  await server.stop();
  if (rows > 0) {
    fillTables(home, bulk, rows);
    fillLists(home, bulk, ids.keyId, rows);
  }
  return { home, ids, key, limitedKey: limited.key };
}
