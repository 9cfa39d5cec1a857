import { AppError, type ErrorCode } from '../../errors.ts';
import type { CallbackAnswer, CallbackRequest } from '../connector.ts';
import { answerChallenge, type Change, type Contact, isSigned, readChanges } from './callbacks.ts';
import type { CloudNumber } from './cloudNumber.ts';
import { type Verdict, verdictOf } from './errors.ts';
import { GraphError, NoAnswerError } from './graph.ts';
import { findGroup, placeholderGroup } from './groups.ts';
import { type LookUps, type MessageEvent, toEvents, toReceipt } from './incoming.ts';
import { findMedia } from './media.ts';
import type { Sender } from './sender.ts';

/** Up to this age, a part that Meta cannot return is requested again. After 7 days, Meta gives up the text as well. */
const MAX_AGE_MS = 6 * 3600_000;
/** The fields about messages. The second is sent for numbers that are also used with the WhatsApp Business app. */
const FIELDS: ReadonlySet<string> = new Set(['messages', 'smb_message_echoes']);
const FINAL: ReadonlySet<Verdict> = new Set(['refused', 'nobody', 'window', 'permission']);
/** Errors that are caused by the file itself. */
const FILE_ERRORS: ReadonlySet<ErrorCode> = new Set(['payload_too_large', 'validation_failed', 'fetch_failed']);

/** Receives the callbacks of one number. */
export class Receiver {
  readonly #number: CloudNumber;
  readonly #sender: Sender;
  readonly #siblings: ReadonlyMap<string, Receiver>;
  /** Messages that the number itself sent, while they are being stored. */
  readonly #echoes = new Set<unknown>();
  #knownGroups: Set<string> | undefined;

  /** @param siblings the receivers of all numbers that are connected in this process, by their ids */
  constructor(number: CloudNumber, sender: Sender, siblings: ReadonlyMap<string, Receiver>) {
    this.#number = number;
    this.#sender = sender;
    this.#siblings = siblings;
  }

