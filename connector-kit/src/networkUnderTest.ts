import type { CallbackAnswer, CallbackRequest } from '../../server/src/connectors/contract/callbacks.ts';
import type { Connection } from '../../server/src/connectors/contract/connection.ts';
import type { ConnectorModule } from '../../server/src/connectors/contract/connector.ts';
import type { FakeHost } from './fakeHost.ts';

/** A connector, and a fake of the network behind it. */
export interface NetworkUnderTest {
  readonly createConnector: ConnectorModule['createConnector'];
  /** Starts a fake of the network. Each case has its own. */
  start(): FakeNetwork | Promise<FakeNetwork>;
  /** The parts that the network lacks, each with the reason. Their cases are left out. */
  readonly gaps?: Readonly<Partial<Record<Gap, string>>>;
  /** How long a case waits for an act of the connector. Default 10 s. */
  readonly patienceMs?: number;
}

export type Gap =
  /** The network does not tell whether a recipient exists. */
  | 'nobody'
  /** The network never sends an event again, even if it was not acknowledged. */
  | 'repeats'
  | 'receipts'
  /** The network keeps no connection that could be cut. */
  | 'outages'
  /** The network sends a message again if it is asked twice, because it takes no id for it. */
  | 'sendingOnce';

/** The other side of a session, controlled by the suite. */
export interface FakeNetwork {
  /** Options of a session with which the connector reaches this fake. */
  readonly options: Readonly<Record<string, unknown>>;
  /**
   * The callback URL that a session is told. Null as on a server that does not know its address, which is the default.
   */
  readonly callbackUrl?: URL | null;
  /** Digits of a person to whom the session can write. */
  readonly somebody: string;
  /** Digits to which nobody belongs. */
  readonly nobody?: string;
  /** Does what a person has to do before the session connects, such as scan its QR code. */
  link?(session: TestSession): void | Promise<void>;
  /** Returns the texts that the person has received, oldest first. */
  received(): readonly string[] | Promise<readonly string[]>;
  /**
   * Lets the person write to the session. With the id of an earlier message, it is that message again.
   * @returns whether the connector acknowledged the message, after which the network forgets it
   */
  write(session: TestSession, message: { readonly id: string; readonly text: string }): Promise<boolean>;
  /** Reports the status of a message that the session sent, by the id under which the network knows it. */
  confirm?(session: TestSession, networkId: string, status: 'delivered' | 'read'): Promise<void>;
  /** Refuses all messages from now on, as a network does that is overloaded or has blocked the session. */
  refuse(): void;
  /** Accepts requests from now on, and answers none. */
  hang(): void;
  /** Ends the connection of the session, and refuses new ones. */
  cut?(session: TestSession): void | Promise<void>;
  /** Accepts connections again. */
  restore?(session: TestSession): void | Promise<void>;
  stop(): void | Promise<void>;
}

/** A session that a case has opened. */
export interface TestSession {
  readonly host: FakeHost;
  readonly connection: Connection;
  /**
   * Calls the session's callback URL, as the network does.
   * @returns the answer of the connector; 500 if it throws
   */
  callBack(
    request: Partial<Omit<CallbackRequest, 'body'>> & { readonly body?: string | Buffer },
  ): Promise<CallbackAnswer>;
}
