import { cacheOf } from '../cache.ts';
import type { Clock } from '../clock.ts';
import { AppError } from '../errors.ts';
import { Buckets } from './buckets.ts';
import { networkOf } from './network.ts';

const PROVEN_KEPT = 10_000;
const NETWORKS_KEPT = 1000;

/**
 * Throttles addresses that present wrong credentials. Credentials that worked here before are exempt, so that a
 * stranger behind the same address (a proxy, an office) does not lock out their owners.
 */
export class FailureLimit {
  readonly #buckets: Buckets;
  /** Keyed by digest. */
  readonly #proven = cacheOf<true>(PROVEN_KEPT);
  /** Address → network. */
  readonly #networks = cacheOf<string>(NETWORKS_KEPT);

  constructor(perMinute: number, clock: Clock) {
    this.#buckets = new Buckets(perMinute, clock);
  }

  /** Exempts a credential that is known to be valid, such as a new one. */
  prove(digest: string): void {
    this.#proven.set(digest, true);
  }

  /**
   * Runs `find` and counts a failure if it finds nothing. Only failures count, so many callers behind one address may
   * call concurrently.
   * @throws {AppError} `rate_limited`, and what `find` throws
   */
  async limit<T>(address: string, digest: string, find: () => Promise<T>): Promise<T> {
    const network = this.#networkOf(address);
    const { limit, remaining, resetSeconds } = this.#buckets.take(network, 0);
    if (limit > 0 && remaining < 1 && !this.#proven.has(digest)) {
      throw new AppError(
        'rate_limited',
        'Too many requests with invalid credentials from your IP address; wait before you try again',
        { retryAfterSeconds: resetSeconds },
      );
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

  #networkOf(address: string): string {
    let network = this.#networks.get(address);
    if (network === undefined) {
      network = networkOf(address);
      this.#networks.set(address, network);
    }
    return network;
  }
}
