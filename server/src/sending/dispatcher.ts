import { withTimeout } from '../async.ts';
import { MAX_SEND_MS } from '../cluster/forward.ts';
import type { NetworkChat } from '../connectors/contract/messageKey.ts';
import { AppError, isAway } from '../errors.ts';
import { toOutgoing } from '../messages/messages/outgoing.ts';
import type { Accepted, SentMessage } from '../messages/messages/outgoingProgress.ts';
import type { NewRow } from '../messages/store.ts';
import type { LiveSession } from '../sessions/liveSessions.ts';
import { Acknowledgements } from './acknowledgements.ts';
import type { SenderOptions } from './senderOptions.ts';

/** Returns how long a message waits after an error of its network, in ms; undefined if the message has failed. */
type HoldMs = (error: unknown) => number | undefined;

interface Attempt {
  /** Whether the message has waited since its call was authenticated. Then the limits of its key are checked again. */
  readonly hasWaited: boolean;
  /** Decides whether an error fails the message; without it every error does. */
  readonly holdMs?: HoldMs;
}

/** The result of an attempt that the network did not refuse. */
export type Outcome =
  /** The next message of the chat may go out. `stored` resolves when the database has the acknowledgement. */
  | { readonly kind: 'accepted'; readonly accepted: Accepted; readonly stored: Promise<void> }
  /** The network accepts nothing from the session for some time, in ms. The message stays queued. */
  | { readonly kind: 'held'; readonly ms: number }
  /** The session ended, or moved, before there was a result. Its next owner sends the message. */
  | { readonly kind: 'stillQueued' };

const STILL_QUEUED: Outcome = { kind: 'stillQueued' };

const SEND_TIMEOUT_MS = 30_000;

/** Sends stored messages to their networks, each by one caller at a time, and stores the outcome. */
export class Dispatcher {
  readonly #options: SenderOptions;
  readonly #acknowledgements: Acknowledgements;
  readonly #claimed = new Set<string>();

  constructor(options: SenderOptions) {
    this.#options = options;
    this.#acknowledgements = new Acknowledgements(options);
  }

  start(): void {
    this.#acknowledgements.start();
  }

  stop(): void {
    this.#acknowledgements.stop();
  }

  /** Claims a message until `release`. Returns false if another caller has claimed it. */
  claim(messageId: string): boolean {
    if (this.#claimed.has(messageId)) return false;
    this.#claimed.add(messageId);
    return true;
  }

  release(messageId: string): void {
    this.#claimed.delete(messageId);
  }

  /** Whether the network has accepted a message that is still stored as `queued`. */
  isAccepted(messageId: string): boolean {
    return this.#acknowledgements.isWaiting(messageId);
  }

  /**
   * Sends a stored message and stores the outcome. Call it in the turn of its chat.
   * @throws {AppError} `send_failed`, or the network's error: the message has failed
   * @throws {AppError} `storage_unavailable`: the message is still queued. `stored` rejects with it as well
   */
  dispatch(session: LiveSession, row: NewRow, chat: NetworkChat, attempt: Attempt): Promise<Outcome> {
    const outcome = this.#dispatch(session, row, chat, attempt);
    void this.#options.live.track(session, outcome.then(storedOf)).catch(() => {}); // the caller gets the error
    return outcome;
  }

  async #dispatch(
    session: LiveSession,
    row: NewRow,
    chat: NetworkChat,
    { hasWaited, holdMs }: Attempt,
  ): Promise<Outcome> {
    const { database, media, clock, keyRefusal } = this.#options;
    // The session may have been closed, or moved, since the message was stored.
    if (!session.isOpen()) return STILL_QUEUED;
    // The session was paired again with a different number.
    if (row.from_number !== session.phoneNumber) {
      const reason = `The message belongs to ${row.from_number}, but the session was re-paired with a different number`;
      throw await this.#refused(row, new AppError('send_failed', reason));
    }
    const refusal = hasWaited && row.key_id !== null ? await keyRefusal(row) : undefined;
    if (refusal !== undefined) {
      throw await this.#refused(row, new AppError('send_failed', refusal));
    }
    let answer: Promise<Accepted> | undefined;
    let accepted: Accepted;
    try {
      const outgoing = await toOutgoing(database.reader, media, row, chat);
      const timeoutMs = outgoing.content.media === undefined ? SEND_TIMEOUT_MS : MAX_SEND_MS;
      answer = session.connection.send(outgoing);
      accepted = await withTimeout(clock, timeoutMs, answer, () => unanswered(timeoutMs));
    } catch (error) {
      // A closing connection's error is not authoritative: the next owner sends again, with the same id.
      if (!session.isOpen()) return STILL_QUEUED;
      // Nothing was sent, and the database says nothing about the message.
      if (answer === undefined && isAway(error)) throw error;
      const ms = holdMs?.(error);
      if (ms !== undefined) return { kind: 'held', ms };
      const refusal = await this.#refused(row, asRefusal(error));
      session.activity.onRefused(refusal.code);
      void this.#acceptLate(session, row, answer);
      throw refusal;
    }
    if (session.isLost) return STILL_QUEUED;
    session.activity.onSent(chat.type === 'direct' ? row.chat_id : undefined, accepted.timestamp);
    return { kind: 'accepted', accepted, stored: this.#acknowledgements.add(session, row, accepted) };
  }

  /** Stores the error of a message that has failed, and returns it. */
  async #refused(row: NewRow, error: AppError): Promise<AppError> {
    await this.#options.inbox.refuse(row, error);
    return error;
  }

  /** If the answer arrives after the timeout, a message that failed becomes sent after all. */
  async #acceptLate(session: LiveSession, message: SentMessage, answer: Promise<Accepted> | undefined): Promise<void> {
    const accepted = await answer?.catch(() => undefined);
    if (accepted !== undefined && !session.isLost)
      await this.#acknowledgements.add(session, message, accepted).catch(() => {});
  }
}

const storedOf = (outcome: Outcome) => (outcome.kind === 'accepted' ? outcome.stored : undefined);

const asRefusal = (error: unknown) =>
  error instanceof AppError
    ? error
    : new AppError('send_failed', 'The network did not accept the message', { cause: error });

const unanswered = (timeoutMs: number) =>
  new AppError(
    'send_failed',
    `The network did not answer within ${timeoutMs / 1000} s: the message may or may not have been sent; check its status before you send it again`,
  );
