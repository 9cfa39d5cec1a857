import { Condition, sleep } from '../async.ts';
import type { Clock } from '../clock.ts';
import { AppError } from '../errors.ts';
import type { Log } from '../log.ts';
import type { Mail, SandboxEvent, SandboxStore, Sender } from './store.ts';

/** A session that is connected in this process. */
export interface Phone extends Sender {
  /** Digits. */
  readonly number: string;
  /** The session's own name; null if it has not set one. */
  readonly name: string | null;
  /**
   * Resolves once the event is stored.
   * @param hasWaited whether the event happened while the phone was offline; by default, the phone decides by the
   * moment of sending, which is exact only for events of this node
   * @returns false if the phone has blocked its sender
   */
  receive(event: SandboxEvent, hasWaited?: boolean): Promise<boolean>;
}

export const RETRY_MS = 500;
const PAGE = 100;
/** Receipts that are at most this far apart have the time of the last one. */
const JOINED_MS = 1000;
/** Attempts before an event that cannot be stored is dropped. It must not block the others. */
const ATTEMPTS = 5;

interface Parts {
  readonly store: SandboxStore;
  /** Wakes sessions that have new mail. */
  readonly announce: (sessionIds: readonly string[]) => Promise<void>;
  readonly clock: Clock;
  readonly log: Log;
}

/** Result of an event's dispatch. The phone of one that is `left` has gone offline before it could store the event. */
type Outcome = 'delivered' | 'dropped' | 'left';

/** An event that waits for its turn. */
interface Waiting {
  readonly event: SandboxEvent;
  /** See `Phone.receive`. */
  readonly hasWaited?: boolean;
  /** Called after the first attempt. */
  readonly onTried?: () => void;
}

/** An event that bypasses the mailbox. */
interface Direct extends Waiting {
  readonly settle: (outcome: Outcome) => void;
}

/**
 * Dispatches the events of one session to its phone. Those of a chat go one after the other, because one that is stored
 * at the second attempt must not arrive behind a later one. Removes mail that the phone has stored. If the process dies
 * in between, the next reader dispatches the same mail again. The inbox recognizes a message that it has, and repeating
 * edits, reactions, votes, deletions and receipts in order ends in the same state. Of the changes of a group the inbox
 * recognizes only the last one, so that the mail of each is removed before the next one is dispatched.
 */
export class MailboxReader {
  readonly phone: Phone;
  #newestWaiting: number;
  readonly #parts: Parts;
  #state: 'waiting' | 'started' | 'stopped' = 'waiting';
  readonly #stopping = new AbortController();
  readonly #direct: Direct[] = [];
  #hasMail = true;
  #isReadingMail = false;
  readonly #changed = new Condition();
  #reading: Promise<void> | undefined;

  /** @param newestWaiting `mailId` of the newest mail when the phone came online, because the clocks of nodes differ */
  constructor(phone: Phone, newestWaiting: number, parts: Parts) {
    this.phone = phone;
    this.#newestWaiting = newestWaiting;
    this.#parts = parts;
  }

  /** Whether the phone has all of its mail, so that a direct event cannot overtake any. */
  get isCaughtUp(): boolean {
    return this.#state === 'started' && !this.#hasMail && !this.#isReadingMail;
  }

