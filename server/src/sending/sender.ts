import { KeyedQueue, sleep } from '../async.ts';
import { MovedError } from '../cluster/leases.ts';
import type { NetworkChat } from '../connectors/contract/messageKey.ts';
import type { MessageRow } from '../db/schema.ts';
import { AppError, isAway } from '../errors.ts';
import type { ApprovalDecision } from '../messages/messages/approval.ts';
import { chatOf } from '../messages/messages/outgoing.ts';
import { failureOf } from '../messages/status.ts';
import { findMessage, findSession, type NewRow, type SessionRef } from '../messages/store.ts';
import type { LiveSession } from '../sessions/liveSessions.ts';
import { Approvals, type UnapprovedDraft } from './approvals.ts';
import { Dispatcher } from './dispatcher.ts';
import { type Draft, numberOf, requireType, rowOf, storeOutgoing } from './draft.ts';
import { SendQueue } from './queue.ts';
import { requireQuota, type SendQuota, sendsLeft } from './quota.ts';
import { Schedule, type ScheduledDraft } from './schedule.ts';
import type { SenderOptions } from './senderOptions.ts';

/** Delays between the checks whether a queued message was sent, which usually takes less than a second. */
const CHECK_DELAYS_MS: readonly number[] = [100, 200, 300, 400, 500, 500, 500, 500];
/** Limits the callers that check, for when a node with many sessions dies. The others get their message as queued. */
const MAX_CHECKING = 200;

/** Sends messages now, later, or as soon as their session is connected. */
export class Sender {
  readonly #options: SenderOptions;
  readonly #dispatcher: Dispatcher;
  readonly #queue: SendQueue;
  readonly #schedule: Schedule;
  readonly #approvals: Approvals;
  readonly #changes = new KeyedQueue();
  #checking = 0;

