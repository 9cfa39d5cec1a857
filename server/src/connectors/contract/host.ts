import type { Clock } from '../../clock.ts';
import type { CallbackDirectory } from './business.ts';
import type { NetworkEvent } from './events.ts';
import type { NetworkGroup } from './groups.ts';
import type { OutgoingMessage } from './outgoing.ts';

/** A session from the connector's side: its data, and the way to report events. */
export interface SessionHost {
  readonly sessionId: string;
  /**
   * Opaque. On a network inside the server, sessions of the same scope reach one another and sessions of different
   * scopes do not. Other networks ignore it.
   */
  readonly scope: string;
  /** Digits; null until the network has reported the number. */
  readonly phoneNumber: string | null;
  readonly options: Readonly<Record<string, unknown>>;
  readonly clock: Clock;
  readonly log: ConnectorLog;
  /** Data of the connector for the session, such as its credentials: strings by key, deleted with the session. */
  readonly store: SessionStore;
  /** The URL for the network's calls; null if the server does not know its own address (`PUBLIC_URL`). */
  readonly callbackUrl: URL | null;
  /** Reports an event. Resolves once it is stored, and only then may the connector acknowledge it to its network. */
  onEvent(event: NetworkEvent): Promise<void>;
  /** Outgoing messages that the network accepted and has not confirmed as delivered, oldest first. */
  undelivered(): Promise<readonly OutgoingMessage[]>;
  /** `networkId` of the last incoming message of a direct chat; null if there is none. */
  lastIncoming(chatId: string): Promise<string | null>;
  /** The stored groups of the session. */
  groups(): Promise<readonly NetworkGroup[]>;
  /** Digits of the stored contacts that the session has blocked. */
  blocked(): Promise<readonly string[]>;
  /** Left out by hosts that have only one session. */
  readonly callbacks?: CallbackDirectory;
}

/** A session that is not connected. Its store cannot be written. */
export type OfflineSession = Pick<SessionHost, 'options' | 'store' | 'log'> & Required<Pick<SessionHost, 'callbacks'>>;

export interface SessionStore {
  get(key: string): Promise<string | undefined>;
  /** Returns the values of the keys that exist. */
  getMany(keys: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /**
   * Returns all entries whose key starts with the prefix. For the start only, because it reads all data of the session.
   */
  list(prefix: string): Promise<ReadonlyMap<string, string>>;
  set(key: string, value: string): Promise<void>;
  /** Sets the keys that have a value and deletes those that are null, atomically. */
  write(changes: ReadonlyMap<string, string | null>): Promise<void>;
  delete(key: string): Promise<void>;
  clear(): Promise<void>;
}

/**
 * The log of the server. Takes fields and a message that begins with the event, such as `failed to reconnect`. Secrets
 * and the content of messages do not belong into it.
 */
export interface ConnectorLog {
  readonly level: string;
  readonly trace: LogFunction;
  readonly debug: LogFunction;
  readonly info: LogFunction;
  readonly warn: LogFunction;
  readonly error: LogFunction;
  /** Returns a log that adds these fields to each line. */
  child(fields: Readonly<Record<string, unknown>>, options?: { readonly level?: string }): ConnectorLog;
  isLevelEnabled(level: string): boolean;
}

interface LogFunction {
  /** @param fields `err` takes an error */
  (fields: object, message?: string): void;
  (message: string): void;
}
