import { createServer, type IncomingMessage } from 'node:http';
import { json } from 'node:stream/consumers';
import { setImmediate } from 'node:timers/promises';
import { portOf } from '../../../server/test/support/connections/listening.ts';
import { startFakeWhatsapp } from '../../../server/test/support/fakeWhatsapp/index.ts';

/*
 * The simulated WhatsApp of the tests in a process of its own, so that its work is not measured. Over HTTP, a benchmark
 * makes phones scan codes and write messages. `IS_MIGRATED=true` for accounts that were migrated to LIDs.
 */
const whatsapp = await startFakeWhatsapp({ isMigrated: process.env['IS_MIGRATED'] === 'true' });
const { ca } = whatsapp;

interface Order {
  readonly number: string;
  readonly qr: string;
  readonly to: string;
  readonly text: string;
  readonly messages: number;
  readonly chats: number;
  readonly members: readonly string[];
  readonly addressing: 'lid' | 'number';
}

const NOTHING: Order = { number: '', qr: '', to: '', text: '', messages: 0, chats: 0, members: [], addressing: 'lid' };

const orders: Readonly<Record<string, (order: Order) => unknown>> = {
  '/network': () => ({
    socketUrl: whatsapp.url,
    mediaHost: whatsapp.mediaHost,
    ca,
    online: whatsapp.online,
    connections: whatsapp.counters.connections,
    troubles: whatsapp.troubles.length,
  }),
  '/phone': ({ number }) => ({ number: whatsapp.phone(number).number }),
  '/scan': ({ number, qr }) => whatsapp.phone(number).scan(qr),
  '/history': ({ number, messages, chats }) => {
    const { history } = whatsapp.phone(number);
    const people = Array.from({ length: chats }, (_, n) => whatsapp.phone(`49170${1_000_000 + n}`).number);
    const now = Math.floor(Date.now() / 1000);
    // Newest first within each chat, so that each is added at the end.
    for (const [n, person] of people.entries())
      history.fill(
        person,
        Array.from({ length: Math.ceil((messages - n) / chats) }, (_, k) => ({
          text: `Message ${k} to chat ${n}, about as long as people write on average, with some words to search for`,
          fromMe: k % 3 === 0,
          atS: now - 60 - (k * chats + n) * 10,
        })),
      );
  },
  /** Creates a group. The phones of its members are off and have keys, so that they take no CPU time later. */
  '/group': async ({ number, members, addressing }) => {
    for (const member of members) {
      const phone = whatsapp.phone(member);
      phone.switchOff();
      phone.makeKeys();
      await setImmediate();
    }
    return { group: whatsapp.phone(number).groups.create('Large', members, addressing) };
  },
  /** Writes messages in one go; the last one has this text. */
  '/write': async ({ number, to, text, messages }) => {
    const phone = whatsapp.phone(number);
    for (let n = 1; n < messages; n++) await phone.sendText(to, `message ${n}`);
    await phone.sendText(to, text);
  },
  '/say': async ({ number, to, text }) => {
    const at = performance.timeOrigin + performance.now();
    await whatsapp.phone(number).sendText(to, text);
    return { at };
  },
};

const server = createServer(async (request: IncomingMessage, response) => {
  // Sent by the benchmark in this shape.
  const order = request.method === 'POST' ? ((await json(request)) as Order) : NOTHING;
  try {
    response.end(JSON.stringify((await orders[request.url ?? '']?.(order)) ?? {}));
  } catch (error) {
    response.writeHead(500).end(JSON.stringify({ error: String(error) }));
  }
});
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${portOf(server)}\n`);
});
process.on('SIGTERM', () => process.exit(0));
