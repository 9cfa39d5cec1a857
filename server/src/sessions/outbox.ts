import { sql } from 'kysely';
import type { Clock } from '../clock.ts';
import type { MessageKey, MessageType, NetworkChat, OutgoingMessage } from '../connectors/connector.ts';
import type { Database } from '../db/database.ts';
import { query } from '../db/query.ts';
import type { MessageRow } from '../db/schema.ts';
import { AppError } from '../errors.ts';
import type { Log } from '../log.ts';
import type { Media } from '../media/media.ts';
import type { Inbox } from './inbox.ts';
import { contentColumn, type StoredContent, toNetworkContent } from './messageContent.ts';
import { toSent } from './messageInbox.ts';
import {
  findMessage,
  findSession,
  type NewRow,
  networkIdOfGroup,
  newRow,
  type SessionRef,
  storeMessage,
  touchChat,
} from './messageStore.ts';
import type { Line } from './sessions.ts';

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
   * Stores a message as `queued`, hands it to the network and resolves with it as `sent`.
   * @throws {AppError} `session_not_connected`, `not_found`, `not_supported`, `send_failed`, or what the network says
   */
  send(session: SessionRef, draft: Draft): Promise<NewRow>;
  /**
   * Stores messages as `scheduled`, each for its time. A session that is not connected then sends it as soon as it is.
   * @throws {AppError} `session_not_connected` when the session was never linked, `not_found`, `not_supported`
   */
  schedule(session: SessionRef, drafts: readonly (Draft & { readonly sendAt: number })[]): Promise<NewRow[]>;
  /**
   * Takes a scheduled message back.
   * @returns whether it was still scheduled
   */
  cancel(row: MessageRow): Promise<boolean>;
  /** A session is connected: what is queued for it goes out. */
  resume(line: Line): void;
  /** Messages that the network took and has not confirmed, oldest first. */
  undelivered(session: SessionRef): Promise<OutgoingMessage[]>;
  /** A message as its network addresses it. @throws {AppError} `not_found` when its group is gone */
  keyOf(row: MessageRow): Promise<MessageKey>;
  /** A chat as its network addresses it. @throws {AppError} `not_found` when the session has no such group */
  chatOf(session: SessionRef, chatId: string): Promise<NetworkChat>;
}

const SEND_TIMEOUT_MS = 30_000;
/** More than this waiting for its confirmation is not asked for again: it would be weeks of traffic. */
const UNDELIVERED_KEPT = 10_000;
const SCHEDULED_AT_ONCE = 100;
/** Timers end at some 24 days, and clocks are set: the schedule is looked at again at least this often. */
const SCHEDULE_EVERY_MS = 60_000;
const SCHEDULE_RETRY_MS = 1000;

