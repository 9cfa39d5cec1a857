import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import { KeyedQueue } from '../async.ts';
import type { Clock } from '../clock.ts';
import type { Commit, Tx } from '../db/commit.ts';
import type { Database } from '../db/database.ts';
import { LISTED_ROWS } from '../db/pace.ts';
import { AppError } from '../errors.ts';
import { networkOf } from './network.ts';

export interface Guesser {
  readonly email: string;
  readonly address: string;
  /** A device that logged in to this account before. */
  readonly device?: string | undefined;
}

export interface TakenTokens {
  /** Returns the tokens, because the guess was right or the attempt had no result. */
  refund(): Promise<void>;
}

export interface Guess extends TakenTokens {
  /** Returns the tokens, because the guess was right, and remembers the network. */
  wasRight(): Promise<void>;
}

/** A bucket that holds `most` and is full again after `periodMs` without use. */
interface Bucket {
  readonly key: string;
  readonly most: number;
  readonly periodMs: number;
  /** Whether its tokens are never returned. */
  readonly isKept?: boolean;
}

interface Limits {
  /** Failed logins per minute for one account from one address; 0 for no limit. */
  readonly loginsPerMinute: number;
  /** Accounts per hour from one address; 0 for no limit. */
  readonly registrationsPerHour: number;
}

/** Factor of the limits for a whole address, and for all unknown networks of one account. */
const ADDRESS_FACTOR = 10;
/** Factor of the limit for all logins from one address, right or wrong, since each costs a hash. */
const ALL_LOGINS_FACTOR = 20;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** How long a network that logged in to an account is remembered. */
const REMEMBERED_MS = 90 * 24 * HOUR_MS;
/** Limits the rows stored for logins from many different networks. */
const NETWORKS_PER_HOUR = 10;
const CLEANUP_INTERVAL = 100;
const MAX_QUEUE = 32;

/**
 * Token buckets in the database, so that spreading guesses over nodes or restarts gains nothing. A bucket is one
 * number: the time at which it is full again. Each guess moves it forward by the time that one token takes to refill.
 */
export class LoginLimit {
  readonly #commit: Commit;
  readonly #limits: Limits;
  readonly #clock: Clock;
  readonly #turns = new KeyedQueue();
  #taken = 0;

  constructor({ commit }: Database, limits: Limits, clock: Clock) {
    this.#commit = commit;
    this.#limits = limits;
    this.#clock = clock;
  }

  /**
   * Takes a guess at the password of an account, and runs `login` with it. Logins to one account from one device or
   * network run one after the other: a correct one returns its guess before the next one takes its own, so concurrent
   * logins do not count as failures. The guess is taken before the password is checked, so concurrent guesses gain
   * nothing. A device and a network that logged in to the account before have their own limits, so that strangers
   * cannot lock the owner out.
   * @throws {AppError} `rate_limited`, or `too_busy` if too many logins wait
   */
  async guess<T>(guesser: Guesser, login: (guess: Guess) => Promise<T>): Promise<T> {
    const { email, address, device } = guesser;
    const key = digest(`turn ${email} ${device ?? networkOf(address)}`);
    if (this.#turns.length(key) >= MAX_QUEUE)
      throw new AppError('too_busy', 'Too many logins are in progress; try again');
    return this.#turns.run(key, async () => login(await this.#takeGuess(guesser)));
  }

  /** @throws {AppError} `rate_limited` */
  async takeRegistration(address: string): Promise<TakenTokens> {
    const most = this.#limits.registrationsPerHour;
    if (most === 0) return { refund: nothing };
    const bucket = { key: digest(`registrations of ${networkOf(address)}`), most, periodMs: HOUR_MS };
    const refusal = `Your IP address has reached its limit of ${most} registrations per hour; wait before you try again`;
    await this.#take(async () => [bucket], refusal);
    return { refund: () => this.#commit((tx) => giveBack(tx, [bucket])) };
  }

  /** Takes a registration of an OAuth client. @throws {AppError} `rate_limited` */
  async takeClientRegistration(address: string): Promise<void> {
    const most = this.#limits.registrationsPerHour;
    if (most === 0) return;
    const bucket = { key: digest(`oauth clients of ${networkOf(address)}`), most, periodMs: HOUR_MS };
    const refusal = `Your IP address has reached its limit of ${most} registered apps per hour; wait before you try again`;
    await this.#take(async () => [bucket], refusal);
  }

  async #takeGuess(guesser: Guesser): Promise<Guess> {
    if (this.#limits.loginsPerMinute === 0) return { refund: nothing, wasRight: nothing };
    const buckets = await this.#take(
      (tx, now) => this.#bucketsOf(tx, guesser, now),
      'Too many failed logins; wait before you try again',
    );
    return {
      refund: () => this.#commit((tx) => giveBack(tx, buckets)),
      wasRight: () =>
        this.#commit(async (tx) => {
          await giveBack(tx, buckets);
          await remember(tx, guesser.email, networkOf(guesser.address), this.#clock.now());
        }),
    };
  }

