import { sleep } from '../async.ts';
import type { Clock } from '../clock.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { MovedError } from '../cluster/leases.ts';
import type { Database } from '../db/database.ts';
import type { MessageRow } from '../db/schema.ts';
import { AppError } from '../errors.ts';
import type { Log } from '../log.ts';
import type { Media } from '../media/media.ts';
import type { Inbox } from '../messages/inbox.ts';
import { chatOf } from '../messages/outgoing.ts';
import { findMessage, findSession, type NewRow, type SessionRef } from '../messages/store.ts';
import type { LiveSession, LiveSessions } from '../sessions/liveSessions.ts';
import type { SteadyClock } from '../steadyClock.ts';
import { Dispatcher, StillQueuedError } from './dispatcher.ts';
import { type Draft, numberOf, requireType, rowOf, storeOutgoing } from './draft.ts';
import { SendQueue } from './queue.ts';
import { Schedule, type ScheduledDraft } from './schedule.ts';

/** Waits between checks whether another node, or the queue, has sent a message: usually within a second. */
const LOOKS_MS: readonly number[] = [100, 200, 300, 400, 500, 500, 500, 500];
/** Limits concurrent checks, for when a node with many sessions dies. */
const LOOKING = 200;

interface Options {
  readonly database: Database;
  readonly cluster: Cluster;
  readonly inbox: Inbox;
  readonly media: Media;
  readonly live: LiveSessions;
  /** How many messages an account may have scheduled. */
  readonly maxScheduled: number;
  readonly clock: Clock;
  readonly steady: SteadyClock;
  readonly log: Log;
}

/** Sends messages now, later, or as soon as their session is connected. */
export class Sender {
  readonly #database: Database;
  readonly #cluster: Cluster;
  readonly #live: LiveSessions;
  readonly #clock: Clock;
  readonly #dispatcher: Dispatcher;
  readonly #queue: SendQueue;
  readonly #schedule: Schedule;
  #looking = 0;

  constructor(options: Options) {
    const { database, cluster, live, clock } = options;
    this.#database = database;
    this.#cluster = cluster;
    this.#live = live;
    this.#clock = clock;
    this.#dispatcher = new Dispatcher(options);
    this.#queue = new SendQueue({ ...options, dispatcher: this.#dispatcher });
    this.#schedule = new Schedule({ ...options, onQueued: (session) => this.#queue.wake(session) });
    live.on('connected', (session) => {
      void this.#schedule.plan(); // messages may have become due while the session had no owner
      this.#queue.wake(session);
    });
  }

  start(): void {
    this.#dispatcher.start();
    this.#schedule.start();
    this.#queue.start();
  }

  stop(): void {
    this.#dispatcher.stop();
    this.#schedule.stop();
    this.#queue.stop();
  }

  /**
   * Stores a message as `queued` and sends it.
   * @returns the message as `sent`; as `queued` if the owner of the session has not sent it within some seconds
   * @throws {MovedError} another node owns the session; nothing is stored
   * @throws {AppError} `session_not_connected`, `not_found`, `not_supported`, `send_failed`, or the network's error;
   * `session_unavailable` if the session is closing: the message is stored, and goes out later
   */
  async send(session: SessionRef, draft: Draft): Promise<NewRow> {
    try {
      return await this.#sendHere(session, draft);
    } catch (error) {
      if (!(error instanceof StillQueuedError)) throw error;
      this.#queue.wake(session);
      return await this.#sentByQueue(session, error);
    }
  }

  /**
   * Stores messages as `scheduled`. A message that becomes due while its session is not connected goes out once it is.
   * @throws {AppError} `session_not_connected` if the session was never linked, `not_found`, `not_supported`,
   * `too_many`
   */
  schedule(session: SessionRef, drafts: readonly ScheduledDraft[]): Promise<NewRow[]> {
    return this.#schedule.add(session, drafts);
  }

  /**
   * Cancels a scheduled message.
   * @returns whether it was still scheduled
   */
  cancel(row: MessageRow): Promise<boolean> {
    return this.#schedule.cancel(row);
  }

