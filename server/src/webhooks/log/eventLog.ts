import type { SelectQueryBuilder } from 'kysely';
import { sleep } from '../../async.ts';
import { systemClock } from '../../clock.ts';
import type { Queryable } from '../../db/dialect.ts';
import { accountNumber } from '../../db/numbers.ts';
import type { Schema } from '../../db/schema.ts';
import { AppError } from '../../errors.ts';
import { sessionOf } from '../../events/conversation.ts';
import type { EventKind } from '../../events/events.ts';
import { firstIdAt, idBefore, timeOfId } from '../../ids.ts';
import { sessionColumn } from '../queue/queue.ts';
import { isRare, isRareKind } from './deliveryFilters.ts';
import { BEGINNING, isBefore, type LogEpochs, parseCursor, type Resumed } from './logEpochs.ts';
import { positionAt } from './places.ts';

export interface LoggedEvent {
  readonly eventId: string;
  readonly kind: EventKind;
  readonly sessionId: string;
  readonly conversation: string;
  /** The body as webhooks receive it, without added fields. */
  readonly body: string;
  readonly createdAt: number;
  /** Position in the log, greater than that of all earlier events of the conversation. */
  readonly sequence: number;
  /** Resumes reading after this event. */
  readonly cursor: string;
}

/** The events that a reader wants. */
export interface Selection {
  /** Event types; undefined for all. */
  readonly kinds?: readonly EventKind[] | undefined;
  /** Sessions; undefined for all. */
  readonly sessionIds?: readonly string[] | undefined;
}

export interface SelectedEvents {
  readonly events: readonly LoggedEvent[];
  /** Resumes after everything that was read; undefined if nothing was, ever. */
  readonly cursor: string | undefined;
  /** Whether the log goes on, even if no event was found. */
  readonly hasMore: boolean;
}

/** The place of an event in the log. */
interface Place {
  readonly position: number;
  readonly event_id: string;
}

type Rest = SelectQueryBuilder<Schema, 'events', Place>;

const byPosition = (a: Place, b: Place) => a.position - b.position;

/** Events that a read passes at most to find those of a selection. */
const MOST_PASSED = 1000;
/** Longer than between the moment when an event gets its id and its commit, on SQLite. */
const COMMIT_MS = 60_000;
const COMPLETE_POLL_MS = 20;
const COMPLETE_TIMEOUT_MS = 5000;

/** Reads the emitted events of accounts, without those of webhook tests. */
export class EventLog {
  readonly #reader: Queryable;
  readonly #epochs: LogEpochs;
  #horizon = 0;
  /** The epoch of `#horizon`. */
  #epoch = '';

  constructor(reader: Queryable, epochs: LogEpochs) {
    this.#reader = reader;
    this.#epochs = epochs;
  }

  /**
   * Returns where a reader with this cursor goes on. After a restore or a failover, that may be before it, and it may
   * have read events that are gone.
   */
  async resume(cursor: string): Promise<Resumed> {
    await this.#readHorizon();
    return this.#epochs.resume(cursor);
  }

  /** Aborted when what was read so far does not continue. */
  get ended(): AbortSignal {
    return this.#epochs.ended;
  }

  /** Reads the account's events after a cursor, or from the beginning, oldest first. */
  async read(accountId: string, after: string | undefined, limit: number): Promise<LoggedEvent[]> {
    const rest = this.#rest(await this.#readHorizon(), accountId, after);
    return this.#readRows(rest, limit);
  }

