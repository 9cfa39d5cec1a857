import type { Queryable } from '../db/dialect.ts';
import type { EventKind } from '../events.ts';

export interface LoggedEvent {
  readonly eventId: string;
  readonly kind: EventKind;
  /** The body as webhooks receive it. */
  readonly body: string;
  readonly createdAt: number;
  /** Resumes reading after this event. */
  readonly cursor: string;
}

/** The emitted events of accounts, without those of webhook tests. */
export interface EventLog {
  /** Reads the account's events after a cursor, or from the beginning, oldest first. */
  read(
    accountId: string,
    after: string | undefined,
    kinds: readonly EventKind[] | undefined,
    limit: number,
  ): Promise<LoggedEvent[]>;
  /** Returns the cursor of the newest event; undefined if there is none. */
  latest(accountId: string): Promise<string | undefined>;
}

export function createEventLog(reader: Queryable): EventLog {
  let horizon = 0;
  /** The horizon never moves back: a writer that delays it later draws positions after the earlier horizon. */
  async function readHorizon(): Promise<number> {
    horizon = Math.max(horizon, await reader.dialect.log.horizon(reader.connection));
    return horizon;
  }
  return {
    async read(accountId, after, kinds, limit) {
      return readEvents(reader, await readHorizon(), accountId, after, kinds, limit);
    },
    async latest(accountId) {
      return latestCursor(reader, await readHorizon(), accountId);
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

/** The cursor before all events. */
export const BEGINNING = '0.evt_00000000000000000000000000';

/** Whether a cursor comes before another one. */
export function isBefore(a: string, b: string): boolean {
  const [left, right] = [parseCursor(a), parseCursor(b)];
  return left.position === right.position ? left.eventId < right.eventId : left.position < right.position;
}

export function isCursor(text: string): boolean {
  return /^\d{1,19}\.evt_[0-9A-Z]{26}$/.test(text);
}

function parseCursor(cursor: string): { position: number; eventId: string } {
  const [position = '', eventId = ''] = cursor.split('.');
  return { position: Number(position), eventId };
}
