import type { Clock } from '../../clock.ts';
import type { MessageType } from '../../events/networkTypes.ts';
import type { CallbackAnswer, CallbackRequest } from './callbacks.ts';
import type { Capability } from './capabilities.ts';
import type { Connection } from './connection.ts';
import type { ConnectorLog, OfflineSession, SessionHost, SessionStore } from './host.ts';
import type { MediaRules } from './media.ts';
import type { NetworkChat } from './messageKey.ts';
import type { NetworkPerson } from './people.ts';

/*
 * The interface between the product and a network. A connector knows only its network: no database, no webhooks, no
 * HTTP server. It gets a host per session, to which it reports events, and returns a connection, through which the
 * product acts.
 *
 * The package `@switchboard/connector-kit` publishes this folder, `errors.ts` and the files that they import.
 */

/** How long the file of a message may take to or from its network, in ms. The server waits for `MAX_SEND_MS`. */
export const FILE_MS = 5 * 60_000;

/** The export of a package that `CONNECTORS` names. */
export interface ConnectorModule {
  createConnector(tools: ConnectorTools): Connector | Promise<Connector>;
}

export interface ConnectorTools {
  readonly clock: Clock;
  readonly log: ConnectorLog;
}

/** JSON Schema of an object. */
export interface OptionsSchema {
  readonly type: 'object';
  /**
   * One JSON Schema for each option. The dashboard shows its `title` or name, and its `description`. With `writeOnly`
   * it is a secret.
   */
  readonly properties: Readonly<Record<string, object>>;
  readonly required?: readonly string[];
  /** False rejects options that are not in `properties`. */
  readonly additionalProperties?: boolean | object;
}

/** A network for sessions. */
export interface Connector {
  /** Its name in the API, such as `sandbox`: lower-case letters, digits and dashes. */
  readonly name: string;
  /**
   * JSON Schema of a session's `options`. An option with the annotation `writeOnly` is a secret: the API accepts it and
   * never returns it.
   */
  readonly options: OptionsSchema;
  /**
   * Validates rules that the schema of the options cannot express, without any request.
   * @throws {AppError} `validation_failed` naming the option, such as `options.proxy`
   */
  checkOptions?(options: Readonly<Record<string, unknown>>): void;
  /** The message types that it can send. */
  readonly messageTypes: readonly MessageType[];
  /**
   * The features that it supports besides sending. Callers get `not_supported` for all else, even if a connection has
   * the part. Left out, the parts of a connection decide.
   */
  readonly capabilities?: readonly Capability[];
  /**
   * Whether it reports a receipt without waiting until the last event is stored. Receipts then wait up to a second for
   * other changes with which they are stored. Otherwise each is stored immediately.
   */
  readonly reportsTogether?: boolean;
  /** The files that apps of the network show. Left out, files are sent as they are. */
  readonly mediaRules?: MediaRules;
  /** The network's own address of a chat, such as a JID. By default the id of the chat. */
  addressOf?(chat: NetworkChat): string;
  /**
   * The id that a message of the session has on the network, if the connector derives it from the `networkId` with
   * which it was sent. By default unknown, unless `send` has returned another one.
   */
  messageIdOf?(networkId: string): string;
  /**
   * Looks up a person in the data that the connector keeps for a session. By default nothing is known besides the
   * address of the chat. Works without a connection.
   * @param digits a phone number, or a placeholder (see `isPlaceholder`)
   */
  personOf?(digits: string, store: Pick<SessionStore, 'get'>): Promise<NetworkPerson>;
  /**
   * Stores a user id that a caller passes, so that the network can reach the person by the placeholder of the id (see
   * `placeholderOfUserId`). Works without a connection. Left out, the network has no such ids.
   * @returns whether the network did not know the id
   */
  nameUser?(userId: string, store: Pick<SessionStore, 'get' | 'set'>): Promise<boolean>;
  /** Whether the network calls us: its sessions have a callback URL, and its connections implement `takeCallback`. */
  readonly takesCallbacks?: true;
  /** Whether its numbers may write to strangers within the network's own limits, so that new chats are no risk. */
  readonly isForBusinesses?: true;
  /**
   * Starts a session's connection. Resolves once the attempt has started; its outcome is reported to `host.onEvent`.
   * @throws {AppError} an error that the caller of `connect` can act on, such as `phone_number_in_use`
   */
  open(host: SessionHost): Promise<Connection>;
  /**
   * Answers a call of the network for a session that is not connected, without a change. It must verify the call as
   * `takeCallback` does, and answer 409 to what the session itself needs, so that the network repeats that. Without it,
   * the server answers 409 to every call.
   */
  takeOfflineCallback?(request: CallbackRequest, session: OfflineSession): Promise<CallbackAnswer>;
  /** Releases the number of a session that was logged out or deleted. */
  forget?(session: {
    readonly sessionId: string;
    /** Digits; null if the network never reported the number. */
    readonly phoneNumber: string | null;
    /** See `SessionHost.scope`. */
    readonly scope: string;
  }): Promise<void>;
}
