import { AsyncLocalStorage } from 'node:async_hooks';
import { EventEmitter } from 'node:events';
import type { BinaryNode, proto, SignalDataSet, SignalKeyStoreWithTransaction, SocketConfig } from 'baileys';
import { concernsPeople } from '../content/incomingContent.ts';
import { readWire, UNREADABLE } from '../content/wireKinds.ts';
import { RECEIVED, RECEIVED_PREFIX } from '../link/credentials.ts';
import type { Session } from '../session.ts';
import type { HistoryNotifications, Notified } from './historyNotifications.ts';

/** The attributes of a stanza, such as `id`, `from` and `participant`. */
export type Attributes = Readonly<Record<string, string>>;

export interface Received {
  /** Its key in the store. */
  readonly key: string;
  readonly attrs: Attributes;
  /** Its position in the order: a unique time in ms. The network's own times are in whole seconds. */
  readonly place: number;
  /** A `proto.Message`, encoded. */
  readonly message: Uint8Array;
  /** It waited at the network or in the journal while the session was not connected. */
  readonly isReplayed: boolean;
  /** Whether the sender sends it again, after a retry receipt. */
  readonly isResent?: boolean;
  /** The transaction that stores it, if the message is passed on before that commits. */
  readonly written?: Promise<unknown>;
  /** Resolves once the changes of phone numbers that arrived before it are stored. */
  readonly follows?: Promise<void>;
}

/** The stanza of a message. Keys are in a separate part, before the message that they decrypt. */
interface Envelope {
  readonly attrs: Attributes;
  readonly isLastPart: boolean;
  /** Whether phones show nothing of it if it cannot be decrypted (`decrypt-fail`; whatsmeow, `send.go`). */
  readonly isHidden: boolean;
  /**
   * Whether it answers a retry receipt: its parts have the `count` (whatsmeow, `retry.go`; Baileys, `relayMessage`).
   */
  readonly isResent: boolean;
}

/** A message that could not be decrypted. It may be requested again. */
export interface Failure extends Pick<Envelope, 'attrs' | 'isHidden'> {
  readonly error: unknown;
}

interface JournalEvents {
  /** A message is in the journal, or will be once the transaction that decrypts it has committed. */
  received: [received: Received];
  /** A message has no content for people. */
  ignored: [attrs: Attributes];
  failed: [failure: Failure];
}

/**
 * Acknowledgements are collected for this long, and share a transaction. A failed one is retried: a repeated message is
 * recognized, but an older reaction or edit would replace a newer one.
 */
const FLUSH_MS = 1000;
/** Baileys reports messages that waited at the network only once all of them are decrypted. */
const RECENT_KEPT = 10_000;

/**
 * Received messages that the host has not stored yet.
 *
 * The network forgets a message as soon as the client confirms it. Baileys confirms it before anybody has seen it, and
 * the key that decrypts it works once. So a decrypted message is stored in the transaction that uses up its key, which
 * commits before the confirmation. After a crash, the network sends the message again, or the next start passes it on
 * from the journal. This needs no extra transaction.
 */
export class Journal extends EventEmitter<JournalEvents> {
  readonly #session: Session;
  readonly #notifications: HistoryNotifications;
  /** The envelope of each ciphertext, because Baileys decrypts without naming it. */
  readonly #envelopes = new WeakMap<Uint8Array, Envelope>();
  /** In order of arrival. An LRU cache would allocate its entries at once, and an idle session needs none. */
  readonly #recent = new Set<string>();
  #acknowledged = new Map<string, null>();
  #lastPlace = 0;
  #cancelFlush: (() => void) | undefined;
  #isStopped = false;
  // Baileys finds the transaction of a call by its async context. Listeners must not run in that of the message.
  readonly #outside = AsyncLocalStorage.snapshot();

  constructor(session: Session, notifications: HistoryNotifications) {
    super();
    this.#session = session;
    this.#notifications = notifications;
  }

  /** Makes Baileys' own repository, and stores the messages that it decrypts. */
  readonly makeSignalRepository: SocketConfig['makeSignalRepository'] = (auth, logger, lidsOf) => {
    const repository = this.#session.baileys.DEFAULT_CONNECTION_CONFIG.makeSignalRepository(auth, logger, lidsOf);
    const { keys } = auth;
    const decrypt = (ciphertext: Uint8Array, lock: string, inner: () => Promise<Uint8Array>) => {
      const envelope = this.#envelopes.get(ciphertext);
      if (envelope === undefined || !('transaction' in keys)) return inner();
      return this.#decrypt(envelope, inner, keys, lock);
    };
    return {
      ...repository,
      decryptMessage: (options) => decrypt(options.ciphertext, options.jid, () => repository.decryptMessage(options)),
      decryptGroupMessage: (options) =>
        decrypt(options.msg, options.group, () => repository.decryptGroupMessage(options)),
    };
  };

  /** Records a stanza that Baileys is about to decrypt. */
  expect({ attrs, content }: BinaryNode): void {
    if (!Array.isArray(content)) return;
    const parts = content.filter(({ tag, content }) => tag === 'enc' && content instanceof Uint8Array);
    const isHidden = parts.some((part) => part.attrs['decrypt-fail'] === 'hide');
    const isResent = parts.some((part) => Number(part.attrs['count']) > 0);
    for (const part of parts)
      if (part.content instanceof Uint8Array)
        this.#envelopes.set(part.content, { attrs, isLastPart: part === parts.at(-1), isHidden, isResent });
  }

