import { EventEmitter } from 'node:events';
import { settledWithin } from '../async.ts';
import type { Clock } from '../clock.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { MovedError, type Owner } from '../cluster/leases.ts';
import { type Capability, capabilities, capabilityOf } from '../connectors/contract/capabilities.ts';
import type { Connection } from '../connectors/contract/connection.ts';
import type { Connector } from '../connectors/contract/connector.ts';
import type { NetworkEvent } from '../connectors/contract/events.ts';
import type { Database } from '../db/database.ts';
import type { SessionTable } from '../db/schema.ts';
import { AppError, isConnecting } from '../errors.ts';
import { findSession, type SessionRef } from '../messages/store.ts';
import { PresenceLimit } from './presenceLimit.ts';
import { SessionActivity } from './sessionActivity.ts';

interface Pairing {
  readonly qr: string;
  readonly expiresAt: number;
}

/** The state of a session that has, or is opening, a connection in this process. */
export class SessionState implements SessionRef {
  readonly accountId: string;
  readonly sessionId: string;
  readonly connector: Connector;
  connection: Connection | undefined;
  /** Digits. */
  phoneNumber: string | null;
  isConnected = false;
  /** It was connected elsewhere or earlier, and its network has not confirmed the new connection yet. */
  isReturning: boolean;
  /** This node closes or has closed it: it sends nothing more, and an error does not settle a message in flight. */
  isClosing = false;
  /** Another node may own the session: reports of this connection, and outcomes of its sends, must change nothing. */
  isLost = false;
  pairing: Pairing | undefined;
  readonly presences = new PresenceLimit();
  readonly activity = new SessionActivity();
  /** When the network last reported something on this connection. */
  lastEventAt: number | undefined;
  /** The stored `lastEventAt`. */
  notedAt: number | undefined;
  /** The row with whose options it was opened. */
  readonly openedWith: SessionTable;
  readonly #cluster: Cluster;

  constructor(row: SessionTable, connector: Connector, isReturning: boolean, cluster: Cluster) {
    this.openedWith = row;
    this.accountId = row.account_id;
    this.sessionId = row.session_id;
    this.connector = connector;
    this.phoneNumber = row.phone_number;
    this.isReturning = isReturning;
    this.#cluster = cluster;
  }

  get isEnding(): boolean {
    return this.isClosing || this.isLost;
  }

  /** Whether it may send. Once it may not, its errors say nothing about a message. */
  isOpen(): boolean {
    return !this.isEnding && this.#cluster.sessions.owns(this.sessionId) && this.#cluster.isMember();
  }
}

/** A session that is connected in this process and can send. */
export interface LiveSession extends SessionState {
  readonly connection: Connection;
  readonly phoneNumber: string;
}

type OptionalPart = { [K in keyof Connection]-?: undefined extends Connection[K] ? K : never }[keyof Connection];

/** How long a closing session waits for the answers to its last messages. */
const DRAIN_MS = 5000;

interface LiveEvents {
  /** The session can send. */
  connected: [session: LiveSession];
  /** Somebody calls the session. The event of that is stored. */
  call: [session: SessionState, call: Extract<NetworkEvent, { type: 'call' }>];
}

/** The sessions that have a connection in this process. */
export class LiveSessions extends EventEmitter<LiveEvents> {
  readonly #database: Database;
  readonly #cluster: Cluster;
  readonly #clock: Clock;
  readonly #states = new Map<string, SessionState>();
  /** Sessions to open after they were acquired → the batch, because a session can be lost and acquired again. */
  readonly #restoring = new Map<string, object>();
  /** Sessions whose restore waits for earlier work → cancels the next attempt. */
  readonly #postponed = new Map<string, () => void>();
  /** Session → sends that its network has not answered. */
  readonly #inFlight = new Map<string, Set<Promise<unknown>>>();

  constructor({ database, cluster, clock }: { database: Database; cluster: Cluster; clock: Clock }) {
    super();
    this.#database = database;
    this.#cluster = cluster;
    this.#clock = clock;
  }

  add(state: SessionState): void {
    this.#states.set(state.sessionId, state);
  }

