import type { Clock } from './clock.ts';

/**
 * Resolves after `ms`.
 * @throws the reason of `signal` as soon as it is aborted
 */
export function sleep(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const cancel = clock.after(ms, resolve);
  return signal === undefined ? promise : unlessAborted(signal, promise).finally(cancel);
}

/**
 * Resolves or rejects like `work`, within `ms`.
 * @throws the error that `late` returns after `ms`; `work` continues
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

/**
 * Resolves or rejects like `work`, unless `signal` is aborted first.
 * @throws the reason of `signal` as soon as it is aborted; `work` continues
 */
export async function unlessAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const onAbort = () => reject(signal.reason);
  if (signal.aborted) onAbort();
  signal.addEventListener('abort', onAbort);
  try {
    return await Promise.race([aborted, work]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

/**
 * Resolves when `work` has resolved, or after `ms`; `work` continues.
 * @throws the error of `work`, within `ms`
 */
export async function endedWithin(clock: Clock, ms: number, work: Promise<unknown>): Promise<void> {
  const { promise: late, resolve } = Promise.withResolvers<void>();
  const cancel = clock.after(ms, resolve);
  await Promise.race([work, late]).finally(cancel);
}

/** Resolves when `work` has settled, or after `ms`; `work` continues. */
export async function settledWithin(clock: Clock, ms: number, work: Promise<unknown>): Promise<void> {
  await endedWithin(clock, ms, work).catch(() => {});
}

/**
 * Resolves with all results. If some of the work fails, waits for the rest, so that none of it runs on afterwards.
 * @throws the error that came first
 */
export async function allEnded<W extends readonly Promise<unknown>[]>(...work: W) {
  const results = Promise.all(work); // rejects with the error that comes first
  results.catch(() => {}); // thrown below
  await Promise.allSettled(work);
  return results;
}

/**
 * Runs work on each item, one after the other. One that fails does not keep the later ones from their turn.
 * @throws the first error, at the end
 */
export async function eachOrThrow<T>(items: readonly T[], work: (item: T) => Promise<unknown>): Promise<void> {
  const errors: unknown[] = [];
  for (const item of items) await work(item).catch((error: unknown) => errors.push(error));
  if (errors.length > 0) throw errors[0];
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

  /** Counts the running and waiting work of the key. */
  length(key: string): number {
    return this.#queues.get(key)?.length ?? 0;
  }

  /** Resolves when the work that is queued now has settled. */
  async idle(): Promise<void> {
    await Promise.allSettled([...this.#queues.values()].map(({ last }) => last));
  }
}

/** Runs up to `count` pieces of work at a time, in the order of the calls. */
export class Slots {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(count: number) {
    this.#free = count;
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free++;
      else next();
    }
  }
}

/** Runs one piece of work at a time. Keys take turns, so that the work of one does not delay all others. */
export class FairTurns {
  readonly #limits: { readonly inAll: number; readonly perKey: number };
  readonly #waiting = new Map<string, (() => Promise<void>)[]>();
  #isRunning = false;

  constructor(limits: { readonly inAll: number; readonly perKey: number }) {
    this.#limits = limits;
  }

  /** Whether the key may add work: at least one piece, whatever the others do. */
  hasRoomFor(key: string): boolean {
    const own = this.#waiting.get(key)?.length ?? 0;
    const all = [...this.#waiting.values()].reduce((sum, { length }) => sum + length, 0);
    return own < this.#limits.perKey && (own === 0 || all < this.#limits.inAll);
  }

  run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const queue = this.#waiting.get(key) ?? [];
    // In an async function, so that `work` may also throw before it returns a promise.
    queue.push(() => (async () => work())().then(resolve, reject));
    this.#waiting.set(key, queue);
    if (!this.#isRunning) void this.#runAll();
    return promise;
  }

  async #runAll(): Promise<void> {
    this.#isRunning = true;
    for (;;) {
      const [next] = this.#waiting;
      if (next === undefined) break;
      const [key, queue] = next;
      const work = queue.shift();
      this.#waiting.delete(key);
      if (queue.length > 0) this.#waiting.set(key, queue); // behind all others
      await work?.();
    }
    this.#isRunning = false;
  }
}

/** Lets callers wait until a condition holds. Call `notify` after every change that may make it hold. */
export class Condition {
  readonly #waiting = new Set<{ readonly holds: () => boolean; readonly wake: () => void }>();

  notify(): void {
    for (const waiting of this.#waiting) {
      if (!waiting.holds()) continue;
      this.#waiting.delete(waiting);
      waiting.wake();
    }
  }

  async until(holds: () => boolean): Promise<void> {
    // The condition may have changed by the time the caller resumes.
    while (!holds()) await new Promise<void>((wake) => this.#waiting.add({ holds, wake }));
  }

  /** Resolves when the condition holds, or after `ms`. */
  async untilOrAfter(clock: Clock, ms: number, holds: () => boolean): Promise<void> {
    let isLate = false;
    const cancel = clock.after(ms, () => {
      isLate = true;
      this.notify();
    });
    try {
      await this.until(() => isLate || holds());
    } finally {
      cancel();
    }
  }
}
