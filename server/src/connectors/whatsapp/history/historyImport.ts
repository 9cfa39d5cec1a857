import type { proto } from 'baileys';
import { Slots, settledWithin } from '../../../async.ts';
import { isAway } from '../../../errors.ts';
import type { HistoryChat, HistoryChoice, HistoryContact, HistoryMessage } from '../../contract/history.ts';
import { historyChoiceOf } from '../../historyOptions.ts';
import type { HistoryNotifications, Notified } from '../inbound/historyNotifications.ts';
import type { Addresses } from '../people/addresses.ts';
import type { Groups } from '../people/groups.ts';
import type { Session } from '../session.ts';
import { HistoryError } from './fieldStream.ts';
import { fetchPart } from './historyFile.ts';
import { BetterFiles, isChat, toHistoryChat, toHistoryMessage } from './historyMessages.ts';
import { readParts } from './historyParts.ts';
import { People } from './historyPeople.ts';
import { storeTokens, type Token, tokenOf } from './historyTokens.ts';
import { HistoryWork, OfflineError, StoppedError } from './historyWork.ts';

/** Entries that are stored together. */
const AT_ONCE = 500;
/** A part with more chats is refused, because they are in memory until its messages are stored. */
const MAX_CHATS = 100_000;
const ATTEMPTS = 8;
/** Parts are in memory, and after a restart all sessions continue at once. The slots are those of the process. */
const slots = new Slots(2);
/** Without another part for this long, the history is complete: the phone need not say which part is the last. */
const IDLE_MS = 120_000;
/** How long a phone may take to prepare the first part. */
const FIRST_MS = 10 * 60_000;
const STOP_MS = 3000;
const STATE = 'history-state';

