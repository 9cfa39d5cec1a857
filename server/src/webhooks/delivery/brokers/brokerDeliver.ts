import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../../clock.ts';
import { OutgoingConnections } from '../../../egress/outgoing.ts';
import { checkUrl, hostOf, type Lookup, type TargetPolicy } from '../../../egress/target.ts';
import type { Described, Outcome } from '../../queue/outcome.ts';
import type { AttemptRequest, BrokerRequest } from '../attempt.ts';
import { connectionSteps, type Deliver, type Stage, toStages } from '../deliver.ts';
import { type BrokerDestination, type BrokerType, brokers, type Credentials } from '../destination.ts';
import type { Address, BrokerMessage, Open } from './broker.ts';
import { BrokerConnection } from './brokerConnection.ts';
import { KAFKA_SOCKETS, openKafka } from './kafka.ts';
import { openNats } from './nats.ts';
import { openRabbitMq } from './rabbitmq.ts';
import { openRedis } from './redis.ts';
import { SqsDeliver } from './sqs.ts';

interface Options {
  readonly policy: TargetPolicy;
  readonly timeoutMs: number;
  /** Of all accounts. Each can have half of them, as long as the others need none. */
  readonly maxSockets: number;
  readonly clock: Clock;
  /** For brokers that are reached over HTTP. */
  readonly http: Deliver;
  readonly lookup?: Lookup;
}

/** An attempt at a broker. */
type BrokerAttempt = AttemptRequest & { readonly broker: BrokerRequest };

type Openers = { readonly [T in Exclude<BrokerType, 'sqs'>]: Open<Extract<BrokerDestination, { type: T }>> };

const openers: Openers = { rabbitmq: openRabbitMq, nats: openNats, redis: openRedis, kafka: openKafka };

/**
 * Publishes to message brokers, on one connection per account, destination and credentials. An attempt has succeeded
 * once the broker has confirmed its message. One deadline covers everything; without a confirmation until then, the
 * message may be stored, and the retry may store it again.
 */
export class BrokerDeliver implements Deliver {
  readonly #options: Options;
  readonly #sqs: SqsDeliver;
  readonly #connections: LRUCache<string, BrokerConnection>;
  /** Every connection that is not closed, and its account. */
  readonly #open = new Map<BrokerConnection, string>();
  readonly #shares: OutgoingConnections;
  readonly #inFlight = new Set<(described: Described) => void>();

  constructor(options: Options) {
    this.#options = options;
    this.#sqs = new SqsDeliver(options.http, options.clock);
    this.#connections = new LRUCache({ max: options.maxSockets });
    this.#shares = new OutgoingConnections(options.maxSockets);
  }

