import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { startFakeWhatsapp } from '../../../server/test/support/fakeWhatsapp/index.ts';

/*
 * The simulated WhatsApp of the tests in a process of its own, so that its work is not measured. Over HTTP, a benchmark
 * makes phones scan codes and write messages.
 */
const whatsapp = await startFakeWhatsapp();

interface Order {
  readonly number: string;
  readonly qr: string;
  readonly to: string;
  readonly text: string;
}

const orders: Readonly<Record<string, (order: Order) => unknown>> = {
  '/network': () => ({ socketUrl: whatsapp.url, online: whatsapp.online, troubles: whatsapp.troubles.length }),
  '/phone': ({ number }) => ({ number: whatsapp.phone(number).number }),
  '/scan': ({ number, qr }) => whatsapp.phone(number).scan(qr),
  '/say': async ({ number, to, text }) => {
    const at = performance.timeOrigin + performance.now();
    await whatsapp.phone(number).sendText(to, text);
    return { at };
  },
};

const server = createServer(async (request: IncomingMessage, response) => {
  // Sent by the benchmark in this shape.
  const order = request.method === 'POST' ? ((await json(request)) as Order) : { number: '', qr: '', to: '', text: '' };
  try {
    response.end(JSON.stringify((await orders[request.url ?? '']?.(order)) ?? {}));
  } catch (error) {
    response.writeHead(500).end(JSON.stringify({ error: String(error) }));
  }
});
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
});
process.on('SIGTERM', () => process.exit(0));
