import { once } from 'node:events';
import { isDeepStrictEqual } from 'node:util';
import { endedWithin, KeyedQueue, settledWithin, withTimeout } from '../async.ts';
import type { LeaseWorker } from '../cluster/leases.ts';
import type { Connection } from '../connectors/contract/connection.ts';
import type { Connector } from '../connectors/contract/connector.ts';
import type { Tx } from '../db/commit.ts';
import { query } from '../db/query.ts';
import type { SessionTable } from '../db/schema.ts';
import { AppError, isBeingDeleted } from '../errors.ts';
import type { Deletion, Deletions } from '../jobs/deletions.ts';
import { finishQueue } from '../messages/messages/queueFailure.ts';
import type { PairingCode } from '../messages/sessionInbox.ts';
import { findSession, type SessionRef } from '../messages/store.ts';
import { beginDeletion, deleteSessionRows, deletionOf } from './deletion.ts';
import { finishEarlierWork } from './earlierWork.ts';
import { countByRisk } from './healthStore.ts';
import { LastHeard } from './lastHeard.ts';
import { type LiveSessions, SessionState } from './liveSessions.ts';
import { readOptions } from './options.ts';
import { People } from './people.ts';
import { SessionConnectors } from './sessionConnectors.ts';
import { SessionHealth } from './sessionHealth.ts';
import { type HostOptions, SessionHosts } from './sessionHosts.ts';
import { openingFailure, SessionRestores, sessionById } from './sessionRestores.ts';
import { SoleSessions } from './soleSessions.ts';
import { storeOf } from './store.ts';

/** How long a stop waits for sessions that are being opened or closed. */
const STOP_MS = 10_000;
/** How long a deletion waits for the network to log the session out. */
const LOGOUT_MS = 5000;
/** How long a caller waits for a deletion, which continues afterwards. */
const DELETION_MS = 10_000;

interface Options extends HostOptions {
  readonly connectors: readonly Connector[];
  readonly deletions: Deletions;
}

/** Opens and closes connections when accounts ask for it, and when this node acquires or releases sessions. */
export class Sessions implements LeaseWorker {
  /** By name; each has the schema of its options. */
  readonly connectors: ReadonlyMap<string, Connector>;
  readonly connectorsOf: SessionConnectors;
  readonly people: People;
  readonly sole: SoleSessions;
  readonly #options: Options;
  readonly #live: LiveSessions;
  readonly #hosts: SessionHosts;
  readonly #lastHeard: LastHeard;
  readonly #health: SessionHealth;
  /** Serializes changes of a session's connection, which would otherwise undo each other. */
  readonly #turns = new KeyedQueue();
  readonly #restores: SessionRestores;
  #isStopped = false;

  constructor(options: Options) {
    const { database, cluster, connectors, live, clock } = options;
    this.#options = options;
    this.#live = live;
    this.connectors = new Map(connectors.map((connector) => [connector.name, connector]));
    this.connectorsOf = new SessionConnectors(database.reader, this.connectors);
    this.people = new People(database, this.connectorsOf);
    this.sole = new SoleSessions(database.reader, clock);
    this.#lastHeard = new LastHeard(options);
    this.#health = new SessionHealth(options);
    this.#hosts = new SessionHosts(options, this.#lastHeard, this.#health);
    const open = (row: SessionTable, isReturning: boolean) => this.#open(row, isReturning);
    this.#restores = new SessionRestores({ ...options, turns: this.#turns, open });
    cluster.on('lost', () => this.#dropAll());
    options.deletions.handle('session', (deletion, _isResumed, complete) => this.#delete(deletion, complete));
  }

  start(): void {
    this.#lastHeard.start();
    this.#health.start();
  }

  /** Closes every connection without emitting events, because the sessions come back with the server. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#restores.stop();
    await this.#lastHeard.stop();
    await this.#health.stop();
    await Promise.all(this.#live.clear().map((state) => this.#release(state)));
    // A session that opens or closes may still have a connection. The next owner must not connect it at the same time.
    await settledWithin(this.#options.clock, STOP_MS, this.#turns.idle());
    await this.#options.cluster.sessions.releaseAll();
  }

  onAcquired(sessionIds: readonly string[]): Promise<void> {
    return this.#restores.restoreAll(sessionIds);
  }

  /** Closes the session, because another node will own it. Resolves once the events that it reported are stored. */
  onReleasing(sessionId: string): Promise<void> {
    return this.#turns.run(sessionId, async () => {
      this.#live.cancelRestore(sessionId);
      const state = this.#live.stateById(sessionId);
      if (state === undefined) return;
      this.#live.remove(state);
      await this.#release(state);
    });
  }

