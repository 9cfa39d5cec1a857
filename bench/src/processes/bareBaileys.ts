import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import {
  Browsers,
  initAuthCreds,
  makeCacheableSignalKeyStore,
  makeWASocket,
  type SignalKeyStore,
  type SocketConfig,
  type WASocket,
} from 'baileys';
import { portOf } from '../../../server/test/support/connections/listening.ts';

/*
 * The bare limit of a WhatsApp session: Baileys with its keys in memory, which sends messages and records when messages
 * arrived, and stores nothing.
 */
console.info = () => {};
console.warn = () => {};
const ignore = () => {};
const logger: SocketConfig['logger'] = {
  level: 'silent',
  child: () => logger,
  trace: ignore,
  debug: ignore,
  info: ignore,
  warn: ignore,
  error: ignore,
};
const kept = new Map<string, unknown>();
const keys: SignalKeyStore = {
  get: (type, ids) => {
    // The entries of a type were stored under that type.
    const found: { [id: string]: never } = {};
    for (const id of ids) if (kept.has(`${type}/${id}`)) found[id] = kept.get(`${type}/${id}`) as never;
    return found;
  },
  set(data) {
    for (const [type, entries] of Object.entries(data)) {
      for (const [id, value] of Object.entries(entries ?? {})) {
        if (value === null) kept.delete(`${type}/${id}`);
        else kept.set(`${type}/${id}`, value);
      }
    }
  },
};
const creds = initAuthCreds();
const heard: Record<string, number> = {};
const acks = new Map<string, () => void>();
let state = { qr: '', isOpen: false };
let socket: WASocket;

function connect(): void {
  socket = makeWASocket({
    waWebSocketUrl: process.env['WHATSAPP_URL'] ?? '',
    auth: { creds, keys: makeCacheableSignalKeyStore(keys, logger) },
    logger,
    browser: Browsers.ubuntu('Chrome'),
    markOnlineOnConnect: false,
    emitOwnEvents: false,
  });
  socket.ev.on('connection.update', ({ qr, connection }) => {
    if (qr !== undefined) state = { qr, isOpen: false };
    if (connection === 'open') state = { qr: '', isOpen: true };
    if (connection === 'close') connect();
  });
  socket.ev.on('messages.upsert', ({ messages }) => {
    for (const { message } of messages) {
      if (message?.conversation) heard[message.conversation] = performance.timeOrigin + performance.now();
    }
  });
  socket.ws.on('CB:ack,class:message', ({ attrs }: { attrs: { id: string } }) => acks.get(attrs.id)?.());
}
connect();

const server = createServer(async (request, response) => {
  if (request.url === '/state') return response.end(JSON.stringify(state));
  if (request.url === '/heard') return response.end(JSON.stringify(heard));
  // Sent by the benchmark in this shape.
  const { to, text, id } = (await json(request)) as { to: string; text: string; id: string };
  const startedAt = performance.now();
  const acknowledged = new Promise<void>((resolve) => acks.set(id, resolve));
  await socket.sendMessage(`${to}@s.whatsapp.net`, { text }, { messageId: id });
  await acknowledged;
  acks.delete(id);
  return response.end(JSON.stringify({ ms: performance.now() - startedAt }));
});
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${portOf(server)}\n`);
});
process.on('SIGTERM', () => process.exit(0));
