import type { createLookup, TargetPolicy } from '../../../egress/target.ts';
import type { Described } from '../../queue/outcome.ts';
import type { BrokerDestination, Credentials } from '../destination.ts';
import type { UnexpectedData } from './inspection.ts';

/* The interface of a message broker. Each broker has one file beside this one, which loads its client. */

export interface BrokerMessage {
  /** Id of the event, the same on every attempt. */
  readonly id: string;
  /** Event type. */
  readonly type: string;
  readonly conversation: string;
  /** Those of an HTTP delivery, by lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** Where to connect. */
export interface Address {
  /** Name or literal address, without brackets. */
  readonly host: string;
  readonly port: number;
  readonly isSecure: boolean;
  /** Path of the URL without its slash, percent-encoded. */
  readonly path: string;
}

export interface Opening<D extends BrokerDestination = BrokerDestination> {
  readonly address: Address;
  readonly destination: D;
  readonly credentials: Credentials;
  /** For addresses that the broker names. */
  readonly policy: TargetPolicy;
  /** Resolves names, and refuses those with addresses that the policy does not allow. */
  readonly lookup: ReturnType<typeof createLookup>;
  /** Limit for single steps of the client. The whole opening is limited by `signal`. */
  readonly timeoutMs: number;
  /** Sockets that the client may have open. All but Kafka's have one. */
  readonly maxSockets: number;
  /** Destroys the socket, whatever the client is doing. */
  readonly signal: AbortSignal;
  /** Filled with the times at which the socket reached `lookup`, `connect` and `secureConnect`. */
  readonly moments: Map<string, number>;
  /** The connection is no longer usable. May be called several times, also after `close`. */
  readonly onLost: () => void;
  /** The broker sent what it had no reason to send. The connection is being destroyed. */
  readonly onRefused: (error: UnexpectedData) => void;
}

/** An open connection. Messages are confirmed one by one, in any order. */
export interface BrokerClient {
  /**
   * Resolves once the broker has confirmed or refused the message, or the connection was lost. Never rejects.
   * @param timeoutMs after which nobody waits for the result
   */
  publish(message: BrokerMessage, timeoutMs: number): Promise<Described>;
  /** A sentence that may explain a missing confirmation. */
  readonly hint?: string | undefined;
  /** The first message after this time is the last one on the connection. */
  readonly maxAgeMs?: number;
  /** Closes the connection, within a second. */
  close(): void;
}

/** An expected failure to open a connection. Other errors are those of the socket. */
export class OpeningFailed extends Error {
  readonly described: Described;

  constructor(described: Described) {
    super(described[2]);
    this.described = described;
  }
}

/** Loads the client and opens a connection. @throws {OpeningFailed} and the errors of the socket */
export type Open<D extends BrokerDestination> = (opening: Opening<D>) => Promise<BrokerClient>;

export const ok = (message: string): Described => ['ok', null, message];

export const refused = (message: string): Described => ['client_error', null, message];

/** The broker does not accept messages of this size. */
export const tooLarge = (message: string): Described => ['client_error', null, message, true];

/** The broker cannot store the message now. */
export const unavailable = (message: string): Described => ['server_error', null, message];

/** A text of the broker as part of a sentence: one line of harmless characters. */
export function quoted(text: unknown): string {
  return String(text)
    .replace(/[^\P{C}]+/gu, ' ')
    .slice(0, 300);
}
