import type { Kysely } from 'kysely';
import { eachOrThrow, KeyedQueue } from '../async.ts';
import type { Database } from '../db/database.ts';
import { messagesInOutbox } from '../db/outbox.ts';
import { query } from '../db/query.ts';
import type { MessageRow, Schema } from '../db/schema.ts';
import { chatOf } from '../messages/messages/outgoing.ts';
import type { NewRow, SessionRef } from '../messages/store.ts';
import { type Draft, numberOf, requireType, rowOf, storeCounted, storeOutgoing } from './draft.ts';
import type { SendQuota } from './quota.ts';
import type { SenderOptions } from './senderOptions.ts';
import { countWaiting, tooManyScheduled } from './waitingMessages.ts';

export interface ScheduledDraft extends Draft {
  readonly sendAt: number;
}

const BATCH = 100;
/** Timers are limited to some 24 days, and clocks get set, so the schedule is read at least this often. */
const EVERY_MS = 60_000;
const RETRY_MS = 1000;

/** Messages that wait for their time, and are queued when it comes. */
export class Schedule {
  readonly #options: SenderOptions;
  readonly #onQueued: (session: SessionRef) => void;
  /** Account → messages that are being stored. */
  readonly #reserved = new Map<string, number>();
  readonly #counting = new KeyedQueue();
  #isRunning = false;
  #isPlanning = false;
  #mustPlan = false;
  #cancelTimer = () => {};

  /** @param onQueued called when a message of the session has been queued */
  constructor(options: SenderOptions, onQueued: (session: SessionRef) => void) {
    this.#options = options;
    this.#onQueued = onQueued;
    const { signals } = options.cluster;
    signals.on('schedule', () => void this.plan());
    signals.on('gap', () => void this.plan());
  }

  start(): void {
    this.#isRunning = true;
    void this.plan();
  }

  stop(): void {
    this.#isRunning = false;
    this.#cancelTimer();
  }

  /**
   * @throws {AppError} `session_not_connected` if it was never linked, `not_found`, `not_supported`, `too_many`,
   * `quota_exceeded`
   */
  async add(session: SessionRef, drafts: readonly ScheduledDraft[], quota?: SendQuota): Promise<NewRow[]> {
    const leave = await this.#reserve(session.accountId, drafts.length);
    try {
      return await this.#store(session, drafts, quota);
    } finally {
      leave();
    }
  }

  /** @throws {AppError} `too_many` if the account can schedule no further message */
  async requireRoom({ accountId }: SessionRef): Promise<void> {
    const leave = await this.#reserve(accountId, 1);
    leave();
  }

  /** Makes every node look at the messages of a session that were scheduled. */
  changed({ sessionId }: SessionRef): void {
    void this.plan();
    this.#options.cluster.signals.send('schedule', sessionId);
  }

  /** Queues due messages, and sets the timer for the next ones. Call it when either may have changed. */
  async plan(): Promise<void> {
    const { clock, log } = this.#options;
    this.#mustPlan = true;
    if (this.#isPlanning) return;
    this.#isPlanning = true;
    while (this.#mustPlan && this.#isRunning) {
      this.#mustPlan = false;
      this.#cancelTimer();
      const nextAt = await this.#queueDue().catch((error) => {
        log.error({ err: error }, 'failed to queue scheduled messages; trying again');
        return clock.now() + RETRY_MS;
      });
      if (nextAt <= clock.now()) this.#mustPlan = true;
      else if (this.#isRunning) this.#cancelTimer = clock.after(nextAt - clock.now(), () => void this.plan());
    }
    this.#isPlanning = false;
  }

  /**
   * Reserves room within the account's limit. Concurrent calls count one by one, so that each sees the reservations of
   * those before it.
   * @returns a function to call once the messages are stored
   * @throws {AppError} `too_many`
   */
  #reserve(accountId: string, added: number): Promise<() => void> {
    const { database, maxScheduled } = this.#options;
    const reserved = () => this.#reserved.get(accountId) ?? 0;
    return this.#counting.run(accountId, async () => {
      const before = reserved(); // those that are stored before the next line reads are counted twice, not left out
      const count = await countWaiting(database.reader, 'scheduled', accountId, maxScheduled);
      if (count + before + added > maxScheduled) throw tooManyScheduled(maxScheduled);
      this.#reserved.set(accountId, reserved() + added);
      return () => {
        const left = reserved() - added;
        if (left > 0) this.#reserved.set(accountId, left);
        else this.#reserved.delete(accountId);
      };
    });
  }

  async #store(session: SessionRef, drafts: readonly ScheduledDraft[], quota?: SendQuota): Promise<NewRow[]> {
    const { database, live, clock } = this.#options;
    const phoneNumber = await numberOf(database, session);
    const connected = live.find(session);
    const rows: NewRow[] = [];
    for (const draft of drafts) {
      if (connected !== undefined) requireType(connected, draft.type);
      await chatOf(database.reader, session, draft.to); // throws if the session is not in the group
      const row = rowOf(session, phoneNumber, draft, {
        status: 'scheduled',
        timestamp: draft.sendAt,
        scheduled_at: draft.sendAt,
        created_at: clock.now(),
      });
      rows.push(row);
    }
    const earlier = quota === undefined ? await storeEach(database, rows) : await storeCounted(database, rows, quota);
    this.changed(session);
    return rows.map((row, index) => earlier[index] ?? row);
  }

  /** @returns the time of day of the next check */
  async #queueDue(): Promise<number> {
    const { database, cluster, clock } = this.#options;
    const { nodeId } = cluster;
    const due = await dueMessages.all(database.reader, { nodeId, now: clock.now(), limit: BATCH });
    await eachOrThrow(due, (row) => this.#queue(row));
    const next = await nextScheduled.first(database.reader, { nodeId });
    return Math.min(next?.due_at ?? Number.POSITIVE_INFINITY, clock.now() + EVERY_MS);
  }

  async #queue(row: MessageRow): Promise<void> {
    const { account_id: accountId, session_id: sessionId } = row;
    if (await this.#options.inbox.queue(row)) this.#onQueued({ accountId, sessionId });
  }
}

/** In a transaction each, so that many messages do not hold up other writes. */
async function storeEach(database: Database, rows: readonly NewRow[]): Promise<(MessageRow | undefined)[]> {
  const earlier: (MessageRow | undefined)[] = [];
  for (const row of rows) earlier.push(await storeOutgoing(database, row));
  return earlier;
}

/** Scheduled messages that this node queues: those of sessions that it owns, or that have no owner. */
const scheduled = (db: Kysely<Schema>, p: { nodeId: string }) =>
  messagesInOutbox(db, 'scheduled')
    .innerJoin('sessions as s', 's.session_id', 'o.session_id')
    .where('o.due_at', 'is not', null) // for the planners, which find the index by it
    .where((eb) => eb.or([eb('s.lease_owner', 'is', null), eb('s.lease_owner', '=', p.nodeId)]))
    .orderBy('o.due_at');

const dueMessages = query((db, p: { nodeId: string; now: number; limit: number }) =>
  scheduled(db, p).selectAll('m').where('o.due_at', '<=', p.now).orderBy('o.message_id').limit(p.limit),
);

const nextScheduled = query((db, p: { nodeId: string }) => scheduled(db, p).select('o.due_at').limit(1));
