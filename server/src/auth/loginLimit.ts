import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import type { Clock } from '../clock.ts';
import type { Tx } from '../db/commit.ts';
import type { Database } from '../db/database.ts';
import { AppError } from '../errors.ts';
import { networkOf } from './network.ts';

export interface LoginLimit {
  /**
   * Takes a guess at the password of an account from an address, before the password is looked at: many guesses at a
   * time gain nothing then.
   * @throws {AppError} `rate_limited`
   */
  takeGuess(email: string, address: string): Promise<Taken>;
  /**
   * Takes an account that an address is about to register.
   * @throws {AppError} `rate_limited`
   */
  takeRegistration(address: string): Promise<Taken>;
}

export interface Taken {
  /** Gives it back: the guess was right, or nothing came of it. */
  giveBack(): Promise<void>;
}

/** A bucket that holds `most` and is full again after `periodMs` without use. */
interface Bucket {
  readonly key: string;
  readonly most: number;
  readonly periodMs: number;
}

interface Limits {
  /** Failed logins per minute for one account from one address; 0 for no limit. */
  readonly loginsPerMinute: number;
  /** Accounts per hour from one address; 0 for no limit. */
  readonly registrationsPerHour: number;
}

/** Strangers who share an address, and addresses that try one account, get this many times as much. */
const WIDER = 10;
/** Logins from one address, right or wrong: each costs a hash. */
const WIDEST = 20;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const CLEANS_EVERY = 100;

/**
 * Token buckets in the database, so that guessing at several nodes, or across a restart, gains nothing. A bucket is one
 * number: the time at which it is full again. Each guess moves it on by what one guess takes to come back.
 */
export function createLoginLimit(
  { commit }: Database,
  { loginsPerMinute, registrationsPerHour }: Limits,
  clock: Clock,
): LoginLimit {
  let taken = 0;

  const perMinute = (key: string, most: number): Bucket => ({ key: digest(key), most, periodMs: MINUTE_MS });

  /** @param kept is not given back */
  async function take(buckets: readonly Bucket[], refusal: string, kept: readonly Bucket[] = []): Promise<Taken> {
    if (buckets.some(({ most }) => most === 0)) return { giveBack: async () => {} };
    const waitMs = await commit(async (tx) => {
      const now = clock.now();
      if (++taken % CLEANS_EVERY === 0) await removeFull(tx, now);
      return takeFromAll(tx, [...buckets, ...kept], now);
    });
    if (waitMs > 0) {
      throw new AppError('rate_limited', refusal, { retryAfterSeconds: Math.ceil(waitMs / 1000) });
    }
    return { giveBack: () => commit((tx) => giveBack(tx, buckets)) };
  }

  return {
    takeGuess(email, address) {
      const network = networkOf(address);
      // The tight limit is for one account from one network: a stranger cannot lock somebody out.
      const buckets = [
        perMinute(`${email} ${network}`, loginsPerMinute),
        perMinute(network, loginsPerMinute * WIDER),
        perMinute(email, loginsPerMinute * WIDER),
      ];
      return take(buckets, 'Too many failed logins', [perMinute(`all of ${network}`, loginsPerMinute * WIDEST)]);
    },
    takeRegistration(address) {
      const bucket = {
        key: digest(`registrations of ${networkOf(address)}`),
        most: registrationsPerHour,
        periodMs: HOUR_MS,
      };
      return take([bucket], `An address may register ${registrationsPerHour} accounts per hour`);
    },
  };
}

const pauseOf = ({ most, periodMs }: Bucket) => Math.ceil(periodMs / most);

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
  const latest = now + bucket.most * pause;
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
