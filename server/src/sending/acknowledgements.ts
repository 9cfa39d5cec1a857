import { sleep } from '../async.ts';
import { isAway } from '../errors.ts';
import type { Accepted, SentMessage } from '../messages/messages/outgoingProgress.ts';
import type { LiveSession } from '../sessions/liveSessions.ts';
import type { SenderOptions } from './senderOptions.ts';

interface Acknowledgement {
  readonly session: LiveSession;
  readonly message: SentMessage;
  readonly accepted: Accepted;
}

const RETRY_MS = 1000;

/**
 * Stores that networks accepted messages. An acceptance that cannot be stored while the database is unavailable is
 * kept, because the message would otherwise be sent again. It is stored before later ones of its chat, because events
 * follow the order of sending.
 */
export class Acknowledgements {
  readonly #options: SenderOptions;
  /** Chat → messages that the network accepted and the database does not have yet, oldest first. */
  readonly #waiting = new Map<string, Acknowledgement[]>();
  readonly #storing = new Map<string, Promise<void>>();
  /** Ids of all messages that the network accepted and the database does not have yet. */
  readonly #accepted = new Set<string>();
  #isRunning = false;

  constructor(options: SenderOptions) {
    this.#options = options;
  }

  start(): void {
    this.#isRunning = true;
  }

  stop(): void {
    this.#isRunning = false;
  }

  /** Whether the network accepted this message and the database does not have that yet. */
  isWaiting(messageId: string): boolean {
    return this.#accepted.has(messageId);
  }

  /** @throws {AppError} `storage_unavailable`: it is stored later */
  async add(session: LiveSession, message: SentMessage, accepted: Accepted): Promise<void> {
    const chat = `${message.session_id} ${message.chat_id}`;
    const waiting = this.#waiting.get(chat);
    this.#accepted.add(message.message_id);
    if (waiting !== undefined) {
      waiting.push({ session, message, accepted });
      return this.#store(chat);
    }
    try {
      await this.#options.inbox.acknowledge(message, accepted);
      this.#accepted.delete(message.message_id);
    } catch (error) {
      if (isAway(error)) this.#keep(chat, { session, message, accepted });
      else this.#accepted.delete(message.message_id);
      throw error;
    }
  }

  #keep(chat: string, acknowledgement: Acknowledgement): void {
    const waiting = this.#waiting.get(chat);
    if (waiting !== undefined) {
      waiting.push(acknowledgement);
      return;
    }
    this.#waiting.set(chat, [acknowledgement]);
    void this.#storeLater(chat);
  }

  async #storeLater(chat: string): Promise<void> {
    while (this.#isRunning && this.#waiting.has(chat)) {
      await sleep(this.#options.clock, RETRY_MS);
      await this.#store(chat).catch(() => {}); // retried later
    }
  }

  #store(chat: string): Promise<void> {
    let storing = this.#storing.get(chat);
    if (storing === undefined) {
      storing = this.#storeAll(chat).finally(() => this.#storing.delete(chat));
      this.#storing.set(chat, storing);
    }
    return storing;
  }

  async #storeAll(chat: string): Promise<void> {
    const { inbox, log } = this.#options;
    const waiting = this.#waiting.get(chat) ?? [];
    for (let next = waiting[0]; next !== undefined; next = waiting[0]) {
      const { session, message, accepted } = next;
      // Another owner repeats the message with the same id.
      if (!session.isLost) {
        try {
          await inbox.acknowledge(message, accepted);
        } catch (error) {
          if (isAway(error)) throw error;
          log.error({ err: error, message: message.message_id }, 'failed to store that a message was sent');
        }
      }
      waiting.shift();
      this.#accepted.delete(message.message_id);
    }
    this.#waiting.delete(chat);
  }
}
