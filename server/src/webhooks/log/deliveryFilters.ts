import { type Kysely, type RawBuilder, type Selectable, sql } from 'kysely';
import type { Queryable } from '../../db/dialect.ts';
import { accountNumber, webhookNumber } from '../../db/numbers.ts';
import type { Schema } from '../../db/schema.ts';
import type { DeliveryState } from '../../db/tables/webhooks.ts';
import type { EventKind } from '../../events/events.ts';
import { firstIdAt } from '../../ids.ts';
import type { SteadyClock } from '../../steadyClock.ts';

/* The index by which a list or a replay finds its deliveries. */

/** An index of `deliveries`, and the condition that leads to it. */
interface Path {
  readonly index: string;
  /** In literals where the index is partial, so that the planners can use it. */
  readonly where: RawBuilder<boolean>;
}

interface Filters {
  readonly webhookId?: string | undefined;
  readonly states?: readonly DeliveryState[] | undefined;
  readonly kinds?: readonly EventKind[] | undefined;
}

/** Event types of most deliveries, which have no entries in the index of event types. */
const USUAL: readonly EventKind[] = ['message.incoming', 'message.sent', 'message.delivered', 'message.read'];

export const isRare = (kind: EventKind | undefined): boolean => kind !== undefined && !USUAL.includes(kind);

/** The condition of the indexes of event types, in literals, so that the planners use them. */
export const isRareKind = (column: string) =>
  sql<boolean>`${sql.ref(column)} not in (${sql.join(USUAL.map((kind) => sql.lit(kind)))})`;

const isUndelivered = sql<boolean>`d.undelivered is not null`;

/** Returns the best index for a filter. */
export function pathOf({ webhookId, states = [], kinds = [] }: Filters): Path {
  const [state, ...otherStates] = states;
  const isOneState = otherStates.length === 0 && (state === 'failed' || state === 'expired' || state === 'cancelled');
  if (isOneState) return { index: 'deliveries_state', where: sql`d.undelivered = ${state} and ${isUndelivered}` };
  if (states.length > 0 && !states.includes('delivered') && !states.includes('pending'))
    return { index: 'deliveries_undelivered', where: isUndelivered };
  const [kind, ...others] = kinds;
  if (kind !== undefined && others.length === 0 && isRare(kind))
    return {
      index: 'deliveries_kind',
      where: sql`d.kind = ${kind} and d.kind is not null`,
    };
  if (webhookId !== undefined)
    return { index: 'deliveries_webhook', where: sql`d.webhook = ${webhookNumber(webhookId)}` };
  return { index: 'deliveries_account', where: sql`true` };
}

/** Selects from the deliveries of an account as `d`, through an index. */
export function deliveriesThrough(
  { kysely, dialect }: Pick<Queryable, 'kysely' | 'dialect'>,
  accountId: string,
  path?: Path,
) {
  const hint = path === undefined ? sql`` : dialect.through(path.index);
  const table = sql<Selectable<Schema['deliveries']>>`deliveries`.as<'d'>(sql`d ${hint}`);
  const select = (kysely as Kysely<Schema>).selectFrom(table).where('d.account', '=', accountNumber(accountId));
  return path === undefined ? select : select.where(path.where);
}

/** More pending deliveries than this are dense enough to be found in the order of their ids. */
const FEW = 2000;

/** Returns the ids of the account's pending deliveries if there are few; undefined otherwise. */
export async function fewPending({ kysely }: Queryable, accountId: string): Promise<readonly string[] | undefined> {
  const { rows } = await sql<{ delivery_id: string }>`
    select d.delivery_id from (
      select q.event, q.webhook from webhooks w join receivers r on r.webhook_id = w.webhook_id
        join queue q on q.webhook = r.seq where w.account_id = ${accountId}
      union all
      select q.event, q.webhook from webhooks w join receivers r on r.webhook_id = w.webhook_id
        join waiting q on q.webhook = r.seq where w.account_id = ${accountId}
      limit ${FEW + 1}
    ) as q join deliveries d on d.event = q.event and d.webhook = q.webhook`.execute(kysely);
  return rows.length > FEW ? undefined : rows.map(({ delivery_id }) => delivery_id);
}

/** How far the clock of the machine may have been set since a delivery was stored. */
const CLOCK_CHANGE_MS = 24 * 60 * 60 * 1000;
/** Greater than the time of any id. */
const MAX_ID_MS = 2 ** 48;

/**
 * Bounds the ids of deliveries by the time of their events, because ids begin with their time.
 * @param from first moment, as a time of day
 * @param to moment after the last one
 * @returns ids before the first and after the last one
 */
export function idsWithin(
  steady: Pick<SteadyClock, 'fromWall'>,
  { from = 0, to = Number.MAX_SAFE_INTEGER }: { readonly from?: number | undefined; readonly to?: number | undefined },
): { after: string; end: string } {
  const first = from === 0 ? 0 : Math.max(0, steady.fromWall(from) - CLOCK_CHANGE_MS);
  const end = Math.max(0, Math.min(MAX_ID_MS, steady.fromWall(to) + CLOCK_CHANGE_MS));
  return { after: firstIdAt('dlv', first), end: firstIdAt('dlv', end) };
}