  async attempt(request: AttemptRequest): Promise<Outcome> {
    const attempt = brokerAttempt(request);
    if (attempt.broker.destination.type === 'sqs') return this.#sqs.attempt(attempt);
    return (await this.#run(attempt, false)).outcome;
  }

  async probe(request: AttemptRequest): Promise<{ outcome: Outcome; stages: readonly Stage[] }> {
    const { url, broker } = brokerAttempt(request);
    if (broker.destination.type === 'sqs') return this.#sqs.probe(request);
    const startedAt = performance.now();
    const { outcome, moments } = await this.#run({ ...request, broker }, true);
    const isSecure = brokers[broker.destination.type].secureSchemes.some((scheme) => url.startsWith(`${scheme}:`));
    return {
      outcome,
      stages: toStages(outcome, startedAt, [
        ...connectionSteps(url, isSecure, outcome, startedAt, moments),
        { stage: 'login', at: moments.get('login'), applies: true },
        { stage: 'publish', at: startedAt + outcome.durationMs, applies: true },
      ]),
    };
  }

  async close(): Promise<void> {
    for (const end of this.#inFlight) end(['unknown_outcome', null, 'The server stopped before the broker confirmed']);
    for (const connection of this.#open.keys()) connection.retire(true);
  }

  async #run(
    request: BrokerAttempt,
    isProbe: boolean,
  ): Promise<{ outcome: Outcome; moments: ReadonlyMap<string, number> }> {
    const startedAt = performance.now();
    const done = (described: Described, moments: ReadonlyMap<string, number> = new Map()) => ({
      outcome: toOutcome(described, startedAt),
      moments,
    });
    const { schemes } = brokers[request.broker.destination.type];
    // A literal address is dialed without a lookup, so it is vetted here, before every attempt.
    const verdict = checkUrl(request.url, this.#options.policy, schemes);
    if (!verdict.ok) return done(['blocked_address', null, verdict.message]);
    const timeoutMs = request.timeoutMs ?? this.#options.timeoutMs;
    const connection = this.#connectionFor(request.broker, verdict.url, timeoutMs, isProbe);
    if (connection === undefined)
      return done(['no_socket', null, 'The account has as many connections to brokers as it may, and all are in use']);
    const [kind, status, message, ...size] = await connection.use(() => this.#send(connection, request, timeoutMs));
    if (isProbe) connection.retire();
    return done([kind, status, withoutSecrets(message, request.broker.credentials), ...size], connection.moments);
  }

  /** Sends the message, within the deadline. A connection that missed it is used for no further messages. */
  async #send(connection: BrokerConnection, request: BrokerAttempt, timeoutMs: number): Promise<Described> {
    const { promise, resolve } = Promise.withResolvers<Described>();
    let hasEnded = false;
    const end = (described: Described) => {
      hasEnded = true;
      resolve(described);
    };
    const onAbort = () => {
      end(['unknown_outcome', null, 'The webhook was removed before the broker confirmed']);
      // Unless another webhook waits for its own confirmation on it.
      if (connection.inFlight === 1) connection.retire(true);
    };
    const cancelDeadline = this.#options.clock.after(timeoutMs, () => {
      end(['timeout', null, connection.describeSilence(timeoutMs)]);
      connection.retire();
    });
    request.signal?.addEventListener('abort', onAbort);
    this.#inFlight.add(end);
    if (request.signal?.aborted) onAbort();
    else void connection.send(toMessage(request), timeoutMs, () => hasEnded).then(end);
    try {
      return await promise;
    } finally {
      cancelDeadline();
      this.#inFlight.delete(end);
      request.signal?.removeEventListener('abort', onAbort);
    }
  }

  /** Returns undefined if the account has used up its share of the sockets, and all are in use. */
  #connectionFor(request: BrokerRequest, url: URL, timeoutMs: number, isProbe: boolean): BrokerConnection | undefined {
    const key = keyOf(request, url);
    const known = isProbe ? undefined : this.#connections.get(key);
    if (known !== undefined) return known;
    const { accountId, destination } = request;
    const maxSockets = this.#socketsOf(destination.type);
    while (!this.#shares.take(accountId, maxSockets)) if (!this.#evict(accountId)) return undefined;
    // The table has the opener of each type; sqs has none, because it is HTTP.
    const open = openers[destination.type as keyof Openers] as Open<BrokerDestination>;
    const { policy, clock, lookup } = this.#options;
    const connection: BrokerConnection = new BrokerConnection({
      open,
      url,
      address: addressOf(url, destination.type),
      request,
      policy,
      lookup,
      timeoutMs,
      maxSockets,
      clock,
      onRetired: () => {
        if (this.#connections.peek(key) === connection) this.#connections.delete(key);
      },
      onClosed: () => {
        this.#open.delete(connection);
        this.#shares.release(accountId, maxSockets);
      },
    });
    this.#open.set(connection, accountId);
    if (!isProbe) this.#connections.set(key, connection);
    return connection;
  }

  /** A client of Kafka reserves all that it may need, because it opens them when it meets a new leader. */
  #socketsOf(type: BrokerType): number {
    return type === 'kafka' ? Math.max(1, Math.min(KAFKA_SOCKETS, Math.floor(this.#options.maxSockets / 2))) : 1;
  }

  /**
   * Closes the connection of the account that was idle longest, or else of any, while the account has less than half of
   * all sockets. Returns whether there was one.
   */
  #evict(accountId: string): boolean {
    const idle = [...this.#connections.rvalues()].filter((connection) => connection?.inFlight === 0);
    const own = idle.find((connection) => connection && this.#open.get(connection) === accountId);
    const mayEvictOthers = this.#shares.countOf(accountId) * 2 < this.#options.maxSockets;
    const evicted = own ?? (mayEvictOthers ? idle[0] : undefined);
    evicted?.retire();
    return evicted !== undefined;
  }
}

function brokerAttempt({ broker, ...request }: AttemptRequest): BrokerAttempt {
  if (broker === undefined) throw new Error('not an attempt at a broker');
  return { ...request, broker };
}

/** Accounts never share a connection. */
function keyOf({ accountId, destination, credentials }: BrokerRequest, { href }: URL): string {
  const parts = JSON.stringify([accountId, href, destination, credentials]);
  return createHash('sha256').update(parts).digest('base64url');
}

function addressOf(url: URL, type: BrokerType): Address {
  const { defaultPorts, secureSchemes } = brokers[type];
  const scheme = url.protocol.slice(0, -1);
  const port = url.port === '' ? (defaultPorts[scheme] ?? 0) : Number(url.port);
  return { host: hostOf(url), port, isSecure: secureSchemes.includes(scheme), path: url.pathname.slice(1) };
}

function toMessage({ headers, body, broker: { conversation } }: BrokerAttempt): BrokerMessage {
  const { 'x-webhook-id': id = '', 'x-webhook-event': type = '' } = headers;
  return { id, type, conversation, headers, body: Buffer.from(body) };
}

/** Shorter secrets are parts of ordinary words: hiding them would only make the message unreadable, and show where. */
const LEAST_HIDDEN = 4;

/** A broker may repeat the credentials in its errors. */
function withoutSecrets(message: string, { username: _, ...secrets }: Credentials): string {
  const hidden = Object.values(secrets).filter(({ length }) => length >= LEAST_HIDDEN);
  return hidden.reduce((text, secret) => text.replaceAll(secret, '(hidden)'), message);
}

function toOutcome([kind, status, message, isTooLarge]: Described, startedAt: number): Outcome {
  const durationMs = Math.round(performance.now() - startedAt);
  const outcome = { class: kind, status, durationMs, message: message.toWellFormed(), response: null };
  return { ...outcome, retryAfterMs: null, ...(isTooLarge && { isTooLarge }) };
}
