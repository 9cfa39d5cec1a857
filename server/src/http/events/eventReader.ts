import type { Caller } from '../../auth/authenticate.ts';
import type { Watch } from '../../auth/credentialWatches.ts';
import type { Clock } from '../../clock.ts';
import type { AddFields } from '../../events/addedFields.ts';
import { includes } from '../../events/addedFields.ts';
import { contractKinds, type EventKind } from '../../events/events.ts';
import { permissionFor, sessionsOf } from '../../invoke/operation.ts';
import type { Services } from '../../invoke/services.ts';
import { isFields } from '../../objects.ts';
import { listEvents, NOW, visibleBody, wantedKinds } from '../../operations/webhooks/events.ts';
import { type EventLog, type LoggedEvent, laterOf, timeOfCursor } from '../../webhooks/log/eventLog.ts';
import { type EventTail, EventTails } from '../../webhooks/log/eventTail.ts';
import { isBefore } from '../../webhooks/log/logEpochs.ts';

/** A connection that is silent for this long gets a sign of life. */
export const HEARTBEAT_MS = 15_000;
/** When a read of the log that failed is repeated. */
const RETRY_MS = 1000;
const BATCH = 100;
const DAY_MS = 24 * 60 * 60 * 1000;
/** A cursor of this age is renewed, long before the log is pruned. */
const OLD_MS = 60 * 60 * 1000;

type EventReadersDeps = Pick<
  Services,
  | 'authenticator'
  | 'waitingCalls'
  | 'feed'
  | 'eventLog'
  | 'filteredEventLog'
  | 'clock'
  | 'steady'
  | 'settings'
  | 'addFields'
> & { readonly stopping: AbortSignal };

interface Wanted {
  readonly caller: Caller;
  /** The secret of the caller's credential. */
  readonly credential: string;
  /** Starts with the next event if it is undefined. */
  readonly after: string | undefined;
  /** The event types of the query, unchecked. */
  readonly types: readonly string[] | undefined;
  /** Aborted when the client hangs up. */
  readonly gone: AbortSignal;
}

/**
 * Readers of event logs for clients that stay connected. All readers of an account share one tail of its log. A reader
 * that is far behind or slow reads the log by itself, at its own pace, so nothing piles up in memory.
 */
export class EventReaders {
  readonly #deps: EventReadersDeps;
  readonly #tails: EventTails;

  constructor(deps: EventReadersDeps) {
    this.#deps = deps;
    this.#tails = new EventTails(deps);
  }

  /**
   * Opens a reader, which ends with the credential, the server or the client. Close it in any case.
   * @throws {AppError} `validation_failed`, `too_many`
   */
  async open({ caller, credential, after, types, gone }: Wanted): Promise<EventReader> {
    const { authenticator, clock, addFields, eventLog, filteredEventLog, waitingCalls, stopping } = this.#deps;
    const { accountId } = caller;
    const wanted = wantedKinds(types);
    const resumed = after === undefined ? undefined : await eventLog.resume(after);
    const { ended } = eventLog;
    const from = resumed?.from ?? (await eventLog.latest(accountId));
    const sessionIds = sessionsOf({ caller });
    const end = waitingCalls.begin(accountId);
    const { tail, leave } = this.#tails.join(accountId);
    const watch = authenticator.watch(caller, credential, permissionFor(listEvents, caller.credential.permissions));
    return new EventReader({
      accountId,
      eventLog: isMostOfLog(wanted) && sessionIds === undefined ? eventLog : filteredEventLog,
      addFields,
      tail,
      clock,
      from,
      kinds: wanted,
      sessionIds,
      caller,
      truncated: resumed?.truncated ?? false,
      signal: AbortSignal.any([gone, stopping, watch.signal, ended]),
      watch,
      leave: () => {
        leave();
        end();
      },
    });
  }

  /** The moment of steady time before which the log may have been pruned. */
  oldestKept(): number {
    const { steady, settings } = this.#deps;
    return steady.now() - settings.eventRetentionDays * DAY_MS;
  }

  /** Returns the cursor, or one of this moment if it is old and no event has come after it. */
  async renewed(accountId: string, cursor: string): Promise<string> {
    const { steady, eventLog } = this.#deps;
    if (timeOfCursor(cursor) > steady.now() - OLD_MS) return cursor;
    const now = await eventLog.now(steady.now());
    return (await eventLog.read(accountId, cursor, 1)).length === 0 ? laterOf(cursor, now) : cursor;
  }
}

/** The usual event types are picked from reads of everything, because searching for them would find most of it. */
const isMostOfLog = (kinds: readonly EventKind[] | undefined) => kinds === undefined || kinds === contractKinds;

