import { sql } from 'kysely';
import type { Tx } from '../../db/commit.ts';
import type { Queryable } from '../../db/dialect.ts';
import { webhookNumber } from '../../db/numbers.ts';
import { batch, query } from '../../db/query.ts';
import { type Key, lockFree, makeDue, postpone, waitingOf } from './pending.ts';
import type { WebhookRef } from './queue.ts';

/*
 * The order of a webhook with `ordering: "strict"`: a delivery that waits for a retry holds back the later ones of its
 * conversation. They are held when the lane reads them, not when the retry is stored, because a conversation can have a
 * hundred thousand of them. For the same reason a settled delivery releases only the next few: if one of those has to
 * be retried, few were released in vain.
 */

/** A delivery that must not go out before an earlier one of its conversation. */
export interface Held extends Key {
  readonly conversation: string;
  /** Event of the earlier delivery, which waits for a retry or is held itself. */
  readonly heldBehind: number;
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
export async function hold(tx: Tx, webhookId: string, held: readonly Held[], now: number): Promise<void> {
  const earlier = [...new Set(held.map(({ heldBehind }) => heldBehind))];
  const waiting = await lockWaiting.all(tx, { webhookId, events: JSON.stringify(earlier) });
  const events = new Set(waiting.map(({ event }) => event));
  const behind = held.filter(({ heldBehind }) => events.has(heldBehind));
  const free = new Set((await lockFree(tx, behind)).map(({ event }) => event));
  await postpone(
    tx,
    behind.filter(({ event }) => free.has(event)).map((row) => ({ ...row, dueAt: now + HELD_MS })),
  );
}

/** Makes the next held deliveries of conversations due. Returns the webhooks that have some. */
export async function release(tx: Tx, released: readonly Released[]): Promise<Set<string>> {
  const rows = released.map(({ webhookId, conversation }) => ({ webhook_id: webhookId, conversation }));
  const next = await nextHeld.all(tx, rows);
  if (next.length > 0) await makeDue(tx, next);
  return new Set(next.map(({ webhook_id }) => webhook_id));
}

/** Makes some held deliveries of any conversation due. Returns their number: large queues change in batches. */
export async function releaseSome(on: Queryable, { webhookId }: WebhookRef, limit: number): Promise<number> {
  return makeDue(on, await someHeld.all(on, { webhookId, limit }));
}

const lockWaiting = query((db, p: { webhookId: string; events: string }, dialect) => {
  const waiting = waitingOf(db, p)
    .innerJoin('webhooks as w', (join) => join.on('w.webhook_id', '=', p.webhookId))
    .select('q.event')
    .where('w.ordering', '=', 'strict')
    .where('q.event', 'in', dialect.integers(p.events));
  return dialect.hasConcurrentWriters ? waiting.forShare(['q', 'w']).skipLocked() : waiting;
});

type NextHeld = Key & { readonly webhook_id: string };

const nextHeld = batch({ webhook_id: 'text', conversation: 'text' }, ({ row, from, dialect }) => {
  const held = sql`(
    select event, webhook from waiting
    where webhook = ${webhookNumber(row.webhook_id)} and conversation = ${row.conversation} and held_behind is not null
    order by event limit ${sql.lit(RELEASED_AT_ONCE)}
  ) as held`;
  const each = dialect.recordset === undefined ? sql`from` : sql`${from} cross join lateral`;
  return sql<NextHeld>`select held.event, held.webhook, ${row.webhook_id} as webhook_id ${each} ${held}`;
});

const someHeld = query((db, p: { webhookId: string; limit: number }) =>
  waitingOf(db, p).select(['q.event', 'q.webhook']).where('q.held_behind', 'is not', null).limit(p.limit),
);
