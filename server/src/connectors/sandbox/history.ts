import type { Readable } from 'node:stream';
import { AppError } from '../../errors.ts';
import type {
  HistoryContact,
  HistoryMessage,
  HistoryRequest,
  HistorySimulation,
  NetworkMedia,
  SessionHost,
} from '../connector.ts';
import { historyChoiceOf } from '../historyOptions.ts';

const AT_ONCE = 500;
const RECENT_MS = 90 * 24 * 3600 * 1000;
const HOUR_MS = 3600 * 1000;
/** Made-up contacts have numbers from here on. */
const FIRST_NUMBER = 491_720_000_000;
const NAMES = ['Ada', 'Ben', 'Cleo', 'Dina', 'Emil', 'Fay', 'Gus', 'Hana', 'Ivo', 'Jule'];

type Host = Pick<SessionHost, 'onEvent' | 'options' | 'phoneNumber' | 'clock'>;

/** Plays the phone that passes on its history, in parts, like after linking. */
export async function playHistory(
  host: Host,
  { chats, contacts, messages, generated }: HistorySimulation,
): Promise<void> {
  const choice = historyChoiceOf(host.options);
  if (choice === 'none') return;
  const since = choice === 'full' ? 0 : host.clock.now() - RECENT_MS;
  const total = Math.max(1, messages.length + (generated?.messages ?? 0));
  const report = (state: 'importing' | 'complete', done: number) =>
    host.onEvent({ type: 'history_progress', state, progress: Math.floor((100 * done) / total) });
  await report('importing', 0);
  await host.onEvent({ type: 'history', chats, contacts, messages: [] });
  let done = 0;
  for (const part of partsOf(concat(messages, generate(host, generated)))) {
    const wanted = part.filter(({ timestamp }) => timestamp >= since);
    const ids = new Set(wanted.map(({ chat }) => chat.id));
    // With the unread count of each chat.
    const theirs = chats.filter(({ chat }) => ids.has(chat.id));
    await host.onEvent({ type: 'history', chats: theirs, contacts: contactsOf(wanted), messages: wanted });
    done += part.length;
    await report('importing', done);
  }
  await report('complete', total);
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

/** Newest first, like a phone. The same call makes the same messages. */
function* generate(
  { phoneNumber, clock }: Host,
  { messages: count, chats } = { messages: 0, chats: 1 },
): Generator<HistoryMessage> {
  const now = clock.now();
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
