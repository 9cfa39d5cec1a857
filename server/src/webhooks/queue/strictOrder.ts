import { sql } from 'kysely';
import type { Tx } from '../../db/commit.ts';
import type { Queryable } from '../../db/dialect.ts';
import { batch, query, unindexed } from '../../db/query.ts';
import type { WebhookRef } from './queue.ts';

/*
 * The order of a webhook with `ordering: "strict"`: a delivery that waits for a retry holds back the later ones of its
 * conversation. They are held when the lane reads them, not when the retry is stored, because a conversation can have a
 * hundred thousand of them. For the same reason a settled delivery releases only the next few: if one of those has to
 * be retried, few were released in vain.
 */

/** A delivery that must not go out before an earlier one of its conversation. */
export interface Held {
  readonly deliveryId: string;
  /** The earlier delivery, which waits for a retry or is held itself. */
  readonly heldBehind: string;
}

/** A conversation of a webhook in which a delivery was settled. */
interface Released {
  readonly webhookId: string;
  readonly conversation: string;
}

/** Held deliveries are read again after this time, in case nothing has released them. */
const HELD_MS = 3_600_000;
/** As many as a lane keeps in memory. */
const RELEASED_AT_ONCE = 16;

/**
 * Holds deliveries back, except behind those that have been settled meanwhile. A lock keeps the earlier ones waiting
 * until this commits, so that their settlement finds the deliveries to release, and keeps the webhook strict. Rows that
 * others are changing are skipped rather than waited for, and the deliveries behind them are read again.
 * @param now steady time
 */
export async function hold(tx: Tx, accountId: string, held: readonly Held[], now: number): Promise<void> {
  const earlier = [...new Set(held.map(({ heldBehind }) => heldBehind))];
  const waiting = await lockWaiting.all(tx, { accountId, deliveryIds: JSON.stringify(earlier) });
  const ids = new Set(waiting.map(({ delivery_id }) => delivery_id));
  const rows = held
    .filter(({ heldBehind }) => ids.has(heldBehind))
    .map(({ deliveryId, heldBehind }) => ({
      account_id: accountId,
      delivery_id: deliveryId,
      held_behind: heldBehind,
      due_at: now + HELD_MS,
    }));
  await holdBack.run(tx, rows);
}

/** Makes the next held deliveries of conversations due. Returns the webhooks that have some. */
export async function release(tx: Tx, released: readonly Released[]): Promise<Set<string>> {
  const rows = released.map(({ webhookId, conversation }) => ({ webhook_id: webhookId, conversation }));
  const next = await nextHeld.all(tx, rows);
  await makeDue.run(tx, next);
  return new Set(next.map(({ webhook_id }) => webhook_id));
}

/** Makes some held deliveries of any conversation due. Returns their number: large queues change in batches. */
export async function releaseSome(on: Queryable, webhook: WebhookRef, limit: number): Promise<number> {
  return makeSomeDue.run(on, { ...webhook, limit });
}

const lockWaiting = query((db, p: { accountId: string; deliveryIds: string }, dialect) => {
  const waiting = db
    .selectFrom('deliveries as d')
    .innerJoin('webhooks as w', 'w.webhook_id', 'd.webhook_id')
    .select('d.delivery_id')
    .where('w.account_id', '=', p.accountId)
    .where('w.ordering', '=', 'strict')
    .where('d.account_id', '=', p.accountId)
    .where('d.delivery_id', 'in', dialect.texts(p.deliveryIds))
    .where('d.state', '=', 'pending')
    .where('d.due_at', '>', 0);
  return dialect.hasConcurrentWriters ? waiting.forShare().skipLocked() : waiting;
});

const holdBack = batch(
  { account_id: 'text', delivery_id: 'text', held_behind: 'text', due_at: 'bigint' },
  ({ row, from }) => sql`
    update deliveries set due_at = ${row.due_at}, held_behind = ${row.held_behind} ${from}
    where deliveries.account_id = ${row.account_id} and deliveries.delivery_id = ${row.delivery_id}
      and ${unindexed('deliveries.state')} = 'pending'`,
);

interface NextHeld {
  readonly account_id: string;
  readonly delivery_id: string;
  readonly webhook_id: string;
}

const nextHeld = batch({ webhook_id: 'text', conversation: 'text' }, ({ row, from, dialect }) => {
  const held = sql`(
    select account_id, delivery_id, webhook_id from deliveries
    where webhook_id = ${row.webhook_id} and conversation = ${row.conversation} and held_behind is not null
      and state = 'pending'
    order by position, delivery_id limit ${sql.lit(RELEASED_AT_ONCE)}
  ) as held`;
  const each = dialect.recordset === undefined ? sql`from` : sql`${from} cross join lateral`;
  return sql<NextHeld>`select held.account_id, held.delivery_id, held.webhook_id ${each} ${held}`;
});

const makeDue = batch(
  { account_id: 'text', delivery_id: 'text' },
  ({ row, from }) => sql`
    update deliveries set due_at = 0, held_behind = null ${from}
    where deliveries.account_id = ${row.account_id} and deliveries.delivery_id = ${row.delivery_id}
      and ${unindexed('deliveries.state')} = 'pending' and deliveries.held_behind is not null`,
);

const makeSomeDue = query((db, p: WebhookRef & { limit: number }) =>
  db
    .updateTable('deliveries')
    .set({ due_at: 0, held_behind: null })
    .where('account_id', '=', p.accountId)
    .where('delivery_id', 'in', (eb) =>
      eb
        .selectFrom('deliveries')
        .select('delivery_id')
        .where('webhook_id', '=', p.webhookId)
        .where('held_behind', 'is not', null)
        .limit(p.limit),
    ),
);
