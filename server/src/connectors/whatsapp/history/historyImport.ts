import type { proto, WASocket } from 'baileys';
import { Condition, settledWithin, sleep } from '../../../async.ts';
import type {
  HistoryChat,
  HistoryChoice,
  HistoryContact,
  HistoryMessage,
  NetworkChat,
  NetworkEvent,
} from '../../connector.ts';
import { historyChoiceOf } from '../../historyOptions.ts';
import type { HistoryNotifications, Notified } from '../inbound/historyNotifications.ts';
import { type Addresses, placeholderOf, unhosted } from '../people/addresses.ts';
import type { Groups } from '../people/groups.ts';
import type { Session } from '../session.ts';
import { HistoryError } from './fieldStream.ts';
import { fetchPart } from './historyFile.ts';
import { isChat, toHistoryChat, toHistoryMessage } from './historyMessages.ts';
import { readParts } from './historyParts.ts';
import { storeTokens, type Token, tokenOf } from './historyTokens.ts';

/** Entries that are stored together. */
const AT_ONCE = 500;
/** A part with more chats is refused, because they are in memory until its messages are stored. */
const MAX_CHATS = 100_000;
const ATTEMPTS = 8;
const RETRY_MS = 1000;
const MAX_RETRY_MS = 60_000;
/** Without another part for this long, the history is complete: the phone need not say which part is the last. */
const IDLE_MS = 120_000;
const STOP_MS = 3000;
const STATE = 'history-state';

/** Stored, so that a restart continues. */
interface State {
  readonly state: 'waiting' | 'importing' | 'complete' | 'failed';
  readonly progress: number;
  readonly error?: string;
}

class StoppedError extends Error {}

/** A chat as the first pass has read it: in the part, it follows its messages. */
interface KnownChat {
  readonly chat: HistoryChat;
  unread: number;
}

/**
 * Imports the history of the phone: one part after the other, each in two passes. The first reads who has which number,
 * and the chats; the second reads the messages. A part stays in the store until everything in it is stored, so that
 * after a restart it is read again; what the host has already does not change.
 */
export class HistoryImport {
  readonly #session: Session;
  readonly #notifications: HistoryNotifications;
  readonly #addresses: Addresses;
  readonly #groups: Groups;
  readonly #choice: HistoryChoice;
  readonly #changed = new Condition();
  #waiting: Notified[] = [];
  #state: State | undefined;
  #running: Promise<void> | undefined;
  #isStopped = false;
  #cancelIdle = () => {};

