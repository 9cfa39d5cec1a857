import { sleep } from '../async.ts';
import type { Clock } from '../clock.ts';
import type { NetworkEvent } from '../connectors/contract/events.ts';
import { AppError } from '../errors.ts';
import type { Log } from '../log.ts';
import { isTransient, MailboxReader, type Phone, RETRY_MS } from './mailboxReader.ts';
import type { Envelope, SandboxStore } from './store.ts';

interface Delivery {
  readonly envelope: Envelope;
  /** Whether it must go to the mailbox, because its phone has left before it could store it. */
  readonly isForMailbox: boolean;
  resolve(delivered: void | Promise<void>): void;
  reject(error: unknown): void;
}

const DELIVERED_AT_ONCE = 500;
/** Wake-ups between nodes may get lost. */
const POLL_MS = 10_000;
const PRUNE_MS = 3_600_000;

export interface MailboxOptions {
  readonly store: SandboxStore;
  /** Wakes the other node that owns this session, because the session has mail. */
  readonly wakeOwner: (sessionId: string) => void;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Delivers events to the sessions of all sandbox networks, in the order of the calls. Phones that are online here and
 * have all of their mail get an event directly, without the database. Otherwise the event goes to the mailboxes of its
 * recipients, and the owner of each session dispatches it from there.
 *
 * A message that is lost before it is in a mailbox has no receipt, so its sender's session sends it again when it
 * connects.
 */
export class Mailboxes {
  readonly #options: MailboxOptions;
  readonly #byAddress = new Map<string, MailboxReader>();
  readonly #bySession = new Map<string, MailboxReader>();
  /** Readers whose phone has left → settles once no event is on its way to it. */
  readonly #leaving = new Map<string, Promise<void>>();
  /** Settle once the outcome of events that bypass the mailboxes is known. */
  readonly #direct = new Set<Promise<void>>();
  #queue: Delivery[] = [];
  /** Address of a sender → its messages that have reached all recipients. They share a receipt. */
  #receipts = new Map<string, string[]>();
  #delivering: Promise<void> | undefined;
  #isStopped = false;
  #cancelPoll = () => {};
  #pruneAt = 0;

  constructor(options: MailboxOptions) {
    this.#options = options;
  }

  start(): void {
    this.#cancelPoll();
    this.#cancelPoll = this.#options.clock.after(POLL_MS, () => {
      void this.poll().finally(() => !this.#isStopped && this.start());
    });
  }

