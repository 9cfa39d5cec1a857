/** Runs work on a chat one after the other, in both directions and for all lanes of the queues. */
export class Locks {
  readonly #last = new Map<string, Promise<unknown>>();

  /** Runs the work once earlier work on any of the keys has ended. */
  async run<T>(keys: readonly string[], work: () => Promise<T>): Promise<T> {
    const earlier = Promise.allSettled(keys.map((key) => this.#last.get(key)));
    const running = earlier.then(work);
    const ended = running.then(
      () => {},
      () => {},
    );
    // All keys get the same end in one step, so that no two works wait for each other.
    for (const key of keys) this.#last.set(key, ended);
    try {
      return await running;
    } finally {
      for (const key of keys) if (this.#last.get(key) === ended) this.#last.delete(key);
    }
  }
}
