import { sql } from 'kysely';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../clock.ts';
import type {
  Connection,
  Connector,
  NetworkChat,
  NetworkEvent,
  NetworkGroup,
  SessionHost,
} from '../connectors/connector.ts';
import type { Database } from '../db/database.ts';
import { query } from '../db/query.ts';
import type { MessageTable, SessionTable } from '../db/schema.ts';
import { AppError } from '../errors.ts';
import type { Log } from '../log.ts';
import { type Inbox, type SessionRef, toSent, touchChat } from './inbox.ts';

/** A text message to send. */
export interface NewMessage {
  /** Digits, or the id of a group of the session. */
  readonly to: string;
  readonly text: string;
  /** Id of the message it answers. */
  readonly replyTo: string | null;
  /** The id to give it; a second run with the same id finds the message of the first. */
  readonly messageId: string;
}

export interface Pairing {
  readonly qr: string;
  readonly expiresAt: number;
}

/** The sessions that live in this process: their connections, and everything that is done through one. */
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
  /**
   * The live connection of a session.
   * @throws {AppError} `session_not_connected`
   */
  connection(session: SessionRef): Connection;
  /**
   * A part of a connection that not every network has.
   * @throws {AppError} `session_not_connected`, `not_supported`
   */
  part<K extends OptionalPart>(session: SessionRef, part: K): NonNullable<Connection[K]>;

  /**
   * Stores a message as `queued`, hands it to the network and resolves with it as `sent`.
   * @throws {AppError} `session_not_connected`, `not_found`, `send_failed`, or what the network says
   */
  send(session: SessionRef, message: NewMessage): Promise<MessageTable>;
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

const SEND_TIMEOUT_MS = 30_000;
const RESTORED_AT_ONCE = 50;
const NOTE_EVERY_MS = 10_000;
const SOLES_KEPT = 10_000;
/** How long another node may still take the only session for the only one. */
const SOLE_KEPT_MS = 1000;
/** More than this waiting for its confirmation is not asked for again: it would be weeks of traffic. */
const UNDELIVERED_KEPT = 10_000;

