import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import type { Clock } from '../clock.ts';
import type { Tx } from '../db/commit.ts';
import type { Database } from '../db/database.ts';
import { AppError } from '../errors.ts';

export interface LoginLimit {
  /**
   * Takes a guess at the password of an account from an address, before the password is looked at: many guesses at a
   * time gain nothing then.
   * @returns gives the guess back, for it was right
   * @throws {AppError} `rate_limited`
   */
  take(email: string, address: string): Promise<() => Promise<void>>;
}

/** A bucket that gets `perMinute` guesses a minute, evenly, and holds as many. */
interface Bucket {
  readonly key: string;
  readonly perMinute: number;
}

/** Strangers who share an address, and addresses that try one account, get this many times as much. */
const WIDER = 10;
const CLEANS_EVERY = 100;

/**
 * Token buckets in the database, so that guessing at several nodes, or across a restart, gains nothing. A bucket is one
 * number: the time at which it is full again. Each guess moves it on by what one guess takes to come back.
 * @param perMinute 0 for no limit
 */
export function createLoginLimit({ commit }: Database, perMinute: number, clock: Clock): LoginLimit {
  let taken = 0;

  /** The tight limit is for one account from one address: a stranger cannot lock somebody out. */
  const bucketsOf = (email: string, address: string): Bucket[] => [
    { key: digest(`${email} ${address}`), perMinute },
    { key: digest(address), perMinute: perMinute * WIDER },
    { key: digest(email), perMinute: perMinute * WIDER },
  ];

  return {
    async take(email, address) {
      if (perMinute === 0) return async () => {};
      const buckets = bucketsOf(email, address);
      const waitMs = await commit(async (tx) => {
        const now = clock.now();
        if (++taken % CLEANS_EVERY === 0) await removeFull(tx, now);
        return takeFromAll(tx, buckets, now);
      });
      if (waitMs > 0) {
        const retryAfterSeconds = Math.ceil(waitMs / 1000);
        throw new AppError('rate_limited', 'Too many failed logins', { retryAfterSeconds });
      }
      return () => commit((tx) => giveBack(tx, buckets));
    },
  };
}

const pauseOf = ({ perMinute }: Bucket) => Math.ceil(60_000 / perMinute);

/**
 * Takes from each bucket, or from none: what is refused was no guess. An error would have the whole transaction run
 * again, which whoever guesses should not be able to bring about.
 * @returns how long to wait, in milliseconds; 0 when it was taken
 */
async function takeFromAll(tx: Tx, buckets: readonly Bucket[], now: number): Promise<number> {
  for (const [index, bucket] of buckets.entries()) {
    const waitMs = await takeFrom(tx, bucket, now);
    if (waitMs === 0) continue;
    await giveBack(tx, buckets.slice(0, index));
    return waitMs;
  }
  return 0;
}

async function takeFrom(tx: Tx, bucket: Bucket, now: number): Promise<number> {
  const pause = pauseOf(bucket);
  const latest = now + bucket.perMinute * pause;
  const next = sql`case when login_buckets.full_at > ${now} then login_buckets.full_at else ${now} end + ${pause}`;
  const { rows } = await sql`
    insert into login_buckets (bucket, full_at) values (${bucket.key}, ${now + pause})
    on conflict (bucket) do update set full_at = ${next} where ${next} <= ${latest}
    returning full_at`.execute(tx.kysely);
  if (rows.length > 0) return 0;
  const { full_at } = await tx.kysely
    .selectFrom('login_buckets')
    .select('full_at')
    .where('bucket', '=', bucket.key)
    .executeTakeFirstOrThrow();
  return Math.max(1, full_at + pause - latest);
}

async function giveBack(tx: Tx, buckets: readonly Bucket[]): Promise<void> {
  for (const bucket of buckets) {
    await tx.kysely
      .updateTable('login_buckets')
      .set(({ eb }) => ({ full_at: eb('full_at', '-', pauseOf(bucket)) }))
      .where('bucket', '=', bucket.key)
      .execute();
  }
}

async function removeFull({ kysely }: Tx, now: number): Promise<void> {
  await kysely.deleteFrom('login_buckets').where('full_at', '<=', now).execute();
}

/** Who has tried what is nobody's business. */
const digest = (key: string) => createHash('sha256').update(key).digest('base64url');
