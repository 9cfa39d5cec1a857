import { setImmediate } from 'node:timers/promises';
import type { Queryable } from '../../db/dialect.ts';
import { PASSED_ROWS } from '../../db/pace.ts';
import type { DeliveryState } from '../../db/tables/webhooks.ts';
import type { EventKind } from '../../events/events.ts';
import type { SteadyClock } from '../../steadyClock.ts';
import { deliveriesThrough, idsWithin, pathOf } from './deliveryFilters.ts';

/** Deliveries to replay. A field that is left out does not limit them. */
export interface Replayable {
  readonly accountId: string;
  readonly states: readonly DeliveryState[];
  readonly deliveryIds?: readonly string[] | undefined;
  readonly kinds?: readonly EventKind[] | undefined;
  readonly webhookId?: string | undefined;
  /** First moment of the events, as a time of day. */
  readonly from?: number | undefined;
  /** Moment after the last one. */
  readonly to?: number | undefined;
}

/**
 * Returns the ids of settled deliveries in order, at most `most`, without tests and deleted webhooks. It passes
 * them in windows, so that other long reads go in between.
 */
export async function findReplayable(
  on: Queryable,
  steady: SteadyClock,
  wanted: Replayable,
  most: number,
): Promise<string[]> {
  if (wanted.deliveryIds !== undefined) return (await matching(on, wanted).execute()).map(idOf).slice(0, most);
  const range = rangeOf(steady, wanted);
  const found: string[] = [];
  for (let after = range.after; found.length < most; ) {
    const last = await endOfWindow(on, wanted, after, range.end);
    if (last === undefined) break;
    const rows = await matching(on, wanted)
      .where('d.delivery_id', '>', after)
      .where('d.delivery_id', '<=', last)
      .limit(most - found.length)
      .execute();
    found.push(...rows.map(idOf));
    after = last;
    await setImmediate();
  }
  return found;
}

const idOf = (row: { readonly delivery_id: string }) => row.delivery_id;

const isUndelivered = ({ states }: Replayable) => !states.includes('delivered');

/**
 * Undelivered ones have a separate index, so their ids are not bounded: a clock that was set in between hides none of
 * them.
 */
const rangeOf = (steady: SteadyClock, wanted: Replayable) => idsWithin(steady, isUndelivered(wanted) ? {} : wanted);

async function endOfWindow(on: Queryable, wanted: Replayable, after: string, end: string): Promise<string | undefined> {
  const ids = deliveriesThrough(on, wanted.accountId, pathOf(wanted))
    .select('d.delivery_id')
    .where('d.delivery_id', '>', after)
    .where('d.delivery_id', '<', end);
  const window = ids.orderBy('d.delivery_id').limit(PASSED_ROWS).as('some');
  const row = await on.kysely
    .selectFrom(window)
    .select(({ fn }) => fn.max('delivery_id').as('last'))
    .executeTakeFirst();
  return row?.last ?? undefined;
}

function matching(on: Queryable, wanted: Replayable) {
  const { accountId, states, deliveryIds, kinds, webhookId, from, to } = wanted;
  let select = deliveriesThrough(on, accountId, deliveryIds === undefined ? pathOf(wanted) : undefined)
    .innerJoin('receivers as r', 'r.seq', 'd.webhook')
    .innerJoin('webhooks as w', 'w.webhook_id', 'r.webhook_id')
    .innerJoin('events as e', 'e.position', 'd.event')
    .select('d.delivery_id')
    .where('e.is_test', '=', 0)
    .where('d.state', 'in', states)
    .orderBy('d.delivery_id');
  if (deliveryIds !== undefined) select = select.where('d.delivery_id', 'in', deliveryIds);
  if (from !== undefined) select = select.where('e.created_at', '>=', from);
  if (to !== undefined) select = select.where('e.created_at', '<', to);
  if (kinds !== undefined) select = select.where('e.kind', 'in', kinds);
  if (webhookId !== undefined) select = select.where('r.webhook_id', '=', webhookId);
  return select;
}
