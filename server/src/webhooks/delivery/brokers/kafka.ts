import { isIP, type Socket } from 'node:net';
import type { Connection, produceV9 as Produced } from '@platformatic/kafka';
import { Condition } from '../../../async.ts';
import { checkUrl } from '../../../egress/target.ts';
import { loadParts } from '../../../slowPackages.ts';
import { thrownError } from '../../../thrown.ts';
import { version } from '../../../version.ts';
import { type Described, describeError as describeSocketError } from '../../queue/outcome.ts';
import { type BrokerDestination, brokers } from '../destination.ts';
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
import { readMetadata, type TopicMetadata } from './kafkaMetadata.ts';
import { KafkaResponses } from './kafkaResponses.ts';
import { guardSocket, observe, tlsOptions } from './socket.ts';

type Kafka = Extract<BrokerDestination, { type: 'kafka' }>;
type Library = typeof import('@platformatic/kafka');

interface Place {
  readonly host: string;
  readonly port: number;
}

/** Longest metadata, for a topic with thousands of partitions, in bytes. */
const METADATA_BYTES = 1024 * 1024;
/** Longest response to another request: the client makes an error for each that it lists. */
const RESPONSE_BYTES = 16 * 1024;
const MAX_IN_FLIGHT = 256;
/** An address that does not answer gets this long if the name has others. */
const NEXT_ADDRESS_MS = 2000;
const ALL_REPLICAS = -1;
/** Sockets of one client: a cluster can advertise any number of leaders. */
export const KAFKA_SOCKETS = 16;
/** As `metadata.max.age.ms` of Kafka's own producers. */
const METADATA_MAX_AGE_MS = 5 * 60_000;

const isOver = () => new Error('the attempt is over');

export const openKafka: Open<Kafka> = async (opening) => {
  await loadParts('@platformatic/kafka');
  const library = await import('@platformatic/kafka');
  const nodes = new KafkaNodes(library, opening);
  try {
    return await nodes.use(opening.address, async ({ connection: first, responses }) => {
      const { apiKeys } = await library.apiVersionsV1.api.async(first, 'switchboard', version);
      const highest = new Map(apiKeys.map(({ apiKey, maxVersion }) => [apiKey, maxVersion]));
      const highestOf = ({ key }: { key: number }) => highest.get(key) ?? 0;
      const { metadataV9, produceV9, produceV3 } = library;
      responses.maxBytes = METADATA_BYTES;
      const metadata = await readMetadata(library, first, opening.destination.topic, highestOf(metadataV9.api));
      responses.maxBytes = RESPONSE_BYTES;
      const produce = highestOf(produceV9.api) >= produceV9.api.version ? produceV9.api : produceV3.api;
      return new KafkaClient(library, nodes, metadata, produce, opening);
    });
  } catch (error) {
    nodes.close();
    throw describeOpening(thrownError(error), opening);
  }
};

interface Connected {
  readonly connection: Connection;
  readonly responses: KafkaResponses;
}

interface Node {
  readonly connected: Promise<Connected>;
  /** Destroys its sockets, whatever they are doing. */
  readonly abort: AbortController;
  inUse: number;
}

/**
 * Connections to the nodes of a cluster. Their addresses are those that the cluster itself advertises, so their number
 * has a bound: idle ones give way, and while all are in use, others wait.
 */
class KafkaNodes {
  readonly #library: Library;
  readonly #opening: Opening<Kafka>;
  /** The one that was not used for longest is first. */
  readonly #nodes = new Map<string, Node>();
  /** Notified when a node is no longer in use, and by the close. */
  readonly #changed = new Condition();
  #isClosed = false;

  constructor(library: Library, opening: Opening<Kafka>) {
    this.#library = library;
    this.#opening = opening;
  }

