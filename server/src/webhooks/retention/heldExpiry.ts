import type { Clock } from '../../clock.ts';
import type { Tx } from '../../db/commit.ts';
import { query } from '../../db/query.ts';
import { firstIdAt } from '../../ids.ts';
import type { Cleaning, Steps } from '../../jobs/cleaning.ts';
import type { Metrics } from '../../metrics.ts';
import { dueNowOf, endPending, waitingOf } from '../queue/pending.ts';
import { ownerOfPending, readLanes } from '../queue/queue.ts';
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
        const held = { webhookId, before: end, firstKept: firstIdAt('dlv', end) };
        const expire = async (tx: Tx, limit: number) => {
          const old = await heldTooLong.all(tx, { ...held, limit });
          return (await endPending(tx, old, { state: 'expired', reason, now: clock.now() })).length;
        };
        try {
          const expired = await steps.repeat(expire);
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
}

/** The first deliveries of the two tables that are old enough. */
const heldTooLong = query((db, p: Held) => {
  const due = dueNowOf(db, p).select(['q.event', 'q.webhook']).orderBy('q.event').limit(p.limit);
  const waiting = waitingOf(db, p)
    .select(['q.event', 'q.webhook'])
    .where('q.due_at', '<', p.before)
    .orderBy('q.due_at')
    .orderBy('q.event')
    .limit(p.limit);
  const either = db
    .selectFrom(due.as('q'))
    .selectAll()
    .unionAll(db.selectFrom(waiting.as('q')).selectAll());
  return db
    .selectFrom(either.as('q'))
    .innerJoin('deliveries as d', (join) => join.onRef('d.event', '=', 'q.event').onRef('d.webhook', '=', 'q.webhook'))
    .select(['q.event', 'q.webhook'])
    .where('d.delivery_id', '<', p.firstKept);
});
