import { setImmediate } from 'node:timers/promises';
import { type RawBuilder, sql } from 'kysely';
import type { Clock } from '../clock.ts';
import type { Tx } from '../db/commit.ts';
import type { Database } from '../db/database.ts';
import { query } from '../db/query.ts';
import { firstIdAt } from '../ids.ts';
import type { Log } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import type { SteadyClock } from '../steadyClock.ts';
import { ownerOfPending, pendingOf, readLanes } from './queue.ts';
import { releaseSome } from './strictOrder.ts';

interface Options {
  readonly database: Database;
  readonly clock: Clock;
  /** Measures ages, so that setting the clock of the machine deletes nothing early. */
  readonly steady: SteadyClock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly eventDays: number;
  readonly heldDays: number;
  /** Deletes a chunk of the account's tool calls from before a time, and returns their number. */
  readonly pruneToolCalls?: (tx: Tx, accountId: string, before: number) => Promise<number>;
  /** Deletes expired records of other modules. */
  readonly pruneExpiredRecords?: (tx: Tx, now: number) => Promise<void>;
}

const DAY_MS = 24 * 60 * 60 * 1000;
const EVERY_MS = 10 * 60 * 1000;
/** Rows per transaction, which takes some milliseconds; other writes go in between. */
const CHUNK = 500;
const STATS_DAYS = 8;
/** Steps of merging the search index in one round, some milliseconds each. */
const MAX_STEPS = 5000;

/**
 * Limits the growth of the database. Deliveries that waited longer than `heldDays` expire and stay listed; events,
 * deliveries and attempts older than `eventDays` are deleted, except pending ones.
 */
export class Retention {
  readonly #options: Options;
  readonly #database: Database;
  #cancel = () => {};
  #isStopped = false;
  #running = Promise.resolve();

  constructor(options: Options) {
    this.#options = options;
    this.#database = options.database;
  }

  start(): void {
    this.#cancel();
    this.#cancel = this.#options.clock.after(EVERY_MS, () => {
      this.#running = this.#runLogged();
    });
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancel();
    await this.#running;
  }

  async run(): Promise<{ expired: number; pruned: number }> {
    const { steady, metrics, eventDays, heldDays, pruneToolCalls = async () => 0 } = this.#options;
    const now = steady.now();
    const expired = await this.#expireHeld(now - heldDays * DAY_MS);
    metrics.settled.inc({ state: 'expired' }, expired);
    let pruned = 0;
    const accounts = await this.#database.reader.kysely.selectFrom('accounts').select('account_id').execute();
    for (const { account_id: accountId } of accounts) {
      if (this.#isStopped) break;
      pruned += await this.#repeat((tx) => pruneDeliveries(tx, accountId, now - eventDays * DAY_MS));
      pruned += await this.#repeat((tx) => pruneEvents(tx, accountId, now - eventDays * DAY_MS));
      pruned += await this.#repeat((tx) => pruneToolCalls(tx, accountId, now - eventDays * DAY_MS));
    }
    await this.#pruneCounters(now);
    await this.#purgeWords();
    const { reader, commit } = this.#database;
    const { reclaim } = reader.dialect;
    if (pruned > 0 && reclaim !== undefined) await commit(({ connection }) => connection.query(reclaim, []));
    this.#database.trimLog();
    return { expired, pruned };
  }

  async #runLogged(): Promise<void> {
    const { log } = this.#options;
    try {
      const { expired, pruned } = await this.run();
      if (expired + pruned > 0) log.info({ expired, pruned }, 'removed expired events');
    } catch (error) {
      log.error({ err: error }, 'retention failed; trying again later');
    }
    if (!this.#isStopped) this.start();
  }

  async #expireHeld(before: number): Promise<number> {
    const { clock, heldDays } = this.#options;
    const reason = `It was held for more than ${heldDays} days`;
    let expired = 0;
    for (const { webhook_id: webhookId } of await readLanes(this.#database.reader)) {
      const held = { webhookId, before, firstKept: firstIdAt('dlv', before), limit: CHUNK, reason };
      const some = await this.#repeat((tx) => expireHeld.run(tx, { ...held, now: clock.now() }));
      if (some > 0) await this.#releaseBehind(webhookId);
      expired += some;
    }
    return expired;
  }

  /** The expired deliveries may have held later ones back. */
  async #releaseBehind(webhookId: string): Promise<void> {
    const accountId = await ownerOfPending(this.#database.reader, webhookId);
    if (accountId === undefined) return;
    const piece = () => this.#database.commit((tx) => releaseSome(tx, { accountId, webhookId }));
    while (!this.#isStopped && !(await piece())) await setImmediate();
  }

  async #pruneCounters(now: number): Promise<void> {
    await this.#database.commit(async (tx) => {
      const { kysely } = tx;
      await this.#options.pruneExpiredRecords?.(tx, this.#options.clock.now());
      await kysely
        .deleteFrom('idempotency_keys')
        .where('created_at', '<', now - DAY_MS)
        .execute();
      await kysely
        .deleteFrom('webhook_minutes')
        .where('minute', '<', this.#options.clock.now() - STATS_DAYS * DAY_MS)
        .execute();
      // A day more, because the clocks of nodes differ.
      const day = Math.floor(this.#options.clock.now() / DAY_MS) - 1;
      await kysely.deleteFrom('key_sends').where('day', '<', day).execute();
    });
  }

  async #purgeWords(): Promise<void> {
    const { reader, commit } = this.#database;
    const { purge } = reader.dialect.search;
    if (purge === undefined) return;
    for (let steps = 0; steps < MAX_STEPS && !this.#isStopped; steps++) {
      if ((await reader.connection.query(purge.isDue, [])).rows.length === 0) return;
      await commit(({ connection }) => connection.query(purge.step, []));
    }
  }

  /** Repeats a step, each in its own transaction, until it changes less than a chunk. */
  async #repeat(step: (tx: Tx) => Promise<number>): Promise<number> {
    let total = 0;
    for (;;) {
      const done = await this.#database.commit(step);
      total += done;
      if (done < CHUNK || this.#isStopped) return total;
    }
  }
}

async function pruneDeliveries({ kysely }: Tx, accountId: string, before: number): Promise<number> {
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
}

async function pruneEvents({ kysely }: Tx, accountId: string, before: number): Promise<number> {
  // Old deliveries can still be pending, for example after a replay. Their events stay with them.
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
}

interface Held {
  webhookId: string;
  before: number;
  firstKept: string;
  limit: number;
  now: number;
  reason: string;
}

const expireHeld = query((db, p: Held) => {
  const oldest = (isOld: RawBuilder<boolean>) =>
    db
      .selectFrom(
        pendingOf(db, p)
          .select('d.delivery_id')
          .where(isOld)
          .orderBy('d.due_at')
          .orderBy('d.position')
          .orderBy('d.delivery_id')
          .limit(p.limit)
          .as('oldest'),
      )
      .select('delivery_id')
      .where('delivery_id', '<', p.firstKept);
  return db
    .updateTable('deliveries')
    .set({ state: 'expired', settled_at: p.now, reason: p.reason, held_behind: null })
    .where('account_id', '=', (eb) =>
      eb.selectFrom('webhooks').select('account_id').where('webhook_id', '=', p.webhookId),
    )
    .where(
      'delivery_id',
      'in',
      oldest(sql`d.due_at = 0`).unionAll(oldest(sql`d.due_at > 0 and d.due_at < ${p.before}`)),
    )
    .where('state', '=', sql.lit('pending' as const));
});
