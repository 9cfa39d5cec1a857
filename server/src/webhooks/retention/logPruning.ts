import { sql } from 'kysely';
import type { Tx } from '../../db/commit.ts';
import { PASSED_ROWS, RANGES } from '../../db/pace.ts';
import { query } from '../../db/query.ts';
import { firstIdAt } from '../../ids.ts';
import type { Cleaning, Steps } from '../../jobs/cleaning.ts';

/*
 * Deletes old events with their deliveries and attempts. The log is passed once from its beginning, a window at a time,
 * and each transaction deletes a range of it: pending deliveries and their events stay, however many there are, and
 * are not read again in the same run.
 */

/** @param before returns the steady time before which the log is deleted */
export function prunesLog(before: () => number): Cleaning {
  return {
    name: 'old events and deliveries',
    async run(steps) {
      const end = firstIdAt('evt', before());
      const errors: unknown[] = [];
      let pruned = 0;
      for (let after = -1; !steps.isStopped; ) {
        const window = await eventsAfter.all(steps.database.longReader, { after, limit: PASSED_ROWS });
        const young = window.findIndex(({ event_id }) => event_id >= end);
        const old = young === -1 ? window : window.slice(0, young);
        const positions = old.map(({ position }) => position);
        pruned += await pruneRange(steps, positions, errors);
        const last = positions.at(-1);
        if (last === undefined || old.length < PASSED_ROWS) break;
        after = last;
      }
      if (!steps.isStopped)
        await steps.repeat((tx, limit) => deleteReceivers.run(tx, { limit, before: end.slice(PREFIX) }));
      if (errors.length > 0) throw new AggregateError(errors, `failed for ${errors.length} events`);
      return pruned;
    },
  };
}

/** Deletes a range of the log, and around the events whose rows the database refuses to delete. */
async function pruneRange(steps: Steps, positions: readonly number[], errors: unknown[]): Promise<number> {
  const { dialect } = steps.database.reader;
  try {
    return await steps.inChunks(positions, deleteRange, RANGES);
  } catch (error) {
    if (dialect.faultOf(error) === 'away' || steps.isStopped) throw error;
    if (positions.length === 1 || errors.length >= MOST_FAILURES) {
      errors.push(error);
      return 0;
    }
    const middle = positions.length >> 1;
    const first = await pruneRange(steps, positions.slice(0, middle), errors);
    return first + (await pruneRange(steps, positions.slice(middle), errors));
  }
}

/** After so many events that cannot be deleted, a run searches for no more of them and leaves whole ranges. */
const MOST_FAILURES = 20;

/** Leaves the deliveries that were replayed after they were read. */
async function deleteRange(tx: Tx, positions: readonly number[]): Promise<number> {
  const range = { first: positions[0] ?? 0, last: positions.at(-1) ?? -1 };
  const deliveries = await deleteSettled.run(tx, range);
  await deleteAttempts.run(tx, range);
  return deliveries + (await deleteEvents.run(tx, range));
}

interface Range {
  first: number;
  last: number;
}

const eventsAfter = query((db, p: { after: number; limit: number }) =>
  db
    .selectFrom('events')
    .select(['position', 'event_id'])
    .where('position', '>', p.after)
    .orderBy('position')
    .limit(p.limit),
);

const deleteSettled = query((db, p: Range) =>
  db
    .deleteFrom('deliveries')
    .where('event', '>=', p.first)
    .where('event', '<=', p.last)
    .where('state', '<>', 'pending'),
);

/*
 * A delivery that is left is pending, for example after a replay. Its event and its attempts stay with it. Not `not
 * exists`, for which PostgreSQL may read all deliveries instead of looking up each one.
 */
const deleteAttempts = query((db, p: Range) =>
  db
    .deleteFrom('attempts')
    .where('event', '>=', p.first)
    .where('event', '<=', p.last)
    .where(
      sql<boolean>`(select 1 from deliveries d where d.event = attempts.event and d.webhook = attempts.webhook limit 1)
        is null`,
    ),
);

const deleteEvents = query((db, p: Range) =>
  db
    .deleteFrom('events')
    .where('position', '>=', p.first)
    .where('position', '<=', p.last)
    .where(sql<boolean>`(select 1 from deliveries d where d.event = events.position limit 1) is null`),
);

/** Length of `whk_` and `evt_`. */
const PREFIX = 4;

/** Deletes the numbers of removed webhooks that are no longer in the log. */
const deleteReceivers = query((db, p: { limit: number; before: string }) =>
  db.deleteFrom('receivers').where('seq', 'in', (eb) =>
    eb
      .selectFrom('receivers as r')
      .select('r.seq')
      .where(sql`substr(r.webhook_id, ${sql.lit(PREFIX + 1)})`, '<', p.before)
      .where(sql<boolean>`(select 1 from webhooks w where w.webhook_id = r.webhook_id) is null`)
      .where(sql<boolean>`(select 1 from deliveries d where d.webhook = r.seq limit 1) is null`)
      .limit(p.limit),
  ),
);
