import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { after, afterEach, before, describe, it } from 'node:test';
import type { Lookup } from '../../src/egress/target.ts';
import {
  closeDelivers,
  kinds,
  Listener,
  login,
  newDeliver,
  requestFor,
  SHORT_MS,
  strict,
} from '../support/brokers/brokerAttempts.ts';
import { freePort } from '../support/brokers/brokers.ts';
import { eventually } from '../support/eventually.ts';

afterEach(closeDelivers);

describe('an attempt at a faulty broker', () => {
  const listener = new Listener();
  before(async () => {
    await listener.start();
    // Loads the client libraries, which would use up a short timeout.
    const port = await freePort();
    for (const kind of kinds) await newDeliver().attempt(requestFor(kind, { port }));
  });
  after(() => listener.close());

  /** Resolves once the server has closed its connections, too. */
  const closed = () =>
    eventually(
      async () => listener.sockets.size,
      (count) => count === 0,
    );

  for (const kind of kinds) {
    const { type } = kind.destination;

    it(`times out if ${type} accepts the connection and says nothing`, async () => {
      listener.reset();
      const startedAt = performance.now();
      const deliver = newDeliver();
      const outcome = await deliver.attempt({ ...requestFor(kind, listener), timeoutMs: SHORT_MS });
      assert.equal(outcome.class, 'timeout', outcome.message);
      assert.match(
        outcome.message,
        type === 'sqs' ? /did not answer within 1 s/ : /did not complete the login within 1 s/,
      );
      assert.ok(performance.now() - startedAt >= SHORT_MS - 100);
      await closed();
    });

    it(`does not take another protocol for ${type}`, async () => {
      listener.reset((socket) => socket.end('SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n'.repeat(20)));
      const { outcome, stages } = await newDeliver().probe(requestFor(kind, listener));
      assert.ok(['protocol', 'reset'].includes(outcome.class), `${outcome.class}: ${outcome.message}`);
      assert.equal(stages.find(({ result }) => result === 'failed')?.stage, type === 'sqs' ? 'http' : 'login');
      await closed();
    });

    it(`disconnects a ${type} that sends without end`, async () => {
      let sent = 0;
      listener.reset((socket) => {
        socket.write(kind.endless);
        const chunk = Buffer.alloc(65_536, 'x');
        const more = () => {
          while (!socket.destroyed && socket.write(chunk)) sent += chunk.length;
        };
        socket.on('drain', more);
        more();
      });
      const outcome = await newDeliver().attempt(requestFor(kind, listener));
      assert.notEqual(outcome.class, 'ok', outcome.message);
      await closed();
      assert.ok(sent < 16 * 1024 * 1024, `${sent} bytes were sent`);
    });

    it(`says that nothing listens where ${type} should`, async () => {
      const outcome = await newDeliver().attempt(requestFor(kind, { port: await freePort() }));
      assert.equal(outcome.class, 'connect', outcome.message);
      assert.match(outcome.message, /Nothing listens on 127\.0\.0\.1:\d+/);
    });

    it(`connects to no forbidden address for ${type}, literal or behind a name`, async () => {
      listener.reset();
      const literal = await newDeliver({ policy: strict }).attempt(requestFor(kind, listener));
      assert.equal(literal.class, 'blocked_address', literal.message);
      const obscure = await newDeliver({ policy: strict }).attempt(
        requestFor(kind, { ...listener, host: '0x7f.1', port: listener.port }),
      );
      assert.equal(obscure.class, 'blocked_address', obscure.message);
      if (type === 'sqs') return; // its names are looked up by the HTTP part
      const lookup: Lookup = (_, __, callback) => callback(null, [{ address: '127.0.0.1', family: 4 }]);
      for (const isSecure of [false, true]) {
        const secured = { host: 'broker.example.com', port: listener.port, isSecure };
        const named = await newDeliver({ policy: strict, lookup }).attempt(requestFor(kind, secured));
        assert.equal(named.class, 'dns', named.message);
        assert.match(named.message, /does not resolve to a public address/);
        assert.equal(listener.accepted, 0);
      }
      for (const isSecure of [false, true]) {
        const aim = { host: 'broker.example.com', port: listener.port, isSecure };
        const allowed = await newDeliver({ lookup }).attempt({ ...requestFor(kind, aim), timeoutMs: SHORT_MS });
        assert.equal(allowed.class, 'timeout', allowed.message);
        assert.ok(listener.accepted > 0, 'the vetted address is dialed');
        listener.reset();
      }
    });

    it(`is aborted at once when a webhook to ${type} is removed`, async () => {
      listener.reset();
      const abort = new AbortController();
      const attempt = newDeliver().attempt({ ...requestFor(kind, listener), signal: abort.signal });
      await eventually(
        async () => listener.accepted,
        (count) => count > 0,
      );
      abort.abort();
      assert.equal((await attempt).class, 'unknown_outcome');
      await closed();
    });
  }
});

