import type { Queryable } from '../db/dialect.ts';
import type { EventKind } from '../events.ts';

/** An event as a reader of the log gets it. */
export interface LoggedEvent {
  readonly eventId: string;
  readonly kind: EventKind;
  /** The body exactly as webhooks get it. */
  readonly body: string;
  readonly createdAt: number;
  /** Where reading goes on after it. */
  readonly cursor: string;
}

/** The log of everything that was emitted, to be read by accounts. Tests are not in it. */
export interface EventLog {
  /** The account's events after a cursor, oldest first; from the beginning without one. */
  read(
    accountId: string,
    after: string | undefined,
    kinds: readonly EventKind[] | undefined,
    limit: number,
  ): Promise<LoggedEvent[]>;
  /** The cursor behind everything that is there now; undefined while there is nothing. */
  latest(accountId: string): Promise<string | undefined>;
}

export function createEventLog(reader: Queryable): EventLog {
  let horizon = 0;
  /** What was certain once stays so: a writer that holds up a later look draws positions behind the earlier one. */
  async function lookForHorizon(): Promise<number> {
    horizon = Math.max(horizon, await reader.dialect.log.horizon(reader.connection));
    return horizon;
  }
  return {
    async read(accountId, after, kinds, limit) {
      return readEvents(reader, await lookForHorizon(), accountId, after, kinds, limit);
    },
    async latest(accountId) {
      return latestCursor(reader, await lookForHorizon(), accountId);
    },
  };
}

async function readEvents(
  { kysely, dialect }: Queryable,
  horizon: number,
  accountId: string,
  after: string | undefined,
  kinds: readonly EventKind[] | undefined,
  limit: number,
): Promise<LoggedEvent[]> {
  let select = kysely
    .selectFrom('events')
    .select(['event_id', 'kind', 'body', 'created_at', 'position'])
    .where('account_id', '=', accountId)
    .where('is_test', '=', 0)
    .where('position', '<=', horizon);
  if (kinds !== undefined && kinds.length > 0) select = select.where('kind', 'in', [...kinds]);
  const from = after === undefined ? undefined : parseCursor(after);
  if (from !== undefined && dialect.log.order.includes('position')) {
    select = select.where((eb) => eb(eb.refTuple('position', 'event_id'), '>', eb.tuple(from.position, from.eventId)));
  } else if (from !== undefined) select = select.where('event_id', '>', from.eventId);
  for (const column of dialect.log.order) select = select.orderBy(column);
  const rows = await select.limit(limit).execute();
  return rows.map((row) => ({
    eventId: row.event_id,
    kind: row.kind,
    body: row.body,
    createdAt: row.created_at,
    cursor: `${row.position}.${row.event_id}`,
  }));
}

async function latestCursor(
  { kysely, dialect }: Queryable,
  horizon: number,
  accountId: string,
): Promise<string | undefined> {
  let select = kysely
    .selectFrom('events')
    .select(['event_id', 'position'])
    .where('account_id', '=', accountId)
    .where('position', '<=', horizon);
  for (const column of dialect.log.order) select = select.orderBy(column, 'desc');
  const row = await select.limit(1).executeTakeFirst();
  return row && `${row.position}.${row.event_id}`;
}

/** The cursor before every event. */
export const BEGINNING = '0.evt_00000000000000000000000000';

/** Whether a cursor comes before another one. */
export function isBefore(a: string, b: string): boolean {
  const [left, right] = [parseCursor(a), parseCursor(b)];
  return left.position === right.position ? left.eventId < right.eventId : left.position < right.position;
}

/** Whether a text can be a cursor. */
export function isCursor(text: string): boolean {
  return /^\d{1,19}\.evt_[0-9A-Z]{26}$/.test(text);
}

function parseCursor(cursor: string): { position: number; eventId: string } {
  const [position = '', eventId = ''] = cursor.split('.');
  return { position: Number(position), eventId };
}
