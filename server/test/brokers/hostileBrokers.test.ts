import assert from 'node:assert/strict';
import { createServer, type Socket } from 'node:net';
import { after, afterEach, before, describe, it } from 'node:test';
import { Writer } from '@platformatic/kafka';
import { systemClock } from '../../src/clock.ts';
import { createTargetPolicy } from '../../src/egress/target.ts';
import { BrokerDeliver } from '../../src/webhooks/delivery/brokers/brokerDeliver.ts';
import { HttpDeliver } from '../../src/webhooks/delivery/deliver.ts';
import type { BrokerDestination, Credentials } from '../../src/webhooks/delivery/destination.ts';

/*
 * Brokers that send what makes a client allocate far more than it received, walk a list that does not exist, compute
 * for minutes, or throw. Each test fails by its heap, by its time, or by an uncaught exception of the client.
 */

const TIMEOUT_MS = 10_000;
/** Of everything that an attempt allocates. Garbage of earlier tests counts too. */
const MOST_HEAP = 160 * 1024 * 1024;

/** Answers the bytes of the client. */
type Script = (socket: Socket) => (received: Buffer) => void;

let port = 0;
let script: Script = () => () => {};
const sockets = new Set<Socket>();
const server = createServer((socket) => {
  sockets.add(socket);
  socket.on('error', () => {});
  socket.once('close', () => sockets.delete(socket));
  socket.on('data', script(socket));
});

before(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  port = typeof address === 'object' && address !== null ? address.port : assert.fail();
});
after(() => {
  server.close();
  for (const socket of sockets) socket.destroy();
});

const delivers: BrokerDeliver[] = [];
afterEach(async () => {
  for (const deliver of delivers.splice(0)) await deliver.close();
});

function newDeliver(): BrokerDeliver {
  const policy = createTargetPolicy({ host: '127.0.0.1', allowedCidrs: [] });
  const shared = { policy, timeoutMs: TIMEOUT_MS, clock: systemClock, maxSockets: 64 };
  const deliver = new BrokerDeliver({ ...shared, http: new HttpDeliver(shared) });
  delivers.push(deliver);
  return deliver;
}

interface Target {
  readonly url: string;
  readonly destination: BrokerDestination;
  readonly credentials: Credentials;
}

const attempt = (deliver: BrokerDeliver, { url, destination, credentials }: Target) =>
  deliver.attempt({
    url: `${url.replace('PORT', `${port}`)}`,
    headers: { 'x-webhook-id': 'evt_1', 'x-webhook-event': 'message.sent', 'x-webhook-timestamp': '1' },
    body: '{}',
    broker: { accountId: 'acc_1', destination, credentials, conversation: 'one' },
  });

/** Makes one attempt. Fails if it takes long, or much memory. */
async function survive(target: Target, serve: Script, deliver = newDeliver()) {
  script = serve;
  const before = process.memoryUsage().heapUsed;
  const startedAt = performance.now();
  let mostHeap = 0;
  const timer = setInterval(() => {
    mostHeap = Math.max(mostHeap, process.memoryUsage().heapUsed - before);
  }, 5);
  const outcome = await attempt(deliver, target);
  clearInterval(timer);
  mostHeap = Math.max(mostHeap, process.memoryUsage().heapUsed - before);
  assert.ok(mostHeap < MOST_HEAP, `${Math.round(mostHeap / 1024 ** 2)} MB were allocated`);
  assert.ok(performance.now() - startedAt < TIMEOUT_MS, `it took ${performance.now() - startedAt} ms`);
  return outcome;
}

async function refuses(target: Target, serve: Script, reason: RegExp): Promise<void> {
  const outcome = await survive(target, serve);
  assert.equal(outcome.class, 'protocol', outcome.message);
  assert.match(outcome.message, reason);
}

describe('a hostile Redis', () => {
  const target: Target = {
    url: 'redis://127.0.0.1:PORT/0',
    destination: { type: 'redis', stream: 'events' },
    credentials: { password: 'secret' },
  };
  const NESTED = '*1000000\r\n'.repeat(400);

  it('is disconnected when it answers the login with nested arrays', () =>
    refuses(
      target,
      (socket) => () => socket.write(NESTED),
      /was disconnected because it sent a reply of another type/,
    ));

  it('is disconnected when it answers a message with nested arrays', () =>
    refuses(target, (socket) => (data) => socket.write(/XADD/.test(`${data}`) ? NESTED : '+OK\r\n'), /another type/));

  for (const [what, reply, reason] of [
    ['a map', '%1000000\r\n', /another type/],
    ['a long string', '$2000000000\r\n', /a string that is too long/],
    ['an endless line', `+${'x'.repeat(10_000)}`, /a line that is too long/],
    ['a null', '$-1\r\n', /a string without a length/],
    ['replies to no command', '+OK\r\n$-1\r\n$-1\r\n', /a reply to no command/],
  ] as const)
    it(`is disconnected when it sends ${what}`, () => refuses(target, (socket) => () => socket.write(reply), reason));

  it('rejects an array split into small chunks', () =>
    refuses(
      target,
      (socket) => async () => {
        for (const byte of '+OK\r\n*1000000\r\n') await new Promise((resolve) => socket.write(byte, resolve));
      },
      /another type|no command/,
    ));
});

