import { sql } from 'kysely';
import { KeyedQueue, Slots } from '../async.ts';
import { messagesInOutbox } from '../db/outbox.ts';
import { LISTED_ROWS } from '../db/pace.ts';
import { query } from '../db/query.ts';
import type { MessageRow } from '../db/schema.ts';
import { AppError, isAway } from '../errors.ts';
import { chatOf } from '../messages/messages/outgoing.ts';
import { place } from '../messages/sendOrder.ts';
import { type SessionRef, sessionOf } from '../messages/store.ts';
import type { LiveSession } from '../sessions/liveSessions.ts';
import type { Dispatcher, Outcome } from './dispatcher.ts';
import type { SenderOptions } from './senderOptions.ts';

/** How long a queued message waits for a rate limit to pass. Then it fails with the network's error. */
const MAX_PAUSE_MS = 10 * 60_000;
const UNTIL_CONNECTED = Number.POSITIVE_INFINITY;
/** How many chats of a session are sent to concurrently. The messages of one chat go out one after the other. */
const CHATS_AT_ONCE = 8;
/** Finds messages of a node that died before it could send a signal. Only a fallback. */
const POLL_MS = 30_000;
/** Pause after an outage of the database, which may have left messages behind that nobody else sends. */
const OUTAGE_MS = 1000;
/**
 * Maximum time that a new message waits for its turn before it is left to the queue. Its caller waits a little longer.
 */
const MAX_TURN_WAIT_MS = 10_000;
/** Maximum number of calls that wait for a turn in one chat. */
const MAX_WAITING = 200;
/** Maximum number of earlier messages of a chat that are checked: most are accepted, and about to be stored as sent. */
const MAX_EARLIER = 200;

/** The chat of a message. */
type Line = Pick<MessageRow, 'session_id' | 'chat_id'>;

/** A position in the queue of a chat. Messages may share a place. */
interface Position {
  readonly place: number;
  readonly messageId: string;
}

const FIRST: Position = { place: -1, messageId: '' };

/**
 * The one way of messages to their networks. In each chat, they take turns: one message at a time, in their stored
 * order (see `messages/sendOrder.ts`). A new message goes out in the turn of its own call, unless earlier ones of its
 * chat are still queued: their process died before the network accepted them, their session was not connected, their
 * scheduled time has come, or their network asked for a pause. The queue sends those, and what is behind them, as soon
 * as their session is connected on any node.
 */