  async receive(request: CallbackRequest): Promise<CallbackAnswer> {
    const { host, options } = this.#number;
    if (request.method === 'GET') return answerChallenge(request.query, options.verifyToken);
    if (!isSigned(request, options.appSecret)) {
      host.log.warn('rejected a callback with an invalid signature');
      return { status: 403 };
    }
    const read = readChanges(request.body);
    if (read === undefined) return { status: 400 };
    if (read.unknown > 0) this.#ignore(`${read.unknown} changes of an unknown shape`);
    let isStored = true;
    for (const change of read.changes) {
      const receiver = this.#receiverOf(change);
      if (receiver === undefined || !(await receiver.#storeChange(change))) isStored = false;
    }
    return { status: isStored ? 200 : 500 };
  }

  /** Meta signs callbacks of all numbers of an app with one secret, which proves that a sibling belongs to the app. */
  #receiverOf({ value }: Change): Receiver | undefined {
    const { host, options } = this.#number;
    const id = value.metadata?.phone_number_id ?? options.phoneNumberId;
    if (id === options.phoneNumberId) return this;
    const sibling = this.#siblings.get(id);
    if (sibling !== undefined && sibling.#number.options.appSecret === options.appSecret) return sibling;
    // Its session may be back soon: Meta keeps callbacks that are not acknowledged, and sends them again.
    host.log.warn({ number: id }, 'rejected a callback for a number without a connected session');
    return undefined;
  }

  /** Returns whether every part is stored. Meta repeats the whole change, so a bad part must not hold up the others. */
  async #storeChange({ field, value }: Change): Promise<boolean> {
    const { log } = this.#number.host;
    if (!FIELDS.has(field)) {
      log.info({ field }, 'received an account notification from Meta');
      return true;
    }
    const { contacts = [], message_echoes: echoes = [], statuses = [], messages = [] } = value;
    const parts = [
      ...echoes.map((echo) => () => this.#storeEcho(echo)),
      ...statuses.map((status) => () => this.#storeStatus(status)),
      ...messages.map((message) => () => this.#storeMessage(message, contacts)),
    ];
    let isStored = true;
    for (const store of parts) {
      await store().catch((error) => {
        isStored = false;
        log.error({ err: error }, 'failed to store part of a callback; Meta sends it again');
      });
    }
    return isStored;
  }

  async #storeStatus(status: unknown): Promise<void> {
    const receipt = toReceipt(status);
    if ('problem' in receipt) return this.#ignore(receipt.problem);
    const { ownId, networkId, event } = receipt;
    if (this.#echoes.has(networkId)) throw new Error('a status came before its message was stored');
    if (ownId !== undefined && event?.status !== 'failed') this.#sender.confirm(ownId, networkId);
    if (event !== undefined) await this.#number.host.onEvent(event);
  }

  async #storeMessage(message: unknown, contacts: readonly Contact[], ownNumber?: string): Promise<void> {
    const events = await toEvents(message, contacts, this.#lookUps, ownNumber);
    if ('problem' in events) return this.#ignore(events.problem);
    for (const event of events) {
      await this.#identify(event.from, contacts);
      await this.#report(event);
    }
  }

  /** The number sent it with the app on its phone. Meta repeats a status that arrives meanwhile. */
  async #storeEcho(echo: unknown): Promise<void> {
    const id = idOf(echo);
    this.#echoes.add(id);
    try {
      await this.#storeMessage(echo, [], this.#number.host.phoneNumber ?? '');
    } finally {
      this.#echoes.delete(id);
    }
  }

  /** Reports a message, without its file if that cannot be fetched. */
  async #report(event: MessageEvent): Promise<void> {
    const { host } = this.#number;
    if (event.type === 'message' && event.chat.type === 'group')
      await this.#addUnknownGroup(event.chat.id, event.timestamp);
    try {
      await host.onEvent(event);
    } catch (error) {
      if (event.type !== 'message' || event.content.media === undefined || !this.#isFinal(error, event.timestamp))
        throw error;
      host.log.warn({ err: error }, 'failed to fetch the file of a message; storing it without the file');
      const { media: _, ...content } = event.content;
      await host.onEvent({ ...event, content });
    }
  }

  /** Reports the number of a person who hid it before and shows it now. */
  async #identify(phoneNumber: string, contacts: readonly Contact[]): Promise<void> {
    const { host, people } = this.#number;
    const userId = contacts.find(({ wa_id: waId }) => waId === phoneNumber)?.user_id;
    const placeholder = userId && (await people.placeholderOf(userId));
    if (!placeholder) return;
    await host.onEvent({ type: 'identified', standIn: placeholder, phoneNumber });
    await people.show(placeholder, phoneNumber); // last: if this fails, it is reported again with the next message
  }

  /** Reports a group that the host does not know, because it was created at Meta. */
  async #addUnknownGroup(id: string, sentAt: number): Promise<void> {
    const { host, graph } = this.#number;
    this.#knownGroups ??= new Set((await host.groups()).map(({ networkId }) => networkId));
    if (this.#knownGroups.has(id)) return;
    const about = [id, host.phoneNumber ?? '', host.clock.now()] as const;
    const group = (await this.#fetchPart(sentAt, () => findGroup(graph, ...about))) ?? placeholderGroup(...about);
    await host.onEvent({ type: 'group_created', group });
    this.#knownGroups.add(id);
  }

  readonly #lookUps: LookUps = {
    hide: (userId) => this.#number.people.hide(userId),
    findFile: (id, fileName, sentAt) => this.#fetchPart(sentAt, () => findMedia(this.#number.graph, id, fileName)),
  };

  /** Fetches a part of a message that was sent at that time; undefined if Meta does not return it, and never will. */
  async #fetchPart<T>(sentAt: number, fetch: () => Promise<T>): Promise<T | undefined> {
    const { host, monitor } = this.#number;
    try {
      return await fetch();
    } catch (error) {
      if (error instanceof GraphError && verdictOf(error) === 'session') await monitor.end(error);
      if (!this.#isFinal(error, sentAt)) throw error;
      host.log.warn({ err: error }, 'left out an unreadable part of a message');
      return undefined;
    }
  }

  /** Whether retrying a part of a message is pointless, or has taken too long. */
  #isFinal(error: unknown, sentAt: number): boolean {
    const { host, monitor } = this.#number;
    if (error instanceof AppError) return FILE_ERRORS.has(error.code);
    if (error instanceof GraphError && FINAL.has(verdictOf(error))) return true;
    const isOfNetwork = error instanceof GraphError || error instanceof NoAnswerError;
    // After the session is closed, no request succeeds, which says nothing about the part.
    return isOfNetwork && !monitor.isClosed && host.clock.now() - sentAt > MAX_AGE_MS;
  }

  #ignore(problem: string): void {
    this.#number.host.log.warn({ problem }, 'ignored part of a callback');
  }
}

const idOf = (echo: unknown): unknown =>
  typeof echo === 'object' && echo !== null && 'id' in echo ? echo.id : undefined;