  /** Removes it, unless the session has a newer state. */
  remove(state: SessionState): void {
    if (this.#states.get(state.sessionId) === state) this.#states.delete(state.sessionId);
  }

  clear(): SessionState[] {
    const all = [...this.#states.values()];
    this.#states.clear();
    this.#restoring.clear();
    return all;
  }

  states(): Iterable<SessionState> {
    return this.#states.values();
  }

  /** Returns the state of the session with this id, of any account. */
  stateById(sessionId: string): SessionState | undefined {
    return this.#states.get(sessionId);
  }

  /** Returns the session's state; undefined if this process neither has nor opens a connection of it. */
  stateOf({ accountId, sessionId }: SessionRef): SessionState | undefined {
    const state = this.#states.get(sessionId);
    return state?.accountId === accountId ? state : undefined;
  }

  /** Emits `connected` once the connection and the event that it is connected are there, in either order. */
  announce(state: SessionState): void {
    if (isLive(state)) this.emit('connected', state);
  }

  find(session: SessionRef): LiveSession | undefined {
    const state = this.stateOf(session);
    return state !== undefined && isLive(state) ? state : undefined;
  }

  /** @throws {AppError} `session_not_connected`, and the errors of `requireOwner` */
  async require(session: SessionRef): Promise<LiveSession> {
    const early = this.find(session);
    if (early !== undefined) return early;
    await this.requireOwner(session);
    const late = this.find(session);
    if (late !== undefined) return late;
    if (this.#postponed.has(session.sessionId)) throw new AppError('session_unavailable');
    throw await this.#notConnected(session);
  }

  /** @throws {AppError} `session_not_connected`, `not_supported`, and the errors of `requireOwner` */
  async part<K extends OptionalPart>(session: SessionRef, name: K): Promise<NonNullable<Connection[K]>> {
    await this.requireOwner(session);
    const state = this.stateOf(session);
    const connection = state?.connection;
    if (connection === undefined || state?.isReturning) throw await this.#notConnected(session);
    const needed = capabilityOf(name);
    if (needed !== undefined) requireCapability(state, needed);
    const found = connection[name];
    if (found === undefined || found === null) throw new AppError('not_supported');
    // Bound, because callers call a method without its connection.
    return (typeof found === 'function' ? found.bind(connection) : found) as NonNullable<Connection[K]>;
  }

  /**
   * Requires a capability that is only a part of an action, such as one kind of status.
   * @throws {AppError} `session_not_connected`, `not_supported`, and the errors of `requireOwner`
   */
  async requireCapability(session: SessionRef, name: Capability): Promise<void> {
    await this.requireOwner(session);
    const state = this.stateOf(session);
    if (state?.connection === undefined || state.isReturning) throw await this.#notConnected(session);
    requireCapability(state, name);
  }

  /** Whether the connector of a session that this node owns has a capability. */
  supports(session: SessionRef, name: Capability): boolean {
    return this.stateOf(session)?.connector.capabilities?.includes(name) ?? true;
  }

  /**
   * Resolves if this node owns the session, or the session needs no owner.
   * @throws {MovedError} another node owns it
   * @throws {AppError} `session_unavailable` while its owner is dead and no other node has acquired it
   */
  async requireOwner(session: SessionRef): Promise<void> {
    const { sessionId } = session;
    if (this.stateOf(session) !== undefined) return;
    const owner = await this.#cluster.sessions.ownerOf(sessionId);
    if (owner !== 'here' || this.#restoring.has(sessionId))
      this.throwIfElsewhere(owner, await findSession(this.#database.reader, session));
  }

  /** @throws {AppError} the errors of `requireOwner` */
  throwIfElsewhere(owner: Owner, row: SessionTable | undefined): void {
    if (typeof owner === 'object') throw new MovedError();
    const isBeingRestored = row?.wanted === 1 && (owner === 'nobody' || this.#restoring.has(row.session_id));
    if (isBeingRestored) throw new AppError('session_unavailable');
  }

  /** Returns the error with the next step of the caller. */
  async #notConnected(session: SessionRef): Promise<AppError> {
    const state = this.stateOf(session);
    if (state?.isReturning || state?.isConnected)
      // the network reported it before it returned the connection
      return new AppError('session_unavailable', 'The session is reconnecting; try again');
    if (state?.pairing !== undefined)
      return new AppError('session_not_connected', 'The session is waiting to be paired; scan its QR code');
    if (state !== undefined) return isConnecting();
    const row = await findSession(this.#database.reader, session);
    return row?.wanted === 1
      ? new AppError('session_not_connected', 'The session is closing or connecting; try again in a moment')
      : new AppError('session_not_connected');
  }

  /** Marks acquired sessions as about to be opened. The caller calls the returned function after each has been. */
  restoring(sessionIds: readonly string[]): (sessionId: string) => void {
    const batch = {};
    for (const sessionId of sessionIds) this.#restoring.set(sessionId, batch);
    return (sessionId) => {
      if (this.#restoring.get(sessionId) === batch) this.#restoring.delete(sessionId);
    };
  }

  /** Notes that a session connects later. It can be disconnected or deleted, and its messages are queued. */
  postponeRestore(sessionId: string, cancel: () => void): void {
    this.cancelRestore(sessionId);
    this.#postponed.set(sessionId, cancel);
  }

  /** @param only the attempt to cancel; any by default */
  cancelRestore(sessionId: string, only = this.#postponed.get(sessionId)): void {
    if (only === undefined || this.#postponed.get(sessionId) !== only) return;
    only();
    this.#postponed.delete(sessionId);
  }

  cancelRestores(): void {
    for (const sessionId of this.#postponed.keys()) this.cancelRestore(sessionId);
  }

  /** Counts `send` as in flight until it settles. */
  track<T>({ sessionId }: SessionRef, send: Promise<T>): Promise<T> {
    const others = this.#inFlight.get(sessionId) ?? new Set();
    this.#inFlight.set(sessionId, others.add(send));
    const forget = () => {
      others.delete(send);
      if (others.size === 0) this.#inFlight.delete(sessionId);
    };
    send.then(forget, forget);
    return send;
  }

  /** Stops the session from sending. Resolves once its network has answered its last messages, or after 5 s. */
  async drain(state: SessionState): Promise<void> {
    state.isClosing = true;
    const sends = this.#inFlight.get(state.sessionId) ?? [];
    await settledWithin(this.#clock, DRAIN_MS, Promise.allSettled(sends));
  }
}

const isLive = (state: SessionState): state is LiveSession =>
  state.connection !== undefined && state.phoneNumber !== null && state.isConnected;

function requireCapability(state: SessionState | undefined, name: Capability): void {
  const declared = state?.connector.capabilities;
  if (declared === undefined || declared.includes(name)) return;
  throw new AppError('not_supported', `The network does not support this: ${capabilities[name].title}`);
}
