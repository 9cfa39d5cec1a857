import { LRUCache } from 'lru-cache';
import type { Clock } from '../clock.ts';
import { AppError } from '../errors.ts';
import { type Buckets, createBuckets } from './buckets.ts';
import { networkOf } from './network.ts';

const PROVEN_KEPT = 10_000;

/**
 * Throttles addresses that present wrong credentials. Credentials that were right here before pass, so that a stranger
 * who shares an address with others (a proxy, an office) does not lock them out.
 */
export class FailureLimit {
  readonly #buckets: Buckets;
  /** Digests. */
  readonly #proven = new LRUCache<string, true>({ max: PROVEN_KEPT });

  constructor(perMinute: number, clock: Clock) {
    this.#buckets = createBuckets(perMinute, clock);
  }

  /**
   * Runs `find`, and counts it as a failure unless it finds something. The failure is counted beforehand, so that many
   * attempts at a time gain nothing.
   * @param digest of the credential
   * @throws {AppError} `rate_limited`, and what `find` throws
   */
  async limit<T>(address: string, digest: string, find: () => Promise<T>): Promise<T> {
    const network = networkOf(address);
    const isProven = this.#proven.has(digest);
    const { allowed, resetSeconds } = this.#buckets.take(network);
    if (!allowed && !isProven) {
      throw new AppError('rate_limited', 'Too many wrong credentials from this address', {
        retryAfterSeconds: resetSeconds,
      });
    }
    try {
      const found = await find();
      this.#proven.set(digest, true);
      if (allowed) this.#buckets.giveBack(network);
      return found;
    } catch (error) {
      const isWrong = error instanceof AppError && error.code === 'unauthorized';
      if (isWrong) this.#proven.delete(digest);
      else if (allowed) this.#buckets.giveBack(network);
      throw error;
    }
  }
}
