/** A list of events in order, for a test to inspect or await. */
export interface Log<T> {
  readonly all: readonly T[];
  /** Resolves with the first matching event, past or future. Fails on a timeout. */
  waitFor(matches?: (entry: T) => boolean, timeoutMs?: number): Promise<T>;
}

export interface WritableLog<T> extends Log<T> {
  add(entry: T): void;
}

/** `describe` formats the awaited and the actual events for the error. */
export function createLog<T>(title: string, describe: (entry: T) => string): WritableLog<T> {
  const all: T[] = [];
  const waiting = new Set<(entry: T) => void>();
  return {
    all,
    add(entry) {
      all.push(entry);
      for (const notify of [...waiting]) notify(entry);
    },
    waitFor(matches = () => true, timeoutMs = 10_000) {
      const found = all.find(matches);
      if (found !== undefined) return Promise.resolve(found);
      const seen = all.length;
      return new Promise((resolve, reject) => {
        const notify = (entry: T) => {
          if (!matches(entry)) return;
          waiting.delete(notify);
          clearTimeout(timer);
          resolve(entry);
        };
        const timer = setTimeout(() => {
          waiting.delete(notify);
          const came = all.slice(seen).map(describe).join('\n  ');
          reject(new Error(`${title}: what was awaited did not come in ${timeoutMs} ms; there came:\n  ${came}`));
        }, timeoutMs);
        waiting.add(notify);
      });
    },
  };
}