describe('a hostile Kafka', () => {
  const target: Target = {
    url: 'kafka://127.0.0.1:PORT',
    destination: { type: 'kafka', topic: 'events', saslMechanism: 'scram-sha-256' },
    credentials: { username: 'ann', password: 'secret' },
  };
  const API = { metadata: 3, saslHandshake: 17, apiVersions: 18, saslAuthenticate: 36 };
  const framed = (response: Buffer) => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(response.length);
    return Buffer.concat([length, response]);
  };

  /** Answers requests until `custom` does. */
  function kafka(custom: (apiKey: number, out: Writer, request: Buffer) => Writer | undefined): Script {
    return (socket) => (data) => {
      for (let at = 0; at < data.length; at += 4 + data.readUInt32BE(at)) {
        const apiKey = data.readInt16BE(at + 4);
        const out = Writer.create().appendInt32(data.readInt32BE(at + 8));
        const answer = custom(apiKey, out, data.subarray(at)) ?? standard(apiKey, out);
        socket.write(framed(answer.buffer));
      }
    };
  }

  function standard(apiKey: number, out: Writer): Writer {
    const versions = [
      [API.metadata, 4, 9],
      [API.saslHandshake, 1, 1],
      [API.apiVersions, 0, 2],
      [API.saslAuthenticate, 0, 1],
      [0, 3, 9],
    ] as const;
    if (apiKey === API.apiVersions)
      return out
        .appendInt16(0)
        .appendArray(
          [...versions],
          (w, [key, least, most]) => w.appendInt16(key).appendInt16(least).appendInt16(most),
          false,
          false,
        )
        .appendInt32(0);
    return out.appendInt16(0).appendArray(['SCRAM-SHA-256'], (w, name) => w.appendString(name, false), false, false);
  }

  for (const [what, bytes] of [
    ['a length of zero', [0, 0, 0, 0, 1]],
    ['a length of one', [0, 0, 0, 1, 1, 1]],
    ['a negative length', [0xff, 0xff, 0xff, 0xfb, 0, 0, 0, 0, 0, 0]],
    ['a length of two gigabytes', [0x7f, 0xff, 0xff, 0xff, 0]],
  ] as const)
    it(`is disconnected when it announces ${what}`, () =>
      refuses(target, (socket) => () => socket.write(Buffer.from(bytes)), /announced a response of \d+ bytes/));

  it('cannot make an array of a length that it does not send', async () => {
    const serve = kafka((apiKey, out) =>
      apiKey === API.apiVersions ? out.appendInt16(0).appendInt32(0x7fffffff) : undefined,
    );
    assert.notEqual((await survive(target, serve)).class, 'ok');
  });

  /** Answers the first message of SCRAM with this one. */
  const answersScram = (message: (nonce: string) => string) =>
    kafka((apiKey, out, request) => {
      if (apiKey !== API.saslAuthenticate) return undefined;
      const nonce = /r=([\w-]+)/.exec(request.toString('latin1'))?.[1] ?? '';
      return out
        .appendInt16(0)
        .appendString(null, false)
        .appendBytes(Buffer.from(message(nonce)), false)
        .appendInt64(0n);
    });

  it('cannot make the login compute for minutes', async () => {
    const outcome = await survive(
      target,
      answersScram((nonce) => `r=${nonce}1,s=c2FsdA==,i=2000000000`),
    );
    assert.equal(outcome.class, 'client_error', outcome.message);
  });

  for (const message of ['', 'nonsense', 'r=1', 's=c2FsdA==,i=4096', 'e=other-error'])
    it(`does not end the process with "${message}" as a message of SCRAM`, async () => {
      const outcome = await survive(
        target,
        answersScram(() => message),
      );
      assert.equal(outcome.class, 'client_error', outcome.message);
    });

  it('does not stall the server with an error of each partition', async () => {
    const plain: Target = { ...target, credentials: {}, destination: { type: 'kafka', topic: 'events' } };
    const serve = kafka((apiKey, out) => {
      if (apiKey !== API.metadata) return undefined;
      const failed = (w: Writer, index: number) =>
        w
          .appendInt16(5)
          .appendInt32(index)
          .appendInt32(0)
          .appendInt32(0)
          .appendArray([], () => {})
          .appendArray([], () => {})
          .appendArray([], () => {});
      return out
        .appendTaggedFields()
        .appendInt32(0)
        .appendArray([], () => {})
        .appendString('cluster')
        .appendInt32(0)
        .appendArray([0], (w) =>
          w
            .appendInt16(0)
            .appendString('events')
            .appendBoolean(false)
            .appendArray([...Array(40_000).keys()], failed)
            .appendInt32(0),
        )
        .appendInt32(0)
        .appendTaggedFields();
    });
    const startedAt = performance.now();
    assert.equal((await survive(plain, serve)).class, 'server_error');
    assert.ok(performance.now() - startedAt < TIMEOUT_MS);
  });
});

