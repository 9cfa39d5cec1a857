import type { Readable } from 'node:stream';
import { settledWithin } from '../async.ts';
import type { NetworkEvent } from '../connectors/contract/events.ts';
import type { HistoryChat, HistoryContact, HistoryMessage, HistoryRequest } from '../connectors/contract/history.ts';
import type { SessionHost } from '../connectors/contract/host.ts';
import type { NetworkMedia } from '../connectors/contract/networkMedia.ts';
import { historyChoiceOf } from '../connectors/historyOptions.ts';
import { AppError, isAway } from '../errors.ts';
import type { HistorySimulation } from './simulatedActions.ts';

const AT_ONCE = 500;
const RECENT_MS = 90 * 24 * 3600 * 1000;
const HOUR_MS = 3600 * 1000;
/** Made-up contacts have numbers from here on. */
const FIRST_NUMBER = 491_720_000_000;
const NAMES = ['Ada', 'Ben', 'Cleo', 'Dina', 'Emil', 'Fay', 'Gus', 'Hana', 'Ivo', 'Jule'];

type Host = Pick<SessionHost, 'onEvent' | 'options' | 'phoneNumber' | 'clock'>;

/** The history that is being imported, and how many of its messages are stored. */
const STATE = 'history';
const DONE = 'history done';
const STOP_MS = 3000;

interface State {
  readonly history: Omit<HistorySimulation, 'action'>;
  /** When the phone began, from which the times of made-up messages count. */
  readonly begunAt: number;
}

/**
 * Plays the phone that passes on its history, in parts, like after linking. The history stays in the store until all of
 * it is imported, so that the next connection continues after a crash or a disconnect.
 */
export class SandboxHistory {
  readonly #host: SessionHost;
  #running: Promise<void> | undefined;
  #isStopped = false;

  constructor(host: SessionHost) {
    this.#host = host;
  }

  /**
   * Resolves once everything is imported.
   * @throws {AppError} `session_state` if another import runs, `session_not_connected` if the connection ends first
   */
  play({ action: _, ...history }: HistorySimulation): Promise<void> {
    return this.#alone(async () => {
      if (historyChoiceOf(this.#host.options) === 'none') return;
      const state: State = { history, begunAt: this.#host.clock.now() };
      await this.#host.store.write(
        new Map([
          [STATE, JSON.stringify(state)],
          [DONE, null],
        ]),
      );
      await this.#import(state, 0);
    });
  }

  /** Continues in the background what an earlier connection has left. */
  resume(): void {
    this.#isStopped = false;
    this.#continue().catch((error) => {
      if (!this.#isStopped) this.#host.log.warn({ err: error }, 'failed to continue the import of the history');
    });
  }

  /** Resolves once nothing more is reported. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await settledWithin(this.#host.clock, STOP_MS, this.#running ?? Promise.resolve());
  }

  async #continue(): Promise<void> {
    const stored = await this.#host.store.getMany([STATE, DONE]);
    const state = stored.get(STATE);
    if (state === undefined || this.#running !== undefined) return;
    await this.#alone(() => this.#import(JSON.parse(state), Number(stored.get(DONE) ?? 0)));
  }

  async #alone(work: () => Promise<void>): Promise<void> {
    if (this.#running !== undefined)
      throw new AppError('session_state', 'The session is importing a history; wait until that is complete');
    this.#running = work();
    try {
      await this.#running;
    } finally {
      this.#running = undefined;
    }
  }

  async #import(state: State, stored: number): Promise<void> {
    try {
      await this.#importParts(state, stored);
    } catch (error) {
      // The next connection continues, unless the history itself cannot be stored.
      if (!this.#isStopped && !isAway(error)) await this.#fail();
      throw error;
    }
  }

  async #fail(): Promise<void> {
    const error = 'A part of the history could not be stored';
    await this.#report({ type: 'history_progress', state: 'failed', progress: 0, error });
    await this.#forget();
  }

  #forget(): Promise<void> {
    return this.#host.store.write(new Map([STATE, DONE].map((key) => [key, null])));
  }

  async #importParts(
    { history: { chats, contacts, messages, generated }, begunAt }: State,
    stored: number,
  ): Promise<void> {
    const { store } = this.#host;
    const since = historyChoiceOf(this.#host.options) === 'full' ? 0 : begunAt - RECENT_MS;
    const total = Math.max(1, messages.length + (generated?.messages ?? 0));
    let done = stored;
    const report = (state: 'importing' | 'complete') =>
      this.#report({ type: 'history_progress', state, progress: Math.floor((100 * done) / total) });
    await report('importing');
    await this.#report({ type: 'history', chats, contacts, messages: [] });
    const newestFirst = messages.toSorted((one, other) => other.timestamp - one.timestamp);
    const marked = new Set(messages.flatMap(({ chat, isUnread }) => (isUnread === true ? [chat.id] : [])));
    const counted = chats.filter(({ chat }) => !marked.has(chat.id));
    const all = withUnread(counted, concat(newestFirst, generate(this.#host, begunAt, generated)));
    for (const part of partsOf(skip(stored, all))) {
      const wanted = part.filter(({ timestamp }) => timestamp >= since);
      const ids = new Set(wanted.map(({ chat }) => chat.id));
      // With the unread count of each chat.
      const theirs = chats.filter(({ chat }) => ids.has(chat.id));
      await this.#report({ type: 'history', chats: theirs, contacts: contactsOf(wanted), messages: wanted });
      done += part.length;
      await store.set(DONE, String(done));
      await report('importing');
    }
    done = total;
    await report('complete');
    await this.#forget();
  }

  async #report(event: NetworkEvent): Promise<void> {
    if (this.#isStopped) throw new AppError('session_not_connected');
    await this.#host.onEvent(event);
  }
}

/** Marks the newest incoming messages of each chat as unread, as many as it has. */
function* withUnread(chats: readonly HistoryChat[], messages: Iterable<HistoryMessage>): Generator<HistoryMessage> {
  const left = new Map(chats.map(({ chat, unreadCount = 0 }) => [chat.id, unreadCount]));
  for (const message of messages) {
    const unread = message.isOwn === true ? 0 : (left.get(message.chat.id) ?? 0);
    if (unread > 0) left.set(message.chat.id, unread - 1);
    yield unread > 0 ? { ...message, isUnread: true } : message;
  }
}

