import type { Clock } from '../../clock.ts';
import type { AddFields } from '../../events/addedFields.ts';
import { includes } from '../../events/addedFields.ts';
import type { EventLog, LoggedEvent } from './eventLog.ts';
import { Feed } from './feed.ts';
import { isBefore } from './logEpochs.ts';

/** Delay of an event whose announcement was missed. */
const POLL_MS = 1000;
const BATCH = 100;
/** Limits of a tail. A stream that is further behind reads the log by itself. */
const MAX_EVENTS = 256;
const MAX_CHARACTERS = 1024 * 1024;

interface TailDeps {
  readonly eventLog: EventLog;
  readonly feed: Feed;
  readonly clock: Clock;
  readonly addFields: AddFields;
}

/**
 * The end of an account's event log in memory, read once for all streams of the account on this node. Each stream reads
 * the tail at its own pace, and nothing is kept for a slow one.
 */
export class EventTail {
  readonly #accountId: string;
  readonly #deps: TailDeps;
  /** Announces new events of the tail. */
  readonly #feed: Feed;
  readonly #stopping = new AbortController();
  #events: LoggedEvent[] = [];
  #characters = 0;
  /** The tail has every event between these cursors. Undefined until the log has been read. */
  #floor: string | undefined;
  #newest: string | undefined;

  constructor(accountId: string, deps: TailDeps) {
    this.#accountId = accountId;
    this.#deps = deps;
    this.#feed = new Feed(deps.clock);
  }

  /** The cursor after which the tail has every event. */
  get floor(): string | undefined {
    return this.#floor;
  }

  start(): void {
    void this.#follow();
  }

  stop(): void {
    this.#stopping.abort();
  }

  /** Returns the events after a cursor, oldest first; undefined if the tail does not reach back that far. */
  after(cursor: string): readonly LoggedEvent[] | undefined {
    if (this.#floor === undefined || isBefore(cursor, this.#floor)) return undefined;
    let from = this.#events.length;
    while (from > 0 && isBefore(cursor, this.#events[from - 1]?.cursor ?? '')) from--;
    return this.#events.slice(from);
  }

  /** Resolves when there may be new events, after `timeoutMs`, or when the signal is aborted. */
  next(timeoutMs: number, signal: AbortSignal): Promise<void> {
    return this.#feed.next(this.#accountId, timeoutMs, signal);
  }

  async #follow(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      const hasMore = new AbortController();
      // Listens before it reads, so that no event between reading and waiting is missed.
      const announced = this.#deps.feed.next(this.#accountId, POLL_MS, AbortSignal.any([signal, hasMore.signal]));
      const count = await this.#readNewer().catch(() => 0); // tries again in the next round
      if (count === BATCH) hasMore.abort();
      await announced;
    }
  }

  async #readNewer(): Promise<number> {
    const { eventLog, addFields } = this.#deps;
    const isFirst = this.#floor === undefined;
    this.#newest ??= await eventLog.latest(this.#accountId);
    const read = await eventLog.read(this.#accountId, this.#newest, BATCH);
    const events = await addFields(this.#accountId, read, includes);
    this.#floor ??= this.#newest;
    for (const event of events) this.#add(event);
    // The first time also without events: a stream may have read the log before the tail began.
    if (isFirst || events.length > 0) this.#feed.announce(this.#accountId);
    return events.length;
  }

  #add(event: LoggedEvent): void {
    this.#events.push(event);
    this.#characters += event.body.length;
    this.#newest = event.cursor;
    while (this.#events.length > MAX_EVENTS || this.#characters > MAX_CHARACTERS) {
      const oldest = this.#events.shift();
      if (oldest === undefined) return;
      this.#characters -= oldest.body.length;
      this.#floor = oldest.cursor;
    }
  }
}

/** The tails of the accounts that have streams open at this node. */
export class EventTails {
  readonly #deps: TailDeps;
  readonly #open = new Map<string, OpenTail>();

  constructor(deps: TailDeps) {
    this.#deps = deps;
  }

  /**
   * Returns the tail of an account, which starts with its first stream.
   * @returns a function to call once the stream has ended
   */
  join(accountId: string): { readonly tail: EventTail; readonly leave: () => void } {
    let open = this.#open.get(accountId);
    // After a restore or a failover, the tail does not continue.
    if (open === undefined || open.ended.aborted) {
      open = { tail: new EventTail(accountId, this.#deps), ended: this.#deps.eventLog.ended, streams: 0 };
      this.#open.set(accountId, open);
      open.tail.start();
    }
    const joined = open;
    joined.streams++;
    const leave = () => {
      if (--joined.streams > 0) return;
      joined.tail.stop();
      if (this.#open.get(accountId) === joined) this.#open.delete(accountId);
    };
    return { tail: joined.tail, leave };
  }
}

interface OpenTail {
  readonly tail: EventTail;
  readonly ended: AbortSignal;
  streams: number;
}
