import { type Kysely, sql } from 'kysely';
import type { Clock } from '../clock.ts';
import type { Cluster } from '../cluster/cluster.ts';
import type { Database } from '../db/database.ts';
import { query } from '../db/query.ts';
import type { MessageRow, Schema } from '../db/schema.ts';
import type { Log } from '../log.ts';
import { type SessionRef, touchChat } from '../messages/store.ts';

/** Messages that wait for their time. Each is queued when it comes. */
export interface Schedule {
  start(): void;
  stop(): void;
  /** Queues what is due, and sets the timer to what is next: something has changed. */
  plan(): Promise<void>;
  /**
   * Takes a scheduled message back.
   * @returns whether it was still scheduled
   */
  cancel(row: MessageRow): Promise<boolean>;
}

const AT_ONCE = 100;
/** Timers end at some 24 days, and clocks are set: the schedule is looked at again at least this often. */
const EVERY_MS = 60_000;
const RETRY_MS = 1000;

/** @param onQueued a message of this session is queued now: it is to go out */
export function createSchedule({
  database,
  cluster,
  clock,
  log,
  onQueued,
}: {
  database: Database;
  cluster: Cluster;
  clock: Clock;
  log: Log;
  onQueued: (session: SessionRef) => void;
}): Schedule {
  let isRunning = false;
  let isPlanning = false;
  let mustPlan = false;
  let cancelTimer = () => {};

  async function plan(): Promise<void> {
    mustPlan = true;
    if (isPlanning) return;
    isPlanning = true;
    while (mustPlan && isRunning) {
      mustPlan = false;
      cancelTimer();
      const nextAt = await releaseDue().catch((error) => {
        log.error({ err: error }, 'sending what was scheduled failed; trying again');
        return clock.now() + RETRY_MS;
      });
      if (nextAt <= clock.now()) mustPlan = true;
      else if (isRunning) cancelTimer = clock.after(nextAt - clock.now(), () => void plan());
    }
    isPlanning = false;
  }

  /** @returns when to look again */
  async function releaseDue(): Promise<number> {
    const { reader } = database;
    const { nodeId } = cluster;
    const due = await dueMessages.all(reader, { nodeId, now: clock.now(), limit: AT_ONCE });
    for (const row of due) await release(row);
    const next = await nextScheduled.first(reader, { nodeId });
    return Math.min(next?.scheduled_at ?? Number.POSITIVE_INFINITY, clock.now() + EVERY_MS);
  }

  /** A scheduled message is queued, and goes out when its session is connected, now or later. */
  async function release(row: MessageRow): Promise<void> {
    const { account_id: accountId, session_id: sessionId, message_id: messageId } = row;
    const now = clock.now();
    const isDue = await database.commit(async (tx) => {
      if ((await markQueued.run(tx, { accountId, messageId, now })) === 0) return false;
      await touchChat(tx, row, now);
      return true;
    }, sessionId);
    if (isDue) onQueued({ accountId, sessionId });
  }

  async function cancel({ account_id: accountId, session_id: sessionId, message_id: messageId }: MessageRow) {
    const now = clock.now();
    return (await database.commit((tx) => markCancelled.run(tx, { accountId, messageId, now }), sessionId)) === 1;
  }

  cluster.signals.on('schedule', () => void plan());
  cluster.signals.onGap(() => void plan());

  return {
    start() {
      isRunning = true;
      void plan();
    },
    stop() {
      isRunning = false;
      cancelTimer();
    },
    plan,
    cancel,
  };
}

// As a literal, for the partial index is for this and no other.
const isScheduled = sql.lit('scheduled');

/** What is scheduled and for this node to release: of sessions that it has, or nobody. */
const scheduled = (db: Kysely<Schema>, p: { nodeId: string }) =>
  db
    .selectFrom('messages as m')
    .innerJoin('sessions as s', 's.session_id', 'm.session_id')
    .where('m.status', '=', isScheduled)
    .where((eb) => eb.or([eb('s.lease_owner', 'is', null), eb('s.lease_owner', '=', p.nodeId)]))
    .orderBy('m.scheduled_at');

const dueMessages = query((db, p: { nodeId: string; now: number; limit: number }) =>
  scheduled(db, p).selectAll('m').where('m.scheduled_at', '<=', p.now).orderBy('m.message_id').limit(p.limit),
);

const nextScheduled = query((db, p: { nodeId: string }) => scheduled(db, p).select('m.scheduled_at').limit(1));

const markQueued = query((db, p: { accountId: string; messageId: string; now: number }) =>
  db
    .updateTable('messages')
    .set({ status: 'queued', timestamp: p.now })
    .where('account_id', '=', p.accountId)
    .where('message_id', '=', p.messageId)
    .where('status', '=', 'scheduled'),
);

const markCancelled = query((db, p: { accountId: string; messageId: string; now: number }) =>
  db
    .updateTable('messages')
    .set({ status: 'failed', error: 'Cancelled before it was sent', failed_at: p.now })
    .where('account_id', '=', p.accountId)
    .where('message_id', '=', p.messageId)
    .where('status', '=', 'scheduled'),
);
