import type { Clock } from '../clock.ts';
import type { Database } from '../db/database.ts';
import { query } from '../db/query.ts';
import { AppError } from '../errors.ts';

/** Age at which a sum is read again, because other nodes store and delete files too. */
const REFRESH_MS = 10 * 60_000;
const MAX_ACCOUNTS = 10_000;

interface Options {
  readonly database: Pick<Database, 'longReader'>;
  readonly clock: Clock;
  /** Bytes per account; 0 for no limit. */
  readonly maxBytes: number;
}

interface Sum {
  bytes: number;
  readonly readAt: number;
}

/**
 * Limits the bytes of the files that an account stores. The sum is read in the reading thread, at most once in ten
 * minutes per account, and counted in between: an upload reads nothing.
 */
export class StoredBytes {
  readonly #options: Options;
  readonly #sums = new Map<string, Promise<Sum>>();

  constructor(options: Options) {
    this.#options = options;
  }

  get isLimited(): boolean {
    return this.#options.maxBytes > 0;
  }

  /**
   * Counts a file that is about to be stored. Call `add` with negative bytes if it is not.
   * @throws {AppError} `too_many` if the account would exceed its limit
   */
  async reserve(accountId: string, bytes: number): Promise<void> {
    const { maxBytes } = this.#options;
    const sum = await this.#sumOf(accountId);
    if (sum.bytes + bytes > maxBytes)
      throw new AppError(
        'too_many',
        `The account may store ${maxBytes} bytes of files and has ${sum.bytes}; delete files that are no longer needed`,
      );
    sum.bytes += bytes;
  }

  /** Counts a file that is stored whether or not the limit allows it, or with negative bytes one that is gone. */
  async add(accountId: string, bytes: number): Promise<void> {
    const sum = await this.#sums.get(accountId)?.catch(() => undefined);
    if (sum !== undefined) sum.bytes += bytes;
  }

  /** Concurrent callers share one read. */
  async #sumOf(accountId: string): Promise<Sum> {
    for (;;) {
      const present = this.#sums.get(accountId);
      if (present === undefined) return this.#startReading(accountId);
      const sum = await present;
      if (this.#options.clock.now() - sum.readAt < REFRESH_MS) return sum;
      // Unless another caller has begun to read it again.
      if (this.#sums.get(accountId) === present) this.#sums.delete(accountId);
    }
  }

  #startReading(accountId: string): Promise<Sum> {
    const reading = this.#read(accountId);
    this.#sums.set(accountId, reading);
    reading.catch(() => {
      if (this.#sums.get(accountId) === reading) this.#sums.delete(accountId);
    });
    const [oldest] = this.#sums.keys();
    if (this.#sums.size > MAX_ACCOUNTS && oldest !== undefined) this.#sums.delete(oldest);
    return reading;
  }

  async #read(accountId: string): Promise<Sum> {
    const { database, clock } = this.#options;
    const row = await sumSizes.first(database.longReader, { accountId });
    return { bytes: Number(row?.bytes ?? 0), readAt: clock.now() };
  }
}

const sumSizes = query((db, p: { accountId: string }) =>
  db
    .selectFrom('media')
    .select(({ fn }) => fn.sum<number | string | null>('size').as('bytes'))
    .where('account_id', '=', p.accountId),
);