  /** @throws {OpeningFailed} if the address may not be reached, and the errors of the client and of `work` */
  async use<T>(place: Place, work: (connected: Connected) => Promise<T>): Promise<T> {
    const key = `${place.host}:${place.port}`;
    // Another caller may take the room before this one goes on.
    while (!this.#hasRoom(key)) await this.#changed.until(() => this.#hasRoom(key));
    if (this.#isClosed) throw isOver();
    const node = this.#nodes.get(key) ?? this.#add(place);
    this.#nodes.delete(key);
    this.#nodes.set(key, node);
    node.inUse++;
    try {
      const connected = await node.connected;
      node.abort.signal.throwIfAborted();
      return await work(connected);
    } finally {
      node.inUse--;
      this.#changed.notify();
    }
  }

  close(): void {
    this.#isClosed = true;
    for (const { abort } of this.#nodes.values()) abort.abort(isOver());
    this.#changed.notify();
  }

  #hasRoom(key: string): boolean {
    if (this.#isClosed || this.#nodes.has(key) || this.#nodes.size < this.#opening.maxSockets) return true;
    return this.#idle() !== undefined;
  }

  /** Returns the one that was idle longest. */
  #idle(): [string, Node] | undefined {
    for (const entry of this.#nodes) if (entry[1].inUse === 0) return entry;
    return undefined;
  }

  #add(place: Place): Node {
    const idle = this.#nodes.size < this.#opening.maxSockets ? undefined : this.#idle();
    if (idle !== undefined) {
      this.#nodes.delete(idle[0]);
      idle[1].abort.abort(isOver());
    }
    const abort = new AbortController();
    const signal = AbortSignal.any([this.#opening.signal, abort.signal]);
    return { connected: this.#open(place, signal), abort, inUse: 0 };
  }

  async #open({ host, port }: Place, signal: AbortSignal): Promise<Connected> {
    const addresses = await this.#resolve(host, port);
    let last: unknown;
    for (const [index, address] of addresses.entries()) {
      signal.throwIfAborted();
      try {
        const hasNext = index < addresses.length - 1;
        return await this.#openAt({ host, port }, address, hasNext, signal);
      } catch (error) {
        last = error;
      }
    }
    throw last;
  }

  async #openAt({ host, port }: Place, ip: string, hasNext: boolean, signal: AbortSignal): Promise<Connected> {
    const opening = { ...this.#opening, signal, address: { ...this.#opening.address, host, port } };
    const { timeoutMs, onLost } = opening;
    const sasl = saslOf(this.#library, opening);
    const connection = new this.#library.Connection('switchboard', {
      connectTimeout: hasNext ? Math.min(NEXT_ADDRESS_MS, timeoutMs) : timeoutMs,
      requestTimeout: timeoutMs,
      maxInflights: MAX_IN_FLIGHT,
      // The address was resolved here, so the certificate is checked for the name.
      ...(opening.address.isSecure && { tls: tlsOptions(opening) }),
      ...(sasl !== undefined && { sasl }),
    });
    connection.on('error', () => {});
    const connected = connection.connect(ip, port);
    // The type leaves out the getter.
    const { socket } = connection as unknown as { socket: Socket };
    const responses = new KafkaResponses(RESPONSE_BYTES);
    guardSocket(observe(socket, opening), opening, { inspector: responses, firstBytes: METADATA_BYTES });
    try {
      await connected;
    } catch (error) {
      // After a refused login, the client closes only its own half.
      socket.destroy();
      throw error;
    }
    connection.once('close', () => {
      if (!signal.aborted) onLost();
    });
    return { connection, responses };
  }

  /** Returns the addresses of a host, all of which may be dialed: a cluster can advertise any. */
  #resolve(host: string, port: number): Promise<readonly string[]> {
    const { policy, lookup, moments } = this.#opening;
    const verdict = checkUrl(`kafka://${isIP(host) === 6 ? `[${host}]` : host}:${port}`, policy, brokers.kafka.schemes);
    if (!verdict.ok) {
      const message = `Kafka advertises the broker ${quoted(host)}:${port}. ${verdict.message}`;
      return Promise.reject(new OpeningFailed(['blocked_address', null, message]));
    }
    if (isIP(host) !== 0) return Promise.resolve([host]);
    const { promise, resolve, reject } = Promise.withResolvers<readonly string[]>();
    lookup(host, { all: true }, (error, found) => {
      if (error !== null) return reject(error);
      moments.set('lookup', performance.now());
      resolve(typeof found === 'string' ? [found] : found.map(({ address }) => address));
    });
    return promise;
  }
}

type Produce = Library['produceV9']['api'] | Library['produceV3']['api'];

class KafkaClient implements BrokerClient {
  /** Each connection reads the metadata once. Partitions may be added, and leaders move without an error. */
  readonly maxAgeMs = METADATA_MAX_AGE_MS;
  readonly #library: Library;
  readonly #nodes: KafkaNodes;
  readonly #metadata: TopicMetadata;
  readonly #produce: Produce;
  readonly #opening: Opening<Kafka>;

  constructor(library: Library, nodes: KafkaNodes, metadata: TopicMetadata, produce: Produce, opening: Opening<Kafka>) {
    this.#library = library;
    this.#nodes = nodes;
    this.#metadata = metadata;
    this.#produce = produce;
    this.#opening = opening;
  }

  async publish({ conversation, headers, body }: BrokerMessage, timeoutMs: number): Promise<Described> {
    const { topic } = this.#opening.destination;
    const key = Buffer.from(conversation);
    const { partitions } = this.#metadata;
    // Like Kafka's own producers, so that others choose the same partition for a key.
    const index = (this.#library.murmur2(key) & 0x7fffffff) % Math.max(1, partitions.length);
    const partition = partitions.find(({ partitionIndex }) => partitionIndex === index);
    const leader = this.#metadata.brokers.find(({ nodeId }) => nodeId === partition?.leaderId);
    if (leader === undefined) {
      this.#opening.onLost();
      return unavailable(`The partition ${index} of the topic "${topic}" has no leader now`);
    }
    const pairs = Object.entries(headers).map(([name, value]) => [Buffer.from(name), Buffer.from(value)] as const);
    const record = { topic, partition: index, key, value: body, headers: new Map(pairs) };
    const endsAt = performance.now() + timeoutMs;
    try {
      return await this.#nodes.use(leader, async ({ connection }) => {
        const leftMs = Math.ceil(endsAt - performance.now());
        // The attempt has ended, and its retry sends the message.
        if (leftMs <= 0) return ['timeout', null, `${leader.host}:${leader.port} was not connected in time`];
        const response = await this.#produce.async(connection, ALL_REPLICAS, leftMs, [record], {});
        return this.#confirmed(response, index);
      });
    } catch (error) {
      // The leader may be another one by now: the next attempt asks.
      this.#opening.onLost();
      return describeFailure(thrownError(error), leader, topic, timeoutMs);
    }
  }

  close(): void {
    this.#nodes.close();
  }

  #confirmed(response: boolean | Produced.ProduceResponse, partition: number): Described {
    const found = typeof response === 'boolean' ? undefined : response.responses[0]?.partitionResponses[0];
    if (found?.index !== partition || found.errorCode !== 0)
      return ['protocol', null, 'Kafka did not confirm the message with its offset'];
    return ok(`Kafka stored the message in partition ${partition} at offset ${found.baseOffset}`);
  }
}

