import type { Figure } from './figures.ts';
import { apiOf, cpuMs, median, newFolder, type Running, rssMb, startOwn, startServer } from './harness.ts';

const SESSIONS = 200;
const MESSAGES = 200;
/** Linked concurrently: enough to keep both cores busy. */
const LINKED_AT_ONCE = 4;
const SETTLE_MS = 20_000;
const IDLE_MS = 20_000;

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** The fields of answers that benchmarks read. */
interface Answers {
  readonly token: string;
  readonly sessionId: string;
  readonly status: string;
  readonly qr: string;
  readonly socketUrl: string;
  readonly online: number;
  readonly isOpen: boolean;
  readonly at: number;
  readonly ms: number;
}

/** Sends a request to another process of the benchmark. */
async function ask(process: Running, path: string, body?: object): Promise<Answers> {
  const response = await fetch(process.url + path, body && { method: 'POST', body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`${path}: ${await response.text()}`);
  return (await response.json()) as Answers; // each call reads only the fields that its answer has
}

async function until<T>(read: () => Promise<T>, isMet: (value: T) => boolean): Promise<T> {
  for (;;) {
    const value = await read();
    if (isMet(value)) return value;
    await pause(50);
  }
}

const numberOf = (index: number) => String(15_551_000_000 + index);

/** Calls the API of a server as a new account. */
async function accountOf(server: Running): Promise<{ api: Api; token: string }> {
  const email = `bench${Math.random()}@example.com`;
  const { token } = await apiOf(server.url)('POST', '/auth/register', { email, password: 'correct horse' });
  return { api: apiOf(server.url, token) as unknown as Api, token };
}
type Api = (method: string, path: string, body?: unknown) => Promise<Answers>;

async function link(api: Api, network: Running, number: string): Promise<string> {
  const { sessionId } = await api('POST', '/sessions', { connector: 'whatsapp', options: { pauseMs: 0 } });
  await api('POST', `/sessions/${sessionId}/connect`);
  const status = () => api('GET', `/sessions/${sessionId}`);
  await until(status, (session) => session.status === 'awaiting_pairing');
  const { qr } = await api('GET', `/sessions/${sessionId}/qr`);
  await ask(network, '/scan', { number, qr });
  await until(status, (session) => session.status === 'connected');
  return sessionId;
}

/** Links sessions, restarts the server, and measures it once all of them are connected and idle. */
async function idle(count: number): Promise<{ rss: number; cpuPercent: number; connectedMs: number }> {
  const network = await startOwn('whatsappNetwork.ts');
  const { socketUrl } = await ask(network, '/network');
  const folder = newFolder();
  const env = { WHATSAPP_URL: socketUrl, LOG_LEVEL: 'warn' };
  const first = await startServer(folder, env);
  const { api } = await accountOf(first);
  let next = 0;
  const linking = async () => {
    while (next < count) await link(api, network, numberOf(++next));
  };
  await Promise.all(Array.from({ length: LINKED_AT_ONCE }, linking));
  await first.stop();

  const startedAt = performance.now();
  const server = await startServer(folder, env);
  await until(
    () => ask(network, '/network'),
    ({ online }) => online === count,
  );
  const connectedMs = performance.now() - startedAt;
  await pause(SETTLE_MS);
  const cpuBefore = cpuMs(server.pid);
  await pause(IDLE_MS);
  const cpuPercent = ((cpuMs(server.pid) - cpuBefore) / IDLE_MS) * 100;
  const rss = rssMb(server.pid);
  await server.stop();
  await network.stop();
  return { rss, cpuPercent, connectedMs };
}

/** The cost of idle WhatsApp sessions, and the time until a server with many of them has reconnected. */
export async function whatsappIdle(): Promise<Figure[]> {
  const one = await idle(1);
  const many = await idle(SESSIONS);
  const each = (many.rss - one.rss) / (SESSIONS - 1);
  return [
    {
      what: `whatsapp: memory per additional idle session, of ${SESSIONS}`,
      ours: `${each.toFixed(2)} MB each`,
      beside: `${one.rss.toFixed(0)} MB with one, ${many.rss.toFixed(0)} MB with all`,
      figure: '',
      goal: 'under 2 MB',
      met: each < 2,
    },
    {
      what: `whatsapp: time from server start until ${SESSIONS} sessions are connected`,
      ours: `${(many.connectedMs / 1000).toFixed(1)} s`,
      beside: '',
      figure: '',
      goal: 'under 60 s',
      met: many.connectedMs < 60_000,
    },
    {
      what: `whatsapp: CPU time of ${SESSIONS} idle sessions`,
      ours: `${many.cpuPercent.toFixed(1)} % of one core`,
      beside: `${one.cpuPercent.toFixed(1)} % with one`,
      figure: '',
      goal: 'under 5 %',
      met: many.cpuPercent < 5,
    },
  ];
}

/** The latency that the product adds to sending and receiving, compared with Baileys alone. */
export async function whatsappLatency(): Promise<Figure[]> {
  const network = await startOwn('whatsappNetwork.ts');
  const { socketUrl } = await ask(network, '/network');
  const env = { WHATSAPP_URL: socketUrl, LOG_LEVEL: 'warn' };
  const [other, oursNumber, bareNumber] = [1, 2, 3].map(numberOf) as [string, string, string];
  await ask(network, '/phone', { number: other });

  const bare = await startOwn('bareBaileys.ts', env);
  const { qr } = await until(
    () => ask(bare, '/state'),
    (state) => state.qr !== '',
  );
  await ask(network, '/scan', { number: bareNumber, qr });
  await until(
    () => ask(bare, '/state'),
    ({ isOpen }) => isOpen,
  );
  const server = await startServer(newFolder(), env);
  const { api, token } = await accountOf(server);
  const sessionId = await link(api, network, oursNumber);

  // Warm: the first message starts the conversation.
  const sendBare = (n: number) =>
    ask(bare, '/send', { to: other, text: `bare ${n}`, id: `3EB0${String(n).padStart(18, '0')}` });
  const sendBy = async (id: string, n: number) => {
    const startedAt = performance.now();
    await api('POST', '/messages/send', { sessionId: id, to: other, message: `ours ${n}` });
    return performance.now() - startedAt;
  };
  // The sandbox network takes no time, so its sends measure the API alone.
  const sandbox = (await api('POST', '/sessions', {})).sessionId;
  await api('POST', `/sessions/${sandbox}/connect`);
  const sent: { bare: number[]; ours: number[]; api: number[] } = { bare: [], ours: [], api: [] };
  for (let n = 0; n < MESSAGES + 20; n++) {
    const ms = { bare: (await sendBare(n)).ms, ours: await sendBy(sessionId, n), api: await sendBy(sandbox, n) };
    if (n < 20) continue;
    sent.bare.push(ms.bare);
    sent.ours.push(ms.ours);
    sent.api.push(ms.api);
  }

  const arrivals = await listen(server.url, token);
  const came: { bare: number[]; ours: number[] } = { bare: [], ours: [] };
  for (let n = 0; n < MESSAGES + 20; n++) {
    const bareAt = (await ask(network, '/say', { number: other, to: bareNumber, text: `bare ${n}` })).at;
    const heard = await until(
      async () => (await ask(bare, '/heard')) as unknown as Record<string, number>,
      (all) => all[`bare ${n}`] !== undefined,
    );
    const oursAt = (await ask(network, '/say', { number: other, to: oursNumber, text: `ours ${n}` })).at;
    const toldAt = await arrivals.of(`ours ${n}`);
    if (n >= 20) {
      came.bare.push((heard[`bare ${n}`] ?? Number.NaN) - bareAt);
      came.ours.push(toldAt - oursAt);
    }
  }
  arrivals.stop();
  await Promise.all([server.stop(), bare.stop()]);
  await network.stop();
  return [
    added(`whatsapp: ${MESSAGES} messages out, what the connector adds to Baileys and to the API`, sent),
    added(`whatsapp: ${MESSAGES} messages in, from the phone to the event, with all that is stored`, {
      ...came,
      api: [],
    }),
  ];
}

interface Latencies {
  readonly bare: readonly number[];
  readonly ours: readonly number[];
  /** Times of the same request on a network that takes no time; empty if there is none. */
  readonly api: readonly number[];
}

function added(what: string, { bare, ours, api }: Latencies): Figure {
  const [bareMs, oursMs, apiMs] = [median(bare), median(ours), api.length > 0 ? median(api) : 0];
  const addedMs = oursMs - bareMs - apiMs;
  return {
    what,
    ours: `${addedMs.toFixed(1)} ms added (${oursMs.toFixed(1)} ms in all)`,
    beside: [`bare Baileys ${bareMs.toFixed(1)} ms`, apiMs > 0 && `the API alone ${apiMs.toFixed(1)} ms`]
      .filter(Boolean)
      .join(', '),
    figure: '',
    goal: 'under 5 ms added',
    met: addedMs < 5,
  };
}

/** Records when texts arrive over the server's event stream. */
async function listen(url: string, token: string) {
  const abort = new AbortController();
  const at = new Map<string, number>();
  const waiting = new Map<string, (at: number) => void>();
  const response = await fetch(`${url}/api/v1/events/stream?kinds=message.incoming`, {
    headers: { authorization: `Bearer ${token}` },
    signal: abort.signal,
  });
  if (!response.ok || response.body === null) throw new Error(`the event stream answers ${response.status}`);
  const read = async (body: ReadableStream<Uint8Array>) => {
    const decoder = new TextDecoder();
    let rest = '';
    for await (const chunk of body) {
      const now = performance.timeOrigin + performance.now();
      const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        const text = /"message":"([^"]*)"/.exec(line)?.[1];
        if (text === undefined) continue;
        at.set(text, now);
        waiting.get(text)?.(now);
      }
    }
  };
  read(response.body).catch(() => {}); // ends when the benchmark stops it
  return {
    of: (text: string) =>
      new Promise<number>((resolve) => {
        const known = at.get(text);
        if (known === undefined) waiting.set(text, resolve);
        else resolve(known);
      }),
    stop: () => abort.abort(),
  };
}
