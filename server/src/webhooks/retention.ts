import type { Clock } from '../clock.ts';
import type { Database } from '../db/database.ts';
import { firstIdAt } from '../ids.ts';
import type { Log } from '../log.ts';
import type { Metrics } from '../metrics.ts';

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

/**
 * Keeps the database from growing for ever. Deliveries that waited longer than `heldDays` expire and stay listed;
 * events, deliveries and attempts older than `eventDays` go, except what is still pending.
 */
export function createRetention({
  database,
  clock,
  log,
  metrics,
  eventDays,
  heldDays,
}: {
  database: Database;
  clock: Clock;
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
    const now = clock.now();
    const expired = await repeat(() => expireHeld(now - heldDays * DAY_MS, now));
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
        .where('minute', '<', now - FIGURES_DAYS * DAY_MS)
        .execute();
    });
    const { reclaim } = reader.dialect;
    if (pruned > 0 && reclaim !== undefined) await commit(({ connection }) => connection.query(reclaim, []));
    return { expired, pruned };
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

  function expireHeld(before: number, now: number): Promise<number> {
    return commit(async ({ kysely }) => {
      const old = await kysely
        .selectFrom('webhooks as w')
        .innerJoin('deliveries as d', 'd.webhook_id', 'w.webhook_id')
        .select(['d.account_id', 'd.delivery_id'])
        .where('d.state', '=', 'pending')
        // A held delivery is due since it was made; the index of pending rows is in this order.
        .where('d.due_at', '<', before)
        .where('d.created_at', '<', before)
        .limit(CHUNK)
        .execute();
      for (const { account_id, delivery_id } of old) {
        await kysely
          .updateTable('deliveries')
          .set({ state: 'expired', settled_at: now, last_message: `It was held for more than ${heldDays} days` })
          .where('account_id', '=', account_id)
          .where('delivery_id', '=', delivery_id)
          .where('state', '=', 'pending')
          .execute();
      }
      return old.length;
    });
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
          if (expired + pruned > 0) log.info({ expired, pruned }, 'retention');
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
