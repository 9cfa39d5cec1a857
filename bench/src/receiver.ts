import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/*
 * A receiver of webhooks that counts requests: `GET /count` returns the number. Environment variables set the status
 * and the delay.
 */
const status = Number(process.env['STATUS'] ?? 200);
const delayMs = Number(process.env['DELAY_MS'] ?? 0);
let count = 0;
const server = createServer((request, response) => {
  if (request.url === '/count') {
    response.end(String(count));
    return;
  }
  request.resume();
  request.on('end', () => {
    count++;
    if (delayMs > 0) setTimeout(() => response.writeHead(status).end(), delayMs);
    else response.writeHead(status).end();
  });
});
server.keepAliveTimeout = 0;
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
});
process.on('SIGTERM', () => process.exit(0));
