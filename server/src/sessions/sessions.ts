import { once } from 'node:events';
import type { Clock } from '../clock.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { ElsewhereError } from '../cluster/forward.ts';
import type { Holder } from '../cluster/leases.ts';
import type {
  CallbackAnswer,
  CallbackRequest,
  Connection,
  Connector,
  NetworkEvent,
  OutgoingMessage,
  SessionHost,
} from '../connectors/connector.ts';
import type { Database } from '../db/database.ts';
import type { Queryable } from '../db/dialect.ts';
import { query } from '../db/query.ts';
import type { SessionTable } from '../db/schema.ts';
import { AppError, isAway } from '../errors.ts';
import { type Log, redactSecrets } from '../log.ts';
import type { Media } from '../media/media.ts';
import { type StoredMedia, storedMedia } from '../messages/content.ts';
import { readGroups } from '../messages/groupStore.ts';
import type { Inbox } from '../messages/inbox.ts';
import { findSession, lastIncoming, type SessionRef } from '../messages/store.ts';
import { callbackPath } from './callbacks.ts';
import { createLastHeard, type Heard } from './lastHeard.ts';
import { readOptions, secretsOf } from './options.ts';
import { createSoleSessions, type SoleSessions } from './soleSession.ts';
import { storable } from './storable.ts';
import { storeOf } from './store.ts';

export interface Pairing {
  readonly qr: string;
  readonly expiresAt: number;
}

/** The sessions that live in this process, and their connections. */
export interface Sessions extends SoleSessions {
  /** The names of the networks, and the schema of their options. */
  readonly connectors: ReadonlyMap<string, Connector>;
  /** Gets ready for the sessions that this node is given; those that were connected before connect then. */
  start(): Promise<void>;
  /** Closes every connection; none of it is an event, for the sessions come back with the server. */
  stop(): Promise<void>;

  /**
   * Whoever has a session does what is asked of it: this resolves when that is this node, or nobody needs to.
   * @throws {ElsewhereError} another node has it
   * @throws {AppError} `session_unavailable` while its node is dead and no other has taken it over
   */
  requireHere(session: SessionRef): Promise<void>;
  /**
   * Connects, or does nothing when it is connected or connecting. Resolves when the attempt is under way, or, where the
   * network answers within seconds, when it has.
   * @param signal ends the waiting
   * @throws {AppError} and as `requireHere`
   */
  connect(session: SessionRef, signal: AbortSignal): Promise<void>;
  /** Ends the connection and keeps the credentials. */
  disconnect(session: SessionRef): Promise<void>;
  /** Unlinks the device. */
  logout(session: SessionRef): Promise<void>;
  /** Logs a session out that is being deleted, where it is connected and its network answers, and frees its number. */
  forget(session: SessionRef): Promise<void>;

  /** How many sessions there are in each status. */
  countByStatus(): Promise<{ status: string; count: number }[]>;
  /** Whether this process has, or is getting, its connection. */
  isLive(session: SessionRef): boolean;
  /** The QR to scan now; undefined while none is shown. */
  pairing(session: SessionRef): Pairing | undefined;
  /** When something was last heard of it; undefined when nothing was since the server started. */
  lastEventAt(sessionId: string): number | undefined;
  /** The connection of a session that is connected here now; undefined while it is not. */
  line(session: SessionRef): Line | undefined;
  /** As `line`. @throws {AppError} `session_not_connected`, and as `requireHere` */
  requireLine(session: SessionRef): Promise<Line>;
  /** The sessions that are connected here. */
  lines(): Line[];
  /**
   * A part of a connection that not every network has.
   * @throws {AppError} `session_not_connected`, `not_supported`, and as `requireHere`
   */
  part<K extends OptionalPart>(session: SessionRef, part: K): Promise<NonNullable<Connection[K]>>;
  /**
   * Has a session answer a request that came to its callback URL.
   * @throws {AppError} `not_found`, and as `part`
   */
  receive(sessionId: string, request: CallbackRequest): Promise<CallbackAnswer>;
  /**
   * Whether it is worth reading a callback.
   * @throws {AppError} what `receive` would answer, whatever the callback says
   */
  requireReceiver(sessionId: string): Promise<void>;
}

