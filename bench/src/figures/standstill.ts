import { fileURLToPath } from 'node:url';
import { count, defineFigure, type Reading, type Sample } from '../figure.ts';
import { type Api, addWebhook, apiOf, newAccount, newSession } from '../harness/api.ts';
import { type BulkAccount, fillTables, LARGE_CHAT, UNREAD_CHAT } from '../harness/bulk.ts';
import { onSqlite } from '../harness/home.ts';
import { sleep } from '../harness/processes.ts';
import { Silence } from '../harness/silence.ts';
import { Turns } from '../harness/turns.ts';

/** `BENCH_ROWS=50000` measures with fewer rows. */
const ROWS = Number(process.env['BENCH_ROWS'] ?? count(1_000_000, 5000));
const GOAL_MS = 50;
/** Deliveries that go on after the answer of a call, such as the cancellation of a long queue, end within this. */
const AFTER_MS = count(20_000, 500);
const CLEANING_MS = 2000;
/** Cleaning runs for this long in the measurement. */
const CLEANED_MS = count(120_000, 3000);

interface Case {
  /** The call or job. */
  readonly what: string;
  /** Rows that it may read and write on the main thread, where SQLite runs the writes. */
  readonly bound: string;
  /** Duration of the measurement after it has returned. */
  readonly afterMs?: number;
  run(api: Api, account: BulkAccount): Promise<unknown>;
}

const hours = () => ({
  afterTime: new Date(Date.now() - 2 * 3_600_000).toISOString(),
  beforeTime: new Date(Date.now() + 3_600_000).toISOString(),
});

const list = (what: string, path: (account: BulkAccount) => string): Case => ({
  what,
  bound: 'reads the rows of a page by id; the filter runs in the reading thread',
  run: (api, account) => api('GET', path(account)),
});

/** In this order: the last ones delete what the others read. */
const cases = {
  nothing: { what: 'nothing', bound: 'nothing', afterMs: count(5000, 200), run: async () => {} },
  failed: list('GET /webhooks/deliveries?states=expired', () => '/webhooks/deliveries?states=expired'),
  pendingList: list('GET /webhooks/deliveries?states=pending', () => '/webhooks/deliveries?states=pending'),
  kind: list('GET /webhooks/deliveries?events=group.created', () => '/webhooks/deliveries?events=group.created'),
  chatDeliveries: list(
    'GET /webhooks/deliveries?chatId=…',
    () => `/webhooks/deliveries?chatId=491707000001&states=cancelled`,
  ),
  type: list('GET /messages?type=image', () => '/messages?type=image'),
  direction: list('GET /messages?direction=incoming', () => '/messages?direction=incoming'),
  session: list('GET /messages?sessionId=…', ({ otherSessionId }) => `/messages?sessionId=${otherSessionId}`),
  search: list('GET /messages?q=…', () => '/messages?q=message%2042'),
  rareEvents: list('GET /events?events=group.created', () => '/events?events=group.created'),
  mixedEvents: list(
    'GET /events?events=group.created,message.incoming',
    () => '/events?events=group.created,message.incoming',
  ),
  chats: list('GET /chats?unread=true', () => '/chats?unread=true'),
  contacts: list('GET /contacts?q=…', () => '/contacts?q=nobody'),
  endpoints: list('GET /webhooks/endpoints', () => '/webhooks/endpoints'),
  webhookStats: list(
    'GET /webhooks/endpoints/…/stats',
    ({ settledWebhookId }) => `/webhooks/endpoints/${settledWebhookId}/stats`,
  ),
  stats: list('GET /messages/stats', () => '/messages/stats'),
  dryRun: {
    what: 'POST /webhooks/replay, dry run without a match',
    bound: 'nothing: found in the reading thread',
    run: (api) =>
      api('POST', '/webhooks/replay', { ...hours(), states: ['delivered'], events: ['group.created'], dryRun: true }),
  },
  replay: {
    what: 'POST /webhooks/replay of 100,000 failed deliveries',
    bound: 'writes at most 500 rows by id per transaction, about 8 ms',
    run: (api) => api('POST', '/webhooks/replay', { ...hours(), perSecond: 10_000 }),
  },
  removeKind: {
    what: 'removing an event type from a webhook with a pending delivery per row',
    bound: 'reads 100 rows, writes at most 500 rows by id per transaction, about 8 ms',
    afterMs: AFTER_MS,
    run: (api, { pendingWebhookId }) =>
      api('PATCH', `/webhooks/endpoints/${pendingWebhookId}`, { events: ['message.sent'] }),
  },
  removeWebhook: {
    what: 'removing that webhook',
    bound: 'writes at most 500 rows of the index of pending deliveries per transaction, about 8 ms',
    afterMs: AFTER_MS,
    run: (api, { pendingWebhookId }) => api('DELETE', `/webhooks/endpoints/${pendingWebhookId}`),
  },
  markRead: {
    what: 'marking a chat with a tenth of the messages as read',
    bound: 'reads 500 unread messages, writes at most 500 rows by id per transaction, about 8 ms',
    run: (api, { sessionId }) => api('POST', `/chats/${UNREAD_CHAT}/read`, { sessionId }),
  },
  deleteChat: {
    what: 'deleting a chat with a tenth of the messages',
    bound: 'reads and writes at most 500 messages per transaction, about 8 ms',
    run: (api, { sessionId }) => api('DELETE', `/chats/${LARGE_CHAT}?sessionId=${sessionId}`),
  },
  deleteLabel: {
    what: 'deleting a label on every message',
    bound: 'writes at most 500 rows of the label per transaction, about 8 ms',
    run: (api, { labelId, sessionId }) => api('DELETE', `/labels/${labelId}?sessionId=${sessionId}`),
  },
  cleaning: {
    what: 'retention of as many old events, deliveries, tool calls and idempotency keys',
    bound: 'writes at most 500 rows by id per transaction, about 8 ms, one cleanup at a time',
    afterMs: CLEANED_MS,
    run: async () => {},
  },
  deleteSession: {
    what: 'deleting the session with the rest of the messages',
    bound:
      'writes at most 500 rows by id per transaction, about 8 ms, and merges a few pages of the search index at a time',
    run: (api, { sessionId }) => api('DELETE', `/sessions/${sessionId}`),
  },
} satisfies Record<string, Case>;