  /** Stores a message that was not decrypted here, and passes it on. */
  async add(attrs: Attributes, message: proto.IMessage): Promise<void> {
    const content = this.#session.baileys.proto.Message.encode(message).finish();
    const received = this.#receive({ attrs, isLastPart: true, isResent: false }, content);
    if (received === undefined) return;
    await this.#session.store.set(received.key, JSON.stringify(rowOf(received)));
    this.emit('received', received);
  }

  /** Whether a message with this id has arrived recently. */
  has(id: string): boolean {
    return this.#recent.has(id);
  }

  /** Returns the messages that were not acknowledged before the last stop, oldest first. */
  async left(): Promise<Received[]> {
    const entries = [...(await this.#session.store.list(RECEIVED_PREFIX))].map(([key, text]): Received => {
      const { attrs, place, message, isResent } = JSON.parse(text);
      this.#remember(attrs.id ?? '');
      return { key, attrs, place, message: Buffer.from(message, 'base64'), isReplayed: true, isResent };
    });
    return entries.sort((a, b) => a.place - b.place);
  }

  acknowledge({ key, written }: Received): void {
    const remove = () => this.#remove(key);
    // If it was removed before it is written, it would stay forever.
    Promise.resolve(written).then(remove, remove);
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#flush();
  }

  /**
   * Decrypts and stores a message in one transaction, which the repository's own joins. The message is passed on before
   * that commits, so that one fsync stores both. If only the host's write survives a crash, the network sends the
   * message again, and the host recognizes it.
   */
  #decrypt(
    envelope: Envelope,
    inner: () => Promise<Uint8Array>,
    keys: SignalKeyStoreWithTransaction,
    lock: string,
  ): Promise<Uint8Array> {
    let notified: Notified | undefined;
    const written: Promise<Uint8Array> = keys.transaction(async () => {
      const padded = await inner();
      const message = this.#session.baileys.unpadRandomMax16(padded);
      const { unknownKind } = readWire(this.#session.baileys, message);
      const isUnreadable = unknownKind === UNREADABLE;
      const history = isUnreadable ? undefined : this.#notifications.intercept(envelope.attrs, message);
      if (history !== undefined) {
        await keys.set(history.entry);
        notified = history.notified;
        return history.replacement;
      }
      const received = this.#receive(envelope, message);
      if (received === undefined) {
        if (envelope.isLastPart) this.emit('ignored', envelope.attrs);
      } else {
        await keys.set(entryOf(received));
        this.#outside(() => this.emit('received', { ...received, written }));
      }
      // Baileys would ask for an unreadable message again, and the sender has no other.
      return isUnreadable && received ? this.#session.baileys.encodeWAMessage({}) : padded;
    }, lock);
    written.then(
      () => notified && this.#outside(() => notified && this.#notifications.emit('notified', notified)),
      (error) => {
        const { attrs, isHidden, isLastPart } = envelope;
        if (isLastPart) this.#outside(() => this.emit('failed', { attrs, isHidden, error }));
      },
    );
    return written;
  }

  /**
   * @param envelope its last part is the content of a stanza: parts of an unknown kind before it would replace it
   * @returns undefined if the message is only for Baileys, like most protocol messages
   */
  #receive({ attrs, isLastPart, isResent }: Omit<Envelope, 'isHidden'>, message: Uint8Array): Received | undefined {
    const { baileys } = this.#session;
    const { whole, unknownKind } = readWire(baileys, message);
    if (!isLastPart && unknownKind === UNREADABLE) return undefined;
    const inner = baileys.proto.Message.create(whole.deviceSentMessage?.message ?? whole);
    if (!concernsPeople(baileys, inner, isLastPart ? unknownKind : undefined)) return undefined;
    const { from, participant = '', id = '' } = attrs;
    this.#remember(id);
    this.#lastPlace = Math.max(this.#lastPlace + 1, this.#session.host.clock.now());
    const key = `${RECEIVED_PREFIX}${from}/${participant}/${id}`;
    return { key, attrs, place: this.#lastPlace, message, isReplayed: attrs['offline'] !== undefined, isResent };
  }

  #remember(id: string): void {
    this.#recent.add(id);
    const [oldest] = this.#recent;
    if (this.#recent.size > RECENT_KEPT && oldest !== undefined) this.#recent.delete(oldest);
  }

  #remove(key: string): void {
    this.#acknowledged.set(key, null);
    if (this.#isStopped) return;
    this.#cancelFlush ??= this.#session.host.clock.after(FLUSH_MS, () => {
      this.#flush().catch((error) =>
        this.#session.host.log.warn({ err: error }, 'failed to acknowledge journal entries; trying again'),
      );
    });
  }

  async #flush(): Promise<void> {
    this.#cancelFlush?.();
    this.#cancelFlush = undefined;
    const removed = this.#acknowledged;
    this.#acknowledged = new Map();
    try {
      if (removed.size > 0) await this.#session.store.write(removed);
    } catch (error) {
      for (const key of removed.keys()) this.#remove(key);
      throw error;
    }
  }
}

function entryOf(received: Received): SignalDataSet {
  const id = received.key.slice(RECEIVED_PREFIX.length);
  // Baileys passes on unknown types, but its TypeScript types do not.
  return { [RECEIVED]: { [id]: rowOf(received) } } as SignalDataSet;
}

const rowOf = ({ attrs, place, message, isResent }: Received) => ({
  attrs,
  place,
  ...(isResent === true && { isResent }),
  message: Buffer.from(message).toString('base64'),
});
