import { LRUCache } from 'lru-cache';
import type { Clock } from '../clock.ts';
import type { Connection, Connector, NetworkEvent, OutgoingMessage, SessionHost } from '../connectors/connector.ts';
import type { Database } from '../db/database.ts';
import type { Queryable } from '../db/dialect.ts';
import { query } from '../db/query.ts';
import type { SessionTable } from '../db/schema.ts';
import { AppError } from '../errors.ts';
import type { Log } from '../log.ts';
import type { Media } from '../media/media.ts';
import { readGroups } from './groupStore.ts';
import type { Inbox } from './inbox.ts';
import { type StoredMedia, storedMedia } from './messageContent.ts';
import { findSession, type SessionRef } from './messageStore.ts';

export interface Pairing {
  readonly qr: string;
  readonly expiresAt: number;
}

/** The sessions that live in this process, and their connections. */
export interface Sessions {
  /** The names of the networks, and the schema of their options. */
  readonly connectors: ReadonlyMap<string, Connector>;
  /** Connects the sessions that were connected before. */
  start(): Promise<void>;
  /** Closes every connection; none of it is an event, for the sessions come back with the server. */
  stop(): Promise<void>;

  /** Connects, or does nothing when it is connected or connecting. @throws {AppError} */
  connect(session: SessionRef): Promise<void>;
  /** Ends the connection and keeps the credentials. */
  disconnect(session: SessionRef): Promise<void>;
  /** Unlinks the device. */
  logout(session: SessionRef): Promise<void>;
  /** Ends the connection of a session that is being deleted, and frees its number. */
  forget(session: SessionRef): Promise<void>;

  /** How many sessions there are in each status. */
  countByStatus(): Promise<{ status: string; count: number }[]>;
  /** The only session of an account, where a request names none. */
  sole(accountId: string): Promise<Sole>;
  /** The account has got a session more or less. */
  recount(accountId: string): void;
  /** Whether this process has, or is getting, its connection. */
  isLive(session: SessionRef): boolean;
  /** The QR to scan now; undefined while none is shown. */
  pairing(session: SessionRef): Pairing | undefined;
  /** When something was last heard of it; undefined when nothing was since the server started. */
  lastEventAt(sessionId: string): number | undefined;
  /** The connection of a session that is connected now; undefined while it is not. */
  line(session: SessionRef): Line | undefined;
  /**
   * A part of a connection that not every network has.
   * @throws {AppError} `session_not_connected`, `not_supported`
   */
  part<K extends OptionalPart>(session: SessionRef, part: K): NonNullable<Connection[K]>;
}

/** What a connected session sends through. */
export interface Line extends SessionRef {
  readonly connector: Connector;
  readonly connection: Connection;
  /** Digits. */
  readonly phoneNumber: string;
}

type OptionalPart = { [K in keyof Connection]-?: undefined extends Connection[K] ? K : never }[keyof Connection];

type Sole = { readonly sessionId: string } | 'none' | 'several';

/** A session that has, or is getting, a connection in this process. */
interface Live extends SessionRef {
  readonly connector: Connector;
  connection: Connection | undefined;
  phoneNumber: string | null;
  isConnected: boolean;
  pairing: Pairing | undefined;
  lastEventAt: number | undefined;
  /** The `lastEventAt` that the database knows. */
  notedAt: number | undefined;
}

const RESTORED_AT_ONCE = 50;
const NOTE_EVERY_MS = 10_000;
const SOLES_KEPT = 10_000;
/** How long another node may still take the only session for the only one. */
const SOLE_KEPT_MS = 1000;

