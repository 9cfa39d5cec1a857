import { sql } from 'kysely';
import type { Tx } from '../../db/commit.ts';
import { PASSED_ROWS } from '../../db/pace.ts';
import { query } from '../../db/query.ts';
import { firstIdAt } from '../../ids.ts';
import { type Cleaning, forEachAccount, type Steps } from '../../jobs/cleaning.ts';

/*
 * Deletes old deliveries and events. Both are passed once in the order of their ids, a window at a time: pending
 * deliveries and their events stay, however many there are, and are not read again in the same run.
 */

/** @param before returns the steady time before which the log is deleted */
export function prunesLog(before: () => number): Cleaning {
  return {
    name: 'old events and deliveries',
    run: (steps) => {
      const end = before();
      return forEachAccount(steps, async (accountId) => {
        const deliveries = await settle(pruneDeliveries(steps, accountId, end));
        const events = await pruneEvents(steps, accountId, end);
        if ('error' in deliveries) throw deliveries.error;
        return deliveries.value + events;
      });
    },
  };
}

type Settled<T> = { readonly value: T } | { readonly error: unknown };

const settle = <T>(work: Promise<T>): Promise<Settled<T>> =>
  work.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );

async function pruneDeliveries(steps: Steps, accountId: string, before: number): Promise<number> {
  const { longReader } = steps.database;
  const end = firstIdAt('dlv', before);
  let pruned = 0;
  for (let after = ''; !steps.isStopped; ) {
    const range = { accountId, after, end, limit: PASSED_ROWS };
    const last = (await lastDelivery.first(longReader, range))?.id ?? null;
    if (last === null) break;
    const old = await settledDeliveries.all(longReader, { accountId, after, last });
    const ids = old.map(({ delivery_id }) => delivery_id);
    pruned += await steps.inChunks(ids, (tx, chunk) => deleteDeliveries(tx, accountId, chunk));
    after = last;
  }
  return pruned;
}

async function pruneEvents(steps: Steps, accountId: string, before: number): Promise<number> {
  const { longReader } = steps.database;
  const end = firstIdAt('evt', before);
  let pruned = 0;
  for (let after = ''; !steps.isStopped; ) {
    const range = { accountId, after, end, limit: PASSED_ROWS };
    const last = (await lastEvent.first(longReader, range))?.id ?? null;
    if (last === null) break;
    const old = await unneededEvents.all(longReader, { accountId, after, last });
    const ids = old.map(({ event_id }) => event_id);
    pruned += await steps.inChunks(ids, (tx, chunk) => deleteEvents.run(tx, { accountId, ids: JSON.stringify(chunk) }));
    after = last;
  }
  return pruned;
}

/** Leaves those that were replayed after they were read. */
async function deleteDeliveries(tx: Tx, accountId: string, chunk: readonly string[]): Promise<number> {
  const deleted = await deleteSettled.all(tx, { accountId, ids: JSON.stringify(chunk) });
  const ids = JSON.stringify(deleted.map(({ delivery_id }) => delivery_id));
  if (deleted.length > 0) await deleteAttempts.run(tx, { accountId, ids });
  return deleted.length;
}

interface Range {
  accountId: string;
  after: string;
  end: string;
  limit: number;
}

interface Window {
  accountId: string;
  after: string;
  last: string;
}

const lastDelivery = query((db, p: Range) =>
  db
    .selectFrom(
      db
        .selectFrom('deliveries')
        .select('delivery_id')
        .where('account_id', '=', p.accountId)
        .where('delivery_id', '>', p.after)
        .where('delivery_id', '<', p.end)
        .orderBy('delivery_id')
        .limit(p.limit)
        .as('some'),
    )
    .select(({ fn }) => fn.max<string | null>('delivery_id').as('id')),
);

const settledDeliveries = query((db, p: Window) =>
  db
    .selectFrom('deliveries')
    .select('delivery_id')
    .where('account_id', '=', p.accountId)
    .where('delivery_id', '>', p.after)
    .where('delivery_id', '<=', p.last)
    .where('state', '<>', 'pending'),
);

const deleteSettled = query((db, p: { accountId: string; ids: string }, dialect) =>
  db
    .deleteFrom('deliveries')
    .where('account_id', '=', p.accountId)
    .where('delivery_id', 'in', dialect.texts(p.ids))
    .where('state', '<>', 'pending')
    .returning('delivery_id'),
);

const deleteAttempts = query((db, p: { accountId: string; ids: string }, dialect) =>
  db.deleteFrom('attempts').where('account_id', '=', p.accountId).where('delivery_id', 'in', dialect.texts(p.ids)),
);

const lastEvent = query((db, p: Range) =>
  db
    .selectFrom(
      db
        .selectFrom('events')
        .select('event_id')
        .where('account_id', '=', p.accountId)
        .where('event_id', '>', p.after)
        .where('event_id', '<', p.end)
        .orderBy('event_id')
        .limit(p.limit)
        .as('some'),
    )
    .select(({ fn }) => fn.max<string | null>('event_id').as('id')),
);

/**
 * A delivery that is left is pending, for example after a replay. Its event stays with it. Not `not exists`, for which
 * PostgreSQL may read all deliveries for each batch of events instead of looking up each event.
 */
const isUnneeded = sql<boolean>`(
  select 1 from deliveries where deliveries.account_id = events.account_id and deliveries.event_id = events.event_id
  limit 1) is null`;

const unneededEvents = query((db, p: Window) =>
  db
    .selectFrom('events')
    .select('event_id')
    .where('account_id', '=', p.accountId)
    .where('event_id', '>', p.after)
    .where('event_id', '<=', p.last)
    .where(isUnneeded),
);

const deleteEvents = query((db, p: { accountId: string; ids: string }, dialect) =>
  db
    .deleteFrom('events')
    .where('account_id', '=', p.accountId)
    .where('event_id', 'in', dialect.texts(p.ids))
    .where(isUnneeded),
);