  async #sendHere(session: SessionRef, draft: Draft): Promise<NewRow> {
    const live = await this.#liveOrUnavailable(session);
    if (live === undefined) return this.#storeForLater(session, draft);
    requireType(live, draft.type);
    const { reader } = this.#database;
    const { messageId } = draft;
    const to = live.connection.numberOf?.(draft.to) ?? draft.to;
    const chat = await chatOf(reader, session, to);
    const row = this.#queuedRow(session, live.phoneNumber, { ...draft, to });
    const isClaimed = this.#dispatcher.claim(messageId);
    try {
      // An earlier run may have stored it and died before it answered.
      if (!(await storeOutgoing(this.#database, row, chat))) {
        const stored = await findMessage(reader, session.accountId, messageId);
        if (stored === undefined) throw new AppError('not_found');
        if (stored.status !== 'queued' || !isClaimed || this.#dispatcher.isAccepted(stored)) return stored;
      }
      if (await this.#queue.isBehind(row)) throw new StillQueuedError(messageId);
      const timestamp = await this.#dispatcher.dispatch(live, row, chat);
      return { ...row, status: 'sent', timestamp, sent_at: timestamp };
    } finally {
      if (isClaimed) this.#dispatcher.release(messageId);
    }
  }

  /**
   * Returns undefined while the session moves between nodes.
   * @throws {AppError} the errors of `LiveSessions.require`
   */
  async #liveOrUnavailable(session: SessionRef): Promise<LiveSession | undefined> {
    try {
      return await this.#live.require(session);
    } catch (error) {
      if (error instanceof MovedError || !(error instanceof AppError)) throw error;
      if (error.code !== 'session_unavailable') throw error;
      return undefined;
    }
  }

  /**
   * Stores a message that goes out once its session has an owner.
   * @returns the message, if an earlier run has made progress
   * @throws {StillQueuedError}
   */
  async #storeForLater(session: SessionRef, draft: Draft): Promise<NewRow> {
    const { reader } = this.#database;
    const row = this.#queuedRow(session, await numberOf(this.#database, session), draft);
    if (!(await storeOutgoing(this.#database, row, await chatOf(reader, session, draft.to)))) {
      const stored = await findMessage(reader, session.accountId, draft.messageId);
      if (stored !== undefined && stored.status !== 'queued') return stored;
    }
    throw new StillQueuedError(draft.messageId);
  }

  #queuedRow(session: SessionRef, from: string, draft: Draft): NewRow {
    const now = this.#clock.now();
    return rowOf(session, from, draft, { status: 'queued', timestamp: now, created_at: now });
  }

  /**
   * Waits a moment for the current or next owner of the session to send a queued message. The owner is this node if
   * earlier messages of the chat are queued.
   * @returns the message; as `queued` if that takes longer
   * @throws {StillQueuedError} the session will not get an owner
   * @throws {AppError} `send_failed`
   */
  async #sentByQueue(session: SessionRef, stillQueued: StillQueuedError): Promise<NewRow> {
    if (!this.#cluster.hasOthers() && this.#live.find(session)?.isOpen() !== true) throw stillQueued;
    const looks = this.#looking < LOOKING ? LOOKS_MS : [];
    this.#looking++;
    try {
      for (const ms of looks) {
        await sleep(this.#clock, ms);
        const row = await this.#progressOf(session, stillQueued);
        if (row.status !== 'queued') return row;
      }
      const isWanted = (await findSession(this.#database.reader, session))?.wanted === 1;
      if (isWanted) return await this.#progressOf(session, stillQueued);
      throw stillQueued;
    } finally {
      this.#looking--;
    }
  }

  /** @throws {AppError} `send_failed` */
  async #progressOf({ accountId }: SessionRef, stillQueued: StillQueuedError): Promise<NewRow> {
    const row = await findMessage(this.#database.reader, accountId, stillQueued.messageId);
    if (row === undefined) throw stillQueued;
    if (row.status === 'failed') throw new AppError('send_failed', row.error ?? undefined);
    return row;
  }
}
