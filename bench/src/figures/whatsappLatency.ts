import { count, defineFigure, median } from '../figure.ts';
import { type Api, newSession } from '../harness/api.ts';
import { onSqlite } from '../harness/home.ts';
import { ask, link, newOwner, numberOf, startNetwork } from '../harness/linkedSessions.ts';
import { type Running, startOwn, until } from '../harness/processes.ts';

const MESSAGES = count(200, 10);
/** The first messages start the conversation. */
const WARM_UP = count(20, 2);
const [OTHER, OURS, BARE] = [numberOf(1), numberOf(2), numberOf(3)];

/** The time that the product adds to sending and receiving, beside Baileys alone. Medians. */
export const whatsappLatency = defineFigure({
  about: `time that the WhatsApp connector adds to a message, median of ${MESSAGES}, SQLite`,
  rounds: 1,
  readings: {
    outAdded: { what: 'out: added to Baileys and to the API', unit: 'ms', goal: { atMost: 5 } },
    out: { what: 'out: in all', unit: 'ms' },
    outBare: { what: 'out: bare Baileys', unit: 'ms' },
    outApi: { what: 'out: the API alone, with the sandbox', unit: 'ms' },
    inAdded: { what: 'in: added to Baileys, from the phone to the stored event', unit: 'ms', goal: { atMost: 5 } },
    in: { what: 'in: in all', unit: 'ms' },
    inBare: { what: 'in: bare Baileys', unit: 'ms' },
  },
  async prepare(tree, scope) {
    return async () => {
      const { network, env } = await startNetwork();
      await ask(network, '/phone', { number: OTHER });
      const bare = await startBare(network, env);
      const home = await onSqlite.open(tree, scope);
      const server = await home.start(env);
      const { api, token } = await newOwner(server);
      const sessionId = await link(api, network, OURS);
      const sent = await measureOut(api, sessionId, bare);
      const came = await measureIn(server, token, network, bare);
      await Promise.all([server.stop(), bare.stop()]);
      await network.stop();
      return {
        outAdded: sent.ours - sent.bare - sent.api,
        out: sent.ours,
        outBare: sent.bare,
        outApi: sent.api,
        inAdded: came.ours - came.bare,
        in: came.ours,
        inBare: came.bare,
      };
    };
  },
});

async function startBare(network: Running, env: Readonly<Record<string, string>>): Promise<Running> {
  const bare = await startOwn('bareBaileys.ts', env);
  const { qr } = await until(
    () => ask(bare, '/state'),
    (state) => state.qr !== '',
  );
  await ask(network, '/scan', { number: BARE, qr });
  await until(
    () => ask(bare, '/state'),
    ({ isOpen }) => isOpen,
  );
  return bare;
}

async function measureOut(api: Api, sessionId: string, bare: Running) {
  const sendBare = (n: number) =>
    ask(bare, '/send', { to: OTHER, text: `bare ${n}`, id: `3EB0${String(n).padStart(18, '0')}` });
  const sendBy = async (id: string, n: number) => {
    const startedAt = performance.now();
    await api('POST', '/messages/send', { sessionId: id, to: OTHER, message: `ours ${n}` });
    return performance.now() - startedAt;
  };
  // The sandbox network takes no time, so its sends measure the API alone.
  const sandbox = await newSession(api);
  const sent: { bare: number[]; ours: number[]; api: number[] } = { bare: [], ours: [], api: [] };
  for (let n = 0; n < WARM_UP + MESSAGES; n++) {
    const ms = { bare: (await sendBare(n)).ms, ours: await sendBy(sessionId, n), api: await sendBy(sandbox, n) };
    if (n < WARM_UP) continue;
    sent.bare.push(ms.bare);
    sent.ours.push(ms.ours);
    sent.api.push(ms.api);
  }
  return { bare: median(sent.bare), ours: median(sent.ours), api: median(sent.api) };
}

async function measureIn(server: Running, token: string, network: Running, bare: Running) {
  const arrivals = await listen(server.url, token);
  const came: { bare: number[]; ours: number[] } = { bare: [], ours: [] };
  for (let n = 0; n < WARM_UP + MESSAGES; n++) {
    const bareAt = (await ask(network, '/say', { number: OTHER, to: BARE, text: `bare ${n}` })).at;
    const heard = await until(
      async () => (await ask(bare, '/heard')) as unknown as Record<string, number>,
      (all) => all[`bare ${n}`] !== undefined,
    );
    const oursAt = (await ask(network, '/say', { number: OTHER, to: OURS, text: `ours ${n}` })).at;
    const toldAt = await arrivals.of(`ours ${n}`);
    if (n < WARM_UP) continue;
    came.bare.push((heard[`bare ${n}`] ?? Number.NaN) - bareAt);
    came.ours.push(toldAt - oursAt);
  }
  arrivals.stop();
  return { bare: median(came.bare), ours: median(came.ours) };
}

/** Records when texts arrive over the server's event stream. */
async function listen(url: string, token: string) {
  const abort = new AbortController();
  const at = new Map<string, number>();
  const waiting = new Map<string, (at: number) => void>();
  const response = await fetch(`${url}/api/v1/events/stream?events=message.incoming`, {
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