  constructor(session: Session, notifications: HistoryNotifications, addresses: Addresses, groups: Groups) {
    const { link, host, creds } = session;
    this.#session = session;
    this.#notifications = notifications;
    this.#addresses = addresses;
    this.#groups = groups;
    this.#choice = historyChoiceOf(host.options);
    notifications.on('notified', (notified) => this.#add(notified));
    link.on('open', () => {
      this.#changed.notify();
      // A device that was linked earlier gets no history.
      const isNew = !creds.accountSyncCounter && this.#state === undefined && this.#choice !== 'none';
      if (isNew) this.#inBackground(() => this.#enter({ state: 'waiting', progress: 0 }));
    });
  }

  /** Continues with what the last connection has left. */
  async start(): Promise<void> {
    const stored = await this.#session.store.get(STATE);
    this.#state = stored === undefined ? undefined : JSON.parse(stored);
    for (const notified of await this.#notifications.left()) this.#add(notified);
    if (this.#state?.state === 'importing' && this.#waiting.length === 0) this.#waitForMore();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancelIdle();
    this.#changed.notify();
    await settledWithin(this.#session.host.clock, STOP_MS, this.#running ?? Promise.resolve());
  }

  #add(notified: Notified): void {
    if (this.#isStopped || this.#waiting.some(({ key }) => key === notified.key)) return;
    this.#cancelIdle();
    this.#waiting.push(notified);
    this.#running ??= this.#run();
  }

  async #run(): Promise<void> {
    try {
      for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[0]) {
        await this.#import(next);
        this.#waiting.shift();
      }
    } catch (error) {
      if (!(error instanceof StoppedError))
        this.#session.host.log.error({ err: error }, 'failed to import the history');
      this.#waiting = [];
    } finally {
      this.#running = undefined;
    }
  }

  async #import({ key, notification }: Notified): Promise<void> {
    const { baileys, host, store } = this.#session;
    const given = baileys.proto.Message.HistorySyncNotification.decode(notification);
    const { HistorySyncType } = baileys.proto.HistorySync;
    const type = Number(given.syncType);
    const isOnDemand = type === HistorySyncType.ON_DEMAND;
    const isCounted = [HistorySyncType.INITIAL_BOOTSTRAP, HistorySyncType.RECENT, HistorySyncType.FULL].includes(type);
    const isWanted = this.#choice !== 'none' || isOnDemand;
    const before = { progress: this.#state?.progress ?? 0, ...this.#error() };
    if (isCounted && isWanted) await this.#enter({ ...before, state: 'importing' });
    let failure: string | undefined;
    try {
      if (type !== HistorySyncType.INITIAL_STATUS_V3) await this.#importPart(given, isWanted);
    } catch (error) {
      if (!(error instanceof HistoryError)) throw error;
      host.log.warn({ err: error, type }, 'failed to import a part of the history');
      failure = error.message;
    }
    if (isWanted) await this.#finish({ isCounted, given, failure, isLast: type !== HistorySyncType.INITIAL_BOOTSTRAP });
    await this.#keep(() => store.delete(key));
  }

  async #finish(done: {
    isCounted: boolean;
    isLast: boolean;
    given: proto.Message.IHistorySyncNotification;
    failure: string | undefined;
  }): Promise<void> {
    const { given, failure, isCounted } = done;
    const error = failure === undefined ? this.#error() : { error: sentenceOf(failure) };
    const progress = Math.min(100, Math.max(Number(given.progress ?? 0), this.#state?.progress ?? 0));
    if (!isCounted) {
      if (failure !== undefined) await this.#enter({ ...(this.#state ?? { progress: 0 }), state: 'failed', ...error });
      return;
    }
    await this.#enter({ state: 'importing', progress, ...error });
    if (done.isLast && Number(given.progress ?? 0) >= 100) await this.#complete();
    else if (this.#waiting.length <= 1) this.#waitForMore();
  }

  #waitForMore(): void {
    this.#cancelIdle();
    this.#cancelIdle = this.#session.host.clock.after(IDLE_MS, () => this.#inBackground(() => this.#complete()));
  }

  async #complete(): Promise<void> {
    const error = this.#error();
    await this.#enter({ state: error.error === undefined ? 'complete' : 'failed', progress: 100, ...error });
  }

  #error(): { error?: string } {
    return this.#state?.error === undefined ? {} : { error: this.#state.error };
  }