/** What a connected session sends through. */
export interface Line extends SessionRef {
  readonly connector: Connector;
  readonly connection: Connection;
  /** Digits. */
  readonly phoneNumber: string;
  /** Whether it is to go on: one that is being closed, handed on or lost takes nothing more; its failures are no answers. */
  isOpen(): boolean;
  /** Whether the session is this node's still. What came of a send afterwards is not this node's to store. */
  isOurs(): boolean;
}

type OptionalPart = { [K in keyof Connection]-?: undefined extends Connection[K] ? K : never }[keyof Connection];

/** A session that has, or is getting, a connection in this process. */
interface Live extends Heard {
  readonly connector: Connector;
  connection: Connection | undefined;
  phoneNumber: string | null;
  isConnected: boolean;
  /** It was connected elsewhere or before, and its network has not said yet whether it is again. */
  isReturning: boolean;
  /** We are closing it, or have: it takes nothing more, and what is still under way is not settled by its failing. */
  isClosing: boolean;
  /** Another node has the session, or may have: whatever comes of this connection is to change nothing. */
  isLost: boolean;
  pairing: Pairing | undefined;
  lastEventAt: number | undefined;
}

const TELLS_OF_CONNECTION: ReadonlySet<NetworkEvent['type']> = new Set([
  'pairing',
  'connected',
  'disconnected',
  'logged_out',
]);
const RESTORED_AT_ONCE = 50;
const RESTORE_RETRY_MS = 1000;
/** What a stop waits for sessions that are being opened or closed. */
const TURNS_MS = 10_000;
/** What a deletion waits for the network to hear of it. */
const LOGOUT_MS = 5000;

