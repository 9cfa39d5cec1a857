import { sql } from 'kysely';
import { Slots } from '../async.ts';
import { query } from '../db/query.ts';
import type { MessageRow } from '../db/schema.ts';
import { AppError } from '../errors.ts';
import { timeOfId } from '../ids.ts';
import { chatOf } from '../messages/outgoing.ts';
import { findMessage, type SessionRef } from '../messages/store.ts';
import type { LiveSession } from '../sessions/liveSessions.ts';
import type { SteadyClock } from '../steadyClock.ts';
import { type Dispatcher, HeldError } from './dispatcher.ts';
import type { SenderOptions } from './senderOptions.ts';

/** How long a queued message waits for a rate limit to pass. Then it fails with the network's error. */
const MAX_PAUSE_MS = 10 * 60_000;
const UNTIL_CONNECTED = Number.POSITIVE_INFINITY;
/** How many chats of a session are sent to concurrently. The messages of one chat go out one after the other. */
const CHATS_AT_ONCE = 8;
/** Finds messages of a node that died before it could send a signal. Only a fallback. */
const POLL_MS = 30_000;
/** How many earlier queued messages of a chat are checked: at times more than one node sends in a chat. */
const MAX_EARLIER = 200;

/**
 * Sends messages that are stored as `queued`: their process died before the network accepted them, their session was
 * not connected, their scheduled time has come, or their network asked for a pause. They go out as soon as their
 * session is connected on any node, in the order of their times.
 */
export class SendQueue {
  readonly #options: SenderOptions;
  readonly #dispatcher: Dispatcher;
  /** Sessions whose queue is being sent → whether to look for more afterwards. */
  readonly #sending = new Map<string, boolean>();
  /** Sessions whose network asked for a pause → cancels its end. */
  readonly #pauses = new Map<string, () => void>();
  /** Messages that their network asked to hold → since when. */
  readonly #heldSince = new Map<string, number>();
  #isRunning = false;
  #cancelPoll = () => {};

  constructor(options: SenderOptions, dispatcher: Dispatcher) {
    this.#options = options;
    this.#dispatcher = dispatcher;
    const { signals } = options.cluster;
    signals.on('outbox', (id) => {
      const [accountId = '', sessionId = ''] = id.split(' ');
      this.#wakeHere({ accountId, sessionId });
    });
    signals.on('gap', () => void this.#poll());
  }

  start(): void {
    this.#isRunning = true;
    this.#pollLater();
  }

  stop(): void {
    this.#isRunning = false;
    this.#cancelPoll();
    for (const cancel of this.#pauses.values()) cancel();
    this.#pauses.clear();
  }

  /** Makes the owner of the session, this node or another one, send its queued messages. */
  wake(session: SessionRef): void {
    if (!this.#wakeHere(session))
      this.#options.cluster.signals.send('outbox', `${session.accountId} ${session.sessionId}`);
  }

  /** Whether earlier messages of its chat are queued. Messages that are dispatched without the queue do not count. */
  async isBehind(row: Pick<MessageRow, 'session_id' | 'chat_id' | 'message_id'>): Promise<boolean> {
    const { database, cluster } = this.#options;
    const { session_id: sessionId, chat_id: chatId, message_id: messageId } = row;
    const hasQueue = this.#sending.has(sessionId) || this.#pauses.has(sessionId);
    // Another node may have queued a message, and its signal may be late or lost.
    if (!hasQueue && !cluster.hasOthers() && cluster.counts().isListening) return false;
    const before = await queuedBefore.all(database.reader, { sessionId, chatId, messageId, limit: MAX_EARLIER });
    return before.some((other) => hasQueue || !this.#dispatcher.isClaimed(other.message_id));
  }

  /** @returns whether the session is connected here */
  #wakeHere(session: SessionRef): boolean {
    const isHere = this.#options.live.find(session)?.isOpen() ?? false;
    if (isHere) this.#send(session);
    return isHere;
  }

  #send({ accountId, sessionId }: SessionRef): void {
    if (this.#pauses.has(sessionId)) return;
    const isRunning = this.#sending.has(sessionId);
    this.#sending.set(sessionId, isRunning);
    if (isRunning) return;
    this.#sendAll({ accountId, sessionId })
      .catch((error) => this.#options.log.error({ err: error, session: sessionId }, 'failed to send queued messages'))
      .finally(() => this.#sending.delete(sessionId));
  }

  /** Repeats while more is queued. A pause that one message asks for applies to the whole session. */
  async #sendAll(session: SessionRef): Promise<void> {
    const { database, live, steady } = this.#options;
    do {
      this.#sending.set(session.sessionId, false);
      const connected = live.find(session);
      if (connected === undefined) return;
      const rows = (await queuedMessages.all(database.reader, session)).sort(byTurn(steady));
      const heldMs = await this.#sendChats(connected, rows);
      if (heldMs !== undefined) this.#pause(session, heldMs);
      else if (!connected.isOpen()) this.wake(session);
    } while (this.#sending.get(session.sessionId) && !this.#pauses.has(session.sessionId));
  }

  /** @returns how long the session has to pause, in ms */
  async #sendChats(session: LiveSession, rows: readonly MessageRow[]): Promise<number | undefined> {
    const slots = new Slots(CHATS_AT_ONCE);
    let heldMs: number | undefined;
    const sendChat = async (chat: readonly MessageRow[]) => {
      for (const row of chat) {
        if (heldMs !== undefined || !session.isOpen()) return;
        heldMs = (await this.#sendOne(session, row)) ?? heldMs;
      }
    };
    const chats = Map.groupBy(rows, (row) => row.chat_id).values();
    await Promise.all([...chats].map((chat) => slots.run(() => sendChat(chat))));
    return heldMs;
  }

  /** Returns how long the session has to pause, in ms. An error must not hold up the messages behind it. */
  async #sendOne(session: LiveSession, row: MessageRow): Promise<number | undefined> {
    const dispatcher = this.#dispatcher;
    const { message_id: messageId } = row;
    if (dispatcher.isAccepted(row) || !dispatcher.claim(messageId)) return undefined;
    try {
      await this.#dispatch(session, row);
    } catch (error) {
      if (error instanceof HeldError) return error.ms;
      const about = { err: error, session: session.sessionId, message: messageId };
      this.#options.log.warn(about, 'queued message failed');
    } finally {
      dispatcher.release(messageId);
    }
    this.#heldSince.delete(messageId);
    return undefined;
  }

  async #dispatch(session: LiveSession, row: MessageRow): Promise<void> {
    const { database, inbox } = this.#options;
    // The row was read before the earlier ones were sent.
    const { status } = (await findMessage(database.reader, row.account_id, row.message_id)) ?? {};
    if (status !== 'queued') return;
    const chat = await chatOf(database.reader, session, row.chat_id).catch(async (error) => {
      if (error instanceof AppError && error.code === 'not_found') await inbox.refuse(row, error.message);
      throw error;
    });
    await this.#dispatcher.dispatch(session, row, chat, (error) => this.#holdMs(row, error));
  }

  /** Returns undefined if waiting does not help, or has taken too long. */
  #holdMs({ message_id: messageId }: MessageRow, error: unknown): number | undefined {
    if (!(error instanceof AppError)) return undefined;
    if (error.code === 'session_not_connected') return UNTIL_CONNECTED;
    if (error.code !== 'rate_limited') return undefined;
    const ms = (error.retryAfterSeconds ?? 1) * 1000;
    const now = this.#options.clock.elapsed();
    const since = this.#heldSince.get(messageId) ?? now;
    if (now - since + ms > MAX_PAUSE_MS) return undefined;
    this.#heldSince.set(messageId, since);
    return ms;
  }

  /** The queue resumes after the pause, or when the session reconnects. */
  #pause(session: SessionRef, ms: number): void {
    if (ms === UNTIL_CONNECTED || !this.#isRunning) return;
    const cancel = this.#options.clock.after(ms, () => {
      this.#pauses.delete(session.sessionId);
      this.#send(session);
    });
    this.#pauses.set(session.sessionId, cancel);
  }

