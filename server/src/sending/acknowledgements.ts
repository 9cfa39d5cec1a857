import { sleep } from '../async.ts';
import { isAway } from '../errors.ts';
import type { Accepted, Acknowledged, SentMessage } from '../messages/messages/outgoingProgress.ts';
import type { LiveSession } from '../sessions/liveSessions.ts';
import type { SenderOptions } from './senderOptions.ts';

interface Waiting {
  readonly session: LiveSession;
  readonly acknowledged: Acknowledged;
}

const RETRY_MS = 1000;

/**
 * Stores that networks accepted messages, in the order of sending within each chat, because their events
 * follow it: one transaction at a time, which contains all that have come since the one before.
 *
 * An acceptance that cannot be stored is kept, because the message would otherwise be sent again: until the database
 * takes it, or, if the database refuses its values even without the details of the network, until the process ends.
 */
export class Acknowledgements {
  readonly #options: SenderOptions;
  /** Chat → messages that the network accepted and the database does not have yet, oldest first. */
  readonly #waiting = new Map<string, Waiting[]>();
  /** Chat → the transaction in progress. */
  readonly #storing = new Map<string, Promise<void>>();
  /** Chats that are stored again after an error. */
  readonly #repeating = new Set<string>();
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
    const acknowledged = this.#options.inbox.acknowledged(message, accepted);
    this.#accepted.add(message.message_id);
    this.#waiting.set(chat, [...(this.#waiting.get(chat) ?? []), { session, acknowledged }]);
    // The transaction in progress has begun without it.
    await this.#storing.get(chat)?.catch(() => {});
    await this.#store(chat);
  }

  /** Stores all that wait, together with others who ask for it. */
  #store(chat: string): Promise<void> {
    let storing = this.#storing.get(chat);
    if (storing === undefined) {
      storing = this.#storeAll(chat).finally(() => this.#storing.delete(chat));
      this.#storing.set(chat, storing);
    }
    return storing;
  }

  async #storeAll(chat: string): Promise<void> {
    const batch = this.#waiting.get(chat) ?? [];
    if (batch.length === 0) return;
    const error = await this.#tryToStore(batch.map(({ acknowledged }) => acknowledged));
    if (error === undefined) this.#end(chat, batch);
    else if (isAway(error)) this.#throwAway(chat, error);
    else for (const one of batch) await this.#storeAlone(chat, one);
  }

  /** The database refuses values of an acceptance. Only values of the network can differ from all others. */
  async #storeAlone(chat: string, one: Waiting): Promise<void> {
    const { clock, log } = this.#options;
    const { acknowledged } = one;
    const about = { session: acknowledged.message.session_id, message: acknowledged.message.message_id };
    let error = await this.#tryToStore([acknowledged]);
    if (error !== undefined && !isAway(error)) {
      log.error(
        { err: error, ...about },
        'failed to store the answer of the network to a message; storing only its time',
      );
      error = await this.#tryToStore([{ ...acknowledged, accepted: { timestamp: clock.now() } }]);
    }
    if (error !== undefined && isAway(error)) this.#throwAway(chat, error);
    this.#end(chat, [one]);
    if (error === undefined) return;
    this.#accepted.add(acknowledged.message.message_id);
    log.error({ err: error, ...about }, 'failed to store that a message was sent; not sending it again');
  }

  async #tryToStore(items: readonly Acknowledged[]): Promise<unknown> {
    try {
      await this.#options.inbox.acknowledge(items);
      return undefined;
    } catch (error) {
      return error;
    }
  }

  #throwAway(chat: string, error: unknown): never {
    void this.#repeat(chat);
    throw error;
  }

  async #repeat(chat: string): Promise<void> {
    if (this.#repeating.has(chat)) return;
    this.#repeating.add(chat);
    while (this.#isRunning && this.#waiting.has(chat)) {
      await sleep(this.#options.clock, RETRY_MS);
      // Another owner repeats the messages of a lost session with the same ids.
      this.#end(chat, this.#waiting.get(chat)?.filter(({ session }) => session.isLost) ?? []);
      await this.#store(chat).catch(() => {}); // repeated
    }
    this.#repeating.delete(chat);
  }

  /** Those that were added during the transaction stay. */
  #end(chat: string, stored: readonly Waiting[]): void {
    const ended = new Set(stored);
    const left = (this.#waiting.get(chat) ?? []).filter((one) => !ended.has(one));
    if (left.length > 0) this.#waiting.set(chat, left);
    else this.#waiting.delete(chat);
    for (const { acknowledged } of ended) this.#accepted.delete(acknowledged.message.message_id);
  }
}
