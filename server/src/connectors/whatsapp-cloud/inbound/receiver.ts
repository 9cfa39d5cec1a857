import { AppError, type ErrorCode } from '../../../errors.ts';
import type { CallbackAnswer, CallbackRequest } from '../../contract/callbacks.ts';
import { type Verdict, verdictOf } from '../errors.ts';
import { GraphError, NoAnswerError } from '../graph.ts';
import { type FindGroup, type GroupReports, isGroupField } from '../groups/groupReports.ts';
import { findGroup } from '../groups/networkGroup.ts';
import type { MarketingChoices } from '../marketing.ts';
import { findMedia } from '../media.ts';
import type { CloudNumber } from '../number/cloudNumber.ts';
import type { NumberDetails } from '../number/numberDetails.ts';
import type { Sender } from '../outbound/sender.ts';
import { answerChallenge, type Change, type Contact, isSigned, readChanges, readContacts } from './callbacks.ts';
import { readCall } from './calls.ts';
import { readHistory, readMessage, reportContact, reportHistory, reportMessages } from './coexistence.ts';
import { Concerned } from './concerned.ts';
import { type LookUps, type MessageEvent, toEvents, toReceipt } from './incoming.ts';
import { LastIds } from './lastIds.ts';
import { isAccountField, readNotification } from './notifications.ts';
import { readPreference } from './preferences.ts';
import { idsIn, moveOf, sharedIdsOf } from './senders.ts';

/** Up to this age, a part that Meta cannot return is requested again. After 7 days, Meta gives up the text as well. */
const MAX_AGE_MS = 6 * 3600_000;
const FINAL: ReadonlySet<Verdict> = new Set(['refused', 'nobody', 'window', 'permission']);
/** Errors that are caused by the file itself. */
const FILE_ERRORS: ReadonlySet<ErrorCode> = new Set(['payload_too_large', 'validation_failed', 'fetch_failed']);
/** Statuses that are stored together, because a callback can have a thousand. */
const AT_ONCE = 100;

interface Parts {
  readonly sender: Sender;
  readonly details: NumberDetails;
  readonly marketing: MarketingChoices;
  readonly groups: GroupReports;
}

/** Receives the callbacks of one number, and of its business account. */
export class Receiver {
  readonly #number: CloudNumber;
  readonly #sender: Sender;
  readonly #details: NumberDetails;
  readonly #marketing: MarketingChoices;
  readonly #approaches: LastIds;
  readonly #calls: LastIds;
  readonly #moves: LastIds;
  readonly #groups: GroupReports;