type Sasl = NonNullable<NonNullable<ConstructorParameters<Library['Connection']>[1]>['sasl']>;

const mechanisms = { plain: 'PLAIN', 'scram-sha-256': 'SCRAM-SHA-256', 'scram-sha-512': 'SCRAM-SHA-512' } as const;

function saslOf(
  library: Library,
  { credentials: { username, password }, destination }: Opening<Kafka>,
): Sasl | undefined {
  if (username === undefined || password === undefined) return undefined;
  const mechanism = mechanisms[destination.saslMechanism ?? 'plain'];
  const sasl = { mechanism, username, password };
  return mechanism === 'PLAIN' ? sasl : { ...sasl, authenticate: scram(library, mechanism, username, password) };
}

/** Kafka allows 16,384. Each one costs time in a thread that all files and logins share. */
const MAX_ITERATIONS = 65_536;

/**
 * Limits the iterations of the client's login by SCRAM. An error that the client throws on nonsense fails the login.
 */
function scram(
  library: Library,
  mechanism: 'SCRAM-SHA-256' | 'SCRAM-SHA-512',
  username: string,
  password: string,
): NonNullable<Sasl['authenticate']> {
  const { AuthenticationError, saslScramSha } = library;
  const algorithm = mechanism === 'SCRAM-SHA-256' ? 'SHA-256' : 'SHA-512';
  const crypto: typeof saslScramSha.defaultCrypto = {
    ...saslScramSha.defaultCrypto,
    hi: (definition, password, salt, iterations) =>
      iterations <= MAX_ITERATIONS
        ? saslScramSha.defaultCrypto.hi(definition, password, salt, iterations)
        : Promise.reject(new AuthenticationError(`the broker asks for ${iterations} iterations`)),
  };
  return (_, connection, send, __, ___, ____, callback) => {
    const guarded = (...[to, bytes, then]: Parameters<typeof send>) =>
      send(to, bytes, (error, response) => {
        try {
          then?.(error, response);
        } catch (error) {
          const cause = thrownError(error);
          callback(new AuthenticationError('the broker sent no valid message of SCRAM', { cause }), response);
        }
      });
    saslScramSha.authenticate(guarded as typeof send, connection, algorithm, username, password, crypto, callback);
  };
}