  /** Waits for events in flight, and rejects those that cannot be stored. Call it once the phones have left. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancelPoll();
    await Promise.all(this.#direct);
    await this.#delivering;
  }

  /**
   * Registers the phone's number. From then on its mail waits for `catchUp`.
   * @throws {AppError} `phone_number_in_use`
   */
  async join(phone: Phone): Promise<void> {
    const { address, sessionId, number } = phone;
    await this.#leaving.get(sessionId);
    if ((await this.#options.store.claim(address, sessionId)) !== sessionId)
      throw new AppError('phone_number_in_use', `Another session uses ${number}; log it out or delete it first`);
    const announce = (sessionIds: readonly string[]) => this.announce(sessionIds);
    const newest = await this.#options.store.newestMail(sessionId);
    const reader = new MailboxReader(phone, newest, { ...this.#options, announce });
    this.#byAddress.set(address, reader);
    this.#bySession.set(sessionId, reader);
  }

  /** Starts dispatching the phone's mail, oldest first, and after it every event as it arrives. */
  catchUp(phone: Phone): void {
    this.#readerOf(phone)?.start();
  }

  /** Marks the phone as offline, so that its mail waits. */
  leave(phone: Phone): void {
    const reader = this.#readerOf(phone);
    if (reader === undefined) return;
    this.#byAddress.delete(phone.address);
    this.#bySession.delete(phone.sessionId);
    const left = reader.stop().then(() => {
      if (this.#leaving.get(phone.sessionId) === left) this.#leaving.delete(phone.sessionId);
    });
    this.#leaving.set(phone.sessionId, left);
  }

  /**
   * Resolves once every phone that is online here was tried and the other recipients have the event in their mailboxes.
   * A phone that could not store an event tries again.
   * @throws {AppError} `storage_unavailable` if the server stops, or the sender leaves, before that
   */
  deliver(envelope: Envelope): Promise<void> {
    return new Promise((resolve, reject) => this.#enqueue({ envelope, isForMailbox: false, resolve, reject }));
  }

  /** Announces new mail of these sessions. Resolves once those that are online here have read it. */
  async announce(sessionIds: readonly string[]): Promise<void> {
    for (const sessionId of new Set(sessionIds)) {
      const reader = this.#bySession.get(sessionId);
      if (reader === undefined) this.#options.wakeOwner(sessionId);
      else reader.wake();
    }
    for (const sessionId of sessionIds) await this.#bySession.get(sessionId)?.caughtUp();
  }

  /** Reports mail that another node has stored for this session. */
  wake(sessionId: string): void {
    this.#bySession.get(sessionId)?.wake();
  }

  /** Looks for mail of all sessions that are online here. */
  async poll(): Promise<void> {
    const { store, clock, log } = this.#options;
    try {
      for (const sessionId of await store.withMail([...this.#bySession.keys()])) this.wake(sessionId);
      if (clock.now() < this.#pruneAt) return;
      this.#pruneAt = clock.now() + PRUNE_MS;
      await store.prune();
    } catch (error) {
      log.debug({ err: error }, 'failed to look for sandbox mail; trying again');
    }
  }

  #enqueue(delivery: Delivery): void {
    this.#queue.push(delivery);
    this.#delivering ??= this.#deliverAll();
  }

  #readerOf(phone: Phone): MailboxReader | undefined {
    const reader = this.#byAddress.get(phone.address);
    return reader?.phone === phone ? reader : undefined;
  }

  async #deliverAll(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve)); // events of the same moment share a round
    while (this.#queue.length > 0 || this.#receipts.size > 0) {
      const round = [...this.#queue.splice(0, DELIVERED_AT_ONCE), ...this.#takeReceipts()];
      const failed = await this.#signedUp(round).then(
        (signedUp) => this.#put(this.#dispatchToPhones(round, signedUp)),
        (error) => round.filter((delivery) => shouldRetry(delivery, error)),
      );
      if (failed.length > 0) await this.#retryLater(failed);
    }
    this.#delivering = undefined;
  }

  #takeReceipts(): Delivery[] {
    const timestamp = this.#options.clock.now();
    const receipts = [...this.#receipts].map(([address, networkIds]) => {
      const event: NetworkEvent = { type: 'receipt', networkIds, status: 'delivered', timestamp };
      return this.#unattended({ to: [address], event }, false);
    });
    this.#receipts.clear();
    return receipts;
  }

  async #signedUp(round: readonly Delivery[]): Promise<ReadonlySet<string>> {
    const addresses = new Set(round.flatMap(({ envelope }) => envelope.to));
    const elsewhere = [...addresses].filter((address) => !this.#byAddress.has(address));
    return elsewhere.length === 0 ? new Set() : this.#options.store.signedUp(elsewhere);
  }

  /**
   * Dispatches each event whose phones are all online here and have all of their mail.
   * @returns the other deliveries, which must go to mailboxes, with the recipients that have one
   */
  #dispatchToPhones(round: readonly Delivery[], signedUp: ReadonlySet<string>): Delivery[] {
    // Addresses that get mail in this round: later events must not overtake it.
    const withMail = new Set<string>();
    const isFree = (address: string) => !withMail.has(address) && this.#byAddress.get(address)?.isCaughtUp === true;
    return round.flatMap((delivery) => {
      const { envelope, isForMailbox } = delivery;
      const to = envelope.to.filter((address) => this.#byAddress.has(address) || signedUp.has(address));
      if (!isForMailbox && to.every(isFree)) {
        delivery.resolve(this.#dispatch(envelope, to));
        return [];
      }
      for (const address of to) withMail.add(address);
      return { ...delivery, envelope: { ...envelope, to } };
    });
  }

  /** Dispatches an event to phones. Its sender gets a receipt in the next round after all of them have stored it. */
  async #dispatch(envelope: Envelope, to: readonly string[]): Promise<void> {
    const taken = to.flatMap((address) => {
      const reader = this.#byAddress.get(address);
      return reader === undefined ? [] : { address, ...reader.take(envelope) };
    });
    const areStored = taken.map(async ({ address, outcome }) => {
      const result = await outcome;
      if (result === 'left') this.#enqueue(this.#unattended({ ...envelope, to: [address] }, true));
      return result === 'delivered';
    });
    const confirmed = this.#confirm(envelope, Promise.all(areStored)).finally(() => this.#direct.delete(confirmed));
    this.#direct.add(confirmed);
    await Promise.all(taken.map(({ tried }) => tried));
  }

  async #confirm({ event, sender, to }: Envelope, areStored: Promise<readonly boolean[]>): Promise<void> {
    if ((await areStored).includes(false)) return;
    if (sender === undefined || event.type !== 'message' || to.length === 0) return;
    const waiting = this.#receipts.get(sender.address);
    if (waiting === undefined) this.#receipts.set(sender.address, [event.networkId]);
    else waiting.push(event.networkId);
    this.#delivering ??= this.#deliverAll();
  }

  /** A delivery without a waiting caller. */
  #unattended(envelope: Envelope, isForMailbox: boolean): Delivery {
    const reject = (error: unknown) => this.#options.log.warn({ err: error }, 'dropped a sandbox event');
    return { envelope, isForMailbox, resolve: () => {}, reject };
  }

  /**
   * Puts deliveries into mailboxes together, so that none is stored without the earlier ones.
   * @returns the deliveries to retry
   */
  async #put(deliveries: readonly Delivery[]): Promise<readonly Delivery[]> {
    if (deliveries.length === 0) return [];
    const envelopes = deliveries.map(({ envelope }) => envelope);
    try {
      const hasMail = await this.#options.store.put(envelopes);
      // If the response to an earlier attempt was lost, messages are already there, and `hasMail` lacks their sessions.
      for (const address of envelopes.flatMap(({ to }) => to)) this.#byAddress.get(address)?.wake();
      const announced = this.announce(hasMail);
      for (const { resolve } of deliveries) resolve(announced);
      return [];
    } catch (error) {
      if (isTransient(error)) return deliveries;
      const [only, ...others] = deliveries as [Delivery];
      if (others.length > 0) return this.#putEach(deliveries);
      only.reject(error);
      return [];
    }
  }

  /** @returns the deliveries to retry, beginning with the first that a database failure kept from a mailbox */
  async #putEach(deliveries: readonly Delivery[]): Promise<readonly Delivery[]> {
    for (const [n, delivery] of deliveries.entries())
      if ((await this.#put([delivery])).length > 0) return deliveries.slice(n);
    return [];
  }

  /** Retries while the database is unavailable, unless the sender leaves: its next owner repeats the message. */
  async #retryLater(failed: readonly Delivery[]): Promise<void> {
    if (!this.#isStopped) await sleep(this.#options.clock, RETRY_MS);
    for (const delivery of [...failed, ...this.#queue.splice(0)]) {
      const { sender } = delivery.envelope;
      const hasLeft = sender !== undefined && this.#byAddress.get(sender.address)?.phone !== sender;
      if (this.#isStopped || hasLeft) delivery.reject(new AppError('storage_unavailable'));
      else this.#queue.push(delivery);
    }
  }
}

/** Whether another attempt may succeed. Otherwise the delivery has failed. */
function shouldRetry(delivery: Delivery, error: unknown): boolean {
  if (isTransient(error)) return true;
  delivery.reject(error);
  return false;
}