  async #poll(): Promise<void> {
    try {
      for (const row of await sessionsWithQueued.all(this.#options.database.reader, {}))
        this.#wakeHere({ accountId: row.account_id, sessionId: row.session_id });
    } catch (error) {
      this.#options.log.warn({ err: error }, 'failed to look for queued messages; trying again');
    }
    if (this.#isRunning) this.#pollLater();
  }

  #pollLater(): void {
    this.#cancelPoll();
    this.#cancelPoll = this.#options.clock.after(POLL_MS, () => void this.#poll());
  }
}

// A literal, so that the planner can use the partial index.
const isQueued = sql.lit('queued' as const);

const queuedMessages = query((db, p: SessionRef) =>
  db
    .selectFrom('messages')
    .selectAll()
    .where('account_id', '=', p.accountId)
    .where('session_id', '=', p.sessionId)
    .where('status', '=', isQueued)
    .orderBy('message_id'),
);

/** Compares rows by the time in their id, or their scheduled time. */
function byTurn(steady: SteadyClock): (one: MessageRow, other: MessageRow) => number {
  const turnOf = ({ scheduled_at: scheduledAt, message_id: id }: MessageRow) =>
    scheduledAt === null ? timeOfId(id) : steady.fromWall(scheduledAt);
  return (one, other) => turnOf(one) - turnOf(other);
}

const queuedBefore = query((db, p: { sessionId: string; chatId: string; messageId: string; limit: number }) =>
  db
    .selectFrom('messages')
    .select('message_id')
    .where('session_id', '=', p.sessionId)
    .where('status', '=', isQueued)
    .where('chat_id', '=', p.chatId)
    .where('seq', '<', (eb) =>
      eb
        .selectFrom('messages as own')
        .select('own.seq')
        .where('own.session_id', '=', p.sessionId)
        .where('own.status', '=', isQueued)
        .where('own.message_id', '=', p.messageId),
    )
    .orderBy('seq')
    .limit(p.limit),
);

const sessionsWithQueued = query((db, _: object) =>
  db.selectFrom('messages').select(['account_id', 'session_id']).distinct().where('status', '=', isQueued),
);