export function createSessions({
  database,
  cluster,
  inbox,
  media,
  connectors,
  outbox,
  onLine,
  publicUrl,
  scopeOf,
  clock,
  log,
}: {
  database: Database;
  cluster: Cluster;
  inbox: Inbox;
  media: Media;
  connectors: readonly Connector[];
  outbox: {
    undelivered(session: SessionRef): Promise<readonly OutgoingMessage[]>;
    settled(sessionId: string): Promise<void>;
  };
  /** A session is connected: what waits for it can go out. */
  onLine: (line: Line) => void;
  /** Under which networks reach the server; undefined when nobody has said. */
  publicUrl: URL | undefined;
  /** As `SessionHost.scope`. */
  scopeOf: (accountId: string) => string;
  clock: Clock;
  log: Log;
}): Sessions {
  const byName = new Map(connectors.map((connector) => [connector.name, connector]));
  const leases = cluster.sessions;
  const live = new Map<string, Live>();
  /** Given to this node, and not opened yet → with which others: it may be lost, and given again. */
  const restoring = new Map<string, readonly string[]>();
  const turns = new Map<string, Promise<unknown>>();
  const soles = createSoleSessions(database.reader, clock);
  const lastHeard = createLastHeard(database, () => live.values(), clock, log);
  let isStarted = false;
  let isStopped = false;
  leases.onGain(restore);
  leases.onLetGo((sessionId) => inTurn(sessionId, () => letGo(sessionId)));
  cluster.onLost(dropAll);

  async function start(): Promise<void> {
    const { kysely } = database.reader;
    const numbers = await kysely
      .selectFrom('sessions')
      .select(['connector', 'account_id', 'session_id', 'phone_number'])
      .where('phone_number', 'is not', null)
      // Linked is what has been connected; a number that was only wished for is nobody's.
      .where('status', 'not in', ['created', 'logged_out', 'failed'])
      .orderBy('session_id')
      .execute();
    for (const [name, rows] of Map.groupBy(numbers, ({ connector }) => connector)) {
      const linked = rows.map((row) => ({
        sessionId: row.session_id,
        phoneNumber: row.phone_number ?? '',
        scope: scopeOf(row.account_id),
      }));
      byName.get(name)?.remember?.(linked);
    }
    lastHeard.start();
  }

  /** Connects those of these sessions that are to be connected. */
  async function restore(sessionIds: readonly string[]): Promise<void> {
    for (const sessionId of sessionIds) restoring.set(sessionId, sessionIds);
    const waiting = sessionIds.values();
    const restoreNext = async () => {
      for (const sessionId of waiting) {
        await inTurn(sessionId, async () => {
          await restoreOne(sessionId);
          if (restoring.get(sessionId) === sessionIds) restoring.delete(sessionId);
        });
      }
    };
    await Promise.all(Array.from({ length: RESTORED_AT_ONCE }, restoreNext));
    isStarted = true;
  }

  async function restoreOne(sessionId: string): Promise<void> {
    while (!isStopped && leases.holds(sessionId) && !live.has(sessionId)) {
      try {
        const row = await sessionById.first(database.reader, { sessionId });
        if (row?.wanted === 1) await restoreRow(row);
        break;
      } catch (error) {
        log.warn({ err: error, session: sessionId }, 'a session could not be restored; trying again');
        await new Promise<void>((resolve) => void clock.after(RESTORE_RETRY_MS, resolve));
      }
    }
  }

  /** @throws {AppError} `storage_unavailable` */
  async function restoreRow(row: SessionTable): Promise<void> {
    const session = { accountId: row.account_id, sessionId: row.session_id };
    try {
      await inbox.note(session, 'connecting', isStarted ? 'Taken over from another node' : 'The server started');
      await open(row, true);
    } catch (error) {
      if (isAway(error)) throw error;
      log.error({ err: error, session: session.sessionId }, 'a session did not come back');
      const reason = error instanceof AppError ? error.message : 'The connection could not be started';
      await inbox.take(session, { type: 'disconnected', reason, willReconnect: false });
    }
  }

  /** Another node is to have it: it is closed here, and what it told is stored, before this resolves. */
  async function letGo(sessionId: string): Promise<void> {
    const entry = live.get(sessionId);
    live.delete(sessionId);
    if (entry !== undefined) await putDown(entry);
  }

  /** Once this resolves nothing of it is under way any more, and what it told is stored. */
  async function putDown(entry: Live): Promise<void> {
    await settle(entry);
    await entry.connection?.close().catch(() => {});
    await lastHeard.keep(entry);
    await database.commit(async () => {}, entry.sessionId).catch(() => {}); // then there is nothing that will be
    entry.isLost = true;
  }

  /** The last messages get their answers, or some time for them. */
  async function settle(entry: Live): Promise<void> {
    entry.isClosing = true;
    await outbox.settled(entry.sessionId);
  }

  /** Others may have all of it already. What is closed here changes nothing any more. */
  function dropAll(): void {
    const all = [...live.values()];
    live.clear();
    restoring.clear();
    for (const entry of all) {
      entry.isLost = true;
      entry.connection?.close().catch(() => {});
    }
  }

  async function stop(): Promise<void> {
    isStopped = true;
    await lastHeard.stop();
    const all = [...live.values()];
    live.clear();
    await Promise.all(all.map(putDown));
    // What was just being opened, or put down for another node, has no connection either before it is anybody's.
    const { promise: late, resolve } = Promise.withResolvers<void>();
    const cancelTimeout = clock.after(TURNS_MS, resolve);
    await Promise.race([late, Promise.allSettled(turns.values())]);
    cancelTimeout();
    await leases.giveUpAll();
  }

  /** What changes a session's connection happens one after the other, or two of them would undo each other. */
  function inTurn<T>(sessionId: string, work: () => Promise<T>): Promise<T> {
    const mine = (turns.get(sessionId) ?? Promise.resolve()).then(work, work);
    turns.set(sessionId, mine);
    const leave = () => {
      if (turns.get(sessionId) === mine) turns.delete(sessionId);
    };
    mine.then(leave, leave);
    return mine;
  }

  async function connect(session: SessionRef): Promise<void> {
    if (isStopped) throw new AppError('shutting_down');
    if (live.has(session.sessionId)) return live.get(session.sessionId)?.connection?.retry?.();
    const row = await findSession(database.reader, session);
    if (row === undefined) throw new AppError('not_found');
    const holder = await leases.take(session.sessionId);
    requireHolder(holder, row);
    if (holder !== 'here') throw new AppError('session_unavailable', 'No node takes sessions now');
    await want(session);
    await inbox.note(session, 'connecting', null);
    try {
      await open(row, false);
    } catch (error) {
      const reason = error instanceof AppError ? error.message : 'The connection could not be started';
      await inbox.end(session, 'disconnected', reason);
      await leases.giveUp(session.sessionId);
      throw error;
    }
  }

  async function open(row: SessionTable, isReturning: boolean): Promise<void> {
    const connector = byName.get(row.connector);
    if (connector === undefined) throw new AppError('not_supported', `This server has no connector "${row.connector}"`);
    // It was this node's when somebody asked for it. Whoever has it next opens it.
    if (isStopped || !leases.isOurs(row.session_id)) return;
    const entry: Live = {
      accountId: row.account_id,
      sessionId: row.session_id,
      connector,
      connection: undefined,
      phoneNumber: row.phone_number,
      isConnected: false,
      isReturning,
      isClosing: false,
      isLost: false,
      pairing: undefined,
      lastEventAt: undefined,
      notedAt: undefined,
    };
    live.set(entry.sessionId, entry);
    let connection: Connection;
    try {
      connection = await connector.open(hostOf(entry, row, connector));
    } catch (error) {
      remove(entry);
      if (isPutDown(entry)) return; // it comes back with whoever has it next
      throw error;
    }
    // While it was being opened there was nothing to close.
    if (isPutDown(entry)) return connection.close().catch(() => {});
    entry.connection = connection;
    announce(entry);
  }

  function hostOf(entry: Live, row: SessionTable, connector: Connector): SessionHost {
    const { sessionId } = entry;
    const options = readOptions(database.seal, row);
    const secrets = secretsOf(connector.options, options);
    return {
      sessionId,
      scope: scopeOf(entry.accountId),
      get phoneNumber() {
        return entry.phoneNumber;
      },
      options,
      clock,
      log: log.child({ session: sessionId }),
      store: storeOf(database, sessionId, () => !entry.isLost),
      callbackUrl: publicUrl === undefined ? null : new URL(callbackPath(sessionId), publicUrl),
      onEvent: (event, postId) => onEvent(entry, redacted(storable(event), secrets), postId),
      undelivered: () => outbox.undelivered(entry),
      lastIncoming: (chatId) => lastIncoming(database.reader, entry, chatId),
      groups: () => readGroups(database.reader, entry, media),
      blocked: () => readBlocked(database.reader, entry),
    };
  }

  async function onEvent(entry: Live, event: NetworkEvent, postId?: string): Promise<void> {
    const file = await keepFile(entry, event);
    // Another node has it, or nobody: a network that is refused keeps what it told and tells it again.
    if (entry.isLost || !leases.isOurs(entry.sessionId)) throw new AppError('session_not_connected');
    // It comes back in the moment in which it is closed.
    if (event.type === 'connected' && entry.isClosing) return;
    await inbox.take(entry, event, { file, postId });
    entry.lastEventAt = clock.now();
    entry.isReturning &&= !TELLS_OF_CONNECTION.has(event.type);
    switch (event.type) {
      case 'pairing':
        entry.pairing = event;
        return;
      case 'connected':
        entry.isConnected = true;
        entry.pairing = undefined;
        entry.phoneNumber = event.phoneNumber;
        announce(entry);
        return;
      case 'disconnected':
        entry.isConnected = false;
        entry.pairing = undefined;
        if (!event.willReconnect) await drop(entry);
        return;
      case 'logged_out':
        entry.isConnected = false;
        await drop(entry);
        return;
      default:
        return;
    }
  }

  /** A connection, and the word that it is connected, come in either order. */
  function announce(entry: Live): void {
    const line = lineOf(entry);
    if (line !== undefined) onLine(line);
  }

  function lineOf(entry: Live): Line | undefined {
    const { accountId, sessionId, connector, connection, phoneNumber, isConnected } = entry;
    if (connection === undefined || !isConnected) return undefined;
    const isOurs = () => !entry.isLost;
    const isOpen = () => !isPutDown(entry) && leases.holds(sessionId) && cluster.isMember();
    return { accountId, sessionId, connector, connection, phoneNumber: phoneNumber ?? '', isOpen, isOurs };
  }

  /** Puts the file that came with an event where files are, before there is a row that speaks of it. */
  async function keepFile({ accountId }: Live, event: NetworkEvent): Promise<StoredMedia | undefined> {
    const file =
      event.type === 'message'
        ? event.content.media
        : event.type === 'group_updated' && event.change.type === 'picture'
          ? event.group.picture
          : null;
    if (file === null || file === undefined) return undefined;
    const { mimeType, fileName } = file;
    return storedMedia(await media.keep(accountId, { stream: await file.open(), mimeType, fileName }));
  }

  /** Its connection has ended for good. */
  async function drop(entry: Live): Promise<void> {
    remove(entry); // before anything is waited for: who hears of it may connect the session again at once
    await lastHeard.keep(entry);
  }

  function remove(entry: Live): void {
    if (live.get(entry.sessionId) === entry) live.delete(entry.sessionId);
  }

  /**
   * Begins to end a session.
   * @returns its connection, by which nothing more goes out; undefined where it has none
   * @throws {AppError} `session_unavailable` when another node has got it meanwhile, and as `requireHere`
   */
  async function retire(session: SessionRef): Promise<Connection | undefined> {
    await requireHere(session);
    const entry = owned(session);
    if (entry === undefined) return undefined;
    remove(entry);
    await lastHeard.keep(entry);
    await settle(entry);
    requireOurs(session);
    return entry.connection;
  }

  /** Of what another node may have by now, nothing is stored. @throws {AppError} `session_unavailable` */
  function requireOurs({ sessionId }: SessionRef): void {
    if (!leases.isOurs(sessionId)) throw new AppError('session_unavailable');
  }

  async function disconnect(session: SessionRef): Promise<void> {
    const connection = await retire(session);
    if (connection !== undefined) {
      await connection.close().catch(() => {});
      requireOurs(session);
    }
    await inbox.end(session, 'disconnected', 'The account disconnected it');
    await leases.giveUp(session.sessionId);
  }

  async function logout(session: SessionRef): Promise<void> {
    const connection = await retire(session);
    if (connection !== undefined) {
      await connection.logout();
      requireOurs(session);
    }
    await freeNumber(session);
    await storeOf(database, session.sessionId).clear();
    await inbox.end(session, 'logged_out', 'The account logged it out');
    await leases.giveUp(session.sessionId);
  }

  async function forget(session: SessionRef): Promise<void> {
    const connection = await retire(session);
    // Before its network says so, in words of its own.
    await inbox.end(session, 'disconnected', 'The account deleted it');
    if (connection !== undefined) await leave(session, connection);
    await freeNumber(session);
    await leases.giveUp(session.sessionId);
  }

  /** Takes out of the network what the session has there. A network that does not answer is left as it is. */
  async function leave({ sessionId }: SessionRef, connection: Connection): Promise<void> {
    const { promise: late, reject } = Promise.withResolvers<never>();
    const cancelTimeout = clock.after(LOGOUT_MS, () => reject(new Error('the network did not answer')));
    try {
      await Promise.race([late, connection.logout()]);
    } catch (error) {
      log.warn({ err: error, session: sessionId }, 'a session was deleted that its network may still know');
      await connection.close().catch(() => {});
    } finally {
      cancelTimeout();
    }
  }

  /** Tells the network that the session gives up its number. */
  async function freeNumber(session: SessionRef): Promise<void> {
    const row = await findSession(database.reader, session);
    if (row === undefined) throw new AppError('not_found');
    const { session_id: sessionId, phone_number: phoneNumber, account_id: accountId } = row;
    await byName.get(row.connector)?.forget?.({ sessionId, phoneNumber, scope: scopeOf(accountId) });
  }

  function owned({ accountId, sessionId }: SessionRef): Live | undefined {
    const entry = live.get(sessionId);
    return entry?.accountId === accountId ? entry : undefined;
  }

  async function requireHere(session: SessionRef): Promise<void> {
    if (owned(session) !== undefined) return;
    const holder = await leases.holderOf(session.sessionId);
    if (holder !== 'here' || restoring.has(session.sessionId))
      requireHolder(holder, await findSession(database.reader, session));
  }

  /** @throws {AppError} as `requireHere` */
  function requireHolder(holder: Holder, row: SessionTable | undefined): void {
    if (typeof holder === 'object') throw new ElsewhereError(holder);
    const isOnItsWay = row?.wanted === 1 && (holder === 'nobody' || restoring.has(row.session_id));
    if (isOnItsWay) throw new AppError('session_unavailable');
  }

  async function requireLine(session: SessionRef): Promise<Line> {
    const own = line(session);
    if (own !== undefined) return own;
    await requireHere(session);
    const late = line(session);
    if (late === undefined) throw notConnected(owned(session));
    return late;
  }

  function line(session: SessionRef): Line | undefined {
    const entry = owned(session);
    return entry && lineOf(entry);
  }

  async function part<K extends OptionalPart>(session: SessionRef, name: K): Promise<NonNullable<Connection[K]>> {
    await requireHere(session);
    const entry = owned(session);
    const own = entry?.connection;
    if (own === undefined || entry?.isReturning) throw notConnected(entry);
    const found = own[name];
    if (found === undefined || found === null) throw new AppError('not_supported');
    // A method must keep its connection when it is called apart from it.
    return (typeof found === 'function' ? found.bind(own) : found) as NonNullable<Connection[K]>;
  }

  async function receive(sessionId: string, request: CallbackRequest): Promise<CallbackAnswer> {
    const take = await receiverOf(sessionId);
    return take(request);
  }

  async function receiverOf(sessionId: string) {
    return part(live.get(sessionId) ?? (await refOf(sessionId)), 'takeCallback');
  }

  /** @throws {AppError} `not_found` */
  async function refOf(sessionId: string): Promise<SessionRef> {
    // Of whichever account: a network has no credential of ours, only the address it was given.
    const row = await sessionById.first(database.reader, { sessionId });
    if (row === undefined) throw new AppError('not_found', 'There is no such session');
    return { accountId: row.account_id, sessionId };
  }

  /** Wherever it has a node, it is to be connected, until `inbox.end`. */
  async function want({ accountId, sessionId }: SessionRef): Promise<void> {
    await database.commit((tx) => markWanted.run(tx, { accountId, sessionId }), sessionId);
  }

  return {
    connectors: byName,
    start,
    stop,
    requireHere,
    async connect(session, signal) {
      await inTurn(session.sessionId, () => connect(session));
      // Not in turn: what ends it meanwhile does not wait as well.
      const attempt = owned(session)?.connection?.attempt;
      if (attempt !== undefined && !signal.aborted) await Promise.race([attempt, once(signal, 'abort')]);
    },
    disconnect: (session) => inTurn(session.sessionId, () => disconnect(session)),
    logout: (session) => inTurn(session.sessionId, () => logout(session)),
    forget: (session) => inTurn(session.sessionId, () => forget(session)),
    countByStatus: () => statuses.all(database.reader, {}),
    ...soles,
    isLive: (session) => owned(session) !== undefined,
    pairing: (session) => owned(session)?.pairing,
    lastEventAt: (sessionId) => live.get(sessionId)?.lastEventAt,
    line,
    requireLine,
    lines: () => [...live.values()].flatMap((entry) => lineOf(entry) ?? []),
    part,
    receive,
    requireReceiver: async (sessionId) => void (await receiverOf(sessionId)),
  };
}