  /**
   * Reads the events of a selection after a cursor, oldest first. A read passes a bounded number of events, so a
   * selection that matches nothing costs the same in a long log as in a short one.
   */
  async select(
    accountId: string,
    after: string | undefined,
    { kinds, sessionIds }: Selection,
    limit: number,
  ): Promise<SelectedEvents> {
    const rest = this.#rest(await this.#readHorizon(), accountId, after);
    // The index of rare event types has the order of the log for each type.
    const paths =
      kinds?.length && kinds.every(isRare)
        ? kinds.map((kind) => rest.where('kind', '=', kind).where(isRareKind('kind')))
        : [rest];
    const isExact = sessionIds === undefined && (paths[0] !== rest || !kinds?.length);
    const ends: Place[] = [];
    for (const path of isExact ? [] : paths) ends.push(...(await this.#endOfWindow(path)));
    const [end] = ends.sort(byPosition);
    const found: LoggedEvent[] = [];
    for (const path of paths) {
      let matching = end === undefined ? path : path.where('position', '<=', end.position);
      if (path === rest && kinds?.length) matching = matching.where('kind', 'in', [...kinds]);
      if (sessionIds !== undefined) matching = matching.where(sessionColumn('conversation'), 'in', [...sessionIds]);
      found.push(...(await this.#readRows(matching, limit)));
    }
    if (paths.length > 1) found.sort((a, b) => a.sequence - b.sequence);
    const events = found.slice(0, limit);
    const isFull = events.length === limit;
    const last = isFull || end === undefined ? events.at(-1)?.cursor : this.#cursorOf(end);
    return { events, cursor: last ?? after, hasMore: isFull || end !== undefined };
  }

  #rest(horizon: number, accountId: string, after: string | undefined) {
    const select = this.#upTo(horizon, accountId);
    if (after === undefined) return select;
    const from = parseCursor(this.#epochs.resume(after).from);
    return select.where('position', '>', from.position);
  }

  async #readRows(select: Rest, limit: number): Promise<LoggedEvent[]> {
    const rows = select.select(['kind', 'conversation', 'body', 'created_at']).where('is_test', '=', 0);
    const found = await rows.orderBy('position').limit(limit).execute();
    return found.map((row) => ({
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

  /** Returns the place of the last event of a window; nothing if fewer events are left. */
  async #endOfWindow(select: Rest): Promise<Place[]> {
    return select
      .orderBy('position')
      .offset(MOST_PASSED - 1)
      .limit(1)
      .execute();
  }

  /** Returns the cursor of the newest event, or `BEGINNING`. */
  async latest(accountId: string): Promise<string> {
    const select = this.#upTo(await this.#readHorizon(), accountId);
    const row = await select.orderBy('position', 'desc').limit(1).executeTakeFirst();
    return row === undefined ? this.#epochs.mark(BEGINNING) : this.#cursorOf(row);
  }

  /**
   * Returns a cursor of this moment. Events that become visible later come after it, and so may some of those that are
   * visible: read before you rely on it. A reader that has found nothing keeps it instead of the cursor of an event,
   * which would look older and older.
   */
  async now(steadyMs: number): Promise<string> {
    const horizon = await this.#readHorizon();
    if (this.#drawsPositions) return this.#epochs.mark(`${horizon}.${firstIdAt('evt', steadyMs)}`);
    const committedMs = steadyMs - COMMIT_MS;
    return this.#epochs.mark(`${committedMs * 1000}.${firstIdAt('evt', committedMs)}`);
  }

  /** Whether a cursor is of another log than this one, such as that of before a backup was restored. */
  async isForeign(cursor: string, steadyMs: number): Promise<boolean> {
    if (!this.#drawsPositions) return timeOfCursor(cursor) > steadyMs + COMMIT_MS;
    const { dialect, connection } = this.#reader;
    // Not the horizon, which differs between nodes.
    return parseCursor(cursor).position > (await dialect.log.newest(connection));
  }

  /** Returns the cursor, or that of the horizon if events before it may be invisible still. */
  async visible(cursor: string): Promise<string> {
    if (!this.#drawsPositions) return cursor;
    const horizon = await this.#readHorizon();
    const { position, eventId } = parseCursor(cursor);
    return position <= horizon ? cursor : this.#epochs.mark(`${horizon}.${eventId}`);
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
      .where('account', '=', accountNumber(accountId))
      .where('position', '>=', await positionAt(this.#reader, steadyMs))
      .where('event_id', '>=', firstIdAt('evt', steadyMs))
      .orderBy('position')
      .limit(1)
      .executeTakeFirst();
    return row && this.before(row);
  }

  /** Returns the cursor before an event. */
  before({ event_id, position }: { readonly event_id: string; readonly position: number }): string {
    return this.#cursorOf({ event_id: idBefore(event_id), position: position - 1 });
  }

  /** Returns the cursor after an event. */
  after({ event_id, position }: { readonly event_id: string; readonly position: number }): string {
    return this.#cursorOf({ event_id, position });
  }

  get #drawsPositions(): boolean {
    return this.#reader.dialect.log.drawsPositions;
  }

  /**
   * Within an epoch, the horizon never moves back: a writer that delays it later draws positions after the earlier
   * horizon.
   */
  async #readHorizon(): Promise<number> {
    const { dialect, connection } = this.#reader;
    const state = await dialect.log.state(connection);
    await this.#epochs.observe(state);
    const isSame = this.#epoch === this.#epochs.current;
    this.#epoch = this.#epochs.current;
    this.#horizon = isSame ? Math.max(this.#horizon, state.horizon) : state.horizon;
    return this.#horizon;
  }

  #cursorOf({ position, event_id: eventId }: Place): string {
    return this.#epochs.mark(`${position}.${eventId}`);
  }

  #upTo(horizon: number, accountId: string) {
    return this.#reader.kysely
      .selectFrom('events')
      .select(['event_id', 'position'])
      .where('account', '=', accountNumber(accountId))
      .where('position', '<=', horizon);
  }
}

export function isCursor(text: string): boolean {
  return /^\d{1,19}\.evt_[0-9A-Z]{26}(\.[0-9a-f]{8})?$/.test(text);
}

/** The later one of two cursors. */
export const laterOf = (a: string, b: string): string => (isBefore(a, b) ? b : a);

/** The earlier one of two cursors. */
export const earlierOf = (a: string, b: string): string => (isBefore(b, a) ? b : a);

/** The steady time of a cursor. */
export const timeOfCursor = (cursor: string): number => timeOfId(parseCursor(cursor).eventId);
