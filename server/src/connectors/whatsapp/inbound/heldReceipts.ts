import type { Clock } from '../../../clock.ts';

interface Pending {
  readonly settled: PromiseWithResolvers<boolean>;
  readonly cancelTimer: () => void;
}

/** A message that cannot be decrypted by then is requested from the phone again, and may never come. */
const TIMEOUT_MS = 30_000;

/**
 * Holds back receipts of messages that are being stored. Only a message that the own number sent from another device
 * needs it: its receipts may come in the same moment as the message itself, and would find no row.
 */
export class HeldReceipts {
  readonly #clock: Clock;
  readonly #pending = new Map<string, Pending>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Holds the receipts of this message until it is settled, or for half a minute if it cannot be read. */
  expect(wireId: string): void {
    if (this.#pending.has(wireId)) return;
    const cancelTimer = this.#clock.after(TIMEOUT_MS, () => this.settle(wireId));
    this.#pending.set(wireId, { settled: Promise.withResolvers(), cancelTimer });
  }

  /** Holds the receipts however long the message takes: it could be decrypted, so it will be stored. */
  keep(wireId: string): void {
    this.#pending.get(wireId)?.cancelTimer();
  }

  /** Releases the receipts, because the message is stored or never will be; or drops them, if the session has ended. */
  settle(wireId: string, isSettled = true): void {
    const pending = this.#pending.get(wireId);
    this.#pending.delete(wireId);
    pending?.cancelTimer();
    pending?.settled.resolve(isSettled);
  }

  isHeld(wireId: string): boolean {
    return this.#pending.has(wireId);
  }

  /** @returns false if the session ended before the message was settled */
  async whenSettled(wireId: string): Promise<boolean> {
    return this.#pending.get(wireId)?.settled.promise ?? true;
  }

  /** Drops the held receipts. The network repeats them. */
  stop(): void {
    for (const wireId of [...this.#pending.keys()]) this.settle(wireId, false);
  }
}