/** The event types in a query. */
export function eventTypesOf(query: unknown): string[] | undefined {
  return withTypeList(isFields(query) ? query : {}).events;
}

/** The cursor of a query; undefined for the next event. */
export function cursorOf(query: unknown): string | undefined {
  const { afterCursor } = query as { readonly afterCursor?: string };
  return afterCursor === NOW ? undefined : afterCursor;
}

/** The query with its event types as a list. */
export function withTypeList<T extends Readonly<Record<string, unknown>>>(query: T): T & { events?: string[] } {
  return query['events'] === undefined ? query : { ...query, events: listOf(query['events']) };
}

/** A list in a query: separated by commas, or as a repeated field. */
function listOf(value: unknown): string[] {
  return [value].flat().flatMap((part) => String(part).split(','));
}

interface Parts {
  readonly accountId: string;
  readonly eventLog: EventLog;
  readonly addFields: AddFields;
  readonly tail: EventTail;
  readonly clock: Clock;
  readonly from: string;
  readonly truncated: boolean;
  readonly kinds: readonly EventKind[] | undefined;
  readonly sessionIds: readonly string[] | undefined;
  readonly caller: Caller;
  readonly signal: AbortSignal;
  readonly watch: Watch;
  readonly leave: () => void;
}

interface Batch {
  readonly events: readonly LoggedEvent[];
  readonly hasMore: boolean;
}

/** The position of a client in the log, and its next events. */
export class EventReader {
  readonly #parts: Parts;
  #cursor: string;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#cursor = parts.from;
  }

  /** Resumes after what was read so far. */
  get cursor(): string {
    return this.#cursor;
  }

  /** Whether the log was restored or failed over since the client's cursor, so that the reader started before it. */
  get truncated(): boolean {
    return this.#parts.truncated;
  }

  /** Aborted when the reader has to end: by an `AppError` if its credential has ended. */
  get signal(): AbortSignal {
    return this.#parts.signal;
  }

  /** Call it once. */
  close(): void {
    this.#parts.watch.close();
    this.#parts.leave();
  }

  /**
   * Yields the next events as they happen, or none when it is time for a sign of life. Ends when the signal is aborted.
   * The tail announces all that a reader waits for, because a poll every second took 9 % of a core for 1,000 readers.
   */
  async *batches(): AsyncGenerator<readonly LoggedEvent[]> {
    const { tail, clock, signal } = this.#parts;
    let silentUntil = clock.elapsed() + HEARTBEAT_MS;
    while (!signal.aborted) {
      const wake = new AbortController();
      // Before reading, so that an event between reading and waiting is noticed.
      const nextEvent = tail.next(silentUntil - clock.elapsed(), AbortSignal.any([signal, wake.signal]));
      const next = await this.#read().catch(() => undefined);
      const events = next?.events ?? [];
      if (events.length > 0 || clock.elapsed() >= silentUntil) {
        yield events;
        silentUntil = clock.elapsed() + HEARTBEAT_MS;
      }
      if (next?.hasMore) wake.abort();
      if (next === undefined) clock.after(RETRY_MS, () => wake.abort());
      await nextEvent;
    }
  }

  async #read(): Promise<Batch> {
    const { events, hasMore } = await this.#readNext();
    const shown = events.map((event) => ({
      ...event,
      body: visibleBody(this.#parts, 'events', event.kind, event.body),
    }));
    return { events: shown, hasMore };
  }

  async #readNext(): Promise<Batch> {
    const { tail } = this.#parts;
    const shared = tail.after(this.#cursor);
    if (shared === undefined) return this.#readLog();
    this.#cursor = shared.at(-1)?.cursor ?? this.#cursor;
    return { events: shared.filter((event) => this.#isWanted(event)), hasMore: false };
  }

  #isWanted({ kind, sessionId }: LoggedEvent): boolean {
    const { kinds, sessionIds } = this.#parts;
    return (kinds?.includes(kind) ?? true) && (sessionIds?.includes(sessionId) ?? true);
  }

  async #readLog(): Promise<Batch> {
    const { accountId, eventLog, addFields, tail, kinds, sessionIds } = this.#parts;
    const { floor } = tail;
    const searched = isMostOfLog(kinds) ? undefined : kinds;
    const found = await eventLog.select(accountId, this.#cursor, { kinds: searched, sessionIds }, BATCH);
    const wanted = found.events.filter((event) => this.#isWanted(event));
    const events = await addFields(accountId, wanted, includes);
    this.#cursor = found.cursor ?? this.#cursor;
    const { hasMore } = found;
    // The log was read to its end, which includes everything up to the tail.
    const isAtTail = !hasMore && floor !== undefined;
    if (isAtTail && isBefore(this.#cursor, floor)) this.#cursor = floor;
    return { events, hasMore: hasMore || isAtTail };
  }
}
