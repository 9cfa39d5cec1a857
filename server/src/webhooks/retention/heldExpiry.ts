import { type RawBuilder, sql } from 'kysely';
import type { Clock } from '../../clock.ts';
import { query } from '../../db/query.ts';
import { firstIdAt } from '../../ids.ts';
import type { Cleaning, Steps } from '../../jobs/cleaning.ts';
import type { Metrics } from '../../metrics.ts';
import { ownerOfPending, pendingOf, readLanes } from '../queue/queue.ts';
import { releaseSome } from '../queue/strictOrder.ts';

interface Options {
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly heldDays: number;
  /** Returns the steady time before which deliveries expire. */
  readonly before: () => number;
}

/** Expires pending deliveries that have waited for too long. They stay listed. */
export function expiresHeld({ clock, metrics, heldDays, before }: Options): Cleaning {
  const reason = `It was held for more than ${heldDays} days`;
  return {
    name: 'held deliveries',
    async run(steps) {
      const end = before();
      let total = 0;
      const errors: unknown[] = [];
      for (const { webhook_id: webhookId } of await readLanes(steps.database.longReader)) {
        if (steps.isStopped) break;
        const held = { webhookId, before: end, firstKept: firstIdAt('dlv', end), reason };
        try {
          const expired = await steps.repeat((tx, limit) => expireHeld.run(tx, { ...held, limit, now: clock.now() }));
          metrics.settled.inc({ state: 'expired' }, expired);
          total += expired;
          if (expired > 0) await releaseBehind(steps, webhookId);
        } catch (error) {
          errors.push(error);
        }
      }
      if (errors.length > 0) throw new AggregateError(errors, `failed for ${errors.length} webhooks`);
      return total;
    },
  };
}

/** The expired deliveries may have held later ones back. */
async function releaseBehind(steps: Steps, webhookId: string): Promise<void> {
  const accountId = await ownerOfPending(steps.database.reader, webhookId);
  if (accountId === undefined) return;
  if (!steps.isStopped) await steps.repeat((tx, limit) => releaseSome(tx, { accountId, webhookId }, limit));
}

interface Held {
  webhookId: string;
  before: number;
  firstKept: string;
  limit: number;
  now: number;
  reason: string;
}

const expireHeld = query((db, p: Held) => {
  const oldest = (isOld: RawBuilder<boolean>) =>
    db
      .selectFrom(
        pendingOf(db, p)
          .select('d.delivery_id')
          .where(isOld)
          .orderBy('d.due_at')
          .orderBy('d.position')
          .orderBy('d.delivery_id')
          .limit(p.limit)
          .as('oldest'),
      )
      .select('delivery_id')
      .where('delivery_id', '<', p.firstKept);
  return db
    .updateTable('deliveries')
    .set({ state: 'expired', settled_at: p.now, reason: p.reason, held_behind: null })
    .where('account_id', '=', (eb) =>
      eb.selectFrom('webhooks').select('account_id').where('webhook_id', '=', p.webhookId),
    )
    .where(
      'delivery_id',
      'in',
      oldest(sql`d.due_at = 0`).unionAll(oldest(sql`d.due_at > 0 and d.due_at < ${p.before}`)),
    )
    .where('state', '=', sql.lit('pending' as const));
});
