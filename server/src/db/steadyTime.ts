import { sql } from 'kysely';
import { timeOfId } from '../ids.ts';
import type { SteadyClock } from '../steadyClock.ts';
import type { Database } from './database.ts';
import type { Queryable } from './dialect.ts';

/*
 * The stored moment of steady time (see `SteadyClock`), one row.
 *
 * A process that has the database to itself stores the moment with every batch of settled attempts. A start continues
 * after that moment, after the newest stored ids and after the time of day. So a clock that was ahead and is corrected
 * by a restart changes nothing: steady time stays ahead.
 *
 * On PostgreSQL every heartbeat stores the moment and adopts a later one of another node. The row also has the
 * database's time of the write, so a node that reads it later adds the time that has passed since, within bounds.
 */

/** The longest span by the database's clock that counts as time since the last heartbeat. */
const MAX_GAP_MS = 8000;

/** @param wallNow the time of day of this process */
export async function readSteadyTime({ reader, shared }: Database, wallNow: number): Promise<number> {
  const { now } = reader.dialect;
  const passed = sql`case when ${now} - at between 0 and ${MAX_GAP_MS} then ${now} - at else 0 end`;
  const { rows } = await sql<{ stored: number; at: number; now: number }>`
    select ms + ${passed} as stored, at, ${now} as now from steady_time`.execute(reader.kysely);
  const { stored = 0, at = 0, now: databaseNow = 0 } = rows[0] ?? {};
  if (shared === undefined) return Math.max(stored, wallNow, await newestIdTime(reader));
  // All nodes share the clock of the database. Once a moment is stored, heartbeats keep the row ahead of ids.
  return Math.max(stored, databaseNow, at === 0 ? await newestIdTime(reader) : 0);
}

/** Stores the moment in the transaction that stores what happened at it. */
export async function storeSteadyTime({ kysely }: Queryable, ms: number): Promise<void> {
  await sql`update steady_time set ms = ${ms} where ms < ${ms}`.execute(kysely);
}

export class SteadyTimeSync {
  readonly #on: Queryable;
  readonly #steady: SteadyClock;
  #syncedAt: number;

  constructor(on: Queryable, steady: SteadyClock) {
    this.#on = on;
    this.#steady = steady;
    this.#syncedAt = steady.elapsed();
  }

  /**
   * Stores the moment and adopts a later one of another node. The time since that one was stored counts up to the time
   * that has passed here since the last heartbeat, which bounds the effect of a change of the database's clock.
   * @returns how far the time of day here is ahead of the database's clock, in ms
   */
  async sync(): Promise<number> {
    const steady = this.#steady;
    const { now } = this.#on.dialect;
    const askedAt = steady.elapsed();
    const wall = steady.toWall(steady.now());
    const longest = Math.max(0, Math.floor(askedAt - this.#syncedAt));
    const { rows } = await sql<{ ms: number; now: number }>`
      update steady_time set at = ${now},
        ms = greatest(${steady.now()}::bigint, ms + least(greatest(${now} - at, 0), ${longest}::bigint))
      returning ms, ${now} as now`.execute(this.#on.kysely);
    const [row] = rows;
    if (row === undefined) throw new Error('the row of steady_time is missing');
    this.#syncedAt = askedAt;
    steady.advanceTo(row.ms);
    // Assumes that the database answered halfway through the request.
    return wall + (steady.elapsed() - askedAt) / 2 - row.now;
  }
}

/** The time in the newest stored id; 0 if there is none. Costs two index seeks per account. */
async function newestIdTime({ kysely }: Queryable): Promise<number> {
  const { rows } = await sql<{ event: string | null; message: string | null }>`
    select
      (select event_id from events order by position desc limit 1) as event,
      max((select max(message_id) from messages m where m.account_id = a.account_id)) as message
    from accounts a`.execute(kysely);
  const { event = null, message = null } = rows[0] ?? {};
  return Math.max(0, ...[event, message].flatMap((id) => (id === null ? [] : [timeOfId(id) + 1])));
}
