import { createHash } from 'node:crypto';
import type { BinaryNode, WASocket } from 'baileys';
import type { UnreadableReason } from '../../../events/networkTypes.ts';
import type { NetworkEvent } from '../../contract/events.ts';
import { STATUS, unhosted } from '../people/addresses.ts';
import type { Session } from '../session.ts';
import { reasonOf } from './decryptionErrors.ts';
import type { Attributes, Failure, Journal } from './journal.ts';
import type { MessageReader } from './messageReader.ts';
import { isViewOnce } from './placeholders.ts';
import { UnreadableCounts } from './unreadableCounts.ts';

const PREFIX = 'awaited/';
/** Time for the sender or the phone to send a message again. */
const WAIT_MS = 60_000;
/**
 * Time for the phone after the last request to the sender, because Baileys asks the phone two seconds later. A new
 * connection gets the same time for messages that the server has kept.
 */
const PHONE_MS = 15_000;
/** Messages that wait: of a session, and of one sender. Further ones are only counted. */
const WAITING = 200;
const WAITING_OF_SENDER = 20;
/**
 * Placeholders within a day: of a session, and of one sender. A stranger can send any number of unreadable messages.
 */
const PLACED = 200;
const PLACED_OF_SENDER = 20;
const DAY_MS = 86_400_000;
const ATTRIBUTES_CHARACTERS = 2000;
/** Messages that need no placeholder: they were read, or are counted already. Duplicates of them arrive soon. */
const SETTLED_KEPT = 2000;

interface Entry {
  /** Envelope of the message. */
  readonly attrs: Attributes;
  readonly reason: UnreadableReason;
  /** Whether phones show that it is missing. They hide reactions and the like. */
  readonly isShown: boolean;
  /** Time of the first failure. */
  readonly at: number;
  failures: number;
  /** Whether everything was tried, and the chat has a placeholder. */
  isPlaced: boolean;
  /** Time of the failure after the last request to the sender. */
  exhaustedAt?: number;
  /** Whether it was decrypted, and is being stored. */
  hasArrived?: boolean;
}

/**
 * Messages that could not be decrypted. Baileys asks the sender for them five times, and the phone of the session's
 * number. One that does not come gets a placeholder in its chat, which the message replaces when it comes after all.
 *
 * They are kept in the store, with the number of failures: Baileys begins to count with each connection.
 */
export class Undecrypted {
  readonly #session: Session;
  readonly #reader: MessageReader;
  /** Entries by their store keys. */
  readonly #entries = new Map<string, Entry>();
  readonly #settled = new Set<string>();
  readonly #counts: UnreadableCounts;
  #openedAt: number | undefined;
  #cancelTimer = () => {};

