import type { Clock } from '../../../clock.ts';
import { createLookup, type Lookup, type TargetPolicy } from '../../../egress/target.ts';
import { thrownError } from '../../../thrown.ts';
import { type Described, describeError } from '../../queue/outcome.ts';
import type { BrokerRequest } from '../attempt.ts';
import type { BrokerDestination } from '../destination.ts';
import { type Address, type BrokerClient, type BrokerMessage, type Open, OpeningFailed } from './broker.ts';
import type { UnexpectedData } from './inspection.ts';

interface Options {
  readonly open: Open<BrokerDestination>;
  /** The URL, for messages. */
  readonly url: URL;
  readonly address: Address;
  readonly request: BrokerRequest;
  readonly policy: TargetPolicy;
  /** Of the system by default. */
  readonly lookup?: Lookup | undefined;
  readonly timeoutMs: number;
  readonly maxSockets: number;
  readonly clock: Clock;
  /** No new message may be sent on it. Called once. */
  readonly onRetired: () => void;
  /** Its socket is closed, or closing. Called once. */
  readonly onClosed: () => void;
}

/** A connection without messages closes after this time. */
const IDLE_MS = 60_000;

/**
 * A connection to a broker for the messages of one webhook, or of several with the same destination and credentials. It
 * never reconnects: a broken one is retired, and the next attempt opens another one.
 */
export class BrokerConnection {
  /** The times at which the opening reached `lookup`, `connect`, `secureConnect` and `login`. */
  readonly moments = new Map<string, number>();
  readonly #options: Options;
  readonly #opening = new AbortController();
  /** Why it could not be opened, or the open client. */
  readonly #client: Promise<BrokerClient | Described>;
  #open: BrokerClient | undefined;
  #inFlight = 0;
  #isRetired = false;
  #isClosed = false;
  #cancelIdle = () => {};
  #openedAt = 0;
  #refused: UnexpectedData | undefined;

  constructor(options: Options) {
    this.#options = options;
    this.#client = this.#connect();
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  /** Keeps the connection open while an attempt uses it. */
  async use<T>(attempt: () => Promise<T>): Promise<T> {
    this.#inFlight++;
    this.#cancelIdle();
    try {
      return await attempt();
    } finally {
      this.#inFlight--;
      this.#onIdle();
    }
  }

  /**
   * Sends a message. Never rejects, but may stay pending if the broker is silent.
   * @param hasEnded whether the attempt already has an outcome: a timer can be a millisecond early
   */
  async send(message: BrokerMessage, timeoutMs: number, hasEnded: () => boolean): Promise<Described> {
    const { clock } = this.#options;
    const endsAt = clock.elapsed() + timeoutMs;
    const client = await this.#client;
    if (!('publish' in client)) return client;
    const leftMs = Math.ceil(endsAt - clock.elapsed());
    // Later attempts keep the connection open. The retry of this one sends the message.
    if (leftMs <= 0 || hasEnded()) return ['timeout', null, this.describeSilence(timeoutMs)];
    // Without a timer: the message that notices it is the last one.
    if (clock.elapsed() - this.#openedAt >= (client.maxAgeMs ?? Infinity)) this.retire();
    const described = await client.publish(message, leftMs);
    return described[0] === 'ok' || this.#refused === undefined ? described : this.#describeRefusal(this.#refused);
  }

  /** Why the broker did not confirm a message in time. */
  describeSilence(timeoutMs: number): string {
    const { host } = this.#options.url;
    const seconds = `${timeoutMs / 1000} s`;
    if (this.#open !== undefined) {
      const hint = this.#open.hint === undefined ? '' : `. ${this.#open.hint}`;
      return `${host} did not confirm the message within ${seconds}; it may have stored it${hint}`;
    }
    if (!this.moments.has('connect')) return `No connection to ${host} within ${seconds}`;
    return `${host} accepted the connection, but did not complete the login within ${seconds}`;
  }

  /** Sends no more messages. Closes once nothing is in flight, or at once. */
  retire(isUrgent = false): void {
    if (!this.#isRetired) {
      this.#isRetired = true;
      this.#cancelIdle();
      this.#options.onRetired();
    }
    if (this.#inFlight === 0 || isUrgent) this.#close();
  }

  async #connect(): Promise<BrokerClient | Described> {
    const { open, address, request, policy, lookup, timeoutMs, maxSockets, url, clock } = this.#options;
    const { destination, credentials } = request;
    const { signal } = this.#opening;
    const onLost = () => this.retire();
    try {
      const client = await open({
        address,
        destination,
        credentials,
        policy,
        lookup: createLookup(policy, lookup),
        timeoutMs,
        maxSockets,
        signal,
        moments: this.moments,
        onLost,
        onRefused: (error) => {
          this.#refused ??= error;
        },
      });
      this.moments.set('login', performance.now());
      this.#open = client;
      if (signal.aborted) client.close();
      this.#openedAt = clock.elapsed();
      return client;
    } catch (error) {
      this.retire();
      if (this.#refused !== undefined) return this.#describeRefusal(this.#refused);
      return error instanceof OpeningFailed ? error.described : describeError(thrownError(error), url, timeoutMs);
    }
  }

  #describeRefusal({ message }: UnexpectedData): Described {
    return ['protocol', null, `${this.#options.url.host} was disconnected because ${message}`];
  }

  #onIdle(): void {
    if (this.#inFlight > 0) return;
    if (this.#isRetired) this.#close();
    else this.#cancelIdle = this.#options.clock.after(IDLE_MS, () => this.retire());
  }

  #close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#options.onClosed();
    if (this.#open === undefined) this.#opening.abort();
    else this.#open.close();
  }
}