/** Makes up older messages of a chat, which always has some. */
export async function playOlder(host: Host, { chat, from, timestamp, count }: HistoryRequest): Promise<void> {
  const other = chat.type === 'direct' ? chat.id : from;
  const messages = Array.from({ length: count }, (_, n): HistoryMessage => {
    const at = timestamp - (n + 1) * HOUR_MS;
    const isOwn = n % 3 === 2;
    return {
      networkId: `older-${chat.id}-${at}`,
      chat,
      from: isOwn ? (host.phoneNumber ?? '') : other,
      isOwn,
      content: { type: 'text', text: `Older message ${n + 1}` },
      timestamp: at,
      status: 'read',
      replyTo: null,
    };
  });
  for (const part of partsOf(messages))
    await host.onEvent({ type: 'history', chats: [], contacts: [], messages: part });
}

/**
 * Opens a file that a simulation has put into the history.
 * @throws {AppError} `not_found` if it is gone
 */
export async function openHistoryFile(
  reference: string,
  openFile: (hash: string) => Promise<Readable>,
): Promise<NetworkMedia> {
  const { hash, mimeType, size, fileName } = JSON.parse(reference);
  if (hash === null) throw new AppError('not_found', 'The network no longer has the file');
  return { mimeType, size, fileName, hash, open: () => openFile(hash) };
}

/** Newest first, like a phone. The same call makes the same messages, so that an import can continue. */
function* generate(
  { phoneNumber }: Host,
  now: number,
  { messages: count, chats } = { messages: 0, chats: 1 },
): Generator<HistoryMessage> {
  for (let n = 0; n < count; n++) {
    const other = String(FIRST_NUMBER + (n % chats));
    const isOwn = Math.floor(n / chats) % 3 === 2;
    yield {
      networkId: `history-${other}-${Math.floor(n / chats)}`,
      chat: { type: 'direct', id: other },
      from: isOwn ? (phoneNumber ?? '') : other,
      isOwn,
      ...(!isOwn && { senderName: nameOf(n % chats) }),
      content: { type: 'text', text: `Message ${count - n} of the history` },
      // Ten minutes apart, so that 10,000 messages take about ten weeks.
      timestamp: now - (n + 1) * 600_000,
      status: 'read',
      replyTo: null,
    };
  }
}

const nameOf = (n: number) => `${NAMES[n % NAMES.length]} ${Math.floor(n / NAMES.length) + 1}`;

function contactsOf(messages: readonly HistoryMessage[]): HistoryContact[] {
  return messages.flatMap(({ from, senderName }) =>
    senderName === undefined ? [] : [{ phoneNumber: from, pushName: senderName }],
  );
}

function* concat<T>(...lists: readonly Iterable<T>[]): Generator<T> {
  for (const list of lists) yield* list;
}

function* skip<T>(count: number, items: Iterable<T>): Generator<T> {
  let n = 0;
  for (const item of items) if (n++ >= count) yield item;
}

function* partsOf<T>(items: Iterable<T>): Generator<T[]> {
  let part: T[] = [];
  for (const item of items) {
    part.push(item);
    if (part.length < AT_ONCE) continue;
    yield part;
    part = [];
  }
  if (part.length > 0) yield part;
}
