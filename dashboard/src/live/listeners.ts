/** Functions to call with each value. If one throws, the console shows its error, and the others are still called. */
export class Listeners<T = void> {
  readonly #listeners = new Set<(value: T) => void>();

  /** @returns a function that removes the listener */
  readonly add = (listener: (value: T) => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  notify(value: T): void {
    for (const listener of this.#listeners) {
      try {
        listener(value);
      } catch (error) {
        reportError(error);
      }
    }
  }
}