  /**
   * Connects the session, or does nothing if it is connected or connecting with its present options. Resolves once the
   * attempt has started or, on a network that answers within seconds, once it has ended.
   * @param signal ends the wait
   * @throws {AppError} the network's error, and the errors of `LiveSessions.requireOwner`
   */
  async connect(session: SessionRef, signal: AbortSignal): Promise<void> {
    await this.#turns.run(session.sessionId, () => this.#connect(session));
    await this.#attemptOf(session, signal);
  }

  /**
   * Connects a live session again if its options have changed since it was opened, like `connect`. Returns false for
   * other sessions, which use the new options when they connect.
   */
  async applyOptions(session: SessionRef, signal: AbortSignal): Promise<boolean> {
    const { isLive, isReopened } = await this.#turns.run(session.sessionId, async () => {
      const state = this.#live.stateOf(session);
      if (state === undefined) return { isLive: false, isReopened: false };
      return { isLive: true, isReopened: await this.#reopenIfChanged(state) };
    });
    if (isReopened) await this.#attemptOf(session, signal);
    return isLive;
  }

  /**
   * Closes the session's connection and opens it again, like `connect`. Does nothing more if it has been opened since
   * the call, so concurrent calls restart it once.
   * @throws {AppError} `session_state` if the session is not linked, and the errors of `connect`
   */
  async restart(session: SessionRef, signal: AbortSignal): Promise<void> {
    const before = this.#live.stateOf(session)?.connection;
    await this.#turns.run(session.sessionId, async () => {
      const { database } = this.#options;
      if (this.#isStopped) throw new AppError('shutting_down');
      const state = this.#live.stateOf(session);
      if (state !== undefined && state.connection !== before) return;
      const row = await findSession(database.reader, session);
      if (row === undefined) throw new AppError('not_found', 'The session does not exist');
      if (row.deleting_at !== null) throw isBeingDeleted(session.sessionId);
      if (state !== undefined) return this.#reopen(state, row, 'The account restarted the session');
      if (row.status === 'logged_out' || row.status === 'created')
        throw new AppError('session_state', `The session is not linked (${row.status}); connect it to link it`);
      await this.#connect(session);
    });
    await this.#attemptOf(session, signal);
  }

  disconnect(session: SessionRef): Promise<void> {
    return this.#turns.run(session.sessionId, async () => {
      const connection = await this.#retire(session);
      if (connection !== undefined) {
        await connection.close().catch(() => {});
        this.#requireWritable(session);
      }
      await this.#end(session, 'disconnected', 'The account disconnected the session');
    });
  }

  /** Resolves when the queued messages have failed too, or after 10 s, while that continues. */
  async logout(session: SessionRef): Promise<void> {
    const { clock, deletions } = this.#options;
    await this.#turns.run(session.sessionId, async () => {
      const connection = await this.#retire(session);
      if (connection !== undefined) {
        await connection.logout();
        this.#requireWritable(session);
      }
      await this.#freeNumber(session);
      await storeOf(this.#options.database, session.sessionId).clear();
      await this.#end(session, 'logged_out', 'The account logged the session out');
    });
    // It is logged and repeated if it fails.
    await settledWithin(clock, DELETION_MS, finishQueue(deletions, session));
  }

  /**
   * Deletes a session for good: marks it first, so that nothing connects it again, logs it out if its network answers
   * in time, releases its number, and deletes its rows. Resolves when that is done, or after 10 s, while it continues.
   */
  async delete(session: SessionRef): Promise<void> {
    const { database, deletions, clock } = this.#options;
    await this.#live.requireOwner(session);
    await database.commit((tx) => beginDeletion(tx, deletions, session, clock.now()), session.sessionId);
    await endedWithin(clock, DELETION_MS, deletions.run(deletionOf(session)));
  }

  /** Handles recorded deletions of sessions. */
  async #delete({ accountId, resourceId }: Deletion, complete: (tx: Tx) => Promise<void>): Promise<void> {
    const { database, deletions } = this.#options;
    const session = { accountId, sessionId: resourceId };
    if ((await findSession(database.reader, session)) !== undefined) await this.#forget(session);
    await deleteSessionRows(database, session, complete, () => deletions.isStopped);
    this.sole.forget(accountId);
  }

  /** Logs out a session that is being deleted, if its network answers in time, and releases its number. */
  #forget(session: SessionRef): Promise<void> {
    return this.#turns.run(session.sessionId, async () => {
      const connection = await this.#retire(session);
      // Before the network reports the end with its own reason.
      await this.#options.inbox.end(session, 'disconnected', 'The account deleted the session');
      if (connection !== undefined) await this.#logoutInTime(session, connection);
      await this.#freeNumber(session);
      await this.#options.cluster.sessions.release(session.sessionId);
    });
  }

  countByStatus(): Promise<{ status: string; count: number }[]> {
    return statuses.all(this.#options.database.reader, {});
  }

  /** Counts the connected sessions whose risk is not low. */
  countByRisk(): Promise<{ risk: string; count: number }[]> {
    return countByRisk.all(this.#options.database.reader, {});
  }

  /**
   * Finds a session of any account, because the callback of a network has no credential.
   * @throws {AppError} `not_found`
   */
  async find(sessionId: string): Promise<SessionRef> {
    const state = this.#live.stateById(sessionId);
    if (state !== undefined) return { accountId: state.accountId, sessionId };
    const row = await sessionById.first(this.#options.database.reader, { sessionId });
    if (row === undefined) throw new AppError('not_found', 'The session does not exist');
    return { accountId: row.account_id, sessionId };
  }

  /** Emits the code that a person enters on the phone. */
  announcePairingCode(session: SessionRef, code: PairingCode): Promise<void> {
    return this.#options.inbox.pairingCode(session, code);
  }

  async #connect(session: SessionRef): Promise<void> {
    const { database, cluster, inbox } = this.#options;
    if (this.#isStopped) throw new AppError('shutting_down');
    const state = this.#live.stateById(session.sessionId);
    if (state !== undefined) {
      if (!(await this.#reopenIfChanged(state))) state.connection?.retry?.();
      return;
    }
    const row = await findSession(database.reader, session);
    if (row === undefined) throw new AppError('not_found', 'The session does not exist');
    if (row.deleting_at !== null) throw isBeingDeleted(session.sessionId);
    const owner = await cluster.sessions.acquire(session.sessionId);
    this.#live.throwIfElsewhere(owner, row);
    if (owner !== 'here') throw new AppError('session_unavailable', 'No node accepts sessions right now; try again');
    await this.#finishEarlierWork(session).catch(async (error) => {
      if (row.wanted === 0) await cluster.sessions.release(session.sessionId);
      throw error;
    });
    // From now until `inbox.end`, the owner of the session connects it, even after it moves.
    const isThere = await database.commit((tx) => markWanted.run(tx, session), session.sessionId);
    if (isThere === 0) throw isBeingDeleted(session.sessionId);
    await inbox.note(session, 'connecting', null);
    try {
      await this.#open(row, false);
      this.#live.stateById(session.sessionId)?.connection?.retry?.();
    } catch (error) {
      await this.#end(session, 'disconnected', openingFailure(error));
      throw error;
    }
  }

  /** Waits outside of the queue, so that a disconnect need not wait for the attempt. */
  async #attemptOf(session: SessionRef, signal: AbortSignal): Promise<void> {
    const attempt = this.#live.stateOf(session)?.connection?.attempt;
    if (attempt !== undefined && !signal.aborted) await Promise.race([attempt, once(signal, 'abort')]);
  }

  /**
   * Closes the session and opens it with its present options. Returns whether they have changed since it was opened.
   */
  async #reopenIfChanged(state: SessionState): Promise<boolean> {
    const row = await findSession(this.#options.database.reader, state);
    if (row === undefined || !this.#haveOptionsChanged(state.openedWith, row)) return false;
    await this.#reopen(state, row, 'The options of the session changed');
    return true;
  }

  /** Closes the session and opens it as `row` states. Queued messages wait. */
  async #reopen(state: SessionState, row: SessionTable, reason: string): Promise<void> {
    await this.#finishEarlierWork(state);
    const wasConnected = state.isConnected || state.isReturning;
    const connection = await this.#retire(state);
    await connection?.close().catch(() => {});
    this.#requireWritable(state);
    await this.#options.inbox.note(state, 'connecting', reason);
    try {
      await this.#open(row, wasConnected);
    } catch (error) {
      await this.#end(state, 'disconnected', openingFailure(error));
      throw error;
    }
  }

  #finishEarlierWork({ sessionId }: SessionRef): Promise<void> {
    const { clock, deletions } = this.#options;
    return finishEarlierWork(clock, deletions, sessionId);
  }

  #haveOptionsChanged(before: SessionTable, after: SessionTable): boolean {
    const { seal } = this.#options.database;
    return before.options !== after.options && !isDeepStrictEqual(readOptions(seal, before), readOptions(seal, after));
  }

  async #open(row: SessionTable, isReturning: boolean): Promise<void> {
    const connector = this.connectors.get(row.connector);
    if (connector === undefined)
      throw new AppError('not_supported', `This server has no connector "${row.connector}"; add it to CONNECTORS`);
    // If the session has moved since it was acquired, its next owner opens it.
    if (this.#isStopped || !this.#options.cluster.sessions.mayWrite(row.session_id)) return;
    const state = new SessionState(row, connector, isReturning, this.#options.cluster);
    this.#live.add(state);
    let connection: Connection;
    try {
      connection = await connector.open(this.#hosts.of(state, row));
    } catch (error) {
      this.#live.remove(state);
      if (state.isEnding) return; // its next owner opens it
      throw error;
    }
    // While it was being opened there was nothing to close.
    if (state.isEnding) return connection.close().catch(() => {});
    state.connection = connection;
    this.#live.announce(state);
  }

  /** Resolves once the session has drained and the events that it reported are stored. */
  async #release(state: SessionState): Promise<void> {
    await this.#live.drain(state);
    await state.connection?.close().catch(() => {});
    await this.#lastHeard.keep(state);
    await this.#health.keep(state);
    // runs after all queued work of the session
    await this.#options.database.commit(async () => {}, state.sessionId).catch(() => {});
    state.isLost = true;
  }

  /** Closes all connections without storing anything, because other nodes may already own the sessions. */
  #dropAll(): void {
    this.#live.cancelRestores();
    for (const state of this.#live.clear()) {
      state.isLost = true;
      state.connection?.close().catch(() => {});
    }
  }

  /**
   * Starts ending a session: it sends nothing more.
   * @throws {AppError} `session_unavailable` if another node has acquired it meanwhile, and the errors of
   * `requireOwner`
   */
  async #retire(session: SessionRef): Promise<Connection | undefined> {
    await this.#live.requireOwner(session);
    this.#live.cancelRestore(session.sessionId);
    const state = this.#live.stateOf(session);
    if (state === undefined) return undefined;
    this.#live.remove(state);
    await this.#lastHeard.keep(state);
    await this.#health.keep(state);
    await this.#live.drain(state);
    // Receipts of its last messages may have come meanwhile.
    await this.#lastHeard.keep(state);
    this.#requireWritable(session);
    return state.connection;
  }

  /** @throws {AppError} `session_unavailable` if another node may own the session: nothing of it must be stored */
  #requireWritable({ sessionId }: SessionRef): void {
    if (!this.#options.cluster.sessions.mayWrite(sessionId)) throw new AppError('session_unavailable');
  }

  async #end(session: SessionRef, status: 'disconnected' | 'logged_out', reason: string): Promise<void> {
    await this.#options.inbox.end(session, status, reason);
    await this.#options.cluster.sessions.release(session.sessionId);
  }

  async #logoutInTime({ sessionId }: SessionRef, connection: Connection): Promise<void> {
    const { clock, log } = this.#options;
    try {
      await withTimeout(clock, LOGOUT_MS, connection.logout(), () => new Error('the network did not answer'));
    } catch (error) {
      log.warn(
        { err: error, session: sessionId },
        'failed to log out a deleted session; its network may still list it',
      );
      await connection.close().catch(() => {});
    }
  }

  async #freeNumber(session: SessionRef): Promise<void> {
    const row = await findSession(this.#options.database.reader, session);
    if (row === undefined) throw new AppError('not_found', 'The session does not exist');
    const { session_id: sessionId, phone_number: phoneNumber, account_id: accountId } = row;
    const scope = this.#options.scopeOf(accountId);
    await this.connectors.get(row.connector)?.forget?.({ sessionId, phoneNumber, scope });
  }
}

const statuses = query((db, _: object) =>
  db
    .selectFrom('sessions')
    .select(({ fn }) => ['status', fn.countAll<number>().as('count')])
    .groupBy('status'),
);

const markWanted = query((db, p: SessionRef) =>
  db
    .updateTable('sessions')
    .set({ wanted: 1 })
    .where('account_id', '=', p.accountId)
    .where('session_id', '=', p.sessionId)
    .where('deleting_at', 'is', null),
);
