import { sleep } from '../async.ts';
import { systemClock } from '../clock.ts';
import type { Queryable } from '../db/dialect.ts';
import { AppError } from '../errors.ts';
import { sessionOf } from '../events/conversation.ts';
import type { EventKind } from '../events/events.ts';
import { firstIdAt, idBefore, timeOfId } from '../ids.ts';
import { sessionColumn } from './queue.ts';

export interface LoggedEvent {
  readonly eventId: string;
  readonly kind: EventKind;
  readonly sessionId: string;
  readonly conversation: string;
  /** The body as webhooks receive it, without added fields. */
  readonly body: string;
  readonly createdAt: number;
  /** Greater than that of all earlier events of the conversation; 0 for an event stored before sequences existed. */
  readonly sequence: number;
  /** Resumes reading after this event. */
  readonly cursor: string;
}

/** Longer than between the moment when an event gets its id and its commit, on SQLite. */
const COMMIT_MS = 60_000;
const COMPLETE_POLL_MS = 20;
const COMPLETE_TIMEOUT_MS = 5000;

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

  /**
   * Returns a cursor of this moment. Events that become visible later come after it, and so may some of those that are
   * visible: read before you rely on it. A reader that has found nothing keeps it instead of the cursor of an event,
   * which would look older and older.
   */
  async now(steadyMs: number): Promise<string> {
    const horizon = await this.#readHorizon();
    return this.#hasPositions
      ? `${horizon}.${firstIdAt('evt', steadyMs)}`
      : `0.${firstIdAt('evt', steadyMs - COMMIT_MS)}`;
  }

  /** Whether a cursor is of another log than this one, such as that of before a backup was restored. */
  async isForeign(cursor: string, steadyMs: number): Promise<boolean> {
    if (!this.#hasPositions) return timeOfCursor(cursor) > steadyMs + COMMIT_MS;
    const { dialect, connection } = this.#reader;
    // Not the horizon, which differs between nodes.
    return parseCursor(cursor).position > (await dialect.log.newest(connection));
  }

  /** Returns the cursor, or that of the horizon if events before it may be invisible still. */
  async visible(cursor: string): Promise<string> {
    if (!this.#hasPositions) return cursor;
    const horizon = await this.#readHorizon();
    const { position, eventId } = parseCursor(cursor);
    return position <= horizon ? cursor : `${horizon}.${eventId}`;
  }

  /**
   * Resolves once the events of all transactions that run now are visible.
   * @throws {AppError} `too_busy`
   */
  async complete(): Promise<void> {
    const { dialect, connection } = this.#reader;
    const newest = await dialect.log.newest(connection);
    for (let waitedMs = 0; (await this.#readHorizon()) < newest; waitedMs += COMPLETE_POLL_MS) {
      if (waitedMs >= COMPLETE_TIMEOUT_MS)
        throw new AppError('too_busy', 'A long transaction holds up the event log; try again');
      await sleep(systemClock, COMPLETE_POLL_MS);
    }
  }

  /** Returns the cursor before the account's first event since a moment of steady time. */
  async since(accountId: string, steadyMs: number): Promise<string | undefined> {
    const row = await this.#reader.kysely
      .selectFrom('events')
      .select(['event_id', 'position'])
      .where('account_id', '=', accountId)
      .where('event_id', '>=', firstIdAt('evt', steadyMs))
      .orderBy('event_id')
      .limit(1)
      .executeTakeFirst();
    return row && this.before(row);
  }

  /** Returns the cursor before an event. */
  before({ event_id, position }: { readonly event_id: string; readonly position: number }): string {
    return this.#cursorOf({ event_id: idBefore(event_id), position });
  }

  /** Returns the cursor after an event. */
  after({ event_id, position }: { readonly event_id: string; readonly position: number }): string {
    return this.#cursorOf({ event_id, position });
  }

  get #hasPositions(): boolean {
    return this.#reader.dialect.log.order.includes('position');
  }

  /** The horizon never moves back: a writer that delays it later draws positions after the earlier horizon. */
  async #readHorizon(): Promise<number> {
    const { dialect, connection } = this.#reader;
    this.#horizon = Math.max(this.#horizon, await dialect.log.horizon(connection));
    return this.#horizon;
  }

  /** Where ids alone are the order of the log, the position in its cursors stays 0. */
  #cursorOf({ position, event_id: eventId }: { position: number; event_id: string }): string {
    return `${this.#hasPositions ? position : 0}.${eventId}`;
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

/** The later one of two cursors. */
export const laterOf = (a: string, b: string): string => (isBefore(a, b) ? b : a);

/** The earlier one of two cursors. */
export const earlierOf = (a: string, b: string): string => (isBefore(b, a) ? b : a);

/** The steady time of a cursor. */
export const timeOfCursor = (cursor: string): number => timeOfId(parseCursor(cursor).eventId);

function parseCursor(cursor: string): { position: number; eventId: string } {
  const [position = '', eventId = ''] = cursor.split('.');
  return { position: Number(position), eventId };
}
