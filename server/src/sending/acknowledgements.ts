import { sleep } from '../async.ts';
import type { Clock } from '../clock.ts';
import { isAway } from '../errors.ts';
import type { Log } from '../log.ts';
import type { Inbox } from '../messages/inbox.ts';
import type { Accepted, SentMessage } from '../messages/outgoingProgress.ts';
import type { LiveSession } from '../sessions/liveSessions.ts';

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
  readonly #inbox: Inbox;
  readonly #clock: Clock;
  readonly #log: Log;
  /** Chat → messages that the network accepted and the database does not have yet, oldest first. */
  readonly #waiting = new Map<string, Acknowledgement[]>();
  readonly #storing = new Map<string, Promise<void>>();
  #isRunning = false;

  constructor(inbox: Inbox, clock: Clock, log: Log) {
    this.#inbox = inbox;
    this.#clock = clock;
    this.#log = log;
  }

  start(): void {
    this.#isRunning = true;
  }

  stop(): void {
    this.#isRunning = false;
  }

  /** Whether the network accepted this message and the database does not have that yet. */
  isWaiting({ session_id, chat_id, message_id }: { session_id: string; chat_id: string; message_id: string }): boolean {
    const waiting = this.#waiting.get(`${session_id} ${chat_id}`) ?? [];
    return waiting.some(({ message }) => message.messageId === message_id);
  }

  /** @throws {AppError} `storage_unavailable`: it is stored later */
  async add(session: LiveSession, message: SentMessage, accepted: Accepted): Promise<void> {
    const chat = `${message.sessionId} ${message.chatId}`;
    const waiting = this.#waiting.get(chat);
    if (waiting !== undefined) {
      waiting.push({ session, message, accepted });
      return this.#store(chat);
    }
    try {
      await this.#inbox.acknowledge(message, accepted);
    } catch (error) {
      if (isAway(error)) this.#keep(chat, { session, message, accepted });
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
      await sleep(this.#clock, RETRY_MS);
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
    const waiting = this.#waiting.get(chat) ?? [];
    for (let next = waiting[0]; next !== undefined; next = waiting[0]) {
      const { session, message, accepted } = next;
      // Another owner repeats the message with the same id.
      if (session.isOurs()) {
        try {
          await this.#inbox.acknowledge(message, accepted);
        } catch (error) {
          if (isAway(error)) throw error;
          this.#log.error({ err: error, message: message.messageId }, 'failed to store that a message was sent');
        }
      }
      waiting.shift();
    }
    this.#waiting.delete(chat);
  }
}
