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

  /** A credential that is right, such as one that was made just now. @param digest of it */
  prove(digest: string): void {
    this.#proven.set(digest, true);
  }

  /**
   * Runs `find`, and counts it as a failure when it finds nothing. Only what has failed counts, so that many callers
   * behind one address may come at a time.
   * @param digest of the credential
   * @throws {AppError} `rate_limited`, and what `find` throws
   */
  async limit<T>(address: string, digest: string, find: () => Promise<T>): Promise<T> {
    const network = networkOf(address);
    const { limit, remaining, resetSeconds } = this.#buckets.take(network, 0);
    if (limit > 0 && remaining < 1 && !this.#proven.has(digest)) {
      throw new AppError('rate_limited', 'Too many invalid credentials from this address; wait before you try again', {
        retryAfterSeconds: resetSeconds,
      });
    }
    try {
      const found = await find();
      this.prove(digest);
      return found;
    } catch (error) {
      if (error instanceof AppError && error.code === 'unauthorized') {
        this.#proven.delete(digest);
        this.#buckets.take(network);
      }
      throw error;
    }
  }
}
