import type { Clock } from './clock.ts';

/** Resolves after `ms`. */
export function sleep(clock: Clock, ms: number): Promise<void> {
  return new Promise((resolve) => void clock.after(ms, resolve));
}

/**
 * Resolves or rejects as `work` does.
 * @throws what `late` returns if that takes longer than `ms`; `work` goes on
 */
export async function withTimeout<T>(
  clock: Clock,
  ms: number,
  work: Promise<T>,
  late: () => Error = () => new Error(`no answer within ${ms} ms`),
): Promise<T> {
  const { promise: timeout, reject } = Promise.withResolvers<never>();
  const cancel = clock.after(ms, () => reject(late()));
  try {
    return await Promise.race([work, timeout]);
  } finally {
    cancel();
  }
}

/** Resolves when `work` has settled, or after `ms`; `work` goes on. */
export async function settledWithin(clock: Clock, ms: number, work: Promise<unknown>): Promise<void> {
  const { promise: timeout, resolve } = Promise.withResolvers<void>();
  const cancel = clock.after(ms, resolve);
  try {
    await Promise.race([work.catch(() => {}), timeout]);
  } finally {
    cancel();
  }
}

/** Runs work of the same key one after the other, in the order of the calls. */
export class KeyedQueue {
  readonly #queues = new Map<string, { last: Promise<unknown>; length: number }>();

  run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const queue = this.#queues.get(key) ?? { last: Promise.resolve(), length: 0 };
    this.#queues.set(key, queue);
    const mine = queue.last.then(work, work);
    queue.last = mine;
    queue.length++;
    const leave = () => {
      if (--queue.length === 0) this.#queues.delete(key);
    };
    mine.then(leave, leave);
    return mine;
  }

  /** How much work of the key is running or waits. */
  length(key: string): number {
    return this.#queues.get(key)?.length ?? 0;
  }

  /** Resolves when the work that is queued now has settled. */
  async idle(): Promise<void> {
    await Promise.allSettled([...this.#queues.values()].map(({ last }) => last));
  }
}

/** Lets callers wait until a condition holds. Call `notify` after every change that may make it hold. */
export class Condition {
  readonly #waiting = new Set<() => void>();

  notify(): void {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const wake of waiting) wake();
  }

  async until(holds: () => boolean): Promise<void> {
    while (!holds()) await new Promise<void>((resolve) => this.#waiting.add(resolve));
  }
}
