import type { Clock } from '../../clock.ts';
import type { Tx } from '../../db/commit.ts';
import type { Database } from '../../db/database.ts';
import { Pace } from '../../db/pace.ts';
import { query } from '../../db/query.ts';
import type { WebhookTable } from '../../db/schema.ts';
import type { Deletions } from '../../jobs/deletions.ts';
import type { Log } from '../../log.ts';
import type { Engine } from '../lanes/engine.ts';
import { CREATION_MS, eventErrors } from '../lanes/subscription.ts';
import { toWebhook } from '../lanes/webhook.ts';
import { releaseSome } from '../queue/strictOrder.ts';
import { UnwantedDeliveries } from '../queue/unwanted.ts';
import type { CallbackVerifier } from './callbackVerifier.ts';
import { removeExpired } from './expiry.ts';
import { cancelLeft, removeRows } from './removal.ts';

interface Options {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly engine: Engine;
  readonly deletions: Deletions;
  readonly verifier: CallbackVerifier;
  /** Returns what a key may see; undefined if it no longer exists or may not read events. */
  readonly findAccess: (keyId: string) => Promise<Access | undefined>;
}

export interface Access {
  /** Undefined for all. */
  readonly sessionIds: readonly string[] | undefined;
}

/**
 * A subscription delivers nothing once it has expired or its key has ended, so this only tidies up. A webhook receives
 * events until it is removed.
 */
const EVERY_MS = 30_000;
const AT_ONCE = 100;

/**
 * Ends the subscriptions of MCP clients when they expire, or when their API key ends or is limited. The same job
 * removes expired webhooks.
 */
export class SubscriptionKeeper {
  readonly #options: Options;
  readonly #notices = new Set<Promise<void>>();
  readonly #reviews = new Map<string, Promise<void>>();
  #cancel = () => {};
  #isStopped = false;
  #running = Promise.resolve();

  constructor(options: Options) {
    this.#options = options;
  }

