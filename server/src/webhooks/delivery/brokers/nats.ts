import { isIPv6, type Socket } from 'node:net';
import type { JetStreamClient } from '@nats-io/jetstream';
import type { ConnectionOptions, NatsConnection } from '@nats-io/transport-node';
import { thrownCode, thrownError } from '../../../thrown.ts';
import type { Described } from '../../queue/outcome.ts';
import type { BrokerDestination } from '../destination.ts';
import {
  type BrokerClient,
  type BrokerMessage,
  type Open,
  type Opening,
  OpeningFailed,
  ok,
  quoted,
  refused,
  tooLarge,
  unavailable,
} from './broker.ts';
import { NatsOperations } from './natsOperations.ts';
import { dialPlain, guardSocket, tlsOptions } from './socket.ts';

type Nats = Extract<BrokerDestination, { type: 'nats' }>;

/** The options of the client, with what the transport needs. The factory of transports is one for all connections. */
interface GuardedOptions extends ConnectionOptions {
  readonly opening: Opening;
}

const PING_MS = 30_000;

export const openNats: Open<Nats> = async (opening) => {
  const { nats, jetstream, GuardedTransport } = await loadClient();
  const { address, credentials, destination, timeoutMs, onLost } = opening;
  const { host, port, isSecure } = address;
  const { username, password, token, creds } = credentials;
  const transports: { socket?: Socket }[] = [];
  const options: GuardedOptions & { transports: typeof transports } = {
    opening,
    transports,
    servers: `${isIPv6(host) ? `[${host}]` : host}:${port}`,
    resolve: false,
    // Other servers of the cluster, which this one names, are not contacted.
    ignoreClusterUpdates: true,
    // The lane retries, and each attempt uses a connection that is open.
    reconnect: false,
    timeout: timeoutMs,
    pingInterval: PING_MS,
    noAsyncTraces: true,
    name: 'switchboard',
    ...(isSecure && { tls: tlsOptions(opening) as ConnectionOptions['tls'] }),
    ...(username !== undefined && { user: username, pass: password }),
    ...(token !== undefined && { token }),
    ...(creds !== undefined && { authenticator: nats.credsAuthenticator(Buffer.from(creds)) }),
  };
  nats.setTransportFactory({ factory: () => new GuardedTransport() });
  try {
    const connection = await nats.NatsConnectionImpl.connect(options as ConnectionOptions);
    void connection.closed().then(onLost);
    return new NatsClient(connection, jetstream(connection), destination, nats.headers);
  } catch (error) {
    for (const { socket } of transports) socket?.destroy();
    throw describeOpening(thrownError(error), opening);
  }
};

type Loaded = Awaited<ReturnType<typeof importClient>>;
let loaded: Promise<Loaded> | undefined;

function loadClient(): Promise<Loaded> {
  loaded ??= importClient().catch((error) => {
    loaded = undefined;
    throw error;
  });
  return loaded;
}

