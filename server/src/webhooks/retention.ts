import { type Kysely, sql } from 'kysely';
import type { Clock } from '../clock.ts';
import type { Database } from '../db/database.ts';
import { query } from '../db/query.ts';
import type { Schema } from '../db/schema.ts';
import { firstIdAt } from '../ids.ts';
import type { Log } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import type { SteadyClock } from '../steadyClock.ts';
import { readLanes } from './queue.ts';

export interface Retention {
  start(): void;
  stop(): Promise<void>;
  /** Does one round now: expires what was held too long and prunes what is older than the retention. */
  run(): Promise<{ expired: number; pruned: number }>;
}

const DAY_MS = 24 * 60 * 60 * 1000;
const EVERY_MS = 10 * 60 * 1000;
/** Rows per transaction: some milliseconds, between which everybody else gets a turn. */
const CHUNK = 500;
const FIGURES_DAYS = 8;
/** Of merging the search index in one round, some milliseconds each. */
const MOST_STEPS = 5000;

/**
 * Keeps the database from growing for ever. Deliveries that waited longer than `heldDays` expire and stay listed;
 * events, deliveries and attempts older than `eventDays` go, except what is still pending.
 */
export function createRetention({
  database,
  clock,
  steady,
  log,
  metrics,
  eventDays,
  heldDays,
}: {
  database: Database;
  clock: Clock;
  /** What ages are measured by, so that a clock that is set removes nothing early. */
  steady: SteadyClock;
  log: Log;
  metrics: Metrics;
  eventDays: number;
  heldDays: number;
}): Retention {
  const { reader, commit } = database;
  let cancel = () => {};
  let isStopped = false;
  let running = Promise.resolve();

  async function run() {
    const now = steady.now();
    const expired = await expireHeld(now - heldDays * DAY_MS);
    metrics.countSettled('expired', expired);
    let pruned = 0;
    for (const accountId of await accountIds()) {
      if (isStopped) break;
      pruned += await repeat(() => pruneDeliveries(accountId, now - eventDays * DAY_MS));
      pruned += await repeat(() => pruneEvents(accountId, now - eventDays * DAY_MS));
    }
    await commit(async ({ kysely }) => {
      await kysely
        .deleteFrom('idempotency_keys')
        .where('created_at', '<', now - DAY_MS)
        .execute();
      await kysely
        .deleteFrom('webhook_minutes')
        .where('minute', '<', clock.now() - FIGURES_DAYS * DAY_MS)
        .execute();
    });
    const { reclaim } = reader.dialect;
    await purgeWords();
    if (pruned > 0 && reclaim !== undefined) await commit(({ connection }) => connection.query(reclaim, []));
    database.trimLog();
    return { expired, pruned };
  }

  /** Words of deleted messages leave the search index. */
  async function purgeWords(): Promise<void> {
    const { purge } = reader.dialect.search;
    if (purge === undefined) return;
    for (let steps = 0; steps < MOST_STEPS && !isStopped; steps++) {
      if ((await reader.connection.query(purge.isDue, [])).rows.length === 0) return;
      await commit(({ connection }) => connection.query(purge.step, []));
    }
  }

  async function repeat(step: () => Promise<number>): Promise<number> {
    let total = 0;
    for (;;) {
      const done = await step();
      total += done;
      if (done < CHUNK || isStopped) return total;
    }
  }

  async function accountIds(): Promise<string[]> {
    const rows = await reader.kysely.selectFrom('accounts').select('account_id').execute();
    return rows.map(({ account_id }) => account_id);
  }

  async function expireHeld(before: number): Promise<number> {
    let expired = 0;
    for (const { webhook_id } of await readLanes(reader)) {
      expired += await repeat(() =>
        commit((tx) =>
          expirePending.run(tx, {
            webhookId: webhook_id,
            before,
            firstKept: firstIdAt('dlv', before),
            limit: CHUNK,
            now: clock.now(),
            reason: `It was held for more than ${heldDays} days`,
          }),
        ),
      );
    }
    return expired;
  }

  function pruneDeliveries(accountId: string, before: number): Promise<number> {
    return commit(async ({ kysely }) => {
      const old = await kysely
        .selectFrom('deliveries')
        .select('delivery_id')
        .where('account_id', '=', accountId)
        .where('delivery_id', '<', firstIdAt('dlv', before))
        .where('state', '!=', 'pending')
        .limit(CHUNK)
        .execute();
      const ids = old.map(({ delivery_id }) => delivery_id);
      if (ids.length === 0) return 0;
      for (const table of ['attempts', 'deliveries'] as const) {
        await kysely.deleteFrom(table).where('account_id', '=', accountId).where('delivery_id', 'in', ids).execute();
      }
      return ids.length;
    });
  }

  function pruneEvents(accountId: string, before: number): Promise<number> {
    return commit(async ({ kysely }) => {
      // What is left of old deliveries is pending: a replay, say. Their events stay with them.
      const needed = kysely
        .selectFrom('deliveries')
        .select('event_id')
        .where('account_id', '=', accountId)
        .where('delivery_id', '<', firstIdAt('dlv', before + 60_000));
      const old = await kysely
        .selectFrom('events')
        .select('event_id')
        .where('account_id', '=', accountId)
        .where('event_id', '<', firstIdAt('evt', before))
        .where('event_id', 'not in', needed)
        .limit(CHUNK)
        .execute();
      const ids = old.map(({ event_id }) => event_id);
      if (ids.length === 0) return 0;
      await kysely.deleteFrom('events').where('account_id', '=', accountId).where('event_id', 'in', ids).execute();
      return ids.length;
    });
  }

  function schedule(): void {
    cancel = clock.after(EVERY_MS, () => {
      running = run().then(
        ({ expired, pruned }) => {
          if (expired + pruned > 0) log.info({ expired, pruned }, 'removed expired events');
        },
        (error) => log.error({ err: error }, 'retention failed; trying again later'),
      );
      void running.then(() => !isStopped && schedule());
    });
  }

  return {
    start: schedule,
    async stop() {
      isStopped = true;
      cancel();
      await running;
    },
    run,
  };
}

interface HeldRange {
  webhookId: string;
  before: number;
  firstKept: string;
  limit: number;
}

/** The heads of a lane: a held delivery is due since it was stored, or since its retry was due. */
const heldSince = (db: Kysely<Schema>, { webhookId, before, firstKept, limit }: HeldRange) => {
  const head = () =>
    db
      .selectFrom('deliveries')
      .select('delivery_id')
      .where('webhook_id', '=', webhookId)
      // As a literal, for the partial index.
      .where('state', '=', sql.lit('pending' as const))
      .orderBy('due_at')
      .orderBy('position')
      .orderBy('delivery_id')
      .limit(limit);
  const ofEither = db
    .selectFrom(head().where(sql<boolean>`due_at = 0`).as('fresh'))
    .select('delivery_id')
    .unionAll(
      db.selectFrom(head().where(sql<boolean>`due_at > 0 and due_at < ${before}`).as('retries')).select('delivery_id'),
    );
  return db.selectFrom(ofEither.as('head')).select('delivery_id').where('delivery_id', '<', firstKept);
};

const expirePending = query((db, p: HeldRange & { now: number; reason: string }) =>
  db
    .updateTable('deliveries')
    .set({ state: 'expired', settled_at: p.now, last_message: p.reason })
    .where('account_id', '=', (eb) =>
      eb.selectFrom('webhooks').select('account_id').where('webhook_id', '=', p.webhookId),
    )
    .where('delivery_id', 'in', heldSince(db, p))
    .where('state', '=', sql.lit('pending' as const)),
);