  constructor(options: SenderOptions) {
    this.#options = options;
    this.#dispatcher = new Dispatcher(options);
    this.#queue = new SendQueue(options, this.#dispatcher);
    this.#schedule = new Schedule(options, (session) => this.#queue.wake(session));
    this.#approvals = new Approvals(options, (session, status) => {
      if (status === 'scheduled') this.#schedule.changed(session);
      else this.#queue.wake(session);
    });
    options.live.on('connected', (session) => {
      void this.#schedule.plan(); // messages may have become due while the session had no owner
      this.#queue.wake(session);
    });
  }

  start(): void {
    this.#dispatcher.start();
    this.#schedule.start();
    this.#queue.start();
    this.#approvals.start();
  }

  stop(): void {
    this.#dispatcher.stop();
    this.#schedule.stop();
    this.#queue.stop();
    this.#approvals.stop();
  }

  /**
   * Stores a message as `queued` and sends it.
   * @returns the message as `sent`; as `queued` if the owner of the session has not sent it within some seconds
   * @throws {MovedError} another node owns the session; nothing is stored
   * @throws {AppError} `session_not_connected`, `not_found`, `not_supported`, `send_failed`, or the network's error;
   * `quota_exceeded`: nothing is stored;
   * `session_unavailable` if the session is closing: the message is stored, and goes out later
   */
  async send(session: SessionRef, draft: Draft, quota?: SendQuota): Promise<NewRow> {
    const sent = await this.#sendHere(session, draft, quota);
    if (sent !== undefined) return sent;
    this.#queue.wake(session);
    return this.#awaitQueued(session, draft.messageId);
  }

  /**
   * Refuses a message that could not be stored, before the caller prepares its file. Concurrent sends can still use up
   * a limit meanwhile.
   * @param later whether it will be scheduled or wait for approval; otherwise it is sent now
   * @throws {MovedError} another node owns the session
   * @throws {AppError} what `send`, `schedule` or `holdForApproval` throw before they store a message
   */
  async requireSendable(
    session: SessionRef,
    { messageId, to, type }: Pick<Draft, 'messageId' | 'to' | 'type'>,
    later: 'scheduled' | 'pending_approval' | undefined,
    quota?: SendQuota,
  ): Promise<void> {
    const { database, live } = this.#options;
    // An earlier run of the request has stored it, so it is within the limits.
    if ((await findMessage(database.reader, session.accountId, messageId)) !== undefined) return;
    const connected = later === undefined ? await this.#liveOrUnavailable(session) : live.find(session);
    if (connected === undefined) await numberOf(database, session);
    else requireType(connected, type);
    await chatOf(database.reader, session, connected?.connection.numberOf?.(to) ?? to);
    if (later === 'scheduled') await this.#schedule.requireRoom(session);
    if (later === 'pending_approval') await this.#approvals.requireRoom(session);
    if (quota !== undefined) await requireQuota(database.reader, quota);
  }

  /**
   * A message that becomes due while its session is not connected goes out once it is.
   * @throws {AppError} see `Schedule.add`
   */
  schedule(session: SessionRef, drafts: readonly ScheduledDraft[], quota?: SendQuota): Promise<NewRow[]> {
    return this.#schedule.add(session, drafts, quota);
  }

  /** Makes every node read the session's scheduled messages again, because their times have changed. */
  rescheduled(session: SessionRef): void {
    this.#schedule.changed(session);
  }

  /**
   * Stores messages that go out once they are approved.
   * @param keyId the API key that asks
   * @throws {AppError} see `Approvals.add`
   */
  holdForApproval(
    session: SessionRef,
    drafts: readonly UnapprovedDraft[],
    keyId: string,
    quota?: SendQuota,
  ): Promise<NewRow[]> {
    return this.#approvals.add(session, drafts, keyId, quota);
  }

  /** How many messages a key may still send today, and the time until it may send more. */
  sendsLeft(quota: SendQuota): Promise<{ left: number; retryAfterSeconds: number }> {
    return sendsLeft(this.#options.database.reader, quota);
  }

  /** Approves or rejects a message. Returns it; undefined if it no longer waits for approval. */
  decide(row: MessageRow, decision: ApprovalDecision): Promise<MessageRow | undefined> {
    return this.#approvals.decide(row, decision);
  }

  /**
   * Runs a change of a message (an edit, a reaction, a deletion, a mark) after those before it, so that the network and
   * the database end with the same one.
   */
  change<T>(messageId: string, work: () => Promise<T>): Promise<T> {
    return this.#changes.run(messageId, work);
  }

  /** Returns whether the message was still scheduled, or waiting for approval. */
  cancel(row: MessageRow): Promise<boolean> {
    return this.#options.inbox.cancel(row);
  }

  /** Returns whether the message was still queued. An attempt in flight can still send it. */
  cancelQueued(row: MessageRow): Promise<boolean> {
    return this.#options.inbox.cancelQueued(row);
  }

  /** @returns undefined if the message is stored, and the queue has to send it */
  async #sendHere(session: SessionRef, draft: Draft, quota: SendQuota | undefined): Promise<NewRow | undefined> {
    const live = await this.#liveOrUnavailable(session);
    if (live === undefined) return this.#storeForLater(session, draft, quota);
    requireType(live, draft.type);
    const { database } = this.#options;
    const { messageId } = draft;
    const to = live.connection.numberOf?.(draft.to) ?? draft.to;
    const chat = await chatOf(database.reader, session, to);
    const row = this.#queuedRow(session, live.phoneNumber, { ...draft, to });
    this.#queue.requireRoom(row);
    // Another run of the request is sending it.
    if (!this.#dispatcher.claim(messageId)) return (await storeOutgoing(database, row, quota)) ?? row;
    const storing = this.#store(session, row, quota);
    storing.catch(() => {}); // thrown in its turn
    try {
      const inTurn = (hasWaited: boolean) => this.#dispatch(live, row, chat, { storing, hasWaited });
      const finish = await this.#queue.inTurn(row, inTurn);
      await storing; // a message that has left its turn is queued only once it is stored
      return await finish?.();
    } catch (error) {
      if (isAway(error)) this.#queue.recheck(session);
      throw error;
    } finally {
      this.#dispatcher.release(messageId);
    }
  }

  /**
   * Hands a message to its network, in its turn.
   * @param turn.storing resolves with the row of an earlier run of the request
   * @param turn.hasWaited whether the message may have been cancelled while it waited for its turn
   * @returns a function that waits for what comes after the turn, and returns the message; undefined if it is still
   * queued
   */
  async #dispatch(
    live: LiveSession,
    row: NewRow,
    chat: NetworkChat,
    { storing, hasWaited }: { readonly storing: Promise<MessageRow | undefined>; readonly hasWaited: boolean },
  ): Promise<(() => Promise<NewRow>) | undefined> {
    const { message_id: messageId } = row;
    const earlier = await storing;
    // An earlier run may have stored it and died before it answered.
    if (earlier !== undefined && (earlier.status !== 'queued' || this.#dispatcher.isAccepted(messageId)))
      return async () => earlier;
    if (hasWaited) {
      const session = { accountId: row.account_id, sessionId: row.session_id };
      const present = await this.#progressOf(session, messageId);
      if (present.status !== 'queued') return async () => present;
    }
    if (await this.#queue.isBehind(row)) return undefined;
    const outcome = await this.#dispatcher.dispatch(live, row, chat, { hasWaited });
    if (outcome.kind !== 'accepted') return undefined;
    const { timestamp, networkId = row.network_id } = outcome.accepted;
    return async () => {
      await outcome.stored;
      return { ...row, network_id: networkId, status: 'sent', timestamp, sent_at: timestamp };
    };
  }

  /** If the database does not confirm it, the message may be stored nevertheless. */
  async #store(session: SessionRef, row: NewRow, quota: SendQuota | undefined): Promise<MessageRow | undefined> {
    try {
      return await storeOutgoing(this.#options.database, row, quota);
    } catch (error) {
      if (isAway(error)) this.#queue.recheck(session);
      throw error;
    }
  }

  /**
   * Returns undefined while the session moves between nodes.
   * @throws {AppError} the errors of `LiveSessions.require`
   */
  async #liveOrUnavailable(session: SessionRef): Promise<LiveSession | undefined> {
    try {
      return await this.#options.live.require(session);
    } catch (error) {
      if (error instanceof MovedError || !(error instanceof AppError)) throw error;
      if (error.code !== 'session_unavailable') throw error;
      return undefined;
    }
  }

  /** @returns the message, if an earlier run has made progress; undefined if it is queued */
  async #storeForLater(session: SessionRef, draft: Draft, quota: SendQuota | undefined): Promise<NewRow | undefined> {
    const { database } = this.#options;
    const row = this.#queuedRow(session, await numberOf(database, session), draft);
    await chatOf(database.reader, session, draft.to); // throws if the session is not in the group
    const stored = await storeOutgoing(database, row, quota);
    return stored?.status === 'queued' ? undefined : stored;
  }

  #queuedRow(session: SessionRef, from: string, draft: Draft): NewRow {
    const now = this.#options.clock.now();
    return rowOf(session, from, draft, { status: 'queued', timestamp: now, created_at: now });
  }

  /**
   * Waits some seconds for the owner of the session to send a queued message. The owner is another node, or this node
   * if earlier messages of the chat are queued.
   * @returns the message; as `queued` if that takes longer
   * @throws {AppError} `session_unavailable`: the session will not get an owner; the error of a message that failed
   */
  async #awaitQueued(session: SessionRef, messageId: string): Promise<NewRow> {
    const { database, cluster, live, clock } = this.#options;
    if (!cluster.hasOthers() && live.find(session)?.isOpen() !== true) throw stillQueued(messageId);
    const delays = this.#checking < MAX_CHECKING ? CHECK_DELAYS_MS : [];
    this.#checking++;
    try {
      for (const ms of delays) {
        await sleep(clock, ms);
        const row = await this.#progressOf(session, messageId);
        if (row.status !== 'queued') return row;
      }
    } finally {
      this.#checking--;
    }
    if ((await findSession(database.reader, session))?.wanted !== 1) throw stillQueued(messageId);
    return this.#progressOf(session, messageId);
  }

  /** @throws {AppError} the error of a message that failed; `session_unavailable` if the message is gone */
  async #progressOf({ accountId }: SessionRef, messageId: string): Promise<NewRow> {
    const row = await findMessage(this.#options.database.reader, accountId, messageId);
    if (row === undefined) throw stillQueued(messageId);
    if (row.status === 'failed') throw failureOf(row);
    return row;
  }
}

/** The message is stored, and the next owner of the session sends it. */
const stillQueued = (messageId: string) =>
  new AppError(
    'session_unavailable',
    `The session is closing or moving to another node. The message ${messageId} is queued and goes out as soon as the session is connected: check it by its id, or repeat the request with its idempotency key`,
  );
