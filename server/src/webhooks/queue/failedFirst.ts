import type { Tx } from '../../db/commit.ts';
import type { Database } from '../../db/database.ts';
import { LISTED_ROWS, Pace } from '../../db/pace.ts';
import { query } from '../../db/query.ts';
import { type Key, makeDue, waitingOf } from './pending.ts';

/*
 * The order after an outage: while a breaker is open, it decides when the receiver is tried again, and not the retry
 * schedule. Deliveries that failed before go out in their place in the queue, before the later ones that were held.
 */

/**
 * Makes the failed deliveries of a webhook due in their place in the queue, except those that others of their
 * conversation hold back, and replays, which keep their pace. Goes on in slices until none is left or `isStopped`.
 */
export async function bringFailedForward(
  { longReader, commit }: Pick<Database, 'longReader' | 'commit'>,
  webhookId: string,
  isStopped: () => boolean,
): Promise<void> {
  const pace = new Pace();
  while (!isStopped()) {
    const failed = await failedDeliveries.all(longReader, { webhookId, limit: LISTED_ROWS });
    const bring = (tx: Tx, slice: readonly Key[]) => makeDue(tx, slice);
    await pace.inSlices(commit, failed, bring, { isStopped });
    if (failed.length < LISTED_ROWS) return;
  }
}

/** A replay has used no step of its schedule. */
const failedDeliveries = query((db, p: { webhookId: string; limit: number }) =>
  waitingOf(db, p)
    .innerJoin('deliveries as d', (join) => join.onRef('d.event', '=', 'q.event').onRef('d.webhook', '=', 'q.webhook'))
    .select(['q.event', 'q.webhook'])
    .where('d.steps', '>', 0)
    .where('q.held_behind', 'is', null)
    .limit(p.limit),
);
