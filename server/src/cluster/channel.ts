import { sleep } from '../async.ts';
import { systemClock } from '../clock.ts';
import type { Listening, Shared } from '../db/dialect.ts';
import type { Log } from '../log.ts';
import type { Signals, Topic } from './signals.ts';

const CHANNEL = 'switchboard';
/** Signals of this long go together: many commits then cost one notification. */
const GATHER_MS = 5;
const RECONNECT_MS = 500;
/** How often to ask whether the connection lives: with the deadline of the answer, a dead one is noticed in 3.5 s. */
const PING_MS = 2000;
/** PostgreSQL takes payloads of less than 8,000 bytes. */
const IDS_PER_PAYLOAD = 150;

interface Payload {
  readonly from: string;
  readonly topic: Topic;
  readonly ids: readonly string[];
}

/**
 * Signals over LISTEN and NOTIFY, on one connection that listens and notifies. It is asked again and again whether it
 * lives, since one that is half open is as quiet as one on which nothing happens. Without it signals leave by the pool.
 */
export class Channel implements Signals {
  readonly #shared: Shared;
  readonly #nodeId: string;
  readonly #log: Log;
  readonly #pingMs: number;
  readonly #listeners = new Map<Topic, ((id: string) => void)[]>();
  readonly #gapListeners: (() => void)[] = [];
  #waiting = new Map<Topic, Set<string>>();
  #gathering: NodeJS.Timeout | undefined;
  #flushed = Promise.resolve();
  #connection: Listening | undefined;
  #pinging: NodeJS.Timeout | undefined;
  #isStopped = false;

  constructor(shared: Shared, nodeId: string, log: Log, { pingMs = PING_MS } = {}) {
    this.#shared = shared;
    this.#nodeId = nodeId;
    this.#log = log;
    this.#pingMs = pingMs;
  }

  /** Whether this node hears at once what others tell; otherwise it finds out by polling. */
  get isListening(): boolean {
    return this.#connection !== undefined;
  }

  async start(): Promise<void> {
    await this.#connect();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#pinging);
    await this.#flush(); // a node that misses it finds out by polling
    this.#connection?.close();
  }

  send(topic: Topic, id: string): void {
    const ids = this.#waiting.get(topic) ?? new Set();
    this.#waiting.set(topic, ids.add(id));
    this.#gathering ??= setTimeout(() => void this.#flush(), GATHER_MS);
  }

  on(topic: Topic, listener: (id: string) => void): void {
    this.#listeners.set(topic, [...(this.#listeners.get(topic) ?? []), listener]);
  }

  onGap(listener: () => void): void {
    this.#gapListeners.push(listener);
  }

  /** Signals may have been missed, or heard when nothing could be done about them. */
  noteGap(): void {
    for (const listener of this.#gapListeners) listener();
  }

  #hear(text: string): void {
    const { from, topic, ids } = this.#parse(text);
    if (from === this.#nodeId) return;
    for (const listener of this.#listeners.get(topic) ?? []) for (const id of ids) listener(id);
  }

  /** Anybody who may connect to the database can notify. */
  #parse(text: string): Payload {
    try {
      return JSON.parse(text) as Payload;
    } catch {
      this.#log.warn('ignored an unknown notification');
      return { from: this.#nodeId, topic: 'nodes', ids: [] };
    }
  }

  /** Sends what waits, after what is being sent. */
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
        const payload: Payload = { from: this.#nodeId, topic, ids: ids.slice(at, at + IDS_PER_PAYLOAD) };
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

  async #connect(): Promise<void> {
    const connection = await this.#shared.listen(
      CHANNEL,
      (payload) => this.#hear(payload),
      () => this.#drop(connection),
    );
    this.#connection = connection;
    this.#pingLater(connection);
  }

  #pingLater(connection: Listening): void {
    this.#pinging = setTimeout(() => {
      connection.ping().then(
        () => this.#connection === connection && this.#pingLater(connection),
        () => this.#drop(connection),
      );
    }, this.#pingMs);
  }

  /** Gives up a connection that broke or does not answer. */
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
      await this.#connect().catch(() => {});
    }
    if (this.#isStopped) this.#connection?.close();
    else this.noteGap();
  }
}
