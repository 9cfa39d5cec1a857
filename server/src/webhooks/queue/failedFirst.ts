import { sql } from 'kysely';
import type { Tx } from '../../db/commit.ts';
import type { Database } from '../../db/database.ts';
import { LISTED_ROWS, Pace } from '../../db/pace.ts';
import { batch, query, unindexed } from '../../db/query.ts';
import { pendingOf } from './queue.ts';

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
    const bring = async (tx: Tx, slice: readonly { account_id: string; delivery_id: string }[]) => {
      await makeDue.run(tx, [...slice]);
      return slice.length;
    };
    await pace.inSlices(commit, failed, bring, { isStopped });
    if (failed.length < LISTED_ROWS) return;
  }
}

/** A replay has used no step of its schedule. */
const failedDeliveries = query((db, p: { webhookId: string; limit: number }) =>
  pendingOf(db, p)
    .select(['d.account_id', 'd.delivery_id'])
    .where('d.due_at', '>', 0)
    .where('d.steps', '>', 0)
    .where('d.held_behind', 'is', null)
    .limit(p.limit),
);

const makeDue = batch(
  { account_id: 'text', delivery_id: 'text' },
  ({ row, from }) => sql`
    update deliveries set due_at = 0 ${from}
    where deliveries.account_id = ${row.account_id} and deliveries.delivery_id = ${row.delivery_id}
      and ${unindexed('deliveries.state')} = 'pending' and deliveries.held_behind is null`,
);