/** Errors that only a change at the broker or of the webhook resolves. */
const LASTING = new Set([
  'UNKNOWN_TOPIC_OR_PARTITION',
  'INVALID_TOPIC_EXCEPTION',
  'TOPIC_AUTHORIZATION_FAILED',
  'CLUSTER_AUTHORIZATION_FAILED',
  'INVALID_RECORD',
  'POLICY_VIOLATION',
]);

/** Errors about `max.message.bytes` and `segment.bytes`: https://kafka.apache.org/protocol#protocol_error_codes */
const SIZE = new Set(['MESSAGE_TOO_LARGE', 'RECORD_LIST_TOO_LARGE']);

function describeFailure(error: Error, { host, port }: Place, topic: string, timeoutMs: number): Described {
  if (error instanceof OpeningFailed) return error.described;
  const all = errorsWithin(error);
  const login = all.find(
    ({ code, apiId }) => code === 'PLT_KFK_AUTHENTICATION' || apiId === 'SASL_AUTHENTICATION_FAILED',
  );
  if (login !== undefined) return refused(`Kafka at ${host}:${port} refused the login: ${quoted(login.message)}`);
  const apiId = all.find((one) => 'apiId' in one)?.apiId;
  if (apiId !== undefined) {
    const message = `Kafka refused the message for the topic "${topic}": ${quoted(apiId)}`;
    if (SIZE.has(String(apiId))) return tooLarge(message);
    return LASTING.has(String(apiId)) ? refused(message) : unavailable(message);
  }
  if (all.some(({ message }) => message === 'Broker requires TLS.'))
    return ['tls', null, `${host}:${port} requires TLS: should the URL start with kafkas://?`];
  if (/timed out/i.test(error.message)) return ['timeout', null, `${host}:${port} did not answer in time`];
  const system = all.find(({ code }) => typeof code === 'string' && !code.startsWith('PLT_KFK_'));
  if (system !== undefined) return describeSocketError(system, new URL(`kafka://${hostPart(host)}:${port}`), timeoutMs);
  if (all.some(({ code }) => code === 'PLT_KFK_NETWORK'))
    return ['reset', null, `${host}:${port} closed the connection before Kafka confirmed the message`];
  return ['protocol', null, `${host}:${port} did not answer in Kafka's protocol: ${quoted(error.message)}`];
}

const hostPart = (host: string) => (isIP(host) === 6 ? `[${host}]` : host);

type Detailed = Error & { readonly code?: unknown; readonly apiId?: unknown };

/** An error, its causes and the errors that it joins. */
function errorsWithin(error: unknown, depth = 0): Detailed[] {
  if (!(error instanceof Error) || depth > 4) return [];
  const joined = 'errors' in error ? error.errors : undefined;
  const others = [error.cause, ...(Array.isArray(joined) ? joined.slice(0, 4) : [])];
  return [error, ...others.flatMap((one) => errorsWithin(one, depth + 1))];
}

function describeOpening(error: Error, { address, destination, timeoutMs }: Opening<Kafka>): Error {
  if (error instanceof OpeningFailed) return error;
  const { host, port } = address;
  const [kind, status, message] = describeFailure(error, { host, port }, destination.topic, timeoutMs);
  const missing = errorsWithin(error).some(({ apiId }) => apiId === 'UNKNOWN_TOPIC_OR_PARTITION');
  return new OpeningFailed(missing ? refused(`Kafka has no topic "${destination.topic}"`) : [kind, status, message]);
}
