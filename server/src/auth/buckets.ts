import { LRUCache } from 'lru-cache';
import type { Clock } from '../clock.ts';

/** The remaining tokens of a bucket. */
export interface Allowance {
  readonly allowed: boolean;
  readonly limit: number;
  readonly remaining: number;
  /** Seconds until one more is allowed, or until the bucket is full if at least one is left. */
  readonly resetSeconds: number;
}

export interface Buckets {
  /** Takes `count` tokens from the bucket of `key`, or none if there are fewer. */
  take(key: string, count?: number): Allowance;
  /** Returns tokens to the bucket of `key`. */
  giveBack(key: string, count?: number): void;
}

interface Bucket {
  tokens: number;
  filledAt: number;
}

const BUCKETS_KEPT = 50_000;

const unlimited: Buckets = {
  take: () => ({ allowed: true, limit: 0, remaining: 0, resetSeconds: 0 }),
  giveBack() {},
};

/** Token buckets: a burst of `perMinute`, refilled evenly. 0 means no limit. */
export function createBuckets(perMinute: number, clock: Clock): Buckets {
  if (perMinute === 0) return unlimited;
  const buckets = new LRUCache<string, Bucket>({ max: BUCKETS_KEPT });
  const perMs = perMinute / 60_000;

  function fill(key: string): Bucket {
    const now = clock.now();
    let bucket = buckets.get(key);
    if (bucket === undefined) {
      bucket = { tokens: perMinute, filledAt: now };
      buckets.set(key, bucket);
    }
    // A clock that was set back neither adds nor removes tokens.
    bucket.tokens = Math.min(perMinute, bucket.tokens + Math.max(0, now - bucket.filledAt) * perMs);
    bucket.filledAt = now;
    return bucket;
  }

  function allowance(allowed: boolean, tokens: number, count: number): Allowance {
    const missing = allowed ? (tokens >= 1 ? perMinute - tokens : 1 - tokens) : Math.min(count, perMinute) - tokens;
    return {
      allowed,
      limit: perMinute,
      remaining: Math.floor(tokens),
      resetSeconds: Math.ceil(missing / perMs / 1000),
    };
  }

  return {
    take(key, count = 1) {
      const bucket = fill(key);
      const allowed = bucket.tokens >= count;
      if (allowed) bucket.tokens -= count;
      return allowance(allowed, bucket.tokens, count);
    },
    giveBack(key, count = 1) {
      const bucket = fill(key);
      bucket.tokens = Math.min(perMinute, bucket.tokens + count);
    },
  };
}