  start(): void {
    if (this.#state !== 'waiting') return;
    this.#state = 'started';
    this.wake();
  }

  /** Resolves once no event is on its way to the phone. */
  async stop(): Promise<void> {
    this.#state = 'stopped';
    this.#stopping.abort();
    this.#changed.notify();
    await this.#reading;
  }

  wake(): void {
    this.#hasMail = true;
    this.#run();
  }

  /**
   * Dispatches an event that bypasses the mailbox. Call it only if `isCaughtUp`.
   * @returns `tried`, which settles after the first attempt, and the outcome
   */
  take(event: SandboxEvent): { readonly tried: Promise<void>; readonly outcome: Promise<Outcome> } {
    const [tried, outcome] = [Promise.withResolvers<void>(), Promise.withResolvers<Outcome>()];
    this.#direct.push({ event, onTried: tried.resolve, settle: outcome.resolve });
    this.#run();
    return { tried: tried.promise, outcome: outcome.promise };
  }

  /** Resolves once the phone has all of its mail, or has left. */
  caughtUp(): Promise<void> {
    return this.#changed.until(() => this.isCaughtUp || this.#state === 'stopped');
  }

  #run(): void {
    if (this.#state === 'started') this.#reading ??= this.#read();
  }

  async #read(): Promise<void> {
    while (this.#state === 'started') {
      if (this.#direct.length > 0) await this.#dispatchDirect();
      else if (this.#hasMail) await this.#readMail();
      else break;
    }
    this.#reading = undefined;
    for (const { settle } of this.#direct.splice(0)) settle('left');
  }

  async #dispatchDirect(): Promise<void> {
    const outcomes = await this.#dispatchTogether(this.#direct);
    const tried = this.#direct.splice(0, outcomes.length);
    this.#direct.unshift(...tried.filter((_, n) => outcomes[n] === 'left'));
    for (const [n, { settle }] of tried.entries()) {
      const outcome = outcomes[n] as Outcome;
      if (outcome !== 'left') settle(outcome);
    }
  }

  async #readMail(): Promise<void> {
    const { store, log } = this.#parts;
    const { sessionId } = this.phone;
    this.#hasMail = false;
    this.#isReadingMail = true;
    try {
      const mail = await store.mailOf(sessionId, PAGE);
      await this.#dispatchAll(mail);
      if (mail.length === PAGE) this.#hasMail = true;
      else this.#newestWaiting = 0; // it is dispatched, and SQLite uses the ids of deleted rows again
    } catch (error) {
      log.debug({ err: error, session: sessionId }, 'failed to read a sandbox mailbox; trying again');
      this.#hasMail = true;
      await this.#pause();
    }
    this.#isReadingMail = false;
    this.#changed.notify();
  }

  /** Dispatches mail, and removes it in few transactions. Mail stays if the phone leaves before it has stored it. */
  async #dispatchAll(mail: readonly Mail[]): Promise<void> {
    let done: [Mail, Outcome][] = mail.filter(({ isEarly }) => isEarly).map((one) => [one, 'dropped']);
    const rest = mail.filter(({ isEarly }) => !isEarly);
    while (rest.length > 0 && this.#state === 'started') {
      const waiting = rest.map((event) => ({ event, hasWaited: event.mailId <= this.#newestWaiting }));
      const outcomes = await this.#dispatchTogether(waiting);
      const tried = rest.splice(0, outcomes.length);
      tried.forEach((one, n) => {
        const outcome = outcomes[n] as Outcome;
        if (outcome !== 'left') done.push([one, outcome]);
      });
      if (tried[0]?.event.type !== 'group_updated') continue;
      await this.#remove(done);
      done = [];
    }
    await this.#remove(done);
  }

  async #remove(done: readonly (readonly [Mail, Outcome])[]): Promise<void> {
    if (done.length === 0) return;
    const { store, announce } = this.#parts;
    const idsOf = (wanted: Outcome) => done.filter(([, outcome]) => outcome === wanted).map(([{ mailId }]) => mailId);
    try {
      await store.remove(idsOf('delivered'), idsOf('dropped'));
    } finally {
      // Even after an error: if only the response to the commit is lost, the senders have new mail.
      void announce(done.flatMap(([{ receiptTo }, outcome]) => (outcome === 'delivered' ? (receiptTo ?? []) : [])));
    }
  }

  /**
   * Dispatches the first of the waiting events at the same time, so that they share transactions: at most one of each
   * chat, and receipts of the same moment as one.
   * @returns the outcomes of those that were dispatched
   */
  async #dispatchTogether(waiting: readonly Waiting[]): Promise<readonly Outcome[]> {
    const byLane = new Map<string, Waiting[]>();
    for (const one of waiting) {
      const lane = laneOf(one.event);
      const [first] = byLane.get(lane ?? '') ?? [];
      const isAlone = lane === undefined || byLane.has(ALONE);
      if (byLane.size > 0 && (isAlone || (first !== undefined && !areJoined(first, one)))) break;
      byLane.set(lane ?? ALONE, [...(byLane.get(lane ?? ALONE) ?? []), one]);
    }
    const outcomes = new Map<Waiting, Outcome>();
    await Promise.all(
      [...byLane.values()].map(async (together) => {
        const outcome = await this.#dispatch(joined(together));
        for (const one of together) outcomes.set(one, outcome);
      }),
    );
    return waiting.slice(0, outcomes.size).map((one) => outcomes.get(one) as Outcome);
  }

  async #dispatch({ event, hasWaited, onTried = () => {} }: Waiting): Promise<Outcome> {
    for (let failures = 0; this.#state === 'started'; ) {
      try {
        return (await this.phone.receive(event, hasWaited)) ? 'delivered' : 'dropped';
      } catch (error) {
        if (!isTransient(error)) failures++;
        if (failures === ATTEMPTS) {
          const { sessionId } = this.phone;
          this.#parts.log.error({ err: error, session: sessionId }, 'dropped a sandbox event that cannot be stored');
          return 'dropped';
        }
      } finally {
        onTried();
      }
      await this.#pause();
    }
    onTried();
    return 'left';
  }

  /** Waits before another attempt, unless the phone leaves. */
  async #pause(): Promise<void> {
    await sleep(this.#parts.clock, RETRY_MS, this.#stopping.signal).catch(() => {});
  }
}

const ALONE = 'alone';

/** Returns the lane whose events keep their order; undefined for an event that keeps it with all others. */
function laneOf({ event, directFrom }: SandboxEvent): string | undefined {
  if (event.type === 'receipt') return 'receipts';
  const chat = event.type === 'message' || event.type === 'presence' ? event.chat.id : directFrom;
  return chat == null ? undefined : `chat ${chat}`;
}

/** Whether two events of a lane are dispatched as one. */
function areJoined({ event: { event: one } }: Waiting, { event: { event: other } }: Waiting): boolean {
  if (one.type !== 'receipt' || other.type !== 'receipt' || one.status !== other.status || one.by !== other.by)
    return false;
  return Math.abs(one.timestamp - other.timestamp) <= JOINED_MS;
}

function joined(together: readonly Waiting[]): Waiting {
  const last = together.at(-1) as Waiting;
  if (together.length === 1 || last.event.event.type !== 'receipt') return last;
  const networkIds = together.flatMap(({ event: { event } }) => (event.type === 'receipt' ? event.networkIds : []));
  const onTried = () => {
    for (const one of together) one.onTried?.();
  };
  return { ...last, event: { ...last.event, event: { ...last.event.event, networkIds } }, onTried };
}

/** Whether an error says nothing about the event: the database is unavailable, or another node owns the session. */
export function isTransient(error: unknown): boolean {
  const transient = ['storage_unavailable', 'session_not_connected', 'shutting_down'];
  return error instanceof AppError && transient.includes(error.code);
}
