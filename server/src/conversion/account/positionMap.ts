import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import type { Queryable } from '../../db/dialect.ts';
import type { Header } from './accountLines.ts';
import type { Value } from './accountTables.ts';
import { AccountMoveError } from './offlineDatabase.ts';

const CHUNK = 100_000;

/**
 * The positions of imported events. The order of a log is that of time, so the events of an account cannot be put into
 * the log of others, except on SQLite, where positions are times. From SQLite to PostgreSQL they get new numbers: its
 * positions have 48 bits.
 */
export class PositionMap {
  readonly #isNumbered: boolean;
  /** The positions in the file, in their order. */
  #given = new Float64Array(CHUNK);
  #length = 0;

  private constructor(isNumbered: boolean) {
    this.#isNumbered = isNumbered;
  }

  /** @throws {AccountMoveError} if the log here has events that the account's events cannot be put between */
  static async open({ kysely, dialect }: Queryable, { drawsPositions }: Header): Promise<PositionMap> {
    const { rows } = await sql`select 1 from events limit 1`.execute(kysely);
    const isOfTimes = !drawsPositions && !dialect.log.drawsPositions;
    if (rows.length > 0 && !isOfTimes)
      throw new AccountMoveError(
        'The database has events of other accounts, and the order of its log leaves no place for those in the file. Import into an empty database, or pass --without-events once all deliveries of the account are settled. Nothing was imported.',
      );
    const isNumbered = !drawsPositions && dialect.log.drawsPositions;
    if (isNumbered) await beginEpoch({ kysely });
    return new PositionMap(isNumbered);
  }

  /** Adds the position of the next event. Returns the one that it has here. */
  add(given: number): number {
    if (!this.#isNumbered) return given;
    if (this.#length === this.#given.length) {
      const longer = new Float64Array(this.#length + CHUNK);
      longer.set(this.#given);
      this.#given = longer;
    }
    this.#given[this.#length++] = given;
    return this.#length;
  }

  /** Returns the position here of an event that was added; undefined if it is unknown. */
  here(given: Value): Value | undefined {
    if (given === null || !this.#isNumbered) return given;
    const found = this.#find(Number(given));
    return this.#given[found] === given ? found + 1 : undefined;
  }

  /** The opposite of `here`. */
  given(here: Value): Value {
    if (here === null || !this.#isNumbered) return here;
    return this.#given[Number(here) - 1] ?? null;
  }

  #find(given: number): number {
    let [low, high] = [0, this.#length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#given[middle] ?? 0) < given) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** Cursors of the former log are not places in this one: with another epoch, their readers begin again. */
async function beginEpoch({ kysely }: Pick<Queryable, 'kysely'>): Promise<void> {
  await sql`insert into log_epochs (epoch, starts_after, created_at)
    select ${randomBytes(4).toString('hex')}, '0.evt_00000000000000000000000000', max(created_at) + 1
    from log_epochs`.execute(kysely);
}