  async #take(
    bucketsOf: (tx: Tx, now: number) => Promise<readonly Bucket[]>,
    refusal: string,
  ): Promise<readonly Bucket[]> {
    const { waitMs, buckets } = await this.#commit(async (tx) => {
      const now = this.#clock.now();
      if (++this.#taken % CLEANUP_INTERVAL === 0) await removeFull(tx, now);
      const buckets = await bucketsOf(tx, now);
      return { buckets, waitMs: await takeFromAll(tx, buckets, now) };
    });
    if (waitMs > 0) throw new AppError('rate_limited', refusal, { retryAfterSeconds: Math.ceil(waitMs / 1000) });
    return buckets.filter(({ isKept }) => !isKept);
  }

  async #bucketsOf(tx: Tx, { email, address, device }: Guesser, now: number): Promise<Bucket[]> {
    const most = this.#limits.loginsPerMinute;
    const own = device === undefined ? networkOf(address) : `device ${device}`;
    const all = { ...perMinute(`all of ${own}`, most * ALL_LOGINS_FACTOR), isKept: true };
    if (device !== undefined) return [perMinute(own, most), all];
    const narrow = [perMinute(`${email} ${own}`, most), perMinute(own, most * ADDRESS_FACTOR)];
    if (await isRemembered(tx, email, own, now)) return [...narrow, all];
    // Shared by all networks that never logged in to the account.
    return [...narrow, perMinute(email, most * ADDRESS_FACTOR), all];
  }
}

const perMinute = (key: string, most: number): Bucket => ({ key: digest(key), most, periodMs: MINUTE_MS });
const nothing = async () => {};

/**
 * Networks that logged in to an account are rows in the same table until they are forgotten. Nothing else about a login
 * is stored, and nodes of earlier versions clean up these rows too.
 */
const rememberedKey = (email: string, network: string) => digest(`logged in ${email} ${network}`);

async function isRemembered({ kysely }: Tx, email: string, network: string, now: number): Promise<boolean> {
  const { rows } = await sql`
    select 1 from login_buckets where bucket = ${rememberedKey(email, network)} and full_at > ${now}`.execute(kysely);
  return rows.length > 0;
}

async function remember(tx: Tx, email: string, network: string, now: number): Promise<void> {
  const isNew = !(await isRemembered(tx, email, network, now));
  const added = { key: digest(`networks of ${email}`), most: NETWORKS_PER_HOUR, periodMs: HOUR_MS };
  if (isNew && (await takeFrom(tx, added, now)) > 0) return;
  const until = now + REMEMBERED_MS;
  await sql`insert into login_buckets (bucket, full_at) values (${rememberedKey(email, network)}, ${until})
    on conflict (bucket) do update set full_at = ${until}`.execute(tx.kysely);
}

const pauseOf = ({ most, periodMs }: Bucket) => Math.ceil(periodMs / most);

/**
 * Takes a token from each bucket, or from none, so that a refused guess costs nothing. It does not throw, because an
 * error would repeat the whole transaction, and guessers should not be able to cause that.
 * @returns how long to wait, in milliseconds; 0 if the tokens were taken
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
    await sql`update login_buckets set full_at = full_at - ${pauseOf(bucket)} where bucket = ${bucket.key}`.execute(
      tx.kysely,
    );
  }
}

/** Removes some full buckets: more than logins add between two clean-ups. */
async function removeFull({ kysely }: Tx, now: number): Promise<void> {
  const full = kysely
    .selectFrom('login_buckets')
    .select('bucket')
    .where('full_at', '<=', now)
    .limit(2 * LISTED_ROWS);
  // Another node may have taken from one of them since.
  await kysely.deleteFrom('login_buckets').where('bucket', 'in', full).where('full_at', '<=', now).execute();
}

/** Does not store emails and addresses in plain text. */
const digest = (key: string) => createHash('sha256').update(key).digest('base64url');
