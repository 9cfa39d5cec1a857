import type { Clock } from '../../clock.ts';

/**
 * Messages that the own number has sent from another device, while they are on their way into the database. A receipt
 * may come in the same moment as its message, and would find nothing that it is of.
 */
export interface SentElsewhere {
  /** One has come. */
  expect(wireId: string): void;
  /** It is stored, or will not be. */
  settle(wireId: string): void;
  /** Resolves when none of these is on its way any more, or has been for too long. */
  whenSettled(wireIds: readonly string[]): Promise<void>;
}

/** Longer than the download of a file may take. */
const PATIENCE_MS = 6 * 60_000;
/** What cannot be decrypted never settles. */
const KEPT = 1000;

export function createSentElsewhere(clock: Clock): SentElsewhere {
  const coming = new Map<string, PromiseWithResolvers<void>>();

  function settle(wireId: string): void {
    coming.get(wireId)?.resolve();
    coming.delete(wireId);
  }

  return {
    expect(wireId) {
      if (!coming.has(wireId)) coming.set(wireId, Promise.withResolvers());
      const [oldest = wireId] = coming.keys();
      if (coming.size > KEPT) settle(oldest);
    },
    settle,
    async whenSettled(wireIds) {
      const awaited = wireIds.flatMap((id) => coming.get(id)?.promise ?? []);
      if (awaited.length === 0) return;
      const { promise: patience, resolve } = Promise.withResolvers<void>();
      const cancel = clock.after(PATIENCE_MS, resolve);
      await Promise.race([patience, Promise.all(awaited)]);
      cancel();
    },
  };
}
