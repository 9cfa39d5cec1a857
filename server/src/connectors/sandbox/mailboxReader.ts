import { sleep } from '../../async.ts';
import type { Clock } from '../../clock.ts';
import { AppError } from '../../errors.ts';
import type { Log } from '../../log.ts';
import type { NetworkEvent } from '../connector.ts';
import type { Mail, SandboxEvent, SandboxStore, Sender } from './store.ts';

/** A session that is connected in this process. */
export interface Phone extends Sender {
  /** Digits. */
  readonly number: string;
  /** The session's own name; null if it has not set one. */
  readonly name: string | null;
  /**
   * Resolves once the event is stored.
   * @param hasWaited whether the event happened while the phone was offline; by default, the phone decides by the moment
   * of sending, which is exact only for events of this node
   * @returns false if the phone has blocked its sender
   */
  receive(event: SandboxEvent, hasWaited?: boolean): Promise<boolean>;
}

export const RETRY_MS = 500;
const PAGE = 100;
/** Attempts before an event that cannot be stored is dropped. It must not block the others. */
const ATTEMPTS = 5;

interface Parts {
  readonly store: SandboxStore;
  /** Wakes sessions that have new mail. */
  readonly announce: (sessionIds: readonly string[]) => Promise<void>;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Dispatches the mail of one session to its phone, in order, and removes mail that the phone has stored. If the process
 * dies in between, the next reader dispatches the same mail again. The inbox recognizes a message that it has, and
 * repeating edits, reactions, votes, deletions and receipts in order ends in the same state. Of the changes of a group
 * the inbox recognizes only the last one, so that the mail of each is removed before the next one is dispatched.
 */
export class MailboxReader {
  readonly phone: Phone;
  #newestWaiting: number;
  readonly #parts: Parts;
  readonly #started = Promise.withResolvers<void>();
  #state: 'waiting' | 'started' | 'stopped' = 'waiting';
  #hasMail = true;
  #reading: Promise<void> | undefined;

  /** @param newestWaiting `mailId` of the newest mail when the phone came online, because the clocks of nodes differ */
  constructor(phone: Phone, newestWaiting: number, parts: Parts) {
    this.phone = phone;
    this.#newestWaiting = newestWaiting;
    this.#parts = parts;
  }

  /** Whether the phone has all of its mail, so that a direct event cannot overtake any. */
  get isIdle(): boolean {
    return this.#state === 'started' && this.#reading === undefined;
  }

  start(): void {
    if (this.#state !== 'waiting') return;
    this.#state = 'started';
    this.wake();
    this.#started.resolve();
  }

  stop(): void {
    this.#state = 'stopped';
    this.#started.resolve();
  }

  wake(): void {
    this.#hasMail = true;
    if (this.#state === 'started') this.#reading ??= this.#read();
  }

  /** Resolves once the phone has all of its mail, or has left. */
  async caughtUp(): Promise<void> {
    await this.#started.promise;
    await this.#reading;
  }

  async #read(): Promise<void> {
    const { store, clock, log } = this.#parts;
    const { sessionId } = this.phone;
    while (this.#hasMail && this.#state === 'started') {
      this.#hasMail = false;
      try {
        const mail = await store.mailOf(sessionId, PAGE);
        await this.#dispatchAll(mail);
        if (mail.length === PAGE) this.#hasMail = true;
        else this.#newestWaiting = 0; // it is dispatched, and SQLite uses the ids of deleted rows again
      } catch (error) {
        log.debug({ err: error, session: sessionId }, 'failed to read a sandbox mailbox; trying again');
        this.#hasMail = true;
        await sleep(clock, RETRY_MS);
      }
    }
    this.#reading = undefined;
  }

  /** Events that are dispatched together are stored in this order, in few transactions. */
  async #dispatchAll(mail: readonly Mail[]): Promise<void> {
    let together: Mail[] = [];
    for (const one of mail) {
      together.push(one);
      if (!endsBatch(one.event)) continue;
      await this.#dispatchTogether(together);
      together = [];
    }
    await this.#dispatchTogether(together);
  }

  async #dispatchTogether(mail: readonly Mail[]): Promise<void> {
    if (mail.length === 0) return;
    const { store, announce } = this.#parts;
    const outcomes = await Promise.all(mail.map((one) => this.#dispatch(one)));
    // Everything after the event at which the phone left is dispatched again.
    const left = outcomes.indexOf('left');
    const settled = left === -1 ? mail : mail.slice(0, left);
    const idsOf = (wanted: string) => settled.filter((_, n) => outcomes[n] === wanted).map(({ mailId }) => mailId);
    const [delivered, dropped] = [idsOf('delivered'), idsOf('dropped')];
    if (delivered.length > 0 || dropped.length > 0) void announce(await store.remove(delivered, dropped));
  }

  async #dispatch(mail: Mail): Promise<'delivered' | 'dropped' | 'left'> {
    if (mail.isEarly) return 'dropped';
    for (let failures = 0; this.#state === 'started'; ) {
      try {
        return (await this.phone.receive(mail, mail.mailId <= this.#newestWaiting)) ? 'delivered' : 'dropped';
      } catch (error) {
        if (!isTransient(error)) failures++;
        if (failures === ATTEMPTS) {
          const { sessionId } = this.phone;
          this.#parts.log.error({ err: error, session: sessionId }, 'dropped a sandbox event that cannot be stored');
          return 'dropped';
        }
      }
      await sleep(this.#parts.clock, RETRY_MS);
    }
    return 'left';
  }
}

/** Ends a batch: a file must be stored before the next event, and the mail of a group change must be removed. */
function endsBatch(event: NetworkEvent): boolean {
  return event.type === 'group_updated' || hasFile(event);
}

export const hasFile = (event: NetworkEvent): boolean => 'content' in event && event.content.media !== undefined;

/** Whether an error says nothing about the event: the database is unavailable, or another node owns the session. */
export function isTransient(error: unknown): boolean {
  const transient = ['storage_unavailable', 'session_not_connected', 'shutting_down'];
  return error instanceof AppError && transient.includes(error.code);
}
