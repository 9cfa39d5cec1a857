import type { Queryable } from '../db/dialect.ts';
import { sessionOf } from '../events/conversation.ts';
import type { EventKind } from '../events/events.ts';
import { sessionColumn } from './queue.ts';

export interface LoggedEvent {
  readonly eventId: string;
  readonly kind: EventKind;
  readonly sessionId: string;
  readonly conversation: string;
  /** The body as webhooks receive it, without added fields. */
  readonly body: string;
  readonly createdAt: number;
  /** Greater than that of all earlier events of the conversation; 0 for an event of before there were sequences. */
  readonly sequence: number;
  /** Resumes reading after this event. */
  readonly cursor: string;
}

/** Reads the emitted events of accounts, without those of webhook tests. */
export class EventLog {
  readonly #reader: Queryable;
  #horizon = 0;

  constructor(reader: Queryable) {
    this.#reader = reader;
  }

  /**
   * Reads the account's events after a cursor, or from the beginning, oldest first.
   * @param sessionIds only events of these sessions
   */
  async read(
    accountId: string,
    after: string | undefined,
    kinds: readonly EventKind[] | undefined,
    limit: number,
    sessionIds?: readonly string[],
  ): Promise<LoggedEvent[]> {
    const { order } = this.#reader.dialect.log;
    const horizon = await this.#readHorizon();
    let select = this.#upTo(horizon, accountId)
      .select(['kind', 'conversation', 'body', 'created_at'])
      .where('is_test', '=', 0);
    if (kinds !== undefined && kinds.length > 0) select = select.where('kind', 'in', [...kinds]);
    if (sessionIds !== undefined) select = select.where(sessionColumn('conversation'), 'in', [...sessionIds]);
    const from = after === undefined ? undefined : parseCursor(after);
    if (from !== undefined && order.includes('position')) {
      select = select.where((eb) =>
        eb(eb.refTuple('position', 'event_id'), '>', eb.tuple(from.position, from.eventId)),
      );
    } else if (from !== undefined) select = select.where('event_id', '>', from.eventId);
    for (const column of order) select = select.orderBy(column);
    const rows = await select.limit(limit).execute();
    return rows.map((row) => ({
      eventId: row.event_id,
      kind: row.kind,
      sessionId: sessionOf(row.conversation),
      conversation: row.conversation,
      body: row.body,
      createdAt: row.created_at,
      sequence: row.position,
      cursor: this.#cursorOf(row),
    }));
  }

  /** Returns the cursor of the newest event, or `BEGINNING`. */
  async latest(accountId: string): Promise<string> {
    let select = this.#upTo(await this.#readHorizon(), accountId);
    for (const column of this.#reader.dialect.log.order) select = select.orderBy(column, 'desc');
    const row = await select.limit(1).executeTakeFirst();
    return row === undefined ? BEGINNING : this.#cursorOf(row);
  }

  /** The horizon never moves back: a writer that delays it later draws positions after the earlier horizon. */
  async #readHorizon(): Promise<number> {
    const { dialect, connection } = this.#reader;
    this.#horizon = Math.max(this.#horizon, await dialect.log.horizon(connection));
    return this.#horizon;
  }

  /** Where ids alone are the order of the log, the position in its cursors stays 0. */
  #cursorOf({ position, event_id: eventId }: { position: number; event_id: string }): string {
    return `${this.#reader.dialect.log.order.includes('position') ? position : 0}.${eventId}`;
  }

  #upTo(horizon: number, accountId: string) {
    return this.#reader.kysely
      .selectFrom('events')
      .select(['event_id', 'position'])
      .where('account_id', '=', accountId)
      .where('position', '<=', horizon);
  }
}

/** The cursor before all events. */
export const BEGINNING = '0.evt_00000000000000000000000000';

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