async function importClient() {
  const nats = await import('@nats-io/transport-node');
  const { jetstream } = await import('@nats-io/jetstream');
  const { NodeTransport } = await import('@nats-io/transport-node/lib/node_transport.js');

  /** The client's transport on guarded sockets. */
  class GuardedTransport extends NodeTransport {
    #opening: Opening | undefined;

    override async connect(...given: Parameters<InstanceType<typeof NodeTransport>['connect']>): Promise<void> {
      const options = given[1] as ConnectionOptions & GuardedOptions & { transports: unknown[] };
      this.#opening = options.opening;
      options.transports.push(this);
      await super.connect(...given);
    }

    override dial(): Promise<Socket> {
      const { promise, resolve, reject } = Promise.withResolvers<Socket>();
      const opening = this.#opening;
      if (opening === undefined) throw new Error('not connecting');
      const socket = guardSocket(dialPlain(opening), opening, { inspector: new NatsOperations() });
      socket.once('connect', () => resolve(socket));
      socket.once('error', reject);
      socket.once('close', () => reject(new Error('the connection was closed')));
      return promise;
    }

    override async startTLS(): ReturnType<InstanceType<typeof NodeTransport>['startTLS']> {
      const secure = await super.startTLS();
      if (this.#opening === undefined) throw new Error('not connecting');
      return guardSocket(secure, this.#opening, { inspector: new NatsOperations() });
    }

    override async *[Symbol.asyncIterator]() {
      try {
        yield* super.iterate();
      } finally {
        // The parser has failed, or the connection is closed.
        this.socket?.destroy();
      }
    }
  }

  return { nats, jetstream, GuardedTransport };
}

class NatsClient implements BrokerClient {
  readonly #connection: NatsConnection;
  readonly #jetstream: JetStreamClient;
  readonly #destination: Nats;
  readonly #newHeaders: Loaded['nats']['headers'];

  constructor(
    connection: NatsConnection,
    jetstream: JetStreamClient,
    destination: Nats,
    newHeaders: Loaded['nats']['headers'],
  ) {
    this.#connection = connection;
    this.#jetstream = jetstream;
    this.#destination = destination;
    this.#newHeaders = newHeaders;
  }

  async publish({ id, headers, body }: BrokerMessage, timeoutMs: number): Promise<Described> {
    const { subject } = this.#destination;
    const sent = this.#newHeaders();
    for (const [name, value] of Object.entries(headers)) sent.set(name, value);
    try {
      const ack = await this.#jetstream.publish(subject, body, { msgID: id, headers: sent, timeout: timeoutMs });
      // Anybody who subscribes to the subject can answer, and the client accepts any object.
      const { stream, seq } = ack as { stream?: unknown; seq?: unknown };
      if (typeof stream !== 'string' || stream === '' || !Number.isSafeInteger(seq) || Number(seq) < 1)
        return ['protocol', null, 'The answer is not a confirmation of JetStream: a stream must store the subject'];
      const what = ack.duplicate ? 'had already stored the message' : 'stored the message';
      return ok(`JetStream ${what} in ${quoted(stream)} as ${quoted(seq)}`);
    } catch (error) {
      return describeError(thrownError(error), subject, this.#connection.isClosed());
    }
  }

  close(): void {
    this.#connection.close().catch(() => {});
  }
}

function describeError(error: Error, subject: string, isClosed: boolean): Described {
  const { name, message } = error;
  if (name === 'JetStreamNotEnabled' || /no responders/i.test(message))
    return refused(`No JetStream stream stores the subject "${subject}"`);
  if (name === 'PermissionViolationError' || /permissions violation/i.test(message))
    return refused(`NATS does not permit publishing: ${quoted(message)}`);
  if (name === 'TimeoutError') return ['timeout', null, 'JetStream did not confirm the message; it may have stored it'];
  if (name === 'JetStreamApiError' && codeOf(error) === MESSAGE_EXCEEDS_MAXIMUM)
    return tooLarge(`JetStream refused the message for its size: ${quoted(message)}`);
  if (name === 'JetStreamApiError') return unavailable(`JetStream could not store the message: ${quoted(message)}`);
  // The client checks the server's limit before it sends.
  if (/max(imum)?[ _]payload/i.test(message)) return tooLarge(`NATS refused the message: ${quoted(message)}`);
  if (isClosed || /clos|disconnect/i.test(`${name} ${message}`))
    return ['reset', null, 'NATS closed the connection before it confirmed the message'];
  return ['protocol', null, `NATS did not confirm the message: ${quoted(message)}`];
}

/** JSStreamMessageExceedsMaximumErr: https://github.com/nats-io/nats-server, `server/errors.json`. */
const MESSAGE_EXCEEDS_MAXIMUM = 10_054;

const codeOf = (error: Error): unknown => ('code' in error ? error.code : undefined);

/** Returns the socket's own errors as they are. */
function describeOpening(error: Error, { address: { host, port } }: Opening): Error {
  const place = `${host}:${port}`;
  const { name, message, cause } = error;
  if (/^(AuthorizationError|UserAuthenticationExpiredError)$/.test(name) || /authorization violation/i.test(message))
    return new OpeningFailed(refused(`NATS at ${place} refused the credentials: ${quoted(message)}`));
  for (const one of [error, cause]) if (one instanceof Error && thrownCode(one) !== '') return one;
  if (/does not support 'tls'/.test(message))
    return new OpeningFailed(['tls', null, `NATS at ${place} does not offer TLS: should the URL start with nats://?`]);
  return new OpeningFailed(
    /closed|disconnected/i.test(`${name} ${message}`)
      ? ['reset', null, `${place} closed the connection before NATS accepted the login`]
      : ['protocol', null, `${place} did not answer in NATS's protocol: ${quoted(message)}`],
  );
}
