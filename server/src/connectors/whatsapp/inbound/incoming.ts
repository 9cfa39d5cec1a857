import { KeyedQueue, Slots, settledWithin, sleep } from '../../../async.ts';
import { AppError } from '../../../errors.ts';
import { boomOf } from '../link/errors.ts';
import type { Session } from '../session.ts';
import type { HeldReceipts } from './heldReceipts.ts';
import type { Journal, Received } from './journal.ts';
import type { MessageReader } from './messageReader.ts';

const RETRY_MS = 500;
const MAX_RETRY_MS = 30_000;
/** For a message that fails for its own reasons rather than by an outage: it must not block its chat. */
const ATTEMPTS = 10;
/** After this many attempts to fetch its file, a message is passed on without it. */
const DOWNLOADS = 3;
/** After some time offline, each of hundreds of chats may begin with a large video. */
const FILES_AT_ONCE = 4;
const STOP_MS = 3000;

/** Passes the messages of the journal to the host, each chat in its order. */
export class Incoming {
  readonly #session: Session;
  readonly #journal: Journal;
  readonly #reader: MessageReader;
  readonly #heldReceipts: HeldReceipts;
  readonly #chats = new KeyedQueue();
  readonly #downloads = new Slots(FILES_AT_ONCE);
  #setAside: Received[] = [];
  #isStopped = false;

  constructor(session: Session, journal: Journal, reader: MessageReader, heldReceipts: HeldReceipts) {
    this.#session = session;
    this.#journal = journal;
    this.#reader = reader;
    this.#heldReceipts = heldReceipts;
  }

  add(received: Received, attempts = ATTEMPTS): void {
    const { from, recipient = from } = received.attrs;
    // Without the device. A message that the own number sent elsewhere names its chat as the recipient.
    const chat = this.#session.baileys.jidNormalizedUser(recipient);
    // A chat waits only for its own messages: the download of a large video delays only other files.
    void this.#chats.run(chat, () => this.#dispatch(received, attempts));
  }

  /** Retries the messages that were set aside, because a new connection may provide what they lacked. */
  retrySetAside(): void {
    const again = this.#setAside;
    this.#setAside = [];
    for (const received of again) this.add({ ...received, isReplayed: true }, 1);
  }

  /** Starts nothing more, and waits a moment for messages in flight. Messages that are not stored stay in the journal. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await settledWithin(this.#session.host.clock, STOP_MS, this.#chats.idle());
  }

  /** Never rejects: a message that cannot be stored is tried again, and after a stop at the next start. */
  async #dispatch(received: Received, attempts: number): Promise<void> {
    const { host } = this.#session;
    const { id = '' } = received.attrs;
    let faults = 0;
    for (let attempt = 0; !this.#isStopped; attempt++) {
      try {
        await this.#store(received, attempt < DOWNLOADS);
        this.#journal.acknowledge(received);
        return this.#heldReceipts.settle(id);
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

  async #store(received: Received, withFile: boolean): Promise<void> {
    const { host } = this.#session;
    const event = await this.#reader.read(received, withFile);
    if (event === undefined) return;
    if (!('content' in event) || event.content.media === undefined) return host.onEvent(event);
    // The host reads the file before it stores the event.
    await this.#downloads.run(async () => {
      if (this.#isStopped) throw new Error('the session ended before the file was fetched');
      await host.onEvent(event);
    });
  }
}

const OUTAGES: ReadonlySet<number | undefined> = new Set([408, 428, 429, 503]);

/** Whether an error comes from the database, as an error of the API, or from the network. */
function isOutage(error: unknown): boolean {
  return error instanceof AppError || OUTAGES.has(boomOf(error).statusCode);
}
