import { sql } from 'kysely';
import type { Clock } from '../clock.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { ElsewhereError, LONGEST_SEND_MS } from '../cluster/forward.ts';
import type { MessageKey, MessageType, NetworkChat, OutgoingMessage } from '../connectors/connector.ts';
import type { Database } from '../db/database.ts';
import { query } from '../db/query.ts';
import type { MessageRow } from '../db/schema.ts';
import { AppError } from '../errors.ts';
import type { Log } from '../log.ts';
import type { Media } from '../media/media.ts';
import { contentColumn, type StoredContent, toNetworkContent } from '../messages/content.ts';
import type { Inbox } from '../messages/inbox.ts';
import { type SentMessage, type Taken, toSent } from '../messages/messageInbox.ts';
import {
  findMessage,
  findSession,
  type NewRow,
  networkIdOfGroup,
  newRow,
  type SessionRef,
  storeMessages,
} from '../messages/store.ts';
import type { Line, Sessions } from '../sessions/sessions.ts';
import type { SteadyClock } from '../steadyClock.ts';
import { Acknowledgements } from './acknowledgements.ts';
import { createSendQueue, HeldError, type HoldMs } from './queue.ts';
import { createSchedule } from './schedule.ts';

/** A message to send. */
export interface Draft {
  /** The id to give it; a second run with the same id finds the message of the first. */
  readonly messageId: string;
  /** Digits, or the id of a group of the session. */
  readonly to: string;
  readonly type: MessageType;
  readonly text: string;
  readonly content: StoredContent;
  /** Id of the message it answers. */
  readonly replyTo: string | null;
}

/** Messages on their way out. */
export interface Outbox {
  start(): void;
  stop(): void;
  /**
   * Stores a message as `queued`, hands it to the network and resolves with it as `sent`; as `queued` when the node
   * that has the session, or gets it, has not sent it within some seconds.
   * @throws {ElsewhereError} another node has the session; nothing is stored
   * @throws {AppError} `session_not_connected`, `not_found`, `not_supported`, `send_failed`, or what the network says;
   *   `session_unavailable` when the session is being closed: the message is stored, and goes out later
   */
  send(session: SessionRef, draft: Draft): Promise<NewRow>;
  /**
   * Stores messages as `scheduled`, each for its time. A session that is not connected then sends it as soon as it is.
   * @throws {AppError} `session_not_connected` when the session was never linked, `not_found`, `not_supported`, `too_many`
   */
  schedule(session: SessionRef, drafts: readonly (Draft & { readonly sendAt: number })[]): Promise<NewRow[]>;
  /**
   * Takes a scheduled message back.
   * @returns whether it was still scheduled
   */
  cancel(row: MessageRow): Promise<boolean>;
  /** A session is connected: what is queued for it goes out. */
  resume(session: SessionRef): void;
  /** Resolves when no message of the session is between us and its network any more, or when that takes too long. */
  settled(sessionId: string): Promise<void>;
  /** Messages that the network took and has not confirmed, oldest first. */
  undelivered(session: SessionRef): Promise<OutgoingMessage[]>;
  /** A message as its network addresses it. @throws {AppError} `not_found` when its group is gone */
  keyOf(row: MessageRow): Promise<MessageKey>;
  /** A chat as its network addresses it. @throws {AppError} `not_found` when the session has no such group */
  chatOf(session: SessionRef, chatId: string): Promise<NetworkChat>;
}

const SEND_TIMEOUT_MS = 30_000;
/** What a session that is to be closed waits for the answers to its last messages. */
const SETTLE_MS = 5000;
/** More than this waiting for its confirmation is not asked for again: it would be weeks of traffic. */
const UNDELIVERED_KEPT = 10_000;
/** When to look whether the node that has, or gets, a session has sent its message: mostly within a second. */
const LOOKS_MS: readonly number[] = [100, 200, 300, 400, 500, 500, 500, 500];
/** When a node with many sessions dies, not every request can look. */
const LOOKING = 200;

