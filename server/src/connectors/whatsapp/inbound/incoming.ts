import { KeyedQueue, Slots, settledWithin, sleep } from '../../../async.ts';
import { AppError } from '../../../errors.ts';
import type { NetworkEvent } from '../../contract/events.ts';
import { nameOf } from '../link/credentials.ts';
import { boomOf } from '../link/errors.ts';
import type { Baileys } from '../link/load.ts';
import { MAPPING, unhosted } from '../people/addresses.ts';
import { userOf } from '../people/mentionText.ts';
import type { SecretEntry } from '../sealed/messageSecrets.ts';
import type { Session } from '../session.ts';
import type { HeldReceipts } from './heldReceipts.ts';
import type { Attributes, Journal, Received } from './journal.ts';
import type { MessageReader } from './messageReader.ts';
import type { Undecrypted } from './undecrypted.ts';
import { WaitingChanges } from './waitingChanges.ts';

const RETRY_MS = 500;
const MAX_RETRY_MS = 30_000;
/** For a message that fails for its own reasons rather than by an outage: it must not block its chat. */
const ATTEMPTS = 10;
/** After this many attempts to fetch its file, a message is passed on without it. */
const DOWNLOADS = 3;
/** After some time offline, each of hundreds of chats may begin with a large video. */
const FILES_AT_ONCE = 4;
const STOP_MS = 3000;
/** Maximum wait for changes of phone numbers, which are stored in milliseconds unless the database fails. */
const CHANGES_MS = 30_000;
const LOOK_UPS = 'lids';
/** Maximum age of a change that waits, in milliseconds. */
const WAIT_MS = 86_400_000;

interface Parts {
  readonly session: Session;
  readonly journal: Journal;
  readonly reader: MessageReader;
  readonly heldReceipts: HeldReceipts;
  readonly undecrypted: Undecrypted;
}

/** Passes the messages of the journal to the host, each chat in its order. */
export class Incoming {
  readonly #session: Session;
  readonly #journal: Journal;
  readonly #reader: MessageReader;
  readonly #heldReceipts: HeldReceipts;
  readonly #undecrypted: Undecrypted;
  /** The key is the chat, and for a person always the LID, so that messages from both addresses stay in order. */
  readonly #chats = new KeyedQueue();
  readonly #lookUps = new KeyedQueue();
  readonly #downloads = new Slots(FILES_AT_ONCE);
  #setAside: Received[] = [];
  readonly #waiting = new WaitingChanges();
  #isStopped = false;

  constructor({ session, journal, reader, heldReceipts, undecrypted }: Parts) {
    this.#undecrypted = undecrypted;
    this.#session = session;
    this.#journal = journal;
    this.#reader = reader;
    this.#heldReceipts = heldReceipts;
  }

  add(received: Received, attempts = ATTEMPTS): void {
    const chat = chatIn(this.#session.baileys, received.attrs);
    // A chat waits only for its own messages: the download of a large video delays only other files.
    const run = (key: string) => void this.#chats.run(key, () => this.#dispatch(received, attempts));
    const isKnown = !this.#session.baileys.isPnUser(chat);
    if (isKnown && this.#lookUps.length(LOOK_UPS) === 0) run(chat);
    // Later messages wait for the look-up, or they could overtake this one.
    else void this.#lookUps.run(LOOK_UPS, async () => run(isKnown ? chat : await this.#withLid(chat)));
  }

  /** Returns the LID of a person, or the given address if it is unknown. */
  async #withLid(number: string): Promise<string> {
    const { store, host } = this.#session;
    try {
      const lid = await store.get(nameOf(MAPPING, userOf(number)));
      return lid === undefined ? number : `${JSON.parse(lid)}@lid`;
    } catch (error) {
      host.log.warn({ err: error }, 'failed to look up the LID of a sender');
      return number;
    }
  }

  /** Retries the messages that were set aside, because a new connection may provide what they lacked. */
  retrySetAside(): void {
    const again = this.#setAside;
    this.#setAside = [];
    for (const received of again) this.add({ ...received, isReplayed: true }, 1);
    this.#release(() => true);
  }

  /**
   * Starts nothing more, and waits a moment for messages in flight. Messages that are not stored stay in the journal.
   */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await settledWithin(this.#session.host.clock, STOP_MS, this.#chats.idle());
  }

  /** Never rejects: a message that cannot be stored is tried again, and after a stop at the next start. */
  async #dispatch(received: Received, attempts: number): Promise<void> {
    const { host } = this.#session;
    const { id = '' } = received.attrs;
    // Otherwise a message from the next owner of a number would join the chat of the former one.
    if (received.follows !== undefined) await settledWithin(host.clock, CHANGES_MS, received.follows);
    let faults = 0;
    for (let attempt = 0; !this.#isStopped; attempt++) {
      try {
        const waitsFor = await this.#store(received, attempt < DOWNLOADS);
        if (waitsFor === undefined) return this.#settle(received);
        return this.#wait(received, waitsFor);
      } catch (error) {
        const about = { err: error, message: id, attempt };
        if (!isOutage(error)) faults++;
        if (faults >= attempts) {
          this.#setAside.push(received);
          this.#heldReceipts.settle(id);
          return host.log.error(about, 'failed to store a message; trying again at the next connection');
        }
        host.log.warn(about, 'failed to store a message; trying again');
        await sleep(host.clock, Math.min(RETRY_MS * 2 ** attempt, MAX_RETRY_MS));
      }
    }
  }

