import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import type { FakeNetwork } from '@switchboard/connector-kit/testing';

const SECRET = 'between us and the gateway';
const SOMEBODY = '4917012345';
const NOBODY = '4930999999';

/** Starts a gateway with one pager. */
export async function startFakeGateway(): Promise<FakeNetwork> {
  const pages = new Map<string, string>();
  let state: 'works' | 'refuses' | 'hangs' = 'works';

  const server = createServer(async (request, response) => {
    const { id, to, text } = (await json(request)) as Record<string, string>;
    if (state === 'hangs') return undefined;
    if (request.headers.authorization !== `Bearer ${SECRET}`) return response.writeHead(401).end();
    if (request.url === '/hello') return response.end('{"number":"4930123456"}');
    if (state === 'refuses') return response.writeHead(503).end();
    if (to === NOBODY) return response.writeHead(404).end();
    pages.set(String(id), String(text));
    return response.end('{}');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');

  const headers = { authorization: `Bearer ${SECRET}` };
  return {
    options: { gateway: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, secret: SECRET },
    somebody: SOMEBODY,
    nobody: NOBODY,
    received: () => [...pages.values()],
    async write(session, { id, text }) {
      const body = JSON.stringify({ type: 'answer', id, from: SOMEBODY, text });
      return (await session.callBack({ headers, body })).status < 300;
    },
    async confirm(session, id) {
      await session.callBack({ headers, body: JSON.stringify({ type: 'shown', id }) });
    },
    refuse() {
      state = 'refuses';
    },
    hang() {
      state = 'hangs';
    },
    stop() {
      server.closeAllConnections();
      server.close();
    },
  };
}
