import type { WASocket } from 'baileys';
import { Condition, sleep, unlessAborted } from '../../../async.ts';
import type { NetworkEvent } from '../../contract/events.ts';
import type { Session } from '../session.ts';

type History = Extract<NetworkEvent, { type: 'history' }>;

const RETRY_MS = 1000;
const MAX_RETRY_MS = 60_000;
/** An import that waits longer for the connection gives up its place, and starts its part again. */
const OFFLINE_MS = 60_000;
/** After these, entries are stored one by one, so that one of them does not keep out the others. */
const ATTEMPTS = 5;
/** An entry is skipped if it was refused this often, while others could be stored. */
const REFUSALS = 2;

export class StoppedError extends Error {}
export class OfflineError extends Error {}

/** Waits and retries for an import, until the session stops. Then all of it throws `StoppedError`. */
export class HistoryWork {
  readonly #session: Session;
  readonly #end = new AbortController();
  readonly #opened = new Condition();

  constructor(session: Session) {
    this.#session = session;
    session.link.on('open', () => this.#opened.notify());
  }

  get isStopped(): boolean {
    return this.#end.signal.aborted;
  }

  stop(): void {
    this.#end.abort(new StoppedError());
    this.#opened.notify();
  }

  requireRunning(): void {
    if (this.isStopped) throw new StoppedError();
  }

  async unlessStopped<T>(work: Promise<T>): Promise<T> {
    return unlessAborted(this.#end.signal, work);
  }

  /** Waits before another attempt, longer after each. */
  async pause(attempt: number): Promise<void> {
    const ms = Math.min(RETRY_MS * 2 ** attempt, MAX_RETRY_MS);
    await sleep(this.#session.host.clock, ms, this.#end.signal);
  }

  async untilOpen(): Promise<void> {
    await this.#opened.until(() => this.isStopped || this.#session.link.socket !== undefined);
    this.requireRunning();
  }

  /** @throws {OfflineError} if the session stays without a connection */
  async whenOpen(): Promise<WASocket> {
    const { link, host } = this.#session;
    const isOpen = () => this.isStopped || link.socket !== undefined;
    if (!isOpen()) await this.#opened.untilOrAfter(host.clock, OFFLINE_MS, isOpen);
    this.requireRunning();
    if (link.socket === undefined) throw new OfflineError();
    return link.socket;
  }

  /** Stores something, and retries until that succeeds. */
  async keep(store: () => Promise<void>): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      this.requireRunning();
      try {
        return await store();
      } catch (error) {
        await this.#retry(error, attempt);
      }
    }
  }

  /** Stores entries together; those that cannot be stored are skipped. */
  async report(event: History): Promise<void> {
    for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
      this.requireRunning();
      try {
        return await this.#session.host.onEvent(event);
      } catch (error) {
        await this.#retry(error, attempt);
      }
    }
    for (const entry of entriesOf(event)) await this.#reportEntry(entry);
  }

  async #reportEntry(entry: History): Promise<void> {
    const { host } = this.#session;
    const { log } = host;
    let refusals = 0;
    for (let attempt = 1; refusals < REFUSALS; attempt++) {
      this.requireRunning();
      try {
        return await host.onEvent(entry);
      } catch (error) {
        if (await this.#canStore()) refusals++;
        if (refusals < REFUSALS) await this.#retry(error, attempt);
        else
          log.error({ err: error, message: entry.messages[0]?.networkId }, 'failed to store an entry of the history');
      }
    }
  }

  /** Tells an entry that cannot be stored from a database that stores nothing. */
  #canStore(): Promise<boolean> {
    const nothing: History = { type: 'history', chats: [], contacts: [], messages: [] };
    return this.#session.host.onEvent(nothing).then(
      () => true,
      () => false,
    );
  }

  async #retry(error: unknown, attempt: number): Promise<void> {
    this.requireRunning();
    this.#session.host.log.warn({ err: error, attempt }, 'failed to store a part of the history; trying again');
    await this.pause(attempt);
  }
}

/** A message comes with its chat, which knows how many of its messages are unread. */
function* entriesOf({ chats, contacts, messages }: History): Generator<History> {
  const nothing: History = { type: 'history', chats: [], contacts: [], messages: [] };
  const byId = new Map(chats.map((chat) => [chat.chat.id, chat]));
  for (const contact of contacts) yield { ...nothing, contacts: [contact] };
  for (const chat of chats) yield { ...nothing, chats: [chat] };
  for (const message of messages) {
    const chat = byId.get(message.chat.id);
    yield { ...nothing, chats: chat === undefined ? [] : [chat], messages: [message] };
  }
}