  #settle(received: Received): void {
    this.#journal.acknowledge(received);
    this.#heldReceipts.settle(received.attrs['id'] ?? '');
  }

  /** @returns the id of the message that must arrive first */
  async #store(received: Received, withFile: boolean): Promise<string | undefined> {
    const { event, secret, waitsFor } = await this.#reader.read(received, {
      withFile,
      firstReceivedAt: this.#undecrypted.firstReceivedAt(received.attrs),
    });
    if (event === undefined) {
      if (waitsFor === undefined) this.#undecrypted.settle(received.attrs);
      return waitsFor;
    }
    if (!hasFile(event)) await this.#keep(event, secret);
    // The host reads the file before it stores the event.
    else
      await this.#downloads.run(async () => {
        if (this.#isStopped) throw new Error('the session ended before the file was fetched');
        await this.#keep(event, secret);
      });
    this.#undecrypted.settle(received.attrs, event);
    if (secret !== undefined) this.#release((waitsFor) => waitsFor === secret.id);
    return undefined;
  }

  /** Stores an event and the secret of its message, which share a transaction. */
  async #keep(event: NetworkEvent, secret: SecretEntry | undefined): Promise<void> {
    const { host, store } = this.#session;
    await Promise.all([host.onEvent(event), secret && store.set(secret.key, secret.value)]);
  }

  #wait(received: Received, waitsFor: string): void {
    const { t = '0', id = '', from = '', participant = from } = received.attrs;
    this.#heldReceipts.settle(id);
    const sender = this.#session.baileys.jidNormalizedUser(participant);
    const isOld = Number(t) * 1000 < this.#session.host.clock.now() - WAIT_MS;
    const displaced = isOld ? { received } : this.#waiting.add({ received, waitsFor, sender });
    if (displaced !== undefined) this.#giveUp(displaced.received);
  }

  #giveUp(received: Received): void {
    this.#waiting.delete(received);
    const { host } = this.#session;
    host.log.debug(
      { message: received.attrs['id'] },
      'failed to read a sealed change of a message: the session has no secret of the message',
    );
    host
      .onEvent({ type: 'unreadable', reason: 'no_message_secret', isMessage: false })
      .catch((error) => host.log.debug({ err: error }, 'failed to count a sealed change'));
    this.#undecrypted.settle(received.attrs);
    this.#settle(received);
  }

  /** Reads changes again whose message has arrived. */
  #release(hasArrived: (waitsFor: string) => boolean): void {
    for (const received of this.#waiting.take(hasArrived)) this.add(received);
  }
}

/** Returns the address of a message's chat without the device: of a person, the LID if the envelope has it. */
function chatIn(baileys: Baileys, attrs: Attributes): string {
  const { from = '', participant, recipient, sender_lid: senderLid, peer_recipient_lid: peerLid } = attrs;
  const isList = baileys.isJidBroadcast(from) && !baileys.isJidStatusBroadcast(from);
  // In a message from another device of the account, the chat is the recipient.
  const [address, lid] =
    recipient !== undefined
      ? [recipient, attrs['recipient_lid'] ?? peerLid]
      : [isList && participant ? participant : from, senderLid ?? (isList ? attrs['participant_lid'] : undefined)];
  const chat = unhosted(baileys.jidNormalizedUser(address));
  return lid !== undefined && baileys.isPnUser(chat) ? unhosted(baileys.jidNormalizedUser(lid)) : chat;
}

function hasFile(event: NetworkEvent): boolean {
  return 'content' in event ? event.content.media !== undefined : 'media' in event;
}

const OUTAGES: ReadonlySet<number | undefined> = new Set([408, 428, 429, 503]);

/** Whether an error comes from the database, as an error of the API, or from the network. */
function isOutage(error: unknown): boolean {
  return error instanceof AppError || OUTAGES.has(boomOf(error).statusCode);
}
