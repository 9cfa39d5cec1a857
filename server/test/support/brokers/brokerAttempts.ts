import { createServer, type Server, type Socket } from 'node:net';
import { systemClock } from '../../../src/clock.ts';
import { createTargetPolicy, type Lookup } from '../../../src/egress/target.ts';
import { BrokerDeliver } from '../../../src/webhooks/delivery/brokers/brokerDeliver.ts';
import { HttpDeliver } from '../../../src/webhooks/delivery/deliver.ts';
import type { BrokerDestination, Credentials } from '../../../src/webhooks/delivery/destination.ts';
import { listenLocally } from '../connections/listening.ts';

/** Timeout of attempts that end by themselves. */
export const TIMEOUT_MS = 30_000;
/** Timeout of attempts that wait for a broker that says nothing. */
export const SHORT_MS = 1000;
export const open = createTargetPolicy({ host: '127.0.0.1', allowedCidrs: [] });
export const strict = createTargetPolicy({ host: '0.0.0.0', allowedCidrs: [] });
export const login = { username: 'ann', password: 'secret' };

export interface Kind {
  readonly destination: BrokerDestination;
  readonly scheme: string;
  readonly secureScheme: string;
  readonly path: string;
  readonly credentials: Credentials;
  /** The beginning of something that never ends. */
  readonly endless: string | Buffer;
}

export const kinds: readonly Kind[] = [
  {
    destination: { type: 'rabbitmq', exchange: '', routingKey: 'events' },
    scheme: 'amqp',
    secureScheme: 'amqps',
    path: '/',
    credentials: login,
    endless: Buffer.from([1, 0, 0, 0x7f, 0xff, 0xff, 0xff]),
  },
  {
    destination: { type: 'nats', subject: 'events' },
    scheme: 'nats',
    secureScheme: 'tls',
    path: '',
    credentials: login,
    endless: '',
  },
  {
    destination: { type: 'redis', stream: 'events' },
    scheme: 'redis',
    secureScheme: 'rediss',
    path: '/0',
    credentials: login,
    endless: '$2000000000\r\n',
  },
  {
    destination: { type: 'kafka', topic: 'events' },
    scheme: 'kafka',
    secureScheme: 'kafkas',
    path: '',
    credentials: login,
    endless: Buffer.from([0x7f, 0xff, 0xff, 0xff]),
  },
  {
    destination: { type: 'sqs', region: 'eu-central-1' },
    scheme: 'http',
    secureScheme: 'https',
    path: '/1/events',
    credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
    endless: 'HTTP/1.1 200 OK\r\nContent-Length: 2000000000\r\n\r\n',
  },
];

const delivers: BrokerDeliver[] = [];

export function newDeliver({
  policy = open,
  lookup = undefined as Lookup | undefined,
  maxSockets = 64,
  clock = systemClock,
} = {}) {
  const shared = { policy, timeoutMs: TIMEOUT_MS, clock };
  const http = new HttpDeliver({ ...shared, maxSockets: 100 });
  const deliver = new BrokerDeliver({ ...shared, maxSockets, http, ...(lookup && { lookup }) });
  delivers.push(deliver);
  return deliver;
}

export async function closeDelivers(): Promise<void> {
  for (const deliver of delivers.splice(0)) await deliver.close();
}

export interface Aim {
  readonly host?: string;
  readonly port: number;
  readonly isSecure?: boolean;
  readonly accountId?: string;
  readonly destination?: BrokerDestination;
}

export function requestFor(kind: Kind, aim: Aim) {
  const { host = '127.0.0.1', port, isSecure = false, accountId = 'acc_1', destination = kind.destination } = aim;
  const { scheme, secureScheme, path, credentials } = kind;
  return {
    url: `${isSecure ? secureScheme : scheme}://${host}:${port}${path}`,
    headers: { 'content-type': 'application/json', 'x-webhook-id': 'evt_1', 'x-webhook-event': 'message.sent' },
    body: '{}',
    broker: { accountId, destination, credentials, conversation: 'one' },
  };
}

/** A server of which each connection is handled by `serve`. */
export class Listener {
  readonly sockets = new Set<Socket>();
  accepted = 0;
  port = 0;
  readonly #server: Server;
  serve: (socket: Socket) => void = () => {};

  constructor() {
    this.#server = createServer((socket) => {
      this.accepted++;
      this.sockets.add(socket);
      socket.on('error', () => {});
      socket.once('close', () => this.sockets.delete(socket));
      // A socket that reads nothing does not see the end.
      socket.resume();
      this.serve(socket);
    });
  }

  async start(): Promise<void> {
    this.port = await listenLocally(this.#server);
  }

  reset(serve: (socket: Socket) => void = () => {}): void {
    this.accepted = 0;
    this.serve = serve;
  }

  close(): void {
    this.#server.close();
    for (const socket of this.sockets) socket.destroy();
  }
}