describe('a hostile RabbitMQ', () => {
  const target: Target = {
    url: 'amqp://127.0.0.1:PORT/',
    destination: { type: 'rabbitmq', exchange: '', routingKey: 'events' },
    credentials: { username: 'ann', password: 'secret' },
  };
  const frame = (type: number, channel: number, payload: Buffer) => {
    const prefix = Buffer.alloc(7);
    prefix.writeUInt8(type, 0);
    prefix.writeUInt16BE(channel, 1);
    prefix.writeUInt32BE(payload.length, 3);
    return Buffer.concat([prefix, payload, Buffer.from([0xce])]);
  };
  const method = (channel: number, classId: number, methodId: number, ...args: (Buffer | number[])[]) => {
    const id = Buffer.alloc(4);
    id.writeUInt16BE(classId, 0);
    id.writeUInt16BE(methodId, 2);
    return frame(1, channel, Buffer.concat([id, ...args.map((one) => Buffer.from(one))]));
  };
  const long = (text: string) => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(text.length);
    return Buffer.concat([length, Buffer.from(text)]);
  };
  const START = method(0, 10, 10, [0, 9], [0, 0, 0, 0], long('PLAIN'), long('en_US'));
  const TUNE = method(0, 10, 30, [0, 0], [0, 2, 0, 0], [0, 0]);
  const tag = (value: number) => {
    const bytes = Buffer.alloc(8);
    bytes.writeBigUInt64BE(BigInt(value));
    return bytes;
  };

  /** Logs the client in, and answers its message with `reply`. */
  const rabbit =
    (reply: Buffer): Script =>
    (socket) =>
    (data) => {
      if (data.subarray(0, 4).toString() === 'AMQP') return socket.write(START);
      for (let at = 0; at + 11 <= data.length; at += 8 + data.readUInt32BE(at + 3)) {
        if (data.readUInt8(at) !== 1) continue;
        const id = `${data.readUInt16BE(at + 7)}.${data.readUInt16BE(at + 9)}`;
        if (id === '10.11') socket.write(TUNE);
        if (id === '10.40') socket.write(method(0, 10, 41, [0]));
        if (id === '20.10') socket.write(method(1, 20, 11, [0, 0, 0, 0]));
        if (id === '85.10') socket.write(method(1, 85, 11));
        if (id === '60.40') socket.write(reply);
        if (id === '10.50') socket.write(method(0, 10, 51));
      }
      return undefined;
    };

  it('confirms a message', async () => {
    const outcome = await survive(target, rabbit(method(1, 60, 80, tag(1), [0])));
    assert.equal(outcome.class, 'ok', outcome.message);
  });

  for (const [what, reply, reason] of [
    ['confirms a message that was not sent', method(1, 60, 80, tag(4_000_000_000), [0]), /confirmed a message that/],
    ['confirms many messages that were not sent', method(1, 60, 80, tag(2 ** 52), [1]), /confirmed a message that/],
    ['delivers a message', method(1, 60, 60, [0], tag(1), [0, 0, 0]), /unexpected method/],
    ['uses another channel', method(7, 60, 80, tag(1), [0]), /unknown type or channel/],
    ['announces a large frame', Buffer.from([1, 0, 1, 0x7f, 0xff, 0xff, 0xff]), /sent a frame of 2147483647 bytes/],
    [
      'returns a huge message',
      Buffer.concat([
        method(1, 60, 50, [1, 56, 0, 0, 0]),
        frame(2, 1, Buffer.concat([Buffer.from([0, 60, 0, 0]), tag(2 ** 50), Buffer.from([0, 0])])),
      ]),
      /returned a message that is longer/,
    ],
  ] as const)
    it(`is disconnected when it ${what}`, () => refuses(target, rabbit(reply), reason));

  it('cannot exhaust the stack by nested tables', async () => {
    let table = Buffer.alloc(0);
    for (let depth = 0; depth < 5000; depth++) {
      const length = Buffer.alloc(4);
      length.writeUInt32BE(table.length);
      table = Buffer.concat([Buffer.from([0]), Buffer.from('F'), length, table]);
    }
    const length = Buffer.alloc(4);
    length.writeUInt32BE(table.length);
    const start = method(0, 10, 10, [0, 9], length, table, long('PLAIN'), long('en_US'));
    const outcome = await survive(target, (socket) => () => socket.write(start));
    assert.notEqual(outcome.class, 'ok', outcome.message);
  });
});