export class SendQueue {
  readonly #options: SenderOptions;
  readonly #dispatcher: Dispatcher;
  /** The turns of each chat. */
  readonly #turns = new KeyedQueue();
  /** Sessions whose queue is being sent → whether to look for more afterwards. */
  readonly #sending = new Map<string, boolean>();
  /** Sessions whose network asked for a pause → cancels its end. */
  readonly #pauses = new Map<string, () => void>();
  /** Sessions that may have queued messages unknown to this process → cancels the timer of the next look. */
  readonly #unsure = new Map<string, () => void>();
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
    for (const cancel of [...this.#pauses.values(), ...this.#unsure.values()]) cancel();
    this.#pauses.clear();
    this.#unsure.clear();
  }

  /** Makes the owner of the session, this node or another one, send its queued messages. */
  wake(session: SessionRef): void {
    if (!this.#wakeHere(session))
      this.#options.cluster.signals.send('outbox', `${session.accountId} ${session.sessionId}`);
  }

  /**
   * Makes later messages look for earlier ones, and soon sends what is queued: a message may have been stored although
   * the database did not confirm it.
   */
  recheck(session: SessionRef): void {
    const { sessionId } = session;
    if (!this.#isRunning || this.#unsure.has(sessionId)) return;
    const look = () => {
      if (!this.#wakeHere(session)) this.#unsure.delete(sessionId); // its next connection looks
    };
    this.#unsure.set(sessionId, this.#options.clock.after(OUTAGE_MS, look));
  }

  /**
   * Runs `work`, which sends a message, once the earlier calls for its chat have ended, and passes whether it had to
   * wait for them.
   * @returns undefined if the turn does not come within some seconds; `work` does not run
   */
  inTurn<T>(row: Line, work: (hasWaited: boolean) => Promise<T>): Promise<T | undefined> {
    const line = lineOf(row);
    if (this.#turns.length(line) === 0) return this.#turns.run(line, () => work(false));
    const { promise: late, resolve } = Promise.withResolvers<undefined>();
    let isLate = false;
    const leave = () => {
      isLate = true;
      resolve(undefined);
    };
    const cancel = this.#options.clock.after(MAX_TURN_WAIT_MS, leave);
    const turn = this.#turns.run(line, () => {
      cancel();
      return isLate ? late : work(true);
    });
    return Promise.race([turn, late]);
  }

  /** @throws {AppError} `rate_limited` if too many calls wait for a turn in the chat */
  requireRoom(row: Line): void {
    if (this.#turns.length(lineOf(row)) < MAX_WAITING) return;
    const retryAfterSeconds = MAX_TURN_WAIT_MS / 1000;
    throw new AppError('rate_limited', 'Too many messages to this chat are waiting to be sent', { retryAfterSeconds });
  }

  /** Whether the queue has to send earlier messages of the chat first. Call it in the turn of the message. */
  async isBehind(row: Line & Pick<MessageRow, 'account_id' | 'message_id'>): Promise<boolean> {
    const { database, cluster } = this.#options;
    const { account_id: accountId, session_id: sessionId, chat_id: chatId, message_id: messageId } = row;
    const hasQueue = this.#sending.has(sessionId) || this.#pauses.has(sessionId) || this.#unsure.has(sessionId);
    // Another node may have queued a message, and its signal may be late or lost.
    if (!hasQueue && !cluster.hasOthers() && cluster.counts().isListening) return false;
    const p = { accountId, sessionId, chatId, messageId, limit: MAX_EARLIER };
    const before = await queuedBefore.all(database.reader, p);
    return before.length === MAX_EARLIER || before.some((other) => !this.#dispatcher.isAccepted(other.message_id));
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
    this.#sendAll({ accountId, sessionId }).catch((error) => {
      this.#sending.delete(sessionId);
      this.#options.log.error({ err: error, session: sessionId }, 'failed to send queued messages; trying again');
      this.recheck({ accountId, sessionId });
    });
  }

  /** Repeats while more is queued. A pause that one message asks for applies to the whole session. */
  async #sendAll(session: SessionRef): Promise<void> {
    const { database, live } = this.#options;
    const { sessionId } = session;
    do {
      this.#sending.set(sessionId, false);
      this.#unsure.get(sessionId)?.();
      this.#unsure.delete(sessionId);
      const connected = live.find(session);
      if (connected === undefined) break;
      const isLong = (await hasMany.first(database.reader, session)) !== undefined;
      const chats = await chatsWithQueued.all(isLong ? database.longReader : database.reader, session);
      const heldMs = await this.#sendChats(connected, chats);
      if (heldMs !== undefined) this.#pause(session, heldMs);
      else if (!connected.isOpen()) this.wake(session);
    } while (this.#sending.get(sessionId) && !this.#pauses.has(sessionId));
    // Without a wait after the check: a wake-up in between would be lost.
    this.#sending.delete(sessionId);
  }

  /** @returns how long the session has to pause, in ms */
  async #sendChats(session: LiveSession, chats: readonly { chat_id: string }[]): Promise<number | undefined> {
    const slots = new Slots(CHATS_AT_ONCE);
    let heldMs: number | undefined;
    const sendChat = async ({ chat_id }: { chat_id: string }) => {
      const line = lineOf({ session_id: session.sessionId, chat_id });
      let after: Position | undefined = FIRST;
      // A turn per message, so that a new one learns soon that it is behind others.
      while (after !== undefined && heldMs === undefined && session.isOpen()) {
        const last: Position = after;
        const sent = await this.#turns.run(line, () => this.#sendNext(session, chat_id, last));
        after = sent.after;
        heldMs = sent.heldMs ?? heldMs;
      }
    };
    await Promise.all(chats.map((chat) => slots.run(() => sendChat(chat))));
    return heldMs;
  }

  /**
   * Sends the first queued message of a chat behind a position.
   * @returns the position to go on from, if there may be more; how long the session has to pause, in ms
   */
  async #sendNext(
    session: LiveSession,
    chatId: string,
    after: Position,
  ): Promise<{ readonly after?: Position; readonly heldMs?: number | undefined }> {
    const dispatcher = this.#dispatcher;
    const p = { sessionId: session.sessionId, chatId, afterPlace: after.place, afterId: after.messageId };
    const row = await nextQueued.first(this.#options.database.reader, p);
    if (row === undefined) return {};
    const reached = { place: row.place, messageId: row.message_id };
    if (dispatcher.isAccepted(row.message_id)) return { after: reached };
    // Its own call has claimed it, and waits for its turn behind this one.
    if (!dispatcher.claim(row.message_id)) return { after };
    try {
      return { after: reached, heldMs: await this.#sendOne(session, row) };
    } finally {
      dispatcher.release(row.message_id);
    }
  }

  /** Returns how long the session has to pause, in ms. A message that fails must not hold up those behind it. */
  async #sendOne(session: LiveSession, row: MessageRow): Promise<number | undefined> {
    const { message_id: messageId } = row;
    try {
      const outcome = await this.#dispatch(session, row);
      if (outcome.kind === 'held') return outcome.ms;
      if (outcome.kind === 'stillQueued') return undefined;
      await outcome.stored;
    } catch (error) {
      const about = { err: error, session: session.sessionId, message: messageId };
      this.#options.log.warn(about, 'queued message failed');
      // It may still be queued, and then goes first.
      if (isAway(error)) return OUTAGE_MS;
    }
    this.#heldSince.delete(messageId);
    return undefined;
  }

  async #dispatch(session: LiveSession, row: MessageRow): Promise<Outcome> {
    const { database, inbox } = this.#options;
    const chat = await chatOf(database.reader, session, row.chat_id).catch(async (error) => {
      if (error instanceof AppError && error.code === 'not_found') await inbox.refuse(row, error);
      throw error;
    });
    const holdMs = (error: unknown) => this.#holdMs(row, error);
    return this.#dispatcher.dispatch(session, row, chat, { hasWaited: true, holdMs });
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
      for (const row of await sessionsWithQueued.all(this.#options.database.longReader, {}))
        this.#wakeHere(sessionOf(row));
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

/** Whether the session has more queued messages than one read on the main thread lists. */
const hasMany = query((db, p: SessionRef) =>
  db
    .selectFrom('outbox')
    .select('chat_id')
    .where('session_id', '=', p.sessionId)
    .where('status', '=', isQueued)
    .limit(sql.lit(1))
    .offset(sql.lit(LISTED_ROWS)),
);

const chatsWithQueued = query((db, p: SessionRef) =>
  db
    .selectFrom('outbox')
    .select('chat_id')
    .where('session_id', '=', p.sessionId)
    .where('status', '=', isQueued)
    .groupBy('chat_id')
    .orderBy(({ fn }) => fn.min('place'))
    .$narrowType<{ chat_id: string }>(),
);

const nextQueued = query((db, p: { sessionId: string; chatId: string; afterPlace: number; afterId: string }) =>
  messagesInOutbox(db, 'queued')
    .selectAll('m')
    .select('o.place')
    .where('o.session_id', '=', p.sessionId)
    .where('o.chat_id', '=', p.chatId)
    .where(sql<boolean>`(o.place, o.message_id) > (${p.afterPlace}, ${p.afterId})`)
    .orderBy('o.place')
    .orderBy('o.message_id')
    .limit(1)
    .$narrowType<{ place: number }>(),
);

const queuedBefore = query(
  (db, p: { accountId: string; sessionId: string; chatId: string; messageId: string; limit: number }) =>
    db
      .selectFrom('outbox')
      .select('message_id')
      .where('session_id', '=', p.sessionId)
      .where('status', '=', isQueued)
      .where('chat_id', '=', p.chatId)
      .where(
        ({ selectFrom }) =>
          sql<boolean>`(place, message_id) < (${selectFrom('messages as own')
            .select(place.as('place'))
            .where('own.account_id', '=', p.accountId)
            .where('own.message_id', '=', p.messageId)}, ${p.messageId})`,
      )
      .orderBy('place')
      .orderBy('message_id')
      .limit(p.limit),
);

/** Jumps in the index from session to session, because each can have a hundred thousand queued messages. */
const sessionsWithQueued = query<object, Pick<MessageRow, 'account_id' | 'session_id'>>(
  () => sql<Pick<MessageRow, 'account_id' | 'session_id'>>`
    with recursive queued (session_id) as (
      select min(session_id) from outbox where status = 'queued'
      union all
      select (select min(o.session_id) from outbox o where o.status = 'queued' and o.session_id > queued.session_id)
      from queued where queued.session_id is not null
    )
    select s.account_id, s.session_id from queued join sessions s on s.session_id = queued.session_id`,
);

const lineOf = ({ session_id, chat_id }: Line) => `${session_id} ${chat_id}`;