export function createOutbox({
  database,
  cluster,
  inbox,
  media,
  sessions,
  maxScheduled,
  clock,
  steady,
  log,
}: {
  database: Database;
  cluster: Cluster;
  inbox: Inbox;
  media: Media;
  /** The lines of the sessions that are connected here. */
  sessions: () => Pick<Sessions, 'line' | 'requireLine'>;
  /** Messages that an account may have waiting for their time. */
  maxScheduled: number;
  clock: Clock;
  steady: SteadyClock;
  log: Log;
}): Outbox {
  /** Messages between "queued" and the network's answer; a reconnect must not send them a second time. */
  const sending = new Set<string>();
  const acknowledgements = new Acknowledgements(inbox, clock, log);
  /** Account → messages that are being scheduled here and may not be stored yet. */
  const scheduling = new Map<string, number>();
  /** Session → what its network has been given and not answered yet. */
  const handing = new Map<string, Set<Promise<number>>>();
  let looking = 0;
  const scheduled = createSchedule({
    database,
    cluster,
    clock,
    log,
    onQueued: (session) => queued.wake(session),
  });
  const queued = createSendQueue({ database, cluster, sessions, send: sendQueued, clock, steady, log });

  async function send(session: SessionRef, draft: Draft): Promise<NewRow> {
    try {
      return await sendHere(session, draft);
    } catch (error) {
      if (!(error instanceof OnItsWayError)) throw error;
      queued.wake(session);
      return await sentByQueue(session, error);
    }
  }

  /**
   * The node that has the session, or gets it, sends what is queued: however it is reached, PostgreSQL reaches it. It
   * is this one when other messages of the chat come first.
   * @returns the message, `queued` still when that takes longer than a moment
   * @throws {OnItsWayError} the session is to have no node
   */
  async function sentByQueue(session: SessionRef, onItsWay: OnItsWayError): Promise<NewRow> {
    if (!cluster.hasOthers() && sessions().line(session)?.isOpen() !== true) throw onItsWay;
    const looks = looking < LOOKING ? LOOKS_MS : [];
    looking++;
    try {
      for (const ms of looks) {
        await new Promise<void>((resolve) => void clock.after(ms, resolve));
        const row = await progressOf(session, onItsWay);
        if (row.status !== 'queued') return row;
      }
      const isWanted = (await findSession(database.reader, session))?.wanted === 1;
      if (isWanted) return await progressOf(session, onItsWay);
      throw onItsWay;
    } finally {
      looking--;
    }
  }

  /** @throws {AppError} `send_failed` */
  async function progressOf({ accountId }: SessionRef, onItsWay: OnItsWayError): Promise<NewRow> {
    const row = await findMessage(database.reader, accountId, onItsWay.messageId);
    if (row === undefined) throw onItsWay;
    if (row.status === 'failed') throw new AppError('send_failed', row.error ?? undefined);
    return row;
  }

  async function sendHere(session: SessionRef, draft: Draft): Promise<NewRow> {
    const line = await sessions()
      .requireLine(session)
      .catch((error) => {
        if (error instanceof AppError && error.code === 'session_unavailable' && !(error instanceof ElsewhereError))
          return undefined;
        throw error;
      });
    if (line === undefined) return queue(session, draft);
    requireType(line, draft.type);
    const to = line.connection.numberOf?.(draft.to) ?? draft.to;
    const chat = await chatOf(session, to);
    const row = rowOf(session, line.phoneNumber, { ...draft, to }, { status: 'queued', timestamp: clock.now() });
    const { messageId } = draft;
    const wasSending = sending.has(messageId);
    sending.add(messageId);
    try {
      // The run before this one stored it and died before it could answer.
      if (!(await store(row, chat))) {
        const stored = await findMessage(database.reader, session.accountId, messageId);
        if (stored === undefined) throw new AppError('not_found');
        if (stored.status !== 'queued' || wasSending || acknowledgements.isWaiting(stored)) return stored;
      }
      if (await queued.isBehind(row, (id) => sending.has(id))) throw new OnItsWayError(messageId);
      const timestamp = await handOver(line, row, chat);
      return { ...row, status: 'sent', timestamp, sent_at: timestamp };
    } finally {
      if (!wasSending) sending.delete(messageId);
    }
  }

  /**
   * Nobody can send it now: it is stored, and goes out when its session has a node again.
   * @returns the message, when a run before this one has got further
   * @throws {OnItsWayError}
   */
  async function queue(session: SessionRef, draft: Draft): Promise<NewRow> {
    const phoneNumber = await numberOf(session);
    const chat = await chatOf(session, draft.to);
    const row = rowOf(session, phoneNumber, draft, { status: 'queued', timestamp: clock.now() });
    if (!(await store(row, chat))) {
      const stored = await findMessage(database.reader, session.accountId, draft.messageId);
      if (stored !== undefined && stored.status !== 'queued') return stored;
    }
    throw new OnItsWayError(draft.messageId);
  }

  /** @throws {AppError} `session_not_connected` */
  async function numberOf(session: SessionRef): Promise<string> {
    const phoneNumber = (await findSession(database.reader, session))?.phone_number;
    if (phoneNumber !== undefined && phoneNumber !== null) return phoneNumber;
    throw new AppError('session_not_connected', 'The session has no phone number yet: connect it once');
  }

  async function schedule(session: SessionRef, drafts: readonly (Draft & { readonly sendAt: number })[]) {
    const { accountId } = session;
    const leave = await takeRoom(accountId, drafts.length);
    try {
      return await storeScheduled(session, drafts);
    } finally {
      leave();
    }
  }

  /**
   * Counts what is being stored at the same time against the limit as well.
   * @returns what to call when all of it is stored
   * @throws {AppError} `too_many`
   */
  async function takeRoom(accountId: string, added: number): Promise<() => void> {
    const beingStored = () => scheduling.get(accountId) ?? 0;
    const before = beingStored();
    const { count = 0 } = (await countScheduled.first(database.reader, { accountId, most: maxScheduled })) ?? {};
    if (Number(count) + Math.max(before, beingStored()) + added > maxScheduled) {
      throw new AppError(
        'too_many',
        `The account would exceed its limit of ${maxScheduled} scheduled messages (MAX_SCHEDULED_MESSAGES). Wait until some are sent, or cancel some.`,
      );
    }
    scheduling.set(accountId, beingStored() + added);
    return () => {
      const left = beingStored() - added;
      if (left > 0) scheduling.set(accountId, left);
      else scheduling.delete(accountId);
    };
  }

  async function storeScheduled(session: SessionRef, drafts: readonly (Draft & { readonly sendAt: number })[]) {
    const phoneNumber = await numberOf(session);
    const line = sessions().line(session);
    const rows: NewRow[] = [];
    for (const draft of drafts) {
      if (line !== undefined) requireType(line, draft.type);
      const chat = await chatOf(session, draft.to);
      const row = rowOf(session, phoneNumber, draft, {
        status: 'scheduled',
        timestamp: draft.sendAt,
        scheduled_at: draft.sendAt,
      });
      const isNew = await store(row, chat);
      rows.push(isNew ? row : ((await findMessage(database.reader, session.accountId, draft.messageId)) ?? row));
    }
    void scheduled.plan();
    cluster.signals.send('schedule', session.sessionId);
    return rows;
  }

  function rowOf(
    { accountId, sessionId }: SessionRef,
    from: string,
    { messageId, to, type, text, content, replyTo }: Draft,
    state: Pick<NewRow, 'status' | 'timestamp'> & Partial<NewRow>,
  ): NewRow {
    return newRow({
      account_id: accountId,
      message_id: messageId,
      session_id: sessionId,
      chat_id: to,
      network_id: messageId,
      direction: 'outgoing',
      type,
      from_number: from,
      to_id: to,
      body: text,
      content: contentColumn(content),
      reply_to: replyTo,
      created_at: clock.now(),
      ...state,
    });
  }

  /** @returns whether it is new */
  function store(row: NewRow, { type }: NetworkChat): Promise<boolean> {
    const chat = row.status === 'scheduled' ? undefined : { type, unread: 0 };
    return database.commitJointly(storeMessages, { row, chat }, row.session_id);
  }

  /** Gives a stored message to the network and stores what becomes of it. */
  async function handOver(line: Line, row: NewRow, chat: NetworkChat, holdMs: HoldMs = never): Promise<number> {
    const work = give(line, row, chat, holdMs);
    const others = handing.get(line.sessionId) ?? new Set();
    handing.set(line.sessionId, others.add(work));
    try {
      return await work;
    } finally {
      others.delete(work);
      if (others.size === 0) handing.delete(line.sessionId);
    }
  }

  async function give(line: Line, row: NewRow, chat: NetworkChat, holdMs: HoldMs): Promise<number> {
    // Since it was stored the session may have been closed here, or gone to another node: it is sent by who has it next.
    if (!line.isOpen()) throw new OnItsWayError(row.message_id);
    const message = toSent(row);
    // Whoever has linked the session since is somebody else.
    if (row.from_number !== line.phoneNumber) {
      const reason = `It was to be sent from ${row.from_number}, and the session has another number now`;
      await inbox.refuse(message, reason);
      throw new AppError('send_failed', reason);
    }
    let answer: Promise<Taken> | undefined;
    let taken: Taken;
    try {
      const outgoing = await toOutgoing(row, chat);
      const timeoutMs = outgoing.content.media === undefined ? SEND_TIMEOUT_MS : LONGEST_SEND_MS;
      answer = line.connection.send(outgoing);
      taken = await withTimeout(answer, timeoutMs);
    } catch (error) {
      // It is not this connection that tells: who has the session next asks again, by the same id.
      if (!line.isOpen()) throw new OnItsWayError(row.message_id);
      const ms = holdMs(error);
      if (ms !== undefined) throw new HeldError(ms);
      const reason = error instanceof AppError ? error.message : 'The network did not take the message';
      await inbox.refuse(message, reason);
      void takeLate(line, message, answer);
      throw error instanceof AppError ? error : new AppError('send_failed', reason, { cause: error });
    }
    if (!line.isOurs()) throw new OnItsWayError(row.message_id);
    await acknowledgements.add(line, message, taken);
    return taken.timestamp;
  }

  /** An answer that comes after all: what failed for want of it is sent. */
  async function takeLate(line: Line, message: SentMessage, answer: Promise<Taken> | undefined): Promise<void> {
    const taken = await answer?.catch(() => undefined);
    if (taken !== undefined && line.isOurs()) await acknowledgements.add(line, message, taken).catch(() => {});
  }

  function withTimeout<T>(promise: Promise<T>, timeoutMs: number): Promise<T> {
    return new Promise((resolve, reject) => {
      const cancelTimeout = clock.after(timeoutMs, () =>
        reject(
          new AppError(
            'send_failed',
            `The network did not answer within ${timeoutMs / 1000} s: the message may have been sent or not`,
          ),
        ),
      );
      promise.then(resolve, reject).finally(cancelTimeout);
    });
  }

  function resume(session: SessionRef): void {
    void scheduled.plan(); // what fell due while nobody had the session
    queued.wake(session);
  }

  async function sendQueued(line: Line, row: MessageRow, holdMs: HoldMs): Promise<void> {
    if (sending.has(row.message_id) || acknowledgements.isWaiting(row)) return;
    sending.add(row.message_id);
    try {
      // The list that it was in may be old.
      const { status } = (await findMessage(database.reader, row.account_id, row.message_id)) ?? {};
      if (status !== 'queued') return;
      const chat = await chatOf(line, row.chat_id).catch(async (error) => {
        if (error instanceof AppError && error.code === 'not_found') await inbox.refuse(toSent(row), error.message);
        throw error;
      });
      await handOver(line, row, chat, holdMs);
    } finally {
      sending.delete(row.message_id);
    }
  }

  async function settled(sessionId: string): Promise<void> {
    const { promise: late, resolve } = Promise.withResolvers<void>();
    const cancelTimeout = clock.after(SETTLE_MS, resolve);
    await Promise.race([late, Promise.allSettled(handing.get(sessionId) ?? [])]);
    cancelTimeout();
  }

  async function undelivered({ accountId, sessionId }: SessionRef): Promise<OutgoingMessage[]> {
    const rows = await sentMessages.all(database.reader, { accountId, sessionId, limit: UNDELIVERED_KEPT });
    const found: OutgoingMessage[] = [];
    for (const row of rows) {
      const message = await toOutgoing(row, await chatOf({ accountId, sessionId }, row.chat_id));
      found.push({ ...message, ...(row.sent_at !== null && { sentAt: row.sent_at }) });
    }
    return found;
  }

  async function toOutgoing(row: NewRow, chat: NetworkChat): Promise<OutgoingMessage> {
    const replied =
      row.reply_to === null ? undefined : await findMessage(database.reader, row.account_id, row.reply_to);
    return {
      networkId: row.network_id,
      chat,
      content: toNetworkContent(row, media),
      replyTo: replied?.network_id ?? null,
      ...(replied && { quoted: { from: replied.from_number, text: replied.body } }),
    };
  }

  /** Ids of groups are ours, numbers are everybody's. */
  async function chatOf(session: SessionRef, chatId: string): Promise<NetworkChat> {
    if (!chatId.startsWith('grp_')) return { type: 'direct', id: chatId };
    const id = await networkIdOfGroup(database.reader, session, chatId);
    if (id === undefined) throw new AppError('not_found', 'The session has no such group');
    return { type: 'group', id };
  }

  async function keyOf(row: MessageRow): Promise<MessageKey> {
    const session = { accountId: row.account_id, sessionId: row.session_id };
    return { networkId: row.network_id, chat: await chatOf(session, row.chat_id), from: row.from_number };
  }

  return {
    start() {
      acknowledgements.start();
      scheduled.start();
      queued.start();
    },
    stop() {
      acknowledgements.stop();
      scheduled.stop();
      queued.stop();
    },
    send,
    schedule,
    cancel: scheduled.cancel,
    resume,
    settled,
    undelivered,
    keyOf,
    chatOf,
  };
}

