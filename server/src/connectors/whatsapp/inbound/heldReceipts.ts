import type { Clock } from '../../../clock.ts';

/**
 * Holds receipts back while the message that they are of is on its way into the database. That can only be one that the
 * own number has sent from another device: its receipts may come in the same moment as itself, and would find nothing.
 */
export interface HeldReceipts {
  /** Such a message has come. */
  expect(wireId: string): void;
  /** It could be read: however long its file takes, it will be stored. */
  keep(wireId: string): void;
  /** It is stored, or there is nothing to be stored of it. */
  settle(wireId: string): void;
  isHeld(wireId: string): boolean;
  /** Resolves when the message is not on its way any more. @returns false when the session has ended before */
  whenSettled(wireId: string): Promise<boolean>;
  /** Nothing comes any more. The network tells again what was held. */
  end(): void;
}

interface Coming {
  readonly settled: PromiseWithResolvers<boolean>;
  readonly stopWaiting: () => void;
}

/** What could not be read by then is asked of the phone again, and may never come. */
const PATIENCE_MS = 30_000;

export function createHeldReceipts(clock: Clock): HeldReceipts {
  const coming = new Map<string, Coming>();

  function finish(wireId: string, isSettled: boolean): void {
    const message = coming.get(wireId);
    if (message === undefined) return;
    coming.delete(wireId);
    message.stopWaiting();
    message.settled.resolve(isSettled);
  }

  return {
    expect(wireId) {
      if (coming.has(wireId)) return;
      const stopWaiting = clock.after(PATIENCE_MS, () => finish(wireId, true));
      coming.set(wireId, { settled: Promise.withResolvers(), stopWaiting });
    },
    keep: (wireId) => coming.get(wireId)?.stopWaiting(),
    settle: (wireId) => finish(wireId, true),
    isHeld: (wireId) => coming.has(wireId),
    whenSettled: async (wireId) => coming.get(wireId)?.settled.promise ?? true,
    end() {
      for (const wireId of [...coming.keys()]) finish(wireId, false);
    },
  };
}