  async #enter(state: State): Promise<void> {
    this.#state = state;
    const { store, host } = this.#session;
    await this.#keep(() => host.onEvent({ type: 'history_progress', ...state }));
    await this.#keep(() => store.set(STATE, JSON.stringify(state)));
  }

  #inBackground(work: () => Promise<void>): void {
    work().catch((error) => {
      if (!(error instanceof StoppedError))
        this.#session.host.log.warn({ err: error }, 'failed to report the progress of the history');
    });
  }

  async #importPart(given: proto.Message.IHistorySyncNotification, isWanted: boolean): Promise<void> {
    const part = await this.#fetch(given);
    const people = new People(this.#session, this.#addresses, () => this.#whenOpen());
    const chats = await this.#readChats(part, people, isWanted);
    if (!isWanted) return;
    // A group that the session is in must not be taken for one that it has left.
    if ([...chats.values()].some(({ chat }) => chat.chat.type === 'group'))
      await this.#unlessStopped(this.#groups.whenRead());
    await this.#readMessages(part, chats, people);
  }

  /** @throws {HistoryError} after several attempts */
  async #fetch(given: proto.Message.IHistorySyncNotification): Promise<Uint8Array> {
    const { host } = this.#session;
    for (let attempt = 1; ; attempt++) {
      try {
        return await fetchPart(this.#session, given);
      } catch (error) {
        if (error instanceof HistoryError) throw error;
        if (attempt === ATTEMPTS)
          throw new HistoryError('a part of the history could not be fetched from WhatsApp', { cause: error });
        host.log.warn({ err: error, attempt }, 'failed to fetch a part of the history; trying again');
        await this.#unlessStopped(sleep(host.clock, Math.min(RETRY_MS * 2 ** attempt, MAX_RETRY_MS)));
      }
    }
  }

  /** The first pass: numbers, tokens, names and chats. */
  async #readChats(part: Uint8Array, people: People, isWanted: boolean): Promise<Map<string, KnownChat>> {
    const { baileys } = this.#session;
    const found = new Map<string, proto.IConversation>();
    let names: HistoryContact[] = [];
    for await (const entry of readParts(baileys, part, false)) {
      if (entry.kind === 'mapping') await people.note(entry.mapping.lidJid, entry.mapping.pnJid);
      if (entry.kind === 'chat' && entry.chat.id && isChat(this.#session, entry.chat.id)) {
        if (found.size >= MAX_CHATS) throw new HistoryError('a part of the history has too many chats');
        const { id, pnJid, lidJid, accountLid } = entry.chat;
        const isLid = baileys.isLidUser(id);
        await people.note(isLid ? id : (lidJid ?? accountLid), isLid ? pnJid : id);
        found.set(id, entry.chat);
      }
      this.#requireRunning();
    }
    await people.store();
    await this.#storeTokens(people, found.values());
    if (isWanted)
      for await (const entry of readParts(baileys, part, false)) {
        if (entry.kind !== 'name' || !entry.name.id || !entry.name.pushname) continue;
        if (!isChat(this.#session, entry.name.id) || this.#session.self.is(entry.name.id)) continue;
        names.push({ phoneNumber: await people.digitsOf(entry.name.id), pushName: entry.name.pushname });
        if (names.length < AT_ONCE) continue;
        await this.#report({ type: 'history', chats: [], contacts: names, messages: [] });
        names = [];
      }
    if (names.length > 0) await this.#report({ type: 'history', chats: [], contacts: names, messages: [] });
    const chats = new Map<string, KnownChat>();
    if (!isWanted) return chats;
    for (const [jid, given] of found) {
      const chat = await people.chatOf(jid);
      const known = toHistoryChat(chat, given);
      chats.set(jid, { chat: known, unread: known.unreadCount ?? 0 });
    }
    return chats;
  }

  async #storeTokens(people: People, chats: Iterable<proto.IConversation>): Promise<void> {
    let tokens: Token[] = [];
    const flush = async () => {
      await storeTokens(await this.#whenOpen(), tokens);
      tokens = [];
    };
    for (const chat of chats) {
      const token = tokenOf(chat, (jid) => people.lidOf(jid));
      if (token !== undefined) tokens.push(token);
      if (tokens.length >= AT_ONCE) await flush();
    }
    if (tokens.length > 0) await flush();
  }

  /** The second pass: messages, each chat with the first of its own. */
  async #readMessages(part: Uint8Array, chats: ReadonlyMap<string, KnownChat>, people: People): Promise<void> {
    const { baileys } = this.#session;
    let batch: { chats: Map<string, HistoryChat>; messages: HistoryMessage[] } = { chats: new Map(), messages: [] };
    const flush = async () => {
      const { messages } = batch;
      await this.#report({ type: 'history', chats: [...batch.chats.values()], contacts: [], messages });
      batch = { chats: new Map(), messages: [] };
    };
    for await (const entry of readParts(baileys, part, true)) {
      const jid = entry.kind === 'message' ? entry.chat : entry.kind === 'chat' ? entry.chat.id : undefined;
      const known = jid && chats.get(jid);
      if (!jid || !known) continue;
      if (entry.kind === 'message') {
        const message = await toHistoryMessage(this.#session, known.chat.chat, entry.info, (one) =>
          people.digitsOf(one),
        );
        if (message === undefined) continue;
        const isUnread = message.isOwn !== true && known.unread > 0;
        if (isUnread) known.unread--;
        batch.messages.push(isUnread ? { ...message, isUnread } : message);
      }
      batch.chats.set(jid, known.chat);
      if (batch.messages.length + batch.chats.size >= AT_ONCE) await flush();
    }
    if (batch.chats.size > 0) await flush();
  }

  #report(event: NetworkEvent): Promise<void> {
    return this.#keep(() => this.#session.host.onEvent(event));
  }

  /** Stores something, and retries if that fails. */
  async #keep(store: () => Promise<void>): Promise<void> {
    const { host } = this.#session;
    for (;;) {
      this.#requireRunning();
      try {
        return await store();
      } catch (error) {
        this.#requireRunning();
        host.log.warn({ err: error }, 'failed to store a part of the history; trying again');
        await this.#unlessStopped(sleep(host.clock, RETRY_MS));
      }
    }
  }

  async #whenOpen(): Promise<WASocket> {
    const { link } = this.#session;
    await this.#changed.until(() => this.#isStopped || link.socket !== undefined);
    this.#requireRunning();
    // It was open just now, or is again by the next time.
    return link.socket ?? this.#whenOpen();
  }

  async #unlessStopped(work: Promise<void>): Promise<void> {
    await Promise.race([work, this.#changed.until(() => this.#isStopped)]);
    this.#requireRunning();
  }

  #requireRunning(): void {
    if (this.#isStopped) throw new StoppedError();
  }
}