export function createSessions({
  database,
  inbox,
  media,
  connectors,
  stored,
  onLine,
  clock,
  log,
}: {
  database: Database;
  inbox: Inbox;
  media: Media;
  connectors: readonly Connector[];
  /** What hosts tell connectors of what is stored. */
  stored: { undelivered(session: SessionRef): Promise<readonly OutgoingMessage[]> };
  /** A session is connected: what waits for it can go out. */
  onLine: (line: Line) => void;
  clock: Clock;
  log: Log;
}): Sessions {
  const byName = new Map(connectors.map((connector) => [connector.name, connector]));
  const live = new Map<string, Live>();
  const turns = new Map<string, Promise<unknown>>();
  const soles = new LRUCache<string, { sole: Sole; until: number }>({ max: SOLES_KEPT });
  let isStopped = false;
  let cancelNoting = () => {};

  async function start(): Promise<void> {
    const { kysely } = database.reader;
    const numbers = await kysely
      .selectFrom('sessions')
      .select(['connector', 'session_id', 'phone_number'])
      .where('phone_number', 'is not', null)
      // Linked is what has been connected; a number that was only wished for is nobody's.
      .where('status', 'not in', ['created', 'logged_out', 'failed'])
      .orderBy('session_id')
      .execute();
    for (const [name, rows] of Map.groupBy(numbers, ({ connector }) => connector)) {
      const linked = rows.map((row) => ({ sessionId: row.session_id, phoneNumber: row.phone_number ?? '' }));
      byName.get(name)?.remember?.(linked);
    }
    scheduleNoting();
    const wanted = await kysely
      .selectFrom('sessions')
      .selectAll()
      .where('wanted', '=', 1)
      .orderBy('session_id')
      .execute();
    const waiting = wanted.values();
    const restore = async () => {
      for (const row of waiting) if (!isStopped) await inTurn(row.session_id, () => restoreOne(row));
    };
    await Promise.all(Array.from({ length: RESTORED_AT_ONCE }, restore));
  }

  async function restoreOne(row: SessionTable): Promise<void> {
    const session = { accountId: row.account_id, sessionId: row.session_id };
    try {
      await inbox.note(session, 'connecting', 'The server started');
      await open(row);
    } catch (error) {
      log.error({ err: error, session: session.sessionId }, 'a session did not come back');
      const reason = error instanceof AppError ? error.message : 'The connection could not be started';
      await inbox.take(session, { type: 'disconnected', reason, willReconnect: false });
    }
  }

  async function stop(): Promise<void> {
    isStopped = true;
    cancelNoting();
    await noteLastEvents().catch(() => {}); // worth no error: it is told with the next event again
    const all = [...live.values()];
    live.clear();
    await Promise.all(all.map(({ connection }) => connection?.close().catch(() => {})));
  }

  /** "Last heard of" is kept in memory and written now and then: it is worth no write per message. */
  async function noteLastEvents(): Promise<void> {
    const heard = [...live.values()].filter(({ lastEventAt, notedAt }) => lastEventAt !== notedAt);
    if (heard.length === 0) return;
    await database.commit(async (tx) => {
      for (const { accountId, sessionId, lastEventAt } of heard) {
        await updateLastEvent.run(tx, { accountId, sessionId, at: lastEventAt ?? null });
      }
    });
    for (const entry of heard) entry.notedAt = entry.lastEventAt;
  }

  function scheduleNoting(): void {
    cancelNoting = clock.after(NOTE_EVERY_MS, () => {
      noteLastEvents()
        .catch((error) => log.warn({ err: error }, 'noting when sessions were last heard of failed'))
        .finally(() => !isStopped && scheduleNoting());
    });
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
    if (live.has(session.sessionId)) return;
    const row = await findSession(database.reader, session);
    if (row === undefined) throw new AppError('not_found');
    await setWanted(session, 1);
    await inbox.note(session, 'connecting', null);
    try {
      await open(row);
    } catch (error) {
      await setWanted(session, 0);
      const reason = error instanceof AppError ? error.message : 'The connection could not be started';
      await inbox.take(session, { type: 'disconnected', reason, willReconnect: false });
      throw error;
    }
  }

  async function open(row: SessionTable): Promise<void> {
    const connector = byName.get(row.connector);
    if (connector === undefined) throw new AppError('not_supported', `This server has no connector "${row.connector}"`);
    const entry: Live = {
      accountId: row.account_id,
      sessionId: row.session_id,
      connector,
      connection: undefined,
      phoneNumber: row.phone_number,
      isConnected: false,
      pairing: undefined,
      lastEventAt: undefined,
      notedAt: undefined,
    };
    live.set(entry.sessionId, entry);
    try {
      entry.connection = await connector.open(hostOf(entry, row));
    } catch (error) {
      live.delete(entry.sessionId);
      throw error;
    }
    announce(entry);
  }

  function hostOf(entry: Live, row: SessionTable): SessionHost {
    const { sessionId } = entry;
    return {
      sessionId,
      get phoneNumber() {
        return entry.phoneNumber;
      },
      options: JSON.parse(row.options),
      clock,
      log: log.child({ session: sessionId }),
      store: storeOf(database, sessionId),
      onEvent: (event) => onEvent(entry, event),
      undelivered: () => stored.undelivered(entry),
      groups: () => readGroups(database.reader, entry, media),
      blocked: () => readBlocked(database.reader, entry),
    };
  }

  async function onEvent(entry: Live, event: NetworkEvent): Promise<void> {
    await inbox.take(entry, event, await keepFile(entry, event));
    entry.lastEventAt = clock.now();
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
        if (!event.willReconnect) remove(entry);
        return;
      case 'logged_out':
        entry.isConnected = false;
        remove(entry);
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

  function lineOf({ accountId, sessionId, connector, connection, phoneNumber, isConnected }: Live): Line | undefined {
    if (connection === undefined || !isConnected) return undefined;
    return { accountId, sessionId, connector, connection, phoneNumber: phoneNumber ?? '' };
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

  function remove(entry: Live): void {
    if (live.get(entry.sessionId) === entry) live.delete(entry.sessionId);
  }

  async function disconnect(session: SessionRef): Promise<void> {
    const entry = owned(session);
    await setWanted(session, 0);
    if (entry === undefined) return;
    remove(entry);
    await entry.connection?.close();
    await inbox.end(session, 'disconnected', 'The account disconnected it');
  }

  async function logout(session: SessionRef): Promise<void> {
    const entry = owned(session);
    await setWanted(session, 0);
    if (entry !== undefined) {
      remove(entry);
      await entry.connection?.logout();
    }
    await freeNumber(session);
    await storeOf(database, session.sessionId).clear();
    await inbox.end(session, 'logged_out', 'The account logged it out');
  }

  async function forget(session: SessionRef): Promise<void> {
    await disconnect(session);
    await freeNumber(session);
  }

  /** Tells the network that the session gives up its number. */
  async function freeNumber(session: SessionRef): Promise<void> {
    const row = await findSession(database.reader, session);
    if (row === undefined) throw new AppError('not_found');
    await byName.get(row.connector)?.forget?.({ sessionId: row.session_id, phoneNumber: row.phone_number });
  }

  async function sole(accountId: string): Promise<Sole> {
    const now = clock.now();
    const known = soles.get(accountId);
    if (known !== undefined && known.until > now) return known.sole;
    const [first, second] = await firstSessions.all(database.reader, { accountId });
    const found = first === undefined ? 'none' : second === undefined ? { sessionId: first.session_id } : 'several';
    soles.set(accountId, { sole: found, until: now + SOLE_KEPT_MS });
    return found;
  }

  function owned({ accountId, sessionId }: SessionRef): Live | undefined {
    const entry = live.get(sessionId);
    return entry?.accountId === accountId ? entry : undefined;
  }

  function line(session: SessionRef): Line | undefined {
    const entry = owned(session);
    return entry && lineOf(entry);
  }

  function part<K extends OptionalPart>(session: SessionRef, name: K): NonNullable<Connection[K]> {
    const own = owned(session)?.connection;
    if (own === undefined) throw new AppError('session_not_connected');
    const found = own[name];
    if (found === undefined || found === null) throw new AppError('not_supported');
    // A method must keep its connection when it is called apart from it.
    return (typeof found === 'function' ? found.bind(own) : found) as NonNullable<Connection[K]>;
  }

  async function setWanted({ accountId, sessionId }: SessionRef, wanted: 0 | 1): Promise<void> {
    await database.commit((tx) => updateWanted.run(tx, { accountId, sessionId, wanted }), sessionId);
  }

  return {
    connectors: byName,
    start,
    stop,
    connect: (session) => inTurn(session.sessionId, () => connect(session)),
    disconnect: (session) => inTurn(session.sessionId, () => disconnect(session)),
    logout: (session) => inTurn(session.sessionId, () => logout(session)),
    forget: (session) => inTurn(session.sessionId, () => forget(session)),
    countByStatus: () => statuses.all(database.reader, {}),
    sole,
    recount: (accountId) => soles.delete(accountId),
    isLive: (session) => owned(session) !== undefined,
    pairing: (session) => owned(session)?.pairing,
    lastEventAt: (sessionId) => live.get(sessionId)?.lastEventAt,
    line,
    part,
  };
}

/** What a connector keeps for its session, in the database. */
function storeOf({ reader, commit }: Database, sessionId: string): SessionHost['store'] {
  return {
    async get(key) {
      const row = await reader.kysely
        .selectFrom('session_store')
        .select('value')
        .where('session_id', '=', sessionId)
        .where('key', '=', key)
        .executeTakeFirst();
      return row?.value;
    },
    async set(key, value) {
      await commit((tx) =>
        tx.kysely
          .insertInto('session_store')
          .values({ session_id: sessionId, key, value })
          .onConflict((conflict) => conflict.columns(['session_id', 'key']).doUpdateSet({ value }))
          .execute(),
      );
    },
    async delete(key) {
      await commit((tx) =>
        tx.kysely.deleteFrom('session_store').where('session_id', '=', sessionId).where('key', '=', key).execute(),
      );
    },
    async clear() {
      await commit((tx) => tx.kysely.deleteFrom('session_store').where('session_id', '=', sessionId).execute());
    },
  };
}

const statuses = query((db, _: object) =>
  db
    .selectFrom('sessions')
    .select(({ fn }) => ['status', fn.countAll<number>().as('count')])
    .groupBy('status'),
);

const firstSessions = query((db, p: { accountId: string }) =>
  db.selectFrom('sessions').select('session_id').where('account_id', '=', p.accountId).limit(2),
);

const updateWanted = query((db, p: SessionRef & { wanted: number }) =>
  db
    .updateTable('sessions')
    .set({ wanted: p.wanted })
    .where('account_id', '=', p.accountId)
    .where('session_id', '=', p.sessionId),
);

const updateLastEvent = query((db, p: SessionRef & { at: number | null }) =>
  db
    .updateTable('sessions')
    .set({ last_event_at: p.at })
    .where('account_id', '=', p.accountId)
    .where('session_id', '=', p.sessionId),
);

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
