import { AppError } from '../errors.ts';

/** Limits the streams, sockets and long polls that an account has open on this node. */
export class WaitingCalls {
  readonly #most: number;
  readonly #open = new Map<string, number>();

  constructor(most: number) {
    this.#most = most;
  }

  /**
   * @returns a function that ends the call
   * @throws {AppError} `too_many`
   */
  begin(accountId: string): () => void {
    const count = this.#open.get(accountId) ?? 0;
    if (count >= this.#most) {
      throw new AppError(
        'too_many',
        `The account has reached its limit of ${count} open streams, sockets and long polls on this node (MAX_WAITING_CALLS); close one first`,
      );
    }
    this.#open.set(accountId, count + 1);
    return () => {
      const left = (this.#open.get(accountId) ?? 1) - 1;
      if (left > 0) this.#open.set(accountId, left);
      else this.#open.delete(accountId);
    };
  }
}