  start(): void {
    this.#cancel();
    this.#cancel = this.#options.clock.after(EVERY_MS, () => {
      this.#running = this.#sweepLogged();
    });
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancel();
    await this.#running;
    await Promise.all([...this.#reviews.values(), ...this.#notices]);
  }

  /**
   * Ends expired subscriptions, those of keys that have ended, and those that a dead node was creating. Several nodes
   * may do so at once.
   */
  async sweep(): Promise<number> {
    const { database, clock } = this.#options;
    const now = clock.now();
    let ended = 0;
    for (;;) {
      const expired = await expiredSubscriptions.all(database.reader, { now, limit: AT_ONCE });
      for (const row of expired) await this.end(row);
      const orphaned = await orphanedSubscriptions.all(database.reader, { now, limit: AT_ONCE });
      for (const row of orphaned) await this.end(row, REVOKED);
      const before = now - CREATION_MS;
      const unfinished = await unfinishedSubscriptions.all(database.reader, { before, limit: AT_ONCE });
      for (const row of unfinished) await this.end(row);
      ended += expired.length + orphaned.length + unfinished.length;
      const isLast = Math.max(expired.length, orphaned.length, unfinished.length) < AT_ONCE;
      if (isLast || this.#isStopped) return ended;
    }
  }

  /** Applies a change of a key to its subscriptions. */
  async review(accountId: string, keyId: string): Promise<void> {
    const { database, findAccess } = this.#options;
    const rows = await subscriptionsOf.all(database.reader, { accountId, keyId });
    if (rows.length === 0) return;
    const access = await findAccess(keyId);
    for (const row of rows) {
      if (access === undefined) await this.end(row, REVOKED);
      else if (access.sessionIds !== undefined) await this.#limit(row, access.sessionIds);
    }
  }

  /** Ends all subscriptions of a key. */
  async endOfKey(accountId: string, keyId: string, notice: string): Promise<void> {
    const rows = await subscriptionsOf.all(this.#options.database.reader, { accountId, keyId });
    for (const row of rows) await this.end(row, notice);
  }

  /** Like `review`, in the background. */
  reviewLater(accountId: string, keyId: string): void {
    const { log } = this.#options;
    const id = `${accountId} ${keyId}`;
    if (this.#reviews.has(id) || this.#isStopped) return;
    const review = this.review(accountId, keyId)
      .catch((error) => log.warn({ err: error, key: keyId }, 'failed to review the subscriptions of a key'))
      .finally(() => this.#reviews.delete(id));
    this.#reviews.set(id, review);
  }

  /**
   * Ends a subscription: removes it, and cancels what is pending. An attempt in flight may still arrive.
   * @param notice why, for the client; undefined if it knows
   */
  async end(row: WebhookTable, notice?: string): Promise<void> {
    const ctx = this.#options;
    const { account_id: accountId, webhook_id: webhookId } = row;
    const remove = (tx: Tx) => removeRows(ctx, tx, accountId, [webhookId], 'The subscription has ended');
    const { removed, left } = await ctx.database.commit(remove, accountId);
    // Only one of several nodes that end a subscription removes it, and tells the client.
    if (removed.length > 0 && notice !== undefined) this.#notify(row, notice);
    await cancelLeft(ctx, left);
  }

  /** Limits a subscription to the sessions of its key. */
  async #limit(row: WebhookTable, allowed: readonly string[]): Promise<void> {
    const { database, clock, engine } = this.#options;
    const { account_id: accountId, webhook_id: webhookId, session_ids: stored } = row;
    const present: readonly string[] | null = stored === null ? null : JSON.parse(stored);
    const sessionIds = present === null ? [...allowed] : present.filter((id) => allowed.includes(id));
    if (sessionIds.length === present?.length) return;
    if (sessionIds.length === 0) return this.end(row, REVOKED);
    await database.commit(
      (tx) => limit.run(tx, { accountId, webhookId, sessionIds: JSON.stringify(sessionIds) }),
      accountId,
    );
    const reason = 'The API key of the subscription may no longer see this session';
    const wanted = { kinds: null, sessionIds };
    await new UnwantedDeliveries({ accountId, webhookId }, wanted, reason, clock.now()).cancelRest(database, accountId);
    const release = (tx: Tx, limit: number) => releaseSome(tx, { accountId, webhookId }, limit);
    await new Pace().repeat(database.commit, release, { key: accountId });
    engine.reload(webhookId);
  }

  /** Tells the client in the background, because its callback may be slow. */
  #notify(row: WebhookTable, reason: string): void {
    const { database, verifier, log } = this.#options;
    const { accountId, webhookId, url, secret, subscription } = toWebhook(row, database.seal);
    if (secret === null || subscription === undefined) return;
    const error = { ...eventErrors.forbidden, data: { reason } };
    const notice = verifier
      .terminate({ accountId, subscriptionId: subscription.id, url, secret }, error)
      .catch((failure) =>
        log.warn({ err: failure, webhook: webhookId }, 'failed to announce the end of a subscription'),
      )
      .finally(() => this.#notices.delete(notice));
    this.#notices.add(notice);
  }

  async #sweepLogged(): Promise<void> {
    const { log } = this.#options;
    try {
      const ended = await this.sweep();
      if (ended > 0) log.info({ ended }, 'removed ended subscriptions');
    } catch (error) {
      log.error({ err: error }, 'failed to remove ended subscriptions; retrying');
    }
    try {
      await removeExpired(this.#options, () => this.#isStopped);
    } catch (error) {
      log.error({ err: error }, 'failed to remove expired webhooks; retrying');
    }
    if (!this.#isStopped) this.start();
  }
}

const REVOKED = 'The API key was revoked, has expired, or may no longer read these events';

interface Named {
  readonly accountId: string;
  readonly webhookId: string;
}

const limit = query((db, p: Named & { readonly sessionIds: string }) =>
  db
    .updateTable('webhooks')
    .set({ session_ids: p.sessionIds })
    .where('account_id', '=', p.accountId)
    .where('webhook_id', '=', p.webhookId),
);

const subscriptionsOf = query((db, p: { accountId: string; keyId: string }) =>
  db.selectFrom('webhooks').selectAll().where('account_id', '=', p.accountId).where('key_id', '=', p.keyId),
);

const expiredSubscriptions = query((db, p: { now: number; limit: number }) =>
  db
    .selectFrom('webhooks')
    .selectAll()
    .where('expires_at', 'is not', null)
    .where('expires_at', '<=', p.now)
    .orderBy('expires_at')
    .limit(p.limit),
);

/** Nobody can pause a subscription: it is paused only until it is created. */
const unfinishedSubscriptions = query((db, p: { before: number; limit: number }) =>
  db
    .selectFrom('webhooks')
    .selectAll()
    .where('expires_at', 'is not', null)
    .where('paused', '=', 1)
    .where('created_at', '<', p.before)
    .limit(p.limit),
);

const orphanedSubscriptions = query((db, p: { now: number; limit: number }) =>
  db
    .selectFrom('webhooks as w')
    .leftJoin('api_keys as k', (join) =>
      join.onRef('k.account_id', '=', 'w.account_id').onRef('k.key_id', '=', 'w.key_id'),
    )
    .selectAll('w')
    .where('w.expires_at', 'is not', null)
    .where('w.expires_at', '>', p.now)
    .where((eb) => eb.or([eb('k.key_id', 'is', null), eb('k.expires_at', '<=', p.now)]))
    .limit(p.limit),
);