export function createSessions({
  database,
  inbox,
  connectors,
  clock,
  log,
}: {
  database: Database;
  inbox: Inbox;
  connectors: readonly Connector[];
  clock: Clock;
  log: Log;
}): Sessions {
  const byName = new Map(connectors.map((connector) => [connector.name, connector]));
  const live = new Map<string, Live>();
  /** Messages between "queued" and the network's answer; a reconnect must not send them a second time. */
  const sending = new Set<string>();
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
    const row = await findSession.first(database.reader, session);
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
    if (entry.isConnected) resendQueued(entry, entry.connection);
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
      undelivered: () => undelivered(entry),
      groups: () => groupsOf(entry),
    };
  }

  async function onEvent(entry: Live, event: NetworkEvent): Promise<void> {
    await inbox.take(entry, event);
    entry.lastEventAt = clock.now();
    switch (event.type) {
      case 'pairing':
        entry.pairing = event;
        return;
      case 'connected':
        entry.isConnected = true;
        entry.pairing = undefined;
        entry.phoneNumber = event.phoneNumber;
        if (entry.connection !== undefined) resendQueued(entry, entry.connection);
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
    const row = await findSession.first(database.reader, session);
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

  function connection(session: SessionRef): Connection {
    const entry = owned(session);
    if (entry?.connection === undefined) throw new AppError('session_not_connected');
    return entry.connection;
  }

  function part<K extends OptionalPart>(session: SessionRef, name: K): NonNullable<Connection[K]> {
    const own = connection(session);
    const found = own[name];
    if (found === undefined || found === null) throw new AppError('not_supported');
    // A method must keep its connection when it is called apart from it.
    return (typeof found === 'function' ? found.bind(own) : found) as NonNullable<Connection[K]>;
  }

  async function send(session: SessionRef, { to, text, replyTo, messageId }: NewMessage): Promise<MessageTable> {
    const entry = owned(session);
    if (entry?.connection === undefined || !entry.isConnected) throw new AppError('session_not_connected');
    const { accountId, sessionId } = session;
    const chat = await chatOf(session, to);
    const now = clock.now();
    const row: MessageTable = {
      account_id: accountId,
      message_id: messageId,
      session_id: sessionId,
      chat_id: to,
      network_id: messageId,
      direction: 'outgoing',
      type: 'text',
      from_number: entry.phoneNumber ?? '',
      to_id: to,
      body: text,
      content: null,
      reply_to: replyTo,
      status: 'queued',
      error: null,
      timestamp: now,
      created_at: now,
      scheduled_at: null,
      sent_at: null,
      delivered_at: null,
      read_at: null,
      failed_at: null,
      edited_at: null,
      deleted_at: null,
    };
    const wasSending = sending.has(messageId);
    sending.add(messageId);
    try {
      const isNew = await database.commit(async (tx) => {
        if ((await insertOutgoing.run(tx, row)) === 0) return false;
        await touchChat.run(tx, { accountId, sessionId, chatId: to, type: chat.type, messageId, at: now, unread: 0 });
        return true;
      }, sessionId);
      // The run before this one stored it and died before it could answer.
      if (!isNew) {
        const stored = await findMessageRow(accountId, messageId);
        if (stored.status !== 'queued' || wasSending) return stored;
      }
      const timestamp = await handOver(entry.connection, row, chat);
      return { ...row, status: 'sent', timestamp, sent_at: timestamp };
    } finally {
      sending.delete(messageId);
    }
  }

  /** Gives a stored message to the network and stores what becomes of it. */
  async function handOver(connection: Connection, row: MessageTable, chat: NetworkChat): Promise<number> {
    const message = toSent(row);
    const replyTo = row.reply_to === null ? null : await networkIdOf(row.account_id, row.reply_to);
    let taken: { timestamp: number };
    try {
      taken = await withTimeout(connection.send({ networkId: row.network_id, chat, text: row.body, replyTo }));
    } catch (error) {
      const reason = error instanceof AppError ? error.message : 'The network did not take the message';
      await inbox.refuse(message, reason);
      throw error instanceof AppError ? error : new AppError('send_failed', reason, { cause: error });
    }
    await inbox.acknowledge(message, taken.timestamp);
    return taken.timestamp;
  }

  function withTimeout<T>(promise: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const cancel = clock.after(SEND_TIMEOUT_MS, () =>
        reject(new AppError('send_failed', `The network did not answer within ${SEND_TIMEOUT_MS / 1000} s`)),
      );
      promise.then(resolve, reject).finally(cancel);
    });
  }

  /** Messages that were stored but perhaps never sent, because the process died in between: they go out now. */
  function resendQueued(entry: Live, connection: Connection): void {
    const resend = async () => {
      for (const row of await queuedMessages.all(database.reader, entry)) {
        if (sending.has(row.message_id)) continue;
        sending.add(row.message_id);
        try {
          await handOver(connection, row, await chatOf(entry, row.chat_id));
        } catch (error) {
          // One that cannot be sent must not hold up those behind it. `handOver` has stored why, unless its chat is gone.
          if (error instanceof AppError && error.code === 'not_found') await inbox.refuse(toSent(row), error.message);
          log.warn({ err: error, session: entry.sessionId, message: row.message_id }, 'a queued message was not sent');
        } finally {
          sending.delete(row.message_id);
        }
      }
    };
    resend().catch((error) => log.error({ err: error, session: entry.sessionId }, 'sending queued messages failed'));
  }

  async function undelivered({ accountId, sessionId }: SessionRef) {
    const rows = await sentMessages.all(database.reader, { accountId, sessionId, limit: UNDELIVERED_KEPT });
    return Promise.all(
      rows.map(async (row) => ({
        networkId: row.network_id,
        chat: await chatOf({ accountId, sessionId }, row.chat_id),
        text: row.body,
        replyTo: row.reply_to === null ? null : ((await networkIdOf(accountId, row.reply_to)) ?? null),
      })),
    );
  }

  /** The chat as its network knows it. Ids of groups are ours, numbers are everybody's. */
  async function chatOf(session: SessionRef, chatId: string): Promise<NetworkChat> {
    if (!chatId.startsWith('grp_')) return { type: 'direct', id: chatId };
    const group = await networkGroup.first(database.reader, { ...session, groupId: chatId });
    if (group === undefined) throw new AppError('not_found', 'The session has no such group');
    return { type: 'group', id: group.network_id };
  }

  async function networkIdOf(accountId: string, messageId: string): Promise<string | null> {
    return (await messageById.first(database.reader, { accountId, messageId }))?.network_id ?? null;
  }

  async function findMessageRow(accountId: string, messageId: string): Promise<MessageTable> {
    const row = await messageById.first(database.reader, { accountId, messageId });
    if (row === undefined) throw new AppError('not_found');
    return row;
  }

  async function groupsOf({ accountId, sessionId }: SessionRef): Promise<NetworkGroup[]> {
    const { kysely } = database.reader;
    const groups = await kysely
      .selectFrom('groups')
      .selectAll()
      .where('account_id', '=', accountId)
      .where('session_id', '=', sessionId)
      .where('left_at', 'is', null)
      .execute();
    const participants = await kysely
      .selectFrom('group_participants as p')
      .innerJoin('groups as g', (join) =>
        join.onRef('g.account_id', '=', 'p.account_id').onRef('g.group_id', '=', 'p.group_id'),
      )
      .select(['p.group_id', 'p.phone_number', 'p.role'])
      .where('g.account_id', '=', accountId)
      .where('g.session_id', '=', sessionId)
      .execute();
    const byGroup = Map.groupBy(participants, ({ group_id }) => group_id);
    return groups.map((group) => ({
      networkId: group.network_id,
      subject: group.subject,
      description: group.description,
      createdBy: group.created_by,
      createdAt: group.created_at,
      participants: (byGroup.get(group.group_id) ?? []).map(({ phone_number: phoneNumber, role }) => ({
        phoneNumber,
        role,
      })),
    }));
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
    sole,
    recount: (accountId) => soles.delete(accountId),
    isLive: (session) => owned(session) !== undefined,
    pairing: (session) => owned(session)?.pairing,
    lastEventAt: (sessionId) => live.get(sessionId)?.lastEventAt,
    connection,
    part,
    send,
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

const findSession = query((db, p: SessionRef) =>
  db.selectFrom('sessions').selectAll().where('account_id', '=', p.accountId).where('session_id', '=', p.sessionId),
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

const insertOutgoing = query((db, p: MessageTable) =>
  db
    .insertInto('messages')
    .values({
      account_id: p.account_id,
      message_id: p.message_id,
      session_id: p.session_id,
      chat_id: p.chat_id,
      network_id: p.network_id,
      direction: p.direction,
      type: p.type,
      from_number: p.from_number,
      to_id: p.to_id,
      body: p.body,
      content: p.content,
      reply_to: p.reply_to,
      status: p.status,
      error: p.error,
      timestamp: p.timestamp,
      created_at: p.created_at,
      scheduled_at: p.scheduled_at,
      sent_at: p.sent_at,
      delivered_at: p.delivered_at,
      read_at: p.read_at,
      failed_at: p.failed_at,
      edited_at: p.edited_at,
      deleted_at: p.deleted_at,
    })
    .onConflict((conflict) => conflict.columns(['account_id', 'message_id']).doNothing()),
);

const messageById = query((db, p: { accountId: string; messageId: string }) =>
  db.selectFrom('messages').selectAll().where('account_id', '=', p.accountId).where('message_id', '=', p.messageId),
);

// Word for word as the index `messages_unfinished` has it: SQLite takes the index for nothing less.
const isUnfinished = sql<boolean>`status in ('queued', 'scheduled', 'sent')`;

const queuedMessages = query((db, p: SessionRef) =>
  db
    .selectFrom('messages')
    .selectAll()
    .where('account_id', '=', p.accountId)
    .where('session_id', '=', p.sessionId)
    .where(isUnfinished)
    .where('status', '=', 'queued')
    .orderBy('message_id'),
);

const sentMessages = query((db, p: SessionRef & { limit: number }) =>
  db
    .selectFrom('messages')
    .selectAll()
    .where('account_id', '=', p.accountId)
    .where('session_id', '=', p.sessionId)
    .where(isUnfinished)
    .where('status', '=', 'sent')
    .orderBy('message_id')
    .limit(p.limit),
);

const networkGroup = query((db, p: SessionRef & { groupId: string }) =>
  db
    .selectFrom('groups')
    .select('network_id')
    .where('account_id', '=', p.accountId)
    .where('session_id', '=', p.sessionId)
    .where('group_id', '=', p.groupId),
);
