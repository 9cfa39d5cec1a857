import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import type { Queryable } from '../../db/dialect.ts';
import type { Header } from './accountLines.ts';
import type { Value } from './accountTables.ts';
import { AccountMoveError } from './offlineDatabase.ts';

const CHUNK = 100_000;

/**
 * The positions of imported events. Events are in the order of time, so those of an account fit into a log with events
 * of others only on SQLite, where positions are times. There, an event of the same millisecond as another one gets the
 * next free position. From SQLite to PostgreSQL they get new numbers, because its positions have 48 bits.
 */
export class PositionMap {
  readonly #isNumbered: boolean;
  /** The log with events of other accounts. */
  readonly #others: Queryable | undefined;
  /** The positions that others have taken, and what these events have instead. */
  readonly #moved = new Map<number, number>();
  readonly #movedBack = new Map<number, number>();
  #last = -1;
  /** The positions in the file, in their order. */
  #given = new Float64Array(CHUNK);
  #length = 0;

  private constructor(isNumbered: boolean, others: Queryable | undefined) {
    this.#isNumbered = isNumbered;
    this.#others = others;
  }

  /** @throws {AccountMoveError} if the log here has events that the account's events cannot be put between */
  static async open(on: Queryable, { drawsPositions }: Header): Promise<PositionMap> {
    const { kysely, dialect } = on;
    const { rows } = await sql`select 1 from events limit 1`.execute(kysely);
    const isOfTimes = !drawsPositions && !dialect.log.drawsPositions;
    if (rows.length > 0 && !isOfTimes)
      throw new AccountMoveError(
        'The database has events of other accounts, and the order of its log leaves no place for those in the file. Import into an empty database, or pass --without-events once all deliveries of the account are settled. Nothing was imported.',
      );
    const isNumbered = !drawsPositions && dialect.log.drawsPositions;
    if (isNumbered) await beginEpoch({ kysely });
    return new PositionMap(isNumbered, rows.length > 0 ? on : undefined);
  }

  /** Adds the position of the next event. Returns the one that it has here. */
  async add(given: number): Promise<number> {
    if (!this.#isNumbered) return this.#freeFrom(given);
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
    if (given === null) return null;
    if (!this.#isNumbered) return this.#moved.get(Number(given)) ?? given;
    const found = this.#find(Number(given));
    return this.#given[found] === given ? found + 1 : undefined;
  }

  /** The opposite of `here`. */
  given(here: Value): Value {
    if (here === null) return null;
    if (!this.#isNumbered) return this.#movedBack.get(Number(here)) ?? here;
    return this.#given[Number(here) - 1] ?? null;
  }

  /** Returns the first position since the given one that is free and behind the events before. */
  async #freeFrom(given: number): Promise<number> {
    let here = Math.max(given, this.#last + 1);
    while (this.#others !== undefined && (await isTaken(this.#others, here))) here++;
    this.#last = here;
    if (here !== given) {
      this.#moved.set(given, here);
      this.#movedBack.set(here, given);
    }
    return here;
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

async function isTaken({ kysely }: Queryable, position: number): Promise<boolean> {
  const { rows } = await sql`select 1 from events where position = ${position}`.execute(kysely);
  return rows.length > 0;
}

/** Cursors of the former log are not places in this one: with another epoch, their readers begin again. */
async function beginEpoch({ kysely }: Pick<Queryable, 'kysely'>): Promise<void> {
  await sql`insert into log_epochs (epoch, starts_after, created_at)
    select ${randomBytes(4).toString('hex')}, '0.evt_00000000000000000000000000', max(created_at) + 1
    from log_epochs`.execute(kysely);
}