export function createOutbox({
  database,
  inbox,
  media,
  lineOf,
  clock,
  log,
}: {
  database: Database;
  inbox: Inbox;
  media: Media;
  /** The line of a session that is connected now. */
  lineOf: (session: SessionRef) => Line | undefined;
  clock: Clock;
  log: Log;
}): Outbox {
  /** Messages between "queued" and the network's answer; a reconnect must not send them a second time. */
  const sending = new Set<string>();
  let isRunning = false;
  let isPlanning = false;
  let mustPlan = false;
  let cancelTimer = () => {};

  async function send(session: SessionRef, draft: Draft): Promise<NewRow> {
    const line = lineOf(session);
    if (line === undefined) throw new AppError('session_not_connected');
    requireType(line, draft.type);
    const chat = await chatOf(session, draft.to);
    const row = rowOf(session, line.phoneNumber, draft, { status: 'queued', timestamp: clock.now() });
    const { messageId } = draft;
    const wasSending = sending.has(messageId);
    sending.add(messageId);
    try {
      // The run before this one stored it and died before it could answer.
      if (!(await store(row, chat))) {
        const stored = await findMessage(database.reader, session.accountId, messageId);
        if (stored === undefined) throw new AppError('not_found');
        if (stored.status !== 'queued' || wasSending) return stored;
      }
      const timestamp = await handOver(line, row, chat);
      return { ...row, status: 'sent', timestamp, sent_at: timestamp };
    } finally {
      sending.delete(messageId);
    }
  }

  async function schedule(session: SessionRef, drafts: readonly (Draft & { readonly sendAt: number })[]) {
    const own = await findSession(database.reader, session);
    const phoneNumber = own?.phone_number;
    if (phoneNumber === undefined || phoneNumber === null) {
      throw new AppError('session_not_connected', 'The session has no phone number yet: connect it once');
    }
    const line = lineOf(session);
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
    void plan();
    return rows;
  }

  async function cancel({ account_id: accountId, session_id: sessionId, message_id: messageId }: MessageRow) {
    const now = clock.now();
    return (await database.commit((tx) => markCancelled.run(tx, { accountId, messageId, now }), sessionId)) === 1;
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
    const { account_id: accountId, session_id: sessionId, message_id: messageId, chat_id: chatId } = row;
    return database.commit(async (tx) => {
      if (!(await storeMessage(tx, row))) return false;
      // What is scheduled is nobody's last message yet.
      if (row.status === 'scheduled') return true;
      await touchChat.run(tx, { accountId, sessionId, chatId, type, messageId, at: row.timestamp, unread: 0 });
      return true;
    }, sessionId);
  }

  /** Gives a stored message to the network and stores what becomes of it. */
  async function handOver({ connection }: Line, row: NewRow, chat: NetworkChat): Promise<number> {
    const message = toSent(row);
    let taken: { timestamp: number };
    try {
      taken = await withTimeout(connection.send(await toOutgoing(row, chat)));
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
      const cancelTimeout = clock.after(SEND_TIMEOUT_MS, () =>
        reject(new AppError('send_failed', `The network did not answer within ${SEND_TIMEOUT_MS / 1000} s`)),
      );
      promise.then(resolve, reject).finally(cancelTimeout);
    });
  }

  /** Messages that were stored and not sent: the process died in between, or their session was away at their time. */
  function resume(line: Line): void {
    const resend = async () => {
      for (const row of await queuedMessages.all(database.reader, line)) await resendOne(line, row);
    };
    resend().catch((error) => log.error({ err: error, session: line.sessionId }, 'sending queued messages failed'));
  }

  async function resendOne(line: Line, row: MessageRow): Promise<void> {
    if (sending.has(row.message_id)) return;
    sending.add(row.message_id);
    try {
      await handOver(line, row, await chatOf(line, row.chat_id));
    } catch (error) {
      // One that cannot be sent must not hold up those behind it. `handOver` has stored why, unless its chat is gone.
      if (error instanceof AppError && error.code === 'not_found') await inbox.refuse(toSent(row), error.message);
      log.warn({ err: error, session: line.sessionId, message: row.message_id }, 'a queued message was not sent');
    } finally {
      sending.delete(row.message_id);
    }
  }

  /** Queues what is due of the schedule, and sets the timer to what is next. */
  async function plan(): Promise<void> {
    mustPlan = true;
    if (isPlanning) return;
    isPlanning = true;
    while (mustPlan && isRunning) {
      mustPlan = false;
      cancelTimer();
      const nextAt = await releaseDue().catch((error) => {
        log.error({ err: error }, 'sending what was scheduled failed; trying again');
        return clock.now() + SCHEDULE_RETRY_MS;
      });
      if (nextAt <= clock.now()) mustPlan = true;
      else if (isRunning) cancelTimer = clock.after(nextAt - clock.now(), () => void plan());
    }
    isPlanning = false;
  }

  /** @returns when to look again */
  async function releaseDue(): Promise<number> {
    const { reader } = database;
    const due = await dueMessages.all(reader, { now: clock.now(), limit: SCHEDULED_AT_ONCE });
    for (const row of due) await release(row);
    const next = await nextScheduled.first(reader, {});
    return Math.min(next?.scheduled_at ?? Number.POSITIVE_INFINITY, clock.now() + SCHEDULE_EVERY_MS);
  }

  /** A scheduled message is queued, and goes out when its session is connected, now or later. */
  async function release(row: MessageRow): Promise<void> {
    const { account_id: accountId, session_id: sessionId, message_id: messageId, chat_id: chatId } = row;
    const now = clock.now();
    const isDue = await database.commit(async (tx) => {
      if ((await markQueued.run(tx, { accountId, messageId, now })) === 0) return false;
      const type = chatId.startsWith('grp_') ? 'group' : 'direct';
      await touchChat.run(tx, { accountId, sessionId, chatId, type, messageId, at: now, unread: 0 });
      return true;
    }, sessionId);
    const line = lineOf({ accountId, sessionId });
    if (isDue && line !== undefined) void resendOne(line, { ...row, status: 'queued' });
  }

  async function undelivered({ accountId, sessionId }: SessionRef): Promise<OutgoingMessage[]> {
    const rows = await sentMessages.all(database.reader, { accountId, sessionId, limit: UNDELIVERED_KEPT });
    const found: OutgoingMessage[] = [];
    for (const row of rows) found.push(await toOutgoing(row, await chatOf({ accountId, sessionId }, row.chat_id)));
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
      isRunning = true;
      void plan();
    },
    stop() {
      isRunning = false;
      cancelTimer();
    },
    send,
    schedule,
    cancel,
    resume,
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

const isScheduled = sql.lit('scheduled');

const dueMessages = query((db, p: { now: number; limit: number }) =>
  db
    .selectFrom('messages')
    .selectAll()
    .where('status', '=', isScheduled)
    .where('scheduled_at', '<=', p.now)
    .orderBy('scheduled_at')
    .orderBy('message_id')
    .limit(p.limit),
);

const nextScheduled = query<object, { scheduled_at: number | null }>((db) =>
  db.selectFrom('messages').select('scheduled_at').where('status', '=', isScheduled).orderBy('scheduled_at').limit(1),
);

const markQueued = query((db, p: { accountId: string; messageId: string; now: number }) =>
  db
    .updateTable('messages')
    .set({ status: 'queued', timestamp: p.now })
    .where('account_id', '=', p.accountId)
    .where('message_id', '=', p.messageId)
    .where('status', '=', 'scheduled'),
);

const markCancelled = query((db, p: { accountId: string; messageId: string; now: number }) =>
  db
    .updateTable('messages')
    .set({ status: 'failed', error: 'Cancelled before it was sent', failed_at: p.now })
    .where('account_id', '=', p.accountId)
    .where('message_id', '=', p.messageId)
    .where('status', '=', 'scheduled'),
);
