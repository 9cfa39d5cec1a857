import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer as createHttp } from 'node:http';
import { get } from 'node:https';
import { createServer, type Server, type Socket } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { request } from 'undici';
import { openRoute } from '../../../src/connectors/whatsapp/link/proxy.ts';
import { createTargetPolicy, type Lookup } from '../../../src/egress/target.ts';
import { portOf } from '../../support/connections/listening.ts';
import { startSocksProxy } from '../../support/connections/proxies.ts';
import { createFakeClock } from '../../support/fakeClock.ts';
import { type FakeWhatsapp, startFakeWhatsapp } from '../../support/fakeWhatsapp/index.ts';
import { type Call, startServer, type TestServer } from '../../support/server.ts';
import { openAsHost } from '../host.ts';

type Scheme = 'http' | 'socks5';

/** The result of an attempt that does not fail: the client waits for more. */
type Waits = Partial<Record<Scheme, 'connected' | 'closed'>>;
/** Baileys ignores an HTTP response without an upgrade, and waits until the handshake times out. */
const refused: Waits = { http: 'closed' };

/** Servers that may listen at the configured address of a proxy. */
const listeners: readonly (readonly [what: string, open: () => Server | undefined, waits?: Waits])[] = [
  ['nothing', () => undefined],
  ['a service that says nothing', () => createServer(), { http: 'connected', socks5: 'connected' }],
  ['a service that hangs up', () => createServer((socket) => socket.end())],
  [
    'a service that speaks first',
    () => createServer((socket) => socket.write('SSH-2.0-OpenSSH_9.6\r\n')),
    { http: 'connected' },
  ],
  ['a web server that takes no CONNECT', () => createHttp((_, response) => response.writeHead(404).end())],
  ['a proxy that wants another password', () => refusing(407), refused],
  ['a proxy that answers as WhatsApp does to an unlinked device', () => refusing(401), refused],
];

function refusing(status: number): Server {
  return createHttp().on('connect', (_, socket: Socket) => socket.end(`HTTP/1.1 ${status} No\r\n\r\n`));
}

interface Listening {
  readonly port: number;
  /** Resolve when the first client has connected, and when it has disconnected. */
  readonly reached: Readonly<Record<'connected' | 'closed', Promise<unknown>>>;
  close(): void;
}

async function listen(server: Server | undefined): Promise<Listening> {
  const listening = server ?? createServer();
  const connected = once(listening, 'connection');
  const closed = connected.then(([socket]) => new Promise((resolve) => socket.once('close', resolve)));
  const sockets = new Set<Socket>();
  listening.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
  });
  listening.listen(0, '127.0.0.1');
  await once(listening, 'listening');
  const port = portOf(listening);
  if (server === undefined) listening.close();
  return {
    port,
    reached: { connected, closed },
    close() {
      for (const socket of sockets) socket.destroy();
      if (server !== undefined) server.close();
    },
  };
}

describe('a proxy that does not reach WhatsApp', () => {
  let whatsapp: FakeWhatsapp;
  before(async () => {
    whatsapp = await startFakeWhatsapp();
  });
  after(() => whatsapp.close());

  for (const scheme of ['http', 'socks5'] as const) {
    for (const [what, open, waits = {}] of listeners) {
      it(`reports the same error after the same time: ${what} at ${scheme}://`, async (test) => {
        const { port, reached, close } = await listen(open());
        test.after(close);
        const clock = createFakeClock();
        const { events, logged } = await openAsHost(test, whatsapp, {
          clock,
          options: { proxy: `${scheme}://127.0.0.1:${port}` },
          logLevel: 'info',
        });
        const wait = waits[scheme];
        if (wait !== undefined) await reached[wait];
        else await logged.waitFor((line) => line.includes('connection to WhatsApp ended'));
        for (let second = 1; second < 25; second++) {
          await clock.advance(1000);
          await new Promise((resolve) => setImmediate(resolve));
        }
        assert.deepEqual(events.all, []);
        await clock.advance(1000);
        assert.deepEqual(events.all, [
          {
            type: 'disconnected',
            reason:
              'The session could not reach WhatsApp through its proxy; check the address, user name and password in `options.proxy`',
            willReconnect: true,
          },
        ]);
        assert.equal(whatsapp.counters.connections, 0);
      });
    }
  }
});

it('reads the current version of the client through the proxy of the session', async (test) => {
  const whatsapp = await startFakeWhatsapp();
  test.after(() => whatsapp.close());
  whatsapp.faults.requireVersion([2, 3000, 1_999_999_999]);
  whatsapp.faults.stateRevision(1_999_999_999);
  const proxy = await startSocksProxy();
  test.after(() => proxy.close());
  const { waitForEvent } = await openAsHost(test, whatsapp, { options: { proxy: proxy.url } });
  await waitForEvent('pairing');
  assert.equal(whatsapp.counters.pageReads, 1);
  // The refused connection, the page, and the next connection.
  assert.deepEqual(proxy.targets, Array(3).fill(new URL(whatsapp.url).host));
});

describe('the address of a proxy', () => {
  let server: TestServer;
  let call: Call;
  before(async () => {
    server = await startServer({ env: { PUBLIC_URL: 'https://switchboard.example.com' } });
    ({ call } = await server.account());
  });
  after(() => server.stop());

  const create = (proxy: string) => call('POST', '/sessions', { connector: 'whatsapp', options: { proxy } });

  it('is rejected when it is set if it is private, in every spelling', async () => {
    const { body: session } = await create('socks5://name:pass-word@proxy.example.com:1080');
    for (const proxy of [
      'http://127.0.0.1:3128',
      'socks5://name:pass-word@0x7f.1:1080',
      'https://2130706433',
      'http://localhost:8080',
      'socks5h://[::1]:1080',
      'http://169.254.169.254',
      'http://10.0.0.1:3128',
    ]) {
      const { status, body } = await create(proxy);
      assert.equal(status, 400, proxy);
      assert.deepEqual([body.errors[0].field, body.errors[0].code], ['options.proxy', 'address'], proxy);
      assert.doesNotMatch(JSON.stringify(body), /pass-word/);
      const changed = await call('PATCH', `/sessions/${session.sessionId}`, { options: { proxy } });
      assert.equal(changed.status, 400, proxy);
    }
  });

  it('is checked again on connect, and rejected if its name resolves to this machine', async (test) => {
    let connections = 0;
    const { port, close } = await listen(createServer(() => connections++));
    test.after(close);
    const strict = createTargetPolicy({ host: '0.0.0.0', allowedCidrs: [] });
    const rebind: Lookup = (_, __, callback) => callback(null, [{ address: '127.0.0.1', family: 4 }]);
    for (const scheme of ['http', 'https', 'socks5', 'socks5h']) {
      const route = openRoute(`${scheme}://proxy.example.com:${port}`, strict, rebind);
      // A literal target, so that only the name of the proxy is looked up.
      await assert.rejects(request('https://192.0.2.1/', { dispatcher: route.dispatcher }), scheme);
      const { agent } = route;
      await assert.rejects(once(get('https://192.0.2.1/', { agent }), 'response'), scheme);
      await route.close();
    }
    const straight = openRoute(undefined, strict, rebind);
    await assert.rejects(request(`https://mmg.whatsapp.net:${port}/`, { dispatcher: straight.dispatcher }), {
      code: 'ERR_TARGET_REFUSED',
    });
    await straight.close();
    assert.equal(connections, 0);
  });
});