type Key = keyof typeof cases;
export type StandstillCase = Key;
const keys = Object.keys(cases) as Key[];

/** The longest silence of `GET /health` during each operation and job that can touch many rows. */
export const standstill = defineFigure<Key>({
  about: `longest silence of GET /health with ${ROWS.toLocaleString('en')} rows in each large table, SQLite`,
  rounds: 1,
  readings: Object.fromEntries(
    keys.map((key) => [
      key,
      {
        what: `${cases[key].what} (${cases[key].bound})`,
        unit: 'ms',
        goal: { atMost: GOAL_MS },
        note: (sample: Sample) =>
          `longest turn ${(sample[`${key} cpu`] ?? 0).toFixed(0)} ms CPU, ${(sample[`${key} wait`] ?? 0).toFixed(0)} ms wait`,
      },
    ]),
  ) as Record<Key, Reading>,
  async prepare(tree, scope) {
    const home = await onSqlite.open(tree, scope);
    const first = await home.start();
    const { key, sessionId } = await newAccount(first);
    const api = apiOf(first.url, key);
    const { labelId } = await api('POST', '/labels', { sessionId, name: 'Busy' });
    const otherSessionId = await newSession(api);
    const hook = async (events: readonly string[]) => {
      const webhookId = await addWebhook(api, 'http://127.0.0.1:9/');
      await api('PATCH', `/webhooks/endpoints/${webhookId}`, { events, paused: true });
      return webhookId;
    };
    const account: BulkAccount = {
      sessionId,
      otherSessionId,
      labelId,
      settledWebhookId: await hook(['message.sent']),
      pendingWebhookId: await hook(['message.sent', 'message.read']),
    };
    await first.stop();
    fillTables(home, account, ROWS);
    return async () => {
      const soon = fileURLToPath(new URL('../processes/soonCleaning.ts', import.meta.url));
      const measured: Record<string, number> = {};
      const turns = new Turns();
      const ofCleaning: readonly Key[] = ['cleaning', 'deleteSession'];
      const calls = keys.filter((one) => !ofCleaning.includes(one));
      for (const part of [calls, ofCleaning]) {
        const isCleaning = part === ofCleaning;
        const server = await home.start({
          NODE_OPTIONS: [Turns.script, ...(isCleaning ? [soon] : [])].map((script) => `--import ${script}`).join(' '),
          ...turns.env,
          ...(isCleaning && { CLEANING_MS: String(CLEANING_MS) }),
        });
        const silence = new Silence(server.url);
        if (!isCleaning) await sleep(2000);
        await silence.longest();
        await turns.longest(server.pid);
        for (const one of part) {
          const { run, afterMs = 0 }: Case = cases[one];
          await run(apiOf(server.url, key), account);
          await sleep(afterMs);
          measured[one] = await silence.longest();
          const { cpuMs, waitMs } = await turns.longest(server.pid);
          measured[`${one} cpu`] = cpuMs;
          measured[`${one} wait`] = waitMs;
        }
        await silence.stop();
        await server.stop();
      }
      return measured as Record<Key, number>;
    };
  },
});
