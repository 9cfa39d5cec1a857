import type { Clock } from '../clock.ts';
import { BEGINNING, type EventLog, isBefore, type LoggedEvent } from './eventLog.ts';
import { createFeed, type Feed } from './feed.ts';

/** How long an event may stay unseen when its announcement was missed. */
const POLL_MS = 1000;
const BATCH = 100;
/** What a tail keeps. A stream that is further behind reads the log by itself. */
const MOST_EVENTS = 256;
const MOST_CHARACTERS = 1024 * 1024;

interface TailDeps {
  readonly eventLog: EventLog;
  /** Announces that there are new events in the log. */
  readonly feed: Feed;
  readonly clock: Clock;
}

/**
 * The end of an account's event log in memory. It is read once for all streams of the account at this node, and each
 * takes from it at its own pace: nothing is kept for a slow one.
 */
class EventTail {
  readonly #accountId: string;
  readonly #deps: TailDeps;
  /** Announces that there are new events in the tail. */
  readonly #news: Feed;
  readonly #stopping = new AbortController();
  #events: LoggedEvent[] = [];
  #characters = 0;
  /** The tail has every event between the two. Undefined until the log has been read. */
  #floor: string | undefined;
  #newest: string | undefined;

  constructor(accountId: string, deps: TailDeps) {
    this.#accountId = accountId;
    this.#deps = deps;
    this.#news = createFeed(deps.clock);
  }

  /** Behind which cursor it has everything. */
  get floor(): string | undefined {
    return this.#floor;
  }

  start(): void {
    void this.#follow();
  }

  stop(): void {
    this.#stopping.abort();
  }

  /** The events after a cursor, oldest first; undefined when it does not reach back so far. */
  after(cursor: string): readonly LoggedEvent[] | undefined {
    if (this.#floor === undefined || isBefore(cursor, this.#floor)) return undefined;
    let from = this.#events.length;
    while (from > 0 && isBefore(cursor, this.#events[from - 1]?.cursor ?? '')) from--;
    return this.#events.slice(from);
  }

  /** Resolves when it has got new events, after `timeoutMs`, or when the signal is aborted. */
  next(timeoutMs: number, signal: AbortSignal): Promise<void> {
    return this.#news.next(this.#accountId, timeoutMs, signal);
  }

  async #follow(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      const hasMore = new AbortController();
      // Before reading, so that what comes between reading and waiting is not slept through.
      const announced = this.#deps.feed.next(this.#accountId, POLL_MS, AbortSignal.any([signal, hasMore.signal]));
      const count = await this.#readOn().catch(() => 0); // again with the next look
      if (count === BATCH) hasMore.abort();
      await announced;
    }
  }

  async #readOn(): Promise<number> {
    const { eventLog } = this.#deps;
    this.#newest ??= (await eventLog.latest(this.#accountId)) ?? BEGINNING;
    this.#floor ??= this.#newest;
    const events = await eventLog.read(this.#accountId, this.#newest, undefined, BATCH);
    for (const event of events) this.#add(event);
    if (events.length > 0) this.#news.announce(this.#accountId);
    return events.length;
  }

  #add(event: LoggedEvent): void {
    this.#events.push(event);
    this.#characters += event.body.length;
    this.#newest = event.cursor;
    while (this.#events.length > MOST_EVENTS || this.#characters > MOST_CHARACTERS) {
      const oldest = this.#events.shift();
      if (oldest === undefined) return;
      this.#characters -= oldest.body.length;
      this.#floor = oldest.cursor;
    }
  }
}

export type { EventTail };

/** The tails of the accounts that have streams open at this node. */
export class EventTails {
  readonly #deps: TailDeps;
  readonly #open = new Map<string, { readonly tail: EventTail; streams: number }>();

  constructor(deps: TailDeps) {
    this.#deps = deps;
  }

  /** Call `leave` once for each. */
  join(accountId: string): EventTail {
    const known = this.#open.get(accountId);
    if (known !== undefined) {
      known.streams++;
      return known.tail;
    }
    const tail = new EventTail(accountId, this.#deps);
    this.#open.set(accountId, { tail, streams: 1 });
    tail.start();
    return tail;
  }

  leave(accountId: string): void {
    const known = this.#open.get(accountId);
    if (known === undefined || --known.streams > 0) return;
    known.tail.stop();
    this.#open.delete(accountId);
  }
}