/** It takes nothing more: it is being closed here, or another node may have it. */
const isPutDown = ({ isClosing, isLost }: Live) => isClosing || isLost;

const notConnected = (entry: Live | undefined) =>
  entry?.isReturning || entry?.isConnected // the network said so before it had handed out the connection
    ? new AppError('session_unavailable', 'The session is being connected again')
    : new AppError('session_not_connected');

const sessionById = query((db, p: { sessionId: string }) =>
  db.selectFrom('sessions').selectAll().where('session_id', '=', p.sessionId),
);

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
    .where('session_id', '=', p.sessionId),
);

/** What a network tells as a reason is stored and shown: a token that its server quoted does not stay in it. */
function redacted(event: NetworkEvent, secrets: readonly string[]): NetworkEvent {
  switch (event.type) {
    case 'disconnected':
    case 'logged_out':
      return { ...event, reason: redactSecrets(event.reason, secrets) };
    case 'receipt':
      return event.error === undefined ? event : { ...event, error: redactSecrets(event.error, secrets) };
    default:
      return event;
  }
}

async function readBlocked({ kysely }: Queryable, { accountId, sessionId }: SessionRef): Promise<string[]> {
  const rows = await kysely
    .selectFrom('contacts')
    .select('phone_number')
    .where('account_id', '=', accountId)
    .where('session_id', '=', sessionId)
    .where('blocked', '=', 1)
    .execute();
  return rows.map(({ phone_number }) => phone_number);
}
