import { cacheOf } from '../cache.ts';
import type { Clock } from '../clock.ts';

/** The remaining tokens of a bucket. */
export interface Allowance {
  readonly allowed: boolean;
  readonly limit: number;
  readonly remaining: number;
  /** Seconds until one more is allowed, or until the bucket is full if at least one is left. */
  readonly resetSeconds: number;
}

interface Bucket {
  tokens: number;
  filledAt: number;
}

const BUCKETS_KEPT = 50_000;

/** Token buckets: a burst of `perMinute`, refilled evenly. 0 means no limit. */
export class Buckets {
  readonly #perMinute: number;
  readonly #clock: Clock;
  readonly #buckets = cacheOf<Bucket>(BUCKETS_KEPT);

  constructor(perMinute: number, clock: Clock) {
    this.#perMinute = perMinute;
    this.#clock = clock;
  }

  /** Takes `count` tokens from the bucket of `key`, or none if there are fewer. */
  take(key: string, count = 1): Allowance {
    const limit = this.#perMinute;
    if (limit === 0) return { allowed: true, limit, remaining: 0, resetSeconds: 0 };
    const bucket = this.#fill(key);
    const allowed = bucket.tokens >= count;
    if (allowed) bucket.tokens -= count;
    const { tokens } = bucket;
    const missing = allowed ? (tokens >= 1 ? limit - tokens : 1 - tokens) : Math.min(count, limit) - tokens;
    return { allowed, limit, remaining: Math.floor(tokens), resetSeconds: Math.ceil((missing / limit) * 60) };
  }

  giveBack(key: string, count: number): void {
    const bucket = this.#fill(key);
    bucket.tokens = Math.min(this.#perMinute, bucket.tokens + count);
  }

  #fill(key: string): Bucket {
    const now = this.#clock.now();
    const { tokens, filledAt } = this.#buckets.get(key) ?? { tokens: this.#perMinute, filledAt: now };
    // A clock that was set back neither adds nor removes tokens.
    const added = (Math.max(0, now - filledAt) * this.#perMinute) / 60_000;
    const bucket = { tokens: Math.min(this.#perMinute, tokens + added), filledAt: now };
    this.#buckets.set(key, bucket);
    return bucket;
  }
}