/** @throws {AppError} `not_supported` */
function requireType({ connector }: Line, type: MessageType): void {
  if (!connector.messageTypes.includes(type)) {
    throw new AppError('not_supported', `The network of this session has no messages of type ${type}`);
  }
}

/** Who waits for the answer hears of every error at once. */
const never: HoldMs = () => undefined;

/** The message is stored, and the node that has the session next sends it. */
class OnItsWayError extends AppError {
  readonly messageId: string;
  constructor(messageId: string) {
    super(
      'session_unavailable',
      `The session is being closed, or handed to another node. The message ${messageId} is queued and goes out as soon ` +
        'as the session is connected: ask for it by its id, or repeat the request with its idempotency key',
    );
    this.messageId = messageId;
  }
}

// As literals, for a partial index is for one of them and no other.
const isSent = sql.lit('sent');
const isScheduled = sql.lit('scheduled');

const countScheduled = query((db, p: { accountId: string; most: number }) =>
  db
    .selectFrom((eb) =>
      eb
        .selectFrom('messages')
        .select('message_id')
        .where('account_id', '=', p.accountId)
        .where('status', '=', isScheduled)
        .limit(p.most)
        .as('scheduled'),
    )
    .select(({ fn }) => fn.countAll<number>().as('count')),
);

const sentMessages = query((db, p: SessionRef & { limit: number }) =>
  db
    .selectFrom('messages')
    .selectAll()
    .where('account_id', '=', p.accountId)
    .where('session_id', '=', p.sessionId)
    .where('status', '=', isSent)
    .orderBy('message_id')
    .limit(p.limit),
);
