import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { describe, it } from 'node:test';
import { NodeSignatures } from '../../src/cluster/nodeSignature.ts';
import { AnonymousConnections } from '../../src/http/anonymousConnections.ts';
import { eventually } from '../support/eventually.ts';
import { startServer } from '../support/server.ts';

/** The parts of a connection that the limit uses. */
class Connection extends EventEmitter {
  readonly remoteAddress: string;
  isOpen = true;

  constructor(remoteAddress: string) {
    super();
    this.remoteAddress = remoteAddress;
  }

  destroy(): void {
    this.isOpen = false;
    this.emit('close');
  }
}

function openWith(connections: AnonymousConnections) {
  // The parts of a socket, a request and its response that are used.
  const open = (address: string) => {
    const connection = new Connection(address);
    connections.add(connection as unknown as Socket);
    return connection;
  };
  const request = (socket: Connection) => {
    const response = new EventEmitter();
    connections.watch({ socket } as unknown as IncomingMessage, response as unknown as ServerResponse<IncomingMessage>);
    return { end: () => response.emit('close') };
  };
  return { open, request };
}

describe('connections without a credential', () => {
  it('are closed for a new one in the network that holds the most, oldest first', () => {
    const { open } = openWith(new AnonymousConnections(4));
    const [modest, other] = [open('192.0.2.1'), open('2001:db8:0:1::1')];
    const greedy = ['2001:db8:0:2::1', '::ffff:192.0.2.9', '192.0.2.9', '192.0.2.9', '192.0.2.9'].map(open);
    assert.deepEqual(
      greedy.map(({ isOpen }) => isOpen),
      [true, false, false, false, true],
    );
    assert.ok(modest.isOpen && other.isOpen);
  });

  it('stay open while a request is in progress if others of their network are idle', () => {
    const { open, request } = openWith(new AnonymousConnections(3));
    const [first, second] = [open('192.0.2.1'), open('192.0.2.1')];
    const running = request(first);
    request(first).end();
    open('192.0.2.1');
    const fourth = open('192.0.2.1');
    assert.deepEqual([first.isOpen, second.isOpen], [true, false]);
    running.end();
    open('192.0.2.1');
    assert.deepEqual([first.isOpen, fourth.isOpen], [false, true]);
  });

  it('are closed for a new one even if all are busy', () => {
    const { open, request } = openWith(new AnonymousConnections(2));
    const busy = [open('192.0.2.1'), open('192.0.2.1')];
    for (const connection of busy) request(connection);
    assert.ok(open('192.0.2.1').isOpen);
    assert.deepEqual(
      busy.map(({ isOpen }) => isOpen),
      [false, true],
    );
  });
});

it('a connection used by another node survives a flood of new ones', async (test) => {
  const secret = 'the secret that all nodes of this test share';
  const server = await startServer({ env: { JWT_SECRET: secret } });
  test.after(() => server.stop());
  const { clock, cluster } = server.app.services;
  const port = Number(new URL(server.url).port);
  const sockets: Socket[] = [];
  test.after(() => {
    for (const socket of sockets) socket.destroy();
  });
  const open = () => {
    const socket = connect(port, '127.0.0.1').on('error', () => {});
    sockets.push(socket);
    return socket;
  };

  const line = open();
  const request = { method: 'GET', path: '/health', body: '' };
  const signed = new NodeSignatures(secret, 'nod_X', clock).sign(request, cluster.nodeId);
  const headers = Object.entries({ host: 'localhost', ...signed }).map(([name, value]) => `${name}: ${value}\r\n`);
  let answers = '';
  line.on('data', (chunk) => (answers += chunk));
  /** Sends one more request. @returns the number of responses */
  const ask = async () => {
    const before = answers.length;
    line.write(`GET /health HTTP/1.1\r\n${headers.join('')}\r\n`);
    await eventually(
      async () => line.closed || answers.slice(before).includes('{"status":"ok"}'),
      (isOver) => isOver,
    );
    return answers.split('{"status":"ok"}').length - 1;
  };
  assert.equal(await ask(), 1);
  const isFull = Promise.withResolvers<void>();
  for (let at = 0; at < 520; at++) {
    const socket = open().on('close', () => isFull.resolve());
    await once(socket, 'connect');
  }
  await isFull.promise;
  assert.equal(await ask(), 2);
});
