import { sleep } from '../async.ts';
import { systemClock } from '../clock.ts';
import type { Listening, Shared } from '../db/dialect.ts';
import type { Log } from '../log.ts';
import type { Peers } from './peers.ts';
import { Signals, type Topic, topics } from './signals.ts';

const CHANNEL = 'switchboard';
/** Signals of this period share a notification, so that many commits cost one. */
const GATHER_MS = 5;
const RECONNECT_MS = 500;
/** With the deadline of a ping, a dead connection is noticed within 3.5 s. */
const PING_MS = 2000;
/** PostgreSQL accepts payloads of less than 8,000 bytes. */
const IDS_PER_PAYLOAD = 150;

interface Payload {
  readonly from: string;
  readonly topic: Topic;
  readonly ids: readonly string[];
}

type KnownPeers = Pick<Peers, 'nodeId' | 'hasOthers'>;

/**
 * Signals over LISTEN and NOTIFY, on a connection of its own. It pings the connection, because a half-open one is as
 * quiet as an idle one. While there is no connection, signals leave through the pool.
 */
export class Channel extends Signals {
  readonly #shared: Shared;
  readonly #peers: KnownPeers;
  readonly #log: Log;
  readonly #pingMs: number;
  #waiting = new Map<Topic, Set<string>>();
  #gathering: NodeJS.Timeout | undefined;
  #flushed = Promise.resolve();
  #connection: Listening | undefined;
  #pinging: NodeJS.Timeout | undefined;
  #isStopped = false;

  constructor(shared: Shared, peers: KnownPeers, log: Log, { pingMs = PING_MS } = {}) {
    super();
    this.#shared = shared;
    this.#peers = peers;
    this.#log = log;
    this.#pingMs = pingMs;
  }

  /** Whether this node receives signals; otherwise it polls. */
  get isListening(): boolean {
    return this.#connection !== undefined;
  }

  async start(): Promise<void> {
    const connection = await this.#shared.listen(
      CHANNEL,
      (payload) => this.#hear(payload),
      () => this.#drop(connection),
    );
    this.#connection = connection;
    this.#pingLater(connection);
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#pinging);
    await this.#flush();
    this.#connection?.close();
  }

  send(topic: Topic, id: string): void {
    // A node that has just joined does not know the others yet, but notifies them.
    if (!this.#peers.hasOthers && topic !== 'nodes') return;
    const ids = this.#waiting.get(topic) ?? new Set();
    this.#waiting.set(topic, ids.add(id));
    this.#gathering ??= setTimeout(() => void this.#flush(), GATHER_MS);
  }

  #hear(text: string): void {
    let payload: Payload;
    try {
      payload = JSON.parse(text);
    } catch {
      this.#log.warn('ignored an unknown notification'); // every client of the database can notify
      return;
    }
    const { from, topic, ids } = payload;
    // A newer node may know more topics.
    if (from !== this.#peers.nodeId && topics.includes(topic)) for (const id of ids) this.emit(topic, id);
  }

  /** Sends the waiting signals, after those that are being sent. */
  #flush(): Promise<void> {
    clearTimeout(this.#gathering);
    this.#gathering = undefined;
    this.#flushed = this.#flushed
      .then(() => this.#sendWaiting())
      .catch((error) => this.#log.warn({ err: error }, 'failed to notify other nodes'));
    return this.#flushed;
  }

  async #sendWaiting(): Promise<void> {
    const sending = this.#waiting;
    this.#waiting = new Map();
    for (const [topic, all] of sending) {
      const ids = [...all];
      for (let at = 0; at < ids.length; at += IDS_PER_PAYLOAD) {
        const payload: Payload = { from: this.#peers.nodeId, topic, ids: ids.slice(at, at + IDS_PER_PAYLOAD) };
        await this.#notify(JSON.stringify(payload));
      }
    }
  }

  async #notify(payload: string): Promise<void> {
    const connection = this.#connection;
    try {
      if (connection !== undefined) return await connection.notify(payload);
    } catch {
      this.#drop(connection);
    }
    await this.#shared.notify(CHANNEL, payload);
  }

  #pingLater(connection: Listening): void {
    this.#pinging = setTimeout(() => {
      connection.ping().then(
        () => this.#connection === connection && this.#pingLater(connection),
        () => this.#drop(connection),
      );
    }, this.#pingMs);
  }

  #drop(connection: Listening | undefined): void {
    if (connection === undefined || this.#connection !== connection) return;
    this.#connection = undefined;
    clearTimeout(this.#pinging);
    connection.close();
    if (!this.#isStopped) void this.#reconnect();
  }

  async #reconnect(): Promise<void> {
    this.#log.warn('lost the connection that listens for notifications; polling until it is back');
    while (!this.#isStopped && this.#connection === undefined) {
      await sleep(systemClock, RECONNECT_MS);
      await this.start().catch(() => {});
    }
    if (this.#isStopped) this.#connection?.close();
    else this.emit('gap');
  }
}