/** Redis as far as a stream needs it. */
function serveRedis(onAdd: (socket: Socket) => void) {
  return (socket: Socket) => {
    socket.on('data', (chunk) => {
      const text = chunk.toString();
      for (const [command] of text.matchAll(/\r\n(AUTH|SELECT|PING|XADD)\r\n/gi)) {
        if (/XADD/i.test(command)) onAdd(socket);
        else socket.write('+OK\r\n');
      }
    });
  };
}

describe('connections to brokers', () => {
  const listener = new Listener();
  const redis = kinds.find(({ scheme }) => scheme === 'redis') ?? assert.fail();
  before(() => listener.start());
  after(() => listener.close());

  it('are shared by the attempts of an account, and not by accounts', async () => {
    listener.reset(serveRedis((socket) => socket.write('$3\r\n1-1\r\n')));
    const deliver = newDeliver();
    const attempts = Array.from({ length: 20 }, () => deliver.attempt(requestFor(redis, listener)));
    for (const outcome of await Promise.all(attempts)) assert.equal(outcome.class, 'ok', outcome.message);
    assert.equal(listener.accepted, 1);
    await deliver.attempt(requestFor(redis, { port: listener.port, accountId: 'acc_2' }));
    assert.equal(listener.accepted, 2);
  });

  it('are replaced once a message was not confirmed in time', async () => {
    listener.reset(serveRedis(() => {}));
    const deliver = newDeliver();
    const lost = await deliver.attempt({ ...requestFor(redis, listener), timeoutMs: SHORT_MS });
    assert.equal(lost.class, 'timeout', lost.message);
    assert.match(lost.message, /did not confirm the message within 1 s; it may have stored it/);
    listener.serve = serveRedis((socket) => socket.write('$3\r\n1-2\r\n'));
    assert.equal((await deliver.attempt(requestFor(redis, listener))).class, 'ok');
    assert.equal(listener.accepted, 2);
  });

  it('are closed once no attempt waits for them, and the errors of a broker show no credentials', async () => {
    listener.reset(serveRedis(() => {}));
    const deliver = newDeliver();
    const attempts = Array.from({ length: 3 }, () =>
      deliver.attempt({ ...requestFor(redis, listener), timeoutMs: SHORT_MS }),
    );
    for (const outcome of await Promise.all(attempts)) assert.equal(outcome.class, 'timeout', outcome.message);
    await eventually(
      async () => listener.sockets.size,
      (count) => count === 0,
    );
    listener.serve = serveRedis((socket) => socket.write(`-ERR you said ${login.password}\r\n`));
    const echoed = await deliver.attempt(requestFor(redis, listener));
    assert.match(echoed.message, /you said \(hidden\)/);
    const short = { ...redis, credentials: { password: 'a' } };
    listener.serve = serveRedis((socket) => socket.write('-ERR a bad command\r\n'));
    assert.match((await deliver.attempt(requestFor(short, listener))).message, /a bad command/);
  });

  it('do not publish a message whose attempt has ended while the connection was opening', async () => {
    let added = 0;
    const onAdd = (socket: Socket) => socket.write(`$3\r\n1-${++added}\r\n`);
    listener.reset((socket) => socket.pause());
    const deliver = newDeliver();
    const later = deliver.attempt(requestFor(redis, listener));
    const early = await deliver.attempt({ ...requestFor(redis, listener), timeoutMs: SHORT_MS });
    assert.equal(early.class, 'timeout', early.message);
    for (const socket of listener.sockets) {
      serveRedis(onAdd)(socket);
      socket.resume();
    }
    assert.equal((await later).class, 'ok');
    assert.equal(added, 1);
  });

  it('are replaced once the broker closes them', async () => {
    listener.reset(serveRedis((socket) => socket.end('$3\r\n1-1\r\n')));
    const deliver = newDeliver();
    assert.equal((await deliver.attempt(requestFor(redis, listener))).class, 'ok');
    await eventually(
      async () => listener.sockets.size,
      (count) => count === 0,
    );
    assert.equal((await deliver.attempt(requestFor(redis, listener))).class, 'ok');
  });

  it('do not count an unexpected reply as a confirmation', async () => {
    for (const reply of ['+OK\r\n', ':1\r\n', '$-1\r\n', '*0\r\n', '$2\r\nOK\r\n']) {
      listener.reset(serveRedis((socket) => socket.write(reply)));
      const outcome = await newDeliver().attempt(requestFor(redis, listener));
      assert.equal(outcome.class, 'protocol', `${reply}: ${outcome.message}`);
    }
  });

  it('are limited in number: idle ones give way, and others get no connection', async () => {
    const waiting: Socket[] = [];
    listener.reset(serveRedis((socket) => waiting.push(socket)));
    const deliver = newDeliver({ maxSockets: 1 });
    const first = deliver.attempt(requestFor(redis, listener));
    await eventually(
      async () => waiting.length,
      (count) => count === 1,
    );
    const other = { port: listener.port, accountId: 'acc_2' };
    const refused = await deliver.attempt(requestFor(redis, other));
    assert.equal(refused.class, 'no_socket', refused.message);
    waiting[0]?.write('$3\r\n1-1\r\n');
    assert.equal((await first).class, 'ok');
    listener.serve = serveRedis((socket) => socket.write('$3\r\n1-2\r\n'));
    assert.equal((await deliver.attempt(requestFor(redis, other))).class, 'ok');
    await eventually(
      async () => listener.sockets.size,
      (count) => count === 1,
    );
  });

  it('are shared between accounts: one alone gets half of them', async () => {
    const waiting: Socket[] = [];
    listener.reset(serveRedis((socket) => waiting.push(socket)));
    const deliver = newDeliver({ maxSockets: 4 });
    const send = (accountId: string, stream: string) =>
      deliver.attempt(requestFor(redis, { port: listener.port, accountId, destination: { type: 'redis', stream } }));
    const taken = [send('acc_1', 'a'), send('acc_1', 'b')];
    assert.equal((await send('acc_1', 'c')).class, 'no_socket');
    taken.push(send('acc_2', 'd'));
    await eventually(
      async () => waiting.length,
      (count) => count === 3,
    );
    assert.equal((await send('acc_1', 'c')).class, 'no_socket');
    for (const socket of waiting) socket.write('$3\r\n1-1\r\n');
    for (const outcome of await Promise.all(taken)) assert.equal(outcome.class, 'ok');
    listener.serve = serveRedis((socket) => socket.write('$3\r\n1-2\r\n'));
    for (const stream of ['e', 'f', 'g']) assert.equal((await send('acc_1', stream)).class, 'ok', 'idle ones give way');
  });

  it('stay open for the message of another webhook when one is removed', async () => {
    const waiting: Socket[] = [];
    listener.reset(serveRedis((socket) => waiting.push(socket)));
    const deliver = newDeliver();
    const removal = new AbortController();
    const removed = deliver.attempt({ ...requestFor(redis, listener), signal: removal.signal });
    const other = deliver.attempt(requestFor(redis, listener));
    await eventually(
      async () => waiting.length,
      (count) => count === 2,
    );
    removal.abort();
    assert.equal((await removed).class, 'unknown_outcome');
    assert.equal(waiting[0], waiting[1], 'both use one connection');
    waiting[1]?.write('$3\r\n1-1\r\n$3\r\n1-2\r\n');
    assert.equal((await other).class, 'ok');
  });

  it('end as unknown_outcome when the server stops', async () => {
    const waiting: Socket[] = [];
    listener.reset(serveRedis((socket) => waiting.push(socket)));
    const deliver = newDeliver();
    const attempt = deliver.attempt(requestFor(redis, listener));
    await eventually(
      async () => waiting.length,
      (count) => count === 1,
    );
    await deliver.close();
    assert.equal((await attempt).class, 'unknown_outcome');
    await eventually(
      async () => listener.sockets.size,
      (count) => count === 0,
    );
  });
});