const sentenceOf = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

/** The people of one part of the history, by the addresses that it uses. */
class People {
  readonly #session: Session;
  readonly #addresses: Addresses;
  readonly #whenOpen: () => Promise<WASocket>;
  readonly #digits = new Map<string, string>();
  readonly #lids = new Map<string, string>();
  #pairs: { lid: string; pn: string }[] = [];

  constructor(session: Session, addresses: Addresses, whenOpen: () => Promise<WASocket>) {
    this.#session = session;
    this.#addresses = addresses;
    this.#whenOpen = whenOpen;
  }

  /** Notes that two addresses are of the same person. */
  async note(lid: string | null | undefined, pn: string | null | undefined): Promise<void> {
    const { baileys } = this.#session;
    if (!lid || !pn || !baileys.isLidUser(lid) || !baileys.isPnUser(pn)) return;
    this.#pairs.push({ lid, pn });
    this.#lids.set(pn, lid);
    if (this.#pairs.length >= AT_ONCE) await this.store();
  }

  /** Stores what was noted, where Baileys looks for it. */
  async store(): Promise<void> {
    const pairs = this.#pairs;
    this.#pairs = [];
    if (pairs.length === 0) return;
    const { signalRepository } = await this.#whenOpen();
    await signalRepository.lidMapping.storeLIDPNMappings(pairs);
    for (const { lid, pn } of pairs)
      if (this.#addresses.isHidden(placeholderOf(lid))) await this.#addresses.digitsOf(lid, pn);
  }

  lidOf(jid: string): string | undefined {
    return this.#session.baileys.isLidUser(jid) ? jid : this.#lids.get(jid);
  }

  async digitsOf(address: string): Promise<string> {
    const jid = unhosted(this.#session.baileys.jidNormalizedUser(address));
    const known = this.#digits.get(jid);
    if (known !== undefined) return known;
    // Without a socket, a number that is known would not be found.
    if (this.#session.baileys.isLidUser(jid)) await this.#whenOpen();
    const digits = this.#session.self.is(jid) ? this.#session.self.phoneNumber : await this.#addresses.digitsOf(jid);
    this.#digits.set(jid, digits);
    return digits;
  }

  async chatOf(jid: string): Promise<NetworkChat> {
    if (this.#session.baileys.isJidGroup(jid)) return { type: 'group', id: jid };
    return { type: 'direct', id: await this.digitsOf(jid) };
  }
}