describe('a hostile NATS', () => {
  const target: Target = {
    url: 'nats://127.0.0.1:PORT',
    destination: { type: 'nats', subject: 'events' },
    credentials: { username: 'ann', password: 'secret' },
  };
  const INFO = `INFO ${JSON.stringify({ server_id: 'x', version: '2.10.0', proto: 1, headers: true, max_payload: 1e6 })}\r\n`;

  /** Logs the client in, and answers its message with `reply`. */
  const nats =
    (reply: string): Script =>
    (socket) => {
      socket.write(INFO);
      return (data) => {
        if (/PING/.test(`${data}`)) socket.write('PONG\r\n');
        if (/H?PUB events/.test(`${data}`)) socket.write(reply);
      };
    };

  for (const [what, reply, reason] of [
    ['a message of two gigabytes', 'MSG _INBOX.x 1 2000000000\r\n', /announced a message that is too long/],
    ['a message of endless length', `MSG _INBOX.x 1 ${'9'.repeat(400)}\r\n`, /announced a message that is too long/],
    ['headers that are longer than the message', 'HMSG _INBOX.x 1 200 12\r\n', /headers that are longer/],
    ['an endless line', `-ERR ${'x'.repeat(10_000)}`, /a line that is too long/],
    ['an unknown operation', 'NOPE\r\n', /unknown operation/],
    ['a message without its end', 'MSG _INBOX.x 1 2\r\nabcdef\r\n', /without its end/],
  ] as const)
    it(`is disconnected when it sends ${what}`, () => refuses(target, nats(reply), reason));

  it('is disconnected when it sends pings without end and reads nothing', async () => {
    let pinged = 0;
    const flood: Script = (socket) => {
      socket.write(INFO);
      socket.pause();
      const pings = 'PING\r\n'.repeat(10_000);
      const more = () => {
        while (!socket.destroyed && socket.write(pings)) pinged += pings.length;
      };
      socket.on('drain', more);
      more();
      return () => {};
    };
    const outcome = await survive(target, flood);
    assert.equal(outcome.class, 'protocol', outcome.message);
    assert.ok(pinged < 16 * 1024 ** 2, `${pinged} bytes were taken`);
  });
});

describe('a hostile Amazon SQS', () => {
  const target: Target = {
    url: 'http://127.0.0.1:PORT/1/events',
    destination: { type: 'sqs', region: 'eu-central-1' },
    credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
  };
  const chunk = 'x'.repeat(64 * 1024);

  for (const [what, start, rest] of [
    ['an endless header', 'HTTP/1.1 200 OK\r\nx: ', chunk],
    ['endless headers', 'HTTP/1.1 200 OK\r\n', 'a: b\r\n'.repeat(10_000)],
    ['an endless body', 'HTTP/1.1 200 OK\r\nContent-Length: 9000000000\r\n\r\n', chunk],
    ['endless nested JSON', 'HTTP/1.1 200 OK\r\nContent-Length: 9000000000\r\n\r\n', '['.repeat(64 * 1024)],
    ['an endless extension of a chunk', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;', chunk],
  ] as const)
    it(`is disconnected when it sends ${what}`, async () => {
      let sent = 0;
      const serve: Script = (socket) => () => {
        socket.write(start);
        const more = () => {
          while (!socket.destroyed && socket.write(rest)) sent += rest.length;
        };
        socket.on('drain', more);
        more();
      };
      const outcome = await survive(target, serve);
      assert.notEqual(outcome.class, 'ok', outcome.message);
      // The limit of an answer, and what the sockets of both sides hold.
      assert.ok(sent < 16 * 1024 ** 2, `${sent} bytes were taken`);
    });
});
