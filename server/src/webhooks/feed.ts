import type { Clock } from '../clock.ts';

/** Announces that an account has new events, which readers then read from the log. */
export interface Feed {
  announce(accountId: string): void;
  /** Resolves at the next announcement, after `timeoutMs`, or when the signal is aborted. */
  next(accountId: string, timeoutMs: number, signal: AbortSignal): Promise<void>;
}

export function createFeed(clock: Clock): Feed {
  const waiting = new Map<string, Set<() => void>>();
  return {
    announce(accountId) {
      const readers = waiting.get(accountId);
      waiting.delete(accountId);
      for (const wake of readers ?? []) wake();
    },
    next(accountId, timeoutMs, signal) {
      return new Promise((resolve) => {
        const readers = waiting.get(accountId) ?? new Set();
        const wake = () => {
          cancel();
          signal.removeEventListener('abort', wake);
          readers.delete(wake);
          if (readers.size === 0 && waiting.get(accountId) === readers) waiting.delete(accountId);
          resolve();
        };
        const cancel = clock.after(timeoutMs, wake);
        readers.add(wake);
        waiting.set(accountId, readers);
        if (signal.aborted) wake();
        else signal.addEventListener('abort', wake);
      });
    },
  };
}