/** Stored, so that a restart continues. */
interface State {
  readonly state: 'waiting' | 'importing' | 'complete' | 'failed';
  readonly progress: number;
  readonly error?: string;
}

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
  readonly #work: HistoryWork;
  #waiting: Notified[] = [];
  #state: State | undefined;
  #running: Promise<void> | undefined;
  #cancelIdle = () => {};

  constructor(session: Session, notifications: HistoryNotifications, addresses: Addresses, groups: Groups) {
    const { link, host, creds } = session;
    this.#session = session;
    this.#notifications = notifications;
    this.#addresses = addresses;
    this.#groups = groups;
    this.#choice = historyChoiceOf(host.options);
    this.#work = new HistoryWork(session);
    notifications.on('notified', (notified) => this.#add(notified));
    link.on('open', () => {
      // A device that was linked earlier gets no history.
      const isNew = !creds.accountSyncCounter && this.#state === undefined && this.#choice !== 'none';
      if (isNew) this.#inBackground(() => this.#expect());
    });
  }

  /** Continues with what the last connection has left. */
  async start(): Promise<void> {
    const stored = await this.#session.store.get(STATE);
    this.#state = stored === undefined ? undefined : JSON.parse(stored);
    for (const notified of await this.#notifications.left()) this.#add(notified);
    const left = this.#state;
    if ((left?.state !== 'importing' && left?.state !== 'waiting') || this.#waiting.length > 0) return;
    this.#waitForMore();
    // The host has ended the import if the account disconnected the session.
    this.#inBackground(() => this.#enter(left));
  }

  async stop(): Promise<void> {
    this.#work.stop();
    this.#cancelIdle();
    await settledWithin(this.#session.host.clock, STOP_MS, this.#running ?? Promise.resolve());
  }

  /** A phone without chats need not send a part. */
  async #expect(): Promise<void> {
    await this.#enter({ state: 'waiting', progress: 0 });
    if (this.#state?.state === 'waiting') this.#waitForMore();
  }

  #add(notified: Notified): void {
    if (this.#work.isStopped || this.#waiting.some(({ key }) => key === notified.key)) return;
    this.#cancelIdle();
    this.#waiting.push(notified);
    this.#running ??= this.#run();
  }

  async #run(): Promise<void> {
    for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[0]) {
      try {
        await this.#import(next);
      } catch (error) {
        if (this.#work.isStopped) break;
        this.#session.host.log.error({ err: error }, 'failed to import a part of the history');
        this.#waitForMore();
      }
      this.#waiting.shift();
    }
    this.#running = undefined;
  }

  async #import({ key, notification }: Notified): Promise<void> {
    const { baileys, store } = this.#session;
    const given = baileys.proto.Message.HistorySyncNotification.decode(notification);
    const { HistorySyncType } = baileys.proto.HistorySync;
    const type = Number(given.syncType);
    const isOnDemand = type === HistorySyncType.ON_DEMAND;
    const isCounted = [HistorySyncType.INITIAL_BOOTSTRAP, HistorySyncType.RECENT, HistorySyncType.FULL].includes(type);
    const isWanted = this.#choice !== 'none' || isOnDemand;
    const before = { progress: this.#state?.progress ?? 0, ...this.#error() };
    if (isCounted && isWanted) await this.#enter({ ...before, state: 'importing' });
    const isStories = type === HistorySyncType.INITIAL_STATUS_V3;
    const failure = isStories ? undefined : await this.#tryPart(given, isWanted);
    if (isWanted) await this.#finish({ isCounted, given, failure, isLast: type !== HistorySyncType.INITIAL_BOOTSTRAP });
    await this.#work.keep(() => store.delete(key));
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
    const ms = this.#state?.state === 'waiting' ? FIRST_MS : IDLE_MS;
    this.#cancelIdle = this.#session.host.clock.after(ms, () => this.#inBackground(() => this.#complete()));
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
    await this.#work.keep(() => host.onEvent({ type: 'history_progress', ...state }));
    await this.#work.keep(() => store.set(STATE, JSON.stringify(state)));
  }

  #inBackground(work: () => Promise<void>): void {
    work().catch((error) => {
      if (!(error instanceof StoppedError))
        this.#session.host.log.warn({ err: error }, 'failed to report the progress of the history');
    });
  }

  /** Returns why the part could not be imported; undefined if it was. */
  async #tryPart(given: proto.Message.IHistorySyncNotification, isWanted: boolean): Promise<string | undefined> {
    const { log } = this.#session.host;
    for (let attempt = 1; ; attempt++) {
      try {
        // A group that the session is in must not be taken for one that it has left.
        if (isWanted) await this.#work.unlessStopped(this.#groups.whenRead());
        await this.#work.untilOpen();
        await this.#work.unlessStopped(slots.run(() => this.#importPart(given, isWanted)));
        return undefined;
      } catch (error) {
        if (error instanceof StoppedError) throw error;
        // It continues with the next connection, however long that takes.
        if (error instanceof OfflineError) attempt--;
        else if (isAway(error)) {
          log.warn({ err: error }, 'failed to store a part of the history; trying again');
          await this.#work.pause(attempt);
          attempt--;
        } else if (error instanceof HistoryError || attempt === ATTEMPTS) {
          log.warn({ err: error, type: given.syncType }, 'failed to import a part of the history');
          return error instanceof HistoryError ? error.message : 'a part of the history could not be fetched or stored';
        } else {
          log.warn({ err: error, attempt }, 'failed to import a part of the history; trying again');
          await this.#work.pause(attempt);
        }
      }
    }
  }

  async #importPart(given: proto.Message.IHistorySyncNotification, isWanted: boolean): Promise<void> {
    this.#work.requireRunning();
    const part = await fetchPart(this.#session, given);
    const people = new People(this.#session, this.#addresses, this.#work);
    const chats = await this.#readChats(part, people, isWanted);
    if (isWanted) await this.#readMessages(part, chats, people);
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
      this.#work.requireRunning();
    }
    await people.store();
    await this.#storeTokens(people, found.values());
    if (isWanted)
      for await (const entry of readParts(baileys, part, false)) {
        if (entry.kind !== 'name' || !entry.name.id || !entry.name.pushname) continue;
        if (!isChat(this.#session, entry.name.id) || this.#session.self.is(entry.name.id)) continue;
        names.push({ phoneNumber: await people.digitsOf(entry.name.id), pushName: entry.name.pushname });
        if (names.length < AT_ONCE) continue;
        await this.#work.report({ type: 'history', chats: [], contacts: names, messages: [] });
        names = [];
      }
    if (names.length > 0) await this.#work.report({ type: 'history', chats: [], contacts: names, messages: [] });
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
      await storeTokens(await this.#work.whenOpen(), tokens);
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
      await this.#work.report({ type: 'history', chats: [...batch.chats.values()], contacts: [], messages });
      batch = { chats: new Map(), messages: [] };
    };
    const betterFiles = new BetterFiles(this.#session);
    for await (const entry of readParts(baileys, part, true)) {
      const jid = entry.kind === 'message' ? entry.chat : entry.kind === 'chat' ? entry.chat.id : undefined;
      const known = jid && chats.get(jid);
      if (!jid || !known) continue;
      if (entry.kind === 'message') {
        const message = await toHistoryMessage(this.#session, known.chat.chat, entry.info, (one) =>
          people.digitsOf(one),
        );
        betterFiles.note(jid, entry.info);
        if (message === undefined) continue;
        const isUnread = message.isOwn !== true && known.unread > 0;
        if (isUnread) known.unread--;
        batch.messages.push(betterFiles.apply(isUnread ? { ...message, isUnread } : message, entry.info));
      }
      batch.chats.set(jid, known.chat);
      if (batch.messages.length + batch.chats.size >= AT_ONCE) await flush();
    }
    if (batch.chats.size > 0) await flush();
  }
}

const sentenceOf = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);
