import { once } from 'node:events';
import { connect } from 'node:net';
import { WebSocket } from 'ws';
import { count, defineFigure } from '../figure.ts';
import { newAccount } from '../harness/api.ts';
import { type Home, onSqlite } from '../harness/home.ts';
import { cpuMs, type Running, rssMb, sleep } from '../harness/processes.ts';

const READERS = count(1000, 20);
/** Opened at a time. */
const OPENING = 20;
/** Lets a start pass before, and several pings afterwards. */
const SETTLE_MS = count(30_000, 2000);
const CPU_SECONDS = count(15, 1);

/** Opens a reader and resolves once its first bytes have arrived. @returns what closes it */
type Open = (server: Running, key: string) => Promise<() => void>;

/** The memory and the CPU time of readers that wait for events, over WebSockets and over server-sent events. */
export const sockets = defineFigure({
  about: `${READERS.toLocaleString('en')} idle readers of events over WebSockets, beside as many streams, SQLite`,
  rounds: count(3, 1),
  readings: {
    before: { what: 'memory without readers', unit: 'MB' },
    sockets: { what: 'more with WebSockets', unit: 'MB', goal: { atMost: 150 } },
    streams: { what: 'more with streams', unit: 'MB' },
    socketsCpu: { what: 'CPU use with WebSockets, share of a core', unit: '%' },
    streamsCpu: { what: 'the same with streams', unit: '%' },
  },
  async prepare(tree, scope) {
    return async () => {
      const home = await onSqlite.open(tree, scope);
      const overSockets = await measure(home, openSocket);
      const overStreams = await measure(home, openStream);
      await home.remove();
      return {
        before: overSockets.before,
        sockets: overSockets.more,
        streams: overStreams.more,
        socketsCpu: overSockets.cpu,
        streamsCpu: overStreams.cpu,
      };
    };
  },
});

let accounts = 0;

/** Measures a server of its own, before and after the readers are there. */
async function measure(home: Home, open: Open) {
  const server = await home.start({ MAX_WAITING_CALLS: String(READERS) });
  const { key } = await newAccount(server, `bench${++accounts}`);
  await sleep(SETTLE_MS);
  const before = rssMb(server.pid);
  const closers: (() => void)[] = [];
  while (closers.length < READERS)
    closers.push(...(await Promise.all(Array.from({ length: OPENING }, () => open(server, key)))));
  await sleep(SETTLE_MS);
  const cpuBefore = cpuMs(server.pid);
  await sleep(CPU_SECONDS * 1000);
  const cpu = (cpuMs(server.pid) - cpuBefore) / CPU_SECONDS / 10;
  const more = rssMb(server.pid) - before;
  for (const close of closers) close();
  await server.stop();
  return { before, more, cpu };
}

const openSocket: Open = async ({ url }, key) => {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/api/v1/events/socket`, {
    headers: { authorization: `Bearer ${key}` },
    perMessageDeflate: false,
  });
  await once(socket, 'message');
  return () => socket.terminate();
};

const openStream: Open = async ({ url }, key) => {
  const { hostname: host, port } = new URL(url);
  const socket = connect({ host, port: Number(port) });
  socket.write(`GET /api/v1/events/stream HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${key}\r\n\r\n`);
  const [head] = await once(socket, 'data');
  if (!String(head).startsWith('HTTP/1.1 200')) throw new Error(`the stream answers ${head}`);
  socket.resume();
  return () => socket.destroy();
};