  constructor(session: Session, journal: Journal, reader: MessageReader) {
    const { link, host } = session;
    this.#session = session;
    this.#reader = reader;
    this.#counts = new UnreadableCounts(host);
    journal.on('failed', (failure) => this.#onFailure(failure));
    link.on('open', () => {
      this.#openedAt = host.clock.now();
      this.#schedule();
    });
    link.on('lost', () => {
      this.#openedAt = undefined;
      this.#cancelTimer();
    });
  }

  async start(): Promise<void> {
    const oldest = this.#session.host.clock.now() - DAY_MS;
    for (const [key, text] of await this.#session.store.list(PREFIX)) {
      const entry: Entry = JSON.parse(text);
      if (entry.isPlaced && entry.at < oldest) this.#write(key, null);
      else this.#entries.set(key, entry);
    }
  }

  async stop(): Promise<void> {
    this.#cancelTimer();
    await this.#counts.stop();
  }

  /** Looks at a stanza before Baileys reads it. */
  expect({ messageRetryManager: retries }: WASocket, node: BinaryNode): void {
    const { attrs } = node;
    const { id = '' } = attrs;
    const known = this.#entries.get(this.#keyOf(attrs));
    if (known !== undefined)
      while (retries && retries.getRetryCount(id) < known.failures) retries.incrementRetryCount(id);
    if (isWithheld(node)) this.#note(attrs, 'not_encrypted_for_device', true);
  }

  /** Returns the envelope of a message that the phone passes on; undefined if it is not awaited. */
  envelopeOf(id: string, chat: string): Attributes | undefined {
    const found = [...this.#entries.values()].filter(({ attrs }) => attrs['id'] === id);
    const inChat = found.filter(
      ({ attrs: { from = '', recipient = from } }) => this.#bare(recipient) === this.#bare(chat),
    );
    return (inChat.length === 1 ? inChat : found.length === 1 ? found : [])[0]?.attrs;
  }

  /** Returns the server's time of the first stanza of a message that could not be decrypted; undefined if it could. */
  firstReceivedAt(attrs: Attributes): number | undefined {
    const time = Number(this.#entries.get(this.#keyOf(attrs))?.attrs['t']);
    return time > 0 ? time * 1000 : undefined;
  }

  /** Notes that a message was decrypted, and is about to be stored. */
  hold(attrs: Attributes): void {
    const key = this.#keyOf(attrs);
    this.#remember(key);
    const entry = this.#entries.get(key);
    if (entry !== undefined) entry.hasArrived = true;
  }

  /**
   * Notes that a message is stored.
   * @param event the event of the message; left out if nobody wrote it
   */
  settle(attrs: Attributes, event?: NetworkEvent): void {
    const key = this.#keyOf(attrs);
    this.#remember(key);
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#entries.delete(key);
    this.#write(key, null);
    if (entry.isPlaced && event?.type !== 'message') void this.#remove(entry);
  }

  #onFailure({ attrs, error, isHidden }: Failure): void {
    const reason = reasonOf(error);
    if (reason !== undefined) this.#note(attrs, reason, !isHidden);
  }

  #note(attrs: Attributes, reason: UnreadableReason, isShownElsewhere: boolean): void {
    const { baileys, host, self } = this.#session;
    const { id = '', from = '', category } = attrs;
    const key = this.#keyOf(attrs);
    const known = this.#entries.get(key);
    // Devices of the number send each other keys and settings.
    if (category === 'peer' || baileys.isJidNewsletter(from) || id === '') return;
    if (known === undefined && this.#settled.has(key)) return;
    // A status ends within a day, and is in no chat.
    const isShown = isShownElsewhere && from !== STATUS;
    const entry = known ?? { attrs, reason, isShown, at: host.clock.now(), failures: 0, isPlaced: false };
    entry.failures++;
    if (entry.isPlaced) return;
    const sender = this.#senderOf(attrs);
    const waiting = [...this.#entries.values()].filter(({ isPlaced }) => !isPlaced);
    const ofSender = self.is(sender) ? 0 : waiting.filter((one) => this.#senderOf(one.attrs) === sender).length;
    const isFull = waiting.length >= WAITING || ofSender >= WAITING_OF_SENDER;
    if (known === undefined && (isFull || JSON.stringify(attrs).length > ATTRIBUTES_CHARACTERS)) {
      this.#remember(key);
      void this.#counts.add(reason, isShown);
      return;
    }
    this.#entries.set(key, entry);
    this.#write(key, entry);
    if (entry.failures > baileys.DEFAULT_CONNECTION_CONFIG.maxMsgRetryCount && entry.exhaustedAt === undefined) {
      entry.exhaustedAt = host.clock.now();
      // Baileys takes back its own request with the last retry.
      if (entry.isShown) void this.#askPhone(attrs);
    }
    this.#schedule();
  }

  #schedule(): void {
    this.#cancelTimer();
    const { clock } = this.#session.host;
    const openedAt = this.#openedAt;
    if (openedAt === undefined) return;
    const due = [...this.#entries].flatMap(([key, entry]) =>
      entry.isPlaced || entry.hasArrived ? [] : [{ key, entry, at: dueAt(entry, openedAt) }],
    );
    if (due.length === 0) return;
    const first = Math.min(...due.map(({ at }) => at));
    this.#cancelTimer = clock.after(Math.max(0, first - clock.now()), () => {
      for (const { key, entry, at } of due) if (at <= clock.now()) void this.#giveUp(key, entry);
      this.#schedule();
    });
  }

  async #askPhone(attrs: Attributes): Promise<void> {
    const { link, host } = this.#session;
    try {
      await link.socket?.requestPlaceholderResend(this.#reader.keyOf(attrs));
    } catch (error) {
      host.log.debug({ err: error, message: attrs['id'] }, 'failed to request a message from the phone');
    }
  }

  /**
   * Gives a message a placeholder, or only counts it. It may still come. The entry changes after the report is stored,
   * so that a crash in between repeats the report: a placeholder is then known, and something else counts twice.
   */
  async #giveUp(key: string, entry: Entry): Promise<void> {
    if (entry.isPlaced || entry.hasArrived || this.#entries.get(key) !== entry) return;
    const { reporter, host } = this.#session;
    entry.isPlaced = true;
    const { reason, isShown } = entry;
    try {
      if (!isShown || !this.#mayPlace(entry)) {
        this.#entries.delete(key);
        this.#remember(key);
        if (await this.#counts.add(reason, isShown)) this.#write(key, null);
        return;
      }
      host.log.warn({ message: entry.attrs['id'], reason }, 'failed to decrypt a message; giving up');
      const event = await this.#readAwaited(entry);
      if (!entry.hasArrived && event !== undefined) await reporter.require({ ...event, unreadable: reason });
      else if (!entry.hasArrived && !(await this.#counts.add(reason, isShown))) return;
      if (this.#entries.has(key)) this.#write(key, entry);
    } catch (error) {
      host.log.warn({ err: error, message: entry.attrs['id'] }, 'failed to show that a message could not be decrypted');
    }
  }

  /** Counts the placeholders of the last day, this one included, and forgets older ones. */
  #mayPlace({ attrs }: Entry): boolean {
    const oldest = this.#session.host.clock.now() - DAY_MS;
    const sender = this.#senderOf(attrs);
    let [placed, ofSender] = [0, 0];
    for (const [key, entry] of this.#entries) {
      if (!entry.isPlaced) continue;
      if (entry.at < oldest) {
        this.#entries.delete(key);
        this.#write(key, null);
        continue;
      }
      placed++;
      if (this.#senderOf(entry.attrs) === sender) ofSender++;
    }
    return placed <= PLACED && (ofSender <= PLACED_OF_SENDER || this.#session.self.is(sender));
  }

  /** Removes the placeholder of something that turned out to be no message. */
  async #remove({ attrs }: Entry): Promise<void> {
    const { reporter, host } = this.#session;
    try {
      const event = await this.#reader.readAwaited(attrs);
      if (event === undefined) return;
      const { networkId, chat } = event;
      await reporter.report({ type: 'message_removed', networkId, chat, onlyAwaited: true });
    } catch (error) {
      host.log.warn({ err: error, message: attrs['id'] }, 'failed to remove a placeholder');
    }
  }

  /** Returns undefined if the message is in no chat here, or its envelope is incomplete. */
  async #readAwaited({ attrs }: Entry) {
    try {
      return await this.#reader.readAwaited(attrs);
    } catch (error) {
      this.#session.host.log.debug({ err: error, message: attrs['id'] }, 'failed to find the chat of a message');
      return undefined;
    }
  }

  #write(key: string, entry: Entry | null): void {
    const { store, host } = this.#session;
    store
      .write(new Map([[key, entry && JSON.stringify({ ...entry, hasArrived: undefined, exhaustedAt: undefined })]]))
      .catch((error) => host.log.warn({ err: error }, 'failed to note a message that could not be decrypted'));
  }

  #remember(key: string): void {
    this.#settled.add(key);
    const [oldest] = this.#settled;
    if (this.#settled.size > SETTLED_KEPT && oldest !== undefined) this.#settled.delete(oldest);
  }

  #keyOf(attrs: Attributes): string {
    const { id = '', from = '', recipient = from } = attrs;
    const parts = [this.#bare(recipient), this.#senderOf(attrs), id];
    return PREFIX + createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, 22);
  }

  #senderOf({ from = '', participant = from }: Attributes): string {
    return this.#bare(participant);
  }

  /** Returns an address without its device. */
  #bare(jid: string): string {
    return unhosted(this.#session.baileys.jidNormalizedUser(jid));
  }
}

function dueAt({ at, exhaustedAt = Number.POSITIVE_INFINITY }: Entry, openedAt: number): number {
  return Math.min(Math.max(at + WAIT_MS, openedAt + PHONE_MS), exhaustedAt + PHONE_MS);
}

/**
 * Whether a stanza states that its content is missing, as in whatsmeow (`decryptMessages`). A view-once message has
 * another placeholder (see `placeholders.ts`), and messages with Meta's assistant are only on the phone.
 */
function isWithheld(node: BinaryNode): boolean {
  const { content } = node;
  if (!Array.isArray(content) || content.some(({ tag }) => tag === 'enc')) return false;
  const unavailable = content.find(({ tag }) => tag === 'unavailable');
  return unavailable !== undefined && unavailable.attrs['type'] !== 'bot_unavailable_fanout' && !isViewOnce(node);
}