  constructor(number: CloudNumber, { sender, details, marketing, groups }: Parts) {
    this.#number = number;
    this.#sender = sender;
    this.#details = details;
    this.#marketing = marketing;
    this.#groups = groups;
    this.#approaches = new LastIds(number.host.store, 'approaches');
    this.#calls = new LastIds(number.host.store, 'calls');
    this.#moves = new LastIds(number.host.store, 'moves');
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
    const { account } = this.#number;
    const concerned = new Concerned({ options, account, callbacks: host.callbacks }, request.isPassedOn === true);
    let isStored = true;
    for (const change of read.changes) {
      if (!(await concerned.add(change))) continue;
      const isOfNumber = change.value.metadata?.phone_number_id !== undefined;
      if (isOfNumber && change.accountId !== undefined) await account.learn(change.accountId);
      if (!(await this.#storeChange(change))) isStored = false;
    }
    return concerned.answer(isStored ? 200 : 500);
  }

  /** Returns whether every part is stored. Meta repeats the whole change, so a bad part must not hold up the others. */
  async #storeChange(change: Change): Promise<boolean> {
    const { field, value } = change;
    if (isAccountField(field)) return this.#storeAll([() => this.#storeNotification(change)]);
    if (isGroupField(field)) return this.#storeAll((value.groups ?? []).map((one) => () => this.#storeGroup(one)));
    switch (field) {
      case 'messages':
      case 'smb_message_echoes':
        return this.#storeMessages(value);
      case 'history':
        return this.#storeAll([
          ...(value.history ?? []).map((chunk) => () => this.#storeHistory(chunk)),
          ...(value.messages ?? []).map((message) => () => this.#storeOldMessage(message)),
        ]);
      case 'smb_app_state_sync':
        return this.#storeAll((value.state_sync ?? []).map((entry) => () => this.#storeContact(entry)));
      case 'calls': {
        const contacts = readContacts(value.contacts);
        if (!(await this.#meet(value, contacts))) return false;
        return this.#storeAll((value.calls ?? []).map((call) => () => this.#storeCall(call, contacts)));
      }
      case 'user_preferences':
        if (!(await this.#meet(value, []))) return false;
        return this.#storeAll((value.user_preferences ?? []).map((one) => () => this.#storePreference(one)));
      default:
        this.#number.host.log.info({ field }, 'received an account notification from Meta');
        return true;
    }
  }

  async #storeMessages({ message_echoes: echoes = [], statuses = [], messages = [], ...value }: Change['value']) {
    const contacts = readContacts(value.contacts);
    // First, because a message of a person who hides the number belongs to the chat with the number.
    if (!(await this.#meet({ messages, statuses }, contacts))) return false;
    const areEchoesStored = await this.#storeAll(echoes.map((echo) => () => this.#storeEcho(echo)));
    let areStatusesStored = true;
    for (let start = 0; start < statuses.length; start += AT_ONCE) {
      const together = statuses.slice(start, start + AT_ONCE);
      const stored = await Promise.all(together.map((status) => this.#storeAll([() => this.#storeStatus(status)])));
      areStatusesStored &&= stored.every((is) => is);
    }
    const areStored = await this.#storeAll(messages.map((message) => () => this.#storeMessage(message, contacts)));
    return areEchoesStored && areStatusesStored && areStored;
  }

  /** Stores the ids of the people in a callback. */
  #meet(parts: Parameters<typeof idsIn>[0], contacts: readonly Contact[]): Promise<boolean> {
    const { host, people } = this.#number;
    const met = idsIn(parts, contacts, host.phoneNumber ?? '', host.clock.now());
    return this.#storeAll(met.map((ids) => () => people.meet(ids)));
  }

  /** Stores parts in their order. Returns whether all of them are stored. */
  async #storeAll(parts: readonly (() => Promise<void>)[]): Promise<boolean> {
    const { log } = this.#number.host;
    let isStored = true;
    for (const store of parts) {
      await store().catch((error) => {
        isStored = false;
        log.error({ err: error }, 'failed to store part of a callback; Meta sends it again');
      });
    }
    return isStored;
  }

  async #storeNotification({ field, value, at }: Change): Promise<void> {
    const { host, options } = this.#number;
    const concerned = { phoneNumberId: options.phoneNumberId, phoneNumber: host.phoneNumber };
    const notification = readNotification(field, value, concerned, at ?? host.clock.now());
    if (notification === undefined) return this.#ignore(`a notification ${field} of an unknown shape`);
    host.log.info({ field }, 'received an account notification from Meta');
    for (const event of notification.events) await host.onEvent(event);
    if (notification.isStale) void this.#details.refresh();
  }

  async #storeHistory(chunk: unknown): Promise<void> {
    const { host, options } = this.#number;
    const ignore = (problem: string) => this.#ignore(problem);
    const batch = await readHistory(chunk, host.phoneNumber ?? '', this.#lookUps, ignore);
    if (batch === undefined) return;
    if (batch.refusal !== null) host.log.warn({ reason: batch.refusal }, 'the app does not share its history');
    await reportHistory(host, options.phoneNumberId, batch);
    host.log.info({ messages: batch.messages.length, progress: batch.progress }, 'stored a part of the history');
  }

  /** A message with its file, which the history has announced. */
  async #storeOldMessage(message: unknown): Promise<void> {
    const found = await readMessage(message, undefined, this.#number.host.phoneNumber ?? '', this.#lookUps);
    if ('problem' in found) return this.#ignore(found.problem);
    await reportMessages(this.#number.host, found);
  }

  async #storeContact(entry: unknown): Promise<void> {
    if (!(await reportContact(this.#number.host, entry))) this.#ignore('a contact of an unknown shape');
  }

  async #storeCall(given: unknown, contacts: readonly Contact[]): Promise<void> {
    const { host } = this.#number;
    const call = await readCall(given, contacts, host.phoneNumber ?? '', this.#lookUps);
    if (call === undefined) return this.#ignore('a call by the number, or of an unknown shape');
    const report = () => host.onEvent(call);
    if (call.type === 'call') return this.#calls.once(call.callId, report);
    await this.#calls.once(`${call.callId} ended`, report);
    // Its start may arrive later, or again.
    await this.#calls.once(call.callId, async () => {});
  }

  async #storePreference(given: unknown): Promise<void> {
    const { host } = this.#number;
    const choice = await readPreference(given, this.#lookUps, host.clock.now());
    if (choice === undefined) return this.#ignore('a preference of an unknown shape');
    await this.#reportOnce(choice);
  }

  async #storeGroup(given: unknown): Promise<void> {
    const problem = await this.#groups.store(given, this.#findGroup);
    if (problem !== undefined) this.#ignore(problem);
  }

  async #storeStatus(status: unknown): Promise<void> {
    const receipt = await toReceipt(status, this.#lookUps);
    if ('problem' in receipt) return this.#ignore(receipt.problem);
    const { ownId, networkId, event, isFileLost } = receipt;
    const { host } = this.#number;
    if (ownId !== undefined && event?.status !== 'failed') this.#sender.confirm(ownId, networkId);
    if (isFileLost) await this.#sender.onFileLost();
    if (event !== undefined) await host.onEvent(event);
  }

  async #storeMessage(message: unknown, contacts: readonly Contact[], ownNumber?: string): Promise<void> {
    const { people, host } = this.#number;
    const move = ownNumber === undefined ? moveOf(message, host.clock.now()) : undefined;
    if (move !== undefined) return this.#moves.once(move.networkId, () => people.move(move));
    const shared = sharedIdsOf(message, contacts, host.clock.now());
    if (shared !== undefined) await people.meet(shared);
    const events = await toEvents(message, contacts, this.#lookUps, ownNumber);
    if ('problem' in events) return this.#ignore(events.problem);
    for (const event of events) {
      await people.noteSender(event.from);
      await this.#reportOnce(event);
    }
  }

  /** The number sent it with the app on its phone. */
  async #storeEcho(echo: unknown): Promise<void> {
    await this.#storeMessage(echo, [], this.#number.host.phoneNumber ?? '');
  }

  /** The host recognizes a repeated message itself, and does not store the other reports. */
  async #reportOnce(event: MessageEvent): Promise<void> {
    const report = () => this.#report(event);
    if (event.type === 'marketing_choice') await this.#marketing.note(event, report);
    else if (event.type === 'chat_opened' || event.type === 'call_permission')
      await this.#approaches.once(event.networkId, report);
    else await report();
  }

  /** Reports a message, without its file if that cannot be fetched. */
  async #report(event: MessageEvent): Promise<void> {
    const { host } = this.#number;
    if (event.type === 'message' && event.chat.type === 'group')
      await this.#groups.know(event.chat.id, event.timestamp, this.#findGroup);
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

  readonly #findGroup: FindGroup = (id, at) => this.#fetchPart(at, () => findGroup(this.#number, id));

  readonly #lookUps: LookUps = {
    now: () => this.#number.host.clock.now(),
    hide: (userId) => this.#number.people.hide(userId),
    digitsOf: (userId, stated) => this.#number.people.digitsOf(userId, stated),
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
